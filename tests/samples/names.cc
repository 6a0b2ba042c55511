// SPDX-License-Identifier: GPL-2.0-or-later
// Functions of C++ whose names are told apart by their parameters alone, and one of a template.
#define APART __attribute__((noipa))

namespace walk {
APART int step(int n)
{
	return n * n + 1;
}

APART int step(const char *text)
{
	return text[0] + 1;
}

template <typename T> APART T twice(T n)
{
	return n + n;
}

struct counter {
	int n;
	APART int next() const
	{
		return n + step(n);
	}
};
} // namespace walk

// As compilers of D and of Rust name them.
extern "C" {
int of_d(int n) __asm__("_D3foo3barFiZi");
int of_rust(int n) __asm__("_RNvCs1234_7mycrate3foo");

APART int of_d(int n)
{
	return n + 3;
}

APART int of_rust(int n)
{
	return n + 5;
}
}

int main(int argc, char **argv)
{
	walk::counter counter = { argc };

	return walk::step(argv[0]) + walk::twice(argc) + counter.next() + of_d(argc) +
	       of_rust(argc);
}
