//! What becomes of speech: coded, lost, concealed, stretched, heard. Samples are linear, 16 bits, 8000 per second.
//!
//! [`g711`] codes, [`concealment`] fills gaps, [`stretching`] changes the tempo, [`call`] puts a call together from what became of its
//! units.

pub mod call;
pub mod concealment;
pub mod g711;
pub mod stretching;

/// Samples per second.
pub const RATE: u64 = 8000;

/// To the nearest whole sample value, ties to even, within 16 bits.
fn sample(value: f64) -> i16 {
    value.round_ties_even().clamp(f64::from(i16::MIN), f64::from(i16::MAX)) as i16
}
