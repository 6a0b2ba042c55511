// SPDX-License-Identifier: GPL-2.0-or-later
#include "rows.h"

#include <errno.h>

void take_list(void *member, const struct option_row *row, const char *text)
{
	append_events(member, text);
}

void take_backend(void *member, const struct option_row *row, const char *name)
{
	const char **backend = member;
	char text[256];

	*backend = name;
	if (!*name)
		fail("--backend= needs a name; perfex info shows those that there are");
	/* A known backend that is not available is reported when counters cannot be opened. */
	if (perfctr_backend(name, &(struct perfctr_backend_info){ 0 }) < 0 && errno == EINVAL) {
		perfctr_open_error_with(name, EINVAL, text, sizeof(text));
		fail("--backend=%s: %s", name, text);
	}
}
