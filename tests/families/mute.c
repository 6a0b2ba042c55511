// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A CPU comes online while others count. Its counters are of no kind that was there at boot, or
 * they are its sibling's. The administrator gets the CPU. Nothing is counted there, and that is
 * reported.
 */
#include "hybrid.h"

#include <fcntl.h>
#include <perfctr.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SMT_CONTROL "/sys/devices/system/cpu/smt/control"
#define WATCHDOG_SWITCH "/proc/sys/kernel/nmi_watchdog"
#define RDPMC_SWITCH "/sys/bus/event_source/devices/cpu_core/rdpmc"
#define FOREIGN 0x123456
#define MARKED_USERS (PERFCTR_EXCLUDE_KERNEL | PERFCTR_EXCLUDE_UNMARKED)

bool has_a_cpu_that_cannot_count(void)
{
	return !strcmp(profile.name, "hybrid-leaf-lost") || !strcmp(profile.name, "p4-nosmt");
}

static bool write_text(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CLOEXEC);

	REQUIRE(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	return !close(fd);
}

/* Switches CPU 1 on. The kernel takes it down again if somebody refuses it. */
static bool let_it_come(void)
{
	if (strcmp(profile.name, "p4-nosmt"))
		return set_online(false) && set_online(true);
	return write_text(SMT_CONTROL, "on");
}

static bool is_online(void)
{
	char online = 0;
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_RDONLY | O_CLOEXEC);

	REQUIRE(fd >= 0 && read(fd, &online, 1) == 1);
	return !close(fd) && EXPECT_EQUAL(online, '1');
}

/* An event select and a counter of CPU 1. On NetBurst, CCCR and ESCR of counter 12. */
static bool read_registers(uint64_t *value)
{
	const uint32_t arch[] = { 0x186, 0xc1 }, p4[] = { 0x36c, 0x3b8 };
	const uint32_t *msr = strcmp(profile.name, "p4-nosmt") ? arch : p4;
	int msrs = open("/dev/cpu/1/msr", O_RDONLY | O_CLOEXEC);

	REQUIRE(msrs >= 0);
	for (int i = 0; i < 2; i++)
		REQUIRE(pread64(msrs, &value[i], sizeof(value[i]), msr[i]) == sizeof(value[i]));
	return !close(msrs);
}

static bool write_foreign(uint64_t value)
{
	int msrs = open("/dev/cpu/1/msr", O_WRONLY | O_CLOEXEC);

	REQUIRE(msrs >= 0 && pwrite64(msrs, &value, sizeof(value), 0xc1) == sizeof(value));
	return !close(msrs);
}

