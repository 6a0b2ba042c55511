/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of a file of perfex record.  Each line is a word and its fields, separated by spaces.
 * The last field may be a text, in which '%' and two hexadecimal digits stand for a byte.
 * Addresses are hexadecimal, all other numbers are decimal.  Times are ticks of the time stamp
 * counter.
 *
 *	# perfctr-samples 1 KHZ		rate of the time stamp counter; 0: unknown
 *	command TEXT
 *	asked REGISTERS DEPTH JITTER	1: with registers, or 0; most callers; per cent
 *	event PERIOD NAME		in the order of the counts; 0: counted without samples
 *	clock PERIOD NAME		the only event, in ns; samples have no COUNT, and TSC is 0
 * Then in any order, but the samples of each CPU in the order of time:
 *	name TIME PID TEXT		the process has this name from now on
 *	exec TIME PID TEXT		it executes a program of this name; old maps are gone
 *	fork TIME PID PARENT		PARENT has created the process PID
 *	map TIME PID START END OFFSET BUILD-ID PATH	BUILD-ID "-": none, or unknown
 *	sample TIME CPU PID TID EVENT FLAGS LOST PERIODS LATE WEIGHT IP TSC COUNT..
 *		[REGISTER..] [N ADDRESS..]
 * At the end:
 *	kernel START NAME		a function of the kernel in which samples are
 *	total COUNT PERIODS LOST-WEIGHT	for each event
 *	end SAMPLES LOST LATE ENDED MAPS-LOST	ENDED: 1 if --max ended sampling
 */
#ifndef PERFEX_SAMPLES_FORMAT_H
#define PERFEX_SAMPLES_FORMAT_H

#define SAMPLES_HEAD "# perfctr-samples 1 "
#define SAMPLES_REGISTERS 18 /* members of struct perfctr_sample_registers */
#define SAMPLES_MAX_CPUS 8192
#define SAMPLES_MAX_BUILD_ID 20 /* bytes */

/*
 * Returns 1 for a file of perfex record.  Returns 0 for another file, and for one that is missing
 * or not regular, which is not read.  Returns -1 with errno set if the file cannot be opened.
 */
int is_samples_file(const char *path);

#endif
