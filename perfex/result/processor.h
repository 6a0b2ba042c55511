/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFEX_RESULT_PROCESSOR_H
#define PERFEX_RESULT_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>

/* Returns true if QEMU emulates the processor by TCG, without the host's processor. */
bool processor_is_emulated(void);

/*
 * Writes the file name of a validation of this processor, from vendor, family, model and stepping:
 * "validation-GenuineIntel-6-143-8.json", or "validation-emulated-..." if the processor is emulated.
 * Cost: CPUID.
 */
void processor_file_name(char *name, size_t size);

#endif
