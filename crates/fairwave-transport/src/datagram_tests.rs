//! Tests of every transport's endpoints with packets as datagram bytes and a receiver with a different clock. Sent
//! packets, feedback and deliveries must equal those of a run without bytes and with one clock, packet by packet.

use serde_json::{Value, json};

use super::*;
use crate::wire::{Decoder, Format, encode};
use fairwave_endpoint::test_path::{PathFate, Wire};
use fairwave_endpoint::{FlowContext, Output, Receiver, Sender, SenderView};
use fairwave_media::traffic::{FrameType, TrafficConfig, Unit};
use fairwave_network::packet::{Body, Packet};
use fairwave_units::random::Seed;
use fairwave_units::units::{Instant, Rate, Span};

/// Offset of the receiver's clock from the sender's.
const AHEAD: Span = Span::from_secs(5_000);

/// An endpoint that receives packets as bytes.
struct WiredEndpoint<E> {
    endpoint: E,
    format: Format,
    decoder: Decoder,
    /// Offset of the endpoint's clock.
    ahead: Span,
}

impl<E> WiredEndpoint<E> {
    fn new(endpoint: E, context: &FlowContext, format: &Format, feedback: bool, ahead: Span) -> Self {
        WiredEndpoint {
            endpoint,
            format: format.clone(),
            decoder: Decoder::new(context, format.clone(), feedback),
            ahead,
        }
    }

    fn through_bytes(&mut self, packet: &Packet) -> Packet {
        let mut datagram = Vec::new();
        encode(packet, &self.format, &mut datagram);
        self.decoder.decode(&datagram, packet.ecn).unwrap_or_else(|error| panic!("{packet:?}: {error}"))
    }

    fn own(&self, now: Instant) -> Instant {
        now + self.ahead
    }

    fn common(&self, own: Instant) -> Instant {
        if own == Instant::NEVER { own } else { Instant::ZERO + own.span_since(Instant::ZERO + self.ahead) }
    }
}

impl Sender for WiredEndpoint<AnySender> {
    fn on_start(&mut self, now: Instant, out: &mut Output) {
        self.endpoint.on_start(now, out);
    }
    fn on_unit(&mut self, now: Instant, unit: Unit, out: &mut Output) {
        self.endpoint.on_unit(now, unit, out);
    }
    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        let packet = self.through_bytes(packet);
        self.endpoint.on_packet(now, &packet, out);
    }
    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        self.endpoint.on_timer(now, out);
    }
    fn deadline(&self) -> Instant {
        self.endpoint.deadline()
    }
    fn on_stop(&mut self, now: Instant) {
        self.endpoint.on_stop(now);
    }
    fn view(&self) -> SenderView {
        self.endpoint.view()
    }
}

impl Receiver for WiredEndpoint<AnyReceiver> {
    fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
        let packet = self.through_bytes(packet);
        self.endpoint.on_packet(self.own(now), &packet, out);
    }
    fn on_timer(&mut self, now: Instant, out: &mut Output) {
        self.endpoint.on_timer(self.own(now), out);
    }
    fn deadline(&self) -> Instant {
        self.common(self.endpoint.deadline())
    }
    fn is_reactive(&self) -> bool {
        self.endpoint.is_reactive()
    }
}

/// Runs half a minute over a path that loses, delays, repeats and marks packets.
fn run<S: Sender, R: Receiver>(sender: S, receiver: R, units: Vec<Unit>) -> Wire<S, R> {
    let mut wire = Wire::new(sender, receiver, Span::from_millis(30));
    wire.bottleneck = Some(Rate::from_bits_per_second(1_000_000));
    wire.buffer = 25;
    wire.units = units;
    let mut stream = Seed(11).stream("path");
    wire.fate = Box::new(move |_, now, _| match stream.uniform() {
        // After 3 s, every rule that depends on elapsed time has started.
        _ if now < Instant::from_seconds(3.0) => PathFate::Pass,
        x if x < 0.02 => PathFate::Lose,
        x if x < 0.03 => PathFate::Late(Span::from_millis(25)),
        x if x < 0.04 => PathFate::Twice,
        _ => PathFate::Pass,
    });
    let mut stream = Seed(12).stream("back");
    wire.lose_feedback = Box::new(move |_, _| stream.chance(0.01));
    wire.mark = Box::new(|_, waiting| waiting > 10);
    wire.run_until(Instant::from_seconds(30.0));
    wire
}

/// Units of a layered video or of speech, or none for bulk data.
fn units(traffic: &TrafficConfig) -> Vec<Unit> {
    if traffic.is_bulk() {
        return Vec::new();
    }
    let layers = u32::from(traffic.layers().count().max(1));
    let unit = |id: u32| Unit {
        id,
        payload: if traffic.frames().is_some() { 500 + id % 7 * 300 } else { 160 },
        created: Instant::from_nanos(u64::from(id / layers) * 40_000_000 + 13),
        layer: (id % layers) as u8,
        frame_type: if traffic.frames().is_some() { FrameType::P } else { FrameType::None },
    };
    (0..700 * layers).map(unit).collect()
}

