// SPDX-License-Identifier: LGPL-2.1-or-later
//! A thread's own counters, read by system calls.
use crate::ffi;
use crate::inline::{Counter, Reader, TimeStamp};
use crate::Error;
use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;
use std::os::raw::{c_char, c_int};
use std::ptr::NonNull;
use std::sync::Arc;

/// errno of inline reads where there are none.
const EOPNOTSUPP: i32 = 95;
const EINVAL: i32 = 22;

/// The counters of the thread that opened them. They count until they are dropped.
///
/// Counters belong to their thread, so that they are neither [`Send`] nor [`Sync`]:
///
/// ```compile_fail
/// let counters = perfctr::Counters::open("instructions").unwrap();
/// std::thread::spawn(move || drop(counters));
/// ```
///
/// A thread has one set of counters at a time. It can be open in one `Counters` only, and not where
/// perfex counts the thread.
#[derive(Debug)]
pub struct Counters {
    handle: NonNull<ffi::Handle>, // a pointer: neither Send nor Sync
    names: Arc<[String]>,
}

/// Counts of one moment, or of the time between two moments: see [`Counts::since`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts {
    /// The virtual time stamp, in ticks of the time stamp counter: it goes on while the thread runs
    /// and is counted.
    pub tsc: u64,
    /// The counts, in occurrences, in the order of the events.
    pub values: Vec<u64>,
    names: Arc<[String]>,
}

impl Counters {
    /// Counts events in the calling thread, from now on.
    ///
    /// `events` is a list as `perfex -e` takes it, such as `"instructions,cycles"`, of at most 32
    /// events. An event without a mode counts in user mode. The first backend that can count all of
    /// them is used.
    ///
    /// Errors: those of perfctr_count(3), in its words. Cost: looks up the names in tables, and
    /// makes some ten system calls.
    pub fn open(events: &str) -> Result<Counters, Error> {
        let list =
            CString::new(events).map_err(|_| Error::new(EINVAL, "a list of events has no NUL"))?;
        let names = split(&list)?.into();
        let mut why = [0; ffi::ERROR_SIZE];
        // SAFETY: the list ends with NUL, and why has room for as many bytes as it says.
        let handle = unsafe { ffi::perfctr_count(list.as_ptr(), why.as_mut_ptr(), why.len()) };
        match NonNull::new(handle) {
            Some(handle) => Ok(Counters { handle, names }),
            None => Err(Error::last(text_of(&why))),
        }
    }

    /// The names of the events, as they were asked for.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The backend that counts: `patch`, `module`, `bpf` or `perf_events`.
    pub fn backend(&self) -> &str {
        // SAFETY: the handle is open, and its name is as long-lived.
        unsafe { CStr::from_ptr(ffi::perfctr_backend_name(self.handle.as_ptr())) }
            .to_str()
            .unwrap_or("")
    }

    /// Goes on counting after [`Counters::stop`]. The sums stay. Cost: a system call.
    pub fn start(&self) -> Result<(), Error> {
        // SAFETY: the handle is open, and was made by this thread.
        check(
            unsafe { ffi::perfctr_start(self.handle.as_ptr()) },
            "the counters cannot be started",
        )
    }

    /// Pauses counting. The sums stay. Cost: a system call.
    pub fn stop(&self) -> Result<(), Error> {
        // SAFETY: as for start().
        check(
            unsafe { ffi::perfctr_stop(self.handle.as_ptr()) },
            "the counters cannot be stopped",
        )
    }

    /// Reads all counts, exact at the moment of the call, by a system call. It works with every
    /// backend.
    pub fn read(&self) -> Result<Counts, Error> {
        let mut counts = MaybeUninit::<ffi::Counts>::zeroed();
        // SAFETY: the handle is open, and counts has the layout of the header.
        check(
            unsafe { ffi::perfctr_read(self.handle.as_ptr(), counts.as_mut_ptr()) },
            "the counts cannot be read",
        )?;
        // SAFETY: all fields are numbers, and were zero before the call.
        let counts = unsafe { counts.assume_init() };
        let n = self.names.len().min(counts.n_counters as usize);
        Ok(Counts {
            tsc: counts.tsc,
            values: counts.counter[..n].to_vec(),
            names: Arc::clone(&self.names),
        })
    }

