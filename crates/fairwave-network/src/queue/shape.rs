//! Token-bucket shapers: delay packets that exceed the agreed rate.
//!
//! A packet leaves when the bucket holds tokens for it, as in Linux' `tbf`. At most `burst` + `rate`·t bytes leave in any
//! time t. With `peak`, a second bucket also limits the speed of a burst: `peak-burst` + `peak`·t.
//!
//! **Assumptions.** Bytes on the wire count. Packets wait in the queue before the shaper, under any discipline. As in
//! Linux, the next packet leaves that queue when it waits only for tokens; the discipline can then no longer drop it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::bucket::TokenBucket;
use super::police::{burst_of, check_burst};
use super::share::LinkShare;
use fairwave_units::config::ConfigError;
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// A token-bucket shaper. Bytes on the wire count.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ShapeConfig {
    /// The rate in the long run, or its share of the link's nominal rate: `"5 Mb/s"`, `"90 %"`.
    pub rate: LinkShare,
    /// Number of bytes that may leave immediately. Default: the bytes of 10 ms at `rate`, at least 3028 B. It holds at least
    /// one packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub burst: Option<Bytes>,
    /// The rate at which a burst leaves; the link's when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<LinkShare>,
    /// Number of bytes that may leave immediately beyond `peak`. Default 1514 B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_burst: Option<Bytes>,
}

const EXAMPLE: &str = "shape = { rate = \"5 Mb/s\", burst = \"10 kB\" }";

/// The largest packet of an Ethernet.
const MTU: u64 = 1514;

impl ShapeConfig {
    /// A shaper without a peak rate.
    pub fn new(rate: Rate, burst: Bytes) -> Self {
        ShapeConfig { rate: LinkShare::Rate(rate), burst: Some(burst), peak: None, peak_burst: None }
    }

    /// Checks the parameters of the shaper.
    ///
    /// # Errors
    /// The first key with a value that is not allowed.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.rate.check("rate", EXAMPLE)?;
        check_burst("burst", self.burst, EXAMPLE)?;
        check_burst("peak-burst", self.peak_burst, EXAMPLE)?;
        let Some(peak) = self.peak else {
            return match self.peak_burst {
                Some(burst) => {
                    let allowed = "left out without `peak`: it is the burst at that rate";
                    Err(ConfigError::new("peak-burst", burst, allowed, "peak = \"8 Mb/s\", peak-burst = \"1514 B\""))
                }
                None => Ok(()),
            };
        };
        peak.check("peak", EXAMPLE)?;
        let below = match (self.rate, peak) {
            (LinkShare::Rate(rate), LinkShare::Rate(peak)) => peak < rate,
            (LinkShare::Percent(rate), LinkShare::Percent(peak)) => peak < rate,
            _ => false,
        };
        if below {
            let allowed = format!("`rate` ({}) or more", self.rate);
            return Err(ConfigError::new("peak", peak, allowed, "rate = \"5 Mb/s\", peak = \"8 Mb/s\""));
        }
        Ok(())
    }

    /// The largest packet that can ever pass, bytes.
    pub fn largest(&self, link: Rate) -> u64 {
        let peak = if self.peak.is_some() { self.peak_burst.map_or(MTU, Bytes::get) } else { u64::MAX };
        self.depth(link).min(peak)
    }

    fn depth(&self, link: Rate) -> u64 {
        self.burst.map_or_else(|| burst_of(self.rate.rate_on(link), Span::from_millis(10)), Bytes::get)
    }
}

/// State of a shaper at one place of a link.
#[derive(Clone, Debug)]
pub(super) struct Shaper {
    bucket: TokenBucket,
    peak: Option<TokenBucket>,
}

impl Shaper {
    /// Returns the shaper for a link of this nominal rate.
    pub fn new(config: &ShapeConfig, link: Rate) -> Self {
        let bucket = TokenBucket::new(config.rate.rate_on(link), config.depth(link));
        let depth = config.peak_burst.map_or(MTU, Bytes::get);
        Shaper { bucket, peak: config.peak.map(|peak| TokenBucket::new(peak.rate_on(link), depth)) }
    }

