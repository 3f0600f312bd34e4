//! SIP messages that set up and end each call. They let analysis programs find the RTP streams of the call.
//!
//! Source: RFC 3261 (INVITE, 100, 180, 200, ACK; BYE, 200: the call flow of RFC 3665 §3.1 without a proxy). Also RFC
//! 3264 and RFC 8866 (the session descriptions), RFC 3551 §6 (names and clocks of payload types), RFC 2198 §5
//! (redundant speech).
//!
//! **These messages are written and not simulated.** They take no transmission time, wait in no queue and are never
//! lost: each takes the propagation delays of its route. The call is set up before its first RTP packet. If the run
//! starts too late for that, the times between the messages shrink, in the extreme to 0. A call ends when its flow
//! stops, or with the run.
//!
//! **Assumptions.** The caller is the sender of the flow; both parties of a conversation share one call. The callee
//! responds immediately. Both use port 5060.

use fairwave_core::packet::FlowId;
use fairwave_core::random::Stream;
use fairwave_core::traffic::{Source, TrafficSource};
use fairwave_core::transport::{Properties, TransportConfig};
use fairwave_core::units::{Instant, Span};
use fairwave_core::wire::{Media, Protocol};
use fairwave_scenario::plan::{FlowPlan, Partner, Plan};

use super::address::{self, Ports};

/// Port of SIP (RFC 3261 §19.1.2).
const PORT: u16 = 5060;
/// Payload type of redundant speech in the datagrams.
const REDUNDANT: u8 = 97;

/// Messages of a call in the order of sending: the first five set it up, the others end it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Message {
    Invite,
    Trying,
    Ringing,
    Answered,
    Ack,
    Bye,
    Ended,
}

impl Message {
    const SETUP: [Message; 5] = [Message::Invite, Message::Trying, Message::Ringing, Message::Answered, Message::Ack];
    const END: [Message; 2] = [Message::Bye, Message::Ended];

    /// Whether it goes from the caller to the callee.
    fn is_forward(self) -> bool {
        matches!(self, Message::Invite | Message::Ack | Message::Bye)
    }
}

/// A message in transit: its sending time and the scale of its propagation delays.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: Instant,
    call: usize,
    message: Message,
    /// Scale of the route's delays, in units of 2⁻³².
    scale: u64,
}

/// A call: the leading flow, and the flow of the other party if both talk.
#[derive(Clone, Copy, Debug)]
struct Call {
    flow: usize,
    answer: Option<usize>,
}

/// Observation point of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ObservationPoint {
    /// At a node that sends or receives it.
    Host { node: usize, inbound: bool },
    /// After a link's transmitter.
    Link(usize),
}

/// A message as the content of an IP packet.
pub(super) struct Datagram {
    pub addresses: [[u8; 4]; 2],
    pub ports: [u16; 2],
    pub text: String,
}

/// All calls of a run.
#[derive(Default)]
pub(super) struct Calls {
    calls: Vec<Call>,
    /// In descending order of time, so the next message is the last element.
    schedule: Vec<Sent>,
}

/// Messages are delivered this early, so that they precede packets of the same time.
const AHEAD: Span = Span::from_secs(1);

/// Scale of an unshortened delay.
const WHOLE: u64 = 1 << 32;

fn part_of(delay: Span, scale: u64) -> Span {
    Span::from_nanos(((u128::from(delay.nanos()) * u128::from(scale)) >> 32) as u64)
}

