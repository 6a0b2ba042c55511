// SPDX-License-Identifier: GPL-2.0-or-later
/* Four threads take turns at one counter. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long turn;

static void *take_turns(void *number)
{
	for (int i = 0; i < 200; i++) {
		pthread_mutex_lock(&lock);
		while (turn % 4 != (long)number)
			pthread_cond_wait(&changed, &lock);
		turn++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[4];

	for (long i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, take_turns, (void *)i))
			return 1;
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
	printf("%ld turns\n", turn);
	return 0;
}
