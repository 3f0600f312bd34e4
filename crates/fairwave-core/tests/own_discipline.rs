//! A discipline defined by a program: deficit round robin (Shreedhar & Varghese 1995). It serves flow by flow. If the buffer is
//! full, it drops from the flow with the most waiting bytes. The crate does not know this discipline, and configurations use it by
//! name like any other.

use std::collections::HashMap;
use std::sync::Once;

use fairwave_core::config::ConfigError;
use fairwave_core::packet::{Body, Class, Ecn, FlowId, Packet};
use fairwave_core::queue::{
    Arrival, Buffer, Capacity, Discipline, DisciplineConfig, DisciplineLaw, DropReason, Nature, Place, Queue,
    QueueConfig, Verdict, register,
};
use fairwave_core::random::{Seed, Stream};
use fairwave_core::registry::{Checked, Law};
use fairwave_core::units::{Bytes, Instant, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Deficit round robin. In each turn, a flow with waiting packets may send `quantum` bytes more.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct RoundRobinConfig {
    /// Bytes per round and flow, above 0.
    quantum: Bytes,
    /// Maximum waiting time. Older packets are dropped unsent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    patience: Option<Span>,
}

impl Checked for RoundRobinConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if self.quantum == Bytes::new(0) {
            return Err(ConfigError::new("quantum", self.quantum, "above 0", "quantum = \"1500 B\""));
        }
        Ok(())
    }
}

impl Law for RoundRobinConfig {
    const NAME: &'static str = "round-robin";
}

impl DisciplineLaw for RoundRobinConfig {
    type Discipline = RoundRobin;
    const NATURE: Nature = Nature {
        fifo: false,
        by_flow: true,
        own_victim: Some("round robin drops from the flow of which most waits"),
        ..Nature::FIFO
    };

    fn fits(&self, capacity: Capacity, _rate: Option<Rate>) -> Result<(), ConfigError> {
        match capacity {
            Capacity::Bytes(bytes) if self.quantum.get() > bytes => {
                Err(ConfigError::new("quantum", self.quantum, "at most the capacity", "quantum = \"1500 B\""))
            }
            _ => Ok(()),
        }
    }

    fn discipline(&self, _capacity: Capacity, _rate: Rate) -> RoundRobin {
        RoundRobin {
            quantum: self.quantum.get(),
            patience: self.patience,
            deficits: HashMap::new(),
            turn: None,
            oldest: Instant::NEVER,
        }
    }
}

struct RoundRobin {
    quantum: u64,
    patience: Option<Span>,
    /// Remaining bytes of each flow with waiting packets.
    deficits: HashMap<FlowId, u64>,
    turn: Option<FlowId>,
    /// Arrival time of the oldest waiting packet, if patience is limited.
    oldest: Instant,
}

impl RoundRobin {
    fn turn_to(&mut self, flow: Option<FlowId>) -> Option<FlowId> {
        self.turn = flow;
        *self.deficits.entry(flow?).or_default() += self.quantum;
        flow
    }
}

impl Discipline for RoundRobin {
    fn arrive(&mut self, arrival: &Arrival<'_>, _stream: &mut Stream) -> Verdict {
        if arrival.buffer.is_empty() {
            self.oldest = arrival.now;
        }
        Verdict::Admit
    }

    fn victim(&mut self, buffer: &Buffer, _stream: &mut Stream) -> Option<Place> {
        let first = buffer.flow_after(None)?;
        let (mut heaviest, mut flow) = (first, first);
        loop {
            flow = buffer.flow_after(Some(flow))?;
            if flow == first {
                return buffer.back_of_flow(heaviest);
            }
            if buffer.flow_tally(flow).bytes > buffer.flow_tally(heaviest).bytes {
                heaviest = flow;
            }
        }
    }

    fn depart(&mut self, _now: Instant, buffer: &mut Buffer, _drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        let mut flow = match self.turn.filter(|flow| buffer.flow_tally(*flow).packets > 0) {
            Some(flow) => flow,
            None => self.turn_to(buffer.flow_after(None))?,
        };
        loop {
            let (place, next) = (buffer.front_of_flow(flow)?, buffer.flow_after(Some(flow)));
            let size = u64::from(buffer.packet(place)?.wire);
            let deficit = self.deficits.entry(flow).or_default();
            if *deficit < size {
                flow = self.turn_to(next)?;
                continue;
            }
            *deficit -= size;
            let served = buffer.serve(place);
            if buffer.flow_tally(flow).packets == 0 {
                self.deficits.remove(&flow);
                self.turn_to(next.filter(|next| *next != flow));
            }
            return served.map(|(packet, _)| packet);
        }
    }

    fn deadline(&self) -> Instant {
        self.patience.map_or(Instant::NEVER, |patience| {
            if self.oldest == Instant::NEVER { self.oldest } else { self.oldest + patience }
        })
    }

    fn on_timer(&mut self, _now: Instant, buffer: &mut Buffer, drops: &mut Vec<(Packet, DropReason)>) {
        while let Some(packet) = buffer.front().and_then(|place| buffer.remove(place)) {
            drops.push((packet, DropReason::Early));
        }
        self.oldest = Instant::NEVER;
    }
}

fn config(text: &str) -> QueueConfig {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| register::<RoundRobinConfig>().expect("the name is free"));
    serde_json::from_str(text).expect("a queue")
}

