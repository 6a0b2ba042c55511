// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ioctls with a struct that is valid or was spoiled, somewhere in memory, on some descriptor; and
 * what must hold of the answer, whatever else happens.
 */
#include "fuzz.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define E(number) ((errors_t)1 << (number))
#define E_STRUCT (E(EINVAL) | E(E2BIG) | E(EFAULT))
#define ON(kind) (1u << (kind))
#define ON_CONTEXT (ON(OWNER) | ON(READER))
#define ERRORS_MAX (8 * (int)sizeof(errors_t))
#define KNOWN_MAX 4096u /* bytes of a struct that the driver looks at, perfctr(4) */
#define USER_ROOM_BYTES 65536u /* of a ring without CAP_PERFMON */
#define MARGIN 128u	/* bytes around the struct that are watched */

typedef unsigned __int128 errors_t; /* a set of errno values */

/* Errors by include/linux/perfctr.h and perfctr(4). */
static const struct command {
	unsigned int weight;
	const char *name;
	unsigned int number;
	unsigned int kinds;
	bool owner;   /* EPERM on a READER */
	size_t known; /* bytes of the struct; 0: the call has none */
	size_t (*fill)(struct fuzzer *f, void *image);
	errors_t errors;
} commands[] = {
	{ 60, "info", PERFCTR_IOC_INFO, ON(DEVICE), false, sizeof(struct perfctr_pmu_info),
	  fill_info, E_STRUCT },
	{ 200, "open", PERFCTR_IOC_OPEN, ON(DEVICE), false, sizeof(struct perfctr_open_args),
	  fill_open,
	  E_STRUCT | E(EACCES) | E(EPERM) | E(EEXIST) | E(ENOENT) | E(ESRCH) | E(EINTR) |
		  E(EMFILE) | E(ENOMEM) },
	{ 30, "open mark", PERFCTR_IOC_OPEN_MARK, ON(DEVICE), false,
	  sizeof(struct perfctr_open_mark_args), fill_open_mark, E_STRUCT | E(EMFILE) | E(ENOMEM) },
	{ 80, "mark", PERFCTR_IOC_MARK, ON(DEVICE), false, sizeof(struct perfctr_mark_args),
	  fill_mark, E_STRUCT | E(EACCES) | E(EBUSY) | E(ESRCH) | E(EBADF) | E(EINTR) | E(ENOMEM) },
	{ 25, "session", PERFCTR_IOC_SESSION, ON(DEVICE), false,
	  sizeof(struct perfctr_session_args), fill_session,
	  E_STRUCT | E(EACCES) | E(EBADF) | E(EMFILE) | E(ENOMEM) },
	{ 200, "control", PERFCTR_IOC_CONTROL, ON_CONTEXT, true, sizeof(struct perfctr_control),
	  fill_control, E_STRUCT | E(EACCES) | E(EBUSY) | E(ENODEV) | E(ESRCH) | E(ENOMEM) },
	{ 60, "start", PERFCTR_IOC_START, ON_CONTEXT, true, 0, fill_none,
	  E(EINVAL) | E(EACCES) | E(EBUSY) | E(ESRCH) },
	{ 60, "stop", PERFCTR_IOC_STOP, ON_CONTEXT, true, 0, fill_none, E(ESRCH) },
	{ 150, "read", PERFCTR_IOC_READ, ON_CONTEXT, false, sizeof(struct perfctr_counts),
	  fill_read, E_STRUCT | E(EACCES) | E(EOPNOTSUPP) | E(ENOMEM) },
	{ 40, "record", PERFCTR_IOC_EXIT_RECORD, ON_CONTEXT, true,
	  sizeof(struct perfctr_exit_record), fill_record,
	  E_STRUCT | E(EACCES) | E(EAGAIN) | E(ENOMEM) },
	{ 40, "get control", PERFCTR_IOC_GET_CONTROL, ON_CONTEXT, false,
	  sizeof(struct perfctr_control), fill_get_control,
	  E_STRUCT | E(EACCES) | E(ENOENT) | E(ENOMEM) },
	{ 40, "periods", PERFCTR_IOC_PERIODS, ON_CONTEXT, false, sizeof(struct perfctr_periods),
	  fill_periods, E_STRUCT | E(EACCES) },
	{ 80, "samples", PERFCTR_IOC_SAMPLES, ON_CONTEXT, true, sizeof(struct perfctr_samples_args),
	  fill_samples, E_STRUCT | E(EACCES) | E(EBUSY) | E(EMFILE) | E(ENOMEM) | E(EOPNOTSUPP) },
	{ 30, "sampled", PERFCTR_IOC_SAMPLED, ON_CONTEXT, true, sizeof(struct perfctr_sampled),
	  fill_sampled, E_STRUCT | E(EACCES) | E(ENOENT) },
	{ 30, "consume samples", PERFCTR_IOC_CONSUME, ON_CONTEXT, true,
	  sizeof(struct perfctr_consume), fill_consume, E_STRUCT },
	{ 120, "resume", PERFCTR_IOC_RESUME, ON_CONTEXT, true, 0, fill_none,
	  E(EACCES) | E(EALREADY) | E(ESRCH) },
	{ 30, "members", PERFCTR_IOC_MEMBERS, ON(MARK), false, sizeof(struct perfctr_members_args),
	  fill_members, E_STRUCT | E(ENOMEM) },
	{ 60, "enter", PERFCTR_IOC_ENTER, ON(MARK), false, 0, fill_none, E(EBUSY) },
	{ 60, "leave", PERFCTR_IOC_LEAVE, ON(MARK), false, 0, fill_none, 0 },
	{ 40, "session control", PERFCTR_IOC_CONTROL, ON(SESSION), false,
	  sizeof(struct perfctr_control), fill_session_control,
	  E_STRUCT | E(EACCES) | E(EBUSY) | E(EMFILE) | E(ENODEV) | E(ENOSPC) | E(ENOMEM) },
	{ 10, "session start", PERFCTR_IOC_START, ON(SESSION), false, 0, fill_none,
	  E(EINVAL) | E(EACCES) | E(EBUSY) | E(EMFILE) | E(ENOSPC) },
	{ 10, "session stop", PERFCTR_IOC_STOP, ON(SESSION), false, 0, fill_none, 0 },
	{ 12, "session read", PERFCTR_IOC_READ, ON(SESSION), false, sizeof(struct perfctr_counts),
	  fill_session_read, E_STRUCT | E(EACCES) | E(EPERM) | E(ENOMEM) },
	{ 20, "consume", PERFCTR_IOC_CONSUME, ON(SESSION), false, sizeof(struct perfctr_consume),
	  fill_consume, E_STRUCT },
};

