// SPDX-License-Identifier: GPL-2.0-or-later
/* NetBurst: the controls that its routes allow. Uops tagged for other controls are not counted. */
#include "families.h"

#include <perfctr_sessions.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SELECT(n) ((uint64_t)(n) << 13)
#define RUN(select) (0x31000 | SELECT(select))
#define COMPARE 0x40000
#define COMPLEMENT 0x80000
#define FORCE_OVF 0x2000000
#define OVF_PMI 0x4000000
#define CASCADE 0x40000000
#define USR 0x4
#define OS 0x8
#define T1_USR 0x1
#define INSTR_RETIRED 0x04000200
#define UOPS_RETIRED 0x02000200
#define EXECUTION_EVENT 0x18000200
#define X87_TAGGED 0x09000030

#define COUNTERS 18
#define SELECTS 8
#define IQ_SELECT 0

/*
 * The ESCR selects of each counter that lead somewhere, as bits (SDM volume 3, table of the
 * counters, CCCRs and ESCRs of NetBurst). BPU has all, MS 0 to 2, FLAME all but 4, 6 and 7, IQ 0 to
 * 6. Counters 2, 3 and 5 of IQ lack select 3, SSU_ESCR.
 */
static const uint8_t selects[COUNTERS] = {
	0xff, 0xff, 0xff, 0xff, 0x07, 0x07, 0x07, 0x07, 0x2f,
	0x2f, 0x2f, 0x2f, 0x7f, 0x7f, 0x77, 0x77, 0x7f, 0x77,
};

/* The reason why the control is refused. 0: it is accepted. */
static uint32_t refusal(int fd, const struct perfctr_control *control)
{
	struct perfctr_control copy = *control;

	if (ioctl(fd, PERFCTR_IOC_CONTROL, &copy) == 0)
		return 0;
	return errno == EINVAL ? copy.bad_reason : ~0u;
}

static struct perfctr_control events(unsigned int n, const struct perfctr_event_control *event)
{
	struct perfctr_control control = control_empty(0);

	control.n_events = n;
	for (unsigned int i = 0; i < n; i++)
		control.event[i] = event[i];
	return control;
}

static struct perfctr_control one(uint32_t counter, uint64_t cccr, uint64_t escr)
{
	return events(1, &(struct perfctr_event_control){
				 .counter = counter, .evntsel = cccr, .evntsel2 = escr });
}

static bool has_iq_escrs(void)
{
	return !strcmp(profile.family, "Intel NetBurst, model 2");
}

bool p4_counters_have_the_routes_of_the_manual(void)
{
	int fd = context_open(0);
	bool good = true;

	REQUIRE(fd >= 0);
	for (uint32_t counter = 0; counter < COUNTERS; counter++) {
		for (unsigned int select = 0; select < SELECTS; select++) {
			struct perfctr_control control = one(counter, RUN(select), USR);
			bool exists = (counter < 12 || select != IQ_SELECT || has_iq_escrs()) &&
				      selects[counter] >> select & 1;

			good &= EXPECT_EQUAL(refusal(fd, &control), exists ? 0 : PERFCTR_BAD_ROUTE);
		}
	}
	close(fd);
	return good;
}

