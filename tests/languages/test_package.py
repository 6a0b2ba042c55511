# SPDX-License-Identifier: GPL-2.0-or-later
"""Tests of the Python package that need no counting: declarations, lists of events, refusals."""
import os
import pathlib
import re
import subprocess
import tomllib

import numpy
import perfctr
import pytest
from perfctr import _native

TOP = pathlib.Path(__file__).parents[2]


def test_version_is_that_of_the_headers():
    header = (TOP / "include/perfctr.h").read_text()
    version = re.search(r'PERFCTR_VERSION "(.*)"', header).group(1)
    project = tomllib.loads((TOP / "python/pyproject.toml").read_text())["project"]
    assert perfctr.__version__ == project["version"] == version
    assert _native.ffi.string(_native.lib.perfctr_version()).decode() == version


def functions():
    one_line = " ".join(_native.DECLARATIONS.split())
    return re.findall(r"([\w ]+?[ *]+)(perfctr_\w+)(\([^;]*\));", one_line)


def test_declarations_are_those_of_the_headers(tmp_path):
    """The compiler compares layouts by assertions, and functions by declaring them again."""
    assert len(functions()) >= 8
    struct = _native.ffi.typeof("struct perfctr_counts")
    lines = ["#include <perfctr_count.h>", "#include <perfctr_events.h>", "#include <perfctr_regions.h>", "#include <stddef.h>"]
    lines.append(f"_Static_assert(sizeof(struct perfctr_counts) == {_native.ffi.sizeof(struct)}, \"\");")
    for name, field in struct.fields:
        lines.append(f"_Static_assert(offsetof(struct perfctr_counts, {name}) == {field.offset}, \"\");")
    lines += [f"{result}{name}{arguments};" for result, name, arguments in functions()]
    for name, value in (("PERFCTR_COUNT_ERROR", _native.ERROR_SIZE), ("PERFCTR_REQUEST_NAME", 128),
                        ("PERFCTR_MAX_COUNTERS", _native.MAX_COUNTERS),
                        ("PERFCTR_SCOPE_SELF", _native.SCOPE_SELF), ("PERFCTR_SCOPE_TREE", _native.SCOPE_TREE)):
        lines.append(f"_Static_assert({name} == {value}, \"\");")
    source = tmp_path / "declarations.c"
    source.write_text("\n".join(lines) + "\n")
    subprocess.run(["gcc", "-std=gnu11", "-fsyntax-only", f"-I{TOP / 'include'}", source], check=True)


def test_inline_functions_are_symbols():
    """The library exports each inline function that a manual page describes, and no other: helpers stay in the
    headers.
    """
    inline = set()
    for header in ("perfctr.h", "perfctr_regions.h"):
        inline |= set(re.findall(r"(?:static inline|PERFCTR_REGION_INLINE)[\w\s]*?\b(perfctr_\w+)\(",
                                 (TOP / "include" / header).read_text()))
    documented = set()
    for page in (TOP / "docs/man").glob("*.3"):
        documented |= set(re.findall(r"^\.Nm (\w+)", page.read_text(), re.M))
    # The file whose name has no number is a linker script.
    libraries = pathlib.Path(os.environ["LD_LIBRARY_PATH"]).glob("libperfctr*.so.?.?")
    symbols = subprocess.run(["nm", "-D", "--defined-only", *libraries],
                             capture_output=True, text=True, check=True).stdout
    exported = set(re.findall(r" T (perfctr_\w+)", symbols))
    assert inline & documented
    assert inline & exported == inline & documented


@pytest.mark.parametrize("events, names", [
    ("instructions", ["instructions"]),
    ("instructions,cycles:k", ["instructions", "cycles:k"]),
    ("{instructions,branches@1}:u,cpu/event=0xc0,umask=0/",
     ["instructions:u", "branches:u@1", "cpu/event=0xc0,umask=0/"]),
])
def test_list_of_events(events, names):
    assert perfctr._names(events) == names


@pytest.mark.parametrize("events, number, text", [
    ("instructions,,cycles", 22, "event list 'instructions,,cycles': an event is missing in front of "
     "',cycles'; write it like instructions,branches or {instructions,branches}"),
    (",".join(["task-clock"] * 33), 22, "33 events; at most 32 can be counted"),
    ("x" * 128, 22, f"event '{'x' * 40}..' is longer than 127 characters"),
])
def test_refusal_of_a_list(events, number, text):
    for attempt in (lambda: perfctr.count(events), lambda: perfctr.spawn(events, ["true"])):
        with pytest.raises(perfctr.Error) as refusal:
            attempt()
        assert refusal.value.errno == number
        assert str(refusal.value) == text


def test_refusal_of_a_backend(monkeypatch):
    monkeypatch.setenv("PERFCTR_BACKEND", "nonsense")
    with pytest.raises(perfctr.Error, match="there is no backend 'nonsense'; there are: patch, bpf, perf_events"):
        perfctr.count("instructions")


def test_counts_are_numbers_with_names():
    early = perfctr.Counts([10, 20], ["instructions", "cycles"], 5)
    late = perfctr.Counts([13, 27], ["instructions", "cycles"], 9)
    difference = late - early
    assert difference == (3, 7) and difference.tsc == 4
    assert difference["cycles"] == 7 and difference.as_dict() == {"instructions": 3, "cycles": 7}
    assert (numpy.array([early, late]).sum(axis=0) == [23, 47]).all()
    with pytest.raises(KeyError):
        late["branches"]
    with pytest.raises(ValueError):
        late - perfctr.Counts([1], ["instructions"])


def test_library_that_is_not_there():
    code = "import perfctr"
    result = subprocess.run(["/usr/bin/python3", "-c", code], capture_output=True, text=True,
                            env={**os.environ, "PERFCTR_LIBRARY": "/nonexistent.so"})
    assert result.returncode == 1
    assert "install libperfctr 0.2.0 (make install), or name its file in PERFCTR_LIBRARY" in result.stderr


def test_plugin_skips_with_the_reason(tmp_path):
    (tmp_path / "test_it.py").write_text(
        "def test_it(perfctr_count):\n    with perfctr_count('instructions'):\n        pass\n")
    command = ["/usr/bin/python3", "-B", "-m", "pytest", "-rs", "-p", "no:cacheprovider", "-p",
               "perfctr.pytest_plugin", str(tmp_path)]
    environment = {**os.environ, "PERFCTR_BACKEND": "nonsense"}
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert result.returncode == 0
    assert "SKIPPED [1] " in result.stdout and "there is no backend 'nonsense'" in result.stdout
    result = subprocess.run(command + ["--perfctr-required"], capture_output=True, text=True, env=environment)
    assert result.returncode == 1
