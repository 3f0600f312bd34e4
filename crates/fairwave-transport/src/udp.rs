//! UDP (RFC 768): every unit leaves as soon as the application creates it, without feedback and retransmission.
//!
//! A datagram carries a sequence number, the unit's number and its index within the unit. RTP (RFC 3550) carries
//! them in its header and payload format.
//!
//! **Assumptions.** The application cuts a unit longer than `max-payload` into datagrams of that size and a
//! remainder, all sent in one burst (no IP fragmentation). A unit has at most 65 535 datagrams; the rest is not
//! sent. With `redundancy` datagrams repeat earlier units (`redundancy`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use serde_json::Value;

use super::redundancy::{History, MOST, ReceivedUnits};
use crate::{PacketSize, Properties, TransportLaw};
use fairwave_endpoint::serial::{ReplayWindow, unwrap};
use fairwave_endpoint::sizes::{DATAGRAM_PAYLOAD, narrow};
use fairwave_endpoint::{Backlog, Delivery, FlowContext, Output, Receiver, Sender, SenderView};
use fairwave_media::traffic::Unit;
use fairwave_network::packet::{Body, Ecn, Packet};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant};

/// UDP (RFC 768). Every unit leaves as soon as the application creates it; a unit longer than `max-payload` is
/// cut. There is no feedback and no retransmission.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct UdpConfig {
    /// Header bytes added to each datagram on the wire. Default 40 B: IPv4 20, UDP 8, RTP 12. Paper 004's Table 1 counts
    /// RTP's 12 B alone (92 B every 10 ms); ns-2 adds none.
    pub header: Bytes,
    /// Largest payload of a datagram; a longer unit is cut. Default 1200 B, as current media stacks send; an
    /// Ethernet frame holds 1460 B after these headers.
    pub max_payload: Bytes,
    /// Number of earlier units that each datagram repeats in addition to its own, 0 to 2, in the format of
    /// RFC 2198. A receiver that loses a datagram finds its speech in the next. Default 0. The copies, 4 B of
    /// header for each, and 1 B more are on the wire.
    #[serde(skip_serializing_if = "is_none")]
    #[schemars(extend("default" = UdpConfig::default().redundancy))]
    pub redundancy: u8,
}

/// True if no unit is repeated.
#[allow(clippy::trivially_copy_pass_by_ref)] // as serde asks
fn is_none(redundancy: &u8) -> bool {
    *redundancy == 0
}

impl Default for UdpConfig {
    fn default() -> Self {
        UdpConfig { header: Bytes::new(40), max_payload: DATAGRAM_PAYLOAD, redundancy: 0 }
    }
}

impl Checked for UdpConfig {
    /// Checks the ranges: `max-payload` at least 1 B, no datagram above 65 535 B on the wire, at most 2 units repeated.
    fn check(&self) -> Result<(), ConfigError> {
        if self.max_payload == Bytes::ZERO {
            return Err(ConfigError::new("max-payload", self.max_payload, "at least 1 B", "max-payload = \"1200 B\""));
        }
        if self.header.get().saturating_add(self.max_payload.get()) > u64::from(u16::MAX) {
            let allowed = format!("such that with the header ({}) it is at most 65535 B", self.header);
            return Err(ConfigError::new("max-payload", self.max_payload, allowed, "max-payload = \"1200 B\""));
        }
        if self.redundancy > MOST {
            let allowed = format!("from 0 to {MOST} units");
            return Err(ConfigError::new("redundancy", self.redundancy, allowed, "redundancy = 1"));
        }
        Ok(())
    }
}

impl Law for UdpConfig {
    const NAME: &'static str = "udp";
    const BESIDE: &'static str = r#"{"traffic": "voice"}"#;
}

impl Properties for UdpConfig {
    fn packet(&self, _bulk: bool) -> PacketSize {
        PacketSize { payload: self.max_payload, header: self.header }
    }

    fn like_ns2(&self) -> Option<(&'static str, Value)> {
        Some(("header", Value::from("0 B")))
    }

    fn controls_rate(&self) -> bool {
        false
    }

    fn repairs_losses(&self) -> bool {
        self.redundancy > 0
    }

    fn carries_bulk(&self) -> bool {
        false
    }
}

impl TransportLaw for UdpConfig {
    type Sender = UdpSender;
    type Receiver = UdpReceiver;

    fn endpoints(&self, context: FlowContext, _stream: Stream) -> Result<(UdpSender, UdpReceiver), ConfigError> {
        Ok((UdpSender::new(context, self)?, UdpReceiver::new()))
    }
}

/// The sending half.
#[derive(Clone, Debug)]
pub struct UdpSender {
    context: FlowContext,
    header: u16,
    max_payload: u16,
    sequence: u32,
    sent: u64,
    stopped: bool,
    /// Units that the next datagrams repeat, if enabled.
    history: Option<Box<History>>,
}

