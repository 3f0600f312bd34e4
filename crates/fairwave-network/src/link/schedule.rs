//! A sequence of rates at known times.
//!
//! A transmission continues at the new rate when the rate changes. If b₁ bits of a packet were sent at rate r₁, the
//! remaining b₂ bits take b₂/r₂. While the rate is 0, a transmission waits.
//!
//! **Assumptions.** The end of a transmission is rounded to the nearest nanosecond; the next transmission sends the
//! remainder. The nominal rate, for example for a buffer's size, is the mean over a period if the schedule repeats,
//! otherwise its first rate above 0. A buffer does not change during the run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RateLaw;
use super::course::{Course, Segments};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::timed::{Step, check_steps};
use fairwave_units::units::{Rate, Span};

/// Several rates, one after the other at known times. A packet in transmission at a change continues at the new rate;
/// at rate 0 it waits. A list of steps, `rate = [{ at = "0 s", is = "2 Mb/s" }, { at = "20 s", is = "500 kb/s" }]`, is
/// short for it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ScheduleConfig {
    /// The rates in ascending order of time, the first from 0 s on; at least one is above 0.
    pub steps: Vec<Step<Rate>>,
    /// The schedule repeats with this period, which is longer than the time of its last step. Default: no repetition;
    /// the last rate holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "it does not, and the last rate holds"))]
    pub repeat_after: Option<Span>,
}

const EXAMPLE: &str = "steps = [{ at = \"0 s\", is = \"2 Mb/s\" }, { at = \"20 s\", is = \"500 kb/s\" }]";

impl Checked for ScheduleConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_steps(&self.steps, EXAMPLE)?;
        if self.steps.iter().all(|step| step.is == Rate::default()) {
            return Err(ConfigError::new(
                "steps",
                "0 b/s throughout",
                "such that one rate at least is above 0",
                EXAMPLE,
            ));
        }
        let last = self.steps.last().map_or(Span::ZERO, |step| step.at);
        if let Some(period) = self.repeat_after.filter(|period| *period <= last) {
            let (allowed, example) =
                (format!("later than the last step at {last}"), format!("repeat-after = \"{}\"", last * 2));
            return Err(ConfigError::new("repeat-after", period, allowed, example));
        }
        self.segments().map(|_| ())
    }
}

impl ScheduleConfig {
    /// Returns the steps with the volume before each, and the volume of a period.
    fn segments(&self) -> Result<Segments, ConfigError> {
        let mut segments = Segments::default();
        for step in &self.steps {
            segments.push(step.at, step.is);
        }
        let refuse = |value: &str, allowed: &str| Err(ConfigError::new("steps", value, allowed, EXAMPLE));
        if segments.end(self.repeat_after).is_none() {
            return refuse("more than can be counted", "at most about 10²⁰ bits in all");
        }
        if self.repeat_after.is_some() && segments.sent() == 0 {
            return refuse("0 b/s but for no time", "such that a period sends something");
        }
        Ok(segments)
    }
}

impl Law for ScheduleConfig {
    const NAME: &'static str = "schedule";
    const EXAMPLE: &'static str = r#"{"steps": [{"at": "0 s", "is": "2 Mb/s"}, {"at": "5 s", "is": "500 kb/s"}]}"#;
}

impl RateLaw for ScheduleConfig {
    type Transmitter = Box<Course>;

    fn transmitter(&self, _stream: Stream) -> Result<Box<Course>, ConfigError> {
        self.check()?;
        Ok(Box::new(Course::new(self.segments()?, self.repeat_after.is_some())))
    }

    fn nominal(&self) -> Rate {
        match (self.repeat_after, self.segments()) {
            (Some(period), Ok(segments)) if period > Span::ZERO => segments.mean(),
            _ => {
                let first = self.steps.iter().map(|step| step.is).find(|rate| *rate > Rate::default());
                first.unwrap_or(Rate::from_bits_per_second(1))
            }
        }
    }

