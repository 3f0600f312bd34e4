//! The one TCP sender. It numbers segments, keeps what they carry until it is acknowledged, runs the retransmission timer
//! and hands every question of *how much* to its controller and of *what again* to its recovery (`recovery/`).
//!
//! Source: RFC 9293 in outline (one direction, no closing handshake), RFC 5681, 6298, 3042; ns-2.35 where the preset says so.
//!
//! **Assumptions.** Segments are numbered, not bytes; the SYN is segment 0, data starts at 1. A unit of the application is a
//! segment of its own, and is cut only if it is longer than the configured segment; units are not joined (no Nagle). Units wait
//! here, without limit, until the window lets them go. The receiver's window is constant: its application reads at once.
//! After `on_stop` units that have not been sent never are; what was sent is still repaired.

use std::sync::Arc;

use super::TcpParameters;
use super::control::{Control, Controller, Path, Verdict, Window};
use super::recovery::scoreboard::Scoreboard;
use super::recovery::vegas::FineTimers;
use super::recovery::{Episode, Recovery};
use super::rtt::RttEstimator;
use super::units::{Piece, Pieces};
use crate::packet::{Body, Class, FlowId, Packet};
use crate::random::Stream;
use crate::traffic::Unit;
use crate::transport::{FlowContext, Output, Sender, SenderView};
use crate::units::{Instant, Rate, Span};

/// The sending half of a TCP connection.
///
/// The fields stand in the order in which they are needed: what every acknowledgement reads comes first and together, since
/// with many connections each line of it is fetched from memory anew. What connections have in common is kept once.
#[repr(C)]
pub struct TcpSender {
    /// First segment that is not acknowledged.
    pub(super) una: u32,
    /// Segment to send next; falls back to `una` on timeout.
    pub(super) next: u32,
    /// One past the highest segment sent.
    pub(super) max: u32,
    /// One past the last segment that there is to send.
    pub(super) limit: u32,
    /// `max` when the last loss was found: recovery lasts until it is acknowledged.
    pub(super) recover: u32,
    pub(super) duplicates: u32,
    /// Segments that fast recovery adds to the window.
    pub(super) inflation: u32,
    pub(super) episode: Episode,
    /// The loss under repair was judged random: the window is not to be deflated.
    pub(super) kept_window: bool,
    pub(super) first_partial: bool,
    /// Duplicates mean nothing until the repair after a timeout brings new data.
    pub(super) duplicates_ignored: bool,
    pub(super) window: Window,
    retransmit_at: Instant,
    /// When the randomly delayed sending happens.
    send_at: Instant,
    pub(super) parameters: Arc<TcpParameters>,
    /// The timer has gone off since the last acknowledgement of new data.
    timed_out: bool,
    started: bool,
    stopped: bool,
    pub(super) scoreboard_used: bool,
    bulk: bool,
    class: Class,
    flow: FlowId,
    sent: u64,
    echo: Instant,
    pub(super) rtt: RttEstimator,
    pub(super) path: Path,
    pub(super) control: Control,
    /// Estimate of the segments in the network during SACK recovery.
    pub(super) pipe: u32,
    /// One past the last segment handed over by the application.
    handed: u32,
    /// What the segments carry; bulk data needs no note of it.
    pieces: Pieces,
    wave: u16,
    wave_size: u16,
    /// The wave ends when this segment is acknowledged: it was the next to be sent when the wave began.
    wave_end: u32,
    pub(super) fine: Option<Box<FineTimers>>,
    pub(super) scoreboard: Scoreboard,
    /// From here on the connection has been idle for longer than a timeout.
    idle_at: Instant,
    /// Congestion window after the handshake, segments; a lost SYN lowers it.
    initial_window: f64,
    retransmitted: u64,
    timeouts: u64,
    fast_retransmits: u64,
    stream: Stream,
}

