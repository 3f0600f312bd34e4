//! Packet loss concealment: replacement sound for missing units.
//!
//! Waveform substitution of ITU-T G.711 Appendix I (09/1999), implemented from its published description:
//!
//! 1. The pitch period is the lag of 5 to 15 ms at which the last 20 ms before the gap match the preceding signal best
//!    (normalised cross-correlation).
//! 2. The gap is filled with repetitions of the last pitch period; from 10 ms on with the last two, from 20 ms on with
//!    the last three, so that long gaps do not buzz. Every seam is a triangular overlap of a quarter of a period.
//! 3. After 10 ms the substitute fades by 20 % of full scale per 10 ms: after 60 ms there is silence.
//! 4. The first samples after the gap fade in over the substitute: a quarter of a period, and 4 ms more for each
//!    further 10 ms of gap, at most 10 ms.
//!
//! The seam at the start of the gap changes the quarter period *before* it. A receiver can only do this if it plays
//! everything 3.75 ms later ([`DELAY`]). Here that delay is not applied to the samples, so that they stay aligned with
//! the original; the caller must add it to the mouth-to-ear delay. Outside of gaps and their seams, samples stay
//! bit-identical.
//!
//! **Assumptions**: the period is searched at every lag, not first at every other one (the Recommendation does so to
//! save work). Gaps need not be multiples of 10 ms. A gap at the very start is silence.

use std::ops::Range;

use super::sample;
use fairwave_units::units::Span;

/// Additional delay of a receiver with concealment.
pub const DELAY: Span = Span::from_micros(3750);

const SHORTEST: usize = 40;
const LONGEST: usize = 120;
const TEMPLATE: usize = 160;
const FRAME: usize = 80;
const HISTORY: usize = LONGEST * 13 / 4;
const SILENT_AFTER: usize = 6 * FRAME;
const LEAST_POWER: f64 = 250.0;

/// Fills missing samples: `missing` has a flag per sample; the values of flagged samples are ignored. Samples beyond
/// the shorter of the two inputs are unchanged.
pub fn conceal(samples: &[i16], missing: &[bool]) -> Vec<i16> {
    let gaps = gaps(missing.get(..samples.len()).unwrap_or(missing));
    let mut heard = samples.to_vec();
    // Leading zeros, so that the history of the first gap needs no special case.
    let mut line = vec![0.0; HISTORY + samples.len()];
    for (index, (to, from)) in line[HISTORY..].iter_mut().zip(samples).enumerate() {
        *to = if missing.get(index) == Some(&true) { 0.0 } else { f64::from(*from) };
    }
    let mut touched = Vec::with_capacity(gaps.len());
    for (number, gap) in gaps.iter().enumerate() {
        let limit = gaps.get(number + 1).map_or(samples.len(), |next| next.start);
        let (quarter, recover) = fill(&mut line, gap.start + HISTORY..gap.end + HISTORY, limit + HISTORY);
        touched.push(gap.start.saturating_sub(quarter)..gap.end + recover);
    }
    for index in touched.into_iter().flatten() {
        heard[index] = sample(line[index + HISTORY]);
    }
    heard
}

/// Replaces gaps by silence.
pub fn silence(samples: &[i16], missing: &[bool]) -> Vec<i16> {
    let one = |(index, value): (usize, &i16)| if missing.get(index) == Some(&true) { 0 } else { *value };
    samples.iter().enumerate().map(one).collect()
}

/// Returns the lag of 5 to 15 ms at which the end of a signal matches the preceding signal best, in samples; 5 ms for
/// less than 35 ms of signal.
pub fn pitch_period(history: &[f64]) -> usize {
    let Some(begin) = history.len().checked_sub(TEMPLATE).filter(|begin| *begin >= LONGEST) else { return SHORTEST };
    let template = &history[begin..];
    let (mut best, mut found) = (f64::NEG_INFINITY, SHORTEST);
    for lag in SHORTEST..=LONGEST {
        let window = &history[begin - lag..begin - lag + TEMPLATE];
        let power = window.iter().map(|x| x * x).sum::<f64>().max(LEAST_POWER);
        let product = window.iter().zip(template).map(|(x, y)| x * y).sum::<f64>();
        let agreement = product / power.sqrt();
        // Among equal lags the shortest wins.
        if agreement > best {
            (best, found) = (agreement, lag);
        }
    }
    found
}

