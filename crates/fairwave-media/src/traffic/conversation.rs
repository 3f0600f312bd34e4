//! Conversation: two people who take turns, each with a separate flow. Both follow one script of states: one party, the
//! other, both, or neither talks.
//!
//! Source: ITU-T P.59 (03/1993), artificial conversational speech. Single talk, double talk and mutual silence have
//! exponential lengths, with means of 854, 226 and 456 ms. Single talk ends in double talk with probability 0.4,
//! otherwise in silence. After either, one of the two parties talks alone, each with probability 0.5. This yields 22.5
//! % mutual silence and 7.4 % double talk; P.59 measured 22.48 and 6.59 %.
//!
//! **Assumptions.** The script is fixed before the run: no party reacts to late speech. So delay changes only what each
//! party hears (see [`crate::quality::conversation`]). The script starts in its stationary state. A codec with
//! discontinuous transmission sends only talkspurts: packets are aligned with the start of a talkspurt, and the last
//! one is complete. Any other codec sends all the time, as in [`super::voice`], aligned with the start of the
//! conversation. Then a packet holds speech if its party talks in any part of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::codec::Codec;
use super::noise::{ComfortNoise, Pauses};
use super::voice::packetise;
use super::{FrameType, Phase, TrafficConfig, TrafficLaw, TrafficSource, Unit};
use fairwave_units::config::{ConfigError, check_fraction};
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Span};

/// Two people who take turns as in ITU-T P.59, each with a separate flow. Each entry creates two flows, one per
/// direction. The table `conversations` has a row for their joint result.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ConversationConfig {
    /// The codec of both. Default G.711.
    pub codec: Codec,
    /// Payload of a packet; a whole number of the codec's frames. Default: the payload that fits the packet time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "what fits the packet time"))]
    pub payload: Option<Bytes>,
    /// Duration of speech in a packet; a whole number of the codec's frames. Default: the time that fits the payload,
    /// or 20 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "what fits the payload, else 20 ms"))]
    pub packet_time: Option<Span>,
    /// Mean time when one party talks alone; exponential, from 1 ms to 1 h.
    pub single_talk: Span,
    /// Mean time when both talk at once; exponential, from 1 ms to 1 h.
    pub double_talk: Span,
    /// Mean time of mutual silence; exponential, from 1 ms to 1 h.
    pub mutual_silence: Span,
    /// Probability that the other party starts before the talking party has ended, 0 to 1.
    #[serde(with = "Ratio")]
    pub interruption: f64,
    /// True: both parties send all the time, also while they listen; false: they send nothing in pauses. Default: true
    /// with a codec without discontinuous transmission, unless `comfort-noise` is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "true with a codec that has no discontinuous transmission, unless `comfort-noise` is set"))]
    pub always_on: Option<bool>,
    /// Comfort noise frames in pauses: `true`, as often as the codec's standard specifies; a time, one frame per such
    /// time; `false`, none. Default `false`, even if the standard has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = false))]
    pub comfort_noise: Option<ComfortNoise>,
    /// Start within the first interval: `random`, uniform over one packet time; or `zero`, at the flow's start. Default
    /// `random`; `zero` under ns-2's presets.
    pub phase: Phase,
    /// True for the answering party. Both parties follow the same script.
    #[serde(skip)]
    answers: bool,
}

impl Default for ConversationConfig {
    fn default() -> Self {
        ConversationConfig {
            codec: Codec::G711,
            payload: None,
            packet_time: None,
            single_talk: Span::from_millis(854),
            double_talk: Span::from_millis(226),
            mutual_silence: Span::from_millis(456),
            interruption: 0.4,
            always_on: None,
            comfort_noise: None,
            phase: Phase::Random,
            answers: false,
        }
    }
}

impl ConversationConfig {
    fn packet(&self) -> Result<(Bytes, Span), ConfigError> {
        packetise(self.codec, self.payload, self.packet_time)
    }

    fn sends_noise(&self) -> bool {
        self.comfort_noise.is_some_and(ComfortNoise::is_sent)
    }

    /// Checks whether a party also sends while it listens.
    fn is_always_on(&self) -> bool {
        self.always_on.unwrap_or(!self.codec.has_discontinuous_transmission() && !self.sends_noise())
    }
}

