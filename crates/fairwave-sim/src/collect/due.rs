//! Fate and outcome of each unit of a flow, and the units that a run can judge.
//!
//! The *fate* of a unit comes from records. Its receiver had all of it; a queue dropped or a wire lost one of its
//! packets; a queue or a wire holds one at the end of the run; or its sender still holds it. No fate depends on the
//! unit's age.
//!
//! The *outcome* of a unit is its part in the shares (`lost`, `missed`, `late`). Arrived units and units removed by
//! the network always count. A unit that neither arrived nor was removed is *overdue* when it is too old to be
//! useful. An overdue unit is missed, but not lost. All other units are *in flight* and count in no share, because
//! they can arrive in time.
//!
//! A video frame is overdue after its display. Any other unit is overdue when it is older than the flow's longest
//! timeliness threshold and than the longest delay of the latest arrivals. So units on a path with a long delay still
//! count as in flight. Complete objects (files, pages) are never overdue.

use fairwave_core::units::{Instant, Span};

use crate::unit_log::{LoggedUnit, Pending, Removal, UnitLog};

/// Number of latest arrivals used to estimate the delay of a unit (**assumption**: two seconds of a call).
const LATEST: usize = 100;

/// Fate of a unit at the end of the run. Links are indices of the plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// Skipped by the transport's adaptation.
    Skipped,
    /// Complete at the receiver.
    Received,
    /// Unusable: its receiver has a part of it, but the unit is incomplete, undecodable, or too late for the
    /// transport.
    Useless,
    /// A queue dropped a packet of it.
    Dropped(usize),
    /// A wire lost a packet of it; `None` if foreign code hides the wire.
    Lost(Option<usize>),
    /// The sender holds it: unsent, awaiting retransmission, or abandoned.
    InSender,
    /// It waits in a link's queue.
    InQueue(usize),
    /// In transmission, on a link's wire, or between network and application.
    OnTheWay(Option<usize>),
}

impl Fate {
    /// Returns its name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Fate::Skipped => "skipped",
            Fate::Received => "arrived",
            Fate::Useless => "late",
            Fate::Dropped(_) => "dropped",
            Fate::Lost(_) => "lost",
            Fate::InSender | Fate::InQueue(_) => "waiting",
            Fate::OnTheWay(_) => "on-the-way",
        }
    }
}

/// Part of a unit in the shares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// Complete at the receiver.
    Received,
    /// Removed by the network.
    Lost,
    /// Not removed, not arrived, and too old to be of use.
    Overdue,
    /// Can still arrive in time.
    InFlight,
    /// Skipped by the transport's adaptation.
    Skipped,
}

/// Location of a missing unit that neither a link nor the sender's queue holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Elsewhere {
    /// In a rate-controlled sender, which has abandoned the unit or will retransmit it.
    Sender,
    /// At the receiver, or between host and network.
    Receiver,
    /// Unknown: foreign code carried the unit and can have lost packets of it.
    Hidden,
}

/// How a flow's transport handles units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carriage {
    /// It retransmits until all data has arrived.
    pub delivers_all: bool,
    /// It retransmits lost data, or sends copies.
    pub repairs: bool,
    /// The sender's queue holds unsent units created at or after this time.
    pub held: Instant,
    pub elsewhere: Elsewhere,
}

/// Deadline after which a missing unit is overdue.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deadline {
    /// Never: the object is wanted complete.
    Never,
    /// Overdue if created at this time or earlier.
    MadeBy(Instant),
}

impl Deadline {
    /// Returns the deadline at `end`, the end of the run. Units stay useful for `longest`, or for the delay of the
    /// latest arrivals if that is longer.
    pub fn from_units(log: &UnitLog, longest: Span, end: Instant) -> Self {
        let mut received: Vec<(Instant, Instant)> = (log.units.iter())
            .filter(|unit| unit.arrived != Instant::NEVER)
            .map(|unit| (unit.arrived, unit.created))
            .collect();
        let before = received.len().saturating_sub(LATEST);
        if before > 0 {
            received.select_nth_unstable(before - 1);
        }
        let delays = received.iter().skip(before).map(|&(arrived, created)| arrived - created);
        Deadline::from_patience(delays.max().unwrap_or_default().max(longest), end)
    }

    /// Returns the deadline at `end`, the end of the run, for units that stay useful for `patience`.
    pub fn from_patience(patience: Span, end: Instant) -> Self {
        Deadline::MadeBy(Instant::ZERO + end.span_since(Instant::ZERO + patience))
    }
}

/// Rules that determine the fates of a flow's units.
pub(crate) struct UnitsDue {
    /// Units created before this time are not measured.
    pub from: Instant,
    pub deadline: Deadline,
    pub carriage: Carriage,
}

impl UnitsDue {
    /// Whether a unit was created in the window and is not comfort noise.
    pub fn is_measured(&self, unit: &LoggedUnit) -> bool {
        unit.created >= self.from && !unit.noise
    }

    fn is_overdue(&self, unit: &LoggedUnit) -> bool {
        matches!(self.deadline, Deadline::MadeBy(latest) if unit.created <= latest)
    }

