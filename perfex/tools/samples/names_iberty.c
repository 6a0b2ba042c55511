// SPDX-License-Identifier: GPL-2.0-or-later
#include "names.h"

#if __has_include(<libiberty/demangle.h>)
#include <libiberty/demangle.h>
#else
#include <demangle.h>
#endif

char *name_in_source(const char *name)
{
	char *text = cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);

	return text ? text : dlang_demangle(name, DMGL_PARAMS);
}
