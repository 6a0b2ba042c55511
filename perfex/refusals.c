// SPDX-License-Identifier: GPL-2.0-or-later
/* Error messages for counters that perfex does not get. */
#include "perfex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *advice_for(int error)
{
	return error == EMFILE ? "; raise the limit by: ulimit -n 65536" : "";
}

bool driver_is_default(void)
{
	struct perfctr_backend_info info = { 0 };

	perfctr_backend(NULL, &info);
	return is_driver(info.name);
}

bool driver_is_held(void)
{
	struct perfctr_pmu_info info;

	return driver_is_default() && perfctr_get_pmu_info_with(DRIVER, &info) == 0 &&
	       info.holder == PERFCTR_HOLDER_OTHER;
}

const char *named_or_driver(const char *backend)
{
	return (!backend || !*backend) && driver_is_held() ? DRIVER : backend;
}

void complain_of_open(const char *backend, int error)
{
	char text[256];

	perfctr_open_error_with(backend, error, text, sizeof(text));
	complain("%s", text);
}

const char *advice_for_event(const char *spec)
{
	if (strcasecmp(spec, "duration_time") == 0)
		return ": rules have it as elapsed_ns, as in --derive 's = elapsed_ns / 1e9'";
	return "";
}

void complain_of_event(const char *spec, const char *error)
{
	complain("event '%s': %s%s", spec, error, advice_for_event(spec));
}

void complain_of_start(const char *backend, int error)
{
	const struct perfctr_control control = { .size = sizeof(control) };
	struct perfctr_pmu_info info;

	if ((error == EBUSY || error == ENODEV || error == ENXIO) &&
	    perfctr_get_pmu_info_with(backend, &info) == 0)
		complain_of_control(backend, error, &control, &info);
	else
		complain("cannot start the counters: %s", strerror(error));
}

void complain_of_control(const char *backend, int error, const struct perfctr_control *control,
			 const struct perfctr_pmu_info *info)
{
	struct perfctr_pmu_info now;
	char text[256], *holders;

	/* The driver tests the counters when they are first taken, and info may be older. */
	if (error == ENODEV && perfctr_get_pmu_info_with(backend, &now) == 0)
		info = &now;
	perfctr_control_error(error, control, info, text, sizeof(text));
	holders = name_holders(error == EBUSY && (control->bad_reason == PERFCTR_BAD_TAKEN ||
						  info->holder == PERFCTR_HOLDER_PERFCTR));
	complain("%s%s%s", text, advice_for(error), holders);
	free(holders);
}
