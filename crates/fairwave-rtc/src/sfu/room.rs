//! State of one conference at its server, shared by the ends of its sessions.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::choice::{self, Candidate, PATIENCE};
use super::egress::Egress;
use super::forward::Forward;
use super::ingress::Ingress;
use super::layers::Rung;
use super::listener::{Bundle, Listener};
use super::publisher::Publisher;
use super::speakers::Speakers;
use super::subscriber::Subscriber;
use crate::control::{Carries, RateControlConfig};
use crate::receive::config::FeedbackFormat;
use crate::receive::{AudioSetup, Factors, ReceiverSetup, Shared, WebrtcReceiver};
use crate::rtp::RtpHeader;
use crate::send::WebrtcSender;
use crate::session::WebrtcConfig;
use crate::side_channel::SideChannel;
use crate::sizes;
use fairwave_endpoint::FlowContext;
use fairwave_endpoint::media::QualityLimitation;
use fairwave_media::encoder::{Media, Spells, StreamKind};
use fairwave_network::packet::FlowId;
use fairwave_units::config::ConfigError;
use fairwave_units::random::{Seed, Stream};
use fairwave_units::units::{Instant, Rate, Span};

/// Largest payload of comfort noise and of the last frame of a talk spurt, bytes; speech has more. At the lowest rate,
/// Opus produces 7 B in its shortest frame.
const NOISE: u16 = 6;
/// Payload of a silence frame, bytes (RFC 6716 §2.1.9).
const SILENCE: u16 = 2;
/// Least time between two choices of layers, except after a lower estimate †.
pub(super) const CHOOSE_EVERY: Span = Span::from_millis(100);

/// Session of a conference that a flow belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LegRole {
    /// From a participant to the server.
    Up {
        /// The participant.
        who: usize,
    },
    /// From the server to a participant, with the media of another one.
    Down {
        /// The publisher.
        from: usize,
        /// The receiver.
        to: usize,
    },
}

/// Parameters of a conference.
#[derive(Clone, PartialEq, Debug)]
pub struct RoomSetup {
    /// Number of participants, present or not.
    pub participants: usize,
    /// Number of participants whose audio is forwarded at once.
    pub speakers: usize,
    /// Largest number of cameras per receiver; screens are additional.
    pub videos: usize,
    /// Rate controller of each path from the server.
    pub control: RateControlConfig,
    /// Initial estimate.
    pub start: Rate,
    /// Lowest estimate.
    pub least: Rate,
    /// Least time between two requests for a key frame of a layer.
    pub key_frame_spacing: Span,
}

/// A packet to send.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leaving {
    pub header: RtpHeader,
    pub wire: u16,
    pub carries: Carries,
    pub created: Instant,
}

/// Media from one participant to another.
pub(super) struct Pair {
    pub flow: FlowId,
    pub active: bool,
    /// Streams: audio, video, screen.
    pub streams: [Option<Forward>; 3],
    pub queue: VecDeque<Leaving>,
    pub side_channel: SideChannel,
}

impl Pair {
    fn push(&mut self, header: RtpHeader, wire: u16, carries: Carries, created: Instant, wakes: &mut Vec<FlowId>) {
        if self.queue.is_empty() {
            wakes.push(self.flow);
        }
        self.queue.push_back(Leaving { header, wire, carries, created });
    }
}

/// Target of a receiver's stream, a copy of the one in [`Forward`]. All copies of a receiver are stored together,
/// because the choice of layers reads all of them.
#[derive(Clone, Copy, Default)]
struct StreamTarget {
    /// True if the stream exists.
    exists: bool,
    target: Option<Rung>,
    limited: QualityLimitation,
}

/// State of a conference at its server.
pub(super) struct State {
    setup: RoomSetup,
    pub publishers: Vec<Publisher>,
    pub subscribers: Vec<Subscriber>,
    /// Pairs by sender, then receiver.
    pairs: Vec<Option<Pair>>,
    /// Targets by receiver, sender and kind of video.
    targets: Vec<[StreamTarget; 2]>,
    /// Bit set of the receivers that get some of the video, by sender and kind.
    watched: Vec<[Vec<u64>; 2]>,
    /// True if a lead session may not have been called since its path came into use.
    asleep: bool,
    speakers: Speakers,
    bundles: Vec<Bundle>,
    seed: Seed,
    /// Latest network change of each receiver.
    moved: Vec<Option<Instant>>,
}

