use super::super::testing::packet;
use super::*;
use crate::packet::Class;

fn codel() -> Codel {
    let config: CodelConfig = serde_json::from_str("{}").expect("codel");
    config.discipline(Capacity::Packets(1000), Rate::from_bits_per_second(8_000_000))
}

fn instant(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

/// A link that removes one packet per millisecond from a queue in which every packet has waited `wait`. Returns the times of
/// the drops, in milliseconds.
fn drops_with_standing_delay(codel: &mut Codel, from: u64, millis: u64, wait: Span) -> Vec<u64> {
    let (mut buffer, mut times) = (Buffer::with_capacity(0), Vec::new());
    for now in from..from + millis {
        while buffer.total().packets < 20 {
            buffer.push(instant(now), packet(0, 1000, Class::Tcp));
        }
        let mut drops = Vec::new();
        let _ = codel.depart(instant(now) + wait, &mut buffer, &mut drops);
        times.extend(drops.iter().map(|_| now));
        while buffer.pop_front().is_some() {}
    }
    times
}

#[test]
fn drops_come_an_interval_over_the_square_root_of_their_number_apart() {
    let times = drops_with_standing_delay(&mut codel(), 0, 2000, Span::from_millis(20));
    // The first drop comes when the delay has exceeded the target for 100 ms. The next ones follow 100/√1, 100/√2, 100/√3, …
    // ms later, on the next departure.
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
        buffer.push(instant(i), packet(0, 1000, Class::Tcp));
        assert!(codel.depart(instant(i + 50), &mut buffer, &mut drops).is_some());
    }
    assert!(drops.is_empty(), "{drops:?}");
}

#[test]
fn a_state_that_reopens_soon_resumes_near_its_last_rate() {
    let mut codel = codel();
    let first = drops_with_standing_delay(&mut codel, 0, 1000, Span::from_millis(20)).len() as u32;
    drops_with_standing_delay(&mut codel, 1000, 50, Span::ZERO);
    let again = drops_with_standing_delay(&mut codel, 1050, 150, Span::from_millis(20));
    assert!(codel.control.last_count + 2 >= first, "{} of {first}", codel.control.last_count);
    assert!(again.len() > 2, "drops resume at the rate of the state before: {again:?}");
}

/// Returns `count` after the dropping state has opened. The delay has just exceeded the target for an interval, and the
/// first packet leaves at `now`.
fn count_on_reopening(count: u32, last_count: u32, since_next: Span) -> u32 {
    let mut codel = codel();
    let now = instant(10_000);
    (codel.control.first_above, codel.control.count, codel.control.last_count) = (Some(now), count, last_count);
    codel.control.drop_next = Instant::ZERO + now.span_since(Instant::ZERO).saturating_sub(since_next);
    let mut buffer = Buffer::with_capacity(0);
    for _ in 0..10 {
        buffer.push(instant(9_000), packet(0, 1000, Class::Tcp));
    }
    let mut drops = Vec::new();
    assert!(codel.depart(now, &mut buffer, &mut drops).is_some());
    assert_eq!((drops.len(), codel.control.dropping, codel.control.last_count), (1, true, codel.control.count));
    // RFC 8289 §5.5: the next drop is due interval/√count after this one.
    let gap = codel.control.drop_next.span_since(now).seconds();
    assert!((gap - 0.1 / libm::sqrt(f64::from(codel.control.count))).abs() < 1e-8, "{gap}");
    codel.control.count
}

#[test]
fn a_state_that_reopens_within_16_intervals_begins_with_the_drops_of_the_last_beyond_its_first() {
    let soon = Span::from_millis(100);
    // §5.5: count = 1, or delta = count − lastcount where delta > 1.
    let began =
        [(0, 0), (5, 5), (6, 5), (7, 5), (12, 5), (4, 5)].map(|(count, last)| count_on_reopening(count, last, soon));
    assert_eq!(began, [1, 1, 1, 2, 7, 1]);
    assert_eq!(count_on_reopening(12, 5, Span::from_millis(1600).saturating_sub(Span::from_nanos(1))), 7);
    assert_eq!(count_on_reopening(12, 5, Span::from_millis(1600)), 1, "16 intervals are no longer soon");
}

/// Whether CoDel drops a packet with this delay and this many bytes behind it, after a whole interval in this state.
fn drops_after(sojourn: Span, behind: u16) -> bool {
    let (mut codel, mut buffer, mut drops) = (codel(), Buffer::with_capacity(0), Vec::new());
    let now = instant(10_000);
    codel.control.first_above = Some(now);
    let arrived = Instant::ZERO + now.span_since(Instant::ZERO).saturating_sub(sojourn);
    buffer.push(arrived, packet(0, 1000, Class::Tcp));
    buffer.push(arrived, packet(1, behind, Class::Tcp));
    let _ = codel.depart(now, &mut buffer, &mut drops);
    assert!((codel.average().expect("the sojourn") - sojourn.seconds()).abs() < 1e-12);
    !drops.is_empty()
}

#[test]
fn below_is_less_than_target_or_no_more_than_a_packet_behind() {
    // RFC 8289 §5.6: sojourn_time < TARGET || bytes() <= maxpacket.
    let target = Span::from_millis(5);
    assert!(drops_after(target, 1501));
    assert!(!drops_after(target.saturating_sub(Span::from_nanos(1)), 1501));
    assert!(!drops_after(target, 1500));
}

#[test]
fn a_packet_below_target_begins_the_interval_anew_and_an_empty_queue_ends_the_state() {
    let (mut codel, mut buffer) = (codel(), Buffer::with_capacity(0));
    (codel.control.first_above, codel.control.dropping, codel.control.drop_next) =
        (Some(instant(1)), true, instant(5000));
    buffer.push(instant(999), packet(0, 1000, Class::Tcp));
    assert!(codel.depart(instant(1000), &mut buffer, &mut Vec::new()).is_some());
    assert_eq!((codel.control.first_above, codel.control.dropping), (None, false));
    (codel.control.first_above, codel.control.dropping) = (Some(instant(1)), true);
    assert!(codel.depart(instant(1000), &mut buffer, &mut Vec::new()).is_none());
    assert_eq!((codel.control.first_above, codel.control.dropping), (None, false));
}

#[test]
fn the_first_packet_above_target_starts_the_interval() {
    let (mut codel, mut buffer, mut drops) = (codel(), Buffer::with_capacity(0), Vec::new());
    for _ in 0..9 {
        buffer.push(instant(0), packet(0, 1000, Class::Tcp));
    }
    assert!(codel.depart(instant(50), &mut buffer, &mut drops).is_some());
    assert_eq!(codel.control.first_above, Some(instant(150)));
    assert!(codel.depart(instant(149), &mut buffer, &mut drops).is_some() && drops.is_empty());
    assert!(codel.depart(instant(150), &mut buffer, &mut drops).is_some());
    assert_eq!(drops.len(), 1, "an interval has passed");
}

#[test]
fn an_interval_no_longer_than_the_target_is_refused() {
    let check =
        |text: &str| serde_json::from_str::<CodelConfig>(text).expect("codel").check().map_err(|error| error.key);
    assert_eq!(check(r#"{"target":"20 ms","interval":"20 ms"}"#), Err("interval".to_owned()));
    assert_eq!(check(r#"{"target":"20 ms","interval":"21 ms"}"#), Ok(()));
    assert_eq!(check(r#"{"target":"0 ms"}"#), Err("target".to_owned()));
    assert_eq!(check(r#"{"mtu":"0 B"}"#), Err("mtu".to_owned()));
}