impl TcpSender {
    /// A sender of `context`'s flow. `stream` is used for the phase of the coarse clock and the random delay of sending.
    pub fn new(context: FlowContext, parameters: Arc<TcpParameters>, control: Control, mut stream: Stream) -> Self {
        let phase = stream.span_between(Span::ZERO, parameters.rto.tick);
        let first = u32::from(!parameters.handshake);
        let room = parameters.receiver_window.saturating_add(1);
        TcpSender {
            una: first,
            next: first,
            max: first,
            limit: if context.bulk { u32::MAX } else { 1 },
            recover: 0,
            duplicates: 0,
            inflation: 0,
            pipe: 0,
            episode: Episode::None,
            kept_window: false,
            first_partial: false,
            scoreboard_used: false,
            duplicates_ignored: false,
            timed_out: false,
            started: false,
            stopped: false,
            window: Window {
                congestion: if parameters.handshake { 1.0 } else { parameters.initial_window },
                threshold: parameters.initial_threshold,
            },
            retransmit_at: Instant::NEVER,
            send_at: Instant::NEVER,
            idle_at: Instant::NEVER,
            echo: Instant::ZERO,
            path: Path::new(u32::from(parameters.segment)),
            rtt: RttEstimator::new(&parameters.rto, phase),
            control,
            pieces: Pieces::new(if context.bulk { 0 } else { room }),
            handed: 1,
            scoreboard: Scoreboard::default(),
            fine: (parameters.recovery == Recovery::Vegas)
                .then(|| Box::new(FineTimers::new(parameters.receiver_window))),
            initial_window: parameters.initial_window,
            parameters,
            bulk: context.bulk,
            class: context.class,
            flow: context.flow,
            wave: 0,
            wave_size: 0,
            wave_end: 0,
            sent: 0,
            retransmitted: 0,
            timeouts: 0,
            fast_retransmits: 0,
            stream,
        }
    }

    /// The window in whole segments that the sender may use now.
    #[inline]
    fn usable(&self) -> u32 {
        (self.window.congestion as u32).saturating_add(self.inflation).min(self.parameters.receiver_window)
    }

    /// What a decrease starts from, see [`Path::in_use`].
    fn in_use(&self) -> f64 {
        let inflated = self.window.congestion + f64::from(self.inflation);
        if self.parameters.decrease_from_flight {
            f64::from(self.max - self.una).min(inflated).max(1.0)
        } else {
            inflated.min(f64::from(self.parameters.receiver_window))
        }
    }

    /// Sends what the window allows, or arranges to do so after a random delay.
    #[inline]
    pub(super) fn send_allowed(&mut self, now: Instant, out: &mut Output) {
        self.send_burst(now, u32::MAX, out);
    }

    /// As [`Self::send_allowed`], at most `burst` segments.
    #[inline]
    pub(super) fn send_burst(&mut self, now: Instant, burst: u32, out: &mut Output) {
        if self.parameters.jitter > Span::ZERO {
            if self.send_at == Instant::NEVER && (self.in_pipe_mode() || self.next < self.reach()) {
                self.send_at = now + self.stream.span_between(Span::ZERO, self.parameters.jitter);
            }
            return;
        }
        self.send_now(now, burst, out);
    }

    fn in_pipe_mode(&self) -> bool {
        self.parameters.recovery == Recovery::Sack && self.episode == Episode::FastRecovery
    }

    /// One past the last segment that window and application allow.
    #[inline]
    fn reach(&self) -> u32 {
        self.una.saturating_add(self.usable()).min(self.limit)
    }

    #[inline]
    fn send_now(&mut self, now: Instant, burst: u32, out: &mut Output) {
        if self.in_pipe_mode() {
            self.send_pipe(now, out);
            return;
        }
        let end = self.reach().min(self.next.saturating_add(burst));
        while self.next < end {
            let segment = self.next;
            self.next += 1;
            self.transmit(now, segment, out);
        }
    }

