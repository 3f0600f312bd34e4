//! Audio encoders of calls: Opus (RFC 6716), in packets as RFC 7587 has them, with what WebRTC adds against losses.
//!
//! - *In-band FEC* (RFC 6716 §2.1.7): a packet carries a coarse copy of the frame before it. It exists in the modes that use
//!   SILK alone, so at [`SPEECH_MODE`] or below, and in frames of 10 ms and more. Its bits come from the target. The encoder
//!   adds it only if it has been told of losses and the rate suffices; libopus lowers that rate as losses rise
//!   (`decide_fec` in its `opus_encoder.c`).
//! - *Redundancy* (RFC 2198, as Chrome's `red/48000/2`): a packet repeats whole frames before it. These bits come on top.
//! - *DRED* (draft-ietf-mlcodec-opus-dred): a coarse copy of up to a second of speech, at some 500 B/s of it (assumed).
//! - *DTX*: nothing in pauses but a frame of comfort noise each 400 ms (RFC 6716 §2.1.9).
//!
//! **Assumptions.** libopus' thresholds are those of fullband speech in one channel. In-band FEC takes [`FEC_SHARE`] of the bits.
//! Talk spurts and pauses of a microphone with DTX are exponential, as ITU-T P.59's means have them (1.0 s and 1.6 s are of one party
//! of a conversation).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check_priority;
use crate::quality::impairment::{self, Impairment};
use fairwave_units::config::{ConfigError, check_span};
use fairwave_units::random::Stream;
use fairwave_units::registry::Checked;
use fairwave_units::units::{Instant, Rate, Span};

/// Up to this rate libopus codes speech of one channel in a mode that has SILK, with its hysteresis left out.
pub const SPEECH_MODE: u64 = 64_000;
/// The rate from which libopus adds in-band FEC to fullband speech, at losses that are small.
const FEC_FROM: f64 = 22_000.0;
/// Share of a packet's bits that in-band FEC takes. Assumed.
pub const FEC_SHARE: f64 = 0.3;
/// Bytes of header before each frame that a packet repeats (RFC 2198 §3).
const REPEAT_HEADER: u64 = 4;
/// The byte before the packet's own frame (RFC 2198 §3).
const OWN_HEADER: u64 = 1;
/// The most frames that a packet repeats.
const MOST_REPEATS: u8 = 2;
/// From one frame of comfort noise to the next.
const NOISE_EVERY: Span = Span::from_millis(400);
/// Payload bytes of a frame of comfort noise.
const NOISE: u16 = 2;
/// Mean talk spurt and mean pause (ITU-T P.59, Table 1).
const TALKS: [f64; 2] = [1.004, 1.587];
/// What DRED adds for each second of speech that it covers, bits. Assumed.
const DRED_BITS: f64 = 4_000.0;
/// The longest speech that DRED covers.
const MOST_DRED: Span = Span::from_secs(1);

/// How a microphone is encoded: Opus.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct AudioConfig {
    /// Bit rate of the payload without redundancy, 6 kb/s to 128 kb/s. Default 32 kb/s, as in Chrome for speech of one channel.
    pub rate: Rate,
    /// Speech in a packet: 10, 20, 40 or 60 ms. Default 20 ms.
    pub frame: Span,
    /// In-band FEC, where losses and rate allow it. Default true, as in Chrome.
    pub in_band_fec: bool,
    /// How many frames before it each packet repeats whole (RFC 2198), 0 to 2. Default 0.
    pub redundancy: u8,
    /// Speech of which each packet carries a coarse copy (DRED), up to 1 s. Default 0 s: none. Rate and effect are assumed (†).
    pub dred: Span,
    /// Send nothing in pauses but comfort noise. Default false, as in Chrome; then the speaker talks all the time.
    pub dtx: bool,
    /// Weight with which it shares what is above all least rates with the other streams of its session, 0.01 to 100. Default 1.
    pub priority: f64,
}

impl Default for AudioConfig {
    fn default() -> Self {
        AudioConfig {
            rate: Rate::from_bits_per_second(32_000),
            frame: Span::from_millis(20),
            in_band_fec: true,
            redundancy: 0,
            dred: Span::ZERO,
            dtx: false,
            priority: 1.0,
        }
    }
}

