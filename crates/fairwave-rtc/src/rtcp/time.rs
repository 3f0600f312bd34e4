//! Times of RTCP: NTP timestamps, their middle 32 bits, and round trips (RFC 3550 §4, §6.4.1).

use fairwave_units::units::{Instant, Span};

/// Seconds from NTP's epoch, 1900, to 1970, with which the clocks of the laboratory begin.
const NTP_OFFSET: u64 = 2_208_988_800;
const SECOND: u64 = 1_000_000_000;

/// 64 bits of seconds since 1900, 32 of them behind the point. Rounded down.
pub fn ntp(time: Instant) -> u64 {
    let (seconds, nanos) = (time.nanos() / SECOND, time.nanos() % SECOND);
    (NTP_OFFSET.wrapping_add(seconds) << 32) | ((nanos << 32) / SECOND)
}

/// The instant of an NTP timestamp; none before 1970. [`ntp`] of an instant comes back exactly.
pub fn instant(ntp: u64) -> Option<Instant> {
    let (seconds, fraction) = ((ntp >> 32).checked_sub(NTP_OFFSET)?, ntp & u64::from(u32::MAX));
    Some(Instant::from_nanos(seconds * SECOND + (fraction * SECOND).div_ceil(1 << 32)))
}

/// The middle 32 bits: 1/65 536 s, modulo 65 536 s.
pub fn middle(ntp: u64) -> u32 {
    (ntp >> 16) as u32
}

/// A span in 1/65 536 s, rounded down.
pub fn in_65536ths(span: Span) -> u32 {
    (u128::from(span.nanos()) * 65_536 / u128::from(SECOND)).min(u128::from(u32::MAX)) as u32
}

/// A span of this many 1/65 536 s.
pub fn from_65536ths(count: u32) -> Span {
    Span::from_nanos(u64::from(count) * SECOND / 65_536)
}

/// The round trip that a report block tells at `now`: A − LSR − DLSR (RFC 3550 §6.4.1). None if it answers no sender report,
/// or if its times contradict each other: a round trip above half of the numbers' range.
pub fn round_trip(now: Instant, last: u32, delay: u32) -> Option<Span> {
    if last == 0 {
        return None;
    }
    let units = middle(ntp(now)).wrapping_sub(last).wrapping_sub(delay);
    (units < 1 << 31).then(|| from_65536ths(units))
}
