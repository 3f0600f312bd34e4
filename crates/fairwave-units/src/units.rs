//! Physical quantities: points in time, spans of time, rates and sizes.
//!
//! Times are whole nanoseconds and rates whole bits per second, so arithmetic is exact and the same on every
//! machine. A megabit is 10⁶ bits and a kilobyte 10³ bytes, as in the literature. Public interfaces of fairwave
//! use these types instead of bare numbers.

use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, Sub};
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A point in time, in nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Instant(u64);

/// A length of time in nanoseconds; never negative.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Span(u64);

/// A rate in bits per second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Rate(u64);

/// A size in bytes. The user of the type states which bytes: payload, IP or wire.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Bytes(u64);

/// A time of transmission in units of 2⁻³² ns, below [`FineSpan::LIMIT`].
///
/// Instants are whole nanoseconds, so the end of a transmission is rounded. A transmission that follows another at once
/// begins with the [`Carry`] of that one: rounding errors do not add up.
///
/// The number inside is half a nanosecond more than the time. So its high half is the time rounded to the nearest
/// nanosecond.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FineSpan(u64);

/// The part of a transmission that its rounded end leaves to the next transmission, in units of 2⁻³² ns. Half a
/// nanosecond more than the time from the rounded end to the exact end, which may be negative.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carry(u32);

/// The largest error of a clock's frequency, in parts per billion.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Skew(u64);

impl Skew {
    /// A skew in parts per million.
    pub const fn from_ppm(ppm: u32) -> Self {
        Skew(ppm as u64 * 1000)
    }

    /// Parts per billion.
    pub const fn ppb(self) -> u64 {
        self.0
    }
}

const NANOS_PER_SECOND: u64 = 1_000_000_000;

impl Instant {
    /// The start of the run.
    pub const ZERO: Instant = Instant(0);
    /// Later than every other instant. A timer with this deadline is not armed.
    pub const NEVER: Instant = Instant(u64::MAX);

    /// The instant `nanos` nanoseconds after the start of the run.
    pub const fn from_nanos(nanos: u64) -> Self {
        Instant(nanos)
    }

    /// The instant `seconds` after the start of the run, rounded to the nearest nanosecond.
    pub fn from_seconds(seconds: f64) -> Self {
        Instant(Span::from_seconds(seconds).0)
    }

    /// Nanoseconds since the start of the run.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start of the run.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// The time since `earlier`; zero if `earlier` is later.
    pub const fn span_since(self, earlier: Instant) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// A span of length zero.
    pub const ZERO: Span = Span(0);
    /// The longest span.
    pub const MAX: Span = Span(u64::MAX);

