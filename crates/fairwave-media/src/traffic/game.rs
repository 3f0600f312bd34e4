//! Cloud gaming: each frame is rendered remotely, coded, and sent at once as a burst of packets, with additional
//! packets of a block code.
//!
//! A frame of k packets gets m = ⌈share · k⌉ more, and can be decoded from any k of the k + m. The code is a maximum
//! distance separable block code, as Reed and Solomon's 1960; RFC 5510 §8 has the packet layout. So a frame is complete
//! when the k-th of its packets arrives. With independent losses of p it is lost with the probability Σ_{i<k} C(k+m, i)
//! (1−p)^i p^(k+m−i).
//!
//! **Assumptions.** Each frame is an independent block. Errors that a lost frame causes in later frames, until the next
//! one without references, depend on the coder and are not counted. The packets of the code are as large as the largest
//! packet of the frame, and leave after them. The player's commands are a separate flow in the opposite direction. Each
//! packet of the frame is a unit of layer 0, each packet of the code one of layer 1.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::size::Size;
use super::{FrameType, Frames, Phase, TrafficLaw, TrafficSource, Unit};
use fairwave_units::config::{ConfigError, check_between, check_span};
use fairwave_units::random::Stream;
use fairwave_units::ratio::Ratio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Bytes, Instant, Rate, Span};

/// A cloud game: a burst of packets per frame, protected by a block code. A frame of n packets is complete when any n
/// packets of its block arrive.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("anyOf" = [{ "required": ["rate"] }, { "required": ["frame"] }]))]
pub struct GameConfig {
    /// Payload bits per second with frames of equal size, above 0, without the packets of the code. Give either this or
    /// `frame`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Size of a frame: a size, or a distribution from which each frame draws a size. Give either this or `rate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<Size>,
    /// Frames per second, above 0, at most 1000. Default 60.
    #[serde(default = "default_frame_rate")]
    pub frame_rate: f64,
    /// Largest payload of a packet, 1 B to 65535 B. Default 1200 B.
    #[serde(default = "default_payload")]
    pub payload: Bytes,
    /// Packets of the code per packet of the frame, from 0 to 4, rounded up for each frame. Default 0.2.
    #[serde(with = "Ratio", default = "default_redundancy")]
    pub redundancy: f64,
    /// Time from capturing a frame to displaying it; data that arrive later are useless. Default 50 ms.
    #[serde(default = "default_playout_delay")]
    pub playout_delay: Span,
    /// Share of the time to the next frame over which the packets of a frame are spread evenly, from 0 to 0.99. Default
    /// 0: all at once.
    #[serde(with = "Ratio", default, skip_serializing_if = "is_nothing")]
    #[schemars(extend("default" = 0.0))]
    pub pacing: f64,
    /// Start within the first interval: `random`, uniform over one frame; or `zero`, at the flow's start, so that flows
    /// that start together stay in step. Default `random`.
    #[serde(default)]
    pub phase: Phase,
}

fn default_frame_rate() -> f64 {
    60.0
}

fn default_payload() -> Bytes {
    Bytes::new(1200)
}

fn default_redundancy() -> f64 {
    0.2
}

fn default_playout_delay() -> Span {
    Span::from_millis(50)
}

fn is_nothing(share: &f64) -> bool {
    *share == 0.0
}

/// Upper bound on the packets of the code.
const MOST_REDUNDANCY: f64 = 4.0;
/// Upper bound of pacing: a frame's packets leave before the next frame is captured, even with skewed clocks.
const MOST_PACING: f64 = 0.99;

impl GameConfig {
    fn frame_size(&self) -> Size {
        match (&self.frame, self.rate) {
            (Some(size), _) => size.clone(),
            (None, rate) => {
                let bytes = rate.unwrap_or_default().bits_per_second() as f64 / 8.0 / self.frame_rate;
                Size::Fixed(Bytes::new(libm::round(bytes).clamp(1.0, f64::from(u32::MAX)) as u64))
            }
        }
    }

    /// Returns the packets of a frame of mean size, including its code.
    fn mean_packets(&self) -> f64 {
        let own = libm::ceil(self.frame_size().mean() / self.payload.get().max(1) as f64).max(1.0);
        own + libm::ceil(self.redundancy * own - 1e-9).max(0.0)
    }

    fn frame_time(&self) -> Span {
        Span::from_seconds(1.0 / self.frame_rate)
    }
}

