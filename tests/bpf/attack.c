// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hostile users beside root. Each attack is a child without privilege. Root checks what it must not
 * get, or change of root's.
 */
#include "bpf.h"
#include "attacker.h"
#include "raw.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A program that runs as root reads a descriptor of the attacker's, and must find nothing in it. */
static int give_walk_to_root(const struct raw *raw, struct raw_slot slot, uint32_t action,
			     pid_t pid, uint32_t scope)
{
	const char *program = getenv("SET_ID_READER");
	int status, walk, pipes[2];
	pid_t child;
	char x;

	if (pipe(pipes) < 0)
		return -1;
	child = fork();
	if (child == 0) {
		if (raw_request(raw, slot, action, pid, scope, NULL) < 0)
			_exit(1);
		walk = open(PIN("walk"), O_RDONLY);
		if (dup2(walk, 0) < 0 || dup2(pipes[1], 1) < 0)
			_exit(2);
		execl(program, program, NULL);
		_exit(3);
	}
	close(pipes[1]);
	if (waitpid(child, &status, 0) != child || status != 0)
		return -1;
	return read(pipes[0], &x, 1) == 0 ? 0 : -1;
}

static int mark_by_deputy(void *pid)
{
	struct raw raw;
	struct raw_slot slot;

	EXPECT(raw_open(&raw) >= 0);
	EXPECT(raw_take(&raw, PERFCTR_BPF_MARKED, &slot) >= 0);
	/*
	 * The process that asks is not the owner of the mark. It needs no mark of its own to unmark, either.
	 */
	EXPECT(raw_request(&raw, slot, PERFCTR_BPF_WALK_MARK, *(pid_t *)pid, THREAD, NULL) == 0);
	EXPECT(give_walk_to_root(&raw, (struct raw_slot){ 0 }, PERFCTR_BPF_WALK_UNMARK,
				 *(pid_t *)pid, THREAD) == 0);
	EXPECT(raw_slot_at(&raw, slot.index)->created == 0);
	return 0;
}

START_TEST(a_request_ends_with_exec)
{
	pid_t pid = victim();
	struct perfctr_mark *mark = perfctr_mark_open(NULL);

	ck_assert_int_eq(perfctr_mark_set(mark, pid, THREAD), 1);
	attack(mark_by_deputy, &pid);
	ck_assert_int_eq(perfctr_members(mark, NULL, 0), 1);
	perfctr_mark_close(mark);
	end_victim(pid);
}
END_TEST

/* The owner of the mark makes the request itself, and executes the reader. */
static int ask_and_execute(void *pid)
{
	const char *program = getenv("SET_ID_READER");
	struct raw raw;
	struct raw_slot slot;

	EXPECT(raw_open(&raw) >= 0);
	EXPECT(raw_take(&raw, PERFCTR_BPF_MARKED, &slot) >= 0);
	EXPECT(raw_request(&raw, slot, PERFCTR_BPF_WALK_MARK, *(pid_t *)pid, THREAD, NULL) == 0);
	EXPECT(dup2(open(PIN("walk"), O_RDONLY), 0) == 0);
	EXPECT(dup2(open("/dev/null", O_WRONLY), 1) == 1);
	execl(program, program, NULL);
	return 1;
}

START_TEST(what_executes_a_program_has_no_slot_to_mark_for)
{
	pid_t pid = victim();
	uint64_t id = 1;

	attack(ask_and_execute, &pid);
	ck_assert_int_eq(perfctr_mark_get(pid, &id), 0);
	ck_assert_uint_eq(id, 0);
	end_victim(pid);
}
END_TEST

struct stale {
	uint32_t kind;
	int asked[2], taken[2]; /* pipes */
};

