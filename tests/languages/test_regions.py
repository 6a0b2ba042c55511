# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests in the machine of named regions, whose events are chosen from outside. loop.c states the instructions."""
import json
import os
import pathlib
import subprocess

import pytest

BUILD = pathlib.Path(__file__).parents[2] / "build/tests/languages"
EVENTS = "instructions:u,branches:u"
PROGRAMS = {
    "c": [BUILD / "regions-c"],
    "c++": [BUILD / "regions-cxx"],
    "fortran": [BUILD / "regions-f90"],
    "python": ["/usr/bin/python3", pathlib.Path(__file__).with_name("regions.py"), BUILD / "libloop.so"],
}
# Instructions that the calls of begin and end add to the calibrated ones: arguments, calls, and the way into the
# library.
CALLS = {"c": 12, "c++": 12}


def run(command, **environment):
    return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)


def alone(path, command, events=EVENTS):
    return run(command, PERFCTR_REGIONS=str(path), PERFCTR_REGIONS_EVENTS=events)


def below_perfex(path, command, events=EVENTS):
    return run(["perfex", f"--regions={path}", "-e", events, "-o", "/dev/null", *command])


def regions_of(thread):
    return {region["name"]: region for region in thread["regions"]}


def difference(regions, i, which):
    return regions["large"]["counts"][i][which] - regions["small"]["counts"][i][which]


@pytest.mark.parametrize("language", PROGRAMS)
@pytest.mark.parametrize("way", [alone, below_perfex])
def test_counts_are_exact(way, language, tmp_path):
    path = tmp_path / "regions.json"
    result = way(path, PROGRAMS[language])
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    document = json.loads(path.read_text())
    assert [event["name"] for event in document["events"]] == EVENTS.split(",")
    threads = [regions_of(t) for t in document["threads"]]
    threads = [t for t in threads if t["small"]["passes"]]
    assert len(threads) == (2 if language == "c" else 1)
    for regions in threads:
        for name in ("small", "large"):
            assert [regions[name][key] for key in ("entries", "exits", "passes")] == [10] * 3
        assert difference(regions, 0, "min") == 20000
        assert difference(regions, 1, "min") == 10000
        if language in CALLS:
            # An end that must be read again adds at most 100 instructions.
            most = {name: 100 * regions[name]["retried"] for name in ("small", "large")}
            assert -most["small"] <= difference(regions, 0, "total") - 200000 <= most["large"]
            small = regions["small"]["counts"][0]
            assert 2002 <= small["min"] <= small["max"] <= 2002 + CALLS[language] + most["small"]
    if language == "c++":
        assert threads[0]["thrown"]["passes"] == threads[0]["thrown"]["exits"] == 10
    if language == "c":
        for regions in threads:
            # The outer region counts the calls of the two inner regions, but nothing that begin and end do for these.
            inner = regions["small"]["counts"][0]["min"] + regions["large"]["counts"][0]["min"]
            assert 0 <= regions["outer"]["counts"][0]["min"] - inner <= 3 * CALLS["c"]


# A turn of a loop around calls has 6 instructions with two calls, and 4 with one; the library may count less of calls.
@pytest.mark.parametrize("way", [alone, below_perfex])
def test_calls_cost_the_regions_around_them_little(way, tmp_path):
    path = tmp_path / "regions.json"
    way(path, PROGRAMS["c"])
    for regions in [regions_of(t) for t in json.loads(path.read_text())["threads"]]:
        if not regions["outer"]["passes"]:
            continue
        names = ("small", "around many", "around ends", "left", "right")
        least = {name: regions[name]["counts"][0]["min"] for name in names}
        assert 0 < least["around many"] <= 300 * 6 + CALLS["c"]
        assert 0 < least["around ends"] <= 300 * 4 + CALLS["c"]
        assert abs(least["left"] - 2 * least["small"]) <= CALLS["c"]
        assert abs(least["right"] - 2 * least["small"]) <= CALLS["c"]


# Times differ from call to call, and no difference between them may be taken for a count of nearly 2^64.
@pytest.mark.parametrize("events", ["task-clock", "instructions,task-clock", "cycles"])
def test_times_are_times(events, tmp_path):
    path = tmp_path / "regions.json"
    alone(path, PROGRAMS["c"], events)
    for regions in [regions_of(t) for t in json.loads(path.read_text())["threads"]]:
        for region in regions.values():
            assert all(count["total"] < 2**40 for count in [region["tsc"], *region["counts"]]), region


