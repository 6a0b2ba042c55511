// SPDX-License-Identifier: GPL-2.0-or-later
/* The numbers that the crate's own test asserts of its declarations, in rust/src/ffi.rs. */
#include <perfctr.h>
#include <perfctr_count.h>
#include <perfctr_events.h>

#define IS(what, number) _Static_assert((what) == (number), #what)
#define AT(type, field, number) IS(offsetof(struct type, field), number)

IS(PERFCTR_MAX_COUNTERS, 32);
IS(PERFCTR_COUNT_ERROR, 512);
IS(PERFCTR_REQUEST_NAME, 128);
IS(sizeof(struct perfctr_page_counter), 32);
AT(perfctr_page_counter, bias, 0);
AT(perfctr_page_counter, ticket, 8);
AT(perfctr_page_counter, recheck, 16);
AT(perfctr_page_counter, sum, 24);
AT(perfctr_page, n_counters, 16);
AT(perfctr_page, tsc, 64);
AT(perfctr_page, counter, 96);
IS(sizeof(struct perfctr_counts), 336);
AT(perfctr_counts, n_counters, 12);
AT(perfctr_counts, tsc, 24);
AT(perfctr_counts, counter, 48);
AT(perfctr_counts, kind_tsc, 304);
IS(sizeof(struct perfctr_snapshot), 264);
AT(perfctr_snapshot, counter, 8);
