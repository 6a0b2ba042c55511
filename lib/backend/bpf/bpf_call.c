// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * BPF: uses the pinned objects by bpf(2) itself, so that programs with the library need no libbpf.
 */
#define _GNU_SOURCE
#include "bpf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int sys_bpf(enum bpf_cmd command, union bpf_attr *attributes)
{
	return (int)syscall(__NR_bpf, command, attributes, sizeof(*attributes));
}

int perfctr_bpf_get(const char *path, uint32_t flags)
{
	union bpf_attr attributes = { .pathname = (uintptr_t)path, .file_flags = flags };
	int fd = sys_bpf(BPF_OBJ_GET, &attributes);

	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ENOSYS))
		errno = ENODEV;
	return fd;
}

/*
 * Checks the map's value size before a read: the kernel copies that many bytes into the caller's
 * buffer.
 */
static int check_info(int map)
{
	struct bpf_map_info shape = { 0 };
	union bpf_attr attributes = { 0 };

	attributes.info.bpf_fd = (uint32_t)map;
	attributes.info.info_len = sizeof(shape);
	attributes.info.info = (uintptr_t)&shape;
	if (sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attributes) < 0)
		return -1;
	if (shape.type == BPF_MAP_TYPE_ARRAY && shape.value_size == sizeof(struct perfctr_bpf_info))
		return 0;
	errno = EPROTO;
	return -1;
}

int perfctr_bpf_read_info(struct perfctr_bpf_info *info)
{
	union bpf_attr attributes = { 0 };
	uint32_t zero = 0;
	int map = perfctr_bpf_get(PERFCTR_BPF_PIN("info"), BPF_F_RDONLY), result;

	if (map < 0)
		return -1;
	attributes.map_fd = (uint32_t)map;
	attributes.key = (uintptr_t)&zero;
	attributes.value = (uintptr_t)info;
	result = check_info(map);
	if (result == 0)
		result = sys_bpf(BPF_MAP_LOOKUP_ELEM, &attributes);
	perfctr_close_keeping_errno(map);
	if (result == 0 && !perfctr_bpf_is_sound(info)) {
		errno = EPROTO;
		result = -1;
	}
	return result;
}

/* The BPF programs return a negative errno. */
static int with_errno(int result)
{
	if (result >= 0)
		return result;
	errno = -result;
	return -1;
}

static int run_program(const struct perfctr_bpf_handle *h,
		       const struct perfctr_bpf_arguments *arguments)
{
	union bpf_attr attributes = { 0 };

	attributes.test.prog_fd = (uint32_t)h->program;
	attributes.test.ctx_in = (uintptr_t)arguments;
	attributes.test.ctx_size_in = sizeof(*arguments);
	if (sys_bpf(BPF_PROG_TEST_RUN, &attributes) < 0)
		return -1;
	return with_errno((int)attributes.test.retval);
}

/*
 * Opens a pin.  Another user may have put something else in its place: links are not followed, and
 * a FIFO is not waited for.
 */
static int open_stream(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0 && errno == ENOENT)
		errno = ENODEV;
	return fd;
}

/*
 * Reads "self", which executes the deferred call and gives its result.  If no call was deferred,
 * makes room for such calls, and gives ENODATA.
 */
static int read_self(void)
{
	int result, fd = open_stream(PERFCTR_BPF_PIN("self"));
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, &result, sizeof(result));
	if (n >= 0 && n != sizeof(result)) {
		n = -1;
		errno = ENODATA;
	}
	perfctr_close_keeping_errno(fd);
	return n < 0 ? -1 : with_errno(result);
}

/* A thread's first call finds no room: it makes room, and tries again. */
static int run_with_room(const struct perfctr_bpf_handle *h,
			 const struct perfctr_bpf_arguments *arguments)
{
	int result = run_program(h, arguments);

	if (result >= 0 || errno != ENOBUFS)
		return result;
	if (read_self() < 0 && errno != ENODATA)
		return -1;
	result = run_program(h, arguments);
	if (result < 0 && errno == ENOBUFS)
		errno = ENOMEM;
	return result;
}