    fn highest(&self) -> Rate {
        self.steps.iter().map(|step| step.is).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Transmitter;
    use super::super::course::BYTE;
    use super::*;
    use fairwave_units::random::Seed;
    use fairwave_units::units::{Bytes, Instant};

    fn config(steps: &[(u64, u64)], repeat_after: Option<u64>) -> ScheduleConfig {
        let step = |(at, is): &(u64, u64)| Step::new(Span::from_micros(*at), Rate::from_bits_per_second(*is));
        ScheduleConfig { steps: steps.iter().map(step).collect(), repeat_after: repeat_after.map(Span::from_micros) }
    }

    fn schedule(steps: &[(u64, u64)], repeat_after: Option<u64>) -> Box<Course> {
        config(steps, repeat_after).transmitter(Seed(1).stream("rate")).expect("a law")
    }

    const M: u64 = 1_000_000;

    #[test]
    fn a_packet_that_crosses_a_change_takes_what_each_rate_gives_of_it() {
        // 1000 bytes at 2 Mb/s take 4 ms. From 8 ms on: 500 bytes by the change at 10 ms, the others at 500 kb/s.
        let mut slower = schedule(&[(0, 2 * M), (10_000, M / 2)], None);
        let end = |law: &mut Course, start: u64, size: u64| {
            law.end_of(Instant::from_nanos(start * 1000), Bytes::new(size)).nanos() / 1000
        };
        assert_eq!(end(&mut slower, 0, 1000), 4_000);
        assert_eq!(end(&mut slower, 6_000, 1000), 10_000, "it ends with the step");
        assert_eq!(end(&mut slower, 8_000, 1000), 18_000);
        assert_eq!(end(&mut slower, 20_000, 1000), 36_000, "the last rate holds");
    }

    #[test]
    fn a_transmission_waits_while_the_rate_is_0_and_ends_never_if_it_stays_0() {
        let mut pause = schedule(&[(0, M), (1_000, 0), (3_000, M)], None);
        assert_eq!(pause.end_of(Instant::ZERO, Bytes::new(250)), Instant::from_nanos(4_000_000));
        let mut end = schedule(&[(0, M), (1_000, 0)], None);
        assert_eq!(end.end_of(Instant::ZERO, Bytes::new(125)), Instant::from_nanos(1_000_000));
        assert_eq!(end.end_of(Instant::from_nanos(1_000_000), Bytes::new(1)), Instant::NEVER);
        assert_eq!(end.end_of(Instant::from_nanos(1_000_000), Bytes::ZERO), Instant::from_nanos(1_000_000));
    }

    #[test]
    fn a_schedule_that_repeats_begins_again_and_one_that_does_not_holds_its_last_rate() {
        let capacity = |law: &Course, from: u64, to: u64| {
            law.capacity(Instant::from_nanos(from * 1000), Instant::from_nanos(to * 1000)).get()
        };
        let repeats = schedule(&[(0, M), (1_000, 3 * M)], Some(2_000));
        assert_eq!([capacity(&repeats, 0, 2_000), capacity(&repeats, 0, 5_000)], [500, 1125]);
        let holds = schedule(&[(0, M), (1_000, 3 * M)], None);
        assert_eq!([capacity(&holds, 0, 2_000), capacity(&holds, 0, 5_000)], [500, 1625]);
        let mut repeats = repeats;
        assert_eq!(repeats.end_of(Instant::ZERO, Bytes::new(5_000_000)), Instant::from_nanos(20_000_000_000));
        assert_eq!(repeats.end_of(Instant::from_nanos(20_000_500_000), Bytes::new(250)).nanos(), 20_001_500_000);
    }

    #[test]
    fn buffers_are_sized_by_the_mean_of_what_repeats_and_by_the_first_rate_of_what_does_not() {
        assert_eq!(config(&[(0, M), (500, 4 * M)], Some(1_000)).nominal().bits_per_second(), 2_500_000);
        assert_eq!(config(&[(0, 0), (500, 4 * M), (600, M)], None).nominal().bits_per_second(), 4 * M);
        assert_eq!(config(&[(0, M), (500, 4 * M)], None).highest().bits_per_second(), 4 * M);
    }

    #[test]
    fn reports_changes_with_time_and_rate() {
        let told = |law: &Course, from: u64| {
            law.change_from(Instant::from_nanos(from)).map(|(at, rate)| (at.nanos(), rate.bits_per_second()))
        };
        let holds = schedule(&[(0, M), (1_000, 3 * M)], None);
        assert_eq!(
            [told(&holds, 0), told(&holds, 1), told(&holds, 1_000_001)],
            [Some((0, M)), Some((1_000_000, 3 * M)), None]
        );
        let repeats = schedule(&[(0, M), (1_000, 3 * M)], Some(2_000));
        assert_eq!([told(&repeats, 1_000_001), told(&repeats, 2_000_000)], [Some((2_000_000, M)); 2]);
        assert_eq!(told(&repeats, 2_000_001), Some((3_000_000, 3 * M)));
    }

    #[test]
    fn bits_left_by_a_step_wait_for_the_next() {
        // 15 of 16 bits by 60 µs, and nothing after it; or the last one within a nanosecond from 100 µs on.
        let never =
            schedule(&[(0, 0), (24, 3_000_000_000), (60, 0)], None).end_of(Instant::from_nanos(59_995), Bytes::new(2));
        assert_eq!(never, Instant::NEVER);
        let later = [(0, 0), (24, 3_000_000_000), (60, 0), (100, 1_000_000_000)];
        let end = schedule(&later, None).end_of(Instant::from_nanos(59_995), Bytes::new(2));
        assert_eq!(end, Instant::from_nanos(100_001));
    }

    #[test]
    fn a_million_packets_take_what_the_rates_give() {
        // 66 and 1500 bytes at 100 and 33.3 Gb/s in turn, each for 10 µs: 66.65 Gb/s.
        for size in [66, 1500] {
            let mut law = schedule(&[(0, 100_000 * M), (10, 33_300 * M)], Some(20));
            let end = (0..1_000_000).fold(Instant::ZERO, |end, _| law.end_of(end, Bytes::new(size)));
            // A nanosecond at 100 Gb/s is 12.5 bytes.
            let sent = law.capacity(Instant::ZERO, end).get();
            assert!(sent.abs_diff(size * 1_000_000) <= 13, "{sent} bytes until {end}");
        }
    }

    #[test]
    fn a_schedule_out_of_order_or_that_never_sends_is_refused() {
        let refused = |steps: &[(u64, u64)], after| config(steps, after).check().map_err(|error| error.key);
        assert_eq!(refused(&[(0, M), (20, M), (10, M)], None), Err("steps".to_owned()));
        assert_eq!(refused(&[(5, M)], None), Err("steps".to_owned()));
        assert_eq!(refused(&[(0, 0), (5, 0)], None), Err("steps".to_owned()));
        assert_eq!(refused(&[(0, M), (20, M)], Some(20)), Err("repeat-after".to_owned()));
        assert_eq!(refused(&[(0, u64::MAX), (u64::MAX / 1000, 1)], None), Err("steps".to_owned()));
        assert_eq!(refused(&[(0, M), (20, 0)], Some(21)), Ok(()));
    }

    /// The same law, computed nanosecond by nanosecond: the end, and the remainder for the next transmission.
    fn plain(steps: &[(u64, u64)], period: Option<u64>, start: u64, size: u64, owed: i128) -> Option<(u64, i128)> {
        let (mut time, mut left) = (start, (u128::from(size) * BYTE) as i128 + owed);
        if left <= 0 {
            return Some((start, left));
        }
        for _ in 0..1_000_000 {
            let within = period.map_or(time, |period| time % period);
            let rate = i128::from(steps.iter().rfind(|(at, _)| *at <= within)?.1);
            if left <= rate {
                // Rounded to the nearest nanosecond.
                return Some(if left * 2 >= rate { (time + 1, left - rate) } else { (time, left) });
            }
            left -= rate;
            time += 1;
        }
        None
    }

    proptest! {
        #[test]
        fn arithmetic_gives_what_counting_nanosecond_by_nanosecond_gives(
            lengths in prop::collection::vec((1u64..40, 0u64..4), 1..60), repeats: bool,
            packets in prop::collection::vec((0u64..900, 1u64..120), 1..12),
        ) {
            let (mut at, mut steps) = (0, Vec::new());
            for (length, rate) in &lengths {
                steps.push((at, rate * 1_000_000_000));
                at += length;
            }
            let period = repeats.then_some(at);
            let step = |(at, is): &(u64, u64)| Step::new(Span::from_nanos(*at), Rate::from_bits_per_second(*is));
            let config = ScheduleConfig { steps: steps.iter().map(step).collect(), repeat_after: period.map(Span::from_nanos) };
            prop_assume!(config.check().is_ok());
            let mut law = config.transmitter(Seed(1).stream("rate")).expect("a law");
            let (mut start, mut owed) = (0, 0);
            for (gap, size) in packets {
                // Half of the packets follow the previous one immediately.
                let gap = gap.saturating_sub(450);
                start += gap;
                let end = law.end_of(Instant::from_nanos(start), Bytes::new(size));
                let expected = plain(&steps, period, start, size, if gap == 0 { owed } else { 0 });
                prop_assert_eq!(end, expected.map_or(Instant::NEVER, |(end, _)| Instant::from_nanos(end)));
                let Some(found) = expected else { break };
                (start, owed) = found;
            }
        }
    }
}
