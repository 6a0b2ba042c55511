// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * PAPI's component for the processor's events.  It has the name of the component that it replaces,
 * because PAPI's core and its tables of presets know that name.
 */
#include "event_set.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "../pe_libpfm4_events.h"

papi_vector_t _perf_event_vector;

static int disable_component(int status, const char *why)
{
	snprintf(_perf_event_vector.cmp_info.disabled_reason,
		 sizeof(_perf_event_vector.cmp_info.disabled_reason), "%s", why);
	_perf_event_vector.cmp_info.disabled = status;
	return status;
}

/* Only opening a context tells whether this user may have one. */
static int find_driver(void)
{
	struct perfctr *probe;

	if (perfctr_get_pmu_info_with(BACKEND, &machine) < 0)
		return -1;
	probe = perfctr_open_with(BACKEND, 0, PERFCTR_OPEN_CREATE);
	/* Another process may count this thread now, and may have stopped when PAPI starts. */
	if (!probe && errno != EEXIST)
		return -1;
	perfctr_close(probe);
	return 0;
}

static int look_at_machine(void)
{
	char why[PAPI_HUGE_STR_LEN];

	if (find_driver() < 0) {
		perfctr_open_error_with(BACKEND, errno, why, sizeof(why));
		return disable_component(PAPI_ECMP, why);
	}
	if (!machine.n_general && !machine.n_fixed) {
		snprintf(why, sizeof(why), "perfctr has no event counters here: %.*s",
			 (int)sizeof(machine.family), machine.family);
		return disable_component(PAPI_ENOSUPP, why);
	}
	return PAPI_OK;
}

static void describe_component(PAPI_component_info_t *info)
{
	struct perfctr_backend_info backend;

	info->num_cntrs = (int)(machine.n_general + machine.n_fixed);
	info->hardware_intr = !!(machine.features & PERFCTR_FEATURE_SIGNAL);
	info->hardware_intr_sig = OVERFLOW_SIGNAL;
	info->fast_counter_read = !!(machine.features & PERFCTR_FEATURE_RDPMC);
	if (perfctr_backend(BACKEND, &backend) < 0 || !(backend.capabilities & PERFCTR_CAN_KERNEL))
		info->available_domains &= ~PAPI_DOM_KERNEL;
	snprintf(info->kernel_version, sizeof(info->kernel_version), "perfctr ABI %u",
		 machine.abi_version);
}

static int init_component(int number)
{
	int status = look_at_machine();

	perfctr_component = number;
	if (status != PAPI_OK)
		return status;
	if (_papi_libpfm4_init(&_perf_event_vector) != PAPI_OK)
		return disable_component(PAPI_ECMP, "libpfm4 cannot be initialized");
	if (events_open() != PAPI_OK || count_open() != PAPI_OK)
		return disable_component(PAPI_ENOMEM, "no memory for the events");
	status = _pe_libpfm4_init(&_perf_event_vector, number, &native_events, PMU_TYPE_CORE);
	if (status != PAPI_OK)
		return disable_component(status, "libpfm4 knows no events of this processor, or "
						 "papi_events.csv no preset events");
	describe_component(&_perf_event_vector.cmp_info);
	return PAPI_OK;
}

static int shutdown_component(void)
{
	_pe_libpfm4_shutdown(&_perf_event_vector, &native_events);
	_papi_libpfm4_shutdown(&_perf_event_vector);
	events_close();
	return PAPI_OK;
}

static int init_thread(hwd_context_t *thread)
{
	memset(thread, 0, sizeof(struct counted_thread));
	return PAPI_OK;
}

static int shutdown_thread(hwd_context_t *thread)
{
	count_close_thread(thread);
	return PAPI_OK;
}

/* Changes one choice of the set. If the events cannot be counted like that, it stays as it was. */
static int change_choice(struct event_set *set, int *choice, int wanted)
{
	int former = *choice, status;

	*choice = wanted;
	status = events_refresh(set);
	if (status != PAPI_OK)
		*choice = former;
	return status;
}

static int set_domain(hwd_control_state_t *state, int domain)
{
	struct event_set *set = state;

	return change_choice(set, &set->domain, domain);
}

static int set_granularity(struct event_set *set, int granularity)
{
	if (granularity == PAPI_GRN_THR)
		return count_on_cpu(set, -1);
	if (granularity != PAPI_GRN_SYS)
		return PAPI_ECMP;
	return set->cpu >= 0 ? PAPI_OK : count_on_cpu(set, sched_getcpu());
}

static int init_control_state(hwd_control_state_t *state)
{
	struct event_set *set = state;

	memset(set, 0, sizeof(*set));
	perfctr_control_init(&set->control);
	set->cpu = -1;
	set->domain = _perf_event_vector.cmp_info.default_domain;
	return set_granularity(set, _perf_event_vector.cmp_info.default_granularity);
}

/* Without events PAPI may be about to free the set, and no other call tells. */
static int update_control_state(hwd_control_state_t *state, NativeInfo_t *native, int n,
				hwd_context_t *thread)
{
	int status;

	if (!n)
		count_close_session(state);
	status = events_replace(state, native, n);
	overflow_follow(state);
	return status;
}

