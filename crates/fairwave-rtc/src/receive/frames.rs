//! Frame buffer: assembles packets to decodable frames (libwebrtc's `video_coding/packet_buffer.cc` and
//! `api/video/frame_buffer.cc`).
//!
//! A frame is complete when all packets from its first to its last have arrived. All frames of one picture (spatial
//! layers) are decoded together, once every frame that they depend on is decoded, and never before an already decoded
//! one. Older frames are dropped.

use std::collections::VecDeque;

use crate::rtp::RtpHeader;
use fairwave_units::units::Instant;

/// Largest number of frames in the buffer.
const MOST_FRAMES: usize = 800;
/// Largest number of packets of incomplete frames.
const MOST_PACKETS: u64 = 2048;
/// Largest distance to a frame's reference.
const HISTORY: u64 = 256;
/// Words in the ring of bits.
const WORDS: usize = HISTORY as usize / 64;

/// A received frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Frame {
    /// Frame number in the stream, without wraps.
    pub number: u64,
    /// Number of the reference frame; `None` for a key frame.
    pub depends: Option<u64>,
    /// True if it depends on no other frame.
    pub key: bool,
    /// Number of the application's unit.
    pub unit: u32,
    /// Capture time.
    pub created: Instant,
    /// RTP timestamp.
    pub timestamp: u32,
    /// Spatial layer.
    pub spatial: u8,
    /// Payload bytes so far.
    pub bytes: u32,
    /// Packets so far.
    pub packets: u32,
    /// Arrival of its first packet.
    pub begun: Instant,
    /// Arrival of its last packet.
    pub complete: Instant,
    /// True if one of its packets had been requested again.
    pub again: bool,
    first: Option<u64>,
    last: Option<u64>,
    /// True if it is the last spatial layer of its picture.
    pub ends_moment: bool,
}

impl Frame {
    fn is_complete(&self) -> bool {
        match (self.first, self.last) {
            (Some(first), Some(last)) => last >= first && u64::from(self.packets) > last - first,
            _ => false,
        }
    }

    /// Returns the number of its first packet.
    pub fn first_packet(&self) -> Option<u64> {
        self.first
    }
}

/// Effect of a packet.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Inserted {
    /// The frame that it completed.
    pub completed: Option<Frame>,
    /// True if its frame was decoded, overtaken or complete.
    pub useless: bool,
    /// True if the buffer was full and has been emptied: request a key frame.
    pub overflow: bool,
}

/// Complete frames of one picture, by position in the buffer. Valid until the buffer changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Moment {
    first: usize,
    last: usize,
}

/// Frame buffer of a stream.
#[derive(Clone, Debug, Default)]
pub struct Frames {
    near: Option<u64>,
    /// By number.
    frames: VecDeque<Frame>,
    incomplete_packets: u64,
    /// Decoded flags of the numbers up to the last decoded one: one bit each, in a ring.
    decoded: [u64; WORDS],
    last_decoded: Option<u64>,
    /// Complete frames that were overtaken.
    pub dropped: u64,
}

