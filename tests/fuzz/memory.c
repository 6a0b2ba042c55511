// SPDX-License-Identifier: GPL-2.0-or-later
/* Mappings of every length, offset and protection, and what they show. */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/*
 * Far below the addresses that the kernel chooses for others: only these operations fill a hole
 * here.
 */
#define WINDOWS 0x10000000000ull
#define WINDOW_BYTES (8u << 20)
#define SEQ_SECONDS 20 /* a slower writer has forgotten its readers */

/* An access that may fault, because other threads unmap. guarded() returns false if it did. */
static __thread sigjmp_buf fault;
static __thread volatile bool expecting;

static void on_fault(int signal)
{
	if (expecting) {
		expecting = false;
		siglongjmp(fault, 1);
	}
	/* The fuzzer itself is at fault, and dies of it. */
	sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
}

void memory_init(void)
{
	struct sigaction action = { .sa_handler = on_fault, .sa_flags = SA_NODEFER };

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

static bool guarded(struct fuzzer *f, void (*access)(struct fuzzer *f, void *arg), void *arg)
{
	if (sigsetjmp(fault, 0))
		return false;
	expecting = true;
	access(f, arg);
	expecting = false;
	return true;
}

static char *address_of(const struct window *window)
{
	return (char *)WINDOWS + (window - self.window) * WINDOW_BYTES;
}

/*
 * Pages of contexts are not inherited. So the child starts without the permission to execute RDPMC,
 * unless madvise() has asked for something else.
 */
void memory_fork(void)
{
	if (self.inheritable)
		return;
	self.mapped = false;
	for (size_t i = 0; i < N_WINDOWS; i++)
		if (self.window[i].content == PAGE)
			self.window[i].content = NOTHING;
}

/* Also unmaps what is left there of earlier mappings. */
static void clear_window(struct window *window)
{
	munmap(address_of(window), WINDOW_BYTES);
	window->content = NOTHING;
}

static struct window *any_window(struct fuzzer *f)
{
	return &self.window[below(f, N_WINDOWS)];
}

static struct window *used_window(struct fuzzer *f)
{
	size_t start = below(f, N_WINDOWS);

	for (size_t i = 0; i < N_WINDOWS; i++) {
		struct window *window = &self.window[(start + i) % N_WINDOWS];

		if (window->content != NOTHING)
			return window;
	}
	return NULL;
}

/* Something to map, mostly with the right place and length. */
struct request {
	uint32_t length;
	uint64_t offset;
	int content;
};

static struct request any_request(struct fuzzer *f, const struct slot *slot)
{
	struct request r = { .length = PERFCTR_PAGE_SIZE, .content = PAGE };

	if (slot->kind == SESSION)
		r = (struct request){ .length = slot->pages_bytes, .content = SESSION_PAGES };
	if (slot->ring_bytes && chance(f, 60)) {
		r.length = slot->ring_bytes;
		r.offset = PERFCTR_RING_OFFSET +
			   below(f, slot->n_cpus + 1) * (uint64_t)slot->ring_bytes;
	}
	if (chance(f, 5))
		r.length = below(f, 20) * PAGE_BYTES + below(f, 2);
	if (chance(f, 5))
		r.offset = awkward(f) & ~(uint64_t)(PAGE_BYTES - 1);
	if (chance(f, 2))
		r.offset += PAGE_BYTES;
	if (!r.length || r.length > WINDOW_BYTES)
		r.length = PAGE_BYTES;
	/* The offset may have become that of something else. */
	if (r.offset)
		r.content = RING;
	return r;
}

static int any_protection(struct fuzzer *f)
{
	return chance(f, 85) ? PROT_READ : (int)below(f, 8);
}

void op_map(struct fuzzer *f)
{
	struct slot *slot =
		any_slot(f, chance(f, 95) ? 1u << OWNER | 1u << READER | 1u << SESSION : ~0u);
	struct window *window = any_window(f);
	int protection = any_protection(f);
	int flags = MAP_FIXED | (chance(f, 80) ? MAP_SHARED : MAP_PRIVATE);
	struct request r;
	void *address;

	if (!slot)
		return;
	r = any_request(f, slot);
	if (chance(f, 5))
		flags |= MAP_POPULATE;
	clear_window(window);
	address = mmap(address_of(window), r.length, protection, flags, slot->fd, r.offset);
	atomic_fetch_add(address == MAP_FAILED ? &shared->map.refused : &shared->map.accepted, 1);
	if (address == MAP_FAILED)
		return;
	if (protection & PROT_WRITE)
		finding(f, CHECK_MEMORY, "kind %u was mapped writable", slot->kind);
	window->content = f->alone ? r.content : UNKNOWN;
	window->length = (r.length + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
	/* Another thread may have put something else into the slot. */
	if (r.content == PAGE || !f->alone)
		self.mapped = true;
}

void op_unmap(struct fuzzer *f)
{
	struct window *window = used_window(f);
	uint32_t pages, first;

	if (!window)
		return;
	pages = window->length / PAGE_BYTES;
	if (chance(f, 70)) {
		clear_window(window);
		return;
	}
	first = below(f, pages);
	munmap(address_of(window) + first * PAGE_BYTES, (1 + below(f, pages - first)) * PAGE_BYTES);
}

void op_remap(struct fuzzer *f)
{
	static const int flags[] = { 0, MREMAP_MAYMOVE | MREMAP_FIXED,
				     MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP };
	struct window *from = used_window(f), *to = any_window(f);
	uint32_t old, new;
	int chosen = flags[below(f, ARRAY_SIZE(flags))];
	void *address;

	if (!from || from == to)
		return;
	clear_window(to);
	old = chance(f, 80) ? from->length : below(f, 3) * PAGE_BYTES;
	new = chance(f, 50) ? old : below(f, 20) * PAGE_BYTES;
	address = mremap(address_of(from), old, new, chosen, address_of(to));
	if (address == MAP_FAILED)
		return;
	if (new > old &&new > from->length && f->alone)
		finding(f, CHECK_MEMORY, "a mapping of %u bytes was made %u", from->length, new);
	if (address == address_of(to)) {
		to->content = f->alone ? from->content : UNKNOWN;
		to->length = new;
		clear_window(from);
	} else {
		from->length = new;
	}
}

/* Writes as a debugger does, also where the process itself may not. */
static void write_by_force(struct fuzzer *f, struct window *window)
{
	int fd = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return;
	n = pwrite(fd, &(uint64_t){ 0 }, sizeof(uint64_t), (off_t)(uintptr_t)address_of(window));
	close(fd);
	if (n > 0 && f->alone)
		finding(f, CHECK_MEMORY, "/proc/self/mem wrote to a mapping");
}

void op_protect(struct fuzzer *f)
{
	static const int advice[] = { MADV_DONTNEED, MADV_DONTFORK,	 MADV_DOFORK,
				      MADV_WILLNEED, MADV_FREE,		 MADV_COLD,
				      MADV_PAGEOUT,  MADV_DODUMP,	 MADV_MERGEABLE,
				      MADV_REMOVE,   MADV_POPULATE_READ, MADV_POPULATE_WRITE };
	struct window *window = used_window(f);
	int protection = any_protection(f), advised;

	if (!window)
		return;
	switch (below(f, 4)) {
	case 0:
		if (mprotect(address_of(window), PAGE_BYTES, protection) == 0 &&
		    protection & PROT_WRITE && f->alone)
			finding(f, CHECK_MEMORY, "a mapping became writable");
		break;
	case 1:
		write_by_force(f, window);
		break;
	case 2:
		msync(address_of(window), window->length, MS_SYNC);
		mlock(address_of(window), window->length);
		munlock(address_of(window), window->length);
		break;
	default:
		advised = advice[below(f, ARRAY_SIZE(advice))];
		if (advised == MADV_DOFORK)
			self.inheritable = true;
		madvise(address_of(window), window->length, advised);
	}
}

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return now.tv_sec;
}

static bool becomes_even(const uint32_t *seq)
{
	time_t end = seconds() + SEQ_SECONDS;

	while (__atomic_load_n(seq, __ATOMIC_ACQUIRE) & 1)
		if (seconds() > end)
			return false;
	return true;
}

/* PERFCTR_PAGE_DISTURBED must not be set: nobody else writes to the counters here. */
static void look_at_page(struct fuzzer *f, void *address)
{
	const struct perfctr_page *page = address;

	if (page->size != sizeof(*page) || page->abi_version != PERFCTR_ABI_VERSION ||
	    page->n_counters > PERFCTR_MAX_COUNTERS ||
	    page->flags & ~(PERFCTR_PAGE_STARTED | PERFCTR_PAGE_RDPMC))
		finding(f, CHECK_MEMORY, "page: size %u, version %u, %u counters, flags %x",
			page->size, page->abi_version, page->n_counters, page->flags);
	if (!becomes_even(&page->seq))
		finding(f, CHECK_MEMORY, "page: seq stays odd");
}

/* A session has a page for each CPU. This is the first one. */
static void look_at_session_page(struct fuzzer *f, void *address)
{
	const struct perfctr_page *page = address;

	if (page->size != sizeof(*page) || page->abi_version != PERFCTR_ABI_VERSION ||
	    page->n_counters > PERFCTR_MAX_COUNTERS ||
	    page->flags & ~PERFCTR_PAGE_COUNTING)
		finding(f, CHECK_MEMORY,
			"page of a session: size %u, version %u, %u counters, flags %x", page->size,
			page->abi_version, page->n_counters, page->flags);
	if (!becomes_even(&page->seq))
		finding(f, CHECK_MEMORY, "page of a session: seq stays odd");
}

/* A ring is empty before the first control. Another control may clear it at any time. */
static void look_at_ring(struct fuzzer *f, void *address)
{
	const struct perfctr_ring *ring = address;
	uint32_t size = ring->size, records = ring->records, n = ring->n_records;

	if ((size && size != sizeof(*ring)) || (records && records != sizeof(*ring)) || n & (n - 1))
		finding(f, CHECK_MEMORY, "ring: size %u, records at %u, %u of them", size, records,
			n);
}

void op_look(struct fuzzer *f)
{
	static void (*const look[])(struct fuzzer * f, void *address) = {
		[PAGE] = look_at_page,
		[SESSION_PAGES] = look_at_session_page,
		[RING] = look_at_ring,
	};
	struct window *window = used_window(f);

	if (window && window->content != UNKNOWN && f->alone)
		guarded(f, look[window->content], address_of(window));
}

struct rdpmc {
	uint32_t index;
	uint64_t value;
};

static void execute_rdpmc(struct fuzzer *f, void *argument)
{
	struct rdpmc *r = argument;
	uint32_t low, high;

	(void)f;
	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(r->index) : "memory");
	r->value = (uint64_t)high << 32 | low;
}

bool rdpmc(struct fuzzer *f, uint32_t index, uint64_t *value)
{
	struct rdpmc r = { .index = index };
	bool executed = guarded(f, execute_rdpmc, &r);

	*value = r.value;
	return executed;
}

/*
 * RDPMC is allowed while a page is mapped, on all existing counters. Root may allow it to
 * everybody.
 */
void op_rdpmc(struct fuzzer *f)
{
	uint32_t index = chance(f, 80) ? below(f, 4) : awkward(f);
	struct glimpse allowed = glance(RDPMC_FOR);
	bool before = self.mapped;
	uint64_t value;

	if (rdpmc(f, index, &value) && !before && f->alone && allowed.value != 2 &&
	    has_stayed(RDPMC_FOR, allowed))
		finding(f, CHECK_PRIVILEGE, "RDPMC of a process that has mapped nothing");
}
