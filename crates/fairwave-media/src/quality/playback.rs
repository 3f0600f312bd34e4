//! Application with constant-rate playback, and the share of its reads that succeed (paper 003 §II.A).
//!
//! The application attempts to read `rate` × `every` (1 Mb/s × 1 s = 125 kB) at regular times from a playback buffer of
//! that size. The paper has two definitions, and fairwave reports both. By its *formula* a read succeeds if the goodput
//! of that interval alone exceeds a share of the rate. By its *prose* a read succeeds if the buffer holds that much,
//! including data from earlier intervals.
//!
//! **Assumptions.** The first read comes one interval after the start of the flow, so that the start of the connection
//! counts, as in the formula's "connection time". There is no read for a final incomplete interval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::throughput::{PlaybackBuffer, application_success};
use fairwave_units::config::{ConfigError, check_span};
use fairwave_units::ratio::Ratios;
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// An application that reads from a playback buffer.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct PlaybackConfig {
    /// Rate at which the application reads, above 0.
    pub rate: Rate,
    /// Size of the playback buffer, above 0. The application loses data that exceed it. Default: one read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<Bytes>,
    /// Time from one read to the next, above 0. Default 1 s.
    #[serde(default = "second")]
    pub every: Span,
    /// Shares of a read's data that must have arrived for success: each from 0 to below 1. Default 0.9.
    #[serde(with = "Ratios", default = "nine_tenths")]
    pub shares: Vec<f64>,
}

fn second() -> Span {
    Span::from_secs(1)
}

fn nine_tenths() -> Vec<f64> {
    vec![0.9]
}

impl PlaybackConfig {
    /// Checks all ranges.
    ///
    /// # Errors
    /// The first key with an invalid value.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.rate.bits_per_second() == 0 {
            return Err(ConfigError::new("rate", self.rate, "a rate above 0", "rate = \"1 Mb/s\""));
        }
        if self.buffer == Some(Bytes::ZERO) {
            return Err(ConfigError::new("buffer", "0 B", "a size above 0", "buffer = \"125 kB\""));
        }
        check_span("every", self.every, "every = \"1 s\"")?;
        if self.shares.is_empty() {
            return Err(ConfigError::new("shares", "empty", "at least one share", "shares = [0.7, 0.9]"));
        }
        match self.shares.iter().find(|share| !(0.0..1.0).contains(*share)) {
            Some(share) => Err(ConfigError::new(
                "shares",
                share,
                "a fraction from 0 to below 1, or percent in quotes (\"90 %\")",
                "shares = [0.9]",
            )),
            None => Ok(()),
        }
    }
}

/// Definition of a successful read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlaybackReading {
    /// The goodput of the interval exceeds the share of the rate.
    Goodput,
    /// The buffer holds more than the share of a read.
    Buffer,
}

impl PlaybackReading {
    /// Returns the name in results.
    pub const fn name(self) -> &'static str {
        match self {
            PlaybackReading::Goodput => "goodput",
            PlaybackReading::Buffer => "buffer",
        }
    }
}

/// Results of the reads, by definition and share.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PlaybackSuccess {
    /// Definition of success.
    pub reading: PlaybackReading,
    /// Required share.
    pub share: f64,
    /// Reads attempted.
    pub reads: u64,
    /// x % application success percentage, 0 to 100; none without reads.
    pub success: Option<f64>,
}

/// Playback buffer that records arrivals and performs the reads.
#[derive(Clone, PartialEq, Debug)]
pub struct Playback {
    rate: Rate,
    every: Span,
    shares: Vec<f64>,
    next_read: Instant,
    received: Bytes,
    goodputs: Vec<Rate>,
    buffers: Vec<PlaybackBuffer>,
}

impl Playback {
    /// Returns an application that starts at `start`.
    ///
    /// # Errors
    /// The errors of [`PlaybackConfig::check`].
    pub fn new(config: &PlaybackConfig, start: Instant) -> Result<Self, ConfigError> {
        config.check()?;
        let per_read = config.rate.bytes_in(config.every);
        let capacity = config.buffer.unwrap_or(per_read);
        Ok(Playback {
            rate: config.rate,
            every: config.every,
            shares: config.shares.clone(),
            next_read: start + config.every,
            received: Bytes::ZERO,
            goodputs: Vec::new(),
            buffers: config.shares.iter().map(|&share| PlaybackBuffer::new(capacity, per_read, share)).collect(),
        })
    }

    /// Records payload that arrived at `now`, which must not decrease from call to call.
    #[inline]
    pub fn on_received(&mut self, now: Instant, payload: Bytes) {
        if now >= self.next_read {
            self.read_until(now);
        }
        self.received += payload;
    }

    /// Performs all reads that are due by `now`. Call it once more at the end of the flow.
    pub fn read_until(&mut self, now: Instant) {
        while now >= self.next_read && self.next_read != Instant::NEVER {
            self.goodputs.push(self.received.rate_over(self.every));
            for buffer in &mut self.buffers {
                buffer.on_received(self.received);
                buffer.read();
            }
            self.received = Bytes::ZERO;
            self.next_read += self.every;
        }
    }

