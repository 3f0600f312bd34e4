//! Which frames of a video can be decoded when they are shown, from when what belongs to them and to their references arrived.
//!
//! Paper 002 §1 gives the dependencies. An I frame is coded by itself. A P frame refers to the I or P frame before it
//! (its anchor), a B frame to the anchors on both sides. With a(f, j) the moment by which layers 1 to j of frame f have
//! arrived, the decoder has frame f in j layers from
//!
//! ```text
//! t(f, j) = max( a(f, j), max over the frames g that f refers to of t(g, j) ),
//! ```
//!
//! and shows it in d(f) = max{ j : t(f, j) ≤ shown(f) } layers. The *decodable frame ratio* is the share of the frames with
//! d(f) ≥ 1. So each frame has one deadline for everything that it needs: the time at which it is shown. A reference
//! that arrives after a frame was shown does not help that frame, but helps frames that are shown later. A frame that
//! arrives after it should be shown is still decoded, because other frames refer to it. A B frame needs the anchor
//! after it, which is made later. The reorder delay is the time from a B frame to that anchor. If frames are shown
//! earlier than the sum of reorder delay and network delay, no B frame is ever shown.
//!
//! **Assumptions.** The decoder takes no time. Each layer is predicted from the same layer of the references (a closed
//! loop per layer), so a reference that came in fewer layers limits the frames after it to as many. A part that is
//! missing makes its layer of that frame useless. Trailing B frames refer to the I frame of the next group (an open
//! group, as encoders make it). A reference that the video does not have, before its beginning or behind its end, is
//! not waited for: an encoder would have done without it. But a P or B frame before any anchor cannot be decoded.

use crate::traffic::{FrameType, LayerRates};
use fairwave_units::units::Instant;

/// When each layer of a frame arrived, base first; [`Instant::NEVER`] for those that did not, or that the video does not have.
pub type Arrivals = [Instant; LayerRates::MOST];

/// One frame as it was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReceivedFrame {
    /// How it was coded.
    pub frame_type: FrameType,
    /// When it is shown: what arrives up to that moment counts.
    pub shown: Instant,
    /// When all of each layer had arrived.
    pub arrived: Arrivals,
}

/// For each number of layers the later of two moments.
fn later(mut one: Arrivals, other: &Arrivals) -> Arrivals {
    one.iter_mut().zip(other).for_each(|(moment, other)| *moment = (*moment).max(*other));
    one
}

/// a(f, j): a layer is of use only with all layers below it.
fn cumulative(mut arrived: Arrivals) -> Arrivals {
    let mut latest = Instant::ZERO;
    for moment in &mut arrived {
        latest = latest.max(*moment);
        *moment = latest;
    }
    arrived
}

/// d(f) of every frame, in the order in which they are shown. Linear in the number of frames.
pub fn decodable_layers(frames: &[ReceivedFrame]) -> Vec<u8> {
    let mut ready: Vec<Arrivals> = frames.iter().map(|frame| cumulative(frame.arrived)).collect();
    // All wait for the anchor before them.
    let mut anchor = [Instant::NEVER; LayerRates::MOST];
    for (slot, frame) in ready.iter_mut().zip(frames) {
        if matches!(frame.frame_type, FrameType::P | FrameType::B) {
            *slot = later(*slot, &anchor);
        }
        if frame.frame_type != FrameType::B {
            anchor = *slot;
        }
    }
    // B frames wait for the anchor behind them, too.
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

/// Results of a video.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Decodability {
    /// Frames that were to be shown.
    pub frames: u64,
    /// Of these, frames of which at least the base layer could be decoded.
    pub decodable: u64,
    /// Σ d(f) over them.
    pub layers: u64,
}

impl Decodability {
    /// Over the frames whose d(f) is given.
    pub fn of(layers: &[u8]) -> Self {
        Decodability {
            frames: layers.len() as u64,
            decodable: layers.iter().filter(|&&layers| layers > 0).count() as u64,
            layers: layers.iter().map(|&layers| u64::from(layers)).sum(),
        }
    }

    /// The decodable frame ratio, from 0 to 1; none without frames.
    pub fn ratio(&self) -> Option<f64> {
        (self.frames > 0).then(|| self.decodable as f64 / self.frames as f64)
    }

