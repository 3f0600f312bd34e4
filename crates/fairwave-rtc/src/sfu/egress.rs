//! Server end of a session to a participant: sends packets from the room and handles feedback.

use super::room::{CHOOSE_EVERY, Room, State};
use crate::control::Carries;
use crate::mailbox::Mailbox;
use crate::receive::Shared;
use crate::rtcp::{Description, ReportBlock, Rtcp, SenderReport, compound, time};
use crate::rtp::{PayloadKind, Role, RtpHeader, Ssrc, control_body};
use crate::session::WebrtcConfig;
use crate::sizes;
use fairwave_endpoint::media::{MediaSent, SAMPLE_EVERY};
use fairwave_endpoint::{Estimate, FlowContext, Output, Sender, SenderView};
use fairwave_media::encoder::StreamKind;
use fairwave_media::traffic::Unit;
use fairwave_network::packet::{Body, Packet};
use fairwave_units::random::Stream;
use fairwave_units::units::{Instant, Span};

/// Payload of a padding-only packet, bytes, as in [`crate::send`].
const PADDING: u16 = 224;
/// Kinds of streams, in the order of their indices.
const KINDS: [StreamKind; 3] = StreamKind::ALL;

/// Sender at the server.
pub struct Egress {
    room: Room,
    leg: Leg,
}

/// State of the session outside the room.
struct Leg {
    from: usize,
    to: usize,
    context: FlowContext,
    forward: Mailbox,
    back: Mailbox,
    random: Stream,
    report_audio: Span,
    report_video: Span,
    nacks: bool,
    sent: u64,
    retransmitted: u64,
    started: bool,
    stopped: bool,
    deadline: Instant,
    /// Time of the next sender report of any stream.
    report: Instant,
    next_sample: Instant,
    reported: [Option<(u32, i32)>; 3],
    shown: MediaSent,
    bytes: Vec<u8>,
}

impl Egress {
    pub(super) fn new(
        room: Room,
        (from, to): (usize, usize),
        context: FlowContext,
        config: &WebrtcConfig,
        shared: &Shared,
        random: Stream,
    ) -> Self {
        let leg = Leg {
            from,
            to,
            context,
            forward: shared.control.clone(),
            back: shared.feedback.clone(),
            random,
            report_audio: config.report_audio,
            report_video: config.report_video,
            nacks: config.receive.nack,
            sent: 0,
            retransmitted: 0,
            started: false,
            stopped: false,
            deadline: Instant::NEVER,
            report: Instant::NEVER,
            next_sample: Instant::NEVER,
            reported: [None; 3],
            shown: MediaSent::default(),
            bytes: Vec::new(),
        };
        Egress { room, leg }
    }
}

impl Leg {
    fn leads(&self, state: &State) -> bool {
        state.subscribers.get(self.to).is_some_and(|subscriber| subscriber.lead == Some(self.from))
    }

    fn put(&mut self, wire: u16, kind: StreamKind, ecn: fairwave_network::packet::Ecn, body: Body, out: &mut Output) {
        out.send(Packet {
            flow: self.context.flow,
            wire,
            class: self.context.class,
            feedback: false,
            ecn,
            dscp: self.context.dscp,
            layer: kind as u8,
            body,
        });
        self.sent += 1;
    }

    /// Sends waiting packets. If this session leads its path, it also does the work of the path. Updates the deadline.
    fn act(&mut self, now: Instant, state: &mut State, out: &mut Output) {
        self.sample(now, state);
        if let Some((_, pair, subscriber)) = state.parties(self.from, self.to) {
            let ecn = subscriber.ecn();
            while let Some(leaving) = pair.queue.pop_front() {
                let mut header = leaving.header;
                let Some((kind, _, role)) = header.ssrc.parts() else { continue };
                subscriber.send(now, &mut header, leaving.wire, leaving.carries, None);
                let Some(stream) = pair.streams.get_mut(kind as usize).and_then(Option::as_mut) else { continue };
                let again = role == Role::Retransmission;
                if !again && kind != StreamKind::Audio {
                    stream.cache(now, &header, leaving.wire, leaving.created);
                }
                if stream.report == Instant::NEVER {
                    // The first report is early, because lip synchronisation needs it.
                    let interval = if kind == StreamKind::Audio { self.report_audio } else { self.report_video };
                    stream.report = now + interval.scaled(0.5 + self.random.uniform()).min(Span::from_secs(1));
                    self.report = self.report.min(stream.report);
                }
                let sample = &mut stream.sample;
                let payload = u64::from(header.payload);
                sample.packets_sent += 1;
                sample.bytes_sent += payload;
                sample.header_bytes_sent +=
                    u64::from(leaving.wire.saturating_sub(sizes::LOWER)).saturating_sub(payload);
                sample.retransmitted_packets_sent += u64::from(again);
                sample.retransmitted_bytes_sent += if again { payload } else { 0 };
                self.retransmitted += u64::from(again);
                if !again && kind != StreamKind::Audio && header.marker {
                    sample.frames_sent += 1;
                    sample.frames_encoded += 1;
                    sample.key_frames_encoded += u64::from(header.key);
                }
                let body = header.body(self.sent as u32, leaving.created);
                self.put(leaving.wire, kind, ecn, body, out);
            }
            let due = self.report <= now && !self.stopped;
            if due {
                self.report = Instant::NEVER;
            }
            for (kind, stream) in KINDS.into_iter().zip(&mut pair.streams).filter(|_| due) {
                let Some(stream) = stream else { continue };
                if stream.report <= now {
                    let interval = if kind == StreamKind::Audio { self.report_audio } else { self.report_video };
                    stream.report = now + interval.scaled(0.5 + self.random.uniform());
                    let ssrc = stream.ssrc(Role::Media).number();
                    let report = SenderReport {
                        ssrc,
                        ntp: time::ntp(now),
                        rtp: stream.timestamp(now),
                        packets: stream.sample.packets_sent as u32,
                        octets: stream.sample.bytes_sent as u32,
                        blocks: Vec::new(),
                    };
                    let name = Description { ssrc, name: "server".to_owned() };
                    let mut bytes = std::mem::take(&mut self.bytes);
                    if compound::write(&[Rtcp::SenderReport(report), Rtcp::Description(name)], &mut bytes).is_ok() {
                        let body = control_body(&self.forward, &bytes, self.sent as u32, now);
                        self.put(sizes::control(bytes.len()), kind, ecn, body, out);
                    }
                    self.bytes = bytes;
                }
                self.report = self.report.min(stream.report);
            }
        }
        self.deadline = if self.stopped { Instant::NEVER } else { self.report };
        if self.leads(state) {
            self.lead(now, state, out);
        }
    }

