// SPDX-License-Identifier: GPL-2.0-or-later
/* Children in C++: each is waited for once, and no other is; and lists that are too long. */
#include <cstdio>
#include <perfctr.hpp>

#define EVENT "page-faults"

static int failures;

static void expect(bool holds, const char *what)
{
	if (holds)
		return;
	std::fprintf(stderr, "failed: %s\n", what);
	failures++;
}

static void refuses_to_wait(libperfctr::child &child, const char *what)
{
	try {
		child.wait();
		expect(false, what);
	} catch (const libperfctr::error &error) {
		expect(error.code().value() == ECHILD, what);
	}
}

/* Names of so many events would reach beyond the stack. */
static void refuses_a_long_list()
{
	const unsigned int n = 100000;
	std::string list(EVENT);

	for (unsigned int i = 1; i < n; i++)
		list += "," EVENT;
	try {
		libperfctr::counter counter(list);
		expect(false, "a long list is refused");
	} catch (const libperfctr::error &error) {
		expect(error.what() == std::string("100000 events; at most 32 can be counted"),
		       error.what());
	}
}

int main()
{
	pid_t other = fork();
	int status;

	if (other == 0)
		_exit(5);
	libperfctr::child child(EVENT, { "sh", "-c", "exit 7" });
	expect(WEXITSTATUS(child.wait()) == 7, "the status of a child");
	refuses_to_wait(child, "a child is waited for twice");

	libperfctr::child first(EVENT, { "true" });
	libperfctr::child second(std::move(first));
	refuses_to_wait(first, "a child that was moved is waited for");
	expect(second.wait() == 0, "the status of a child that was moved");
	expect(waitpid(other, &status, 0) == other && WEXITSTATUS(status) == 5,
	       "another child is left");
	refuses_a_long_list();
	return !!failures;
}
