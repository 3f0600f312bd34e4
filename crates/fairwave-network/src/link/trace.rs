//! A recorded rate of a link.
//!
//! There are two forms, and the reader of a file (see `docs/links.md`) converts it to one of them:
//!
//! - a **series** of rates with their durations;
//! - **opportunities** to send, as mahimahi records them: the number of packets of 1504 bytes that may leave in each
//!   millisecond.
//!
//! **Opportunities are kept, byte for byte.** A millisecond with n opportunities sends n · 1504 B · 8 = n · 12032
//! bits, at the rate n · 12.032 Mb/s. So the volume over any whole number of milliseconds is the recorded one.
//!
//! **Deviation from mahimahi.** In mahimahi a packet leaves all at once, at the opportunity that holds its last byte.
//! Here it is sent during the millisecond before that opportunity, so it leaves up to 1 ms earlier and no later. In
//! both, an opportunity is lost if no packet waits, and the next packet uses the rest of an opportunity. In mahimahi
//! times start at 1 ms. An opportunity at 0 ms is added to the first millisecond.
//!
//! **Assumptions.** The trace begins with the run. As in a schedule, a transmission continues at the new rate when
//! the rate changes. The end of a transmission is rounded to the nearest nanosecond; the next transmission sends the
//! remainder. Buffers are sized by the mean rate. Disciplines that compute with the rate learn each step of a trace
//! if steps last 100 ms or longer. For other traces they learn the mean of each 100 ms, because a rate within a
//! millisecond has no meaning.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::course::{Course, Segments};
use super::{RateLaw, RecordedLength, Transmitter};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Follows a recorded trace: from a file (mahimahi, Pensieve, OpenNetLab, rattan, CSV) or written in the scenario.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("anyOf" = [{ "required": ["file"] }, { "required": ["series"] }, { "required": ["opportunities"] }]))]
pub struct TraceConfig {
    /// A file with the trace; its path is relative to the scenario's folder. docs/links.md lists the formats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The file's format, needed when the content fits several formats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<TraceFormat>,
    /// The direction to read from an OpenNetLab file that has both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<TracePart>,
    /// Instead of a file: pairs of a duration in milliseconds and a rate in kb/s: `"100 2000, 100 850.5"`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub series: String,
    /// Instead of a file: one character per millisecond, the number of packets of 1504 B that may be sent in it: `0` to
    /// `9`, then `a` (10) to `z` (35) and `A` (36) to `Z` (61). Blanks are ignored.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub opportunities: String,
    /// What follows when the trace ends before the run; needed in that case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<After>,
}

/// Formats of files with traces.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TraceFormat {
    /// A time in milliseconds per line, at which 1504 bytes may be sent.
    Mahimahi,
    /// Two columns: seconds, and the rate in Mb/s that has held since the row before.
    Pensieve,
    /// JSON: `trace_pattern` with `duration` (ms) and `capacity` (kb/s).
    Opennetlab,
    /// TOML: `StaticBwConfig`, `TraceBwConfig`, `RepeatedBwPatternConfig`.
    Rattan,
    /// A table with a head that names quantities and units.
    Csv,
}

/// A direction of an OpenNetLab file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TracePart {
    /// Its `uplink`.
    Uplink,
    /// Its `downlink`.
    Downlink,
}

/// What follows when a trace ends before the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum After {
    /// The trace begins again.
    Repeat,
    /// The last rate holds.
    Hold,
}

/// Bits per second of one opportunity within a millisecond.
const OPPORTUNITY: u64 = 1504 * 8 * 1000;

/// Disciplines do not learn shorter steps one by one.
const REPORTED: Span = Span::from_millis(100);

const SERIES: &str = "series = \"100 2000, 100 850.5\"";
const OPPORTUNITIES: &str = "opportunities = \"0120013\"";

/// Parses a decimal number without a sign, in thousandths (`places` = 3) or millionths (6) of its unit. `None` for
/// text that is not a number, has more places, or is too large.
fn scaled(text: &str, places: u32) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) || fraction.len() > places as usize {
        return None;
    }
    let parsed = |text: &str| if text.is_empty() { Some(0) } else { text.parse::<u64>().ok() };
    let rest = parsed(fraction)? * 10u64.pow(places - fraction.len() as u32);
    parsed(whole)?.checked_mul(10u64.pow(places))?.checked_add(rest)
}

/// Summary of a trace.
#[derive(Clone, Copy, Default)]
struct Totals {
    /// Nanoseconds.
    length: u64,
    /// In bits per second times nanoseconds.
    sent: u128,
    /// Bits per second.
    highest: u64,
    /// Whether the volume exceeds the range of the counters.
    too_much: bool,
}

