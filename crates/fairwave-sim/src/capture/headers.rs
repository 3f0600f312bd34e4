//! Encodes a packet as bytes, with its protocol headers from IPv4 up. Checksums assume a payload of zeros.
//!
//! UDP datagrams have the same bytes as on sockets ([`fairwave_core::wire`]). So a packet has the length that the
//! scenario counts on the wire, unless its contents need more.
//!
//! **Assumptions.** TCP packets have real headers: 20 B of IPv4, 20 of TCP and its options. If a scenario counts
//! other headers on the wire (`header = …`), the captured and the simulated length differ. The TCP options are those
//! of the simulated TCP: timestamps on every segment (in ms), MSS, window scaling and, with SACK recovery, selective
//! acknowledgements. An option of the experimental kind 254 marks abandoned segments (a TCP with a `deadline`).
//!
//! ECN: the IP header has the codepoint at the point of capture. With `classic` the flags are RFC 3168's. With
//! `accurate` and `scalable` the ACE field of RFC 9768 (AE, CWR, ECE) counts the marked segments, modulo 8 from 5 on.
//! Its option with byte counts is not written, because the simulated feedback counts segments. The flags of the
//! handshake negotiate the mode as real endpoints do.

use etherparse::{
    IcmpEchoHeader, Icmpv4Header, Icmpv4Type, IpDscp, IpEcn, IpNumber, Ipv4Header, TcpHeader, TcpOptionElement,
    UdpHeader,
};
use fairwave_core::packet::{Body, Ecn, FlowId, Packet};
use fairwave_core::traffic::Codec;
use fairwave_core::transport::ping::Carrier;
use fairwave_core::transport::tcp::control::Marks;
use fairwave_core::transport::{Properties, TransportConfig};
use fairwave_core::units::{Instant, Span};
use fairwave_core::wire::{Format, Protocol, encode};
use fairwave_scenario::plan::{FlowPlan, Plan};

use super::address::{self, Ports};
use super::sip;
use super::tcp::Offsets;

/// Maximum payload of an IPv4 packet.
static ZEROS: [u8; 65_535] = [0; 65_535];
const HOPS: u8 = 64;
/// Bytes of RTP's fixed header (RFC 3550 §5.1).
const RTP_HEADER: usize = 12;
/// Shift of the receiver's window scale.
const SCALE: u8 = 10;

/// Properties of a flow that its headers need.
struct Flow {
    format: Format,
    selective: bool,
    marks: Marks,
    segment: u16,
    window: u16,
    offsets: Offsets,
    /// For G.711 calls: start time, and speech time per packet.
    spoken: Option<(Instant, Span)>,
    /// For pings: the carrying protocol.
    echo: Option<Carrier>,
}

impl Flow {
    fn new(index: usize, flow: &FlowPlan, nodes: &[String]) -> Self {
        let hosts = [&*nodes[flow.from], &*nodes[flow.to]];
        let tcp = flow.transport.tcp();
        let window = tcp.as_ref().map_or(0, |tcp| u64::from(tcp.receiver_window) * u64::from(tcp.segment));
        Flow {
            format: Format::for_flow(FlowId(index as u32), flow.transport.protocol(), &flow.traffic, hosts),
            selective: tcp.as_ref().is_some_and(|tcp| tcp.sends_sack()),
            marks: tcp.as_ref().map_or(Marks::None, |tcp| tcp.marks),
            segment: tcp.as_ref().map_or(0, |tcp| tcp.segment),
            window: (window >> SCALE).min(u64::from(u16::MAX)) as u16,
            offsets: Offsets::default(),
            echo: match &*flow.transport {
                TransportConfig::Ping(ping) => Some(ping.carrier),
                _ => None,
            },
            spoken: flow.traffic.call().filter(|(codec, _)| *codec == Codec::G711).map(|(_, time)| (flow.start, time)),
        }
    }
}

/// Encoder of packets.
pub(super) struct Headers<'p> {
    plan: &'p Plan,
    pub ports: Ports,
    flows: Vec<Flow>,
    /// Speech of G.711 calls as µ-law codes; empty for a payload of zeros.
    speech: Vec<u8>,
}