impl UdpSender {
    /// Creates the sender of a flow.
    ///
    /// # Errors
    /// If [`UdpConfig::check`] fails.
    pub fn new(context: FlowContext, config: &UdpConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(UdpSender {
            context,
            header: narrow(config.header),
            max_payload: narrow(config.max_payload),
            sequence: 0,
            sent: 0,
            stopped: false,
            history: (config.redundancy > 0).then(|| Box::new(History::new(config.redundancy))),
        })
    }
}

impl Sender for UdpSender {
    fn on_start(&mut self, _now: Instant, _out: &mut Output) {
        self.stopped = false;
    }

    fn on_unit(&mut self, _now: Instant, unit: Unit, out: &mut Output) {
        if self.stopped {
            return;
        }
        if let Some(history) = &mut self.history
            && let Some((body, size)) = history.datagram(&unit, self.sequence, self.max_payload)
        {
            out.send(Packet {
                flow: self.context.flow,
                wire: self.header.saturating_add(size),
                class: self.context.class,
                dscp: self.context.dscp,
                feedback: false,
                ecn: Ecn::NotEct,
                layer: unit.layer,
                body,
            });
            self.sequence = self.sequence.wrapping_add(1);
            self.sent += 1;
            return;
        }
        let parts = u16::try_from(unit.payload.div_ceil(u32::from(self.max_payload)).max(1)).unwrap_or(u16::MAX);
        let mut left = unit.payload;
        for part in 0..parts {
            let payload = left.min(u32::from(self.max_payload)) as u16;
            left -= u32::from(payload);
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
                    part,
                    parts,
                    created: unit.created,
                },
            });
            self.sequence = self.sequence.wrapping_add(1);
            self.sent += 1;
        }
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

/// Maximum number of units of several datagrams in flight at once.
const OPEN_UNITS: usize = 32;

/// The receiving half: delivers every datagram's payload to the application, each once.
///
/// It ignores duplicates and datagrams that are more than 1024 behind the newest (the sliding window of RFC 4303
/// §3.4.3). A unit of several datagrams is complete when all of them have arrived. Up to 32 such units may be in
/// flight at once.
#[derive(Clone, Debug)]
pub struct UdpReceiver {
    seen: ReplayWindow<16>,
    open: [OpenUnit; OPEN_UNITS],
    /// Units received by repetition. `None` until a datagram repeats a unit.
    repaired: Option<Box<ReceivedUnits>>,
}

/// A unit of which some datagrams have arrived. `parts` is 0 in a free slot.
#[derive(Clone, Copy, Debug, Default)]
struct OpenUnit {
    unit: u32,
    layer: u8,
    arrived: u16,
    parts: u16,
}

impl Default for UdpReceiver {
    fn default() -> Self {
        UdpReceiver { seen: ReplayWindow::default(), open: [OpenUnit::default(); OPEN_UNITS], repaired: None }
    }
}

impl UdpReceiver {
    /// Creates a receiver.
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts a datagram of a unit. Returns true for the last missing one.
    fn completes(&mut self, unit: u32, layer: u8, parts: u16) -> bool {
        if parts <= 1 {
            return true;
        }
        let place = &mut self.open[unit as usize % OPEN_UNITS];
        if place.parts != parts || place.unit != unit || place.layer != layer {
            *place = OpenUnit { unit, layer, arrived: 0, parts };
        }
        place.arrived += 1;
        if place.arrived < parts {
            return false;
        }
        place.parts = 0;
        true
    }
}

impl Receiver for UdpReceiver {
    fn on_packet(&mut self, _now: Instant, packet: &Packet, out: &mut Output) {
        let Body::Datagram { payload, sequence, unit, parts, created, .. } = packet.body else {
            if let Some(sequence) = packet.sequence() {
                let sequence = unwrap(self.seen.highest().unwrap_or(0), sequence);
                if matches!(packet.body, Body::Redundant { .. }) && self.seen.is_new(sequence) {
                    self.repaired.get_or_insert_default().deliver(packet, out);
                }
            }
            return;
        };
        let sequence = unwrap(self.seen.highest().unwrap_or(0), sequence);
        if self.seen.is_new(sequence) {
            let complete = self.completes(unit, packet.layer, parts);
            out.deliveries.push(Delivery { unit, payload: u32::from(payload), created, layer: packet.layer, complete });
        }
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
    use fairwave_network::packet::{Class, FlowId};
    use proptest::prelude::*;

    fn sender(config: &UdpConfig) -> UdpSender {
        let context = FlowContext { flow: FlowId(3), class: Class::Voice, ..FlowContext::default() };
        UdpSender::new(context, config).expect("a valid configuration")
    }

    fn unit(id: u32, payload: u32) -> Unit {
        Unit {
            id,
            payload,
            created: Instant::from_nanos(u64::from(id) * 20_000_000),
            layer: 0,
            frame_type: FrameType::None,
        }
    }

    fn send(sender: &mut UdpSender, unit: Unit) -> Vec<Packet> {
        let mut out = Output::default();
        sender.on_unit(unit.created, unit, &mut out);
        out.packets
    }

    fn receive<'a>(receiver: &mut UdpReceiver, packets: impl IntoIterator<Item = &'a Packet>) -> Vec<Delivery> {
        let mut out = Output::default();
        for packet in packets {
            receiver.on_packet(Instant::ZERO, packet, &mut out);
        }
        out.deliveries
    }

