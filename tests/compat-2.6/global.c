// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters of CPUs. */
#define _GNU_SOURCE
#include "old.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

static bool pin_to(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) == 0;
}

static unsigned int online(void)
{
	return (unsigned int)sysconf(_SC_NPROCESSORS_ONLN);
}

static bool control_all(struct gperfctr *global)
{
	struct gperfctr_cpu_control control;

	memset(&control, 0, sizeof(control));
	control.cpu_control = control_of_all().cpu_control;
	for (unsigned int cpu = 0; cpu < online(); cpu++) {
		control.cpu = cpu;
		REQUIRE(gperfctr_control(global, &control) == (int)cpu + 1);
	}
	return true;
}

/* Executes a loop on this CPU, between two reads of its counters. */
static bool counts_loop(struct gperfctr *global, unsigned int cpu)
{
	struct gperfctr_cpu_state before = { .cpu = cpu }, after = { .cpu = cpu };

	REQUIRE(pin_to(cpu));
	REQUIRE(gperfctr_read(global, &before) == 0);
	loop(100 * ITERATIONS);
	REQUIRE(gperfctr_read(global, &after) == 0);
	REQUIRE(after.sum.tsc > before.sum.tsc);
	for (unsigned int k = 0; k < machine.n_events; k++)
		REQUIRE(after.sum.pmc[k] - before.sum.pmc[k] > 200ull * ITERATIONS);
	return EXPECT(after.cpu_control.nractrs == machine.n_events) &&
	       EXPECT(after.cpu_control.tsc_on == 1);
}

static bool count_cpus(struct gperfctr *global)
{
	struct gperfctr_cpu_control control = { .cpu = 0 };
	struct gperfctr_cpu_state stopped = { .cpu = 0 }, later = { .cpu = 0 };

	REQUIRE(gperfctr_start(global, 0) == 0);
	REQUIRE(control_all(global));
	REQUIRE(REFUSED(gperfctr_start(global, 9999), EINVAL));
	REQUIRE(gperfctr_start(global, 10000) == (int)online());
	REQUIRE(REFUSED(gperfctr_control(global, &control), EBUSY));
	for (unsigned int cpu = 0; cpu < online(); cpu++)
		REQUIRE(counts_loop(global, cpu));
	REQUIRE(gperfctr_stop(global) == 0);
	REQUIRE(gperfctr_read(global, &stopped) == 0);
	loop(ITERATIONS);
	REQUIRE(gperfctr_read(global, &later) == 0);
	REQUIRE(stopped.sum.tsc > 0 && is_same(&stopped, &later, sizeof(later)));
	/* There is nothing to start until a control is set again. The sums are gone then. */
	REQUIRE(gperfctr_start(global, 0) == 0);
	control.cpu_control = control_of_all().cpu_control;
	REQUIRE(gperfctr_control(global, &control) == 1);
	REQUIRE(gperfctr_read(global, &later) == 0);
	return EXPECT(later.sum.tsc == 0) && EXPECT(later.sum.pmc[0] == 0);
}

bool cpus_are_counted(void)
{
	struct gperfctr_cpu_control control = { .cpu = online() };
	struct gperfctr *global = gperfctr_open();
	struct perfctr_info info;
	bool good;

	REQUIRE(global);
	good = EXPECT(gperfctr_info(global, &info) == 0) &&
	       EXPECT(info.cpu_type == machine.cpu_type) &&
	       REFUSED(gperfctr_control(global, &control), EINVAL);
	control.cpu = 0;
	control.cpu_control = interrupting(1000).cpu_control;
	/* Without counters there are no interrupts. */
	if (machine.n_events)
		good = good && REFUSED(gperfctr_control(global, &control), EPERM);
	good = good && count_cpus(global);
	gperfctr_close(global);
	return good;
}

