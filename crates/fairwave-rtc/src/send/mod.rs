//! Sending end of a session: encoders, packetisation, pacer, repair and feedback.
//!
//! Media packets of a frame go to the pacer, which sends them with transport-wide numbers. Feedback arrives as packets
//! with bytes in a mailbox; sender reports leave through another mailbox.
//!
//! Retransmissions use a separate stream (RFC 4588) unless `rtx` is off; FlexFEC uses a separate stream, too. ULPFEC
//! parity is part of the media stream, whose packets are then inside RED. Padding consists of retransmitted media, or
//! of padding-only packets in the retransmission stream.

pub mod allocation;
pub mod fec;
pub mod history;
pub mod pacer;
pub mod packetizer;
pub mod repair;
mod stream;

#[cfg(test)]
mod tests;

use crate::control::{AnyRateController, Carries, Decision, Feedback, Limits, LossReport, RateController, SentPacket};
use crate::mailbox::Mailbox;
use crate::receive::config::FeedbackFormat;
use crate::rtcp::{Description, ReportBlock, Rtcp, compound, time};
use crate::rtp::{PayloadKind, Role, RtpHeader, Ssrc, control_body};
use crate::session::{FecFormat, WebrtcConfig};
use crate::side_channel::{Picture, SideChannel};
use crate::sizes;
use allocation::{Share, share};
use fairwave_endpoint::media::{MediaSent, QualityLimitation, SAMPLE_EVERY, StreamId, TransportSample};
use fairwave_endpoint::{Backlog, Estimate, FlowContext, Output, Sender, SenderView};
use fairwave_media::encoder::{AudioEncoder, EncodedFrame, Media, Spells, StreamKind, VideoEncoder};
use fairwave_media::traffic::Unit;
use fairwave_network::packet::{Ecn, Packet};
use fairwave_units::config::ConfigError;
use fairwave_units::random::{Seed, Stream};
use fairwave_units::registry::Checked;
use fairwave_units::units::{Bytes, Instant, Rate, Span};
use history::SentHistory;
use pacer::{Next, Pacer, Waiting};
use repair::RateLimiter;
use stream::RtpStream;

/// Payload of a padding-only packet, bytes (libwebrtc sends 224 B, whole blocks of a cipher).
const PADDING_PAYLOAD: u16 = 224;
/// Payload of a silence frame, bytes (RFC 6716 §2.1.9: Opus' DTX sends frames of at most 2 bytes).
const SILENCE: u16 = 2;
/// Largest share of a video's rate that retransmissions and parity take from its encoder (`kMaxOverhead`: half).
const MOST_OVERHEAD: f64 = 0.5;
/// A frame of at least this multiple of the average is huge (webrtc-stats, `hugeFramesSent`).
const HUGE: f64 = 2.5;
/// A smaller share that a controller holds back is ignored.
const HELD_BACK: f64 = 0.01;
/// Name of the sender in its reports.
const NAME: &str = "sender";

/// A camera or screen.
struct Camera {
    kind: StreamKind,
    encoder: VideoEncoder,
    frame_rate: f64,
    /// Payload rate set at the encoder; `None` before the first.
    target: Option<Rate>,
    /// While the controller holds back, the encoder skips the first of every `n` frames. `held` counts frames since the
    /// last skip.
    leaves_out: Option<u64>,
    held: u64,
    /// When it is off, whether it is off now, and its share of the target while on.
    off: Spells,
    is_off: bool,
    share: Share,
}

impl Camera {
    /// Applies push-back to this payload rate, bits per second (libwebrtc, `VideoStreamEncoder::UpdateTargetBitrate`).
    /// It skips one of every `n` frames, `n` at least two, and the same share of the rate. Returns the remaining rate.
    fn hold_back(&mut self, target: u64, share: f64) -> u64 {
        self.leaves_out = None;
        let spare = target.saturating_sub(self.encoder.rates().0.bits_per_second());
        if share <= HELD_BACK {
            return target;
        }
        let less = ((target as f64 * share) as u64).min(spare);
        let Some(of) = target.checked_div(less) else { return target };
        let of = of.max(2);
        self.leaves_out = Some(of);
        target - target / of
    }

    /// Decides whether the current frame is skipped because the controller holds back.
    fn leaves_out(&mut self) -> bool {
        let Some(of) = self.leaves_out else { return false };
        let first = self.held.is_multiple_of(of);
        self.held += 1;
        first
    }
}

/// A microphone.
struct Microphone {
    encoder: AudioEncoder,
    frame: Span,
    target: Rate,
    speech: bool,
    /// Capture time and unit of the newest frame: for the marker after silence, and for the silence at the end.
    newest: Option<(Instant, u32)>,
}