    /// A span of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Span(nanos)
    }

    /// A span of `micros` microseconds.
    pub const fn from_micros(micros: u64) -> Self {
        Span(micros.saturating_mul(1_000))
    }

    /// A span of `millis` milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Span(millis.saturating_mul(1_000_000))
    }

    /// A span of whole seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Span(seconds.saturating_mul(NANOS_PER_SECOND))
    }

    /// A span of `seconds`, rounded to the nearest nanosecond. Negative numbers and NaN give zero.
    pub fn from_seconds(seconds: f64) -> Self {
        Span(libm::round(seconds * NANOS_PER_SECOND as f64) as u64)
    }

    /// Length in nanoseconds.
    pub const fn nanos(self) -> u64 {
        self.0
    }

    /// Length in seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / NANOS_PER_SECOND as f64
    }

    /// Length in milliseconds.
    pub fn millis(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// This span times a non-negative factor, rounded to the nearest nanosecond.
    pub fn scaled(self, factor: f64) -> Span {
        Span(libm::round(self.0 as f64 * factor) as u64)
    }

    /// The difference, or zero if `other` is longer.
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl Rate {
    /// A rate of `bits` bits per second.
    pub const fn from_bits_per_second(bits: u64) -> Self {
        Rate(bits)
    }

    /// Bits per second.
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }

    /// The time to transmit `size` at this rate, rounded to the nearest nanosecond. At rate zero, [`Span::MAX`].
    pub const fn time_for(self, size: Bytes) -> Span {
        if self.0 == 0 {
            return Span::MAX;
        }
        match size.0.checked_mul(8 * NANOS_PER_SECOND) {
            Some(scaled) => Span((scaled + self.0 / 2) / self.0),
            None => Span(((size.0 as u128 * 8 * NANOS_PER_SECOND as u128) / self.0 as u128) as u64),
        }
    }

    /// The time to transmit `size` at this rate to 2⁻³² ns; none if it is not below [`FineSpan::LIMIT`].
    pub const fn fine_time_for(self, size: Bytes) -> Option<FineSpan> {
        let scaled = size.0 as u128 * 8 * NANOS_PER_SECOND as u128;
        if self.0 == 0 || scaled >= self.0 as u128 * FineSpan::LIMIT.0 as u128 {
            return None;
        }
        // A time of whole nanoseconds is the most frequent, and needs no long division.
        let (whole, rest) = if scaled <= u64::MAX as u128 {
            (scaled as u64 / self.0, scaled as u64 % self.0)
        } else {
            ((scaled / self.0 as u128) as u64, (scaled % self.0 as u128) as u64)
        };
        let fraction = if rest == 0 { 0 } else { (((rest as u128) << 32) + (self.0 / 2) as u128) / self.0 as u128 };
        Some(FineSpan((whole << 32) + fraction as u64 + HALF as u64))
    }

    /// The number of bytes transmitted in `span` at this rate, rounded down.
    pub const fn bytes_in(self, span: Span) -> Bytes {
        Bytes((self.0 as u128 * span.0 as u128 / (8 * NANOS_PER_SECOND as u128)) as u64)
    }
}

/// Half a nanosecond, in units of 2⁻³² ns.
const HALF: u32 = 1 << 31;

impl Carry {
    /// The rounded end is the exact end. Also the carry of a transmission that begins at an idle transmitter.
    pub const NOTHING: Carry = Carry(HALF);
}

impl Default for Carry {
    fn default() -> Self {
        Carry::NOTHING
    }
}

impl FineSpan {
    /// No time.
    pub const ZERO: FineSpan = FineSpan(HALF as u64);
    /// All fine spans are shorter than this: 4.29 s.
    pub const LIMIT: Span = Span((1 << 32) - 2);
    /// The longest fine span of whole nanoseconds.
    pub const MAX: FineSpan = FineSpan(((Self::LIMIT.0 - 1) << 32) + HALF as u64);

    /// The span in fine units; none from [`Self::LIMIT`] on.
    pub const fn from_span(span: Span) -> Option<FineSpan> {
        if span.0 < Self::LIMIT.0 { Some(FineSpan((span.0 << 32) + HALF as u64)) } else { None }
    }

    /// The time in units of 2⁻³² ns.
    const fn units(self) -> u64 {
        self.0 - HALF as u64
    }

    /// Whether this is a whole number of nanoseconds.
    pub const fn is_whole(self) -> bool {
        self.0 as u32 == HALF
    }

    /// The time of a transmission that begins at an idle transmitter, rounded to the nearest nanosecond, and the carry.
    #[inline(always)]
    pub const fn fresh(self) -> (Span, Carry) {
        (Span(self.0 >> 32), Carry(self.0 as u32))
    }

    /// The time of a transmission that begins with `carry`, from one rounded end to the next, and the new carry.
    #[inline(always)]
    pub const fn carried(self, carry: Carry) -> (Span, Carry) {
        let sum = self.units() + carry.0 as u64;
        (Span(sum >> 32), Carry(sum as u32))
    }

    /// The time of `count` transmissions one behind the other, of which the first begins with `carry`.
    #[inline(always)]
    pub const fn times(self, count: u32, carry: Carry) -> Span {
        let (whole, fraction) = (self.units() >> 32, self.units() as u32);
        Span(count as u64 * whole + ((count as u64 * fraction as u64 + carry.0 as u64) >> 32))
    }

