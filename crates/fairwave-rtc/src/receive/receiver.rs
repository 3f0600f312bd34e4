//! Receiving end of a session: all streams of a peer, their feedback and their statistics.
//!
//! A unit of audio is delivered when its frame arrives; NetEQ plays it later. A unit of video is delivered when it is
//! decoded. Of simulcast encodings, the first that shows a unit delivers it.
//!
//! **Assumptions.** Lip synchronisation needs one sender report per stream to map capture times; libwebrtc fits a line
//! through several. The round trip is the sender's ([`SideChannel::round_trip`]), read once a second. libwebrtc updates
//! its round trip as often.

use super::audio::{self, Audio, AudioArrival, AudioSetup};
use super::config::{FeedbackFormat, ReceiveConfig};
use super::fec::Recovery;
use super::feedback::{Reports, TransportWide};
use super::nack::{LOOKED_AT, NackList, Noticed};
use super::reception::{Reception, unwrap16};
use super::synchronisation::{Latest, Synchronisation, relative_delay};
use super::video::{self, Video};
use crate::mailbox::Mailbox;
use crate::rtcp::{Description, Nack, Pli, ReceiverReport, ReportBlock, Rtcp, compound, time};
use crate::rtp::{PayloadKind, Role, RtpHeader, Ssrc, control_message};
use crate::side_channel::SideChannel;
use crate::sizes;
use fairwave_endpoint::media::{InboundSample, MediaReceived, StreamId, StreamQuality, StreamSummary};
use fairwave_endpoint::serial::ReplayWindow;
use fairwave_endpoint::{Delivery, FlowContext, Output, Receiver, ReceiverView};
use fairwave_media::encoder::{Spells, StreamKind};
use fairwave_network::packet::{CarriedUnit, Ecn, Packet};
use fairwave_units::random::Stream;
use fairwave_units::units::{Instant, Span};

/// Interval of lip synchronisation, round trip and rate updates.
const HOUSEKEEPING: Span = Span::from_secs(1);
/// Largest number of sequence numbers in one NACK, so that it fits a packet.
const ASKED: usize = 250;

/// Parameters of the session for the receiver.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ReceiverSetup {
    /// Parameters of the microphone's frames.
    pub audio: AudioSetup,
    /// Streams of the session, including those without arrivals.
    pub expected: Vec<StreamId>,
    /// When camera and screen are off, as signalled.
    pub off: [Spells; 2],
}

impl ReceiverSetup {
    fn spells_off(&self, kind: StreamKind) -> Spells {
        match kind {
            StreamKind::Audio => Spells::default(),
            StreamKind::Video => self.off[0].clone(),
            StreamKind::Screen => self.off[1].clone(),
        }
    }
}

/// State shared with the sender: both directions of RTCP, and payloads.
#[derive(Clone, Debug, Default)]
pub struct Shared {
    /// From the receiver.
    pub feedback: Mailbox,
    /// From the sender.
    pub control: Mailbox,
    /// Payloads.
    pub side_channel: SideChannel,
}

// One per stream.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
enum Content {
    Audio(Audio),
    Video(Video),
}

#[derive(Clone, Copy, Debug, Default)]
struct SenderClock {
    /// NTP timestamp, its middle 32 bits, RTP timestamp and arrival of the latest sender report.
    report: Option<(Instant, u32, u32, Instant)>,
    /// Timestamp and arrival of the latest packet in order.
    latest: Option<(u32, Instant)>,
}

#[derive(Clone, Debug)]
struct Received {
    id: StreamId,
    media: Reception,
    retransmitted: Reception,
    protection: Reception,
    held: ReplayWindow<64>,
    highest: u64,
    nack: NackList,
    nacks: bool,
    looked: Instant,
    recovery: Recovery,
    content: Content,
    clock: SenderClock,
    total: InboundSample,
    begins: Option<Instant>,
}