static int ask_release_and_walk(void *argument)
{
	const struct stale *stale = argument;
	struct perfctr_bpf_reply reply;
	struct raw raw;
	struct raw_slot slot;
	char nothing;

	EXPECT(raw_open(&raw) >= 0);
	EXPECT(raw_take(&raw, stale->kind, &slot) >= 0);
	EXPECT(raw_request(&raw, slot, PERFCTR_BPF_WALK_MARK, getpid(), THREAD, NULL) == 0);
	EXPECT(raw_release(&raw, slot) == 0);
	EXPECT(write(stale->asked[1], &slot.index, sizeof(slot.index)) == sizeof(slot.index));
	EXPECT(read(stale->taken[0], &nothing, 1) == 1);
	raw_walk(open(PIN("walk"), O_RDONLY), &reply);
	EXPECT(reply.changed == 0);
	for (int i = 0; i < 20; i++) {
		burn(1000000);
		nap(1);
	}
	return 0;
}

static void use_a_request_that_is_stale(uint32_t kind)
{
	struct stale stale = { .kind = kind };
	struct raw raw;
	struct raw_slot slot[SLOTS];
	uint32_t index;
	pid_t pid;
	int n = 0;

	ck_assert_int_ge(raw_open(&raw), 0);
	ck_assert_int_eq(pipe(stale.asked), 0);
	ck_assert_int_eq(pipe(stale.taken), 0);
	pid = begin_attack(NOBODY, ask_release_and_walk, &stale);
	ck_assert_int_eq(read(stale.asked[0], &index, sizeof(index)), sizeof(index));
	do
		ck_assert_int_ge(raw_take(&raw, PERFCTR_BPF_MARKED, &slot[n]), 0);
	while (slot[n++].index != index);
	ck_assert_int_eq(write(stale.taken[1], "x", 1), 1);
	end_attack(pid);
	ck_assert_uint_eq(raw_slot_at(&raw, index)->created, 0);
	ck_assert_uint_eq(raw_slot_at(&raw, index)->below[PERFCTR_BPF_TIME], 0);
	ck_assert_uint_eq(raw_slot_at(&raw, index)->own[PERFCTR_BPF_TIME], 0);
	ck_assert_uint_eq(raw_slot_at(&raw, index)->page.cpu, 0);
	while (n)
		raw_release(&raw, slot[--n]);
	raw_close(&raw);
}

START_TEST(a_request_does_not_follow_its_slot_to_the_next_owner)
{
	use_a_request_that_is_stale(PERFCTR_BPF_MARKED);
	use_a_request_that_is_stale(PERFCTR_BPF_CONTEXT);
}
END_TEST

static int run_elsewhere(void *argument)
{
	const uint64_t take[PERFCTR_BPF_ARGUMENTS] = { PERFCTR_BPF_TAKE, 0, 0, PERFCTR_BPF_MARKED };
	struct raw raw;

	(void)argument;
	EXPECT(raw_open(&raw) >= 0);
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		EXPECT(raw_run(raw.call, take, BPF_F_TEST_RUN_ON_CPU, cpu) == -EINVAL);
	EXPECT(raw_get(PIN("count"), 0) == -EACCES);
	return 0;
}

START_TEST(calls_run_in_the_caller_alone)
{
	attack(run_elsewhere, NULL);
}
END_TEST

/* Reads of this page end when the caller wants it, as with a file system in user space. */
static void *page_that_never_comes(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	void *page = mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = {
		.range = { (uintptr_t)page, PERFCTR_PAGE_SIZE },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	if (ioctl(fd, UFFDIO_API, &api) < 0 || ioctl(fd, UFFDIO_REGISTER, &range) < 0)
		return NULL;
	return page;
}

static int call_with_the_page(void *page)
{
	const uint64_t address = (uintptr_t)page;
	struct raw raw;

	EXPECT(raw_open(&raw) >= 0);
	raw_make_room();
	for (uint64_t call = PERFCTR_BPF_TAKE; call <= PERFCTR_BPF_LEARN; call++)
		RAW_CALL(&raw, call, address, address, address, address, address, address);
	for (uint64_t walk = PERFCTR_BPF_WALK_MARK; walk <= PERFCTR_BPF_WALK_FIND; walk++)
		RAW_CALL(&raw, PERFCTR_BPF_REQUEST, 0, 0, walk, (uint64_t)getpid(), THREAD,
			 address);
	return 0;
}

/* Programs that wait for a user hold up everything that the kernel frees of BPF. */
START_TEST(programs_wait_for_no_page_of_the_caller)
{
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		void *page = page_that_never_comes();

		become_user(NOBODY);
		_exit(page ? call_with_the_page(page) : 2);
	}
	for (int i = 0; i < 1000 && waitpid(pid, &status, WNOHANG) == 0; i++)
		usleep(10000);
	ck_assert_msg(status == 0, "status 0x%x", (unsigned int)status);
	end_victim(pid);
}
END_TEST

