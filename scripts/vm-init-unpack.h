/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCRIPTS_VM_INIT_UNPACK_H
#define SCRIPTS_VM_INIT_UNPACK_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Makes the files of an archive in cpio's format "newc" (cpio(5)), which ends with the entry
 * "TRAILER!!!". It is in the machine's memory, at this physical address, in at most that many bytes.
 * The files get the modes and the times of the archive. A directory may be there already. Returns
 * NULL, or the name of the file that cannot be made, with errno set.
 */
const char *unpack(off_t address, size_t size);

#endif