impl Received {
    fn new(id: StreamId, config: &ReceiveConfig, setup: &ReceiverSetup, side_channel: &SideChannel) -> Self {
        let is_audio = id.kind == StreamKind::Audio;
        let clock = if is_audio { audio::CLOCK } else { video::CLOCK };
        let content = if is_audio {
            Content::Audio(Audio::new(config, setup.audio))
        } else {
            Content::Video(Video::new(config, id.kind, setup.spells_off(id.kind), side_channel.clone()))
        };
        Received {
            id,
            media: Reception::new(clock),
            retransmitted: Reception::new(clock),
            protection: Reception::new(clock),
            held: ReplayWindow::default(),
            highest: 0,
            nack: NackList::new(config.nack_retries),
            nacks: if is_audio { config.audio_nack } else { config.nack },
            looked: Instant::NEVER,
            recovery: Recovery::default(),
            content,
            clock: SenderClock::default(),
            total: InboundSample::new(Instant::ZERO, id),
            begins: None,
        }
    }

    fn ssrc(&self, role: Role) -> Ssrc {
        Ssrc::new(self.id.kind, self.id.place, role)
    }

    fn deadline(&self) -> Instant {
        match &self.content {
            Content::Audio(_) => self.looked,
            Content::Video(video) => self.looked.min(video.deadline()),
        }
    }

    /// Returns the counters at time `at`.
    fn sample(&mut self, at: Instant) -> InboundSample {
        let mut sample = self.total;
        sample.at = at;
        sample.packets_lost = self.media.lost();
        sample.jitter = self.media.jitter();
        sample.fec_packets_discarded = self.recovery.useless;
        match &mut self.content {
            Content::Audio(audio) => {
                audio.advance(at, true);
                audio.count(at, &mut sample);
            }
            Content::Video(video) => video.count(at, &mut sample),
        }
        sample
    }
}

/// Receiver of a session.
pub struct WebrtcReceiver {
    config: ReceiveConfig,
    setup: ReceiverSetup,
    context: FlowContext,
    shared: Shared,
    random: Stream,
    streams: Vec<Received>,
    /// Identity and deadline of each stream, kept together because every packet reads them.
    index: Vec<(StreamId, Instant)>,
    /// Deadline of the receiver.
    due: Instant,
    wide: TransportWide,
    reports: Reports,
    report_due: Instant,
    housekeeping: Instant,
    sample_due: Instant,
    bytes: u64,
    bytes_before: (Instant, u64),
    rate: f64,
    synchronisation: Synchronisation,
    delivered: ReplayWindow<16>,
    media: MediaReceived,
    ask: Vec<u64>,
    restored: Vec<u64>,
    message: Vec<u8>,
}

impl WebrtcReceiver {
    /// Returns a receiver before its first packet. The configuration must have been checked. `random` is the only
    /// source of randomness.
    pub fn new(
        config: &ReceiveConfig,
        setup: ReceiverSetup,
        context: FlowContext,
        shared: Shared,
        random: Stream,
    ) -> Self {
        let mut expected = setup.expected.clone();
        expected.sort_unstable();
        expected.dedup();
        let streams: Vec<Received> =
            expected.iter().map(|id| Received::new(*id, config, &setup, &shared.side_channel)).collect();
        let index = streams.iter().map(|stream| (stream.id, stream.deadline())).collect();
        let mut receiver = WebrtcReceiver {
            index,
            due: Instant::NEVER,
            config: *config,
            setup,
            context,
            shared,
            random,
            streams,
            wide: TransportWide::default(),
            reports: Reports::default(),
            report_due: Instant::NEVER,
            housekeeping: Instant::NEVER,
            sample_due: Instant::NEVER,
            bytes: 0,
            bytes_before: (Instant::ZERO, 0),
            rate: 0.0,
            synchronisation: Synchronisation::default(),
            delivered: ReplayWindow::default(),
            media: MediaReceived::default(),
            ask: Vec::new(),
            restored: Vec::new(),
            message: Vec::new(),
        };
        receiver.summarise(Instant::ZERO);
        receiver.find_due();
        receiver
    }

