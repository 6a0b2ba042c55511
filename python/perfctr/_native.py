# SPDX-License-Identifier: LGPL-2.1-or-later
"""The declarations of the library's headers that are used here, and the library itself.

cffi reads them at run time (ABI mode), so that nothing is compiled; tests/languages compares them
with the headers.
"""
import os

import cffi

VERSION = "0.2.0"

DECLARATIONS = """
struct perfctr_counts {
    uint32_t size, scope, flags, n_counters, members, reserved;
    uint64_t tsc, switches, migrations;
    uint64_t counter[32];
    uint64_t kind_tsc[4];
};
struct perfctr;
struct perfctr *perfctr_count(const char *events, char *error, size_t size);
struct perfctr *perfctr_spawn(const char *events, char *const argv[], pid_t *pid, char *error,
                              size_t size);
int perfctr_events_split(const char *text, char (*spec)[128], unsigned int room, char *error,
                         size_t size);
int perfctr_read_scope(const struct perfctr *p, unsigned int scope, struct perfctr_counts *out);
uint64_t perfctr_read_counter(const struct perfctr *p, unsigned int i);
const char *perfctr_backend_name(const struct perfctr *p);
void perfctr_close(struct perfctr *p);
const char *perfctr_version(void);
void perfctr_region_begin(const char *name);
void perfctr_region_end(const char *name);
"""

ERROR_SIZE = 512
MAX_COUNTERS = 32
SCOPE_SELF = 0
SCOPE_TREE = 2

ffi = cffi.FFI()
ffi.cdef("typedef int32_t pid_t;" + DECLARATIONS)

# Before 1.0 each minor version is a separate library.
_file = os.environ.get("PERFCTR_LIBRARY") or "libperfctr.so." + VERSION.rpartition(".")[0]
try:
    lib = ffi.dlopen(_file)
except OSError as error:
    raise ImportError(
        f"{error}; install libperfctr {VERSION} (make install), or name its file in PERFCTR_LIBRARY"
    ) from error
