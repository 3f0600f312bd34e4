//! Whether a promise about a share of packets was kept: the bound on the true share that follows from the number of
//! misses and of packets.
//!
//! The judgement is Clopper and Pearson's exact one-sided bound, C. J. Clopper, E. S. Pearson, "The use of confidence
//! or fiducial limits illustrated in the case of the binomial", Biometrika 26(4), 1934. A bound on the share meets the
//! promised share if and only if the binomial tail at the promised share is at most 1 − confidence.
//!
//! **Assumption.** Packets miss independently of each other. Late packets come in bursts, so a judgement is less certain than it says.

use serde::Serialize;

/// How sure a judgement is.
pub const CONFIDENCE: f64 = 0.95;

/// What measurements say of a promise.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judgement {
    /// They support it with [`CONFIDENCE`].
    Kept,
    /// They contradict it with [`CONFIDENCE`].
    Broken,
    /// They are too few for either.
    NotJudged,
}

/// Judges the promise that at most `share` (above 0, below 1) of packets miss, by `missed` of `packets`.
pub fn judge(missed: u64, packets: u64, share: f64) -> Judgement {
    let beyond = 1.0 - CONFIDENCE;
    if missed > 0 && 1.0 - at_most(missed - 1, packets, share) <= beyond {
        Judgement::Broken
    } else if packets > 0 && at_most(missed, packets, share) <= beyond {
        Judgement::Kept
    } else {
        Judgement::NotJudged
    }
}

/// How probable it is that at most `missed` of `packets` miss, if each does with probability `share`.
///
/// Terms are summed from the commonest number to both sides, relative to it, until they add nothing: about √packets of them.
fn at_most(missed: u64, packets: u64, share: f64) -> f64 {
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

    /// The same tail by a plain sum of the binomial's terms.
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
            let (found, exact) = (at_most(missed, packets, share), plain(missed, packets, share));
            assert!((found - exact).abs() < 1e-12, "{missed} of {packets}: {found}, not {exact}");
        }
    }

    #[test]
    fn a_promise_is_kept_broken_or_left_open_by_what_the_numbers_allow() {
        // Without a miss 0.99^n falls below 0.05 at 299 packets.
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
