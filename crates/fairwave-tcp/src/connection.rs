//! What a connection knows of what it has sent, and the few things that can be done with it: the ground on which the sender
//! and every loss recovery stand. Neither knows the other; both know this.
//!
//! Source: RFC 9293 in outline (one direction, no closing handshake), RFC 5681, 6298, 3042; ns-2.35 where the preset says so.

use std::sync::Arc;

use super::TcpParameters;
use super::control::{Control, Controller, Path, Verdict, Window};
use super::extras::Extras;
use super::lifetime::Lifetime;
use super::rtt::RttEstimator;
use super::units::{Piece, Ring};
use fairwave_endpoint::limited::{Limit, Limited};
use fairwave_endpoint::{FlowContext, Output};
use fairwave_network::packet::{Body, Class, Ecn, FlowId, Packet};
use fairwave_units::random::Stream;
use fairwave_units::units::{Instant, Span};

/// When a segment was last sent, and how often it has been.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Sending {
    pub at: Instant,
    pub times: u32,
    /// Which sending of the connection it was, modulo 2³².
    pub order: u32,
}

/// For how many segments there is room at first; what needs more doubles.
const FIRST_ROOM: u32 = 8;

/// The state of the sending half.
///
/// The fields stand in the order in which they are needed: what every acknowledgement reads comes first and together, since
/// with many connections each line of it is fetched from memory anew. What connections have in common is kept once.
#[repr(C)]
pub(super) struct Connection {
    /// First segment that is not acknowledged.
    pub una: u32,
    /// Segment to send next; falls back to `una` on timeout.
    pub next: u32,
    /// One past the highest segment sent.
    pub max: u32,
    /// One past the last segment that there is to send.
    pub limit: u32,
    /// Duplicate acknowledgements since the last of new data.
    pub duplicates: u32,
    /// Segments that fast recovery adds to the window.
    pub inflation: u32,
    /// What holds sending back since the last event.
    limited_by: Limit,
    /// The timer has gone off since the last acknowledgement of new data.
    timed_out: bool,
    pub started: bool,
    pub stopped: bool,
    pub window: Window,
    pub retransmit_at: Instant,
    /// When a sending that was put off happens, or the recovery wants to be woken.
    pub send_at: Instant,
    pub parameters: Arc<TcpParameters>,
    pub bulk: bool,
    class: Class,
    /// The SYN was lost: its timer has gone off.
    syn_lost: bool,
    flow: FlowId,
    pub echo: Instant,
    pub rtt: RttEstimator,
    pub path: Path,
    pub control: Control,
    /// What waits and for how long it is worth sending, where that is not for ever.
    pub lifetime: Option<Box<Lifetime>>,
    /// What most connections do without.
    pub extras: Option<Box<Extras>>,
    pub sent: u64,
    /// One past the last segment handed over by the application.
    pub handed: u32,
    /// What the segments carry; bulk data needs no note of it.
    pub pieces: Ring<Piece>,
    wave: u16,
    wave_size: u16,
    /// The wave ends when this segment is acknowledged: it was the next to be sent when the wave began.
    wave_end: u32,
    /// From here on the connection has been idle for longer than a timeout.
    pub idle_at: Instant,
    /// Congestion window after the handshake, segments; a lost SYN lowers it.
    initial_window: f64,
    pub retransmitted: u64,
    pub timeouts: u64,
    pub fast_retransmits: u64,
    limited: Limited,
    stream: Stream,
}

impl Connection {
    /// A connection of `context`'s flow that has sent nothing.
    pub fn new(context: FlowContext, parameters: Arc<TcpParameters>, control: Control, mut stream: Stream) -> Self {
        let phase = stream.span_between(Span::ZERO, parameters.rto.tick);
        let first = u32::from(!parameters.handshake);
        Connection {
            una: first,
            next: first,
            max: first,
            limit: if context.bulk { u32::MAX } else { 1 },
            duplicates: 0,
            inflation: 0,
            limited_by: Limit::Nothing,
            timed_out: false,
            started: false,
            stopped: false,
            window: Window {
                congestion: if parameters.handshake { 1.0 } else { parameters.initial_window },
                threshold: parameters.initial_threshold,
            },
            retransmit_at: Instant::NEVER,
            send_at: Instant::NEVER,
            bulk: context.bulk,
            class: context.class,
            syn_lost: false,
            flow: context.flow,
            sent: 0,
            echo: Instant::ZERO,
            rtt: RttEstimator::new(&parameters.rto, phase),
            path: Path::new(u32::from(parameters.segment)),
            control,
            handed: 1,
            pieces: Ring::new(if context.bulk { 0 } else { FIRST_ROOM }),
            wave: 0,
            wave_size: 0,
            wave_end: 0,
            extras: Extras::new(&parameters),
            idle_at: Instant::NEVER,
            initial_window: parameters.initial_window,
            retransmitted: 0,
            timeouts: 0,
            fast_retransmits: 0,
            limited: Limited::default(),
            lifetime: parameters.deadline.filter(|_| !context.bulk).map(|span| Box::new(Lifetime::new(span))),
            parameters,
            stream,
        }
    }