/// A conference at its server.
#[derive(Clone)]
pub struct Room(Arc<Mutex<State>>);

impl Room {
    /// Returns an empty conference. The controllers draw from `stream`.
    ///
    /// # Errors
    /// Invalid parameters of the controller.
    pub fn new(setup: &RoomSetup, mut stream: Stream) -> Result<Self, ConfigError> {
        let seed = Seed(stream.uniform_below(u64::MAX));
        let many = setup.participants;
        let subscriber = |place: usize| -> Result<Subscriber, ConfigError> {
            let controller = setup.control.controller(seed.stream(&format!("control.{place}")))?;
            Ok(Subscriber::new(controller, setup.control.ecn(), setup.start, setup.least))
        };
        Ok(Room(Arc::new(Mutex::new(State {
            setup: setup.clone(),
            publishers: (0..many).map(|_| Publisher::new(setup.key_frame_spacing)).collect(),
            subscribers: (0..many).map(subscriber).collect::<Result<_, ConfigError>>()?,
            pairs: (0..many * many).map(|_| None).collect(),
            targets: vec![Default::default(); many * many],
            watched: vec![[vec![0; many.div_ceil(64)], vec![0; many.div_ceil(64)]]; many],
            asleep: false,
            speakers: Speakers::new(setup.speakers, many),
            bundles: (0..many).map(|_| Bundle::default()).collect(),
            seed,
            moved: vec![None; many],
        }))))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the session of a participant to the server.
    ///
    /// # Errors
    /// The errors of [`WebrtcSender::new`], and forward error correction, because the server does not restore packets.
    pub fn open_uplink(
        &self,
        who: usize,
        context: FlowContext,
        config: &WebrtcConfig,
        media: &Media,
        mut stream: Stream,
    ) -> Result<(WebrtcSender, Ingress), ConfigError> {
        let seed = Seed(stream.uniform_below(u64::MAX));
        let shared = Shared::default();
        let mailboxes = (shared.control.clone(), shared.feedback.clone());
        let sender =
            WebrtcSender::new(context, config, media, seed.stream("sender"), mailboxes, shared.side_channel.clone())?;
        let setup = ReceiverSetup { audio: audio_setup(media), expected: sender.expected(), off: spells_off(media) };
        let mut state = self.lock();
        if let Some(publisher) = state.publishers.get_mut(who) {
            publisher.side_channel = shared.side_channel.clone();
            publisher.set_media(media);
        }
        drop(state);
        let feedback = shared.feedback.clone();
        let receiver = WebrtcReceiver::new(&config.receive, setup, context, shared, seed.stream("receiver"));
        Ok((sender, Ingress::new(receiver, self.clone(), who, context, feedback)))
    }

    /// Returns the session from the server that carries one participant's media to another.
    pub fn open_downlink(
        &self,
        (from, to): (usize, usize),
        context: FlowContext,
        config: &WebrtcConfig,
        media: &Media,
        mut stream: Stream,
    ) -> (Egress, Listener) {
        let seed = Seed(stream.uniform_below(u64::MAX));
        let shared = Shared::default();
        let mut state = self.lock();
        let many = state.setup.participants;
        let stacked = |kind: StreamKind, video: &Option<fairwave_media::encoder::VideoConfig>| {
            video.map(|video| Forward::new(kind, video.spatial_layers > 1))
        };
        let streams = [
            media.audio.map(|_| Forward::new(StreamKind::Audio, false)),
            stacked(StreamKind::Video, &media.video),
            stacked(StreamKind::Screen, &media.screen),
        ];
        // A stream counts as missing only if the receiver is entitled to hear or see it.
        let (hears, sees) = (many <= state.setup.speakers + 1, many <= state.setup.videos + 1);
        let expected = (streams.iter().flatten())
            .map(|stream| stream.sample.stream)
            .filter(|id| match id.kind {
                StreamKind::Audio => hears,
                StreamKind::Video => sees,
                StreamKind::Screen => true,
            })
            .collect();
        let pair = Pair {
            flow: context.flow,
            active: false,
            streams,
            queue: VecDeque::new(),
            side_channel: shared.side_channel.clone(),
        };
        if let Some(place) = state.pairs.get_mut(from * many + to) {
            *place = Some(pair);
        }
        if let Some(targets) = state.targets.get_mut(to * many + from) {
            let exists = [media.video.is_some(), media.screen.is_some()];
            targets.iter_mut().zip(exists).for_each(|(stream, exists)| stream.exists = exists);
        }
        let bundle = state.bundles.get(to).cloned().unwrap_or_default();
        if let Some(subscriber) = state.subscribers.get_mut(to) {
            subscriber.lead.get_or_insert(from);
        }
        drop(state);
        let egress = Egress::new(self.clone(), (from, to), context, config, &shared, seed.stream("reports"));
        let setup = ReceiverSetup { audio: audio_setup(media), expected, off: spells_off(media) };
        let mut receive = config.receive;
        // The bundle sends feedback on all packets of the path.
        receive.feedback = FeedbackFormat::None;
        let mailbox = shared.feedback.clone();
        let receiver = WebrtcReceiver::new(&receive, setup, context, shared, seed.stream("receiver"));
        (egress, Listener::new(receiver, bundle, context, mailbox))
    }
}

/// Returns a frame that announces silence, as with DTX.
fn silence_follows() -> RtpHeader {
    RtpHeader { first: true, key: true, payload: SILENCE, ..RtpHeader::default() }
}

/// Returns when camera and screen are off.
fn spells_off(media: &Media) -> [Spells; 2] {
    [media.paused_times(StreamKind::Video), media.paused_times(StreamKind::Screen)]
}

fn audio_setup(media: &Media) -> AudioSetup {
    media.audio.as_ref().map_or_else(AudioSetup::default, |audio| AudioSetup {
        frame: audio.frame,
        factors: Some(Factors { impairment: audio.impairment(), copy: audio.copy_impairment(), wideband: true }),
        ..AudioSetup::default()
    })
}

impl State {
    pub fn pair(&mut self, from: usize, to: usize) -> Option<&mut Pair> {
        let many = self.setup.participants;
        self.pairs.get_mut(from * many + to)?.as_mut()
    }

