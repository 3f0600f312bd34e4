//! Optional features of a connection: marks, pacing, samples of the delivery rate, and times of transmissions. A
//! connection without them has no `Extras`. The methods here, which every connection calls, then only test a
//! pointer.

use super::{Connection, Transmission};
use crate::control::Controller;
use crate::delivery::DeliveryRate;
use crate::marks::MarkReaction;
use crate::pacing::{Pacer, Pacing, window_rate};
use crate::pieces::Ring;
use crate::recovery::Recovery;
use crate::{Marks, TcpParameters};
use fairwave_network::packet::{Body, Packet};
use fairwave_units::units::Instant;

/// Initial capacity in segments; it doubles when needed.
const FIRST_ROOM: u32 = 8;

/// State that most connections do not need.
#[derive(Debug)]
pub(super) struct Extras {
    /// Last transmission of each outstanding segment, for recoveries that need it.
    pub sendings: Option<Ring<Transmission>>,
    pub answers: Option<MarkReaction>,
    pub pacer: Option<Pacer>,
    pub rate: Option<DeliveryRate>,
    /// The recovery reports when it has processed an acknowledgement: it knows which segments are held.
    pub sampled_by_recovery: bool,
    /// Time of a delayed transmission.
    pub release_at: Instant,
    /// Time of the recovery's timer.
    pub recovery_at: Instant,
}

impl Extras {
    /// Creates the features that these parameters enable. `None` for most connections.
    pub fn new(parameters: &TcpParameters) -> Option<Box<Self>> {
        let notes_sendings = matches!(parameters.recovery, Recovery::Vegas | Recovery::Rack);
        let extras = Extras {
            sendings: notes_sendings.then(|| Ring::new(FIRST_ROOM)),
            answers: (parameters.marks != Marks::None)
                .then(|| MarkReaction::new(parameters.marks, parameters.one_answer)),
            pacer: (parameters.pacing != Pacing::Off).then(Pacer::default),
            rate: parameters.samples.then(DeliveryRate::new),
            sampled_by_recovery: parameters.knows_what_is_held(),
            release_at: Instant::NEVER,
            recovery_at: Instant::NEVER,
        };
        let asked = extras.sendings.is_some() || extras.answers.is_some() || extras.pacer.is_some();
        (asked || extras.rate.is_some()).then(|| Box::new(extras))
    }

    /// True unless the response to a mark holds the window.
    fn opens_window(&self) -> bool {
        self.answers.as_ref().is_none_or(MarkReaction::opens)
    }

    /// Expiry of the first of the two timers.
    pub fn next_at(&self) -> Instant {
        self.release_at.min(self.recovery_at)
    }
}

impl Connection {
    /// Calls `run` if there are extras. The call stays out of line.
    #[inline]
    fn with_extras(&mut self, run: impl FnOnce(&mut Self)) {
        if self.extras.is_some() {
            run(self);
        }
    }

    /// Last transmission of the outstanding `segment`. Its time is never if transmissions are not recorded.
    pub fn sending(&self, segment: u32) -> Transmission {
        let sendings = self.extras.as_ref().and_then(|extras| extras.sendings.as_ref());
        sendings.map(|sendings| sendings.get(segment)).unwrap_or_default()
    }

    /// Processes the marks and deliveries of an acknowledgement of everything before `next`.
    #[inline]
    pub fn note_marks_and_deliveries(&mut self, now: Instant, next: u32, echo: bool, count: u32) {
        self.with_extras(|own| own.update_marks_and_rate(now, next, echo, count));
    }

    #[inline(never)]
    fn update_marks_and_rate(&mut self, now: Instant, next: u32, echo: bool, count: u32) {
        let Some(extras) = &mut self.extras else { return };
        if let Some(answers) = &mut extras.answers {
            self.path.marked = answers.on_echo(next, echo, count);
        }
        if let Some(rate) = &mut extras.rate {
            rate.deliver(now, self.una, next, &mut self.path);
            self.path.pipe = self.max - next;
        }
    }

    /// The receiver newly holds the segments from `first` to before `end`.
    pub fn hold(&mut self, now: Instant, first: u32, end: u32) {
        if let Some(rate) = self.extras.as_mut().and_then(|extras| extras.rate.as_mut()) {
            rate.deliver(now, first, end, &mut self.path);
        }
    }

    /// Reports to the controller an acknowledgement, which may or may not open the window, then a mark, then the
    /// rate sample.
    #[inline(always)] // on the path of every acknowledgement
    pub fn report_ack(&mut self, may_open: bool) {
        if may_open && self.extras.as_ref().is_none_or(|extras| extras.opens_window()) {
            self.control.on_ack(&self.path, &mut self.window);
        } else {
            self.control.on_other_ack(&self.path, &mut self.window);
        }
        self.with_extras(Self::report_mark_and_sample);
    }

    #[inline(never)]
    fn report_mark_and_sample(&mut self) {
        let Some(extras) = &mut self.extras else { return };
        let is_marked = extras.answers.as_mut().is_some_and(MarkReaction::take_due);
        let is_sampled = !extras.sampled_by_recovery;
        if is_marked {
            self.answer_mark();
        }
        if is_sampled {
            self.sample();
        }
    }

    fn answer_mark(&mut self) {
        // The newly acknowledged data was in flight when the segment was marked.
        self.path.in_use = self.decrease_base_for(self.path.flight);
        self.path.transmissions = 1;
        self.path.timed_out_before = false;
        self.control.on_mark(&self.path, &mut self.window);
        self.note_answer(true);
    }