impl Checked for GameConfig {
    fn check(&self) -> Result<(), ConfigError> {
        let example = "rate = \"20 Mb/s\"";
        match (self.rate, &self.frame) {
            (Some(_), Some(_)) => {
                return Err(ConfigError::new("rate", "beside `frame`", "either `rate` or `frame`, not both", example));
            }
            (None, None) => return Err(ConfigError::new("rate", "missing", "given, or `frame` instead", example)),
            (Some(rate), None) if rate == Rate::default() => {
                return Err(ConfigError::new("rate", rate, "a rate above 0", example));
            }
            (Some(_), None) => {}
            (None, Some(size)) => size.check("frame")?,
        }
        check_between("frame-rate", self.frame_rate, 0.0, f64::INFINITY, "frame-rate = 60")?;
        if self.frame_rate > 1000.0 {
            return Err(ConfigError::new("frame-rate", self.frame_rate, "at most 1000", "frame-rate = 60"));
        }
        if self.payload == Bytes::ZERO || self.payload.get() > u64::from(u16::MAX) {
            return Err(ConfigError::new("payload", self.payload, "from 1 B to 65535 B", "payload = \"1200 B\""));
        }
        if !(0.0..=MOST_REDUNDANCY).contains(&self.redundancy) {
            return Err(ConfigError::new("redundancy", self.redundancy, "from 0 to 4", "redundancy = 0.2"));
        }
        check_span("playout-delay", self.playout_delay, "playout-delay = \"50 ms\"")?;
        if !(0.0..=MOST_PACING).contains(&self.pacing) {
            return Err(ConfigError::new("pacing", self.pacing, "from 0 to 0.99", "pacing = 0.5"));
        }
        Ok(())
    }
}

impl Law for GameConfig {
    const NAME: &'static str = "game";
    const EXAMPLE: &'static str = r#"{"rate": "20 Mb/s", "redundancy": "20 %"}"#;
}

impl TrafficLaw for GameConfig {
    type Source = Game;

    fn source(&self, start: Instant, mut stream: Stream) -> Result<Game, ConfigError> {
        let start = self.phase.begin(start, self.frame_time(), &mut stream);
        Ok(Game {
            sizes: self.frame_size(),
            frame_rate: self.frame_rate,
            payload: self.payload.get() as u32,
            redundancy: self.redundancy,
            gap: self.pacing / self.frame_rate,
            start,
            frame: 0,
            size: 0,
            packets: 0,
            code: 0,
            next: 0,
            next_id: 0,
            stream,
        })
    }

    fn units_per_second(&self) -> Option<f64> {
        Some(self.mean_packets() * self.frame_rate)
    }

    fn mean_payload(&self) -> Option<f64> {
        let (packets, size) = (self.mean_packets(), self.frame_size().mean());
        Some((size + self.redundancy * size) / packets)
    }

    fn frames(&self) -> Option<Frames> {
        Some(Frames::from_blocks(self.frame_time(), self.playout_delay))
    }

    fn period(&self) -> Option<(Span, Phase)> {
        Some((self.frame_time(), self.phase))
    }

    fn phase_like_ns2(&self) -> Option<Phase> {
        Some(Phase::Zero)
    }
}

/// Source of a game's packets.
#[derive(Clone, PartialEq, Debug)]
pub struct Game {
    sizes: Size,
    frame_rate: f64,
    payload: u32,
    redundancy: f64,
    /// Time over which a frame's packets leave, seconds.
    gap: f64,
    start: Instant,
    /// Number of frames so far.
    frame: u64,
    /// Current frame: its bytes, its packets, and the packets of its code.
    size: u32,
    packets: u32,
    code: u32,
    /// Next packet of frame and code.
    next: u32,
    next_id: u32,
    stream: Stream,
}