/// Sending end of a session.
pub struct WebrtcSender {
    context: FlowContext,
    config: WebrtcConfig,
    seed: Seed,
    /// Number of network changes so far.
    networks: u32,
    controller: AnyRateController,
    ecn: Ecn,
    microphone: Option<Microphone>,
    cameras: Vec<Camera>,
    /// Shares in the order of the streams: audio, cameras.
    shares: Vec<Share>,
    streams: Vec<RtpStream>,
    pacer: Pacer,
    history: SentHistory,
    limiter: RateLimiter,
    protection: fec::Protection,
    decision: Decision,
    limits: Limits,
    forward: Mailbox,
    back: Mailbox,
    side_channel: SideChannel,
    random: Stream,
    started: bool,
    stopped: bool,
    /// True once media has been sent; padding is allowed from then on.
    pads: bool,
    sent: u64,
    retransmitted: u64,
    /// Number of received messages that were not RTCP.
    refused: u64,
    /// Share of packets lost in the latest receiver reports.
    loss: f64,
    round_trip: Option<Span>,
    feedback_round_trip: Option<Span>,
    feedback_lost: Option<f64>,
    /// Bytes of video sent in the current second: media, and its repair.
    second: (u64, u64),
    overhead: f64,
    /// Next time at which a camera goes off or on.
    next_switch: Instant,
    next_sample: Instant,
    shown: MediaSent,
    backlog: Backlog,
    frames: Vec<EncodedFrame>,
    bytes: Vec<u8>,
}

/// Returns the packets per second and the header bits per second of a video with this payload per frame, in bits.
fn packets_of(frame_bits: f64, per_packet: u64) -> f64 {
    libm::ceil(frame_bits / 8.0 / per_packet as f64).max(1.0)
}

impl WebrtcSender {
    /// Returns the sender of a flow that carries `media`. Sender reports leave through `forward`; feedback arrives
    /// through `back`. The receiver reads payloads from `side_channel`. `stream` is the only source of randomness.
    ///
    /// # Errors
    /// An invalid [`WebrtcConfig`], and media without any stream.
    pub fn new(
        context: FlowContext,
        config: &WebrtcConfig,
        media: &Media,
        mut stream: Stream,
        (forward, back): (Mailbox, Mailbox),
        side_channel: SideChannel,
    ) -> Result<Self, ConfigError> {
        config.check()?;
        let seed = Seed(stream.uniform_below(u64::MAX));
        let mut numbers = seed.stream("rtp");
        let mut streams = Vec::new();
        let mut shares = Vec::new();
        let microphone = media.audio.as_ref().map(|audio| {
            streams.push(RtpStream::new(StreamKind::Audio, 0, &mut numbers));
            let encoder = AudioEncoder::new(audio, seed.stream("microphone"));
            let (least, most) = encoder.rates();
            let headers = Bytes::new(u64::from(sizes::AUDIO_HEADER)).rate_over(audio.frame);
            let packet_rate =
                |rate: Rate| Rate::from_bits_per_second(rate.bits_per_second() + headers.bits_per_second());
            shares.push(Share::new(packet_rate(least), packet_rate(most), false, audio.priority));
            Microphone { encoder, frame: audio.frame, target: least, speech: false, newest: None }
        });
        let mut cameras = Vec::new();
        for (kind, video, name) in
            [(StreamKind::Video, &media.video, "camera"), (StreamKind::Screen, &media.screen, "screen")]
        {
            let Some(video) = video else { continue };
            let encoder = VideoEncoder::new(video, seed.stream(name));
            for simulcast in 0..encoder.streams() {
                streams.push(RtpStream::new(kind, simulcast, &mut numbers));
            }
            let frame_rate = video.frame_rate;
            let (least, most) = encoder.rates();
            let packet_rate = |payload| Self::packet_rate(frame_rate, payload, config);
            let share = Share::new(packet_rate(least), packet_rate(most), config.suspend, video.priority);
            shares.push(share);
            let off = media.paused_times(kind);
            let camera = Camera {
                kind,
                encoder,
                frame_rate,
                target: None,
                leaves_out: None,
                held: 0,
                off,
                is_off: false,
                share,
            };
            cameras.push(camera);
        }
        if streams.is_empty() {
            let allowed = "media with at least one of audio, video and screen";
            return Err(ConfigError::new("media", "empty", allowed, "traffic = { kind = \"media\", audio = {} }"));
        }
        let all = shares.iter().map(|share| share.most).sum();
        let most = config.most.unwrap_or(Rate::from_bits_per_second(all));
        let (start, least) = (config.start.min(most), config.least.min(most));
        let controller = config.control.controller(seed.stream("control"))?;
        Ok(WebrtcSender {
            context,
            seed,
            networks: 0,
            controller,
            ecn: config.control.ecn(),
            microphone,
            cameras,
            shares,
            streams,
            pacer: Pacer::new(config.burst, config.queue_limit, config.audio_first),
            history: SentHistory::new(config.receive.feedback == FeedbackFormat::Rfc8888),
            limiter: RateLimiter::default(),
            protection: fec::Protection::new(config.protection, config.receive.nack),
            decision: Decision::paced(Rate::default(), 1.0),
            limits: Limits { start, least, most },
            forward,
            back,
            side_channel,
            random: seed.stream("reports"),
            started: false,
            stopped: false,
            pads: false,
            sent: 0,
            retransmitted: 0,
            refused: 0,
            loss: 0.0,
            round_trip: None,
            feedback_round_trip: None,
            feedback_lost: None,
            second: (0, 0),
            overhead: 0.0,
            next_switch: Instant::ZERO,
            next_sample: Instant::NEVER,
            shown: MediaSent::default(),
            backlog: Backlog::default(),
            frames: Vec::new(),
            bytes: Vec::new(),
            config: config.clone(),
        })
    }

    /// Returns the header bytes of a video packet.
    fn video_header(config: &WebrtcConfig) -> u16 {
        let red = if config.fec == FecFormat::Ulpfec { sizes::RED } else { 0 };
        sizes::VIDEO_HEADER + sizes::VIDEO_DESCRIPTOR + red
    }