static int set_inheritance(struct event_set *set, int inherit)
{
	return change_choice(set, &set->inherit, inherit);
}

static int attach_thread(struct event_set *set, pid_t tid)
{
	int status = count_may_attach(tid);

	if (status == PAPI_OK)
		set->tid = tid;
	return status;
}

/* PAPI does not detach the event set from its thread. */
static int detach_thread(struct event_set *set, EventSetInfo_t *owner,
			 struct counted_thread *thread)
{
	if (!thread->started)
		count_close_thread(thread);
	set->tid = 0;
	owner->master = _papi_hwi_lookup_thread(0);
	return PAPI_OK;
}

static int control_component(hwd_context_t *thread, int code, _papi_int_option_t *option)
{
	switch (code) {
	case PAPI_DOMAIN:
		return set_domain(option->domain.ESI->ctl_state, option->domain.domain);
	case PAPI_GRANUL:
		return set_granularity(option->granularity.ESI->ctl_state,
				       option->granularity.granularity);
	case PAPI_CPU_ATTACH:
		return count_on_cpu(option->cpu.ESI->ctl_state, (int)option->cpu.cpu_num);
	case PAPI_ATTACH:
		return attach_thread(option->attach.ESI->ctl_state, (pid_t)option->attach.tid);
	case PAPI_DETACH:
		return detach_thread(option->attach.ESI->ctl_state, option->attach.ESI, thread);
	case PAPI_INHERIT:
		return set_inheritance(option->inherit.ESI->ctl_state, option->inherit.inherit);
	case PAPI_DEF_ITIMER:
	case PAPI_DEF_ITIMER_NS:
		return PAPI_OK;
	default:
		return PAPI_ENOSUPP;
	}
}

static int start_counting(hwd_context_t *thread, hwd_control_state_t *set)
{
	return count_start(thread, set);
}

static int stop_counting(hwd_context_t *thread, hwd_control_state_t *set)
{
	return count_stop(thread, set);
}

static int read_counts(hwd_context_t *thread, hwd_control_state_t *state, long long **counts,
		       int flags)
{
	struct event_set *set = state;

	*counts = set->counts;
	return count_read(thread, set);
}

static int reset_counts(hwd_context_t *thread, hwd_control_state_t *set)
{
	return count_rebase(thread, set, NULL);
}

static int write_counts(hwd_context_t *thread, hwd_control_state_t *set, long long *counts)
{
	return count_rebase(thread, set, counts);
}

static int set_overflow(EventSetInfo_t *set, int index, int threshold)
{
	return overflow_set(set->ctl_state, set->EventInfoArray[index].pos[0], threshold);
}

static int enum_events(unsigned int *code, int modifier)
{
	return _pe_libpfm4_ntv_enum_events(code, modifier, perfctr_component, &native_events);
}

static int find_event(const char *name, unsigned int *code)
{
	int status = _pe_libpfm4_ntv_name_to_code(name, code, perfctr_component, &native_events);

	/* *code is libpfm4's number; several of PAPI's events may share it. */
	return status == PAPI_OK ? events_check(_papi_hwi_get_papi_event_code()) : status;
}

static int name_event(unsigned int code, char *name, int size)
{
	return _pe_libpfm4_ntv_code_to_name(code, name, size, &native_events);
}

static int describe_event(unsigned int code, char *text, int size)
{
	return _pe_libpfm4_ntv_code_to_descr(code, text, size, &native_events);
}

static int inform_event(unsigned int code, PAPI_event_info_t *info)
{
	return _pe_libpfm4_ntv_code_to_info(code, info, &native_events);
}

papi_vector_t _perf_event_vector = {
	.cmp_info = {
		.name = "perf_event",
		.short_name = "perf",
		.version = PERFCTR_VERSION,
		.description = "Exact counters of threads and CPUs by perfctr",
		.default_domain = PAPI_DOM_USER,
		.available_domains = PAPI_DOM_USER | PAPI_DOM_KERNEL,
		.default_granularity = PAPI_GRN_THR,
		.available_granularities = PAPI_GRN_THR | PAPI_GRN_SYS,
		.num_mpx_cntrs = PERFCTR_MAX_COUNTERS,
		.attach = 1,
		.attach_must_ptrace = 1,
		.cpu = 1,
		.inherit = 1,
		.cntr_umasks = 1,
	},
	.size = {
		.context = sizeof(struct counted_thread),
		.control_state = sizeof(struct event_set),
		.reg_value = 1,
		.reg_alloc = 1,
	},
	.init_component = init_component,
	.shutdown_component = shutdown_component,
	.init_thread = init_thread,
	.shutdown_thread = shutdown_thread,
	.init_control_state = init_control_state,
	.update_control_state = update_control_state,
	.set_domain = set_domain,
	.ctl = control_component,
	.start = start_counting,
	.stop = stop_counting,
	.read = read_counts,
	.reset = reset_counts,
	.write = write_counts,
	.set_overflow = set_overflow,
	.dispatch_timer = overflow_dispatch,
	.ntv_enum_events = enum_events,
	.ntv_name_to_code = find_event,
	.ntv_code_to_name = name_event,
	.ntv_code_to_descr = describe_event,
	.ntv_code_to_info = inform_event,
};
