//! Tests of the clauses of RFC 8985 and RFC 9937, one by one, as in [`super::clauses`].

use super::Recovery;
use super::clauses::{NONE, Rig, ms, numbers, plain};
use crate::control::{Control, Controller, Path, Verdict, Window};
use crate::{Flavour, Preset, TcpConfig};
use fairwave_endpoint::{Output, Sender};
use fairwave_media::traffic::{FrameType, Unit};
use fairwave_network::packet::{Body, Class, Ecn, FlowId, Packet, SackBlock};
use fairwave_units::units::{Bytes, Instant, Span};

fn rack() -> TcpConfig {
    TcpConfig { recovery: Some(Recovery::Rack), min_rto: Some(Span::from_secs(1)), ..plain() }
}

fn proportional(recovery: Recovery) -> TcpConfig {
    TcpConfig { recovery: Some(recovery), prr: Some(true), ..plain() }
}

/// Twenty segments, sent at 0, with the given number of units.
fn rig(units: u32) -> Rig {
    Rig::new(Flavour::Sack, &rack(), 20, units)
}

impl Rig {
    /// An acknowledgement at `millis`, with the echo `echo`. Returns the segments sent on it.
    fn ack_at(&mut self, millis: u64, echo: u64, next: u32, blocks: &[(u32, u32)]) -> Vec<u32> {
        self.now = ms(millis);
        let mut sack = [SackBlock::default(); 3];
        for (block, &(first, end)) in sack.iter_mut().zip(blocks) {
            *block = SackBlock { first, end };
        }
        let body = Body::Ack { next, echo: ms(echo), rate: 0.0, wave: 0, congestion_echo: false, marked: 0, sack };
        let ack = Packet {
            flow: FlowId(0),
            wire: 40,
            class: Class::Tcp,
            dscp: Default::default(),
            feedback: true,
            ecn: Ecn::NotEct,
            layer: 0,
            body,
        };
        let mut out = Output::default();
        self.sender.on_packet(self.now, &ack, &mut out);
        numbers(&out)
    }

    /// The application creates a unit at this time. Returns the segments sent on it.
    fn unit_at(&mut self, millis: u64, id: u32) -> Vec<u32> {
        self.now = ms(millis);
        let unit = Unit { id, payload: 1000, created: self.now, layer: 0, frame_type: FrameType::None };
        let mut out = Output::default();
        self.sender.on_unit(self.now, unit, &mut out);
        numbers(&out)
    }

    fn deadline_in_millis(&self) -> u64 {
        self.sender.deadline().nanos() / 1_000_000
    }
}

#[test]
fn rfc_8985_section_6_2_what_was_sent_earlier_is_lost_once_a_quarter_of_the_round_trip_has_passed() {
    let mut rig = rig(22);
    assert_eq!(rig.ack_at(100, 0, 2, &[]), [21, 22], "a round trip of 100 ms");
    rig.ack_at(101, 0, 21, &[]);
    // 21 left at 100 like 22, which arrives. 21 gets a quarter of the round trip of 100 ms.
    assert_eq!(rig.ack_at(201, 100, 21, &[(22, 23)]), NONE);
    assert_eq!(rig.deadline_in_millis(), 226, "sent at 100, a round trip of 101, 25 more");
    assert_eq!(rig.sender.view().fast_retransmits, 0);
    assert_eq!(rig.expire(), [21]);
    assert_eq!(rig.sender.view().fast_retransmits, 1);
}

#[test]
fn rfc_8985_section_6_2_what_was_sent_more_than_that_before_a_delivery_is_lost_at_once() {
    let mut rig = rig(22);
    rig.ack_at(100, 0, 2, &[]);
    // 21 left at 100, 2 at 0: one held segment is enough.
    assert_eq!(rig.ack_at(200, 100, 2, &[(21, 22)])[..1], [2]);
}

#[test]
fn rfc_8985_section_6_2_a_timer_finds_the_loss_that_no_acknowledgement_tells_of() {
    // 1 to 3 leave at 0, and only 3 arrives. It was sent with the others, so the reordering window is a quarter of
    // the round trip.
    let mut rig = Rig::new(Flavour::Sack, &rack(), 3, 3);
    assert_eq!(rig.ack_at(100, 0, 1, &[(3, 4)]), NONE);
    assert_eq!(rig.deadline_in_millis(), 125);
    assert_eq!(rig.expire(), [1, 2], "both are lost, and half of three leaves room for two");
    assert_eq!(rig.sender.view().fast_retransmits, 1);
    assert_eq!(rig.sender.view().timeouts, 0);
}

