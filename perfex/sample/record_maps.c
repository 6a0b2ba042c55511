// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Records the names and mappings of processes.  The kernel reports them in records of perf_events.
 * Each CPU has an event for these records, which counts nothing, needs no counter, and is inherited
 * by new processes.  Records have times of CLOCK_MONOTONIC_RAW, which runs in proportion to the
 * time stamp counter.
 */
#define _GNU_SOURCE
#include "record.h"
#include "../result/samples_format.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

/* Pages of the ring of each CPU, a power of two.  The kernel allows any user half a megabyte. */
#define MOST_PAGES 32

struct instant {
	uint64_t tsc, ns;
};

struct map_ring {
	int fd, cpu;
	struct perf_event_mmap_page *page;
};

struct maps {
	struct map_ring *ring;
	size_t n;
	size_t page_bytes, data_bytes;
	bool build_ids;
	struct instant first, now;
	uint64_t lost;
	char record[65536]; /* a record in one piece; none is longer */
};

static struct instant read_instant(void)
{
	struct instant best = { 0 };
	uint64_t shortest = UINT64_MAX;

	for (int i = 0; i < 4; i++) {
		struct timespec time;
		uint64_t before = __rdtsc(), after;

		clock_gettime(CLOCK_MONOTONIC_RAW, &time);
		after = __rdtsc();
		if (after - before >= shortest)
			continue;
		shortest = after - before;
		best.tsc = before + shortest / 2;
		best.ns = timespec_ns(time);
	}
	return best;
}

/* By the line through the first and the present instant. */
uint64_t maps_time(const struct maps *maps, uint64_t ns)
{
	double ticks = (double)(maps->now.tsc - maps->first.tsc);
	double length = (double)(maps->now.ns - maps->first.ns);
	double ago = (double)(int64_t)(maps->now.ns - ns);

	if (!(length > 0))
		return maps->now.tsc;
	return maps->now.tsc - (uint64_t)(int64_t)(ago * (ticks / length));
}

static int open_event(struct maps *maps, pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.inherit = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.build_id = maps->build_ids,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC_RAW,
		.watermark = 1,
		.wakeup_watermark = (unsigned int)maps->data_bytes / 2,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	/* Linux has build_id since 5.12. */
	if (fd < 0 && errno == EINVAL && maps->build_ids) {
		maps->build_ids = false;
		return open_event(maps, pid, cpu);
	}
	return fd;
}

static void *map_ring(struct maps *maps, int fd)
{
	void *page;

	while ((page = mmap(NULL, maps->page_bytes + maps->data_bytes, PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0)) == MAP_FAILED) {
		/* All rings have the same size, so only the first can become smaller. */
		if (errno != EPERM || maps->n || maps->data_bytes == maps->page_bytes)
			return NULL;
		maps->data_bytes /= 2;
	}
	return page;
}

static bool open_ring(struct maps *maps, pid_t pid, int cpu)
{
	int fd = open_event(maps, pid, cpu), error;
	void *page;

	/* Skip a CPU that is offline or missing. */
	if (fd < 0)
		return errno == ENODEV || errno == EINVAL;
	page = map_ring(maps, fd);
	if (!page) {
		error = errno;
		close(fd);
		errno = error;
		return false;
	}
	maps->ring[maps->n++] = (struct map_ring){ fd, cpu, page };
	return true;
}

struct maps *maps_open(pid_t pid, unsigned int room_kb)
{
	struct maps *maps = allocate(1, sizeof(*maps));
	long n = sysconf(_SC_NPROCESSORS_CONF);
	bool good = true;

	maps->build_ids = true;
	maps->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	maps->data_bytes = room_kb ? maps->page_bytes : MOST_PAGES * maps->page_bytes;
	while (2 * maps->data_bytes <= (size_t)room_kb << 10)
		maps->data_bytes *= 2;
	maps->ring = allocate((size_t)n, sizeof(*maps->ring));
	maps->first = maps->now = read_instant();
	for (int cpu = 0; good && cpu < n; cpu++)
		good = open_ring(maps, pid, cpu);
	if (good && maps->n)
		return maps;
	complain("cannot learn what the command maps, which the kernel tells by perf_events: %m%s",
		 advice_for(errno));
	maps_close(maps);
	return NULL;
}

void maps_close(struct maps *maps)
{
	if (!maps)
		return;
	for (size_t i = 0; i < maps->n; i++) {
		munmap(maps->ring[i].page, maps->page_bytes + maps->data_bytes);
		close(maps->ring[i].fd);
	}
	free(maps->ring);
	free(maps);
}

