# SPDX-License-Identifier: GPL-2.0-or-later
"""perfctr for spack: put this file into packages/perfctr of a repository of your own.

"make check-rpm" calls it as spack would, with stand-ins for spack's own functions. It has not been tried with spack.
"""

from spack.package import *


class Perfctr(MakefilePackage):
    """64-bit virtual performance counters of each thread, process tree and
    machine: exact counts, read without a system call."""

    git = "file:///path/to/perfctr"

    license("GPL-2.0-or-later AND LGPL-2.1-or-later", checked_by="perfctr")

    version("main", branch="main")
    version("0.2.0", tag="v0.2.0")

    variant("bpf", default=False, description="Build the service that counts by BPF")

    depends_on("c", type="build")
    depends_on("gmake", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("libpfm4")
    depends_on("json-c")
    depends_on("libyaml")
    depends_on("ncurses")
    depends_on("libbpf", when="+bpf")
    depends_on("llvm+clang", type="build", when="+bpf")
    depends_on("bpftool", type="build", when="+bpf")

    requires("target=x86_64:", msg="perfctr counts on x86")

    @property
    def variables(self):
        libraries = [self.spec[name].prefix for name in ("libpfm4", "json-c", "libyaml", "ncurses")]
        return [
            f"PREFIX={self.prefix}",
            f"LIBDIR={self.prefix.lib}",
            "LINK=shared",
            "CPPFLAGS=" + " ".join(f"-I{prefix.include}" for prefix in libraries),
            "LDFLAGS=" + " ".join(f"-L{prefix.lib}" for prefix in libraries),
        ]

    def build(self, spec, prefix):
        make(*self.variables, *(["programs"] if "+bpf" in spec else ["library", "build/bin/perfex"]))

    def install(self, spec, prefix):
        targets = ["install-lib", "install-perfex", "install-docs", "install-examples", "install-python"]
        make(*self.variables, *targets, *(["install-bpfd"] if "+bpf" in spec else []))