#[test]
fn rfc_8985_section_6_2_three_held_end_the_waiting_unless_there_has_been_reordering() {
    let mut rig = rig(20);
    rig.ack_at(100, 0, 1, &[(3, 5)]);
    assert_eq!(rig.ack_at(100, 0, 1, &[(3, 6)]), [1], "DupThresh; in recovery nothing is waited for");
    let mut rig = self::rig(20);
    rig.ack_at(100, 0, 1, &[(2, 3)]);
    rig.ack_at(101, 0, 3, &[]);
    // 1 arrived after 2, though it was sent before: reordering.
    assert_eq!(rig.ack_at(102, 0, 3, &[(4, 9)]), NONE);
    assert_eq!(rig.deadline_in_millis(), 127, "a quarter of 100 ms after the round trip of 102");
    assert_eq!(rig.expire(), [3]);
}

#[test]
fn rfc_8985_section_6_2_in_recovery_nothing_is_waited_for_with_fewer_than_three_held() {
    let mut rig = Rig::new(Flavour::Sack, &rack(), 3, 3);
    rig.ack_at(100, 0, 1, &[(3, 4)]);
    assert_eq!(rig.expire(), [1, 2], "at 125 ms");
    // The retransmission of 2 arrives. The retransmission of 1 left before it, and two segments are held.
    assert_eq!(rig.ack_at(225, 125, 1, &[(2, 4)]), [1]);
}

#[test]
fn rfc_8985_section_6_2_what_was_sent_again_and_comes_late_is_no_reordering() {
    let mut rig = rig(60);
    rig.ack_at(100, 0, 1, &[(2, 6)]);
    rig.ack_at(200, 100, 6, &[]);
    assert_eq!(rig.ack_at(201, 0, 21, &[]), (21..31).collect::<Vec<_>>(), "the recovery is over");
    assert_eq!(rig.ack_at(300, 201, 21, &[(24, 27)])[..1], [21], "three held are enough as before");
}

#[test]
fn rfc_8985_section_6_2_a_lost_retransmission_is_found_by_what_was_sent_after_it() {
    let mut rig = rig(60);
    assert_eq!(rig.ack_at(100, 0, 1, &[(2, 13)]), [1, 21], "nine of twenty are in flight with 1: one more goes");
    // 21 left after 1, and arrives.
    let sent = rig.ack_at(200, 100, 1, &[(2, 13), (21, 22)]);
    assert!(sent.contains(&1), "{sent:?}");
    assert_eq!(rig.sender.view().fast_retransmits, 1, "of the same recovery");
}

#[test]
fn rfc_8985_section_6_2_an_acknowledgement_of_an_earlier_sending_says_nothing_of_the_last() {
    // 1 is retransmitted at 100. Its acknowledgement echoes the first transmission: 22 was not sent before it.
    let mut rig = rig(60);
    rig.ack_at(100, 0, 1, &[(2, 12)]);
    let before = rig.sender.view().retransmitted;
    rig.ack_at(101, 0, 12, &[]);
    assert_eq!(
        rig.sender.view().retransmitted,
        before,
        "12 to 20 left before 1's second sending, which has not arrived"
    );
}

#[test]
fn rfc_8985_section_6_2_step_2_an_old_echo_is_of_the_earlier_sending() {
    // The shortest round trip is 50 ms, and 2 is retransmitted at 60 ms. An acknowledgement 55 ms later echoes its
    // first transmission.
    let mut rig = rig(60);
    rig.ack_at(50, 0, 2, &[]);
    assert_eq!(rig.ack_at(60, 0, 2, &[(3, 13)])[..1], [2]);
    let before = rig.sender.view().retransmitted;
    rig.ack_at(115, 0, 13, &[]);
    assert_eq!(rig.sender.view().retransmitted, before, "13 to 20 left before 2's second sending");
}