    fn stream(&mut self, id: StreamId) -> usize {
        match self.index.binary_search_by_key(&id, |(id, _)| *id) {
            Ok(place) => place,
            Err(place) => {
                let stream = Received::new(id, &self.config, &self.setup, &self.shared.side_channel);
                self.index.insert(place, (id, stream.deadline()));
                self.streams.insert(place, stream);
                place
            }
        }
    }

    /// Updates the deadline of a stream after a possible change.
    fn ask_stream(&mut self, place: usize) {
        if let (Some((_, due)), Some(stream)) = (self.index.get_mut(place), self.streams.get(place)) {
            *due = stream.deadline();
        }
    }

    /// Updates the deadline of the receiver.
    fn find_due(&mut self) {
        let own = [self.wide.due(), self.reports.due(), self.report_due, self.housekeeping, self.sample_due];
        let earliest = own.into_iter().fold(Instant::NEVER, Instant::min);
        self.due = self.index.iter().fold(earliest, |earliest, (_, due)| earliest.min(*due));
    }

    /// Handles a packet of the sender, whose header has been read.
    pub fn on_header(&mut self, now: Instant, packet: &Packet, header: RtpHeader, created: Instant, out: &mut Output) {
        self.bytes += u64::from(packet.wire);
        self.begin(now);
        if header.kind == PayloadKind::Control {
            if let Some(message) = control_message(&self.shared.control, &packet.body) {
                self.on_control(now, &message);
            }
        } else if let Some((kind, place, role)) = header.ssrc.parts() {
            let place = self.stream(StreamId { kind, place });
            self.on_rtp(now, packet, (place, role), header, created, out);
            self.ask_stream(place);
        }
        self.find_due();
        if self.due <= now {
            self.on_timer(now, out);
        }
    }

    fn begin(&mut self, now: Instant) {
        if self.report_due != Instant::NEVER {
            return;
        }
        self.report_due = now + self.report_gap();
        self.housekeeping = now + HOUSEKEEPING;
        self.bytes_before = (now, self.bytes);
        let every = self.config.sample_every.nanos().max(1);
        self.sample_due = Instant::from_nanos((now.nanos() / every + 1).saturating_mul(every));
    }

    fn report_gap(&mut self) -> Span {
        self.config.report_interval.scaled(0.5 + self.random.uniform())
    }

    /// Sends RTCP messages as one packet.
    fn send(&mut self, now: Instant, messages: &[Rtcp], out: &mut Output) {
        if compound::write(messages, &mut self.message).is_err() || self.message.is_empty() {
            return;
        }
        out.send(Packet {
            flow: self.context.flow,
            wire: sizes::control(self.message.len()),
            class: self.context.class,
            feedback: true,
            ecn: Ecn::NotEct,
            dscp: self.context.dscp,
            layer: 0,
            body: self.shared.feedback.put(&self.message, 0, now),
        });
    }

    fn ask_again(&mut self, now: Instant, place: usize, out: &mut Output) {
        let mut ask = std::mem::take(&mut self.ask);
        if let Some(stream) = self.streams.get_mut(place)
            && stream.nacks
        {
            let media = stream.ssrc(Role::Media).number();
            stream.total.nack_count += ask.len().div_ceil(ASKED) as u64;
            if stream.looked == Instant::NEVER && !stream.nack.is_empty() {
                stream.looked = now + LOOKED_AT;
            }
            for part in ask.chunks(ASKED) {
                let sequences = part.iter().map(|&number| number as u16).collect();
                self.send(now, &[Rtcp::Nack(Nack { sender: Ssrc::RECEIVER.number(), media, sequences })], out);
            }
        }
        ask.clear();
        self.ask = ask;
    }

    fn ask_for_key_frame(&mut self, now: Instant, place: usize, out: &mut Output) {
        if let Some(stream) = self.streams.get_mut(place) {
            stream.total.pli_count += 1;
            let media = stream.ssrc(Role::Media).number();
            self.send(now, &[Rtcp::Pli(Pli { sender: Ssrc::RECEIVER.number(), media })], out);
        }
    }

