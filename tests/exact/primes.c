// SPDX-License-Identifier: GPL-2.0-or-later
/* Prints how many primes are below a million. */
#include <stdio.h>

enum { LIMIT = 1000000 };

static char has_divisor[LIMIT];

int main(void)
{
	int n = 0;

	for (int i = 2; i < LIMIT; i++) {
		n += !has_divisor[i];
		for (int k = 2 * i; k < LIMIT; k += i)
			has_divisor[k] = 1;
	}
	printf("%d primes\n", n);
	return 0;
}