impl Checked for AudioConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if !(6_000..=128_000).contains(&self.rate.bits_per_second()) {
            return Err(ConfigError::new("rate", self.rate, "from 6 kb/s to 128 kb/s", "rate = \"32 kb/s\""));
        }
        check_span("frame", self.frame, "frame = \"20 ms\"")?;
        if ![10, 20, 40, 60].map(Span::from_millis).contains(&self.frame) {
            return Err(ConfigError::new("frame", self.frame, "10 ms, 20 ms, 40 ms or 60 ms", "frame = \"20 ms\""));
        }
        if self.redundancy > MOST_REPEATS {
            return Err(ConfigError::new("redundancy", self.redundancy, "from 0 to 2", "redundancy = 1"));
        }
        check_priority(self.priority)?;
        if self.dred > MOST_DRED {
            return Err(ConfigError::new("dred", self.dred, "from 0 s to 1 s", "dred = \"500 ms\""));
        }
        Ok(())
    }
}

impl AudioConfig {
    /// The wideband impairment of its speech ([`impairment::opus`]), without in-band FEC. The receiver counts a frame that in-band FEC
    /// restores as part of a lost one, so the copies count once.
    pub fn impairment(&self) -> Impairment {
        impairment::opus(self.rate, false)
    }

    /// The part of a lost frame as which a frame counts that in-band FEC restored.
    pub fn copy_impairment(&self) -> f64 {
        impairment::opus_copy(self.rate)
    }

    /// Payload bytes of a frame at its rate.
    fn frame_bytes(&self) -> u64 {
        self.rate.bytes_in(self.frame).get().max(1)
    }

    /// Whether a packet has in-band FEC when the network loses this share.
    fn has_fec(&self, loss: f64) -> bool {
        let rate = self.rate.bits_per_second();
        // libopus: LBRR_rate_thres · (125 − min(PacketLoss_perc, 25)) / 100.
        let needed = FEC_FROM * (1.25 - loss.min(0.25));
        self.in_band_fec && loss > 0.0 && rate <= SPEECH_MODE && rate as f64 >= needed
    }
}

/// A frame of speech, encoded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AudioFrame {
    /// Payload bytes of the packet: the frame and all that is added for its predecessors.
    pub payload: u16,
    /// How many frames before it the packet repeats, whole (RFC 2198) or as a coarse copy (DRED): the latest first, without gaps.
    pub repeats: u8,
    /// The packet holds a coarse copy of the frame before it (in-band FEC).
    pub in_band_fec: bool,
    /// Speech, as opposed to comfort noise.
    pub speech: bool,
}

/// An encoder of speech at work.
#[derive(Clone, Debug)]
pub struct AudioEncoder {
    config: AudioConfig,
    stream: Stream,
    talking: bool,
    /// When the talk spurt or the pause ends.
    until: Option<Instant>,
    /// The latest frame of comfort noise in this pause.
    noise: Option<Instant>,
    /// Frames in a row that were sent before this one.
    in_row: u8,
}

impl AudioEncoder {
    /// An encoder; all its randomness comes from `stream`.
    pub fn new(config: &AudioConfig, stream: Stream) -> Self {
        AudioEncoder { config: *config, stream, talking: false, until: None, noise: None, in_row: 0 }
    }

    /// Payload rates: of the frames alone, and the most with all that it adds.
    pub fn rates(&self) -> (Rate, Rate) {
        let config = &self.config;
        let repeats = u64::from(config.redundancy) * (config.frame_bytes() + REPEAT_HEADER);
        let own = if config.redundancy > 0 { OWN_HEADER } else { 0 };
        let dred = (DRED_BITS * config.dred.seconds() / 8.0) as u64;
        let bits = (config.frame_bytes() + repeats + own + dred) * 8;
        let most = (bits as f64 / config.frame.seconds()) as u64;
        (config.rate, Rate::from_bits_per_second(most))
    }

