/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perfex in shell scripts, and the files that it leaves. */
#ifndef PERFEX_SHELL_H
#define PERFEX_SHELL_H

#include "guest.h"

#define EVENT "0x004100c0@0"
/* User instructions that asm/noise.S retires when it reads this byte, counted there by hand. */
#define NOISE(byte) (1003ull * (byte) + 1015)
#define NOISE_READ 1010ull /* after the read of byte 0 */

/*
 * Makes a directory for the test and enters it. Scripts find the programs "noise", "loop",
 * "loop-long", "loop-huge", "die-9", "hot", "rounds" and "exec" as $NOISE, $LOOP, $LONG, $HUGE,
 * $DIE, $HOT, $ROUNDS and $EXEC.
 */
void enter_directory(void);
/* Runs the script, which must end with this status, as wait(2) gives it. */
void expect(struct run *r, const char *script, int status);
/* The contents of a file. They are valid until the next call. */
const char *contents(const char *path);
/* The number of lines that contain this. */
unsigned int lines(const char *text, const char *with);
/*
 * The cell in the column (counted from 0) of the first row of CSV that has all of the words, with
 * what follows it; NULL if there is no such row.
 */
const char *csv_cell(const char *csv, int column, const char *words[]);

#endif
