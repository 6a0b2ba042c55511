/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values that rules derive from counts. */
#ifndef PERFEX_DERIVED_H
#define PERFEX_DERIVED_H

#include "../result/table.h"
#include "../rules/rules.h"
#include "run.h"

/* Returns false, after an error message, if a rule has the name of an event. */
bool derived_check(const struct rules *rules, const struct events *events);

/*
 * Return the values of the rules, one for each rule; the caller frees the array.  The options must
 * have rules.
 */
struct rule_result *derived_values(const struct recording *recording);
/*
 * The same for counts of one pass in one interval.  Events of other passes and the times of
 * processes are unknown there.
 */
struct rule_result *derived_of_interval(const struct rules *rules, const struct events *events,
					const struct interval *interval);

/*
 * Formats the value, and half the width of its confidence interval, for people.  Writes "-" for a
 * number that does not exist, and "?" for a value of an event that was not counted.
 */
void derived_format(char value[NUMBER_TEXT], char half[NUMBER_TEXT],
		    const struct rule_result *result);

#endif