bool cpus_in_two_ways_are_counted(void)
{
	struct gperfctr_cpu_control control;
	struct gperfctr *global = gperfctr_open();
	struct gperfctr_cpu_state state = { .cpu = 1 };
	bool good;

	REQUIRE(global);
	good = control_all(global);
	memset(&control, 0, sizeof(control));
	control.cpu = 1;
	control.cpu_control.tsc_on = 1;
	if (online() > 1)
		good = good && EXPECT(gperfctr_control(global, &control) == (int)online()) &&
		       EXPECT(gperfctr_start(global, 0) == (int)online()) &&
		       counts_loop(global, 0) && EXPECT(pin_to(1)) &&
		       EXPECT(gperfctr_read(global, &state) == 0) && EXPECT(state.sum.tsc > 0) &&
		       EXPECT(state.sum.pmc[0] == 0);
	gperfctr_close(global);
	return good;
}

/* The same events on the same counters, only in kernel mode. */
static struct perfctr_cpu_control control_of_kernel(void)
{
	struct perfctr_cpu_control control = control_of_all().cpu_control;

	for (unsigned int i = 0; i < control.nractrs; i++) {
		if (machine.n_counters == 18) /* T0_USR and T0_OS of the ESCR */
			control.p4.escr[i] ^= 1u << 2 | 1u << 3;
		else
			control.evntsel[i] ^= 3u << 16;
	}
	return control;
}

/* A CPU that executes a loop does little in kernel mode. */
static bool counts_no_loop(struct gperfctr *global, unsigned int cpu)
{
	struct gperfctr_cpu_state before = { .cpu = cpu }, after = { .cpu = cpu };

	REQUIRE(pin_to(cpu));
	REQUIRE(gperfctr_read(global, &before) == 0);
	loop(100 * ITERATIONS);
	REQUIRE(gperfctr_read(global, &after) == 0);
	for (unsigned int k = 0; k < machine.n_events; k++)
		REQUIRE(after.sum.pmc[k] > before.sum.pmc[k] &&
			after.sum.pmc[k] - before.sum.pmc[k] < 100ull * ITERATIONS);
	return true;
}

static bool count_side_by_side(struct gperfctr *user, struct gperfctr *kernel)
{
	struct gperfctr_cpu_control control;

	memset(&control, 0, sizeof(control));
	control.cpu_control = control_of_all().cpu_control;
	REQUIRE(gperfctr_control(user, &control) == 1 && gperfctr_start(user, 0) == 1);
	control.cpu = 1;
	control.cpu_control = control_of_kernel();
	REQUIRE(gperfctr_control(kernel, &control) == 1 && gperfctr_start(kernel, 0) == 1);
	REQUIRE(counts_loop(user, 0) && counts_no_loop(kernel, 1));
	/* The first handle takes nothing away when it ends, and may have its counters again. */
	REQUIRE(gperfctr_stop(user) == 0 && counts_no_loop(kernel, 1));
	control.cpu = 0;
	REQUIRE(gperfctr_control(user, &control) == 1 && gperfctr_start(user, 0) == 1);
	return counts_no_loop(user, 0) && counts_no_loop(kernel, 1);
}

bool two_handles_count_different_cpus_in_two_ways(void)
{
	struct gperfctr *user = gperfctr_open(), *kernel = gperfctr_open();
	bool good = true;

	REQUIRE(user && kernel);
	if (online() > 1)
		good = count_side_by_side(user, kernel);
	gperfctr_close(kernel);
	gperfctr_close(user);
	return good;
}

bool cpus_are_refused(void)
{
	struct gperfctr_cpu_control control = { .cpu = 0 };
	struct gperfctr_cpu_state state = { .cpu = 0 };
	struct gperfctr *global = gperfctr_open();
	bool good;

	REQUIRE(global);
	control.cpu_control = control_of_all().cpu_control;
	good = REFUSED(gperfctr_control(global, &control), EINVAL);
	control.cpu_control = control_of_tsc().cpu_control;
	good = good && REFUSED(gperfctr_control(global, &control), EINVAL) &&
	       EXPECT(gperfctr_start(global, 0) == 0) &&
	       EXPECT(gperfctr_read(global, &state) == 0) && EXPECT(state.sum.tsc == 0);
	gperfctr_close(global);
	return good;
}

