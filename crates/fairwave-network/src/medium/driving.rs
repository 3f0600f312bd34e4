//! Test helper: drives a medium by hand, packet by packet, and records the outcome of each packet.

use serde_json::json;

use super::{Medium, MediumOutcomes, Member};
use crate::dscp::Dscp;
use crate::packet::{Body, Class, Ecn, FlowId, Packet};
use crate::queue::{Capacity, DisciplineConfig, DropReason, QueueConfig};
use fairwave_units::units::Instant;

/// A medium with the history of its packets.
pub(super) struct Driven<M> {
    pub medium: M,
    pub now: Instant,
    pub outcomes: MediumOutcomes,
    /// Time, member and packet number.
    pub delivered: Vec<(f64, usize, u32)>,
    pub lost: Vec<(usize, u32)>,
    pub dropped: Vec<(usize, DropReason)>,
    pub begun: u64,
    pub arrived: Vec<u32>,
    pub timers: u64,
}

/// A hub and other nodes, `PREFIX0`, `PREFIX1` …: member 2i is the direction from the hub to node i, member 2i + 1 the
/// reverse.
pub(super) fn members(hub: &str, prefix: &str, others: usize, queue: &QueueConfig) -> Vec<Member> {
    let member = |from: String, to: String| Member { name: format!("{from}>{to}"), from, to, queue: queue.clone() };
    let both = |other| {
        let name = format!("{prefix}{other}");
        [member(hub.to_owned(), name.clone()), member(name, hub.to_owned())]
    };
    (0..others).flat_map(both).collect()
}

/// A queue with room for `packets` packets.
pub(super) fn queue(discipline: &str, packets: u32) -> QueueConfig {
    let law: DisciplineConfig = serde_json::from_value(json!({ "discipline": discipline })).expect("a queue");
    QueueConfig::new(Capacity::Packets(packets), law)
}

/// A datagram of `wire` bytes.
pub(super) fn packet(number: u32, wire: u16, dscp: Dscp) -> Packet {
    let body = Body::Datagram { payload: 100, sequence: number, unit: 0, part: 0, parts: 1, created: Instant::ZERO };
    Packet { flow: FlowId(0), wire, class: Class::OtherUdp, feedback: false, ecn: Ecn::Ect1, dscp, layer: 0, body }
}

/// Checks that a value is within a relative tolerance of the expected one.
pub(super) fn assert_near(value: f64, expected: f64, part: f64) {
    assert!((value / expected - 1.0).abs() < part, "{value} instead of {expected}");
}

impl<M: Medium> Driven<M> {
    /// Returns the medium with `members` members at time 0.
    pub fn new(medium: M, members: usize) -> Self {
        Driven {
            medium,
            now: Instant::ZERO,
            outcomes: MediumOutcomes::default(),
            delivered: Vec::new(),
            lost: Vec::new(),
            dropped: Vec::new(),
            begun: 0,
            arrived: vec![0; members],
            timers: 0,
        }
    }

    pub fn note(&mut self) {
        let number = |packet: &Packet| packet.sequence().expect("a number");
        let now = self.now.seconds();
        self.delivered.extend(self.outcomes.delivered.iter().map(|(member, p)| (now, *member, number(p))));
        self.lost.extend(self.outcomes.lost.iter().map(|(member, p)| (*member, number(p))));
        self.dropped.extend(self.outcomes.dropped.iter().map(|(member, _, reason)| (*member, *reason)));
        self.begun += self.outcomes.begun.len() as u64;
        self.outcomes.clear();
    }

    pub fn run_until(&mut self, seconds: f64) {
        let end = Instant::from_seconds(seconds);
        while self.medium.deadline() <= end {
            let deadline = self.medium.deadline();
            assert!(deadline >= self.now, "time runs back");
            self.now = deadline;
            self.timers += 1;
            self.medium.on_timer(self.now, &mut self.outcomes);
            self.note();
            assert!(self.medium.deadline() > self.now, "the next deadline is later");
        }
        self.now = end;
    }

    pub fn arrives_as(&mut self, seconds: f64, member: usize, wire: u16, dscp: Dscp) {
        self.run_until(seconds);
        let number = self.arrived[member];
        self.arrived[member] += 1;
        self.medium.arrive(self.now, member, packet(number, wire, dscp), &mut self.outcomes);
        self.note();
    }

    pub fn arrives(&mut self, seconds: f64, member: usize, wire: u16) {
        self.arrives_as(seconds, member, wire, Dscp::DF);
    }

    /// Keeps `packets` packets of `wire` bytes waiting until `seconds`, topped up every 5 ms. Returns the delivered rates in
    /// bits per second.
    pub fn saturated(&mut self, packets: u32, wire: u16, of: &[usize], seconds: f64) -> Vec<f64> {
        let mut at = self.now.seconds();
        let (from, before) = (at, of.iter().map(|member| self.number(*member)).collect::<Vec<_>>());
        while at < seconds {
            for member in of {
                while self.medium.waiting(*member) < packets {
                    self.arrives(at, *member, wire);
                }
            }
            at += 0.005;
            self.run_until(at);
        }
        let bits = |packets: usize| packets as f64 * f64::from(wire) * 8.0;
        of.iter().zip(before).map(|(member, before)| bits(self.number(*member) - before) / (seconds - from)).collect()
    }

    /// Number of delivered packets of a member.
    pub fn number(&self, member: usize) -> usize {
        self.delivered.iter().filter(|(_, own, _)| *own == member).count()
    }

    /// Numbers of a member's packets in the order of delivery.
    pub fn order(&self, member: usize) -> Vec<u32> {
        self.delivered.iter().filter(|(_, own, _)| *own == member).map(|(.., number)| *number).collect()
    }

    /// Checks that each packet that arrived is delivered, lost, dropped or held.
    pub fn books_close(&self) {
        for member in 0..self.arrived.len() {
            let lost = self.lost.iter().filter(|(own, _)| *own == member).count() as u32;
            let dropped = self.dropped.iter().filter(|(own, _)| *own == member).count() as u32;
            let settled = self.number(member) as u32 + lost + dropped + self.medium.held(member);
            assert_eq!(self.arrived[member], settled, "member {member}");
        }
    }
}
