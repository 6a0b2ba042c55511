// SPDX-License-Identifier: GPL-2.0-or-later
/* Controls that are refused, with their errno, and what remains after that. */
#define _GNU_SOURCE
#include "old.h"

#include <sys/wait.h>
#include <unistd.h>

#define NOBODY 65534

static bool is_p4(void)
{
	return machine.cpu_type == PERFCTR_X86_INTEL_P4 ||
	       machine.cpu_type == PERFCTR_X86_INTEL_P4M2 ||
	       machine.cpu_type == PERFCTR_X86_INTEL_P4M3;
}

/* A control with some bits of the registers changed. */
static struct vperfctr_control changed(unsigned int evntsel, unsigned int escr)
{
	struct vperfctr_control control = control_of_all();

	control.cpu_control.evntsel[0] ^= evntsel;
	control.cpu_control.p4.escr[0] ^= escr;
	return control;
}

/* A forced overflow, interrupts, starts by another counter; modes of a second thread. */
static bool odd_events_of_p4_are_refused(struct vperfctr *self)
{
	static const unsigned int cccr[] = { 1u << 25, 1u << 26, 1u << 30 }, escr[] = { 1, 2 };
	struct vperfctr_control control;

	for (unsigned int i = 0; i < sizeof(cccr) / sizeof(cccr[0]); i++) {
		control = changed(cccr[i], 0);
		REQUIRE(REFUSED(vperfctr_control(self, &control), EINVAL));
	}
	for (unsigned int i = 0; i < sizeof(escr) / sizeof(escr[0]); i++) {
		control = changed(0, escr[i]);
		REQUIRE(REFUSED(vperfctr_control(self, &control), EINVAL));
	}
	return true;
}

static bool events_are_refused(struct vperfctr *self)
{
	struct vperfctr_control control = control_of_all();

	control.cpu_control.pmc_map[1] = control.cpu_control.pmc_map[0];
	REQUIRE(REFUSED(vperfctr_control(self, &control), EINVAL));
	control.cpu_control.pmc_map[1] = 17 + is_p4();
	REQUIRE(REFUSED(vperfctr_control(self, &control), EINVAL));
	/* Reserved bits: bit 0 of a CCCR, bit 21 of all others. */
	control = changed(is_p4() ? 1 : 1 << 21, 0);
	REQUIRE(REFUSED(vperfctr_control(self, &control), EPERM));
	/* No mode. */
	control = is_p4() ? changed(0, 4) : changed(1 << 16, 0);
	REQUIRE(REFUSED(vperfctr_control(self, &control), EINVAL));
	/* An event of the northbridge. */
	control = changed(0xc0 ^ 0xe0, 0);
	if (machine.cpu_type == PERFCTR_X86_AMD_K8C)
		REQUIRE(REFUSED(vperfctr_control(self, &control), EINVAL));
	if (is_p4())
		return odd_events_of_p4_are_refused(self);
	/* An interrupt, though the counter is not to have one. */
	control = changed(1 << 20, 0);
	REQUIRE(REFUSED(vperfctr_control(self, &control), EINVAL));
	control = control_of_all();
	control.cpu_control.nhlm.offcore_rsp[0] = 1;
	if (machine.cpu_type == PERFCTR_X86_INTEL_WSTMR)
		return REFUSED(vperfctr_control(self, &control), EPERM);
	return EXPECT(vperfctr_control(self, &control) == 0);
}

bool controls_are_refused_as_in_2_6(void)
{
	struct vperfctr_control control = control_of_tsc();
	struct vperfctr *self = counting(control);
	bool good;

	REQUIRE(self);
	control.cpu_control.nrictrs = 1;
	good = REFUSED(vperfctr_control(self, &control), can_interrupt() ? EINVAL : EPERM) &&
	       REFUSED(vperfctr_iresume(self), can_interrupt() ? EPERM : ENOSYS);
	control.cpu_control.nrictrs = 0xffffffff;
	good = good && REFUSED(vperfctr_control(self, &control), EINVAL);
	control.cpu_control.nrictrs = 0;
	control.cpu_control.nractrs = 19;
	good = good && REFUSED(vperfctr_control(self, &control), EINVAL);
	if (machine.n_events) {
		good = good && events_are_refused(self);
	} else {
		control.cpu_control.nractrs = 1;
		control.cpu_control.evntsel[0] = 0x4100c0;
		good = good && REFUSED(vperfctr_control(self, &control), EINVAL);
	}
	end_state(self);
	return good;
}

bool what_ran_goes_on_after_a_refusal(void)
{
	struct vperfctr_control control = control_of_all();
	struct vperfctr *self = counting(control);
	struct perfctr_sum_ctrs before, after;
	bool good;

	REQUIRE(self);
	control.cpu_control.nractrs = 19;
	good = EXPECT(vperfctr_read_ctrs(self, &before) == 0) &&
	       REFUSED(vperfctr_control(self, &control), EINVAL) &&
	       EXPECT(vperfctr_is_running(self)) && EXPECT(vperfctr_read_ctrs(self, &after) == 0) &&
	       EXPECT(after.tsc > before.tsc);
	for (unsigned int k = 0; good && k < machine.n_events; k++)
		good = EXPECT(after.pmc[k] > before.pmc[k]) &&
		       EXPECT(after.pmc[k] < before.pmc[k] + ITERATIONS);
	end_state(self);
	return good;
}

/* A user may only count the user mode of its own threads. bpf counts nothing else for anybody. */
static bool user_is_refused(void)
{
	struct vperfctr_control control = is_p4() ? changed(0, 8) : changed(1 << 17, 0);
	struct gperfctr_cpu_control cpu = { .cpu = 0, .cpu_control = control_of_all().cpu_control };
	struct vperfctr *self = counting(control_of_all());
	struct gperfctr *global = gperfctr_open();
	int error = runs_on(BPF) ? EINVAL : EPERM;
	bool good;

	REQUIRE(self && global);
	good = !machine.n_events || REFUSED(vperfctr_control(self, &control), error);
	good = good && REFUSED(gperfctr_control(global, &cpu), error) &&
	       REFUSED_POINTER(rvperfctr_open(1), ESRCH);
	end_state(self);
	gperfctr_close(global);
	return good;
}

bool who_may_not_is_refused(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(setresuid(NOBODY, NOBODY, NOBODY) == 0 && user_is_refused() ? 0 : 1);
	return EXPECT(waitpid(pid, &status, 0) == pid) && EXPECT(status == 0);
}