const unsigned int n_commands = ARRAY_SIZE(commands);
_Static_assert(ARRAY_SIZE(commands) <= MAX_COMMANDS, "shared->call has room for all");

/* One call, before and after it is made. */
struct call {
	const struct command *command;
	struct slot *slot;
	enum kind kind; /* of the slot */
	int fd;
	char *address; /* of the struct */
	uint32_t size; /* its own field */
	size_t length; /* bytes of it that are there */
	bool spoiled;  /* changed after it was filled in */
	bool read_only;
	errors_t errors; /* the allowed ones */
	errors_t must;	 /* one of these must come; 0: the call may be accepted */
	bool compat;	 /* as a 32-bit program calls */
	bool watched;	 /* `before` has the counts of the context before the call */
	struct perfctr_counts before;
	char image[IMAGE_BYTES]; /* what was passed */
	long result;
	int error;
};

const char *command_name(unsigned int command)
{
	return commands[command].name;
}

/* PERFCTR_FEATURE_*: without them the command is never accepted. */
static uint32_t feature_of(const struct command *command)
{
	switch (command->number) {
	case PERFCTR_IOC_SAMPLES:
	case PERFCTR_IOC_SAMPLED:
		return PERFCTR_FEATURE_INTERRUPT;
	case PERFCTR_IOC_CONSUME:
		return command->kinds == ON_CONTEXT ? PERFCTR_FEATURE_INTERRUPT : 0;
	case PERFCTR_IOC_RESUME:
		return PERFCTR_FEATURE_SIGNAL;
	default:
		return 0;
	}
}

bool command_is_possible(unsigned int command)
{
	return !(feature_of(&commands[command]) & ~shared->info.features);
}

/* Uses int 0x80, which takes 32-bit pointers. */
static long ioctl_32(int fd, unsigned int number, uint32_t argument)
{
	long result = 54; /* __NR_ioctl of i386 */

	__asm__ volatile("int $0x80"
			 : "+a"(result)
			 : "b"(fd), "c"(number), "d"(argument)
			 : "memory", "r8", "r9", "r10", "r11");
	result = (int)result;
	errno = result < 0 ? -result : 0;
	return result < 0 ? -1 : result;
}