    /// Records a response to congestion, with everything before `max` sent.
    pub fn note_answer(&mut self, to_mark: bool) {
        if let Some(answers) = self.extras.as_mut().and_then(|extras| extras.answers.as_mut()) {
            answers.answer(self.max, to_mark);
        }
    }

    /// True if a response to a mark covers the loss of the first unacknowledged segment.
    pub fn loss_is_answered(&self) -> bool {
        let answers = self.extras.as_ref().and_then(|extras| extras.answers.as_ref());
        answers.is_some_and(|answers| answers.covers(self.una))
    }

    /// Gives the controller the sample of the deliveries since the previous one, if there are any.
    pub fn sample(&mut self) {
        let Some(extras) = &mut self.extras else { return };
        let Some(rate) = &mut extras.rate else { return };
        let marked = extras.answers.as_ref().map_or(0, MarkReaction::counted);
        if let Some(sample) = rate.sample(self.path.now, marked, &self.path) {
            self.control.on_sample(&self.path, &sample, &mut self.window);
        }
    }

    /// True if the controller receives samples.
    pub fn is_sampled(&self) -> bool {
        self.extras.as_ref().is_some_and(|extras| extras.rate.is_some())
    }

    /// Counts segments as lost, for samples.
    pub fn count_lost(&mut self, segments: u32) {
        self.path.lost += u64::from(segments);
    }

    /// Called before the application provides data. If the connection has begun but had no data until now, the
    /// samples are marked.
    pub fn note_application_limit(&mut self) {
        if self.started
            && self.next >= self.limit
            && self.path.pipe < self.window.congestion as u32
            && let Some(rate) = self.extras.as_mut().and_then(|extras| extras.rate.as_mut())
        {
            rate.limited_by_application(&self.path);
        }
    }

    /// Records the transmission of `segment`, or that it is abandoned. `packet` is the transmitted packet; its
    /// congestion fields are set.
    #[inline]
    pub fn leave(&mut self, now: Instant, segment: u32, again: bool, packet: Option<&mut Packet>) {
        self.with_extras(|own| own.note_leaving(now, segment, again, packet));
    }

    #[inline(never)]
    fn note_leaving(&mut self, now: Instant, segment: u32, again: bool, packet: Option<&mut Packet>) {
        let Some(extras) = &mut self.extras else { return };
        if let Some(sendings) = &mut extras.sendings {
            let times = if again { sendings.get(segment).times.saturating_add(1) } else { 1 };
            sendings.put(self.una, segment, Transmission { at: now, times, order: self.sent as u32 });
        }
        if segment == 0 {
            return;
        }
        let mut marked = 0;
        let is_paced = extras.pacer.is_some() && packet.is_some();
        if let Some(answers) = &mut extras.answers {
            marked = answers.counted();
            if let Some(packet) = packet
                && let Body::Segment { window_reduced, .. } = &mut packet.body
            {
                (packet.ecn, *window_reduced) = answers.dress(again);
            }
        }
        if let Some(rate) = &mut extras.rate {
            rate.sent(now, self.una, segment, again, marked, &self.path);
            self.path.pipe += 1;
            if again && self.parameters.recovery != Recovery::Rack {
                self.path.lost += 1;
            }
        }
        if is_paced {
            self.path.now = now;
            let (rate, credit) = (self.pace(), self.parameters.pacing_credit);
            if let Some(pacer) = self.extras.as_mut().and_then(|extras| extras.pacer.as_mut()) {
                pacer.sent(now, rate, credit);
            }
        }
    }

    /// The pacing rate, segments per second; infinite without pacing.
    pub fn pace(&self) -> f64 {
        let rate = self.control.pacing(&self.path, &self.window);
        if self.parameters.pacing != Pacing::Window || rate.is_finite() {
            return rate;
        }
        let flight = self.max - self.una;
        window_rate(self.window.congestion, self.window.threshold, flight, self.rtt.smoothed(&self.parameters.rto))
    }

    /// True if pacing allows a segment to leave now. If not, schedules the transmission.
    #[inline]
    pub fn may_leave(&mut self, now: Instant) -> bool {
        let Some(extras) = &mut self.extras else { return true };
        let Some(pacer) = &extras.pacer else { return true };
        if now >= pacer.free_at() {
            return true;
        }
        extras.release_at = pacer.free_at();
        self.send_at = extras.next_at();
        false
    }

    /// Time of a delayed transmission; never if there is none.
    pub fn released_at(&self) -> Instant {
        self.extras.as_ref().map_or(self.send_at, |extras| extras.release_at)
    }

    /// Schedules a delayed transmission at `at`.
    pub fn release(&mut self, at: Instant) {
        self.send_at = match &mut self.extras {
            Some(extras) => {
                extras.release_at = at;
                extras.next_at()
            }
            None => at,
        };
    }

    /// Clears the timers that are due. Returns true if the recovery's timer was due.
    pub fn take_send_timer(&mut self, now: Instant) -> bool {
        self.send_at = Instant::NEVER;
        let Some(extras) = &mut self.extras else { return false };
        if now >= extras.release_at {
            extras.release_at = Instant::NEVER;
        }
        let is_due = now >= extras.recovery_at;
        if is_due {
            extras.recovery_at = Instant::NEVER;
        }
        self.send_at = extras.next_at();
        is_due
    }

    /// Sets the recovery's timer to `at`.
    pub fn wake_recovery(&mut self, at: Instant) {
        if let Some(extras) = &mut self.extras {
            extras.recovery_at = at;
            self.send_at = extras.next_at();
        }
    }
}
