//! Specification of playout: playing times, and ratings of calls.

use proptest::prelude::*;

use super::*;
use crate::quality::call::UnratedCause;
use crate::quality::impairment::Concealment;
use crate::traffic::Codec;

const PACKET: Span = Span::from_millis(20);

/// Returns units of one talkspurt from 0 ms on, every 20 ms, with these network delays in milliseconds; `None` is lost.
fn spurt(delays: &[Option<u64>]) -> Vec<SpokenUnit> {
    units(&delays.iter().enumerate().map(|(i, &delay)| (20 * i as u64, delay)).collect::<Vec<_>>())
}

/// Returns units given as (creation time, network delay) in milliseconds.
fn units(units: &[(u64, Option<u64>)]) -> Vec<SpokenUnit> {
    let at = |millis| Instant::ZERO + Span::from_millis(millis);
    let unit = |&(made, delay): &(u64, Option<u64>)| SpokenUnit {
        created: at(made),
        arrived: delay.map_or(Instant::NEVER, |delay| at(made + delay)),
    };
    units.iter().map(unit).collect()
}

fn fixed(millis: u64, reference: Reference) -> PlayoutConfig {
    PlayoutConfig::Fixed { delay: Span::from_millis(millis), reference }
}

fn adaptive(estimator: Estimator) -> PlayoutConfig {
    PlayoutConfig::Adaptive { estimator, safety: 4.0, least: Span::from_millis(10) }
}

/// Returns one letter per unit: played, late, lost (x).
fn letters(fates: &[UnitFate]) -> String {
    let letter = |fate: &UnitFate| match fate {
        UnitFate::Played(_) => 'p',
        UnitFate::Late(_) => 'l',
        UnitFate::Lost => 'x',
    };
    fates.iter().map(letter).collect()
}

#[test]
fn a_fixed_buffer_plays_what_arrives_within_its_delay_of_the_first() {
    let fates = play(&spurt(&[Some(50), Some(80), Some(81), None, Some(40)]), PACKET, &fixed(30, Reference::First));
    assert_eq!(letters(&fates), "pplxp");
    assert_eq!(fates[0], UnitFate::Played(Instant::ZERO + Span::from_millis(80)));
}

#[test]
fn the_reference_moves_the_deadline() {
    let call = spurt(&[Some(50), Some(35), Some(75)]);
    let heard = |reference| letters(&play(&call, PACKET, &fixed(30, reference)));
    assert_eq!(heard(Reference::First), "ppp");
    assert_eq!(heard(Reference::Minimum), "ppl");
    assert_eq!(heard(Reference::Creation), "lll");
}

#[test]
fn paper_004_calls_a_packet_useless_after_300_ms() {
    let fates = play(&spurt(&[Some(300), Some(301)]), PACKET, &fixed(300, Reference::Creation));
    assert_eq!(letters(&fates), "pl");
}

#[test]
fn within_a_talkspurt_the_adaptive_offset_does_not_change() {
    let call = spurt(&[Some(40), Some(45), Some(60), Some(42), Some(50)]);
    let fates = play(&call, PACKET, &adaptive(Estimator::Average));
    let offsets: Vec<Span> = (call.iter().zip(&fates))
        .map(|(unit, fate)| match fate {
            UnitFate::Played(at) | UnitFate::Late(at) => *at - unit.created,
            UnitFate::Lost => Span::ZERO,
        })
        .collect();
    assert!(offsets.iter().all(|&offset| offset == Span::from_millis(50)), "{offsets:?}");
}

#[test]
fn the_next_talkspurt_follows_a_network_that_has_slowed_down() {
    let mut call: Vec<(u64, Option<u64>)> = (0..50).map(|i| (20 * i, Some(40))).collect();
    call.extend((0..50).map(|i| (2000 + 20 * i, Some(90))));
    call.extend((0..50).map(|i| (4000 + 20 * i, Some(90))));
    let heard = letters(&play(&units(&call), PACKET, &adaptive(Estimator::Spike)));
    assert_eq!(&heard[..50], "p".repeat(50));
    assert_eq!(&heard[50..100], "l".repeat(50), "one step of 50 ms is not a spike, and the offset was fixed before");
    assert_eq!(&heard[100..], "p".repeat(50));
}

