// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The page protocol, tested deterministically. A breakpoint stops the reader once at each of its
 * instruction boundaries. The reader stays off its CPU until another monitored process has taken
 * the counters there. At whatever boundary it was stopped, the value that it reads must lie between
 * the kernel's sums before and after. Readers that are broken on purpose show that the test would
 * notice.
 */
#include "guest.h"

#include <perfctr.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define MAX_BOUNDARIES	32
#define AWAY		2000000		/* instructions of the rival while the reader is stopped */

/* All readers are in one section, so that the tracer knows their instructions. */
#define READER __attribute__((noinline, section("readers"))) static uint64_t
extern const char readers_begin[] __asm__("__start_readers");
extern const char readers_end[] __asm__("__stop_readers");

READER library_pmc(const struct perfctr_page *page)
{
	return perfctr_read_pmc(page, 0);
}

READER library_tsc(const struct perfctr_page *page)
{
	return perfctr_read_tsc(page);
}

static inline uint64_t load(const __u64 *word)
{
	return *(const volatile __u64 *)word;
}

READER pmc_without_recheck(const struct perfctr_page *page)
{
	uint64_t bias = load(&page->counter[0].bias);

	return bias + rdpmc((uint32_t)load(&page->counter[0].ticket));
}

READER tsc_without_recheck(const struct perfctr_page *page)
{
	uint64_t bias = load(&page->tsc.bias);

	return bias + rdtsc();
}

READER pmc_with_recheck_too_early(const struct perfctr_page *page)
{
	uint64_t bias, ticket;

	do {
		ticket = load(&page->counter[0].ticket);
		bias = load(&page->counter[0].bias);
	} while (load(&page->counter[0].recheck) != ticket);
	return bias + rdpmc((uint32_t)load(&page->counter[0].ticket));
}

READER tsc_with_recheck_too_early(const struct perfctr_page *page)
{
	uint64_t bias, ticket;

	do {
		ticket = load(&page->tsc.ticket);
		bias = load(&page->tsc.bias);
	} while (load(&page->tsc.recheck) != ticket);
	return bias + rdtsc();
}

READER pmc_with_the_bias_for_a_ticket(const struct perfctr_page *page)
{
	uint64_t bias, value;

	do {
		bias = load(&page->counter[0].bias);
		value = bias + rdpmc((uint32_t)load(&page->counter[0].ticket));
	} while (load(&page->counter[0].bias) != bias);
	return value;
}

static uint64_t kernel_pmc(const struct perfctr_counts *counts)
{
	return counts->counter[0];
}

static uint64_t kernel_tsc(const struct perfctr_counts *counts)
{
	return counts->tsc;
}

struct protocol {
	const char *name;
	uint64_t (*read)(const struct perfctr_page *page);
	uint64_t (*kernel)(const struct perfctr_counts *counts);
	uint32_t event;
};

static const struct protocol good[] = {
	{ "library_pmc", library_pmc, kernel_pmc, INSTRUCTIONS },
	{ "library_tsc", library_tsc, kernel_tsc, INSTRUCTIONS },
};

static const struct protocol broken[] = {
	{ "pmc_without_recheck", pmc_without_recheck, kernel_pmc, INSTRUCTIONS },
	{ "tsc_without_recheck", tsc_without_recheck, kernel_tsc, INSTRUCTIONS },
	{ "pmc_with_recheck_too_early", pmc_with_recheck_too_early, kernel_pmc, INSTRUCTIONS },
	{ "tsc_with_recheck_too_early", tsc_with_recheck_too_early, kernel_tsc, INSTRUCTIONS },
};

/* The readers execute no branch: the counter stands still while a switch is under way. */
static const struct protocol library_of_branches = { "library_pmc of branches", library_pmc,
						     kernel_pmc, BRANCHES };
static const struct protocol bias_of_branches = { "pmc_with_the_bias_for_a_ticket",
						  pmc_with_the_bias_for_a_ticket, kernel_pmc,
						  BRANCHES };