    /// Returns the parts that concern a pair: publisher, pair, path.
    pub fn parties(&mut self, from: usize, to: usize) -> Option<(&mut Publisher, &mut Pair, &mut Subscriber)> {
        let many = self.setup.participants;
        let pair = self.pairs.get_mut(from * many + to)?.as_mut()?;
        Some((self.publishers.get_mut(from)?, pair, self.subscribers.get_mut(to)?))
    }

    /// Starts a session from the server.
    pub fn begin(&mut self, now: Instant, from: usize, to: usize) {
        if let Some(pair) = self.pair(from, to) {
            pair.active = true;
            pair.streams.iter_mut().flatten().for_each(|stream| stream.begin(now));
        }
        let most: f64 = self.publishers.iter().enumerate().filter(|(who, _)| *who != to).map(|(_, one)| one.most).sum();
        let audio = self.setup.speakers as f64 * 60_000.0;
        if let Some(subscriber) = self.subscribers.get_mut(to) {
            subscriber.begin(now, most + audio);
            self.asleep |= !subscriber.awake;
        }
    }

    /// Ends a session from the server. An active speaker is silenced for the receiver, because the receiver would
    /// conceal the missing frames.
    pub fn end(&mut self, now: Instant, from: usize, to: usize) {
        if let Some(pair) = self.pair(from, to) {
            pair.active = false;
            pair.queue.clear();
            if let Some(stream) = pair.streams.first_mut().and_then(Option::as_mut)
                && stream.current().is_some()
            {
                let header = stream.silence(silence_follows(), now);
                let wire = sizes::AUDIO_HEADER + SILENCE;
                pair.queue.push_back(Leaving { header, wire, carries: Carries::Audio, created: now });
            }
            pair.streams.iter_mut().flatten().for_each(|stream| {
                stream.target = None;
                stream.stop();
            });
        }
        for kind in [StreamKind::Video, StreamKind::Screen] {
            self.set_stream_target(from, to, kind, |stream| stream.target = None);
        }
    }

