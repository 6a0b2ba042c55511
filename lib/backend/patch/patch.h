/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel patch: /dev/perfctr. */
#ifndef PERFCTR_BACKEND_PATCH_H
#define PERFCTR_BACKEND_PATCH_H

#include "../backend.h"

#define PERFCTR_DEVICE "/dev/perfctr"

/* patch.c */
/* Opens the device; errno is ENODEV if there is none. */
int perfctr_patch_device(void);
int perfctr_patch_get_info(int device, struct perfctr_pmu_info *info, uint32_t holder);
/* Opens the device, calls ioctl(2) once, and returns its result. */
int perfctr_patch_call(unsigned long request, void *argument);
int perfctr_patch_info(struct perfctr_pmu_info *info);
uint32_t perfctr_patch_capabilities(const struct perfctr_pmu_info *info);
bool perfctr_patch_is_there(void);
/* Is the driver a module?  Asks only if nobody has asked for the PMU yet.  Keeps errno. */
bool perfctr_patch_is_module(void);
int perfctr_patch_probe(struct perfctr_backend_info *info, struct perfctr_pmu_info *pmu);
void perfctr_patch_open_error(int error, char *text, size_t size);
struct perfctr *perfctr_patch_open(pid_t tid, unsigned int flags);
void perfctr_patch_close(struct perfctr *p);
int perfctr_patch_control(struct perfctr *p, struct perfctr_control *c);
int perfctr_patch_get_control(const struct perfctr *p, struct perfctr_control *c);
int perfctr_patch_start(struct perfctr *p);
int perfctr_patch_stop(struct perfctr *p);
int perfctr_patch_read(const struct perfctr *p, struct perfctr_counts *out);
int perfctr_patch_next_record(const struct perfctr *p, struct perfctr_exit_record *record);

/*
 * patch_holder.c: writes "process 1 (NAME)", which counts the caller and what it starts.  False: no
 * other process does.
 */
bool perfctr_patch_name_holder(char *text, size_t size);

/* patch_software.c: software events of a context */
struct perfctr_patch_software;

/*
 * Checks the events of c, and opens the page faults.  NULL: refused, as by perfctr_set_control().
 */
struct perfctr_patch_software *perfctr_patch_software_open(const struct perfctr *p, pid_t tid,
							   struct perfctr_control *c);
void perfctr_patch_software_free(struct perfctr_patch_software *s);
/*
 * The control for the patch, without software events; and the patch's refusal of that, put into c.
 */
struct perfctr_control *perfctr_patch_software_rest(struct perfctr_patch_software *s);
void perfctr_patch_software_refuse(const struct perfctr_patch_software *s,
				   struct perfctr_control *c);
/* Has any event another place in the patch's page than in the control? */
bool perfctr_patch_software_reorders(const struct perfctr_patch_software *s);
int perfctr_patch_software_enable(const struct perfctr_patch_software *s, bool on);
/*
 * Add software events to counts that the patch gave: the counts of a context, or of a member, for
 * which there are no page faults.
 */
int perfctr_patch_software_read(const struct perfctr_patch_software *s, const struct perfctr *p,
				struct perfctr_counts *counts);
void perfctr_patch_software_place(const struct perfctr_patch_software *s, uint32_t khz,
				  const struct perfctr_counts *faults,
				  struct perfctr_counts *counts);

/* patch_mark.c */
struct perfctr_mark *perfctr_patch_mark_open(uint64_t *id);
void perfctr_patch_mark_close(struct perfctr_mark *mark);
int perfctr_patch_mark_set(struct perfctr_mark *mark, pid_t tid, unsigned int scope);
int perfctr_patch_mark_clear(struct perfctr_mark *mark, pid_t tid, unsigned int scope);
int perfctr_patch_mark_get(pid_t tid, uint64_t *id);
int perfctr_patch_members(const struct perfctr_mark *mark, pid_t *tids, unsigned int room);
int perfctr_patch_segment_begin(struct perfctr_mark *mark);
int perfctr_patch_segment_end(struct perfctr_mark *mark);

/* patch_ring.c: struct patch_rings is all 0 while nothing is mapped */
struct patch_rings {
	int fd;
	unsigned int n_cpus;
	size_t ring_bytes;
	const struct perfctr_ring **ring; /* indexed by CPU; NULL: the CPU has none */
};

typedef int patch_ring_visit(const void *record, void *argument);

/* The caller unmaps the rings even if this fails. */
int perfctr_patch_rings_map(struct patch_rings *rings, int fd, unsigned int n_cpus,
			    size_t ring_bytes);
void perfctr_patch_rings_unmap(struct patch_rings *rings);
/* As perfctr_session_trace(). */
long perfctr_patch_ring_visit(const struct patch_rings *rings, unsigned int cpu,
			      patch_ring_visit *visit, void *argument);
uint64_t perfctr_patch_rings_lost(const struct patch_rings *rings);

/* patch_samples.c */
struct perfctr_samples *perfctr_patch_samples_open(struct perfctr *p,
						   const struct perfctr_samples_options *options);
void perfctr_patch_samples_close(struct perfctr_samples *samples);
long perfctr_patch_samples_take(struct perfctr_samples *samples, perfctr_sample_visit *visit,
				void *argument);
int perfctr_patch_samples_read(const struct perfctr_samples *samples,
			       struct perfctr_sampled *sampled);
int perfctr_patch_read_periods(const struct perfctr *p, struct perfctr_periods *periods);
int perfctr_patch_resume(struct perfctr *p);

/* patch_session.c */
struct perfctr_session *perfctr_patch_session_open(const struct perfctr_session_options *options);
void perfctr_patch_session_close(struct perfctr_session *session);
int perfctr_patch_session_control(struct perfctr_session *session, struct perfctr_control *c);
int perfctr_patch_session_start(struct perfctr_session *session);
int perfctr_patch_session_stop(struct perfctr_session *session);
int perfctr_patch_session_read(const struct perfctr_session *session, struct perfctr_counts *out);
unsigned int perfctr_patch_session_cpus(const struct perfctr_session *session);
void perfctr_patch_session_read_cpu(const struct perfctr_session *session, unsigned int cpu,
				    struct perfctr_counts *out);
long perfctr_patch_session_trace(struct perfctr_session *session, unsigned int cpu,
				 perfctr_trace_visit *visit, void *argument);
uint64_t perfctr_patch_session_lost(const struct perfctr_session *session);

#endif