impl Checked for ConversationConfig {
    fn check(&self) -> Result<(), ConfigError> {
        self.packet()?;
        if self.always_on == Some(true) && self.sends_noise() {
            let allowed =
                "false with `comfort-noise`, or true without it: parties that send all the time have no pauses";
            return Err(ConfigError::new("always-on", true, allowed, "always-on = false"));
        }
        for (key, mean) in [
            ("single-talk", self.single_talk),
            ("double-talk", self.double_talk),
            ("mutual-silence", self.mutual_silence),
        ] {
            if !(Span::from_millis(1)..=Span::from_secs(3600)).contains(&mean) {
                return Err(ConfigError::new(key, mean, "from 1 ms to 1 h", format!("{key} = \"500 ms\"")));
            }
        }
        check_fraction("interruption", self.interruption, "interruption = 0.4")?;
        self.comfort_noise.map_or(Ok(()), |noise| noise.check(self.codec))
    }
}

impl Law for ConversationConfig {
    const NAME: &'static str = "conversation";
}

impl ConversationConfig {
    /// Returns the configuration of the other party.
    fn partner(&self) -> Self {
        ConversationConfig { answers: !self.answers, ..self.clone() }
    }
}

impl TrafficLaw for ConversationConfig {
    type Source = Party;

    fn source(&self, start: Instant, mut stream: Stream) -> Result<Party, ConfigError> {
        let (payload, time) = self.packet()?;
        let start = self.phase.begin(start, time, &mut stream);
        let script = Script::new(self.clone(), start, stream);
        let noise = self.comfort_noise.and_then(|noise| noise.frames(self.codec)).map(Pauses::new);
        let always_on = self.is_always_on();
        let spurt = (start, start);
        Ok(Party { script, time, payload: payload.get() as u32, due: start, spurt, always_on, next_id: 0, noise })
    }

    fn call(&self) -> Option<(Codec, Span)> {
        Some((self.codec, self.packet().ok()?.1))
    }

    fn units_per_second(&self) -> Option<f64> {
        Some(1.0 / self.packet().ok()?.1.seconds().max(1e-9))
    }

    /// A party with pauses loses its alignment in the first silence.
    fn period(&self) -> Option<(Span, Phase)> {
        self.is_always_on().then_some((self.packet().ok()?.1, self.phase))
    }

    /// As in `voice`: a party that sends all the time has no counterpart in ns-2.
    fn phase_like_ns2(&self) -> Option<Phase> {
        (!self.is_always_on()).then_some(Phase::Zero)
    }

    /// Returns the share of time when a party sends: always, or while it talks, alone or together with the other.
    fn activity(&self) -> Option<f64> {
        if self.is_always_on() {
            return Some(1.0);
        }
        let [single, double, silence] = [self.single_talk, self.double_talk, self.mutual_silence].map(Span::seconds);
        let (both, nobody) = (self.interruption * double, (1.0 - self.interruption) * silence);
        Some((single / 2.0 + both) / (single + both + nobody))
    }

    fn answer(&self) -> Option<TrafficConfig> {
        Some(self.partner().into())
    }
}

/// State of the conversation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// One party talks alone: the answering one or the other.
    Single {
        answers: bool,
    },
    Both,
    Nobody,
}

/// Script of the conversation: the same for both parties, who draw it from the same stream.
#[derive(Clone, PartialEq, Debug)]
struct Script {
    config: ConversationConfig,
    stream: Stream,
    state: State,
    /// Start and end of the state.
    from: Instant,
    until: Instant,
}

impl Script {
    fn new(config: ConversationConfig, start: Instant, mut stream: Stream) -> Self {
        let p = config.interruption;
        let [single, double, silence] =
            [config.single_talk, config.double_talk, config.mutual_silence].map(Span::seconds);
        // Every second state is single talk, so these are the proportions of time spent in each state.
        let weights = [single / 2.0, single / 2.0, p * double, (1.0 - p) * silence];
        let mut place = stream.uniform() * weights.iter().sum::<f64>();
        let states = [State::Single { answers: false }, State::Single { answers: true }, State::Both, State::Nobody];
        let found = weights.iter().position(|weight| {
            place -= weight;
            place < 0.0
        });
        let state = states[found.unwrap_or(0)];
        let mut script = Script { config, stream, state, from: start, until: start };
        script.last();
        script
    }

    /// Draws the duration of the state. Exponential durations have no memory, so the rest of a running state has the
    /// same distribution.
    fn last(&mut self) {
        let mean = match self.state {
            State::Single { .. } => self.config.single_talk,
            State::Both => self.config.double_talk,
            State::Nobody => self.config.mutual_silence,
        };
        self.until = self.from + Span::from_seconds(self.stream.exponential(mean.seconds()));
    }

