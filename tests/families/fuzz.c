// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random controls for a context whose thread waits meanwhile. After each accepted control, and now
 * and then after refused ones, the thread executes a round. The emulated machine faults on
 * everything that real registers would not take, and counts that are known by hand must be right.
 */
#include "families.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define REFUSALS_PER_ROUND 100

struct fuzzer {
	uint64_t random;
	struct perfctr_pmu_info info;
	struct workload workload;
	pid_t pid;
	int fd;				/* of its context */
	int start;			/* a byte here starts a round, */
	int end;			/* a byte from here is its end */
	struct perfctr_control running; /* the last that was accepted */
	uint64_t rounds;		/* since then */
	unsigned long accepted, refused;
};

/* Marsaglia's xorshift with a multiplication: the same numbers for the same seed everywhere. */
static uint64_t next(struct fuzzer *f)
{
	f->random ^= f->random >> 12;
	f->random ^= f->random << 25;
	f->random ^= f->random >> 27;
	return f->random * 0x2545f4914f6cdd1dull;
}

static uint64_t below(struct fuzzer *f, uint64_t n)
{
	return (next(f) >> 32) % n;
}

/* A number near a limit, or any number. */
static uint64_t awkward(struct fuzzer *f)
{
	switch (below(f, 6)) {
	case 0:
		return below(f, 34);
	case 1:
		return ~0ull;
	case 2:
		return 1ull << below(f, 64);
	case 3:
		return PERFCTR_FIXED + below(f, 18);
	case 4:
		return PERFCTR_FAST + below(f, 20);
	default:
		return next(f);
	}
}

static enum mode any_mode(struct fuzzer *f)
{
	return USER + below(f, 3);
}

/* Instructions on the first counters of the list: a counter may need those before it. */
static struct perfctr_control valid(struct fuzzer *f)
{
	struct perfctr_control control = control_empty(0);
	size_t n = 1 + below(f, profile.instructions.n);

	for (size_t i = 0; i < n; i++)
		control_add(&control, &profile.instructions.of[i], any_mode(f));
	return control;
}

/* A control with bits that may be set. */
static struct perfctr_control allowed(struct fuzzer *f)
{
	const struct perfctr_pmu_info *info = &f->info;
	struct perfctr_control control = control_empty(0);
	uint32_t first = below(f, info->n_general);

	control.n_events = 1 + below(f, info->n_general + info->n_fixed);
	for (uint32_t i = 0; i < control.n_events; i++) {
		struct perfctr_event_control *e = &control.event[i];
		uint32_t n = (first + i) % (info->n_general + info->n_fixed);
		bool fixed = n >= info->n_general;

		e->counter = fixed ? PERFCTR_FIXED + n - info->n_general : n;
		e->evntsel = next(f) & (fixed ? info->fixed_allowed : info->evntsel_allowed);
		e->evntsel |= info->evntsel_required;
		e->evntsel2 = next(f) & info->evntsel2_allowed;
		e->kinds = info->n_kinds ? below(f, 1u << info->n_kinds) : 0;
	}
	if (below(f, 4) == 0)
		control.p4_pebs_enable = next(f) & info->p4_pebs_enable_allowed;
	if (below(f, 4) == 0)
		control.p4_pebs_matrix_vert = next(f) & info->p4_pebs_matrix_vert_allowed;
	return control;
}

static struct perfctr_event_control *any_event(struct fuzzer *f, struct perfctr_control *control)
{
	return &control->event[below(f, control->n_events ? control->n_events : 1) %
			       PERFCTR_MAX_COUNTERS];
}