static const struct command *command_on(unsigned int number, enum kind kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].number == number && commands[i].kinds & ON(kind))
			return &commands[i];
	return NULL;
}

/* Mostly a kind on which the call may be accepted. */
static unsigned int wanted_kinds(struct fuzzer *f, const struct command *command)
{
	if (chance(f, 4))
		return ~0u;
	return command->kinds == ON_CONTEXT && chance(f, 85) ? ON(OWNER) : command->kinds;
}

/*
 * If there is no such descriptor yet, the call is made on another one. So descriptors come to be.
 */
static void choose(struct fuzzer *f, struct call *call)
{
	call->command = &commands[weighted(f, commands, sizeof(commands[0]), n_commands)];
	call->slot = any_slot(f, wanted_kinds(f, call->command));
	if (!call->slot) {
		call->slot = &self.slot[0];
		call->command = &commands[1 + below(f, 4)];
	}
	call->kind = call->slot->kind;
	call->fd = call->slot->fd;
}

static void spoil_word(struct fuzzer *f, char *image, size_t size)
{
	size_t words = size / sizeof(uint32_t);
	uint32_t value = awkward(f);
	uint64_t wide = awkward(f);

	if (chance(f, 30) && words > 1)
		memcpy(image + below(f, words - 1) * sizeof(value), &wide, sizeof(wide));
	else
		memcpy(image + below(f, words) * sizeof(value), &value, sizeof(value));
}

static void spoil(struct fuzzer *f, struct call *call, size_t size)
{
	switch (below(f, 12)) {
	case 0:
		for (size_t i = 0; i < size; i++)
			call->image[i] = next(f);
		memcpy(call->image, &(uint32_t){ size }, sizeof(uint32_t));
		break;
	case 1:
	case 2:
		for (uint64_t n = 1 + below(f, 3); n; n--)
			spoil_word(f, call->image, size);
		break;
	default:
		return;
	}
	call->spoiled = true;
}

/* Replaces existing signals by ones that nobody minds: others would end processes. */
static void tame_signals(struct call *call)
{
	struct perfctr_control *control = (void *)call->image;

	if (call->command->number != PERFCTR_IOC_CONTROL)
		return;
	for (uint32_t i = 0; i < PERFCTR_MAX_COUNTERS; i++) {
		uint32_t *signal = &control->event[i].signal;

		if (*signal && *signal <= 64)
			*signal = *signal % 2 ? SIGURG : SIGWINCH;
	}
}

static void resize(struct fuzzer *f, struct call *call)
{
	size_t known = call->command->known;

	switch (below(f, 24)) {
	case 0:
		call->size = below(f, 8);
		break;
	case 1:
		call->size = below(f, known);
		break;
	case 2:
	case 3:
		call->size = known + below(f, 65);
		break;
	case 4:
		call->size = awkward(f);
		break;
	default:
		return;
	}
	call->spoiled = true;
}

/* The tail that the kernel does not know is zero, or not. */
static void fill_tail(struct fuzzer *f, struct call *call)
{
	size_t known = call->command->known;

	if (call->size <= known || call->size > IMAGE_BYTES)
		return;
	memset(call->image + known, 0, call->size - known);
	if (chance(f, 50)) {
		call->image[known + below(f, call->size - known)] = 1 + below(f, 255);
		call->must |= E(E2BIG);
	}
}

/* The last page before the missing one. */
static char *last_page(const struct fuzzer *f)
{
	return f->arena + (ARENA_PAGES - 1) * PAGE_BYTES;
}

