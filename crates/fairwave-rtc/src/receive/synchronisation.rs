//! Lip synchronisation: libwebrtc's `video/stream_synchronization.cc`. Once a second it delays the earlier stream by
//! half of the filtered difference, at most 80 ms. Differences below 30 ms are ignored.

/// Largest correction per step, ms.
const LARGEST_STEP: i64 = 80;
/// Streams with a larger difference are not synchronised, ms.
const LARGEST_DELAY: i64 = 10_000;
/// Length of the filter.
const FILTER: i64 = 4;
/// Smallest difference that is corrected, ms.
const LEAST: i64 = 30;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Delay {
    extra: i64,
    last: i64,
}

/// Capture and arrival of a stream's latest packet, milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Latest {
    /// Capture time, by the sender's clock.
    pub captured: i64,
    /// Arrival time.
    pub received: i64,
}

/// Returns the excess of the video's network delay over the audio's, ms; `None` if the streams are too far apart.
pub fn relative_delay(audio: Latest, video: Latest) -> Option<i64> {
    let delay = video.received - audio.received - (video.captured - audio.captured);
    (delay.abs() <= LARGEST_DELAY).then_some(delay)
}

/// Delays that synchronise a microphone and a camera.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Synchronisation {
    average: i64,
    audio: Delay,
    video: Delay,
}

impl Synchronisation {
    /// Returns the new least delays of audio and video, ms; `None` if they stay. `relative` comes from
    /// [`relative_delay`], `audio` is the current delay of the audio buffer, and `video` is the target delay of the
    /// video.
    pub fn step(&mut self, relative: i64, audio: i64, video: i64) -> Option<(i64, i64)> {
        let difference = video - audio + relative;
        self.average = ((FILTER - 1) * self.average + difference) / FILTER;
        if self.average.abs() < LEAST {
            return None;
        }
        let step = (self.average / 2).clamp(-LARGEST_STEP, LARGEST_STEP);
        self.average = 0;
        let (later, earlier, step) =
            if step > 0 { (&mut self.video, &mut self.audio, step) } else { (&mut self.audio, &mut self.video, -step) };
        if later.extra > 0 {
            later.extra -= step;
            earlier.extra = 0;
        } else {
            earlier.extra += step;
            later.extra = 0;
        }
        self.video.extra = self.video.extra.max(0);
        for delay in [&mut self.video, &mut self.audio] {
            let new = if delay.extra > 0 { delay.extra } else { delay.last };
            delay.last = new.max(delay.extra).min(LARGEST_DELAY);
        }
        Some((self.audio.last, self.video.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_below_30_ms_are_left_alone() {
        let mut sync = Synchronisation::default();
        assert_eq!(sync.step(0, 0, 119), None, "a quarter of it: 29");
        let mut sync = Synchronisation::default();
        assert_eq!(sync.step(0, 0, 120), Some((15, 0)));
    }

    #[test]
    fn the_earlier_stream_is_moved_by_half_and_at_most_80_ms() {
        // stream_synchronization_unittest.cc: the filtered difference is a quarter of the first difference.
        let mut sync = Synchronisation::default();
        assert_eq!(sync.step(0, 0, 400), Some((50, 0)), "audio waits for the picture");
        let mut sync = Synchronisation::default();
        assert_eq!(sync.step(0, 400, 0), Some((0, 50)), "the picture waits for the audio");
        let mut sync = Synchronisation::default();
        assert_eq!(sync.step(1000, 0, 0), Some((80, 0)));
        let mut sync = Synchronisation::default();
        assert_eq!(sync.step(-1000, 0, 0), Some((0, 80)));
    }

    #[test]
    fn extra_delay_is_taken_back_before_the_other_gets_some() {
        let mut sync = Synchronisation::default();
        assert_eq!(sync.step(0, 400, 0), Some((0, 50)));
        assert_eq!(sync.step(0, 0, 160), Some((0, 30)), "20 ms less for the picture");
        assert_eq!(sync.step(0, 0, 640), Some((0, 30)), "below none is none");
        assert_eq!(sync.video.extra, 0);
        assert_eq!(sync.step(0, 0, 160), Some((20, 30)));
    }

    #[test]
    fn streams_ten_seconds_apart_do_not_belong_together() {
        let at = |captured, received| Latest { captured, received };
        assert_eq!(relative_delay(at(0, 50), at(10, 90)), Some(30));
        assert_eq!(relative_delay(at(0, 0), at(0, 10_000)), Some(10_000));
        assert_eq!(relative_delay(at(0, 0), at(0, 10_001)), None);
    }
}