    /// Encodes the frame that the microphone made at `created`; none if it sends nothing for it (DTX). `target` is the payload
    /// rate that it may use: redundancy is left out where it does not fit. `loss` is the share of packets that the network loses, 0
    /// to 1.
    pub fn encode(&mut self, created: Instant, target: Rate, loss: f64) -> Option<AudioFrame> {
        if self.config.dtx && !self.talks(created) {
            self.in_row = 0;
            let due = self.noise.is_none_or(|latest| created - latest >= NOISE_EVERY);
            self.noise = if due { Some(created) } else { self.noise };
            return due.then_some(AudioFrame { payload: NOISE, repeats: 0, in_band_fec: false, speech: false });
        }
        self.noise = None;
        let config = &self.config;
        let before = self.in_row;
        self.in_row = self.in_row.saturating_add(1);
        let (frame, room) = (config.frame_bytes(), target.bytes_in(config.frame).get());
        let mut payload = frame;
        let mut repeats = 0;
        while repeats < config.redundancy.min(before) {
            let more = payload + frame + REPEAT_HEADER + if repeats == 0 { OWN_HEADER } else { 0 };
            if more > room.max(frame) {
                break;
            }
            (payload, repeats) = (more, repeats + 1);
        }
        if config.dred > Span::ZERO {
            let copies = (config.dred.nanos() / config.frame.nanos().max(1)).min(u64::from(before)) as u8;
            payload += (DRED_BITS * config.frame.seconds() * f64::from(copies) / 8.0) as u64;
            repeats = repeats.max(copies);
        }
        let in_band_fec = repeats == 0 && before > 0 && config.has_fec(loss);
        Some(AudioFrame { payload: payload.min(1_275 * 4) as u16, repeats, in_band_fec, speech: true })
    }

