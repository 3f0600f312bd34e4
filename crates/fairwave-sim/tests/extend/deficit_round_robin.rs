//! Deficit round robin: flows share a link by bytes, independent of their packet sizes and rates.
//!
//! Source: Shreedhar & Varghese, *Efficient fair queueing using deficit round robin*, SIGCOMM 1995, §3. A flow with
//! waiting packets receives `quantum` bytes per turn. It sends as long as the next packet fits its deficit counter.
//! It keeps the rest for its next turn, unless its queue is empty. When the buffer is full, the flow with most
//! waiting bytes loses its last packet (the buffer stealing that the paper takes from McKenney).
//!
//! **Assumptions.** One queue per flow: flows are not hashed. A flow that becomes active has its turn after the flows
//! that already waited. The round need not begin with the current flow.

use std::collections::HashMap;

use fairwave_core::config::ConfigError;
use fairwave_core::packet::{FlowId, Packet};
use fairwave_core::queue::{Arrival, Buffer, Capacity, Discipline, DisciplineLaw, DropReason, Nature, Place, Verdict};
use fairwave_core::random::Stream;
use fairwave_core::registry::{Checked, Law};
use fairwave_core::units::{Bytes, Instant, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Deficit round robin (Shreedhar & Varghese 1995). Flows share the link by bytes, and the longest loses when it is full.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct DeficitRoundRobinConfig {
    /// Bytes granted to a flow per turn, 1 B and above; best not below the largest packet. Default 1500 B.
    pub quantum: Bytes,
}

impl Default for DeficitRoundRobinConfig {
    fn default() -> Self {
        DeficitRoundRobinConfig { quantum: Bytes::new(1500) }
    }
}

impl Checked for DeficitRoundRobinConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if self.quantum == Bytes::ZERO {
            return Err(ConfigError::new("quantum", self.quantum, "1 B and above", "quantum = \"1500 B\""));
        }
        Ok(())
    }
}

impl Law for DeficitRoundRobinConfig {
    const NAME: &'static str = "deficit-round-robin";
}

impl DisciplineLaw for DeficitRoundRobinConfig {
    type Discipline = DeficitRoundRobin;
    const NATURE: Nature = Nature {
        fifo: false,
        by_flow: true,
        own_victim: Some("deficit round robin drops from the flow of which most waits"),
        ..Nature::FIFO
    };

    fn discipline(&self, _capacity: Capacity, _rate: Rate) -> DeficitRoundRobin {
        DeficitRoundRobin { quantum: self.quantum.get(), deficits: HashMap::new(), turn: None }
    }
}

/// State of deficit round robin.
pub struct DeficitRoundRobin {
    quantum: u64,
    /// Bytes that each flow can still send. Only looked up, never iterated: the order of a hash map differs between
    /// processes.
    deficits: HashMap<FlowId, u64>,
    /// Flow with the current turn; its quantum is granted.
    turn: Option<FlowId>,
}

impl DeficitRoundRobin {
    fn grant(&mut self, flow: FlowId) -> FlowId {
        self.turn = Some(flow);
        let deficit = self.deficits.entry(flow).or_default();
        *deficit = deficit.saturating_add(self.quantum);
        flow
    }
}

impl Discipline for DeficitRoundRobin {
    fn arrive(&mut self, arrival: &Arrival<'_>, _stream: &mut Stream) -> Verdict {
        // A flow without waiting packets loses its credit. Otherwise it could save credit while idle and send a
        // burst.
        if arrival.buffer.flow_tally(arrival.packet.flow).packets == 0 {
            self.deficits.insert(arrival.packet.flow, 0);
        }
        Verdict::Admit
    }

    fn victim(&mut self, buffer: &Buffer, _stream: &mut Stream) -> Option<Place> {
        let first = buffer.flow_after(None)?;
        let (mut longest, mut flow) = (first, buffer.flow_after(Some(first))?);
        while flow != first {
            if buffer.flow_tally(flow).bytes > buffer.flow_tally(longest).bytes {
                longest = flow;
            }
            flow = buffer.flow_after(Some(flow))?;
        }
        buffer.back_of_flow(longest)
    }