    #[test]
    fn a_voice_frame_is_one_datagram_with_forty_bytes_of_headers() {
        let packets = send(&mut sender(&UdpConfig::default()), unit(0, 160));
        assert_eq!(packets.iter().map(|p| p.wire).collect::<Vec<_>>(), [200]);
    }

    #[test]
    fn paper_004_table_1_counts_the_rtp_header_alone() {
        let config = UdpConfig { header: Bytes::new(12), ..UdpConfig::default() };
        let wire = |payload| send(&mut sender(&config), unit(0, payload))[0].wire;
        assert_eq!([wire(80), wire(240), wire(480)], [92, 252, 492]);
    }

    #[test]
    fn a_long_unit_is_cut_and_complete_when_its_last_part_arrives() {
        let packets = send(&mut sender(&UdpConfig::default()), unit(7, 3000));
        assert_eq!(packets.iter().map(|p| p.wire - 40).collect::<Vec<_>>(), [1200, 1200, 600]);
        let deliveries = receive(&mut UdpReceiver::new(), packets.iter().rev());
        assert_eq!(deliveries.iter().map(|d| d.complete).collect::<Vec<_>>(), [false, false, true]);
    }

    #[test]
    fn a_unit_with_a_part_missing_is_never_complete() {
        let mut tx = sender(&UdpConfig::default());
        let mut packets = send(&mut tx, unit(0, 3000));
        packets.remove(1);
        packets.extend(send(&mut tx, unit(1, 100)));
        let complete: Vec<u32> =
            receive(&mut UdpReceiver::new(), &packets).into_iter().filter(|d| d.complete).map(|d| d.unit).collect();
        assert_eq!(complete, [1]);
    }

    #[test]
    fn a_datagram_is_new_once_and_up_to_1024_behind_the_newest() {
        let mut rx = UdpReceiver::new();
        let mut packet = send(&mut sender(&UdpConfig::default()), unit(0, 100))[0];
        let mut arrive = |number: u32| {
            if let Body::Datagram { sequence, .. } = &mut packet.body {
                *sequence = number;
            }
            receive(&mut rx, [&packet]).len()
        };
        assert_eq!([5000, 5000, 3977, 3976, 3977].map(&mut arrive), [1, 0, 1, 0, 0]);
        assert_eq!([u32::MAX / 2, u32::MAX - 2, 1, u32::MAX - 1].map(&mut arrive), [1, 1, 1, 1], "numbers wrap");
    }

    #[test]
    fn view_shows_sent_packets_and_an_empty_backlog() {
        let mut tx = sender(&UdpConfig::default());
        send(&mut tx, unit(0, 3000));
        assert_eq!((tx.view().sent, tx.view().backlog, tx.view().limited), (3, Some(Backlog::default()), None));
    }

    #[test]
    fn stop_ends_transmission() {
        let mut tx = sender(&UdpConfig::default());
        tx.on_stop(Instant::ZERO);
        assert!(send(&mut tx, unit(0, 160)).is_empty());
    }

    #[test]
    fn a_datagram_too_long_for_ip_is_refused() {
        let config = UdpConfig { max_payload: Bytes::new(65_500), ..UdpConfig::default() };
        assert_eq!(config.check().expect_err("65540 bytes").key, "max-payload");
    }

    proptest! {
        #[test]
        fn bytes_are_delivered_exactly_once_despite_reordering_and_duplicates(
            sizes in prop::collection::vec(0u32..5000, 1..20),
            order in prop::collection::vec(any::<prop::sample::Index>(), 1..400),
        ) {
            let mut tx = sender(&UdpConfig::default());
            let packets: Vec<Packet> =
                sizes.iter().enumerate().flat_map(|(i, &size)| send(&mut tx, unit(i as u32, size))).collect();
            let shuffled: Vec<Packet> =
                order.iter().map(|i| packets[i.index(packets.len())]).chain(packets.iter().copied()).collect();
            let deliveries = receive(&mut UdpReceiver::new(), &shuffled);
            prop_assert_eq!(deliveries.iter().map(|d| d.payload).sum::<u32>(), sizes.iter().sum::<u32>());
            prop_assert_eq!(deliveries.iter().filter(|d| d.complete).count(), sizes.len());
        }
    }
}
