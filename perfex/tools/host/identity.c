// SPDX-License-Identifier: GPL-2.0-or-later
/* Finds out what a machine is, but nothing that names it, its users or its purpose. */
#define _GNU_SOURCE
#include "host.h"
#include "../../perfex.h"
#include "../../result/processor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* The flags of a processor that matter for counting. */
static const char *const counting_flags[] = {
	"arch_perfmon", "perfctr_core", "perfctr_nb",  "perfctr_llc", "perfmon_v2",
	"dts",		"pebs",		"bts",	       "ibs",	      "pdcm",
	"tsc",		"constant_tsc", "nonstop_tsc", "rdtscp",      "tsc_known_freq",
	"aperfmperf",	"hypervisor",
};

static void copy_text(char *text, size_t size, const char *value)
{
	snprintf(text, size, "%.*s", (int)strcspn(value, "\n"), value);
	make_printable(text);
}

static bool has_flag(const char *flags, const char *flag)
{
	size_t length = strlen(flag);

	for (const char *at = flags; (at = strstr(at, flag)); at += length)
		if ((at == flags || at[-1] == ' ') && strchr(" \n", at[length]))
			return true;
	return false;
}

static void copy_flags(struct identity *identity, const char *flags)
{
	size_t length = 0;

	for (size_t i = 0; i < sizeof(counting_flags) / sizeof(counting_flags[0]); i++)
		if (has_flag(flags, counting_flags[i]))
			length += (size_t)snprintf(identity->flags + length,
						   sizeof(identity->flags) - length, "%s%s",
						   length ? " " : "", counting_flags[i]);
	identity->is_virtual = has_flag(flags, "hypervisor");
}

/* Returns the value in a line like "model name\t: NAME".  Returns NULL if the key is another. */
static const char *find_value(const char *line, const char *key)
{
	size_t length = strlen(key);

	if (strncmp(line, key, length) != 0 || !strchr("\t :", line[length]))
		return NULL;
	line += length + strspn(line + length, "\t ");
	return *line == ':' ? line + 1 + strspn(line + 1, " ") : NULL;
}

void identity_read_cpu(struct identity *identity, FILE *cpuinfo)
{
	const struct {
		const char *key;
		char *text;
		size_t size;
	} fields[] = {
		{ "vendor_id", identity->vendor, sizeof(identity->vendor) },
		{ "cpu family", identity->family, sizeof(identity->family) },
		{ "model", identity->model, sizeof(identity->model) },
		{ "model name", identity->model_name, sizeof(identity->model_name) },
		{ "stepping", identity->stepping, sizeof(identity->stepping) },
		{ "microcode", identity->microcode, sizeof(identity->microcode) },
	};
	char *line = NULL;
	size_t room = 0;

	/* An empty line ends the first processor. */
	while (getline(&line, &room, cpuinfo) > 1) {
		const char *value;

		for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
			if ((value = find_value(line, fields[i].key)))
				copy_text(fields[i].text, fields[i].size, value);
		if ((value = find_value(line, "flags")))
			copy_flags(identity, value);
	}
	free(line);
}

static void read_setting(char *text, size_t size, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[64];

	if (!file)
		return;
	if (fgets(line, sizeof(line), file))
		copy_text(text, size, line);
	fclose(file);
}

void identity_find(struct identity *identity)
{
	FILE *cpuinfo = fopen("/proc/cpuinfo", "re");
	struct utsname name = { 0 };

	*identity = (struct identity){ .online = sysconf(_SC_NPROCESSORS_ONLN) };
	if (cpuinfo) {
		identity_read_cpu(identity, cpuinfo);
		fclose(cpuinfo);
	}
	identity->is_emulated = processor_is_emulated();
	uname(&name);
	copy_text(identity->kernel, sizeof(identity->kernel), name.release);
	copy_text(identity->version, sizeof(identity->version), name.version);
	copy_text(identity->architecture, sizeof(identity->architecture), name.machine);
	read_setting(identity->paranoid, sizeof(identity->paranoid),
		     "/proc/sys/kernel/perf_event_paranoid");
	read_setting(identity->watchdog, sizeof(identity->watchdog),
		     "/proc/sys/kernel/nmi_watchdog");
	read_setting(identity->rdpmc, sizeof(identity->rdpmc),
		     "/sys/bus/event_source/devices/cpu/rdpmc");
}
