// SPDX-License-Identifier: LGPL-2.1-or-later
//! Instructions as a measurement of criterion, in place of the time.
use criterion::measurement::{Measurement, ValueFormatter};
use criterion::Throughput;
use perfctr::{Counter, Counters, Error};

/// An event of the thread that runs the benchmarks.
pub struct Event {
    counter: Counter<'static>,
}

impl Event {
    /// Counts until the program ends.
    pub fn new(name: &str) -> Result<Event, Error> {
        let counters: &'static Counters = Box::leak(Box::new(Counters::open(name)?));
        Ok(Event {
            counter: counters.counter(0)?,
        })
    }
}

impl Measurement for Event {
    type Intermediate = u64;
    type Value = u64;

    fn start(&self) -> u64 {
        self.counter.read()
    }
    fn end(&self, start: u64) -> u64 {
        self.counter.read() - start
    }
    fn add(&self, a: &u64, b: &u64) -> u64 {
        a + b
    }
    fn zero(&self) -> u64 {
        0
    }
    fn to_f64(&self, value: &u64) -> f64 {
        *value as f64
    }
    fn formatter(&self) -> &dyn ValueFormatter {
        &Plain
    }
}

/// Numbers as they are.
struct Plain;

impl ValueFormatter for Plain {
    fn format_value(&self, value: f64) -> String {
        format!("{value:.1} events")
    }
    fn scale_values(&self, _: f64, _: &mut [f64]) -> &'static str {
        "events"
    }
    fn scale_throughputs(
        &self,
        _: f64,
        throughput: &Throughput,
        values: &mut [f64],
    ) -> &'static str {
        let (n, unit) = if let Throughput::Elements(n) = throughput {
            (*n, "events/element")
        } else if let Throughput::Bytes(n) = throughput {
            (*n, "events/byte")
        } else {
            (1, "events")
        };
        values.iter_mut().for_each(|value| *value /= n as f64);
        unit
    }
    fn scale_for_machines(&self, _: &mut [f64]) -> &'static str {
        "events"
    }
}