    /// Does the work of the path: the controller's timer, the choice of layers, probes.
    fn lead(&mut self, now: Instant, state: &mut State, out: &mut Output) {
        let Some(subscriber) = state.subscribers.get_mut(self.to) else { return };
        if !subscriber.is_begun() {
            return;
        }
        subscriber.awake = true;
        subscriber.on_timer(now);
        if now.span_since(subscriber.chosen) >= CHOOSE_EVERY {
            state.choose(now, self.to);
        }
        let Some((_, pair, subscriber)) = state.parties(self.from, self.to) else { return };
        let wire = sizes::VIDEO_HEADER + PADDING;
        let ecn = subscriber.ecn();
        let stream = pair.streams.iter_mut().rev().flatten().next();
        if let Some(stream) = stream {
            let kind = stream.sample.stream.kind;
            while let Some(cluster) = subscriber.probes(now, u64::from(wire)) {
                let mut header = RtpHeader {
                    ssrc: Ssrc::new(kind, 0, Role::Retransmission),
                    kind: PayloadKind::Padding,
                    sequence: stream.next_again(),
                    timestamp: stream.timestamp(now),
                    ..RtpHeader::default()
                };
                subscriber.send(now, &mut header, wire, Carries::Padding, Some(cluster));
                stream.sample.packets_sent += 1;
                stream.sample.padding_packets_sent += 1;
                stream.sample.padding_bytes_sent += u64::from(PADDING);
                stream.sample.header_bytes_sent += u64::from(wire - sizes::LOWER);
                let body = header.body(self.sent as u32, now);
                self.put(wire, kind, ecn, body, out);
            }
        }
        self.deadline = self.deadline.min(subscriber.deadline(now)).min(now + CHOOSE_EVERY);
    }

    /// Takes the samples that were due before `now`.
    fn sample(&mut self, now: Instant, state: &mut State) {
        if now < self.next_sample {
            return;
        }
        let leads = self.leads(state);
        while self.next_sample <= now {
            let at = self.next_sample;
            self.next_sample = at + SAMPLE_EVERY;
            let Some((_, pair, subscriber)) = state.parties(self.from, self.to) else { return };
            let samples = pair.streams.iter().flatten().map(|stream| stream.sample_at(at));
            self.shown.outbound.extend(samples);
            if leads {
                self.shown.transport.push(subscriber.sample(at));
            }
        }
    }

    fn on_rtcp(&mut self, now: Instant, state: &mut State, packet: &Rtcp) {
        match packet {
            Rtcp::TransportFeedback(_) => {
                let Some(subscriber) = state.subscribers.get_mut(self.to) else { return };
                let before = subscriber.target();
                let changed = subscriber.on_feedback(now, packet);
                let lower = subscriber.target() < before;
                if lower || changed && now.span_since(subscriber.chosen) >= CHOOSE_EVERY {
                    state.choose(now, self.to);
                }
            }
            Rtcp::Nack(nack) => {
                if self.nacks
                    && let Some((kind, _, Role::Media)) = Ssrc::from_number(nack.media).and_then(Ssrc::parts)
                {
                    self.on_nack(now, state, kind, &nack.sequences);
                }
            }
            Rtcp::Pli(pli) => {
                if let Some((kind, _, Role::Media)) = Ssrc::from_number(pli.media).and_then(Ssrc::parts) {
                    state.on_pli(now, (self.from, self.to), kind);
                }
            }
            Rtcp::ReceiverReport(report) => self.on_blocks(now, state, &report.blocks),
            _ => {}
        }
    }

