# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the document of regions from standard input, and checks what a Rust program counted in them.

usage: regions.py PASSES NAME...

Each thread has these regions, each with that many passes ("-": any number but 0). Where there are small and large: a
pass executes 2 * n + 1 instructions and n branches for n of 1000 and 11000, and what begin and end add, which is a
constant.
"""
import json
import sys

passes, names = sys.argv[1], sys.argv[2:]
document = json.load(sys.stdin)
threads = [t for t in document["threads"] if any(r["passes"] for r in t["regions"])]
assert threads and "error" not in document, document
for thread in threads:
    regions = {region["name"]: region for region in thread["regions"] if region["entries"]}
    assert sorted(regions) == sorted(names), sorted(regions)
    for region in regions.values():
        assert region["entries"] == region["exits"] == region["passes"] > 0, region
        assert passes in ("-", str(region["passes"])), region
    if "small" not in names:
        continue
    small, large = (regions[name]["counts"] for name in ("small", "large"))
    assert [b["min"] - a["min"] for a, b in zip(small, large)] == [20000, 10000][:len(small)], (small, large)
    assert 2001 <= small[0]["min"] <= 2001 + 20, small
    # A pass in which the thread is switched while it reads has up to 100 more each time.
    assert small[0]["max"] - small[0]["min"] <= 100 * regions["small"]["retried"], (small, regions["small"]["retried"])
    print("small:", small[0]["min"], "large:", large[0]["min"], "passes:", regions["small"]["passes"])
