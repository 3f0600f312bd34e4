//! The state of a connection's sending half, with the basic operations on it. The sender and every loss recovery
//! use it. They depend on this module, not on each other.
//!
//! Source: RFC 9293 in outline (one direction, no closing handshake), RFC 5681, 6298, 3042; ns-2.35 with its
//! presets.

use std::sync::Arc;

use super::TcpParameters;
use super::control::{Control, Controller, Path, Verdict, Window};
use super::lifetime::Lifetime;
use super::pieces::{Piece, Ring};
use super::rtt::RttEstimator;
use fairwave_endpoint::limited::{Limit, LimitedTimes};
use fairwave_endpoint::{FlowContext, Output, SenderView};
use fairwave_media::traffic::Unit;
use fairwave_network::dscp::Dscp;
use fairwave_network::packet::{Class, FlowId};
use fairwave_units::random::Stream;
use fairwave_units::units::{Instant, Rate, Span};

#[path = "extras.rs"]
mod extras;
#[path = "sending.rs"]
mod sending;
use extras::Extras;

/// Time of the last transmission of a segment, and the number of its transmissions.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Transmission {
    pub at: Instant,
    pub times: u32,
    /// Serial number among all transmissions of the connection, modulo 2³².
    pub order: u32,
}

/// The contents of an acknowledgement in addition to the next expected segment.
pub(super) struct Acknowledgement {
    /// Sending time of the segment that caused the acknowledgement.
    pub echo: Instant,
    /// Rate of the last wave, bits per second; 0 without waves.
    pub rate: f32,
    /// The wave.
    pub wave: u16,
    /// The receiver echoes a congestion mark.
    pub congestion_echo: bool,
    /// Number of segments that have been marked.
    pub marked: u32,
}

/// Initial capacity in segments; it doubles when needed.
const FIRST_ROOM: u32 = 8;

/// The state of the sending half.
///
/// Fields are in the order of use. The fields that every acknowledgement reads come first and together, because
/// with many connections each of their cache lines is fetched from memory again. Connections share their common
/// parameters.
#[repr(C)]
pub(super) struct Connection {
    /// First segment that is not acknowledged.
    una: u32,
    /// Segment to send next; falls back to `una` on timeout.
    next: u32,
    /// One past the highest segment sent.
    max: u32,
    /// One past the last segment that can be sent.
    limit: u32,
    /// Duplicate acknowledgements since the last acknowledgement of new data.
    duplicates: u32,
    /// Segments that fast recovery adds to the window.
    inflation: u32,
    /// The limiting cause since the last event.
    limited_by: Limit,
    /// The timer has expired since the last acknowledgement of new data.
    timed_out: bool,
    started: bool,
    stopped: bool,
    /// The wave and its size, which each segment carries.
    wave: u16,
    wave_size: u16,
    window: Window,
    retransmit_at: Instant,
    /// Time of a delayed transmission, or of the recovery's next timer.
    send_at: Instant,
    parameters: Arc<TcpParameters>,
    bulk: bool,
    class: Class,
    dscp: Dscp,
    /// The SYN was lost: its timer has expired.
    syn_lost: bool,
    flow: FlowId,
    echo: Instant,
    rtt: RttEstimator,
    path: Path,
    control: Control,
    /// Unsent data and its lifetime, for partially reliable connections.
    lifetime: Option<Box<Lifetime>>,
    /// State that most connections do not need.
    extras: Option<Box<Extras>>,
    sent: u64,
    /// One past the last segment handed over by the application.
    handed: u32,
    /// Contents of the segments. Bulk data needs no record.
    pieces: Ring<Piece>,
    /// The wave ends when this segment is acknowledged. It was the next to be sent when the wave began.
    wave_end: u32,
    /// From this time on, the connection has been idle for longer than a timeout.
    idle_at: Instant,
    /// Congestion window after the handshake, segments; a lost SYN lowers it.
    initial_window: f64,
    retransmitted: u64,
    timeouts: u64,
    fast_retransmits: u64,
    limited: LimitedTimes,
    /// Random stream for the delay of each transmission, if configured.
    stream: Option<Box<Stream>>,
}

