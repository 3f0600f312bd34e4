//! AIAMD under a protocol other than DVRC: a sender in the style of DCCP (RFC 4340). Its receiver reports only which packets
//! arrived (Ack Vectors), over a path simulated per round trip.
//!
//! Paper 002 §6 proposes AIAMD as a rate control of DCCP. This shell needs exactly the interface that AIAMD offers: rates in, rates
//! out, without packets or clocks.

use fairwave_core::random::{Seed, Stream};
use fairwave_core::transport::dvrc::AiamdConfig;
use fairwave_core::transport::dvrc::aiamd::{Aiamd, Verdict};
use fairwave_core::units::{Bytes, Rate, Span};

const SEGMENT: Bytes = Bytes::new(1000);
const ROUND_TRIP: Span = Span::from_millis(100);

/// Content of an Ack Vector for one round trip's packets.
#[derive(Default)]
struct AckVector {
    received: u64,
    lost: u64,
}

/// A path without memory: it carries up to its capacity per round trip, and loses packets at random.
struct Path {
    capacity: Rate,
    loss: f64,
    stream: Stream,
}

impl Path {
    fn carry(&mut self, packets: u64) -> AckVector {
        let room = self.capacity.bits_per_second() / 8 / SEGMENT.get() / 10;
        let mut acks = AckVector::default();
        for place in 0..packets {
            if place >= room || self.stream.chance(self.loss) { acks.lost += 1 } else { acks.received += 1 }
        }
        acks
    }
}

/// The sender: a congestion control identifier with AIAMD's rate. It judges losses on arrival of the acknowledgements.
struct Shell {
    policy: Aiamd,
    verdicts: Vec<Verdict>,
}

impl Shell {
    fn new() -> Self {
        let rate = |kilobits: u64| Rate::from_bits_per_second(kilobits * 1000);
        let policy = Aiamd::new(&AiamdConfig::default(), rate(800), rate(80), rate(20_000)).expect("the defaults");
        Shell { policy, verdicts: Vec::new() }
    }

    /// Sends for a round trip and evaluates its Ack Vector.
    fn round(&mut self, path: &mut Path) {
        let step = SEGMENT.rate_over(ROUND_TRIP);
        let packets = self.policy.rate().bits_per_second() / step.bits_per_second();
        let acks = path.carry(packets);
        if acks.lost == 0 {
            self.policy.on_round_without_loss(step);
        } else {
            let received = Bytes::new(acks.received * SEGMENT.get()).rate_over(ROUND_TRIP);
            self.verdicts.push(self.policy.on_loss_event(received, step));
        }
    }

    fn packets_per_round(&self) -> f64 {
        self.policy.rate().bits_per_second() as f64 / SEGMENT.rate_over(ROUND_TRIP).bits_per_second() as f64
    }
}

fn path(megabits: u64, loss: f64) -> Path {
    Path { capacity: Rate::from_bits_per_second(megabits * 1_000_000), loss, stream: Seed(1).stream("loss") }
}

#[test]
fn without_loss_the_shell_sends_a_packet_more_in_each_round_trip() {
    let (mut shell, mut path) = (Shell::new(), path(100, 0.0));
    for sent in 10..30 {
        assert_eq!(shell.packets_per_round(), f64::from(sent));
        shell.round(&mut path);
    }
}

#[test]
fn a_path_that_loses_its_capacity_halves_the_shells_rate() {
    let (mut shell, mut path) = (Shell::new(), path(4, 0.0));
    for _ in 0..300 {
        shell.round(&mut path);
    }
    let before = shell.packets_per_round();
    path.capacity = Rate::from_bits_per_second(1_000_000);
    shell.round(&mut path);
    assert_eq!(shell.verdicts.last(), Some(&Verdict::Congestion));
    assert!((shell.packets_per_round() - before / 2.0).abs() < 1.0, "{before} → {}", shell.packets_per_round());
}

#[test]
fn random_loss_costs_the_shell_less_than_halving_would() {
    let (mut shell, mut path) = (Shell::new(), path(100, 0.02));
    let mut sum = 0.0;
    for round in 0..2_000 {
        shell.round(&mut path);
        if round >= 200 {
            sum += shell.packets_per_round() / 1_800.0;
        }
    }
    let random = shell.verdicts.iter().filter(|&&verdict| verdict == Verdict::Random).count();
    assert!(random as f64 > 0.8 * shell.verdicts.len() as f64, "{random} of {}", shell.verdicts.len());
    // Halving at each of these losses would give sqrt(3/2p) = 8.7 packets per round trip.
    assert!(sum > 2.0 * 8.7, "{sum}");
}