    /// The time of `count` transmissions one behind the other, of which the last ends with `carry`.
    #[inline(always)]
    pub const fn times_before(self, count: u32, carry: Carry) -> Span {
        let (whole, fraction) = (self.units() >> 32, self.units() as u32);
        Span(count as u64 * whole + ((count as u64 * fraction as u64 + (u32::MAX - carry.0) as u64) >> 32))
    }

    /// The carry with which the first of `count` transmissions began, of which the last ends with `carry`.
    pub const fn carry_before(self, count: u32, carry: Carry) -> Carry {
        Carry(carry.0.wrapping_sub((self.units() as u32).wrapping_mul(count)))
    }

    /// The time in nanoseconds.
    pub fn nanos(self) -> f64 {
        self.units() as f64 / 4_294_967_296.0
    }

    /// This time times a non-negative factor; below the limit.
    pub fn scaled(self, factor: f64) -> FineSpan {
        let most = (Self::LIMIT.0 << 32) - 1;
        FineSpan((libm::round(self.units() as f64 * factor) as u64).min(most) + HALF as u64)
    }
}

impl Bytes {
    /// Zero bytes.
    pub const ZERO: Bytes = Bytes(0);

    /// A size of `bytes` bytes.
    pub const fn new(bytes: u64) -> Self {
        Bytes(bytes)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The rate that transmits this size in `span`; zero if `span` is zero.
    pub fn rate_over(self, span: Span) -> Rate {
        if span.0 == 0 {
            return Rate(0);
        }
        Rate((self.0 as u128 * 8 * NANOS_PER_SECOND as u128 / span.0 as u128) as u64)
    }
}

impl Add<Span> for Instant {
    type Output = Instant;
    fn add(self, span: Span) -> Instant {
        Instant(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Instant {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Instant> for Instant {
    type Output = Span;
    fn sub(self, earlier: Instant) -> Span {
        self.span_since(earlier)
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Span) {
        *self = *self + other;
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, times: u64) -> Span {
        Span(self.0.saturating_mul(times))
    }
}

impl Div<u64> for Span {
    type Output = Span;
    fn div(self, parts: u64) -> Span {
        Span(self.0 / parts)
    }
}

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Bytes) {
        *self = *self + other;
    }
}

impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_sub(other.0))
    }
}

/// Error: a text is not a quantity. It carries the remedy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{text}` is not a {quantity}: {problem}; write {remedy}")]
pub struct UnitError {
    /// The text as given.
    pub text: String,
    /// The expected quantity: 'time', 'rate' or 'size'.
    pub quantity: &'static str,
    /// The problem with the text.
    pub problem: String,
    /// The remedy: `for example` with valid texts, or the text that was probably meant.
    pub remedy: String,
}

