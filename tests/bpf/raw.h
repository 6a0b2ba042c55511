/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The means of a hostile user: bpf(2) on all that perfctr-bpfd pins. */
#ifndef TESTS_BPF_RAW_H
#define TESTS_BPF_RAW_H

#include <linux/bpf.h>
#include <linux/perfctr.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "../../bpf/layout.h"

#define PIN(name) PERFCTR_BPF_DIRECTORY "/" name

#define NOBODY 65534
#define SOMEBODY 65533

struct raw {
	int call; /* the pinned program */
	uint32_t slots;
	const volatile char *mapped;
};

/* Becomes a hostile user for good. The process ends with its parent. */
void become_user(uid_t uid);

/* Each returns 0 or more, or a negative errno. */
int raw_get(const char *path, uint32_t flags);
int raw_open(struct raw *raw);
void raw_close(struct raw *raw);
int raw_run(int program, const uint64_t value[PERFCTR_BPF_ARGUMENTS], uint32_t flags, uint32_t cpu);
int raw_attach(int program, const char *tracepoint);
int raw_link(int program, uint32_t type);
/* Writes zeros to the first element. */
int raw_update(int map);
int raw_pin(int fd, const char *path);
/* For root: an array, and its first element. */
int raw_make_map(uint32_t size, uint32_t entries, uint32_t flags);
int raw_write_map(int map, const void *value);
int raw_read_info(int map, struct perfctr_bpf_info *info);
/*
 * For root: the program "keep". raw_say_service() says that the service has this pid, and began
 * then.
 */
int raw_keep(int keep, const struct perfctr_bpf_kept *to);
int raw_say_service(pid_t pid, uint64_t start);

#define RAW_CALL(raw, ...)                                                                         \
	raw_run((raw)->call, (const uint64_t[PERFCTR_BPF_ARGUMENTS]){ __VA_ARGS__ }, 0, 0)

struct raw_slot {
	uint32_t index;
	uint64_t generation;
};

const volatile struct perfctr_bpf_slot *raw_slot_at(const struct raw *raw, uint32_t index);
int raw_take(const struct raw *raw, uint32_t kind, struct raw_slot *slot);
int raw_release(const struct raw *raw, struct raw_slot slot);
int raw_request(const struct raw *raw, struct raw_slot slot, uint32_t action, pid_t tid,
		uint32_t scope, const struct perfctr_bpf_proofs *proofs);
/* Makes room for requests and deferred calls of this thread. */
void raw_make_room(void);
/* Reads the result of a request, from the descriptor of "walk". */
int raw_walk(int walk, struct perfctr_bpf_reply *reply);
/* The answer of a walk, byte for byte. */
struct raw_answer {
	struct perfctr_bpf_reply reply;
	int error; /* 0, or a negative errno, without a reply */
	uint32_t n;
	int32_t number[1024];
};

/* Makes the request and its walk. */
void raw_ask(const struct raw *raw, struct raw_slot slot, uint32_t action, pid_t tid,
	     uint32_t scope, struct raw_answer *answer);
int raw_mark(const struct raw *raw, struct raw_slot slot, pid_t tid, int fd,
	     struct perfctr_bpf_reply *reply);

#endif
