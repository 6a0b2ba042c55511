/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the guest tests. Each suite has a file; main.c runs the suites that its arguments name.
 * The tests speak to the kernel through its ABI only, so that a fault of the library does not hide
 * one of the driver. They use the library where it is the thing under test.
 */
#ifndef GUEST_H
#define GUEST_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <linux/perfctr.h>

/* Event select registers of the architectural PMU (SDM volume 3, 20.2.1.1 and table 20-1). */
#define EVNTSEL_USR		0x00010000u
#define EVNTSEL_OS		0x00020000u
#define EVNTSEL_INT		0x00100000u
#define EVNTSEL_EN		0x00400000u
#define USER(event)		((event) | EVNTSEL_EN | EVNTSEL_USR)
#define KERNEL(event)		((event) | EVNTSEL_EN | EVNTSEL_OS)
#define BOTH(event)		((event) | EVNTSEL_EN | EVNTSEL_USR | EVNTSEL_OS)
#define INSTRUCTIONS		0x00c0
#define BRANCHES		0x00c4
#define CYCLES			0x003c
#define LOADS			0x81d0
#define STORES			0x82d0
#define FIXED			0x0000	/* a fixed counter has its event built in */

/* User instructions that asm/loop.S retires, counted there by hand. */
#define LOOP_INSTRUCTIONS(iterations)	(2 * (uint64_t)(iterations) + 4)
#define LOOP_BRANCHES(iterations)	((uint64_t)(iterations) + 1)
#define TINY_LOOP	1000u		/* iterations of the program "loop-tiny" */
#define SHORT_LOOP	1000000u	/* of "loop" */
#define LONG_LOOP	100000000u	/* of "loop-long": many time slices */
#define HUGE_LOOP	2200000000u	/* of "loop-huge": more than 2^32 instructions */

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

struct event {
	uint32_t counter;
	uint64_t evntsel;
};

#define EVENTS(...) (const struct event[]){ __VA_ARGS__ }, \
	ARRAY_SIZE(((const struct event[]){ __VA_ARGS__ }))

/*
 * The number of rounds of a test that by default repeats something n times, to give a race its
 * chance: n times TEST_ROUNDS of the environment, a decimal number from 0.1 to 100 (default 1), and
 * at least once. Only for tests that assert nothing about the number, and where a tenth of the
 * rounds still reaches each case.
 */
unsigned int test_rounds(unsigned int n);
/* Called once, before any test. A bad TEST_ROUNDS ends the program. */
void read_test_rounds(void);

/* Contexts, by the bare ABI.  Functions named try_* return -1 with errno; others must succeed. */
int device_open(void);
int try_context_open(pid_t tid, unsigned int flags);
int context_open(pid_t tid, unsigned int flags);
struct perfctr_control control_of(const struct event *events, size_t n);
int try_context_control(int fd, const struct event *events, size_t n);
void context_control(int fd, const struct event *events, size_t n);
struct perfctr_counts context_read(int fd);
struct perfctr_counts context_read_scope(int fd, uint32_t scope);
const struct perfctr_page *context_map(int fd);
/* Looks at 300 folds: counters 0 and other count the same, so sums that differ come from two folds. */
void expect_equal_sums(const volatile struct perfctr_page *page, int other);
/* Returns record number n of a ring. */
const void *ring_record(const struct perfctr_ring *ring, uint64_t n);
struct perfctr_pmu_info pmu_info(void);
/* Has the driver been loaded as a module?  Asks sysfs, not the driver. */
bool driver_is_module(void);
/* The name of the driver's backend, as perfex shows it. */
#define DRIVER_BACKEND (driver_is_module() ? "module" : "patch")
/* The module asks for the holder of the counters once a second: there the function waits for this one. */
void expect_holder(uint32_t holder);

/* Path of a program that was built from asm/, or of another file beside the tests. */
const char *program(const char *name);

/*
 * A program that is counted from its first instruction to its last, as perfex does it, but the test
 * holds the context. cpu: where to pin the program, or ANY_CPU.
 */
#define ANY_CPU	(-1)
struct counted {
	pid_t pid;
	int fd;
};
#define COMMAND(...) (const char *const[]){ __VA_ARGS__, NULL }
/* Starts a program that is stopped before its first instruction. stopped_go() lets it go on. */
pid_t stopped_start(int cpu, const char *const command[]);
void stopped_go(pid_t pid);
struct counted counted_start(int cpu, const char *const command[],
			     const struct event *events, size_t n);
struct perfctr_counts counted_finish(struct counted *c, int *status);
/*
 * A tree: counter 0 counts user instructions of the program and its descendants. flags: of the
 * control.
 */
struct perfctr_control tree_control(uint32_t flags);
struct counted tree_start(const char *const command[], uint32_t flags);
/* The same for the test's own process. Returns the context. */
int tree_open(uint32_t flags);
/* Takes the oldest record of the tree. Returns false if there is none. */
bool next_record(int fd, struct perfctr_exit_record *record);
/*
 * Children in the tree that run the program "loop-long", on both CPUs. loops_run(): is one of them
 * still alive?
 */
