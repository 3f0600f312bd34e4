//! RTCP times: NTP timestamps, their middle 32 bits, and round trips (RFC 3550 §4, §6.4.1).

use fairwave_units::units::{Instant, Span};

/// Seconds from the epoch of NTP, 1900, to 1970, the start of simulated clocks.
const NTP_OFFSET: u64 = 2_208_988_800;
const SECOND: u64 = 1_000_000_000;

/// Converts a time to an NTP timestamp: 64 bits, seconds since 1900 with a fraction of 32 bits. Rounds down.
pub fn ntp(time: Instant) -> u64 {
    let (seconds, nanos) = (time.nanos() / SECOND, time.nanos() % SECOND);
    (NTP_OFFSET.wrapping_add(seconds) << 32) | ((nanos << 32) / SECOND)
}

/// Converts an NTP timestamp to a time; `None` before 1970. It inverts [`ntp`] exactly.
pub fn instant(ntp: u64) -> Option<Instant> {
    let (seconds, fraction) = ((ntp >> 32).checked_sub(NTP_OFFSET)?, ntp & u64::from(u32::MAX));
    Some(Instant::from_nanos(seconds * SECOND + (fraction * SECOND).div_ceil(1 << 32)))
}

/// Returns the middle 32 bits: 1/65 536 s, modulo 65 536 s.
pub fn middle(ntp: u64) -> u32 {
    (ntp >> 16) as u32
}

/// Converts a span to 1/65 536 s, rounded down.
pub fn to_65536ths(span: Span) -> u32 {
    (u128::from(span.nanos()) * 65_536 / u128::from(SECOND)).min(u128::from(u32::MAX)) as u32
}

/// Converts a number of 1/65 536 s to a span.
pub fn from_65536ths(count: u32) -> Span {
    Span::from_nanos(u64::from(count) * SECOND / 65_536)
}

/// Returns the round trip from a report block at `now`: A − LSR − DLSR (RFC 3550 §6.4.1). Returns `None` if the block
/// refers to no sender report, or if its times are inconsistent (the result exceeds half of the number range).
pub fn round_trip(now: Instant, last: u32, delay: u32) -> Option<Span> {
    if last == 0 {
        return None;
    }
    let units = middle(ntp(now)).wrapping_sub(last).wrapping_sub(delay);
    (units < 1 << 31).then(|| from_65536ths(units))
}
