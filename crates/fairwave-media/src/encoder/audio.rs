//! Audio encoder for calls: Opus (RFC 6716), in packets of RFC 7587, with WebRTC's protection against losses.
//!
//! - *In-band FEC* (RFC 6716 §2.1.7): a packet carries a low-rate copy of the previous frame. It exists only in modes
//!   with SILK, so at or below [`SPEECH_MODE`], and in frames of at least 10 ms. Its bits are part of the target. The
//!   encoder adds it only if it knows of losses and the rate is sufficient; libopus lowers the required rate as losses
//!   rise (`decide_fec` in its `opus_encoder.c`).
//! - *Redundancy* (RFC 2198, as in Chrome's `red/48000/2`): a packet repeats whole earlier frames. Its bits are
//!   additional to the target.
//! - *DRED* (draft-ietf-mlcodec-opus-dred): a low-rate copy of up to one second of speech, at about 500 B per second of
//!   speech (assumed).
//! - *DTX*: in pauses only a comfort noise frame every 400 ms (RFC 6716 §2.1.9).
//!
//! **Assumptions.** The thresholds of libopus are those for fullband mono speech. In-band FEC takes [`FEC_SHARE`] of
//! the bits. Talk spurts and pauses of a microphone with DTX are exponential. Their means are those of ITU-T P.59: 1.0
//! s and 1.6 s for one party of a conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check_priority;
use crate::quality::impairment::{self, Impairment};
use fairwave_units::config::{ConfigError, check_span};
use fairwave_units::random::Stream;
use fairwave_units::registry::Checked;
use fairwave_units::units::{Instant, Rate, Span};

/// Up to this rate, libopus codes mono speech in a mode with SILK; its hysteresis is ignored.
pub const SPEECH_MODE: u64 = 64_000;
/// Rate above which libopus adds in-band FEC to fullband speech at small losses, b/s.
const FEC_FROM: f64 = 22_000.0;
/// Share of a packet's bits for in-band FEC. Assumed.
pub const FEC_SHARE: f64 = 0.3;
/// Header bytes before each repeated frame (RFC 2198 §3).
const REPEAT_HEADER: u64 = 4;
/// Header bytes before the packet's primary frame (RFC 2198 §3).
const OWN_HEADER: u64 = 1;
/// Largest number of repeated frames in a packet.
const MOST_REPEATS: u8 = 2;
/// Interval of comfort noise frames.
const NOISE_EVERY: Span = Span::from_millis(400);
/// Payload of a comfort noise frame, bytes.
const NOISE: u16 = 2;
/// Mean talk spurt and mean pause, seconds (ITU-T P.59, Table 1).
const TALKS: [f64; 2] = [1.004, 1.587];
/// Bits of DRED per second of covered speech. Assumed.
const DRED_BITS: f64 = 4_000.0;
/// Longest speech that DRED covers.
const MOST_DRED: Span = Span::from_secs(1);

