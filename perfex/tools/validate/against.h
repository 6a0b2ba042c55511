/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef PERFEX_VALIDATE_AGAINST_H
#define PERFEX_VALIDATE_AGAINST_H

#include "../../result/validation.h"

#include <stdio.h>

/* Writes the events that differ.  Returns true if there are none. */
bool write_against(FILE *file, const struct validation_file *a, const struct validation_file *b);

#endif