#[test]
fn a_spike_at_the_start_of_a_talkspurt_is_followed_at_once_and_forgotten_after() {
    let mut call: Vec<(u64, Option<u64>)> = (0..50).map(|i| (20 * i, Some(40))).collect();
    // A stall of 300 ms: its backlog arrives at once, with delays that fall by 20 ms per unit.
    call.extend((0..50).map(|i| (2000 + 20 * i, Some(340_u64.saturating_sub(20 * i).max(40)))));
    call.extend((0..50).map(|i| (4000 + 20 * i, Some(40))));
    let call = units(&call);
    let fates = play(&call, PACKET, &adaptive(Estimator::Spike));
    assert_eq!(letters(&fates), "p".repeat(150));
    let UnitFate::Played(last) = fates[149] else { panic!("the last unit was played") };
    assert!(last - call[149].created < Span::from_millis(120), "{}", last - call[149].created);
}

#[test]
fn an_undisturbed_g711_call_loses_only_what_its_delay_costs() {
    let call = spurt(&[Some(50); 500]);
    let quality = call_quality(&call, 0, Codec::G711, PACKET, Concealment::AppendixI, &fixed(30, Reference::First))
        .expect("G.711 is in G.113");
    assert_eq!((quality.late, quality.lost, quality.delay), (0, 0, Some(Span::from_millis(100))));
    assert!((score(&quality).rating.r - 91.0).abs() < 2.0 && score(&quality).mos > 4.3, "{quality:?}");
}

#[test]
fn what_waits_in_the_sender_is_missed_and_late_but_not_lost() {
    let call = spurt(&[Some(50), Some(50), None, None]);
    let rated = |waiting| {
        call_quality(&call, waiting, Codec::G711, PACKET, Concealment::AppendixI, &fixed(30, Reference::First))
            .expect("rated")
    };
    let (lost, waits) = (rated(0), rated(2));
    assert_eq!((lost.lost, lost.late, waits.lost, waits.late), (2, 0, 0, 2));
    assert_eq!(
        (waits.missed, score(&waits).mos),
        (lost.missed, score(&lost).mos),
        "for the listener there is no difference"
    );
    assert_eq!((score(&lost).causes.lateness, score(&waits).causes.loss), (0.0, 0.0));
    assert_eq!(rated(9), waits, "no more wait than have not arrived");
}

#[test]
fn late_units_harm_as_much_as_lost_ones() {
    let half = |bad: Option<u64>| spurt(&[Some(50), bad].repeat(200));
    let rate = |call: &[SpokenUnit]| {
        call_quality(call, 0, Codec::G711, PACKET, Concealment::None, &fixed(30, Reference::First))
            .expect("sent")
            .score
            .expect("rated")
            .rating
            .r
    };
    assert_eq!(rate(&half(None)), rate(&half(Some(500))));
}

fn score(quality: &CallQuality) -> CallScore {
    quality.score.expect("in G.113")
}

fn rated(call: &[SpokenUnit], config: &PlayoutConfig) -> CallQuality {
    call_quality(call, 0, Codec::G711, PACKET, Concealment::AppendixI, config).expect("G.711 is in G.113")
}

#[test]
fn late_for_playout_is_a_share_of_what_arrived() {
    let call = spurt(&[Some(50), Some(81), None, Some(40), None, Some(50)]);
    let quality = rated(&call, &fixed(30, Reference::First));
    assert_eq!((quality.sent, quality.late, quality.lost), (6, 1, 2));
    assert_eq!(quality.late_ratio, Some(0.25));
    assert_eq!(quality.missed, 0.5);
    assert!(rated(&spurt(&[None; 3]), &fixed(30, Reference::First)).late_ratio.is_none());
}

#[test]
fn mouth_to_ear_is_the_mean_over_what_was_played() {
    // One unit is 40 ms late: two units are played 30.625 ms after creation, three 70.625 ms; and one packet time is
    // concealed.
    let call = spurt(&[Some(30), Some(30), Some(70), Some(50), Some(30), None]);
    let config = PlayoutConfig::Neteq(NeteqConfig { stretch: false, ..NeteqConfig::default() });
    let quality = rated(&call, &config);
    assert_eq!(quality.delay, Some(Span::from_micros((2 * 30_625 + 3 * 70_625) / 5 + 20_000)));
    assert_eq!((quality.late, quality.lost, quality.late_ratio), (0, 1, Some(0.0)));
    assert_eq!(quality.missed, 3.0 / 8.0, "the last, and two units' time that was made up");
}