    /// Limited transmit (RFC 3042): one new segment for each of the first two duplicates.
    pub(super) fn limited_transmit(&mut self, now: Instant, out: &mut Output) {
        let receiver = self.una.saturating_add(self.parameters.receiver_window);
        let end =
            self.una.saturating_add((self.window.congestion as u32).saturating_add(self.duplicates)).min(receiver);
        if self.parameters.limited_transmit && self.next < end.min(self.limit) {
            let segment = self.next;
            self.next += 1;
            self.transmit(now, segment, out);
        }
    }

    /// Whether three duplicates may be taken for a loss: not again for what was in flight at the last one.
    pub(super) fn may_retransmit_fast(&self) -> bool {
        self.una > self.recover || (!self.parameters.careful && self.una != self.recover) || self.una == 1
    }

    /// Asks the controller about a loss of the first unacknowledged segment.
    pub(super) fn ask_on_loss(&mut self, now: Instant, transmissions: u32) -> Verdict {
        self.path.now = now;
        self.path.in_use = self.in_use();
        self.path.transmissions = transmissions;
        self.path.timed_out_before = self.timed_out;
        let verdict = self.control.on_loss(&self.path, &mut self.window);
        if verdict == Verdict::Congestion {
            self.fast_retransmits += 1;
        }
        verdict
    }

    /// Sends the first unacknowledged segment again and restarts the timer.
    pub(super) fn retransmit_first(&mut self, now: Instant, out: &mut Output) {
        self.rtt.distrust();
        self.restart_timer(now);
        let una = self.una;
        self.transmit(now, una, out);
        if self.next == una {
            self.next = una + 1;
        }
    }

    #[inline]
    pub(super) fn restart_timer(&mut self, now: Instant) {
        self.retransmit_at = now + self.rtt.timeout(&self.parameters.rto);
    }

    /// Everything before `next` is acknowledged.
    #[inline]
    pub(super) fn move_to(&mut self, next: u32) {
        self.una = next;
        if self.next < next {
            self.next = next;
        }
        self.timed_out = false;
        self.duplicates_ignored = false;
    }

    /// A partial acknowledgement within a recovery: moves on and notes the round trip as far as the clock allows.
    pub(super) fn move_partially(&mut self, now: Instant, next: u32) {
        self.move_to(next);
        self.rtt.acknowledged_partially(&self.parameters.rto, now, next, self.echo);
    }

    /// Everything before `next` is acknowledged: duplicates, round trip and timer follow.
    #[inline]
    pub(super) fn advance(&mut self, now: Instant, next: u32) {
        self.duplicates = 0;
        self.move_to(next);
        self.rtt.acknowledged(&self.parameters.rto, now, next, self.echo);
        if self.una == self.max {
            self.retransmit_at = Instant::NEVER;
            self.idle_at = now + self.rtt.timeout(&self.parameters.rto);
        } else {
            self.restart_timer(now);
        }
    }

    /// The controller opens the window; the acknowledgement of the SYN sets the initial one, and is no business of its.
    #[inline]
    pub(super) fn open_window(&mut self) {
        // ns-2's Vegas begins with one segment, and takes up the initial window when that is acknowledged.
        let late = self.parameters.like_ns2 && self.parameters.recovery == Recovery::Vegas;
        if self.una == 1 && self.parameters.handshake {
            self.window.congestion = if late { 1.0 } else { self.initial_window };
        } else {
            if late && self.una == 2 && self.parameters.handshake && self.window.congestion < 2.0 {
                self.window.congestion = self.initial_window;
            }
            self.control.on_ack(&self.path, &mut self.window);
        }
    }

    /// The controller hears of an acknowledgement that does not open the window.
    #[inline]
    pub(super) fn note_ack(&mut self) {
        self.control.on_other_ack(&self.path, &mut self.window);
    }

