// SPDX-License-Identifier: LGPL-2.1-or-later
//! The declarations of the library's headers that are used here. tests/languages compares the
//! layouts with the headers.
use std::os::raw::{c_char, c_int, c_uint};

pub const MAX_COUNTERS: usize = 32;
/// Bytes that suffice for a refusal.
pub const ERROR_SIZE: usize = 512;
/// Bytes of a specification of an event, with its NUL.
pub const NAME_SIZE: usize = 128;

/// A handle of the library.
#[repr(C)]
pub struct Handle {
    _private: [u8; 0],
}

/// `struct perfctr_page_counter`.
#[repr(C)]
pub struct PageCounter {
    pub bias: u64,
    pub ticket: u64,
    pub recheck: u64,
    pub sum: u64,
}

/// `struct perfctr_page`, as far as programs read it.
#[repr(C)]
pub struct Page {
    pub size: u32,
    pub abi_version: u32,
    pub seq: u32,
    pub flags: u32,
    pub n_counters: u32,
    pub cpu: u32,
    pub switches: u64,
    pub migrations: u64,
    pub reserved: [u64; 3],
    pub tsc: PageCounter,
    pub counter: [PageCounter; MAX_COUNTERS],
}

/// `struct perfctr_counts`.
#[repr(C)]
pub struct Counts {
    pub size: u32,
    pub scope: u32,
    pub flags: u32,
    pub n_counters: u32,
    pub members: u32,
    pub reserved: u32,
    pub tsc: u64,
    pub switches: u64,
    pub migrations: u64,
    pub counter: [u64; MAX_COUNTERS],
    pub kind_tsc: [u64; 4],
}

/// `struct perfctr_snapshot`.
#[repr(C)]
pub struct Snapshot {
    pub tsc: u64,
    pub counter: [u64; MAX_COUNTERS],
}

extern "C" {
    pub fn perfctr_count(events: *const c_char, error: *mut c_char, size: usize) -> *mut Handle;
    pub fn perfctr_events_split(
        text: *const c_char,
        spec: *mut [c_char; NAME_SIZE],
        room: c_uint,
        error: *mut c_char,
        size: usize,
    ) -> c_int;
    pub fn perfctr_close(p: *mut Handle);
    pub fn perfctr_start(p: *mut Handle) -> c_int;
    pub fn perfctr_stop(p: *mut Handle) -> c_int;
    pub fn perfctr_read(p: *const Handle, out: *mut Counts) -> c_int;
    pub fn perfctr_backend_name(p: *const Handle) -> *const c_char;
    pub fn perfctr_get_page(p: *const Handle) -> *const Page;
    pub fn perfctr_tsc_page(p: *const Handle) -> *const Page;
    pub fn perfctr_read_pmc_slow(page: *const Page, i: c_uint) -> u64;
    pub fn perfctr_read_tsc_slow(page: *const Page) -> u64;
    pub fn perfctr_read_stopped(page: *const Page, n: c_uint, sums: *mut Snapshot) -> c_int;
    pub fn perfctr_region_begin(name: *const c_char);
    pub fn perfctr_region_end(name: *const c_char);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{align_of, size_of};

    /// The place of a field of a struct that is all zeros.
    macro_rules! place {
        ($type:ty, $field:ident) => {{
            let value = std::mem::MaybeUninit::<$type>::uninit();
            let start = value.as_ptr();
            // SAFETY: the place is computed, and nothing is read.
            let field = unsafe { std::ptr::addr_of!((*start).$field) };
            field as usize - start as usize
        }};
    }

    /// tests/languages/rust/layout.c asserts the same numbers of the headers.
    #[test]
    fn layouts_are_those_of_the_headers() {
        assert_eq!(size_of::<PageCounter>(), 32);
        assert_eq!(place!(PageCounter, bias), 0);
        assert_eq!(place!(PageCounter, ticket), 8);
        assert_eq!(place!(PageCounter, recheck), 16);
        assert_eq!(place!(PageCounter, sum), 24);
        assert_eq!(align_of::<Page>(), 8);
        assert_eq!(place!(Page, n_counters), 16);
        assert_eq!(place!(Page, tsc), 64);
        assert_eq!(place!(Page, counter), 96);
        assert_eq!(size_of::<Counts>(), 336);
        assert_eq!(place!(Counts, n_counters), 12);
        assert_eq!(place!(Counts, tsc), 24);
        assert_eq!(place!(Counts, counter), 48);
        assert_eq!(place!(Counts, kind_tsc), 304);
        assert_eq!(size_of::<Snapshot>(), 264);
        assert_eq!(place!(Snapshot, counter), 8);
    }
}