    /// Returns the fate of a unit.
    pub fn fate(&self, unit: &LoggedUnit) -> Fate {
        let Carriage { delivers_all, repairs, held, elsewhere } = self.carriage;
        if unit.skipped {
            return Fate::Skipped;
        }
        if unit.arrived != Instant::NEVER {
            return Fate::Received;
        }
        if let Some((removal, link)) = unit.removed().filter(|_| !delivers_all) {
            return match removal {
                // The transport may still repair it in time.
                _ if repairs && !self.is_overdue(unit) => Fate::InSender,
                Removal::Dropped => Fate::Dropped(link),
                Removal::Lost => Fate::Lost(Some(link)),
            };
        }
        match (unit.pending(), elsewhere) {
            (Some((Pending::Queued, link)), _) => Fate::InQueue(link),
            (Some((Pending::OnWire, link)), _) => Fate::OnTheWay(Some(link)),
            _ if delivers_all || unit.created >= held => Fate::InSender,
            (None, Elsewhere::Sender) => Fate::InSender,
            (None, _) if !self.is_overdue(unit) => Fate::OnTheWay(None),
            (None, Elsewhere::Receiver) => Fate::Useless,
            (None, Elsewhere::Hidden) => Fate::Lost(None),
        }
    }

    /// Returns the part of a unit in the shares.
    pub fn outcome(&self, unit: &LoggedUnit) -> Outcome {
        match self.fate(unit) {
            Fate::Skipped => Outcome::Skipped,
            Fate::Received => Outcome::Received,
            Fate::Dropped(_) | Fate::Lost(_) => Outcome::Lost,
            Fate::Useless => Outcome::Overdue,
            Fate::InSender | Fate::InQueue(_) | Fate::OnTheWay(_) if self.is_overdue(unit) => Outcome::Overdue,
            Fate::InSender | Fate::InQueue(_) | Fate::OnTheWay(_) => Outcome::InFlight,
        }
    }

    /// Iterates over the units that count, with their outcome. Excludes units made before the window, noise, skipped
    /// units and units in flight.
    pub fn judged<'a>(&'a self, log: &'a UnitLog) -> impl Iterator<Item = (&'a LoggedUnit, Outcome)> {
        (log.units.iter().filter(|unit| self.is_measured(unit)))
            .map(|unit| (unit, self.outcome(unit)))
            .filter(|(_, outcome)| matches!(outcome, Outcome::Received | Outcome::Lost | Outcome::Overdue))
    }

    /// Counts the units of the window.
    pub fn tally(&self, log: &UnitLog) -> Tally {
        let mut tally = Tally::default();
        for unit in log.units.iter().filter(|unit| self.is_measured(unit)) {
            // Most have arrived.
            if unit.arrived != Instant::NEVER && !unit.skipped {
                tally.received += 1;
                continue;
            }
            let (fate, outcome) = (self.fate(unit), self.outcome(unit));
            match outcome {
                Outcome::Received => tally.received += 1,
                Outcome::Lost => tally.lost += 1,
                Outcome::Overdue => tally.overdue += 1,
                Outcome::InFlight => tally.in_flight += 1,
                Outcome::Skipped => {
                    tally.skipped += 1;
                    continue;
                }
            }
            match tally.missing.iter_mut().find(|(known, _)| *known == fate) {
                Some((_, count)) => *count += 1,
                None => tally.missing.push((fate, 1)),
            }
        }
        tally
    }
}

/// Number of units of a flow per outcome and per fate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub received: u64,
    pub lost: u64,
    pub overdue: u64,
    pub in_flight: u64,
    pub skipped: u64,
    /// Fates of the missing units (not arrived, not skipped), in order of first appearance.
    pub missing: Vec<(Fate, u64)>,
}

#[cfg(test)]
mod tests {
    use fairwave_core::packet::CarriedUnit;
    use fairwave_core::traffic::{FrameType, Unit};

    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    const COMPLETE: fn(u32) -> CarriedUnit = |unit| CarriedUnit { unit, is_complete: true };

    /// Logs a unit every 20 ms from 0 to 10 s. Each takes `delay`, unless `lost` makes link 7 drop it.
    fn log(delay: u64, lost: impl Fn(u32) -> bool) -> UnitLog {
        let mut log = UnitLog::new(&[Span::from_millis(300)], ms(1000));
        for number in 0..500 {
            let created = ms(20 * u64::from(number));
            log.sent(&Unit { id: number, payload: 160, created, layer: 0, frame_type: FrameType::None });
            if lost(number) {
                log.remove(COMPLETE(number), Removal::Dropped, 7);
            } else if created + Span::from_millis(delay) <= ms(10_000) {
                log.received(number, created + Span::from_millis(delay));
            }
        }
        log
    }

    const DATAGRAMS: Carriage =
        Carriage { delivers_all: false, repairs: false, held: Instant::NEVER, elsewhere: Elsewhere::Receiver };

    fn due(log: &UnitLog, carriage: Carriage) -> UnitsDue {
        let deadline = Deadline::from_units(log, Span::from_millis(300), ms(10_000));
        UnitsDue { from: log.from, deadline, carriage }
    }

