//! Time stretching of speech: applies the tempo changes of a jitter buffer to the sound.
//!
//! The model of the jitter buffer (`quality::playout::neteq`) decides the order of units, gaps to conceal, silence, and
//! changes of tempo by one assumed pitch period each. This module applies them to a waveform with the real pitch period
//! of the voice (libwebrtc `time_stretch.cc`, `accelerate.cc`, `preemptive_expand.cc`; pitch-synchronous overlap-add):
//!
//! 1. The pitch period is the lag p of 2.5 to 15 ms with the best match around the middle of the last 30 ms: of the p
//!    samples before it and the p samples after it (normalised cross-correlation).
//! 2. To play faster, the p samples before the middle fade into the p samples after it, and the latter are removed. To
//!    play slower, they are played, fade back into themselves, and are played again.
//!
//! The waveform changes by the number of whole periods nearest to the change of the model. The difference is carried to
//! the next change, and removed in the next silence. So the waveform never differs from the model by more than a
//! period.
//!
//! **Assumptions**: the tempo is changed even without a clear pitch, because the model assumes the change (libwebrtc
//! requires a correlation of 0.9, and otherwise retries 10 ms later).

use super::sample;

/// Range of pitch periods that are searched, in samples.
const SHORTEST: usize = 20;
const LONGEST: usize = 120;
/// Samples considered for a change: the last 30 ms, half of them before the change.
const BLOCK: usize = 240;

/// Change at a position in a line of samples.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Change {
    /// Change of tempo before the position: number of samples to add, or to remove if negative.
    Tempo(i64),
    /// Known silence from the position up to this sample (exclusive).
    Silent(usize),
}

/// Changes of length along a line of samples.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Edits(Vec<(usize, i64)>);

impl Edits {
    /// Returns the new position of a position in the original line.
    pub fn moved(&self, place: usize) -> usize {
        let change: i64 = self.0.iter().take_while(|(at, _)| *at < place).map(|(_, change)| change).sum();
        place.saturating_add_signed(change as isize)
    }

    /// Returns the changes with their start positions, ascending.
    pub fn changes(&self) -> &[(usize, i64)] {
        &self.0
    }
}

/// Returns the pitch period around the middle of 30 ms of speech, in samples.
pub fn pitch_period(block: &[i16]) -> usize {
    let middle = block.len() / 2;
    let (mut best, mut found) = (f64::NEG_INFINITY, LONGEST / 2);
    for lag in SHORTEST..=LONGEST.min(middle) {
        let (before, after) = (&block[middle - lag..middle], &block[middle..middle + lag]);
        let product = |one: &[i16], other: &[i16]| -> f64 {
            one.iter().zip(other).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
        };
        let power = (product(before, before) * product(after, after)).sqrt();
        let agreement = if power > 0.0 { product(before, after) / power } else { f64::NEG_INFINITY };
        // A multiple of the period matches as well; the period is the shortest such lag.
        if agreement > best + 1e-3 {
            (best, found) = (agreement, lag);
        }
    }
    found
}

/// Changes the tempo of a line of speech; `changes` may be in any order. Returns the new line, and the changes of
/// length.
pub fn stretch(line: &[i16], changes: &[(usize, Change)]) -> (Vec<i16>, Edits) {
    let mut changes: Vec<(usize, Change)> = changes.iter().filter(|(at, _)| *at <= line.len()).copied().collect();
    changes.sort_unstable();
    let (mut heard, mut edits) = (Vec::with_capacity(line.len()), Edits::default());
    let (mut done, mut owed) = (0usize, 0i64);
    for (place, change) in changes {
        match change {
            Change::Tempo(wanted) => {
                owed = owed.saturating_add(wanted);
                let Some(middle) = place.checked_sub(BLOCK / 2).filter(|middle| *middle >= done + LONGEST) else {
                    continue;
                };
                if owed == 0 {
                    continue;
                }
                let period = pitch_period(&line[place - BLOCK..place]);
                if 2 * owed.unsigned_abs() < period as u64 {
                    continue;
                }
                let periods = (owed.unsigned_abs() as f64 / period as f64).round_ties_even() as usize;
                let length = period * periods.min(LONGEST / period).max(1);
                let (before, after) = (&line[middle - length..middle], &line[middle..middle + length]);
                if owed < 0 {
                    heard.extend(&line[done..middle - length]);
                    heard.extend(faded(before, after));
                    done = middle + length;
                    edits.0.push((middle, -(length as i64)));
                    owed += length as i64;
                } else {
                    heard.extend(&line[done..middle]);
                    heard.extend(faded(after, before));
                    done = middle;
                    edits.0.push((middle, length as i64));
                    owed -= length as i64;
                }
            }
            Change::Silent(stop) => {
                let room = stop.min(line.len()).saturating_sub(place) as u64;
                if owed == 0 || place < done || room <= owed.unsigned_abs() {
                    continue;
                }
                heard.extend(&line[done..place]);
                if owed > 0 {
                    heard.resize(heard.len() + owed as usize, 0);
                    done = place;
                } else {
                    done = place + owed.unsigned_abs() as usize;
                }
                edits.0.push((place, owed));
                owed = 0;
            }
        }
    }
    heard.extend(&line[done..]);
    (heard, edits)
}