static int run_deferred(const struct perfctr_bpf_handle *h, struct perfctr_bpf_arguments *arguments)
{
	arguments->value[0] |= PERFCTR_BPF_DEFER;
	return run_with_room(h, arguments) < 0 ? -1 : read_self();
}

int perfctr_bpf_call(const struct perfctr_bpf_handle *h, uint32_t call, uint64_t argument,
		     uint64_t n, const uint64_t *events)
{
	struct perfctr_bpf_arguments arguments = {
		.value = { call, h->slot, h->generation, argument, n, events ? events[0] : 0,
			   events ? events[1] : 0 },
	};
	int result;

	if (h->info.n_events && call != PERFCTR_BPF_TAKE)
		return run_deferred(h, &arguments);
	result = run_with_room(h, &arguments);
	return result < 0 && errno == EAGAIN ? run_deferred(h, &arguments) : result;
}

/* Runs the program in an interrupt on each CPU.  An offline CPU fails, and runs no thread. */
static void count_everywhere(int program)
{
	union bpf_attr attributes = { 0 };
	uint32_t cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);

	attributes.test.flags = BPF_F_TEST_RUN_ON_CPU;
	attributes.test.prog_fd = (uint32_t)program;
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		attributes.test.cpu = cpu;
		sys_bpf(BPF_PROG_TEST_RUN, &attributes);
	}
}

void perfctr_bpf_count(const struct perfctr_bpf_handle *h)
{
	int error = errno,
	    program = h->info.n_events ? perfctr_bpf_get(PERFCTR_BPF_PIN("count"), 0) : -1;

	if (program >= 0) {
		count_everywhere(program);
		close(program);
	} else if (h->info.n_events) {
		perfctr_bpf_call(h, PERFCTR_BPF_COUNT, 0, 0, NULL);
	}
	errno = error;
}

void *perfctr_bpf_map(const struct perfctr_bpf_handle *h)
{
	int map = perfctr_bpf_get(PERFCTR_BPF_PIN("slots"), 0);
	void *slot;

	if (map < 0)
		return NULL;
	slot = mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, map,
		    (off_t)h->slot * PERFCTR_PAGE_SIZE);
	perfctr_close_keeping_errno(map);
	if (slot == MAP_FAILED)
		return NULL;
	return slot;
}

int perfctr_bpf_any(struct perfctr_bpf_handle *h)
{
	memset(h, 0, sizeof(*h));
	h->program = -1;
	if (perfctr_bpf_read_info(&h->info) < 0)
		return -1;
	h->program = perfctr_bpf_get(PERFCTR_BPF_PIN("call"), 0);
	return h->program < 0 ? -1 : 0;
}

void perfctr_bpf_release(struct perfctr_bpf_handle *h)
{
	int error = errno;

	/*
	 * The program knows that a forked child, which has the descriptor, does not own the slot.
	 */
	if (h->generation)
		perfctr_bpf_call(h, PERFCTR_BPF_RELEASE, 0, 0, NULL);
	if (h->mapped)
		munmap((void *)h->mapped, PERFCTR_PAGE_SIZE);
	if (h->program >= 0)
		close(h->program);
	/*
	 * perfctr_bpf_take() releases the handle if it fails, and its caller may release it again.
	 */
	h->generation = 0;
	h->mapped = NULL;
	h->program = -1;
	errno = error;
}

int perfctr_bpf_take(struct perfctr_bpf_handle *h, uint32_t kind)
{
	int slot;

	if (perfctr_bpf_any(h) < 0)
		goto fail;
	slot = perfctr_bpf_call(h, PERFCTR_BPF_TAKE, kind, 0, NULL);
	if (slot < 0)
		goto fail;
	h->slot = (uint32_t)slot;
	h->mapped = perfctr_bpf_map(h);
	if (!h->mapped)
		goto fail;
	h->generation = h->mapped->generation;
	return 0;

fail:
	perfctr_bpf_release(h);
	return -1;
}

