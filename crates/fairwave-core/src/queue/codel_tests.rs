use super::super::testing::packet;
use super::*;
use crate::packet::Class;

fn codel() -> Codel {
    let config: CodelConfig = serde_json::from_str("{}").expect("codel");
    config.discipline(Capacity::Packets(1000), Rate::from_bits_per_second(8_000_000))
}

fn at(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

/// A link that takes one packet each millisecond from a queue in which every packet has waited `wait`. Returns the
/// times of the drops, in milliseconds.
fn drops_with_standing_delay(codel: &mut Codel, from: u64, millis: u64, wait: Span) -> Vec<u64> {
    let (mut buffer, mut times) = (Buffer::with_capacity(0), Vec::new());
    for now in from..from + millis {
        while buffer.total().packets < 20 {
            buffer.push(at(now), packet(0, 1000, Class::Tcp));
        }
        let mut drops = Vec::new();
        let _ = codel.depart(at(now) + wait, &mut buffer, &mut drops);
        times.extend(drops.iter().map(|_| now));
        while buffer.pop_front().is_some() {}
    }
    times
}

#[test]
fn drops_come_an_interval_over_the_square_root_of_their_number_apart() {
    let times = drops_with_standing_delay(&mut codel(), 0, 2000, Span::from_millis(20));
    // The first when the delay has stood for 100 ms, then 100/√1, 100/√2, 100/√3, … ms later, on the next departure.
    let mut due = 100.0;
    for (n, &time) in times.iter().enumerate() {
        assert_eq!(time, libm::ceil(due) as u64, "drop {n} of {times:?}");
        due += 100.0 / libm::sqrt((n + 1) as f64);
    }
    assert!(times.len() > 20, "{}", times.len());
}

#[test]
fn delay_below_target_is_never_dropped() {
    assert_eq!(drops_with_standing_delay(&mut codel(), 0, 2000, Span::from_millis(4)), Vec::<u64>::new());
}

#[test]
fn a_burst_shorter_than_an_interval_is_never_dropped() {
    let mut codel = codel();
    for burst in 0..10 {
        let drops = drops_with_standing_delay(&mut codel, 200 * burst, 90, Span::from_millis(50));
        assert!(drops.is_empty(), "{drops:?}");
        drops_with_standing_delay(&mut codel, 200 * burst + 100, 1, Span::ZERO);
    }
}

#[test]
fn the_last_packet_is_never_dropped() {
    let (mut codel, mut buffer, mut drops) = (codel(), Buffer::with_capacity(0), Vec::new());
    for i in 0..1000 {
        buffer.push(at(i), packet(0, 1000, Class::Tcp));
        assert!(codel.depart(at(i + 50), &mut buffer, &mut drops).is_some());
    }
    assert!(drops.is_empty(), "{drops:?}");
}

#[test]
fn a_state_that_reopens_soon_resumes_near_its_last_rate() {
    let mut codel = codel();
    let first = drops_with_standing_delay(&mut codel, 0, 1000, Span::from_millis(20)).len() as u32;
    drops_with_standing_delay(&mut codel, 1000, 50, Span::ZERO);
    let again = drops_with_standing_delay(&mut codel, 1050, 150, Span::from_millis(20));
    assert!(codel.last_count + 2 >= first, "{} of {first}", codel.last_count);
    assert!(again.len() > 2, "drops resume at the rate of the state before: {again:?}");
}