/// Opus encoder of a microphone.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct AudioConfig {
    /// Bit rate of the payload without redundancy, 6 kb/s to 128 kb/s. Default 32 kb/s, as in Chrome for speech of one channel.
    pub rate: Rate,
    /// Duration of speech in a packet: 10, 20, 40 or 60 ms. Default 20 ms.
    pub frame: Span,
    /// In-band FEC, if losses and rate allow it. Default true, as in Chrome.
    pub in_band_fec: bool,
    /// Number of earlier frames that each packet repeats (RFC 2198), 0 to 2. Default 0.
    pub redundancy: u8,
    /// Duration of speech that each packet repeats in a low-rate copy (DRED), up to 1 s. Default 0 s: none. Rate and
    /// effect are assumed (†).
    pub dred: Span,
    /// Sends only comfort noise in pauses. Default false, as in Chrome; then the speaker talks all the time.
    pub dtx: bool,
    /// Weight in the allocation of rate above the lowest rates among the streams of a session, 0.01 to 100. Default 1.
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
    /// Returns the wideband impairment of the speech ([`impairment::opus`]), without in-band FEC. The receiver counts a
    /// frame restored by in-band FEC as part of a lost one, so the copies count once.
    pub fn impairment(&self) -> Impairment {
        impairment::opus(self.rate, false)
    }

    /// Returns the weight of a frame restored by in-band FEC, as a fraction of a lost frame.
    pub fn copy_impairment(&self) -> f64 {
        impairment::opus_copy(self.rate)
    }

    /// Returns the payload bytes of a frame at the configured rate.
    fn frame_bytes(&self) -> u64 {
        self.rate.bytes_in(self.frame).get().max(1)
    }

    /// Checks whether packets have in-band FEC at this loss rate.
    fn has_fec(&self, loss: f64) -> bool {
        let rate = self.rate.bits_per_second();
        // libopus: LBRR_rate_thres · (125 − min(PacketLoss_perc, 25)) / 100.
        let needed = FEC_FROM * (1.25 - loss.min(0.25));
        self.in_band_fec && loss > 0.0 && rate <= SPEECH_MODE && rate as f64 >= needed
    }
}

/// An encoded packet of speech.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AudioFrame {
    /// Payload bytes of the packet: the frame and all copies of earlier frames.
    pub payload: u16,
    /// Number of earlier frames that the packet repeats, whole (RFC 2198) or as a low-rate copy (DRED): the latest
    /// first, without gaps.
    pub repeats: u8,
    /// True if the packet contains a low-rate copy of the previous frame (in-band FEC).
    pub in_band_fec: bool,
    /// True for speech, false for comfort noise.
    pub speech: bool,
}

/// State of a speech encoder.
#[derive(Clone, Debug)]
pub struct AudioEncoder {
    config: AudioConfig,
    stream: Stream,
    talking: bool,
    /// End of the current talk spurt or pause.
    until: Option<Instant>,
    /// Time of the latest comfort noise frame in this pause.
    noise: Option<Instant>,
    /// Number of consecutive frames sent before this one.
    in_row: u8,
}

impl AudioEncoder {
    /// Returns an encoder; `stream` is its only source of randomness.
    pub fn new(config: &AudioConfig, stream: Stream) -> Self {
        AudioEncoder { config: *config, stream, talking: false, until: None, noise: None, in_row: 0 }
    }

    /// Returns the payload rate of the frames alone, and the highest rate including all copies.
    pub fn rates(&self) -> (Rate, Rate) {
        let config = &self.config;
        let repeats = u64::from(config.redundancy) * (config.frame_bytes() + REPEAT_HEADER);
        let own = if config.redundancy > 0 { OWN_HEADER } else { 0 };
        let dred = (DRED_BITS * config.dred.seconds() / 8.0) as u64;
        let bits = (config.frame_bytes() + repeats + own + dred) * 8;
        let most = (bits as f64 / config.frame.seconds()) as u64;
        (config.rate, Rate::from_bits_per_second(most))
    }

    /// Encodes the frame captured at `created`; returns `None` if nothing is sent for it (DTX). `target` is the allowed
    /// payload rate: redundancy is omitted if it does not fit. `loss` is the share of packets lost in the network, 0 to
    /// 1.
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

    /// Returns whether the speaker talks: spurts and pauses alternate.
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

