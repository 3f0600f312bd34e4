//! Tests of the clauses of the recoveries' sources, one by one: a sender, explicit acknowledgements, and the
//! segments sent on each.

use crate::sender::TcpSender;
use crate::{Flavour, Preset, TcpConfig};
use fairwave_endpoint::{FlowContext, Output, Sender};
use fairwave_media::traffic::{FrameType, Unit};
use fairwave_network::packet::{Body, Class, Ecn, FlowId, Packet, SackBlock};
use fairwave_units::random::Seed;
use fairwave_units::units::{Instant, Span};

/// No segments.
pub(super) const NONE: [u32; 0] = [];

/// A sender with segments 1 to `window` in flight, and the given number of units.
pub(super) struct Rig {
    pub sender: TcpSender,
    pub now: Instant,
}

pub(super) fn ms(millis: u64) -> Instant {
    Instant::ZERO + Span::from_millis(millis)
}

pub(super) fn plain() -> TcpConfig {
    TcpConfig { handshake: Some(false), limited_transmit: Some(false), ..TcpConfig::rfc() }
}

fn ns2() -> TcpConfig {
    TcpConfig { preset: Preset::Ns2, ..plain() }
}

pub(super) fn numbers(out: &Output) -> Vec<u32> {
    let number = |packet: &Packet| match packet.body {
        Body::Segment { sequence, .. } => sequence,
        _ => u32::MAX,
    };
    out.packets.iter().map(number).collect()
}

impl Rig {
    pub fn new(flavour: Flavour, config: &TcpConfig, window: u32, units: u32) -> Rig {
        let config = TcpConfig { initial_window: Some(window), ..config.clone() };
        let (sender, _) = config.endpoints(flavour, FlowContext::default(), Seed(1).stream("tcp")).expect("in range");
        let mut rig = Rig { sender, now: ms(0) };
        for id in 0..units {
            let unit = Unit { id, payload: 1000, created: ms(0), layer: 0, frame_type: FrameType::None };
            rig.sender.on_unit(rig.now, unit, &mut Output::default());
        }
        let mut out = Output::default();
        rig.sender.on_start(rig.now, &mut out);
        rig.now = ms(100);
        rig
    }

