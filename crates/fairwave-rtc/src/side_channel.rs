//! Side channel for the payload of media packets. Simulated packets carry only headers. The sender stores the payload
//! here, and the receiver looks it up once it has a packet that would contain it.
//!
//! - Frames: size and quality of the picture. A decoder would read them from the frame.
//! - Media packets: their headers. FEC packets and repeated frames restore them.
//! - Periods in which the server does not forward a camera because the receiver is not meant to see it. Signalling
//!   would carry this.
//! - The round trip time. In a call, reports of the opposite direction carry it; here a flow has one direction.

use std::sync::{Arc, Mutex, PoisonError};

use crate::recent::Recent;
use crate::rtp::{RtpHeader, Ssrc};
use fairwave_media::encoder::{Spells, StreamKind};
use fairwave_units::units::{Instant, Span};

/// Number of frames and packets kept per stream.
const KEPT: usize = 2048;

/// Picture of an encoded frame.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Picture {
    /// Width, pixels.
    pub width: u16,
    /// Height, pixels.
    pub height: u16,
    /// Opinion score of the encoded picture, 1 to 5.
    pub quality: f32,
}

#[derive(Debug, Default)]
struct Stream {
    /// By frame number.
    pictures: Recent<Picture, KEPT>,
    /// By sequence number.
    headers: Recent<(RtpHeader, Instant), KEPT>,
}

#[derive(Debug, Default)]
struct Kept {
    /// By SSRC.
    streams: Vec<(Ssrc, Stream)>,
    /// By kind of stream: capture times that a server does not forward.
    left_out: [Vec<(Instant, Instant)>; 3],
    round_trip: Option<Span>,
}

impl Kept {
    fn stream(&mut self, ssrc: Ssrc) -> &mut Stream {
        let place = match self.streams.binary_search_by_key(&ssrc, |(ssrc, _)| *ssrc) {
            Ok(place) => place,
            Err(place) => {
                self.streams.insert(place, (ssrc, Stream::default()));
                place
            }
        };
        &mut self.streams[place].1
    }
}

/// Side channel that both ends of a flow share.
#[derive(Clone, Debug, Default)]
pub struct SideChannel(Arc<Mutex<Kept>>);

impl SideChannel {
    /// Returns an empty side channel.
    pub fn new() -> Self {
        SideChannel::default()
    }