/// A quantity written as a number and a unit, such as `10 Mb/s`.
trait Quantity: Sized {
    const NAME: &'static str;
    const EXAMPLE: &'static str;
    /// Accepted units, each with its value in the base unit.
    const UNITS: &'static [(&'static str, f64)];

    /// For a unit that confuses bits and bytes: the correct unit, and the value that is probably meant.
    fn confused(_number: f64, _unit: &str) -> Option<(&'static str, String)> {
        None
    }

    fn parse(text: &str) -> Result<u64, UnitError> {
        let fail = |problem: String| UnitError {
            text: text.to_owned(),
            quantity: Self::NAME,
            problem,
            remedy: format!("for example {}", Self::EXAMPLE),
        };
        let trimmed = text.trim();
        let split = trimmed
            .char_indices()
            .find(|&(i, c)| {
                !(c.is_ascii_digit()
                    || matches!(c, '.' | '_' | '+' | '-')
                    || (matches!(c, 'e' | 'E')
                        && trimmed[i + 1..].starts_with(|d: char| d.is_ascii_digit() || d == '-' || d == '+')))
            })
            .map_or(trimmed.len(), |(i, _)| i);
        let (number, unit) = (trimmed[..split].replace('_', ""), trimmed[split..].trim());
        if number.is_empty() {
            return Err(fail("no number before the unit".to_owned()));
        }
        let value: f64 = number.parse().map_err(|_| fail(format!("`{number}` is not a number")))?;
        let allowed = || Self::UNITS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        if unit.is_empty() {
            return Err(fail(format!("the unit is missing (one of {})", allowed())));
        }
        let Some((_, worth)) = Self::UNITS.iter().find(|(name, _)| *name == unit) else {
            if let Some((what, remedy)) = Self::confused(value, unit) {
                let problem = format!("`{unit}` {what} (one of {})", allowed());
                return Err(UnitError { remedy, ..fail(problem) });
            }
            return Err(fail(format!("unknown unit `{unit}` (one of {})", allowed())));
        };
        let base = value * worth;
        if !base.is_finite() || base < 0.0 {
            return Err(fail("it must not be negative".to_owned()));
        }
        if base >= u64::MAX as f64 {
            return Err(fail("it is too large".to_owned()));
        }
        Ok(exactly(&number, *worth as u64).unwrap_or(libm::round(base) as u64))
    }
}

impl Quantity for Span {
    const NAME: &'static str = "time";
    const EXAMPLE: &'static str = "`20 ms` or `1.5 s`";
    const UNITS: &'static [(&'static str, f64)] =
        &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9), ("h", 3600e9)];
}

impl Quantity for Rate {
    const NAME: &'static str = "rate";
    const EXAMPLE: &'static str = "`64 kb/s` or `10 Mb/s`";
    const UNITS: &'static [(&'static str, f64)] = &[
        ("b/s", 1.0),
        ("kb/s", 1e3),
        ("Mb/s", 1e6),
        ("Gb/s", 1e9),
        ("bit/s", 1.0),
        ("kbit/s", 1e3),
        ("Mbit/s", 1e6),
        ("Gbit/s", 1e9),
        ("bps", 1.0),
        ("kbps", 1e3),
        ("Mbps", 1e6),
        ("Gbps", 1e9),
    ];

    fn confused(number: f64, unit: &str) -> Option<(&'static str, String)> {
        let amount = unit.strip_suffix("/s").or_else(|| unit.strip_suffix("ps"))?;
        let (worth, bits) = match amount {
            "B" => (1.0, "b/s"),
            "kB" | "KB" => (1e3, "kb/s"),
            "MB" => (1e6, "Mb/s"),
            "GB" => (1e9, "Gb/s"),
            "KiB" => (1024.0, "kb/s"),
            "MiB" => (1_048_576.0, "Mb/s"),
            "GiB" => (1_073_741_824.0, "Gb/s"),
            _ => return None,
        };
        let bytes = Rate(libm::round(number * worth * 8.0) as u64);
        Some(("counts bytes, a rate counts bits", format!("`{bytes}`, or `{number} {bits}` if bits were meant")))
    }
}

impl Quantity for Bytes {
    const NAME: &'static str = "size";
    const EXAMPLE: &'static str = "`160 B` or `125 kB`";
    const UNITS: &'static [(&'static str, f64)] = &[
        ("B", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("KiB", 1024.0),
        ("MiB", 1048576.0),
        ("byte", 1.0),
        ("bytes", 1.0),
    ];

    fn confused(number: f64, unit: &str) -> Option<(&'static str, String)> {
        let (worth, bytes) = match unit {
            "b" | "bit" | "bits" => (1.0, "B"),
            "kb" | "kbit" => (1e3, "kB"),
            "Mb" | "Mbit" => (1e6, "MB"),
            "Gb" | "Gbit" => (1e9, "GB"),
            _ => return None,
        };
        let size = Bytes(libm::round(number * worth / 8.0) as u64);
        Some(("counts bits, a size counts bytes", format!("`{size}`, or `{number} {bytes}` if bytes were meant")))
    }
}

