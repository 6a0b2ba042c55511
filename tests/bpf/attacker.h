/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Children of root's that attack as other users. */
#ifndef TESTS_BPF_ATTACKER_H
#define TESTS_BPF_ATTACKER_H

#include <errno.h>
#include <stdio.h>
#include <sys/types.h>
#include "raw.h"

#define THREAD PERFCTR_MARK_THREAD

/* The exit status of the attack, which runs as the user: 0 when it got nothing. */
pid_t begin_attack(uid_t uid, int (*attack)(void *), void *argument);
void end_attack(pid_t pid);
/* Of a user who has made a user namespace; map is what its uid_map and gid_map say. */
pid_t begin_attack_in_namespace(uid_t uid, const char *map, int (*attack)(void *), void *argument);
/* Both, by NOBODY. */
void attack(int (*attack)(void *), void *argument);

/* A process of the caller's, which waits for its end. */
pid_t victim(void);
/* The same of NOBODY's, with a capability that an attack has not. */
pid_t capable_victim(void);
/* The same of NOBODY's, without any, in a user namespace of root's. */
pid_t confined_victim(void);
/* Kills it, or an attack. */
void end_victim(pid_t pid);

void stay_on(int cpu);

/* For what the attack can say of itself. */
#define EXPECT(condition)                                                                          \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s: errno %d\n", __FILE__, __LINE__, #condition,   \
				errno);                                                            \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

#endif