impl Frames {
    /// Adds a packet that has not arrived before. `number` is its sequence number without wraps; `again` is true if it
    /// was requested again.
    pub fn insert(&mut self, now: Instant, number: u64, header: &RtpHeader, created: Instant, again: bool) -> Inserted {
        let near = *self.near.get_or_insert(0x1_0000 + u64::from(header.frame));
        let frame_number = super::reception::unwrap16(near, header.frame);
        self.near = Some(near.max(frame_number));
        if self.last_decoded.is_some_and(|last| frame_number <= last) {
            return Inserted { useless: true, ..Inserted::default() };
        }
        let mut place = match self.frames.back() {
            Some(newest) if newest.number < frame_number => self.frames.len(),
            Some(newest) if newest.number == frame_number => self.frames.len() - 1,
            _ => self.frames.partition_point(|frame| frame.number < frame_number),
        };
        let mut known = self.frames.get(place).is_some_and(|frame| frame.number == frame_number);
        let full = !known && self.frames.len() >= MOST_FRAMES;
        if full || self.incomplete_packets >= MOST_PACKETS {
            self.clear();
            (place, known) = (0, false);
            if !(header.key && header.first) {
                return Inserted { overflow: true, ..Inserted::default() };
            }
        }
        let depends =
            (!header.key && header.depends > 0).then(|| frame_number.saturating_sub(u64::from(header.depends)));
        if !known {
            let frame = Frame {
                number: frame_number,
                depends,
                key: header.key,
                unit: header.unit,
                created,
                timestamp: header.timestamp,
                spatial: header.spatial,
                bytes: 0,
                packets: 0,
                begun: now,
                complete: now,
                again: false,
                first: None,
                last: None,
                ends_moment: false,
            };
            self.frames.insert(place, frame);
        }
        let Some(frame) = self.frames.get_mut(place) else { return Inserted::default() };
        if frame.is_complete() {
            return Inserted { useless: true, ..Inserted::default() };
        }
        frame.bytes = frame.bytes.saturating_add(u32::from(header.payload));
        frame.packets += 1;
        frame.complete = now;
        frame.again |= again;
        if header.first {
            frame.first = Some(number);
        }
        if header.last {
            frame.last = Some(number);
        }
        // In a picture, only the last frame has the marker.
        frame.ends_moment |= header.marker;
        self.incomplete_packets += 1;
        let completed = frame.is_complete().then_some(*frame);
        if let Some(frame) = completed {
            self.incomplete_packets = self.incomplete_packets.saturating_sub(u64::from(frame.packets));
        }
        Inserted { completed, ..Inserted::default() }
    }

    /// Returns the word of a number, and its bit in the word.
    fn bit(number: u64) -> (usize, u64) {
        ((number / 64) as usize % WORDS, 1 << (number % 64))
    }

    /// Checks whether the frame was decoded and is recent enough for others to depend on it.
    fn is_decoded(&self, number: u64) -> bool {
        let (word, bit) = Self::bit(number);
        let known = self.last_decoded.is_some_and(|last| number <= last && number + HISTORY > last);
        known && self.decoded.get(word).is_some_and(|bits| bits & bit != 0)
    }

    /// Returns the first decodable picture.
    pub fn next(&self) -> Option<Moment> {
        self.next_from(0)
    }

    /// Checks whether another decodable picture follows this one.
    pub fn is_followed(&self, moment: Moment) -> bool {
        self.next_from(moment.last + 1).is_some()
    }

    /// Returns the first decodable picture at or after a position in the buffer at which a picture starts.
    fn next_from(&self, from: usize) -> Option<Moment> {
        // Frames of one picture have consecutive numbers: those from `moment` until the one before `place`.
        let mut moment = from;
        for (place, frame) in self.frames.iter().enumerate().skip(from) {
            let begun = place.checked_sub(1).filter(|_| moment < place).and_then(|before| self.frames.get(before));
            if begun.is_some_and(|before| before.unit != frame.unit || before.number + 1 != frame.number) {
                moment = place;
            }
            let first = frame.number - (place - moment) as u64;
            let has = |number: u64| self.is_decoded(number) || (first..frame.number).contains(&number);
            let decodable = frame.is_complete()
                && match frame.depends {
                    None => frame.key,
                    Some(number) => has(number),
                };
            // A picture starts with the lowest layer.
            if !decodable || (moment == place && frame.spatial > 0) {
                moment = place + 1;
                continue;
            }
            if frame.ends_moment {
                return Some(Moment { first: moment, last: place });
            }
        }
        None
    }

    /// Returns the frames of a picture.
    pub fn frames(&self, moment: Moment) -> impl Iterator<Item = &Frame> {
        self.frames.range(moment.first..=moment.last)
    }

