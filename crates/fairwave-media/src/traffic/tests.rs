//! External view of sources: units, times, and rejected configurations.

use proptest::prelude::*;

use super::*;
use fairwave_units::random::Seed;
use fairwave_units::units::{Bytes, Rate, Span};

fn source(config: &TrafficConfig, start: Instant, seed: u64) -> Source {
    Source::new(config, start, Seed(seed).stream("flow.test[0].traffic")).expect("a valid configuration")
}

fn units(config: &TrafficConfig, seed: u64, n: usize) -> Vec<Unit> {
    let mut source = source(config, Instant::ZERO, seed);
    (0..n).map_while(|_| source.next_unit()).collect()
}

fn gaps(units: &[Unit]) -> Vec<Span> {
    units.windows(2).map(|pair| pair[1].created - pair[0].created).collect()
}

fn read(json: &str) -> TrafficConfig {
    serde_json::from_str(json).expect("a traffic configuration")
}

fn voice(config: VoiceConfig) -> TrafficConfig {
    TrafficConfig::Voice(config)
}

/// Returns the payload rate of a source in bits per second, averaged over many calls of five minutes.
fn mean_rate(config: &TrafficConfig, calls: u64) -> f64 {
    let (mut bits, span) = (0.0, 300.0);
    for seed in 0..calls {
        let mut source = source(config, Instant::ZERO, seed);
        while let Some(unit) = source.next_unit() {
            if unit.created.seconds() >= span {
                break;
            }
            bits += 8.0 * f64::from(unit.payload);
        }
    }
    bits / (calls as f64 * span)
}

