//! A custom stack: each unit is one datagram, retransmitted every 200 ms until it is acknowledged (stop and wait per
//! unit).

use std::collections::{BTreeMap, VecDeque};

use fairwave_core::config::ConfigError;
use fairwave_core::packet::Ecn;
use fairwave_core::random::Stream;
use fairwave_core::registry::{Checked, Law};
use fairwave_core::traffic::Unit;
use fairwave_core::transport::{Delivery, FlowContext, PacketSize, Properties, TransportLaw, udp::UdpConfig};
use fairwave_core::units::{Instant, Span};
use fairwave_stacks::{Action, Event, Stack, StackEnd, pair};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Datagrams that are retransmitted until they are acknowledged.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Stubborn {}

impl Checked for Stubborn {
    fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }
}

impl Law for Stubborn {
    const NAME: &'static str = "stubborn";
    const BESIDE: &'static str = r#"{"traffic": "voice"}"#;
}

impl Properties for Stubborn {
    fn packet(&self, bulk: bool) -> PacketSize {
        UdpConfig::default().packet(bulk)
    }

    fn carries_bulk(&self) -> bool {
        false
    }
}

impl TransportLaw for Stubborn {
    type Sender = StackEnd<Peer>;
    type Receiver = StackEnd<Peer>;

    fn endpoints(&self, flow: FlowContext, _: Stream) -> Result<(StackEnd<Peer>, StackEnd<Peer>), ConfigError> {
        Ok(pair(flow, Peer::default(), Peer::default()))
    }
}

/// One end. Its datagrams carry the number of a unit; data also carries the creation time.
#[derive(Default)]
pub struct Peer {
    unanswered: BTreeMap<u32, (Instant, Unit)>,
    actions: VecDeque<Action>,
}

impl Stack for Peer {
    const NAME: &'static str = "stubborn";

    fn handle(&mut self, now: Instant, event: Event<'_>) {
        match event {
            Event::Unit(unit) => {
                self.unanswered.insert(unit.id, (now, unit));
            }
            Event::Datagram { bytes: &[a, b, c, d], .. } => {
                self.unanswered.remove(&u32::from_be_bytes([a, b, c, d]));
            }
            Event::Datagram { bytes, .. } => {
                let Some((number, rest)) = bytes.split_first_chunk::<4>() else { return };
                let created = rest.first_chunk().map_or(now, |time| Instant::from_nanos(u64::from_be_bytes(*time)));
                let unit = u32::from_be_bytes(*number);
                let payload = rest.len() as u32 - 8;
                self.actions.push_back(Action::Deliver(Delivery { unit, payload, created, layer: 0, complete: true }));
                self.actions.push_back(Action::Send { bytes: number.to_vec(), ecn: Ecn::NotEct });
            }
            Event::Start | Event::Stop | Event::Timer => {}
        }
    }

    fn poll(&mut self, now: Instant) -> Action {
        if let Some((due, unit)) = self.unanswered.values_mut().find(|(due, _)| *due <= now) {
            *due = now + Span::from_millis(200);
            let mut bytes = [&unit.id.to_be_bytes()[..], &unit.created.nanos().to_be_bytes()].concat();
            bytes.resize(12 + unit.payload as usize, 0);
            return Action::Send { bytes, ecn: Ecn::NotEct };
        }
        let next = self.unanswered.values().map(|(due, _)| *due).min();
        self.actions.pop_front().unwrap_or(Action::Wait(next.unwrap_or(Instant::NEVER)))
    }
}

#[test]
fn every_unit_arrives_through_heavy_loss() {
    let _ = fairwave_core::transport::register::<Stubborn>();
    let result = crate::failing::run("stubborn", "loss = { model = \"bernoulli\", rate = 0.3 }").expect("a run");
    assert!(result.flows[0].units_lost <= 8 && result.flows[0].lost > 100, "{:?}", result.flows[0]);
}
