# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the Python package where a PMU counts. Exact counts of programs in tests/guest/asm are known by hand."""
import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading

import numpy
import perfctr
import pytest

BUILD = pathlib.Path(__file__).parents[2] / "build/tests"
PROGRAMS = BUILD / "guest"
LOOP = (2000004, 1000001)
EVENTS = "instructions,branches"


def test_child_is_counted_from_its_first_instruction():
    with perfctr.spawn(EVENTS, [PROGRAMS / "loop"]) as child:
        assert child.wait() == 0
        assert child.read() == LOOP
        assert child.backend == "patch"


def test_children_do_not_mix():
    children = [perfctr.spawn(EVENTS, [PROGRAMS / "loop"]) for _ in range(4)]
    assert [child.wait() for child in children] == [0] * 4
    assert [child.read() for child in children] == [LOOP] * 4


def test_all_that_a_child_creates_is_counted():
    # The shell's own instructions are counted, too. The counts of its programs are exact, so the difference is known.
    one, three = (perfctr.spawn(EVENTS, ["sh", "-c", f"{';'.join([str(PROGRAMS / 'loop')] * n)}; :"])
                  for n in (1, 3))
    assert one.wait() == three.wait() == 0
    difference = three.read()[0] - one.read()[0]
    assert 2 * LOOP[0] <= difference < 2 * LOOP[0] + 400000


def test_status_of_a_child():
    assert perfctr.spawn(EVENTS, ["sh", "-c", "exit 7"]).wait() == 7
    assert perfctr.spawn(EVENTS, ["sh", "-c", "kill -TERM $$"]).wait() == -signal.SIGTERM


def test_child_is_waited_for_once():
    other = os.fork()
    if other == 0:
        os._exit(5)
    child = perfctr.spawn(EVENTS, ["sh", "-c", "exit 7"])
    assert child.wait() == child.wait() == 7
    assert os.waitstatus_to_exitcode(os.waitpid(other, 0)[1]) == 5


def test_wait_that_fails_leaves_the_child(monkeypatch):
    child = perfctr.spawn(EVENTS, ["sh", "-c", "exit 7"])
    with monkeypatch.context() as patch, pytest.raises(InterruptedError):
        patch.setattr(os, "waitpid", interrupt)
        child.wait()
    assert child.wait() == 7


def interrupt(*_):
    raise InterruptedError


def test_program_that_is_not_there():
    with pytest.raises(perfctr.Error, match="cannot execute '/nonexistent': No such file or directory"):
        perfctr.spawn(EVENTS, ["/nonexistent"])
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_set_user_id_program_runs_without_its_privileges():
    def output(*command):
        return subprocess.run(command, user=65534, group=65534, extra_groups=[], env={"LD_LIBRARY_PATH": place},
                              stdout=subprocess.PIPE, text=True, check=True).stdout

    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o755)
        for path in (BUILD / "languages/count-c", "/usr/bin/id", *(BUILD / "languages/prefix/lib").glob("*.so.*")):
            shutil.copy(path, place)
        os.chmod(f"{place}/id", 0o4755)
        assert output(f"{place}/id", "-u") == "0\n"
        assert output(f"{place}/count-c", f"{place}/id", "-u").startswith("65534\ninstructions ")


def test_child_of_one_thread_among_others():
    idle = threading.Event()
    other = threading.Thread(target=idle.wait)
    other.start()
    results = []
    one = threading.Thread(target=lambda: results.append(perfctr.spawn(EVENTS, [PROGRAMS / "loop"])))
    one.start()
    one.join()
    assert results[0].wait() == 0
    assert results[0].read() == LOOP
    idle.set()
    other.join()


def test_block_counts_what_is_in_it(perfctr_count):
    def work(n):
        with perfctr.count(EVENTS) as counter:
            for _ in range(n):
                pass
        return counter.counts["instructions"]

    work(1000)
    few, many = work(1000), work(11000)
    # Python executes at least one instruction for each turn, and less than a thousand.
    assert 10000 < many - few < 10000 * 1000


def test_two_counters_of_one_thread_are_refused():
    with perfctr.count(EVENTS):
        with pytest.raises(perfctr.Error, match="the thread is being counted already"):
            perfctr.count(EVENTS)
    perfctr.count(EVENTS).close()


def test_event_that_is_not_there():
    with pytest.raises(perfctr.Error, match="event 'instrutions': .*instructions"):
        perfctr.count("instrutions")


def test_kernel_mode_is_refused_to_a_user():
    pid = os.fork()
    if pid == 0:
        os.setuid(65534)
        try:
            perfctr.count("instructions:k")
        except perfctr.Error as error:
            os._exit(0 if "CAP_PERFMON" in str(error) else 1)
        os._exit(2)
    assert os.waitpid(pid, 0)[1] == 0


def test_rows_of_numpy():
    rows = numpy.zeros((5, 2), dtype=numpy.uint64)
    with perfctr.count(EVENTS) as counter:
        for row in rows:
            counter.read_into(row)
        after = counter.read()
    assert (numpy.diff(rows.astype(numpy.int64), axis=0) > 0).all()
    assert (rows[-1] < numpy.array(after)).all()
    with pytest.raises(ValueError):
        counter.read_into(rows[0])
    with perfctr.count("instructions") as counter, pytest.raises(ValueError, match="buffer of 2"):
        counter.read_into(rows[0])


def test_inline_functions_are_for_all_languages():
    library = ctypes.CDLL("libperfctr.so.0.2")
    library.perfctr_count.restype = library.perfctr_get_page.restype = ctypes.c_void_p
    library.perfctr_read_counter.restype = library.perfctr_read_pmc.restype = ctypes.c_uint64
    library.perfctr_get_page.argtypes = library.perfctr_close.argtypes = [ctypes.c_void_p]
    library.perfctr_read_pmc.argtypes = library.perfctr_read_counter.argtypes = [ctypes.c_void_p, ctypes.c_uint]
    handle = library.perfctr_count(EVENTS.encode(), None, ctypes.c_size_t(0))
    page = library.perfctr_get_page(handle)
    reads = [read(*arguments) for read, *arguments in (
        (library.perfctr_read_counter, handle, 0), (library.perfctr_read_pmc, page, 0),
        (library.perfctr_read_counter, handle, 0), (library.perfctr_read_pmc, page, 0))]
    assert reads == sorted(set(reads))
    library.perfctr_close(handle)


def test_fixture(perfctr_count):
    with perfctr_count(EVENTS) as counter:
        pass
    assert counter.counts["instructions"] > counter.counts["branches"] > 0
