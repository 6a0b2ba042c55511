// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * With one argument (see main()): has the program no state?
 *
 * old CPU_TYPE COUNTERS [EVENT EVENT]: EVENT is EVNTSEL[/ESCR]@PMC, of user instructions. Prints a
 * line for each test: "ok NAME", "FAILED NAME", or "without NAME: WHY" if the backend has nothing
 * to test.
 */
#define _GNU_SOURCE
#include "old.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct machine machine;

struct vperfctr_control control_of_tsc(void)
{
	struct vperfctr_control control;

	memset(&control, 0, sizeof(control));
	control.cpu_control.tsc_on = 1;
	return control;
}

struct vperfctr_control control_of_all(void)
{
	struct vperfctr_control control = control_of_tsc();

	control.cpu_control.nractrs = machine.n_events;
	for (unsigned int i = 0; i < machine.n_events; i++) {
		control.cpu_control.pmc_map[i] = machine.event[i].pmc;
		control.cpu_control.evntsel[i] = machine.event[i].evntsel;
		control.cpu_control.p4.escr[i] = machine.event[i].escr;
	}
	return control;
}

bool can_interrupt(void)
{
	return machine.n_events && runs_on(DRIVER);
}

struct vperfctr_control interrupting(int events)
{
	struct vperfctr_control control = control_of_all();

	control.si_signo = SIGIO;
	if (!machine.n_events)
		return control;
	control.cpu_control.nractrs = 1;
	control.cpu_control.nrictrs = 1;
	control.cpu_control.ireset[1] = -events;
	/* OVF_PMI_T0 of the CCCR, or INT of an event select. */
	control.cpu_control.evntsel[1] |= 1u << (machine.n_counters == 18 ? 26 : 20);
	return control;
}

struct vperfctr *counting(struct vperfctr_control control)
{
	struct vperfctr *self = vperfctr_open();

	if (!EXPECT(self))
		return NULL;
	if (EXPECT(vperfctr_control(self, &control) == 0))
		return self;
	end_state(self);
	return NULL;
}

void end_state(struct vperfctr *self)
{
	vperfctr_unlink(self);
	vperfctr_close(self);
}

pid_t looping_child(uint32_t n, int *pipe_to_child)
{
	int fds[2];
	char byte;
	pid_t pid;

	if (pipe(fds) < 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		close(fds[1]);
		if (read(fds[0], &byte, 1) != 1)
			_exit(1);
		loop(n);
		_exit(0);
	}
	close(fds[0]);
	*pipe_to_child = fds[1];
	return pid;
}

