# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of perfex in four ranks below mpirun, each with its own files, and of perfex merge on these files."""
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import time

import pytest

TOP = pathlib.Path(__file__).parents[2]
LOOP = TOP / "build/tests/guest/loop"
RANKS = TOP / "build/tests/cluster/ranks"
# Counted by hand in tests/guest/asm/loop.S.
LOOP_INSTRUCTIONS = 2000004
N = 4


def run(directory, *command, **environment):
    return subprocess.run([str(word) for word in command], cwd=directory, env={**os.environ, **environment},
                          capture_output=True, text=True)


def mpirun(directory, *command):
    return run(directory, "mpirun.mpich", "-np", N, *command)


def merged(directory, pattern):
    paths = sorted(path.name for path in directory.glob(pattern))
    assert len(paths) == N
    result = run(directory, "perfex", "merge", "--json", *paths)
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(result.stdout), paths


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    directory = tmp_path_factory.mktemp("program")
    result = mpirun(directory, "perfex", "-j", "-o", "all.%r.json", "--regions=regions.%r.json", "-e",
                    "instructions:u,branches:u", "--derive", "share = branches:u / instructions:u", RANKS)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    return directory


def test_each_rank_has_its_file(tmp_path):
    result = mpirun(tmp_path, "perfex", "-j", "-o", "loop.%r.%h.%p.json", "-e", "instructions:u", LOOP)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    numbers = set()
    for path in tmp_path.iterdir():
        document = json.loads(path.read_text())
        name = re.fullmatch(r"loop\.(\d)\.(.*)\.(\d+)\.json", path.name)
        assert int(name[1]) == document["rank"]
        assert name[2] == document["host"] == os.uname().nodename
        assert document["events"][0]["counts"] == [LOOP_INSTRUCTIONS]
        numbers.add(name[3])
    assert len(numbers) == N
    result = run(tmp_path, "perfex", "merge", "--csv", *tmp_path.iterdir())
    row = {row["event"]: row for row in csv.DictReader(io.StringIO(result.stdout))}["instructions:u"]
    assert [row[key] for key in ("modes", "files", "sum", "min", "max", "mean", "imbalance_percent")] == [
        "user", "4", str(N * LOOP_INSTRUCTIONS), *[str(LOOP_INSTRUCTIONS)] * 3, "0"]


def check_row(row, values):
    assert row["values"] == values
    assert row["sum"] in (None, sum(values))
    assert (row["min"], row["max"]) == (min(values), max(values))
    assert (values[row["min_file"]], values[row["max_file"]]) == (min(values), max(values))
    mean = sum(values) / len(values)
    assert row["mean"] == pytest.approx(mean, rel=1e-12)
    assert row["imbalance"] == pytest.approx(100 * (max(values) / mean - 1), rel=1e-9, abs=1e-9)


def test_sums_are_those_of_the_files(program):
    result, paths = merged(program, "all.*.json")
    documents = [json.loads((program / path).read_text()) for path in paths]
    assert [file["rank"] for file in result["files"]] == list(range(N))
    rows = {row["name"]: row for row in result["rows"]}
    assert list(rows) == ["tsc", "elapsed_ns", "instructions:u", "branches:u", "share"]
    for name in ("tsc", "elapsed_ns"):
        check_row(rows[name], [d["time"][0][name]["counts"][0] for d in documents])
    for i, name in enumerate(("instructions:u", "branches:u")):
        check_row(rows[name], [d["events"][i]["counts"][0] for d in documents])
    check_row(rows["share"], [d["derived"][0]["mean"] for d in documents])
    assert rows["share"]["sum"] is None


def retried(program, rank, name):
    """Returns how often a rank was switched away at the end of a pass. Tests allow 200 more instructions for each."""
    document = json.loads((program / f"regions.{rank}.json").read_text())
    return sum(region["retried"] for thread in document["threads"] for region in thread["regions"]
               if region["name"] == name)


def test_regions_are_as_much_work_as_the_ranks_do(program):
    result, _ = merged(program, "regions.*.json")
    rows = {(row["region"], row["name"]): row for row in result["rows"]}
    assert rows["work", "passes"]["values"] == [5] * N
    assert rows["alone", "passes"]["values"] == [1, 0, 0, 0]
    assert rows["alone", "passes"]["files"] == 1
    for name, turn in (("instructions:u", 2), ("branches:u", 1)):
        # Rank R runs the loop 5 times, each time for 10,000 * (R + 1) turns. The loop's call and return are counted,
        # too.
        work = rows["work", name]
        for rank, value in enumerate(work["values"]):
            assert 0 <= value - turn * 50000 * (rank + 1) <= 5 * 14 + 200 * retried(program, rank, "work")
        check_row(work, work["values"])
        alone = rows["alone", name]
        assert alone["values"][1:] == [0, 0, 0]
        assert 0 <= alone["values"][0] - turn * 500000 <= 14 + 200 * retried(program, 0, "alone")
        assert alone["imbalance"] == 300
    shown = run(program, "perfex", "merge", *sorted(program.glob("regions.*.json"))).stdout
    assert re.search(r"^work +branches:u +user +4 .* (59\.9|60\.0)\d % +.*/regions\.3\.json$", shown, re.MULTILINE)


