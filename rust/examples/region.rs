// SPDX-License-Identifier: LGPL-2.1-or-later
//! Names two pieces of a program, one in the other:
//! perfex --regions=out.json -e instructions,branch-misses target/release/examples/region
//! perfex stat-of out.json
use perfctr::Region;

fn main() {
    let _program = Region::new("program");
    let mut primes = vec![2u32];
    for n in 3..2000 {
        let _step = Region::new("step");
        if primes
            .iter()
            .take_while(|p| *p * *p <= n)
            .all(|p| n % p != 0)
        {
            primes.push(n);
        }
    }
    println!("{} primes", primes.len());
}