    /// Removes the tokens for `bytes` bytes, if there are enough at `now`. Returns whether there were.
    pub fn takes(&mut self, now: Instant, bytes: u64) -> bool {
        self.bucket.fill(now);
        let holds = self.bucket.holds(bytes);
        let holds = match &mut self.peak {
            Some(peak) => {
                peak.fill(now);
                holds && peak.holds(bytes)
            }
            None => holds,
        };
        if holds {
            self.bucket.take(bytes);
            self.peak.iter_mut().for_each(|peak| peak.take(bytes));
        }
        holds
    }

    /// Time at which there are tokens for `bytes` bytes.
    pub fn ready_at(&self, bytes: u64) -> Instant {
        let peak = self.peak.as_ref().map_or(Instant::ZERO, |peak| peak.holds_at(bytes));
        self.bucket.holds_at(bytes).max(peak)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn instant(millis: u64) -> Instant {
        Instant::from_nanos(millis * 1_000_000)
    }

    fn shaper(text: &str) -> Shaper {
        let config: ShapeConfig = serde_json::from_str(text).expect(text);
        config.check().expect("in range");
        Shaper::new(&config, Rate::from_bits_per_second(1_000_000))
    }

    #[test]
    fn a_burst_leaves_at_once_and_the_rest_at_the_rate() {
        // 10 bytes per millisecond.
        let mut shaper = shaper(r#"{"rate": "80 kb/s", "burst": "2000 B"}"#);
        assert!(shaper.takes(instant(0), 1000) && shaper.takes(instant(0), 1000) && !shaper.takes(instant(0), 1000));
        assert_eq!(shaper.ready_at(1000), instant(100));
        assert!(!shaper.takes(instant(99), 1000) && shaper.takes(instant(100), 1000));
    }

    #[test]
    fn a_burst_that_is_not_written_is_ten_milliseconds_of_the_rate() {
        let config: ShapeConfig = serde_json::from_str(r#"{"rate": "10 Mb/s"}"#).expect("a shaper");
        assert_eq!(config.largest(Rate::from_bits_per_second(100_000_000)), 12_500);
    }

    #[test]
    fn a_peak_rate_spaces_a_burst() {
        let mut shaper =
            shaper(r#"{"rate": "80 kb/s", "burst": "4000 B", "peak": "400 kb/s", "peak-burst": "1000 B"}"#);
        assert!(shaper.takes(instant(0), 1000) && !shaper.takes(instant(0), 1000));
        assert_eq!(shaper.ready_at(1000), instant(20), "1000 bytes at 50 bytes each millisecond");
        let mut left = vec![0];
        for _ in 0..4 {
            let next = shaper.ready_at(1000);
            assert!(shaper.takes(next, 1000));
            left.push(next.nanos() / 1_000_000);
        }
        // 4000 bytes at once, then 10 per millisecond: the fifth packet waits for the 5000th byte.
        assert_eq!(left, [0, 20, 40, 60, 100]);
    }

    #[test]
    fn is_ready_with_the_later_bucket_and_immediately_with_tokens_in_both() {
        let mut shaper =
            shaper(r#"{"rate": "80 kb/s", "burst": "2000 B", "peak": "400 kb/s", "peak-burst": "1000 B"}"#);
        assert_eq!(shaper.ready_at(1000), instant(0), "both begin full");
        assert!(shaper.takes(instant(0), 1000));
        assert_eq!(shaper.ready_at(1000), instant(20), "by the peak");
        assert!(shaper.takes(instant(20), 1000));
        assert_eq!(shaper.ready_at(1000), instant(100), "by the rate");
    }

    #[test]
    fn rejects_impossible_settings() {
        for (text, key) in [
            (r#"{"rate": "0 b/s"}"#, "rate"),
            (r#"{"rate": "1 Mb/s", "burst": "1 B"}"#, "burst"),
            (r#"{"rate": "1 Mb/s", "peak-burst": "1514 B"}"#, "peak-burst"),
            (r#"{"rate": "1 Mb/s", "peak": "500 kb/s"}"#, "peak"),
        ] {
            let config: ShapeConfig = serde_json::from_str(text).expect(text);
            assert_eq!(config.check().expect_err(text).key, key);
        }
    }
}