    fn on_control(&mut self, now: Instant, message: &[u8]) {
        let Ok(packets) = compound::parse(message) else { return };
        for packet in packets {
            if let Rtcp::SenderReport(report) = packet
                && let Some((kind, place, Role::Media)) = Ssrc::from_number(report.ssrc).and_then(Ssrc::parts)
                && let Some(captured) = time::instant(report.ntp)
            {
                let place = self.stream(StreamId { kind, place });
                if let Some(stream) = self.streams.get_mut(place) {
                    stream.clock.report = Some((captured, time::middle(report.ntp), report.rtp, now));
                }
            }
        }
    }

    /// Handles a media packet that was received, retransmitted or restored. `asked` is the number of earlier requests.
    fn on_media(
        &mut self,
        now: Instant,
        place: usize,
        number: u64,
        found: (RtpHeader, Instant),
        asked: u32,
        out: &mut Output,
    ) {
        let (header, created) = found;
        let Some(stream) = self.streams.get_mut(place) else { return };
        let kind = stream.id.kind;
        match &mut stream.content {
            Content::Audio(audio) => {
                let new = audio.on_frame(
                    now,
                    AudioArrival {
                        number,
                        timestamp: header.timestamp,
                        created,
                        payload: header.payload,
                        restored: false,
                        coarse: false,
                    },
                );
                let back = u64::from(header.repeats).max(u64::from(header.in_band_fec));
                stream.total.fec_packets_received += u64::from(back > 0);
                let media = stream.ssrc(Role::Media);
                let mut deliver = |header: &RtpHeader, created: Instant| {
                    out.deliveries.push(Delivery {
                        unit: header.unit,
                        payload: u32::from(header.payload),
                        created,
                        layer: kind as u8,
                        complete: true,
                    });
                };
                if new {
                    deliver(&header, created);
                }
                for back in 1..=back {
                    let Some((repeated, created)) =
                        self.shared.side_channel.header(media, header.sequence.wrapping_sub(back as u16))
                    else {
                        continue;
                    };
                    let Content::Audio(audio) = &mut stream.content else { return };
                    let new = audio.on_frame(
                        now,
                        AudioArrival {
                            number: number.saturating_sub(back),
                            timestamp: repeated.timestamp,
                            created,
                            payload: repeated.payload,
                            restored: true,
                            coarse: back > u64::from(header.repeats),
                        },
                    );
                    if new {
                        deliver(&repeated, created);
                    }
                }
            }
            Content::Video(video) => {
                if video.on_packet(now, number, &header, created, asked > 0) {
                    self.ask_for_key_frame(now, place, out);
                }
            }
        }
    }

    /// Handles a packet number of a media stream that was missing so far.
    fn on_number(&mut self, now: Instant, place: usize, number: u64, recovered: bool, out: &mut Output) -> Noticed {
        let Some(stream) = self.streams.get_mut(place) else { return Noticed::default() };
        if !stream.nacks {
            return Noticed::default();
        }
        let noticed = stream.nack.on_packet(now, number, recovered, &mut self.ask);
        if !self.ask.is_empty() {
            self.ask_again(now, place, out);
        }
        if noticed.key_frame && matches!(self.streams.get(place).map(|one| &one.content), Some(Content::Video(_))) {
            self.ask_for_key_frame(now, place, out);
        }
        noticed
    }

    /// Handles packets restored by FEC.
    fn on_restored(&mut self, now: Instant, place: usize, out: &mut Output) {
        if self.restored.is_empty() {
            return;
        }
        let restored = std::mem::take(&mut self.restored);
        for &number in &restored {
            let Some(stream) = self.streams.get_mut(place) else { return };
            let found = self.shared.side_channel.header(stream.ssrc(Role::Media), number as u16);
            let Some(found) = found.filter(|_| stream.held.is_new(number)) else { continue };
            stream.total.packets_recovered += 1;
            let noticed = self.on_number(now, place, number, true, out);
            self.on_media(now, place, number, found, noticed.asked, out);
        }
        self.restored = restored;
        self.restored.clear();
    }

