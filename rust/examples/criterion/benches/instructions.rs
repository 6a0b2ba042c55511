// SPDX-License-Identifier: LGPL-2.1-or-later
//! Benchmarks by instructions. Some iterations are also passes through a region, which counts its
//! own instructions exactly. A thread has one set of counters, so that the regions count the same
//! event:
//! PERFCTR_REGIONS=/tmp/out.json PERFCTR_REGIONS_EVENTS=instructions cargo bench
use criterion::{BatchSize, Criterion};
use perfctr::Region;
use perfctr_criterion::Event;
use std::arch::asm;
use std::time::Duration;

/// 2 * n + 1 instructions.
#[inline(always)]
fn work(n: u64) {
    unsafe {
        asm!("mov {0}, {1}", "2: dec {0}", "jnz 2b", out(reg) _, in(reg) n, options(nomem, nostack))
    };
}

fn main() {
    let event = Event::new("instructions").unwrap_or_else(|why| {
        eprintln!("instructions: {why}");
        std::process::exit(1);
    });
    let mut criterion = Criterion::default()
        .with_measurement(event)
        .without_plots()
        .sample_size(10)
        .nresamples(100)
        .warm_up_time(Duration::from_millis(20))
        .measurement_time(Duration::from_millis(40))
        .configure_from_args();
    for (name, n) in [("small", 1000), ("large", 11000)] {
        criterion.bench_function(name, |bencher| bencher.iter(|| work(n)));
        criterion.bench_function(&format!("{name} in a region"), |bencher| {
            bencher.iter_batched(
                || (),
                |()| {
                    let _pass = Region::new(name);
                    work(n);
                },
                BatchSize::SmallInput,
            )
        });
    }
    criterion.final_summary();
}
