/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfex in scripts of the shell, and the files that it leaves. */
#ifndef PERFEX_SHELL_H
#define PERFEX_SHELL_H

#include "guest.h"

#define EVENT "0x004100c0@0"
/* What asm/noise.S retires in user mode, counted there by hand: when it reads that byte. */
#define NOISE(byte) (1003ull * (byte) + 1015)
#define NOISE_READ 1010ull /* behind the read of byte 0 */

/*
 * A directory of the test's own.  In it the scripts find the programs "noise", "loop", "loop-long",
 * "loop-huge", "die-9", "hot", "rounds" and "exec" as $NOISE, $LOOP, $LONG, $HUGE, $DIE, $HOT, $ROUNDS
 * and $EXEC.
 */
void enter_directory(void);
/* Run the script, which must end with that status, as wait(2) gives it. */
void expect(struct run *r, const char *script, int status);
/* Of a file, until the next call. */
const char *contents(const char *path);
/* How many lines have it in them. */
unsigned int lines(const char *text, const char *with);

#endif
