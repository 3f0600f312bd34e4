//! Evenly spaced datagrams: UDP's bursts, sent at a constant rate.
//!
//! Source: none but the definition. A datagram of n bytes on the wire leaves n / rate after the previous one, or
//! immediately if that time is over. There is no feedback and no retransmission.
//!
//! **Assumptions.** Datagrams that wait at the stop of the flow are not sent.

use std::collections::VecDeque;

use fairwave_core::config::ConfigError;
use fairwave_core::packet::{Body, Packet};
use fairwave_core::random::Stream;
use fairwave_core::registry::{Checked, Law};
use fairwave_core::traffic::Unit;
use fairwave_core::transport::udp::{UdpConfig, UdpReceiver, UdpSender};
use fairwave_core::transport::{
    Backlog, FlowContext, Output, PacketSize, Properties, Sender, SenderView, TransportLaw,
};
use fairwave_core::units::{Bytes, Instant, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Datagrams at a rate, evenly spaced. There is no feedback and no retransmission.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SpacedConfig {
    /// Maximum rate, headers included; above 0.
    pub rate: Rate,
}

impl Checked for SpacedConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if self.rate == Rate::default() {
            return Err(ConfigError::new("rate", self.rate, "a rate above 0", "rate = \"1 Mb/s\""));
        }
        Ok(())
    }
}

impl Law for SpacedConfig {
    const NAME: &'static str = "spaced";
    const EXAMPLE: &'static str = r#"{"rate": "1 Mb/s"}"#;
    const BESIDE: &'static str = r#"{"traffic": "voice"}"#;
}

impl Properties for SpacedConfig {
    fn packet(&self, bulk: bool) -> PacketSize {
        UdpConfig::default().packet(bulk)
    }

    fn carries_bulk(&self) -> bool {
        false
    }
}

impl TransportLaw for SpacedConfig {
    type Sender = SpacedSender;
    type Receiver = UdpReceiver;

    fn endpoints(&self, context: FlowContext, _stream: Stream) -> Result<(SpacedSender, UdpReceiver), ConfigError> {
        self.check()?;
        let datagrams = UdpSender::new(context, &UdpConfig::default())?;
        let sender = SpacedSender {
            datagrams,
            rate: self.rate,
            waiting: VecDeque::new(),
            free: Instant::ZERO,
            longest: Span::ZERO,
        };
        Ok((sender, UdpReceiver::new()))
    }
}

/// Sending half: UDP's datagrams wait for their departure time.
pub struct SpacedSender {
    datagrams: UdpSender,
    rate: Rate,
    waiting: VecDeque<Packet>,
    /// Earliest departure of the next datagram.
    free: Instant,
    /// Longest wait so far.
    longest: Span,
}

/// Returns the creation time of the unit that the packet belongs to.
fn created(packet: &Packet) -> Instant {
    match packet.body {
        Body::Datagram { created, .. } => created,
        _ => Instant::ZERO,
    }
}

impl SpacedSender {
    fn release(&mut self, now: Instant, out: &mut Output) {
        while self.free <= now
            && let Some(packet) = self.waiting.pop_front()
        {
            self.free = now + self.rate.time_for(Bytes::new(u64::from(packet.wire)));
            self.longest = self.longest.max(now.span_since(created(&packet)));
            out.send(packet);
        }
    }
}

impl Sender for SpacedSender {
    fn on_start(&mut self, now: Instant, out: &mut Output) {
        self.datagrams.on_start(now, out);
    }

    fn on_unit(&mut self, now: Instant, unit: Unit, out: &mut Output) {
        let mut made = Output::default();
        self.datagrams.on_unit(now, unit, &mut made);
        self.waiting.extend(made.packets);
        self.release(now, out);
    }

    fn on_packet(&mut self, _now: Instant, _packet: &Packet, _out: &mut Output) {}

    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        self.release(now, out);
    }

    fn deadline(&self) -> Instant {
        if self.waiting.is_empty() { Instant::NEVER } else { self.free }
    }

    fn on_stop(&mut self, now: Instant) {
        self.datagrams.on_stop(now);
        self.waiting.clear();
    }

    fn view(&self) -> SenderView {
        let last = |packet: &&Packet| matches!(packet.body, Body::Datagram { part, parts, .. } if part + 1 == parts);
        let payload = |packet: &Packet| match packet.body {
            Body::Datagram { payload, .. } => u64::from(payload),
            _ => 0,
        };
        let backlog = Backlog {
            units: self.waiting.iter().filter(last).count() as u64,
            payload: Bytes::new(self.waiting.iter().map(payload).sum()),
            since: self.waiting.front().map(created),
            longest: self.longest,
        };
        let sent = self.datagrams.view().sent - self.waiting.len() as u64;
        SenderView { backlog: Some(backlog), sent, ..SenderView::default() }
    }
}

#[cfg(test)]
mod tests {
    use fairwave_core::random::Seed;
    use fairwave_core::traffic::FrameType;

    use super::*;

    /// Sends packets of 1240 bytes with headers, 9.92 ms apart.
    fn sender() -> SpacedSender {
        let config = SpacedConfig { rate: Rate::from_bits_per_second(1_000_000) };
        config.endpoints(FlowContext::default(), Seed(1).stream("transport")).expect("endpoints").0
    }

    fn unit(payload: u32) -> Unit {
        Unit { id: 0, payload, created: Instant::ZERO, layer: 0, frame_type: FrameType::None }
    }

    #[test]
    fn a_burst_leaves_packet_by_packet() {
        let (mut sender, mut out, mut left) = (sender(), Output::default(), Vec::new());
        sender.on_unit(Instant::ZERO, unit(3600), &mut out);
        left.push((out.packets.len(), sender.deadline()));
        while sender.deadline() != Instant::NEVER {
            sender.on_timer(sender.deadline(), &mut out);
            left.push((out.packets.len(), sender.deadline()));
        }
        let gap = Span::from_nanos(9_920_000);
        assert_eq!(left, [(1, Instant::ZERO + gap), (2, Instant::ZERO + gap + gap), (3, Instant::NEVER)]);
        assert_eq!((sender.view().sent, sender.longest), (3, gap + gap));
    }

    #[test]
    fn waiting_packets_are_reported_and_discarded_when_the_flow_stops() {
        let (mut sender, mut out) = (sender(), Output::default());
        sender.on_unit(Instant::ZERO, unit(3600), &mut out);
        let backlog = sender.view().backlog.expect("a backlog");
        assert_eq!((backlog.units, backlog.payload, backlog.since), (1, Bytes::new(2400), Some(Instant::ZERO)));
        sender.on_stop(Instant::ZERO);
        assert_eq!((sender.deadline(), sender.view().backlog), (Instant::NEVER, Some(Backlog::default())));
    }

    #[test]
    fn a_rate_of_nothing_is_refused() {
        assert_eq!(SpacedConfig { rate: Rate::default() }.check().expect_err("no rate").key, "rate");
    }
}