    /// Converts a payload rate to the rate of whole packets.
    fn packet_rate(frame_rate: f64, payload: Rate, config: &WebrtcConfig) -> Rate {
        let bits = payload.bits_per_second() as f64;
        let packets = packets_of(bits / frame_rate, config.max_payload.get()) * frame_rate;
        Rate::from_bits_per_second((bits + packets * f64::from(Self::video_header(config)) * 8.0) as u64)
    }

    /// Converts a rate of whole packets to the payload rate.
    fn payload_rate(camera: &Camera, whole: u64, config: &WebrtcConfig) -> f64 {
        let header = u64::from(Self::video_header(config));
        let packets =
            packets_of(whole as f64 / camera.frame_rate, config.max_payload.get() + header) * camera.frame_rate;
        (whole as f64 - packets * header as f64 * 8.0).max(0.0)
    }

    fn stream(&mut self, ssrc: Ssrc) -> Option<&mut RtpStream> {
        self.streams.iter_mut().find(|stream| stream.ssrc == ssrc)
    }

    /// Returns the round trip for repair decisions.
    fn repair_round_trip(&self) -> Span {
        self.round_trip.or(self.feedback_round_trip).unwrap_or_default()
    }

    /// Applies the controller's decision.
    fn refresh(&mut self, now: Instant) {
        let decision = self.controller.decision();
        if decision != self.decision {
            let target = decision.target != self.decision.target || decision.held_back != self.decision.held_back;
            self.decision = decision;
            let pacing = match self.config.pacing {
                Some(factor) => Decision::paced(decision.target, factor).pacing,
                None => decision.pacing,
            };
            let padding = if self.stopped { Rate::default() } else { decision.padding };
            self.pacer.set_rates(now, pacing, padding);
            self.pacer.set_burst(decision.burst.map_or(self.config.burst, |most| most.min(self.config.burst)));
            if target {
                self.allocate(now);
            }
        }
        if self.stopped {
            return;
        }
        while let Some(probe) = self.controller.next_probe() {
            self.pacer.probe(now, probe);
        }
    }

    /// Switches cameras off and on. A camera that is off gets no share; one that goes on starts with key frames.
    fn switch(&mut self, now: Instant) {
        if now < self.next_switch {
            return;
        }
        let first = usize::from(self.microphone.is_some());
        let mut any = false;
        self.next_switch = Instant::NEVER;
        for (camera, share) in self.cameras.iter_mut().zip(self.shares.iter_mut().skip(first)) {
            self.next_switch = self.next_switch.min(camera.off.next(now));
            let off = camera.off.end_at(now).is_some();
            if off == camera.is_off {
                continue;
            }
            (camera.is_off, any) = (off, true);
            if off {
                *share = Share { least: 0, most: 0, suspendable: false, given: 0, ..camera.share };
            } else {
                *share = camera.share;
                (0..camera.encoder.streams()).for_each(|stream| camera.encoder.request_key_frame(stream));
            }
        }
        if any {
            self.allocate(now);
        }
    }

    /// Allocates the target to the encoders.
    fn allocate(&mut self, now: Instant) {
        share(self.decision.target, &mut self.shares);
        let mut shares = self.shares.iter();
        let first = self.microphone.is_some().then(|| shares.next()).flatten();
        if let (Some(microphone), Some(share)) = (&mut self.microphone, first) {
            let headers = Bytes::new(u64::from(sizes::AUDIO_HEADER)).rate_over(microphone.frame);
            let payload = share.given.saturating_sub(headers.bits_per_second());
            microphone.target = Rate::from_bits_per_second(payload);
            if let Some(stream) = self.streams.first_mut() {
                stream.sample.target_bitrate = payload as f64;
            }
        }
        for (camera, share) in self.cameras.iter_mut().zip(shares) {
            let payload = Self::payload_rate(camera, share.given, &self.config) * (1.0 - self.overhead);
            let payload = if share.given == 0 {
                0
            } else {
                // The encoder sets lowest and highest rate; repair does not reduce its target below the lowest.
                let (least, most) = camera.encoder.rates();
                (payload as u64).clamp(least.bits_per_second(), most.bits_per_second().max(least.bits_per_second()))
            };
            let target = Rate::from_bits_per_second(camera.hold_back(payload, self.decision.held_back));
            if camera.target != Some(target) {
                camera.target = Some(target);
                camera.encoder.set_target(now, target);
            }
            let limited = share.given < share.most;
            let reason = if limited { QualityLimitation::Bandwidth } else { QualityLimitation::None };
            for stream in self.streams.iter_mut().filter(|stream| stream.kind == camera.kind) {
                stream.sample.target_bitrate = payload as f64;
                if stream.sample.quality_limitation != reason {
                    let passed = now.span_since(stream.limited_since).seconds();
                    let place = stream.sample.quality_limitation as usize;
                    if let Some(span) = stream.sample.quality_limitation_durations.get_mut(place) {
                        *span += passed;
                    }
                    stream.sample.quality_limitation = reason;
                    stream.limited_since = now;
                }
            }
        }
    }

