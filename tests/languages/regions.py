# SPDX-License-Identifier: GPL-2.0-or-later
"""Passes through named regions in Python."""
import ctypes
import sys

import perfctr

loop = ctypes.CDLL(sys.argv[1]).loop
for _ in range(10):
    for name, n in (("small", 1000), ("large", 11000)):
        with perfctr.region(name):
            loop(n)