impl Calls {
    /// Returns the calls of a plan: flows over RTP with a call as their application.
    pub fn new(plan: &Plan) -> Self {
        let mut calls = Calls::default();
        let end = Instant::ZERO + plan.duration;
        for (index, flow) in plan.flows.iter().enumerate() {
            let over_rtp = flow.transport.protocol() == Protocol::Rtp && flow.transport.tcp().is_none();
            let answer = match flow.partner {
                Some(Partner { leads: false, .. }) => continue,
                Some(Partner { flow, .. }) => Some(flow).filter(|other| *other < plan.flows.len()),
                None => None,
            };
            if !over_rtp || flow.traffic.call().is_none() || flow.start >= end {
                continue;
            }
            let call = calls.calls.len();
            calls.calls.push(Call { flow: index, answer });
            let both = || std::iter::once(flow).chain(answer.map(|other| &plan.flows[other]));
            let first = both().map(|flow| first_packet(plan, flow)).min().unwrap_or(flow.start);
            let [there, back] = delays(plan, flow);
            // The response is sent on arrival of the invitation, the acknowledgement on arrival of the response.
            let total = there + back + there;
            let scale = match total.nanos() {
                0 => WHOLE,
                nanos => ((u128::from(first.nanos()) << 32) / u128::from(nanos)).min(u128::from(WHOLE)) as u64,
            };
            let begin = Instant::ZERO + first.span_since(Instant::ZERO + part_of(total, scale));
            let [there, back] = [there, back].map(|delay| part_of(delay, scale));
            for message in Message::SETUP {
                let at = match message {
                    Message::Invite => begin,
                    Message::Ack => begin + there + back,
                    _ => begin + there,
                };
                calls.schedule.push(Sent { at, call, message, scale });
            }
            let stop = both().map(|flow| flow.stop).max().unwrap_or(end).min(end);
            // Messages sent at the end of the run arrive at the end.
            let scale = if stop < end { WHOLE } else { 0 };
            for message in Message::END {
                let at = if message == Message::Bye { stop } else { stop + part_of(delays(plan, flow)[0], scale) };
                calls.schedule.push(Sent { at: at.min(end), call, message, scale });
            }
        }
        calls.schedule.sort_by_key(|sent| std::cmp::Reverse((sent.at, sent.call, sent.message)));
        calls
    }

    /// Reports every message sent until shortly after `now`, in order, with its place and time. `end` is the end of
    /// the run.
    pub fn report_until(
        &mut self,
        plan: &Plan,
        ports: &Ports,
        now: Instant,
        mut seen: impl FnMut(ObservationPoint, Instant, &Datagram),
    ) {
        let end = Instant::ZERO + plan.duration;
        while let Some(sent) = self.schedule.pop_if(|sent| sent.at <= now + AHEAD) {
            let call = self.calls[sent.call];
            let flow = &plan.flows[call.flow];
            let (from, to, route) = if sent.message.is_forward() {
                (flow.from, flow.to, &flow.forward)
            } else {
                (flow.to, flow.from, &flow.backward)
            };
            let datagram = datagram(plan, ports, call, sent.message);
            let mut at = sent.at;
            seen(ObservationPoint::Host { node: from, inbound: false }, at, &datagram);
            for &link in route {
                seen(ObservationPoint::Link(link), at, &datagram);
                at = (at + part_of(plan.links[link].direction.delay, sent.scale)).min(end);
            }
            seen(ObservationPoint::Host { node: to, inbound: true }, at, &datagram);
        }
    }

    /// Whether a message is due by shortly after `now`.
    pub fn is_due(&self, now: Instant) -> bool {
        self.schedule.last().is_some_and(|sent| sent.at <= now + AHEAD)
    }
}

/// Returns the propagation delays forward and back.
fn delays(plan: &Plan, flow: &FlowPlan) -> [Span; 2] {
    [&flow.forward, &flow.backward].map(|route| {
        route.iter().map(|link| plan.links[*link].direction.delay).fold(Span::ZERO, |sum, delay| sum + delay)
    })
}

/// Returns a time before the flow's first packet, as close to it as its host's clock allows.
fn first_packet(plan: &Plan, flow: &FlowPlan) -> Instant {
    let script = match flow.partner {
        Some(Partner { flow: leader, leads: false }) => plan.flows.get(leader).unwrap_or(flow),
        _ => flow,
    };
    let stream: Stream = plan.seed.stream(&format!("flow.{}.traffic", script.name));
    let unit = Source::new(&flow.traffic, flow.start, stream).ok().and_then(|mut source| source.next_unit());
    let after = unit.map_or(Span::ZERO, |unit| unit.created.span_since(flow.start)).nanos();
    let off = u128::from(after) * u128::from(plan.hosts.clock_skew.ppb()) / 1_000_000_000;
    flow.start + Span::from_nanos(after.saturating_sub(off as u64))
}

fn dotted(address: [u8; 4]) -> String {
    let [a, b, c, d] = address;
    format!("{a}.{b}.{c}.{d}")
}

