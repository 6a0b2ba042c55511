/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of rules, as recordings have them. */
#ifndef PERFEX_DERIVE_H
#define PERFEX_DERIVE_H

#include <json-c/json.h>
#include "rules.h"

/* "derived" of docs/perfex.schema.json. */
json_object *derive_json(const struct rules *rules, const struct rule_result *result);

#endif