impl Totals {
    fn add(&mut self, nanos: u64, rate: u64) {
        self.too_much |= self.length.checked_add(nanos).is_none() || self.sent >= 1 << 100;
        self.length = self.length.saturating_add(nanos);
        self.sent = self.sent.saturating_add(u128::from(nanos) * u128::from(rate));
        self.highest = self.highest.max(rate);
    }

    /// The mean rate, 1 b/s or more.
    fn mean(&self) -> Rate {
        let mean = self.sent / u128::from(self.length.max(1));
        Rate::from_bits_per_second(u64::try_from(mean).unwrap_or(u64::MAX).max(1))
    }
}

impl TraceConfig {
    /// Form and text of the trace; `None` if it is a file.
    fn given(&self) -> Result<Option<TraceText<'_>>, ConfigError> {
        match (&self.file, self.series.is_empty(), self.opportunities.is_empty()) {
            (Some(file), true, true) if !file.is_empty() => Ok(None),
            (None, false, true) => Ok(Some(TraceText::Series(&self.series))),
            (None, true, false) => Ok(Some(TraceText::Opportunities(&self.opportunities))),
            (None, true, true) => {
                let allowed = "given by one of `file`, `series` and `opportunities`";
                Err(ConfigError::new("file", "missing", allowed, "file = \"lte.csv\""))
            }
            (file, ..) => {
                let value = file.as_ref().map_or("beside another key".to_owned(), |file| format!("`{file}`"));
                let allowed = "exactly one of `file`, `series` and `opportunities`";
                Err(ConfigError::new("file", value, allowed, "file = \"lte.csv\""))
            }
        }
    }

    /// Summary of the trace; `None` if its file has not been read.
    fn totals(&self) -> Result<Option<Totals>, ConfigError> {
        let Some(given) = self.given()? else { return Ok(None) };
        let mut totals = Totals::default();
        given.read_steps(|nanos, rate| totals.add(nanos, rate))?;
        // The limit leaves room for the sum over all periods of a run.
        if totals.too_much || totals.sent >= 1 << 100 {
            let allowed = "at most about 10²⁰ bits and 500 years in all";
            return Err(given.refused("more than can be counted".to_owned(), allowed));
        }
        if totals.highest == 0 {
            return Err(given.refused("0 throughout".to_owned(), "such that something is sent"));
        }
        Ok(Some(totals))
    }

    /// Summary of a trace that can be run.
    fn read(&self) -> Result<Totals, ConfigError> {
        self.totals()?.ok_or_else(|| {
            // A law reads no files: the reader of the scenario reads them and writes their contents into the scenario.
            let file = self.file.as_deref().unwrap_or_default();
            let allowed = "read beforehand: `fairwave` does so, and `fairwave.load` in Python";
            ConfigError::new("file", format!("`{file}`"), allowed, SERIES)
        })
    }
}

/// A trace as the scenario writes it.
#[derive(Clone, Copy)]
enum TraceText<'t> {
    Series(&'t str),
    Opportunities(&'t str),
}

impl TraceText<'_> {
    fn refused(self, value: String, allowed: &str) -> ConfigError {
        match self {
            TraceText::Series(_) => ConfigError::new("series", value, allowed, SERIES),
            TraceText::Opportunities(_) => ConfigError::new("opportunities", value, allowed, OPPORTUNITIES),
        }
    }

    /// Calls `step` with the duration (nanoseconds, above 0) and the rate (bits per second) of each step.
    fn read_steps(self, mut step: impl FnMut(u64, u64)) -> Result<(), ConfigError> {
        match self {
            TraceText::Series(text) => {
                for (place, pair) in text.split(',').enumerate() {
                    let mut words = pair.split_ascii_whitespace();
                    let parsed = match (words.next(), words.next(), words.next()) {
                        (Some(length), Some(rate), None) => scaled(length, 6).filter(|l| *l > 0).zip(scaled(rate, 3)),
                        _ => None,
                    };
                    let Some((length, rate)) = parsed else {
                        let allowed = "pairs of milliseconds above 0 (at most 6 places) and kb/s from 0 up (at most 3)";
                        return Err(self.refused(format!("`{}` at pair {}", pair.trim(), place + 1), allowed));
                    };
                    step(length, rate);
                }
            }
            TraceText::Opportunities(text) => {
                for (place, mark) in text.bytes().filter(|byte| !byte.is_ascii_whitespace()).enumerate() {
                    let count = match mark {
                        b'0'..=b'9' => mark - b'0',
                        b'a'..=b'z' => mark - b'a' + 10,
                        b'A'..=b'Z' => mark - b'A' + 36,
                        _ => {
                            let value = format!("`{}` at millisecond {}", char::from(mark), place + 1);
                            return Err(self.refused(value, "made of 0 to 9, a to z and A to Z"));
                        }
                    };
                    step(1_000_000, u64::from(count) * OPPORTUNITY);
                }
            }
        }
        Ok(())
    }

    /// The segments. Consecutive steps of one rate form one segment.
    fn segments(self, totals: Totals) -> Result<Segments, ConfigError> {
        let (mut segments, mut at, mut last) = (Segments::default(), 0, None);
        self.read_steps(|nanos, rate| {
            if last != Some(rate) {
                segments.push(Span::from_nanos(at), Rate::from_bits_per_second(rate));
                last = Some(rate);
            }
            at += nanos;
        })?;
        segments.end(Some(Span::from_nanos(totals.length)));
        Ok(segments)
    }
}