/// Converts a node's name to the user part of an address (RFC 3261 §25.1): forbidden characters become `_`.
fn user(name: &str) -> String {
    let allowed = |one: char| one.is_ascii_alphanumeric() || "-_.!~*'()".contains(one);
    name.chars().map(|one| if allowed(one) { one } else { '_' }).collect()
}

/// Returns the name of a codec in session descriptions (RFC 3551 §6 and the codecs' payload formats).
fn encoding(name: &str) -> String {
    let known = [
        ("g711", "PCMU"),
        ("gsm-fr", "GSM"),
        ("gsm-hr", "GSM-HR-08"),
        ("gsm-efr", "GSM-EFR"),
        ("g723", "G723"),
        ("amr-wb", "AMR-WB"),
        ("amr", "AMR"),
        ("ilbc", "iLBC"),
        ("evs", "EVS"),
        ("opus", "opus"),
    ];
    let found = known.iter().find(|(begin, _)| name.starts_with(begin));
    found.map_or_else(|| name.to_uppercase(), |(_, encoding)| (*encoding).to_owned())
}

fn datagram(plan: &Plan, ports: &Ports, call: Call, message: Message) -> Datagram {
    let flow = &plan.flows[call.flow];
    let [caller, callee] = [flow.from, flow.to];
    let [from, to] = [caller, callee].map(|node| dotted(address::node_address(node)));
    let [calling, called] = [caller, callee].map(|node| user(&plan.nodes[node]));
    let session = match message {
        Message::Invite => session(plan, ports, call, true),
        Message::Answered => session(plan, ports, call, false),
        _ => String::new(),
    };
    let line = match message {
        Message::Invite => format!("INVITE sip:{called}@{to} SIP/2.0"),
        Message::Trying => "SIP/2.0 100 Trying".to_owned(),
        Message::Ringing => "SIP/2.0 180 Ringing".to_owned(),
        Message::Answered | Message::Ended => "SIP/2.0 200 OK".to_owned(),
        Message::Ack => format!("ACK sip:{called}@{to} SIP/2.0"),
        Message::Bye => format!("BYE sip:{called}@{to} SIP/2.0"),
    };
    let transaction = match message {
        Message::Ack => "ack",
        Message::Bye | Message::Ended => "bye",
        _ => "invite",
    };
    let tag = if matches!(message, Message::Invite | Message::Trying) {
        String::new()
    } else {
        format!(";tag=to-{}", call.flow)
    };
    let sequence = match message {
        Message::Ack => "1 ACK",
        Message::Bye | Message::Ended => "2 BYE",
        _ => "1 INVITE",
    };
    let mut lines = vec![line, format!("Via: SIP/2.0/UDP {from}:{PORT};branch=z9hG4bK-{}-{transaction}", call.flow)];
    if message.is_forward() {
        lines.push("Max-Forwards: 70".to_owned());
    }
    lines.push(format!("From: \"{}\" <sip:{calling}@{from}>;tag=from-{}", flow.name, call.flow));
    lines.push(format!("To: <sip:{called}@{to}>{tag}"));
    lines.push(format!("Call-ID: {}@{from}", call.flow));
    lines.push(format!("CSeq: {sequence}"));
    match message {
        Message::Invite => lines.push(format!("Contact: <sip:{calling}@{from}>")),
        Message::Ringing | Message::Answered => lines.push(format!("Contact: <sip:{called}@{to}>")),
        _ => {}
    }
    if !session.is_empty() {
        lines.push("Content-Type: application/sdp".to_owned());
    }
    lines.push(format!("Content-Length: {}", session.len()));
    let mut text = lines.join("\r\n");
    text.push_str("\r\n\r\n");
    text.push_str(&session);
    let addresses = [address::node_address(caller), address::node_address(callee)];
    let addresses = if message.is_forward() { addresses } else { [addresses[1], addresses[0]] };
    Datagram { addresses, ports: [PORT, PORT], text }
}

