// SPDX-License-Identifier: GPL-2.0-or-later
/* Two threads with named regions, one inside another, and a child that must not count in them. */
#include <perfctr_regions.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

void loop(unsigned int n);

/* A region around many, around many ends that end nothing, and two that overlap. */
static void nest(void)
{
	perfctr_region_begin("around many");
	for (int i = 0; i < 300; i++) {
		perfctr_region_begin("one of many");
		perfctr_region_end("one of many");
	}
	perfctr_region_end("around many");
	perfctr_region_begin("around ends");
	for (int i = 0; i < 300; i++)
		perfctr_region_end("stray");
	perfctr_region_end("around ends");
	perfctr_region_begin("left");
	loop(1000);
	perfctr_region_begin("right");
	loop(1000);
	perfctr_region_end("left");
	loop(1000);
	perfctr_region_end("right");
}

static void *work(void *unused)
{
	char name[] = "small";

	(void)unused;
	for (int i = 0; i < 10; i++) {
		perfctr_region_begin("outer");
		perfctr_region_begin(name);
		loop(1000);
		perfctr_region_end("small");
		perfctr_region_begin("large");
		loop(11000);
		perfctr_region_end("large");
		perfctr_region_end("outer");
		nest();
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[2];
	pid_t child;

	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, work, NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	perfctr_region_begin("parent");
	child = fork();
	if (child == 0) {
		perfctr_region_begin("child");
		perfctr_region_end("child");
		perfctr_region_end("parent");
		_exit(0);
	}
	waitpid(child, NULL, 0);
	perfctr_region_end("parent");
	return 0;
}