size_t maps_descriptors(const struct maps *maps, struct pollfd *fd)
{
	for (size_t i = 0; fd && i < maps->n; i++)
		fd[i] = (struct pollfd){ maps->ring[i].fd, POLLIN, 0 };
	return maps->n;
}

int maps_ring(const struct maps *maps, size_t i, int *cpu)
{
	*cpu = maps->ring[i].cpu;
	return maps->ring[i].fd;
}

uint64_t maps_lost(const struct maps *maps)
{
	return maps->lost;
}

struct process_record { /* PERF_RECORD_COMM up to the name */
	struct perf_event_header header;
	uint32_t pid, tid;
	char name[];
};

struct fork_record {
	struct perf_event_header header;
	uint32_t pid, parent, tid, parent_tid;
	uint64_t time;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

struct map_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t start, length, offset;
	union {
		struct {
			uint32_t major, minor;
			uint64_t inode, generation;
		};
		struct {
			uint8_t build_id_bytes, reserved[3];
			uint8_t build_id[20];
		};
	};
	uint32_t protection, flags;
	char path[];
};

static void write_name(const struct maps *maps, const struct process_record *record, uint64_t time,
		       FILE *file)
{
	bool exec = record->header.misc & PERF_RECORD_MISC_COMM_EXEC;

	/* Other threads have names of their own, which are not that of the process. */
	if (!exec && record->pid != record->tid)
		return;
	fprintf(file, "%s %" PRIu64 " %u ", exec ? "exec" : "name", time, record->pid);
	samples_file_text(file, record->name);
	putc('\n', file);
}

static void write_map(const struct map_record *record, uint64_t time, FILE *file)
{
	fprintf(file, "map %" PRIu64 " %u %" PRIx64 " %" PRIx64 " %" PRIx64 " ", time, record->pid,
		record->start, record->start + record->length, record->offset);
	if (record->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID &&
	    record->build_id_bytes <= sizeof(record->build_id))
		for (size_t i = 0; i < record->build_id_bytes; i++)
			fprintf(file, "%02x", record->build_id[i]);
	else
		putc('-', file);
	putc(' ', file);
	samples_file_text(file, record->path);
	putc('\n', file);
}

static void take_record(struct maps *maps, unsigned int cpu, FILE *file,
			maps_sample_visit *visit, void *argument)
{
	const struct perf_event_header *header = (const void *)maps->record;
	const struct fork_record *fork = (const void *)header;
	uint64_t time;

	if (header->type == PERF_RECORD_SAMPLE) {
		visit(header, cpu, argument);
		return;
	}
	/* With sample_id_all, each record ends with its time. */
	memcpy(&time, maps->record + header->size - sizeof(time), sizeof(time));
	time = maps_time(maps, time);
	switch (header->type) {
	case PERF_RECORD_COMM:
		write_name(maps, (const void *)header, time, file);
		break;
	case PERF_RECORD_MMAP2:
		write_map((const void *)header, time, file);
		break;
	case PERF_RECORD_FORK:
		if (fork->pid != fork->parent)
			fprintf(file, "fork %" PRIu64 " %u %u\n", time, fork->pid, fork->parent);
		break;
	case PERF_RECORD_LOST:
		maps->lost += ((const struct lost_record *)header)->lost;
		break;
	}
}

static void copy_from_ring(const struct maps *maps, const struct map_ring *ring, uint64_t from,
			   void *to, size_t size)
{
	const char *data = (const char *)ring->page + maps->page_bytes;

	for (size_t i = 0; i < size; i++)
		((char *)to)[i] = data[(from + i) & (maps->data_bytes - 1)];
}

void maps_take(struct maps *maps, FILE *file, maps_sample_visit *visit, void *argument)
{
	maps->now = read_instant();
	for (size_t i = 0; i < maps->n; i++) {
		const struct map_ring *ring = &maps->ring[i];
		uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
		uint64_t tail = ring->page->data_tail;

		while (tail < head) {
			struct perf_event_header header;

			copy_from_ring(maps, ring, tail, &header, sizeof(header));
			if (header.size < sizeof(header) + sizeof(uint64_t))
				break;
			copy_from_ring(maps, ring, tail, maps->record, header.size);
			take_record(maps, (unsigned int)ring->cpu, file, visit, argument);
			tail += header.size;
		}
		__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
	}
}
