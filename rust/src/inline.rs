// SPDX-License-Identifier: LGPL-2.1-or-later
//! Reads without a system call, as in perfctr.h.
//!
//! The kernel changes the state page only while the thread that reads it does not run, so a read
//! needs no fences of the processor. It loads the ticket, executes RDPMC, loads the bias, and then
//! the recheck. A switch in between changes the recheck, which then differs from the ticket, and
//! the slow path of the library repeats the read. 2^32 switches within these few instructions would
//! go unnoticed.
//!
//! The compiler must keep this order. Each `asm!` here may change memory, as far as the compiler
//! knows, so that no load moves across it. The loads are not volatile: the compiler would then put
//! each into an instruction of its own, and a read would take seven instructions, not five.
use crate::ffi::{self, Page, PageCounter};
use std::arch::asm;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::{addr_of, NonNull};

/// RDPMC uses only ECX of the ticket, and only EAX of its result matters, because the kernel keeps
/// the values below 2^32. RDPMC clears the upper halves of RAX and RDX.
///
/// # Safety
/// `c` is a counter of this thread's own page.
#[inline(always)]
unsafe fn sum_pmc(c: *const PageCounter, ticket: u64) -> u64 {
    let value: u64;
    // SAFETY: the page is mapped, and the kernel allows RDPMC of the ticket's counter meanwhile.
    unsafe {
        asm!("rdpmc", in("rcx") ticket, out("rax") value, out("rdx") _,
             options(nostack, preserves_flags));
        value.wrapping_add((*c).bias)
    }
}

/// # Safety
/// `c` is the time stamp of this thread's own page.
#[inline(always)]
unsafe fn sum_tsc(c: *const PageCounter) -> u64 {
    let (low, high): (u64, u64);
    // SAFETY: RDTSC is allowed.
    unsafe {
        asm!("rdtsc", out("rax") low, out("rdx") high, options(nostack, preserves_flags));
        low.wrapping_add(high << 32).wrapping_add((*c).bias)
    }
}

/// # Safety
/// As for the sums.
#[inline(always)]
unsafe fn recheck(c: *const PageCounter, ticket: u64) -> bool {
    // SAFETY: there is no instruction. The bias is loaded before, and the recheck after it.
    unsafe {
        asm!("", options(nostack, preserves_flags));
        (*c).recheck == ticket
    }
}

/// The inline read of one event: [`Counters::counter`](crate::Counters::counter). It belongs to the
/// thread, and cannot outlive the counters:
///
/// ```compile_fail
/// let counter = perfctr::Counters::open("instructions").unwrap().counter(0).unwrap();
/// counter.read();
/// ```
///
/// nor go to another thread:
///
/// ```compile_fail
/// let counters = perfctr::Counters::open("instructions").unwrap();
/// let counter = counters.counter(0).unwrap();
/// std::thread::scope(|scope| { scope.spawn(|| counter.read()); });
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Counter<'a> {
    page: NonNull<Page>, // a pointer: neither Send nor Sync
    i: usize,
    counters: PhantomData<&'a Page>,
}

impl<'a> Counter<'a> {
    /// # Safety
    /// The page is this thread's own for as long as `'a`, and has a counter `i`.
    pub(crate) unsafe fn new(page: NonNull<Page>, i: usize) -> Counter<'a> {
        Counter {
            page,
            i,
            counters: PhantomData,
        }
    }

    /// Reads the count, in occurrences, exactly, without a system call: in 5 instructions if the
    /// compiler knows the number of the event.
    ///
    /// Not in a child process that `fork` has made of this one: RDPMC reads the CPU that executes it.
    #[inline(always)]
    pub fn read(self) -> u64 {
        let page = self.page.as_ptr();
        // SAFETY: the page is mapped, and has the counter.
        unsafe {
            let c = addr_of!((*page).counter).cast::<PageCounter>().add(self.i);
            let ticket = (*c).ticket;
            let value = sum_pmc(c, ticket);
            if recheck(c, ticket) {
                return value;
            }
        }
        self.read_slowly()
    }

    /// The read raced with a switch of the thread, or the counters are stopped.
    #[cold]
    #[inline(never)]
    fn read_slowly(self) -> u64 {
        // SAFETY: the page is this thread's own.
        unsafe { ffi::perfctr_read_pmc_slow(self.page.as_ptr(), self.i as u32) }
    }
}

