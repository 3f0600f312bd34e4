//! Two quinn-proto endpoints on a wire, without a network.

use std::collections::VecDeque;

use fairwave_core::packet::{Ecn, Packet};
use fairwave_core::random::Seed;
use fairwave_core::traffic::{FrameType, Unit};
use fairwave_core::transport::{Delivery, Output, Receiver, Sender};

use super::*;

/// Traffic on a wire: size, ECN and direction of each packet, and deliveries with their times.
struct Crossed {
    packets: Vec<(u64, u16, Ecn, bool)>,
    delivered: Vec<(u64, Delivery)>,
}

/// Runs for `millis` with a delay of 10 ms each way; `lost` selects the sender's packets that are lost.
fn cross(table: QuinnConfig, units: &[Unit], millis: u64, lost: impl Fn(usize) -> bool) -> Crossed {
    let bulk = units.is_empty();
    let context = FlowContext { bulk, ..FlowContext::default() };
    let (mut sender, mut receiver) = table.endpoints(context, Seed(7).stream("flow")).expect("endpoints");
    let mut crossed = Crossed { packets: Vec::new(), delivered: Vec::new() };
    let mut wire: VecDeque<(u64, Packet)> = VecDeque::new();
    let (mut out, mut sent) = (Output::default(), 0);
    for tick in 0..millis * 10 {
        let now = fairwave_core::units::Instant::from_nanos(tick * 100_000);
        let mut forward = |out: &mut Output, wire: &mut VecDeque<(u64, Packet)>, crossed: &mut Crossed| {
            for packet in out.packets.drain(..) {
                crossed.packets.push((tick, packet.wire, packet.ecn, packet.feedback));
                sent += usize::from(!packet.feedback);
                if packet.feedback || !lost(sent) {
                    wire.push_back((tick + 100, packet));
                }
            }
            crossed.delivered.extend(out.deliveries.drain(..).map(|delivery| (tick, delivery)));
        };
        if tick == 0 {
            sender.on_start(now, &mut out);
            units.iter().for_each(|unit| sender.on_unit(now, *unit, &mut out));
            forward(&mut out, &mut wire, &mut crossed);
        }
        while wire.front().is_some_and(|(at, _)| *at <= tick) {
            let Some((_, packet)) = wire.pop_front() else { break };
            match packet.feedback {
                true => Sender::on_packet(&mut sender, now, &packet, &mut out),
                false => Receiver::on_packet(&mut receiver, now, &packet, &mut out),
            }
            forward(&mut out, &mut wire, &mut crossed);
        }
        if Sender::deadline(&sender) <= now {
            Sender::on_timer(&mut sender, now, &mut out);
            forward(&mut out, &mut wire, &mut crossed);
        }
        if Receiver::deadline(&receiver) <= now {
            Receiver::on_timer(&mut receiver, now, &mut out);
            forward(&mut out, &mut wire, &mut crossed);
        }
        assert_eq!((Sender::failure(&sender), Receiver::failure(&receiver)), (None, None));
    }
    crossed
}

fn units(sizes: &[u32]) -> Vec<Unit> {
    let unit = |(id, &payload)| {
        let created = fairwave_core::units::Instant::ZERO;
        Unit { id, payload, created, layer: 0, frame_type: FrameType::None }
    };
    (0..).zip(sizes).map(unit).collect()
}

fn whole(crossed: &Crossed) -> Vec<u32> {
    crossed.delivered.iter().filter(|(_, one)| one.complete).map(|(_, one)| one.unit).collect()
}

#[test]
fn a_connection_takes_a_round_trip_and_begins_with_full_datagrams() {
    let crossed = cross(QuinnConfig::default(), &units(&[1000]), 100, |_| false);
    // RFC 9000 §14.1: a client pads its Initial packets to 1200 bytes.
    assert_eq!(crossed.packets.first().map(|packet| (packet.1, packet.3)), Some((1228, false)));
    let (tick, _) = crossed.delivered.first().expect("delivered");
    assert!((300..320).contains(tick), "three ways of 10 ms: {} ms", tick / 10);
    assert_eq!(whole(&crossed), [0]);
}

#[test]
fn each_unit_on_a_stream_of_its_own_comes_whole_despite_losses() {
    let sizes = [50_000, 1, 0, 70_000, 1200];
    let crossed = cross(QuinnConfig::default(), &units(&sizes), 4000, |n| n > 4 && n % 9 == 0);
    let mut arrived = whole(&crossed);
    arrived.sort_unstable();
    assert_eq!(arrived, [0, 1, 2, 3, 4]);
    assert_eq!(crossed.delivered.iter().map(|(_, one)| u64::from(one.payload)).sum::<u64>(), 121_201);
}

#[test]
fn units_on_one_stream_come_in_order() {
    let config = QuinnConfig { carry: Carry::OneStream, ..QuinnConfig::default() };
    let crossed = cross(config, &units(&[9000; 20]), 4000, |n| n > 4 && n % 7 == 0);
    assert_eq!(whole(&crossed), (0..20).collect::<Vec<_>>());
}

#[test]
fn a_lost_datagram_is_not_sent_again() {
    let config = QuinnConfig { carry: Carry::Datagrams, ..QuinnConfig::default() };
    let all = cross(config.clone(), &units(&[3000; 30]), 1000, |_| false);
    assert_eq!(whole(&all), (0..30).collect::<Vec<_>>());
    let some = cross(config, &units(&[3000; 30]), 1000, |n| n > 30 && n % 20 == 0);
    let arrived = whole(&some).len();
    assert!((20..30).contains(&arrived), "{arrived}");
}

#[test]
fn bulk_data_goes_on_and_path_mtu_discovery_finds_the_mtu() {
    let crossed = cross(QuinnConfig::default(), &[], 1000, |n| n > 200 && n % 50 == 0);
    let bytes: u64 = crossed.delivered.iter().map(|(_, one)| u64::from(one.payload)).sum();
    assert!(bytes > 500_000, "{bytes}");
    assert_eq!(crossed.packets.iter().map(|packet| packet.1).max(), Some(1452 + 28));
    assert!(crossed.packets.iter().any(|packet| packet.2 == Ecn::Ect0), "quinn sends ECT(0)");
}

#[test]
fn the_same_seed_leaves_the_same_packets() {
    let packets = || cross(QuinnConfig::default(), &units(&[300_000, 20_000]), 2000, |n| n % 40 == 39).packets;
    assert_eq!(packets(), packets());
}

#[test]
fn an_mtu_below_quics_least_and_bulk_data_in_datagrams_are_refused() {
    let small = QuinnConfig { mtu: Mtu(Bytes::new(1199)), ..QuinnConfig::default() };
    assert!(small.check().is_err_and(|error| error.to_string().contains("1200 B")));
    let config = QuinnConfig { carry: Carry::Datagrams, ..QuinnConfig::default() };
    let context = FlowContext { bulk: true, ..FlowContext::default() };
    assert!(config.endpoints(context, Seed(1).stream("flow")).is_err());
}