static void place(struct fuzzer *f, struct call *call)
{
	size_t least = call->size < sizeof(uint32_t) ? sizeof(uint32_t) : call->size;
	size_t bytes = least < IMAGE_BYTES ? least : IMAGE_BYTES;
	size_t room = bytes > call->command->known ? bytes : call->command->known;

	call->length = bytes;
	call->address = f->arena + MARGIN + (chance(f, 80) ? 0 : below(f, 64));
	switch (below(f, 40)) {
	case 0: /* ends with the memory: all of it is there */
		call->address = last_page(f) + PAGE_BYTES - bytes;
		break;
	case 1: /* ... or a part is missing */
		call->length = below(f, room);
		call->address = last_page(f) + PAGE_BYTES - call->length;
		break;
	case 2: /* nowhere */
		call->length = 0;
		call->address = (char *[]){ NULL, last_page(f) + PAGE_BYTES, (char *)~0xfffull,
					    (char *)(1ull << 63) }[below(f, 4)];
		break;
	case 3: /* across two pages */
		call->address = f->arena + PAGE_BYTES;
		call->address -= below(f, room < PAGE_BYTES / 2 ? room : PAGE_BYTES / 2);
		break;
	case 4:
		call->read_only = bytes <= PAGE_BYTES / 2;
		if (call->read_only)
			call->address = last_page(f) + PAGE_BYTES / 4;
		break;
	}
	if (call->length > bytes)
		call->length = bytes;
}

static void write_memory(struct call *call)
{
	if (!call->length)
		return;
	if (!call->read_only)
		memset(call->address - MARGIN, PATTERN, MARGIN);
	memcpy(call->address, call->image, call->length);
	if (call->read_only || call->length < call->size)
		return;
	/*
	 * A copy of more than the caller's size would begin after the end of the caller's struct.
	 */
	memset(call->address + call->length, PATTERN, MARGIN);
}

/* Is the margin after the struct inside the arena? */
static bool has_margin(const struct fuzzer *f, const struct call *call)
{
	return call->length == call->size && call->address >= f->arena + MARGIN &&
	       call->address + call->length + MARGIN <= f->arena + ARENA_PAGES * PAGE_BYTES;
}

/* The errors that must come for such a struct, whatever it contains. */
static void expect(struct call *call)
{
	if (call->length < sizeof(uint32_t))
		call->must = E(EFAULT);
	else if (call->size < 8)
		call->must = E(EINVAL);
	else if (call->size > KNOWN_MAX)
		call->must = E(E2BIG);
	else if (call->length < call->size)
		call->must |= E(EFAULT) | E(E2BIG);
}

static void expect_by_kind(struct call *call)
{
	const struct command *actual = command_on(call->command->number, call->kind);

	if (!actual) {
		call->must = E(ENOTTY);
		call->errors = E(ENOTTY);
		return;
	}
	call->errors = actual->errors;
	if (actual->owner && call->kind == READER) {
		call->must = E(EPERM);
		call->errors |= E(EPERM);
	}
}

static void prepare(struct fuzzer *f, struct call *call)
{
	size_t size;

	call->address = (char *)(uintptr_t)awkward(f);
	if (call->command->known) {
		memset(call->image, 0, sizeof(call->image));
		size = call->command->fill(f, call->image);
		spoil(f, call, size);
		tame_signals(call);
		memcpy(&call->size, call->image, sizeof(call->size));
		resize(f, call);
		memcpy(call->image, &call->size, sizeof(call->size));
		if (call->size < call->command->known)
			memset(call->image + call->size, 0, call->command->known - call->size);
		fill_tail(f, call);
		place(f, call);
		if (has_margin(f, call) || call->length < call->size || call->read_only)
			write_memory(call);
		else
			memcpy(call->address, call->image, call->length);
		expect(call);
	}
	expect_by_kind(call);
	call->compat = chance(f, 10) && (uintptr_t)call->address < 1ull << 32;
}

static bool control_of_own_context(const struct call *call)
{
	return call->command->number == PERFCTR_IOC_CONTROL && call->kind == OWNER &&
	       call->slot->own;
}

static bool read_context(int fd, struct perfctr_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	counts->size = sizeof(*counts);
	return ioctl(fd, PERFCTR_IOC_READ, counts) == 0;
}

static void perform(struct fuzzer *f, struct call *call)
{
	call->watched =
		f->alone && control_of_own_context(call) && read_context(call->fd, &call->before);
	if (call->read_only)
		mprotect(last_page(f), PAGE_BYTES, PROT_READ);
	errno = 0;
	call->result = call->compat ? ioctl_32(call->fd, call->command->number,
					       (uint32_t)(uintptr_t)call->address)
				    : ioctl(call->fd, call->command->number, call->address);
	call->error = call->result < 0 ? errno : 0;
	if (call->read_only)
		mprotect(last_page(f), PAGE_BYTES, PROT_READ | PROT_WRITE);
}

/*
 * Meanwhile every call of an unprivileged process may be refused, before anything else is checked.
 */