fn queue(text: &str) -> Queue {
    let config = config(text);
    config.check_before(Rate::from_bits_per_second(8_000_000)).expect("a sound queue");
    Queue::new(&config, Rate::from_bits_per_second(8_000_000), Seed(1).stream("queue"))
}

fn packet(flow: u32, wire: u16) -> Packet {
    let body = Body::Datagram { payload: wire, sequence: 0, unit: 0, part: 0, parts: 1, created: Instant::ZERO };
    Packet {
        flow: FlowId(flow),
        wire,
        class: Class::Tcp,
        dscp: Default::default(),
        feedback: false,
        ecn: Ecn::NotEct,
        layer: 0,
        body,
    }
}

const TEXT: &str = r#"{"discipline":"round-robin","capacity":{"packets":100},"quantum":"1500 B"}"#;

#[test]
fn a_scenario_names_it_like_any_other() {
    let config = config(TEXT);
    assert_eq!((config.discipline.name(), config.check()), ("round-robin", Ok(())));
    let again: QueueConfig = serde_json::from_value(serde_json::to_value(&config).expect("text")).expect("a queue");
    assert_eq!(again, config);
    assert!(!config.is_fifo_tail() && config.victim().is_none());
    assert!(DisciplineConfig::names().contains(&"round-robin".to_owned()));
    let schema = serde_json::to_string(&schemars::schema_for!(QueueConfig)).expect("a schema");
    assert!(schema.contains("round-robin") && schema.contains("quantum"), "{schema}");
    assert_eq!(register::<RoundRobinConfig>().expect_err("twice").name, "round-robin");
}

#[test]
fn its_mistakes_are_told_like_those_of_any_other() {
    let text = |more: &str| format!(r#"{{"discipline":"round-robin","capacity":{{"packets":9}},{more}}}"#);
    config(TEXT);
    let unknown = serde_json::from_str::<QueueConfig>(&text(r#""quantm":"1 B""#)).expect_err("no such key").to_string();
    assert_eq!(unknown, "unknown field `quantm`, expected one of `capacity`, `victim`, `quantum`, `patience`");
    assert_eq!(config(&text(r#""quantum":"0 B""#)).check().expect_err("nothing").key, "quantum");
    let narrow = config(r#"{"discipline":"round-robin","capacity":{"bytes":1000},"quantum":"1500 B"}"#);
    assert_eq!(narrow.check().expect_err("more than there is room for").key, "quantum");
    let chosen = config(&text(r#""quantum":"1 B","victim":"front""#)).check().expect_err("its own affair");
    assert_eq!(chosen.allowed, "left out: round robin drops from the flow of which most waits");
}

#[test]
fn flows_share_the_link_by_bytes_whatever_their_packets_and_their_greed() {
    let (mut queue, mut drops, mut sent) = (queue(TEXT), Vec::new(), [0u64; 3]);
    let mut order = Vec::new();
    for round in 0..3000u32 {
        for _ in 0..5 {
            queue.arrive(Instant::ZERO, &packet(0, 1500), &mut drops);
        }
        queue.arrive(Instant::ZERO, &packet(1, 500), &mut drops);
        queue.arrive(Instant::ZERO, &packet(1, 500), &mut drops);
        queue.arrive(Instant::ZERO, &packet(2, 1000), &mut drops);
        for _ in 0..2 {
            let packet = queue.depart(Instant::ZERO, &mut drops).expect("plenty waits");
            if round >= 1000 {
                sent[packet.flow.0 as usize] += u64::from(packet.wire);
            }
            order.push(packet.flow.0);
        }
        assert!(queue.packets() <= 100);
    }
    let mean = sent.iter().sum::<u64>() as f64 / 3.0;
    assert!(sent.iter().all(|&bytes| (bytes as f64 / mean - 1.0).abs() < 0.02), "{sent:?}");
    assert!(order.windows(2).filter(|pair| pair[0] > pair[1]).count() > 100, "it is not first in, first out");
    assert!(drops.iter().all(|(_, reason)| *reason == DropReason::Overflow));
}

#[test]
fn a_full_buffer_costs_the_flow_of_which_most_waits() {
    let (mut queue, mut drops) = (queue(TEXT), Vec::new());
    for serial in 0..100 {
        queue.arrive(Instant::ZERO, &packet(u32::from(serial >= 90), 500), &mut drops);
    }
    assert!(drops.is_empty());
    queue.arrive(Instant::ZERO, &packet(1, 500), &mut drops);
    assert_eq!(drops.iter().map(|(packet, _)| packet.flow.0).collect::<Vec<_>>(), [0], "not the arrival");
}

#[test]
fn its_timer_is_the_queues() {
    let text = r#"{"discipline":"round-robin","capacity":{"packets":9},"quantum":"1500 B","patience":"10 ms"}"#;
    let (mut queue, mut drops) = (queue(text), Vec::new());
    assert_eq!(queue.deadline(), Instant::NEVER);
    let now = Instant::ZERO + Span::from_millis(3);
    queue.arrive(now, &packet(1, 500), &mut drops);
    assert_eq!(queue.deadline(), now + Span::from_millis(10));
    queue.on_timer(queue.deadline(), &mut drops);
    assert_eq!((drops.len(), queue.packets(), queue.deadline()), (1, 0, Instant::NEVER));
}
