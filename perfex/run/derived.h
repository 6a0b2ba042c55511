/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values that a recording's rules derive of its counts. */
#ifndef PERFEX_DERIVED_H
#define PERFEX_DERIVED_H

#include "../result/table.h"
#include "../rules/rules.h"

struct recording;

/* False: a rule has the name of an event, which has been said. */
bool derived_check(const struct recording *recording);

/* The values of the recording's rules, for free(); it must have some. */
struct rule_result *derived_values(const struct recording *recording);

/* The value, and half its interval, as people read them; "-" and "?" for what is none. */
void derived_format(char value[NUMBER_TEXT], char half[NUMBER_TEXT],
		   const struct rule_result *result);

#endif