    /// Handles an RTP packet of the stream at `place`.
    fn on_rtp(
        &mut self,
        now: Instant,
        packet: &Packet,
        (place, role): (usize, Role),
        header: RtpHeader,
        created: Instant,
        out: &mut Output,
    ) {
        match self.config.feedback {
            FeedbackFormat::TransportWide => {
                self.wide.on_packet(now, header.transport_sequence, header.ssrc, packet.ecn);
            }
            FeedbackFormat::Rfc8888 => {
                self.reports.on_packet(now, header.ssrc, header.sequence, packet.ecn, header.marker);
            }
            FeedbackFormat::None => {}
        }
        let Some(stream) = self.streams.get_mut(place) else { return };
        stream.begins.get_or_insert(now);
        let (payload, wire) = (u64::from(header.payload), u64::from(packet.wire));
        let headers = wire.saturating_sub(u64::from(sizes::LOWER)).saturating_sub(payload);
        let total = &mut stream.total;
        total.last_packet_received = Some(now);
        total.count_mark(packet.ecn);
        match role {
            Role::Protection => {
                stream.protection.on_packet(now, header.sequence, header.timestamp);
                total.fec_packets_received += 1;
                total.fec_bytes_received += payload;
                let base = unwrap16(stream.highest.max(0x1_0000), header.base);
                stream.recovery.on_protection(base, header.mask, &mut self.restored);
                self.on_restored(now, place, out);
                return;
            }
            Role::Media | Role::Retransmission => {
                total.packets_received += 1;
                if header.kind == PayloadKind::Protection {
                    total.fec_packets_received += 1;
                    total.fec_bytes_received += payload;
                }
                if header.kind == PayloadKind::Padding {
                    total.padding_packets_received += 1;
                    total.header_bytes_received += headers + payload;
                } else {
                    total.bytes_received += payload;
                    total.header_bytes_received += headers;
                }
            }
        }
        if role == Role::Retransmission {
            stream.retransmitted.on_packet(now, header.sequence, header.timestamp);
            if header.kind != PayloadKind::Retransmission {
                return;
            }
            stream.total.retransmitted_packets_received += 1;
            stream.total.retransmitted_bytes_received += payload;
            let number = unwrap16(stream.highest.max(0x1_0000), header.base);
            if !stream.held.is_new(number) {
                stream.total.packets_duplicated += 1;
                return;
            }
            let original =
                RtpHeader { ssrc: stream.ssrc(Role::Media), sequence: header.base, kind: PayloadKind::Media, ..header };
            stream.recovery.on_media(number, &mut self.restored);
            let noticed = self.on_number(now, place, number, true, out);
            self.on_media(now, place, number, (original, created), noticed.asked.max(1), out);
            self.on_restored(now, place, out);
            return;
        }
        let (number, new) = stream.media.on_packet(now, header.sequence, header.timestamp);
        if number >= stream.highest {
            stream.highest = number;
            stream.clock.latest = Some((header.timestamp, now));
        }
        if !new || !stream.held.is_new(number) {
            stream.total.packets_duplicated += 1;
            return;
        }
        stream.recovery.on_media(number, &mut self.restored);
        let noticed = self.on_number(now, place, number, false, out);
        match header.kind {
            PayloadKind::Media => self.on_media(now, place, number, (header, created), noticed.asked, out),
            // ULPFEC packets share the sequence numbers of media.
            PayloadKind::Protection => {
                if let Some(stream) = self.streams.get_mut(place) {
                    let base = unwrap16(number, header.base);
                    stream.recovery.on_protection(base, header.mask, &mut self.restored);
                }
            }
            _ => {}
        }
        self.on_restored(now, place, out);
    }