    /// Takes the samples that were due before `now`, and the overhead of repair in the past second.
    fn sample(&mut self, now: Instant) {
        // After an hour without a call, the missed samples are skipped.
        let missed = now.span_since(self.next_sample.min(now));
        if missed > Span::from_secs(3600) {
            self.next_sample += SAMPLE_EVERY * (missed.nanos() / SAMPLE_EVERY.nanos());
        }
        while self.next_sample <= now {
            let at = self.next_sample;
            self.next_sample = at + SAMPLE_EVERY;
            self.show(at);
            let (media, repair) = std::mem::take(&mut self.second);
            let overhead = if media + repair == 0 { 0.0 } else { repair as f64 / (media + repair) as f64 };
            let overhead = overhead.min(MOST_OVERHEAD);
            if overhead != self.overhead {
                self.overhead = overhead;
                self.allocate(at);
            }
        }
    }

    fn show(&mut self, at: Instant) {
        for stream in &mut self.streams {
            self.shown.outbound.push(stream.sample_at(at));
        }
        let view = self.controller.view();
        let waits = self.pacer.oldest().map_or(Span::ZERO, |oldest| at.span_since(oldest.since));
        self.shown.transport.push(TransportSample {
            at,
            available_outgoing_bitrate: view.capacity.unwrap_or(self.decision.target.bits_per_second() as f64),
            target_bitrate: self.decision.target.bits_per_second() as f64,
            pacing_bitrate: self.decision.pacing.bits_per_second() as f64,
            round_trip_time: self.feedback_round_trip.or(self.round_trip).map(Span::seconds),
            pacer_queue_bytes: self.pacer.waiting().get(),
            pacer_queue_time: waits.seconds(),
            bytes_in_flight: self.history.in_flight().get(),
            fraction_lost: self.feedback_lost,
            state: view.state,
        });
    }

    fn encode_audio(&mut self, now: Instant, unit: &Unit) -> bool {
        let loss = self.loss;
        let (Some(microphone), Some(stream)) = (&mut self.microphone, self.streams.first_mut()) else { return false };
        let Some(frame) = microphone.encoder.encode(unit.created, microphone.target, loss) else {
            microphone.speech = false;
            return false;
        };
        // The first packet of a talk spurt has the marker (RFC 3551 §4.1): speech after silence.
        let gap = microphone.newest.is_none_or(|(newest, _)| unit.created.span_since(newest) > microphone.frame * 2);
        let marker = frame.speech && (!microphone.speech || gap);
        microphone.speech = frame.speech;
        microphone.newest = Some((unit.created, unit.id));
        let header = RtpHeader {
            ssrc: stream.ssrc,
            kind: PayloadKind::Media,
            sequence: RtpStream::number(&mut stream.sequence),
            timestamp: stream.timestamp(unit.created),
            marker,
            first: true,
            key: true,
            in_band_fec: frame.in_band_fec,
            repeats: frame.repeats,
            unit: unit.id,
            frame: RtpStream::number(&mut stream.frame),
            payload: frame.payload,
            ..RtpHeader::default()
        };
        // A later packet may repeat this one.
        self.side_channel.put_header(&header, unit.created);
        let wire = sizes::AUDIO_HEADER.saturating_add(frame.payload);
        let packet = Waiting { header, wire, carries: Carries::Audio, created: unit.created, since: now };
        self.push(now, packet);
        true
    }

    /// Ends the microphone's stream, for good or until the session resumes. One silence frame follows, as with DTX, so
    /// that the receiver does not see the end as a loss.
    fn fall_silent(&mut self, now: Instant) {
        let (Some(microphone), Some(stream)) = (&mut self.microphone, self.streams.first_mut()) else { return };
        let Some((newest, unit)) = microphone.newest else { return };
        if !microphone.speech {
            return;
        }
        microphone.speech = false;
        let created = newest + microphone.frame;
        let header = RtpHeader {
            ssrc: stream.ssrc,
            kind: PayloadKind::Media,
            sequence: RtpStream::number(&mut stream.sequence),
            timestamp: stream.timestamp(created),
            first: true,
            key: true,
            unit,
            frame: RtpStream::number(&mut stream.frame),
            payload: SILENCE,
            ..RtpHeader::default()
        };
        self.side_channel.put_header(&header, created);
        let wire = sizes::AUDIO_HEADER.saturating_add(SILENCE);
        self.push(now, Waiting { header, wire, carries: Carries::Audio, created, since: now });
    }

    fn encode_video(&mut self, now: Instant, unit: &Unit, kind: StreamKind) -> bool {
        let mut frames = std::mem::take(&mut self.frames);
        frames.clear();
        let mut usual = 0.0;
        if let Some(camera) = self.cameras.iter_mut().find(|camera| camera.kind == kind)
            && !camera.leaves_out()
        {
            camera.encoder.encode(unit.created, &mut frames);
            usual = camera.target.map_or(0.0, |target| target.bits_per_second() as f64) / 8.0 / camera.frame_rate;
        }
        for (place, frame) in frames.iter().enumerate() {
            let huge = f64::from(frame.bytes) >= HUGE * usual;
            // Spatial layers of a stream form one picture.
            let ends = !frames.iter().skip(place + 1).any(|other| other.stream == frame.stream);
            self.packetize(now, unit, kind, frame, (huge, ends));
        }
        let any = !frames.is_empty();
        self.frames = frames;
        any
    }

