//! Decodable frames of a video at their display times, computed from the arrival times of the frames and their
//! references.
//!
//! Paper 002 §1 defines the dependencies. An I frame is independent. A P frame refers to the previous I or P frame (its
//! anchor), a B frame to the anchors on both sides. With a(f, j) the time by which layers 1 to j of frame f have
//! arrived, the decoder has frame f in j layers from
//!
//! ```text
//! t(f, j) = max( a(f, j), max over the frames g that f refers to of t(g, j) ),
//! ```
//!
//! and shows it in d(f) = max{ j : t(f, j) ≤ shown(f) } layers. The *decodable frame ratio* is the share of frames with
//! d(f) ≥ 1. So each frame has a single deadline for everything that it needs: its display time. A reference that
//! arrives after the display of a frame does not help that frame, but it helps later ones. A frame that arrives after
//! its display time is still decoded, because other frames refer to it. A B frame needs the next anchor, which is
//! captured later. The reorder delay is the time from a B frame to that anchor. If frames are displayed earlier than
//! the sum of reorder delay and network delay, no B frame is ever shown.
//!
//! **Assumptions.** Decoding takes no time. Each layer is predicted from the same layer of the references (a closed
//! loop per layer). So a reference with fewer layers limits all dependent frames to as many. A missing part makes its
//! layer of the frame useless. Trailing B frames refer to the I frame of the next group (an open group, as encoders
//! produce it). The decoder does not wait for references outside the video, because an encoder would not have used
//! them. But a P or B frame before any anchor cannot be decoded.

use crate::traffic::{FrameType, LayerRates};
use fairwave_units::units::Instant;

/// Arrival time of each layer, base first; [`Instant::NEVER`] for layers that did not arrive or do not exist.
pub type Arrivals = [Instant; LayerRates::MOST];

/// A received frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReceivedFrame {
    /// Type of the frame.
    pub frame_type: FrameType,
    /// Display time; arrivals up to this time count.
    pub shown: Instant,
    /// Arrival times of the complete layers.
    pub arrived: Arrivals,
}

/// Returns the later of two times, for each number of layers.
fn later(mut one: Arrivals, other: &Arrivals) -> Arrivals {
    one.iter_mut().zip(other).for_each(|(moment, other)| *moment = (*moment).max(*other));
    one
}

/// a(f, j): a layer is useful only with all layers below it.
fn cumulative(mut arrived: Arrivals) -> Arrivals {
    let mut latest = Instant::ZERO;
    for moment in &mut arrived {
        latest = latest.max(*moment);
        *moment = latest;
    }
    arrived
}

/// Returns d(f) of every frame, in display order. Linear in the number of frames.
pub fn decodable_layers(frames: &[ReceivedFrame]) -> Vec<u8> {
    let mut ready: Vec<Arrivals> = frames.iter().map(|frame| cumulative(frame.arrived)).collect();
    // All frames wait for the previous anchor.
    let mut anchor = [Instant::NEVER; LayerRates::MOST];
    for (slot, frame) in ready.iter_mut().zip(frames) {
        if matches!(frame.frame_type, FrameType::P | FrameType::B) {
            *slot = later(*slot, &anchor);
        }
        if frame.frame_type != FrameType::B {
            anchor = *slot;
        }
    }
    // B frames also wait for the next anchor.
    let mut behind = [Instant::ZERO; LayerRates::MOST];
    for (slot, frame) in ready.iter_mut().zip(frames).rev() {
        if frame.frame_type == FrameType::B {
            *slot = later(*slot, &behind);
        } else {
            behind = *slot;
        }
    }
    let in_time = |(ready, frame): (&Arrivals, &ReceivedFrame)| {
        ready.iter().filter(|&&moment| moment != Instant::NEVER && moment <= frame.shown).count() as u8
    };
    ready.iter().zip(frames).map(in_time).collect()
}

/// Summary of a video.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Decodability {
    /// Number of frames.
    pub frames: u64,
    /// Number of frames with at least the base layer decodable.
    pub decodable: u64,
    /// Σ d(f) over all frames.
    pub layers: u64,
}

impl Decodability {
    /// Summarises frames from their d(f).
    pub fn from_layers(layers: &[u8]) -> Self {
        Decodability {
            frames: layers.len() as u64,
            decodable: layers.iter().filter(|&&layers| layers > 0).count() as u64,
            layers: layers.iter().map(|&layers| u64::from(layers)).sum(),
        }
    }

    /// Returns the decodable frame ratio, from 0 to 1; `None` without frames.
    pub fn ratio(&self) -> Option<f64> {
        (self.frames > 0).then(|| self.decodable as f64 / self.frames as f64)
    }