/// Returns a party's session description: its address, port and codecs.
fn session(plan: &Plan, ports: &Ports, call: Call, offers: bool) -> String {
    let flow = &plan.flows[call.flow];
    let node = if offers { flow.from } else { flow.to };
    let host = dotted(address::node_address(node));
    // Flow that this party receives.
    let (port, direction) = match (call.answer, offers) {
        (Some(answer), true) => (ports.receiver_port(answer), "sendrecv"),
        (Some(_), false) => (ports.receiver_port(call.flow), "sendrecv"),
        (None, true) => (address::flow_port(call.flow as u32), "sendonly"),
        (None, false) => (ports.receiver_port(call.flow), "recvonly"),
    };
    let media = Media::for_flow(FlowId(call.flow as u32), &flow.traffic);
    let (name, time) = flow.traffic.call().map_or(("", Span::ZERO), |(codec, time)| (codec.name(), time));
    let own = media.payload_type;
    let doubled = matches!(&*flow.transport, TransportConfig::Udp(udp) if udp.redundancy > 0);
    let types = if doubled { format!("{REDUNDANT} {own}") } else { own.to_string() };
    let mut lines = vec![
        "v=0".to_owned(),
        format!("o=- {} 1 IN IP4 {host}", call.flow + 1),
        "s=call".to_owned(),
        format!("c=IN IP4 {host}"),
        "t=0 0".to_owned(),
        format!("m=audio {port} RTP/AVP {types}"),
        format!("a=rtpmap:{own} {}/{}", encoding(name), media.clock),
    ];
    if doubled {
        lines.push(format!("a=rtpmap:{REDUNDANT} red/{}", media.clock));
        lines.push(format!("a=fmtp:{REDUNDANT} {own}/{own}"));
    }
    if time.nanos() % 1_000_000 == 0 && time > Span::ZERO {
        lines.push(format!("a=ptime:{}", time.nanos() / 1_000_000));
    }
    lines.push(format!("a={direction}"));
    lines.join("\r\n") + "\r\n"
}

#[cfg(test)]
mod tests {
    use fairwave_core::random::Seed;
    use fairwave_scenario::Scenario;

    use super::*;

    const SCENARIO: &str = r#"
name = "described"
duration = "3 s"
[[link]]
from = "a"
to = "b"
rate = "1 Mb/s"
delay = "20 ms"
[[flow]]
name = "talk"
from = "a"
to = "b"
transport = "udp"
traffic = { kind = "conversation", codec = "ilbc-30" }
[[flow]]
name = "doubled"
from = "a"
to = "b"
transport = { name = "udp", redundancy = 1 }
traffic = { kind = "voice", codec = "g711" }
"#;

    fn described(flow: usize, offers: bool) -> Vec<String> {
        let plan = Scenario::from_text(SCENARIO, "described.toml").expect("a scenario").plan(Seed(1)).expect("a plan");
        let answer = plan.flows[flow].partner.map(|partner| partner.flow);
        session(&plan, &Ports::new(&plan), Call { flow, answer }, offers).lines().map(str::to_owned).collect()
    }

    #[test]
    fn invalid_characters_in_a_user_name_are_replaced() {
        assert_eq!(["call-s0", "a b@c", "l'hôte"].map(user), ["call-s0", "a_b_c", "l'h_te"]);
    }

    #[test]
    fn codecs_have_the_names_of_their_payload_formats() {
        let names = ["g711", "g729", "g723.1-6.3", "gsm-efr", "amr-12.2", "amr-wb-6.60", "ilbc-20", "g726-32"];
        let expected = ["PCMU", "G729", "G723", "GSM-EFR", "AMR", "AMR-WB", "iLBC", "G726-32"];
        assert_eq!(names.map(encoding), expected);
    }

    #[test]
    fn a_conversation_has_speech_in_both_directions() {
        let (offer, answer) = (described(0, true), described(0, false));
        for said in [&offer, &answer] {
            assert!(said.contains(&"a=sendrecv".to_owned()) && said.contains(&"a=rtpmap:96 iLBC/8000".to_owned()));
            assert!(said.contains(&"a=ptime:30".to_owned()));
        }
        // The caller's host receives only these media; the callee's host receives two streams.
        assert!(offer.contains(&"m=audio 5004 RTP/AVP 96".to_owned()), "{offer:?}");
        assert!(answer.contains(&"m=audio 16384 RTP/AVP 96".to_owned()), "{answer:?}");
    }

    #[test]
    fn redundant_speech_names_what_it_repeats() {
        let offer = described(2, true);
        for line in ["m=audio 10004 RTP/AVP 97 0", "a=rtpmap:97 red/8000", "a=fmtp:97 0/0", "a=sendonly"] {
            assert!(offer.contains(&line.to_owned()), "{line}: {offer:?}");
        }
    }
}