    /// Updates the target copy of a stream.
    fn set_stream_target(&mut self, from: usize, to: usize, kind: StreamKind, change: impl FnOnce(&mut StreamTarget)) {
        let many = self.setup.participants;
        let Some(video) = (kind as usize).checked_sub(1) else { return };
        let Some(stream) = self.targets.get_mut(to * many + from).and_then(|kinds| kinds.get_mut(video)) else {
            return;
        };
        change(stream);
        let watched = self.watched.get_mut(from).and_then(|kinds| kinds.get_mut(video));
        if let Some(word) = watched.and_then(|bits| bits.get_mut(to / 64)) {
            let bit = 1 << (to % 64);
            *word = if stream.target.is_some() { *word | bit } else { *word & !bit };
        }
    }

    /// Checks that the target copies of a video match its streams.
    fn has_right_targets(&self, from: usize, kind: StreamKind) -> bool {
        let many = self.setup.participants;
        let Some(place) = (kind as usize).checked_sub(1) else { return true };
        let bits = self.watched.get(from).and_then(|kinds| kinds.get(place));
        (0..many).all(|to| {
            let pair = self.pairs.get(from * many + to).and_then(Option::as_ref);
            let target = pair.and_then(|pair| pair.streams.get(kind as usize)?.as_ref()?.target);
            let current =
                self.targets.get(to * many + from).and_then(|kinds| kinds.get(place)).and_then(|stream| stream.target);
            let word = bits.and_then(|bits| bits.get(to / 64)).copied().unwrap_or_default();
            current == target && (word >> (to % 64) & 1 == 1) == target.is_some()
        })
    }

    /// Handles media of a participant at the server. Appends the flows that have something to send to `wakes`.
    pub fn on_media(
        &mut self,
        now: Instant,
        who: usize,
        header: &RtpHeader,
        created: Instant,
        wire: u16,
        wakes: &mut Vec<FlowId>,
    ) {
        let Some((kind, ..)) = header.ssrc.parts() else { return };
        debug_assert!(self.has_right_targets(who, kind), "what {who} sends");
        let Some(publisher) = self.publishers.get_mut(who) else { return };
        if !publisher.is_new(now, header, wire) {
            return;
        }
        if kind == StreamKind::Audio {
            self.on_audio(now, who, header, created, wire, wakes);
            return;
        }
        let many = self.setup.participants;
        let picture = header.first.then(|| publisher.side_channel.picture(header.ssrc, header.frame)).flatten();
        let watched = self.watched.get(who).and_then(|kinds| kinds.get((kind as usize).checked_sub(1)?));
        for (at, word) in watched.into_iter().flatten().enumerate() {
            let mut left = *word;
            while left != 0 {
                let to = 64 * at + left.trailing_zeros() as usize;
                left &= left - 1;
                let Some(pair) = self.pairs.get_mut(who * many + to).and_then(Option::as_mut) else { continue };
                let Some(stream) = pair.streams.get_mut(kind as usize).and_then(Option::as_mut) else { continue };
                let passed = stream.video(header, created);
                if let Some(layer) = passed.wants_key {
                    publisher.want_key(now, kind, layer);
                }
                let Some(out) = passed.header else { continue };
                if passed.begins {
                    pair.side_channel.take_in(kind, created);
                }
                if let Some(picture) = picture {
                    pair.side_channel.put_picture(out.ssrc, out.frame, picture);
                }
                pair.push(out, wire, Carries::Video, created, wakes);
            }
        }
        self.wake_leads(wakes);
    }

