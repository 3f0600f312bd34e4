//! Echo: every request leaves at once, and the receiver returns it unchanged. Lost requests are not repeated.
//!
//! Source: RFC 792 (ICMP echo and echo reply), RFC 862 (the echo protocol over UDP). In both, request and reply
//! have the same bytes.
//!
//! **Assumptions.** A request is one packet; the receiver answers on arrival. Sizes on the wire are payload and
//! `header`. In real time (`fairwave live`) both directions use datagrams in the layout of `udp`, for any carrier.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{PacketSize, Properties, TransportLaw};
use fairwave_endpoint::sizes::narrow;
use fairwave_endpoint::{Backlog, Delivery, FlowContext, Output, Receiver, Sender, SenderView};
use fairwave_media::traffic::Unit;
use fairwave_network::packet::{Body, Ecn, Packet};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant};

/// The protocol of requests in captures. Sizes and times do not depend on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Carrier {
    /// ICMP echo (RFC 792), as `ping` sends it.
    #[default]
    Icmp,
    /// UDP (RFC 862), as in Flent's UDP pings.
    Udp,
}

/// Requests that the receiver returns unchanged (RFC 792). The sender measures round trips and requests without reply.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PingConfig {
    /// Header bytes added to each packet on the wire. Default 28 B: IPv4 20, ICMP or UDP 8.
    pub header: Bytes,
    /// The protocol of requests and replies in captures: `icmp` (default) or `udp`.
    #[serde(skip_serializing_if = "is_icmp")]
    pub carrier: Carrier,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde asks
fn is_icmp(carrier: &Carrier) -> bool {
    *carrier == Carrier::Icmp
}

impl Default for PingConfig {
    fn default() -> Self {
        PingConfig { header: Bytes::new(28), carrier: Carrier::Icmp }
    }
}

/// The largest payload of a request that sources offer.
const PAYLOAD: u64 = 65_000;

impl Checked for PingConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if self.header.get() > u64::from(u16::MAX) - PAYLOAD {
            return Err(ConfigError::new("header", self.header, "from 0 B to 535 B", "header = \"28 B\""));
        }
        Ok(())
    }
}

impl Law for PingConfig {
    const NAME: &'static str = "ping";
    const BESIDE: &'static str = r#"{"traffic": "ping"}"#;
}

impl Properties for PingConfig {
    fn packet(&self, _bulk: bool) -> PacketSize {
        PacketSize { payload: Bytes::new(PAYLOAD), header: self.header }
    }

    fn like_ns2(&self) -> Option<(&'static str, Value)> {
        Some(("header", Value::from("0 B")))
    }

    fn controls_rate(&self) -> bool {
        false
    }

    fn carries_bulk(&self) -> bool {
        false
    }
}

impl TransportLaw for PingConfig {
    type Sender = PingSender;
    type Receiver = PingReceiver;

    fn endpoints(&self, context: FlowContext, _stream: Stream) -> Result<(PingSender, PingReceiver), ConfigError> {
        self.check()?;
        let header = narrow(self.header);
        Ok((PingSender { context, header, sequence: 0, sent: 0, stopped: false }, PingReceiver { newest: None }))
    }
}

/// The sending half.
#[derive(Clone, Debug)]
pub struct PingSender {
    context: FlowContext,
    header: u16,
    sequence: u32,
    sent: u64,
    stopped: bool,
}

impl Sender for PingSender {
    fn on_start(&mut self, _now: Instant, _out: &mut Output) {
        self.stopped = false;
    }

    fn on_unit(&mut self, _now: Instant, unit: Unit, out: &mut Output) {
        if self.stopped {
            return;
        }
        let payload = unit.payload.min(PAYLOAD as u32) as u16;
        out.send(Packet {
            flow: self.context.flow,
            wire: self.header.saturating_add(payload),
            class: self.context.class,
            dscp: self.context.dscp,
            feedback: false,
            ecn: Ecn::NotEct,
            layer: unit.layer,
            body: Body::Datagram {
                payload,
                sequence: self.sequence,
                unit: unit.id,
                part: 0,
                parts: 1,
                created: unit.created,
            },
        });
        self.sequence = self.sequence.wrapping_add(1);
        self.sent += 1;
    }

    fn on_packet(&mut self, _now: Instant, _packet: &Packet, _out: &mut Output) {}

    fn on_timer(&mut self, _now: Instant, _out: &mut Output) {}