impl Checked for TraceConfig {
    fn check(&self) -> Result<(), ConfigError> {
        let beside = |key: &str, is: bool| match is && self.file.is_none() {
            true => {
                Err(ConfigError::new(key, "without a file", "left out where there is no `file`", "file = \"lte.csv\""))
            }
            false => Ok(()),
        };
        beside("format", self.format.is_some())?;
        beside("part", self.part.is_some())?;
        self.totals().map(|_| ())
    }
}

impl Law for TraceConfig {
    const NAME: &'static str = "trace";
    const EXAMPLE: &'static str = r#"{"series": "100 2000, 100 850.5, 50 0", "after": "repeat"}"#;
}

impl RateLaw for TraceConfig {
    type Transmitter = Box<Trace>;

    fn transmitter(&self, _stream: Stream) -> Result<Box<Trace>, ConfigError> {
        let totals = self.read()?;
        let given = self.given()?.unwrap_or(TraceText::Series(""));
        let segments = given.segments(totals)?;
        let repeats = self.after == Some(After::Repeat);
        let dense = segments.shortest() < REPORTED;
        let changes_until = (dense && !repeats).then_some(Instant::from_nanos(totals.length));
        Ok(Box::new(Trace { course: Course::new(segments, repeats), dense, changes_until }))
    }

    /// The mean rate; 1 b/s for a trace that has not been read.
    fn nominal(&self) -> Rate {
        self.read().map_or(Rate::from_bits_per_second(1), |totals| totals.mean())
    }

    fn highest(&self) -> Rate {
        self.read().map_or(Rate::from_bits_per_second(1), |totals| Rate::from_bits_per_second(totals.highest))
    }

    fn recorded(&self) -> Option<RecordedLength> {
        let length = Span::from_nanos(self.read().ok()?.length);
        Some(RecordedLength { length, goes_on: self.after.is_some() })
    }
}

/// A running trace.
pub struct Trace {
    course: Course,
    /// Steps are too short to be reported one by one.
    dense: bool,
    /// End of the changes, for a trace with short steps.
    changes_until: Option<Instant>,
}

impl Transmitter for Trace {
    #[inline]
    fn end_of(&mut self, start: Instant, size: Bytes) -> Instant {
        self.course.end_of(start, size)
    }

    fn capacity(&self, from: Instant, to: Instant) -> Bytes {
        self.course.capacity(from, to)
    }

