// SPDX-License-Identifier: GPL-2.0-or-later
/* Regions of blocks in C++, one of which an exception leaves. */
#include <perfctr.hpp>
#include <stdexcept>

extern "C" void loop(unsigned int n);

static void leave()
{
	libperfctr::region thrown("thrown");

	loop(1000);
	throw std::runtime_error("out of the region");
}

int main()
{
	for (int i = 0; i < 10; i++) {
		{
			libperfctr::region small("small");

			loop(1000);
		}
		{
			libperfctr::region large("large");

			loop(11000);
		}
		try {
			leave();
		} catch (const std::runtime_error &) {
		}
	}
	return 0;
}