    fn deadline(&self) -> Instant {
        Instant::NEVER
    }

    fn on_stop(&mut self, _now: Instant) {
        self.stopped = true;
    }

    fn view(&self) -> SenderView {
        SenderView { backlog: Some(Backlog::default()), sent: self.sent, ..SenderView::default() }
    }
}

/// The receiving half: it returns every request, including duplicates, and delivers requests on arrival.
#[derive(Clone, Debug)]
pub struct PingReceiver {
    /// The newest request so far. A duplicate that directly follows it is not delivered again.
    newest: Option<u32>,
}

impl Receiver for PingReceiver {
    fn on_packet(&mut self, _now: Instant, packet: &Packet, out: &mut Output) {
        let Body::Datagram { payload, sequence, unit, created, .. } = packet.body else { return };
        if self.newest != Some(sequence) {
            out.deliveries.push(Delivery {
                unit,
                payload: u32::from(payload),
                created,
                layer: packet.layer,
                complete: true,
            });
            self.newest = Some(sequence);
        }
        out.send(Packet { feedback: true, ecn: Ecn::NotEct, ..*packet });
    }

    fn on_timer(&mut self, _now: Instant, _out: &mut Output) {}

    fn deadline(&self) -> Instant {
        Instant::NEVER
    }

    fn is_reactive(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_media::traffic::FrameType;
    use fairwave_units::random::Seed;

    fn ends(config: &PingConfig) -> (PingSender, PingReceiver) {
        config.endpoints(FlowContext::default(), Seed(1).stream("ping")).expect("endpoints")
    }

    fn unit(id: u32) -> Unit {
        let created = Instant::from_seconds(f64::from(id));
        Unit { id, payload: 56, created, layer: 0, frame_type: FrameType::None }
    }

    #[test]
    fn a_request_of_56_bytes_is_84_on_the_wire_and_comes_back_as_it_is() {
        let (mut sender, mut receiver) = ends(&PingConfig::default());
        let mut out = Output::default();
        sender.on_unit(Instant::ZERO, unit(0), &mut out);
        let request = out.packets[0];
        assert_eq!((request.wire, request.feedback), (84, false));
        out.clear();
        receiver.on_packet(Instant::ZERO, &request, &mut out);
        assert_eq!(out.packets, [Packet { feedback: true, ..request }]);
        assert_eq!((out.deliveries.len(), out.deliveries[0].payload), (1, 56));
        assert_eq!(sender.view().sent, 1);
    }

    #[test]
    fn a_copy_is_answered_and_not_delivered_again() {
        let (mut sender, mut receiver) = ends(&PingConfig::default());
        let mut out = Output::default();
        sender.on_unit(Instant::ZERO, unit(0), &mut out);
        let request = out.packets[0];
        out.clear();
        receiver.on_packet(Instant::ZERO, &request, &mut out);
        receiver.on_packet(Instant::ZERO, &request, &mut out);
        assert_eq!((out.packets.len(), out.deliveries.len()), (2, 1));
    }

    #[test]
    fn a_copy_that_comes_alone_is_answered_and_a_flow_that_begins_again_goes_on() {
        let (mut sender, mut receiver) = ends(&PingConfig::default());
        let mut out = Output::default();
        sender.on_unit(Instant::ZERO, unit(0), &mut out);
        let request = out.packets[0];
        receiver.on_packet(Instant::ZERO, &request, &mut Output::default());
        let mut copy = Output::default();
        receiver.on_packet(Instant::ZERO, &request, &mut copy);
        assert_eq!((copy.packets.len(), copy.deliveries.len()), (1, 0));
        sender.on_stop(Instant::ZERO);
        sender.on_start(Instant::ZERO, &mut out);
        out.clear();
        sender.on_unit(Instant::ZERO, unit(1), &mut out);
        assert_eq!(out.packets.len(), 1);
    }

    #[test]
    fn stop_ends_requests() {
        let (mut sender, _) = ends(&PingConfig::default());
        let mut out = Output::default();
        sender.on_stop(Instant::ZERO);
        sender.on_unit(Instant::ZERO, unit(0), &mut out);
        assert!(out.packets.is_empty());
    }

    #[test]
    fn a_header_that_leaves_no_room_is_refused() {
        let refused = PingConfig { header: Bytes::new(536), ..PingConfig::default() };
        assert_eq!(refused.check().expect_err("too long").key, "header");
    }
}
