# SPDX-License-Identifier: GPL-2.0-or-later
# The Rust crate. Make installs its sources: a Cargo project names their directory.

RUST_INSTALLED := $(DESTDIR)$(PREFIX)/share/perfctr/rust
RUST_FILES := $(addprefix rust/,Cargo.toml build.rs src/*.rs examples/*.rs $(addprefix examples/criterion/,Cargo.toml \
	src/*.rs benches/*.rs))

INSTALL_TARGETS += install-rust

.PHONY: install-rust
install-rust:
	for file in $(patsubst rust/%,%,$(wildcard $(RUST_FILES))); do \
		install -D -m 644 rust/$$file $(RUST_INSTALLED)/$$file || exit; \
	done
