// SPDX-License-Identifier: LGPL-2.1-or-later
use crate::ffi;
use std::borrow::Cow;
use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU8, Ordering};

/// A pass through the region of a name, from its creation to the end of its block.
///
/// ```no_run
/// # fn solve() {}
/// let region = perfctr::Region::new("solver");
/// solve();
/// drop(region); // or at the end of the block, also when a panic leaves it
/// ```
///
/// `perfex --regions=FILE -e EVENT ... PROGRAM` says what is counted there, and `perfex stat-of
/// FILE` shows it; without perfex, the environment does: perfctr_region_begin(3). Regions may lie in
/// each other and overlap. A program has at most 256. If nobody asks for counts, making a region and
/// dropping it is some 15 instructions, without a call of the library.
///
/// A thread that has opened [`Counters`](crate::Counters) has regions of the same events only.
///
/// Cost: as in C, the region itself counts a few instructions besides its own, and none of the
/// look-up of its name. [`Region::new`] also copies the name, which the regions around it count.
///
/// A pass ends in the thread in which it began, so that a `Region` is not [`Send`].
#[derive(Debug)]
#[must_use = "the pass ends when the region is dropped: `let _pass = ...`, and not `let _ = ...`"]
pub struct Region<'a> {
    name: Option<Cow<'a, CStr>>, // None: nothing is counted
    thread: PhantomData<*const ()>,
}

impl Region<'static> {
    /// Begins a pass through the region of this name. A name ends at its first NUL.
    #[inline]
    pub fn new(name: &str) -> Region<'static> {
        Region::begin(is_counted().then(|| Cow::Owned(copy_of(name))))
    }
}

impl<'a> Region<'a> {
    /// The same without a copy of the name, for regions that lie in others: `Region::of(c"solver")`
    /// from Rust 1.77 on.
    #[inline]
    pub fn of(name: &'a CStr) -> Region<'a> {
        Region::begin(is_counted().then_some(Cow::Borrowed(name)))
    }

    #[inline]
    fn begin(name: Option<Cow<'a, CStr>>) -> Region<'a> {
        if let Some(name) = &name {
            // SAFETY: the name ends with NUL, and the library copies it.
            unsafe { ffi::perfctr_region_begin(name.as_ptr()) }
        }
        Region {
            name,
            thread: PhantomData,
        }
    }
}

impl Drop for Region<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // SAFETY: the name ends with NUL.
            unsafe { ffi::perfctr_region_end(name.as_ptr()) }
        }
    }
}

#[inline(never)]
fn copy_of(name: &str) -> CString {
    let name = name.split('\0').next().unwrap_or("");
    CString::new(name).unwrap_or_default()
}

/// Does the environment ask for counts? As in the library, the first region decides.
#[inline]
fn is_counted() -> bool {
    match ASKED.load(Ordering::Relaxed) {
        UNKNOWN => ask(),
        asked => asked == YES,
    }
}

const UNKNOWN: u8 = 0;
const YES: u8 = 1;
const NO: u8 = 2;
static ASKED: AtomicU8 = AtomicU8::new(UNKNOWN);

#[cold]
fn ask() -> bool {
    let asked = std::env::var_os("PERFCTR_REGIONS").map_or(false, |file| !file.is_empty());
    ASKED.store(if asked { YES } else { NO }, Ordering::Relaxed);
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_at_its_first_nul() {
        assert_eq!(copy_of("solver").to_bytes(), b"solver");
        assert_eq!(copy_of("sol\0ver").to_bytes(), b"sol");
        assert_eq!(copy_of("").to_bytes(), b"");
    }
}