static int attach_all(void *argument)
{
	static const char *const points[] = {
		"sched_switch", "mm_vmscan_lru_shrink_active", "sys_enter",
		"sys_exit",	"sched_process_exec",	       "task_newtask",
	};
	static const char *const pins[] = {
		PIN("self"), PIN("walk"), PIN("switch"), PIN("fork"), PIN("exec"),
		PIN("exit"), PIN("free"), PIN("count"),	 PIN("keep"),
	};
	struct raw raw;

	(void)argument;
	EXPECT(raw_open(&raw) >= 0);
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		EXPECT(raw_attach(raw.call, points[i]) < 0);
	for (uint32_t type = 0; type < 64; type++)
		EXPECT(raw_link(raw.call, type) < 0);
	for (size_t i = 0; i < sizeof(pins) / sizeof(pins[0]); i++)
		EXPECT(raw_get(pins[i], 0) == -EACCES && raw_get(pins[i], BPF_F_RDONLY) < 0);
	return 0;
}

START_TEST(nothing_of_it_can_be_attached)
{
	attack(attach_all, NULL);
}
END_TEST

static int write_maps(void *argument)
{
	int slots = raw_get(PIN("slots"), 0), info = raw_get(PIN("info"), BPF_F_RDONLY);
	void *page;

	(void)argument;
	EXPECT(slots >= 0 && info >= 0);
	EXPECT(raw_get(PIN("info"), 0) == -EACCES);
	EXPECT(raw_update(slots) == -EPERM && raw_update(info) == -EPERM);
	EXPECT(mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, slots, 0) ==
	       MAP_FAILED);
	page = mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ, MAP_SHARED, slots, 0);
	EXPECT(page != MAP_FAILED);
	EXPECT(mprotect(page, PERFCTR_PAGE_SIZE, PROT_READ | PROT_WRITE) < 0);
	EXPECT(open(PERFCTR_BPF_DIRECTORY, O_RDONLY) < 0);
	EXPECT(unlink(PIN("call")) < 0);
	return 0;
}

START_TEST(users_write_no_page)
{
	attack(write_maps, NULL);
}
END_TEST

/* A user may have a directory on any bpffs. The user owns the map where it is pinned there. */
static int write_what_is_pinned_again(void *directory)
{
	static const char *const pins[] = { PIN("info"), PIN("slots") };
	char path[PATH_MAX];
	int map, again;

	for (size_t i = 0; i < sizeof(pins) / sizeof(pins[0]); i++) {
		map = raw_get(pins[i], BPF_F_RDONLY);
		EXPECT(map >= 0);
		snprintf(path, sizeof(path), "%s/again%zu", (const char *)directory, i);
		EXPECT(raw_pin(map, path) == 0);
		again = raw_get(path, 0);
		EXPECT(again >= 0);
		EXPECT(raw_update(again) == -EPERM);
		EXPECT(mmap(NULL, PERFCTR_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, again,
			    0) == MAP_FAILED);
		EXPECT(unlink(path) == 0);
	}
	EXPECT(raw_get(PIN("keep"), 0) == -EACCES && raw_get(PIN("keep"), BPF_F_RDONLY) == -EACCES);
	return 0;
}

