//! The TCP receiver: delivers in order, acknowledges, and reports held segments (SACK) and the rate of waves
//! (TCP-Real).
//!
//! Source: RFC 9293 §3.10 in outline; RFC 5681 §4.2 for delayed acknowledgements; RFC 2018 §4 for the choice of
//! blocks; paper 000 §3.1 for the rate of a wave.
//!
//! **Assumptions.** Every segment is acknowledged at once unless acknowledgements are delayed. With delayed
//! acknowledgements the receiver acknowledges every second segment in order, and a single segment after the
//! timeout. It acknowledges a segment out of order or in a hole at once. A segment beyond the receiver's window is
//! discarded and acknowledged. A wave's rate is the payload that arrived after its first segment, divided by the
//! time from the first to the last. A wave with fewer than two arrived segments has no rate. Segments that a
//! partially reliable sender abandons (`lifetime`) are skipped. A wave ends when the number of segments of its
//! initial window has arrived, or when a segment of a later wave arrives.

use super::TcpParameters;
use super::control::Marks;
use super::held::OutOfOrderSegments;
use super::marks::Echo;
use super::pieces::Piece;
use super::ranges::Range;
use fairwave_endpoint::{Delivery, FlowContext, Output, Receiver};
use fairwave_network::dscp::Dscp;
use fairwave_network::packet::{Body, Class, Ecn, FlowId, Packet, SackBlock};
use fairwave_units::units::{Bytes, Instant, Span};

/// The receiving half of a TCP connection. As in the sender, fields that every segment needs come first.
#[repr(C)]
pub struct TcpReceiver {
    /// The next segment expected.
    next: u32,
    /// One past the highest segment held; `next` if no segment is held out of order.
    top: u32,
    window: u32,
    flow: FlowId,
    acknowledgement: u16,
    class: Class,
    dscp: Dscp,
    sack: bool,
    /// Reports of ECN marks.
    echo: Echo,
    acknowledge_at: Instant,
    /// Longest delay of an acknowledgement; zero without delayed acknowledgements.
    delay: Span,
    /// Number of further segments that are acknowledged at once although acknowledgements are delayed.
    at_once: u32,
    /// Echo of the delayed acknowledgement; [`Instant::NEVER`] if there is none.
    waiting: Instant,
    /// SACK blocks as last reported, newest first.
    blocks: [SackBlock; 3],
    held: OutOfOrderSegments,
    /// For senders that send in waves.
    wave: Option<Box<SegmentWave>>,
}

/// The current wave, and the rate of the last one.
#[derive(Clone, Copy, Debug, Default)]
struct SegmentWave {
    id: u16,
    /// Segments of the current wave so far.
    arrived: u16,
    began: Instant,
    last: Instant,
    /// Payload after the first segment.
    payload: u64,
    /// The wave has its full number of segments; later ones are ignored.
    full: bool,
    /// The last wave with a rate, and the rate in bits per second.
    measured: u16,
    rate: f32,
}

impl SegmentWave {
    fn on_segment(&mut self, now: Instant, id: u16, size: u16, payload: u16) {
        if id != self.id || self.arrived == 0 {
            if id.wrapping_sub(self.id) > u16::MAX / 2 {
                return; // a late segment of an earlier wave
            }
            self.close();
            let SegmentWave { measured, rate, .. } = *self;
            *self = SegmentWave { id, arrived: 1, began: now, measured, rate, ..SegmentWave::default() };
        } else if !self.full {
            self.arrived = self.arrived.saturating_add(1);
            self.payload += u64::from(payload);
            self.last = now;
        }
        if self.arrived >= size && !self.full {
            self.close();
            self.full = true;
        }
    }

    fn close(&mut self) {
        let elapsed = self.last.span_since(self.began);
        if self.payload > 0 && elapsed > Span::ZERO {
            self.rate = Bytes::new(self.payload).rate_over(elapsed).bits_per_second() as f32;
            self.measured = self.id;
        }
        self.payload = 0;
    }
}