    /// Removes frames up to the last of a picture. The picture is decoded if `decode`; otherwise it is dropped, too.
    pub fn take(&mut self, moment: Moment, decode: bool) {
        let Some(last) = self.frames.get(moment.last).map(|frame| frame.number) else { return };
        let first = last - (moment.last - moment.first) as u64;
        for _ in 0..=moment.last {
            let Some(frame) = self.frames.pop_front() else { break };
            if !frame.is_complete() {
                self.incomplete_packets = self.incomplete_packets.saturating_sub(u64::from(frame.packets));
            } else if !(decode && frame.number >= first) {
                self.dropped += u64::from(frame.ends_moment);
            }
        }
        if decode {
            let passed = self.last_decoded.map_or(HISTORY, |before| last.saturating_sub(before).min(HISTORY));
            for number in last + 1 - passed..=last {
                let (word, bit) = Self::bit(number);
                if let Some(bits) = self.decoded.get_mut(word) {
                    *bits = if number >= first { *bits | bit } else { *bits & !bit };
                }
            }
            self.last_decoded = Some(last);
        }
    }

    /// Number of frames in the buffer, complete or not.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Checks whether the buffer is empty.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Checks whether a frame with this number was decoded or overtaken.
    pub fn is_past(&self, number: u64) -> bool {
        self.last_decoded.is_some_and(|last| number <= last)
    }

    /// Number of complete frames in the buffer that end a picture.
    pub fn complete(&self) -> u64 {
        self.frames.iter().filter(|frame| frame.is_complete() && frame.ends_moment).count() as u64
    }