    /// Returns the mean d(f); `None` without frames.
    pub fn mean_layers(&self) -> Option<f64> {
        (self.frames > 0).then(|| self.layers as f64 / self.frames as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn instant(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn frame_type(letter: char) -> FrameType {
        match letter {
            'I' => FrameType::I,
            'P' => FrameType::P,
            'B' => FrameType::B,
            _ => FrameType::None,
        }
    }

    /// Returns frames of 40 ms, displayed 100 ms after capture, with the arrival times of their layers in ms.
    fn received<const LAYERS: usize>(types: &str, arrived: &[[u64; LAYERS]]) -> Vec<ReceivedFrame> {
        let of = |(number, (letter, layers)): (usize, (char, &[u64; LAYERS]))| {
            let mut arrived = [Instant::NEVER; LayerRates::MOST];
            arrived
                .iter_mut()
                .zip(layers)
                .for_each(|(slot, &ms)| *slot = if ms == NEVER { *slot } else { instant(ms) });
            ReceivedFrame { frame_type: frame_type(letter), shown: instant(100 + 40 * number as u64), arrived }
        };
        types.chars().zip(arrived).enumerate().map(of).collect()
    }

    const NEVER: u64 = u64::MAX;

    /// Returns frames with the first layers (as many as given) arriving at once and the others never.
    fn frames(types: &str, layers: &[u8]) -> Vec<ReceivedFrame> {
        let arrived: Vec<[u64; 8]> = (layers.iter())
            .map(|&layers| std::array::from_fn(|place| if place < usize::from(layers) { 0 } else { NEVER }))
            .collect();
        received(types, &arrived)
    }

    /// Slow reference implementation: the decodable layers of a frame at a time, by recursion over its references.
    fn slow(frames: &[ReceivedFrame], at: usize, now: Instant) -> u8 {
        let anchor = |place: &usize| frames[*place].frame_type != FrameType::B;
        let before = (0..at).rev().find(anchor);
        let behind = (at + 1..frames.len()).find(anchor);
        let here = |moment: &&Instant| **moment != Instant::NEVER && **moment <= now;
        let own = frames[at].arrived.iter().take_while(here).count() as u8;
        let of = |place: Option<usize>, without: u8| place.map_or(without, |place| slow(frames, place, now));
        match frames[at].frame_type {
            FrameType::I | FrameType::None | FrameType::Noise | FrameType::Background => own,
            FrameType::P => own.min(of(before, 0)),
            FrameType::B => own.min(of(before, 0)).min(of(behind, u8::MAX)),
        }
    }

    #[test]
    fn complete_arrivals_are_decoded() {
        assert_eq!(decodable_layers(&frames("IBBPBBPI", &[3; 8])), [3; 8]);
    }

    #[test]
    fn a_lost_i_frame_takes_its_group_and_the_b_frames_before_it_with_it() {
        let received = frames("IBBPBBIBBPBBI", &[1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1]);
        assert_eq!(decodable_layers(&received), [1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn a_lost_p_frame_spoils_what_follows_until_the_next_i_frame() {
        let received = frames("IBBPBBPBBI", &[1, 1, 1, 0, 1, 1, 1, 1, 1, 1]);
        assert_eq!(decodable_layers(&received), [1, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn a_lost_b_frame_spoils_itself_alone() {
        assert_eq!(decodable_layers(&frames("IBBPBBP", &[1, 0, 1, 1, 1, 1, 1])), [1, 0, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn a_reference_in_fewer_layers_limits_what_refers_to_it() {
        assert_eq!(decodable_layers(&frames("IBPBP", &[5, 5, 2, 5, 4])), [5, 2, 2, 2, 2]);
    }

    #[test]
    fn frames_of_no_type_stand_alone_and_are_anchors() {
        assert_eq!(decodable_layers(&frames("--P", &[0, 2, 2])), [0, 2, 2]);
        assert_eq!(decodable_layers(&frames("-BP", &[2, 1, 2])), [2, 1, 2]);
    }

    #[test]
    fn p_and_b_frames_need_an_anchor() {
        assert_eq!(decodable_layers(&frames("PBBI", &[1; 4])), [0, 0, 0, 1]);
    }

    #[test]
    fn counts_eight_layers() {
        assert_eq!(decodable_layers(&frames("IBP", &[8, 8, 8])), [8, 8, 8]);
    }

    #[test]
    fn arrivals_at_the_display_time_are_in_time_and_later_ones_are_not() {
        assert_eq!(decodable_layers(&received("II", &[[100], [141]])), [1, 0]);
    }

    #[test]
    fn a_b_frame_that_is_shown_before_the_anchor_behind_it_arrives_is_not_seen() {
        // The P frame is displayed at 220 ms and arrives at 150 ms: in time for itself, too late for the B frame
        // displayed at 140 ms.
        assert_eq!(decodable_layers(&received("IBBP", &[[50], [60], [70], [150]])), [1, 0, 1, 1]);
    }

    #[test]
    fn a_reference_that_missed_its_own_showing_still_helps_what_is_shown_later() {
        // The I frame is displayed at 100 ms and arrives at 170 ms: after the display of the first P frame, before the
        // second.
        assert_eq!(decodable_layers(&received("IPP", &[[170], [120], [130]])), [0, 0, 1]);
        // The same holds for a P frame, for the B frames before and after it.
        assert_eq!(decodable_layers(&received("IBPBP", &[[0], [0], [190], [0], [0]])), [1, 0, 0, 1, 1]);
    }

    #[test]
    fn a_layer_waits_for_the_layers_below_it_and_for_the_same_layer_of_its_references() {
        assert_eq!(decodable_layers(&received("I", &[[101, 10]])), [0]);
        assert_eq!(decodable_layers(&received("I", &[[10, 101, 10]])), [1]);
        // The second layer of the I frame arrives at 130 ms: too late for itself, in time for the P frame displayed at
        // 140 ms.
        assert_eq!(decodable_layers(&received("IP", &[[10, 130], [50, 50]])), [1, 2]);
    }

    #[test]
    fn frames_that_are_shown_sooner_than_they_can_be_reordered_show_no_b_frame() {
        // 25 frames/s in IBBP, with a network delay of 10 ms: the anchor after the first B frame arrives 90 ms after
        // its capture.
        let types = "IBBPBBPBBP";
        let shown_after = |delay: u64| {
            let mut frames = frames(types, &[1; 10]);
            for (number, frame) in frames.iter_mut().enumerate() {
                let made = 40 * number as u64;
                (frame.shown, frame.arrived[0]) = (instant(made + delay), instant(made + 10));
            }
            decodable_layers(&frames)
                .iter()
                .zip(types.chars())
                .filter(|(layers, kind)| **layers > 0 && *kind == 'B')
                .count()
        };
        assert_eq!([49, 50, 89, 90].map(shown_after), [0, 3, 3, 6]);
    }

    #[test]
    fn the_ratio_is_the_share_of_frames_with_a_base_layer() {
        let all = Decodability::from_layers(&[2, 0, 1, 1]);
        assert_eq!((all.frames, all.decodable, all.layers), (4, 3, 4));
        assert_eq!((all.ratio(), all.mean_layers()), (Some(0.75), Some(1.0)));
        assert_eq!(Decodability::from_layers(&[3, 3]).mean_layers(), Some(3.0));
        assert_eq!(
            (Decodability::from_layers(&[]).ratio(), Decodability::from_layers(&[]).mean_layers()),
            (None, None)
        );
    }

    /// Generates frames of any types, displayed every 40 ms. Their three layers arrive up to 300 ms after capture, or
    /// never.
    fn random_frames() -> impl Strategy<Value = Vec<ReceivedFrame>> {
        let arrival = prop_oneof![4 => (0u64..300).prop_map(Some), 1 => Just(None)];
        prop::collection::vec((prop::sample::select(vec!['I', 'P', 'B', '-']), prop::array::uniform3(arrival)), 0..40)
            .prop_map(|frames| {
                let types: String = frames.iter().map(|(letter, _)| *letter).collect();
                let moment = |(number, (_, arrived)): (usize, &(char, [Option<u64>; 3]))| {
                    arrived.map(|after| after.map_or(NEVER, |after| 40 * number as u64 + after))
                };
                received(&types, &frames.iter().enumerate().map(moment).collect::<Vec<_>>())
            })
    }

    proptest! {
        #[test]
        fn two_passes_equal_the_recursion(frames in random_frames()) {
            let expected: Vec<u8> = (0..frames.len()).map(|at| slow(&frames, at, frames[at].shown)).collect();
            prop_assert_eq!(decodable_layers(&frames), expected);
        }

        #[test]
        fn earlier_arrivals_never_decode_less(late in random_frames(), at in 0..40usize, layer in 0..3usize) {
            let mut sooner = late.clone();
            let at = at.checked_rem(late.len());
            if let Some(frame) = at.and_then(|at| sooner.get_mut(at)) {
                frame.arrived[layer] = Instant::ZERO;
            }
            for (a, b) in decodable_layers(&late).iter().zip(decodable_layers(&sooner)) {
                prop_assert!(*a <= b);
            }
        }
    }
}