impl TcpReceiver {
    /// Creates the receiver of a flow.
    pub fn new(context: FlowContext, parameters: &TcpParameters) -> Self {
        let first = u32::from(!parameters.handshake);
        TcpReceiver {
            flow: context.flow,
            class: context.class,
            dscp: context.dscp,
            acknowledgement: parameters.acknowledgement,
            window: parameters.receiver_window,
            sack: parameters.sends_sack(),
            delay: parameters.delayed_ack.unwrap_or(Span::ZERO),
            echo: Echo::new(parameters.marks),
            at_once: parameters.quick_acks,
            next: first,
            top: first,
            held: OutOfOrderSegments::default(),
            blocks: [SackBlock::default(); 3],
            wave: parameters.waves.then(Box::default),
            waiting: Instant::NEVER,
            acknowledge_at: Instant::NEVER,
        }
    }

    #[inline]
    fn deliver(&mut self, piece: Piece, out: &mut Output) {
        out.deliveries.push(Delivery {
            unit: piece.unit,
            payload: u32::from(piece.payload),
            created: piece.created,
            layer: piece.layer,
            complete: piece.last,
        });
    }

    /// Returns true for the first segments, which are acknowledged at once.
    fn take_quick(&mut self) -> bool {
        let quick = self.at_once > 0;
        self.at_once -= u32::from(quick);
        quick
    }

    /// Sends an acknowledgement, which also covers delayed ones.
    #[inline(never)]
    fn acknowledge_all(&mut self, echo: Instant, out: &mut Output) {
        self.waiting = Instant::NEVER;
        self.acknowledge_at = Instant::NEVER;
        self.acknowledge(echo, out);
    }

    /// Sends an acknowledgement if none is delayed. Always inlined: without delayed acknowledgements it follows
    /// each segment.
    #[inline(always)]
    fn acknowledge(&self, echo: Instant, out: &mut Output) {
        let (rate, wave) = self.wave.as_ref().map_or((0.0, 0), |wave| (wave.rate, wave.measured));
        let sack = if self.sack { self.blocks } else { [SackBlock::default(); 3] };
        out.send(Packet {
            flow: self.flow,
            wire: self.acknowledgement,
            class: self.class,
            dscp: self.dscp,
            feedback: true,
            ecn: Ecn::NotEct,
            layer: 0,
            body: Body::Ack {
                next: self.next,
                echo,
                rate,
                wave,
                congestion_echo: self.echo.stands,
                marked: self.echo.counted,
                sack,
            },
        });
    }

    /// Moves the block that contains `segment` to the front, and keeps the other separate blocks (RFC 2018 §4).
    fn report(&mut self, segment: u32) {
        if !self.sack {
            return;
        }
        let Some(Range { first, end }) = self.held.ranges.range_of(segment) else { return };
        let block = SackBlock { first, end };
        let older = self.blocks;
        self.blocks = [block, SackBlock::default(), SackBlock::default()];
        let apart = older.iter().filter(|b| b.end > b.first && (b.end < block.first || b.first > block.end));
        for (place, kept) in self.blocks[1..].iter_mut().zip(apart) {
            *place = *kept;
        }
    }

    /// Handles a segment out of order, or any segment while others are held: it fills a gap, is held, or is discarded.
    #[inline(never)]
    fn take_in_disorder(&mut self, sequence: u32, piece: Piece, out: &mut Output) {
        if sequence == self.next {
            self.next += 1;
            if sequence > 0 {
                self.deliver(piece, out);
            }
            let end = self.held.end_of_run(self.next);
            for segment in self.next..end {
                self.deliver(self.held.piece(segment), out);
            }
            self.next = end;
            self.held.remove_before(end);
            self.forget_blocks();
        } else if sequence > self.next
            && sequence - self.next < self.window
            && self.held.ranges.range_of(sequence).is_none()
        {
            self.held.put(self.next, sequence, piece);
            self.top = self.top.max(sequence + 1);
            self.report(sequence);
        }
    }

