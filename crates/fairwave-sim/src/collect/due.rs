//! What became of each unit of a flow, and which units a run can judge.
//!
//! The *fate* of a unit is taken from records: its receiver had all of it, a queue dropped or a wire lost a packet of it, a queue
//! or a wire has a packet of it when the run ends, or its sender still holds it. No fate depends on the unit's age.
//!
//! The *outcome* of a unit is its part in the shares (`lost`, `missed`, `late`). What has arrived, and what the network removed,
//! always counts. What has not arrived and was not removed is *overdue* when it is too old to be of use: its user misses it,
//! but it is not lost. All else is *in flight* and counts in no share, as it may arrive in time. A frame of a video is overdue
//! once its showing is over. Any other unit is overdue when it is older than both the flow's longest threshold of timeliness
//! and the longest delay of the units that arrived last. So no path is too long for its units to count as in flight.
//! What an application wants as a whole is never overdue.

use fairwave_core::units::{Instant, Span};

use crate::unit_log::{LoggedUnit, Pending, Removal, UnitLog};

/// How many of the units that arrived last tell how long a unit takes (**assumption**: two seconds of a call).
const LATEST: usize = 100;

/// What became of a unit by the end of the run. Links are indices of the plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// Left out by the transport's adaptation.
    Skipped,
    /// Complete at the receiver.
    Received,
    /// Its receiver has a part of it and will not use it: it is incomplete or undecodable, or came too late for the transport.
    Useless,
    /// A queue dropped a packet of it.
    Dropped(usize),
    /// A wire lost a packet of it; none where the code of others hides the wire.
    Lost(Option<usize>),
    /// Its sender holds it: not sent yet, to be sent again, or given up.
    InSender,
    /// It waits in the queue of a link.
    InQueue(usize),
    /// In transmission, on the wire of a link, or between network and application.
    OnTheWay(Option<usize>),
}

impl Fate {
    /// Its name in tables.
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

/// The part of a unit in the shares.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// Complete at the receiver.
    Received,
    /// Removed by the network.
    Lost,
    /// Not removed, not arrived, and too old to be of use.
    Overdue,
    /// May still arrive in time.
    InFlight,
    /// Left out by the transport's adaptation.
    Skipped,
}

/// Where a unit is that has not arrived, of which no link knows and which its sender's queue does not hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Elsewhere {
    /// In a sender that controls its rate: it has given the unit up, or will send it again.
    Sender,
    /// At the receiver, or between host and network.
    Receiver,
    /// Unknown: code of others carried the unit, and packets of it may be lost.
    Hidden,
}

/// How a flow's transport treats units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carriage {
    /// It sends again until all has arrived.
    pub delivers_all: bool,
    /// It sends lost data again, or copies.
    pub repairs: bool,
    /// The sender's queue holds what was made from here on and has not been sent.
    pub held: Instant,
    pub elsewhere: Elsewhere,
}

/// When a unit that has not arrived is overdue.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deadline {
    /// Never: it is wanted as a whole.
    Never,
    /// Made at this moment or before.
    MadeBy(Instant),
}

impl Deadline {
    /// For units of use for `longest` or for as long as the latest arrivals took, at the `end` of the run.
    pub fn of_units(log: &UnitLog, longest: Span, end: Instant) -> Self {
        let mut received: Vec<(Instant, Instant)> = (log.units.iter())
            .filter(|unit| unit.arrived != Instant::NEVER)
            .map(|unit| (unit.arrived, unit.created))
            .collect();
        let before = received.len().saturating_sub(LATEST);
        if before > 0 {
            received.select_nth_unstable(before - 1);
        }
        let delays = received.iter().skip(before).map(|&(arrived, created)| arrived - created);
        Deadline::after(delays.max().unwrap_or_default().max(longest), end)
    }

    /// For units of use for `patience`, at the `end` of the run.
    pub fn after(patience: Span, end: Instant) -> Self {
        Deadline::MadeBy(Instant::ZERO + end.since(Instant::ZERO + patience))
    }
}

/// What became of a flow's units.
pub(crate) struct UnitsDue {
    /// Units made earlier are not measured.
    pub from: Instant,
    pub deadline: Deadline,
    pub carriage: Carriage,
}

impl UnitsDue {
    /// Whether a unit was made in the window, and is not comfort noise.
    pub fn is_measured(&self, unit: &LoggedUnit) -> bool {
        unit.created >= self.from && !unit.noise
    }

    fn is_overdue(&self, unit: &LoggedUnit) -> bool {
        matches!(self.deadline, Deadline::MadeBy(latest) if unit.created <= latest)
    }

    /// What became of a unit.
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
                // It may be repaired in time.
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

    /// The part of a unit in the shares.
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

    /// The units that count, with their part in the shares: made in the window, and neither noise, nor left out, nor in flight.
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

/// How many units of a flow had which part in the shares, and which fate.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub received: u64,
    pub lost: u64,
    pub overdue: u64,
    pub in_flight: u64,
    pub skipped: u64,
    /// The fates of those that have not arrived and were not skipped, in order of first appearance.
    pub missing: Vec<(Fate, u64)>,
}

#[cfg(test)]
mod tests {
    use fairwave_core::packet::CarriedUnit;
    use fairwave_core::traffic::{FrameType, Unit};

    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    const WHOLE: fn(u32) -> CarriedUnit = |unit| CarriedUnit { unit, is_whole: true };