    /// One past the last segment that the receiver's window allows.
    #[inline]
    pub fn receiver_reach(&self) -> u32 {
        self.una.saturating_add(self.parameters.receiver_window)
    }

    /// One past the last segment that both windows and the application allow.
    #[inline]
    fn reach(&self) -> u32 {
        self.una.saturating_add(self.usable()).min(self.limit)
    }

    /// The window in whole segments that the sender may use now.
    #[inline]
    fn usable(&self) -> u32 {
        (self.window.congestion as u32).saturating_add(self.inflation).min(self.parameters.receiver_window)
    }

    /// What a decrease starts from, see [`Path::in_use`].
    fn in_use(&self) -> f64 {
        self.in_use_of(self.max - self.una)
    }

    /// The same with `flight` segments out.
    pub fn in_use_of(&self, flight: u32) -> f64 {
        let inflated = self.window.congestion + f64::from(self.inflation);
        if self.parameters.decrease_from_flight {
            f64::from(flight).min(inflated).max(1.0)
        } else {
            inflated.min(f64::from(self.parameters.receiver_window))
        }
    }

    /// Sends what the window allows, at most `burst` segments, or arranges to do so after a random delay.
    #[inline]
    pub fn send(&mut self, now: Instant, burst: u32, out: &mut Output) {
        if self.parameters.jitter > Span::ZERO {
            if self.next < self.reach() {
                self.postpone(now);
            }
            return;
        }
        self.send_now(now, burst, out);
    }

    /// Whether each sending waits for a random time.
    #[inline]
    pub fn is_jittered(&self) -> bool {
        self.parameters.jitter > Span::ZERO
    }

    /// Arranges for sending after a random delay, unless that is arranged already.
    pub fn postpone(&mut self, now: Instant) {
        match &mut self.extras {
            Some(extras) if extras.release_at == Instant::NEVER => {
                extras.release_at = now + self.stream.span_between(Span::ZERO, self.parameters.jitter);
                self.send_at = extras.next_at();
            }
            None if self.send_at == Instant::NEVER => {
                self.send_at = now + self.stream.span_between(Span::ZERO, self.parameters.jitter);
            }
            _ => {}
        }
    }

    /// As [`Self::send`], without delay.
    #[inline]
    pub fn send_now(&mut self, now: Instant, burst: u32, out: &mut Output) {
        let end = self.reach().min(self.next.saturating_add(burst));
        if self.extras.is_some() {
            while self.next < end && self.may_leave(now) {
                self.send_next(now, out);
            }
            return;
        }
        while self.next < end {
            self.send_next(now, out);
        }
    }

    /// Sends the next segment in order.
    #[inline]
    pub fn send_next(&mut self, now: Instant, out: &mut Output) {
        let segment = self.next;
        self.next += 1;
        self.transmit(now, segment, out);
    }

    /// Limited transmit (RFC 3042): one new segment for each of the first two duplicates.
    pub fn limited_transmit(&mut self, now: Instant, out: &mut Output) {
        let allowed = (self.window.congestion as u32).saturating_add(self.duplicates);
        let end = self.una.saturating_add(allowed).min(self.receiver_reach()).min(self.limit);
        if self.parameters.limited_transmit && self.next < end && self.may_leave(now) {
            self.send_next(now, out);
        }
    }

    /// Asks the controller about a loss of the first unacknowledged segment, which has been sent `transmissions` times.
    pub fn ask_on_loss(&mut self, now: Instant, transmissions: u32) -> Verdict {
        if self.loss_is_answered() {
            self.fast_retransmits += 1;
            return Verdict::Congestion;
        }
        self.path.now = now;
        self.path.in_use = self.in_use();
        self.path.transmissions = transmissions;
        self.path.timed_out_before = self.timed_out;
        let verdict = self.control.on_loss(&self.path, &mut self.window);
        if verdict == Verdict::Congestion {
            self.fast_retransmits += 1;
            self.note_answer(false);
        }
        verdict
    }

