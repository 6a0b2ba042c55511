// SPDX-License-Identifier: GPL-2.0-or-later
#include "json_member.h"
#include "perfex.h"

void add_member(json_object *object, const char *name, json_object *value)
{
	if (json_object_object_add(object, name, value) < 0)
		fail("out of memory");
}
