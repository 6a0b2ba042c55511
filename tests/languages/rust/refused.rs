// SPDX-License-Identifier: GPL-2.0-or-later
//! Refusals, and regions that nobody counts, on any host: no backend has the name that the tests
//! set, so that nothing can be counted.
use perfctr::{Counters, Region};
use std::sync::Once;

const EINVAL: i32 = 22;

fn refused(events: &str) -> perfctr::Error {
    static SET: Once = Once::new();
    SET.call_once(|| std::env::set_var("PERFCTR_BACKEND", "nonsense"));
    Counters::open(events).expect_err("the backend has no such name")
}

#[test]
fn the_library_says_what_is_wrong() {
    let error = refused("instructions");
    assert_eq!(error.errno(), EINVAL);
    let text = error.to_string();
    assert!(text.contains("there is no backend 'nonsense'"), "{text}");
    assert!(!text.contains('\n'), "{text}");
}

#[test]
fn a_list_that_is_none_is_refused() {
    for list in ["", ",", "{instructions", "instr\0uctions"] {
        let error = refused(list);
        assert_eq!(error.errno(), EINVAL, "{list:?}: {error}");
        assert!(!error.to_string().is_empty(), "{list:?}");
    }
}

#[test]
fn a_long_list_is_refused() {
    let text = refused(&vec!["page-faults"; 100_000].join(",")).to_string();
    assert_eq!(text, "100000 events; at most 32 can be counted");
}

#[test]
fn an_error_is_one_of_the_system_too() {
    let error = std::io::Error::from(refused("instructions"));
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
    assert!(error.to_string().contains("nonsense"), "{error}");
}

#[test]
fn regions_that_nobody_counts_do_nothing() {
    let outer = Region::new("outer");
    let _inner = Region::of(std::ffi::CStr::from_bytes_with_nul(b"inner\0").unwrap());
    drop(outer);
}
