//! FQ-CoDel: every flow has a separate queue; the queues take turns, and CoDel manages each.
//!
//! Follows RFC 8290. A hash assigns flows to `flows` queues (§4.1). The link's stream provides the salt, so flows may share
//! a queue as in real deployments. Deficit round robin serves the queues, new ones first (§4.2, `rounds`). CoDel
//! ([`super::codel`]) acts on the current queue by the length of that queue. On overflow, packets are dropped from the head
//! of the queue with the most bytes (§4.1). The batch is half of that queue's bytes, but at most `drop-batch` packets, and
//! CoDel counts them as its drops. The cost of finding that queue is logarithmic in the number of queues ([`super::bins`]).
//!
//! **Deviations.** The two directions of a flow have different hashes, as their addresses would. As in Linux, a batch is
//! half of the queue's bytes; the RFC says half of its packets. As in Linux, CoDel counts these drops. Linux gives CoDel the
//! backlog of all queues together; here, as in the RFC, CoDel sees only the backlog of its queue. `mtu` is fixed at 1514
//! bytes. Memory is counted in bytes on the wire.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DropReason;
use super::buffer::Buffer;
use super::codel::{Control, Settings, check_times, interval, target};
use super::config::Capacity;
use super::discipline::{Arrival, Discipline, DisciplineLaw, Nature, Verdict};
use super::red::check_size;
use super::rounds::{Rounds, mixed, reduced};
use crate::packet::Packet;
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// Flow queue CoDel (RFC 8290). It hashes flows into queues and serves the queues in turn, new flows first. CoDel keeps
/// each queue short. Linux's default; in most home routers with smart queue management.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct FqCodelConfig {
    /// The accepted standing delay in each queue (CoDel's TARGET); not less than one packet's transmission time.
    #[serde(default = "target")]
    pub target: Span,
    /// Time for which the delay may exceed `target`; of the order of a round trip (CoDel's INTERVAL).
    #[serde(default = "interval")]
    pub interval: Span,
    /// Bytes that a queue may send per turn, 256 or more.
    #[serde(default = "quantum")]
    pub quantum: Bytes,
    /// Queues into which flows are hashed, 1 to 65536.
    #[serde(default = "flows")]
    pub flows: u32,
    /// Mark instead of dropping early, if the packet's transport understands marks.
    #[serde(default = "yes")]
    pub ecn: bool,
    /// In addition, mark every packet that has waited longer than this, if its transport understands marks; off when
    /// left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "off"))]
    pub ce_threshold: Option<Span>,
    /// Limit of waiting packets, in addition to the buffer's capacity.
    #[serde(default = "memory_limit")]
    pub memory_limit: Bytes,
    /// The most packets that are dropped at once when the limit is exceeded, 1 or more.
    #[serde(default = "drop_batch")]
    pub drop_batch: u32,
}

pub(super) fn quantum() -> Bytes {
    Bytes::new(1514)
}

pub(super) fn flows() -> u32 {
    1024
}

pub(super) fn yes() -> bool {
    true
}

pub(super) fn memory_limit() -> Bytes {
    Bytes::new(32 << 20)
}

fn drop_batch() -> u32 {
    64
}

/// The largest Ethernet packet; CoDel tolerates this backlog.
const MTU: u64 = 1514;

/// Checks the parameters that all disciplines with queues per flow share.
pub(super) fn check_queues(quantum: Bytes, flows: u32, memory_limit: Bytes) -> Result<(), ConfigError> {
    if quantum.get() < 256 {
        return Err(ConfigError::new("quantum", quantum, "256 B or more", "quantum = \"1514 B\""));
    }
    if !(1..=65_536).contains(&flows) {
        return Err(ConfigError::new("flows", flows, "1 to 65536", "flows = 1024"));
    }
    check_size("memory-limit", memory_limit)
}

impl Checked for FqCodelConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_times(self.target, self.interval)?;
        check_queues(self.quantum, self.flows, self.memory_limit)?;
        if self.drop_batch == 0 {
            return Err(ConfigError::new("drop-batch", self.drop_batch, "1 or more", "drop-batch = 64"));
        }
        Ok(())
    }
}

impl Law for FqCodelConfig {
    const NAME: &'static str = "fq-codel";
    const EXAMPLE: &'static str = r#"{"target": "5 ms", "quantum": "300 B"}"#;
}

impl DisciplineLaw for FqCodelConfig {
    type Discipline = FqCodel;
    const NATURE: Nature = Nature { fifo: false, makes_room: true, ..Nature::FIFO };

