//! COBALT: CoDel for responsive flows combined with BLUE for unresponsive flows (sch_cake).
//!
//! CoDel in CAKE's version. A packet that has waited longer than `target`, and longer than the transmission time of four of
//! the largest packets, starts a dropping state. An interval later, and then interval/√n after each signal, a packet is
//! marked, or dropped if it cannot be marked. When the delay is short again, the number of signals counts down at the same
//! pace instead of being reset. BLUE's probability of dropping grows by 1/256 when the buffer overflows and shrinks by
//! 1/4096 when the queue is empty at its turn. Each change happens at most once per `target`. BLUE does not mark.
//!
//! **Deviation.** Square roots are exact; Linux approximates them by a Newton step.

use crate::packet::Packet;
use fairwave_units::random::Stream;
use fairwave_units::units::{Instant, Span};

/// Parameters of COBALT for all queues of a tin.
#[derive(Clone, Debug)]
pub struct Settings {
    pub target: Span,
    pub interval: Span,
    /// Transmission time of the largest packet at the tin's rate; zero if the rate is not limited.
    pub packet_time: Span,
}

/// COBALT's state for one queue.
#[derive(Clone, Debug, Default)]
pub struct Cobalt {
    /// CoDel's signals that have not been counted down.
    pub count: u32,
    /// Time at which the next signal is due. Without signals, the time until which the queue is not at rest.
    pub due: Instant,
    pub dropping: bool,
    /// BLUE's drop probability.
    pub probability: f64,
    /// Time of the last change of `probability`.
    changed: Instant,
}

const UP: f64 = 1.0 / 256.0;
const DOWN: f64 = 1.0 / 4096.0;

impl Cobalt {
    fn next_signal(&self, set: &Settings, from: Instant) -> Instant {
        from + set.interval.scaled(1.0 / libm::sqrt(f64::from(self.count.max(1))))
    }

    /// Handles an overflow drop of a packet of the queue.
    pub fn overflowed(&mut self, set: &Settings, now: Instant) {
        if now.span_since(self.changed) > set.target {
            self.probability = (self.probability + UP).min(1.0);
            self.changed = now;
        }
        (self.dropping, self.due, self.count) = (true, now, self.count.max(1));
    }