#[test]
fn rfc_8985_section_6_2_step_2_less_than_a_round_trip_after_it_nothing_is_of_the_second_sending() {
    // 2 and 3 are retransmitted at 60 ms. 3 is reported 30 ms later, but the shortest round trip is 50 ms.
    let mut rig = rig(60);
    rig.ack_at(50, 0, 2, &[]);
    assert_eq!(rig.ack_at(60, 0, 2, &[(4, 16)])[..2], [2, 3]);
    let before = rig.sender.view().retransmitted;
    rig.ack_at(90, 60, 2, &[(3, 16)]);
    assert_eq!(rig.sender.view().retransmitted, before, "neither 2 nor 16 to 20 are lost by it");
}

#[test]
fn rfc_8985_section_6_2_step_2_what_was_sent_last_of_all_that_is_delivered_counts_whatever_comes_after_it() {
    let mut rig = Rig::new(Flavour::Sack, &rack(), 4, 4);
    assert_eq!(rig.ack_at(100, 0, 1, &[(4, 5)]), NONE);
    assert_eq!(rig.ack_at(110, 0, 1, &[(2, 3), (4, 5)]), NONE, "2 is overtaken by 4");
    assert_eq!(rig.expire(), [1, 3], "both left before 4");
}

#[test]
fn rfc_6675_section_5_an_acknowledgement_of_all_that_was_sent_before_a_recovery_ends_it() {
    let mut rig = rig(60);
    assert_eq!(rig.ack_at(100, 0, 1, &[(2, 13)]), [1, 21]);
    rig.ack_at(200, 100, 21, &[]);
    // 21 left in that recovery. Its loss begins a new one.
    assert_eq!(rig.ack_at(300, 200, 21, &[(22, 25)])[..1], [21]);
    assert_eq!(rig.sender.view().fast_retransmits, 2);
}

#[test]
fn rfc_8985_section_6_3_a_timeout_marks_the_first_and_what_has_been_out_for_long() {
    // 1 to 20 at 0, acknowledged up to 19; 21 to 56 follow, 57 and more only just before the timeout.
    let mut rig = rig(20);
    rig.ack_at(100, 0, 11, &[]);
    rig.unit_at(1050, 20);
    let deadline = rig.sender.connection.retransmit_at();
    let mut out = Output::default();
    // The probe first, then the timeout.
    for _ in 0..10 {
        if rig.sender.view().timeouts > 0 {
            break;
        }
        out.clear();
        rig.now = rig.sender.deadline();
        rig.sender.on_timer(rig.now, &mut out);
    }
    assert_eq!(rig.sender.view().timeouts, 1, "no timeout after ten timers");
    assert!(rig.now >= deadline);
    assert_eq!(numbers(&out), [11], "one segment of window");
    assert_eq!(rig.window(), 1.0);
    // The acknowledgement of 11 opens slow start: 12 and 13 were marked with 11.
    let now = rig.now.nanos() / 1_000_000;
    assert_eq!(rig.ack_at(now + 100, now, 12, &[]), [12, 13]);
}

#[test]
fn rfc_8985_section_6_3_what_left_just_before_the_timeout_is_not_lost_by_it() {
    let config = TcpConfig { min_rto: Some(Span::from_millis(200)), tick: Some(Span::from_millis(150)), ..rack() };
    let mut rig = Rig::new(Flavour::Sack, &config, 20, 2);
    rig.ack_at(100, 0, 2, &[]);
    // 2 is in flight since 0; 3 leaves shortly before the timeout.
    let timeout = rig.sender.connection.retransmit_at().nanos() / 1_000_000;
    rig.unit_at(timeout - 10, 2);
    rig.sender.connection.set_retransmit_at(ms(timeout));
    let mut out = Output::default();
    rig.sender.connection.wake_recovery(Instant::NEVER);
    rig.sender.on_timer(ms(timeout), &mut out);
    assert_eq!((numbers(&out), rig.sender.view().timeouts), (vec![2], 1));
    assert_eq!(rig.sender.connection.path().lost, 1, "3 is still on its way");
}

