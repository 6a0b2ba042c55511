/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values that the rules of a recording derive from its counts. */
#ifndef PERFEX_DERIVED_H
#define PERFEX_DERIVED_H

#include "../result/table.h"
#include "../rules/rules.h"

struct recording;

/* Returns false, after an error message, if a rule has the name of an event. */
bool derived_check(const struct recording *recording);

/*
 * Returns the values of the recording's rules, one for each rule; the caller frees the array.  The
 * recording must have rules.
 */
struct rule_result *derived_values(const struct recording *recording);

/*
 * Formats the value, and half the width of its confidence interval, for people.  Writes "-" for a
 * number that does not exist, and "?" for a value of an event that was not counted.
 */
void derived_format(char value[NUMBER_TEXT], char half[NUMBER_TEXT],
		    const struct rule_result *result);

#endif
