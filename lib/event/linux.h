/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Finds the tables of events that scripts/linux-events made from the kernel's source. */
#ifndef PERFCTR_LINUX_H
#define PERFCTR_LINUX_H

/*
 * Returns the path of the table of this processor, or of the processor that PERFCTR_CPUID names.
 * The caller frees the path.  NULL: there is no table, or LIBPFM_FORCE_PMU (without PERFCTR_CPUID)
 * tells libpfm4 to assume another processor.
 */
char *perfctr_linux_table(void);

#endif