#define LOOPS 4
void loops_start(pid_t child[LOOPS]);
bool loops_run(int fd);
void expect_exact_loops(int fd, const pid_t child[LOOPS]);
/*
 * Children of the test that execute a known number of instructions. spawn() uses vfork(): the child
 * executes SPAWN_INSTRUCTIONS before the command. spawn_sleeper() uses fork(): the child sleeps
 * until it can take one from the semaphore (eventfd(2)), and executes SLEEPER_INSTRUCTIONS in all.
 */
#define SPAWN_INSTRUCTIONS	4
#define SLEEPER_INSTRUCTIONS	7
pid_t spawn(const char *const command[]);
pid_t spawn_sleeper(int semaphore);
/* Lets the caller and its children have n descriptors open. */
void raise_descriptors(unsigned int n);
void copy_file(const char *from, const char *to, mode_t mode);

/* callers.c: callers with other rights than the test's own, and perf_events beside them. */

/*
 * Copies of "exec" and "loop" in a directory of their own; "loop" sets the user id to root.
 */
struct set_user_id {
	char directory[32], exec[64], loop[64];
};
struct set_user_id set_user_id_programs(void);
void set_user_id_remove(const struct set_user_id *programs);
/* For good, so call it in a child process. It does nothing for an ordinary user. */
#define NOBODY 65534
void become_nobody(void);
/* Becomes any user for good, with the capabilities of the mask, as in BIT_OF(CAP_PERFMON). */
#define BIT_OF(capability) (1ull << (capability))
void become(uid_t uid, uint64_t capabilities);
/* Descriptors of perf_events, or -1. */
int try_perf(uint32_t type, uint64_t config, pid_t pid, int cpu);
int try_perf_instructions(void); /* the caller's */

/* The same for a software event: it needs the same rights, and no counter. */
int try_perf_dummy(pid_t thread, int cpu, bool kernel);
/* Returns a child that has called become_it() and sleeps. It ends with the caller. */
pid_t sleeper_as(void (*become_it)(const void *argument), const void *argument);

/* Sets kernel.perf_event_paranoid, -1 to 3. Returns the former value. */
int set_paranoid(int level);
/* For good, as the runtime of a container does it: perf_event_open(2) fails with the error. */
void forbid_perf_events(int error);

/* For good, by Landlock: the caller uses files in /dev only, and traces only its own children. */
void restrict_files(void);

/* guest.c again */

/* waitpid() that is repeated if a signal interrupts it. */
pid_t wait_for(pid_t pid, int *status);
void kill_and_wait(pid_t pid);
void wait_until_sleeping(pid_t pid);
/* Counts a program from start to finish. Returns count number 0; the exit status must be 0. */
uint64_t count_program(const char *name, struct event event);

/* A finished command and its output. */
struct run {
	int status;		/* as wait(2) gives it */
	char out[1 << 16];
	char err[1 << 16];
};
/* The status of a command that exits with the code. */
#define EXITED(code)	((code) << 8)
void run(struct run *r, const char *const command[]);
#define RUN(r, ...) run(r, COMMAND(__VA_ARGS__))
/* The number that perfex printed for "tsc" or an event. text: its output. */
uint64_t printed_count(const char *text, const char *what);

/* Runs fn in a child process. The test fails unless fn returns. */
void in_child(void (*fn)(void *), void *argument);
/* The child checks its conditions with EXPECT: libcheck's macros belong to the test's process. */
#define EXPECT(condition) \
	((condition) ? (void)0 : expectation_failed(__FILE__, __LINE__, #condition))
_Noreturn void expectation_failed(const char *file, int line, const char *condition);

void pin(pid_t tid, int cpu);
void unpin(pid_t tid);
/* Processes that do nothing but compete for the CPUs; they end with the test. */
void competitors_start(unsigned int n);
/* A child that loops without end; it ends with the test. */
pid_t spinner_start(int cpu);
/* A child that yields its CPU without end. */
pid_t yielder_start(int cpu);
/* Waits until the context's first event has been counted n times. */
void wait_for_count(int fd, uint64_t n);
/* Executes at least n user instructions. */
void spin(uint64_t n);
void sleep_us(unsigned int us);
void write_file(const char *path, const char *text);
/* A copy of content that cannot be written, for munmap(). */
void *read_only_copy(const void *content, size_t bytes);
#define NMI_WATCHDOG "/proc/sys/kernel/nmi_watchdog"
uint64_t read_number(const char *path);
/* Interrupts of the CPU until now. row: of /proc/interrupts, as "LOC". */
uint64_t interrupts(const char *row, int cpu);

#define PEEK_DESCRIPTOR 100 /* of the context whose page asm/peek.S maps */

/* Executes RDPMC. Returns false if it faults. */
bool try_rdpmc(uint32_t index, uint64_t *value);

static inline uint64_t rdpmc(uint32_t index)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index) : "memory");
	return (uint64_t)high << 32 | low;
}

