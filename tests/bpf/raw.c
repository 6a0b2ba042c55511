// SPDX-License-Identifier: GPL-2.0-or-later
#include "raw.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

void become_user(uid_t uid)
{
	if (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
		_exit(90);
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static int bpf(enum bpf_cmd command, union bpf_attr *attributes)
{
	int result = (int)syscall(__NR_bpf, command, attributes, sizeof(*attributes));

	return result < 0 ? -errno : result;
}

int raw_get(const char *path, uint32_t flags)
{
	union bpf_attr attributes = { .pathname = (uintptr_t)path, .file_flags = flags };

	return bpf(BPF_OBJ_GET, &attributes);
}

static int first_element(enum bpf_cmd command, int map, const void *value)
{
	union bpf_attr attributes = { 0 };
	uint32_t zero = 0;

	attributes.map_fd = (uint32_t)map;
	attributes.key = (uintptr_t)&zero;
	attributes.value = (uintptr_t)value;
	return bpf(command, &attributes);
}

int raw_open(struct raw *raw)
{
	struct perfctr_bpf_info info = { 0 };
	int map = raw_get(PIN("info"), BPF_F_RDONLY), slots = raw_get(PIN("slots"), 0);
	int result = first_element(BPF_MAP_LOOKUP_ELEM, map, &info);

	if (map < 0 || slots < 0 || result < 0)
		return -1;
	raw->call = raw_get(PIN("call"), 0);
	raw->slots = info.slots;
	raw->mapped =
		mmap(NULL, (size_t)info.slots * PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, slots, 0);
	close(map);
	close(slots);
	return raw->mapped == MAP_FAILED ? -1 : raw->call;
}

void raw_close(struct raw *raw)
{
	munmap((void *)raw->mapped, (size_t)raw->slots * PERFCTR_PAGE_SIZE);
	close(raw->call);
}

static int run_with(int program, const void *context, uint32_t size, uint32_t flags, uint32_t cpu)
{
	union bpf_attr attributes = { 0 };
	int result;

	attributes.test.flags = flags;
	attributes.test.cpu = cpu;
	attributes.test.prog_fd = (uint32_t)program;
	attributes.test.ctx_in = (uintptr_t)context;
	attributes.test.ctx_size_in = size;
	result = bpf(BPF_PROG_TEST_RUN, &attributes);
	return result < 0 ? result : (int)attributes.test.retval;
}

static int run(int program, const struct perfctr_bpf_arguments *arguments, uint32_t flags,
	       uint32_t cpu)
{
	return run_with(program, arguments, sizeof(*arguments), flags, cpu);
}

int raw_keep(int keep, const struct perfctr_bpf_kept *to)
{
	return run_with(keep, to, sizeof(*to), 0, 0);
}

int raw_say_service(pid_t pid, uint64_t start)
{
	const struct perfctr_bpf_kept service = {
		.action = PERFCTR_BPF_KEEP_SERVICE,
		.pid = (uint32_t)pid,
		.pid_start = start,
	};
	int keep = raw_get(PIN("keep"), 0), result = raw_keep(keep, &service);

	close(keep);
	return result;
}

int raw_read_info(int map, struct perfctr_bpf_info *info)
{
	return first_element(BPF_MAP_LOOKUP_ELEM, map, info);
}

int raw_make_map(uint32_t size, uint32_t entries, uint32_t flags)
{
	union bpf_attr attributes = { 0 };

	attributes.map_type = BPF_MAP_TYPE_ARRAY;
	attributes.key_size = sizeof(uint32_t);
	attributes.value_size = size;
	attributes.max_entries = entries;
	attributes.map_flags = flags;
	return bpf(BPF_MAP_CREATE, &attributes);
}

int raw_write_map(int map, const void *value)
{
	return first_element(BPF_MAP_UPDATE_ELEM, map, value);
}

int raw_pin(int fd, const char *path)
{
	union bpf_attr attributes = { .pathname = (uintptr_t)path, .bpf_fd = (uint32_t)fd };

	return bpf(BPF_OBJ_PIN, &attributes);
}

int raw_run(int program, const uint64_t value[PERFCTR_BPF_ARGUMENTS], uint32_t flags, uint32_t cpu)
{
	struct perfctr_bpf_arguments arguments = { 0 };

	for (int i = 0; i < PERFCTR_BPF_ARGUMENTS; i++)
		arguments.value[i] = value[i];
	return run(program, &arguments, flags, cpu);
}

int raw_attach(int program, const char *tracepoint)
{
	union bpf_attr attributes = { 0 };

	attributes.raw_tracepoint.name = (uintptr_t)tracepoint;
	attributes.raw_tracepoint.prog_fd = (uint32_t)program;
	return bpf(BPF_RAW_TRACEPOINT_OPEN, &attributes);
}

int raw_link(int program, uint32_t type)
{
	union bpf_attr attributes = { 0 };

	attributes.link_create.prog_fd = (uint32_t)program;
	attributes.link_create.attach_type = type;
	return bpf(BPF_LINK_CREATE, &attributes);
}

int raw_update(int map)
{
	static const char page[PERFCTR_PAGE_SIZE];

	return raw_write_map(map, page);
}

const volatile struct perfctr_bpf_slot *raw_slot_at(const struct raw *raw, uint32_t index)
{
	return (const volatile void *)(raw->mapped + (size_t)index * PERFCTR_PAGE_SIZE);
}

int raw_take(const struct raw *raw, uint32_t kind, struct raw_slot *slot)
{
	int index = RAW_CALL(raw, PERFCTR_BPF_TAKE, 0, 0, kind);

	if (index < 0)
		return index;
	slot->index = (uint32_t)index;
	slot->generation = raw_slot_at(raw, slot->index)->generation;
	return index;
}

int raw_release(const struct raw *raw, struct raw_slot slot)
{
	return RAW_CALL(raw, PERFCTR_BPF_RELEASE, slot.index, slot.generation);
}

int raw_request(const struct raw *raw, struct raw_slot slot, uint32_t action, pid_t tid,
		uint32_t scope, const struct perfctr_bpf_proofs *proofs)
{
	struct perfctr_bpf_arguments arguments = {
		.value = { PERFCTR_BPF_REQUEST, slot.index, slot.generation, action,
			   (uint64_t)(uint32_t)tid, scope, proofs != NULL },
	};
	int result;

	if (proofs)
		arguments.proofs = *proofs;
	result = run(raw->call, &arguments, 0, 0);
	if (result != -ENOBUFS)
		return result;
	raw_make_room();
	return run(raw->call, &arguments, 0, 0);
}

void raw_make_room(void)
{
	int self = open(PIN("self"), O_RDONLY | O_CLOEXEC);
	struct perfctr_bpf_reply nothing;

	raw_walk(self, &nothing);
	close(self);
}

/* Reads all that the file gives. Returns 0, or a negative errno. */
static int read_answer(int walk, struct raw_answer *answer)
{
	char data[sizeof(answer->number) + sizeof(answer->reply)];
	size_t size = 0, numbers;
	ssize_t n;

	memset(answer, 0, sizeof(*answer));
	while (size < sizeof(data) && (n = read(walk, data + size, sizeof(data) - size)) > 0)
		size += (size_t)n;
	if (size < sizeof(answer->reply))
		return -EIO;
	numbers = size - sizeof(answer->reply);
	answer->n = (uint32_t)(numbers / sizeof(answer->number[0]));
	memcpy(answer->number, data, numbers);
	memcpy(&answer->reply, data + numbers, sizeof(answer->reply));
	return 0;
}

int raw_walk(int walk, struct perfctr_bpf_reply *reply)
{
	struct raw_answer answer;
	int result = read_answer(walk, &answer);

	*reply = answer.reply;
	return result < 0 ? result : -reply->error;
}

void raw_ask(const struct raw *raw, struct raw_slot slot, uint32_t action, pid_t tid,
	     uint32_t scope, struct raw_answer *answer)
{
	int walk = open(PIN("walk"), O_RDONLY | O_CLOEXEC), error;

	error = raw_request(raw, slot, action, tid, scope, NULL);
	if (error == 0)
		error = read_answer(walk, answer);
	else
		memset(answer, 0, sizeof(*answer));
	answer->error = error;
	close(walk);
}

int raw_mark(const struct raw *raw, struct raw_slot slot, pid_t tid, int fd,
	     struct perfctr_bpf_reply *reply)
{
	struct perfctr_bpf_proofs proofs;
	int walk = open(PIN("walk"), O_RDONLY | O_CLOEXEC), result;

	for (int i = 0; i < PERFCTR_BPF_PROOFS; i++)
		proofs.fd[i] = i ? -1 : fd;
	result = raw_request(raw, slot, PERFCTR_BPF_WALK_MARK, tid, PERFCTR_MARK_THREAD, &proofs);
	if (result == 0)
		result = raw_walk(walk, reply);
	close(walk);
	return result;
}