    fn packetize(
        &mut self,
        now: Instant,
        unit: &Unit,
        kind: StreamKind,
        frame: &EncodedFrame,
        (huge, ends): (bool, bool),
    ) {
        let ssrc = Ssrc::new(kind, frame.stream, Role::Media);
        let header_bytes = Self::video_header(&self.config);
        let most = u32::try_from(self.config.max_payload.get()).unwrap_or(u32::MAX);
        let (nack, round_trip) = (self.config.receive.nack || self.config.rtx, self.repair_round_trip());
        let Some(place) = self.streams.iter().position(|stream| stream.ssrc == ssrc) else { return };
        let Some(stream) = self.streams.get_mut(place) else { return };
        stream.count_frame(now, frame, huge, ends);
        let (number, depends) = stream.place(frame);
        let picture = Picture { width: frame.width, height: frame.height, quality: frame.quality };
        self.side_channel.put_picture(ssrc, number, picture);
        let timestamp = stream.timestamp(unit.created);
        let parts = packetizer::parts(frame.bytes.max(1), most);
        let count = frame.bytes.max(1).div_ceil(most);
        let template = RtpHeader {
            ssrc,
            timestamp,
            key: frame.key,
            temporal: frame.temporal,
            spatial: frame.spatial,
            unit: unit.id,
            frame: number,
            depends,
            ..RtpHeader::default()
        };
        // Parity follows the frame, so that the frame's packets have consecutive numbers.
        let mut groups: Vec<(u16, usize, u16)> = Vec::new();
        for (part, payload) in parts.enumerate() {
            let last = part as u32 + 1 == count;
            let Some(stream) = self.streams.get_mut(place) else { return };
            let sequence = RtpStream::number(&mut stream.sequence);
            let header = RtpHeader { sequence, payload, first: part == 0, last, marker: last && ends, ..template };
            let wire = header_bytes.saturating_add(payload);
            let packet = Waiting { header, wire, carries: Carries::Video, created: unit.created, since: now };
            if nack {
                stream.history.add(now, packet, round_trip);
            }
            if self.config.fec != FecFormat::None {
                self.side_channel.put_header(&header, unit.created);
            }
            if self.config.fec != FecFormat::None {
                match groups.last_mut() {
                    Some((_, media, longest)) if *media < fec::GROUP => {
                        (*media, *longest) = (*media + 1, payload.max(*longest));
                    }
                    _ => groups.push((sequence, 1, payload)),
                }
            }
            self.push(now, packet);
        }
        for group in groups {
            self.protect(now, place, &template, unit.created, group);
        }
    }

    /// Adds parity after a group of packets, given by first number, count and longest payload.
    fn protect(
        &mut self,
        now: Instant,
        place: usize,
        template: &RtpHeader,
        created: Instant,
        (base, media, longest): (u16, usize, u16),
    ) {
        let parity = self.protection.packets(media);
        let own = self.config.fec == FecFormat::Flexfec;
        let round_trip = self.repair_round_trip();
        for which in 0..parity {
            let Some(stream) = self.streams.get_mut(place) else { return };
            // The mask in the header is longer if it covers more packets (RFC 8627 §4.2.2, RFC 5109 §7.4).
            let extra = match (own, media) {
                (true, 0..=15) => sizes::FLEXFEC,
                (true, 16..=46) => sizes::FLEXFEC + 4,
                (true, _) => sizes::FLEXFEC + 12,
                (false, 0..=16) => sizes::ULPFEC,
                (false, _) => sizes::ULPFEC + 4,
            };
            let header = RtpHeader {
                ssrc: if own { Ssrc::new(stream.kind, stream.simulcast, Role::Protection) } else { stream.ssrc },
                kind: PayloadKind::Protection,
                sequence: RtpStream::number(if own { &mut stream.parity } else { &mut stream.sequence }),
                base,
                mask: fec::mask(which, parity, media),
                payload: longest,
                ..*template
            };
            let wire = Self::video_header(&self.config).saturating_add(longest).saturating_add(extra);
            let packet = Waiting { header, wire, carries: Carries::Protection, created, since: now };
            if !own {
                // Parity shares the numbers of media, but is not retransmitted.
                stream.history.add(now, packet, round_trip);
            }
            self.push(now, packet);
        }
    }

    fn push(&mut self, now: Instant, packet: Waiting) {
        if matches!(packet.carries, Carries::Audio | Carries::Video) {
            self.backlog.payload += Bytes::new(u64::from(packet.header.payload));
            self.backlog.units += u64::from(ends_unit(&packet));
        }
        self.pacer.push(now, packet);
    }

    /// Sends packets that the pacer releases now.
    fn drain(&mut self, now: Instant, out: &mut Output) {
        loop {
            let full = self.decision.window.is_some_and(|window| self.history.in_flight() >= window);
            self.pacer.set_blocked(full);
            let pads = self.pads && !self.stopped;
            match self.pacer.next(now, pads) {
                Next::Packet(packet, cluster) => {
                    if matches!(packet.carries, Carries::Audio | Carries::Video) {
                        let payload = Bytes::new(u64::from(packet.header.payload));
                        self.backlog.payload = self.backlog.payload - payload;
                        if ends_unit(&packet) {
                            self.backlog.units -= 1;
                            self.backlog.longest = self.backlog.longest.max(now.span_since(packet.created));
                        }
                    }
                    self.pads |= packet.carries != Carries::Padding;
                    self.send(now, packet, cluster, out);
                }
                Next::Padding(bytes, cluster) => {
                    let packet = self.padding(now, bytes);
                    self.send(now, packet, cluster, out);
                }
                Next::Nothing => return,
            }
        }
    }

