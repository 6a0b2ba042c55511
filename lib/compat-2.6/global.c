// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * perfctr 2.6: counters of CPUs.  CPUs that count the same share a session.  When a CPU is stopped,
 * its sums are kept here.
 */
#include "compat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct global_cpu {
	bool active;
	struct perfctr_cpu_control control;
	struct perfctr_session *session; /* NULL: not started */
	struct perfctr_sum_ctrs sum;	 /* its sums when it was stopped */
};

struct global {
	struct perfctr_pmu_info info;
	bool started;
	unsigned int words; /* of a mask of CPUs */
	unsigned int n_cpus;
	struct global_cpu cpu[];
};

struct gperfctr {
	struct global *global;
};

enum { BITS = 8 * sizeof(unsigned long), MIN_INTERVAL_USEC = 10000 };

struct gperfctr *gperfctr_open(void)
{
	int n_cpus = compat_online_cpus(NULL, 0);
	struct gperfctr *handle;
	struct perfctr_pmu_info info;

	if (n_cpus < 0 || perfctr_get_pmu_info(&info) < 0)
		return NULL;
	handle = malloc(sizeof(*handle));
	if (!handle)
		return NULL;
	handle->global = calloc(1, sizeof(*handle->global) +
					   (size_t)n_cpus * sizeof(handle->global->cpu[0]));
	if (!handle->global) {
		free(handle);
		return NULL;
	}
	handle->global->info = info;
	handle->global->n_cpus = (unsigned int)n_cpus;
	handle->global->words = ((unsigned int)n_cpus + BITS - 1) / BITS;
	return handle;
}

/* Closes the CPU's session, unless another CPU shares it. */
static void drop_session(struct global *g, unsigned int cpu)
{
	struct perfctr_session *session = g->cpu[cpu].session;

	g->cpu[cpu].session = NULL;
	for (unsigned int i = 0; i < g->n_cpus; i++)
		if (g->cpu[i].session == session)
			return;
	perfctr_session_close(session);
}

void gperfctr_close(struct gperfctr *global)
{
	if (!global)
		return;
	for (unsigned int i = 0; i < global->global->n_cpus; i++)
		drop_session(global->global, i);
	free(global->global);
	free(global);
}

static struct global_cpu *online_cpu(struct global *g, unsigned int cpu)
{
	unsigned int words = (g->n_cpus + 31) / 32, *mask;
	bool online;

	if (cpu >= g->n_cpus) {
		errno = EINVAL;
		return NULL;
	}
	mask = calloc(words, sizeof(*mask));
	if (!mask)
		return NULL;
	online = compat_online_cpus(mask, words) >= 0 && mask[cpu / 32] >> cpu % 32 & 1;
	free(mask);
	if (online)
		return &g->cpu[cpu];
	errno = EINVAL;
	return NULL;
}

/* Opens a session of the CPUs.  NULL with errno as in 2.6. */
static struct perfctr_session *open_session(const struct global *g, const unsigned long *cpus,
					    const struct perfctr_cpu_control *c, uint32_t flags)
{
	const struct perfctr_session_options options = {
		.size = sizeof(options),
		.cpus = cpus,
		.cpus_size = g->words * sizeof(*cpus),
	};
	struct perfctr_control control;
	struct perfctr_session *session;

	if (compat_translate(c, &g->info, 0, &control) < 0)
		return NULL;
	if (c->nrictrs) {
		errno = EPERM;
		return NULL;
	}
	control.flags = flags;
	session = perfctr_session_open(&options);
	if (session && perfctr_session_control(session, &control) == 0)
		return session;
	errno = compat_refusal(errno, &control);
	perfctr_session_close(session);
	return NULL;
}

static bool counts_same(const void *one, const void *other)
{
	return memcmp(one, other, sizeof(struct perfctr_cpu_control)) == 0;
}

/* Starts a session for CPU first, and for all CPUs after it that count the same. */
static struct perfctr_session *start_alike(struct global *g, unsigned int first)
{
	const struct perfctr_cpu_control *control = &g->cpu[first].control;
	unsigned long *cpus = calloc(g->words, sizeof(*cpus));
	struct perfctr_session *session;

