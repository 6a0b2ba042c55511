/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the events are that the kernel's source names: what scripts/linux-events made. */
#ifndef PERFCTR_LINUX_H
#define PERFCTR_LINUX_H

/*
 * The path of the table of this processor, or of the one in PERFCTR_CPUID; to be freed.  NULL:
 * there is none, or the library was told by LIBPFM_FORCE_PMU to take another processor for this.
 */
char *perfctr_linux_table(void);

#endif