    fn decode(&mut self, now: Instant, place: usize, out: &mut Output) {
        let Some(stream) = self.streams.get_mut(place) else { return };
        let ssrc = stream.ssrc(Role::Media);
        let Content::Video(video) = &mut stream.content else { return };
        while let Some(frame) = video.decode(now, |kept, frame| kept.picture(ssrc, frame.number as u16)) {
            if let Some(first) = frame.first_packet() {
                stream.nack.clear_to(first);
            }
            if self.delivered.is_new(u64::from(frame.unit)) {
                out.deliveries.push(Delivery {
                    unit: frame.unit,
                    payload: frame.bytes,
                    created: frame.created,
                    layer: stream.id.kind as u8,
                    complete: true,
                });
            }
        }
        if video.times_out(now) {
            self.ask_for_key_frame(now, place, out);
        }
    }

    fn receiver_report(&mut self, now: Instant, out: &mut Output) {
        let mut blocks = Vec::new();
        for stream in &mut self.streams {
            let (_, last, _, came) = stream.clock.report.unwrap_or_default();
            let delay = if last == 0 { 0 } else { time::to_65536ths(now.span_since(came)) };
            let media = stream.ssrc(Role::Media);
            let again = stream.ssrc(Role::Retransmission);
            for (ssrc, reception, last, delay) in
                [(media, &mut stream.media, last, delay), (again, &mut stream.retransmitted, 0, 0)]
            {
                if let Some(interval) = reception.report() {
                    blocks.push(ReportBlock {
                        ssrc: ssrc.number(),
                        fraction_lost: interval.fraction_lost,
                        lost: interval.lost.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32,
                        highest: interval.highest,
                        jitter: reception.jitter_ticks(),
                        last,
                        delay,
                    });
                }
            }
        }
        blocks.truncate(31);
        let ssrc = Ssrc::RECEIVER.number();
        let name = String::from("fairwave");
        let report = Rtcp::ReceiverReport(ReceiverReport { ssrc, blocks });
        self.send(now, &[report, Rtcp::Description(Description { ssrc, name })], out);
    }

    /// Performs the updates of each second.
    fn keep_house(&mut self, now: Instant) {
        let (before, bytes) = self.bytes_before;
        let seconds = now.span_since(before).seconds();
        if seconds > 0.0 {
            self.rate = (self.bytes - bytes) as f64 * 8.0 / seconds;
            self.wide.on_rate(self.rate);
            self.reports.on_rate(self.rate);
        }
        self.bytes_before = (now, self.bytes);
        if let Some(round_trip) = self.shared.side_channel.round_trip() {
            for stream in &mut self.streams {
                stream.nack.set_round_trip(round_trip);
                if let Content::Video(video) = &mut stream.content {
                    video.set_round_trip(round_trip);
                }
            }
        }
        if self.config.lip_sync {
            self.synchronise(now);
        }
    }

    fn latest(stream: &Received, clock: u32) -> Option<Latest> {
        let ((captured, _, rtp, _), (timestamp, received)) = (stream.clock.report?, stream.clock.latest?);
        let ticks = i64::from(timestamp.wrapping_sub(rtp) as i32);
        let captured = (captured.nanos() / 1_000_000) as i64 + ticks * 1000 / i64::from(clock);
        Some(Latest { captured, received: (received.nanos() / 1_000_000) as i64 })
    }

    /// Synchronises the microphone with the camera, using the encoding of the latest packet.
    fn synchronise(&mut self, now: Instant) {
        let of = |kind: StreamKind| {
            (self.streams.iter().enumerate().filter(|(_, stream)| stream.id.kind == kind))
                .filter(|(_, stream)| stream.clock.latest.is_some())
                .max_by_key(|(_, stream)| stream.clock.latest.map(|(_, came)| came))
                .map(|(place, _)| place)
        };
        let (Some(audio), Some(video)) = (of(StreamKind::Audio), of(StreamKind::Video)) else { return };
        let [Some(sound), Some(sight)] = [(audio, audio::CLOCK), (video, video::CLOCK)]
            .map(|(place, clock)| self.streams.get(place).and_then(|stream| Self::latest(stream, clock)))
        else {
            return;
        };
        let Some(relative) = relative_delay(sound, sight) else { return };
        let [Some(hears), Some(sees)] = [audio, video].map(|place| {
            self.streams.get_mut(place).map(|stream| match &mut stream.content {
                Content::Audio(audio) => {
                    audio.advance(now, false);
                    audio.current_delay()
                }
                Content::Video(video) => video.target_delay(),
            })
        }) else {
            return;
        };
        let Some((for_audio, for_video)) = self.synchronisation.step(relative, hears, sees) else { return };
        for stream in &mut self.streams {
            match &mut stream.content {
                Content::Audio(audio) => audio.set_least(for_audio),
                Content::Video(one) if stream.id.kind == StreamKind::Video => one.set_least(for_video),
                Content::Video(_) => {}
            }
        }
    }