    /// Whether the speaker talks: spurts and pauses take turns.
    fn talks(&mut self, now: Instant) -> bool {
        let mut until = self.until.unwrap_or(now);
        while until <= now {
            self.talking = !self.talking;
            let mean = TALKS[usize::from(!self.talking)];
            until += Span::from_seconds(self.stream.exponential(mean)).max(self.config.frame);
        }
        self.until = Some(until);
        self.talking
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    fn encoder(config: AudioConfig) -> AudioEncoder {
        AudioEncoder::new(&config, Seed(1).stream("audio"))
    }

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    const ENOUGH: Rate = Rate::from_bits_per_second(1_000_000);

    #[test]
    fn a_frame_has_the_bytes_of_its_rate() {
        let frame = encoder(AudioConfig::default()).encode(at(0), ENOUGH, 0.0).expect("a frame");
        assert_eq!(frame, AudioFrame { payload: 80, repeats: 0, in_band_fec: false, speech: true });
        let long = AudioConfig { frame: Span::from_millis(60), ..AudioConfig::default() };
        assert_eq!(encoder(long).encode(at(0), ENOUGH, 0.0).map(|frame| frame.payload), Some(240));
    }

    /// Whether the second frame has in-band FEC.
    fn fec(kilobits: u64, loss: f64, on: bool) -> bool {
        let rate = Rate::from_bits_per_second(kilobits * 1000);
        let mut encoder = encoder(AudioConfig { rate, in_band_fec: on, ..AudioConfig::default() });
        assert!(
            !encoder.encode(at(0), ENOUGH, loss).expect("a frame").in_band_fec,
            "nothing comes before the first frame"
        );
        encoder.encode(at(20), ENOUGH, loss).expect("a frame").in_band_fec
    }

    #[test]
    fn in_band_fec_needs_losses_a_rate_that_suffices_and_a_mode_that_has_it() {
        assert!(fec(32, 0.05, true));
        assert!(!fec(32, 0.0, true), "no losses that it knows of");
        assert!(!fec(32, 0.05, false));
        // 22 kb/s · (1.25 − loss): 25.3 kb/s at 10 %, 22 kb/s at 25 % and above.
        assert!(!fec(25, 0.10, true) && fec(26, 0.10, true));
        assert!(!fec(21, 0.5, true) && fec(22, 0.25, true) && fec(22, 0.5, true));
        assert!(fec(64, 0.05, true) && !fec(65, 0.05, true), "CELT alone has none");
    }

    #[test]
    fn its_bits_come_from_the_target() {
        let mut encoder = encoder(AudioConfig::default());
        let sizes: Vec<u16> =
            (0..3).filter_map(|n| encoder.encode(at(20 * n), ENOUGH, 0.1)).map(|f| f.payload).collect();
        assert_eq!(sizes, [80, 80, 80]);
    }

    #[test]
    fn redundancy_repeats_frames_that_were_sent_and_leaves_out_what_does_not_fit() {
        let mut twice = encoder(AudioConfig { redundancy: 2, ..AudioConfig::default() });
        let frames: Vec<(u16, u8)> =
            (0..4).filter_map(|n| twice.encode(at(20 * n), ENOUGH, 0.0)).map(|f| (f.payload, f.repeats)).collect();
        assert_eq!(frames, [(80, 0), (80 + 84 + 1, 1), (80 + 2 * 84 + 1, 2), (80 + 2 * 84 + 1, 2)]);
        assert_eq!(twice.rates().1.bits_per_second(), 249 * 8 * 50);
        // 70 kb/s: 175 bytes a frame, so one repeat; 40 kb/s: none.
        let fits = |twice: &mut AudioEncoder, kilobits: u64| {
            let target = Rate::from_bits_per_second(kilobits * 1000);
            twice.encode(at(100), target, 0.0).map(|frame| frame.repeats)
        };
        assert_eq!((fits(&mut twice, 70), fits(&mut twice, 40)), (Some(1), Some(0)));
    }

    #[test]
    fn dred_covers_what_was_sent_before_up_to_its_length() {
        let mut encoder = encoder(AudioConfig { dred: Span::from_millis(100), ..AudioConfig::default() });
        let frames: Vec<(u16, u8)> =
            (0..8).filter_map(|n| encoder.encode(at(20 * n), ENOUGH, 0.0)).map(|f| (f.payload, f.repeats)).collect();
        assert_eq!(frames[..3], [(80, 0), (90, 1), (100, 2)]);
        assert_eq!(frames[7], (130, 5));
    }

    #[test]
    fn dtx_sends_comfort_noise_each_400_ms_of_a_pause_and_talks_two_fifths_of_the_time() {
        let mut encoder = encoder(AudioConfig { dtx: true, ..AudioConfig::default() });
        let frames: Vec<Option<AudioFrame>> = (0..500_000).map(|n| encoder.encode(at(20 * n), ENOUGH, 0.0)).collect();
        let speech = frames.iter().flatten().filter(|frame| frame.speech).count();
        let share = speech as f64 / frames.len() as f64;
        assert!((share - 1.004 / (1.004 + 1.587)).abs() < 0.01, "{share}");
        let mut since_noise = None;
        for frame in &frames {
            match frame {
                Some(AudioFrame { speech: false, payload, .. }) => {
                    assert_eq!(*payload, 2);
                    assert!(since_noise.is_none_or(|silent| silent == 19), "{since_noise:?}");
                    since_noise = Some(0);
                }
                Some(_) => since_noise = None,
                None => since_noise = since_noise.map(|silent: i32| silent + 1),
            }
        }
    }

    #[test]
    fn a_session_has_the_impairment_of_calls_at_the_same_rate() {
        for codec in crate::traffic::Codec::ALL.into_iter().filter(|codec| codec.is_opus()) {
            let session = AudioConfig { rate: codec.rate(), ..AudioConfig::default() };
            assert_eq!(Some(session.impairment()), impairment::wideband(codec, false), "{codec:?}");
        }
    }

    #[test]
    fn what_opus_has_not_is_refused() {
        let refused = |config: AudioConfig| config.check().expect_err("refused").key;
        let default = AudioConfig::default();
        assert_eq!(refused(AudioConfig { rate: Rate::from_bits_per_second(5_999), ..default }), "rate");
        assert_eq!(refused(AudioConfig { rate: Rate::from_bits_per_second(128_001), ..default }), "rate");
        assert_eq!(refused(AudioConfig { frame: Span::from_millis(30), ..default }), "frame");
        assert_eq!(refused(AudioConfig { redundancy: 3, ..default }), "redundancy");
        assert_eq!(refused(AudioConfig { dred: Span::from_millis(1001), ..default }), "dred");
        assert!(default.check().is_ok());
    }
}