impl Quantity for Skew {
    const NAME: &'static str = "clock skew";
    const EXAMPLE: &'static str = "`50 ppm`";
    const UNITS: &'static [(&'static str, f64)] = &[("ppb", 1.0), ("ppm", 1e3)];
}

/// Multiplies a plain decimal number by a unit, rounded to the nearest integer. The result is exact even beyond
/// the precision of floating point. Returns `None` for other notations and for numbers that are too large.
fn exactly(number: &str, worth: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.len() > 20 || fraction.len() > 18 {
        return None;
    }
    let scale = 10u128.pow(fraction.len() as u32);
    // Anything other than a digit fails here. The caller has already read a sign.
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    u64::try_from((digits.checked_mul(u128::from(worth))? + scale / 2) / scale).ok()
}

/// Writes `base` exactly, in the largest unit that does not exceed it. Units are powers of ten.
fn write_scaled(f: &mut fmt::Formatter<'_>, base: u64, units: &[(&str, u64)]) -> fmt::Result {
    let (name, worth) = units.iter().find(|(_, worth)| base >= *worth).or(units.last()).copied().unwrap_or(("", 1));
    if base.is_multiple_of(worth) {
        write!(f, "{} {name}", base / worth)
    } else {
        let digits = worth.ilog10() as usize;
        let fraction = format!("{:0digits$}", base % worth);
        write!(f, "{}.{} {name}", base / worth, fraction.trim_end_matches('0'))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("0 s");
        }
        write_scaled(f, self.0, &[("s", NANOS_PER_SECOND), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)])
    }
}

impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.0).fmt(f)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, &[("Gb/s", 1_000_000_000), ("Mb/s", 1_000_000), ("kb/s", 1_000), ("b/s", 1)])
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, &[("MB", 1_000_000), ("kB", 1_000), ("B", 1)])
    }
}

impl fmt::Display for Skew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, self.0, &[("ppm", 1_000)])
    }
}

/// Implements text, serde and JSON Schema for a quantity. All three use the same notation.
macro_rules! textual {
    ($type:ident) => {
        impl FromStr for $type {
            type Err = UnitError;
            fn from_str(text: &str) -> Result<Self, UnitError> {
                <Self as Quantity>::parse(text).map($type)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, "a {} as text, for example {}", $type::NAME, $type::EXAMPLE)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }

        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "description": concat!("A number and a unit, for example ", stringify!($type)),
                    "examples": [$type::EXAMPLE],
                })
            }
        }
    };
}

