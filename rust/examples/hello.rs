// SPDX-License-Identifier: LGPL-2.1-or-later
//! Counts a loop, without a system call in between; then prints all counts of the thread.
use std::arch::asm;

/// Two instructions and a branch for each n.
fn work(mut n: u64) {
    unsafe { asm!("2: dec {0}", "jnz 2b", inout(reg) n, options(nomem, nostack)) };
    let _ = n;
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let counters = perfctr::Counters::open("instructions,branches")?;
    let reader = counters.reader::<2>()?;
    let before = reader.read();
    work(1_000_000);
    let after = reader.read();
    println!(
        "of the loop: instructions {}",
        after.counter[0] - before.counter[0]
    );
    println!(
        "of the loop: branches {}",
        after.counter[1] - before.counter[1]
    );
    for (name, count) in counters.read()?.iter() {
        println!("of all: {name} {count}");
    }
    Ok(())
}