#[test]
fn rfc_8985_section_7_the_last_segment_is_probed_after_two_round_trips() {
    let mut rig = Rig::new(Flavour::Sack, &rack(), 10, 10);
    rig.ack_at(100, 0, 9, &[]);
    assert_eq!(rig.deadline_in_millis(), 300);
    assert_eq!(rig.expire(), [10], "the highest, since there is no new data");
    assert_eq!(rig.deadline_in_millis(), 1300, "the timeout begins anew, and no second probe is sent");
    assert_eq!(rig.sender.view().timeouts, 0);
    // Its acknowledgement reveals the loss of 9, which was sent long before.
    assert_eq!(rig.ack_at(400, 300, 9, &[(10, 11)]), [9]);
    assert_eq!(rig.sender.view().fast_retransmits, 1);
}

#[test]
fn rfc_8985_section_7_3_new_data_is_the_better_probe_even_beyond_the_window() {
    let mut rig = Rig::new(Flavour::Sack, &rack(), 10, 30);
    rig.ack_at(100, 0, 2, &[]);
    let next = rig.sender.connection.max();
    assert_eq!(rig.expire(), [next]);
}

#[test]
fn rfc_8985_section_7_2_one_segment_in_flight_is_given_the_delay_of_its_acknowledgement() {
    let config = TcpConfig { delayed_ack: Some(true), ack_delay: Some(Span::from_millis(40)), ..rack() };
    let mut rig = Rig::new(Flavour::Sack, &config, 10, 10);
    rig.ack_at(100, 0, 10, &[]);
    assert_eq!(rig.deadline_in_millis(), 340);
}

#[test]
fn rfc_8985_section_7_2_without_delayed_acknowledgements_one_segment_in_flight_is_probed_like_several() {
    let mut rig = Rig::new(Flavour::Sack, &TcpConfig { delayed_ack: Some(false), ..rack() }, 10, 10);
    rig.ack_at(100, 0, 10, &[]);
    assert_eq!(rig.deadline_in_millis(), 300);
}

/// Linux' preset with a late first timeout, so that only the probe's waiting time matters.
fn linux() -> TcpConfig {
    TcpConfig { preset: Preset::Linux, tick: Some(Span::from_secs(1)), segment: Some(Bytes::new(1000)), ..plain() }
}

#[test]
fn linux_adds_the_shortest_timeout_with_one_segment_in_flight_whatever_the_receiver_delays() {
    for ack_delay in [10, 40, 500] {
        let config = TcpConfig { ack_delay: Some(Span::from_millis(ack_delay)), ..linux() };
        let mut rig = Rig::new(Flavour::Sack, &config, 10, 10);
        rig.ack_at(100, 0, 10, &[]);
        assert_eq!(rig.deadline_in_millis(), 100 + 2 * 100 + 200, "{ack_delay}");
    }
    let config = TcpConfig { min_rto: Some(Span::from_millis(50)), ..linux() };
    let mut rig = Rig::new(Flavour::Sack, &config, 10, 10);
    rig.ack_at(100, 0, 10, &[]);
    assert_eq!(rig.deadline_in_millis(), 100 + 2 * 100 + 50, "min-rto");
}

#[test]
fn linux_adds_two_milliseconds_with_several_in_flight() {
    let mut rig = Rig::new(Flavour::Sack, &linux(), 10, 10);
    rig.ack_at(100, 0, 9, &[]);
    assert_eq!(rig.deadline_in_millis(), 100 + 2 * 100 + 2);
}

#[test]
fn linux_probes_at_the_timeout_if_that_is_earlier() {
    // A round trip of 100 ms gives a timeout of 300 ms, one of 20 ms a timeout of 220 ms.
    for round_trip in [100, 20] {
        let mut rig = Rig::new(Flavour::Sack, &TcpConfig { tick: None, ..linux() }, 10, 10);
        rig.ack_at(round_trip, 0, 10, &[]);
        assert_eq!(rig.deadline_in_millis(), round_trip + round_trip + 200);
        assert_eq!(rig.expire(), [10]);
        assert_eq!(rig.sender.view().timeouts, 0, "a probe, not a timeout");
    }
}

#[test]
fn rfc_8985_section_7_2_there_is_no_probe_while_anything_is_held() {
    let mut rig = rig(20);
    rig.ack_at(100, 0, 19, &[]);
    assert_eq!(rig.deadline_in_millis(), 300);
    rig.ack_at(110, 0, 19, &[(20, 21)]);
    assert_eq!(rig.deadline_in_millis(), 135, "the reordering timer instead");
}

