// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Subcommands of perfex end the process when they refuse something, and leave it to the kernel to
 * free what they hold. Here exit(3) returns to the caller of the subcommand, and everything
 * allocated or opened since is freed: the linker's --wrap leads the calls here.
 */
#define _GNU_SOURCE
#include "fuzz.h"
#include "../../perfex/perfex.h"
#include "../unit/machines.h"

#include <getopt.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_ARGUMENTS 32
#define MAX_FILES 8

static jmp_buf exits;
static int exit_status;
static bool contained; /* between the call of a subcommand and its end */

/* Addresses by their hash. If two have the same, the next place is taken. */
#define PLACES 65536
static void *held[PLACES];
static char gone;		    /* &gone: an address that was here */
static size_t used[PLACES], n_used; /* the places that are not empty */
static FILE *opened[MAX_FILES];

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);
int __real_vasprintf(char **text, const char *format, va_list arguments);
ssize_t __real_getline(char **line, size_t *size, FILE *file);
FILE *__real_fopen(const char *path, const char *mode);
int __real_fclose(FILE *file);
__attribute__((noreturn)) void __real_exit(int status);

static size_t place_of(const void *memory)
{
	return ((uintptr_t)memory >> 4) * 0x9e3779b97f4a7c15u >> 48;
}

static void *hold(void *memory)
{
	size_t place = place_of(memory);

	if (!memory || !contained)
		return memory;
	for (size_t tries = 0; held[place] && held[place] != &gone; tries++) {
		EXPECT(tries < PLACES);
		place = (place + 1) % PLACES;
	}
	if (!held[place])
		used[n_used++] = place;
	held[place] = memory;
	return memory;
}

static void release(const void *memory)
{
	size_t place = place_of(memory);

	for (size_t tries = 0; memory && held[place] && tries < PLACES; tries++) {
		if (held[place] == memory) {
			held[place] = &gone;
			return;
		}
		place = (place + 1) % PLACES;
	}
}

static void free_all(void)
{
	for (size_t i = 0; i < MAX_FILES; i++)
		if (opened[i])
			__real_fclose(opened[i]);
	memset(opened, 0, sizeof(opened));
	while (n_used) {
		size_t place = used[--n_used];

		if (held[place] != &gone)
			__real_free(held[place]);
		held[place] = NULL;
	}
}

void *__wrap_malloc(size_t size)
{
	return hold(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return hold(__real_calloc(n, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
	release(memory);
	return hold(__real_realloc(memory, size));
}

void *__wrap_reallocarray(void *memory, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes))
		return NULL;
	return __wrap_realloc(memory, bytes);
}

void __wrap_free(void *memory)
{
	release(memory);
	__real_free(memory);
}

char *__wrap_strndup(const char *text, size_t length)
{
	size_t n = strnlen(text, length);
	char *copy = __wrap_malloc(n + 1);

	if (copy) {
		memcpy(copy, text, n);
		copy[n] = '\0';
	}
	return copy;
}

char *__wrap_strdup(const char *text)
{
	return __wrap_strndup(text, strlen(text));
}

int __wrap_vasprintf(char **text, const char *format, va_list arguments)
{
	int n = __real_vasprintf(text, format, arguments);

	if (n >= 0)
		hold(*text);
	return n;
}

ssize_t __wrap_getline(char **line, size_t *size, FILE *file)
{
	ssize_t n;

	release(*line);
	n = __real_getline(line, size, file);
	hold(*line);
	return n;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	FILE *file = __real_fopen(path, mode);

	for (size_t i = 0; file && contained && i < MAX_FILES; i++)
		if (!opened[i]) {
			opened[i] = file;
			break;
		}
	return file;
}

int __wrap_fclose(FILE *file)
{
	for (size_t i = 0; i < MAX_FILES; i++)
		if (opened[i] == file)
			opened[i] = NULL;
	return __real_fclose(file);
}

void __wrap_exit(int status)
{
	if (!contained)
		__real_exit(status);
	exit_status = status;
	longjmp(exits, 1);
}

static int run(const struct subcommand *subcommand, int argc, char **argv)
{
	optind = 0;
	contained = true;
	exit_status = 0;
	if (setjmp(exits) == 0)
		exit_status = subcommand->main(argc, argv);
	contained = false;
	free_all();
	return exit_status;
}

/* A refusal is one line, with the status of refusals only. */
static void expect_refusal_in_one_line(const struct subcommand *subcommand, int argc, char **argv)
{
	FILE *out = stdout, *err = stderr;
	char *said = NULL;
	size_t n = 0;
	FILE *memory = open_memstream(&said, &n);
	int status;

	EXPECT(memory);
	stdout = nowhere();
	stderr = memory;
	status = run(subcommand, argc, argv);
	stdout = out;
	stderr = err;
	__real_fclose(memory);
	EXPECT(status == 0 || status == 1 || status == EXIT_PERFEX);
	if (status == EXIT_PERFEX) {
		EXPECT(n && said[n - 1] == '\n');
		said[n - 1] = '\0';
		EXPECT(strncmp(said, "perfex: ", 8) == 0);
		expect_line(said + 8);
	}
	free(said);
}

/* Makes the text a file of this process. */
static void take_file(const struct subcommand *subcommand, const char *text, size_t length)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	char name[32], per_thread[] = "--per-thread", csv[] = "--csv";
	char *shortly[] = { (char *)subcommand->name, name, NULL };
	char *fully[] = { (char *)subcommand->name, per_thread, csv, name, NULL };

	EXPECT(fd >= 0);
	EXPECT(write(fd, text, length) == (ssize_t)length);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	expect_refusal_in_one_line(subcommand, 2, shortly);
	expect_refusal_in_one_line(subcommand, 4, fully);
	close(fd);
}

void fuzz_trace(const char *text, size_t length)
{
	take_file(&report_subcommand, text, length);
}

void fuzz_samples(const char *text, size_t length)
{
	take_file(&samples_subcommand, text, length);
}

void fuzz_regions(const char *text, size_t length)
{
	take_file(&stat_of_subcommand, text, length);
}

/* Memory that libpfm4 keeps from its first use on does not belong to the subcommand. */
static void fill_libpfm(void)
{
	static bool filled;
	struct perfctr_request request;
	char error[256];

	if (!filled)
		perfctr_events_parse_once(be_machine(NEHALEM), "unhalted_core_cycles",
					  PERFCTR_MODE_USER, &request, error, sizeof(error));
	filled = true;
}

/* Each line is an argument. The first one names the subcommand, which must run nothing. */
void fuzz_arguments(const char *text, size_t length)
{
	static const struct subcommand *const harmless[] = { &check_subcommand, &encode_subcommand,
							     &list_subcommand };
	char *copy = strdup(text), *rest = copy, *argv[MAX_ARGUMENTS + 1];
	int argc = 0;

	(void)length;
	EXPECT(copy);
	fill_libpfm();
	while (argc < MAX_ARGUMENTS && (argv[argc] = strsep(&rest, "\n")))
		argc++;
	argv[argc] = NULL;
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (argc && strcmp(argv[0], harmless[i]->name) == 0)
			expect_refusal_in_one_line(harmless[i], argc, argv);
	free(copy);
}