    fn on_nack(&mut self, now: Instant, state: &mut State, kind: StreamKind, sequences: &[u16]) {
        let Some((_, pair, subscriber)) = state.parties(self.from, self.to) else { return };
        let round_trip = subscriber.repair_round_trip();
        let Some(stream) = pair.streams.get_mut(kind as usize).and_then(Option::as_mut) else { return };
        stream.sample.nack_count += 1;
        for &sequence in sequences {
            let Some((header, wire, created)) = stream.asked(now, sequence, round_trip) else { continue };
            if !subscriber.may_repair(now, u64::from(wire)) {
                return;
            }
            pair.queue.push_back(super::room::Leaving { header, wire, carries: Carries::Retransmission, created });
        }
    }

    fn on_blocks(&mut self, now: Instant, state: &mut State, blocks: &[ReportBlock]) {
        let (mut expected, mut lost, mut round_trip) = (0i64, 0i64, None);
        let Some((_, pair, subscriber)) = state.parties(self.from, self.to) else { return };
        for block in blocks {
            let Some((kind, _, Role::Media)) = Ssrc::from_number(block.ssrc).and_then(Ssrc::parts) else { continue };
            let (Some(reported), Some(stream)) =
                (self.reported.get_mut(kind as usize), pair.streams.get_mut(kind as usize).and_then(Option::as_mut))
            else {
                continue;
            };
            let since = match *reported {
                Some((highest, _)) => i64::from(block.highest.wrapping_sub(highest) as i32),
                None => i64::from(block.highest as u16) + 1,
            };
            if since < 0 {
                continue;
            }
            expected += since;
            lost += i64::from(block.lost) - i64::from(reported.map_or(0, |one| one.1));
            *reported = Some((block.highest, block.lost));
            let sample = &mut stream.sample;
            sample.remote_fraction_lost = Some(f64::from(block.fraction_lost) / 256.0);
            sample.remote_packets_lost = Some(i64::from(block.lost));
            if let Some(answered) = time::round_trip(now, block.last, block.delay) {
                sample.remote_round_trip_time = Some(answered.seconds());
                round_trip = Some(answered);
            }
        }
        if let Some(round_trip) = round_trip {
            pair.side_channel.set_round_trip(round_trip);
        }
        if expected > 0 {
            let share = (lost as f64 / expected as f64).clamp(0.0, 1.0);
            subscriber.on_report(now, share, u32::try_from(expected).unwrap_or(u32::MAX), round_trip);
        }
    }
}

impl Sender for Egress {
    fn on_start(&mut self, now: Instant, out: &mut Output) {
        let leg = &mut self.leg;
        leg.stopped = false;
        if !leg.started {
            leg.started = true;
            leg.next_sample = now + SAMPLE_EVERY;
        }
        let mut state = self.room.lock();
        state.begin(now, leg.from, leg.to);
        leg.act(now, &mut state, out);
    }

    /// Ignores units: the publisher's frames arrive over the publisher's session.
    fn on_unit(&mut self, _now: Instant, _unit: Unit, _out: &mut Output) {}

    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        let mut state = self.room.lock();
        if let Some(bytes) = self.leg.back.get(&packet.body)
            && let Ok(packets) = compound::parse(&bytes)
        {
            packets.iter().for_each(|packet| self.leg.on_rtcp(now, &mut state, packet));
        }
        self.leg.act(now, &mut state, out);
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        self.leg.act(now, &mut self.room.lock(), out);
    }

    fn deadline(&self) -> Instant {
        self.leg.deadline
    }

    fn on_stop(&mut self, now: Instant) {
        self.leg.stopped = true;
        let mut state = self.room.lock();
        self.leg.sample(now, &mut state);
        state.end(now, self.leg.from, self.leg.to);
        // The final packets leave at once.
        self.leg.deadline = now;
    }

    fn on_new_network(&mut self, now: Instant) {
        self.room.lock().on_new_network(now, self.leg.to);
    }

    fn view(&self) -> SenderView {
        let state = self.room.lock();
        let subscriber = state.subscribers.get(self.leg.to);
        let sample = subscriber.map(|subscriber| subscriber.sample(Instant::ZERO));
        SenderView {
            rate: sample.map(|sample| sample.target_bitrate),
            smoothed_rtt: sample.and_then(|sample| sample.round_trip_time),
            estimate: sample.map(|sample| Estimate::Bandwidth(sample.available_outgoing_bitrate)),
            sent: self.leg.sent,
            retransmitted: self.leg.retransmitted,
            ..SenderView::default()
        }
    }

    fn settle_media(&mut self, now: Instant) {
        if !self.leg.started {
            return;
        }
        let mut state = self.room.lock();
        self.leg.sample(now, &mut state);
        if let Some(pair) = state.pair(self.leg.from, self.leg.to) {
            self.leg.shown.totals = pair.streams.iter().flatten().map(|stream| stream.sample_at(now)).collect();
        }
    }

    fn media(&self) -> Option<&MediaSent> {
        Some(&self.leg.shown)
    }
}