#[test]
fn rfc_8985_section_7_4_2_a_probe_that_repairs_the_last_segment_is_answered_as_a_loss() {
    let after_probe = |duplicate: bool| {
        let mut rig = Rig::new(Flavour::Sack, &rack(), 10, 10);
        rig.ack_at(100, 0, 10, &[]);
        let window = rig.window();
        assert_eq!(rig.expire(), [10]);
        rig.ack_at(400, 300, 11, &[]);
        if duplicate {
            rig.ack_at(401, 300, 11, &[]);
        }
        rig.unit_at(500, 10);
        rig.ack_at(600, 500, 12, &[]);
        (window, rig.window(), rig.sender.view().fast_retransmits)
    };
    let (before, after, answers) = after_probe(false);
    assert!(after < before && answers == 1, "{before} {after}");
    let (before, after, answers) = after_probe(true);
    assert!(after >= before && answers == 0, "both arrived: {before} {after}");
}

#[test]
fn rfc_8985_section_7_4_2_a_bare_duplicate_ends_the_probe_with_new_data_on_its_way_too() {
    let answers = |blocks: &[(u32, u32)]| {
        let mut rig = Rig::new(Flavour::Sack, &rack(), 10, 10);
        rig.ack_at(100, 0, 10, &[]);
        assert_eq!(rig.expire(), [10]);
        rig.ack_at(400, 300, 11, &[]);
        // 11 and 12 are in flight when the duplicate arrives.
        rig.unit_at(401, 10);
        rig.unit_at(402, 11);
        rig.ack_at(403, 300, 11, blocks);
        rig.ack_at(500, 401, 12, &[]);
        rig.sender.view().fast_retransmits
    };
    assert_eq!(answers(&[]), 0, "the original and the probe have arrived");
    assert_eq!(answers(&[(12, 13)]), 1, "what tells of 12 says nothing of the probe");
}

/// Classifies every loss as random.
struct RandomLossController;

impl Controller for RandomLossController {
    fn on_ack(&mut self, _path: &Path, _window: &mut Window) {}
    fn on_loss(&mut self, _path: &Path, _window: &mut Window) -> Verdict {
        Verdict::Random
    }
    fn on_timeout(&mut self, _path: &Path, _window: &mut Window) -> Verdict {
        Verdict::Random
    }
}

#[test]
fn a_timeout_that_is_taken_for_a_random_loss_brings_the_first_segment_again_and_nothing_else() {
    let mut rig = rig(100);
    rig.ack_at(100, 0, 2, &[]);
    rig.sender.connection.set_control(Control::Own(Box::new(RandomLossController)));
    let mut sent = Vec::new();
    for _ in 0..10 {
        if rig.sender.view().timeouts == 0 {
            sent = rig.expire();
        }
    }
    assert_eq!(rig.sender.view().timeouts, 1, "no timeout after ten timers");
    assert_eq!((sent, rig.window()), (vec![2], 21.0));
    // It is in flight, not lost: acknowledgements in the meantime do not retransmit it again.
    let now = rig.now.nanos() / 1_000_000;
    let sent = rig.ack_at(now + 50, 0, 2, &[(3, 4)]);
    assert!(!sent.contains(&2), "{sent:?}");
    // A later segment arrives and reveals that it is lost again.
    let after = *sent.last().expect("what is held lets new data go");
    assert_eq!(rig.ack_at(now + 150, now + 50, 2, &[(3, 4), (after, after + 1)])[..1], [2]);
}

#[test]
fn rfc_8985_the_window_holds_what_is_neither_held_nor_lost() {
    let mut rig = rig(100);
    // Ten held, five marked (1 to 5), five neither. The window of ten has room for five, the lost ones first.
    assert_eq!(rig.ack_at(100, 0, 1, &[(6, 16)]), [1, 2, 3, 4, 5]);
    assert_eq!(rig.ack_at(101, 0, 1, &[(6, 17)]), [21]);
}