    /// A unit every 20 ms from 0 on until 10 s, each of which takes `delay` unless `lost` says that link 7 drops it.
    fn log(delay: u64, lost: impl Fn(u32) -> bool) -> UnitLog {
        let mut log = UnitLog::new(&[Span::from_millis(300)], at(1000));
        for number in 0..500 {
            let created = at(20 * u64::from(number));
            log.sent(&Unit { id: number, payload: 160, created, layer: 0, frame_type: FrameType::None });
            if lost(number) {
                log.remove(WHOLE(number), Removal::Dropped, 7);
            } else if created + Span::from_millis(delay) <= at(10_000) {
                log.received(number, created + Span::from_millis(delay));
            }
        }
        log
    }

    const DATAGRAMS: Carriage =
        Carriage { delivers_all: false, repairs: false, held: Instant::NEVER, elsewhere: Elsewhere::Receiver };

    fn due(log: &UnitLog, carriage: Carriage) -> UnitsDue {
        let deadline = Deadline::of_units(log, Span::from_millis(300), at(10_000));
        UnitsDue { from: log.from, deadline, carriage }
    }

    /// Received, lost, overdue, in flight.
    fn counts(log: &UnitLog, due: &UnitsDue) -> [u64; 4] {
        let Tally { received, lost, overdue, in_flight, ref missing, .. } = due.tally(log);
        assert_eq!(missing.iter().map(|(_, count)| count).sum::<u64>(), lost + overdue + in_flight);
        [received, lost, overdue, in_flight]
    }

    fn of_datagrams(log: &UnitLog) -> [u64; 4] {
        counts(log, &due(log, DATAGRAMS))
    }

    /// What was made from 8 s on has not arrived.
    fn held_up(lost: impl Fn(u32) -> bool) -> UnitLog {
        let mut log = log(50, lost);
        log.units.iter_mut().skip(400).for_each(|unit| unit.arrived = Instant::NEVER);
        log
    }

    #[test]
    fn on_no_path_are_the_units_that_the_end_cuts_off_lost() {
        assert_eq!(of_datagrams(&log(150, |_| false)), [450 - 7, 0, 0, 7]);
        assert_eq!(of_datagrams(&log(700, |_| false)), [450 - 34, 0, 0, 34]);
    }

    #[test]
    fn what_is_removed_is_lost_however_young_and_what_the_warm_up_lost_counts_nowhere() {
        assert_eq!(of_datagrams(&log(150, |number| number < 50)), [443, 0, 0, 7]);
        assert_eq!(of_datagrams(&log(150, |number| number >= 490)), [440, 10, 0, 0]);
    }

    #[test]
    fn what_waits_in_a_queue_is_overdue_or_in_flight_and_never_lost() {
        let mut log = held_up(|_| false);
        (400..490).for_each(|unit| log.keep_pending(unit, Pending::Queued, 3));
        (490..500).for_each(|unit| log.keep_pending(unit, Pending::OnWire, 3));
        let due = due(&log, DATAGRAMS);
        assert_eq!(counts(&log, &due), [350, 0, 86, 14]);
        assert_eq!([due.fate(&log.units[450]), due.fate(&log.units[495])], [Fate::InQueue(3), Fate::OnTheWay(Some(3))]);
    }

    #[test]
    fn what_a_sender_holds_waits_there() {
        let log = held_up(|number| number == 399);
        let all = due(&log, Carriage { delivers_all: true, repairs: true, ..DATAGRAMS });
        assert_eq!(counts(&log, &all), [349, 0, 87, 14], "what is lost will be sent again");
        assert_eq!(all.fate(&log.units[399]), Fate::InSender);
        let held = due(&log, Carriage { held: at(8000), elsewhere: Elsewhere::Sender, ..DATAGRAMS });
        assert_eq!(counts(&log, &held), [349, 1, 86, 14]);
        assert_eq!([held.fate(&log.units[399]), held.fate(&log.units[400])], [Fate::Dropped(7), Fate::InSender]);
    }

    #[test]
    fn what_can_be_repaired_is_lost_once_it_is_too_old() {
        let log = held_up(|number| number == 450 || number == 495);
        let repaired = due(&log, Carriage { repairs: true, ..DATAGRAMS });
        assert_eq!([450, 495].map(|unit| repaired.fate(&log.units[unit])), [Fate::Dropped(7), Fate::InSender]);
    }

    #[test]
    fn a_copy_on_its_way_makes_up_for_a_lost_packet_but_not_for_a_lost_part() {
        let mut log = held_up(|number| number == 450 || number == 451);
        log.remove(CarriedUnit { unit: 451, is_whole: false }, Removal::Lost, 8);
        for unit in [450, 451] {
            log.keep_pending(unit, Pending::OnWire, 3);
        }
        let due = due(&log, DATAGRAMS);
        assert_eq!([450, 451].map(|unit| due.fate(&log.units[unit])), [Fate::OnTheWay(Some(3)), Fate::Dropped(7)]);
    }

    #[test]
    fn what_no_record_explains_is_with_the_receiver_or_hidden_by_code_of_others() {
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
        assert_eq!(of(Deadline::after(Span::from_millis(200), at(10_000))), [350, 0, 91, 9]);
        assert_eq!(of(Deadline::after(Span::from_millis(900), at(10_000))), [350, 0, 56, 44]);
        assert_eq!(of(Deadline::Never), [350, 0, 0, 100]);
    }
}
