//! Judges a promise about the share of packets that may miss, from the number of misses and of packets.
//!
//! The judgement uses the exact one-sided bound of Clopper and Pearson: C. J. Clopper, E. S. Pearson, "The use of
//! confidence or fiducial limits illustrated in the case of the binomial", Biometrika 26(4), 1934. The bound on the
//! share meets the promise if and only if the binomial tail at the promised share is at most 1 − confidence.
//!
//! **Assumption.** Packets miss independently. Real misses come in bursts, so a judgement is less certain than stated.

use serde::Serialize;

/// Confidence of a judgement.
pub const CONFIDENCE: f64 = 0.95;

/// Verdict on a promise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// The measurements support the promise with [`CONFIDENCE`].
    Kept,
    /// The measurements contradict the promise with [`CONFIDENCE`].
    Broken,
    /// Too few measurements for either verdict.
    NotJudged,
}

/// Judges the promise that at most `share` (0 to 1, exclusive) of packets miss, given `missed` of `packets`.
pub fn judge(missed: u64, packets: u64, share: f64) -> Judgement {
    let beyond = 1.0 - CONFIDENCE;
    if missed > 0 && 1.0 - binomial_cdf(missed - 1, packets, share) <= beyond {
        Judgement::Broken
    } else if packets > 0 && binomial_cdf(missed, packets, share) <= beyond {
        Judgement::Kept
    } else {
        Judgement::NotJudged
    }
}

/// Returns the probability that at most `missed` of `packets` miss, if each misses with probability `share`.
///
/// The sum starts at the most probable number and goes to both sides until terms no longer matter: about √packets
/// terms.
fn binomial_cdf(missed: u64, packets: u64, share: f64) -> f64 {
    const NOTHING: f64 = 1e-18;
    let commonest = ((packets + 1) as f64 * share) as u64;
    let commonest = commonest.min(packets);
    let odds = share / (1.0 - share);
    let (mut all, mut counted) = (0.0, 0.0);
    let mut add = |number: u64, term: f64| {
        all += term;
        if number <= missed {
            counted += term;
        }
    };
    let (mut number, mut term) = (commonest, 1.0);
    while term > NOTHING {
        add(number, term);
        if number == packets {
            break;
        }
        term *= (packets - number) as f64 / (number + 1) as f64 * odds;
        number += 1;
    }
    let (mut number, mut term) = (commonest, 1.0);
    while number > 0 && term > NOTHING {
        term *= number as f64 / (packets - number + 1) as f64 / odds;
        number -= 1;
        add(number, term);
    }
    counted / all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the same tail as a direct sum of binomial terms.
    fn plain(missed: u64, packets: u64, share: f64) -> f64 {
        let mut term = (1.0 - share).powi(packets as i32);
        let mut sum = term;
        for number in 0..missed {
            term *= (packets - number) as f64 / (number + 1) as f64 * share / (1.0 - share);
            sum += term;
        }
        sum
    }

    #[test]
    fn tails_are_those_of_a_plain_sum() {
        for (missed, packets, share) in [(0, 1, 0.01), (0, 299, 0.01), (3, 300, 0.01), (9, 920, 0.01), (40, 50, 0.7)] {
            let (found, exact) = (binomial_cdf(missed, packets, share), plain(missed, packets, share));
            assert!((found - exact).abs() < 1e-12, "{missed} of {packets}: {found}, not {exact}");
        }
    }

    #[test]
    fn a_promise_is_kept_broken_or_left_open_by_what_the_numbers_allow() {
        // Without a miss, 0.99^n falls below 0.05 at 299 packets.
        assert_eq!(judge(0, 298, 0.01), Judgement::NotJudged);
        assert_eq!(judge(0, 299, 0.01), Judgement::Kept);
        assert_eq!(judge(389, 920, 0.01), Judgement::Broken);
        assert_eq!(judge(9, 920, 0.01), Judgement::NotJudged);
        assert_eq!(judge(20, 20, 0.01), Judgement::Broken);
        assert_eq!(judge(0, 0, 0.01), Judgement::NotJudged);
        assert_eq!(judge(10_000, 10_000, 0.01), Judgement::Broken);
    }

    #[test]
    fn many_packets_are_judged_near_the_promised_share() {
        let packets = 100_000_000;
        assert_eq!(judge(998_000, packets, 0.01), Judgement::Kept);
        assert_eq!(judge(1_000_000, packets, 0.01), Judgement::NotJudged);
        assert_eq!(judge(1_002_000, packets, 0.01), Judgement::Broken);
    }
}