static bool leaves_other_alone(struct gperfctr *global, struct gperfctr *other)
{
	struct gperfctr_cpu_state state;

	memset(&state, 0, sizeof(state));
	REQUIRE(control_all(global) && gperfctr_start(global, 0) == (int)online());
	REQUIRE(gperfctr_read(other, &state) == 0 && state.sum.tsc == 0);
	REQUIRE(gperfctr_start(other, 0) == 0 && gperfctr_stop(other) == 0);
	return counts_loop(global, 0);
}

bool a_handle_has_its_own_cpus(void)
{
	struct gperfctr *global = gperfctr_open(), *other = gperfctr_open();
	bool good;

	REQUIRE(global && other);
	good = leaves_other_alone(global, other);
	gperfctr_close(other);
	gperfctr_close(global);
	return good;
}

/* One control has too many counters, the other one a counter that does not exist. */
static bool refuse_control(struct gperfctr *global)
{
	struct gperfctr_cpu_control control;

	memset(&control, 0, sizeof(control));
	control.cpu_control = control_of_all().cpu_control;
	control.cpu_control.nractrs = 19;
	REQUIRE(REFUSED(gperfctr_control(global, &control), EINVAL));
	control.cpu_control.nractrs = 1;
	control.cpu_control.pmc_map[0] = 99;
	return REFUSED(gperfctr_control(global, &control), EINVAL);
}

static bool keep_what_was(struct gperfctr *global)
{
	struct gperfctr_cpu_state before, after;

	memset(&before, 0, sizeof(before));
	memset(&after, 0, sizeof(after));
	REQUIRE(control_all(global) && refuse_control(global));
	REQUIRE(gperfctr_start(global, 0) == (int)online());
	REQUIRE(counts_loop(global, 0));
	REQUIRE(gperfctr_stop(global) == 0);
	REQUIRE(gperfctr_read(global, &before) == 0 && before.sum.tsc > 0);
	REQUIRE(refuse_control(global));
	REQUIRE(gperfctr_read(global, &after) == 0);
	return EXPECT(is_same(&before, &after, sizeof(after)));
}

bool a_refused_control_of_a_cpu_changes_nothing(void)
{
	struct gperfctr *global = gperfctr_open();
	bool good;

	REQUIRE(global);
	good = keep_what_was(global);
	gperfctr_close(global);
	return good;
}

/* perf_events forgets the counts of a CPU that goes offline. */
static bool set_online(const char *text)
{
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY);
	bool written = fd >= 0 && write(fd, text, 1) == 1;

	close(fd);
	return EXPECT(written);
}

static bool lose_and_begin_anew(struct gperfctr *global)
{
	struct gperfctr_cpu_state state = { .cpu = 1 };
	struct gperfctr_cpu_control control;

	memset(&control, 0, sizeof(control));
	control.cpu = 1;
	control.cpu_control = control_of_all().cpu_control;
	REQUIRE(gperfctr_control(global, &control) == 1 && gperfctr_start(global, 0) == 1);
	REQUIRE(pin_to(0) && set_online("0"));
	REQUIRE(REFUSED(gperfctr_stop(global), EBUSY));
	REQUIRE(set_online("1"));
	REQUIRE(REFUSED(gperfctr_read(global, &state), EBUSY));
	REQUIRE(gperfctr_control(global, &control) == 1 && gperfctr_start(global, 0) == 1);
	REQUIRE(counts_loop(global, 1));
	return EXPECT(gperfctr_stop(global) == 0) && EXPECT(gperfctr_read(global, &state) == 0) &&
	       EXPECT(state.sum.pmc[0] > 200ull * ITERATIONS);
}

bool lost_counts_of_a_cpu_are_no_zeros(void)
{
	struct gperfctr *global = gperfctr_open();
	bool good;

	REQUIRE(global);
	good = lose_and_begin_anew(global);
	gperfctr_close(global);
	return good;
}