bool has_watchdog(void)
{
	char on = '0';
	int fd = open(WATCHDOG_SWITCH, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	EXPECT(read(fd, &on, 1) == 1);
	close(fd);
	return on == '1';
}

/*
 * The driver tries the counters, and measures the cost of instructions, when the watchdog gives the
 * counters back.
 */
bool the_first_to_count_leaves_a_cpu_alone_that_cannot(void)
{
	struct perfctr_control control = control_one(&profile.instructions.of[0], USER);
	uint64_t registers[2];
	int fd;

	REQUIRE(let_it_come() && is_online() && EXPECT_EQUAL(machine_info().mute_cpus, 1));
	REQUIRE(write_text(WATCHDOG_SWITCH, "0") && pin(0, 1) && write_foreign(FOREIGN));
	REQUIRE(EXPECT_EQUAL(machine_info().cost_wrmsr, 0));
	fd = context_open(0);
	REQUIRE(fd >= 0 && context_control(fd, &control));
	REQUIRE(EXPECT(machine_info().cost_wrmsr > 0));
	REQUIRE(read_registers(registers) && EXPECT_EQUAL(registers[1], FOREIGN));
	return !close(fd);
}

/* cpus: 0: all. */
static int session_open_on(uint64_t cpus, struct perfctr_session_args *open)
{
	*open = (struct perfctr_session_args){
		.size = sizeof(*open),
		.mark = -1,
		.policy = PERFCTR_EXCLUDE_KERNEL,
		.cpus = cpus ? (uintptr_t)&cpus : 0,
		.cpus_bytes = cpus ? sizeof(cpus) : 0,
	};
	return device_call(PERFCTR_IOC_SESSION, open);
}

/* Only the page of the mute CPU shows that something is missing. */
static bool pages_tell(int session, const struct perfctr_session_args *open)
{
	const char *pages = mmap(NULL, open->pages_bytes, PROT_READ, MAP_SHARED, session, 0);
	const struct perfctr_page *first = (const void *)pages,
				  *second = (const void *)(pages + open->cpu_bytes);

	REQUIRE(EXPECT(pages != MAP_FAILED));
	REQUIRE(EXPECT(!(first->flags & PERFCTR_PAGE_DISTURBED)) &&
		EXPECT(second->flags & PERFCTR_PAGE_DISTURBED));
	return !munmap((void *)pages, open->pages_bytes);
}

static bool is_disturbed(int fd, uint32_t scope)
{
	return counts_of(fd, scope).flags & PERFCTR_COUNTS_DISTURBED;
}

/* A session that names the CPU is refused. One on all CPUs counts without it, and says so. */
static bool sessions_are_told(void)
{
	struct perfctr_control control = control_one(&profile.instructions.of[1], USER);
	struct perfctr_session_args open;
	int on_it = session_open_on(2, &open), on_other = session_open_on(1, &open),
	    on_all = session_open_on(0, &open);
	struct perfctr_control copy = control;
	bool refused;

	REQUIRE(on_it >= 0 && on_other >= 0 && on_all >= 0);
	refused = ioctl(on_it, PERFCTR_IOC_CONTROL, &copy) == -1 && errno == ENXIO;
	REQUIRE(refused);
	copy.flags = PERFCTR_CONTROL_STOPPED;
	REQUIRE(context_control(on_it, &copy));
	refused = ioctl(on_it, PERFCTR_IOC_START, 0) == -1 && errno == ENXIO;
	REQUIRE(refused);
	REQUIRE(context_control(on_other, &control) &&
		EXPECT(!is_disturbed(on_other, PERFCTR_SCOPE_SELF)));
	close(on_other);
	REQUIRE(context_control(on_all, &control) &&
		EXPECT(is_disturbed(on_all, PERFCTR_SCOPE_SELF)) && pages_tell(on_all, &open));
	close(on_all);
	return !close(on_it);
}

/* The thread runs there, and its counter has counted nothing. */
static bool fast_reads_find_nothing(const struct perfctr_page *page)
{
	struct perfctr_snapshot snapshot;

	perfctr_read_snapshot(page, 1, &snapshot);
	return EXPECT_EQUAL(perfctr_read_pmc(page, 0), 0) && EXPECT_EQUAL(snapshot.counter[0], 0);
}

/* Everybody may execute RDPMC: it must not show what a counter there holds for others. */
static bool fast_reads_never_find_what_is_foreign(const struct perfctr_page *page)
{
	if (!strcmp(profile.name, "p4-nosmt"))
		return true;
	REQUIRE(write_foreign(FOREIGN) && write_text(RDPMC_SWITCH, "2"));
	REQUIRE(fast_reads_find_nothing(page));
	return write_text(RDPMC_SWITCH, "1") && write_foreign(0);
}

/*
 * A thread that begins to count on the CPU is told at once. Its fast reads return its count, which
 * is 0.
 */
static bool who_begins_there_is_told(uint32_t flags)
{
	const uint32_t scope = flags ? PERFCTR_SCOPE_TREE : PERFCTR_SCOPE_SELF;
	struct perfctr_control control = control_one(&profile.instructions.of[0], USER);
	const struct perfctr_page *page;
	struct perfctr_counts counts;
	int fd;

	REQUIRE(pin(0, 1));
	fd = context_open(0);
	REQUIRE(fd >= 0);
	control.flags = flags;
	REQUIRE(context_control(fd, &control));
	counts = counts_of(fd, scope);
	REQUIRE(EXPECT(counts.flags & PERFCTR_COUNTS_DISTURBED) &&
		EXPECT_EQUAL(counts.counter[0], 0));
	if (!flags) {
		page = mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
		REQUIRE(page != MAP_FAILED);
		REQUIRE(fast_reads_find_nothing(page));
		REQUIRE(fast_reads_never_find_what_is_foreign(page));
		REQUIRE(pin(0, 0) && EXPECT(perfctr_read_pmc(page, 0) > 0));
		munmap((void *)page, PERFCTR_PAGE_SIZE);
	}
	REQUIRE(pin(0, 0));
	REQUIRE(EXPECT(counts_of(fd, scope).counter[0] > 0));
	return !close(fd);
}

static bool is_of_a_kind(void)
{
	for (uint32_t kind = 0; kind < machine_info().n_kinds; kind++) {
		uint64_t cpus = 0;
		struct perfctr_kind_cpus request = {
			.size = sizeof(request),
			.kind = kind,
			.cpus = (uintptr_t)&cpus,
			.cpus_bytes = sizeof(cpus),
		};

		if (device_call(PERFCTR_IOC_KIND_CPUS, &request) || cpus & 2)
			return true;
	}
	return false;
}

/* The counts of rounds on CPU 0, where counting goes on. */
static bool counts_are(int fd, const struct walker *w, bool disturbed)
{
	struct perfctr_counts counts = counts_of(fd, PERFCTR_SCOPE_SELF);

	return EXPECT_EQUAL(counts.counter[0], w->rounds[0] * round_instructions(&w->workload)) &&
	       EXPECT_EQUAL(!!(counts.flags & PERFCTR_COUNTS_DISTURBED), disturbed);
}

/* The time of a thread on CPU 1 belongs to no kind of core. */
static bool no_kind_has_the_time(const struct perfctr_counts *before,
				 const struct perfctr_counts *after)
{
	uint64_t on_kinds = after->kind_tsc[0] + after->kind_tsc[1];

	return !machine_info().n_kinds || (EXPECT_EQUAL(after->kind_tsc[1], before->kind_tsc[1]) &&
					   EXPECT(on_kinds > 0) && EXPECT(on_kinds < after->tsc));
}

bool a_cpu_that_cannot_count_comes_and_it_is_told(void)
{
	struct perfctr_control of_context = control_one(&profile.instructions.of[0], USER);
	struct perfctr_control of_session = control_one(&profile.instructions.of[1], USER);
	struct perfctr_counts were, are;
	uint64_t before[2], after[2];
	int mark_fd, session, fd;
	struct walker w;

	REQUIRE(walker_start(&w)); /* before the descriptors are opened */
	mark_fd = mark_open();
	session = session_open(mark_fd, MARKED_USERS);
	fd = context_open(w.pid);
	REQUIRE(mark_fd >= 0 && session >= 0 && fd >= 0 && context_control(fd, &of_context));
	REQUIRE(context_control(session, &of_session) && mark(mark_fd, w.pid));
	REQUIRE(round_on(&w, 0));
	REQUIRE(let_it_come() && is_online());
	REQUIRE(EXPECT_EQUAL(machine_info().mute_cpus, 1) && EXPECT(!is_of_a_kind()));
	REQUIRE(round_on(&w, 0));
	REQUIRE(counts_are(fd, &w, false) && counts_are(session, &w, true));
	REQUIRE(read_registers(before));
	were = counts_of(fd, PERFCTR_SCOPE_SELF);
	REQUIRE(round_on(&w, 1));
	are = counts_of(fd, PERFCTR_SCOPE_SELF);
	REQUIRE(no_kind_has_the_time(&were, &are));
	REQUIRE(read_registers(after));
	REQUIRE(EXPECT_EQUAL(after[0], before[0]) && EXPECT_EQUAL(after[1], before[1]));
	REQUIRE(counts_are(fd, &w, true) && counts_are(session, &w, true));
	REQUIRE(round_on(&w, 0));
	REQUIRE(counts_are(fd, &w, true) && counts_are(session, &w, true));
	close(session);
	REQUIRE(sessions_are_told());
	REQUIRE(who_begins_there_is_told(0));
	REQUIRE(who_begins_there_is_told(PERFCTR_CONTROL_INHERIT | PERFCTR_CONTROL_TOTALS));
	close(fd);
	close(mark_fd);
	return walker_end(&w);
}
