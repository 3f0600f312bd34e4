//! Partial reliability: the sender abandons data that the application made too long ago (paper 000 §6 names a
//! partially reliable TCP-Real as its future work).
//!
//! Source: RFC 3758 §4.1, timed reliability. Data that has not been sent within its lifetime is never sent. Data
//! that would have to be retransmitted after its lifetime is *abandoned*. As FORWARD TSN does for SCTP (§3.5,
//! §3.6), a packet of headers alone names the first segment that is not abandoned. The receiver stops waiting for
//! earlier segments, and its acknowledgement confirms it. Congestion control treats repaired and abandoned losses
//! alike.
//!
//! **Assumptions.** Any controller and any recovery may have it. A unit gets its segment number when it is first
//! sent, so unsent units leave no hole. A unit's lifetime is the time from its creation by the application to its
//! transmission. One packet abandons all sent data that is too old, including segments that may still arrive. The
//! receiver drops its held segments of that range, since they are as old as the rest; RFC 3758 §3.6 delivers them.
//! The packet has the size of an acknowledgement.

use std::collections::VecDeque;

use super::pieces::Piece;
use fairwave_units::units::{Instant, Span};

/// Unsent data, with its lifetime.
#[derive(Debug)]
pub(super) struct Lifetime {
    span: Span,
    waiting: VecDeque<Piece>,
    /// One past the last segment that the sender has abandoned.
    forwarded: u32,
}

impl Lifetime {
    /// Creates an empty queue for units with the lifetime `span`.
    pub fn new(span: Span) -> Self {
        Lifetime { span, waiting: VecDeque::new(), forwarded: 0 }
    }

    /// True if the lifetime of data created at `created` is over.
    pub fn is_over(&self, created: Instant, now: Instant) -> bool {
        now.span_since(created) > self.span
    }

    /// Adds data of the application.
    pub fn wait(&mut self, piece: Piece) {
        self.waiting.push_back(piece);
    }

    /// Removes and returns the next data to send.
    pub fn take(&mut self) -> Option<Piece> {
        self.waiting.pop_front()
    }

    /// Discards data past its lifetime. Returns the number of pieces. The oldest data is first.
    pub fn shed(&mut self, now: Instant) -> u32 {
        let mut shed = 0;
        while self.waiting.front().is_some_and(|piece| self.is_over(piece.created, now)) {
            self.waiting.pop_front();
            shed += 1;
        }
        shed
    }

    /// Discards all unsent data.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Records that everything before `next` is abandoned. Returns true if this is new.
    pub fn forward(&mut self, next: u32) -> bool {
        let new = next > self.forwarded;
        self.forwarded = self.forwarded.max(next);
        new
    }
}

#[cfg(test)]
mod tests {
    use super::super::storyboards::{TcpWire, ms, wire};
    use super::super::{Flavour, Preset, TcpConfig};
    use super::*;
    use fairwave_endpoint::Sender;
    use fairwave_endpoint::test_path::PathFate;
    use fairwave_media::traffic::{FrameType, Unit};
    use fairwave_network::packet::Body;
    use fairwave_units::units::Rate;
    use proptest::prelude::*;

    /// Speech of 160 bytes every 20 ms over 100 ms of round trip.
    fn speech(count: u32) -> Vec<Unit> {
        (0..count)
            .map(|id| Unit {
                id,
                payload: 160,
                created: ms(300 + 20 * u64::from(id)),
                layer: 0,
                frame_type: FrameType::None,
            })
            .collect()
    }

    fn config(deadline: Option<u64>) -> TcpConfig {
        TcpConfig { preset: Preset::Ns2, deadline: deadline.map(Span::from_millis), ..TcpConfig::rfc() }
    }

    const ALL: [Flavour; 5] = [Flavour::Tahoe, Flavour::Reno, Flavour::Newreno, Flavour::Sack, Flavour::Vegas];

    /// A path on which every transmission of these segments is lost.
    fn blocked(flavour: Flavour, deadline: Option<u64>, lost: &'static [u32], units: u32) -> TcpWire {
        let mut path = wire(flavour, &config(deadline), false);
        path.units = speech(units);
        path.fate = Box::new(move |_, _, packet| match packet.body {
            Body::Segment { sequence, .. } if lost.contains(&sequence) => PathFate::Lose,
            _ => PathFate::Pass,
        });
        path
    }

