/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes about backends and counters in lines "name: value". */
#ifndef PERFEX_PMU_H
#define PERFEX_PMU_H

#include <perfctr.h>
#include <stdio.h>
#include <sys/types.h>

void write_backends(FILE *file, const struct perfctr_backend_info *used);
void write_pmu_state(FILE *file, const struct perfctr_pmu_info *info);
void write_pmu_limits(FILE *file, const struct perfctr_pmu_info *info);

/*
 * counted.c: prints how each thread of the process is counted.  Returns the exit status.  Ends
 * perfex if there is no such process.
 */
int print_process(const char *backend, pid_t pid, const struct perfctr_pmu_info *info);

#endif
