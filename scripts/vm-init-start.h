/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lets the command start at the same instruction, with the same random numbers and the same free
 * memory, whatever files the machine has. The time stamp must count time, as it does with QEMU's
 * -icount, and the kernel must have booted without those files.
 */
#ifndef SCRIPTS_VM_INIT_START_H
#define SCRIPTS_VM_INIT_START_H

#include <stddef.h>

/*
 * The first program that reads random numbers waits until the kernel has gathered enough entropy,
 * which takes a second of busy work on a machine without devices. The numbers are no secret here:
 * they have to be the same each time. 128 bits are enough for the kernel's own use, 256 for
 * programs. Returns 0, or -1 with errno set.
 */
int seed_random_numbers(int bits);

/* The state at an instruction that does not depend on the files. */
struct start {
	unsigned long long	stamp;
	void			*memory;
	size_t			size;
};

/* Called when nothing has depended on the files yet. Returns 0, or -1 with errno set. */
int start_before_files(struct start *start);
/*
 * Called when the files are there. Returns 2 seconds after start_before_files() has returned, or at
 * a multiple if the files took longer.
 */
int start_after_files(struct start *start);

#endif