    fn instant(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    const ENOUGH: Rate = Rate::from_bits_per_second(1_000_000);

    #[test]
    fn a_frame_has_the_bytes_of_its_rate() {
        let frame = encoder(AudioConfig::default()).encode(instant(0), ENOUGH, 0.0).expect("a frame");
        assert_eq!(frame, AudioFrame { payload: 80, repeats: 0, in_band_fec: false, speech: true });
        let long = AudioConfig { frame: Span::from_millis(60), ..AudioConfig::default() };
        assert_eq!(encoder(long).encode(instant(0), ENOUGH, 0.0).map(|frame| frame.payload), Some(240));
    }

    /// Returns whether the second frame has in-band FEC.
    fn fec(kilobits: u64, loss: f64, on: bool) -> bool {
        let rate = Rate::from_bits_per_second(kilobits * 1000);
        let mut encoder = encoder(AudioConfig { rate, in_band_fec: on, ..AudioConfig::default() });
        assert!(
            !encoder.encode(instant(0), ENOUGH, loss).expect("a frame").in_band_fec,
            "nothing comes before the first frame"
        );
        encoder.encode(instant(20), ENOUGH, loss).expect("a frame").in_band_fec
    }

    #[test]
    fn fec_in_band_needs_losses_a_sufficient_rate_and_a_mode_with_it() {
        assert!(fec(32, 0.05, true));
        assert!(!fec(32, 0.0, true), "no losses that it knows of");
        assert!(!fec(32, 0.05, false));
        // 22 kb/s · (1.25 − loss): 25.3 kb/s at 10 %, 22 kb/s at 25 % and above.
        assert!(!fec(25, 0.10, true) && fec(26, 0.10, true));
        assert!(!fec(21, 0.5, true) && fec(22, 0.25, true) && fec(22, 0.5, true));
        assert!(fec(64, 0.05, true) && !fec(65, 0.05, true), "CELT alone has none");
    }

    #[test]
    fn takes_its_bits_from_the_target() {
        let mut encoder = encoder(AudioConfig::default());
        let sizes: Vec<u16> =
            (0..3).filter_map(|n| encoder.encode(instant(20 * n), ENOUGH, 0.1)).map(|f| f.payload).collect();
        assert_eq!(sizes, [80, 80, 80]);
    }

    #[test]
    fn redundancy_repeats_frames_that_were_sent_and_leaves_out_what_does_not_fit() {
        let mut twice = encoder(AudioConfig { redundancy: 2, ..AudioConfig::default() });
        let frames: Vec<(u16, u8)> =
            (0..4).filter_map(|n| twice.encode(instant(20 * n), ENOUGH, 0.0)).map(|f| (f.payload, f.repeats)).collect();
        assert_eq!(frames, [(80, 0), (80 + 84 + 1, 1), (80 + 2 * 84 + 1, 2), (80 + 2 * 84 + 1, 2)]);
        assert_eq!(twice.rates().1.bits_per_second(), 249 * 8 * 50);
        // 70 kb/s: 175 bytes per frame, so one repeat; 40 kb/s: none.
        let fits = |twice: &mut AudioEncoder, kilobits: u64| {
            let target = Rate::from_bits_per_second(kilobits * 1000);
            twice.encode(instant(100), target, 0.0).map(|frame| frame.repeats)
        };
        assert_eq!((fits(&mut twice, 70), fits(&mut twice, 40)), (Some(1), Some(0)));
    }

    #[test]
    fn dred_covers_what_was_sent_before_up_to_its_length() {
        let mut encoder = encoder(AudioConfig { dred: Span::from_millis(100), ..AudioConfig::default() });
        let frames: Vec<(u16, u8)> = (0..8)
            .filter_map(|n| encoder.encode(instant(20 * n), ENOUGH, 0.0))
            .map(|f| (f.payload, f.repeats))
            .collect();
        assert_eq!(frames[..3], [(80, 0), (90, 1), (100, 2)]);
        assert_eq!(frames[7], (130, 5));
    }

    #[test]
    fn dtx_sends_comfort_noise_each_400_ms_of_a_pause_and_talks_two_fifths_of_the_time() {
        let mut encoder = encoder(AudioConfig { dtx: true, ..AudioConfig::default() });
        let frames: Vec<Option<AudioFrame>> =
            (0..500_000).map(|n| encoder.encode(instant(20 * n), ENOUGH, 0.0)).collect();
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
    fn rejects_settings_that_opus_lacks() {
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
