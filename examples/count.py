#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Counts a loop by names of events, or, if the arguments are a command, that command."""
import sys

import perfctr

EVENTS = "instructions,branches"

try:
    if len(sys.argv) > 1:
        child = perfctr.spawn(EVENTS, sys.argv[1:])
        child.wait()
        counts = child.read()
    else:
        with perfctr.count(EVENTS) as counter:
            sum(range(100000))
        counts = counter.counts
except perfctr.Error as error:
    sys.exit(f"count: {error}")
for name in counts.names:
    print(name, counts[name])