    /// Loss recovery has ended.
    #[inline(never)]
    pub fn recovered(&mut self) {
        self.control.on_recovered(&self.path, &mut self.window);
    }

    /// Asks the controller about an expiry of the timer.
    pub fn ask_on_timeout(&mut self, now: Instant) -> Verdict {
        self.path.now = now;
        self.path.in_use = self.in_use();
        if self.una == 0 && self.parameters.handshake {
            self.syn_lost = true;
            if self.parameters.shrinks_after_lost_syn {
                self.initial_window = 1.0;
            }
            // A lost SYN says little of the path: the connection starts carefully (RFC 5681 §3.1), no more.
            if !self.parameters.like_ns2 {
                return Verdict::Congestion;
            }
        }
        self.note_answer(false);
        self.control.on_timeout(&self.path, &mut self.window)
    }

    /// The timer has gone off.
    pub fn count_timeout(&mut self) {
        self.timeouts += 1;
        self.path.timed_out_before = self.timed_out;
        self.timed_out = true;
        self.duplicates = 0;
    }

    /// Sends the first unacknowledged segment again and restarts the timer.
    pub fn retransmit_first(&mut self, now: Instant, out: &mut Output) {
        self.rtt.distrust();
        self.restart_timer(now);
        self.transmit_first(now, out);
    }

    /// Sends the first unacknowledged segment again.
    pub fn transmit_first(&mut self, now: Instant, out: &mut Output) {
        let una = self.una;
        self.transmit(now, una, out);
        if self.next == una {
            self.next = una + 1;
        }
    }

    /// The retransmission timer starts anew.
    #[inline]
    pub fn restart_timer(&mut self, now: Instant) {
        self.retransmit_at = now + self.rtt.timeout(&self.parameters.rto);
    }

    /// Everything before `next` is acknowledged.
    #[inline]
    fn move_to(&mut self, next: u32) {
        self.una = next;
        if self.next < next {
            self.next = next;
        }
        self.timed_out = false;
    }

    /// A partial acknowledgement within a recovery: moves on and notes the round trip as far as the clock allows.
    pub fn move_partially(&mut self, now: Instant, next: u32) {
        self.move_to(next);
        self.rtt.acknowledged_partially(&self.parameters.rto, now, next, self.echo);
    }

    /// Everything before `next` is acknowledged: duplicates, round trip and timer follow.
    #[inline]
    pub fn advance(&mut self, now: Instant, next: u32) {
        self.duplicates = 0;
        self.move_to(next);
        self.rtt.acknowledged(&self.parameters.rto, now, next, self.echo);
        if next == 1 && self.syn_lost && !self.parameters.like_ns2 {
            self.rtt.restart_after_lost_syn(&self.parameters.rto);
        }
        if self.una == self.max {
            self.retransmit_at = Instant::NEVER;
            self.idle_at = now + self.rtt.timeout(&self.parameters.rto);
        } else {
            self.restart_timer(now);
        }
    }

    /// The controller opens the window; the acknowledgement of the SYN sets the initial one, and is no business of its.
    #[inline]
    pub fn open_window(&mut self) {
        // ns-2's Vegas begins with one segment, and takes up the initial window when that is acknowledged.
        let late = self.parameters.late_initial_window;
        if self.una == 1 && self.parameters.handshake {
            self.window.congestion = if late { 1.0 } else { self.initial_window };
        } else {
            if late && self.una == 2 && self.parameters.handshake && self.window.congestion < 2.0 {
                self.window.congestion = self.initial_window;
            }
            if self.extras.is_some() {
                self.tell(true);
                return;
            }
            self.control.on_ack(&self.path, &mut self.window);
        }
    }

    /// The controller hears of an acknowledgement that does not open the window.
    #[inline]
    pub fn note_ack(&mut self) {
        if self.extras.is_some() {
            self.tell(false);
            return;
        }
        self.control.on_other_ack(&self.path, &mut self.window);
    }

