//! Times that cross between Python and the simulator.

use fairwave_core::units::Instant;

use super::law::LawFault;

/// Converts a law's returned time. Infinity means never.
pub fn instant(seconds: f64, what: &str) -> Result<Instant, LawFault> {
    if seconds == f64::INFINITY {
        return Ok(Instant::NEVER);
    }
    if !(0.0..1e10).contains(&seconds) {
        return Err(LawFault::Answer(format!(
            "{what} is {seconds}, but must be a time in seconds since the beginning"
        )));
    }
    Ok(Instant::from_seconds(seconds))
}

/// Converts a time for a law: seconds, infinity for never.
pub fn seconds(time: Instant) -> f64 {
    if time == Instant::NEVER { f64::INFINITY } else { time.seconds() }
}