START_TEST(what_is_pinned_again_is_not_written)
{
	char directory[] = "/tmp/perfctr-XXXXXX";

	ck_assert_ptr_nonnull(mkdtemp(directory));
	ck_assert_int_eq(mount("bpf", directory, "bpf", 0, NULL), 0);
	attack(write_what_is_pinned_again, directory);
	ck_assert_int_eq(umount(directory), 0);
	rmdir(directory);
}
END_TEST

static int use_foreign_slot(void *argument)
{
	const struct raw_slot *slot = argument;
	struct perfctr_bpf_reply reply;
	struct raw raw;

	EXPECT(raw_open(&raw) >= 0);
	raw_make_room();
	for (uint64_t call = PERFCTR_BPF_RELEASE; call <= PERFCTR_BPF_UNMARK; call++) {
		EXPECT(RAW_CALL(&raw, call, slot->index, slot->generation) == -EPERM);
		/* A deferred call: the refusal is reported when the result is read. */
		RAW_CALL(&raw, call | PERFCTR_BPF_DEFER, slot->index, slot->generation);
		raw_walk(open(PIN("self"), O_RDONLY), &reply);
	}
	EXPECT(RAW_CALL(&raw, PERFCTR_BPF_LEARN, 0, 0, 0) == -EPERM);
	EXPECT(raw_request(&raw, *slot, PERFCTR_BPF_WALK_MARK, getpid(), THREAD, NULL) == -EPERM);
	/* /proc may hide the owner of these threads, too. */
	EXPECT(raw_request(&raw, *slot, PERFCTR_BPF_WALK_MEMBERS, 0, THREAD, NULL) == -EPERM);
	return 0;
}

START_TEST(a_slot_obeys_its_owner_alone)
{
	struct raw raw;
	struct raw_slot slot;

	ck_assert_int_ge(raw_open(&raw), 0);
	ck_assert_int_ge(raw_take(&raw, PERFCTR_BPF_MARKED, &slot), 0);
	attack(use_foreign_slot, &slot);
	ck_assert_uint_eq(raw_slot_at(&raw, slot.index)->generation, slot.generation);
	ck_assert_uint_eq(raw_slot_at(&raw, slot.index)->created, 0);
	ck_assert_int_eq(raw_release(&raw, slot), 0);
	ck_assert_int_eq(raw_release(&raw, slot), -EINVAL);
	raw_close(&raw);
}
END_TEST

struct strangers {
	pid_t counted, not_counted;
	struct raw_slot slot; /* the counted one counts into it */
};

/* Counts of all threads are visible, but not which thread has them. */
static int look_for_who_is_counted(void *argument)
{
	static const uint32_t actions[] = { PERFCTR_BPF_WALK_MARK, PERFCTR_BPF_WALK_UNMARK,
					    PERFCTR_BPF_WALK_GET, PERFCTR_BPF_WALK_FIND };
	const struct strangers *strangers = argument;
	struct raw_slot slots[] = { strangers->slot, { 0 }, { 0 } };
	struct raw raw;

	EXPECT(raw_open(&raw) >= 0);
	EXPECT(raw_take(&raw, PERFCTR_BPF_MARKED, &slots[2]) >= 0);
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		for (size_t s = 0; s < sizeof(slots) / sizeof(slots[0]); s++)
			for (uint32_t scope = THREAD; scope <= PERFCTR_MARK_TREE; scope++) {
				struct raw_answer one, other;

				raw_ask(&raw, slots[s], actions[i], strangers->counted, scope,
					&one);
				raw_ask(&raw, slots[s], actions[i], strangers->not_counted, scope,
					&other);
				EXPECT(memcmp(&one, &other, sizeof(one)) == 0);
			}
	return 0;
}