    /// Puts `segment` on the network.
    #[inline]
    pub fn transmit(&mut self, now: Instant, segment: u32, out: &mut Output) {
        let again = segment < self.max;
        if self.lifetime.is_some() && self.forwards_instead(now, segment, again, out) {
            return;
        }
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
        if self.parameters.waves {
            self.begin_wave_if_due();
        }
        self.sent += 1;
        self.path.payload = u32::from(if segment == 0 { self.parameters.segment } else { piece.payload });
        out.packets.push(Packet {
            flow: self.flow,
            wire: if segment == 0 { self.parameters.syn } else { self.parameters.header + piece.payload },
            class: self.class,
            feedback: false,
            ecn: Ecn::NotEct,
            layer: piece.layer,
            body: Body::Segment {
                payload: piece.payload,
                sequence: segment,
                unit: piece.unit,
                wave: self.wave,
                wave_size: self.wave_size,
                retransmission: again,
                window_reduced: false,
                last: piece.last,
                sent: now,
                created: piece.created,
            },
        });
        if self.extras.is_some() {
            self.leave(now, segment, again, out.packets.last_mut());
        }
        if self.retransmit_at == Instant::NEVER {
            self.restart_timer(now);
        }
    }

    /// For partial reliability. A new segment takes the first of what waits; instead of what is too old the receiver is told to
    /// move on, past everything as old that has been sent. True when nothing else is to be sent.
    #[inline(never)]
    fn forwards_instead(&mut self, now: Instant, segment: u32, again: bool, out: &mut Output) -> bool {
        let Some(lifetime) = &mut self.lifetime else { return false };
        if segment == 0 {
            return false;
        }
        if !again {
            if let Some(piece) = lifetime.take() {
                self.pieces.put(self.una, segment, piece);
            }
            return false;
        }
        let old = (segment..self.max).take_while(|&one| lifetime.is_over(self.pieces.get(one).created, now)).count();
        if old == 0 {
            return false;
        }
        let next = segment + old as u32;
        self.next = self.next.max(next);
        // The first missing one asks again; those behind it are covered by what it is told.
        if segment > self.una && !lifetime.forward(next) {
            return true;
        }
        lifetime.forward(next);
        self.sent += 1;
        for one in segment..next {
            self.rtt.sent_again(one);
            self.leave(now, one, true, None);
        }
        self.retransmitted += 1;
        out.packets.push(Packet {
            flow: self.flow,
            wire: self.parameters.acknowledgement,
            class: self.class,
            feedback: false,
            ecn: Ecn::NotEct,
            layer: 0,
            body: Body::Forward { next, sent: now },
        });
        if self.retransmit_at == Instant::NEVER {
            self.restart_timer(now);
        }
        true
    }

    /// Forgets what has waited for too long. To be called before anything else on every event.
    #[inline]
    pub fn shed(&mut self, now: Instant) {
        if let Some(lifetime) = &mut self.lifetime {
            let shed = lifetime.shed(now);
            self.handed -= shed;
            self.limit = self.limit.min(self.handed);
        }
    }

    /// A wave is a round of the window: what is sent until its first segment is acknowledged.
    #[inline(never)]
    fn begin_wave_if_due(&mut self) {
        if self.una >= self.wave_end {
            self.wave = self.wave.wrapping_add(1);
            self.wave_size = self.usable().clamp(1, u32::from(u16::MAX)) as u16;
            self.wave_end = self.max.max(1);
        }
    }

    /// After an idle time longer than the timeout, the acknowledgement clock is gone (RFC 5681 §4.1).
    pub fn restart_if_idle(&mut self, now: Instant) {
        if self.una == self.max && now >= self.idle_at && self.parameters.slow_start_restart {
            self.path.now = now;
            self.window.congestion = self.window.congestion.min(self.parameters.restart_window);
            self.control.on_restart(&self.path, &mut self.window);
            self.wave_end = 0;
        }
    }

    /// Notes what holds sending back from now on; to be called when an event has been dealt with.
    #[inline]
    pub fn note_limit(&mut self, now: Instant) {
        let by = if self.stopped || !self.started {
            Limit::Nothing
        } else if self.next >= self.limit {
            Limit::Application
        } else if self.next >= self.receiver_reach() {
            Limit::Receiver
        } else {
            Limit::Congestion
        };
        if by != self.limited_by {
            self.limited_by = by;
            self.limited.change(now, by);
        }
    }

    /// How long what has held sending back.
    pub fn limited(&self) -> Limited {
        self.limited
    }
}