    /// Returns the numbers received, lost, overdue, in flight.
    fn counts(log: &UnitLog, due: &UnitsDue) -> [u64; 4] {
        let Tally { received, lost, overdue, in_flight, ref missing, .. } = due.tally(log);
        assert_eq!(missing.iter().map(|(_, count)| count).sum::<u64>(), lost + overdue + in_flight);
        [received, lost, overdue, in_flight]
    }

    fn count_datagrams(log: &UnitLog) -> [u64; 4] {
        counts(log, &due(log, DATAGRAMS))
    }

    /// Logs 10 s of units; units created at 8 s or later do not arrive.
    fn held_up(lost: impl Fn(u32) -> bool) -> UnitLog {
        let mut log = log(50, lost);
        log.units.iter_mut().skip(400).for_each(|unit| unit.arrived = Instant::NEVER);
        log
    }

    #[test]
    fn on_no_path_are_the_units_that_the_end_cuts_off_lost() {
        assert_eq!(count_datagrams(&log(150, |_| false)), [450 - 7, 0, 0, 7]);
        assert_eq!(count_datagrams(&log(700, |_| false)), [450 - 34, 0, 0, 34]);
    }

    #[test]
    fn removed_units_are_lost_at_any_age_and_losses_of_the_warm_up_are_not_counted() {
        assert_eq!(count_datagrams(&log(150, |number| number < 50)), [443, 0, 0, 7]);
        assert_eq!(count_datagrams(&log(150, |number| number >= 490)), [440, 10, 0, 0]);
    }

    #[test]
    fn queued_units_are_overdue_or_in_flight_and_never_lost() {
        let mut log = held_up(|_| false);
        (400..490).for_each(|unit| log.keep_pending(unit, Pending::Queued, 3));
        (490..500).for_each(|unit| log.keep_pending(unit, Pending::OnWire, 3));
        let due = due(&log, DATAGRAMS);
        assert_eq!(counts(&log, &due), [350, 0, 86, 14]);
        assert_eq!([due.fate(&log.units[450]), due.fate(&log.units[495])], [Fate::InQueue(3), Fate::OnTheWay(Some(3))]);
    }

    #[test]
    fn units_in_a_sender_count_as_waiting_there() {
        let log = held_up(|number| number == 399);
        let all = due(&log, Carriage { delivers_all: true, repairs: true, ..DATAGRAMS });
        assert_eq!(counts(&log, &all), [349, 0, 87, 14], "what is lost will be sent again");
        assert_eq!(all.fate(&log.units[399]), Fate::InSender);
        let held = due(&log, Carriage { held: ms(8000), elsewhere: Elsewhere::Sender, ..DATAGRAMS });
        assert_eq!(counts(&log, &held), [349, 1, 86, 14]);
        assert_eq!([held.fate(&log.units[399]), held.fate(&log.units[400])], [Fate::Dropped(7), Fate::InSender]);
    }

    #[test]
    fn repairable_units_are_lost_once_they_are_too_old() {
        let log = held_up(|number| number == 450 || number == 495);
        let repaired = due(&log, Carriage { repairs: true, ..DATAGRAMS });
        assert_eq!([450, 495].map(|unit| repaired.fate(&log.units[unit])), [Fate::Dropped(7), Fate::InSender]);
    }

    #[test]
    fn a_copy_on_its_way_makes_up_for_a_lost_packet_but_not_for_a_lost_part() {
        let mut log = held_up(|number| number == 450 || number == 451);
        log.remove(CarriedUnit { unit: 451, is_complete: false }, Removal::Lost, 8);
        for unit in [450, 451] {
            log.keep_pending(unit, Pending::OnWire, 3);
        }
        let due = due(&log, DATAGRAMS);
        assert_eq!([450, 451].map(|unit| due.fate(&log.units[unit])), [Fate::OnTheWay(Some(3)), Fate::Dropped(7)]);
    }

    #[test]
    fn unexplained_units_are_at_the_receiver_or_hidden_by_foreign_stacks() {
        let log = held_up(|_| false);
        let of = |elsewhere| {
            let due = due(&log, Carriage { elsewhere, ..DATAGRAMS });
            [450, 495].map(|unit: usize| due.fate(&log.units[unit]))
        };
        assert_eq!(of(Elsewhere::Receiver), [Fate::Useless, Fate::OnTheWay(None)]);
        assert_eq!(of(Elsewhere::Hidden), [Fate::Lost(None), Fate::OnTheWay(None)]);
    }

    #[test]
    fn a_frame_is_overdue_once_its_showing_is_over_and_a_file_never_is() {
        let log = held_up(|_| false);
        let of = |deadline| counts(&log, &UnitsDue { from: log.from, deadline, carriage: DATAGRAMS });
        assert_eq!(of(Deadline::from_patience(Span::from_millis(200), ms(10_000))), [350, 0, 91, 9]);
        assert_eq!(of(Deadline::from_patience(Span::from_millis(900), ms(10_000))), [350, 0, 56, 44]);
        assert_eq!(of(Deadline::Never), [350, 0, 0, 100]);
    }
}