    fn with<T>(&self, then: impl FnOnce(&mut Kept) -> T) -> T {
        then(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Stores the picture of frame number `frame` ([`RtpHeader::frame`]) of a stream.
    pub fn put_picture(&self, ssrc: Ssrc, frame: u16, picture: Picture) {
        self.with(|kept| kept.stream(ssrc).pictures.put(u64::from(frame), picture));
    }

    /// Returns the picture of a decoded frame; `None` if it is too old or was never stored.
    pub fn picture(&self, ssrc: Ssrc, frame: u16) -> Option<Picture> {
        self.with(|kept| kept.stream(ssrc).pictures.get(u64::from(frame)).copied())
    }

    /// Stores the header of a media packet that FEC protects or that later packets repeat.
    pub fn put_header(&self, header: &RtpHeader, created: Instant) {
        self.with(|kept| kept.stream(header.ssrc).headers.put(u64::from(header.sequence), (*header, created)));
    }

    /// Returns the header of a restored media packet and the capture time of its frame; `None` if it is too old or was
    /// never stored.
    pub fn header(&self, ssrc: Ssrc, sequence: u16) -> Option<(RtpHeader, Instant)> {
        self.with(|kept| kept.stream(ssrc).headers.get(u64::from(sequence)).copied())
    }

    /// Records that the server no longer forwards a stream, from capture time `from` on; it forwards others instead.
    pub fn leave_out(&self, kind: StreamKind, from: Instant) {
        self.with(|kept| {
            let Some(spells) = kept.left_out.get_mut(kind as usize) else { return };
            if spells.last().is_none_or(|(_, until)| *until != Instant::NEVER) {
                spells.push((from, Instant::NEVER));
            }
        });
    }

    /// Records that the server forwards the stream again, from capture time `until` on.
    pub fn take_in(&self, kind: StreamKind, until: Instant) {
        self.with(|kept| {
            let last = kept.left_out.get_mut(kind as usize).and_then(|spells| spells.last_mut());
            if let Some(last) = last.filter(|(_, end)| *end == Instant::NEVER) {
                last.1 = until.max(last.0);
            }
        });
    }

    /// Returns how much of the capture time from `from` to `until` was not forwarded, or had the camera `off`.
    pub fn absent(&self, kind: StreamKind, off: &Spells, from: Instant, until: Instant) -> Span {
        self.with(|kept| {
            let mut absent = off.covered(from, until);
            for (begins, ends) in kept.left_out.get(kind as usize).into_iter().flatten() {
                let (begins, ends) = (from.max(*begins), until.min(*ends));
                absent += ends.span_since(begins).saturating_sub(off.covered(begins, ends));
            }
            absent
        })
    }

    /// Stores the round trip time that the sender has measured.
    pub fn set_round_trip(&self, round_trip: Span) {
        self.with(|kept| kept.round_trip = Some(round_trip));
    }

    /// Returns the round trip time; `None` while unknown.
    pub fn round_trip(&self) -> Option<Span> {
        self.with(|kept| kept.round_trip)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_items_are_found_until_they_are_too_old() {
        let (sender, ssrc) = (SideChannel::new(), Ssrc(4));
        let receiver = sender.clone();
        assert_eq!(receiver.picture(ssrc, 3), None);
        let picture = Picture { width: 640, height: 360, quality: 4.0 };
        sender.put_picture(ssrc, 3, picture);
        assert_eq!(receiver.picture(ssrc, 3), Some(picture));
        assert_eq!(receiver.picture(Ssrc(8), 3), None, "of another stream");
        assert_eq!(receiver.picture(ssrc, 3 + KEPT as u16), None);
        sender.put_picture(ssrc, 3 + KEPT as u16, picture);
        assert_eq!(receiver.picture(ssrc, 3), None, "too old");
        let header = RtpHeader { ssrc, sequence: 65_535, unit: 9, ..RtpHeader::default() };
        sender.put_header(&header, Instant::ZERO);
        assert_eq!(receiver.header(ssrc, 65_535), Some((header, Instant::ZERO)));
        assert_eq!(receiver.header(ssrc, 0), None);
        sender.set_round_trip(Span::from_millis(7));
        sender.take_in(StreamKind::Video, Instant::ZERO);
        assert_eq!(receiver.round_trip(), Some(Span::from_millis(7)));
    }

    #[test]
    fn a_stream_is_absent_while_it_is_left_out_or_off_and_no_time_counts_twice() {
        let at = |seconds| Instant::ZERO + Span::from_secs(seconds);
        let server = SideChannel::new();
        let receiver = server.clone();
        let absent = |from, until| {
            let off = Spells::from_times(&[[Span::from_secs(6), Span::from_secs(9)]]);
            receiver.absent(StreamKind::Video, &off, at(from), at(until)).seconds()
        };
        assert_eq!(absent(0, 20), 3.0);
        server.leave_out(StreamKind::Video, at(2));
        server.leave_out(StreamKind::Video, at(3));
        assert_eq!((absent(0, 5), absent(0, 8), absent(10, 20)), (3.0, 6.0, 10.0), "until it is taken in");
        server.take_in(StreamKind::Video, at(8));
        server.take_in(StreamKind::Video, at(12));
        assert_eq!((absent(0, 20), absent(8, 20)), (7.0, 1.0));
        assert_eq!(receiver.absent(StreamKind::Screen, &Spells::default(), at(0), at(20)), Span::ZERO);
    }
}
