/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of perfctr-bpfd. */
#ifndef PERFCTR_BPF_SERVICE_H
#define PERFCTR_BPF_SERVICE_H

#include <stdbool.h>
#include <sys/types.h>
#include <linux/perfctr.h>
#include "layout.h"

/* All pins, in the order in which they are made. */
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
	PIN_CALL, /* the last one: clients look for it, and find all if it is there */
	PINS
};

struct options {
	unsigned int slots;
	unsigned int user_slots; /* 0: a quarter of them */
	unsigned int n_events;
	const char *event[PERFCTR_BPF_EVENTS]; /* as given */
	bool foreground;
	bool verbose; /* show libbpf's messages */
};

/* Writes one line to stderr.  Returns -1. */
int complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Each returns 0, or -1 after a complaint. */
int load_and_pin(int directory, const struct options *options, __u32 undo);
bool is_of_this_build(const struct perfctr_bpf_info *info);
int show_status(void);
int stop_service(void);

/* Checks that the service can run safely on this system. */
int check_system(void);

/* Reads the events that the options name, for perf_events. */
int read_events(const struct options *options, struct perfctr_bpf_event *events);
/* Opens n events on each CPU, as elements of map, which keeps them open. */
int open_events(int map, const struct perfctr_bpf_event *events, unsigned int n);
/* Returns a limit: all CPUs have numbers below it. */
int cpus(void);

/*
 * The directory of the pins.  It is opened once, and all operations on pins use this descriptor, so
 * that nobody can put another directory in its place meanwhile.
 */
/*
 * Makes the directory if it is missing.  undo tells what was done to the system.  -1 after a
 * complaint.
 */
int make_directory(__u32 *undo);
/* Opens the directory.  -1 with ENOENT: there is none; with another errno after a complaint. */
int open_directory(void);
/* Opens the directory for a caller that may only look at it; -1 with errno. */
int look_at_directory(void);
/*
 * Takes the lock, which one process at a time has, until it closes the last descriptor.  -1 with
 * EWOULDBLOCK: another process has the lock; with ENOENT: the directory was removed meanwhile.
 */
int lock_directory(int directory);
/* Removes the directory, if it is still the one that has this name. */
void remove_directory(int directory);
/*
 * Undoes what was done to the system, unless there is a directory.  While the caller has the old
 * directory open, its file system stays mounted.
 */
void undo_changes(__u32 undo);

/* Opens a pin; -1 with errno.  flags are those of BPF_OBJ_GET in bpf(2). */
int open_pin(int directory, enum pin pin, __u32 flags);
/* 0, or -1 after a complaint. */
int make_pin(int directory, enum pin pin, int fd);
bool is_pinned(int directory, enum pin pin);
/* Are all pins there, with their modes?  A start that was killed leaves fewer. */
bool are_all_pinned(int directory);
/* Removes all pins, and nothing else in the directory; 0, or -1 after a complaint. */
int remove_pins(int directory);

/* The pins that a process has open; -1: not open. */
struct pinned {
	int directory; /* to which the lock belongs */
	int info;
	int keep;
	bool is_new; /* this process has made all pins */
};

/*
 * Opens the map "info" for reading, and "keep" if the caller may.  A descriptor is -1 on failure,
 * and errno is that of the map.
 */
void open_info(struct pinned *pinned);
void close_info(struct pinned *pinned);
/* Reads the element of the map; -1 with EPROTO: it is of another version, or out of range. */
int read_info(int map, struct perfctr_bpf_info *info);
/* Changes the element by the program "keep"; -1 with errno. */
int change_info(int keep, const struct perfctr_bpf_kept *to);

/*
 * Return the process of the service, 0: it does not run; the start of process pid, 0: there is
 * none.
 */
int running_service(const struct perfctr_bpf_info *info);
__u64 start_of(__u32 pid);

/*
 * Ends the programs' work and removes the pins; the directory stays.  Processes that still have a
 * pin open can do nothing with it any more.  Adds to *undo what the service did to the system.
 */
int end_all(const struct pinned *pinned, __u32 *undo);
/*
 * A descriptor that becomes readable when something is removed from the directory.  -1 if there is
 * none: the caller also looks once a second.
 */
int watch_directory(int directory);
/* Tells the service manager by sd_notify(3), if there is one. */
void notify(const char *state);

/* Returns the offset of a struct's member in the running kernel, in bytes; 0: there is none. */
__u32 offset_in_kernel(const char *type, const char *member);

/*
 * Measures the rate of the time stamp counter, for about 0.1 s, and begins the clocks of info with
 * it.
 */
void begin_clock(struct perfctr_bpf_info *info);
/* Returns the next clock: this moment, and the rate since the newest clock of info. */
struct perfctr_bpf_clock next_clock(const struct perfctr_bpf_info *info);
/* Returns the error of the newest clock, in ns. */
long clock_error(const struct perfctr_bpf_info *info);
__u64 monotonic_ns(void);

#endif
