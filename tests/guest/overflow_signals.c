// SPDX-License-Identifier: GPL-2.0-or-later
#include "overflow_signals.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* Pentium 4's instr_retired, by CRU_ESCR0 and IQ_COUNTER0. */
#define P4_INSTRUCTIONS 0x39000, .evntsel2 = 0x04000204

struct perfctr_control signal_control(uint64_t period, uint32_t signal, uint32_t flags)
{
	struct perfctr_control control = control_of(EVENTS({ 0, USER(INSTRUCTIONS) }));

	if (pmu_info().pmu == PERFCTR_PMU_P4)
		control.event[0] = (struct perfctr_event_control){ 12, .evntsel = P4_INSTRUCTIONS };
	control.event[0].period = period;
	control.event[0].signal = signal;
	control.event[0].flags = flags;
	return control;
}

struct perfctr_control both_modes(uint64_t period, uint32_t signal)
{
	struct perfctr_control control = control_of(EVENTS({ 0, BOTH(INSTRUCTIONS) }));

	if (pmu_info().pmu == PERFCTR_PMU_P4) {
		control = signal_control(0, 0, 0);
		control.event[0].evntsel2 |= 1 << 3;
	}
	control.event[0].period = period;
	control.event[0].signal = signal;
	return control;
}

void count_signals(struct perfctr_control control, int mask)
{
	struct counted c = { .pid = stopped_start(ANY_CPU, COMMAND(program("overflow"))) };
	uint64_t period = control.event[0].period, count, signals, left;
	struct perfctr_periods told;
	int status;

	c.fd = context_open(c.pid, PERFCTR_OPEN_CREATE);
	set_control(c.fd, control);
	stopped_go(c.pid);
	ck_assert_int_eq(wait_for(c.pid, &status), c.pid);
	ck_assert_int_eq(status, EXITED(mask));
	count = context_read(c.fd).counter[0];
	told = periods_of(c.fd, PERFCTR_SCOPE_SELF);
	signals = (count - OVERFLOW_INSTRUCTIONS(0)) / 8;
	left = count % period;
	ck_assert_uint_eq(count, OVERFLOW_INSTRUCTIONS(signals));
	ck_assert_uint_eq(told.over[0], count / period);
	ck_assert_uint_eq(told.lost_signals, 0);
	/* Late periods share a signal, and the signal of the last period may come too late. */
	ck_assert_uint_le(signals, told.over[0]);
	ck_assert_uint_ge(signals + told.late, told.over[0] - (left <= MOST_SKID));
	close(c.fd);
}

struct caught caught;

static void note_signal(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *at = context;

	caught.signal = signal;
	caught.code = info->si_code;
	caught.mask = info->si_pid;
	caught.tid = syscall(SYS_gettid);
	caught.ip = at->uc_mcontext.gregs[REG_RIP];
	caught.cx = at->uc_mcontext.gregs[REG_RCX];
	caught.handler_sp = (uintptr_t)__builtin_frame_address(0);
	caught.n++;
}

void catch_signal(int signal, int flags)
{
	struct sigaction action = { .sa_sigaction = note_signal, .sa_flags = SA_SIGINFO | flags };

	memset(&caught, 0, sizeof(caught));
	ck_assert_int_eq(sigaction(signal, &action, NULL), 0);
}

void resume(int fd)
{
	ck_assert_msg(ioctl(fd, PERFCTR_IOC_RESUME) == 0, "resume: %s", strerror(errno));
}

uint64_t lost_signals(int fd)
{
	return periods_of(fd, PERFCTR_SCOPE_TREE).lost_signals;
}

extern const char overflow_dec[], overflow_jnz[];

/* Executes 1 + 2 * n instructions after the return of the system call. */
__attribute__((noinline)) void control_and_loop(int fd, struct perfctr_control control, uint32_t n)
{
	long result = SYS_ioctl;

	__asm__ volatile("syscall\n\t"
			 "mov	%[n], %%ecx\n"
			 "overflow_dec:\n\t"
			 "dec	%%ecx\n"
			 "overflow_jnz:\n\t"
			 "jnz	overflow_dec\n\t"
			 : "+a"(result)
			 : "D"(fd), "S"(PERFCTR_IOC_CONTROL), "d"(&control), [n] "r"(n)
			 : "rcx", "r11", "memory", "cc");
	ck_assert_msg(result == 0, "control: %s, reason %u", strerror(-result), control.bad_reason);
}

uint64_t counted_at(uint64_t ip, uint64_t cx, uint32_t n)
{
	if (ip == (uintptr_t)overflow_dec)
		return 1 + 2 * (n - cx);
	return ip == (uintptr_t)overflow_jnz ? 2 * (n - cx) : 0;
}
