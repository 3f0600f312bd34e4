//! Standard tools parse the headers, files are in time order, and observation does not change a run.

use etherparse::{IpSlice, SlicedPacket, TransportSlice};
use fairwave_core::packet::{Body, Class, Ecn, FlowId, SackBlock};
use fairwave_core::random::Seed;
use fairwave_core::units::Span;
use fairwave_scenario::Scenario;
use pcap_file::pcapng::{Block, PcapNgReader};

use super::*;

const SCENARIO: &str = r#"
name = "captured"
duration = "3 s"
preset = "rfc"
[topology]
preset = "dumbbell"
bottleneck = { rate = "600 kb/s", delay = "20 ms", loss = { model = "bernoulli", rate = 0.02 }, queue = QUEUE }
[[flow]]
name = "data"
count = 2
transport = "tcp/sack"
traffic = "bulk"
[[flow]]
name = "call"
transport = "udp"
traffic = "voice"
[[event]]
at = "2 s"
link = "r1>r2"
state = "down"
[[event]]
at = "2.2 s"
link = "r1>r2"
state = "up"
"#;

fn plan(queue: &str) -> Plan {
    let text = SCENARIO.replace("QUEUE", queue);
    Scenario::from_text(&text, "captured.toml").expect("a scenario").plan(Seed(3)).expect("a plan")
}

fn link(plan: &Plan, name: &str) -> usize {
    plan.links.iter().position(|link| *link.name == *name).expect("a link")
}

fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("fairwave-capture-{}-{name}", std::process::id()))
}

/// Returns time, interface, bytes, original length and comment of each packet.
fn packets(path: &Path) -> Vec<(u64, u32, Vec<u8>, u32, bool)> {
    use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption::Comment;
    let mut reader = PcapNgReader::new(std::fs::File::open(path).expect("a file")).expect("pcapng");
    let mut found = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.expect("a block") {
            let comment = packet.options.iter().any(|option| matches!(option, Comment(_)));
            let at = packet.timestamp.as_nanos() as u64;
            found.push((at, packet.interface_id, packet.data.to_vec(), packet.original_len, comment));
        }
    }
    std::fs::remove_file(path).expect("a file");
    found
}

#[test]
fn a_link_s_capture_has_what_it_transmitted_and_dropped_in_order_of_time_and_the_run_is_as_it_was() {
    for queue in [
        r#"{ capacity = { packets = 10 } }"#,
        r#"{ discipline = "red", capacity = { packets = 10 }, victim = "front" }"#,
    ] {
        let plan = plan(queue);
        let (bottleneck, path) = (link(&plan, "r1>r2"), file("link.pcapng"));
        let wanted = CaptureRequest {
            captures: vec![(Tap::Link(bottleneck), path.clone()), (Tap::Drops(bottleneck), path.clone())],
            without_sip: true,
            ..CaptureRequest::default()
        };
        let mut probe = Capture::new(&plan, &wanted).expect("files");
        let seen = crate::Run::new(&plan).probe(&mut probe).execute().expect("a run");
        let written = probe.finish().expect("files");
        assert_eq!(
            seen.digest().expect("a digest"),
            crate::Run::new(&plan).execute().expect("a run").digest().expect("a digest")
        );
        let row = &seen.links[bottleneck];
        let found = packets(&path);
        assert_eq!(written, [CaptureSummary { path, packets: found.len() as u64, lost: 0 }]);
        assert!(found.is_sorted_by_key(|packet| packet.0));
        let of = |interface| found.iter().filter(move |packet| packet.1 == interface);
        assert_eq!(of(0).count() as u64, row.departures);
        assert_eq!(of(0).filter(|packet| packet.4).count() as u64, row.lost, "what the wire lost bears a comment");
        let outage = &seen.outages[0];
        let failed = outage.lost_waiting + outage.lost_in_transmission;
        assert!(failed > 0 && row.dropped_overflow + row.dropped_early > 0 && row.lost > 0);
        assert_eq!(of(1).count() as u64, row.dropped_overflow + row.dropped_early + failed);
        assert!(of(1).all(|packet| packet.4));
    }
}

