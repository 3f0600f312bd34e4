//! A channel without contention: one member at a time transmits a packet, in rotation among the members with packets.
//!
//! It has no collisions, no errors and no overhead. It therefore isolates the cost of sharing, and serves as a reference for
//! the radio laws.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Begun, Medium, MediumLaw, MediumOutcomes, Member, MemberCounters, drain_queue};
use crate::link::{Constant, Transmitter};
use crate::packet::Packet;
use crate::queue::LinkQueue;
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate};

/// A channel that all members share in rotation, packet by packet.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct HalfDuplexConfig {
    /// Rate on the wire during a transmission, bits per second, above 0.
    pub rate: Rate,
}

impl Checked for HalfDuplexConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if self.rate > Rate::default() {
            return Ok(());
        }
        Err(ConfigError::new("rate", self.rate, "a rate of at least 1 b/s", "rate = \"10 Mb/s\""))
    }
}

impl Law for HalfDuplexConfig {
    const NAME: &'static str = "half-duplex";
    const EXAMPLE: &'static str = r#"{"rate": "10 Mb/s"}"#;
}

impl MediumLaw for HalfDuplexConfig {
    type Medium = HalfDuplex;

    fn medium(&self, members: &[Member], streams: &dyn Fn(&str) -> Stream) -> Result<HalfDuplex, ConfigError> {
        let queue = |member: &Member| {
            let stream = |what: &str| streams(&format!("{}.{what}", member.name));
            LinkQueue::new(&member.queue, None, None, self.rate, stream)
        };
        Ok(HalfDuplex {
            rate: Constant::new(self.rate),
            queues: members.iter().map(queue).collect(),
            counters: vec![MemberCounters::default(); members.len()],
            on_air: None,
            free: Instant::ZERO,
            next: 0,
            drops: Vec::new(),
        })
    }

    fn nominal(&self, _member: &Member) -> Rate {
        self.rate
    }
}

/// State of the channel.
pub struct HalfDuplex {
    rate: Constant,
    queues: Vec<LinkQueue>,
    counters: Vec<MemberCounters>,
    on_air: Option<(usize, Packet)>,
    /// End of the current transmission.
    free: Instant,
    /// The member whose turn is next.
    next: usize,
    drops: Vec<(Packet, crate::queue::DropReason)>,
}

impl HalfDuplex {
    fn report_drops(&mut self, member: usize, outcomes: &mut MediumOutcomes) {
        outcomes.dropped.extend(self.drops.drain(..).map(|(packet, reason)| (member, packet, reason)));
    }

    /// Starts the transmission of the next member with a packet to send.
    fn begin(&mut self, now: Instant, outcomes: &mut MediumOutcomes) {
        for turn in 0..self.queues.len() {
            let member = (self.next + turn) % self.queues.len();
            let departing = self.queues[member].depart(now, &mut self.drops);
            self.report_drops(member, outcomes);
            let Some(packet) = departing else { continue };
            let queue = &mut self.queues[member];
            let (since, marked) = (queue.waited_since(), queue.has_marked());
            outcomes.begun.push(Begun { member, packet, since, marked });
            self.free = self.rate.end_of(now, packet.size());
            queue.transmits_until(self.free);
            let counters = &mut self.counters[member];
            counters.transmissions += 1;
            counters.carried += 1;
            counters.airtime += self.free.span_since(now).nanos();
            self.on_air = Some((member, packet));
            self.next = (member + 1) % self.queues.len();
            return;
        }
    }
}

impl Medium for HalfDuplex {
    fn arrive(&mut self, now: Instant, member: usize, packet: Packet, outcomes: &mut MediumOutcomes) {
        self.queues[member].arrive(now, &packet, &mut self.drops);
        self.report_drops(member, outcomes);
        if self.on_air.is_none() {
            self.begin(now, outcomes);
        }
    }

    fn deadline(&self) -> Instant {
        let air = if self.on_air.is_some() { self.free } else { Instant::NEVER };
        let held = |queue: &LinkQueue| match queue.packets() {
            0 => queue.deadline(),
            _ if self.on_air.is_some() => queue.deadline(),
            _ => queue.deadline().min(queue.held_until()),
        };
        self.queues.iter().map(held).fold(air, Instant::min)
    }

    fn on_timer(&mut self, now: Instant, outcomes: &mut MediumOutcomes) {
        for member in 0..self.queues.len() {
            if self.queues[member].deadline() <= now {
                self.queues[member].on_timer(now, &mut self.drops);
                self.report_drops(member, outcomes);
            }
        }
        if self.free <= now {
            outcomes.delivered.extend(self.on_air.take());
            self.begin(now, outcomes);
        }
    }

    fn waiting(&self, member: usize) -> u32 {
        self.queues[member].packets()
    }

    fn held(&self, member: usize) -> u32 {
        self.waiting(member) + u32::from(self.on_air.is_some_and(|(own, _)| own == member))
    }

    fn drain(&mut self, now: Instant, given: &mut Vec<(usize, Packet)>) {
        given.extend(self.on_air.take());
        for (member, queue) in self.queues.iter_mut().enumerate() {
            drain_queue(queue, member, now, given);
        }
    }

    fn counters(&self, member: usize) -> MemberCounters {
        self.counters[member]
    }

    fn capacity(&self, _member: usize, from: Instant, to: Instant) -> Bytes {
        self.rate.capacity(from, to)
    }
}