    /// Handles a turn of the empty queue.
    pub fn was_empty(&mut self, set: &Settings, now: Instant) {
        if self.probability > 0.0 && now.span_since(self.changed) > set.target {
            self.probability = (self.probability - DOWN).max(0.0);
            self.changed = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.due {
            self.count -= 1;
            self.due = self.next_signal(set, self.due);
        }
    }

    /// Whether the state equals that of a new queue.
    pub fn is_at_rest(&self, now: Instant) -> bool {
        self.probability == 0.0 && self.count == 0 && now >= self.due
    }

    /// Whether to drop a packet that leaves after this delay. Marks the packet instead if that is allowed.
    pub fn drops(
        &mut self,
        set: &Settings,
        now: Instant,
        packet: &mut Packet,
        waited: Span,
        random: &mut Stream,
    ) -> bool {
        let mut late = now > self.due;
        let mut signals = self.count > 0 && now >= self.due;
        if waited > set.target && waited > set.packet_time * 4 {
            if !self.dropping {
                self.dropping = true;
                self.due = self.next_signal(set, now);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let mut drop = false;
        if signals && self.dropping {
            drop = !packet.mark();
            self.count = self.count.saturating_add(1);
            self.due = self.next_signal(set, self.due);
            late = now > self.due;
        }
        while signals && !self.dropping {
            self.count -= 1;
            self.due = self.next_signal(set, self.due);
            late = now > self.due;
            signals = self.count > 0 && now >= self.due;
        }
        if self.probability > 0.0 {
            drop |= random.chance(self.probability);
        }
        if self.count == 0 {
            self.due = now + set.interval;
        } else if late && !drop {
            self.due = now;
        }
        drop
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{packet, stream};
    use super::*;
    use crate::packet::{Class, Ecn};

    fn set() -> Settings {
        Settings { target: Span::from_millis(5), interval: Span::from_millis(100), packet_time: Span::from_millis(1) }
    }

    fn instant(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    /// Serves one packet per millisecond, each after this delay. Returns the times of drops and of marks.
    fn signals(cobalt: &mut Cobalt, from: u64, millis: u64, waited: u64, ecn: Ecn) -> (Vec<u64>, Vec<u64>) {
        let (mut drops, mut marks, mut random) = (Vec::new(), Vec::new(), stream());
        for now in from..from + millis {
            let mut packet = Packet { ecn, ..packet(0, 1000, Class::Tcp) };
            if cobalt.drops(&set(), instant(now), &mut packet, Span::from_millis(waited), &mut random) {
                drops.push(now);
            } else if packet.ecn == Ecn::Ce {
                marks.push(now);
            }
        }
        (drops, marks)
    }

    #[test]
    fn signals_come_an_interval_over_the_square_root_of_their_number_apart() {
        for ecn in [Ecn::NotEct, Ecn::Ect0] {
            let mut cobalt = Cobalt::default();
            signals(&mut cobalt, 1, 1, 0, ecn);
            let (drops, marks) = signals(&mut cobalt, 2, 1000, 20, ecn);
            let (times, none) = if ecn == Ecn::NotEct { (drops, marks) } else { (marks, drops) };
            assert!(none.is_empty() && times.len() > 15, "{times:?}");
            let mut due = 102.0;
            for (n, &time) in times.iter().enumerate() {
                assert_eq!(time, libm::ceil(due - 1e-6) as u64, "signal {n} of {times:?}");
                due += 100.0 / libm::sqrt((n + 2) as f64);
            }
        }
    }

    #[test]
    fn delay_up_to_the_target_or_four_packets_is_no_congestion() {
        let mut slow = set();
        slow.packet_time = Span::from_millis(10);
        for (set, waited, expected) in
            [(set(), 5, false), (set(), 6, true), (slow.clone(), 40, false), (slow, 41, true)]
        {
            let (mut cobalt, mut packet, mut random) = (Cobalt::default(), packet(0, 1000, Class::Tcp), stream());
            cobalt.drops(&set, instant(1), &mut packet, Span::from_millis(waited), &mut random);
            assert_eq!(cobalt.dropping, expected, "{waited}");
        }
    }

    #[test]
    fn signals_are_counted_down_after_congestion() {
        let mut cobalt = Cobalt::default();
        signals(&mut cobalt, 1, 1, 0, Ecn::NotEct);
        signals(&mut cobalt, 2, 1000, 20, Ecn::NotEct);
        let many = cobalt.count;
        signals(&mut cobalt, 1002, 100, 1, Ecn::NotEct);
        assert!(many > 15 && cobalt.count < many && cobalt.count > 1, "{many} {}", cobalt.count);
        signals(&mut cobalt, 1102, 2000, 1, Ecn::NotEct);
        assert_eq!((cobalt.count, cobalt.dropping), (0, false));
    }

    #[test]
    fn blue_grows_with_overflow_and_shrinks_with_emptiness_once_in_a_target() {
        let mut cobalt = Cobalt::default();
        for millis in 6..26 {
            cobalt.overflowed(&set(), instant(millis));
        }
        // At 6, 12, 18 and 24 ms.
        assert!((cobalt.probability - 4.0 / 256.0).abs() < 1e-12, "{}", cobalt.probability);
        for millis in 26..56 {
            cobalt.was_empty(&set(), instant(millis));
        }
        // At 30, 36, 42, 48 and 54 ms.
        assert!((cobalt.probability - 4.0 / 256.0 + 5.0 / 4096.0).abs() < 1e-12, "{}", cobalt.probability);
        assert!(!cobalt.is_at_rest(instant(10_000)));
    }

    #[test]
    fn blue_drops_by_its_probability_and_does_not_mark() {
        let mut cobalt = Cobalt { probability: 0.25, ..Cobalt::default() };
        let (drops, marks) = signals(&mut cobalt, 1, 4000, 0, Ecn::Ect0);
        assert!(drops.len().abs_diff(1000) < 100 && marks.is_empty(), "{}", drops.len());
    }

    #[test]
    fn a_queue_is_at_rest_an_interval_after_its_last_packet() {
        let mut cobalt = Cobalt::default();
        signals(&mut cobalt, 7, 1, 0, Ecn::NotEct);
        assert!(!cobalt.is_at_rest(instant(106)) && cobalt.is_at_rest(instant(107)));
    }
}
