//! Black-box tests of the loss models: loss rates, clusters of losses, and rejected configurations.

use proptest::prelude::*;

use fairwave_units::registry::{Checked, Law};

use super::*;
use crate::packet::{Body, Class, Ecn, FlowId};
use fairwave_units::random::Seed;
use fairwave_units::units::Span;

pub(super) fn packet() -> Packet {
    let body = Body::Ack {
        next: 0,
        echo: Instant::ZERO,
        rate: 0.0,
        wave: 0,
        congestion_echo: false,
        marked: 0,
        sack: Default::default(),
    };
    Packet {
        flow: FlowId(0),
        wire: 40,
        class: Class::Tcp,
        dscp: Default::default(),
        feedback: true,
        ecn: Ecn::NotEct,
        layer: 0,
        body,
    }
}

/// Losses of `n` packets, one every `gap`.
fn losses(config: &LossConfig, seed: u64, n: u64, gap: Span) -> Vec<bool> {
    let mut loss = Loss::new(config, Seed(seed).stream("link.a>b.loss")).expect("a valid configuration");
    (0..n).map(|i| loss.lost(Instant::ZERO + gap * i, &packet())).collect()
}

fn rate(lost: &[bool]) -> f64 {
    lost.iter().filter(|&&lost| lost).count() as f64 / lost.len() as f64
}

/// Share of losses among the packets that follow a loss.
fn rate_after_loss(lost: &[bool]) -> f64 {
    let after: Vec<bool> = lost.windows(2).filter(|pair| pair[0]).map(|pair| pair[1]).collect();
    rate(&after)
}

const MILLISECOND: Span = Span::from_millis(1);

