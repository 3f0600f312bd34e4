//! How the target is shared among streams (libwebrtc, `bitrate_allocator.cc`).
//!
//! Each stream gets its least rate. What is left is shared by weight (`bitrate_priority`), none beyond its most. A target that does not suffice for
//! all least rates suspends video, the screen first: it begins again when its share is 10 % and at least 20 kb/s above its
//! least rate. Audio always gets its least.

use fairwave_units::units::Rate;

/// A stream's wishes and share; rates count whole IP packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Share {
    /// The least.
    pub least: u64,
    /// The most.
    pub most: u64,
    /// It may be suspended.
    pub suspendable: bool,
    /// Its weight, above 0.
    pub weight: f64,
    /// What it gets, bits per second; 0 while it is suspended.
    pub given: u64,
}

impl Share {
    /// A stream that has nothing yet, and is not suspended.
    pub fn new(least: Rate, most: Rate, suspendable: bool, weight: f64) -> Self {
        let least = least.bits_per_second();
        Share { least, most: most.bits_per_second().max(least), suspendable, weight, given: least }
    }

    /// What a suspended stream needs to begin again (`MinBitrateWithHysteresis`).
    fn needs(&self) -> u64 {
        if self.given > 0 || !self.suspendable { self.least } else { self.least + (self.least / 10).max(20_000) }
    }
}

/// Shares `target` out, in the order of the streams.
pub fn share(target: Rate, streams: &mut [Share]) {
    let mut left = target.bits_per_second();
    let fixed: u64 = streams.iter().filter(|stream| !stream.suspendable).map(|stream| stream.least).sum();
    let mut free = left.saturating_sub(fixed);
    for stream in streams.iter_mut() {
        let needs = stream.needs();
        if stream.suspendable && needs > free {
            stream.given = 0;
            continue;
        }
        if stream.suspendable {
            free -= needs;
        }
        stream.given = stream.least;
    }
    left = left.saturating_sub(streams.iter().map(|stream| stream.given).sum());
    // By weight; those that are full first come first (`DistributeBitrateRelatively`).
    let room = |stream: &Share| if stream.given == 0 { 0 } else { stream.most - stream.given };
    let weighted = |stream: &Share| room(stream) as f64 / stream.weight;
    let mut order: Vec<usize> = (0..streams.len()).collect();
    order.sort_by(|&one, &other| {
        let of = |place: usize| streams.get(place).map_or(0.0, weighted);
        of(one).total_cmp(&of(other))
    });
    let mut weights: f64 = streams.iter().map(|stream| stream.weight).sum();
    for &place in &order {
        let Some(stream) = streams.get_mut(place) else { continue };
        let part = room(stream).min((left as f64 * stream.weight / weights) as u64).min(left);
        stream.given += part;
        left -= part;
        weights = (weights - stream.weight).max(f64::MIN_POSITIVE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(target: u64, streams: &mut [Share]) -> Vec<u64> {
        share(Rate::from_bits_per_second(target), streams);
        streams.iter().map(|stream| stream.given / 1000).collect()
    }

    fn call() -> [Share; 3] {
        let rate = |kilobits: u64| Rate::from_bits_per_second(kilobits * 1000);
        [
            Share::new(rate(30), rate(60), false, 1.0),
            Share::new(rate(30), rate(2_500), true, 1.0),
            Share::new(rate(50), rate(1_000), true, 1.0),
        ]
    }

    #[test]
    fn what_is_left_of_the_least_rates_is_shared_evenly_none_beyond_its_most() {
        assert_eq!(shares(110_000, &mut call()), [30, 30, 50]);
        assert_eq!(shares(170_000, &mut call()), [50, 50, 70]);
        // 30 more for audio fill it; the others share what is left.
        assert_eq!(shares(1_110_000, &mut call()), [60, 515, 535]);
        assert_eq!(shares(9_000_000, &mut call()), [60, 2_500, 1_000]);
    }

    #[test]
    fn what_is_left_is_shared_by_weight_until_a_stream_is_full() {
        let mut streams = call();
        streams[0].weight = 0.5;
        streams[1].weight = 2.0;
        // 110 are the least rates; 350 more: 50, 200 and 100. Audio takes 30 of its 50, the others share 320 as 2 to 1.
        assert_eq!(shares(460_000, &mut streams), [60, 30 + 213, 50 + 106]);
        assert_eq!(shares(9_000_000, &mut streams), [60, 2_500, 1_000]);
        streams[2].weight = 100.0;
        assert_eq!(
            shares(1_000_000, &mut streams)[2],
            50 + 868,
            "a hundred and a half in a hundred and two and a half"
        );
    }

    #[test]
    fn video_stops_below_its_least_and_begins_again_well_above() {
        let mut streams = call();
        assert_eq!(shares(60_000, &mut streams), [30, 30, 0]);
        assert_eq!(shares(59_000, &mut streams), [59, 0, 0]);
        assert_eq!(shares(79_000, &mut streams), [60, 0, 0], "20 kb/s above the least begin it again");
        assert_eq!(shares(80_000, &mut streams), [40, 40, 0]);
        assert_eq!(shares(10_000, &mut streams), [30, 0, 0], "audio has its least");
    }

    #[test]
    fn streams_that_may_not_stop_have_their_least() {
        let mut streams = call().map(|stream| Share { suspendable: false, ..stream });
        assert_eq!(shares(40_000, &mut streams), [30, 30, 50]);
    }
}