    fn on_audio(
        &mut self,
        now: Instant,
        who: usize,
        header: &RtpHeader,
        created: Instant,
        wire: u16,
        wakes: &mut Vec<FlowId>,
    ) {
        let many = self.setup.participants;
        if let Some(silent) = self.speakers.on_audio(now, who, header.payload > NOISE) {
            // Announces silence to the receivers.
            let template = silence_follows();
            for to in 0..many {
                let Some(pair) = self.pairs.get_mut(silent * many + to).and_then(Option::as_mut) else { continue };
                let Some(stream) = pair.streams.first_mut().and_then(Option::as_mut) else { continue };
                if stream.current().is_some() && pair.active {
                    let silence = stream.silence(template, now);
                    stream.stop();
                    pair.push(silence, sizes::AUDIO_HEADER + SILENCE, Carries::Audio, now, wakes);
                }
            }
        }
        if !self.speakers.is_heard(who) {
            return;
        }
        let Some(publisher) = self.publishers.get(who) else { return };
        for to in 0..many {
            let Some(pair) = self.pairs.get_mut(who * many + to).and_then(Option::as_mut) else { continue };
            let Some(stream) = pair.streams.first_mut().and_then(Option::as_mut).filter(|_| pair.active) else {
                continue;
            };
            let passed = stream.audio(header, created);
            // This packet may repeat missing frames.
            for (number, out) in stream.missing.iter().copied().take(2) {
                if let Some((lost, made)) = publisher.side_channel.header(header.ssrc, number) {
                    let timestamp = stream.timestamp(made);
                    pair.side_channel.put_header(
                        &RtpHeader { ssrc: stream.ssrc(crate::rtp::Role::Media), sequence: out, timestamp, ..lost },
                        made,
                    );
                }
            }
            let Some(out) = passed.header else { continue };
            pair.side_channel.put_header(&out, created);
            pair.push(out, wire, Carries::Audio, created, wakes);
        }
        self.wake_leads(wakes);
    }

    /// Appends the lead sessions that have not been called since their path came into use.
    fn wake_leads(&mut self, wakes: &mut Vec<FlowId>) {
        if !std::mem::take(&mut self.asleep) {
            return;
        }
        let many = self.setup.participants;
        for (to, subscriber) in self.subscribers.iter().enumerate() {
            if subscriber.awake || !subscriber.is_begun() {
                continue;
            }
            self.asleep = true;
            let pair = subscriber.lead.and_then(|lead| self.pairs.get(lead * many + to)).and_then(Option::as_ref);
            if let Some(pair) = pair
                && !wakes.contains(&pair.flow)
            {
                wakes.push(pair.flow);
            }
        }
    }

    /// Handles a receiver's network change. All of its sessions report it; only the first report counts.
    pub fn on_new_network(&mut self, now: Instant, to: usize) {
        let Some(moved) = self.moved.get_mut(to).filter(|moved| **moved != Some(now)) else { return };
        *moved = Some(now);
        let stream = self.seed.stream(&format!("control.{to}.{}", now.nanos()));
        if let (Ok(controller), Some(subscriber)) =
            (self.setup.control.controller(stream), self.subscribers.get_mut(to))
        {
            subscriber.reset(now, controller);
        }
    }

