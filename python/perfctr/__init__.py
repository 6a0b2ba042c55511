# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts of a processor's events, exact and private, of this thread or of a program.

    with perfctr.count("instructions,cycles") as counter:
        work()
    print(counter.counts["instructions"])

    child = perfctr.spawn("instructions", ["gzip", "-k", "file"])
    child.wait()
    print(child.read())

Events are lists as "perfex -e" takes them; events that name no mode count in user mode. If events
cannot be counted, Error is raised, and its text says what to do.
"""
import contextlib
import os

from ._native import ERROR_SIZE, MAX_COUNTERS, SCOPE_SELF, SCOPE_TREE, VERSION, ffi, lib

__version__ = VERSION
__all__ = ["Child", "Counter", "Counts", "Error", "count", "region", "spawn"]


class Error(OSError):
    """The library's refusal, in one line; errno is as after the C function."""

    def __str__(self):
        return self.strerror


class Counts(tuple):
    """Counts of one moment: integers in the order of the events, also by their names.

    The difference of two Counts has the events between them. numpy.array(counts) is an array of the
    counts, and numpy.array of a list of Counts has a row for each.
    """

    def __new__(cls, values, names, tsc=0):
        self = super().__new__(cls, values)
        self.names = tuple(names)
        self.tsc = tsc
        return self

    def __getitem__(self, key):
        if isinstance(key, str):
            try:
                key = self.names.index(key)
            except ValueError:
                raise KeyError(key) from None
        return super().__getitem__(key)

    def __sub__(self, earlier):
        if self.names != earlier.names:
            raise ValueError("counts of different events have no difference")
        values = (late - early for late, early in zip(self, earlier))
        return Counts(values, self.names, self.tsc - earlier.tsc)

    def as_dict(self):
        return dict(zip(self.names, self))

    def __repr__(self):
        return f"Counts({', '.join(f'{n}={v}' for n, v in zip(self.names, self))}, tsc={self.tsc})"


def _raise(why):
    text = ffi.string(why).decode(errors="replace")
    raise Error(ffi.errno, text)


def _names(events):
    why = ffi.new("char[]", ERROR_SIZE)
    spec = ffi.new("char[][128]", MAX_COUNTERS)
    n = lib.perfctr_events_split(events.encode(), spec, MAX_COUNTERS, why, ERROR_SIZE)
    if n < 0:
        _raise(why)
    return [ffi.string(one).decode(errors="replace") for one in spec[0:min(n, MAX_COUNTERS)]]


class _Counting:
    """A handle of the library; the handle ends with this object."""

    _scope = SCOPE_TREE

    def __init__(self, events, open_handle):
        self.names = tuple(_names(events))
        why = ffi.new("char[]", ERROR_SIZE)
        handle = open_handle(events.encode(), why)
        if not handle:
            _raise(why)
        self._handle = ffi.gc(handle, lib.perfctr_close)
        self._sums = ffi.new("struct perfctr_counts *")

    def _take(self):
        if self._handle is None:
            raise ValueError("it is closed")
        if lib.perfctr_read_scope(self._handle, self._scope, self._sums) < 0:
            raise Error(ffi.errno, f"the counts cannot be read: {os.strerror(ffi.errno)}")
        return self._sums

    def read(self):
        """The counts until now."""
        sums = self._take()
        return Counts(sums.counter[0:sums.n_counters], self.names, sums.tsc)

    def read_into(self, buffer):
        """Write the counts until now into a buffer of 64-bit integers, such as a row of a numpy array.

        The buffer is writable and has one integer for each event. Nothing else is written."""
        target = ffi.from_buffer("uint64_t[]", buffer, require_writable=True)
        if len(target) != len(self.names):
            raise ValueError(f"{len(self.names)} counts do not fit in a buffer of {len(target)}")
        ffi.memmove(target, self._take().counter, 8 * len(target))

    @property
    def backend(self):
        """The backend that counts: patch, module, bpf or perf_events."""
        return ffi.string(lib.perfctr_backend_name(self._handle)).decode()

    def close(self):
        """End the counting; a second call does nothing."""
        if self._handle is not None:
            ffi.release(self._handle)
            self._handle = None


class Counter(_Counting):
    """Counts the thread that makes it. After "with", `counts` has the counts of the block."""

    _scope = SCOPE_SELF

    def __init__(self, events):
        super().__init__(events, lambda text, why: lib.perfctr_count(text, why, ERROR_SIZE))
        self._begin = None
        self.counts = None

    def __enter__(self):
        self._begin = self.read()
        return self

    def __exit__(self, *_):
        self.counts = self.read() - self._begin
        self.close()


class Child(_Counting):
    """Counts a program from its first instruction on, with all that it creates."""

    def __init__(self, events, argv):
        self.pid = 0
        self._status = None
        words = [ffi.new("char[]", os.fsencode(word)) for word in argv]
        if not words:
            raise ValueError("no command was given")
        pid = ffi.new("pid_t *")
        vector = ffi.new("char *[]", words + [ffi.NULL])
        super().__init__(
            events, lambda text, why: lib.perfctr_spawn(text, vector, pid, why, ERROR_SIZE))
        self.pid = pid[0]

    def wait(self):
        """The exit status of the program, or minus the signal that killed it; again the same."""
        if self.pid:
            self._status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            self.pid = 0
        return self._status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.pid:
            self.wait()
        self.close()


@contextlib.contextmanager
def region(name):
    """A pass through the region of this name, which perfex --regions, or PERFCTR_REGIONS, counts."""
    text = name.encode()
    lib.perfctr_region_begin(text)
    try:
        yield
    finally:
        lib.perfctr_region_end(text)


def count(events="instructions,cycles"):
    """Count events in the calling thread; see Counter."""
    return Counter(events)


def spawn(events, argv):
    """Start a program and count events in it; see Child."""
    return Child(events, argv)