    /// Returns padding of about this size: retransmitted media if there is any, otherwise a padding-only packet.
    fn padding(&self, now: Instant, _bytes: u64) -> Waiting {
        let again =
            self.config.rtx.then(|| self.streams.iter().rev().find_map(|stream| stream.history.newest())).flatten();
        if let Some(packet) = again {
            return self.again(now, packet, Carries::Padding);
        }
        let stream = self.streams.iter().find(|stream| stream.kind != StreamKind::Audio).or(self.streams.first());
        let (kind, simulcast) = stream.map_or((StreamKind::Audio, 0), |stream| (stream.kind, stream.simulcast));
        let header = RtpHeader {
            ssrc: Ssrc::new(kind, simulcast, Role::Retransmission),
            kind: PayloadKind::Padding,
            timestamp: stream.map_or(0, |stream| stream.timestamp(now)),
            ..RtpHeader::default()
        };
        let wire = sizes::VIDEO_HEADER + PADDING_PAYLOAD;
        Waiting { header, wire, carries: Carries::Padding, created: now, since: now }
    }

    /// Returns a media packet in the form of its retransmission.
    fn again(&self, now: Instant, packet: Waiting, carries: Carries) -> Waiting {
        let mut header = packet.header;
        header.base = header.sequence;
        let mut wire = packet.wire;
        if self.config.rtx {
            if let Some((kind, simulcast, _)) = header.ssrc.parts() {
                header.ssrc = Ssrc::new(kind, simulcast, Role::Retransmission);
            }
            header.kind = PayloadKind::Retransmission;
            wire = wire.saturating_add(sizes::ORIGINAL_SEQUENCE);
        }
        Waiting { header, wire, carries, created: packet.created, since: now }
    }

    fn send(&mut self, now: Instant, packet: Waiting, cluster: Option<u32>, out: &mut Output) {
        let Waiting { mut header, wire, carries, created, since } = packet;
        let number = self.history.next();
        header.transport_sequence = number as u16;
        let Some((kind, simulcast, role)) = header.ssrc.parts() else { return };
        let media = Ssrc::new(kind, simulcast, Role::Media);
        let reports = if kind == StreamKind::Audio { self.config.report_audio } else { self.config.report_video };
        let jitter = if self.streams.iter().any(|stream| stream.ssrc == media && stream.report == Instant::NEVER) {
            0.5 + self.random.uniform()
        } else {
            0.0
        };
        let Some(stream) = self.stream(media) else { return };
        if role == Role::Retransmission {
            header.sequence = RtpStream::number(&mut stream.again);
        }
        if stream.report == Instant::NEVER {
            stream.report = now + reports.scaled(jitter);
        }
        let sample = &mut stream.sample;
        sample.packets_sent += 1;
        sample.total_packet_send_delay += now.span_since(since).seconds();
        let payload = u64::from(header.payload);
        let headers = u64::from(wire.saturating_sub(sizes::LOWER)).saturating_sub(payload);
        sample.header_bytes_sent += headers;
        sample.bytes_sent += payload;
        match carries {
            Carries::Audio | Carries::Video => {
                sample.frames_sent += u64::from(carries == Carries::Video && header.marker);
                stream.count_media(header.payload);
                stream.history.sent(now, header.sequence);
            }
            Carries::Retransmission => {
                sample.retransmitted_packets_sent += 1;
                sample.retransmitted_bytes_sent += payload;
                stream.history.sent(now, header.base);
            }
            Carries::Protection => {
                sample.fec_packets_sent += 1;
                sample.fec_bytes_sent += payload;
                if role == Role::Media {
                    stream.history.sent(now, header.sequence);
                }
            }
            Carries::Padding => {
                sample.padding_packets_sent += 1;
                if header.kind == PayloadKind::Padding {
                    sample.padding_bytes_sent += u64::from(PADDING_PAYLOAD);
                } else {
                    sample.retransmitted_packets_sent += 1;
                    sample.retransmitted_bytes_sent += payload;
                }
            }
        }
        match carries {
            Carries::Video => self.second.0 += u64::from(wire),
            Carries::Retransmission | Carries::Protection => self.second.1 += u64::from(wire),
            _ => {}
        }
        self.retransmitted +=
            u64::from(header.kind == PayloadKind::Retransmission || carries == Carries::Retransmission);
        let size = Bytes::new(u64::from(wire));
        let sent = SentPacket { sequence: number, sent: now, size, carries, probe: cluster };
        self.history.add(sent, header.ssrc, header.sequence);
        self.controller.on_sent(&sent);
        self.pacer.sent(u64::from(wire), cluster);
        let body = header.body(self.sent as u32, created);
        self.put(wire, kind, body, out);
    }

    fn put(&mut self, wire: u16, kind: StreamKind, body: fairwave_network::packet::Body, out: &mut Output) {
        out.send(Packet {
            flow: self.context.flow,
            wire,
            class: self.context.class,
            feedback: false,
            ecn: self.ecn,
            dscp: self.context.dscp,
            layer: kind as u8,
            body,
        });
        self.sent += 1;
    }

