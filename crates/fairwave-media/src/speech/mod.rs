//! Speech as the listener receives it: coding, loss, concealment and changes of tempo. Samples are linear, 16 bits,
//! 8000 per second.
//!
//! [`g711`] is the codec, [`concealment`] fills gaps, [`stretching`] changes the tempo, and [`call`] renders a call
//! from the fates of its units.

pub mod call;
pub mod concealment;
pub mod g711;
pub mod stretching;

/// Samples per second.
pub const RATE: u64 = 8000;

/// Rounds to the nearest sample value, ties to even, clamped to 16 bits.
fn sample(value: f64) -> i16 {
    value.round_ties_even().clamp(f64::from(i16::MIN), f64::from(i16::MAX)) as i16
}