impl<'p> Headers<'p> {
    pub fn new(plan: &'p Plan, speech: &[u8]) -> Self {
        let flows = plan.flows.iter().enumerate();
        Headers {
            plan,
            ports: Ports::new(plan),
            flows: flows.map(|(index, flow)| Flow::new(index, flow, &plan.nodes)).collect(),
            speech: speech.to_vec(),
        }
    }

    /// Returns the bytes of a message that sets up or ends a call.
    pub fn encode_message(datagram: &sip::Datagram) -> Vec<u8> {
        let sip::Datagram { addresses: [source, destination], ports: [from, to], text } = datagram;
        let content = text.as_bytes();
        let length = (UdpHeader::LEN + content.len()) as u16;
        let mut header = UdpHeader { source_port: *from, destination_port: *to, length, checksum: 0 };
        header.checksum = header.calc_checksum_ipv4_raw(*source, *destination, content).unwrap_or(0);
        let mut bytes = Vec::with_capacity(Ipv4Header::MIN_LEN + usize::from(length));
        if let Ok(mut ip) = Ipv4Header::new(length, HOPS, IpNumber::UDP, *source, *destination) {
            ip.header_checksum = ip.calc_header_checksum();
            bytes.extend(ip.to_bytes());
        }
        bytes.extend(header.to_bytes());
        bytes.extend(content);
        bytes
    }

    /// Returns the speech in a packet of a G.711 call.
    fn spoken(&self, flow: &Flow, packet: &Packet) -> Option<Vec<u8>> {
        let (begin, time) = flow.spoken.filter(|_| !self.speech.is_empty())?;
        let Body::Datagram { payload, created, parts: 0..=1, .. } = packet.body else { return None };
        // Packets of one talkspurt follow without a gap.
        let number = created.span_since(begin).nanos() / time.nanos().max(1);
        let first = (u128::from(number) * u128::from(payload) % self.speech.len() as u128) as usize;
        Some(self.speech.iter().cycle().skip(first).take(usize::from(payload)).copied().collect())
    }

    /// Records a sent packet, to know the bytes of each segment.
    pub fn learn(&mut self, packet: &Packet) {
        if let Body::Segment { payload, sequence, .. } = packet.body
            && sequence > 0
        {
            self.flows[packet.flow.0 as usize].offsets.learn(sequence, payload);
        }
    }

    /// Returns the packet's bytes and its total length. Filler bytes are included only if `whole`.
    pub fn encode_packet(&self, packet: &Packet, now: Instant, whole: bool) -> (Vec<u8>, u32) {
        let flow = packet.flow.0 as usize;
        let FlowPlan { from, to, .. } = self.plan.flows[flow];
        let (source, destination) = if packet.feedback { (to, from) } else { (from, to) };
        let addresses = [address::node_address(source), address::node_address(destination)];
        let state = &self.flows[flow];
        let (port, beside) = port_of(&packet.body, state.format.protocol, self.ports.receiver_port(flow));
        let own = address::flow_port(packet.flow.0) + beside;
        let port = if state.echo.is_some() { address::ECHO } else { port };
        let ports = if packet.feedback { [port, own] } else { [own, port] };
        let (protocol, header, payload) =
            if let (Some(carrier), Body::Datagram { payload, sequence, .. }) = (state.echo, packet.body) {
                let (protocol, header) =
                    echo(addresses, ports, carrier, (packet.flow.0, sequence), payload, packet.feedback);
                (protocol, header, usize::from(payload))
            } else if port == address::TCP {
                let (header, payload) = tcp(addresses, ports, packet, state, now);
                (IpNumber::TCP, header, payload)
            } else {
                let (header, payload) =
                    udp(addresses, ports, packet, &state.format, self.spoken(state, packet).filter(|_| whole));
                (IpNumber::UDP, header, payload)
            };
        let payload = payload.min(ZEROS.len() - header.len() - Ipv4Header::MIN_LEN);
        let [source, destination] = addresses;
        let within = (header.len() + payload) as u16;
        let mut bytes = Vec::with_capacity(Ipv4Header::MIN_LEN + header.len() + if whole { payload } else { 0 });
        if let Ok(mut ip) = Ipv4Header::new(within, HOPS, protocol, source, destination) {
            ip.dscp = IpDscp::try_new(packet.dscp.get()).unwrap_or_default();
            ip.ecn = codepoint(packet.ecn);
            ip.header_checksum = ip.calc_header_checksum();
            bytes.extend(ip.to_bytes());
        }
        bytes.extend(header);
        let length = (bytes.len() + payload) as u32;
        if whole {
            bytes.resize(length as usize, 0);
        }
        (bytes, length)
    }
}