impl TrafficSource for Game {
    fn next_unit(&mut self) -> Option<Unit> {
        if self.next >= self.packets + self.code {
            self.size = self.sizes.draw(&mut self.stream);
            self.packets = self.size.div_ceil(self.payload);
            // A rounding error above a whole number must not add a packet of the code.
            self.code = libm::ceil(self.redundancy * f64::from(self.packets) - 1e-9).max(0.0) as u32;
            (self.next, self.frame) = (0, self.frame + 1);
        }
        let all = self.packets + self.code;
        // Computed from the start each time, so that rounding errors do not accumulate.
        let made = (self.frame - 1) as f64 / self.frame_rate + self.gap * f64::from(self.next) / f64::from(all);
        let created = self.start + Span::from_seconds(made);
        if created == Instant::NEVER {
            return None;
        }
        let whole = self.size.min(self.payload);
        let (layer, payload) = match self.next {
            last if last + 1 == self.packets => (0, self.size - self.payload * (self.packets - 1)),
            place if place < self.packets => (0, whole),
            _ => (1, whole),
        };
        let unit = Unit { id: self.next_id, payload, created, layer, frame_type: FrameType::None };
        self.next += 1;
        self.next_id = self.next_id.wrapping_add(1);
        Some(unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    fn units(json: &str, count: usize) -> Vec<Unit> {
        let config: GameConfig = serde_json::from_str(json).expect("a game");
        config.check().expect("sound");
        let mut source = config.source(Instant::ZERO, Seed(1).stream("traffic")).expect("a source");
        std::iter::from_fn(|| source.next_unit()).take(count).collect()
    }

    #[test]
    fn a_frame_is_a_burst_of_its_packets_and_behind_them_those_of_the_code() {
        let units = units(r#"{"frame": "5 kB", "redundancy": "40 %", "phase": "zero", "frame-rate": 50}"#, 14);
        let of = |unit: &Unit| (unit.created.nanos() / 1_000_000, unit.layer, unit.payload);
        let frame = |at| {
            [(at, 0, 1200), (at, 0, 1200), (at, 0, 1200), (at, 0, 1200), (at, 0, 200), (at, 1, 1200), (at, 1, 1200)]
        };
        assert_eq!(units.iter().map(of).collect::<Vec<_>>(), [frame(0), frame(20)].concat());
        assert_eq!(units.iter().map(|unit| unit.id).collect::<Vec<_>>(), (0..14).collect::<Vec<_>>());
    }

    #[test]
    fn a_rate_counts_frames_without_the_code_and_pacing_spreads_them() {
        // 2.4 Mb/s at 50 frames per second: 6000 B, five packets and two of the code at a share of 0.3.
        let json = r#"{"rate": "2.4 Mb/s", "frame-rate": 50, "redundancy": 0.3, "pacing": 0.7, "phase": "zero"}"#;
        let units = units(json, 14);
        let payload: u32 = units.iter().filter(|unit| unit.layer == 0).map(|unit| unit.payload).sum();
        assert_eq!(payload, 2 * 6000);
        let times: Vec<u64> = units.iter().map(|unit| unit.created.nanos() / 1_000_000).collect();
        assert_eq!(times, [0, 2, 4, 6, 8, 10, 12, 20, 22, 24, 26, 28, 30, 32]);
    }

    #[test]
    fn frames_smaller_than_a_packet_and_frames_without_a_code_are_frames() {
        let small = units(r#"{"frame": "300 B", "redundancy": "100 %"}"#, 2);
        assert_eq!(small.iter().map(|unit| (unit.layer, unit.payload)).collect::<Vec<_>>(), [(0, 300), (1, 300)]);
        assert!(units(r#"{"rate": "20 Mb/s", "redundancy": 0}"#, 500).iter().all(|unit| unit.layer == 0));
        // Five packets with a share of a fifth need one packet of the code, although 0.2 is not exact in binary.
        assert_eq!(units(r#"{"frame": "6 kB", "frame-rate": 50}"#, 6).iter().filter(|unit| unit.layer == 1).count(), 1);
    }

    #[test]
    fn a_game_has_sixty_frames_a_second_a_fifth_of_code_and_says_how_many_packets_that_is() {
        let config: GameConfig = serde_json::from_str(r#"{"rate": "20 Mb/s"}"#).expect("a game");
        assert_eq!((config.frame_rate, config.redundancy), (60.0, 0.2));
        // 41 667 B per frame: 35 packets of 1200 B, and seven of the code.
        assert_eq!(config.units_per_second(), Some(60.0 * 42.0));
    }

    #[test]
    fn rejects_invalid_values_by_their_keys() {
        for (json, key) in [
            ("{}", "rate"),
            (r#"{"rate": "0 b/s"}"#, "rate"),
            (r#"{"rate": "1 Mb/s", "frame": "1 kB"}"#, "rate"),
            (r#"{"frame": "0 B"}"#, "frame"),
            (r#"{"rate": "1 Mb/s", "frame-rate": 0}"#, "frame-rate"),
            (r#"{"rate": "1 Mb/s", "frame-rate": 2000}"#, "frame-rate"),
            (r#"{"rate": "1 Mb/s", "payload": "0 B"}"#, "payload"),
            (r#"{"rate": "1 Mb/s", "redundancy": 5}"#, "redundancy"),
            (r#"{"rate": "1 Mb/s", "playout-delay": "0 ms"}"#, "playout-delay"),
            (r#"{"rate": "1 Mb/s", "pacing": 1.5}"#, "pacing"),
        ] {
            let config: GameConfig = serde_json::from_str(json).expect("a game");
            assert_eq!(config.check().expect_err(json).key, key, "{json}");
        }
    }
}
