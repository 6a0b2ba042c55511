/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of perfctr-bpfd. */
#ifndef PERFCTR_BPF_SERVICE_H
#define PERFCTR_BPF_SERVICE_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/perfctr.h>
#include "layout.h"

/* All that is pinned, in that order. */
enum pin {
	PIN_SLOTS,
	PIN_INFO,
	PIN_SELF,
	PIN_WALK,
	PIN_COUNT,
	PIN_KEEP,
	PIN_SWITCH,
	PIN_FORK,
	PIN_EXEC,
	PIN_EXIT,
	PIN_FREE,
	PIN_CALL, /* the last one: clients look for it, and then all is there */
	PINS
};

struct options {
	unsigned int slots;
	unsigned int user_slots; /* 0: a quarter of them */
	unsigned int n_events;
	const char *event[PERFCTR_BPF_EVENTS]; /* as given */
	bool foreground;
	bool verbose; /* what libbpf has to say */
};

/* One line on stderr; -1. */
int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Each returns 0, or -1 when it has complained. */
int load_and_pin(int directory, const struct options *options, __u32 undo);
bool is_of_this_build(const struct perfctr_bpf_info *info);
int show_status(void);
int stop_service(void);

/* What must be so before it starts, whoever starts it. */
int check_system(void);

/* What the options name, for perf_events. */
int read_events(const struct options *options, struct perfctr_bpf_event *events);
/* Count n events on each CPU, as elements of map, which keeps them. */
int open_events(int map, const struct perfctr_bpf_event *events, unsigned int n);
/* Their numbers are below it. */
int cpus(void);

/*
 * The directory of the pins, which is opened once: all that is done to pins is done through this
 * descriptor, so that nobody can put another directory in its place meanwhile.
 */
/* Makes it if it is missing; undo tells what was done to the system.  -1 when it has complained. */
int make_directory(__u32 *undo);
/* -1 with ENOENT: there is none; with another errno when it has complained. */
int open_directory(void);
/* For who may only look; -1 with errno. */
int look_at_directory(void);
/*
 * One process at a time has it, until it closes the last descriptor.  -1 with EWOULDBLOCK when
 * another has it, with ENOENT when the directory has been removed meanwhile.
 */
int lock_directory(int directory);
/* Where it still is what is found by that name. */
void remove_directory(int directory);
/* When there is no directory any more, and this has it open no more. */
void undo_changes(__u32 undo);

/* Descriptor of what is pinned, or -1 with errno; flags as of bpf(2) BPF_OBJ_GET. */
int open_pin(int directory, enum pin pin, __u32 flags);
/* 0, or -1 when it has complained. */
int make_pin(int directory, enum pin pin, int fd);
bool is_pinned(int directory, enum pin pin);
/* With their modes: a start that was killed leaves less. */
bool are_all_pinned(int directory);
/* All of them, and nothing else that is there; 0, or -1 when it has complained. */
int remove_pins(int directory);

/* What a process has open of what is pinned; -1: nothing. */
struct pinned {
	int directory; /* that the lock belongs to */
	int info;
	int keep;
	bool is_new; /* all of it was pinned by this process */
};

/* Opens the map "info" for reading, and "keep" if the caller may; -1, errno is that of the map. */
void open_info(struct pinned *pinned);
void close_info(struct pinned *pinned);
/* Its element; -1 with EPROTO when that is not of this version, or out of range. */
int read_info(int map, struct perfctr_bpf_info *info);
/* Changes it by the program "keep"; -1 with errno. */
int change_info(int keep, const struct perfctr_bpf_kept *to);

/* Process of the service, 0 when it does not run; when process pid began, 0: there is none. */
int running_service(const struct perfctr_bpf_info *info);
__u64 start_of(__u32 pid);

/*
 * What is pinned ends, and whoever has it open still has nothing more of it; the directory stays.
 * undo: also what is to be undone for it.
 */
int end_all(const struct pinned *pinned, __u32 *undo);
/*
 * A descriptor that becomes readable when something is removed from the directory.  -1 if there is
 * none: the caller also looks once a second.
 */
int watch_directory(int directory);
/* Tell who waits for it by sd_notify(3), if anybody does. */
void notify(const char *state);

/* Of a struct's member in the running kernel, in bytes; 0: there is none. */
__u32 offset_in_kernel(const char *type, const char *member);

/* Measure the rate of the time stamp counter, about 0.1 s; the clocks of info begin with it. */
void begin_clock(struct perfctr_bpf_info *info);
/* The next clock, of this moment, and its rate since the newest one of info. */
struct perfctr_bpf_clock next_clock(const struct perfctr_bpf_info *info);
/* How far the newest one is off, in ns. */
long clock_error(const struct perfctr_bpf_info *info);
__u64 monotonic_ns(void);

#endif