bool p4_controls_are_refused_for_the_right_reason(void)
{
	const struct {
		struct perfctr_control control;
		uint32_t reason;
	} refused[] = {
		{ one(12, RUN(4), INSTR_RETIRED | USR), 0 },
		{ one(PERFCTR_FAST + 12, RUN(4), INSTR_RETIRED | USR), 0 },
		{ one(18, RUN(4), USR), PERFCTR_BAD_COUNTER },
		{ one(PERFCTR_FAST + 18, RUN(4), USR), PERFCTR_BAD_COUNTER },
		{ one(PERFCTR_FIXED, RUN(4), USR), PERFCTR_BAD_COUNTER },
		{ one(12, RUN(4) & ~0x1000, USR), PERFCTR_BAD_ENABLE },
		{ one(12, RUN(4) & ~0x20000, USR), PERFCTR_BAD_ENABLE },
		{ one(12, RUN(4) | OVF_PMI, USR), PERFCTR_BAD_EVNTSEL },
		{ one(12, RUN(4) | FORCE_OVF, USR), PERFCTR_BAD_EVNTSEL },
		{ one(12, RUN(4) | CASCADE, USR), PERFCTR_BAD_EVNTSEL },
		{ one(12, RUN(4) | 0x800, USR), PERFCTR_BAD_EVNTSEL },
		{ one(12, RUN(4), USR | T1_USR), PERFCTR_BAD_EVNTSEL2 },
		{ one(12, RUN(4), USR | 0x80000000), PERFCTR_BAD_EVNTSEL2 },
		{ one(12, RUN(4), INSTR_RETIRED), PERFCTR_BAD_MODE },
		{ one(12, RUN(4) | COMPARE | COMPLEMENT, USR), PERFCTR_BAD_MODE },
		{ one(12, RUN(4) | COMPARE | COMPLEMENT, USR | OS), 0 },
		{ one(12, RUN(4) | COMPLEMENT, USR), 0 },
		{ events(2, (struct perfctr_event_control[]){ { .counter = 12,
								.evntsel = RUN(4),
								.evntsel2 = INSTR_RETIRED | USR },
							      { .counter = PERFCTR_FAST + 12,
								.evntsel = RUN(5),
								.evntsel2 = USR } }),
		  PERFCTR_BAD_DUPLICATE },
		{ events(2, (struct perfctr_event_control[]){ { .counter = 12,
								.evntsel = RUN(4),
								.evntsel2 = INSTR_RETIRED | USR },
							      { .counter = 16,
								.evntsel = RUN(4),
								.evntsel2 = UOPS_RETIRED | USR } }),
		  PERFCTR_BAD_CONFLICT },
		{ events(2, (struct perfctr_event_control[]){ { .counter = 12,
								.evntsel = RUN(4),
								.evntsel2 = INSTR_RETIRED | USR },
							      { .counter = 17,
								.evntsel = RUN(4),
								.evntsel2 = UOPS_RETIRED | USR } }),
		  0 },
	};
	struct perfctr_control pebs = one(12, RUN(5), USR);
	int fd = context_open(0);
	bool good = true;

	REQUIRE(fd >= 0);
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		good &= EXPECT_EQUAL(refusal(fd, &refused[i].control), refused[i].reason);
	pebs.p4_pebs_enable = 0x01000607;
	pebs.p4_pebs_matrix_vert = 3;
	good &= EXPECT_EQUAL(refusal(fd, &pebs), 0) & EXPECT(is_told(fd, &pebs));
	pebs.p4_pebs_matrix_vert = 4;
	good &= EXPECT_EQUAL(refusal(fd, &pebs), PERFCTR_BAD_PEBS);
	pebs.p4_pebs_matrix_vert = 3;
	pebs.p4_pebs_enable = 0x03000001;
	good &= EXPECT_EQUAL(refusal(fd, &pebs), PERFCTR_BAD_PEBS);
	close(fd);
	return good;
}

/* 4 instructions of the x87 */
static void use_x87(void)
{
	asm volatile("fldz\n\tfld1\n\tfaddp\n\tfstp %%st(0)" : : : "st");
}

static bool count_tagged(int fd, const struct perfctr_control *control, uint64_t expected)
{
	REQUIRE(refusal(fd, control) == 0);
	use_x87();
	return EXPECT_EQUAL(counts_of(fd, PERFCTR_SCOPE_SELF).counter[0], expected);
}

bool p4_uops_tagged_for_another_control_do_not_count(void)
{
	const struct perfctr_event_control event[] = {
		{ .counter = 12, .evntsel = RUN(5), .evntsel2 = EXECUTION_EVENT | USR },
		{ .counter = 8, .evntsel = RUN(1), .evntsel2 = X87_TAGGED | USR },
	};
	struct perfctr_control with = events(2, event), without = events(1, event);
	bool good = true;
	int fd;

	REQUIRE(pin(0, 0));
	fd = context_open(0);
	REQUIRE(fd >= 0);
	good &= count_tagged(fd, &without, 0);
	good &= count_tagged(fd, &with, 4);
	good &= count_tagged(fd, &without, 0);
	close(fd);
	return good;
}

/*
 * Tags change what other counters count. Contexts have them in turn. A session would have them
 * always.
 */
bool p4_a_session_neither_tags_nor_takes_a_context_s_tags_away(void)
{
	const struct perfctr_event_control event[] = {
		{ .counter = 12, .evntsel = RUN(5), .evntsel2 = EXECUTION_EVENT | USR },
		{ .counter = 8, .evntsel = RUN(1), .evntsel2 = X87_TAGGED | USR },
	};
	struct perfctr_control with = events(2, event), tagging = events(1, event + 1);
	struct perfctr_control other = control_one(&profile.instructions.of[1], USER);
	int session, fd;
	bool good = true;

	REQUIRE(pin(0, 0));
	fd = context_open(0);
	session = session_open(-1, 0);
	REQUIRE(fd >= 0 && session >= 0);
	good &= EXPECT_EQUAL(refusal(session, &tagging), PERFCTR_BAD_CONFLICT);
	REQUIRE(refusal(fd, &with) == 0);
	/* On the CPU where the context counts at this moment. */
	REQUIRE(context_control(session, &other));
	use_x87();
	good &= EXPECT_EQUAL(counts_of(fd, PERFCTR_SCOPE_SELF).counter[0], 4);
	close(session);
	close(fd);
	return good;
}