    /// Sends the sender reports that are due (RFC 3550 §6.4.1), each with a name.
    fn report(&mut self, now: Instant, out: &mut Output) {
        for place in 0..self.streams.len() {
            let Some(stream) = self.streams.get_mut(place) else { continue };
            if stream.report > now {
                continue;
            }
            let audio = stream.kind == StreamKind::Audio;
            let interval = if audio { self.config.report_audio } else { self.config.report_video };
            stream.report = now + interval.scaled(0.5 + self.random.uniform());
            let (kind, report) = (stream.kind, stream.sender_report(now));
            let name = Description { ssrc: report.ssrc, name: NAME.to_owned() };
            let mut bytes = std::mem::take(&mut self.bytes);
            if compound::write(&[Rtcp::SenderReport(report), Rtcp::Description(name)], &mut bytes).is_ok() {
                let body = control_body(&self.forward, &bytes, self.sent as u32, now);
                self.put(sizes::control(bytes.len()), kind, body, out);
            }
            self.bytes = bytes;
        }
    }

    fn on_rtcp(&mut self, now: Instant, packet: &Rtcp) {
        match packet {
            Rtcp::TransportFeedback(_) | Rtcp::CongestionFeedback(_) => self.on_feedback(now, packet),
            Rtcp::ReceiverReport(report) => self.on_blocks(now, &report.blocks),
            Rtcp::SenderReport(report) => self.on_blocks(now, &report.blocks),
            Rtcp::Nack(nack) => {
                if let Some(ssrc) = Ssrc::from_number(nack.media) {
                    self.on_nack(now, ssrc, &nack.sequences);
                }
            }
            Rtcp::Pli(pli) => {
                if let Some(stream) = Ssrc::from_number(pli.media).and_then(|ssrc| self.stream(ssrc)) {
                    stream.sample.pli_count += 1;
                    let ssrc = stream.ssrc;
                    self.key_frame(now, ssrc);
                }
            }
            Rtcp::Fir(fir) => {
                for entry in &fir.entries {
                    let Some(stream) = Ssrc::from_number(entry.ssrc).and_then(|ssrc| self.stream(ssrc)) else {
                        continue;
                    };
                    // A repeated request has the same command number (RFC 5104 §4.3.1.2).
                    if stream.command == Some(entry.command) {
                        continue;
                    }
                    stream.command = Some(entry.command);
                    stream.sample.fir_count += 1;
                    let ssrc = stream.ssrc;
                    self.key_frame(now, ssrc);
                }
            }
            Rtcp::Description(_) => {}
        }
    }

    /// Handles the request for a key frame of a stream.
    fn key_frame(&mut self, now: Instant, ssrc: Ssrc) {
        let spacing = self.config.key_frame_spacing;
        let Some(stream) = self.stream(ssrc) else { return };
        if stream.asked_key.is_some_and(|then| now.span_since(then) < spacing) {
            return;
        }
        stream.asked_key = Some(now);
        let (kind, simulcast) = (stream.kind, stream.simulcast);
        if let Some(camera) = self.cameras.iter_mut().find(|camera| camera.kind == kind) {
            camera.encoder.request_key_frame(simulcast);
        }
    }

    fn on_nack(&mut self, now: Instant, ssrc: Ssrc, sequences: &[u16]) {
        let (round_trip, target) = (self.repair_round_trip(), self.decision.target);
        let Some(place) = self.streams.iter().position(|stream| stream.ssrc == ssrc) else { return };
        let Some(stream) = self.streams.get_mut(place) else { return };
        stream.sample.nack_count += 1;
        if !self.config.receive.nack {
            return;
        }
        for &sequence in sequences {
            let Some(stream) = self.streams.get_mut(place) else { return };
            let Some(packet) = stream.history.asked(now, sequence, round_trip) else { continue };
            if !self.limiter.try_use(now, u64::from(packet.wire), target) {
                if let Some(stream) = self.streams.get_mut(place) {
                    stream.history.forgo(sequence);
                }
                return;
            }
            let packet = self.again(now, packet, Carries::Retransmission);
            self.push(now, packet);
        }
    }

    fn on_blocks(&mut self, now: Instant, blocks: &[ReportBlock]) {
        let (mut expected, mut lost, mut round_trip) = (0i64, 0i64, None);
        for block in blocks {
            let Some(stream) = Ssrc::from_number(block.ssrc).and_then(|ssrc| self.stream(ssrc)) else { continue };
            let since = match stream.reported {
                Some((highest, _)) => i64::from(block.highest.wrapping_sub(highest) as i32),
                None => i64::from((block.highest as u16).wrapping_sub(stream.begin)) + 1,
            };
            if since < 0 {
                // An old report that arrived late.
                continue;
            }
            expected += since;
            lost += i64::from(block.lost) - i64::from(stream.reported.map_or(0, |(_, lost)| lost));
            stream.reported = Some((block.highest, block.lost));
            let answered = time::round_trip(now, block.last, block.delay);
            let sample = &mut stream.sample;
            sample.remote_fraction_lost = Some(f64::from(block.fraction_lost) / 256.0);
            sample.remote_packets_lost = Some(i64::from(block.lost));
            if let Some(answered) = answered {
                sample.remote_round_trip_time = Some(answered.seconds());
                round_trip = Some(answered);
            }
            let jitter = f64::from(block.jitter) / f64::from(stream.clock());
            stream.sample.remote_jitter = Some(jitter);
        }
        self.round_trip = round_trip.or(self.round_trip);
        if let Some(round_trip) = round_trip {
            self.side_channel.set_round_trip(round_trip);
        }
        if expected <= 0 {
            return;
        }
        let share = (lost as f64 / expected as f64).clamp(0.0, 1.0);
        self.loss = share;
        self.protection.on_report(now, share, self.repair_round_trip());
        let expected = u32::try_from(expected).unwrap_or(u32::MAX);
        self.controller.on_report(&LossReport { now, fraction_lost: share, expected, round_trip: self.round_trip });
    }