#[test]
fn a_host_s_capture_shows_copies_that_a_wire_made() {
    let mut plan = plan(r#"{ capacity = { packets = 10 } }"#);
    let last = plan.flows[2].forward[plan.flows[2].forward.len() - 1];
    std::sync::Arc::make_mut(&mut plan.links[last].direction).changes.duplicate =
        Some(fairwave_core::link::Duplicate { share: 0.5 });
    let (node, path) = (plan.links[last].to, file("copies.pcapng"));
    let wanted = CaptureRequest {
        captures: vec![(Tap::Host(node), path.clone())],
        without_sip: true,
        ..CaptureRequest::default()
    };
    let mut probe = Capture::new(&plan, &wanted).expect("files");
    let seen = crate::Run::new(&plan).probe(&mut probe).execute().expect("a run");
    probe.finish().expect("files");
    let found = packets(&path);
    assert!(seen.links[last].duplicated > 10);
    assert_eq!(found.len() as u64, seen.flows[2].units_received + seen.links[last].duplicated);
    let twice = found.windows(2).filter(|pair| pair[0].0 == pair[1].0 && pair[0].2 == pair[1].2).count() as u64;
    assert_eq!(twice, seen.links[last].duplicated, "a copy is the same packet at the same time");
}

#[test]
fn a_host_s_capture_has_what_it_sent_and_received_and_every_checksum_is_right() {
    let plan = plan(r#"{ capacity = { packets = 10 } }"#);
    for name in ["data-s0", "call-d0"] {
        let node = plan.nodes.iter().position(|node| node == name).expect("a node");
        let path = file(name);
        let wanted = CaptureRequest {
            captures: vec![(Tap::Host(node), path.clone())],
            payload: true,
            ..CaptureRequest::default()
        };
        let mut probe = Capture::new(&plan, &wanted).expect("files");
        let seen = crate::Run::new(&plan).probe(&mut probe).execute().expect("a run");
        probe.finish().expect("files");
        let found = packets(&path);
        let expected = match name {
            "data-s0" => seen.flows[0].packets_sent,
            _ => seen.flows[2].units_received,
        };
        let mut of_direction = 0;
        for (_, _, bytes, length, _) in &found {
            assert_eq!(bytes.len(), *length as usize, "payload was asked for");
            let packet = SlicedPacket::from_ip(bytes).expect("IP");
            let Ok(IpSlice::Ipv4(ip)) = IpSlice::from_slice(bytes) else { panic!("no IPv4") };
            let header = ip.header().to_header();
            assert_eq!(header.header_checksum, header.calc_header_checksum());
            assert_eq!(usize::from(header.total_len), bytes.len());
            match packet.transport.expect("a transport") {
                TransportSlice::Tcp(tcp) => {
                    let sum = tcp.to_header().calc_checksum_ipv4(&header, tcp.payload()).expect("a sum");
                    assert_eq!(tcp.checksum(), sum);
                    of_direction += u64::from(tcp.destination_port() == address::TCP);
                }
                TransportSlice::Udp(udp) => {
                    let sum = udp.to_header().calc_checksum_ipv4(&header, udp.payload()).expect("a sum");
                    assert_eq!(udp.checksum(), sum);
                    of_direction += u64::from(udp.destination_port() == address::RTP);
                }
                _ => panic!("another transport"),
            }
        }
        assert_eq!(of_direction, expected, "{name}");
    }
}

#[test]
fn a_segment_and_its_acknowledgement_bear_the_numbers_of_their_bytes() {
    let plan = plan(r#"{ capacity = { packets = 10 } }"#);
    let mut headers = Headers::new(&plan, &[]);
    let at = Instant::ZERO + Span::from_millis(1234);
    let packet = |body, feedback| Packet {
        flow: FlowId(0),
        wire: 1040,
        class: Class::Tcp,
        dscp: Default::default(),
        feedback,
        ecn: Ecn::NotEct,
        layer: 0,
        body,
    };
    let segment = |sequence| Body::Segment {
        payload: if sequence > 0 { 1000 } else { 0 },
        sequence,
        unit: sequence,
        wave: 0,
        wave_size: 0,
        retransmission: false,
        window_reduced: false,
        last: false,
        sent: at,
        created: at,
    };
    let ack = |next, sack| Body::Ack { next, echo: at, rate: 0.0, wave: 0, congestion_echo: false, marked: 0, sack };
    let read = |headers: &Headers<'_>, body, feedback| {
        let (bytes, length) = headers.encode_packet(&packet(body, feedback), at, true);
        assert_eq!(bytes.len(), length as usize);
        let Some(TransportSlice::Tcp(tcp)) = SlicedPacket::from_ip(&bytes).expect("IP").transport else {
            panic!("no TCP")
        };
        tcp.to_header()
    };
    let syn = read(&headers, segment(0), false);
    assert!(syn.syn && !syn.ack && syn.sequence_number == 0);
    use etherparse::TcpOptionElement::{
        MaximumSegmentSize, SelectiveAcknowledgement, SelectiveAcknowledgementPermitted, Timestamp,
    };
    let options =
        |header: &etherparse::TcpHeader| header.options_iterator().collect::<Result<Vec<_>, _>>().expect("options");
    assert!(
        options(&syn).contains(&MaximumSegmentSize(1000)) && options(&syn).contains(&SelectiveAcknowledgementPermitted)
    );
    let reply = read(&headers, ack(1, Default::default()), true);
    assert!(reply.syn && reply.ack && (reply.sequence_number, reply.acknowledgment_number) == (0, 1));
    for sequence in 1..=5 {
        headers.learn(&packet(segment(sequence), false));
    }
    let third = read(&headers, segment(3), false);
    assert!(third.ack && !third.syn && (third.sequence_number, third.acknowledgment_number) == (2001, 1));
    let blocks = [SackBlock { first: 3, end: 5 }, SackBlock::default(), SackBlock::default()];
    let ack = read(&headers, ack(2, blocks), true);
    assert!(ack.ack && !ack.syn && (ack.sequence_number, ack.acknowledgment_number) == (1, 1001));
    let told = options(&ack);
    assert!(told.contains(&Timestamp(1234, 1234)), "{told:?}");
    assert!(told.contains(&SelectiveAcknowledgement((2001, 4001), [None; 3])), "{told:?}");
}

/// Returns the first line and the body of a SIP message; `None` for other packets.
fn message(bytes: &[u8]) -> Option<(String, String)> {
    let Some(TransportSlice::Udp(udp)) = SlicedPacket::from_ip(bytes).expect("IP").transport else { return None };
    let text = (udp.destination_port() == 5060).then(|| String::from_utf8(udp.payload().to_vec()).expect("text"))?;
    let (head, body) = text.split_once("\r\n\r\n").expect("a head");
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: ")).expect("a length");
    assert_eq!(length.parse(), Ok(body.len()));
    Some((head.lines().next().unwrap_or_default().to_owned(), body.to_owned()))
}

#[test]
fn a_call_is_set_up_before_its_first_packet_and_ends_with_its_flow() {
    let mut plan = plan(r#"{ capacity = { packets = 10 } }"#);
    plan.flows[2].start = Instant::ZERO + Span::from_millis(500);
    plan.flows[2].stop = Instant::ZERO + Span::from_millis(1500);
    let there: u64 = plan.flows[2].forward.iter().map(|link| plan.links[*link].direction.delay.nanos()).sum();
    let (node, path) = (plan.flows[2].from, file("call.pcapng"));
    let captures = vec![(Tap::Host(node), path.clone())];
    let wanted = CaptureRequest { captures, payload: true, ..CaptureRequest::default() };
    let mut probe = Capture::new(&plan, &wanted).expect("files");
    let seen = crate::Run::new(&plan).probe(&mut probe).execute().expect("a run");
    let written = probe.finish().expect("files");
    assert_eq!(written[0].packets, seen.flows[2].packets_sent, "messages do not count");
    let found = packets(&path);
    let said: Vec<_> = found.iter().filter_map(|one| Some((one.0, message(&one.2)?.0))).collect();
    let lines: Vec<&str> = said.iter().map(|(_, line)| line.as_str()).collect();
    assert_eq!(
        lines,
        [
            "INVITE sip:call-d0@10.0.0.8 SIP/2.0",
            "SIP/2.0 100 Trying",
            "SIP/2.0 180 Ringing",
            "SIP/2.0 200 OK",
            "ACK sip:call-d0@10.0.0.8 SIP/2.0",
            "BYE sip:call-d0@10.0.0.8 SIP/2.0",
            "SIP/2.0 200 OK"
        ]
    );
    let first = found.iter().position(|one| message(&one.2).is_none()).expect("speech");
    assert_eq!(first, 5, "speech begins when the call is set up");
    assert!(said[4].0 <= found[first].0);
    // The response arrives after one round trip, and so does the last one.
    assert_eq!(said[1].0 - said[0].0, 2 * there);
    assert_eq!((said[5].0, said[6].0), (1_500_000_000, 1_500_000_000 + 2 * there));
    let (_, offer) = message(&found[0].2).expect("an offer");
    assert!(offer.contains("m=audio 10004 RTP/AVP 0\r\n") && offer.contains("a=rtpmap:0 PCMU/8000\r\n"), "{offer}");
    assert!(offer.contains("a=sendonly\r\n"));
    let (_, answer) = message(&found[3].2).expect("an answer");
    assert!(answer.contains("c=IN IP4 10.0.0.8\r\n") && answer.contains("m=audio 5004 RTP/AVP 0\r\n"), "{answer}");
    assert!(answer.contains("a=recvonly\r\n") && answer.contains("a=ptime:20\r\n"));
}

#[test]
fn a_call_that_begins_with_the_run_is_set_up_at_once_and_ends_with_the_run() {
    let mut plan = plan(r#"{ capacity = { packets = 10 } }"#);
    plan.flows[2].stop = Instant::NEVER;
    let (node, path) = (plan.flows[2].to, file("early.pcapng"));
    let captures = vec![(Tap::Host(node), path.clone())];
    let wanted = CaptureRequest { captures, payload: true, ..CaptureRequest::default() };
    let mut probe = Capture::new(&plan, &wanted).expect("files");
    crate::Run::new(&plan).probe(&mut probe).execute().expect("a run");
    probe.finish().expect("files");
    let found = packets(&path);
    assert!(found.iter().take(5).all(|one| message(&one.2).is_some()), "in order although the times are one");
    assert!(found.is_sorted_by_key(|one| one.0));
    let last = &found[found.len() - 2..];
    assert!(last.iter().all(|one| one.0 == 3_000_000_000 && message(&one.2).is_some()));
}

#[test]
fn calls_that_share_a_host_listen_at_ports_of_their_own() {
    let mut plan = plan(r#"{ capacity = { packets = 10 } }"#);
    let ports = address::Ports::new(&plan);
    assert_eq!([0, 2].map(|flow| ports.receiver_port(flow)), [5004, 5004]);
    let another = plan.flows[2].clone();
    plan.flows.push(another);
    let ports = address::Ports::new(&plan);
    assert_eq!([2, 3].map(|flow| ports.receiver_port(flow)), [16_388, 16_390]);
}

#[test]
fn a_call_by_g711_says_the_recording_packet_after_packet() {
    let plan = plan(r#"{ capacity = { packets = 10 } }"#);
    let speech: Vec<u8> = (0..1000u32).map(|at| (at % 251) as u8).collect();
    let headers = Headers::new(&plan, &speech);
    let begin = plan.flows[2].start;
    let payload = |number: u64, whole| {
        let packet = Packet {
            flow: FlowId(2),
            wire: 200,
            class: Class::Voice,
            dscp: Default::default(),
            feedback: false,
            ecn: Ecn::NotEct,
            layer: 0,
            body: Body::Datagram {
                payload: 160,
                sequence: 0,
                unit: 0,
                part: 0,
                parts: 1,
                created: begin + Span::from_millis(20 * number + 7),
            },
        };
        let (bytes, length) = headers.encode_packet(&packet, begin, whole);
        assert_eq!(length, 200);
        bytes.get(40..).unwrap_or(&[]).to_vec()
    };
    assert_eq!(payload(0, true), speech[..160]);
    assert_eq!(payload(2, true), speech[320..480]);
    let wrapped: Vec<u8> = speech[960..].iter().chain(&speech[..120]).copied().collect();
    assert_eq!(payload(6, true), wrapped, "it begins again");
    assert!(payload(0, false).len() < 160, "without payload what it is, as before");
}

#[test]
fn a_pattern_is_of_what_left_the_link_in_that_order() {
    let plan = plan(r#"{ capacity = { packets = 10 } }"#);
    let (bottleneck, path, of_flow) = (link(&plan, "r1>r2"), file("link.txt"), file("flow.txt"));
    let wanted = CaptureRequest {
        patterns: vec![(Tap::Link(bottleneck), path.clone()), (Tap::Flow(2), of_flow.clone())],
        ..CaptureRequest::default()
    };
    let mut probe = Capture::new(&plan, &wanted).expect("files");
    let seen = crate::Run::new(&plan).probe(&mut probe).execute().expect("a run");
    let written = probe.finish().expect("files");
    let row = &seen.links[bottleneck];
    assert_eq!((written[0].packets, written[0].lost), (row.departures, row.lost));
    let call = &seen.flows[2];
    assert_eq!((written[1].packets, written[1].lost), (call.packets_sent, call.lost + call.dropped));
    for (path, written) in [(path, &written[0]), (of_flow, &written[1])] {
        let text = std::fs::read_to_string(&path).expect("a file");
        std::fs::remove_file(&path).expect("a file");
        assert_eq!(text.chars().filter(|mark| !mark.is_whitespace()).count() as u64, written.packets);
        assert_eq!(text.matches('1').count() as u64, written.lost);
        assert!(text.lines().all(|line| line.len() <= 80) && text.ends_with('\n'));
    }
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let plan = plan(r#"{ capacity = { packets = 10 } }"#);
    let wanted = CaptureRequest {
        captures: vec![(Tap::Link(0), PathBuf::from("/proc/no/such.pcapng"))],
        ..CaptureRequest::default()
    };
    let Err((path, _)) = Capture::new(&plan, &wanted) else { panic!("written") };
    assert_eq!(path, PathBuf::from("/proc/no/such.pcapng"));
}

#[test]
fn marks_and_what_is_said_of_them_are_in_the_headers() {
    let headers_of = |ecn: &str| {
        let text = TEXT_WITH_ECN.replace("@ecn@", ecn);
        let plan = Scenario::from_text(&text, "marked.toml").expect("a scenario").plan(Seed(1)).expect("a plan");
        let at = Instant::ZERO;
        let show = |headers: &Headers<'_>, body, feedback, ecn| {
            let packet = Packet {
                flow: FlowId(0),
                wire: 1040,
                class: Class::Tcp,
                dscp: Default::default(),
                feedback,
                ecn,
                layer: 0,
                body,
            };
            let (bytes, _) = headers.encode_packet(&packet, at, true);
            let Ok(SlicedPacket { transport: Some(TransportSlice::Tcp(tcp)), .. }) = SlicedPacket::from_ip(&bytes)
            else {
                panic!("no TCP")
            };
            let tcp = tcp.to_header();
            (bytes[1] & 3, [tcp.ns, tcp.cwr, tcp.ece].map(u8::from))
        };
        let segment = |sequence, window_reduced| Body::Segment {
            payload: 1000,
            sequence,
            unit: sequence,
            wave: 0,
            wave_size: 0,
            retransmission: false,
            window_reduced,
            last: false,
            sent: at,
            created: at,
        };
        let ack = |next, congestion_echo, marked| Body::Ack {
            next,
            echo: at,
            rate: 0.0,
            wave: 0,
            congestion_echo,
            marked,
            sack: Default::default(),
        };
        let mut headers = Headers::new(&plan, &[]);
        let mut shown = vec![
            show(&headers, segment(0, false), false, Ecn::NotEct),
            show(&headers, ack(1, false, 0), true, Ecn::NotEct),
        ];
        let first = segment(1, false);
        headers.learn(&Packet {
            flow: FlowId(0),
            wire: 1040,
            class: Class::Tcp,
            dscp: Default::default(),
            feedback: false,
            ecn: Ecn::Ect0,
            layer: 0,
            body: first,
        });
        shown.extend([
            show(&headers, first, false, Ecn::Ce),
            show(&headers, segment(2, true), false, Ecn::Ect0),
            show(&headers, ack(2, true, 1), true, Ecn::NotEct),
            show(&headers, ack(3, false, 11), true, Ecn::NotEct),
        ]);
        shown
    };
    let none = [0, 0, 0];
    assert_eq!(
        headers_of("none"),
        [(0, none), (0, none), (3, none), (2, none), (0, none), (0, none)],
        "whatever the packets bear"
    );
    assert_eq!(
        headers_of("classic"),
        [(0, [0, 1, 1]), (0, [0, 0, 1]), (3, none), (2, [0, 1, 0]), (0, [0, 0, 1]), (0, none)]
    );
    // 5, 5 + 1 = 6, 5 + 11 = 16: 0 modulo 8.
    assert_eq!(
        headers_of("accurate"),
        [(0, [1, 1, 1]), (0, [0, 1, 0]), (3, [1, 0, 1]), (2, [1, 0, 1]), (0, [1, 1, 0]), (0, [0, 0, 0])]
    );
}

const TEXT_WITH_ECN: &str = r#"
name = "marked"
duration = "1 s"
[topology]
preset = "dumbbell"
bottleneck = { rate = "1 Mb/s", delay = "20 ms" }
[[flow]]
name = "ftp"
transport = { name = "tcp/sack", ecn = "@ecn@" }
traffic = "bulk"
"#;
