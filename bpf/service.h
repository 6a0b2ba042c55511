/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of perfctr-bpfd. */
#ifndef PERFCTR_BPF_SERVICE_H
#define PERFCTR_BPF_SERVICE_H

#include <stdbool.h>
#include <linux/perfctr.h>
#include "layout.h"

#define PIN(name) PERFCTR_BPF_DIRECTORY "/" name

struct options {
	unsigned int slots;
	unsigned int n_events;
	const char *event[PERFCTR_BPF_EVENTS]; /* as given */
	bool foreground;
	bool verbose; /* what libbpf has to say */
};

/* One line on stderr; -1. */
int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Each returns 0, or -1 when it has complained. */
int load_and_pin(const struct options *options, __u32 undo);
int unpin(void);
int show_status(void);

/* What the options name, for perf_events. */
int read_events(const struct options *options, struct perfctr_bpf_event *events);
/* Count n events on each CPU, as elements of map, which keeps them. */
int open_events(int map, const struct perfctr_bpf_event *events, unsigned int n);
/* Their numbers are below it. */
int cpus(void);

/* The place of the pins; undo tells what was done to the system for it. */
int make_directory(__u32 *undo);
void remove_directory(__u32 undo);

/* Descriptor of the pinned map "info", or -1 with errno; its element. */
int open_info(void);
int read_info(int map, struct perfctr_bpf_info *info);
int write_info(int map, const struct perfctr_bpf_info *info);

/* Process of the service, 0 when it does not run. */
int running_service(const struct perfctr_bpf_info *info);

/* Measure the rate of the time stamp counter, about 0.1 s; the clocks of info begin with it. */
void begin_clock(struct perfctr_bpf_info *info);
/* Renew the clock; returns how far the last one was off, in ns. */
long renew_clock(struct perfctr_bpf_info *info);
/* The same without a change. */
long clock_error(const struct perfctr_bpf_info *info);
__u64 monotonic_ns(void);

/*
 * Become the service: renew the clock every second, until the pins are gone.  Descriptor ready is
 * closed when the process is known as the service.  Does not come back.
 */
void keep_clock(int map, int ready) __attribute__((noreturn));

#endif
