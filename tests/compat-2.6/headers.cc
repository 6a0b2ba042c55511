// SPDX-License-Identifier: GPL-2.0-or-later
/* The header as C++ programs of the time take it, one of which says extern "C" itself. */
extern "C" {
#include <libperfctr.h>
}

/* As in C++98: a struct that has the name of a function is named with struct. */
struct vperfctr_control control;
perfctr_sum_ctrs sum;

int main()
{
	struct perfctr_info info;

	return perfctr_get_info(&info) == 0 && perfctr_info_cpu_name(&info) ? 0 : 1;
}
