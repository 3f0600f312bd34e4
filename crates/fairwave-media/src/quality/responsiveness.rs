//! Responsiveness: round trips per minute under working conditions.
//!
//! Source: draft-ietf-ippm-responsiveness-09 §5.3.1 (*Aggregating the Measurements*; TMP, 95 %, in §5.2). A one-sided
//! trimmed mean excludes the longest 5 % of the samples, and the responsiveness is 60 s ÷ that mean.
//!
//! **Deviation.** The draft has four kinds of probes, each with a trimmed mean. Three use separate connections:
//! handshakes of TCP and of TLS, and requests of HTTP. The fourth are requests on the connections that load the
//! network. Its result is the mean of two values: 60 s ÷ the mean of the first three, and 60 s ÷ the fourth. Only the
//! last four intervals of a test count. Here all samples are round trips of one flow: of pings (one round trip each,
//! like the draft's TCP handshakes), or of a TCP flow's segments. So the result includes no server processing time.
//! Compare it only with results of the same kind.

use fairwave_units::units::Span;

/// Returns the mean of samples in ascending order without the longest twentieth (the draft's one-sided trimmed mean);
/// `None` without samples. Of n samples the first ⌈0.95 n⌉ stay.
pub fn trimmed_mean(sorted: &[Span]) -> Option<Span> {
    let kept = (sorted.len() * 19).div_ceil(20);
    let sum: u128 = sorted.iter().take(kept).map(|one| u128::from(one.nanos())).sum();
    (kept > 0).then(|| Span::from_nanos((sum / kept as u128) as u64))
}

/// Returns round trips per minute from the trimmed mean of round trip times; `None` if they are zero.
pub fn round_trips_per_minute(trimmed: Span) -> Option<f64> {
    (trimmed > Span::ZERO).then(|| 60.0 / trimmed.seconds())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(each: &[u64]) -> Vec<Span> {
        each.iter().map(|&one| Span::from_millis(one)).collect()
    }

    #[test]
    fn the_longest_of_twenty_is_left_out_and_of_nineteen_none() {
        let mut twenty = vec![50; 19];
        twenty.push(5000);
        assert_eq!(trimmed_mean(&millis(&twenty)), Some(Span::from_millis(50)));
        let mut nineteen = vec![50; 18];
        nineteen.push(1000);
        // (18 · 50 + 1000) / 19 = 100.
        assert_eq!(trimmed_mean(&millis(&nineteen)), Some(Span::from_millis(100)));
        assert_eq!(trimmed_mean(&[]), None);
    }

    #[test]
    fn fifty_milliseconds_are_1200_round_trips_a_minute() {
        assert_eq!(round_trips_per_minute(Span::from_millis(50)), Some(1200.0));
        assert_eq!(round_trips_per_minute(Span::ZERO), None);
    }
}