    /// Puts `segment` on the network.
    #[inline]
    pub(super) fn transmit(&mut self, now: Instant, segment: u32, out: &mut Output) {
        let again = segment < self.max;
        let piece = if segment == 0 {
            Piece { created: now, ..Piece::default() }
        } else if self.bulk {
            Piece { created: now, unit: segment - 1, payload: self.parameters.segment, layer: 0, last: true }
        } else {
            self.pieces.get(segment)
        };
        if again {
            self.retransmitted += 1;
            self.rtt.sent_again(segment);
        } else {
            self.max = segment + 1;
            self.rtt.sent_new(now, segment);
        }
        if let Some(fine) = &mut self.fine {
            fine.on_sent(now, segment, again);
        }
        if self.parameters.waves {
            self.begin_wave_if_due();
        }
        self.sent += 1;
        self.path.payload = u32::from(if segment == 0 { self.parameters.segment } else { piece.payload });
        out.packets.push(Packet {
            flow: self.flow,
            wire: self.parameters.header + piece.payload,
            class: self.class,
            feedback: false,
            layer: piece.layer,
            body: Body::Segment {
                payload: piece.payload,
                sequence: segment,
                unit: piece.unit,
                wave: self.wave,
                wave_size: self.wave_size,
                retransmission: again,
                last: piece.last,
                sent: now,
                created: piece.created,
            },
        });
        if self.retransmit_at == Instant::NEVER {
            self.restart_timer(now);
        }
    }

    /// A wave is a round of the window: what is sent until its first segment is acknowledged.
    fn begin_wave_if_due(&mut self) {
        if self.una >= self.wave_end {
            self.wave = self.wave.wrapping_add(1);
            self.wave_size = self.usable().clamp(1, u32::from(u16::MAX)) as u16;
            self.wave_end = self.max.max(1);
        }
    }

    fn on_timeout(&mut self, now: Instant, out: &mut Output) {
        if self.una == self.max {
            self.retransmit_at = Instant::NEVER;
            return;
        }
        self.timeouts += 1;
        self.path.timed_out_before = self.timed_out;
        self.timed_out = true;
        self.duplicates = 0;
        if self.parameters.recovery == Recovery::Vegas && self.parameters.like_ns2 {
            self.window.congestion += f64::from(self.inflation);
        }
        self.inflation = 0;
        self.first_partial = false;
        self.scoreboard_used = false;
        self.recover = self.max;
        self.path.now = now;
        self.path.in_use = self.in_use();
        if let Some(fine) = &mut self.fine {
            fine.on_timeout(now);
        }
        if self.una == 0 && !self.parameters.like_ns2 {
            // A lost SYN says little of the path: the connection starts carefully (RFC 5681 §3.1), no more.
            self.initial_window = 1.0;
        } else if self.control.on_timeout(&self.path, &mut self.window) == Verdict::Random {
            self.episode = Episode::Recovered;
            if self.parameters.recovery == Recovery::Newreno {
                self.episode = Episode::FastRecovery;
                self.kept_window = true;
            }
            self.retransmit_first(now, out);
            return;
        }
        self.episode = Episode::Timeout;
        self.duplicates_ignored = true;
        self.rtt.expired(&self.parameters.rto);
        self.restart_timer(now);
        self.next = self.una;
        self.send_allowed(now, out);
    }

    /// After an idle time longer than the timeout, the acknowledgement clock is gone (RFC 5681 §4.1).
    fn restart_if_idle(&mut self, now: Instant) {
        if self.una == self.max && now >= self.idle_at && self.parameters.slow_start_restart {
            self.path.now = now;
            self.window.congestion = self.window.congestion.min(self.parameters.restart_window);
            self.control.on_restart(&self.path, &mut self.window);
            self.wave_end = 0;
        }
    }
}

impl Sender for TcpSender {
    fn on_start(&mut self, now: Instant, out: &mut Output) {
        self.stopped = false;
        self.limit = if self.bulk { u32::MAX } else { self.handed };
        if !self.started {
            self.started = true;
            if self.parameters.handshake {
                self.next = 1;
                self.transmit(now, 0, out);
                return;
            }
        }
        self.restart_if_idle(now);
        self.send_allowed(now, out);
    }