    fn marks(&self) -> bool {
        self.ecn || self.ce_threshold.is_some()
    }

    fn bins(&self) -> usize {
        self.flows as usize
    }

    fn memory(&self) -> u64 {
        self.memory_limit.get()
    }

    fn discipline(&self, _capacity: Capacity, _rate: Rate) -> FqCodel {
        let (target, interval) = (self.target, self.interval);
        FqCodel {
            set: Settings {
                target,
                interval,
                mtu: MTU,
                ecn: self.ecn,
                ce_threshold: self.ce_threshold.unwrap_or(Span::MAX),
            },
            salt: None,
            flows: self.flows,
            controls: vec![Control::default(); self.flows as usize],
            rounds: Rounds::new(self.flows as usize, self.quantum.get()),
            drop_batch: self.drop_batch,
            sojourn: Span::ZERO,
        }
    }
}

/// State of FQ-CoDel.
#[derive(Clone, Debug)]
pub struct FqCodel {
    set: Settings,
    /// Salt of the hash, drawn when the first packet arrives.
    salt: Option<u64>,
    flows: u32,
    /// CoDel's state, by queue.
    controls: Vec<Control>,
    rounds: Rounds,
    drop_batch: u32,
    /// Queueing delay of the last packet that left.
    sojourn: Span,
}

/// The queue of a packet, out of `queues` queues.
#[inline]
pub(super) fn queue_of(packet: &Packet, salt: u64, queues: u32) -> u32 {
    reduced(mixed((u64::from(packet.flow.0) << 1 | u64::from(packet.feedback)) ^ salt), queues)
}

impl Discipline for FqCodel {
    #[inline]
    fn arrive(&mut self, _arrival: &Arrival<'_>, stream: &mut Stream) -> Verdict {
        if self.salt.is_none() {
            self.salt = Some(stream.uniform_below(u64::MAX));
        }
        Verdict::Admit
    }

    #[inline]
    fn bin(&mut self, _now: Instant, packet: &Packet, _buffer: &Buffer) -> u32 {
        let queue = queue_of(packet, self.salt.unwrap_or_default(), self.flows);
        self.rounds.arrived(queue);
        queue
    }

    fn make_room(&mut self, _now: Instant, buffer: &mut Buffer, drops: &mut Vec<(Packet, DropReason)>) {
        let Some(fattest) = buffer.fattest_bin() else { return };
        let (half, mut freed, mut packets) = (buffer.bin_tally(fattest).bytes / 2, 0, 0);
        while packets < self.drop_batch && (packets == 0 || freed < half) {
            let Some(packet) = buffer.front_of_bin(fattest).and_then(|place| buffer.remove(place)) else { break };
            freed += u64::from(packet.wire);
            packets += 1;
            drops.push((packet, DropReason::Overflow));
        }
        self.controls[fattest as usize].has_dropped(packets);
    }

    /// The only waiting packet leaves directly: the turn reaches its queue after all others have been found empty.
    #[inline]
    fn pass(&mut self, _now: Instant, packet: &Packet, stream: &mut Stream) -> bool {
        let salt = *self.salt.get_or_insert_with(|| stream.uniform_below(u64::MAX));
        let own = queue_of(packet, salt, self.flows);
        self.rounds.arrived(own);
        while let Some(queue) = self.rounds.turn() {
            let control = &mut self.controls[queue as usize];
            control.idle();
            if queue == own {
                (self.sojourn, control.sojourn) = (Span::ZERO, Span::ZERO);
                self.rounds.sent(own, u64::from(packet.wire));
                return true;
            }
            self.rounds.was_empty(queue);
        }
        false
    }

    #[inline]
    fn depart(&mut self, now: Instant, buffer: &mut Buffer, drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        loop {
            let queue = self.rounds.turn()?;
            let control = &mut self.controls[queue as usize];
            let head = |buffer: &Buffer| Some((buffer.front_of_bin(queue)?, buffer.bin_tally(queue).bytes));
            let served = control.depart(&self.set, now, buffer, head, drops);
            if let Some(packet) = &served {
                self.sojourn = control.sojourn;
                self.rounds.sent(queue, u64::from(packet.wire));
                return served;
            }
            self.rounds.was_empty(queue);
        }
    }

    /// Queueing delay of the last packet that left, seconds.
    fn average(&self) -> Option<f64> {
        Some(self.sojourn.seconds())
    }
}

#[cfg(test)]
#[path = "fq_codel_tests.rs"]
mod tests;