    /// Handles the abandonment of everything before `next`: discards held segments of that range, which are as
    /// old, and delivers the following ones.
    #[inline(never)]
    fn move_on(&mut self, next: u32, out: &mut Output) {
        if self.next == 0 || next <= self.next || next - self.next > self.window {
            return;
        }
        self.held.ranges.remove_before(next);
        let end = self.held.end_of_run(next);
        for segment in next..end {
            self.deliver(self.held.piece(segment), out);
        }
        self.next = end;
        self.top = self.top.max(end);
        self.held.remove_before(end);
        self.forget_blocks();
    }

    /// Removes blocks that the cumulative acknowledgement has reached.
    fn forget_blocks(&mut self) {
        if self.blocks[0].end == self.blocks[0].first {
            return;
        }
        let older = self.blocks;
        self.blocks = [SackBlock::default(); 3];
        for (place, kept) in self.blocks.iter_mut().zip(older.iter().filter(|b| b.end > b.first && b.first > self.next))
        {
            *place = *kept;
        }
        // RFC 2018 §4: acknowledgements report held data while there is any, even if its block has left the list.
        if self.blocks[0].end == self.blocks[0].first && self.top > self.next {
            self.report(self.top - 1);
        }
    }
}

impl Receiver for TcpReceiver {
    #[inline(always)] // on the path of every data packet
    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        let Body::Segment { payload, sequence, unit, wave, wave_size, window_reduced, last, sent, created, .. } =
            packet.body
        else {
            if let Body::Forward { next, sent } = packet.body {
                self.move_on(next, out);
                self.acknowledge_all(sent, out);
            }
            return;
        };
        if let Some(waves) = &mut self.wave {
            waves.on_segment(now, wave, wave_size, payload);
        }
        // A mark outside the window has no meaning (RFC 3168 §6.1.5).
        let marks_change = self.echo.marks != Marks::None
            && (1..self.next.saturating_add(self.window)).contains(&sequence)
            && sequence >= self.next
            && self.echo.on_segment(packet.ecn, window_reduced);
        let piece = Piece { created, unit, payload, layer: packet.layer, last };
        let at_once = if sequence == self.next && self.top == sequence {
            self.next += 1;
            self.top = self.next;
            if sequence > 0 {
                self.deliver(piece, out);
            }
            sequence == 0
        } else {
            self.take_in_disorder(sequence, piece, out);
            true
        };
        if self.delay == Span::ZERO {
            self.acknowledge(sent, out);
            return;
        }
        let at_once = at_once || marks_change || self.take_quick();
        match self.waiting {
            _ if at_once => self.acknowledge_all(sent, out),
            Instant::NEVER => {
                self.waiting = sent;
                self.acknowledge_at = now + self.delay;
            }
            // RFC 7323 §4.3: a delayed acknowledgement echoes the earliest segment that it covers.
            earlier => self.acknowledge_all(earlier, out),
        }
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        if now >= self.acknowledge_at && self.waiting < Instant::NEVER {
            self.acknowledge_all(self.waiting, out);
        }
    }

    #[inline]
    fn deadline(&self) -> Instant {
        self.acknowledge_at
    }

    #[inline]
    fn is_reactive(&self) -> bool {
        self.delay == Span::ZERO
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Flavour, TcpConfig};
    use super::*;

    fn undelayed() -> TcpConfig {
        TcpConfig { delayed_ack: Some(false), ..TcpConfig::rfc() }
    }

    fn receiver(config: TcpConfig) -> TcpReceiver {
        TcpReceiver::new(FlowContext::default(), &config.parameters(Flavour::Sack))
    }

    fn segment(sequence: u32) -> Packet {
        waving(sequence, 0, 0)
    }

    #[test]
    fn given_up_segments_are_skipped_and_the_next_are_delivered() {
        let (mut receiver, mut out) = (receiver(TcpConfig::rfc()), Output::default());
        let forward = |next| Packet { body: Body::Forward { next, sent: Instant::ZERO }, ..segment(0) };
        for sequence in [0, 1, 3, 5, 6] {
            receiver.on_packet(Instant::ZERO, &segment(sequence), &mut out);
        }
        out.clear();
        // Segments 2 to 4 are abandoned. 3 is held, but as old, and is dropped; 5 and 6 are next.
        receiver.on_packet(Instant::ZERO, &forward(5), &mut out);
        assert_eq!(out.deliveries.iter().map(|delivery| delivery.unit).collect::<Vec<_>>(), [5, 6]);
        let acknowledged = |out: &Output| match out.packets.last().map(|packet| packet.body) {
            Some(Body::Ack { next, sack, .. }) => (next, sack[0]),
            _ => (0, SackBlock::default()),
        };
        assert_eq!(acknowledged(&out), (7, SackBlock::default()));
        out.clear();
        // Past values, and values beyond any window, have no effect.
        for next in [3, u32::MAX] {
            receiver.on_packet(Instant::ZERO, &forward(next), &mut out);
        }
        receiver.on_packet(Instant::ZERO, &segment(2), &mut out);
        assert!(out.deliveries.is_empty());
        assert_eq!(acknowledged(&out).0, 7);
    }

    fn waving(sequence: u32, wave: u16, wave_size: u16) -> Packet {
        Packet {
            flow: FlowId(0),
            wire: 1040,
            class: Class::Tcp,
            dscp: Default::default(),
            feedback: false,
            ecn: Ecn::NotEct,
            layer: 0,
            body: Body::Segment {
                payload: 1000,
                sequence,
                unit: sequence,
                wave,
                wave_size,
                retransmission: false,
                window_reduced: false,
                last: true,
                sent: Instant::from_nanos(u64::from(sequence)),
                created: Instant::ZERO,
            },
        }
    }

    /// The acknowledgements after each of these segments: (next, blocks).
    fn acknowledgements(receiver: &mut TcpReceiver, segments: &[u32]) -> Vec<(u32, Vec<(u32, u32)>)> {
        let mut out = Output::default();
        for &sequence in segments {
            receiver.on_packet(Instant::ZERO, &segment(sequence), &mut out);
        }
        let blocks = |sack: &[SackBlock; 3]| {
            sack.iter().filter(|b| b.end > b.first).map(|b| (b.first, b.end)).collect::<Vec<_>>()
        };
        let read = |packet: &Packet| match &packet.body {
            Body::Ack { next, sack, .. } => Some((*next, blocks(sack))),
            _ => None,
        };
        out.packets.iter().filter_map(read).collect()
    }

    #[test]
    fn a_delayed_acknowledgement_echoes_the_earliest_segment_that_it_covers_and_any_other_the_latest() {
        // RFC 7323 §4.3. Each segment's number is its sending time in nanoseconds.
        let echoes = |delayed| {
            let mut receiver = receiver(TcpConfig { delayed_ack: Some(delayed), ..TcpConfig::rfc() });
            let mut out = Output::default();
            for sequence in [0, 1, 2, 3, 4] {
                receiver.on_packet(Instant::ZERO, &segment(sequence), &mut out);
            }
            let echo = |packet: &Packet| match packet.body {
                Body::Ack { next, echo, .. } => (next, echo.nanos()),
                _ => (0, 0),
            };
            out.packets.iter().map(echo).collect::<Vec<_>>()
        };
        assert_eq!(echoes(false), [(1, 0), (2, 1), (3, 2), (4, 3), (5, 4)]);
        // The SYN is acknowledged at once.
        assert_eq!(echoes(true), [(1, 0), (3, 1), (5, 3)]);
    }

    #[test]
    fn blocks_are_reported_newest_first() {
        // RFC 2018 §4: the first block contains the latest segment, the others are as last reported.
        let acks = acknowledgements(&mut receiver(undelayed()), &[0, 1, 3, 5, 6, 8, 2, 4]);
        assert_eq!(acks[2], (2, vec![(3, 4)]));
        assert_eq!(acks[3], (2, vec![(5, 6), (3, 4)]));
        assert_eq!(acks[4], (2, vec![(5, 7), (3, 4)]));
        assert_eq!(acks[5], (2, vec![(8, 9), (5, 7), (3, 4)]));
        assert_eq!(acks[6], (4, vec![(8, 9), (5, 7)]));
        assert_eq!(acks[7], (7, vec![(8, 9)]));
    }

    #[test]
    fn a_delaying_receiver_acknowledges_every_second_segment_and_disorder_at_once() {
        let delayed = TcpConfig { delayed_ack: Some(true), ..TcpConfig::rfc() };
        let mut receiver = receiver(delayed);
        assert!(!receiver.is_reactive());
        let acks = acknowledgements(&mut receiver, &[0, 1, 2, 3, 5, 4]);
        assert_eq!(acks.iter().map(|(next, _)| *next).collect::<Vec<_>>(), [1, 3, 4, 6]);
    }

    #[test]
    fn rfc_5681_section_4_2_every_segment_of_a_gap_that_fills_is_acknowledged_at_once() {
        let mut receiver = receiver(TcpConfig { delayed_ack: Some(true), ..TcpConfig::rfc() });
        // 5 and 7 come too early; 3 and 4 fill the first gap, 6 the second. Then every second segment is
        // acknowledged again.
        let acks = acknowledgements(&mut receiver, &[0, 1, 2, 5, 7, 3, 4, 6, 8, 9]);
        assert_eq!(acks.iter().map(|(next, _)| *next).collect::<Vec<_>>(), [1, 3, 3, 3, 4, 6, 8, 10]);
    }

    /// The acknowledgements after each segment: (next, echo, count).
    fn marked(receiver: &mut TcpReceiver, segments: &[(u32, Ecn)]) -> Vec<(u32, bool, u32)> {
        let mut out = Output::default();
        for &(sequence, ecn) in segments {
            receiver.on_packet(Instant::ZERO, &Packet { ecn, ..segment(sequence) }, &mut out);
        }
        let read = |packet: &Packet| match packet.body {
            Body::Ack { next, congestion_echo, marked, .. } => (next, congestion_echo, marked),
            _ => (0, false, 0),
        };
        out.packets.iter().map(read).collect()
    }

    #[test]
    fn rfc_8257_section_3_2_a_delayed_acknowledgement_leaves_when_marks_begin_or_end() {
        let config = |marks| TcpConfig { delayed_ack: Some(true), ecn: Some(marks), ..TcpConfig::rfc() };
        let (clear, mark) = (Ecn::Ect0, Ecn::Ce);
        let segments =
            [(0, Ecn::NotEct), (1, clear), (2, mark), (3, mark), (4, mark), (5, clear), (6, clear), (7, clear)];
        let acks = marked(&mut receiver(config(Marks::Accurate)), &segments);
        assert_eq!(acks, [(1, false, 0), (3, false, 1), (5, false, 3), (6, false, 3), (8, false, 3)]);
        let classic = marked(&mut receiver(config(Marks::Classic)), &segments);
        assert_eq!(classic, [(1, false, 0), (3, true, 0), (5, true, 0), (7, true, 0)], "every second one as ever");
    }

    #[test]
    fn rfc_3168_section_6_1_5_a_mark_outside_the_window_says_nothing() {
        for marks in [Marks::Classic, Marks::Accurate] {
            let config = TcpConfig { receiver_window: Some(4), ecn: Some(marks), ..undelayed() };
            let acks = marked(&mut receiver(config), &[(0, Ecn::Ce), (1, Ecn::Ect0), (1, Ecn::Ce), (6, Ecn::Ce)]);
            assert!(acks.iter().all(|&(_, echo, count)| !echo && count == 0), "{marks:?}: {acks:?}");
            let config = TcpConfig { receiver_window: Some(4), ecn: Some(marks), ..undelayed() };
            let acks = marked(&mut receiver(config), &[(0, Ecn::NotEct), (1, Ecn::Ect0), (5, Ecn::Ce)]);
            assert_eq!(
                acks[2],
                (2, marks == Marks::Classic, u32::from(marks == Marks::Accurate)),
                "5 is within 2 to 5"
            );
        }
    }

    #[test]
    fn segments_outside_the_window_and_repeats_are_discarded_and_acknowledged() {
        let mut receiver = receiver(TcpConfig { receiver_window: Some(4), ..TcpConfig::rfc() });
        let acks = acknowledgements(&mut receiver, &[0, 5, 4, 4, 1, 1]);
        assert_eq!(acks[1], (1, vec![]), "5 is beyond 1 to 4");
        assert_eq!(acks[2], (1, vec![(4, 5)]));
        assert_eq!(acks[3], (1, vec![(4, 5)]));
        assert_eq!((acks[4].0, acks[5].0), (2, 2));
    }

    #[test]
    fn default_window_holds_everything_in_flight_on_a_fast_path() {
        let mut receiver = receiver(TcpConfig::rfc());
        acknowledgements(&mut receiver, &[0]);
        let mut out = Output::default();
        for sequence in 2..200_000 {
            receiver.on_packet(Instant::ZERO, &segment(sequence), &mut out);
        }
        assert!(out.deliveries.is_empty());
        out.packets.clear();
        receiver.on_packet(Instant::ZERO, &segment(1), &mut out);
        assert_eq!((out.deliveries.len(), out.deliveries[199_998].unit), (199_999, 199_999));
        assert!(matches!(out.packets[..], [Packet { body: Body::Ack { next: 200_000, .. }, .. }]));
    }

    #[test]
    fn a_single_segment_is_acknowledged_after_the_delay() {
        let mut receiver = receiver(TcpConfig { delayed_ack: Some(true), ..TcpConfig::rfc() });
        let mut out = Output::default();
        receiver.on_packet(Instant::ZERO, &segment(0), &mut out);
        receiver.on_packet(Instant::ZERO, &segment(1), &mut out);
        assert_eq!((out.packets.len(), receiver.deadline()), (1, Instant::ZERO + Span::from_millis(100)));
        receiver.on_timer(receiver.deadline(), &mut out);
        assert_eq!((out.packets.len(), receiver.deadline()), (2, Instant::NEVER));
    }

    #[test]
    fn a_waves_rate_is_its_payload_over_its_time() {
        let mut receiver = TcpReceiver::new(FlowContext::default(), &undelayed().parameters(Flavour::Real));
        let mut out = Output::default();
        for n in 0..5u32 {
            // 1000 bytes every 4 ms: 2 Mb/s.
            let now = Instant::ZERO + Span::from_millis(u64::from(n) * 4);
            receiver.on_packet(now, &waving(n, 7, 5), &mut out);
        }
        let Some(Packet { body: Body::Ack { rate, wave, .. }, .. }) = out.packets.last() else { panic!("no ack") };
        assert_eq!((*rate, *wave), (2e6, 7));
        // A wave with one segment has no rate, so the previous rate remains.
        receiver.on_packet(Instant::ZERO + Span::from_millis(40), &waving(5, 8, 3), &mut out);
        let fields = |out: &Output| match out.packets.last().map(|packet| packet.body) {
            Some(Body::Ack { rate, wave, .. }) => (rate, wave),
            _ => (0.0, 0),
        };
        assert_eq!(fields(&out), (2e6, 7));
        // Measured from the wave's first segment, by the later arrivals: 1000 B in 8 ms, then the same again.
        for (n, millis) in [(6, 48), (7, 56)] {
            receiver.on_packet(Instant::ZERO + Span::from_millis(millis), &waving(n, 8, 3), &mut out);
        }
        assert_eq!(fields(&out), (1e6, 8));
    }

    proptest! {
        #[test]
        fn units_arrive_once_and_in_order(
            mut order in Just((1u32..60).collect::<Vec<_>>()).prop_shuffle(),
            again in proptest::collection::vec((0usize..59, 1u32..60), 0..40),
            delayed in any::<bool>(),
        ) {
            for (place, segment) in again {
                order.insert(place, segment);
            }
            // Lost segments come again, as from a sender.
            order.extend(1..60);
            let config = TcpConfig { delayed_ack: Some(delayed), ..TcpConfig::rfc() };
            let mut receiver = receiver(config);
            let mut out = Output::default();
            receiver.on_packet(Instant::ZERO, &segment(0), &mut out);
            for sequence in order {
                receiver.on_packet(Instant::ZERO, &segment(sequence), &mut out);
            }
            let units: Vec<u32> = out.deliveries.iter().map(|d| d.unit).collect();
            prop_assert_eq!(units, (1..60).collect::<Vec<_>>());
        }
    }
}