	if (!cpus)
		return NULL;
	for (unsigned int i = first; i < g->n_cpus; i++)
		if (g->cpu[i].active && counts_same(&g->cpu[i].control, control))
			cpus[i / BITS] |= 1ul << i % BITS;
	session = open_session(g, cpus, control, 0);
	for (unsigned int i = first; session && i < g->n_cpus; i++)
		if (cpus[i / BITS] >> i % BITS & 1)
			g->cpu[i].session = session;
	free(cpus);
	return session;
}

static int active_cpus(const struct global *g)
{
	int n = 0;

	for (unsigned int i = 0; i < g->n_cpus; i++)
		n += g->cpu[i].active;
	return n;
}

/* Would the control be refused when it is started? */
static bool can_start(const struct global *g, unsigned int cpu, const struct perfctr_cpu_control *c)
{
	unsigned long *cpus = calloc(g->words, sizeof(*cpus));
	struct perfctr_session *session;

	if (!cpus)
		return false;
	cpus[cpu / BITS] = 1ul << cpu % BITS;
	session = open_session(g, cpus, c, PERFCTR_CONTROL_STOPPED);
	perfctr_session_close(session);
	free(cpus);
	return session;
}

int gperfctr_control(const struct gperfctr *global, struct gperfctr_cpu_control *control)
{
	struct global *g = global->global;
	struct global_cpu *cpu = online_cpu(g, control->cpu);
	bool stop = compat_is_stop(&control->cpu_control);

	if (!cpu)
		return -1;
	if (g->started) {
		errno = EBUSY;
		return -1;
	}
	if (!stop && !can_start(g, control->cpu, &control->cpu_control))
		return -1;
	drop_session(g, control->cpu);
	*cpu = (struct global_cpu){ .active = !stop, .control = control->cpu_control };
	return active_cpus(g);
}

int gperfctr_start(const struct gperfctr *global, unsigned int interval_usec)
{
	struct global *g = global->global;

	if (interval_usec && interval_usec < MIN_INTERVAL_USEC) {
		errno = EINVAL;
		return -1;
	}
	for (unsigned int i = 0; !g->started && i < g->n_cpus; i++) {
		if (!g->cpu[i].active || g->cpu[i].session || start_alike(g, i))
			continue;
		for (i = 0; i < g->n_cpus; i++)
			if (g->cpu[i].active)
				drop_session(g, i);
		return -1;
	}
	g->started = active_cpus(g);
	return active_cpus(g);
}

static int read_cpu(const struct global *g, unsigned int i, struct perfctr_sum_ctrs *sum)
{
	const struct global_cpu *cpu = &g->cpu[i];
	struct perfctr_counts counts;

	*sum = cpu->sum;
	if (!cpu->session)
		return 0;
	/*
	 * A CPU's counts are those of its last tick.  Reading the whole session brings them up to
	 * date.
	 */
	if (perfctr_session_read(cpu->session, &counts) < 0)
		return -1;
	perfctr_session_read_cpu(cpu->session, i, &counts);
	sum->tsc = cpu->control.tsc_on ? counts.tsc : 0;
	for (unsigned int k = 0; k < cpu->control.nractrs; k++)
		sum->pmc[k] = counts.counter[k];
	return 0;
}

int gperfctr_read(const struct gperfctr *global, struct gperfctr_cpu_state *state)
{
	struct global *g = global->global;
	struct global_cpu *cpu = online_cpu(g, state->cpu);

	if (!cpu)
		return -1;
	state->cpu_control = cpu->control;
	return read_cpu(g, state->cpu, &state->sum);
}

/*
 * The CPUs need new controls after this.  A session that cannot be read stays until then, so that
 * the sums of its CPUs are refused.
 */
int gperfctr_stop(const struct gperfctr *global)
{
	struct global *g = global->global;
	int status = 0;

	for (unsigned int i = 0; i < g->n_cpus; i++)
		if (g->cpu[i].session)
			perfctr_session_stop(g->cpu[i].session);
	for (unsigned int i = 0; i < g->n_cpus; i++) {
		struct perfctr_sum_ctrs sum;

		if (!g->cpu[i].active)
			continue;
		g->cpu[i].active = false;
		if (read_cpu(g, i, &sum) < 0) {
			status = -1;
			continue;
		}
		g->cpu[i].sum = sum;
		drop_session(g, i);
	}
	g->started = false;
	return status;
}