    fn on_unit(&mut self, now: Instant, unit: Unit, out: &mut Output) {
        if self.stopped || self.bulk {
            return;
        }
        let mut left = unit.payload;
        loop {
            let payload = left.min(u32::from(self.parameters.segment));
            left -= payload;
            let piece = Piece {
                created: unit.created,
                unit: unit.id,
                payload: payload as u16,
                layer: unit.layer,
                last: left == 0,
            };
            self.pieces.put(self.una, self.handed, piece);
            self.handed += 1;
            if left == 0 {
                break;
            }
        }
        self.limit = self.handed;
        if self.started {
            self.restart_if_idle(now);
            self.send_allowed(now, out);
        }
    }

    #[inline]
    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        let Body::Ack { next, echo, rate, wave, ref sack } = packet.body else { return };
        if next > self.max || next < self.una || self.una == self.max {
            return;
        }
        let path = &mut self.path;
        path.now = now;
        path.acknowledged = next - self.una;
        path.flight = self.max - self.una;
        path.unacknowledged = next;
        path.next = self.next.max(next);
        if self.parameters.waves && rate > 0.0 {
            path.rate = Rate::from_bits_per_second(rate as u64);
            path.wave = wave;
        }
        self.echo = echo;
        if path.acknowledged > 0 {
            path.rtt = now.since(echo);
            // The SYN is smaller than what follows, so its round trip is none that data could have.
            if next > 1 {
                path.min_rtt = path.min_rtt.min(path.rtt);
                path.max_rtt = path.max_rtt.max(path.rtt);
            }
        } else {
            self.note_ack();
        }
        match (self.parameters.recovery, next > self.una) {
            (Recovery::Reno, true) => self.acknowledged_reno(now, next, out),
            (Recovery::Newreno, true) => self.acknowledged_newreno(now, next, out),
            (Recovery::Sack, _) => self.on_ack_sack(now, next, sack, out),
            (Recovery::Vegas, true) => self.acknowledged_vegas(now, next, out),
            (Recovery::Tahoe, true) => {
                self.advance(now, next);
                self.open_window();
                self.send_allowed(now, out);
            }
            (Recovery::Reno, false) => self.duplicate_reno(now, out),
            (Recovery::Newreno, false) => self.duplicate_newreno(now, out),
            (Recovery::Vegas, false) => self.duplicate_vegas(now, out),
            (Recovery::Tahoe, false) => self.duplicate_tahoe(now, out),
        }
    }

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        if now >= self.send_at {
            self.send_at = Instant::NEVER;
            self.send_now(now, u32::MAX, out);
        }
        if now >= self.retransmit_at {
            self.on_timeout(now, out);
        }
    }

    #[inline]
    fn deadline(&self) -> Instant {
        self.retransmit_at.min(self.send_at)
    }

    fn on_stop(&mut self, _now: Instant) {
        self.stopped = true;
        self.limit = self.max.max(1);
        self.handed = self.handed.min(self.limit);
    }

    fn view(&self) -> SenderView {
        let smoothed_rtt = self.rtt.smoothed(&self.parameters.rto).seconds();
        let window = self.window.congestion.min(f64::from(self.parameters.receiver_window));
        SenderView {
            window: self.window.congestion,
            slow_start_threshold: self.window.threshold,
            smoothed_rtt: if smoothed_rtt > 0.0 { smoothed_rtt } else { f64::NAN },
            rate: if smoothed_rtt > 0.0 {
                window * f64::from(self.path.payload) * 8.0 / smoothed_rtt
            } else {
                f64::NAN
            },
            estimate: self.control.estimate(),
            sent: self.sent,
            retransmitted: self.retransmitted,
            timeouts: self.timeouts,
            fast_retransmits: self.fast_retransmits,
            ..SenderView::default()
        }
    }
}