/// The inline read of the virtual time stamp:
/// [`Counters::time_stamp`](crate::Counters::time_stamp).
#[derive(Clone, Copy, Debug)]
pub struct TimeStamp<'a> {
    page: NonNull<Page>, // a pointer: neither Send nor Sync
    counters: PhantomData<&'a Page>,
}

impl<'a> TimeStamp<'a> {
    /// # Safety
    /// The page is this thread's own for as long as `'a`.
    pub(crate) unsafe fn new(page: NonNull<Page>) -> TimeStamp<'a> {
        TimeStamp {
            page,
            counters: PhantomData,
        }
    }

    /// Reads the virtual time stamp, in ticks, without a system call: in 7 instructions.
    #[inline(always)]
    pub fn read(self) -> u64 {
        let page = self.page.as_ptr();
        // SAFETY: the page is mapped.
        unsafe {
            let c = addr_of!((*page).tsc);
            let ticket = (*c).ticket;
            let value = sum_tsc(c);
            if recheck(c, ticket) {
                return value;
            }
        }
        self.read_slowly()
    }

    #[cold]
    #[inline(never)]
    fn read_slowly(self) -> u64 {
        // SAFETY: the page is this thread's own.
        unsafe { ffi::perfctr_read_tsc_slow(self.page.as_ptr()) }
    }
}

/// Counts of one moment, of the first `N` events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Snapshot<const N: usize> {
    /// The virtual time stamp, in ticks.
    pub tsc: u64,
    /// The counts, in occurrences, in the order of the events.
    pub counter: [u64; N],
}

/// The inline read of several events: [`Counters::reader`](crate::Counters::reader).
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a, const N: usize> {
    page: NonNull<Page>, // a pointer: neither Send nor Sync
    counters: PhantomData<&'a Page>,
}

impl<'a, const N: usize> Reader<'a, N> {
    /// # Safety
    /// The page is this thread's own for as long as `'a`, and has `N` counters.
    pub(crate) unsafe fn new(page: NonNull<Page>) -> Reader<'a, N> {
        Reader {
            page,
            counters: PhantomData,
        }
    }

    /// Reads the virtual time stamp and the counts, with no switch of the thread between them,
    /// without a system call: in 8 + 4 * `N` instructions, and those that store the result.
    #[inline(always)]
    pub fn read(self) -> Snapshot<N> {
        loop {
            // SAFETY: the page is this thread's own, and has N counters.
            if let Some(snapshot) = unsafe { self.try_read() } {
                return snapshot;
            }
            if let Some(snapshot) = self.read_stopped() {
                return snapshot;
            }
        }
    }

    /// The ticket of one counter tells whether all reads were of one moment: the kernel renews the
    /// tickets of all counters at once, and that of the time stamp never without them.
    ///
    /// # Safety
    /// As for [`Reader::new`].
    #[inline(always)]
    unsafe fn try_read(self) -> Option<Snapshot<N>> {
        let page = self.page.as_ptr();
        // SAFETY: all counters below N are in the page.
        unsafe {
            let tsc = addr_of!((*page).tsc);
            let first = addr_of!((*page).counter).cast::<PageCounter>();
            let guard = if N == 0 { tsc } else { first };
            let ticket = (*guard).ticket;
            let mut snapshot = Snapshot {
                tsc: sum_tsc(tsc),
                counter: [0; N],
            };
            for (i, value) in snapshot.counter.iter_mut().enumerate() {
                let c = first.add(i);
                *value = sum_pmc(c, (*c).ticket);
            }
            recheck(guard, ticket).then_some(snapshot)
        }
    }

    /// The sums, if the counters are stopped.
    #[cold]
    #[inline(never)]
    fn read_stopped(self) -> Option<Snapshot<N>> {
        let mut sums = MaybeUninit::<ffi::Snapshot>::zeroed();
        // SAFETY: the page is this thread's own, and has N counters; sums has the header's layout,
        // and is all numbers, which were zero before.
        unsafe {
            let page = self.page.as_ptr();
            if ffi::perfctr_read_stopped(page, N as u32, sums.as_mut_ptr()) == 0 {
                return None;
            }
            let sums = sums.assume_init();
            let mut snapshot = Snapshot {
                tsc: sums.tsc,
                counter: [0; N],
            };
            snapshot.counter.copy_from_slice(&sums.counter[..N]);
            Some(snapshot)
        }
    }
}