/*
 * CRU_ESCR0 feeds counters 12 and 13, CRU_ESCR1 feeds counter 14. A context's selection there must
 * not change the counts of a session.
 */
bool p4_a_detector_that_a_session_has_is_nobody_elses(void)
{
	const struct counting *of = profile.instructions.of;
	struct perfctr_control first = control_one(&of[0], USER);
	struct perfctr_control same = control_one(&of[2], KERNEL);
	struct perfctr_control other = control_one(&of[1], KERNEL);
	struct perfctr_control answer = same;
	int session = session_open(-1, 0), fd = context_open(0);
	bool refused;

	REQUIRE(of[0].counter == 12 && of[1].counter == 14 && of[2].counter == 13);
	REQUIRE(session >= 0 && fd >= 0 && context_control(session, &first));
	refused = ioctl(fd, PERFCTR_IOC_CONTROL, &answer) && errno == EBUSY &&
		  answer.bad_reason == PERFCTR_BAD_TAKEN;
	REQUIRE(refused);
	REQUIRE(context_control(fd, &other));
	close(session);
	REQUIRE(context_control(fd, &same));
	close(fd);
	return true;
}

static bool is_refused_as_taken(int fd, const struct perfctr_control *control, uint32_t event)
{
	struct perfctr_control answer = *control;
	int result = ioctl(fd, PERFCTR_IOC_CONTROL, &answer);

	return EXPECT(result < 0 && errno == EBUSY) &
	       EXPECT_EQUAL(answer.bad_reason, PERFCTR_BAD_TAKEN) &
	       EXPECT_EQUAL(answer.bad_event, event);
}

/* Counter 13 is free, but its detector is taken. The event before it has all that it needs. */
bool p4_the_event_whose_detector_is_taken_is_named(void)
{
	const struct counting *of = profile.instructions.of;
	struct perfctr_control first = control_one(&of[0], USER);
	struct perfctr_control second = control_one(&of[1], USER);
	int session = session_open(-1, 0), other = session_open(-1, 0), fd = context_open(0);
	bool good = true;

	control_add(&second, &of[2], USER);
	REQUIRE(session >= 0 && other >= 0 && fd >= 0 && context_control(session, &first));
	good &= is_refused_as_taken(fd, &second, 1);
	good &= is_refused_as_taken(other, &second, 1);
	close(session);
	REQUIRE(context_control(fd, &first));
	good &= is_refused_as_taken(other, &second, 1);
	close(fd);
	REQUIRE(context_control(other, &second));
	close(other);
	return good;
}

/* A session of CPU 0. */
static struct perfctr_session *library_session(void)
{
	const uint64_t cpus = 1;
	const struct perfctr_session_options options = {
		.size = sizeof(options),
		.cpus = &cpus,
		.cpus_size = sizeof(cpus),
	};

	return perfctr_session_open(&options);
}

/*
 * MOB_ESCR0 feeds counters 0 and 1, MOB_ESCR1 feeds 2 and 3. On counter 4 the same select is
 * TBPU_ESCR0: another event.
 */
#define MOB(n)                                                                                     \
	{                                                                                          \
		.counter = (n), .evntsel = RUN(2), .evntsel2 = USR                                 \
	}

bool p4_the_library_finds_the_counters_of_a_free_detector(void)
{
	const struct perfctr_event_control one_detector[] = { MOB(0) };
	const struct perfctr_event_control both_detectors[] = { MOB(0), MOB(2) };
	const struct perfctr_event_control wanted[] = {
		{ .counter = 12, .evntsel = RUN(4), .evntsel2 = INSTR_RETIRED | USR },
		MOB(PERFCTR_ANY),
	};
	struct perfctr_control first = events(1, one_detector), second = events(2, wanted);
	struct perfctr_session *has = library_session(), *wants;
	bool good = true;

	REQUIRE(has && perfctr_session_control(has, &first) == 0);
	/* The library learns of sessions when the handle is opened. */
	wants = library_session();
	REQUIRE(wants);
	good &= EXPECT(perfctr_session_control(wants, &second) == 0) &
		EXPECT_EQUAL(second.event[1].counter, 2);
	perfctr_session_close(wants);
	first = events(2, both_detectors);
	REQUIRE(perfctr_session_control(has, &first) == 0);
	wants = library_session();
	REQUIRE(wants);
	second = events(2, wanted);
	good &= EXPECT(perfctr_session_control(wants, &second) < 0) & EXPECT(errno == EBUSY) &
		EXPECT_EQUAL(second.bad_reason, PERFCTR_BAD_TAKEN) &
		EXPECT_EQUAL(second.bad_event, 1);
	perfctr_session_close(wants);
	perfctr_session_close(has);
	return good;
}