/// Returns the crossfade from `first` to `second`.
fn faded<'a>(first: &'a [i16], second: &'a [i16]) -> impl Iterator<Item = i16> + 'a {
    let length = first.len() as f64;
    first.iter().zip(second).enumerate().map(move |(index, (one, other))| {
        let weight = (index as f64 + 1.0) / (length + 1.0);
        sample((1.0 - weight) * f64::from(*one) + weight * f64::from(*other))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tone(period: usize, length: usize) -> Vec<i16> {
        (0..length)
            .map(|i| sample(9000.0 * libm::sin(2.0 * std::f64::consts::PI * (i % period) as f64 / period as f64)))
            .collect()
    }

    #[test]
    fn the_period_of_a_tone_is_the_shortest_lag_that_agrees() {
        for period in [25, 60, 100] {
            assert_eq!(pitch_period(&tone(period, BLOCK)), period);
        }
    }

    #[test]
    fn a_tone_stays_a_tone_when_whole_periods_are_left_out_or_heard_twice() {
        let line = tone(80, 1600);
        for by in [-80, 80] {
            let (heard, edits) = stretch(&line, &[(800, Change::Tempo(by))]);
            assert_eq!(heard.len() as i64, 1600 + by);
            assert_eq!(edits.changes(), [(680, by)]);
            let worst = heard.iter().zip(tone(80, 1680)).map(|(a, b)| (i32::from(*a) - i32::from(b)).abs()).max();
            assert!(worst <= Some(1), "{worst:?}");
        }
    }

    #[test]
    fn removes_the_debt_from_the_next_silence() {
        let mut line = tone(100, 1000);
        line.extend([0; 400]);
        // 30 samples are less than half a period: nothing happens until the silence.
        let (heard, edits) = stretch(&line, &[(600, Change::Tempo(-30)), (1000, Change::Silent(1400))]);
        assert_eq!((heard.len(), edits.changes()), (1370, &[(1000, -30)][..]));
        assert_eq!((edits.moved(1000), edits.moved(1200)), (1000, 1170));
        let (heard, _) = stretch(&line, &[(600, Change::Tempo(30)), (1000, Change::Silent(1400))]);
        assert_eq!((heard.len(), heard[1000]), (1430, 0));
    }

    #[test]
    fn keeps_the_rest_of_whole_periods_as_debt() {
        let mut line = tone(80, 1000);
        line.extend([0; 400]);
        for by in [-110, 110] {
            let (heard, edits) = stretch(&line, &[(600, Change::Tempo(by)), (1000, Change::Silent(1400))]);
            let (period, rest) = (by / 110 * 80, by / 110 * 30);
            assert_eq!(edits.changes(), [(480, period), (1000, rest)]);
            assert_eq!(heard.len() as i64, 1400 + by);
        }
    }

    #[test]
    fn crossfades_around_a_removed_period() {
        // A tone that grows by ten per sample. The middle is at 680, and 80 samples are removed.
        let line: Vec<i16> = (0usize..1600)
            .map(|i| sample(10.0 * i as f64 * libm::sin(2.0 * std::f64::consts::PI * (i % 80) as f64 / 80.0)))
            .collect();
        let (heard, edits) = stretch(&line, &[(800, Change::Tempo(-80))]);
        assert_eq!(edits.changes(), [(680, -80)]);
        // Peaks of both periods: 6200 and 7000, then 6600 and 7400.
        assert!((6200..6600).contains(&heard[620].abs()), "{}", heard[620]);
        assert!((7000..7400).contains(&heard[660].abs()), "{}", heard[660]);
    }

    #[test]
    fn a_change_too_near_the_last_one_waits() {
        let line = tone(80, 1600);
        let (_, edits) =
            stretch(&line, &[(600, Change::Tempo(-80)), (640, Change::Tempo(-80)), (1000, Change::Tempo(0))]);
        assert_eq!(edits.changes(), [(480, -80), (880, -80)]);
    }
}