/// Fills one gap in place. Returns the number of changed samples before and after it.
fn fill(line: &mut [f64], gap: Range<usize>, limit: usize) -> (usize, usize) {
    let (first, stop) = (gap.start, gap.end);
    let history = line[first - HISTORY..first].to_vec();
    let period = pitch_period(&history);
    let quarter = period / 4;
    let length = stop - first;
    let frames = length.div_ceil(FRAME);
    let recover = (quarter + 32 * (frames - 1)).min(FRAME).min(limit - stop);
    let mut wanted = substitute(&history, period, quarter, (length + recover).min(SILENT_AFTER));
    wanted.resize(length + recover, 0.0);
    for (index, value) in wanted.iter_mut().enumerate() {
        // The fade pauses while the signal returns.
        let elapsed = index.min(length.max(FRAME)) as f64;
        *value *= (1.0 - 0.2 * (elapsed - FRAME as f64) / FRAME as f64).clamp(0.0, 1.0);
    }
    let loop_before = looped(&history, period, quarter, 1);
    line[first - quarter..first].copy_from_slice(&loop_before[period - quarter..]);
    line[first..stop].copy_from_slice(&wanted[..length]);
    for index in 0..recover {
        // The samples that fade in may reach the start of the next gap; that gap uses the mixture as its history.
        let rise = (index + 1) as f64 / recover as f64;
        line[stop + index] = (1.0 - rise) * wanted[length + index] + rise * line[stop + index];
    }
    (quarter, recover)
}

/// Returns the signal from the last one, two and three periods, before fading.
fn substitute(history: &[f64], period: usize, quarter: usize, length: usize) -> Vec<f64> {
    let mut out = vec![0.0; length];
    let (mut phase, mut start, mut before) = (0, 0, Vec::new());
    for (periods, stop) in [(1, FRAME), (2, 2 * FRAME), (3, length)] {
        if start >= length {
            break;
        }
        let stop = stop.min(length);
        let source = looped(history, period, quarter, periods);
        // Each stage yields a quarter period more than it plays; the next stage fades in over it.
        let mut piece: Vec<f64> =
            (0..stop - start + quarter).map(|index| source[(phase + index) % source.len()]).collect();
        for (index, old) in before.iter().take(stop - start).enumerate() {
            let rise = (index + 1) as f64 / quarter as f64;
            piece[index] = (1.0 - rise) * old + rise * piece[index];
        }
        out[start..stop].copy_from_slice(&piece[..stop - start]);
        before = piece.split_off(stop - start);
        // The longer loop starts in its oldest period, at the phase of the shorter loop.
        phase = (phase + stop - start) % source.len() % period;
        start = stop;
    }
    out
}

/// Returns the last periods, with their end blended into their start.
fn looped(history: &[f64], period: usize, quarter: usize, periods: usize) -> Vec<f64> {
    let (length, end) = (periods * period, history.len());
    let mut out = history[end - length..].to_vec();
    let lead = &history[end - length - quarter..end - length];
    for (index, lead) in lead.iter().enumerate() {
        let rise = (index + 1) as f64 / quarter as f64;
        let at = length - quarter + index;
        out[at] = (1.0 - rise) * out[at] + rise * lead;
    }
    out
}

