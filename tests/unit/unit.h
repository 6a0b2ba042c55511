/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef UNIT_H
#define UNIT_H

#include <check.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

TCase *event_tests(void);
TCase *family_tests(void);
TCase *names_tests(void);
TCase *names_refused_tests(void);
TCase *names_listed_tests(void);
TCase *names_tables_tests(void);
TCase *opened_tests(void);
TCase *hybrid_tests(void);
TCase *listing_tests(void);
TCase *habits_tests(void);
TCase *assign_tests(void);
TCase *control_tests(void);
TCase *error_tests(void);
TCase *read_tests(void);
TCase *bpf_slot_tests(void);
TCase *prepare_tests(void);
TCase *regions_tests(void);
TCase *regions_named_tests(void);
TCase *perfex_tests(void);
TCase *compare_tests(void);
TCase *derive_tests(void);
TCase *groups_tests(void);
TCase *diff_tests(void);
TCase *limits_tests(void);
TCase *merge_tests(void);
TCase *experiment_tests(void);
TCase *rules_tests(void);
TCase *together_tests(void);
TCase *student_tests(void);
TCase *estimate_tests(void);
TCase *report_tests(void);
TCase *machine_tests(void);
TCase *against_tests(void);
TCase *fit_tests(void);
TCase *warn_tests(void);
TCase *kernels_tests(void);
TCase *stat_of_tests(void);
TCase *statistics_tests(void);
TCase *format_tests(void);
TCase *software_tests(void);
TCase *strangers_tests(void);
TCase *hierarchy_tests(void);
TCase *samples_tests(void);
TCase *path_tests(void);
TCase *rank_tests(void);

#endif
