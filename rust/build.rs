// SPDX-License-Identifier: LGPL-2.1-or-later
//! Finds libperfctr: in the directory that PERFCTR_LIB_DIR names, or by pkg-config.
use std::env;
use std::process::{exit, Command};

/// Before 1.0 each minor version is another library.
const WANTED: &str = "libperfctr >= 0.2 libperfctr < 0.3";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for name in ["PERFCTR_LIB_DIR", "PKG_CONFIG", "PKG_CONFIG_PATH"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let is_static = env::var_os("CARGO_FEATURE_STATIC").is_some();
    match env::var("PERFCTR_LIB_DIR") {
        Ok(directory) => {
            println!("cargo:rustc-link-search=native={directory}");
            link_all(is_static, ["pfm", "json-c"].map(String::from));
        }
        Err(_) => link_by_pkg_config(is_static),
    }
}

/// The archive has both of perfctr's libraries, and needs the others.
fn link_all(is_static: bool, others: impl IntoIterator<Item = String>) {
    if is_static {
        println!("cargo:rustc-link-lib=static=perfctr");
        for name in others {
            println!("cargo:rustc-link-lib={name}");
        }
    } else {
        println!("cargo:rustc-link-lib=perfctr");
        println!("cargo:rustc-link-lib=perfctr-core");
    }
}

fn link_by_pkg_config(is_static: bool) {
    let flags = pkg_config(is_static).unwrap_or_else(|why| {
        eprintln!(
            "libperfctr 0.2 was not found: {why}\n\
             Install it (make install), and name the directory of libperfctr.pc in \
             PKG_CONFIG_PATH, or that of the library in PERFCTR_LIB_DIR."
        );
        exit(1);
    });
    for directory in with_prefix(&flags, "-L") {
        println!("cargo:rustc-link-search=native={directory}");
    }
    let is_other = |name: &String| !name.starts_with("perfctr");
    link_all(is_static, with_prefix(&flags, "-l").filter(is_other));
}

fn with_prefix<'a>(flags: &'a str, prefix: &'a str) -> impl Iterator<Item = String> + 'a {
    flags
        .split_whitespace()
        .filter_map(move |flag| flag.strip_prefix(prefix).map(String::from))
}

fn pkg_config(is_static: bool) -> Result<String, String> {
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    let output = Command::new(&program)
        .arg("--libs")
        .args(is_static.then_some("--static"))
        .arg(WANTED)
        .output()
        .map_err(|why| format!("{program}: {why}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().into())
    }
}
