//! Which frames of a video can be decoded, from what arrived of them and of the frames that they refer to.
//!
//! Paper 002 §1 gives the dependencies: an I frame is coded by itself, a P frame refers to the I or P frame before it (its
//! anchor), a B frame to the anchors on both sides. With r(f) the layers of frame f that arrived in time, counted from the
//! base without a gap, the layers in which it can be decoded are
//!
//! ```text
//! d(f) = min( r(f), min over the frames g that f refers to of d(g) ),
//! ```
//!
//! and the *decodable frame ratio* is the share of the frames with d(f) ≥ 1.
//!
//! **Assumptions.** Each layer is predicted from the same layer of the references (a closed loop per layer), so a reference
//! that came in fewer layers limits the frames after it to as many. A part that is missing makes its layer of that frame
//! useless. Trailing B frames refer to the I frame of the next group (an open group, as encoders make it). A reference that
//! the video does not have, before its beginning or behind its end, is not waited for: an encoder would have done
//! without it; but a P or B frame before any anchor cannot be decoded.

use crate::traffic::FrameType;

/// One frame as it was received.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReceivedFrame {
    /// How it was coded.
    pub frame_type: FrameType,
    /// r(f): its layers that arrived in time, counted from the base up to the first that did not.
    pub layers: u8,
}

/// d(f) of every frame, in the order in which they are shown. Linear in the number of frames.
pub fn decodable_layers(frames: &[ReceivedFrame]) -> Vec<u8> {
    let mut decodable: Vec<u8> = frames.iter().map(|frame| frame.layers).collect();
    // Anchors, each limited by the one before it.
    let mut anchor = 0;
    for (slot, frame) in decodable.iter_mut().zip(frames) {
        match frame.frame_type {
            FrameType::P | FrameType::B => *slot = (*slot).min(anchor),
            FrameType::I | FrameType::None => {}
        }
        if frame.frame_type != FrameType::B {
            anchor = *slot;
        }
    }
    // B frames, limited by the anchor behind them too.
    let mut behind = u8::MAX;
    for (slot, frame) in decodable.iter_mut().zip(frames).rev() {
        if frame.frame_type == FrameType::B {
            *slot = (*slot).min(behind);
        } else {
            behind = *slot;
        }
    }
    decodable
}

/// What a video came to.
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

    /// The decodable frame ratio, from 0 to 1; NaN without frames.
    pub fn ratio(&self) -> f64 {
        self.decodable as f64 / self.frames as f64
    }

    /// Mean d(f); NaN without frames.
    pub fn mean_layers(&self) -> f64 {
        self.layers as f64 / self.frames as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frames(types: &str, layers: &[u8]) -> Vec<ReceivedFrame> {
        let of = |letter| match letter {
            'I' => FrameType::I,
            'P' => FrameType::P,
            _ => FrameType::B,
        };
        types.chars().zip(layers).map(|(letter, &layers)| ReceivedFrame { frame_type: of(letter), layers }).collect()
    }

    /// The slow twin: the references of a frame, searched for, and d(f) by the recursion as it is written above.
    fn slow(frames: &[ReceivedFrame], at: usize) -> u8 {
        let anchor = |place: &usize| frames[*place].frame_type != FrameType::B;
        let before = (0..at).rev().find(anchor);
        let behind = (at + 1..frames.len()).find(anchor);
        let own = frames[at].layers;
        match frames[at].frame_type {
            FrameType::I | FrameType::None => own,
            FrameType::P => before.map_or(0, |place| own.min(slow(frames, place))),
            FrameType::B => {
                let first = before.map_or(0, |place| slow(frames, place));
                own.min(first).min(behind.map_or(u8::MAX, |place| slow(frames, place)))
            }
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
    fn the_ratio_is_the_share_of_frames_with_a_base_layer() {
        let all = Decodability::of(&[2, 0, 1, 1]);
        assert_eq!((all.ratio(), all.mean_layers()), (0.75, 1.0));
        assert!(Decodability::of(&[]).ratio().is_nan());
    }

    proptest! {
        #[test]
        fn one_pass_each_way_equals_the_recursion(types in "[IPB]{0,40}", layers in prop::collection::vec(0..4u8, 40)) {
            let frames = frames(&types, &layers);
            let expected: Vec<u8> = (0..frames.len()).map(|at| slow(&frames, at)).collect();
            prop_assert_eq!(decodable_layers(&frames), expected);
        }

        #[test]
        fn receiving_more_never_decodes_less(types in "[IPB]{1,40}", layers in prop::collection::vec(0..4u8, 40), at in 0..40usize) {
            let fewer = frames(&types, &layers);
            let mut more = fewer.clone();
            let at = at % more.len();
            more[at].layers += 1;
            for (a, b) in decodable_layers(&fewer).iter().zip(decodable_layers(&more)) {
                prop_assert!(*a <= b);
            }
        }
    }
}