    fn clear(&mut self) {
        self.dropped += self.complete();
        self.frames.clear();
        self.incomplete_packets = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Returns packet `part` of `parts` of a frame; sequence numbers continue from `first`.
    fn packet(frame: u16, depends: u8, part: u16, parts: u16) -> RtpHeader {
        RtpHeader {
            frame,
            depends,
            key: depends == 0,
            unit: u32::from(frame),
            first: part == 0,
            last: part + 1 == parts,
            marker: part + 1 == parts,
            payload: 100,
            ..RtpHeader::default()
        }
    }

    fn insert(frames: &mut Frames, number: u64, header: RtpHeader) -> Inserted {
        frames.insert(Instant::ZERO, number, &header, Instant::ZERO, false)
    }

    fn insert_complete(frames: &mut Frames, frame: u16, depends: u8) -> Inserted {
        insert(frames, u64::from(frame), packet(frame, depends, 0, 1))
    }

    /// Decodes all that can be decoded. Returns their frame numbers, as in the header.
    fn decode(frames: &mut Frames) -> Vec<u16> {
        let mut found = Vec::new();
        while let Some(moment) = frames.next() {
            found.extend(frames.frames(moment).map(|frame| frame.number as u16));
            frames.take(moment, true);
        }
        found
    }

    #[test]
    fn a_frame_is_complete_with_all_its_packets_in_any_order() {
        let mut frames = Frames::default();
        assert_eq!(insert(&mut frames, 12, packet(0, 0, 2, 3)).completed, None);
        assert_eq!(insert(&mut frames, 10, packet(0, 0, 0, 3)).completed, None);
        let frame = insert(&mut frames, 11, packet(0, 0, 1, 3)).completed.expect("complete");
        assert_eq!((frame.bytes, frame.packets, frame.first_packet()), (300, 3, Some(10)));
        assert!(insert(&mut frames, 13, packet(0, 0, 1, 3)).useless);
    }

    #[test]
    fn frames_wait_for_those_that_they_depend_on() {
        let mut frames = Frames::default();
        insert_complete(&mut frames, 0, 0);
        insert_complete(&mut frames, 2, 1);
        assert_eq!(decode(&mut frames), [0]);
        insert_complete(&mut frames, 1, 1);
        assert_eq!(decode(&mut frames), [1, 2]);
    }

    #[test]
    fn an_upper_temporal_layer_may_be_missing() {
        let mut frames = Frames::default();
        // Frame 2 depends on 0; frame 1 was of the upper layer.
        insert_complete(&mut frames, 0, 0);
        insert_complete(&mut frames, 2, 2);
        assert_eq!(decode(&mut frames), [0, 2]);
        assert!(insert_complete(&mut frames, 1, 1).useless, "overtaken");
    }

    #[test]
    fn decoding_starts_with_a_key_frame_which_overtakes_waiting_frames() {
        let mut frames = Frames::default();
        insert_complete(&mut frames, 5, 1);
        insert_complete(&mut frames, 6, 1);
        assert_eq!(decode(&mut frames), [0; 0]);
        insert_complete(&mut frames, 7, 0);
        assert_eq!(decode(&mut frames), [7]);
        assert_eq!(frames.dropped, 2);
    }

    #[test]
    fn layers_of_a_moment_are_decoded_together() {
        let mut frames = Frames::default();
        let layer = |frame: u16, spatial: u8, depends: u8| RtpHeader {
            unit: 3,
            spatial,
            marker: spatial == 1,
            ..packet(frame, depends, 0, 1)
        };
        insert(&mut frames, 1, layer(1, 1, 1));
        assert_eq!(frames.next(), None);
        let base = RtpHeader { marker: false, ..layer(0, 0, 0) };
        insert(&mut frames, 0, base);
        let moment = frames.next().expect("both, in whichever order they came");
        assert_eq!((frames.frames(moment).count(), frames.is_followed(moment)), (2, false));
        let mut frames = Frames::default();
        insert(&mut frames, 0, base);
        assert_eq!(frames.next(), None, "the marker is missing");
        insert(&mut frames, 1, layer(1, 1, 1));
        let moment = frames.next().expect("both");
        assert_eq!(frames.frames(moment).count(), 2);
        frames.take(moment, false);
        assert_eq!(frames.dropped, 1, "one picture");
    }

    #[test]
    fn frames_tell_whether_another_can_be_decoded() {
        let mut frames = Frames::default();
        insert_complete(&mut frames, 0, 0);
        let is_followed = |frames: &Frames| frames.next().map(|moment| frames.is_followed(moment));
        assert_eq!(is_followed(&frames), Some(false));
        insert_complete(&mut frames, 9, 0);
        assert_eq!(is_followed(&frames), Some(true));
    }

    #[test]
    fn numbers_pass_the_wrap() {
        let mut frames = Frames::default();
        insert_complete(&mut frames, 65_535, 0);
        insert(&mut frames, 65_536, packet(0, 1, 0, 1));
        insert(&mut frames, 65_537, packet(1, 1, 0, 1));
        assert_eq!(decode(&mut frames), [65_535, 0, 1]);
    }

    #[test]
    fn a_full_buffer_is_emptied_and_a_key_frame_asked_for() {
        let mut frames = Frames::default();
        for number in 0..MOST_FRAMES as u16 {
            assert!(!insert_complete(&mut frames, number + 1, 1).overflow);
        }
        assert!(insert_complete(&mut frames, 5000, 1).overflow);
        assert!(frames.is_empty());
        assert_eq!(frames.dropped, MOST_FRAMES as u64);
        for number in 0..MOST_PACKETS {
            assert!(!insert(&mut frames, number, packet(6000, 1, 1, 5000)).overflow);
        }
        assert!(insert(&mut frames, 9000, packet(6000, 1, 1, 5000)).overflow, "one frame without end");
    }

    proptest! {
        #[test]
        fn frames_are_decoded_once_and_after_their_dependencies(
            packets in prop::collection::vec((0u16..40, 0u8..4, 0u16..3, 1u16..4, 0u64..100), 0..300),
        ) {
            let mut frames = Frames::default();
            let mut decoded = BTreeSet::new();
            let mut completed = 0;
            for (frame, depends, part, parts, number) in packets {
                let found = insert(&mut frames, number, packet(frame, depends, part, parts));
                completed += u64::from(found.completed.is_some());
                if number % 3 == 0 && let Some(moment) = frames.next() {
                    for frame in frames.frames(moment) {
                        prop_assert!(decoded.insert(frame.number));
                        prop_assert!(frame.depends.is_none_or(|number| decoded.contains(&number)));
                    }
                    frames.take(moment, true);
                }
            }
            prop_assert_eq!(completed, decoded.len() as u64 + frames.dropped + frames.complete());
        }
    }
}
