// SPDX-License-Identifier: GPL-2.0-or-later
/* One operation after the other. Operations that make processes or stop the machine are rare. */
#include "fuzz.h"

#include <err.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

static const struct operation {
	unsigned int weight;
	const char *name;
	void (*execute)(struct fuzzer *f);
} operations[] = {
	{ 8000, "call", op_call },
	{ 1200, "look", op_look },
	{ 150, "rdpmc", op_rdpmc },
	{ 150, "mmap", op_map },
	{ 80, "munmap", op_unmap },
	{ 40, "mremap", op_remap },
	{ 60, "protect", op_protect },
	{ 250, "close", op_close },
	{ 60, "dup", op_dup },
	{ 250, "plain", op_plain },
	{ 60, "pass", op_pass },
	{ 10, "device", op_device },
	{ 10, "no descriptors", op_call_without_descriptors },
	{ 60, "affinity", op_affinity },
	{ 6, "fork", op_fork },
	{ 4, "exec", op_exec },
	{ 5, "vfork", op_vfork },
	{ 10, "sleeper", op_sleeper },
	{ 8, "thread", op_thread },
	{ 25, "kill", op_kill },
	{ 20, "reap", op_reap },
	{ 12, "trace", op_trace },
	{ 20, "failing birth", op_failing_birth },
	{ 20, "perf", op_perf },
	{ 60, "perf close", op_perf_close },
	{ 1, "hotplug", op_hotplug },
};

/* Below 4 GB, for 32-bit calls. A page after it is missing. */
static char *make_arena(void)
{
	size_t bytes = ARENA_PAGES * PAGE_BYTES;
	char *arena = mmap(NULL, bytes + PAGE_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	if (arena == MAP_FAILED || mprotect(arena + bytes, PAGE_BYTES, PROT_NONE))
		err(1, "no memory");
	return arena;
}

void fuzzer_init(struct fuzzer *f, uint64_t seed, bool first)
{
	f->seed = seed;
	f->first = first;
	if (!f->arena)
		f->arena = make_arena();
}

/* The kernel reports the name of the current thread: so its reports say what to replay. */
static void show(const struct fuzzer *f)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.%llu", f->path, (unsigned long long)f->operation);
	prctl(PR_SET_NAME, name);
}

void run_operations(struct fuzzer *f, uint64_t from, uint64_t to)
{
	for (f->operation = from; f->operation < to; f->operation++) {
		const struct operation *operation;

		f->alone = f->first && !self.doubtful && !atomic_load(&self.threads);
		f->random = mix(f->seed, f->operation) | 1;
		operation = &operations[weighted(f, operations, sizeof(operations[0]),
						 ARRAY_SIZE(operations))];
		f->doing = operation->name;
		show(f);
		operation->execute(f);
		atomic_fetch_add(&shared->operations, 1);
		if (!self.depth && f->first)
			atomic_store(&shared->worker[self.worker].operation, f->operation + 1);
	}
}