@pytest.mark.parametrize("way", [alone, below_perfex])
def test_inner_regions_cost_the_outer_one_the_same_with_any_number_of_events(way, tmp_path):
    counts = set()
    for events in ("instructions:u", "instructions:u,branches:u", "instructions:u,branches:u,instructions:k"):
        path = tmp_path / "regions.json"
        way(path, PROGRAMS["c"], events)
        threads = [regions_of(t) for t in json.loads(path.read_text())["threads"]]
        counts |= {t["outer"]["counts"][0]["min"] for t in threads if t["outer"]["passes"]}
    assert len(counts) == 1, counts


@pytest.mark.parametrize("way", [alone, below_perfex])
def test_child_does_not_count(way, tmp_path):
    path = tmp_path / "regions.json"
    way(path, PROGRAMS["c"])
    threads = [regions_of(t) for t in json.loads(path.read_text())["threads"]]
    assert "child" not in threads[0]
    assert sum(t["parent"]["passes"] for t in threads) == 1
    assert sorted(t["stray"]["exits"] for t in threads) == [0, 3000, 3000]


def test_usual_events_below_perfex(tmp_path):
    path = tmp_path / "regions.json"
    result = run(["perfex", f"--regions={path}", "-o", "/dev/null", *PROGRAMS["c++"]])
    assert (result.returncode, result.stderr) == (0, "")
    document = json.loads(path.read_text())
    assert [e["name"] for e in document["events"]] == ["instructions", "cycles", "branches", "branch-misses"]
    assert difference(regions_of(document["threads"][0]), 0, "min") == 20000


def test_each_process_has_its_file(tmp_path):
    command = " & ".join([str(PROGRAMS["c++"][0])] * 3) + " & wait"
    result = below_perfex(tmp_path / "%p.json", ["sh", "-c", command])
    assert (result.returncode, result.stderr) == (0, "")
    documents = [json.loads(path.read_text()) for path in tmp_path.iterdir()]
    assert len(documents) == 3
    assert {path.stem for path in tmp_path.iterdir()} == {str(d["threads"][0]["thread"]) for d in documents}


# As a pool of processes does it: the parent passes its first region after the fork.
FORKS = """
import os
import perfctr
child = os.fork()
with perfctr.region("parent" if child else "child"):
    pass
if child:
    os.waitpid(child, 0)
"""


def test_children_that_are_forked_before_the_first_region_count(tmp_path):
    result = alone(tmp_path / "%p.json", ["/usr/bin/python3", "-c", FORKS])
    assert (result.returncode, result.stderr) == (0, "")
    documents = [json.loads(path.read_text()) for path in tmp_path.iterdir()]
    assert sorted(name for d in documents for name in regions_of(d["threads"][0])) == ["child", "parent"]


# The time limit stops the counters before the signal comes.
STOPPED = """
import ctypes, signal, sys, time
import perfctr
signals = []
signal.signal(signal.SIGTERM, lambda *arguments: signals.append(arguments))
loop = ctypes.CDLL(sys.argv[1]).loop
with perfctr.region("outer"):
    loop(1000000)
    while not signals:
        time.sleep(0.01)
    for _ in range(5000):
        with perfctr.region("late"):
            loop(1000)
"""


def test_passes_after_the_time_limit_count_and_cost_nothing(tmp_path):
    path = tmp_path / "regions.json"
    command = ["/usr/bin/python3", "-c", STOPPED, BUILD / "libloop.so"]
    result = run(["perfex", f"--regions={path}", "--timeout=8000", "-e", EVENTS, "-o", "/dev/null", *command])
    assert (result.returncode, result.stderr) == (0, "")
    regions = regions_of(json.loads(path.read_text())["threads"][0])
    assert [regions["late"][key] for key in ("passes", "corrected")] == [5000, False]
    assert [count["total"] for count in regions["late"]["counts"]] == [0, 0]
    assert regions["outer"]["corrected"] is False
    assert regions["outer"]["counts"][0]["total"] >= 2000002