/// Returns the port of a flow's receiver, and the offset of both ends' ports from those of the flow's other packets.
fn port_of(body: &Body, protocol: Protocol, rtp: u16) -> (u16, u16) {
    match (body, protocol) {
        (Body::Segment { .. } | Body::Forward { .. } | Body::Ack { .. }, _) => (address::TCP, 0),
        (Body::RtcpSenderReport { .. } | Body::RtcpReceiverReport { .. }, _) => (rtp + 1, 1),
        (Body::TfrcData { .. } | Body::TfrcFeedback { .. }, _) => (address::TFRC, 0),
        (Body::Opaque { .. }, Protocol::Dvrc) => (address::DVRC, 0),
        (Body::RapAck { .. }, _) | (_, Protocol::Rap) => (address::RAP, 0),
        (Body::Datagram { .. } | Body::Redundant { .. } | Body::Opaque { .. }, _) => (rtp, 0),
    }
}

/// Returns the UDP datagram without its filler, and the number of filler bytes.
fn udp(
    [source, destination]: [[u8; 4]; 2],
    [from, to]: [u16; 2],
    packet: &Packet,
    format: &Format,
    speech: Option<Vec<u8>>,
) -> (Vec<u8>, usize) {
    let mut content = Vec::new();
    let mut says = encode(packet, format, &mut content);
    if let Some(speech) = speech {
        // Speech replaces the description of the packet.
        content.iter_mut().skip(RTP_HEADER).zip(speech).for_each(|(byte, spoken)| *byte = spoken);
        says = content.len();
    }
    content.truncate(ZEROS.len() - Ipv4Header::MIN_LEN - UdpHeader::LEN);
    let length = (UdpHeader::LEN + content.len()) as u16;
    let mut header = UdpHeader { source_port: from, destination_port: to, length, checksum: 0 };
    header.checksum = header.calc_checksum_ipv4_raw(source, destination, &content).unwrap_or(0);
    let mut bytes = header.to_bytes().to_vec();
    bytes.extend(content.iter().take(says));
    (bytes, content.len().saturating_sub(says))
}

/// Returns the header of an echo request or reply; the payload is zeros. ICMP's identifier or the port identifies the
/// flow.
fn echo(
    [source, destination]: [[u8; 4]; 2],
    [from, to]: [u16; 2],
    carrier: Carrier,
    (flow, sequence): (u32, u32),
    payload: u16,
    reply: bool,
) -> (IpNumber, Vec<u8>) {
    let zeros = ZEROS.get(..usize::from(payload)).unwrap_or_default();
    match carrier {
        Carrier::Icmp => {
            let numbers = IcmpEchoHeader { id: (flow as u16).wrapping_add(1), seq: (sequence as u16).wrapping_add(1) };
            let kind = if reply { Icmpv4Type::EchoReply(numbers) } else { Icmpv4Type::EchoRequest(numbers) };
            (IpNumber::ICMP, Icmpv4Header::with_checksum(kind, zeros).to_bytes().to_vec())
        }
        Carrier::Udp => {
            let length = (UdpHeader::LEN + zeros.len()) as u16;
            let mut header = UdpHeader { source_port: from, destination_port: to, length, checksum: 0 };
            header.checksum = header.calc_checksum_ipv4_raw(source, destination, zeros).unwrap_or(0);
            (IpNumber::UDP, header.to_bytes().to_vec())
        }
    }
}

fn codepoint(ecn: Ecn) -> IpEcn {
    match ecn {
        Ecn::NotEct => IpEcn::ZERO,
        Ecn::Ect1 => IpEcn::ONE,
        Ecn::Ect0 => IpEcn::TWO,
        Ecn::Ce => IpEcn::THREE,
    }
}

