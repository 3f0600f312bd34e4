//! Which units a run can judge: those of the window that have arrived, are gone, or have had their time.
//!
//! What was sent shortly before the end has not arrived when the run stops, and would have a moment later. Such a unit
//! is *in flight*, neither received nor lost, while it is young at the end: younger than both the flow's longest
//! threshold of timeliness and the longest delay of the units that arrived last. So no path is too long for its units
//! to count as in flight, and what an outage holds back counts as lost once it is older than what is still of use.
//!
//! What its sender still holds at the end is never lost, as the sender would send it. This is what waits for the rate that the
//! transport allows, and over a transport that delivers everything also what was lost and will be sent again. Such a unit is
//! *waiting* once it is too old as above, or, of a video, once its frame has been shown: its user misses it, and the network
//! has not lost it.

use fairwave_core::units::{Instant, Span};

use crate::unit_log::{LoggedUnit, UnitLog};

/// How many of the units that arrived last tell how long a unit takes (**assumption**: two seconds of a call).
const LATEST: usize = 100;

/// What has become of a unit by the end of the run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// Complete at the receiver.
    Received,
    /// Gone, or too old to be of use.
    Lost,
    /// Too old to be of use, and still held by its sender.
    Waiting,
    /// May still arrive in time.
    InFlight,
    /// Left out by the transport's adaptation.
    Skipped,
}

/// What a flow's units had come to when the run ended.
pub(crate) struct UnitsDue {
    from: Instant,
    /// Units made later may still arrive; none of them is given up where there is no such time.
    open: Option<Instant>,
    /// The sender still holds what was made from here on and has not arrived.
    held: Instant,
    /// What the sender holds and was made by then has missed its showing.
    shown: Option<Instant>,
}

impl UnitsDue {
    /// Of the units in `log`, of which `longest` is the longest threshold, at the `end` of the run.
    pub fn of(log: &UnitLog, longest: Span, end: Instant) -> Self {
        let mut received: Vec<(Instant, Instant)> = (log.units.iter())
            .filter(|unit| unit.arrived != Instant::NEVER)
            .map(|unit| (unit.arrived, unit.created))
            .collect();
        let before = received.len().saturating_sub(LATEST);
        if before > 0 {
            received.select_nth_unstable(before - 1);
        }
        let delays = received.iter().skip(before).map(|&(arrived, created)| arrived - created);
        let patience = delays.max().unwrap_or_default().max(longest);
        let open = Some(Instant::ZERO + end.since(Instant::ZERO + patience));
        UnitsDue { from: log.from, open, held: Instant::NEVER, shown: None }
    }

    /// The same where the sender still holds what was made at `since` or later and has not arrived, and what was made by `shown`
    /// has missed its showing.
    pub fn held(self, since: Instant, shown: Option<Instant>) -> Self {
        UnitsDue { held: since, shown, ..self }
    }

    /// For units that a transport retransmits until they arrive, and that a receiver waits for.
    pub fn of_whole(log: &UnitLog) -> Self {
        UnitsDue { from: log.from, open: None, held: Instant::NEVER, shown: None }
    }

    /// Whether a unit was made in the window, and is not comfort noise.
    pub fn is_measured(&self, unit: &LoggedUnit) -> bool {
        unit.created >= self.from && !unit.noise
    }

    /// Whether the sender still holds a unit.
    pub fn is_held(&self, unit: &LoggedUnit) -> bool {
        unit.arrived == Instant::NEVER && !unit.gone && !unit.skipped && unit.created >= self.held
    }

    /// What has become of a unit.
    pub fn outcome(&self, unit: &LoggedUnit) -> Outcome {
        let (held, created) = (self.is_held(unit), unit.created);
        match unit {
            LoggedUnit { skipped: true, .. } => Outcome::Skipped,
            LoggedUnit { arrived, .. } if *arrived != Instant::NEVER => Outcome::Received,
            _ if held && self.shown.is_some() => match self.shown.is_some_and(|shown| created <= shown) {
                true => Outcome::Waiting,
                false => Outcome::InFlight,
            },
            LoggedUnit { gone: false, .. } if self.open.is_none_or(|open| created > open) => Outcome::InFlight,
            _ if held => Outcome::Waiting,
            _ => Outcome::Lost,
        }
    }