START_TEST(whether_a_stranger_is_counted_is_not_told)
{
	struct strangers strangers = { .counted = victim(), .not_counted = victim() };
	uint64_t id;
	struct perfctr_mark *mark = perfctr_mark_open(&id);
	struct perfctr *context = perfctr_open_tid(strangers.counted, PERFCTR_OPEN_CREATE);

	ck_assert_ptr_nonnull(context);
	ck_assert_int_eq(perfctr_mark_set(mark, strangers.counted, THREAD), 1);
	strangers.slot.index = id & ((1u << PERFCTR_BPF_SLOT_BITS) - 1);
	strangers.slot.generation = id >> PERFCTR_BPF_SLOT_BITS;
	attack(look_for_who_is_counted, &strangers);
	ck_assert_int_eq(perfctr_members(mark, NULL, 0), 1);
	perfctr_close(context);
	perfctr_mark_close(mark);
	end_victim(strangers.counted);
	end_victim(strangers.not_counted);
}
END_TEST

/* Accounts that were never used belong to slot 0, too. */
static int fold_what_is_nobodys(void *argument)
{
	struct perfctr_bpf_reply reply = { 0 };
	struct raw raw;

	(void)argument;
	EXPECT(raw_open(&raw) >= 0);
	EXPECT(raw_request(&raw, (struct raw_slot){ 0 }, PERFCTR_BPF_WALK_FOLD, 0, 0, NULL) ==
	       -EINVAL);
	raw_walk(open(PIN("walk"), O_RDONLY), &reply);
	EXPECT(reply.found == 0 && reply.running == 0);
	return 0;
}

START_TEST(how_many_are_counted_is_not_told)
{
	pid_t pid = victim();
	struct perfctr_mark *mark = perfctr_mark_open(NULL);

	ck_assert_int_eq(perfctr_mark_set(mark, pid, THREAD), 1);
	attack(fold_what_is_nobodys, NULL);
	perfctr_mark_close(mark);
	end_victim(pid);
}
END_TEST

static bool is_empty(const volatile struct perfctr_bpf_slot *slot)
{
	uint64_t any = slot->page.tsc.sum | slot->page.tsc.bias | slot->page.switches |
		       slot->page.migrations | slot->page.cpu | slot->lost | slot->dropped |
		       slot->missed | slot->created | slot->members | slot->exiting;

	for (int i = 0; i < PERFCTR_BPF_FIELDS; i++)
		any |= slot->own[i] | slot->below[i] | slot->exited[i];
	return !any;
}

static int look_at_what_is_left(void *argument)
{
	struct raw raw;

	(void)argument;
	EXPECT(raw_open(&raw) >= 0);
	for (uint32_t i = 0; i < raw.slots; i++)
		EXPECT(raw_slot_at(&raw, i)->generation || is_empty(raw_slot_at(&raw, i)));
	return 0;
}

