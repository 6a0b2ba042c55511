// SPDX-License-Identifier: LGPL-2.1-or-later
//! Counts of a processor's events, exact and private, of the thread that asks for them.
//!
//! ```no_run
//! # fn work() {}
//! # fn main() -> Result<(), perfctr::Error> {
//! let counters = perfctr::Counters::open("instructions,cycles")?;
//! let instructions = counters.counter(0)?;
//! let before = instructions.read(); // 5 instructions, no system call
//! work();
//! println!("{} instructions", instructions.read() - before);
//! println!("{:?}", counters.read()?.get("cycles")); // by a system call
//! # Ok(())
//! # }
//! ```
//!
//! * [`Counters`] are the counters of the calling thread, of events by their names, as `perfex -e`
//!   takes them. Their reads are system calls, and work everywhere.
//! * [`Counter`], [`Reader`] and [`TimeStamp`] read in user mode, without a system call. The
//!   compiler refuses to keep them longer than the counters, or to give them to another thread.
//! * [`Region`] names a piece of the program, which perfex counts by the events that its user
//!   chooses.
//!
//! The crate has no dependencies but libperfctr. Its build script finds the library by pkg-config,
//! or in the directory that the environment variable `PERFCTR_LIB_DIR` names. The feature `static`
//! puts the library into the program.
#![deny(missing_docs, unsafe_op_in_unsafe_fn)]

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!("perfctr counts on Linux on x86-64");

mod counters;
mod error;
mod ffi;
mod inline;
mod region;

pub use counters::{Counters, Counts};
pub use error::Error;
pub use inline::{Counter, Reader, Snapshot, TimeStamp};
pub use region::Region;
