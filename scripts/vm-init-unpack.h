/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCRIPTS_VM_INIT_UNPACK_H
#define SCRIPTS_VM_INIT_UNPACK_H

#include "vm-init-shared.h"

/*
 * Makes the files of an archive in cpio's format "newc" (cpio(5)), which ends with the entry
 * "TRAILER!!!". It is at the beginning of the shared memory. The files get the modes and the times
 * of the archive. A directory may be there already. Returns NULL, or the name of the file that cannot
 * be made, with errno set.
 */
const char *unpack(const struct shared *shared);

#endif