    /// The inline read of event number `i`.
    ///
    /// Errors: EINVAL (there is no event `i`), EOPNOTSUPP (this machine or this backend does not
    /// let user mode read its counters: [`Counters::read`] does the same by a system call). No
    /// system call.
    pub fn counter(&self, i: usize) -> Result<Counter<'_>, Error> {
        let page = self.page(i + 1)?;
        // SAFETY: the page is mapped until the handle is closed, which self outlives; it is this
        // thread's own, and has a counter i.
        Ok(unsafe { Counter::new(page, i) })
    }

    /// The inline read of the first `N` events and the time stamp together.
    ///
    /// Errors: as for [`Counters::counter`]; EINVAL: there are fewer than `N` events.
    pub fn reader<const N: usize>(&self) -> Result<Reader<'_, N>, Error> {
        let page = self.page(N)?;
        // SAFETY: as for counter().
        Ok(unsafe { Reader::new(page) })
    }

    /// The inline read of the virtual time stamp. It also exists where counters have none.
    ///
    /// Errors: EOPNOTSUPP (this backend has no virtual time stamp in user mode).
    pub fn time_stamp(&self) -> Result<TimeStamp<'_>, Error> {
        // SAFETY: the handle is open.
        let page = unsafe { ffi::perfctr_tsc_page(self.handle.as_ptr()) };
        let page = NonNull::new(page as *mut ffi::Page)
            .ok_or_else(|| Error::new(EOPNOTSUPP, "this backend has no time stamp in user mode"))?;
        // SAFETY: as for counter().
        Ok(unsafe { TimeStamp::new(page) })
    }

    /// The state page, if user mode can read the first n counters.
    fn page(&self, n: usize) -> Result<NonNull<ffi::Page>, Error> {
        if n > self.names.len() {
            let text = format!(
                "there is no event number {}; {} are counted",
                n - 1,
                self.names.len()
            );
            return Err(Error::new(EINVAL, text));
        }
        // SAFETY: the handle is open.
        let page = unsafe { ffi::perfctr_get_page(self.handle.as_ptr()) };
        NonNull::new(page as *mut ffi::Page).ok_or_else(|| {
            Error::new(
                EOPNOTSUPP,
                "user mode cannot read the counters here; read them by Counters::read()",
            )
        })
    }
}

impl Drop for Counters {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and nobody has it any more.
        unsafe { ffi::perfctr_close(self.handle.as_ptr()) }
    }
}

impl Counts {
    /// The count of the event of this name, as it was asked for.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.iter()
            .find(|(one, _)| *one == name)
            .map(|(_, value)| value)
    }

    /// The names with their counts, in the order of the events.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> + '_ {
        self.names
            .iter()
            .map(String::as_str)
            .zip(self.values.iter().copied())
    }

    /// The counts between an earlier moment of the same [`Counters`] and this one.
    pub fn since(&self, earlier: &Counts) -> Counts {
        Counts {
            tsc: self.tsc.wrapping_sub(earlier.tsc),
            values: self
                .values
                .iter()
                .zip(&earlier.values)
                .map(|(late, early)| late.wrapping_sub(*early))
                .collect(),
            names: Arc::clone(&self.names),
        }
    }
}

fn check(result: c_int, what: &str) -> Result<(), Error> {
    if result < 0 {
        Err(Error::last_of(what))
    } else {
        Ok(())
    }
}

/// The text up to its NUL. The library writes ASCII, and what a user gave it.
fn text_of(bytes: &[c_char]) -> String {
    let text: Vec<u8> = bytes
        .iter()
        .map(|byte| *byte as u8)
        .take_while(|byte| *byte != 0)
        .collect();
    String::from_utf8_lossy(&text).into_owned()
}

/// Splits a list into its specifications. perfctr_count() refuses a list that is too long.
fn split(list: &CStr) -> Result<Vec<String>, Error> {
    let mut spec = [[0; ffi::NAME_SIZE]; ffi::MAX_COUNTERS];
    let mut why = [0; ffi::ERROR_SIZE];
    // SAFETY: the list ends with NUL; spec and why have room for as much as they say.
    let n = unsafe {
        ffi::perfctr_events_split(
            list.as_ptr(),
            spec.as_mut_ptr(),
            spec.len() as u32,
            why.as_mut_ptr(),
            why.len(),
        )
    };
    check(n, "").map_err(|error| Error::new(error.errno(), text_of(&why)))?;
    Ok(spec
        .iter()
        .take(n as usize)
        .map(|one| text_of(one))
        .collect())
}