textual!(Span);
textual!(Rate);
textual!(Bytes);
textual!(Skew);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_megabit_is_a_million_bits() {
        let rate: Rate = "10 Mb/s".parse().expect("a rate");
        assert_eq!(rate.bits_per_second(), 10_000_000);
        assert_eq!(rate.time_for(Bytes::new(1040)), Span::from_micros(832));
        assert_eq!(rate.bytes_in(Span::from_millis(100)), Bytes::new(125_000));
    }

    #[test]
    fn quantities_are_written_as_they_are_read() {
        for text in ["10 Mb/s", "64 kb/s", "1 b/s", "2.5 Gb/s"] {
            assert_eq!(text.parse::<Rate>().expect("a rate").to_string(), text);
        }
        for text in ["20 ms", "1.5 s", "7 ns", "832 us", "0 s"] {
            assert_eq!(text.parse::<Span>().expect("a time").to_string(), text);
        }
        for text in ["160 B", "125 kB"] {
            assert_eq!(text.parse::<Bytes>().expect("a size").to_string(), text);
        }
    }

    #[test]
    fn large_quantities_are_written_and_read_to_the_last_digit() {
        // Beyond 2^53, floating point loses digits.
        for base in [67_110_000_121_100_216, u64::MAX - 4096, (1 << 53) + 1, 1_000_000_001] {
            let rate = Rate::from_bits_per_second(base);
            assert_eq!(rate.to_string().parse(), Ok(rate), "{rate}");
            assert_eq!(format!("{base} b/s").parse(), Ok(rate));
            let span = Span::from_nanos(base);
            assert_eq!(span.to_string().parse(), Ok(span), "{span}");
            assert_eq!(Bytes::new(base).to_string().parse(), Ok(Bytes::new(base)));
        }
        assert_eq!("1.5e3 b/s".parse(), Ok(Rate::from_bits_per_second(1500)));
        assert!("18446744073709551616 b/s".parse::<Rate>().is_err());
    }

    #[test]
    fn a_bad_quantity_says_what_to_write() {
        let error = "10 Mbq".parse::<Rate>().expect_err("no such unit").to_string();
        assert!(error.contains("`Mbq`") && error.contains("Mb/s"), "{error}");
        assert!("10".parse::<Span>().expect_err("no unit").to_string().contains("unit is missing"));
        assert!("-1 s".parse::<Span>().expect_err("negative").to_string().contains("negative"));
        assert!("fast".parse::<Rate>().expect_err("no number").to_string().contains("no number"));
    }

    #[test]
    fn bytes_for_bits_are_shown_with_both_that_may_be_meant() {
        for (text, bytes, bits) in [
            ("2MB/s", "`16 Mb/s`", "`2 Mb/s`"),
            ("250 kB/s", "`2 Mb/s`", "`250 kb/s`"),
            ("2 MiB/s", "`16.777216 Mb/s`", "`2 Mb/s`"),
            ("1.5 GBps", "`12 Gb/s`", "`1.5 Gb/s`"),
        ] {
            let error = text.parse::<Rate>().expect_err("bytes").to_string();
            assert!(error.ends_with(&format!("; write {bytes}, or {bits} if bits were meant")), "{error}");
        }
        let error = "10 Mb".parse::<Bytes>().expect_err("bits").to_string();
        assert!(error.ends_with("; write `1.25 MB`, or `10 MB` if bytes were meant"), "{error}");
    }

    #[test]
    fn a_row_of_transmissions_ends_at_the_nearest_nanosecond_of_its_exact_end() {
        for (rate, size) in
            [(100_000_000_000, 66), (100_000_000_000, 1500), (33_300_000, 1500), (122_071, 65_535), (7, 1)]
        {
            let rate = Rate::from_bits_per_second(rate);
            let time = rate.fine_time_for(Bytes::new(size)).expect("below 4.29 s");
            let (first, mut carry) = time.fresh();
            assert_eq!(first, rate.time_for(Bytes::new(size)));
            let mut end = first;
            for sent in 2..=100_000u32 {
                let (step, next) = time.carried(carry);
                assert_eq!(time.times_before(1, next), step);
                assert_eq!(time.carry_before(1, next), carry);
                (end, carry) = (end + step, next);
                let exact = rate.time_for(Bytes::new(size * u64::from(sent)));
                // 2⁻³³ ns a packet are not carried.
                assert!(end.nanos().abs_diff(exact.nanos()) <= 1, "{sent} of {size} bytes at {rate}: {end}");
                assert_eq!(time.times(sent, Carry::NOTHING), end);
                assert_eq!(time.times_before(sent, carry), end);
                assert_eq!(time.carry_before(sent, carry), Carry::NOTHING);
            }
        }
        let slow = Rate::from_bits_per_second(100);
        assert_eq!(slow.fine_time_for(Bytes::new(1500)), None);
        assert_eq!(FineSpan::from_span(Span::from_secs(5)), None);
        assert_eq!(FineSpan::from_span(Span::ZERO), Some(FineSpan::ZERO));
    }

    #[test]
    fn time_for_survives_sizes_beyond_64_bits_of_bit_nanoseconds() {
        assert_eq!(Rate::from_bits_per_second(8).time_for(Bytes::new(10_000_000_000)), Span::from_secs(10_000_000_000));
    }
}