/// Returns the runs of missing samples.
fn gaps(missing: &[bool]) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (index, _) in missing.iter().enumerate().filter(|(_, missing)| **missing) {
        match found.last_mut() {
            Some(gap) if gap.end == index => gap.end += 1,
            _ => found.push(index..index + 1),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a tone with this period, in samples.
    fn tone(period: usize, length: usize) -> Vec<i16> {
        let one = |index: usize| {
            sample(8000.0 * libm::sin(2.0 * std::f64::consts::PI * (index % period) as f64 / period as f64))
        };
        (0..length).map(one).collect()
    }

    fn with_gap(samples: &[i16], gap: Range<usize>) -> Vec<i16> {
        let missing: Vec<bool> = (0..samples.len()).map(|index| gap.contains(&index)).collect();
        conceal(samples, &missing)
    }

    #[test]
    fn the_pitch_period_of_a_tone_is_its_own_or_a_multiple_within_the_range() {
        for period in [45, 70, 110] {
            let history: Vec<f64> = tone(period, 400).into_iter().map(f64::from).collect();
            assert_eq!(pitch_period(&history), period);
        }
        assert_eq!(pitch_period(&[1.0; 100]), SHORTEST);
    }

    #[test]
    fn plays_late_by_a_quarter_of_the_longest_period() {
        // G.711 Appendix I §I.2.1: the seam extends this far before a gap. A sample is 125 µs.
        assert_eq!(DELAY, Span::from_micros(125 * 120 / 4));
    }

    #[test]
    fn a_pitch_period_is_five_milliseconds_or_more() {
        let history: Vec<f64> = tone(25, 400).into_iter().map(f64::from).collect();
        assert_eq!(pitch_period(&history), 50, "the shortest multiple of 25 from 40 on");
    }

    #[test]
    fn the_power_of_what_is_hardly_audible_has_a_floor() {
        // A tone of 45 samples that loses half its amplitude per period. If it is loud, all multiples match equally
        // well, and the shortest wins. Below the floor, the loudness decides for faint samples, so the older period
        // wins.
        let fading = |loudness: f64| {
            let one = |index: usize| {
                let phase = (index % 45) as f64 / 45.0;
                loudness * libm::exp2(-((index / 45) as f64)) * libm::sin(std::f64::consts::TAU * phase)
            };
            (0..405).map(one).collect::<Vec<f64>>()
        };
        assert_eq!((pitch_period(&fading(1e7)), pitch_period(&fading(50.0))), (45, 90));
    }

    #[test]
    fn repeats_two_periods_after_ten_milliseconds() {
        // Periods of 80 samples, alternately loud and soft; the last one is soft.
        let line: Vec<i16> =
            (0usize..1600).map(|index| tone(80, 80)[index % 80] / if (index / 80) % 2 == 0 { 1 } else { 2 }).collect();
        let heard = with_gap(&line, 800..960);
        let peak = |from: usize| heard[from..from + 80].iter().map(|v| v.unsigned_abs()).max().unwrap_or(0);
        // The end of a loop is blended towards the preceding samples, which are louder.
        assert!(peak(800) < 5000, "first the last period alone: {}", peak(800));
        assert!(peak(880) > 6000, "then the loud one before it as well, a little faded: {}", peak(880));
    }

    #[test]
    fn the_overlap_after_a_gap_is_a_quarter_period_and_four_milliseconds_for_each_further_ten_of_gap() {
        for (gap, overlap) in [(80, 20), (160, 52), (240, 80)] {
            let mut line = tone(80, 800);
            line.resize(1600, 0);
            let heard = with_gap(&line, 800..800 + gap);
            let last = (0..200).rev().find(|index| heard[800 + gap + index] != 0);
            // The last sample of the overlap equals the signal, and one sample may be a zero of the tone.
            assert!(last.is_some_and(|last| (overlap - 3..overlap).contains(&last)), "{last:?} after {gap}");
        }
    }

    #[test]
    fn ten_missing_milliseconds_of_a_steady_tone_are_not_heard() {
        let tone = tone(80, 1600);
        let heard = with_gap(&tone, 800..880);
        let worst = tone.iter().zip(&heard).map(|(a, b)| (i32::from(*a) - i32::from(*b)).abs()).max();
        assert!(worst <= Some(1), "{worst:?}");
    }

    #[test]
    fn the_substitute_fades_by_a_fifth_each_ten_milliseconds_and_is_silent_after_sixty() {
        let heard = with_gap(&tone(80, 2400), 800..1800);
        let peak = |from: usize| heard[from..from + 80].iter().map(|v| v.unsigned_abs()).max().unwrap_or(0);
        // Peaks of a sine are at a quarter and at three quarters of each 10 ms.
        assert_eq!(peak(800), 8000);
        for tens in 1..6 {
            // A fade of 20 per sample moves the peak slightly before the sine's peak, and makes it higher: by f'² / (2
            // f ω²) between samples.
            let (fade, omega) = (8000.0 * (1.0 - 0.2 * (tens as f64 - 1.0 + 0.25)), std::f64::consts::TAU / 80.0);
            let highest = fade + 20.0 * 20.0 / (2.0 * fade * omega * omega);
            let found = f64::from(peak(800 + 80 * tens));
            assert!(fade - 1.0 <= found && found <= highest + 1.0, "{tens}: {found}, {fade} to {highest}");
        }
        assert_eq!(peak(1280), 0);
    }

    #[test]
    fn samples_away_from_gaps_pass_bit_by_bit() {
        let tone = tone(63, 2000);
        let heard = with_gap(&tone, 900..1060);
        // A quarter period before the gap; at most 10 ms after it.
        assert_eq!(heard[..900 - 63 / 4], tone[..900 - 63 / 4]);
        assert_eq!(heard[1060 + 80..], tone[1060 + 80..]);
        assert_ne!(heard[1060..1075], tone[1060..1075], "it fades in");
    }

    #[test]
    fn a_gap_at_the_very_beginning_is_silence_and_flags_may_be_too_few_or_too_many() {
        assert_eq!(with_gap(&tone(80, 400), 0..80)[..80], [0; 80]);
        assert_eq!(conceal(&[5, 6], &[]), [5, 6]);
        assert_eq!(conceal(&[], &[true]), Vec::<i16>::new());
        assert_eq!(conceal(&[9], &[true, true]), [0]);
        assert_eq!(silence(&[9, 8], &[true]), [0, 8]);
    }
}