/* Filled in by the reading process, for the tracer. */
struct report {
	uint64_t low, value, high;		/* of the round just finished */
	unsigned int n;
	uint64_t boundary[MAX_BOUNDARIES];	/* before each of its instructions */
};

static struct report *report;

/* The reader leaves for its return address, or for the slow path if it was disturbed. */
static uint64_t return_address, left_to;

static bool in_reader(uint64_t rip)
{
	return rip >= (uint64_t)readers_begin && rip < (uint64_t)readers_end;
}

static void on_step(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	uint64_t rip = regs[REG_RIP];

	(void)signal;
	(void)info;
	if (in_reader(rip)) {
		if (report->n == 0)
			return_address = *(uint64_t *)regs[REG_RSP];
		EXPECT(report->n < MAX_BOUNDARIES);
		report->boundary[report->n++] = rip;
	} else if (report->n) {
		left_to = rip;
		regs[REG_EFL] &= ~0x100l;	/* TF */
	}
}

/*
 * Learns the boundaries by single steps in the process itself. A tracer's step would be a switch,
 * and the reader would retry at every one.
 */
static void learn_boundaries(const struct protocol *protocol, const struct perfctr_page *page)
{
	struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };

	sigaction(SIGTRAP, &action, NULL);
	do {
		report->n = 0;
		/* Sets TF, clear of the red zone. */
		__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
				 "pushfq\n\t"
				 "orl $0x100, (%%rsp)\n\t"
				 "popfq\n\t"
				 "lea 128(%%rsp), %%rsp" : : : "memory", "cc");
		protocol->read(page);
	} while (left_to != return_address);
}

/* Reads round after round. The tracer gets control at the int3 between two rounds. */
_Noreturn static void read_for_ever(const struct protocol *protocol)
{
	const struct perfctr_page *page;
	struct perfctr_counts counts;
	int fd = context_open(0, PERFCTR_OPEN_CREATE);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	pin(0, 0);
	page = context_map(fd);
	context_control(fd, EVENTS({ 0, USER(protocol->event) }));
	learn_boundaries(protocol, page);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	for (;;) {
		__asm__ volatile("int3");
		/* Makes a stale bias wrong by far. */
		spin(100000);
		counts = context_read(fd);
		report->low = protocol->kernel(&counts);
		report->value = protocol->read(page);
		counts = context_read(fd);
		report->high = protocol->kernel(&counts);
	}
}

/*
 * Waits until the reader stops again. Returns the address after the int3, or after the instruction
 * that was stepped over.
 */
static uint64_t wait_stop(pid_t pid)
{
	struct user_regs_struct regs;
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP, "wait status %#x", status);
	ck_assert_int_eq(ptrace(PTRACE_GETREGS, pid, NULL, &regs), 0);
	return regs.rip;
}

