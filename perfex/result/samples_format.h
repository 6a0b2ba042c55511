/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of perfex record.  Each line is a word and its fields, separated by a space; the last
 * may be a text, in which '%' and two digits are the byte of that hexadecimal number.  Addresses
 * are hexadecimal, all else is decimal.  Times are of the time stamp counter.
 *
 *	# perfctr-samples 1 KHZ		rate of the time stamp counter; 0: unknown
 *	command TEXT
 *	asked REGISTERS DEPTH JITTER	1 or 0; addresses at most; per cent
 *	event PERIOD NAME		in the order of the counts; 0: it was counted alone
 * then in no order, but the samples of one CPU in that of their time:
 *	name TIME PID TEXT		the process is called so
 *	exec TIME PID TEXT		likewise, and what it had mapped is gone
 *	fork TIME PID PARENT		a new process
 *	map TIME PID START END OFFSET BUILD-ID PATH	"-": it has none, or none is known
 *	sample TIME CPU PID TID EVENT FLAGS LOST PERIODS LATE WEIGHT IP TSC COUNT..
 *		[REGISTER..] [N ADDRESS..]
 * and at the end:
 *	kernel START NAME		a function of the kernel that samples were in
 *	total COUNT PERIODS LOST-WEIGHT	of each event
 *	end SAMPLES LOST LATE ENDED MAPS-LOST	ENDED: 1 if the most samples were there
 */
#ifndef PERFEX_SAMPLES_FORMAT_H
#define PERFEX_SAMPLES_FORMAT_H

#define SAMPLES_HEAD "# perfctr-samples 1 "
#define SAMPLES_REGISTERS 18 /* of struct perfctr_sample_registers */
#define SAMPLES_MAX_CPUS 8192
#define SAMPLES_MAX_BUILD_ID 20 /* bytes */

/* 1: a file of perfex record; 0: another, or no regular file, which is not read; -1: see errno. */
int is_samples_file(const char *path);

#endif
