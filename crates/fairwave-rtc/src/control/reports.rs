//! Filter for per-packet feedback. Messages may repeat or overtake each other and may revoke a loss; the filter yields
//! only news.

use std::collections::VecDeque;

use fairwave_units::units::Instant;

use super::{PacketReport, SentPacket};

/// Number of packets back to which reports count.
const REMEMBERED: usize = 8192;
/// Largest number of missing packets that may still count as lost.
const WAITING: usize = 1024;

/// News in one report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum News {
    /// Arrived, and was not reported as missing before.
    Arrived,
    /// Missing, for the first time.
    Missing,
    /// Arrived after a message had reported it as missing.
    Recovered,
    /// Nothing: a repetition, or a very old packet.
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PacketStatus {
    Nothing,
    Missing,
    Arrived,
}

/// State of all reports so far.
#[derive(Clone, Debug)]
pub(super) struct Reports {
    known: Vec<PacketStatus>,
    /// Highest reported sequence number plus one.
    end: u64,
    /// Missing packets that do not count as lost yet, in order of sequence number.
    missing: VecDeque<SentPacket>,
    /// Highest sequence numbers that arrived, descending.
    highest: [Option<u64>; 3],
}

impl Default for Reports {
    fn default() -> Self {
        Reports { known: vec![PacketStatus::Nothing; REMEMBERED], end: 0, missing: VecDeque::new(), highest: [None; 3] }
    }
}

impl Reports {
    /// Handles a report and returns its news.
    pub fn take(&mut self, report: &PacketReport) -> News {
        let sequence = report.packet.sequence;
        if sequence.saturating_add(REMEMBERED as u64) < self.end {
            return News::Nothing;
        }
        let end = sequence.saturating_add(1);
        if end > self.end {
            for passed in self.end.max(end.saturating_sub(REMEMBERED as u64))..end {
                self.known[(passed % REMEMBERED as u64) as usize] = PacketStatus::Nothing;
            }
            self.end = end;
        }
        let known = &mut self.known[(sequence % REMEMBERED as u64) as usize];
        let before = *known;
        if report.arrived.is_none() {
            if before != PacketStatus::Nothing {
                return News::Nothing;
            }
            *known = PacketStatus::Missing;
            let place = self.missing.iter().rposition(|other| other.sequence < sequence).map_or(0, |place| place + 1);
            self.missing.insert(place, report.packet);
            if self.missing.len() > WAITING {
                self.missing.pop_front();
            }
            return News::Missing;
        }
        *known = PacketStatus::Arrived;
        if before == PacketStatus::Arrived {
            return News::Nothing;
        }
        let mut number = Some(sequence);
        for place in &mut self.highest {
            if number > *place {
                std::mem::swap(place, &mut number);
            }
        }
        if before == PacketStatus::Missing { News::Recovered } else { News::Arrived }
    }

    /// Returns a lost packet: it is missing, and three with higher numbers have arrived (RFC 5348 §5.1). Each is
    /// returned once, in order. The caller repeats the call until it returns `None`.
    pub fn lost(&mut self) -> Option<SentPacket> {
        while let Some(packet) = self.missing.front().copied() {
            if self.highest[2].is_none_or(|third| third < packet.sequence) {
                return None;
            }
            self.missing.pop_front();
            let is_old = packet.sequence.saturating_add(REMEMBERED as u64) < self.end;
            if is_old || self.known[(packet.sequence % REMEMBERED as u64) as usize] == PacketStatus::Missing {
                return Some(packet);
            }
        }
        None
    }
}

/// Returns the seconds from a time of one clock to a time of another; may be negative because of the clocks' offset.
pub(super) fn signed_delay(sent: Instant, arrived: Instant) -> f64 {
    if arrived >= sent { (arrived - sent).seconds() } else { -(sent - arrived).seconds() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::rig::report;
    use proptest::prelude::*;

    #[test]
    fn news_is_returned_once() {
        let mut reports = Reports::default();
        let news: Vec<_> = [(5, true), (5, true), (6, false), (6, false), (6, true), (6, true), (5, false)]
            .map(|(sequence, arrived)| reports.take(&report(sequence, 10, arrived.then_some(50))))
            .to_vec();
        use News::*;
        assert_eq!(news, [Arrived, Nothing, Missing, Nothing, Recovered, Nothing, Nothing]);
    }

    #[test]
    fn a_missing_packet_is_lost_when_three_later_ones_have_arrived() {
        let mut reports = Reports::default();
        let mut lost = |sequence, arrived: bool| {
            reports.take(&report(sequence, 10, arrived.then_some(50)));
            reports.lost().map(|packet| packet.sequence)
        };
        assert_eq!([lost(1, false), lost(2, true), lost(3, true)], [None; 3]);
        assert_eq!(lost(4, true), Some(1));
        // The same, but the packet arrives in time, so there is no loss.
        assert_eq!(
            [lost(5, false), lost(6, true), lost(7, true), lost(5, true), lost(8, true), lost(9, true)],
            [None; 6]
        );
    }

    #[test]
    fn packets_of_long_ago_are_not_looked_at() {
        let mut reports = Reports::default();
        reports.take(&report(20_000, 10, Some(50)));
        assert_eq!(reports.take(&report(20_001 - 8192, 10, Some(50))), News::Arrived);
        assert_eq!(reports.take(&report(20_000 - 8192, 10, Some(50))), News::Nothing);
    }

    proptest! {
        #[test]
        fn no_numbers_make_it_panic_and_no_packet_is_lost_twice(
            all in prop::collection::vec((prop_oneof![0u64..200, any::<u64>()], any::<bool>()), 0..200),
        ) {
            let (mut reports, mut lost) = (Reports::default(), Vec::new());
            for (sequence, arrived) in all {
                reports.take(&report(sequence, 10, arrived.then_some(50)));
                while let Some(packet) = reports.lost() {
                    lost.push(packet.sequence);
                }
            }
            let number = lost.len();
            lost.sort_unstable();
            lost.dedup();
            prop_assert_eq!(lost.len(), number);
        }
    }
}
