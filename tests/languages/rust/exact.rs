// SPDX-License-Identifier: GPL-2.0-or-later
//! Counts blocks of assembly in the machine, where counts are exact. The counts by hand are beside
//! the blocks. Each block is counted with two sizes: the difference is free of the read's own cost,
//! which is a constant, and is the block's count to the instruction. Prints the cost of each kind of
//! read, in instructions, for tests/languages/run-rust to compare with C.
use perfctr::{Counter, Counters, Region};
use std::arch::asm;

/// One turn: 1,000 nops, dec and jnz: 1,002 instructions and 1 branch.
const TURN: u64 = 1002;

#[inline(never)]
fn nops(mut turns: u64) {
    // SAFETY: nothing but the counter of turns changes.
    unsafe {
        asm!("2:", ".rept 1000", "nop", ".endr", "dec {0}", "jnz 2b", inout(reg) turns,
             options(nomem, nostack))
    };
    let _ = turns;
}

/// The number of instructions or branches around some turns.
#[inline(never)]
fn around(counter: Counter<'_>, turns: u64) -> u64 {
    let before = counter.read();
    nops(turns);
    counter.read() - before
}

fn inline_reads_are_exact(counters: &Counters) {
    let instructions = counters.counter(0).unwrap();
    let branches = counters.counter(1).unwrap();
    around(instructions, 1); // the first one may bring pages in
    let (one, many) = (around(instructions, 1), around(instructions, 11));
    assert_eq!(many - one, 10 * TURN);
    assert!((TURN..TURN + 20).contains(&one), "{one} around {TURN}");
    assert_eq!(around(branches, 11) - around(branches, 1), 10);
}

fn snapshots_are_exact(counters: &Counters) {
    let reader = counters.reader::<2>().unwrap();
    let difference = |turns| {
        let before = reader.read();
        nops(turns);
        let after = reader.read();
        let [instructions, branches] = [0, 1].map(|i| after.counter[i] - before.counter[i]);
        (instructions, branches, after.tsc - before.tsc)
    };
    let (one, many) = (difference(1), difference(11));
    assert_eq!((many.0 - one.0, many.1 - one.1), (10 * TURN, 10));
    assert!(many.2 > one.2 && one.2 > 0, "{one:?} {many:?}");
}

fn reads_by_call_agree(counters: &Counters) {
    let instructions = counters.counter(0).unwrap();
    let before = instructions.read();
    let counts = counters.read().unwrap();
    let after = instructions.read();
    assert!(before < counts.values[0] && counts.values[0] < after);
    assert_eq!(counts.get("instructions"), Some(counts.values[0]));
    assert_eq!(counts.get("branches"), Some(counts.values[1]));
    assert_eq!(counts.get("cycles"), None);
    let later = counters.read().unwrap().since(&counts);
    assert!(later.values[0] > 0 && later.tsc > 0);
    assert_eq!(counters.names(), ["instructions", "branches"]);
    assert_eq!(counters.backend(), "patch");
}

/// Stopped counters stand still for all kinds of reads, which then give the sums.
fn stopped_counters_stand_still(counters: &Counters) {
    let instructions = counters.counter(0).unwrap();
    let reader = counters.reader::<2>().unwrap();
    let time = counters.time_stamp().unwrap();
    counters.stop().unwrap();
    let sums = counters.read().unwrap();
    nops(11);
    assert_eq!(instructions.read(), sums.values[0]);
    assert_eq!(reader.read().counter, sums.values[..]);
    assert_eq!((reader.read().tsc, time.read()), (sums.tsc, sums.tsc));
    assert_eq!(counters.read().unwrap(), sums);
    counters.start().unwrap();
    nops(11);
    assert!(instructions.read() - sums.values[0] > 11 * TURN);
    assert!(time.read() > sums.tsc);
}

/// A thread that is switched out and in again reads its own counts only, whatever another thread
/// executes meanwhile on the machine's one processor.
fn switches_do_not_disturb(counters: &Counters) {
    let instructions = counters.counter(0).unwrap();
    let alone = around(instructions, 20_000);
    let other = std::thread::spawn(|| {
        let counters = Counters::open("instructions").unwrap();
        let own = counters.counter(0).unwrap();
        around(own, 1);
        around(own, 60_000) - around(own, 20_000)
    });
    let switches = || -> u64 {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status
            .lines()
            .find(|l| l.starts_with("nonvoluntary_ctxt_switches"))
            .unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let earlier = switches();
    let mut beside = 0;
    while !other.is_finished() {
        beside = around(instructions, 20_000);
        assert!(beside < alone + 1000, "{beside}, and {alone} alone");
        assert!(beside + 1000 > alone, "{beside}, and {alone} alone");
    }
    assert!(
        switches() > earlier && beside > 0,
        "the threads did not share the processor"
    );
    let difference = other.join().unwrap();
    assert!(
        (40_000 * TURN..40_000 * TURN + 1000).contains(&difference),
        "{difference}"
    );
}

fn refusals() {
    let counters = Counters::open("instructions").unwrap();
    let text = counters.counter(1).unwrap_err().to_string();
    assert_eq!(text, "there is no event number 1; 1 are counted");
    assert!(counters.reader::<2>().is_err());
    let text = Counters::open("instructions").unwrap_err().to_string();
    assert!(
        text.contains("the thread is being counted already"),
        "{text}"
    );
    drop(counters);
    let text = Counters::open("instrutions").unwrap_err().to_string();
    assert!(
        text.contains("event 'instrutions': ") && text.contains("instructions"),
        "{text}"
    );
}

/// The instructions of one inline read: those of 110 reads less those of 10, by hundred.
#[inline(never)]
fn cost(counter: Counter<'_>) -> f64 {
    macro_rules! read {
        // SAFETY: there is no instruction: the result is in a register.
        () => { unsafe { asm!("/* {0} */", in(reg) counter.read()) }; };
    }
    macro_rules! read_ten {
        () => {
            read!();
            read!();
            read!();
            read!();
            read!();
            read!();
            read!();
            read!();
            read!();
            read!();
        };
    }
    read!();
    let before = counter.read();
    read_ten!();
    let between = counter.read();
    read_ten!();
    read_ten!();
    read_ten!();
    read_ten!();
    read_ten!();
    read_ten!();
    read_ten!();
    read_ten!();
    read_ten!();
    read_ten!();
    read_ten!();
    let after = counter.read();
    ((after - between) - (between - before)) as f64 / 100.0
}

/// A region costs next to nothing if nobody asks for counts.
fn regions_that_nobody_counts_are_cheap(counters: &Counters) {
    let instructions = counters.counter(0).unwrap();
    drop(Region::new("first"));
    let before = instructions.read();
    let between = instructions.read();
    drop(Region::new("second"));
    let after = instructions.read();
    let cost = (after - between) - (between - before);
    println!("a region that nobody counts: {cost}");
    assert!(cost <= 20, "{cost}");
}

fn main() {
    let counters = Counters::open("instructions,branches").unwrap();
    inline_reads_are_exact(&counters);
    snapshots_are_exact(&counters);
    reads_by_call_agree(&counters);
    stopped_counters_stand_still(&counters);
    switches_do_not_disturb(&counters);
    regions_that_nobody_counts_are_cheap(&counters);
    let first = counters.counter(0).unwrap();
    cost(first);
    println!("a read: {}", cost(first));
    drop(counters);
    refusals();
    println!("exact");
}
