//! Allocation of the target rate to streams (libwebrtc, `bitrate_allocator.cc`).
//!
//! Each stream gets its lowest rate. The rest is shared by weight (`bitrate_priority`), up to the highest rate of each
//! stream. If the target is below the sum of the lowest rates, video is suspended, the screen first. It resumes when
//! its share is 10 % and at least 20 kb/s above its lowest rate. Audio always gets its lowest rate.

use fairwave_units::units::Rate;

/// Demand and share of a stream; rates count whole IP packets.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Share {
    /// Lowest rate, bits per second.
    pub least: u64,
    /// Highest rate, bits per second.
    pub most: u64,
    /// True if the stream may be suspended.
    pub suspendable: bool,
    /// Weight, above 0.
    pub weight: f64,
    /// Allocated rate, bits per second; 0 while suspended.
    pub given: u64,
}

impl Share {
    /// Returns a stream without a share that is not suspended.
    pub fn new(least: Rate, most: Rate, suspendable: bool, weight: f64) -> Self {
        let least = least.bits_per_second();
        Share { least, most: most.bits_per_second().max(least), suspendable, weight, given: least }
    }

    /// Returns the rate that a suspended stream needs to resume (`MinBitrateWithHysteresis`).
    fn needs(&self) -> u64 {
        if self.given > 0 || !self.suspendable { self.least } else { self.least + (self.least / 10).max(20_000) }
    }
}

/// Allocates `target` to the streams, in their order.
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
    // Shares by weight, starting with the streams that reach their highest rate first (`DistributeBitrateRelatively`).
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
    fn rest_of_the_least_rates_is_shared_evenly_up_to_the_most() {
        assert_eq!(shares(110_000, &mut call()), [30, 30, 50]);
        assert_eq!(shares(170_000, &mut call()), [50, 50, 70]);
        // 30 more for audio reach its highest rate; the others share the rest.
        assert_eq!(shares(1_110_000, &mut call()), [60, 515, 535]);
        assert_eq!(shares(9_000_000, &mut call()), [60, 2_500, 1_000]);
    }

    #[test]
    fn rest_is_shared_by_weight_until_a_stream_is_full() {
        let mut streams = call();
        streams[0].weight = 0.5;
        streams[1].weight = 2.0;
        // The lowest rates are 110. The other 350 split into 50, 200 and 100. Audio takes 30 of its 50; the others
        // share 320 as 2 to 1.
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
