// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A CPU that does not come back when the machine wakes. The kernel cannot take it offline again, so
 * the suite has a machine of its own.
 */
#include "guest.h"
#include "marks.h"
#include "suspend.h"

#include <perfctr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPU1	"/sys/devices/system/cpu/cpu1"

/* Finds the number of the hotplug state with this name. */
static void read_state(const char *name, char *number, size_t size)
{
	FILE *f = fopen("/sys/devices/system/cpu/hotplug/states", "r");
	char line[128];

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		const char *colon = strchr(line, ':');

		line[strcspn(line, "\n")] = 0;
		if (colon && strcmp(colon + 2, name) == 0)
			snprintf(number, size, "%d", atoi(line));
	}
	fclose(f);
	ck_assert_str_ne(number, "");
}

/*
 * The CPU is switched on after the machine has woken. That is done by its state, because the file
 * "online" says that it is online.
 */
START_TEST(a_cpu_that_fails_to_resume_counts_when_it_comes)
{
	int mark_fd = mark_open(), session = session_open(mark_fd, NOT_PRIVILEGED | MARKED), status;
	char fails[16] = "", online[16] = "";

	session_control(session, SESSION_EVENTS({ { 1, USER(BRANCHES) }, 0 }));
	read_state("perf/x86:online", fails, sizeof(fails));
	read_state("online", online, sizeof(online));
	suspend_is_a_test();
	write_file("/sys/power/pm_test", "processors");
	write_file(CPU1 "/hotplug/fail", fails);
	suspend();
	ck_assert_int_eq(sysconf(_SC_NPROCESSORS_ONLN), 1);
	write_file(CPU1 "/hotplug/target", online);
	ck_assert_int_eq(sysconf(_SC_NPROCESSORS_ONLN), 2);
	for (int cpu = 0; cpu < 2; cpu++) {
		struct counted c =
			counted_start(cpu, COMMAND(program("loop")), EVENTS({ 0, USER(INSTRUCTIONS) }));
		struct perfctr_counts counts = counted_finish(&c, &status);

		ck_assert_uint_eq(counts.counter[0], LOOP_INSTRUCTIONS(SHORT_LOOP));
		ck_assert_uint_gt(counts.tsc, 0);
		expect_success(marked_start(mark_fd, cpu, COMMAND(program("loop"))));
		ck_assert_uint_eq(context_read(session).counter[0],
				  (uint64_t)(cpu + 1) * LOOP_BRANCHES(SHORT_LOOP));
	}
	close(session);
	close(mark_fd);
}
END_TEST

SUITE(suspend_fails, a_cpu_that_fails_to_resume_counts_when_it_comes)
