// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Memory that users make the kernel keep for the service is charged to the service's control group.
 * The number of their threads limits it. The test starts the service.
 */
#include "bpf.h"
#include "attacker.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CGROUPS "/sys/fs/cgroup"
#define CGROUP CGROUPS "/perfctr-test"
#define THREADS 2000
#define CROWDS 3 /* one after the other */
/* A context and a request, each in an object of 1 KB, and the kernel's memory to find them. */
#define THREAD_BYTES (1024 + 1024 + 256)
/* The kernel charges whole pages, and ahead. */
#define CHARGED_AHEAD (1024 << 10)

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_msg(file, "%s: errno %d", path, errno);
	fputs(text, file);
	ck_assert_msg(fclose(file) == 0, "%s: errno %d", path, errno);
}

static int64_t charged(void)
{
	long long bytes = -1;
	FILE *file = fopen(CGROUP "/memory.current", "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%lld", &bytes), 1);
	fclose(file);
	return bytes;
}

static void start_service(void)
{
	if (mount("cgroup2", CGROUPS, "cgroup2", 0, NULL) < 0)
		ck_assert_int_eq(errno, EBUSY);
	write_file(CGROUPS "/cgroup.subtree_control", "+memory");
	ck_assert(mkdir(CGROUP, 0755) == 0 || errno == EEXIST);
	ck_assert_int_eq(system("echo 0 >" CGROUP "/cgroup.procs && "
				"exec build/sbin/perfctr-bpfd start --slots 8 --user-slots 5"),
			 0);
}

struct crowd {
	pthread_barrier_t all_there;
	int said[2], go[2]; /* pipes */
};

static void *ask_and_stay(void *argument)
{
	struct crowd *crowd = argument;

	raw_make_room();
	pthread_barrier_wait(&crowd->all_there);
	pause();
	return NULL;
}

/* Each thread is a member of the first one's tree, bears its mark, and has made a request. */
static int come_in_a_crowd(void *argument)
{
	struct crowd *crowd = argument;
	struct perfctr_control control;
	struct perfctr *self = perfctr_open();
	pthread_attr_t small;
	pthread_t thread;
	char go;

	EXPECT(self);
	control_all(&control, PERFCTR_CONTROL_INHERIT);
	EXPECT(perfctr_set_control(self, &control) == 0);
	EXPECT(pthread_barrier_init(&crowd->all_there, NULL, THREADS + 1) == 0);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 128 << 10);
	/* The memory of the threads themselves does not matter. It is there before. */
	EXPECT(write(crowd->said[1], "x", 1) == 1 && read(crowd->go[0], &go, 1) == 1);
	for (int i = 0; i < THREADS; i++)
		EXPECT(pthread_create(&thread, &small, ask_and_stay, crowd) == 0);
	pthread_barrier_wait(&crowd->all_there);
	EXPECT(write(crowd->said[1], "x", 1) == 1);
	pause();
	return 1;
}

/* Memory charged when the crowd is there, less that before the first crowd. */
static int64_t charged_for_a_crowd(int64_t *before)
{
	struct crowd crowd;
	int64_t grown;
	char said;
	pid_t pid;

	ck_assert_int_eq(pipe(crowd.said), 0);
	ck_assert_int_eq(pipe(crowd.go), 0);
	pid = begin_attack(NOBODY, come_in_a_crowd, &crowd);
	close(crowd.said[1]);
	ck_assert_int_eq(read(crowd.said[0], &said, 1), 1);
	if (!*before)
		*before = charged();
	ck_assert_int_eq(write(crowd.go[1], "x", 1), 1);
	ck_assert_int_eq(read(crowd.said[0], &said, 1), 1);
	grown = charged() - *before;
	end_victim(pid);
	close(crowd.said[0]);
	close(crowd.go[0]);
	close(crowd.go[1]);
	return grown;
}

/* Memory that the kernel keeps after they have exited is used for the next ones. */
START_TEST(memory_of_a_user_is_bounded_by_their_threads)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	int64_t before = 0, grown;

	start_service();
	ck_assert_int_eq(setrlimit(RLIMIT_NPROC, &unlimited), 0);
	for (int crowds = 0; crowds < CROWDS; crowds++) {
		grown = charged_for_a_crowd(&before);
		printf("%d threads: %lld bytes each, charged to the service\n", THREADS,
		       (long long)grown / THREADS);
		ck_assert_int_ge(grown, THREADS * THREAD_BYTES / 2);
		/* The kernel may still keep the memory of the crowd before, but of no other. */
		ck_assert_int_le(grown, (crowds ? 2 : 1) * THREADS * THREAD_BYTES + CHARGED_AHEAD);
	}
	ck_assert_int_eq(system("build/sbin/perfctr-bpfd stop"), 0);
	for (int i = 0; i < 600 && charged() > CHARGED_AHEAD; i++)
		usleep(50000);
	ck_assert_int_le(charged(), CHARGED_AHEAD);
}
END_TEST

TCase *memory_tests(void)
{
	TCase *tests = tcase_create("memory");

	tcase_set_timeout(tests, 120);
	tcase_add_test(tests, memory_of_a_user_is_bounded_by_their_threads);
	return tests;
}