void wait_until_asleep(pid_t pid)
{
	char path[32], state = 'R';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	while (state != 'S') {
		usleep(10000);
		file = fopen(path, "r");
		if (!file || fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
			abort();
		fclose(file);
	}
}

bool release_child(pid_t pid, int pipe_to_child)
{
	int status;
	bool written = write(pipe_to_child, "", 1) == 1;

	close(pipe_to_child);
	return EXPECT(written) && EXPECT(waitpid(pid, &status, 0) == pid) && EXPECT(status == 0);
}

bool loops_are_counted(bool (*count_child)(uint32_t n, struct perfctr_sum_ctrs *sum))
{
	struct perfctr_sum_ctrs one, three;
	bool good = true;

	/* The first child finds less in memory. */
	REQUIRE(count_child(1, &one) && count_child(ITERATIONS, &one) &&
		count_child(3 * ITERATIONS, &three));
	for (unsigned int k = 0; good && k < machine.n_events; k++)
		good = EXPECT(three.pmc[k] - one.pmc[k] == 4ull * ITERATIONS);
	return good;
}

bool runs_on(unsigned int backends)
{
	const char *name = getenv("PERFCTR_BACKEND");

	if (!name)
		return backends & DRIVER;
	return backends & (strcmp(name, "bpf") == 0 ? BPF : PERF_EVENTS);
}

/* Reasons why other backends have nothing to test. */
#define INHERITED "no forked child inherits a state here"
#define CPUS "bpf counts threads alone: see cpus_are_refused"
#define INTERRUPTS "no counter interrupts here"
#define NOT_REFUSED "CPUs are counted here"
#define DESCRIPTORS "descriptors are the driver's: see a_state_by_descriptor_needs_the_driver"
#define DRIVER_THERE "the driver is there"
#define KEPT "only counts of perf_events are lost so"

#define TEST_OF(backends, function, why)                                                           \
	{                                                                                          \
#function, function, backends, why                                                 \
	}
#define TEST(function) TEST_OF(ANY, function, NULL)

static const struct {
	const char *name;
	bool (*function)(void);
	unsigned int backends;
	const char *why;
} tests[] = {
	TEST(the_machine_is_called_as_in_2_6),
	TEST(text_is_that_of_2_6),
	TEST(cpus_are_told),
	TEST(own_instructions_are_counted),
	TEST(a_fixed_counter_takes_no_event),
	TEST(the_time_stamp_is_read_a_million_times),
	TEST(a_second_handle_controls),
	TEST(a_state_stays_when_handles_are_closed),
	TEST(preserved_counters_go_on),
	TEST(the_time_stamp_goes_on),
	TEST(sums_stay_after_stop_and_unlink),
	TEST(sums_stay_after_the_threads_exit),
	TEST(each_thread_has_its_own),
	TEST(a_forked_child_has_none),
	TEST_OF(DRIVER, an_unlinked_state_ends_with_a_forked_child, INHERITED),
	TEST(a_new_program_has_none),
	TEST(another_process_is_counted),
	TEST(a_running_process_is_read),
	TEST(what_another_program_counts_is_read),
	TEST(controls_are_refused_as_in_2_6),
	TEST(what_ran_goes_on_after_a_refusal),
	TEST_OF(DRIVER, counters_that_interrupt_stop_and_go_on, INTERRUPTS),
	TEST_OF(DRIVER, what_interrupts_is_refused_as_in_2_6, INTERRUPTS),
	TEST_OF(DRIVER | PERF_EVENTS, cpus_are_counted, CPUS),
	TEST_OF(DRIVER | PERF_EVENTS, cpus_in_two_ways_are_counted, CPUS),
	TEST_OF(DRIVER | PERF_EVENTS, two_handles_count_different_cpus_in_two_ways, CPUS),
	TEST_OF(DRIVER | PERF_EVENTS, a_handle_has_its_own_cpus, CPUS),
	TEST_OF(DRIVER | PERF_EVENTS, a_refused_control_of_a_cpu_changes_nothing, CPUS),
	TEST_OF(BPF, cpus_are_refused, NOT_REFUSED),
	TEST(who_may_not_is_refused),
	TEST(a_descriptor_asks),
	TEST_OF(DRIVER, a_control_is_read_back, DESCRIPTORS),
	TEST_OF(DRIVER, a_descriptor_goes_to_another_process, DESCRIPTORS),
	TEST_OF(BPF, a_state_by_descriptor_needs_the_driver, DRIVER_THERE),
	TEST_OF(PERF_EVENTS, a_state_outlives_taken_counters, KEPT),
	TEST_OF(PERF_EVENTS, lost_counts_of_a_cpu_are_no_zeros, KEPT),
};

static bool read_event(const char *text, unsigned int i)
{
	char *end;

	machine.event[i].evntsel = (unsigned int)strtoul(text, &end, 16);
	if (*end == '/')
		machine.event[i].escr = (unsigned int)strtoul(end + 1, &end, 16);
	if (*end != '@')
		return false;
	machine.event[i].pmc = (unsigned int)strtoul(end + 1, &end, 0);
	return !*end;
}

int main(int argc, char **argv)
{
	unsigned int failed = 0;

	setvbuf(stdout, NULL, _IONBF, 0); /* children print too */
	if (argc == 2 && strcmp(argv[1], "anew") == 0)
		return vperfctr_open() ? 0 : 1;
	if (argc != 3 && argc != 5) {
		fputs("usage: old CPU_TYPE COUNTERS [EVENT EVENT]\n", stderr);
		return 2;
	}
	machine.cpu_type = (unsigned int)atoi(argv[1]);
	machine.n_counters = (unsigned int)atoi(argv[2]);
	machine.n_events = (unsigned int)argc - 3;
	for (unsigned int i = 0; i < machine.n_events; i++)
		if (!read_event(argv[3 + i], i)) {
			fprintf(stderr, "old: no event: %s\n", argv[3 + i]);
			return 2;
		}
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		bool good;

		if (!runs_on(tests[i].backends)) {
			printf("without %s: %s\n", tests[i].name, tests[i].why);
			continue;
		}
		good = tests[i].function();
		printf("%s  %s\n", good ? "ok    " : "FAILED", tests[i].name);
		failed += !good;
	}
	return failed ? 1 : 0;
}