    fn go_on(&mut self) {
        let u = self.stream.uniform();
        self.state = match self.state {
            State::Single { .. } if u < self.config.interruption => State::Both,
            State::Single { .. } => State::Nobody,
            _ => State::Single { answers: u < 0.5 },
        };
        self.from = self.until;
        self.last();
    }

    fn own_part(&self) -> bool {
        match self.state {
            State::Single { answers } => answers == self.config.answers,
            State::Both => true,
            State::Nobody => false,
        }
    }

    /// Returns the next talkspurt of this party; its start is [`Instant::NEVER`] if there is none.
    fn next_spurt(&mut self) -> (Instant, Instant) {
        while !self.own_part() && self.from < Instant::NEVER {
            self.go_on();
        }
        let from = self.from;
        while self.own_part() && self.from < Instant::NEVER {
            self.go_on();
        }
        (from, self.from)
    }
}

/// One party of a conversation.
#[derive(Clone, PartialEq, Debug)]
pub struct Party {
    script: Script,
    /// Duration of speech in a packet.
    time: Span,
    payload: u32,
    /// Start of the next packet, if it is before the end of the talkspurt or if the party is always on.
    due: Instant,
    /// Start and end of the talkspurt.
    spurt: (Instant, Instant),
    /// True if it also sends while it listens.
    always_on: bool,
    next_id: u32,
    /// Comfort noise during the pauses of this party.
    noise: Option<Pauses>,
}