    fn depart(&mut self, _now: Instant, buffer: &mut Buffer, _drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        let mut flow = match self.turn.filter(|flow| buffer.flow_tally(*flow).packets > 0) {
            Some(flow) => flow,
            None => self.grant(buffer.flow_after(None)?),
        };
        loop {
            let (place, next) = (buffer.front_of_flow(flow)?, buffer.flow_after(Some(flow))?);
            let size = u64::from(buffer.packet(place)?.wire);
            let deficit = self.deficits.entry(flow).or_default();
            if *deficit < size {
                flow = self.grant(next);
                continue;
            }
            *deficit -= size;
            let (packet, _) = buffer.serve(place)?;
            if buffer.flow_tally(flow).packets == 0 {
                // The flow has left the round, so choose the next turn now.
                self.turn = None;
                if next != flow {
                    self.grant(next);
                }
            }
            return Some(packet);
        }
    }
}

#[cfg(test)]
mod tests {
    use fairwave_core::packet::{Body, Class, Ecn};
    use fairwave_core::queue::{Queue, register};
    use fairwave_core::random::Seed;

    use super::*;

    fn queue(packets: u32) -> Queue {
        // Registration is unnecessary inside fairwave.
        let _ = register::<DeficitRoundRobinConfig>();
        let table = serde_json::json!({ "discipline": "deficit-round-robin", "capacity": { "packets": packets } });
        let config = serde_json::from_value(table).expect("a queue");
        Queue::new(&config, Rate::from_bits_per_second(1_000_000), Seed(1).stream("queue"))
    }

    fn packet(flow: u32, wire: u16) -> Packet {
        let body = Body::Datagram { payload: wire, sequence: 0, unit: 0, part: 0, parts: 1, created: Instant::ZERO };
        Packet {
            flow: FlowId(flow),
            wire,
            class: Class::OtherUdp,
            dscp: Default::default(),
            feedback: false,
            ecn: Ecn::NotEct,
            layer: 0,
            body,
        }
    }

    /// Returns the order of departure, by flow, of these simultaneous arrivals (flow, size).
    fn order(arrivals: &[(u32, u16)]) -> Vec<u32> {
        let (mut queue, mut drops) = (queue(100), Vec::new());
        for &(flow, wire) in arrivals {
            queue.arrive(Instant::ZERO, &packet(flow, wire), &mut drops);
        }
        std::iter::from_fn(|| queue.depart(Instant::ZERO, &mut drops)).map(|packet| packet.flow.0).collect()
    }

    #[test]
    fn a_turn_is_a_quantum_of_bytes_and_what_is_left_is_kept_for_the_next() {
        let small = [(1, 500); 7];
        // 1500 B are three small packets, or one packet of 1000 B. With the 500 B kept, the next turn sends two of
        // these.
        let large = [(2, 1000); 4];
        assert_eq!(order(&[&small[..], &large[..]].concat()), [1, 1, 1, 2, 1, 1, 1, 2, 2, 1, 2]);
    }

    #[test]
    fn the_round_goes_on_behind_a_flow_of_which_nothing_waits_any_more() {
        assert_eq!(order(&[(1, 1500), (2, 1500), (3, 1500), (1, 1500), (3, 1500), (1, 1500)]), [1, 2, 3, 1, 3, 1]);
    }

    #[test]
    fn a_flow_of_which_nothing_waits_any_more_keeps_nothing() {
        let (mut queue, mut drops) = (queue(100), Vec::new());
        let mut both = |queue: &mut Queue, packets: &[(u32, u16)]| {
            packets.iter().for_each(|&(flow, wire)| queue.arrive(Instant::ZERO, &packet(flow, wire), &mut drops));
            std::iter::from_fn(|| queue.depart(Instant::ZERO, &mut drops)).map(|packet| packet.flow.0).collect()
        };
        let first: Vec<u32> = both(&mut queue, &[(1, 100), (2, 1500)]);
        // If flow 1 had kept 1400 B, all five would leave before flow 2.
        let second: Vec<u32> = both(&mut queue, &[(1, 500), (1, 500), (1, 500), (1, 500), (1, 500), (2, 1500)]);
        assert_eq!((first, second), (vec![1, 2], vec![1, 1, 1, 2, 1, 1]));
    }

    #[test]
    fn a_full_buffer_costs_the_flow_of_which_most_bytes_wait_its_last_packet() {
        let (mut queue, mut drops) = (queue(4), Vec::new());
        for (flow, wire) in [(1, 100), (1, 100), (2, 500), (2, 501), (1, 100)] {
            queue.arrive(Instant::ZERO, &packet(flow, wire), &mut drops);
        }
        assert_eq!(drops, [(packet(2, 501), DropReason::Overflow)]);
    }
}