#[test]
fn the_rating_is_the_e_models_at_what_was_missed_and_its_causes_add_up() {
    let call = spurt(&[Some(50), Some(60), None, Some(85), Some(52), Some(55)].repeat(40));
    for config in [fixed(30, Reference::First), PlayoutConfig::default()] {
        let quality = rated(&call, &config);
        let codec = crate::quality::impairment::for_codec(Codec::G711, Concealment::AppendixI).expect("in G.113");
        let burst_ratio = quality.burst_ratio.max(1.0);
        let same =
            crate::quality::emodel::EModel::call(quality.delay.expect("played"), quality.missed, burst_ratio, codec)
                .rate();
        assert_eq!(score(&quality).rating, same);
        let Causes { codec, delay, loss, lateness } = score(&quality).causes;
        assert!((score(&quality).rating.r + codec + delay + loss + lateness - 93.206).abs() < 1e-3, "{quality:?}");
        assert!(loss > 5.0 && delay > 0.5, "{quality:?}");
    }
    let lateness = |config| score(&rated(&call, &config)).causes.lateness;
    assert!(lateness(fixed(30, Reference::First)) > 5.0);
    assert_eq!(lateness(fixed(300, Reference::First)), 0.0);
}

#[test]
fn a_jitter_buffer_follows_a_network_that_has_slowed_down_within_the_talkspurt() {
    let call: Vec<Option<u64>> = (0..500).map(|i| Some(if i < 50 { 40 } else { 140 })).collect();
    let (stretching, fixed_at_start) =
        (rated(&spurt(&call), &PlayoutConfig::default()), rated(&spurt(&call), &adaptive(Estimator::Spike)));
    assert_eq!(stretching.late, 0);
    assert_eq!(fixed_at_start.late, 450, "its offset was fixed when the talkspurt began");
    assert!(
        score(&stretching).mos > 4.0 && score(&fixed_at_start).mos < 1.5,
        "{} and {}",
        score(&stretching).mos,
        score(&fixed_at_start).mos
    );
}

#[test]
fn the_default_is_what_is_deployed_and_its_settings_are_checked() {
    assert_eq!(PlayoutConfig::default(), PlayoutConfig::Neteq(NeteqConfig::default()));
    let config = PlayoutConfig::Neteq(NeteqConfig { max_packets: 1, ..NeteqConfig::default() });
    assert_eq!(config.check().expect_err("too few").key, "max-packets");
}