impl TrafficSource for Party {
    fn next_unit(&mut self) -> Option<Unit> {
        while self.due >= self.spurt.1 {
            let pause = self.due;
            self.spurt = self.script.next_spurt();
            let (from, _) = self.spurt;
            if from == Instant::NEVER {
                return None;
            }
            self.due = if self.always_on { self.due } else { self.due.max(from) };
            if let Some(noise) = self.noise.as_mut().filter(|_| self.due > pause) {
                noise.begin(pause);
            }
        }
        if let Some(noise) = &mut self.noise
            && let Some((created, payload)) = noise.next(self.due)
        {
            let id = self.next_id;
            self.next_id = id.wrapping_add(1);
            return Some(Unit { id, payload, created, layer: 0, frame_type: FrameType::Noise });
        }
        let (id, created) = (self.next_id, self.due);
        self.next_id = id.wrapping_add(1);
        self.due += self.time;
        let frame_type = if self.due > self.spurt.0 { FrameType::None } else { FrameType::Background };
        Some(Unit { id, payload: self.payload, created, layer: 0, frame_type })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    /// Returns the shares of time when one party, both and neither talk, and the mean talkspurt of one party.
    fn shares(config: &ConversationConfig, seconds: f64) -> ([f64; 3], f64) {
        let mut script = Script::new(config.clone(), Instant::ZERO, Seed(1).stream("flow"));
        let (mut times, end) = ([0.0; 3], Instant::from_seconds(seconds));
        while script.from < end {
            let place = match script.state {
                State::Single { .. } => 0,
                State::Both => 1,
                State::Nobody => 2,
            };
            times[place] += (script.until.min(end) - script.from).seconds();
            script.go_on();
        }
        let mut script = Script::new(config.clone(), Instant::ZERO, Seed(1).stream("flow"));
        let spurts: Vec<f64> = (0..10_000)
            .map(|_| {
                let (from, until) = script.next_spurt();
                (until - from).seconds()
            })
            .collect();
        (times.map(|time| time / seconds), spurts.iter().sum::<f64>() / spurts.len() as f64)
    }

    #[test]
    fn the_shares_of_p59_are_those_of_its_parameters_and_near_those_that_it_measured() {
        let ([single, double, silence], spurt) = shares(&ConversationConfig::default(), 50_000.0);
        // Half of the states are single talk; 0.4 of the others are double talk.
        let whole = 0.854 + 0.4 * 0.226 + 0.6 * 0.456;
        assert!((single - 0.854 / whole).abs() < 0.005, "{single}");
        assert!((double - 0.4 * 0.226 / whole).abs() < 0.002, "{double}");
        assert!((silence - 0.6 * 0.456 / whole).abs() < 0.004, "{silence}");
        // ITU-T P.59 Table 1: 6.59 % double talk, 22.48 % mutual silence, talkspurts of 1.004 s.
        assert!((double - 0.0659).abs() < 0.011 && (silence - 0.2248).abs() < 0.004);
        // A talkspurt that starts after silence has a mean length L = 0.854 + 0.4 (0.226 + L/2), because it survives
        // half of the interruptions. One that interrupts has a mean of 0.226 + L/2. Three of five start after silence.
        let alone = (0.854 + 0.4 * 0.226) / 0.8;
        let expected = 0.6 * alone + 0.4 * (0.226 + alone / 2.0);
        assert!(
            (spurt / expected - 1.0).abs() < 0.03 && (expected / 1.004 - 1.0).abs() < 0.04,
            "{spurt} for {expected}"
        );
    }

    fn party(config: &ConversationConfig, until: f64) -> Vec<Instant> {
        let source = config.source(Instant::ZERO, Seed(7).stream("talk")).expect("a party");
        let mut source = source;
        std::iter::from_fn(|| source.next_unit())
            .map(|unit| unit.created)
            .take_while(|created| *created < Instant::from_seconds(until))
            .collect()
    }

    #[test]
    fn the_two_take_turns() {
        let caller = ConversationConfig { interruption: 0.0, codec: Codec::G729, ..ConversationConfig::default() };
        let callee = caller.partner();
        let (there, back) = (party(&caller, 2000.0), party(&callee, 2000.0));
        // Without interruptions, no packet starts while the other party talks; only the last packet of a talkspurt may
        // extend beyond its end.
        let meets = |one: &Instant| {
            let place = back.partition_point(|other| other <= one);
            place.checked_sub(1).is_some_and(|before| *one - back[before] < Span::from_millis(20))
        };
        assert!(there.len() > 20_000 && back.len() > 20_000, "{} {}", there.len(), back.len());
        assert!(there.iter().filter(|one| meets(one)).count() < there.len() / 100);
        assert_ne!(there[..100], back[..100]);
    }

    #[test]
    fn packets_follow_each_other_in_packet_times_and_never_closer() {
        let created = party(&ConversationConfig { codec: Codec::G729, ..ConversationConfig::default() }, 500.0);
        assert!(created.windows(2).all(|pair| pair[1] - pair[0] >= Span::from_millis(20)));
    }

    #[test]
    fn a_codec_without_discontinuous_transmission_sends_all_the_time_and_the_same_turns_are_taken() {
        let always = ConversationConfig::default();
        let pausing = ConversationConfig { always_on: Some(false), ..always.clone() };
        assert_eq!(always.activity(), Some(1.0));
        assert!(pausing.activity().is_some_and(|share| (0.4..0.5).contains(&share)));
        for config in [always.clone(), always.partner()] {
            let mut source = config.source(Instant::ZERO, Seed(7).stream("talk")).expect("a party");
            let units: Vec<Unit> = std::iter::from_fn(|| source.next_unit()).take(100_000).collect();
            assert!(units.windows(2).all(|pair| pair[1].created - pair[0].created == Span::from_millis(20)));
            let speech = units.iter().filter(|unit| unit.frame_type == FrameType::None).count();
            // A talkspurt of t covers t/20 ms + 1 packets on average, because packets need not be aligned with it.
            let share = speech as f64 / units.len() as f64;
            assert!((0.42..0.47).contains(&share), "{share}");
            assert!(units.iter().all(|unit| matches!(unit.frame_type, FrameType::None | FrameType::Background)));
        }
        let noisy = r#"{"codec":"g711","always-on":true,"comfort-noise":true}"#;
        let config: ConversationConfig = serde_json::from_str(noisy).expect("a conversation");
        assert_eq!(config.check().expect_err("no pauses").key, "always-on");
        let noisy = noisy.replace("true,", "null,");
        let config: ConversationConfig = serde_json::from_str(&noisy).expect("a conversation");
        assert!(config.activity() < Some(0.5), "comfort noise has pauses to fill");
    }

    #[test]
    fn a_conversation_that_makes_no_sense_is_refused_by_its_key() {
        for (json, key) in [
            (r#"{"single-talk":"0 s"}"#, "single-talk"),
            (r#"{"mutual-silence":"2 h"}"#, "mutual-silence"),
            (r#"{"interruption":1.5}"#, "interruption"),
            (r#"{"payload":"3 B","codec":"g729"}"#, "payload"),
        ] {
            let config: ConversationConfig = serde_json::from_str(json).expect("a conversation");
            assert_eq!(config.check().expect_err(json).key, key);
        }
    }
}