    /// Chooses the layers for a participant.
    pub fn choose(&mut self, now: Instant, to: usize) {
        let many = self.setup.participants;
        let Some(subscriber) = self.subscribers.get_mut(to) else { return };
        subscriber.chosen = now;
        let budget = subscriber.target().bits_per_second() as f64 - subscriber.audio.rate(now);
        let targets = self.targets.get(to * many..(to + 1) * many).unwrap_or_default();
        let screens = (0..many).zip(targets).filter(|(_, [_, screen])| screen.exists);
        let mut order: Vec<(StreamKind, usize)> = screens.map(|(from, _)| (StreamKind::Screen, from)).collect();
        // A camera that is off takes no slot.
        let mut cameras: Vec<usize> = (0..many).filter(|from| *from != to).collect();
        if cameras.len() > self.setup.videos {
            cameras.retain(|from| self.publishers.get(*from).is_some_and(|one| one.is_sent(now, StreamKind::Video)));
        }
        if cameras.len() > self.setup.videos {
            cameras.sort_by_key(|from| (std::cmp::Reverse(self.speakers.spoke(*from)), *from));
            cameras.truncate(self.setup.videos);
            cameras.sort_unstable();
        }
        let shown = cameras.clone();
        order.extend(cameras.into_iter().map(|from| (StreamKind::Video, from)));
        let mut wanted = Vec::new();
        let mut candidates = Vec::new();
        for (kind, from) in order {
            let Some(pair) = self.pairs.get(from * many + to).and_then(Option::as_ref).filter(|pair| pair.active)
            else {
                continue;
            };
            let Some(stream) = pair.streams.get(kind as usize).and_then(Option::as_ref) else { continue };
            let Some(publisher) = self.publishers.get_mut(from) else { continue };
            let ladder = publisher.ladder(now, kind).to_vec();
            if ladder.is_empty() {
                continue;
            }
            candidates.push(Candidate { ladder, has: stream.target, up_from: stream.up_from });
            wanted.push((kind, from));
        }
        let chosen = choice::choose(now, budget, &candidates);
        for (((kind, from), rung), candidate) in wanted.into_iter().zip(chosen).zip(&candidates) {
            let most = candidate.ladder.last().map(|(rung, _)| *rung);
            let reason = if rung < most { QualityLimitation::Bandwidth } else { QualityLimitation::None };
            self.set_target(now, (from, to), kind, rung, reason);
        }
        // Cameras that are not shown.
        for from in (0..many).filter(|from| *from != to && !shown.contains(from)) {
            self.set_target(now, (from, to), StreamKind::Video, None, QualityLimitation::Other);
        }
    }

    fn set_target(
        &mut self,
        now: Instant,
        (from, to): (usize, usize),
        kind: StreamKind,
        rung: Option<Rung>,
        reason: QualityLimitation,
    ) {
        let many = self.setup.participants;
        let targets = self.targets.get(to * many + from).zip((kind as usize).checked_sub(1));
        let known = targets.and_then(|(kinds, video)| kinds.get(video));
        if known.is_some_and(|stream| !stream.exists || stream.target == rung && stream.limited == reason) {
            return;
        }
        self.set_stream_target(from, to, kind, |stream| (stream.target, stream.limited) = (rung, reason));
        let Some((publisher, pair, _)) = self.parties(from, to) else { return };
        let stacked = publisher.is_stacked(kind);
        let Some(stream) = pair.streams.get_mut(kind as usize).and_then(Option::as_mut) else { return };
        stream.limit(now, reason);
        // A camera that is replaced by others does not count as missing until the server forwards it again. A camera
        // that is shown but stopped for lack of rate does.
        if (rung, reason) == (None, QualityLimitation::Other) {
            pair.side_channel.leave_out(kind, stream.captured().unwrap_or(Instant::ZERO));
        }
        let before = stream.target;
        if before == rung {
            return;
        }
        stream.target = rung;
        match (before, rung) {
            (Some(_), None) => {
                if reason == QualityLimitation::Bandwidth {
                    stream.up_from = Some(now + PATIENCE);
                    stream.pause();
                } else {
                    // The camera was replaced by others, not stopped for lack of rate, so it may resume at once.
                    stream.stop();
                }
            }
            (before, Some(after)) => {
                if before.is_some_and(|before| after < before) {
                    stream.up_from = Some(now + PATIENCE);
                }
                if stream.current() != Some(after.layer) && !(stacked && before.is_some_and(|one| after < one)) {
                    publisher.want_key(now, kind, if stacked { 0 } else { after.layer });
                }
            }
            (None, None) => {}
        }
    }

    /// Handles a PLI: requests a key frame from the publisher, of the layer that the receiver gets.
    pub fn on_pli(&mut self, now: Instant, (from, to): (usize, usize), kind: StreamKind) {
        let Some((publisher, pair, _)) = self.parties(from, to) else { return };
        let stacked = publisher.is_stacked(kind);
        let Some(stream) = pair.streams.get_mut(kind as usize).and_then(Option::as_mut) else { return };
        stream.sample.pli_count += 1;
        if let Some(layer) = stream.current() {
            publisher.want_key(now, kind, if stacked { 0 } else { layer });
        }
    }
}