def test_stat_of_shows_them(tmp_path):
    path = tmp_path / "regions.json"
    below_perfex(path, PROGRAMS["fortran"])
    assert "\nlarge: " in run(["perfex", "stat-of", path]).stdout


def why(path):
    shown = run(["perfex", "stat-of", path])
    assert shown.returncode == 125 and shown.stdout == ""
    return shown.stderr


def test_events_that_are_not_there(tmp_path):
    path = tmp_path / "regions.json"
    assert alone(path, PROGRAMS["c"], "instrutions").returncode == 0
    assert why(path).startswith(f"perfex: '{path}': the program could not count: event 'instrutions': ")


# The first thread counts. The second one has no context, since it gets no descriptor.
LATE = """
import resource, sys, threading
import perfctr
def work():
    with perfctr.region("late"):
        pass
with perfctr.region("early"):
    pass
resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))
for i in range(2):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
with perfctr.region("early"):
    pass
"""


def test_a_thread_that_cannot_count(tmp_path):
    path = tmp_path / "regions.json"
    result = alone(path, ["/usr/bin/python3", "-c", LATE])
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    document = json.loads(path.read_text())
    assert [regions_of(t)["early"]["passes"] for t in document["threads"]] == [2]
    shown = run(["perfex", "stat-of", path])
    assert (shown.returncode, shown.stderr) == (
        0, f"perfex: '{path}': a thread is missing, because it could not count: {document['error']}\n")
    assert shown.stdout.startswith("early: 1 thread, 2 entries, ")


# Fewer events, as many others, and the same in another mode.
@pytest.mark.parametrize("events", ["instructions", "instructions:u,cycles:u", "instructions:u,branches:k"])
def test_other_events_than_those_of_perfex(events, tmp_path):
    path = tmp_path / "regions.json"
    result = run(["perfex", "-e", events, "-o", "/dev/null", *PROGRAMS["c++"]],
                 PERFCTR_REGIONS=str(path), PERFCTR_REGIONS_EVENTS=EVENTS)
    assert result.returncode == 0
    assert why(path) == (
        f"perfex: '{path}': the program could not count: the thread is being counted already, by other events; "
        "let the program that counts it count these, or run without that\n")


def test_nothing_is_written_unasked(tmp_path):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PERFCTR_REGIONS")}
    assert subprocess.run(PROGRAMS["c"], env=environment, cwd=tmp_path, capture_output=True).returncode == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options, text", [
    (["-r", "2"], "--regions is for one run: leave out --repeat, --warmup and --passes"),
    (["--both"], "--regions: say the mode of each event instead, as in instructions:k"),
    (["-e", "task-clock"], "--regions: no event is counted that a thread can read in its regions; "
     "give one, as in -e instructions"),
])
def test_perfex_refuses(options, text, tmp_path):
    result = run(["perfex", f"--regions={tmp_path / 'file'}", *options, "true"])
    assert (result.returncode, result.stderr) == (125, f"perfex: {text}\n")


NOT_WRITTEN = ("perfex: '{}' was not written: the command has no regions of names (perfctr_region_begin), "
               "or did not end by exit()\n")
DIES = "import os, perfctr\nwith perfctr.region('last'):\n    os._exit(0)"


@pytest.mark.parametrize("name", ["file", "50%"])
@pytest.mark.parametrize("command", [["true"], ["/usr/bin/python3", "-c", DIES]])
@pytest.mark.parametrize("old", [None, "", "yesterday's"])
def test_what_is_not_written_is_told(name, command, old, tmp_path):
    path = tmp_path / name
    if old is not None:
        path.write_text(old)
    result = below_perfex(path, command)
    assert (result.returncode, result.stderr) == (0, NOT_WRITTEN.format(path))


def test_a_file_is_written_again(tmp_path):
    path = tmp_path / "regions.json"
    for _ in range(2):
        assert below_perfex(path, PROGRAMS["c++"]).stderr == ""


@pytest.mark.parametrize("name", ["/dev/stdout", "%p.json"])
def test_where_nothing_can_be_told(name, tmp_path):
    result = run(["sh", "-c", f"cd {tmp_path} && exec perfex --regions={name} -e {EVENTS} -o /dev/null true | cat"])
    assert (result.returncode, result.stderr) == (0, "")