    fn take_samples(&mut self, at: Instant) {
        for stream in &mut self.streams {
            let sample = stream.sample(at);
            self.media.inbound.push(sample);
        }
    }

    fn summarise(&mut self, end: Instant) {
        let hears = self.streams.iter().find_map(|stream| match &stream.content {
            Content::Audio(audio) => audio.mouth_to_ear(),
            Content::Video(_) => None,
        });
        self.media.streams = (self.streams.iter_mut())
            .map(|stream| {
                let total = stream.sample(end);
                let (quality, lip_sync_offset) = match &stream.content {
                    Content::Audio(audio) => (StreamQuality::Audio(audio.quality(total.packets_received)), None),
                    Content::Video(video) => {
                        let offset = video.capture_to_render().zip(hears).map(|(sees, hears)| sees - hears);
                        (StreamQuality::Video(video.quality(end, total.packets_received)), offset)
                    }
                };
                StreamSummary { total, begins: stream.begins, quality, lip_sync_offset }
            })
            .collect();
    }
}

impl Receiver for WebrtcReceiver {
    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        if packet.feedback {
            return;
        }
        let Some((header, created)) = RtpHeader::read(&packet.body) else { return };
        self.on_header(now, packet, header, created, out);
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        for place in 0..self.streams.len() {
            if self.index.get(place).is_none_or(|(_, due)| *due > now) {
                continue;
            }
            let Some(stream) = self.streams.get_mut(place) else { continue };
            if stream.looked <= now {
                stream.looked = if stream.nack.is_empty() { Instant::NEVER } else { now + LOOKED_AT };
                stream.nack.on_timer(now, &mut self.ask);
                if !self.ask.is_empty() {
                    self.ask_again(now, place, out);
                }
            }
            self.decode(now, place, out);
            self.ask_stream(place);
        }
        if self.wide.due() <= now {
            let mut messages = Vec::new();
            self.wide.take(now, &mut messages);
            for message in messages {
                self.send(now, &[message], out);
            }
        }
        if self.reports.due() <= now
            && let Some(report) = self.reports.take(now)
        {
            self.send(now, &[report], out);
        }
        if self.report_due <= now {
            self.report_due = now + self.report_gap();
            self.receiver_report(now, out);
        }
        if self.housekeeping <= now {
            self.housekeeping = now + HOUSEKEEPING;
            self.keep_house(now);
        }
        while self.sample_due <= now {
            self.take_samples(self.sample_due);
            self.sample_due += self.config.sample_every;
        }
        self.find_due();
    }

    fn deadline(&self) -> Instant {
        self.due
    }

    fn is_reactive(&self) -> bool {
        false
    }

    fn unit_in(&self, packet: &Packet) -> Option<CarriedUnit> {
        let (header, _) = RtpHeader::read(&packet.body)?;
        let carries = matches!(header.kind, PayloadKind::Media | PayloadKind::Retransmission);
        carries.then_some(CarriedUnit { unit: header.unit, is_complete: header.first && header.last })
    }

    fn view(&self) -> ReceiverView {
        ReceiverView { receive_rate: (self.rate > 0.0).then_some(self.rate), ..ReceiverView::default() }
    }

    fn settle_media(&mut self, now: Instant) {
        self.summarise(now);
    }

    fn media(&self) -> Option<&MediaReceived> {
        Some(&self.media)
    }
}
