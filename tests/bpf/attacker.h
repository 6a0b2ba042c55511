/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Children of root that attack as other users. */
#ifndef TESTS_BPF_ATTACKER_H
#define TESTS_BPF_ATTACKER_H

#include <errno.h>
#include <stdio.h>
#include <sys/types.h>
#include "raw.h"

#define THREAD PERFCTR_MARK_THREAD

/* Runs the attack as the user. end_attack() checks its exit status: 0 if it got nothing. */
pid_t begin_attack(uid_t uid, int (*attack)(void *), void *argument);
void end_attack(pid_t pid);
/* The attack of a user in a new user namespace. map: for its uid_map and gid_map. */
pid_t begin_attack_in_namespace(uid_t uid, const char *map, int (*attack)(void *), void *argument);
/* Begins and ends an attack by NOBODY. */
void attack(int (*attack)(void *), void *argument);

/* A process of the caller that waits for its end. */
pid_t victim(void);
/* The same for NOBODY, with a capability that an attack lacks. */
pid_t capable_victim(void);
/* The same for NOBODY, without capabilities, in a user namespace of root. */
pid_t confined_victim(void);
/* Kills such a process, or an attack. */
void end_victim(pid_t pid);

void stay_on(int cpu);

/* Checks that an attack makes itself. */
#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s: errno %d\n", __FILE__, __LINE__, #condition,   \
				errno);                                                            \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

#endif
