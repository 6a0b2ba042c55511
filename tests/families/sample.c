// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Samples: together they account for every event, each at the end of a period. Or there are none.
 */
#include "families.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define PERIOD 101
#define ROOM (1u << 20)

/* The sums of the samples of all threads but the caller. */
struct told {
	const struct perfctr_control *control;
	uint64_t weight[PERFCTR_MAX_COUNTERS];
	uint64_t periods[PERFCTR_MAX_COUNTERS];
};

static bool open_samples(int fd, struct perfctr_samples_args *args)
{
	*args = (struct perfctr_samples_args){ .size = sizeof(*args), .room_bytes = ROOM };
	return ioctl(fd, PERFCTR_IOC_SAMPLES, args) == 0;
}

/* All counts are of one instant, `late` events after the end of a period. */
static bool is_of_a_period(const struct perfctr_sample *sample, struct told *told)
{
	const struct perfctr_control *control = told->control;

	REQUIRE(EXPECT_EQUAL(sample->type, PERFCTR_SAMPLE_PERIOD));
	REQUIRE(sample->event < control->n_events);
	REQUIRE(EXPECT_EQUAL((sample->counter[sample->event] - sample->late) % PERIOD, 0));
	REQUIRE(EXPECT_EQUAL(sample->weight, sample->periods * PERIOD));
	if (sample->tid == getpid())
		return true;
	told->weight[sample->event] += sample->weight;
	told->periods[sample->event] += sample->periods;
	return true;
}

static bool take_ring(const struct perfctr_ring *ring, struct told *told)
{
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	bool good = EXPECT_EQUAL(ring->lost, 0) && EXPECT(head <= ring->n_records);

	for (uint64_t n = 0; n < head && good; n++)
		good = is_of_a_period((const void *)((const char *)ring + ring->records +
						     n * ring->record_bytes),
				      told);
	return good;
}

static bool take_all(int fd, const struct perfctr_samples_args *args, struct told *told)
{
	for (uint32_t cpu = 0; cpu < args->n_cpus; cpu++) {
		const struct perfctr_ring *ring =
			mmap(NULL, args->ring_bytes, PROT_READ, MAP_SHARED, fd,
			     (off_t)PERFCTR_RING_OFFSET + cpu * (off_t)args->ring_bytes);
		bool good;

		REQUIRE(ring != MAP_FAILED);
		good = take_ring(ring, told);
		munmap((void *)ring, args->ring_bytes);
		REQUIRE(good);
	}
	return true;
}

/* Each event counts this many in each thread. */
static bool are_all_told(struct perfctr_control control, const struct workload *w,
			 uint64_t expected)
{
	struct told told = { .control = &control };
	struct perfctr_samples_args args;
	struct perfctr_counts counts;
	int fd = context_open(0);

	REQUIRE(fd >= 0 && open_samples(fd, &args));
	for (uint32_t i = 0; i < control.n_events; i++)
		control.event[i].period = PERIOD;
	REQUIRE(count_children_of(fd, &control, w, 2, &counts));
	REQUIRE(ioctl(fd, PERFCTR_IOC_STOP) == 0);
	REQUIRE(take_all(fd, &args, &told));
	close(fd);
	for (uint32_t i = 0; i < control.n_events; i++) {
		REQUIRE(EXPECT_EQUAL(counts.counter[i], 2 * expected));
		REQUIRE(EXPECT_EQUAL(told.periods[i], 2 * (expected / PERIOD)));
		REQUIRE(EXPECT_EQUAL(told.weight[i], 2 * (expected / PERIOD) * PERIOD));
	}
	return true;
}

static bool are_refused(void)
{
	struct perfctr_samples_args args;
	int fd = context_open(0);
	bool refused;

	REQUIRE(fd >= 0);
	errno = 0;
	refused = EXPECT(!open_samples(fd, &args)) && EXPECT_EQUAL(errno, EOPNOTSUPP);
	close(fd);
	return refused;
}

bool samples_tell_all_events_of_every_counter_or_are_refused(void)
{
	const struct workload w = { .in = zeros(), .out = nowhere(), .rounds = 3, .loop = 1000 };
	const struct event_list *list = &profile.instructions;
	struct perfctr_control all = control_empty(0);

	if (!(profile.features & PERFCTR_FEATURE_INTERRUPT))
		return are_refused();
	for (size_t i = 0; i < list->n; i++) {
		REQUIRE(are_all_told(control_one(&list->of[i], USER), &w,
				     workload_instructions(&w)));
		control_add(&all, &list->of[i], USER);
	}
	return are_all_told(all, &w, workload_instructions(&w));
}
