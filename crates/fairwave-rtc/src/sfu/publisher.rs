//! A participant as the server sees it: its streams, and the server's requests to it.

use super::layers::{Layers, Rung};
use crate::receive::reception::Unwrapper;
use crate::rtp::{RtpHeader, Ssrc};
use crate::side_channel::SideChannel;
use fairwave_endpoint::serial::ReplayWindow;
use fairwave_media::encoder::{Media, StreamKind};
use fairwave_units::units::{Instant, Span};

/// Validity of a measured ladder.
const LADDER: Span = Span::from_millis(100);

/// An RTP stream of a publisher.
#[derive(Clone, Debug, Default)]
struct Incoming {
    numbers: Unwrapper,
    held: ReplayWindow<64>,
}

/// State of a publisher.
#[derive(Clone, Debug)]
pub(super) struct Publisher {
    /// Streams, by SSRC.
    incoming: Vec<(Ssrc, Incoming)>,
    layers: [Layers; 3],
    ladders: [(Instant, Vec<(Rung, f64)>); 3],
    asked_key: [[Option<Instant>; 4]; 3],
    wants_key: Vec<Ssrc>,
    spacing: Span,
    /// Payloads of the publisher's packets.
    pub side_channel: SideChannel,
    /// Streams that are sent: audio, video, screen.
    pub sends: [bool; 3],
    /// Largest total rate of its streams, bits per second.
    pub most: f64,
}

impl Publisher {
    pub fn new(spacing: Span) -> Self {
        Publisher {
            incoming: Vec::new(),
            layers: Default::default(),
            ladders: std::array::from_fn(|_| (Instant::ZERO, Vec::new())),
            asked_key: [[None; 4]; 3],
            wants_key: Vec::new(),
            spacing,
            side_channel: SideChannel::default(),
            sends: [false; 3],
            most: 0.0,
        }
    }

    /// Sets the streams of the participant from the configuration of the session.
    pub fn set_media(&mut self, media: &Media) {
        self.sends = [media.audio.is_some(), media.video.is_some(), media.screen.is_some()];
        let videos = [(1, &media.video), (2, &media.screen)];
        self.most = 0.0;
        for (place, video) in videos {
            let Some(video) = video else { continue };
            if let Some(layers) = self.layers.get_mut(place) {
                layers.stacked = video.spatial_layers > 1;
            }
            // Headers take at most a fifth of a video that is worth forwarding †.
            self.most += video.most.bits_per_second() as f64 * 1.2;
        }
    }

    pub fn is_stacked(&self, kind: StreamKind) -> bool {
        self.layers.get(kind as usize).is_some_and(|layers| layers.stacked)
    }

    /// Checks whether a media packet is new, and counts it for its layer if so.
    pub fn is_new(&mut self, now: Instant, header: &RtpHeader, wire: u16) -> bool {
        let place = match self.incoming.binary_search_by_key(&header.ssrc, |one| one.0) {
            Ok(place) => place,
            Err(place) => {
                self.incoming.insert(place, (header.ssrc, Incoming::default()));
                place
            }
        };
        let Some((_, incoming)) = self.incoming.get_mut(place) else { return false };
        let number = incoming.numbers.unwrap(header.sequence);
        if !incoming.held.is_new(number) {
            return false;
        }
        if let Some((kind, place, _)) = header.ssrc.parts()
            && let Some(layers) = self.layers.get_mut(kind as usize)
        {
            let layer = if layers.stacked { header.spatial } else { place };
            layers.add(now, Rung { layer, temporal: header.temporal }, u64::from(wire));
        }
        true
    }

    /// Checks whether a stream of this kind had packets recently.
    pub fn is_sent(&self, now: Instant, kind: StreamKind) -> bool {
        self.layers.get(kind as usize).is_some_and(|layers| layers.is_sent(now))
    }

    /// Returns the available rungs of a kind of stream, with rates.
    pub fn ladder(&mut self, now: Instant, kind: StreamKind) -> &[(Rung, f64)] {
        let place = kind as usize;
        let (Some(layers), Some((measured, ladder))) = (self.layers.get_mut(place), self.ladders.get_mut(place)) else {
            return &[];
        };
        if now.span_since(*measured) >= LADDER || ladder.is_empty() {
            (*measured, *ladder) = (now, layers.ladder(now));
        }
        ladder
    }

    /// Requests a key frame of a layer from the publisher, unless there was a request just before.
    pub fn want_key(&mut self, now: Instant, kind: StreamKind, layer: u8) {
        let asked = self.asked_key.get_mut(kind as usize).and_then(|layers| layers.get_mut(usize::from(layer)));
        let Some(asked) = asked else { return };
        if asked.is_some_and(|then| now.span_since(then) < self.spacing) {
            return;
        }
        *asked = Some(now);
        self.wants_key.push(Ssrc::new(kind, layer, crate::rtp::Role::Media));
    }

    /// Removes and returns the streams of which to request key frames.
    pub fn take_wants(&mut self) -> Vec<Ssrc> {
        std::mem::take(&mut self.wants_key)
    }
}
