// SPDX-License-Identifier: GPL-2.0-or-later
/* enter DIRECTORY COMMAND...: executes the command in the directory, which is its root then, with the caller's /dev. */
#include <err.h>
#include <stdio.h>
#include <sys/mount.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char dev[4096];

	if (argc < 3)
		errx(126, "usage: enter DIRECTORY COMMAND [ARGUMENT]...");
	snprintf(dev, sizeof(dev), "%s/dev", argv[1]);
	if (mount("/dev", dev, NULL, MS_BIND, NULL))
		err(126, "%s", dev);
	if (chroot(argv[1]) || chdir("/"))
		err(126, "%s", argv[1]);
	execv(argv[2], argv + 2);
	err(127, "%s", argv[2]);
}
