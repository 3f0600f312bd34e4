//! Hand-made plans for the simulator's tests.
#![allow(dead_code)]

use std::sync::Arc;

use fairwave_core::link::Direction;
use fairwave_core::loss::LossConfig;
use fairwave_core::packet::Class;
use fairwave_core::queue::{Capacity, DropTailConfig, QueueConfig};
use fairwave_core::random::Seed;
use fairwave_core::traffic::TrafficConfig;
use fairwave_core::transport::TransportConfig;
use fairwave_core::units::{Instant, Rate, Span};
use fairwave_scenario::plan::{FlowPlan, GroupPlan, HostsPlan, LinkPlan, Plan, RecordPlan};
use fairwave_scenario::version::Version;

/// Parses a quantity.
pub fn q<T: std::str::FromStr>(text: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    text.parse().expect("a quantity")
}

/// Parses a configuration from JSON.
pub fn config<T: serde::de::DeserializeOwned>(json: &str) -> T {
    serde_json::from_str(json).expect("a configuration")
}

/// A dumbbell: sender `i` — access — r1 — bottleneck — r2 — access — receiver `i`.
pub struct Dumbbell {
    pub bottleneck: Rate,
    pub bottleneck_delay: Span,
    pub queue: QueueConfig,
    pub loss: LossConfig,
    pub access: Rate,
    pub access_delay: Span,
    pub duration: Span,
    pub warmup: Span,
}

impl Default for Dumbbell {
    fn default() -> Self {
        Dumbbell {
            bottleneck: q("10 Mb/s"),
            bottleneck_delay: q("30 ms"),
            queue: QueueConfig::new(Capacity::Packets(124), DropTailConfig {}),
            loss: LossConfig::default(),
            access: q("100 Mb/s"),
            access_delay: q("10 ms"),
            duration: q("10 s"),
            warmup: Span::ZERO,
        }
    }
}

impl Dumbbell {
    /// Returns a plan with these flows, each between separate hosts.
    pub fn plan(&self, seed: u64, flows: Vec<(TrafficConfig, TransportConfig, Instant)>) -> Plan {
        let wide = QueueConfig::new(Capacity::Packets(1000), DropTailConfig {});
        let mut plan = Plan {
            version: Version::default(),
            name: "dumbbell".to_owned(),
            seed: Seed(seed),
            duration: self.duration,
            warmup: self.warmup,
            hosts: HostsPlan::default(),
            nodes: vec!["r1".to_owned(), "r2".to_owned()],
            links: Vec::new(),
            media: Vec::new(),
            groups: vec!["main".to_owned()],
            flows: Vec::new(),
            calls: Vec::new(),
            marks: Vec::new(),
            record: RecordPlan::default(),
        };
        let add = |plan: &mut Plan, from: usize, to: usize, bottleneck: bool| {
            plan.links.push(LinkPlan {
                name: format!("{}>{}", plan.nodes[from], plan.nodes[to]).into(),
                from,
                to,
                direction: Direction {
                    rate: if bottleneck { self.bottleneck } else { self.access }.into(),
                    delay: if bottleneck { self.bottleneck_delay } else { self.access_delay },
                    queue: if bottleneck { self.queue.clone() } else { wide.clone() },
                    police: None,
                    shape: None,
                    loss: if bottleneck && from == 0 { self.loss.clone() } else { LossConfig::default() },
                    changes: Default::default(),
                }
                .into(),
                medium: None,
            });
            plan.links.len() - 1
        };
        let (forth, back) = (add(&mut plan, 0, 1, true), add(&mut plan, 1, 0, true));
        for (index, (traffic, transport, start)) in flows.into_iter().enumerate() {
            let (from, to) = (plan.nodes.len(), plan.nodes.len() + 1);
            plan.nodes.extend([format!("s{index}"), format!("d{index}")]);
            let forward = vec![add(&mut plan, from, 0, false), forth, add(&mut plan, 1, to, false)];
            let backward = vec![add(&mut plan, to, 1, false), back, add(&mut plan, 0, from, false)];
            let common = GroupPlan {
                group: 0,
                traffic: Arc::new(traffic),
                transport: Arc::new(transport),
                class: Class::OtherUdp,
                dscp: Default::default(),
                active: None,
                at_most: None,
                thresholds: vec![Span::from_millis(300)],
                playout: Default::default(),
                reception: Default::default(),
                playback: None,
                recovery: None,
                outcome: None,
                leg: None,
            };
            plan.flows.push(FlowPlan {
                name: format!("main[{index}]"),
                from,
                to,
                forward,
                backward,
                reroutes: Vec::new(),
                start,
                stop: Instant::NEVER,
                partner: None,
                common: Arc::new(common),
            });
        }
        plan
    }
}