    fn change_from(&self, at: Instant) -> Option<(Instant, Rate)> {
        if !self.dense {
            return self.course.change_from(at);
        }
        let reported = at.nanos().checked_next_multiple_of(REPORTED.nanos()).map(Instant::from_nanos)?;
        if self.changes_until.is_some_and(|end| reported > end + REPORTED) {
            return None;
        }
        Some((reported, self.course.capacity(reported, reported + REPORTED).rate_over(REPORTED)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    fn trace(json: &str) -> TraceConfig {
        serde_json::from_str(json).expect("a trace")
    }

    fn running(json: &str) -> Box<Trace> {
        trace(json).transmitter(Seed(1).stream("rate")).expect("a law")
    }

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn a_series_says_how_long_and_how_fast_and_then_begins_again_or_holds() {
        // 10 ms at 1 Mb/s are 1250 bytes, 10 ms at 4 Mb/s 5000.
        let repeats = running(r#"{ "series": "10 1000, 10 4000", "after": "repeat" }"#);
        assert_eq!(repeats.capacity(Instant::ZERO, ms(50)).get(), 2 * 6250 + 1250);
        let mut holds = running(r#"{ "series": "10 1000, 10 4000", "after": "hold" }"#);
        assert_eq!(holds.capacity(Instant::ZERO, ms(50)).get(), 1250 + 4 * 5000);
        assert_eq!(holds.end_of(ms(9), Bytes::new(125 + 500)), ms(11));
    }

    #[test]
    fn lengths_are_read_to_the_nanosecond_and_rates_to_the_bit() {
        let trace = trace(r#"{ "series": "0.000007 0.001, 2.5 850.125" }"#);
        assert_eq!(trace.recorded(), Some(RecordedLength { length: Span::from_nanos(2_500_007), goes_on: false }));
        assert_eq!(trace.highest().bits_per_second(), 850_125);
    }

    #[test]
    fn keeps_all_opportunities_of_1504_bytes() {
        let counts = [0u64, 1, 2, 0, 0, 13, 61];
        let mut law = running(r#"{ "opportunities": "0120 0dZ", "after": "repeat" }"#);
        for (until, _) in counts.iter().enumerate() {
            let bytes: u64 = counts[..=until].iter().sum::<u64>() * 1504;
            assert_eq!(law.capacity(Instant::ZERO, ms(until as u64 + 1)).get(), bytes);
        }
        let whole = 77 * 1504;
        assert_eq!(law.capacity(Instant::ZERO, ms(7_000_000)).get(), whole * 1_000_000);
        // A full packet takes a whole opportunity. It leaves with the opportunity and waits over milliseconds without
        // one.
        let ends: Vec<_> = [0, 2, 2, 3].map(|start| law.end_of(ms(start), Bytes::new(1504)).nanos()).into();
        assert_eq!(ends, [2_000_000, 2_500_000, 2_500_000, 5_076_923]);
    }

    #[test]
    fn buffers_are_sized_by_the_mean() {
        assert_eq!(trace(r#"{ "series": "30 1000, 10 5000" }"#).nominal().bits_per_second(), 2_000_000);
        assert_eq!(trace(r#"{ "opportunities": "1000" }"#).nominal().bits_per_second(), 3_008_000);
    }

    #[test]
    fn disciplines_are_told_of_long_steps_and_of_the_mean_of_short_ones() {
        let told = |law: &Trace, at: Instant| law.change_from(at).map(|(at, rate)| (at, rate.bits_per_second()));
        let long = running(r#"{ "series": "100 1000, 200 4000", "after": "hold" }"#);
        assert_eq!(told(&long, Instant::from_nanos(1)), Some((ms(100), 4_000_000)));
        assert_eq!(told(&long, ms(101)), None);
        let short = running(r#"{ "series": "50 1000, 50 3000, 100 500", "after": "hold" }"#);
        assert_eq!(told(&short, Instant::ZERO), Some((Instant::ZERO, 2_000_000)));
        assert_eq!(told(&short, Instant::from_nanos(1)), Some((ms(100), 500_000)));
        assert_eq!(told(&short, ms(10_000)), None, "the last rate holds");
        let again = running(r#"{ "series": "50 1000, 50 3000, 100 500", "after": "repeat" }"#);
        assert_eq!(told(&again, ms(9_901)), Some((ms(10_000), 2_000_000)));
    }

    #[test]
    fn rejects_text_that_is_not_a_trace_with_its_place() {
        let refused = |json: &str| trace(json).check().map_err(|error| format!("{} {}", error.key, error.value));
        assert_eq!(refused(r#"{ "series": "10 1000, 10 -5" }"#), Err("series `10 -5` at pair 2".to_owned()));
        assert_eq!(refused(r#"{ "series": "10 1000, 0 5" }"#), Err("series `0 5` at pair 2".to_owned()));
        assert_eq!(refused(r#"{ "series": "10 nan" }"#), Err("series `10 nan` at pair 1".to_owned()));
        assert_eq!(refused(r#"{ "series": "10 5," }"#), Err("series `` at pair 2".to_owned()));
        assert_eq!(refused(r#"{ "series": "10 0, 5 0" }"#), Err("series 0 throughout".to_owned()));
        assert_eq!(refused(r#"{ "series": "1e3 5" }"#), Err("series `1e3 5` at pair 1".to_owned()));
        assert_eq!(refused(r#"{ "opportunities": "01-" }"#), Err("opportunities `-` at millisecond 3".to_owned()));
        assert_eq!(
            refused(r#"{ "series": "18000000000000 18000000000000000" }"#),
            Err("series more than can be counted".to_owned())
        );
        assert_eq!(refused("{}"), Err("file missing".to_owned()));
        assert_eq!(refused(r#"{ "file": "a", "series": "1 1" }"#), Err("file `a`".to_owned()));
        assert_eq!(refused(r#"{ "series": "1 1", "format": "csv" }"#), Err("format without a file".to_owned()));
        assert_eq!(refused(r#"{ "file": "a", "format": "csv" }"#), Ok(()));
    }

    #[test]
    fn a_file_that_nobody_has_read_is_no_law_yet() {
        let config = trace(r#"{ "file": "lte.csv" }"#);
        assert_eq!(config.recorded(), None);
        assert_eq!(config.transmitter(Seed(1).stream("rate")).map(|_| ()).expect_err("unread").key, "file");
    }
}
