// SPDX-License-Identifier: GPL-2.0-or-later
/* Clients read maps with contents that no service writes, in the place of the service's. */
#include "bpf.h"
#include "raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <linux/magic.h>
#include <unistd.h>

#define SIZE(array) (sizeof(array) / sizeof((array)[0]))

/* As a service would describe itself. */
static struct perfctr_bpf_info sound(void)
{
	struct perfctr_bpf_info info = {
		.version = PERFCTR_BPF_VERSION,
		.slots = 4,
		.user_slots = 1,
		.tsc_khz = 1000000,
		.live = 1,
		.rate = { .whole = 1 },
		.n_events = 1,
		.sources = "forged",
	};

	info.clock[0] = (struct perfctr_bpf_clock){ .ns = 1, .ticks = 1, .rate = { .whole = 1 } };
	strcpy(info.event[0].name, "instructions:u");
	return info;
}

static void pin_map(const char *path, uint32_t size, uint32_t entries, uint32_t flags,
		    const void *value)
{
	int map = raw_make_map(size, entries, flags);

	ck_assert_int_ge(map, 0);
	if (value)
		ck_assert_int_eq(raw_write_map(map, value), 0);
	ck_assert_int_eq(raw_pin(map, path), 0);
	close(map);
}

static bool mounted;

static void remove_forged(void)
{
	unlink(PIN("info"));
	unlink(PIN("slots"));
	unlink(PIN("call"));
	rmdir(PERFCTR_BPF_DIRECTORY);
}

static void forge(const struct perfctr_bpf_info *info)
{
	struct statfs fs;

	mounted = statfs("/sys/fs/bpf", &fs) < 0 || fs.f_type != BPF_FS_MAGIC;
	if (mounted)
		ck_assert_int_eq(mount("bpf", "/sys/fs/bpf", "bpf", 0, "mode=0711"), 0);
	/* Left by a test that failed. */
	remove_forged();
	ck_assert_int_eq(mkdir(PERFCTR_BPF_DIRECTORY, 0711), 0);
	pin_map(PIN("info"), sizeof(*info), 1, 0, info);
	pin_map(PIN("slots"), PERFCTR_PAGE_SIZE, 4, BPF_F_MMAPABLE, NULL);
	pin_map(PIN("call"), 4, 1, 0, NULL);
}

static void unforge(void)
{
	remove_forged();
	if (mounted)
		umount("/sys/fs/bpf");
}

/* Stores the command's line in text. Returns its exit status, or -1: a signal ended it. */
static int say(const char *command, char *text, size_t size)
{
	char redirected[256];
	size_t length;
	FILE *stream;
	int status;

	snprintf(redirected, sizeof(redirected), "exec 2>&1 >/dev/null; exec %s", command);
	stream = popen(redirected, "re");
	ck_assert_ptr_nonnull(stream);
	length = fread(text, 1, size - 1, stream);
	text[length] = '\0';
	status = pclose(stream);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(what_no_service_writes_is_refused)
{
	static const char *const commands[] = {
		"build/sbin/perfctr-bpfd status",
		"build/sbin/perfctr-bpfd start",
		"build/bin/perfex -e instructions true",
		"build/bin/perfex -e task-clock true",
		"build/bin/perfex info",
	};
	struct perfctr_bpf_info forged[] = { sound(), sound(), sound(), sound(),
					     sound(), sound(), sound(), sound() };
	char text[4096];

	forged[0].n_events = PERFCTR_BPF_EVENTS + 1;
	forged[1].n_events = 0x7fffffff;
	forged[2].tsc_khz = 0;
	forged[3].slots = 0;
	forged[4].slots = 3;
	forged[5].slots = 65537;
	forged[6].slots = UINT32_MAX;
	forged[7].n_events = PERFCTR_BPF_EVENTS;
	memset(forged[7].event, 'A', sizeof(forged[7].event));
	for (size_t i = 0; i < SIZE(forged); i++) {
		forge(&forged[i]);
		for (size_t c = 0; c < SIZE(commands); c++) {
			int status = say(commands[c], text, sizeof(text));

			ck_assert_msg(status == 1 || status == 125, "%zu: %s: status %d: %s", i,
				      commands[c], status, text);
			ck_assert_msg(strstr(text, "out of range") &&
					      strchr(text, '\n') == text + strlen(text) - 1,
				      "%zu: %s: %s", i, commands[c], text);
		}
		unforge();
	}
}
END_TEST

/* The forged maps themselves are not refused. */
START_TEST(what_a_service_could_have_written_is_shown)
{
	struct perfctr_bpf_info info = sound();
	char text[4096];

	forge(&info);
	ck_assert_int_eq(say("build/sbin/perfctr-bpfd status", text, sizeof(text)), 0);
	ck_assert_int_eq(say("build/sbin/perfctr-bpfd start", text, sizeof(text)), 1);
	ck_assert_ptr_nonnull(strstr(text, "another build"));
	unforge();
}
END_TEST

TCase *forged_tests(void)
{
	TCase *tests = tcase_create("forged");

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, what_no_service_writes_is_refused);
	tcase_add_test(tests, what_a_service_could_have_written_is_shown);
	return tests;
}