    fn on_feedback(&mut self, now: Instant, message: &Rtcp) {
        let reported = match message {
            Rtcp::TransportFeedback(message) => self.history.on_transport_feedback(now, message),
            Rtcp::CongestionFeedback(message) => self.history.on_congestion_feedback(now, message),
            _ => return,
        };
        if reported.packets.is_empty() {
            return;
        }
        self.feedback_round_trip = reported.round_trip.or(self.feedback_round_trip);
        let missing = reported.packets.iter().filter(|packet| packet.arrived.is_none()).count();
        self.feedback_lost = Some(missing as f64 / reported.packets.len() as f64);
        self.controller.on_feedback(&Feedback {
            now,
            packets: reported.packets,
            round_trip: self.feedback_round_trip.unwrap_or_default(),
            in_flight: reported.in_flight,
            waiting: self.pacer.waiting(),
            waits: self.pacer.oldest().map_or(Span::ZERO, |oldest| now.span_since(oldest.since)),
        });
    }

    /// Returns the streams of the sender.
    pub fn expected(&self) -> Vec<StreamId> {
        self.streams.iter().map(|stream| stream.sample.stream).collect()
    }

    /// Number of received messages that were not RTCP.
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

/// Checks whether this packet is the last of its unit.
fn ends_unit(packet: &Waiting) -> bool {
    packet.carries == Carries::Audio || packet.header.marker
}

impl Sender for WebrtcSender {
    fn on_start(&mut self, now: Instant, out: &mut Output) {
        self.stopped = false;
        self.switch(now);
        if !self.started {
            self.started = true;
            self.next_sample = now + SAMPLE_EVERY;
            for stream in &mut self.streams {
                stream.limited_since = now;
            }
            self.controller.on_limits(now, self.limits);
        }
        self.refresh(now);
        self.drain(now, out);
    }

    fn on_unit(&mut self, now: Instant, unit: Unit, out: &mut Output) {
        if self.stopped {
            return;
        }
        self.sample(now);
        self.switch(now);
        let encoded = match StreamKind::from_number(unit.layer) {
            Some(StreamKind::Audio) => self.encode_audio(now, &unit),
            Some(kind) => self.encode_video(now, &unit, kind),
            None => false,
        };
        out.skipped += u32::from(!encoded);
        self.refresh(now);
        self.drain(now, out);
    }

    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        self.sample(now);
        let message = self.back.get(&packet.body);
        match message.map(|bytes| compound::parse(&bytes)) {
            Some(Ok(packets)) => packets.iter().for_each(|packet| self.on_rtcp(now, packet)),
            _ => self.refused += 1,
        }
        self.refresh(now);
        self.drain(now, out);
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        self.sample(now);
        self.switch(now);
        if self.controller.deadline() <= now {
            self.controller.on_timer(now);
        }
        self.refresh(now);
        if !self.stopped {
            self.report(now, out);
        }
        self.drain(now, out);
    }

    fn deadline(&self) -> Instant {
        if !self.started {
            return Instant::NEVER;
        }
        let pacer = self.pacer.deadline(self.pads && !self.stopped);
        if self.stopped {
            return pacer;
        }
        let reports = self.streams.iter().map(|stream| stream.report).min().unwrap_or(Instant::NEVER);
        pacer.min(reports).min(self.controller.deadline()).min(self.next_switch)
    }

    fn on_stop(&mut self, now: Instant) {
        self.sample(now);
        self.fall_silent(now);
        self.stopped = true;
        self.pacer.set_rates(now, self.decision.pacing, Rate::default());
    }

    /// Restarts the controller with the initial estimate (libwebrtc, `GoogCcNetworkController::OnNetworkRouteChange`).
    fn on_new_network(&mut self, now: Instant) {
        self.sample(now);
        self.networks += 1;
        let stream = self.seed.stream(&format!("control.{}", self.networks));
        if let Ok(controller) = self.config.control.controller(stream) {
            self.controller = controller;
            self.controller.on_limits(now, self.limits);
        }
        self.history.forget();
        (self.round_trip, self.feedback_round_trip, self.feedback_lost, self.loss) = (None, None, None, 0.0);
        self.refresh(now);
    }

    fn view(&self) -> SenderView {
        let view = self.controller.view();
        SenderView {
            smoothed_rtt: view.round_trip.or(self.feedback_round_trip.map(Span::seconds)),
            rate: Some(self.decision.target.bits_per_second() as f64),
            estimate: view.capacity.map(Estimate::Bandwidth),
            backlog: Some(Backlog { since: self.pacer.oldest().map(|oldest| oldest.created), ..self.backlog }),
            sent: self.sent,
            retransmitted: self.retransmitted,
            ..SenderView::default()
        }
    }

    fn settle_media(&mut self, now: Instant) {
        if self.started {
            self.sample(now);
            self.shown.totals = self.streams.iter_mut().map(|stream| stream.sample_at(now)).collect();
        }
    }

    fn media(&self) -> Option<&MediaSent> {
        Some(&self.shown)
    }
}