static bool is_refused_by_level(const struct call *call, struct glimpse level)
{
	return call->error == EACCES && !self.privileged &&
	       (level.value > 2 || !has_stayed(PARANOID, level));
}

static void check_error(struct fuzzer *f, const struct call *call, struct glimpse level)
{
	errors_t error = call->error < ERRORS_MAX ? E(call->error) : 0;

	/* Another thread may have replaced the descriptor by one of another kind. */
	if (!f->alone || is_refused_by_level(call, level))
		return;
	if (!call->error && call->must)
		finding(f, CHECK_ERRNO, "%s (size %u of %zu) on kind %u was accepted",
			call->command->name, call->size, call->command->known, call->kind);
	else if (call->error && !(error & (call->must ? call->must : call->errors)))
		finding(f, CHECK_ERRNO, "%s (size %u of %zu) on kind %u: %s", call->command->name,
			call->size, call->command->known, call->kind, strerror(call->error));
}

static bool is_pattern(const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (bytes[i] != (char)PATTERN)
			return false;
	return true;
}

/* MEMBERS writes to where a spoiled struct points, which may be the struct itself. */
static bool writes_elsewhere(const struct call *call)
{
	return call->command->number == PERFCTR_IOC_MEMBERS && call->spoiled;
}

static void check_bounds(struct fuzzer *f, const struct call *call)
{
	size_t known = call->command->known;

	if (!known || call->read_only || !has_margin(f, call) || writes_elsewhere(call))
		return;
	if (!is_pattern(call->address - MARGIN, MARGIN) ||
	    !is_pattern(call->address + call->length, MARGIN))
		finding(f, CHECK_BOUNDS, "%s (size %u of %zu) wrote outside", call->command->name,
			call->size, known);
	if (call->length > known &&
	    memcmp(call->address + known, call->image + known, call->length - known))
		finding(f, CHECK_BOUNDS, "%s (size %u of %zu) wrote the unknown part",
			call->command->name, call->size, known);
}

/* MEMBERS also writes to an array. */
static void check_array(struct fuzzer *f, const struct call *call)
{
	const struct perfctr_members_args *members = (const void *)call->image;
	size_t bytes;

	if (call->command->number != PERFCTR_IOC_MEMBERS || call->spoiled ||
	    members->tids != (uintptr_t)extra(f))
		return;
	bytes = members->room * sizeof(int32_t);
	if (bytes < EXTRA_BYTES && !is_pattern(extra(f) + bytes, EXTRA_BYTES - bytes))
		finding(f, CHECK_BOUNDS, "members wrote more than %u elements", members->room);
}

/* Only the fields that name the event at fault may be written. */
static bool is_unchanged(const struct call *call)
{
	char image[IMAGE_BYTES];

	memcpy(image, call->address, call->length);
	if (call->command->number == PERFCTR_IOC_CONTROL) {
		size_t from = offsetof(struct perfctr_control, bad_event);
		size_t to = offsetof(struct perfctr_control, reserved);

		for (size_t i = from; i < to && i < call->length; i++)
			image[i] = call->image[i];
	}
	return !memcmp(image, call->image, call->length);
}

static void check_refusal(struct fuzzer *f, const struct call *call)
{
	struct perfctr_counts after;

	/* If there is no descriptor to return, the struct has been filled in already. */
	if (call->command->known && call->error != EMFILE && !writes_elsewhere(call) &&
	    !is_unchanged(call))
		finding(f, CHECK_REFUSED, "%s gave %s and changed the struct", call->command->name,
			strerror(call->error));
	if (!call->watched || !read_context(call->fd, &after))
		return;
	/* The thread may have begun to wait meanwhile. */
	if (after.n_counters != call->before.n_counters ||
	    (after.flags | PERFCTR_COUNTS_WAITING) !=
		    (call->before.flags | PERFCTR_COUNTS_WAITING) ||
	    after.tsc < call->before.tsc)
		finding(f, CHECK_REFUSED, "control gave %s: %u counters, flags %x before; %u, %x",
			strerror(call->error), call->before.n_counters, call->before.flags,
			after.n_counters, after.flags);
	for (uint32_t i = 0; i < after.n_counters; i++)
		if (after.counter[i] < call->before.counter[i])
			finding(f, CHECK_REFUSED, "control gave %s and changed a sum",
				strerror(call->error));
}

static bool harmless(uint32_t policy)
{
	return policy & PERFCTR_EXCLUDE_KERNEL && policy & PERFCTR_EXCLUDE_UNMARKED;
}