#[test]
fn g711_sends_160_bytes_every_20_ms_while_talking() {
    let units = units(&read(r#"{"kind": "voice", "always-on": true}"#), 1, 100);
    assert!(units.iter().all(|unit| unit.payload == 160));
    assert!(gaps(&units).iter().all(|&gap| gap == Span::from_millis(20)));
}

#[test]
fn a_longer_payload_comes_less_often_so_that_the_rate_stays() {
    let interval = |payload: u64| {
        let config =
            VoiceConfig { payload: Some(Bytes::new(payload)), always_on: Some(true), ..VoiceConfig::default() };
        gaps(&units(&voice(config), 1, 2))[0]
    };
    assert_eq!(interval(160), Span::from_millis(20));
    assert_eq!(interval(300), Span::from_micros(37_500));
    assert_eq!(interval(500), Span::from_micros(62_500));
}

#[test]
fn paper_004s_applications_follow_from_their_packet_times() {
    let payload = |millis: u64| {
        let packet_time = Some(Span::from_millis(millis));
        VoiceConfig { packet_time, ..VoiceConfig::default() }.packet().expect("whole frames").0.get() + 12
    };
    assert_eq!([payload(10), payload(30), payload(60)], [92, 252, 492]);
}

#[test]
fn silence_is_where_talk_pauses_and_both_have_their_means() {
    let config = voice(VoiceConfig {
        talk: Some(Period::Exponential { mean: Span::from_secs(1) }),
        silence: Some(Period::Exponential { mean: Span::from_millis(1350) }),
        ..VoiceConfig::default()
    });
    let packet = 0.02;
    let gaps: Vec<f64> = gaps(&units(&config, 3, 400_000)).iter().map(|gap| gap.seconds()).collect();
    let silences: Vec<f64> = gaps.iter().filter(|&&gap| gap > packet + 1e-9).map(|gap| gap - packet).collect();
    let spurts = silences.len() as f64;
    let (talk, silence) = (gaps.len() as f64 * packet / spurts, silences.iter().sum::<f64>() / spurts);
    assert!((talk - 1.0).abs() < 0.03, "mean talkspurt {talk} s");
    assert!((silence - 1.35).abs() < 0.04, "mean silence {silence} s");
}

#[test]
fn the_readings_of_64_kb_per_second_differ_by_the_share_of_talk() {
    let spurts = |reading| {
        voice(VoiceConfig {
            talk: Some(Period::Exponential { mean: Span::from_secs(1) }),
            silence: Some(Period::Exponential { mean: Span::from_millis(1350) }),
            reading: Some(reading),
            ..VoiceConfig::default()
        })
    };
    let peak = mean_rate(&spurts(Reading::PeakRate), 200);
    assert!((peak / (64e3 / 2.35) - 1.0).abs() < 0.02, "{peak}");
    let mean = mean_rate(&spurts(Reading::MeanRate), 200);
    assert!((mean / 64e3 - 1.0).abs() < 0.02, "{mean}");
}

#[test]
fn who_talks_with_a_codec_without_discontinuous_transmission_talks_all_the_time() {
    let activity = |json: &str| read(json).activity().expect("a call");
    for codec in Codec::ALL {
        let expected = if codec.has_discontinuous_transmission() { 1.0 / 2.35 } else { 1.0 };
        assert_eq!(activity(&format!(r#"{{"kind": "voice", "codec": "{}"}}"#, codec.name())), expected, "{codec:?}");
    }
    assert!(!Codec::G711.has_discontinuous_transmission() && Codec::G729.has_discontinuous_transmission());
    assert_eq!(activity(r#"{"kind": "voice", "codec": "g729", "always-on": true}"#), 1.0);
}

#[test]
fn a_key_that_only_a_speaker_who_pauses_has_makes_the_speaker_pause() {
    for key in [
        r#""always-on": false"#,
        r#""talk": {"distribution": "pareto", "mean": "1 s"}"#,
        r#""silence": {"distribution": "pareto", "mean": "1.35 s"}"#,
        r#""first": "stationary""#,
        r#""reading": "peak-rate""#,
    ] {
        let spoken = read(&format!(r#"{{"kind": "voice", {key}}}"#)).activity().expect("a call");
        assert!((spoken - 1.0 / 2.35).abs() < 1e-12, "{key}: {spoken}");
    }
}

#[test]
fn the_share_of_talk_of_recordings_and_conversations_is_that_of_their_packets() {
    let share = |json: &str| {
        let config = read(json);
        let sent = (0..40)
            .map(|seed| units(&config, seed, 20_000))
            .map(|units| 20_000.0 * 0.02 / units.last().expect("endless").created.seconds());
        (config.activity().expect("a call"), sent.sum::<f64>() / 40.0)
    };
    for json in [r#"{"kind": "recording", "talk": [[0, 2], [5, 6]], "repeat-after": 8}"#, r#"{"kind": "conversation"}"#]
    {
        let (said, sent) = share(json);
        assert!((sent / said - 1.0).abs() < 0.03, "{json}: {said} said, {sent} sent");
    }
}

#[test]
fn a_periodic_source_begins_at_a_random_moment_of_its_first_interval() {
    let frames = r#"[{"type": "I", "sizes": [9]}, {"type": "P", "sizes": [2]}, {"type": "I", "sizes": [9]}]"#;
    let on = r#"{"distribution": "constant", "mean": "1 s"}"#;
    for (json, interval) in [
        (r#"{"kind": "cbr", "rate": "1 Mb/s"}"#.to_owned(), 0.008),
        (format!(r#"{{"kind": "burst", "rate": "1 Mb/s", "on": {on}, "off": {on}, "first": "talk"}}"#), 0.008),
        (r#"{"kind": "voice"}"#.to_owned(), 0.02),
        (r#"{"kind": "voice", "codec": "g723.1-6.3", "first": "talk"}"#.to_owned(), 0.03),
        (r#"{"kind": "recording", "talk": [[0, 9]]}"#.to_owned(), 0.02),
        (r#"{"kind": "video"}"#.to_owned(), 0.48),
        (format!(r#"{{"kind": "video-trace", "frames": {frames}}}"#), 0.08),
        (r#"{"kind": "video-trace", "frames": [{"type": "I", "sizes": [9]}]}"#.to_owned(), 0.04),
    ] {
        let config = read(&json);
        let period = config.period().unwrap_or((Span::from_seconds(interval), Phase::Random));
        assert_eq!(period, (Span::from_seconds(interval), Phase::Random), "{json}");
        let begins: Vec<f64> = (0..400).map(|seed| units(&config, seed, 1)[0].created.seconds()).collect();
        assert!(begins.iter().all(|begin| (0.0..interval).contains(begin)), "{json}");
        let mean = begins.iter().sum::<f64>() / 400.0;
        assert!((mean / interval - 0.5).abs() < 0.05, "{json}: {mean}");
        let zero = read(&json.replacen('{', r#"{"phase": "zero", "#, 1));
        assert_eq!(units(&zero, 1, 1)[0].created, Instant::ZERO, "{json}");
    }
}

#[test]
fn ns2s_sources_begin_at_once_but_for_those_that_it_does_not_have() {
    let like_ns2 = |json: &str| read(json).phase_like_ns2();
    for json in
        [r#"{"kind": "cbr", "rate": "1 Mb/s"}"#, r#"{"kind": "voice", "always-on": false}"#, r#"{"kind": "video"}"#]
    {
        assert_eq!(like_ns2(json), Some(Phase::Zero), "{json}");
    }
    for json in [r#"{"kind": "voice"}"#, r#"{"kind": "bulk"}"#, r#"{"kind": "web"}"#] {
        assert_eq!(like_ns2(json), None, "{json}");
    }
}

#[test]
fn a_stationary_call_is_in_talk_at_its_start_as_often_as_ever_after() {
    let config = voice(VoiceConfig { always_on: Some(false), phase: Phase::Zero, ..VoiceConfig::default() });
    let talking = (0..4000).filter(|&seed| units(&config, seed, 1)[0].created == Instant::ZERO).count() as f64 / 4000.0;
    assert!((talking - 1.0 / 2.35).abs() < 0.025, "{talking}");
}

#[test]
fn ns2s_way_is_to_begin_with_silence() {
    let config = voice(VoiceConfig { first: Some(First::Silence), ..VoiceConfig::default() });
    assert!((0..100).all(|seed| units(&config, seed, 1)[0].created.seconds() >= 0.45));
}

#[test]
fn a_recording_is_sent_where_it_has_speech_and_again_when_it_repeats() {
    let config = read(r#"{"kind": "recording", "talk": [[1, 3], [5, 6]], "repeat-after": 7, "phase": "zero"}"#);
    let packets: Vec<u64> = units(&config, 1, 6).iter().map(|unit| unit.created.nanos() / 20_000_000).collect();
    assert_eq!(packets, [1, 2, 5, 8, 9, 12]);
}

#[test]
fn a_recording_without_repetition_ends() {
    let config = read(r#"{"kind": "recording", "talk": [[1, 3]]}"#);
    assert_eq!(units(&config, 1, 100).len(), 2);
}

#[test]
fn cbr_keeps_its_rate_and_starts_at_once_with_phase_zero() {
    let units = units(&read(r#"{"kind": "cbr", "rate": "1 Mb/s", "phase": "zero"}"#), 1, 126);
    assert_eq!((units[0].created, units[125].created), (Instant::ZERO, Instant::from_seconds(1.0)));
}

#[test]
fn jitter_varies_the_gaps_by_half_the_interval_and_keeps_the_rate() {
    let units = units(&read(r#"{"kind": "cbr", "rate": "1 Mb/s", "jitter": 1.0}"#), 1, 10_001);
    let gaps: Vec<f64> = gaps(&units).iter().map(|gap| gap.seconds()).collect();
    assert!(gaps.iter().all(|&gap| (0.004..0.012).contains(&gap)));
    assert!((gaps.iter().sum::<f64>() / 10_000.0 - 0.008).abs() < 0.000_1);
}

#[test]
fn bursts_have_their_peak_rate_and_their_mean_rate() {
    let config = TrafficConfig::Burst(BurstConfig {
        rate: Rate::from_bits_per_second(256_000),
        payload: Bytes::new(250),
        on: Period::Exponential { mean: Span::from_millis(500) },
        off: Period::Exponential { mean: Span::from_millis(500) },
        first: First::Stationary,
        phase: Phase::Zero,
    });
    let shortest = gaps(&units(&config, 1, 1000)).into_iter().min();
    assert_eq!(shortest, Some(Span::from_micros(7_812) + Span::from_nanos(500)));
    let mean = mean_rate(&config, 100);
    assert!((mean / 128e3 - 1.0).abs() < 0.03, "{mean}");
}

#[test]
fn a_bulk_source_is_active_from_its_start_for_ever() {
    let start = Instant::from_seconds(3.0);
    let mut bulk = source(&TrafficConfig::default(), start, 1);
    assert!(TrafficConfig::default().is_bulk() && bulk.next_unit().is_none());
    assert_eq!(bulk.next_activity(), Some(Activity { from: start, until: Instant::NEVER }));
    assert_eq!(bulk.next_activity(), None);
}

#[test]
fn ftp_by_turns_is_on_two_thirds_of_the_time() {
    let (mut on, mut all) = (0.0, 0.0);
    for seed in 0..200 {
        let config = read(r#"{"kind": "bulk-on-off", "on": {"distribution": "pareto", "mean": "2 s", "shape": 3.0}}"#);
        let mut ftp = source(&config, Instant::ZERO, seed);
        let mut last = Instant::ZERO;
        for _ in 0..200 {
            let activity = ftp.next_activity().expect("it never ends");
            assert!(activity.from >= last && activity.until > activity.from);
            on += (activity.until - activity.from).seconds();
            last = activity.until;
        }
        all += last.seconds();
    }
    assert!((on / all - 2.0 / 3.0).abs() < 0.01, "{}", on / all);
}

#[test]
fn values_out_of_range_are_refused_with_their_key() {
    let key = |json: &str| read(json).check().expect_err(json).key;
    assert_eq!(key(r#"{"kind": "cbr", "rate": "0 b/s"}"#), "rate");
    assert_eq!(key(r#"{"kind": "cbr", "rate": "1 Mb/s", "payload": "0 B"}"#), "payload");
    assert_eq!(key(r#"{"kind": "cbr", "rate": "1 Mb/s", "jitter": 1.5}"#), "jitter");
    assert_eq!(key(r#"{"kind": "voice", "codec": "g729", "payload": "15 B"}"#), "payload");
    assert_eq!(key(r#"{"kind": "voice", "codec": "g729", "packet-time": "15 ms"}"#), "packet-time");
    assert_eq!(key(r#"{"kind": "voice", "talk": {"distribution": "exponential", "mean": "0 s"}}"#), "talk.mean");
    assert_eq!(
        key(r#"{"kind": "voice", "silence": {"distribution": "pareto", "mean": "1 s", "shape": 1.0}}"#),
        "silence.shape"
    );
    assert_eq!(key(r#"{"kind": "voice", "always-on": true, "first": "talk"}"#), "always-on");
    assert_eq!(key(r#"{"kind": "recording", "talk": [[3, 3]]}"#), "talk");
    assert_eq!(key(r#"{"kind": "recording", "talk": [[0, 9]], "repeat-after": 8}"#), "talk");
}

#[test]
fn an_unknown_key_is_refused_by_every_kind() {
    for kind in ["bulk", "bulk-on-off", "voice", "recording", "cbr", "burst", "transfer", "web", "conversation"] {
        let period = r#"{"distribution": "exponential", "mean": "1 s"}"#;
        let json = match kind {
            "cbr" => r#"{"kind": "cbr", "rate": "1 Mb/s", "colour": 1}"#.to_owned(),
            "burst" => {
                format!(r#"{{"kind": "burst", "rate": "1 Mb/s", "on": {period}, "off": {period}, "colour": 1}}"#)
            }
            _ => format!(r#"{{"kind": "{kind}", "colour": 1}}"#),
        };
        let error = serde_json::from_str::<TrafficConfig>(&json).expect_err(kind).to_string();
        assert!(error.contains("colour"), "{kind}: {error}");
    }
}

#[test]
fn a_configuration_is_written_as_it_is_read() {
    let config = voice(VoiceConfig { codec: Codec::G7231At63, ..VoiceConfig::default() });
    let json = serde_json::to_string(&config).expect("serialisable");
    assert_eq!(serde_json::from_str::<TrafficConfig>(&json).expect("the same"), config);
}

proptest! {
    #[test]
    fn units_are_numbered_without_gaps_and_made_in_order_from_the_start(
        kind in 0usize..5, seed in any::<u64>(), start in 0u64..10_000_000_000,
    ) {
        let config = [
            r#"{"kind": "voice"}"#,
            r#"{"kind": "voice", "first": "silence", "reading": "mean-rate", "codec": "g729"}"#,
            r#"{"kind": "recording", "talk": [[0, 2], [2, 5]], "repeat-after": 5}"#,
            r#"{"kind": "cbr", "rate": "64 kb/s", "payload": "160 B", "jitter": 1.0}"#,
            r#"{"kind": "conversation", "codec": "g729", "interruption": 0.9, "double-talk": "5 ms"}"#,
        ][kind];
        let start = Instant::from_nanos(start);
        let mut source = source(&read(config), start, seed);
        let mut last = start;
        for id in 0..200 {
            let unit = source.next_unit().expect("endless");
            prop_assert_eq!(unit.id, id);
            prop_assert!(unit.created >= last);
            last = unit.created;
        }
    }

    #[test]
    fn fuzz_a_source_that_listens_hears_anything_in_any_order_and_never_makes_time_run_back(
        seed in any::<u64>(), heard in prop::collection::vec((0u32..40, 0u64..5_000_000_000), 0..200),
    ) {
        let config = r#"{"kind": "web", "objects": {"shape": 1.1, "least": 1, "most": 9}, "first": "asks"}"#;
        let mut source = source(&read(config), Instant::ZERO, seed);
        let (mut now, mut next, mut last) = (Instant::ZERO, 0, Instant::ZERO);
        for (unit, later) in heard {
            while let Some(made) = source.next_unit() {
                prop_assert_eq!(made.id, next);
                prop_assert!(made.created >= last && made.payload > 0);
                (next, last) = (next + 1, made.created);
            }
            now = now.max(last) + Span::from_nanos(later);
            source.on_received(unit, now);
            source.on_received(next.wrapping_sub(1), now);
        }
        let pages = source.requests();
        prop_assert!(pages.windows(2).all(|pair| pair[1].first == pair[0].first + pair[0].units));
        prop_assert!(pages.windows(2).all(|pair| pair[1].began >= pair[0].began));
    }
}

#[test]
fn examples_are_in_range_and_survive_a_round_trip() {
    for example in TrafficConfig::examples() {
        let law: TrafficConfig =
            serde_json::from_value(example.clone()).unwrap_or_else(|error| panic!("{example}: {error}"));
        law.check().unwrap_or_else(|error| panic!("{example}: {error}"));
        let written = serde_json::to_value(&law).expect("a table");
        assert_eq!(serde_json::from_value::<TrafficConfig>(written).expect("a source"), law);
    }
}