int perfctr_bpf_find(struct perfctr_bpf_handle *h, uint64_t id)
{
	if (perfctr_bpf_any(h) < 0)
		goto fail;
	h->slot = id & ((1u << PERFCTR_BPF_SLOT_BITS) - 1);
	h->mapped = perfctr_bpf_map(h);
	if (!h->mapped)
		goto fail;
	h->generation = id >> PERFCTR_BPF_SLOT_BITS;
	return 0;

fail:
	perfctr_bpf_release(h);
	return -1;
}

#define MOST_THREADS 4194304 /* PID_MAX_LIMIT: the kernel has no more */
#define WALK_BYTES (MOST_THREADS * sizeof(pid_t) + sizeof(struct perfctr_bpf_reply))

/*
 * Reads to the end of the stream.  The caller frees the result.  EPROTO: the stream is longer than
 * that of any walk.
 */
static char *read_stream(int fd, size_t *size)
{
	char *stream = NULL, *more;
	size_t room = 0;
	ssize_t n;
	int error;

	for (*size = 0;; *size += (size_t)n) {
		if (*size == room) {
			room = room ? 2 * room : BUFSIZ;
			errno = EPROTO;
			more = room > 2 * WALK_BYTES ? NULL : realloc(stream, room);
			if (!more)
				break;
			stream = more;
		}
		n = read(fd, stream + *size, room - *size);
		if (n == 0)
			return stream;
		if (n < 0)
			break;
	}
	error = errno;
	free(stream);
	errno = error;
	return NULL;
}

/* Reads the stream of the walk: numbers of threads, and at the end the reply. */
static int read_walk(struct perfctr_bpf_reply *reply, pid_t *tids, unsigned int room)
{
	int fd = open_stream(PERFCTR_BPF_PIN("walk"));
	size_t size, rest;
	char *stream;

	if (fd < 0)
		return -1;
	stream = read_stream(fd, &size);
	perfctr_close_keeping_errno(fd);
	if (!stream)
		return -1;
	if (size < sizeof(*reply)) {
		free(stream);
		errno = EIO;
		return -1;
	}
	rest = size - sizeof(*reply);
	memcpy(reply, stream + rest, sizeof(*reply));
	if (room)
		memcpy(tids, stream, rest / sizeof(*tids) < room ? rest : room * sizeof(*tids));
	free(stream);
	if (!reply->error)
		return 0;
	errno = reply->error;
	return -1;
}

static int walk_threads(const struct perfctr_bpf_handle *h, uint32_t action, pid_t tid,
			unsigned int scope, const struct perfctr_bpf_proofs *proofs,
			struct perfctr_bpf_reply *reply, pid_t *tids, unsigned int room)
{
	struct perfctr_bpf_arguments arguments = {
		.value = { PERFCTR_BPF_REQUEST, h->slot, h->generation, action,
			   (uint64_t)(uint32_t)tid, scope, proofs != NULL },
	};

	if (proofs)
		arguments.proofs = *proofs;
	if (run_with_room(h, &arguments) < 0)
		return -1;
	return read_walk(reply, tids, room);
}

int perfctr_bpf_walk(const struct perfctr_bpf_handle *h, uint32_t action, pid_t tid,
		     unsigned int scope, struct perfctr_bpf_reply *reply, pid_t *tids,
		     unsigned int room)
{
	return walk_threads(h, action, tid, scope, NULL, reply, tids, room);
}

/*
 * Opens descriptors that the kernel gives only to a process that may trace the threads.  A thread
 * that is gone needs none.
 */