/// Runs a flow with and without bytes. Returns the bodies of the packets sent.
fn compare(transport: Value, traffic: Value) -> Vec<Body> {
    let shown = format!("{transport} with {traffic}");
    let transport: TransportConfig = serde_json::from_value(transport).expect("a transport");
    let traffic: TrafficConfig = serde_json::from_value(traffic).expect("traffic");
    let context = FlowContext { bulk: traffic.is_bulk(), layers: traffic.layers(), ..FlowContext::default() };
    let made = || transport.endpoints(context, Seed(1).stream("transport")).expect("endpoints");
    let (sender, receiver) = made();
    let plain = run(sender, receiver, units(&traffic));
    let (sender, receiver) = made();
    let format = Format::for_flow(context.flow, transport.protocol(), &traffic, ["alice", "bob"]);
    let sender = WiredEndpoint::new(sender, &context, &format, true, Span::ZERO);
    let receiver = WiredEndpoint::new(receiver, &context, &format, false, AHEAD);
    let wired = run(sender, receiver, units(&traffic));
    assert!(plain.deliveries.len() > 500, "{shown}: {} deliveries", plain.deliveries.len());
    assert_eq!(plain.sent.len(), wired.sent.len(), "{shown}");
    for (one, other) in plain.sent.iter().zip(&wired.sent) {
        assert_eq!(one, other, "{shown}");
    }
    for (one, other) in plain.feedback.iter().zip(&wired.feedback) {
        assert_eq!(one, other, "{shown}");
    }
    assert_eq!((plain.feedback.len(), plain.skipped), (wired.feedback.len(), wired.skipped), "{shown}");
    assert_eq!(plain.deliveries, wired.deliveries, "{shown}");
    // As text, since a bound that does not exist yet may be NaN.
    assert_eq!(format!("{:?}", plain.verdicts), format!("{:?}", wired.verdicts), "{shown}");
    plain.sent.iter().chain(&plain.feedback).map(|(_, packet)| packet.body).collect()
}

fn video() -> Value {
    json!({ "kind": "video", "layers": ["100 kb/s", "150 kb/s", "200 kb/s"] })
}

#[test]
fn speech_over_rtp_arrives_as_it_was_sent() {
    compare(json!({ "name": "udp" }), json!({ "kind": "voice" }));
    let sent = compare(json!({ "name": "udp", "redundancy": 2 }), json!({ "kind": "voice" }));
    assert!(sent.iter().all(|body| matches!(body, Body::Redundant { .. })));
}

#[test]
fn video_with_reports_arrives_as_it_was_sent_and_both_ends_report() {
    let sent = compare(json!({ "name": "rtcp", "minimum": "1 s" }), video());
    let count = |is: fn(&Body) -> bool| sent.iter().filter(|body| is(body)).count();
    assert!(count(|body| matches!(body, Body::RtcpSenderReport { .. })) > 5);
    assert!(count(|body| matches!(body, Body::RtcpReceiverReport { early: true, .. })) > 0);
    assert!(count(|body| matches!(body, Body::RtcpReceiverReport { early: false, sender_report: Some(_), .. })) > 5);
    assert!(count(|body| matches!(body, Body::Datagram { parts: 2.., .. })) > 100);
}

#[test]
fn tfrc_sends_and_hears_the_same() {
    compare(json!({ "name": "tfrc" }), json!("bulk"));
    let sent = compare(json!({ "name": "tfrc" }), video());
    assert!(sent.iter().any(|body| matches!(body, Body::TfrcData { parts: 2.., .. })));
}

#[test]
fn dvrc_sends_and_hears_the_same() {
    compare(json!({ "name": "dvrc" }), video());
}

#[test]
fn rap_sends_and_hears_the_same() {
    let sent = compare(json!({ "name": "rap" }), json!("bulk"));
    assert!(sent.iter().any(|body| matches!(body, Body::RapAck { missing: Some(_), .. })));
    compare(json!({ "name": "rap" }), json!({ "kind": "voice" }));
}

#[test]
fn tcp_in_datagrams_of_our_own_sends_and_hears_the_same() {
    let contains = |sent: &[Body], is: fn(&Body) -> bool| sent.iter().any(is);
    compare(json!({ "name": "tcp/reno" }), json!("bulk"));
    let sack = compare(json!({ "name": "tcp/sack" }), json!("bulk"));
    assert!(contains(&sack, |body| matches!(body, Body::Ack { sack, .. } if sack[1].first < sack[1].end)));
    let real = compare(json!({ "name": "tcp/real" }), json!("bulk"));
    assert!(contains(&real, |body| matches!(body, Body::Ack { rate, wave: 1.., .. } if *rate > 0.0)));
    let classic = compare(json!({ "name": "tcp/sack", "ecn": "classic" }), json!("bulk"));
    assert!(contains(&classic, |body| matches!(body, Body::Ack { congestion_echo: true, .. })));
    assert!(contains(&classic, |body| matches!(body, Body::Segment { window_reduced: true, .. })));
    let linux = compare(json!({ "name": "tcp/cubic", "preset": "linux", "ecn": "accurate" }), json!("bulk"));
    assert!(contains(&linux, |body| matches!(body, Body::Ack { marked: 1.., .. })));
    let late = compare(json!({ "name": "tcp/sack", "deadline": "100 ms" }), json!({ "kind": "voice" }));
    assert!(contains(&late, |body| matches!(body, Body::Forward { .. })));
}
