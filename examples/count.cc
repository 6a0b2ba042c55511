// SPDX-License-Identifier: GPL-2.0-or-later
/* The same as count.c, in C++: a loop, or a command, counted by names of events. */
#include <iostream>
#include <perfctr.hpp>

static void print(const libperfctr::counts &counts)
{
	std::cout << "instructions " << counts["instructions"] << "\nbranches "
		  << counts["branches"] << "\n";
}

static void count_loop()
{
	libperfctr::counter self("instructions,branches");
	unsigned long n = 1000000;
	auto before = self.read();

	/* Two instructions and a branch for each n. */
	__asm__ volatile("1: dec %0; jnz 1b" : "+r"(n) : : "cc");
	print(self.read() - before);
}

int main(int argc, char **argv)
{
	try {
		if (argc > 1) {
			libperfctr::child child("instructions,branches", { argv + 1, argv + argc });

			child.wait();
			print(child.read());
		} else {
			count_loop();
		}
	} catch (const libperfctr::error &e) {
		std::cerr << "count: " << e.what() << "\n";
		return 1;
	}
	return 0;
}
