/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libperfctr for C++11: an object counts from its definition to the end of its block.
 *
 *	libperfctr::counter self("instructions,cycles");
 *
 *	work();
 *	std::cout << self.read()["instructions"];
 *
 * A failure throws libperfctr::error: what() is the line of the C function, and code() its errno.
 * Events are lists, as for perfctr_count().
 */
#ifndef PERFCTR_HPP
#define PERFCTR_HPP

#include <perfctr.h>
#include <perfctr_count.h>
#include <perfctr_events.h>
#include <perfctr_regions.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <system_error>
#include <vector>

namespace libperfctr
{

class error : public std::system_error
{
      public:
	error(int number, const std::string &text)
	    : std::system_error(number, std::generic_category(), text), text_(text)
	{
	}
	const char *what() const noexcept override
	{
		return text_.c_str();
	}

      private:
	std::string text_;
};

/* Counts of one moment, by number or by name.  Subtract two of them for the counts in between. */
class counts
{
      public:
	std::uint64_t tsc;		   /* ticks */
	std::vector<std::string> names;	   /* of the events, as they were asked for */
	std::vector<std::uint64_t> values; /* in occurrences */

	std::uint64_t operator[](std::size_t i) const
	{
		return values.at(i);
	}
	std::uint64_t operator[](const std::string &name) const
	{
		auto found = std::find(names.begin(), names.end(), name);

		if (found == names.end())
			throw error(EINVAL, "event '" + name + "' is not counted here");
		return values[static_cast<std::size_t>(found - names.begin())];
	}
	counts operator-(const counts &earlier) const
	{
		counts result(*this);

		result.tsc -= earlier.tsc;
		for (std::size_t i = 0; i < values.size(); i++)
			result.values[i] -= earlier.values.at(i);
		return result;
	}
};

namespace detail
{

struct closer {
	void operator()(perfctr *p) const noexcept
	{
		perfctr_close(p);
	}
};

inline std::vector<std::string> names_in(const std::string &events)
{
	char spec[PERFCTR_MAX_COUNTERS][PERFCTR_REQUEST_NAME], why[PERFCTR_COUNT_ERROR];
	int n = perfctr_events_split(events.c_str(), spec, PERFCTR_MAX_COUNTERS, why, sizeof(why));

	if (n < 0)
		throw error(errno, why);
	/* perfctr_count() and perfctr_spawn() refuse a longer list. */
	return std::vector<std::string>(spec, spec + std::min(n, PERFCTR_MAX_COUNTERS));
}

} // namespace detail

/* The common part of perfctr_count() and perfctr_spawn().  It can be moved, but not copied. */
class counting
{
      public:
	/* All sums, by a system call: perfctr_read_scope(). */
	counts read(unsigned int scope = PERFCTR_SCOPE_TREE) const
	{
		perfctr_counts now;

		if (perfctr_read_scope(handle_.get(), scope, &now) < 0)
			throw error(errno, "the counts cannot be read");
		return counts{ now.tsc, names_,
			       std::vector<std::uint64_t>(now.counter,
							  now.counter + now.n_counters) };
	}
	/* For the functions of perfctr.h.  This object keeps the handle. */
	perfctr *handle() const noexcept
	{
		return handle_.get();
	}

      protected:
	explicit counting(const std::string &events) : names_(detail::names_in(events))
	{
	}
	void take_handle(perfctr *p, const char *why)
	{
		if (!p)
			throw error(errno, why);
		handle_.reset(p);
	}

      private:
	std::vector<std::string> names_;
	std::unique_ptr<perfctr, detail::closer> handle_;
};

/* Counts the calling thread, from now on. */
class counter : public counting
{
      public:
	explicit counter(const std::string &events) : counting(events)
	{
		char why[PERFCTR_COUNT_ERROR];

		take_handle(perfctr_count(events.c_str(), why, sizeof(why)), why);
	}
	counts read() const
	{
		return counting::read(PERFCTR_SCOPE_SELF);
	}
};

/*
 * Counts a program, from its first instruction on, with all threads and processes that it creates.
 * The destructor waits for the program's end.
 */
class child : public counting
{
      public:
	child(const std::string &events, const std::vector<std::string> &command) : counting(events)
	{
		char why[PERFCTR_COUNT_ERROR];
		std::vector<char *> argv;

		if (command.empty())
			throw error(EINVAL, "no command was given");
		for (const std::string &word : command)
			argv.push_back(const_cast<char *>(word.c_str()));
		argv.push_back(nullptr);
		take_handle(perfctr_spawn(events.c_str(), argv.data(), &pid_, why, sizeof(why)),
			    why);
	}
	child(child &&other) noexcept : counting(std::move(other)), pid_(other.pid_)
	{
		other.pid_ = 0;
	}
	child(const child &) = delete;
	child &operator=(const child &) = delete;
	~child()
	{
		int status;

		while (pid_ > 0 && waitpid(pid_, &status, 0) < 0 && errno == EINTR)
			;
	}
	pid_t pid() const noexcept
	{
		return pid_;
	}
	/* Returns the status, as wait(2) does, once.  After that, or after a move: error ECHILD. */
	int wait()
	{
		int status;

		if (pid_ == 0)
			throw error(ECHILD, "the child has been waited for, or was moved");
		while (waitpid(pid_, &status, 0) < 0)
			if (errno != EINTR)
				throw error(errno, "the child cannot be waited for");
		pid_ = 0;
		return status;
	}

      private:
	pid_t pid_ = 0;
};

/* A pass through the region of this name, to the end of the block: perfctr_region_begin(). */
class region
{
public:
	/* The name must exist until the end of the block, as a string literal does. */
	explicit region(const char *name) noexcept : name_(name)
	{
		perfctr_region_begin(name);
	}
	~region()
	{
		perfctr_region_end(name_);
	}
	region(const region &) = delete;
	region &operator=(const region &) = delete;

private:
	const char *name_;
};

} // namespace libperfctr
#endif
