// SPDX-License-Identifier: GPL-2.0-or-later
/* The public headers as a C++ program takes them: pedantically, and each struct by its name alone. */
#include <perfctr.h>
#include <perfctr.hpp>
#include <perfctr_count.h>
#include <perfctr_events.h>
#include <perfctr_sessions.h>
#include <perfctr_regions.h>

perfctr *context;
perfctr_backend_info backend;
perfctr_control control;
perfctr_counts counts;
perfctr_event_control event;
perfctr_event_entry entry;
perfctr_events *events;
perfctr_mark *mark;
perfctr_open_mark_args open_mark_args;
perfctr_mark_args mark_args;
perfctr_members_args members_args;
perfctr_open_args open_args;
perfctr_overhead overhead;
const perfctr_page *page;
perfctr_pmu_info info;
perfctr_exit_record record;
perfctr_region region;
perfctr_region_result result;
perfctr_regions *regions;
perfctr_request request;
perfctr_session *session;
perfctr_session_args session_args;
perfctr_session_options options;
perfctr_snapshot snapshot;
const perfctr_trace_record *trace;
