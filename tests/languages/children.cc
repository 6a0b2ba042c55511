// SPDX-License-Identifier: GPL-2.0-or-later
/* Children in C++: each is waited for once, and no other is. */
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
	return !!failures;
}