static void mutate(struct fuzzer *f, struct perfctr_control *control)
{
	struct perfctr_event_control *e = any_event(f, control);

	switch (below(f, 16)) {
	case 0:
		control->size = awkward(f);
		break;
	case 1:
		control->flags ^= 1u << below(f, 32);
		break;
	case 2:
		control->n_events = awkward(f);
		break;
	case 3:
		control->reserved = awkward(f);
		break;
	case 4:
		control->p4_pebs_enable ^= 1ull << below(f, 64);
		break;
	case 5:
		control->p4_pebs_matrix_vert ^= 1ull << below(f, 64);
		break;
	case 6:
		e->flags = awkward(f);
		break;
	case 7:
		e->period = awkward(f);
		break;
	case 8:	/* a signal that nobody minds */
		e->signal = below(f, 2) ? SIGURG : 65 + (uint32_t)awkward(f) % (UINT32_MAX - 64);
		break;
	case 9:
		e->kinds = below(f, 4) ? below(f, 1u << PERFCTR_MAX_KINDS) : awkward(f);
		break;
	case 10:
		control->bad_event = awkward(f);
		break;
	case 11:
		e->counter = awkward(f);
		break;
	case 12:
		e->evntsel2 ^= 1ull << below(f, 64);
		break;
	case 13:
		e->evntsel = awkward(f);
		break;
	default:
		e->evntsel ^= 1ull << below(f, 64);
		break;
	}
}

static struct perfctr_control any_control(struct fuzzer *f)
{
	struct perfctr_control control = below(f, 2) ? valid(f) : allowed(f);
	uint64_t n = below(f, 4);

	while (n--)
		mutate(f, &control);
	return control;
}

static uint64_t counters_of(const struct perfctr_pmu_info *info)
{
	return ((1ull << info->n_general) - 1) |
	       ((1ull << info->n_fixed) - 1) << PERFCTR_FIXED_BIT;
}

/*
 * Finds what every kind that an event names has, if it names some. Returns false if there is no
 * such kind.
 */
static bool kinds_allow(uint32_t kinds, uint64_t *counters, uint64_t *allowed)
{
	if (kinds)
		*counters = *allowed = UINT64_MAX;
	for (uint32_t k = 0; k < 32; k++) {
		struct perfctr_kind kind;

		if (!(kinds >> k & 1))
			continue;
		if (!kind_info(k, &kind))
			return false;
		*counters &= kind.counters;
		*allowed &= kind.evntsel_allowed;
	}
	return true;
}

/* Returns false if the ABI forbids every kernel to accept this event, whatever the processor. */
static bool event_is_allowed(const struct perfctr_pmu_info *info,
			     const struct perfctr_event_control *e)
{
	uint32_t fast = info->features & PERFCTR_FEATURE_FAST_RDPMC ? PERFCTR_FAST : 0;
	bool fixed = e->counter & PERFCTR_FIXED;
	uint32_t n = e->counter & ~(fixed ? PERFCTR_FIXED : fast);
	uint64_t allowed = info->evntsel_allowed, counters = counters_of(info);

	if (!kinds_allow(e->kinds, &counters, &allowed))
		return false;
	return n < 32 && counters >> (fixed ? PERFCTR_FIXED_BIT + n : n) & 1 &&
	       !(e->flags & ~PERFCTR_EVENT_STOP) && e->signal <= 64 && e->period <= INT64_MAX &&
	       (e->period || !(e->flags || e->signal)) &&
	       (!e->period || info->features & PERFCTR_FEATURE_INTERRUPT) &&
	       !(e->evntsel & ~(fixed ? info->fixed_allowed : allowed)) &&
	       !(e->evntsel2 & ~info->evntsel2_allowed) &&
	       (e->evntsel & info->evntsel_required) == info->evntsel_required;
}

static bool is_allowed(const struct perfctr_pmu_info *info, const struct perfctr_control *control)
{
	if (control->n_events > PERFCTR_MAX_COUNTERS || control->reserved)
		return false;
	for (uint32_t i = 0; i < control->n_events; i++) {
		if (!event_is_allowed(info, &control->event[i]))
			return false;
		for (uint32_t j = 0; j < i; j++)
			if (control->event[i].counter == control->event[j].counter)
				return false;
	}
	return true;
}

/* Does the event count user instructions, and nothing else where modes are counted apart? */
static bool is_known(const struct perfctr_event_control *e)
{
	for (size_t i = 0; i < profile.instructions.n; i++) {
		struct perfctr_control known = control_one(&profile.instructions.of[i], USER);

		if (!e->kinds && e->counter == known.event[0].counter &&
		    e->evntsel == known.event[0].evntsel &&
		    e->evntsel2 == known.event[0].evntsel2)
			return true;
	}
	return false;
}