impl Connection {
    /// Creates a connection that has sent nothing.
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
            dscp: context.dscp,
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
            limited: LimitedTimes::default(),
            lifetime: parameters.deadline.filter(|_| !context.bulk).map(|span| Box::new(Lifetime::new(span))),
            stream: (parameters.jitter > Span::ZERO).then(|| Box::new(stream)),
            parameters,
        }
    }

    /// First segment that is not acknowledged.
    #[inline]
    pub fn una(&self) -> u32 {
        self.una
    }

    /// Segment to send next.
    #[inline]
    pub fn next(&self) -> u32 {
        self.next
    }

    /// One past the highest segment sent.
    #[inline]
    pub fn max(&self) -> u32 {
        self.max
    }

    /// One past the last segment that can be sent.
    #[inline]
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Duplicate acknowledgements since the last acknowledgement of new data.
    #[inline]
    pub fn duplicates(&self) -> u32 {
        self.duplicates
    }

    /// Segments that fast recovery adds to the window.
    #[inline]
    pub fn inflation(&self) -> u32 {
        self.inflation
    }

    /// The congestion window and its slow start threshold, segments.
    #[inline]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The path state for the controller.
    #[inline]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The parameters, shared by connections.
    #[inline]
    pub fn parameters(&self) -> &TcpParameters {
        &self.parameters
    }

    /// Segments sent, retransmissions included.
    #[inline]
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Sending time of the segment that caused the latest acknowledgement, as the acknowledgement echoes it.
    #[inline]
    pub fn echo(&self) -> Instant {
        self.echo
    }

    /// Time of the retransmission timer; never if it is stopped.
    #[inline]
    pub fn retransmit_at(&self) -> Instant {
        self.retransmit_at
    }

    /// Time of a delayed transmission, or of the recovery's next timer; never if there is neither.
    #[inline]
    pub fn send_at(&self) -> Instant {
        self.send_at
    }

    /// The smoothed round-trip time; zero before the first measurement.
    pub fn smoothed_rtt(&self) -> Span {
        self.rtt.smoothed(&self.parameters.rto)
    }

    /// True if no segment is in flight.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.una == self.max
    }

    /// One past the last new segment within the application's data and the receiver's window.
    #[inline]
    pub fn new_data_end(&self) -> u32 {
        self.limit.min(self.receiver_reach())
    }

    /// Counts a duplicate acknowledgement.
    #[inline]
    pub fn count_duplicate(&mut self) {
        self.duplicates += 1;
    }

    /// Sets the number of duplicates received.
    #[inline]
    pub fn set_duplicates(&mut self, duplicates: u32) {
        self.duplicates = duplicates;
    }

    /// Sets the number of segments that fast recovery adds to the window.
    #[inline]
    pub fn set_inflation(&mut self, segments: u32) {
        self.inflation = segments;
    }

    /// Ends the inflation. Returns the number of inflated segments.
    #[inline]
    pub fn take_inflation(&mut self) -> u32 {
        std::mem::take(&mut self.inflation)
    }

    /// Sets the congestion window, segments. For recoveries.
    #[inline]
    pub fn set_congestion_window(&mut self, segments: f64) {
        self.window.congestion = segments;
    }

    /// Sets the slow start threshold, segments. For recoveries.
    #[inline]
    pub fn set_threshold(&mut self, segments: f64) {
        self.window.threshold = segments;
    }

    /// Continues sending in order from `segment`.
    #[inline]
    pub fn go_on_from(&mut self, segment: u32) {
        self.next = segment;
    }

    /// Sets the recovery's count of segments in flight.
    #[inline]
    pub fn set_pipe(&mut self, segments: u32) {
        self.path.pipe = segments;
    }

    /// Sets the controller's round trip to the recovery's measurement.
    #[inline]
    pub fn set_round_trip(&mut self, rtt: Span) {
        self.path.rtt = rtt;
    }

    /// Resets the exponential backoff of the timeout.
    pub fn forget_backoff(&mut self) {
        self.rtt.forget_backoff();
    }

    /// Discards the running measurement: its segment has been retransmitted.
    pub fn distrust_timing(&mut self) {
        self.rtt.distrust();
    }

    /// Doubles the timeout.
    pub fn back_off(&mut self) {
        self.rtt.expired(&self.parameters.rto);
    }

    /// Stops the retransmission timer.
    pub fn stop_timer(&mut self) {
        self.retransmit_at = Instant::NEVER;
    }

    /// Starts or restarts the application. Returns true if a handshake has begun, so that no data can be sent yet.
    pub fn start(&mut self, now: Instant, out: &mut Output) -> bool {
        self.shed(now);
        self.stopped = false;
        self.limit = if self.bulk { u32::MAX } else { self.handed };
        let begun = std::mem::replace(&mut self.started, true);
        if !begun && self.parameters.handshake {
            self.next = 1;
            self.transmit(now, 0, out);
            return true;
        }
        self.restart_if_idle(now);
        false
    }

    /// Cuts a unit of the application into segments. Returns true if data may be sent.
    pub fn take_unit(&mut self, now: Instant, unit: Unit) -> bool {
        if self.stopped || self.bulk {
            return false;
        }
        self.shed(now);
        self.note_application_limit();
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
            match &mut self.lifetime {
                Some(lifetime) => lifetime.wait(piece),
                None => self.pieces.put(self.una, self.handed, piece),
            }
            self.handed += 1;
            if left == 0 {
                break;
            }
        }
        self.limit = self.handed;
        if self.started {
            self.restart_if_idle(now);
        }
        self.started
    }

    /// Ends the application. Unsent data is never sent.
    pub fn stop(&mut self, now: Instant) {
        self.stopped = true;
        self.limit = self.max.max(1);
        self.handed = self.handed.min(self.limit);
        if let Some(lifetime) = &mut self.lifetime {
            lifetime.clear();
        }
        self.note_limit(now);
    }

    /// Updates the controller's path for an acknowledgement of everything before `next`. `next` must be between
    /// the acknowledged and the sent segments.
    #[inline(always)] // on the path of every acknowledgement
    pub fn take_ack(&mut self, now: Instant, next: u32, ack: &Acknowledgement) {
        self.shed(now);
        let path = &mut self.path;
        path.now = now;
        path.acknowledged = next - self.una;
        path.credit = if self.parameters.counts_segments { path.acknowledged } else { 1 };
        path.flight = self.max - self.una;
        path.unacknowledged = next;
        path.next = self.next.max(next);
        if self.parameters.waves && ack.rate > 0.0 {
            path.rate = Rate::from_bits_per_second(ack.rate as u64);
            path.wave = ack.wave;
        }
        self.echo = ack.echo;
        self.note_marks_and_deliveries(now, next, ack.congestion_echo, ack.marked);
        let path = &mut self.path;
        if path.acknowledged > 0 {
            path.rtt = now.span_since(ack.echo);
            // The SYN is smaller than data segments, so its round trip is no sample for data.
            if next > 1 {
                path.min_rtt = path.min_rtt.min(path.rtt);
                path.max_rtt = path.max_rtt.max(path.rtt);
            }
        } else {
            self.note_ack();
        }
    }

    /// State for plots and traces.
    pub fn view(&self) -> SenderView {
        let smoothed_rtt = Some(self.smoothed_rtt().seconds()).filter(|seconds| *seconds > 0.0);
        let window = self.window.congestion.min(f64::from(self.parameters.receiver_window));
        SenderView {
            window: Some(self.window.congestion),
            slow_start_threshold: Some(self.window.threshold),
            smoothed_rtt,
            rate: smoothed_rtt.map(|seconds| window * f64::from(self.path.payload) * 8.0 / seconds),
            estimate: self.control.estimate(),
            sent: self.sent,
            retransmitted: self.retransmitted,
            timeouts: self.timeouts,
            fast_retransmits: self.fast_retransmits,
            limited: Some(self.limited),
            ..SenderView::default()
        }
    }

    /// One past the last segment within the receiver's window.
    #[inline]
    pub fn receiver_reach(&self) -> u32 {
        self.una.saturating_add(self.parameters.receiver_window)
    }

    /// One past the last segment within both windows and the application's data.
    #[inline]
    fn reach(&self) -> u32 {
        self.una.saturating_add(self.usable()).min(self.limit)
    }

    /// The usable window in whole segments.
    #[inline]
    fn usable(&self) -> u32 {
        (self.window.congestion as u32).saturating_add(self.inflation).min(self.parameters.receiver_window)
    }

    /// The window that a decrease starts from, see [`Path::in_use`].
    fn decrease_base(&self) -> f64 {
        self.decrease_base_for(self.max - self.una)
    }

    /// Like `decrease_base`, with `flight` segments in flight.
    pub fn decrease_base_for(&self, flight: u32) -> f64 {
        let inflated = self.window.congestion + f64::from(self.inflation);
        if self.parameters.decrease_from_flight {
            f64::from(flight).min(inflated).max(1.0)
        } else {
            inflated.min(f64::from(self.parameters.receiver_window))
        }
    }

    /// Asks the controller about the loss of the first unacknowledged segment, which has been sent `transmissions`
    /// times.
    pub fn ask_on_loss(&mut self, now: Instant, transmissions: u32) -> Verdict {
        if self.loss_is_answered() {
            self.fast_retransmits += 1;
            return Verdict::Congestion;
        }
        self.path.now = now;
        self.path.in_use = self.decrease_base();
        self.path.transmissions = transmissions;
        self.path.timed_out_before = self.timed_out;
        let verdict = self.control.on_loss(&self.path, &mut self.window);
        if verdict == Verdict::Congestion {
            self.fast_retransmits += 1;
            self.note_answer(false);
        }
        verdict
    }

    /// Reports the end of loss recovery to the controller.
    #[inline(never)]
    pub fn recovered(&mut self) {
        self.control.on_recovered(&self.path, &mut self.window);
    }

    /// Asks the controller about a timeout.
    pub fn ask_on_timeout(&mut self, now: Instant) -> Verdict {
        self.path.now = now;
        self.path.in_use = self.decrease_base();
        if self.una == 0 && self.parameters.handshake {
            self.syn_lost = true;
            if self.parameters.shrinks_after_lost_syn {
                self.initial_window = 1.0;
            }
            // A lost SYN is weak evidence about the path: the connection only starts with a smaller window
            // (RFC 5681 §3.1).
            if !self.parameters.like_ns2 {
                return Verdict::Congestion;
            }
        }
        self.note_answer(false);
        self.control.on_timeout(&self.path, &mut self.window)
    }

    /// Counts a timeout.
    pub fn count_timeout(&mut self) {
        self.timeouts += 1;
        self.path.timed_out_before = self.timed_out;
        self.timed_out = true;
        self.duplicates = 0;
    }

    /// Restarts the retransmission timer.
    #[inline]
    pub fn restart_timer(&mut self, now: Instant) {
        self.retransmit_at = now + self.rtt.timeout(&self.parameters.rto);
    }

    /// Moves `una` to `next`.
    #[inline]
    fn move_to(&mut self, next: u32) {
        self.una = next;
        if self.next < next {
            self.next = next;
        }
        self.timed_out = false;
    }

    /// Handles a partial acknowledgement within a recovery: advances `una`, and samples the round trip if the
    /// clock allows it.
    pub fn move_partially(&mut self, now: Instant, next: u32) {
        self.move_to(next);
        self.rtt.acknowledged_partially(&self.parameters.rto, now, next, self.echo);
    }

    /// Handles an acknowledgement of everything before `next`: advances `una`, and updates duplicates, round trip
    /// and timer.
    #[inline(always)] // on the path of every acknowledgement
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

    /// The controller opens the window. The acknowledgement of the SYN sets the initial window without the controller.
    #[inline(always)] // on the path of every acknowledgement
    pub fn open_window(&mut self) {
        // ns-2's Vegas begins with one segment. It takes the initial window when that segment is acknowledged.
        let late = self.parameters.late_initial_window;
        if self.una == 1 && self.parameters.handshake {
            self.window.congestion = if late { 1.0 } else { self.initial_window };
        } else {
            if late && self.una == 2 && self.parameters.handshake && self.window.congestion < 2.0 {
                self.window.congestion = self.initial_window;
            }
            self.report_ack(true);
        }
    }

    /// Reports to the controller an acknowledgement that does not open the window.
    #[inline(always)] // on the path of every acknowledgement
    pub fn note_ack(&mut self) {
        self.report_ack(false);
    }

    /// Discards expired data. Must be called first on every event.
    #[inline]
    pub fn shed(&mut self, now: Instant) {
        if let Some(lifetime) = &mut self.lifetime {
            let shed = lifetime.shed(now);
            self.handed -= shed;
            self.limit = self.limit.min(self.handed);
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

    /// Updates the limiting cause. Must be called after every event.
    #[inline(always)] // on the path of every acknowledgement
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
}

#[cfg(test)]
impl Connection {
    /// Offset of the controller in a connection, bytes.
    pub const CONTROL_AT: usize = std::mem::offset_of!(Connection, control);

    /// Sets the retransmission timer.
    pub fn set_retransmit_at(&mut self, at: Instant) {
        self.retransmit_at = at;
    }

    /// Replaces the controller.
    pub fn set_control(&mut self, control: Control) {
        self.control = control;
    }

    /// The retransmission timeout.
    pub fn timeout(&self) -> Span {
        self.rtt.timeout(&self.parameters.rto)
    }
}