    /// Returns the results for every definition and share.
    pub fn results(&self) -> impl Iterator<Item = PlaybackSuccess> + '_ {
        let reads = self.goodputs.len() as u64;
        self.shares.iter().zip(&self.buffers).flat_map(move |(&share, buffer)| {
            let by_goodput = application_success([self.goodputs.as_slice()], self.rate, share);
            [(PlaybackReading::Goodput, by_goodput), (PlaybackReading::Buffer, buffer.success_percentage())]
                .map(|(reading, success)| PlaybackSuccess { reading, share, reads, success })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(json: &str) -> PlaybackConfig {
        serde_json::from_str(json).expect("a configuration")
    }

    fn instant(seconds: f64) -> Instant {
        Instant::from_seconds(seconds)
    }

    #[test]
    fn a_read_succeeds_at_nine_tenths_each_second_unless_said_otherwise() {
        let plain = config(r#"{ "rate": "1 Mb/s" }"#);
        assert_eq!((plain.every, plain.shares, plain.buffer), (Span::from_secs(1), vec![0.9], None));
        assert_eq!(PlaybackReading::Goodput.name(), "goodput");
        assert_eq!(PlaybackReading::Buffer.name(), "buffer");
    }

    /// Returns the success of reads of 125 kB, given the arrivals per second in kB.
    fn played(seconds: &[u64], share: f64) -> Vec<f64> {
        let config = PlaybackConfig { shares: vec![share], ..config(r#"{ "rate": "1 Mb/s" }"#) };
        let mut playback = Playback::new(&config, instant(10.0)).expect("in range");
        for (second, kilobytes) in seconds.iter().enumerate() {
            playback.on_received(instant(10.5 + second as f64), Bytes::new(kilobytes * 1000));
        }
        playback.read_until(instant(10.0 + seconds.len() as f64));
        playback.results().filter_map(|result| result.success).collect()
    }

    #[test]
    fn a_steady_rate_always_succeeds_by_either_wording() {
        assert_eq!(played(&[120, 120, 120, 120], 0.9), [100.0, 100.0]);
    }

    #[test]
    fn with_a_buffer_of_one_read_both_wordings_say_the_same() {
        // 90 % of a read are 112.5 kB. The second second has only 100 kB, and nothing was left from the first.
        assert_eq!(played(&[125, 100], 0.9), [50.0, 50.0]);
        // 70 % are 87.5 kB. The first read fails but still consumes its 80 kB, so nothing is left.
        assert_eq!(played(&[80, 125, 80, 125], 0.7), [50.0, 50.0]);
    }

    #[test]
    fn a_larger_buffer_lets_a_fast_second_make_up_for_a_slow_one() {
        let config = config(r#"{ "rate": "1 Mb/s", "buffer": "250 kB", "shares": [0.9] }"#);
        let mut playback = Playback::new(&config, instant(0.0)).expect("in range");
        playback.on_received(instant(0.5), Bytes::new(200_000));
        playback.on_received(instant(1.5), Bytes::new(50_000));
        playback.read_until(instant(2.0));
        assert_eq!(playback.results().map(|result| result.success).collect::<Vec<_>>(), [Some(50.0), Some(100.0)]);
    }

    #[test]
    fn seconds_without_any_arrival_are_failed_reads() {
        assert_eq!(played(&[120, 0, 0, 120], 0.9), [50.0, 50.0]);
    }

    #[test]
    fn data_that_arrives_at_a_read_serves_the_next_read() {
        let mut playback = Playback::new(&config(r#"{ "rate": "1 Mb/s" }"#), instant(0.0)).expect("in range");
        playback.on_received(instant(1.0), Bytes::new(125_000));
        playback.read_until(instant(2.0));
        let reads: Vec<(u64, Option<f64>)> = playback.results().map(|result| (result.reads, result.success)).collect();
        assert_eq!(reads, [(2, Some(50.0)), (2, Some(50.0))]);
    }

    #[test]
    fn values_out_of_range_are_refused_with_key_range_and_example() {
        let refused = |json: &str| config(json).check().expect_err("out of range").to_string();
        assert!(refused(r#"{ "rate": "0 b/s" }"#).contains("rate = \"1 Mb/s\""));
        assert!(refused(r#"{ "rate": "1 Mb/s", "buffer": "0 B" }"#).contains("`buffer` is 0 B"));
        assert!(refused(r#"{ "rate": "1 Mb/s", "every": "0 s" }"#).contains("every = \"1 s\""));
        assert!(refused(r#"{ "rate": "1 Mb/s", "shares": [] }"#).contains("at least one"));
        let error = refused(r#"{ "rate": "1 Mb/s", "shares": [0.7, 90] }"#);
        assert!(error.contains("`shares` is 90") && error.contains("or percent in quotes"), "{error}");
    }
}