START_TEST(of_what_is_closed_no_counts_are_left)
{
	struct perfctr *self = perfctr_open();
	struct perfctr_control control;
	int status;
	pid_t pid;

	ck_assert_ptr_nonnull(self);
	perfctr_control_init(&control);
	control.flags = PERFCTR_CONTROL_INHERIT;
	ck_assert_int_eq(perfctr_set_control(self, &control), 0);
	pid = fork();
	if (pid == 0)
		_exit(0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	burn(1000000);
	nap(1);
	perfctr_close(self);
	attack(look_at_what_is_left, NULL);
}
END_TEST

static void *give_way(void *nothing)
{
	stay_on(1);
	while (sched_yield() == 0)
		;
	return nothing;
}

#define CLOSINGS 500

/* Members are switched away from another CPU again and again meanwhile. */
static int close_what_is_written(void *unused)
{
	const volatile struct perfctr_bpf_slot *slot;
	struct raw raw;
	pthread_t thread;

	(void)unused;
	EXPECT(raw_open(&raw) >= 0);
	for (int i = 0; i < 2; i++)
		EXPECT(pthread_create(&thread, NULL, give_way, NULL) == 0);
	stay_on(0);
	for (int i = 0; i < CLOSINGS; i++) {
		uint64_t id;
		struct perfctr_mark *mark = perfctr_mark_open(&id);

		EXPECT(mark && perfctr_mark_set(mark, 0, PERFCTR_MARK_PROCESS) == 3);
		perfctr_mark_close(mark);
		slot = raw_slot_at(&raw, id & ((1u << PERFCTR_BPF_SLOT_BITS) - 1));
		while (slot->busy)
			;
		EXPECT(slot->generation == 0 && is_empty(slot));
	}
	return 0;
}

START_TEST(of_what_is_closed_while_it_is_written_no_counts_are_left)
{
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		attack(close_what_is_written, NULL);
}
END_TEST

static int call_after_the_end(void *argument)
{
	const int *pipes = argument;
	struct perfctr_bpf_reply reply;
	struct raw raw;
	struct raw_slot slot;
	int walk = open(PIN("walk"), O_RDONLY), self = open(PIN("self"), O_RDONLY);
	char go;

	EXPECT(raw_open(&raw) >= 0 && walk >= 0 && self >= 0);
	EXPECT(raw_take(&raw, PERFCTR_BPF_MARKED, &slot) >= 0);
	EXPECT(raw_request(&raw, slot, PERFCTR_BPF_WALK_MARK, getpid(), THREAD, NULL) == 0);
	EXPECT(write(pipes[1], "x", 1) == 1);
	EXPECT(read(pipes[2], &go, 1) == 1);
	EXPECT(raw_walk(walk, &reply) == -EIO);
	EXPECT(raw_take(&raw, PERFCTR_BPF_MARKED, &slot) == -ENODEV);
	EXPECT(RAW_CALL(&raw, PERFCTR_BPF_MARK, slot.index, slot.generation) == -ENODEV);
	EXPECT(raw_request(&raw, slot, PERFCTR_BPF_WALK_MARK, getpid(), THREAD, NULL) == -ENODEV);
	EXPECT(raw_walk(walk, &reply) == -EIO && raw_walk(self, &reply) == -EIO);
	return 0;
}

/* The test ends the service. */
START_TEST(what_users_have_open_is_of_no_use_after_stop)
{
	int first[2], second[2], pipes[3];
	char ready;
	pid_t pid;

	ck_assert_int_eq(pipe(first), 0);
	ck_assert_int_eq(pipe(second), 0);
	pipes[1] = first[1];
	pipes[2] = second[0];
	pid = begin_attack(NOBODY, call_after_the_end, pipes);
	ck_assert_int_eq(read(first[0], &ready, 1), 1);
	ck_assert_int_eq(system("build/sbin/perfctr-bpfd stop"), 0);
	ck_assert_int_eq(write(second[1], "x", 1), 1);
	end_attack(pid);
}
END_TEST

TCase *attack_tests(void)
{
	TCase *tests = tcase_create("attack");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, a_request_ends_with_exec);
	tcase_add_test(tests, what_executes_a_program_has_no_slot_to_mark_for);
	tcase_add_test(tests, a_request_does_not_follow_its_slot_to_the_next_owner);
	tcase_add_test(tests, calls_run_in_the_caller_alone);
	tcase_add_test(tests, programs_wait_for_no_page_of_the_caller);
	tcase_add_test(tests, nothing_of_it_can_be_attached);
	tcase_add_test(tests, users_write_no_page);
	tcase_add_test(tests, what_is_pinned_again_is_not_written);
	tcase_add_test(tests, a_slot_obeys_its_owner_alone);
	tcase_add_test(tests, whether_a_stranger_is_counted_is_not_told);
	tcase_add_test(tests, how_many_are_counted_is_not_told);
	tcase_add_test(tests, of_what_is_closed_no_counts_are_left);
	tcase_add_test(tests, of_what_is_closed_while_it_is_written_no_counts_are_left);
	return tests;
}

TCase *end_tests(void)
{
	TCase *tests = tcase_create("end");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, what_users_have_open_is_of_no_use_after_stop);
	return tests;
}
