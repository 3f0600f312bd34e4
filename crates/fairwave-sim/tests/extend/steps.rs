//! A link with a periodic schedule of rates, such as a satellite's passes or a cell's busy hours.
//!
//! Source: none but the definition. A transmission that begins at s ends at the first t for which the integral of the
//! rate from s to t is the packet's size, to the nearest nanosecond.
//!
//! **Assumptions.** The schedule begins with the run. A step changes the rate of a transmission in progress. At rate
//! 0, the transmission waits.

use fairwave_core::config::{ConfigError, check_span};
use fairwave_core::link::{RateLaw, Transmitter};
use fairwave_core::random::Stream;
use fairwave_core::registry::{Checked, Law};
use fairwave_core::units::{Bytes, Instant, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One rate after the other, each for the same time; then they begin again.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct StepsConfig {
    /// Length of each step, above 0.
    pub each: Span,
    /// Rates of the steps, at least one above 0.
    pub rates: Vec<Rate>,
}

impl Checked for StepsConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_span("each", self.each, "each = \"1 s\"")?;
        if self.rates.iter().all(|rate| *rate == Rate::default()) {
            let value = if self.rates.is_empty() { "empty" } else { "0 throughout" };
            return Err(ConfigError::new("rates", value, "one rate above 0 at least", "rates = [\"1 Mb/s\"]"));
        }
        self.ends().map(|_| ())
    }
}

impl StepsConfig {
    /// Returns the amount sent from the start of the schedule to the end of each step, with 0 before the first.
    fn ends(&self) -> Result<Vec<u128>, ConfigError> {
        let each = u128::from(self.each.nanos());
        let (mut ends, mut sent) = (vec![0], 0u128);
        for rate in &self.rates {
            let step = u128::from(rate.bits_per_second()).checked_mul(each);
            sent = step.and_then(|step| sent.checked_add(step)).ok_or_else(|| {
                ConfigError::new("each", self.each, "so short that what is sent can be counted", "each = \"1 s\"")
            })?;
            ends.push(sent);
        }
        Ok(ends)
    }
}

impl Law for StepsConfig {
    const NAME: &'static str = "steps";
    const EXAMPLE: &'static str = r#"{"each": "5 s", "rates": ["2 Mb/s", "500 kb/s"]}"#;
}

impl RateLaw for StepsConfig {
    type Transmitter = Steps;

    fn transmitter(&self, _stream: Stream) -> Result<Steps, ConfigError> {
        self.check()?;
        Ok(Steps { each: u128::from(self.each.nanos()), ends: self.ends()? })
    }

    fn nominal(&self) -> Rate {
        let sum: u128 = self.rates.iter().map(|rate| u128::from(rate.bits_per_second())).sum();
        let mean = sum / (self.rates.len() as u128).max(1);
        Rate::from_bits_per_second((mean as u64).max(1))
    }
}

/// One byte in the unit of [`Steps::ends`]: bits per second times nanoseconds.
const BYTE: u128 = 8_000_000_000;

/// A schedule with its cumulative amounts.
pub struct Steps {
    /// Length of a step in nanoseconds.
    each: u128,
    /// See [`StepsConfig::ends`].
    ends: Vec<u128>,
}

impl Steps {
    /// Returns the amount that a complete schedule sends.
    fn whole(&self) -> u128 {
        self.ends[self.ends.len() - 1]
    }

    /// Returns the number of steps.
    fn steps(&self) -> u128 {
        self.ends.len() as u128 - 1
    }

    /// Returns the amount that can be sent from the start of the run to `time`.
    fn sent_by(&self, time: Instant) -> u128 {
        let (past, within) = (u128::from(time.nanos()) / self.each, u128::from(time.nanos()) % self.each);
        let step = (past % self.steps()) as usize;
        (past / self.steps()).saturating_mul(self.whole()).saturating_add(self.ends[step] + self.rate(step) * within)
    }

    /// Returns the rate of a step.
    fn rate(&self, step: usize) -> u128 {
        (self.ends[step + 1] - self.ends[step]) / self.each
    }
}

impl Transmitter for Steps {
    fn end_of(&mut self, start: Instant, size: Bytes) -> Instant {
        if size == Bytes::ZERO {
            return start;
        }
        let end = self.sent_by(start).saturating_add(u128::from(size.get()) * BYTE);
        // A transmission that ends with the schedule's last step does not wait for the next schedule, which can begin
        // with rate 0.
        let schedules = (end - 1) / self.whole();
        let rest = end - schedules * self.whole();
        let step = self.ends.partition_point(|sent| *sent < rest) - 1;
        let rate = self.rate(step);
        let within = (rest - self.ends[step] + rate / 2) / rate;
        let nanos = (schedules.saturating_mul(self.steps()) + step as u128).saturating_mul(self.each) + within;
        u64::try_from(nanos).map_or(Instant::NEVER, Instant::from_nanos)
    }

    fn capacity(&self, from: Instant, to: Instant) -> Bytes {
        Bytes::new((self.sent_by(to).saturating_sub(self.sent_by(from)) / BYTE) as u64)
    }
}

#[cfg(test)]
mod tests {
    use fairwave_core::random::Seed;

    use super::*;

    /// Steps of 1 ms at 1, 0 and 3 Mb/s: 125, 0 and 375 bytes.
    fn steps() -> Steps {
        let rates = [1_000_000, 0, 3_000_000].map(Rate::from_bits_per_second).to_vec();
        let config = StepsConfig { each: Span::from_millis(1), rates };
        config.transmitter(Seed(1).stream("rate")).expect("a law")
    }

    #[test]
    fn a_transmission_takes_what_each_step_gives_and_waits_while_that_is_nothing() {
        for (start, size, end) in [
            (0, 100, 800_000),        // within the first step
            (0, 125, 1_000_000),      // ends with it, and does not wait
            (500, 125, 2_166_667),    // 62.5 bytes, nothing, 62.5 bytes at three times the rate
            (1200, 3, 2_008_000),     // begins during rate 0
            (0, 500, 3_000_000),      // a whole schedule
            (2000, 5500, 34_000_000), // 375 bytes, ten schedules, 125 bytes
        ] {
            let end_of = steps().end_of(Instant::from_nanos(start * 1000), Bytes::new(size));
            assert_eq!(end_of, Instant::from_nanos(end), "{size} from {start}");
        }
    }

    #[test]
    fn the_capacity_is_what_the_steps_between_give() {
        let capacity =
            |from: u64, to: u64| steps().capacity(Instant::from_nanos(from * 1000), Instant::from_nanos(to * 1000));
        assert_eq!(capacity(0, 3_000_000), Bytes::new(500_000));
        assert_eq!(capacity(600, 2008), Bytes::new(53));
        assert_eq!(capacity(1000, 2000), Bytes::ZERO);
    }

    #[test]
    fn a_schedule_that_never_sends_or_never_ends_is_refused() {
        let refused = |each, rates: &[u64]| {
            let rates = rates.iter().map(|rate| Rate::from_bits_per_second(*rate)).collect();
            StepsConfig { each: Span::from_nanos(each), rates }.check().expect_err("no schedule").key
        };
        let most = u64::MAX;
        assert_eq!([refused(0, &[1]), refused(1, &[0, 0]), refused(1, &[])], ["each", "rates", "rates"]);
        assert_eq!(refused(most, &[most, most]), "each");
    }
}