static int open_proofs(struct perfctr_bpf_proofs *proofs, const pid_t *tids, unsigned int n)
{
	char path[32];
	int result = 0;

	for (unsigned int i = 0; i < PERFCTR_BPF_PROOFS; i++) {
		proofs->fd[i] = -1;
		if (i >= n || result < 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/mem", tids[i]);
		proofs->fd[i] = open(path, O_RDONLY | O_CLOEXEC);
		if (proofs->fd[i] < 0 && errno != ENOENT && errno != ESRCH) {
			errno = errno == EPERM ? EACCES : errno;
			result = -1;
		}
	}
	return result;
}

static void close_proofs(const struct perfctr_bpf_proofs *proofs)
{
	int error = errno;

	for (unsigned int i = 0; i < PERFCTR_BPF_PROOFS; i++)
		if (proofs->fd[i] >= 0)
			close(proofs->fd[i]);
	errno = error;
}

/* Walks.  If the walk names threads that need a proof, opens the proofs and walks again. */
static int walk_proving(const struct perfctr_bpf_handle *h, uint32_t action, pid_t tid,
			unsigned int scope, struct perfctr_bpf_reply *reply)
{
	struct perfctr_bpf_proofs proofs;
	pid_t tids[PERFCTR_BPF_PROOFS] = { 0 };
	uint32_t changed;
	int result = walk_threads(h, action, tid, scope, NULL, reply, tids, PERFCTR_BPF_PROOFS);

	if (result < 0 || !reply->unproven)
		return result;
	changed = reply->changed;
	result = open_proofs(&proofs, tids,
			     reply->unproven < PERFCTR_BPF_PROOFS ? reply->unproven
								  : PERFCTR_BPF_PROOFS);
	if (result == 0)
		result = walk_threads(h, action, tid, scope, &proofs, reply, NULL, 0);
	close_proofs(&proofs);
	reply->changed += changed;
	return result;
}

/* Returns the process of a thread; -1 with errno: ESRCH, or why /proc cannot be read. */
static pid_t process_of(pid_t tid)
{
	char path[32], line[128];
	pid_t process = -1;
	FILE *file;
	int error;

	if (tid == 0 || tid == gettid())
		return getpid();
	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "re");
	error = file || errno == ENOENT ? ESRCH : errno;
	while (file && process < 0 && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %d", &process) == 1)
			break;
	if (file)
		fclose(file);
	if (process < 0)
		errno = error;
	return process;
}

/* Lets the scheduler bring the CPU time of the process's threads up to date. */
static void settle_time(pid_t process)
{
	struct timespec time;

	clock_gettime((clockid_t)((~(unsigned int)process << 3) | 2), &time);
}

#define MOST_WALKS 10

int perfctr_bpf_change(const struct perfctr_bpf_handle *h, uint32_t action, pid_t tid,
		       unsigned int scope)
{
	struct perfctr_bpf_reply reply;
	pid_t process = process_of(tid);
	unsigned int changed = 0, walks = 0;

	if (process < 0)
		return -1;
	if (scope != PERFCTR_MARK_THREAD)
		tid = process;
	else if (tid == 0)
		tid = gettid();
	settle_time(process);
	perfctr_bpf_count(h);
	/*
	 * A thread that the walk has not reached yet may create others meanwhile.  Another walk
	 * finds these.  A thread that undoes the change again and again must not keep the caller
	 * for ever.
	 */
	do {
		if (walks++ == MOST_WALKS) {
			errno = EAGAIN;
			return -1;
		}
		if (walk_proving(h, action, tid, scope, &reply) < 0)
			return -1;
		changed += reply.changed;
	} while (scope != PERFCTR_MARK_THREAD && reply.changed);
	perfctr_bpf_count(h);
	if (reply.found)
		return (int)changed;
	errno = ESRCH;
	return -1;
}

int perfctr_bpf_look(uint32_t action, pid_t tid, uint64_t *id)
{
	struct perfctr_bpf_handle h;
	struct perfctr_bpf_reply reply;
	int result;

	if (perfctr_bpf_any(&h) < 0)
		return -1;
	result = walk_proving(&h, action, tid ? tid : gettid(), PERFCTR_MARK_THREAD, &reply);
	perfctr_bpf_release(&h);
	if (result == 0 && !reply.found) {
		errno = ESRCH;
		result = -1;
	}
	if (result == 0)
		*id = reply.id;
	return result;
}