/* Kernel mode on the architectural PMU: SDM volume 3, 20.2.1.1. */
static bool counts_kernel(const struct perfctr_control *control)
{
	for (uint32_t i = 0; i < control->n_events; i++)
		if (control->event[i].evntsel & 1u << 17)
			return true;
	return false;
}

static bool overrides_policy(const struct perfctr_control *control)
{
	for (uint32_t i = 0; i < control->n_events; i++)
		if (control->event[i].flags && !harmless(control->event[i].flags))
			return true;
	return false;
}

static bool is_foreign(int32_t tid)
{
	return tid == 1 || tid == shared->supervisor;
}

/* Is this too much for a process that has never had a privilege? The call was accepted. */
static bool is_too_much(const struct call *call, int level)
{
	const void *image = call->image;
	const struct perfctr_mark_args *mark = image;

	switch (call->command->number) {
	case PERFCTR_IOC_OPEN:
		return level >= 3 || is_foreign(((const struct perfctr_open_args *)image)->tid);
	case PERFCTR_IOC_MARK:
		return mark->scope == PERFCTR_MARK_THREAD && mark->action != PERFCTR_MARK_CLEAR &&
		       is_foreign(mark->tid);
	case PERFCTR_IOC_SESSION:
		return !harmless(((const struct perfctr_session_args *)image)->policy);
	case PERFCTR_IOC_SAMPLES:
		return ((const struct perfctr_samples_args *)image)->room_bytes > USER_ROOM_BYTES;
	case PERFCTR_IOC_CONTROL:
		return call->kind == SESSION ? overrides_policy(image) : counts_kernel(image);
	default:
		return false;
	}
}

/* Checks only while the level never allowed users kernel mode. */
static void check_privilege(struct fuzzer *f, const struct call *call, struct glimpse level)
{
	if (self.user && f->alone && is_too_much(call, level.value) && level.value >= 2 &&
	    has_stayed(PARANOID, level))
		finding(f, CHECK_PRIVILEGE, "%s was accepted", call->command->name);
}

/*
 * Notes what can be mapped of the context now, unless another thread has put another one into the
 * slot.
 */
static void keep_rings(const struct call *call)
{
	struct perfctr_samples_args samples = {};

	memcpy(&samples, call->address,
	       call->length < sizeof(samples) ? call->length : sizeof(samples));
	call->slot->n_cpus = samples.n_cpus;
	call->slot->ring_bytes = samples.ring_bytes;
}

/* Keeps the descriptor that a call returned. */
static void keep(struct fuzzer *f, const struct call *call)
{
	const struct perfctr_open_args *open = (const void *)call->image;
	struct perfctr_session_args session = {};
	struct slot held = {};

	switch (call->command->number) {
	case PERFCTR_IOC_OPEN:
		held.kind = open->flags & PERFCTR_OPEN_CREATE ? OWNER : READER;
		held.own = f->alone && !open->tid;
		break;
	case PERFCTR_IOC_OPEN_MARK:
		held.kind = MARK;
		break;
	case PERFCTR_IOC_SESSION:
		memcpy(&session, call->address,
		       call->length < sizeof(session) ? call->length : sizeof(session));
		held.kind = SESSION;
		held.n_cpus = session.n_cpus;
		held.pages_bytes = session.pages_bytes;
		held.ring_bytes = session.ring_bytes;
		break;
	case PERFCTR_IOC_SAMPLES:
		keep_rings(call);
		return;
	default:
		return;
	}
	add_slot(f, call->result, &held);
}

static void count(const struct call *call)
{
	const struct command *actual = command_on(call->command->number, call->kind);
	struct call_count *counts = &shared->call[(actual ? actual : call->command) - commands];

	atomic_fetch_add(call->result < 0 ? &counts->refused : &counts->accepted, 1);
}

void op_call(struct fuzzer *f)
{
	static __thread struct call call;
	struct glimpse level = glance(PARANOID);

	memset(&call, 0, offsetof(struct call, image));
	choose(f, &call);
	f->doing = call.command->name;
	prepare(f, &call);
	perform(f, &call);
	count(&call);
	check_error(f, &call, level);
	check_bounds(f, &call);
	check_array(f, &call);
	if (call.result < 0) {
		check_refusal(f, &call);
		return;
	}
	check_privilege(f, &call, level);
	keep(f, &call);
}