    /// An acknowledgement 1 ms after the last event, with these blocks. Returns the segments sent on it.
    pub fn ack(&mut self, next: u32, blocks: &[(u32, u32)]) -> Vec<u32> {
        self.now += Span::from_millis(1);
        let mut sack = [SackBlock::default(); 3];
        for (block, &(first, end)) in sack.iter_mut().zip(blocks) {
            *block = SackBlock { first, end };
        }
        let echo = Instant::from_nanos(self.now.nanos() - 100_000_000);
        let body = Body::Ack { next, echo, rate: 0.0, wave: 0, congestion_echo: false, marked: 0, sack };
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

    /// `count` duplicates of `next`. Returns the segments sent on all of them.
    fn duplicates(&mut self, next: u32, count: u32) -> Vec<u32> {
        (0..count).flat_map(|_| self.ack(next, &[])).collect()
    }

    /// Lets the timer expire. Returns the segments sent.
    pub fn expire(&mut self) -> Vec<u32> {
        self.now = self.sender.deadline();
        let mut out = Output::default();
        self.sender.on_timer(self.now, &mut out);
        numbers(&out)
    }

    pub fn window(&self) -> f64 {
        self.sender.connection.window().congestion
    }

    /// Congestion window and inflation.
    fn inflated(&self) -> (f64, u32) {
        (self.window(), self.sender.connection.inflation())
    }
}

#[test]
fn rfc_5681_the_third_duplicate_brings_the_segment_again_and_each_further_one_inflates() {
    let mut rig = Rig::new(Flavour::Reno, &plain(), 20, 100);
    assert_eq!(rig.duplicates(1, 2), NONE);
    assert_eq!(rig.duplicates(1, 1), [1]);
    assert_eq!(rig.inflated(), (10.0, 3), "half of the flight, and the three that have left the network");
    assert_eq!(rig.duplicates(1, 7), NONE, "1 to 20 are what ten and ten allow");
    assert_eq!(rig.duplicates(1, 2), [21, 22]);
    assert_eq!(rig.ack(21, &[]), (23..31).collect::<Vec<_>>(), "the window is deflated to ten, two are in flight");
    assert_eq!(rig.inflated(), (10.0, 0));
}

#[test]
fn rfc_3042_the_first_two_duplicates_let_a_new_segment_go_each() {
    let limited = TcpConfig { limited_transmit: Some(true), ..plain() };
    for flavour in [Flavour::Tahoe, Flavour::Reno, Flavour::Newreno] {
        let mut rig = Rig::new(flavour, &limited, 20, 100);
        assert_eq!((rig.ack(1, &[]), rig.ack(1, &[])), (vec![21], vec![22]), "{flavour:?}");
        assert_eq!(rig.ack(1, &[])[0], 1);
    }
    let mut rig = Rig::new(Flavour::Sack, &limited, 20, 100);
    assert_eq!((rig.ack(1, &[(2, 3)]), rig.ack(1, &[(2, 4)])), (vec![21], vec![22]));
    let mut rig = Rig::new(Flavour::Reno, &TcpConfig { receiver_window: Some(20), ..limited }, 20, 100);
    assert_eq!(rig.duplicates(1, 2), NONE, "not beyond the receiver's window");
}

#[test]
fn tahoe_goes_through_everything_again_by_slow_start() {
    let mut rig = Rig::new(Flavour::Tahoe, &plain(), 20, 100);
    assert_eq!(rig.duplicates(1, 3), [1]);
    assert_eq!((rig.window(), rig.sender.connection.window().threshold), (1.0, 10.0));
    assert_eq!(rig.duplicates(1, 5), NONE, "nothing is inflated");
    assert_eq!(rig.ack(2, &[]), [2, 3]);
    // Duplicates of earlier arrivals, at the highest segment sent before the loss, are no new loss.
    rig.ack(21, &[]);
    assert!(!rig.duplicates(21, 3).contains(&21));
}

#[test]
fn a_loss_right_after_recovery_is_found_by_duplicates_where_the_source_says_so() {
    // The segment after the recovery point, 21, is lost. Reno as printed in RFC 5681, and SACK, count only
    // duplicates. The careful variant requires an acknowledgement beyond the data in flight at the last loss.
    let again = |flavour, config: TcpConfig| {
        let mut rig = Rig::new(flavour, &config, 20, 100);
        for held in 3..=20 {
            rig.ack(1, &[(2, held + 1)]);
        }
        rig.ack(21, &[]);
        let sent = rig.sender.connection.max();
        assert!(sent > 25, "{flavour:?}: {sent}");
        let mut found = false;
        for held in 22..=24 {
            found |= rig.ack(21, &[(22, held + 1)]).contains(&21);
        }
        found
    };
    assert!(again(Flavour::Reno, plain()));
    assert!(!again(Flavour::Reno, ns2()), "bug_fix_");
    assert!(!again(Flavour::Newreno, plain()), "RFC 6582 §3.2 step 2");
    assert!(!again(Flavour::Newreno, ns2()));
    assert!(again(Flavour::Sack, plain()));
    assert!(again(Flavour::Sack, ns2()), "ns-2 clears recover_");
}

#[test]
fn rfc_6582_step_2_one_segment_past_the_recovery_point_is_enough() {
    let mut rig = Rig::new(Flavour::Newreno, &plain(), 20, 100);
    rig.duplicates(1, 19);
    rig.ack(21, &[]);
    rig.ack(22, &[]);
    assert!(rig.duplicates(22, 3).contains(&22));
}

#[test]
fn rfc_6582_step_3_the_window_on_leaving_is_the_threshold_or_the_flight_and_one() {
    let leave = |duplicates, threshold: Option<f64>| {
        let mut rig = Rig::new(Flavour::Newreno, &plain(), 20, 100);
        rig.duplicates(1, duplicates);
        if let Some(threshold) = threshold {
            rig.sender.connection.set_threshold(threshold);
        }
        let flight = rig.sender.connection.max() - 21;
        (flight, rig.ack(21, &[]).len(), rig.window())
    };
    assert_eq!(leave(3, None), (0, 2, 2.0), "max(FlightSize, SMSS) + SMSS of nothing in flight is two");
    assert_eq!(leave(14, None), (4, 1, 5.0));
    assert_eq!(leave(14, Some(3.0)), (4, 0, 3.0), "never above the threshold");
}

#[test]
fn rfc_6582_step_3_only_the_first_partial_acknowledgement_restarts_the_timer() {
    let mut rig = Rig::new(Flavour::Newreno, &plain(), 20, 100);
    rig.duplicates(1, 3);
    let entered = rig.sender.deadline();
    rig.ack(3, &[]);
    let first = rig.sender.deadline();
    assert!(first > entered);
    rig.ack(5, &[]);
    rig.ack(7, &[]);
    assert_eq!(rig.sender.deadline(), first, "the impatient variant");
    // The next recovery has a first partial acknowledgement again.
    rig.ack(21, &[]);
    rig.ack(22, &[]);
    rig.duplicates(22, 3);
    let entered = rig.sender.deadline();
    rig.ack(23, &[]);
    assert!(rig.sender.deadline() > entered);
}

#[test]
fn rfc_6582_step_3_a_partial_acknowledgement_deflates_by_what_it_covers_less_one() {
    let mut rig = Rig::new(Flavour::Newreno, &plain(), 20, 100);
    rig.duplicates(1, 9);
    assert_eq!(rig.inflated(), (10.0, 9));
    assert_eq!(rig.ack(3, &[])[0], 3, "the next hole at once");
    assert_eq!(rig.inflated(), (10.0, 8), "two are covered: two less, and one added back");
    assert_eq!(rig.ack(11, &[])[0], 11);
    assert_eq!(rig.inflated(), (10.0, 1), "eight covered, eight inflated: eight less, one back");
    assert_eq!(rig.ack(15, &[])[0], 15);
    assert_eq!(rig.inflated(), (7.0, 1), "what the inflation cannot give the window does");
}

#[test]
fn newreno_stays_in_recovery_until_the_recovery_point() {
    let mut rig = Rig::new(Flavour::Newreno, &plain(), 20, 100);
    rig.duplicates(1, 3);
    for hole in [5, 10, 20] {
        assert_eq!(rig.ack(hole, &[])[0], hole);
    }
    assert!(!rig.ack(21, &[]).contains(&21) || rig.sender.connection.una() == 21);
    assert_eq!(rig.sender.connection.inflation(), 0);
    assert_eq!(rig.sender.view().fast_retransmits, 1);
}

#[test]
fn newreno_sends_at_most_two_segments_per_duplicate() {
    let mut rig = Rig::new(Flavour::Newreno, &plain(), 20, 100);
    rig.duplicates(1, 3);
    rig.sender.connection.set_congestion_window(30.0);
    assert_eq!(rig.ack(1, &[]), [21, 22]);
}

#[test]
fn rfc_6675_recovery_begins_with_the_third_duplicate() {
    let mut rig = Rig::new(Flavour::Sack, &plain(), 20, 100);
    assert_eq!(rig.ack(1, &[(3, 4)]), NONE);
    assert_eq!(rig.ack(1, &[(3, 4)]), NONE, "no news, no duplicate");
    assert_eq!(rig.ack(1, &[(3, 5)]), NONE);
    assert_eq!(rig.ack(1, &[(3, 6)]), [1]);
    assert_eq!(rig.window(), 10.0);
}

#[test]
fn rfc_6675_recovery_begins_as_soon_as_the_first_segment_is_lost() {
    // Acknowledgements were lost, so the first that arrives reports three held segments: IsLost(HighACK + 1).
    let mut rig = Rig::new(Flavour::Sack, &plain(), 20, 100);
    assert_eq!(rig.ack(1, &[(3, 6)]), [1]);
    // ns-2.35 counts duplicates only.
    let mut rig = Rig::new(Flavour::Sack, &ns2(), 20, 100);
    assert_eq!(rig.ack(1, &[(3, 6)]), NONE);
}

#[test]
fn rfc_6675_an_acknowledgement_of_new_data_with_news_is_a_duplicate_too() {
    let mut rig = Rig::new(Flavour::Sack, &plain(), 20, 30);
    rig.ack(1, &[(5, 6)]);
    rig.ack(3, &[(5, 7)]);
    assert_eq!(rig.sender.connection.duplicates(), 1, "counted anew since it acknowledges");
    assert!(rig.ack(3, &[(5, 8)]).contains(&3), "three held above it");
}

#[test]
fn rfc_6675_set_pipe_says_how_much_may_be_sent() {
    // 20 in flight, window 10 after the loss. Held: 6 to 15, so 1 to 5 are lost; the pipe has 16 to 20 and the
    // retransmissions.
    let mut rig = Rig::new(Flavour::Sack, &plain(), 20, 100);
    assert_eq!(rig.ack(1, &[(6, 16)]), [1, 2, 3, 4, 5], "five and five");
    assert_eq!(rig.ack(1, &[(6, 16)]), NONE, "full");
    assert_eq!(rig.ack(1, &[(6, 17)]), [21], "rule 2: 16 has left the network, and nothing is lost any more");
    assert_eq!(rig.ack(3, &[(6, 17)]), [22, 23], "so have 1 and 2");
}

#[test]
fn rfc_6675_rule_1_the_lowest_that_is_lost_goes_first_and_once() {
    let mut rig = Rig::new(Flavour::Sack, &plain(), 20, 100);
    assert_eq!(rig.ack(1, &[(2, 3), (5, 6), (8, 20)]), [1, 3, 4, 6, 7, 21, 22, 23, 24], "2 and 5 are held");
}

#[test]
fn rfc_6675_rule_2_comes_before_rule_3() {
    // 18 is missing, but only two above it are held.
    let held = [(2, 18), (19, 21)];
    let mut rig = Rig::new(Flavour::Sack, &plain(), 20, 24);
    assert_eq!(rig.ack(1, &held), [1, 21, 22, 23, 24, 18], "new data while there is some, then 18");
    assert_eq!(rig.ack(1, &held), NONE, "18 has been sent again");
}

#[test]
fn rfc_6675_rule_3_what_is_missing_but_not_lost_is_sent_rather_than_nothing() {
    let mut rig = Rig::new(Flavour::Sack, &plain(), 20, 20);
    assert_eq!(
        rig.ack(1, &[(2, 18), (19, 20)]),
        [1, 18],
        "20 is above all that is held: no rule before the fourth names it"
    );
}

#[test]
fn rfc_6675_rule_4_one_rescue_per_recovery_with_the_highest_outstanding() {
    // 17 to 20 are lost with 1, and no segment above them can reveal it.
    let mut rig = Rig::new(Flavour::Sack, &plain(), 20, 20);
    assert_eq!(rig.ack(1, &[(2, 15), (16, 17)]), [1, 15]);
    assert_eq!(rig.ack(2, &[(2, 15), (16, 17)]), NONE, "HighACK is not greater than RescueRxt yet");
    assert_eq!(rig.ack(15, &[(16, 17)]), [20], "now it is: the rescue");
    assert_eq!(rig.ack(17, &[]), NONE, "one alone");
    assert_eq!(
        rig.ack(17, &[(20, 21)]),
        [17, 18, 19],
        "its arrival shows the holes below it (rule 3), since HighRxt has stayed"
    );
}

#[test]
fn rfc_6675_the_scoreboard_is_kept_across_acknowledgements_and_recoveries() {
    let mut rig = Rig::new(Flavour::Sack, &plain(), 20, 60);
    rig.ack(1, &[(2, 3), (4, 8)]);
    // The acknowledgement up to 3 carries no blocks: 3 was retransmitted, and no other segment is missing.
    let sent = rig.ack(3, &[]);
    assert!(sent.iter().all(|&segment| segment > 20), "{sent:?}");
    let sent = rig.ack(21, &[(23, 26)]);
    assert!(sent.contains(&21) && sent.contains(&22), "the recovery is over, and the next begins at once: {sent:?}");
}

#[test]
fn rfc_6675_after_a_timeout_no_recovery_begins_before_what_was_sent_is_acknowledged() {
    let mut rig = Rig::new(Flavour::Sack, &plain(), 20, 100);
    rig.ack(1, &[(6, 16)]);
    assert_eq!(rig.expire(), [1], "slow start from the first");
    assert_eq!(rig.ack(1, &[(6, 9)]), NONE, "three are held, and yet");
    assert_eq!(rig.ack(1, &[(6, 12)]), NONE);
    assert_eq!(rig.ack(2, &[(6, 12)]), [2, 3]);
    assert_eq!(rig.ack(4, &[(6, 12)]), [4, 5], "what has been reported since is left out");
    let sent = rig.ack(12, &[]);
    assert_eq!((sent.first(), rig.sender.view().fast_retransmits), (Some(&12), 1));
}

#[test]
fn a_timeout_forgets_what_was_held_before_it() {
    // RFC 2018 §8: the receiver may have discarded the segment.
    let mut rig = Rig::new(Flavour::Sack, &plain(), 20, 100);
    rig.ack(1, &[(2, 4)]);
    assert_eq!(rig.expire(), [1]);
    assert_eq!(rig.ack(2, &[]), [2, 3]);
}

#[test]
fn ns2s_sack_counts_its_pipe() {
    // 20 in flight less three duplicates are 17. The window is ten, so eight acknowledgements pass first.
    let mut rig = Rig::new(Flavour::Sack, &ns2(), 20, 100);
    assert_eq!((rig.ack(1, &[(3, 4)]), rig.ack(1, &[(3, 5)])), (vec![], vec![]));
    assert_eq!(rig.ack(1, &[(3, 6)]), [1]);
    for held in 6..13 {
        assert_eq!(rig.ack(1, &[(3, held + 1)]), NONE, "{held}");
    }
    assert_eq!(rig.ack(1, &[(3, 14)]), [2], "every hole below the highest that is held");
    assert_eq!(rig.ack(1, &[(3, 15)]), [21]);
    assert_eq!(rig.ack(2, &[(3, 15)]), [22, 23], "a partial acknowledgement takes two");
    assert_eq!(rig.ack(21, &[]).len(), 7, "three in flight, ten in the window");
}

#[test]
fn rfc_5681_section_3_1_a_lost_syn_leaves_an_initial_window_of_one_segment() {
    let start = |preset, flavour| {
        let config = TcpConfig { preset, handshake: Some(true), ..plain() };
        let mut rig = Rig::new(flavour, &config, 4, 100);
        assert_eq!(rig.expire()[0], 0);
        let sent = rig.ack(1, &[]);
        (sent, rig.window(), rig.sender.connection.window().threshold)
    };
    let (sent, window, threshold) = start(Preset::Rfc, Flavour::Reno);
    assert_eq!((sent, window), (vec![1], 1.0));
    assert!(threshold > 1e6, "the threshold is as it was");
    assert_eq!(start(Preset::Ns2, Flavour::Reno), (vec![1], 1.0, 2.0), "ns-2 has it fall to the least as well");
    assert_eq!(start(Preset::Ns2, Flavour::Vegas).1, 1.0);
}

#[test]
fn ns2s_vegas_keeps_its_initial_window_after_a_lost_syn() {
    let window = |preset| {
        let config = TcpConfig { preset, handshake: Some(true), ..plain() };
        let mut rig = Rig::new(Flavour::Vegas, &config, 4, 100);
        rig.expire();
        rig.ack(1, &[]);
        rig.ack(2, &[]);
        rig.window()
    };
    assert!(window(Preset::Ns2) >= 4.0);
    assert!(window(Preset::Rfc) <= 2.0);
}

#[test]
fn rfc_6298_section_5_7_after_a_lost_syn_data_begins_with_a_timeout_of_three_seconds() {
    let timeout = |preset, initial: Option<Span>, lost| {
        let config = TcpConfig { preset, handshake: Some(true), initial_rto: initial, ..plain() };
        let mut rig = Rig::new(Flavour::Reno, &config, 4, 100);
        if lost {
            rig.expire();
        }
        rig.ack(1, &[]);
        (rig.sender.deadline() - rig.now).nanos() / 1_000_000
    };
    assert_eq!(timeout(Preset::Rfc, None, true), 3000);
    assert_eq!(timeout(Preset::Rfc, None, false), 1000, "of a SYN that arrived the round trip counts");
    assert_eq!(timeout(Preset::Rfc, Some(Span::from_secs(3)), true), 1000, "of a timeout below three seconds alone");
    assert_ne!(timeout(Preset::Ns2, None, true), 3000);
}

#[test]
fn ns2s_vegas_sends_the_next_segment_twice_when_the_repair_has_emptied_the_flight() {
    let repair = |preset| {
        let config = TcpConfig { preset, ..plain() };
        let mut rig = Rig::new(Flavour::Vegas, &config, 4, 100);
        assert_eq!(rig.duplicates(1, 3), [1]);
        rig.ack(5, &[])
    };
    assert_eq!(repair(Preset::Ns2)[..3], [5, 5, 6]);
    assert_eq!(repair(Preset::Rfc)[..2], [5, 6]);
}

#[test]
fn ns2s_vegas_counts_no_header() {
    let wires = |preset, header: Option<fairwave_units::units::Bytes>| {
        let config = TcpConfig { preset, handshake: Some(true), header, ..TcpConfig::rfc() };
        let (mut sender, _) = config
            .endpoints(Flavour::Vegas, FlowContext { bulk: true, ..FlowContext::default() }, Seed(1).stream("tcp"))
            .expect("in range");
        let mut out = Output::default();
        sender.on_start(ms(0), &mut out);
        let body = Body::Ack {
            next: 1,
            echo: ms(0),
            rate: 0.0,
            wave: 0,
            congestion_echo: false,
            marked: 0,
            sack: [SackBlock::default(); 3],
        };
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
        sender.on_packet(ms(100), &ack, &mut out);
        (out.packets[0].wire, out.packets[1].wire)
    };
    assert_eq!(wires(Preset::Ns2, None), (1000, 1000), "a SYN is a packet like any other");
    assert_eq!(wires(Preset::Rfc, None), (40, 1040));
    assert_eq!(wires(Preset::Ns2, Some(fairwave_units::units::Bytes::new(20))).1, 1020);
}

#[test]
fn rfc_6675_data_that_the_application_brings_in_a_recovery_goes_as_the_pipe_allows() {
    // 1 of twenty is lost, 2 to 15 are held. The retransmission and 16 to 20 are in the pipe, and the window is ten.
    let mut rig = Rig::new(Flavour::Sack, &plain(), 20, 20);
    for held in 2..=15 {
        rig.ack(1, &[(2, held + 1)]);
    }
    assert_eq!(rig.window(), 10.0);
    let mut out = Output::default();
    let unit = Unit { id: 20, payload: 1000, created: rig.now, layer: 0, frame_type: FrameType::None };
    rig.sender.on_unit(rig.now, unit, &mut out);
    assert_eq!(numbers(&out), [21], "beyond what the window would reach from the first that is missing");
}

#[test]
fn rfc_5681_step_6_new_data_leaves_the_window_at_the_threshold() {
    let mut rig = Rig::new(Flavour::Reno, &plain(), 20, 100);
    rig.duplicates(1, 3);
    rig.sender.connection.set_congestion_window(17.0);
    rig.ack(21, &[]);
    assert_eq!(rig.window(), 10.0);
}

#[test]
fn rfc_5681_a_timeout_ends_fast_recovery() {
    let mut rig = Rig::new(Flavour::Reno, &plain(), 20, 100);
    rig.duplicates(1, 3);
    rig.expire();
    assert_eq!(rig.window(), 1.0);
    rig.ack(2, &[]);
    assert_eq!(rig.window(), 2.0, "slow start, and no window to be deflated");
}

#[test]
fn rfc_5681_section_3_1_new_data_ends_the_series_of_timeouts_that_hold_the_threshold() {
    let mut rig = Rig::new(Flavour::Reno, &plain(), 20, 100);
    rig.expire();
    rig.expire();
    assert_eq!(rig.sender.connection.window().threshold, 10.0, "the second timeout of the same segment holds it");
    rig.ack(5, &[]);
    rig.expire();
    assert_eq!(rig.sender.connection.window().threshold, 2.0, "another segment: half of what is in flight, or two");
}

#[test]
fn rfc_6675_section_5_1_after_a_timeout_no_recovery_begins_until_what_had_been_sent_is_acknowledged() {
    let mut rig = Rig::new(Flavour::Sack, &plain(), 20, 100);
    assert_eq!(rig.expire(), [1]);
    for held in 6..10 {
        rig.ack(2, &[(5, held)]);
    }
    assert_eq!((rig.sender.view().timeouts, rig.sender.view().fast_retransmits), (1, 0));
}

#[test]
fn brakmo_peterson_the_fine_timeout_doubles_when_a_segment_is_sent_again_repeatedly() {
    let mut rig = Rig::new(Flavour::Vegas, &plain(), 20, 100);
    rig.now = ms(100);
    rig.ack(2, &[]);
    // 17/16 of 101 ms and half of that: 161 ms. The third duplicate retransmits 2 and makes the timeout an eighth
    // longer: 181 ms.
    let sent = rig.duplicates(2, 3);
    assert!(sent.contains(&2), "{sent:?}");
    let wait = |rig: &mut Rig, millis: u64| {
        rig.now += Span::from_millis(millis - 1);
        rig.ack(2, &[]).contains(&2)
    };
    assert!(wait(&mut rig, 185), "it has been out for longer than that");
    assert!(!wait(&mut rig, 300), "362 ms have not passed");
    assert!(wait(&mut rig, 80));
}