#[test]
fn a_model_that_is_told_what_it_must_be_has_the_other_values_that_are_stated() {
    for (said, stated) in [
        (
            r#"{"model":"markov","good":"5 s","bad":"500 ms"}"#,
            r#"{"model":"markov","good":"5 s","bad":"500 ms","good-loss":0.0,"bad-loss":1.0}"#,
        ),
        (r#"{"model":"rounds"}"#, r#"{"model":"rounds","first":0.01,"after-loss":0.15,"mean-length":10.0}"#),
        (r#"{"model":"pattern","pattern":"01"}"#, r#"{"model":"pattern","pattern":"01","repeat":true}"#),
    ] {
        let of = |text: &str| -> LossConfig { serde_json::from_str(text).expect("a model") };
        assert_eq!(of(said), of(stated));
        let shown = serde_json::to_value(of(said)).expect("a table");
        assert_eq!(of(&shown.to_string()), of(stated));
    }
    for other in [
        r#"{"model":"markov","good":"5 s","bad":"500 ms","good-loss":0.1,"bad-loss":0.9}"#,
        r#"{"model":"rounds","first":0.02,"after-loss":0.3,"mean-length":5.0,"other":0.2}"#,
        r#"{"model":"pattern","pattern":"01","repeat":false}"#,
    ] {
        let told: serde_json::Value = serde_json::from_str(other).expect("JSON");
        let config: LossConfig = serde_json::from_value(told.clone()).expect("a model");
        assert_eq!(serde_json::to_value(config).expect("a table"), told);
    }
}

#[test]
fn bernoulli_loses_at_its_rate_and_without_memory() {
    let lost = losses(&LossConfig::from(BernoulliConfig { rate: 0.05 }), 1, 400_000, MILLISECOND);
    assert!((rate(&lost) - 0.05).abs() < 0.001, "{}", rate(&lost));
    assert!((rate_after_loss(&lost) - 0.05).abs() < 0.005, "{}", rate_after_loss(&lost));
}

#[test]
fn a_pattern_begins_again_unless_it_is_told_not_to() {
    let read = |text: &str| serde_json::from_str::<LossConfig>(text).expect("a model");
    let lost = |text| losses(&read(text), 1, 4, MILLISECOND);
    assert_eq!(lost(r#"{"model":"pattern","pattern":"10"}"#), [true, false, true, false]);
    assert_eq!(lost(r#"{"model":"pattern","pattern":"10","repeat":false}"#), [true, false, false, false]);
}

#[test]
fn a_schedules_cycle_is_the_shortest_of_its_steps() {
    let handoff = |up| {
        LossConfig::from(HandoffConfig {
            up: Span::from_secs(up),
            down: Span::from_secs(1),
            constant: false,
            regular: false,
        })
    };
    let text = serde_json::json!({ "model": "schedule", "steps": [
        { "at": "0 s", "is": handoff(9) }, { "at": "10 s", "is": "none" }, { "at": "20 s", "is": handoff(4) },
    ]});
    let schedule: LossConfig = serde_json::from_value(text).expect("a schedule");
    assert_eq!(handoff(4).cycle(), Some(Span::from_secs(5)));
    assert_eq!(schedule.cycle(), Some(Span::from_secs(5)));
}

#[test]
fn in_one_endless_round_losses_follow_losses_with_q() {
    let config = RoundsConfig { first: 0.01, after_loss: 0.15, other: None, mean_length: 1e9 }.into();
    let lost = losses(&config, 2, 1_000_000, MILLISECOND);
    assert!((rate_after_loss(&lost) - 0.15).abs() < 0.01, "{}", rate_after_loss(&lost));
    // Stationary distribution of the chain: p / (1 − q + p).
    assert!((rate(&lost) - 0.01 / 0.86).abs() < 0.0005, "{}", rate(&lost));
}

#[test]
fn rounds_of_one_packet_are_bernoulli() {
    let config = RoundsConfig { first: 0.1, after_loss: 1.0, other: None, mean_length: 1.0 }.into();
    let lost = losses(&config, 3, 200_000, MILLISECOND);
    assert!((rate_after_loss(&lost) - 0.1).abs() < 0.01, "{}", rate_after_loss(&lost));
}

#[test]
fn the_markov_chain_is_bad_for_its_share_of_time_and_loses_accordingly() {
    let (good, bad) = (Span::from_millis(900), Span::from_millis(100));
    let config = MarkovConfig { good, bad, good_loss: 0.01, bad_loss: 0.5 }.into();
    let lost = losses(&config, 4, 4_000_000, MILLISECOND);
    assert!((rate(&lost) - (0.9 * 0.01 + 0.1 * 0.5)).abs() < 0.003, "{}", rate(&lost));
}

#[test]
fn the_markov_chain_stays_bad_for_its_mean_sojourn() {
    let (good, bad) = (Span::from_secs(1), Span::from_millis(200));
    let lost = losses(&MarkovConfig { good, bad, good_loss: 0.0, bad_loss: 1.0 }.into(), 5, 4_000_000, MILLISECOND);
    let bursts = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
    let mean = lost.iter().filter(|&&lost| lost).count() as f64 / bursts;
    assert!((mean - 200.0).abs() < 10.0, "{mean} ms");
}

#[test]
fn a_constant_handoff_loses_everything_while_down_and_nothing_while_up() {
    let config =
        HandoffConfig { up: Span::from_millis(3), down: Span::from_millis(2), constant: true, regular: false }.into();
    let lost = losses(&config, 6, 10, MILLISECOND);
    assert_eq!(lost, [false, false, false, true, true, false, false, false, true, true]);
}

#[test]
fn a_regular_handoff_comes_a_fixed_time_after_the_one_before_and_lasts_as_long_as_chance_has_it() {
    let config = HandoffConfig { up: Span::from_secs(5), down: Span::from_millis(500), constant: false, regular: true };
    assert!(HandoffConfig { constant: true, ..config }.check().is_err(), "both cannot be");
    let states = losses(&config.into(), 7, 400_000, MILLISECOND).into_iter();
    let (mut up, mut down, mut length, mut before) = (Vec::new(), Vec::new(), 0, false);
    for lost in states {
        if lost != before {
            if before {
                down.push(length)
            } else {
                up.push(length)
            }
            (length, before) = (0, lost);
        }
        length += 1;
    }
    assert!(up.len() > 20 && up.iter().all(|ms| (4999..=5001).contains(ms)), "{up:?}");
    let mean = down.iter().sum::<i32>() as f64 / down.len() as f64;
    assert!((300.0..800.0).contains(&mean) && down.iter().any(|ms| *ms < 200) && down.iter().any(|ms| *ms > 800));
}

#[test]
fn handoffs_take_their_share_of_time() {
    let config =
        HandoffConfig { up: Span::from_secs(5), down: Span::from_millis(500), constant: false, regular: false }.into();
    let lost = losses(&config, 7, 4_000_000, Span::from_millis(10));
    assert!((rate(&lost) - 0.5 / 5.5).abs() < 0.005, "{}", rate(&lost));
}

#[test]
fn a_blackout_includes_its_beginning_and_excludes_its_end() {
    let config = BlackoutConfig { from: Span::from_millis(2), to: Span::from_millis(4) }.into();
    assert_eq!(losses(&config, 8, 6, MILLISECOND), [false, false, true, true, false, false]);
}

#[test]
fn a_pattern_is_followed_packet_by_packet() {
    let follow =
        |repeat| losses(&PatternConfig { pattern: "01 0".to_owned(), file: None, repeat }.into(), 9, 6, MILLISECOND);
    assert_eq!(follow(true), [false, true, false, false, true, false]);
    assert_eq!(follow(false), [false, true, false, false, false, false]);
}

#[test]
fn values_out_of_range_are_refused_with_their_key() {
    let key = |json: &str| serde_json::from_str::<LossConfig>(json).expect("readable").check().expect_err(json).key;
    assert_eq!(key(r#"{"model": "bernoulli", "rate": 5}"#), "rate");
    assert_eq!(key(r#"{"model": "rounds", "after-loss": -0.1}"#), "after-loss");
    assert_eq!(key(r#"{"model": "rounds", "mean-length": 0}"#), "mean-length");
    assert_eq!(key(r#"{"model": "rounds", "other": 1.5}"#), "other");
    assert_eq!(key(r#"{"model": "handoff", "up": "5 s", "down": "0 s"}"#), "down");
    assert_eq!(key(r#"{"model": "markov", "good": "0 s", "bad": "1 s"}"#), "good");
    assert_eq!(key(r#"{"model": "blackout", "from": "2 s", "to": "1 s"}"#), "to");
    assert_eq!(key(r#"{"model": "pattern", "pattern": "0x1"}"#), "pattern");
    assert_eq!(key(r#"{"model": "pattern", "pattern": " "}"#), "pattern");
}

#[test]
fn paper_002s_p_and_q_and_a_round_of_ten_are_what_rounds_take_when_nothing_is_said() {
    let rounds: LossConfig = serde_json::from_str(r#"{"model": "rounds"}"#).expect("readable");
    assert_eq!(rounds, RoundsConfig { first: 0.01, after_loss: 0.15, other: None, mean_length: 10.0 }.into());
}

#[test]
fn an_unknown_key_is_refused() {
    for json in [r#"{"model": "none", "colour": 1}"#, r#"{"model": "bernoulli", "rate": 0.1, "colour": 1}"#] {
        assert!(serde_json::from_str::<LossConfig>(json).expect_err(json).to_string().contains("colour"));
    }
}

proptest! {
    #[test]
    fn a_chain_looked_at_often_or_seldom_is_in_the_same_state(seed in any::<u64>(), stride in 2u64..50) {
        let config = HandoffConfig { up: Span::from_millis(7), down: Span::from_millis(5), constant: false, regular: false }.into();
        let often = losses(&config, seed, 1000, MILLISECOND);
        let seldom = losses(&config, seed, 1000 / stride, MILLISECOND * stride);
        for (i, &state) in seldom.iter().enumerate() {
            prop_assert_eq!(state, often[i * stride as usize]);
        }
    }
}

/// A custom model: loses every n-th packet.
#[derive(Clone, PartialEq, Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
struct EveryNth {
    /// The n.
    nth: u64,
}

impl Checked for EveryNth {
    fn check(&self) -> Result<(), ConfigError> {
        if self.nth > 0 { Ok(()) } else { Err(ConfigError::new("nth", self.nth, "1 or more", "nth = 10")) }
    }
}

impl Law for EveryNth {
    const NAME: &'static str = "every-nth";
}

impl LossLaw for EveryNth {
    type Model = DrawCounter;
    fn model(&self, _stream: Stream) -> Result<DrawCounter, ConfigError> {
        Ok(DrawCounter { nth: self.nth, seen: 0 })
    }
}

struct DrawCounter {
    nth: u64,
    seen: u64,
}

impl LossModel for DrawCounter {
    fn lost(&mut self, _now: Instant, _packet: &Packet) -> bool {
        self.seen += 1;
        self.seen.is_multiple_of(self.nth)
    }
}

#[test]
fn a_program_hands_in_a_model_of_its_own_and_names_it_like_any_other() {
    let text = r#"{"model":"every-nth","nth":3}"#;
    let unknown = serde_json::from_str::<LossConfig>(r#"{"model":"every-third"}"#).expect_err("nobody's").to_string();
    assert!(unknown.contains("unknown variant `every-third`, expected one of `none`, `bernoulli`"), "{unknown}");
    register::<EveryNth>().expect("the name is free");
    let config: LossConfig = serde_json::from_str(text).expect("handed in");
    assert_eq!((config.name(), config.check()), ("every-nth", Ok(())));
    assert_eq!(losses(&config, 1, 6, MILLISECOND), [false, false, true, false, false, true]);
    assert_eq!(serde_json::to_string(&config).expect("text"), text);
    assert!(LossConfig::names().contains(&"every-nth".to_owned()));
    let schema = serde_json::to_string(&schemars::schema_for!(LossConfig)).expect("a schema");
    assert!(schema.contains("every-nth") && schema.contains("A custom model"), "{schema}");
    let refused: LossConfig = serde_json::from_str(r#"{"model":"every-nth","nth":0}"#).expect("readable");
    assert_eq!(refused.check().expect_err("zero").key, "nth");
    let error = serde_json::from_str::<LossConfig>(r#"{"model":"every-nth","n":3}"#).expect_err("no key").to_string();
    assert!(error.contains("unknown field `n`"), "{error}");
    assert_eq!(register::<EveryNth>().expect_err("twice").name, "every-nth");
}

#[test]
fn a_schedule_asks_the_model_that_holds_and_the_first_one_as_if_it_were_alone() {
    let first = LossConfig::from(BernoulliConfig { rate: 0.3 });
    let step = |at: u64, is: LossConfig| fairwave_units::timed::Step::new(Span::from_millis(at), is);
    let steps = vec![
        step(0, first.clone()),
        step(1000, LossConfig::default()),
        step(2000, PatternConfig { pattern: "10".to_owned(), file: None, repeat: true }.into()),
    ];
    let schedule = LossConfig::from(LossScheduleConfig { steps });
    let lost = losses(&schedule, 1, 2010, MILLISECOND);
    assert_eq!(lost[..1000], losses(&first, 1, 1000, MILLISECOND));
    assert!(lost[1000..2000].iter().all(|lost| !lost));
    assert_eq!(lost[2000..2004], [true, false, true, false]);
}

#[test]
fn a_schedule_says_which_step_is_wrong_and_a_pattern_needs_a_text_or_a_file() {
    let refused =
        |json: &str| serde_json::from_str::<LossConfig>(json).expect("well formed").check().map_err(|error| error.key);
    let steps =
        |is: &str| format!(r#"{{"model":"schedule","steps":[{{"at":"0 s","is":"none"}},{{"at":"1 s","is":{is}}}]}}"#);
    assert_eq!(refused(&steps(r#""none""#)), Ok(()));
    assert_eq!(refused(&steps(r#"{"model":"bernoulli","rate":2}"#)), Err("steps.1.is.rate".to_owned()));
    assert_eq!(refused(r#"{"model":"schedule","steps":[]}"#), Err("steps".to_owned()));
    assert_eq!(refused(r#"{"model":"pattern"}"#), Err("pattern".to_owned()));
    assert_eq!(refused(r#"{"model":"pattern","file":"x"}"#), Ok(()));
    assert_eq!(refused(r#"{"model":"pattern","file":"x","pattern":"01"}"#), Err("file".to_owned()));
    let unread = PatternConfig { pattern: String::new(), file: Some("x".to_owned()), repeat: true }.into();
    assert_eq!(Loss::new(&unread, Seed(1).stream("loss")).err().expect("not read").key, "file");
}

#[test]
fn a_transmission_that_never_ends_does_not_keep_the_chain_going_for_centuries() {
    let config = MarkovConfig { good: MILLISECOND, bad: MILLISECOND, good_loss: 0.0, bad_loss: 1.0 }.into();
    let mut loss = Loss::new(&config, Seed(1).stream("loss")).expect("a valid configuration");
    loss.lost(Instant::NEVER, &packet());
}

#[test]
fn examples_are_in_range_and_survive_a_round_trip() {
    for example in LossConfig::examples() {
        let law: LossConfig =
            serde_json::from_value(example.clone()).unwrap_or_else(|error| panic!("{example}: {error}"));
        law.check().unwrap_or_else(|error| panic!("{example}: {error}"));
        let written = serde_json::to_value(&law).expect("a table");
        assert_eq!(serde_json::from_value::<LossConfig>(written).expect("a loss model"), law);
    }
}
