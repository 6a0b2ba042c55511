// SPDX-License-Identifier: GPL-2.0-or-later
/* An MPI program. The higher a rank, the more work it does. The first rank does some work alone. */
#include <mpi.h>
#include <perfctr_regions.h>

void loop(unsigned int n); /* 2 * n + 2 instructions */

int main(int argc, char **argv)
{
	int rank;

	if (MPI_Init(&argc, &argv) != MPI_SUCCESS || MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS)
		return 1;
	for (int i = 0; i < 5; i++) {
		perfctr_region_begin("work");
		loop(10000 * (unsigned int)(rank + 1));
		perfctr_region_end("work");
	}
	if (rank == 0) {
		perfctr_region_begin("alone");
		loop(500000);
		perfctr_region_end("alone");
	}
	if (MPI_Barrier(MPI_COMM_WORLD) != MPI_SUCCESS || MPI_Finalize() != MPI_SUCCESS)
		return 1;
	return 0;
}
