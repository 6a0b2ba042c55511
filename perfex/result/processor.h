/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFEX_RESULT_PROCESSOR_H
#define PERFEX_RESULT_PROCESSOR_H

#include <stdbool.h>
#include <stddef.h>

/* By QEMU, without the host's processor. */
bool processor_is_emulated(void);

/*
 * What a validation of this processor is called: "validation-GenuineIntel-6-143-8.json", from vendor,
 * family, model and stepping; "validation-emulated-..." of an emulated one.  Cost: CPUID.
 */
void processor_file_name(char *name, size_t size);

#endif