    /// The units that count, with what has become of them: made in the window, and neither noise, nor left out, nor in flight.
    pub fn judged<'a>(&'a self, log: &'a UnitLog) -> impl Iterator<Item = (&'a LoggedUnit, Outcome)> {
        (log.units.iter().filter(|unit| self.is_measured(unit)))
            .map(|unit| (unit, self.outcome(unit)))
            .filter(|(_, outcome)| matches!(outcome, Outcome::Received | Outcome::Lost | Outcome::Waiting))
    }

    /// How many units of the window have come to this.
    pub fn count(&self, log: &UnitLog, wanted: Outcome) -> u64 {
        let units = log.units.iter().filter(|unit| self.is_measured(unit));
        units.filter(|unit| self.outcome(unit) == wanted).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use fairwave_core::traffic::{FrameType, Unit};

    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    /// A unit every 20 ms from 0 on until 10 s, each of which takes `delay` unless `lost` says that it is gone.
    fn log(delay: u64, lost: impl Fn(u32) -> bool) -> UnitLog {
        let mut log = UnitLog::new(&[Span::from_millis(300)], at(1000));
        for number in 0..500 {
            let created = at(20 * u64::from(number));
            log.sent(&Unit { id: number, payload: 160, created, layer: 0, frame_type: FrameType::None });
            if lost(number) {
                log.lost(number);
            } else if created + Span::from_millis(delay) <= at(10_000) {
                log.received(number, created + Span::from_millis(delay));
            }
        }
        log
    }

    fn counts(log: &UnitLog) -> [u64; 3] {
        let due = UnitsDue::of(log, Span::from_millis(300), at(10_000));
        [Outcome::Received, Outcome::Lost, Outcome::InFlight].map(|outcome| due.count(log, outcome))
    }

    #[test]
    fn on_no_path_are_the_units_that_the_end_cuts_off_lost() {
        assert_eq!(counts(&log(150, |_| false)), [450 - 7, 0, 7]);
        assert_eq!(counts(&log(700, |_| false)), [450 - 34, 0, 34]);
    }

    #[test]
    fn what_is_gone_is_lost_however_young_and_what_the_warm_up_lost_counts_nowhere() {
        assert_eq!(counts(&log(150, |number| number < 50)), [443, 0, 7]);
        assert_eq!(counts(&log(150, |number| number >= 490)), [440, 10, 0]);
    }

    #[test]
    fn what_an_outage_holds_back_is_lost_once_it_is_too_old_to_be_of_use() {
        let mut log = log(50, |_| false);
        for unit in log.units.iter_mut().skip(400) {
            unit.arrived = Instant::NEVER;
        }
        assert_eq!(counts(&log), [350, 86, 14]);
    }

    #[test]
    fn what_the_sender_still_holds_waits_and_is_not_lost() {
        let mut log = log(50, |number| number == 399);
        for unit in log.units.iter_mut().skip(400) {
            unit.arrived = Instant::NEVER;
        }
        let counts = |held: u64, shown| {
            let due = UnitsDue::of(&log, Span::from_millis(300), at(10_000)).held(at(held), shown);
            [Outcome::Received, Outcome::Lost, Outcome::Waiting, Outcome::InFlight].map(|one| due.count(&log, one))
        };
        assert_eq!(counts(0, None), [349, 1, 86, 14], "a transport that delivers everything; what is gone is lost");
        assert_eq!(counts(9000, None), [349, 51, 36, 14], "a sender that holds what was made from 9 s on");
        assert_eq!(counts(9000, Some(at(9800))), [349, 51, 41, 9], "what was to be shown by now is missed");
        assert_eq!(counts(9000, Some(at(9100))), [349, 51, 6, 44], "what is to be shown later is not");
    }
}