#[test]
fn rfc_3042_without_limited_transmit_what_is_held_lets_nothing_new_go() {
    let sent = |limited| {
        let config = TcpConfig { limited_transmit: Some(limited), ..rack() };
        let mut rig = Rig::new(Flavour::Sack, &config, 20, 100);
        rig.ack_at(100, 0, 1, &[(2, 4)])
    };
    assert_eq!((sent(false), sent(true)), (vec![], vec![21, 22]));
}

#[test]
fn the_loss_of_the_syn_is_repaired_by_the_timeout() {
    let config = TcpConfig { handshake: Some(true), ..rack() };
    let mut rig = Rig::new(Flavour::Sack, &config, 4, 100);
    assert_eq!(rig.expire(), [0]);
    let now = rig.now.nanos() / 1_000_000;
    assert_eq!(rig.ack_at(now + 100, now, 1, &[]), [1]);
}

#[test]
fn rfc_9937_half_of_what_is_delivered_is_sent_with_either_recovery() {
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let mut rig = Rig::new(Flavour::Sack, &proportional(recovery), 20, 100);
        rig.ack_at(100, 0, 1, &[(2, 3)]);
        rig.ack_at(100, 0, 1, &[(2, 4)]);
        assert_eq!(rig.ack_at(100, 0, 1, &[(2, 5)]), [1], "{recovery:?}");
        assert_eq!(rig.window(), 10.0, "the target");
        let sent: Vec<usize> = (5..20).map(|held| rig.ack_at(100, 0, 1, &[(2, held + 1)]).len()).collect();
        // 17 are in flight when recovery begins (1 is lost). Ten of twenty are sent per segment delivered.
        assert!(sent.iter().all(|&one| one <= 1), "{recovery:?}: {sent:?}");
        assert_eq!(sent.iter().sum::<usize>(), 8, "{recovery:?}: {sent:?}");
    }
}

#[test]
fn rfc_9937_what_is_in_flight_when_recovery_begins_is_counted_from_the_first_that_is_missing() {
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let mut rig = Rig::new(Flavour::Sack, &proportional(recovery), 20, 100);
        assert_eq!(rig.ack_at(100, 0, 21, &[]).len(), 21, "21 to 41: an acknowledgement opens the window by one");
        for held in 1..3 {
            rig.ack_at(200, 100, 21, &[(22, 22 + held)]);
        }
        assert_eq!(rig.ack_at(200, 100, 21, &[(22, 25)]), [21], "{recovery:?}");
        let sent: usize = (4..21).map(|held| rig.ack_at(200, 100, 21, &[(22, 22 + held)]).len()).sum();
        // Half of the twenty deliveries, including the first retransmission.
        assert!((8..=9).contains(&sent), "{recovery:?}: {sent}");
    }
}

#[test]
fn rfc_9937_what_was_held_before_recovery_began_is_no_part_of_the_flight() {
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let mut rig = Rig::new(Flavour::Sack, &proportional(recovery), 20, 100);
        rig.ack_at(100, 0, 1, &[(2, 4)]);
        assert_eq!(rig.ack_at(100, 0, 1, &[(2, 5)]), [1], "{recovery:?}");
        // Two were held before. Ten of eighteen deliveries are sent: six of ten, including the first retransmission.
        let sent: usize = (5..14).map(|held| rig.ack_at(100, 0, 1, &[(2, held + 1)]).len()).sum();
        assert_eq!(sent, 5, "{recovery:?}");
    }
}

#[test]
fn rfc_9937_after_the_recovery_the_window_alone_says_what_is_sent() {
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let mut rig = Rig::new(Flavour::Sack, &proportional(recovery), 20, 200);
        rig.ack_at(100, 0, 1, &[(2, 13)]);
        rig.ack_at(200, 100, 21, &[]);
        rig.sender.connection.set_congestion_window(30.0);
        rig.ack_at(300, 200, 22, &[]);
        let connection = &rig.sender.connection;
        assert_eq!(connection.max() - connection.una(), 30, "{recovery:?}");
    }
}