static uint64_t resume(pid_t pid)
{
	ck_assert_int_eq(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	return wait_stop(pid);
}

/*
 * Lets the reader go from the int3 between two rounds to the instruction at address. Returns false
 * if the round did not reach it: the reader is at the next int3 then.
 */
static bool run_to(pid_t pid, uint64_t address)
{
	struct user_regs_struct regs;
	bool reached;
	long text;

	errno = 0;
	text = ptrace(PTRACE_PEEKTEXT, pid, address, NULL);
	ck_assert_int_eq(errno, 0);
	ck_assert_int_eq(ptrace(PTRACE_POKETEXT, pid, address, (text & ~0xffl) | 0xcc), 0);
	reached = resume(pid) == address + 1;
	ck_assert_int_eq(ptrace(PTRACE_POKETEXT, pid, address, text), 0);
	if (reached) {
		ck_assert_int_eq(ptrace(PTRACE_GETREGS, pid, NULL, &regs), 0);
		regs.rip = address;
		ck_assert_int_eq(ptrace(PTRACE_SETREGS, pid, NULL, &regs), 0);
	}
	return reached;
}

#define ROUNDS 100

/* A round that the rival interrupts takes the slow path, and may not reach the address. */
static void stop_at(pid_t pid, uint64_t address)
{
	unsigned int rounds = 0;

	while (!run_to(pid, address))
		ck_assert_uint_lt(++rounds, ROUNDS);
}

/*
 * Stops the reader at every boundary in turn, and calls away() there. Returns the number of wrong
 * values.
 */
static unsigned int wrong_values(const struct protocol *protocol,
				 void (*away)(pid_t reader, const struct counted *rival))
{
	struct counted rival = foreign_start(0);
	unsigned int wrong = 0;
	pid_t reader;

	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	ck_assert(report != MAP_FAILED);
	pin(0, 1);
	reader = fork();
	ck_assert(reader >= 0);
	if (reader == 0)
		read_for_ever(protocol);
	wait_stop(reader);
	/* The shortest reader: a load, RDPMC, add, cmp, jne, ret. */
	ck_assert_uint_ge(report->n, 6);
	for (unsigned int i = 0; i < report->n; i++) {
		stop_at(reader, report->boundary[i]);
		away(reader, &rival);
		resume(reader);
		pin(reader, 0);
		if (report->value < report->low || report->value > report->high) {
			wrong++;
			printf("%s, stopped before instruction %u of %u: %llu is not in %llu..%llu\n",
			       protocol->name, i + 1, report->n,
			       (unsigned long long)report->value, (unsigned long long)report->low,
			       (unsigned long long)report->high);
		}
	}
	kill_and_wait(reader);
	kill_and_wait(rival.pid);
	close(rival.fd);
	munmap(report, sizeof(*report));
	return wrong;
}

/* The rival takes the counters of the reader's CPU. */
static void lose_counters(pid_t reader, const struct counted *rival)
{
	(void)reader;
	foreign_wait(rival, AWAY);
}

/* The same; then the reader goes on on the other CPU. */
static void lose_counters_and_migrate(pid_t reader, const struct counted *rival)
{
	foreign_wait(rival, AWAY);
	pin(reader, 1);
}

/*
 * One instruction is executed on the other CPU. Nobody else counts meanwhile: afterwards everything
 * is as before, except for what that instruction has read.
 */
static void visit_the_other_cpu(pid_t reader, const struct counted *rival)
{
	kill(rival->pid, SIGSTOP);
	sleep_us(1000);
	pin(reader, 1);
	ck_assert_int_eq(ptrace(PTRACE_SINGLESTEP, reader, NULL, NULL), 0);
	wait_stop(reader);
	pin(reader, 0);
}

START_TEST(the_library_reads_right_whenever_it_is_interrupted)
{
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ck_assert_uint_eq(wrong_values(&good[i], lose_counters), 0);
}
END_TEST

START_TEST(the_library_reads_right_wherever_it_migrates)
{
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ck_assert_uint_eq(wrong_values(&good[i], lose_counters_and_migrate), 0);
}
END_TEST

/* The rival may hit the decisive place by itself just before, which hides the fault. */
static void expect_wrong_values(const struct protocol *protocol,
				void (*away)(pid_t reader, const struct counted *rival))
{
	for (int i = 0; i < 5; i++)
		if (wrong_values(protocol, away))
			return;
	ck_abort_msg("%s passes", protocol->name);
}

START_TEST(readers_that_are_broken_on_purpose_are_caught)
{
	for (size_t i = 0; i < ARRAY_SIZE(broken); i++)
		expect_wrong_values(&broken[i], lose_counters);
}
END_TEST

START_TEST(p2_two_migrations_within_a_read_do_not_cancel_out)
{
	ck_assert_uint_eq(wrong_values(&library_of_branches, visit_the_other_cpu), 0);
	expect_wrong_values(&bias_of_branches, visit_the_other_cpu);
}
END_TEST

SUITE(protocol,
      the_library_reads_right_whenever_it_is_interrupted,
      the_library_reads_right_wherever_it_migrates,
      readers_that_are_broken_on_purpose_are_caught,
      p2_two_migrations_within_a_read_do_not_cancel_out)