    /// Mean d(f); none without frames.
    pub fn mean_layers(&self) -> Option<f64> {
        (self.frames > 0).then(|| self.layers as f64 / self.frames as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: u64) -> Instant {
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

    /// Frames of 40 ms that are shown 100 ms after they are made, with the arrivals of their layers in milliseconds.
    fn received<const LAYERS: usize>(types: &str, arrived: &[[u64; LAYERS]]) -> Vec<ReceivedFrame> {
        let of = |(number, (letter, layers)): (usize, (char, &[u64; LAYERS]))| {
            let mut arrived = [Instant::NEVER; LayerRates::MOST];
            arrived.iter_mut().zip(layers).for_each(|(slot, &ms)| *slot = if ms == NEVER { *slot } else { at(ms) });
            ReceivedFrame { frame_type: frame_type(letter), shown: at(100 + 40 * number as u64), arrived }
        };
        types.chars().zip(arrived).enumerate().map(of).collect()
    }

    const NEVER: u64 = u64::MAX;

    /// Frames whose first so many layers arrived at once, the others never.
    fn frames(types: &str, layers: &[u8]) -> Vec<ReceivedFrame> {
        let arrived: Vec<[u64; 8]> = (layers.iter())
            .map(|&layers| std::array::from_fn(|place| if place < usize::from(layers) { 0 } else { NEVER }))
            .collect();
        received(types, &arrived)
    }

    /// The slow twin: the layers of a frame that a decoder has at a moment, by looking for all that it refers to.
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
    fn all_that_arrived_whole_is_decoded() {
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
    fn before_any_anchor_p_and_b_frames_cannot_be_decoded() {
        assert_eq!(decodable_layers(&frames("PBBI", &[1; 4])), [0, 0, 0, 1]);
    }

    #[test]
    fn all_eight_layers_count() {
        assert_eq!(decodable_layers(&frames("IBP", &[8, 8, 8])), [8, 8, 8]);
    }

    #[test]
    fn what_arrives_at_the_moment_of_showing_is_in_time_and_what_comes_later_is_not() {
        assert_eq!(decodable_layers(&received("II", &[[100], [141]])), [1, 0]);
    }

    #[test]
    fn a_b_frame_that_is_shown_before_the_anchor_behind_it_arrives_is_not_seen() {
        // The P frame is shown at 220 ms and comes at 150 ms: in time for itself, too late for the B frame shown at 140 ms.
        assert_eq!(decodable_layers(&received("IBBP", &[[50], [60], [70], [150]])), [1, 0, 1, 1]);
    }

    #[test]
    fn a_reference_that_missed_its_own_showing_still_helps_what_is_shown_later() {
        // The I frame is shown at 100 ms and comes at 170 ms: after the first P frame was shown, before the second is.
        assert_eq!(decodable_layers(&received("IPP", &[[170], [120], [130]])), [0, 0, 1]);
        // So does a P frame, for the B frame that is shown before it and for the one behind it.
        assert_eq!(decodable_layers(&received("IBPBP", &[[0], [0], [190], [0], [0]])), [1, 0, 0, 1, 1]);
    }

    #[test]
    fn a_layer_waits_for_the_layers_below_it_and_for_the_same_layer_of_its_references() {
        assert_eq!(decodable_layers(&received("I", &[[101, 10]])), [0]);
        assert_eq!(decodable_layers(&received("I", &[[10, 101, 10]])), [1]);
        // The second layer of the I frame comes at 130 ms: too late for itself, in time for the P frame shown at 140 ms.
        assert_eq!(decodable_layers(&received("IP", &[[10, 130], [50, 50]])), [1, 2]);
    }

    #[test]
    fn frames_that_are_shown_sooner_than_they_can_be_reordered_show_no_b_frame() {
        // 25 frames/s in IBBP, 10 ms under way: the anchor behind the first B frame arrives 90 ms after that was made.
        let types = "IBBPBBPBBP";
        let shown_after = |delay: u64| {
            let mut frames = frames(types, &[1; 10]);
            for (number, frame) in frames.iter_mut().enumerate() {
                let made = 40 * number as u64;
                (frame.shown, frame.arrived[0]) = (at(made + delay), at(made + 10));
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
        let all = Decodability::of(&[2, 0, 1, 1]);
        assert_eq!((all.frames, all.decodable, all.layers), (4, 3, 4));
        assert_eq!((all.ratio(), all.mean_layers()), (Some(0.75), Some(1.0)));
        assert_eq!(Decodability::of(&[3, 3]).mean_layers(), Some(3.0));
        assert_eq!((Decodability::of(&[]).ratio(), Decodability::of(&[]).mean_layers()), (None, None));
    }

    /// Frames of any types, shown every 40 ms, whose three layers arrived at any time up to 300 ms after they were made, or never.
    fn any_frames() -> impl Strategy<Value = Vec<ReceivedFrame>> {
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
        fn one_pass_each_way_equals_the_recursion(frames in any_frames()) {
            let expected: Vec<u8> = (0..frames.len()).map(|at| slow(&frames, at, frames[at].shown)).collect();
            prop_assert_eq!(decodable_layers(&frames), expected);
        }

        #[test]
        fn what_arrives_sooner_never_decodes_less(late in any_frames(), at in 0..40usize, layer in 0..3usize) {
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