static bool counts_are_right(struct fuzzer *f)
{
	struct perfctr_counts counts = counts_of(f->fd, PERFCTR_SCOPE_SELF);
	const bool stopped = f->running.flags & PERFCTR_CONTROL_STOPPED;
	const uint64_t each = stopped ? 0 : round_instructions(&f->workload);

	REQUIRE(EXPECT_EQUAL(counts.n_counters, f->running.n_events));
	REQUIRE(EXPECT_EQUAL(!!(counts.flags & PERFCTR_COUNTS_STARTED), !stopped));
	for (uint32_t i = 0; i < f->running.n_events; i++) {
		if (!is_known(&f->running.event[i]))
			continue;
		if (profile_has_modes())
			REQUIRE(EXPECT_EQUAL(counts.counter[i], f->rounds * each));
		else
			REQUIRE(counts.counter[i] >= f->rounds * each);
	}
	return true;
}

static bool round_trip(struct fuzzer *f)
{
	char byte;

	REQUIRE(write(f->start, "", 1) == 1);
	REQUIRE(read(f->end, &byte, 1) == 1);
	REQUIRE(wait_until_waiting(f->pid));
	f->rounds++;
	return counts_are_right(f);
}

static bool try_control(struct fuzzer *f, const struct perfctr_control *control)
{
	struct perfctr_control answer = *control;

	errno = 0;
	if (!ioctl(f->fd, PERFCTR_IOC_CONTROL, &answer)) {
		f->accepted++;
		f->running = *control;
		f->rounds = 0;
		return EXPECT(is_allowed(&f->info, control)) && round_trip(f);
	}
	f->refused++;
	REQUIRE(errno == EINVAL || errno == E2BIG);
	if (answer.bad_reason != control->bad_reason) {
		REQUIRE(answer.bad_reason <= PERFCTR_BAD_SIGNAL);
		REQUIRE(answer.bad_event < PERFCTR_MAX_COUNTERS);
	}
	return f->refused % REFUSALS_PER_ROUND || round_trip(f);
}

/* The child has enough rounds for every control. */
static bool start(struct fuzzer *f)
{
	int in[2], out[2];

	REQUIRE(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	f->workload =
		(struct workload){ .in = in[0], .out = out[1], .rounds = UINT32_MAX, .loop = 50 };
	f->start = in[1];
	f->end = out[0];
	f->pid = workload_waiting(&f->workload);
	REQUIRE(f->pid > 0);
	/* On one CPU the child mostly waits again when this process goes on. */
	REQUIRE(pin(0, 0) && pin(f->pid, 0));
	f->fd = context_open(f->pid);
	return EXPECT(f->fd >= 0);
}

/* Prints the last control, so that it can be tried alone. */
static void print_control(const struct perfctr_control *control)
{
	printf("size %u flags %#x events %u reserved %u pebs %#llx %#llx\n", control->size,
	       control->flags, control->n_events, control->reserved,
	       (unsigned long long)control->p4_pebs_enable,
	       (unsigned long long)control->p4_pebs_matrix_vert);
	for (uint32_t i = 0; i < control->n_events && i < PERFCTR_MAX_COUNTERS; i++)
		printf("  %#llx/%#llx@%#x\n", (unsigned long long)control->event[i].evntsel,
		       (unsigned long long)control->event[i].evntsel2, control->event[i].counter);
}

bool fuzz(uint64_t seed, unsigned long n)
{
	struct fuzzer f = { .random = seed | 1, .info = machine_info() };
	struct perfctr_control control;
	bool good = start(&f);

	control = control_one(&profile.instructions.of[0], USER);
	good = good && try_control(&f, &control) && EXPECT(f.accepted == 1);
	for (unsigned long i = 1; i < n && good; i++) {
		control = any_control(&f);
		good = try_control(&f, &control);
	}
	if (!good)
		print_control(&control);
	printf("fuzz    %s: seed %#llx, %lu controls accepted, %lu refused\n", profile.name,
	       (unsigned long long)seed, f.accepted, f.refused);
	return good && EXPECT(f.accepted > n / 100) && EXPECT(f.refused > n / 100);
}