#[test]
fn settings_are_written_in_one_table_with_the_strategy() {
    let read = |text: &str| serde_json::from_str::<PlayoutConfig>(text);
    let limits = NeteqConfig { max_delay: Some(Span::from_millis(200)), ..NeteqConfig::default() };
    assert_eq!(
        read(r#"{ "strategy": "neteq", "max-delay": "200 ms" }"#).expect("readable"),
        PlayoutConfig::Neteq(limits)
    );
    assert!(read(r#"{ "strategy": "neteq", "delay": "200 ms" }"#).is_err(), "a key of another strategy");
    let written = serde_json::to_string(&PlayoutConfig::Neteq(limits)).expect("writable");
    assert_eq!(read(&written).expect("readable"), PlayoutConfig::Neteq(limits));
}

#[test]
fn a_call_of_which_nothing_arrives_is_as_bad_as_can_be() {
    let quality =
        call_quality(&spurt(&[None; 10]), 0, Codec::G711, PACKET, Concealment::AppendixI, &PlayoutConfig::default())
            .expect("rated");
    assert_eq!((quality.lost, quality.late, quality.delay), (10, 0, None));
    assert_eq!((score(&quality).rating.r, score(&quality).mos), (0.0, 1.0), "{quality:?}");
}

#[test]
fn a_call_without_units_or_without_a_published_codec_is_not_rated() {
    let rate = |units: &[SpokenUnit], codec| {
        call_quality(units, 0, codec, PACKET, Concealment::AppendixI, &fixed(30, Reference::First))
    };
    assert_eq!(rate(&[], Codec::G711), Err(UnratedCause::NothingSent));
    let call = spurt(&[Some(50), Some(500), None, Some(50)]);
    let (unrated, rated) = (rate(&call, Codec::Ilbc20).expect("sent"), rate(&call, Codec::G711).expect("sent"));
    assert_eq!(unrated.score, Err(UnratedCause::NoImpairment(Codec::Ilbc20)));
    assert_eq!((unrated.late, unrated.lost, unrated.missed), (1, 1, 0.5), "playout counts whatever the codec");
    assert_eq!((unrated.delay, unrated.gaps), (rated.delay, rated.gaps));
    assert_eq!(unrated.gaps.longest(), PACKET * 2);
}

#[test]
fn time_made_up_for_a_stall_is_a_gap_like_time_lost() {
    // 2 s without arrivals, or with all arrivals at the end.
    let call = |stalled: bool| {
        let stall = (0..100).map(|unit| stalled.then(|| 2050 - 20 * unit));
        let units: Vec<Option<u64>> =
            (0..100).map(|_| Some(50)).chain(stall).chain((0..400).map(|_| Some(50))).collect();
        spurt(&units)
    };
    let lost = rated(&call(false), &PlayoutConfig::default());
    assert_eq!((lost.gaps.longest(), lost.gaps.interruptions()), (Span::from_secs(2), 1));
    assert_eq!(lost.gaps.silence(), Span::from_millis(1940));
    let late = rated(&call(true), &PlayoutConfig::default());
    assert!((Span::from_millis(1800)..=Span::from_millis(2100)).contains(&late.gaps.longest()), "{:?}", late.gaps);
    assert_eq!(late.gaps.interruptions(), 1);
    let offsets = rated(&call(true), &fixed(30, Reference::First));
    assert!((Span::from_millis(1900)..=Span::from_secs(2)).contains(&offsets.gaps.longest()), "{:?}", offsets.gaps);
}

#[test]
fn a_negative_margin_is_refused() {
    let config = PlayoutConfig::Adaptive { estimator: Estimator::Spike, safety: -1.0, least: Span::ZERO };
    assert_eq!(config.check().expect_err("negative").key, "safety");
}

proptest! {
    #[test]
    fn units_are_played_after_arrival_and_have_one_fate(
        delays in prop::collection::vec(prop::option::weighted(0.9, 0u64..600), 1..120),
        silences in prop::collection::vec(0u64..3, 120),
        which in 0usize..5,
    ) {
        let mut clock = 0;
        let call: Vec<(u64, Option<u64>)> = delays
            .iter()
            .zip(silences)
            .map(|(&delay, silence)| { clock += 20 + 400 * (silence / 2); (clock, delay) })
            .collect();
        let call = units(&call);
        let config = [
            fixed(60, Reference::First),
            fixed(100, Reference::Creation),
            adaptive(Estimator::Average),
            adaptive(Estimator::Spike),
            PlayoutConfig::default(),
        ][which];
        let fates = play(&call, PACKET, &config);
        prop_assert_eq!(fates.len(), call.len());
        for (unit, fate) in call.iter().zip(&fates) {
            match fate {
                UnitFate::Played(at) => prop_assert!(*at >= unit.arrived),
                // A jitter buffer may have to discard packets that are present.
                UnitFate::Late(due) => prop_assert!(unit.arrived < Instant::NEVER && (which == 4 || *due < unit.arrived)),
                UnitFate::Lost => prop_assert_eq!(unit.arrived, Instant::NEVER),
            }
        }
        let quality = call_quality(&call, 0, Codec::G729, PACKET, Concealment::AppendixI, &config).expect("rated");
        let played = fates.iter().filter(|fate| matches!(fate, UnitFate::Played(_))).count() as u64;
        prop_assert_eq!(quality.sent, played + quality.late + quality.lost);
        prop_assert!((1.0..=4.5).contains(&score(&quality).mos));
    }

    #[test]
    fn a_longer_fixed_delay_never_makes_more_units_late(
        delays in prop::collection::vec(0u64..600, 1..100), short in 0u64..300, more in 0u64..300,
    ) {
        let call = spurt(&delays.iter().map(|&delay| Some(delay)).collect::<Vec<_>>());
        let late = |millis| {
            let fates = play(&call, PACKET, &fixed(millis, Reference::First));
            fates.iter().filter(|fate| matches!(fate, UnitFate::Late(_))).count()
        };
        prop_assert!(late(short + more) <= late(short));
    }
}

#[test]
fn what_an_adaptive_playout_leaves_out_is_the_papers_safety_and_ten_milliseconds() {
    let read: PlayoutConfig = serde_json::from_str(r#"{"strategy":"adaptive"}"#).expect("a playout");
    let PlayoutConfig::Adaptive { safety, least, .. } = read else { panic!("{read:?}") };
    assert_eq!((safety, least), (4.0, Span::from_millis(10)));
    let read: PlayoutConfig = serde_json::from_str(r#"{"strategy":"fixed"}"#).expect("a playout");
    assert!(matches!(read, PlayoutConfig::Fixed { delay, .. } if delay == Span::from_millis(60)));
}