static inline uint64_t rdtsc(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* Every counter of the `arch` machine, by RDPMC index. */
#define N_COUNTERS 7
extern const uint32_t counter_index[N_COUNTERS];
/* Fills in an event for each counter that counts user instructions. Returns their number. */
size_t all_counters(struct event events[N_COUNTERS]);

/*
 * A monitored process that executes instructions on one CPU without end, and counts them with every
 * counter. Nobody else may see its counts.
 */
struct counted foreign_start(int cpu);
/* Waits until the process has executed n more instructions. */
void foreign_wait(const struct counted *foreign, uint64_t n);

/* The function from which main.c takes the suite `name`: all these tests, in this order. */
#define SUITE(name, ...) SUITE_BETWEEN(NULL, NULL, name, __VA_ARGS__)
/*
 * Stands before the tests that need the host's time: they compare clocks, expect something within a
 * time, or count intervals. CK_EXCLUDE_TAGS=clock leaves them out.
 */
#define BY_THE_CLOCK NULL
/* The same, with setup() before and teardown() after each test, also if the test fails. */
#define SUITE_BETWEEN(setup, teardown, name, ...) \
	Suite *name##_suite(void) \
	{ \
		const TTest *tests[] = { __VA_ARGS__ }; \
		return make_suite(setup, teardown, #name, tests, ARRAY_SIZE(tests)); \
	}
Suite *make_suite(SFun setup, SFun teardown, const char *name, const TTest *const tests[],
		  size_t n);

Suite *baseline_suite(void);
Suite *beside_suite(void);
Suite *births_suite(void);
Suite *busy_suite(void);
Suite *calibrate_suite(void);
Suite *charges_suite(void);
Suite *conservation_suite(void);
Suite *container_suite(void);
Suite *control_suite(void);
Suite *counts_suite(void);
Suite *derive_suite(void);
Suite *disturbed_suite(void);
Suite *domains_suite(void);
Suite *experiment_suite(void);
Suite *fail_contexts_suite(void);
Suite *fail_life_suite(void);
Suite *fail_marks_suite(void);
Suite *fail_sessions_suite(void);
Suite *forks_suite(void);
Suite *gate_suite(void);
Suite *gate_unpatched_suite(void);
Suite *holding_suite(void);
Suite *isolation_suite(void);
Suite *leak_suite(void);
Suite *life_suite(void);
Suite *machine_report_suite(void);
Suite *maps_suite(void);
Suite *mark_suite(void);
Suite *matrix_suite(void);
Suite *members_suite(void);
Suite *module_births_suite(void);
Suite *module_cost_suite(void);
Suite *module_settings_suite(void);
Suite *module_load_suite(void);
Suite *module_kvm_suite(void);
Suite *module_room_suite(void);
Suite *names_suite(void);
Suite *neighbours_suite(void);
Suite *nohz_suite(void);
Suite *overflow_signal_suite(void);
Suite *overflow_signal_life_suite(void);
Suite *overflow_signal_limits_suite(void);
Suite *overflow_signal_prompt_suite(void);
Suite *page_suite(void);
Suite *paranoid_suite(void);
Suite *perfex_suite(void);
Suite *perfex_compare_suite(void);
Suite *perfex_hybrid_suite(void);
Suite *perfex_jobs_suite(void);
Suite *perfex_long_suite(void);
Suite *perfex_output_suite(void);
Suite *perfex_record_suite(void);
Suite *perfex_rotate_suite(void);
Suite *perfex_run_suite(void);
Suite *perfex_terminal_suite(void);
Suite *perfex_time_suite(void);
Suite *period_suite(void);
Suite *period_prompt_suite(void);
Suite *permission_suite(void);
Suite *power_suite(void);
Suite *protocol_suite(void);
Suite *rdpmc_suite(void);
Suite *rdpmc_table_suite(void);
Suite *read_suite(void);
Suite *record_suite(void);
Suite *regions_suite(void);
Suite *regions_traced_suite(void);
Suite *remote_suite(void);
Suite *sample_suite(void);
Suite *sample_life_suite(void);
Suite *sample_prompt_suite(void);
Suite *sandbox_suite(void);
Suite *sequences_suite(void);
Suite *sequences_sleep_suite(void);
Suite *screens_suite(void);
Suite *screens_few_suite(void);
Suite *session_suite(void);
Suite *session_cpus_suite(void);
Suite *session_limits_suite(void);
Suite *session_marks_suite(void);
Suite *session_pages_suite(void);
Suite *session_safety_suite(void);
Suite *suspend_suite(void);
Suite *starved_suite(void);
Suite *strangers_suite(void);
Suite *suspend_fails_suite(void);
Suite *switch_suite(void);
Suite *switch_unpatched_suite(void);
Suite *system_suite(void);
Suite *system_cpus_suite(void);
Suite *told_suite(void);
Suite *totals_suite(void);
Suite *totals_large_suite(void);
Suite *totals_life_suite(void);
Suite *trace_suite(void);
Suite *tree_suite(void);
Suite *validity_suite(void);
Suite *validity_amd_suite(void);
Suite *validity_hybrid_suite(void);
Suite *validity_miscount_suite(void);
Suite *validity_p4_suite(void);
Suite *validity_thesis_suite(void);
Suite *validity_zen_suite(void);
Suite *zen_suite(void);

#endif