#[test]
fn rfc_9937_after_many_losses_the_window_grows_towards_its_target_again() {
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let mut rig = Rig::new(Flavour::Sack, &proportional(recovery), 20, 100);
        // 1 to 16 are lost. Four remain in flight; three of them are held.
        let first = rig.ack_at(100, 0, 1, &[(17, 20)]);
        assert_eq!(first[0], 1);
        assert!(first.len() <= 3, "{recovery:?}: not more than is delivered: {first:?}");
        let mut in_all = first.len();
        for n in 2..6u64 {
            let sent = rig.ack_at(200 + n, 100, n as u32, &[(17, 20)]);
            assert!(sent.len() <= 2, "{recovery:?}: {sent:?}");
            in_all += sent.len();
        }
        assert!(in_all >= 8, "{recovery:?}: two for each that moves forward");
    }
}

#[test]
fn proportional_reduction_is_refused_where_recovery_does_not_know_what_is_delivered() {
    use crate::{PipeRule, Preset};
    let check = |config: TcpConfig, flavour: Flavour| config.check_with(flavour.needs()).map_err(|e| e.to_string());
    let prr = TcpConfig { prr: Some(true), ..TcpConfig::rfc() };
    assert_eq!(check(prr.clone(), Flavour::Sack), Ok(()));
    let refused = check(prr.clone(), Flavour::Newreno).expect_err("NewReno");
    assert!(refused.contains("`prr` is true") && refused.contains("recovery = \"rack\""), "{refused}");
    assert!(check(TcpConfig { preset: Preset::Ns2, ..prr.clone() }, Flavour::Sack).is_err(), "counted");
    let counted = TcpConfig { recovery: Some(Recovery::Rack), pipe: Some(PipeRule::Counted), ..TcpConfig::rfc() };
    assert!(check(counted, Flavour::Sack).expect_err("rack").contains("`pipe`"));
    assert!(check(prr, Flavour::Vegas).is_err());
}

#[test]
fn rfc_8985_section_7_3_a_probe_of_new_data_stays_within_the_receivers_window() {
    let mut rig = Rig::new(Flavour::Sack, &TcpConfig { receiver_window: Some(10), ..rack() }, 10, 30);
    assert_eq!(rig.ack_at(100, 0, 2, &[]), [11]);
    assert_eq!(rig.expire(), [11], "12 is beyond it: the highest again");
}

#[test]
fn rfc_8985_section_7_2_no_probe_is_scheduled_in_recovery() {
    let mut rig = rig(60);
    rig.ack_at(100, 0, 2, &[]);
    assert_eq!(rig.ack_at(101, 0, 2, &[(3, 14)])[0], 2);
    assert!(rig.deadline_in_millis() > 1000, "the timeout, not two round trips: {}", rig.deadline_in_millis());
}

#[test]
fn rfc_6675_section_5_a_partial_acknowledgement_starts_the_timer_again() {
    let mut rig = rig(60);
    assert_eq!(rig.ack_at(100, 0, 1, &[(2, 13)])[0], 1);
    let before = rig.deadline_in_millis();
    rig.ack_at(300, 100, 14, &[]);
    assert!(rig.deadline_in_millis() >= before + 200, "{before} {}", rig.deadline_in_millis());
}

#[test]
fn rfc_8985_section_6_2_what_is_delivered_is_lost_no_more() {
    let mut rig = rig(60);
    // 1 to 11 are lost. The window of ten has 20 in flight, and room for nine.
    assert_eq!(rig.ack_at(100, 0, 1, &[(12, 20)]), (1..10).collect::<Vec<_>>());
    assert_eq!(rig.ack_at(101, 0, 1, &[(10, 11), (12, 20)]), NONE, "10 was only late: the window is full");
    assert_eq!(rig.ack_at(102, 0, 1, &[(10, 11), (12, 21)]), [11]);
}

#[test]
fn rfc_9937_a_timeout_ends_the_proportional_reduction() {
    let config = TcpConfig { prr: Some(true), ..rack() };
    let mut rig = Rig::new(Flavour::Sack, &config, 20, 100);
    assert_eq!(rig.ack_at(100, 0, 1, &[(2, 13)])[0], 1);
    for _ in 0..10 {
        if rig.sender.view().timeouts == 0 {
            rig.expire();
        }
    }
    assert_eq!((rig.sender.view().timeouts, rig.window()), (1, 1.0));
    // Slow start from one segment, not the difference of ten and the one in flight.
    let now = rig.now.nanos() / 1_000_000;
    assert_eq!(rig.ack_at(now + 100, now, 14, &[]), [14, 15]);
}
