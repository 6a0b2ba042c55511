// SPDX-License-Identifier: GPL-2.0-or-later
//! Passes through regions, in two threads. tests/languages/run-rust reads the counts.
use perfctr::Region;
use std::arch::asm;
use std::ffi::CStr;

/// 2 * n + 1 instructions.
#[inline(always)]
fn work(n: u64) {
    // SAFETY: nothing but a register changes.
    unsafe {
        asm!("mov {0}, {1}", "2: dec {0}", "jnz 2b", out(reg) _, in(reg) n, options(nomem, nostack))
    };
}

fn pass() {
    let _outer = Region::new("outer");
    {
        let _pass = Region::new("small");
        work(1000);
    }
    {
        let _pass = Region::of(CStr::from_bytes_with_nul(b"large\0").unwrap());
        work(11000);
    }
    let left = std::panic::catch_unwind(|| {
        let _pass = Region::new("left by a panic");
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(left.is_err());
}

fn main() {
    for _ in 0..2 {
        let thread = std::thread::spawn(|| (0..10).for_each(|_| pass()));
        thread.join().unwrap();
    }
    println!("regions");
}
