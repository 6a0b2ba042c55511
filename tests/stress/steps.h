/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The steps that worker.S executes, for generate.c and model.c. */
#ifndef STEPS_H
#define STEPS_H

/* The image is mapped here. The worker finds the image and the marks by these descriptors. */
#define IMAGE_ADDRESS 0x10000000
#define IMAGE_BYTES 0x20000
#define IMAGE_FD 100
#define MARK_FD 101 /* + number of the mark */
#define LIFE_FD 110 /* open as long as a worker lives */

#define STEP_BYTES 16
#define STEP_LOOP 0  /* argument: iterations, 1 or more */
#define STEP_STORE 1 /* to a page that a fork has made copy-on-write */
#define STEP_YIELD 2
#define STEP_MOVE 3  /* address: mask of CPUs, in place */
#define STEP_SLEEP 4 /* address: of a struct timespec */
#define STEP_IOCTL 5 /* argument: descriptor, address: request */
#define STEP_FORK 6  /* argument: the child's first step, also of VFORK and THREAD */
#define STEP_VFORK 7
#define STEP_THREAD 8
#define STEP_WAIT 9  /* for one child, if there is any */
#define STEP_EXEC 10 /* argument: its first step, address: of its argv[] */
#define STEP_EXIT 11 /* of the thread */
#define STEP_KILL 12 /* itself */
#define N_STEPS 13

#endif
