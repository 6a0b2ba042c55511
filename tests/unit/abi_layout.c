// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The layout is the same for 32- and 64-bit programs.  This file is compiled for both and never run.  Sizes and offsets
 * are added up by hand from the widths of the fields, ioctl numbers from asm-generic/ioctl.h: 0xd0 << 8 | number.
 */
#include <linux/perfctr.h>

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type)
#define OFFSET(type, field, bytes) \
	_Static_assert(__builtin_offsetof(type, field) == (bytes), #type "." #field)
#define NUMBER(name, value) _Static_assert((name) == (value), #name)

SIZE(struct perfctr_pmu_info, 208 + 4 * 40);
OFFSET(struct perfctr_pmu_info, family, 8);
OFFSET(struct perfctr_pmu_info, features, 40);
OFFSET(struct perfctr_pmu_info, n_general, 48);
OFFSET(struct perfctr_pmu_info, evntsel_allowed, 64);
OFFSET(struct perfctr_pmu_info, evntsel2_allowed, 88);
OFFSET(struct perfctr_pmu_info, n_contexts, 100);
OFFSET(struct perfctr_pmu_info, cost_wrmsr, 116);
OFFSET(struct perfctr_pmu_info, evntsel_user, 128);
OFFSET(struct perfctr_pmu_info, p4_pebs_matrix_vert_allowed, 168);
OFFSET(struct perfctr_pmu_info, user_session_counters, 192);
OFFSET(struct perfctr_pmu_info, n_kinds, 196);
OFFSET(struct perfctr_pmu_info, disturbances, 200);
OFFSET(struct perfctr_pmu_info, kind, 208);

SIZE(struct perfctr_kind, 40);
OFFSET(struct perfctr_kind, leaf_1a, 16);
OFFSET(struct perfctr_kind, counters, 24);
OFFSET(struct perfctr_kind, evntsel_allowed, 32);

SIZE(struct perfctr_kind_cpus, 24);
OFFSET(struct perfctr_kind_cpus, cpus, 8);
OFFSET(struct perfctr_kind_cpus, cpus_bytes, 16);

SIZE(struct perfctr_open_args, 16);
OFFSET(struct perfctr_open_args, tid, 8);

SIZE(struct perfctr_event_control, 40);
OFFSET(struct perfctr_event_control, evntsel, 8);
OFFSET(struct perfctr_event_control, period, 24);
OFFSET(struct perfctr_event_control, kinds, 36);

SIZE(struct perfctr_control, 40 + 32 * 40);
OFFSET(struct perfctr_control, bad_event, 12);
OFFSET(struct perfctr_control, p4_pebs_enable, 24);
OFFSET(struct perfctr_control, event, 40);

SIZE(struct perfctr_counts, 48 + 32 * 8 + 4 * 8);
OFFSET(struct perfctr_counts, flags, 8);
OFFSET(struct perfctr_counts, tsc, 24);
OFFSET(struct perfctr_counts, counter, 48);
OFFSET(struct perfctr_counts, kind_tsc, 48 + 32 * 8);

SIZE(struct perfctr_periods, 24 + 32 * 8 + 8);
OFFSET(struct perfctr_periods, scope, 4);
OFFSET(struct perfctr_periods, late, 16);
OFFSET(struct perfctr_periods, over, 24);
OFFSET(struct perfctr_periods, lost_signals, 280);

SIZE(struct perfctr_exit_record, 40 + 48 + 32 * 8 + 4 * 8);
OFFSET(struct perfctr_exit_record, comm, 16);
OFFSET(struct perfctr_exit_record, start, 32);
OFFSET(struct perfctr_exit_record, counts, 40);

SIZE(struct perfctr_page_counter, 32);
OFFSET(struct perfctr_page_counter, ticket, 8);
OFFSET(struct perfctr_page_counter, recheck, 16);
OFFSET(struct perfctr_page_counter, sum, 24);

SIZE(struct perfctr_page, 64 + 33 * 32 + 8 + 5 * 8);
OFFSET(struct perfctr_page, seq, 8);
OFFSET(struct perfctr_page, switches, 24);
OFFSET(struct perfctr_page, tsc, 64);
OFFSET(struct perfctr_page, counter, 96);
OFFSET(struct perfctr_page, kind, 64 + 33 * 32);
OFFSET(struct perfctr_page, kind_tsc, 64 + 33 * 32 + 8);

NUMBER(PERFCTR_IOC_INFO, 0xd020);
NUMBER(PERFCTR_IOC_OPEN, 0xd021);
NUMBER(PERFCTR_IOC_KIND_CPUS, 0xd022);
NUMBER(PERFCTR_IOC_OPEN_MARK, 0xd023);
NUMBER(PERFCTR_IOC_MARK, 0xd024);
NUMBER(PERFCTR_IOC_SESSION, 0xd025);
NUMBER(PERFCTR_IOC_HOLDERS, 0xd026);
NUMBER(PERFCTR_IOC_REVOKE, 0xd027);
NUMBER(PERFCTR_IOC_CONTROL, 0xd030);
NUMBER(PERFCTR_IOC_START, 0xd031);
NUMBER(PERFCTR_IOC_STOP, 0xd032);
NUMBER(PERFCTR_IOC_READ, 0xd033);
NUMBER(PERFCTR_IOC_EXIT_RECORD, 0xd034);
NUMBER(PERFCTR_IOC_GET_CONTROL, 0xd035);
NUMBER(PERFCTR_IOC_PERIODS, 0xd036);
NUMBER(PERFCTR_IOC_RESUME, 0xd037);
NUMBER(PERFCTR_IOC_MEMBERS, 0xd040);
NUMBER(PERFCTR_IOC_ENTER, 0xd041);
NUMBER(PERFCTR_IOC_LEAVE, 0xd042);
NUMBER(PERFCTR_IOC_CONSUME, 0xd048);

SIZE(struct perfctr_open_mark_args, 16);
SIZE(struct perfctr_mark_args, 32);
OFFSET(struct perfctr_mark_args, id, 24);
SIZE(struct perfctr_members_args, 24);
OFFSET(struct perfctr_members_args, tids, 16);
SIZE(struct perfctr_session_args, 56);
OFFSET(struct perfctr_session_args, cpus, 16);
OFFSET(struct perfctr_session_args, ring_bytes, 44);
OFFSET(struct perfctr_session_args, cpu_bytes, 48);
SIZE(struct perfctr_ring, 40);
SIZE(struct perfctr_trace_record, 32);
SIZE(struct perfctr_consume, 16);
SIZE(struct perfctr_holder, 48);
OFFSET(struct perfctr_holder, counters, 16);
OFFSET(struct perfctr_holder, comm, 32);
SIZE(struct perfctr_holders, 24);
OFFSET(struct perfctr_holders, holders, 16);