/// Sets the flags AE, CWR and ECE. The flags SYN and ACK in `header` must be set already.
fn congestion_flags(header: &mut TcpHeader, packet: &Packet, marks: Marks) {
    // RFC 9768 §3.1: both ends' counters begin at 5, so that only a counter has the value 5.
    const FIRST_COUNT: u32 = 5;
    let count = |marked: u32| {
        let ace = (FIRST_COUNT + marked % 8) % 8;
        [ace & 4 != 0, ace & 2 != 0, ace & 1 != 0]
    };
    [header.ns, header.cwr, header.ece] = match (marks, packet.body) {
        (Marks::None, _) => [false; 3],
        // RFC 3168 §6.1.1.
        (Marks::Classic, _) if header.syn => [false, !header.ack, true],
        (Marks::Classic, Body::Segment { window_reduced, .. }) => [false, window_reduced, false],
        (Marks::Classic, Body::Ack { congestion_echo, .. }) => [false, false, congestion_echo],
        (Marks::Classic, _) => [false; 3],
        // RFC 9768 §3.1.1: all three; the reply reports an unmarked SYN (§3.1.2, Table 2).
        (_, _) if header.syn => [!header.ack, true, !header.ack],
        (_, Body::Ack { marked, .. }) => count(marked),
        (_, _) => count(0),
    };
}

fn millis(time: Instant) -> u32 {
    (time.nanos() / 1_000_000) as u32
}

/// Returns the header of a segment or an acknowledgement, and its payload.
fn tcp(
    [source, destination]: [[u8; 4]; 2],
    [from, to]: [u16; 2],
    packet: &Packet,
    flow: &Flow,
    now: Instant,
) -> (Vec<u8>, usize) {
    use TcpOptionElement::{MaximumSegmentSize, Noop, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted};
    use TcpOptionElement::{Timestamp, WindowScale};
    let opening = || {
        let mut options = vec![MaximumSegmentSize(flow.segment)];
        if flow.selective {
            options.push(SelectiveAcknowledgementPermitted);
        }
        options.push(WindowScale(SCALE));
        options
    };
    let offsets = &flow.offsets;
    let mut header = TcpHeader::new(from, to, 0, if packet.feedback { flow.window } else { u16::MAX });
    let (mut options, mut given_up, mut payload) = (vec![Noop, Noop], None, 0);
    match packet.body {
        Body::Segment { payload: size, sequence, last, sent, .. } => {
            header.sequence_number = offsets.number(sequence);
            header.syn = sequence == 0;
            header.ack = sequence > 0;
            header.acknowledgment_number = u32::from(sequence > 0);
            header.psh = last && size > 0;
            payload = if sequence > 0 { usize::from(size) } else { 0 };
            options.push(Timestamp(millis(sent), 0));
            if sequence == 0 {
                options.extend(opening());
            }
        }
        Body::Forward { next, sent } => {
            header.sequence_number = offsets.number(next);
            header.ack = true;
            header.acknowledgment_number = 1;
            options.push(Timestamp(millis(sent), 0));
            given_up = Some(offsets.number(next));
        }
        Body::Ack { next, echo, sack, .. } => {
            header.ack = true;
            header.acknowledgment_number = offsets.number(next);
            options.push(Timestamp(millis(now), millis(echo)));
            // Before the first data, an acknowledgement can only be for the SYN.
            if next <= 1 && !offsets.begun() {
                header.syn = true;
                options.extend(opening());
            } else {
                header.sequence_number = 1;
            }
            let mut blocks = (sack.iter().filter(|block| flow.selective && block.first < block.end))
                .map(|block| (offsets.number(block.first), offsets.number(block.end)));
            if let Some(first) = blocks.next() {
                options.extend([Noop, Noop, SelectiveAcknowledgement(first, [blocks.next(), blocks.next(), None])]);
            }
        }
        _ => {}
    }
    congestion_flags(&mut header, packet, flow.marks);
    // At most 40 bytes: 12 of timestamps, 2 and 26 of three blocks, or the options of a SYN.
    let _ = header.set_options(&options);
    if let Some(next) = given_up {
        let mut raw = header.options.as_slice().to_vec();
        // Experimental option: kind, length, its identifier ("FW"), and the first byte that is not abandoned.
        raw.extend([254, 8, b'F', b'W']);
        raw.extend(next.to_be_bytes());
        let _ = header.set_options_raw(&raw);
    }
    let content = ZEROS.get(..payload).unwrap_or_default();
    header.checksum = header.calc_checksum_ipv4_raw(source, destination, content).unwrap_or(0);
    (header.to_bytes().to_vec(), payload)
}
