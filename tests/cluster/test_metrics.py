# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of perfex system --openmetrics, whose output the parsers of Prometheus' own client library read."""
import os
import pathlib
import subprocess
import time

import pytest
from prometheus_client import parser as prometheus
from prometheus_client.openmetrics import parser as openmetrics

LOOP = pathlib.Path(__file__).parents[2] / "build/tests/guest/loop"
# Counted by hand in tests/guest/asm/loop.S.
LOOP_INSTRUCTIONS = 2000004
LOOP_BRANCHES = 1000001
MARKED = ["--policy", "marked,not-privileged", "-e", "instructions", "-e", "branches@2"]


def command(path, *arguments):
    return ["perfex", "system", f"--openmetrics={path}", *map(str, arguments)]


def run(path, *arguments):
    return subprocess.run(command(path, *arguments), capture_output=True, text=True)


def samples(text):
    """Returns the samples by name and labels. Both parsers must agree, and find no time stamp: a collector refuses
    these.
    """
    families = {family.name: family for family in openmetrics.text_string_to_metric_families(text)}
    assert all(family.type == "counter" and family.documentation for family in families.values())
    found = {(s.name, tuple(sorted(s.labels.items()))): s.value for f in families.values() for s in f.samples}
    old = [s for f in prometheus.text_string_to_metric_families(text) for s in f.samples]
    assert {(s.name, tuple(sorted(s.labels.items()))): s.value for s in old} == found
    assert all(s.timestamp is None for s in old)
    return found


def events(found):
    return {dict(labels)["event"]: value for (name, labels), value in found.items() if name == "perfex_events_total"}


def test_counts_of_a_command(tmp_path):
    path = tmp_path / "perfex.prom"
    begun = time.monotonic()
    result = run(path, *MARKED, LOOP)
    elapsed = time.monotonic() - begun
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    found = samples(path.read_text())
    assert found[("perfex_events_total", (("counter", "0x0"), ("event", "instructions"), ("modes", "user")))] == \
        LOOP_INSTRUCTIONS
    assert events(found) == {"instructions": LOOP_INSTRUCTIONS, "branches@2": LOOP_BRANCHES}
    # Both are read from CLOCK_MONOTONIC, one inside the other: however busy the host is, this is so.
    assert 0 < found["perfex_elapsed_seconds_total", ()] <= elapsed
    assert found["perfex_tsc_ticks_total", ()] > 0
    assert [path.name for path in tmp_path.iterdir()] == ["perfex.prom"]


def test_cpus(tmp_path):
    path = tmp_path / "perfex.prom"
    assert run(path, *MARKED, "--per-cpu", LOOP).returncode == 0
    found = samples(path.read_text())
    cpus = {dict(labels)["cpu"] for name, labels in found if name == "perfex_events_total"}
    assert cpus == {"0", "1"}
    total = sum(v for (_, labels), v in found.items() if dict(labels).get("event") == "instructions")
    assert total == LOOP_INSTRUCTIONS


def test_events_of_one_name_are_several(tmp_path):
    path = tmp_path / "perfex.prom"
    assert run(path, "-e", "instructions", "-e", "instructions", LOOP).returncode == 0
    labels = [dict(labels) for name, labels in samples(path.read_text()) if name == "perfex_events_total"]
    assert sorted(label["event"] for label in labels) == ["instructions"] * 2
    assert len({label["counter"] for label in labels}) == 2


def test_an_event_of_the_operating_system_is_one(tmp_path):
    path = tmp_path / "perfex.prom"
    assert run(path, "--backend", "perf_events", "-e", "task-clock", "-e", "task-clock", LOOP).returncode == 0
    lines = [line for line in path.read_text().splitlines() if line.startswith("perfex_events_total{")]
    assert len(lines) == 1


@pytest.mark.clock
def test_the_file_is_whole_at_any_time_and_its_sums_grow(tmp_path):
    path = tmp_path / "perfex.prom"
    seen = []
    process = subprocess.Popen(command(path, "-I", 10, "--count", 100, "-e", "instructions"))
    while process.poll() is None:
        if path.exists():
            seen.append(samples(path.read_text()))
        time.sleep(0.01)
    assert process.returncode == 0
    counts = [events(found)["instructions"] for found in seen]
    assert counts == sorted(counts)
    assert len(set(counts)) > 5
    # The sum covers all intervals, from the first to the last.
    last = samples(path.read_text())
    assert last["perfex_elapsed_seconds_total", ()] >= 1


def test_what_cannot_be_written(tmp_path):
    mark = tmp_path / "mark"
    result = run(tmp_path / "none/perfex.prom", "touch", mark)
    assert result.returncode == 125
    assert result.stderr == f"perfex: cannot write '{tmp_path}/none/perfex.prom': No such file or directory\n"
    assert not mark.exists()
    directory = tmp_path / "gone"
    directory.mkdir()
    process = subprocess.Popen(command(directory / "perfex.prom", "-I", 100), stderr=subprocess.PIPE, text=True)
    while not (directory / "perfex.prom").exists():
        time.sleep(0.01)
    (directory / "perfex.prom").rename(tmp_path / "old")
    directory.rmdir()
    assert process.communicate(timeout=60)[1].startswith(f"perfex: cannot write '{directory}/perfex.prom': ")
    assert process.returncode == 125


def test_devices_stay(tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path, why in ((pipe, "File exists"), (link, "File exists"), (tmp_path, "Is a directory")):
        result = run(path, "true")
        assert result.returncode == 125
        assert result.stderr == f"perfex: cannot write '{path}': {why}\n"
    assert pipe.is_fifo() and link.is_symlink() and sorted(tmp_path.iterdir()) == [link, pipe]


@pytest.mark.parametrize("option", ["--csv", "--json", "-ofile"])
def test_lines_are_refused(tmp_path, option):
    result = run(tmp_path / "perfex.prom", option, "-e", "instructions", "true")
    assert result.returncode == 125
    assert result.stderr == "perfex: --openmetrics writes no lines: leave out --output, --append, --csv and --json\n"
    assert not list(tmp_path.iterdir())