    #[test]
    fn old_units_are_given_up_and_the_rest_goes_on() {
        for flavour in ALL {
            let mut path = blocked(flavour, Some(90), &[10, 11], 60);
            path.run_until(ms(4000));
            let units: Vec<u32> = path.deliveries.iter().map(|(_, delivery)| delivery.unit).collect();
            let forwards = path.sent.iter().filter(|(_, packet)| matches!(packet.body, Body::Forward { .. })).count();
            assert!(forwards > 0, "{flavour:?}");
            assert!(!units.contains(&9) && !units.contains(&10), "{flavour:?}: {units:?}");
            assert!(units.contains(&59) && units.is_sorted(), "{flavour:?}: {units:?}");
            assert_eq!(path.sender.deadline(), Instant::NEVER, "{flavour:?}: nothing is left to wait for");
        }
    }

    #[test]
    fn loss_blocks_the_line_if_there_is_no_deadline() {
        let mut path = blocked(Flavour::Newreno, None, &[10], 60);
        path.run_until(ms(4000));
        assert_eq!(path.deliveries.last().map(|(_, delivery)| delivery.unit), Some(8));
    }

    #[test]
    fn young_units_are_sent_again() {
        let mut path = blocked(Flavour::Newreno, Some(1000), &[], 60);
        path.fate = Box::new(|_, _, packet| match packet.body {
            Body::Segment { sequence: 10, retransmission: false, .. } => PathFate::Lose,
            _ => PathFate::Pass,
        });
        path.run_until(ms(4000));
        let units: Vec<u32> = path.deliveries.iter().map(|(_, delivery)| delivery.unit).collect();
        assert_eq!(units, (0..60).collect::<Vec<u32>>());
    }

    #[test]
    fn units_that_wait_too_long_are_never_sent_and_leave_no_hole() {
        // 80 kb/s with headers through 20 kb/s: once the window is full, three of four units cannot be sent.
        let mut path = wire(Flavour::Newreno, &config(Some(300)), false);
        path.units = speech(200);
        path.bottleneck = Some(Rate::from_bits_per_second(20_000));
        path.run_until(ms(20_000));
        let data = path.sent.iter().filter(|(_, packet)| matches!(packet.body, Body::Segment { sequence: 1.., .. }));
        let mut numbers: Vec<u32> = data
            .map(|(sent, packet)| match packet.body {
                Body::Segment { sequence, created, .. } => {
                    assert!(sent.span_since(created) <= Span::from_millis(300), "segment {sequence} left too late");
                    sequence
                }
                _ => 0,
            })
            .collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert!((30..150).contains(&numbers.len()), "{} of 200", numbers.len());
        assert_eq!(numbers, (1..=numbers.len() as u32).collect::<Vec<u32>>());
        let last = path.deliveries.last().expect("something arrived");
        assert!(last.1.unit > 190, "the latest speech goes out: {}", last.1.unit);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn random_losses_leave_the_rest_once_in_order_and_an_idle_sender(
            lost in prop::collection::vec(prop::bool::weighted(0.2), 400), flavour in 0usize..5, deadline in 40u64..400,
        ) {
            let mut path = wire(ALL[flavour], &config(Some(deadline)), false);
            path.units = speech(100);
            path.fate = Box::new(move |number, _, _| match lost.get(number as usize) {
                Some(true) => PathFate::Lose,
                _ => PathFate::Pass,
            });
            // Long enough for a first packet that is lost ten times, with a timeout that doubles up to 60 s.
            path.run_until(ms(600_000));
            let units: Vec<u32> = path.deliveries.iter().map(|(_, delivery)| delivery.unit).collect();
            prop_assert!(units.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", units);
            prop_assert_eq!(path.sender.deadline(), Instant::NEVER);
            prop_assert_eq!(path.sender.connection.una(), path.sender.connection.max());
        }
    }

    #[test]
    fn a_lost_word_of_giving_up_is_said_again() {
        let mut path = blocked(Flavour::Newreno, Some(90), &[10], 60);
        let mut lost = 0;
        path.fate = Box::new(move |_, _, packet| match packet.body {
            Body::Segment { sequence: 10, .. } => PathFate::Lose,
            Body::Forward { .. } if lost < 2 => {
                lost += 1;
                PathFate::Lose
            }
            _ => PathFate::Pass,
        });
        path.run_until(ms(6000));
        assert_eq!(path.deliveries.last().map(|(_, delivery)| delivery.unit), Some(59));
    }
}
