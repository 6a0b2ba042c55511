// SPDX-License-Identifier: GPL-2.0-or-later
/* Events of the processor: reads their names, and opens them on each CPU. */
#include "service.h"
#include "../lib/backend/perf/perf.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <perfctr_events.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int read_event(struct perfctr_events *database, const char *spec,
		      struct perfctr_request *request, struct perfctr_bpf_event *event)
{
	char error[512];

	if (strlen(spec) >= sizeof(event->name))
		return complain("--event '%.20s...' has more than %zu characters", spec,
				sizeof(event->name) - 1);
	if (perfctr_events_parse(database, spec, PERFCTR_MODE_USER, request, error, sizeof(error)) <
	    0)
		return complain("--event '%s': %s", spec, error);
	strcpy(event->name, spec);
	return 0;
}

static int read_all(const struct options *options, const struct perfctr_pmu_info *info,
		    struct perfctr_request *requests, struct perfctr_bpf_event *events)
{
	struct perfctr_events *database = perfctr_events_open(info);
	int result = 0;

	if (!database)
		return complain("--event: %s", strerror(errno));
	for (unsigned int i = 0; result == 0 && i < options->n_events; i++)
		result = read_event(database, options->event[i], &requests[i], &events[i]);
	perfctr_events_close(database);
	return result;
}

int read_events(const struct options *options, struct perfctr_bpf_event *events)
{
	struct perfctr_request requests[PERFCTR_BPF_EVENTS];
	struct perfctr_pmu_info info;
	struct perfctr_control control;
	char error[512];

	if (!options->n_events)
		return 0;
	if (perfctr_get_pmu_info_with("perf_events", &info) < 0)
		return complain("--event needs perf_events, which cannot be used here (%s)",
				strerror(errno));
	if (!info.n_general)
		return complain(
			"--event needs a PMU that perf_events can use; leave it out, or in a "
			"virtual machine let its host give it one (KVM: -cpu host,pmu=on)");
	if (read_all(options, &info, requests, events) < 0)
		return -1;
	if (perfctr_requests_assign(&info, requests, options->n_events, &control, error,
				    sizeof(error)) < 0)
		return complain("--event: %s", error);
	for (unsigned int i = 0; i < options->n_events; i++) {
		struct perf_event_attr attr = { 0 };

		perfctr_perf_describe_hardware(&attr, &control.event[i], 0, &info);
		events[i].config = attr.config;
		events[i].modes = (attr.exclude_user ? 0 : PERFCTR_BPF_USER) |
				  (attr.exclude_kernel ? 0 : PERFCTR_BPF_KERNEL);
	}
	return 0;
}

/* A pinned event that finds no counter reads as an end of file. */
static int open_event(int map, const struct perfctr_bpf_event *event, unsigned int i, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW,
		.config = event->config,
		.exclude_user = !(event->modes & PERFCTR_BPF_USER),
		.exclude_kernel = !(event->modes & PERFCTR_BPF_KERNEL),
		.pinned = 1,
	};
	__u32 key = (__u32)cpu * PERFCTR_BPF_EVENTS + i;
	int fd = perfctr_perf_event(&attr, -1, cpu, -1), result = 0;
	__u64 count;

	if (fd < 0 && errno == ENODEV)
		return 0; /* that CPU is offline */
	if (fd < 0)
		return complain("event '%s' cannot be opened on CPU %d (%s); perfctr-bpfd start "
				"without it works",
				event->name, cpu, strerror(errno));
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		result = complain("event '%s' finds no counter on CPU %d; end perf sessions, or "
				  "the NMI watchdog by: sysctl kernel.nmi_watchdog=0",
				  event->name, cpu);
	else if (bpf_map_update_elem(map, &key, &fd, BPF_ANY) < 0)
		result = complain("event '%s' cannot be given to BPF programs (%s)", event->name,
				  strerror(errno));
	close(fd);
	return result;
}

int open_events(int map, const struct perfctr_bpf_event *events, unsigned int n)
{
	for (int cpu = 0; cpu < cpus(); cpu++)
		for (unsigned int i = 0; i < n; i++)
			if (open_event(map, &events[i], i, cpu) < 0)
				return -1;
	return 0;
}

int cpus(void)
{
	return (int)sysconf(_SC_NPROCESSORS_CONF);
}