def test_ranks_of_one_name_have_files_of_their_own(tmp_path):
    result = mpirun(tmp_path, "perfex", "-j", "-o", "one.json", "--regions=regions.json", "-e", "instructions:u", RANKS)
    assert (result.returncode, result.stdout) == (0, "")
    assert result.stderr == "".join(
        f"perfex: each of the 4 ranks writes a file of its own, this one '{name}.0.json'; all together: "
        f"perfex merge {name}.*.json\n" for name in ("one", "regions"))
    assert {path.name for path in tmp_path.iterdir()} == {
        f"{name}.{rank}.json" for name in ("one", "regions") for rank in range(N)}
    total, paths = merged(tmp_path, "one.*.json")
    counts = [json.loads((tmp_path / path).read_text())["events"][0]["counts"][0] for path in paths]
    rows = {row["name"]: row for row in total["rows"]}
    assert rows["instructions:u"]["sum"] == sum(counts)
    total, _ = merged(tmp_path, "regions.*.json")
    rows = {(row["region"], row["name"]): row for row in total["rows"]}
    assert rows["work", "passes"]["sum"] == 5 * N


def test_ranks_of_unknown_number_are_refused_one_file(tmp_path):
    result = mpirun(tmp_path, "env", "-u", "PMI_SIZE", "perfex", "-j", "-o", "one.json", "-e", "instructions:u", "sleep",
                    "10")
    assert result.returncode != 0
    assert "perfex: another perfex is writing 'one.json': give each its own file" in result.stderr


def test_ranks_that_append_share_a_file(tmp_path):
    result = mpirun(tmp_path, "perfex", "-j", "--append", "-o", "all.json", "-e", "instructions:u", LOOP)
    assert (result.returncode, result.stderr) == (0, "")
    documents = [json.loads(line) for line in (tmp_path / "all.json").read_text().splitlines()]
    assert sorted(document["rank"] for document in documents) == list(range(N))
    assert [document["events"][0]["counts"] for document in documents] == [[LOOP_INSTRUCTIONS]] * N


def test_what_is_appended_to_is_not_emptied(tmp_path):
    writer = subprocess.Popen(["perfex", "--append", "-o", "out", "-e", "instructions:u", "cat"], cwd=tmp_path,
                              stdin=subprocess.PIPE)
    while not (tmp_path / "out").exists():
        time.sleep(0.01)
    time.sleep(1)
    refused = run(tmp_path, "perfex", "-o", "out", "-e", "instructions:u", LOOP)
    assert refused.returncode == 125
    assert refused.stderr.startswith("perfex: another perfex is writing 'out': ")
    writer.communicate()
    assert writer.returncode == 0 and (tmp_path / "out").read_text()


def test_ranks_are_not_repeated(tmp_path):
    result = mpirun(tmp_path, "perfex", "-r", 2, "-o", "out.%r", "-e", "instructions:u", LOOP)
    assert result.returncode != 0
    assert re.search(r"2 runs of the command were asked for, and it is rank \d of an MPI program", result.stderr)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("environment, rank", [
    ({"PMI_RANK": "7", "SLURM_PROCID": "9"}, 7),
    ({"PMIX_RANK": "5"}, 5),
    ({"OMPI_COMM_WORLD_RANK": "11"}, 11),
    ({"SLURM_PROCID": "9"}, 9),
    ({"PMI_RANK": "../x", "SLURM_PROCID": "9"}, 9),
])
def test_who_tells_the_rank(tmp_path, environment, rank):
    result = run(tmp_path, "perfex", "-j", "-o", "%r.json", "-e", "instructions:u", LOOP, **environment)
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads((tmp_path / f"{rank}.json").read_text())["rank"] == rank


def test_no_rank(tmp_path):
    result = run(tmp_path, "perfex", "-j", "-o", "%r.json", LOOP)
    assert result.returncode == 125
    assert result.stderr.startswith("perfex: '%r.json': there is no rank for %r: ")
    assert result.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())
