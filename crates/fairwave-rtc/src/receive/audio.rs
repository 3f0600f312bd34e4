//! Audio receiver: NetEQ, redundant copies (RFC 2198), in-band FEC (RFC 6716 §2.1.7), concealment, and the rating of
//! the call.
//!
//! The buffer's ticks of 10 ms are processed in bulk when a packet arrives or a caller asks. So a silent stream costs
//! nothing.
//!
//! **Assumptions.** A payload of at most two bytes announces silence (RFC 6716 §3.1: no more than the table of
//! contents). A restored frame takes the place of its packet in the buffer. If the packet itself arrives in time, the
//! frame counts as intact again.

use std::collections::VecDeque;

use super::config::ReceiveConfig;
use fairwave_endpoint::media::{AudioQuality, AudioRating, InboundSample, Rated, Unrated};
use fairwave_endpoint::serial;
use fairwave_media::quality::emodel::EModel;
use fairwave_media::quality::emodel_wideband::{WidebandEModel, narrowband_equivalent};
use fairwave_media::quality::gaps::Gaps;
use fairwave_media::quality::impairment::Impairment;
use fairwave_media::quality::loss::LossRuns;
use fairwave_media::quality::opinion::mean_opinion_score;
use fairwave_media::quality::playout::neteq::{JitterBuffer, Packet, Piece, TICK};
use fairwave_units::units::{Instant, Span};

/// RTP clock of Opus (RFC 7587 §4.1), which is also the unit of sample counts.
pub const CLOCK: u32 = 48_000;
/// Audio that NetEQ holds back for cross-fading.
const HELD_BACK: Span = Span::from_micros(625);
/// Number of frames remembered after they were played.
const REMEMBERED: u64 = 300;
/// A payload of at most this many bytes announces silence.
const SILENCE: u16 = 2;

/// Impairment factors of a codec, and their scale.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Factors {
    /// Ie and Bpl.
    pub impairment: Impairment,
    /// Weight of a frame restored by in-band FEC, as a fraction of a lost frame, 0 to 1.
    pub copy: f64,
    /// True if the factors are on the wideband scale (ITU-T G.107.1), R up to 129.
    pub wideband: bool,
}

/// Parameters of the microphone's frames.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AudioSetup {
    /// Duration of speech in a packet.
    pub frame: Span,
    /// Coder delay in addition to a frame: 6.5 ms for Opus (RFC 6716 §2: 4 ms of CELT's window and 2.5 ms of
    /// resampling).
    pub look_ahead: Span,
    /// Impairment factors of the codec; `None` disables the rating.
    pub factors: Option<Factors>,
}

impl Default for AudioSetup {
    fn default() -> Self {
        AudioSetup { frame: Span::from_millis(20), look_ahead: Span::from_micros(6500), factors: None }
    }
}

/// A received frame of speech.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AudioArrival {
    /// Sequence number of its packet, without wraps.
    pub number: u64,
    /// RTP timestamp.
    pub timestamp: u32,
    /// Capture time.
    pub created: Instant,
    /// Payload bytes of its packet.
    pub payload: u16,
    /// True if it arrived in a later packet.
    pub restored: bool,
    /// True if it is the low-rate copy of in-band FEC.
    pub coarse: bool,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    arrived: Instant,
    created: Instant,
    restored: bool,
    coarse: bool,
    played: bool,
}

/// Timestamps of the latest frame.
#[derive(Clone, Copy, Debug)]
struct Stamp {
    number: u64,
    /// RTP timestamp without wraps.
    ticks: u64,
    /// Media time.
    media: u64,
}

/// A received microphone.
#[derive(Clone, Debug)]
pub struct Audio {
    setup: AudioSetup,
    fec_impairment: Option<f64>,
    buffer: JitterBuffer,
    pieces: Vec<Piece>,
    /// Next tick; `None` before the first packet.
    tick: Option<u64>,
    begins: Instant,
    heard: Span,
    near: Option<Stamp>,
    front: u64,
    known: VecDeque<Option<Known>>,
    first: Option<u64>,
    highest: u64,
    last_played: Option<u64>,
    last_silent: bool,
    concealed_since: Span,
    concealing: bool,
    losses: LossRuns,
    gaps: Gaps,
    coarse: u64,
    played: u64,
    restored: u64,
    delay_sum: f64,
    last: Option<(Instant, Instant)>,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    delay: f64,
    target: f64,
    emitted: u64,
    concealed: Span,
    silent: Span,
    events: u64,
    inserted: Span,
    removed: Span,
    silence: Span,
    speech: Span,
    discarded: u64,
}

impl Audio {
    /// Returns a receiver before its first packet. The configuration must have been checked.
    pub fn new(config: &ReceiveConfig, setup: AudioSetup) -> Self {
        Audio {
            setup,
            fec_impairment: config.in_band_fec_impairment,
            buffer: JitterBuffer::new(config.audio),
            pieces: Vec::new(),
            tick: None,
            begins: Instant::ZERO,
            heard: Span::ZERO,
            near: None,
            front: 0,
            known: VecDeque::new(),
            first: None,
            highest: 0,
            last_played: None,
            last_silent: false,
            concealed_since: Span::ZERO,
            concealing: false,
            losses: LossRuns::new(),
            gaps: Gaps::default(),
            coarse: 0,
            played: 0,
            restored: 0,
            delay_sum: 0.0,
            last: None,
            counts: Counts::default(),
        }
    }

    fn known(&mut self, number: u64) -> Option<&mut Option<Known>> {
        if self.known.is_empty() {
            self.front = number;
        }
        if number < self.front {
            if self.front - number > REMEMBERED {
                return None;
            }
            for _ in number..self.front {
                self.known.push_front(None);
            }
            self.front = number;
        }
        if number >= self.front + 2 * REMEMBERED {
            let away = (number - self.front - REMEMBERED).min(self.known.len() as u64);
            self.known.drain(..away as usize);
            self.front = number - REMEMBERED.min(number);
        }
        while self.front + (self.known.len() as u64) <= number {
            self.known.push_back(None);
        }
        self.known.get_mut((number - self.front) as usize)
    }

    /// Adds a frame. Returns whether it is the first copy.
    pub fn on_frame(&mut self, now: Instant, frame: AudioArrival) -> bool {
        self.advance(now, false);
        if self.tick.is_none() {
            let tick = now.nanos().div_ceil(TICK.nanos());
            self.tick = Some(tick);
            self.begins = Instant::from_nanos(tick * TICK.nanos()) + HELD_BACK;
        }
        let passed = self.last_played.is_some_and(|last| frame.number < last);
        let Some(place) = self.known(frame.number) else {
            self.counts.discarded += u64::from(!frame.restored);
            return false;
        };
        if let Some(known) = place {
            if known.restored && !frame.restored && !known.played {
                (known.restored, known.coarse) = (false, false);
            }
            return false;
        }
        let known = Known {
            arrived: now,
            created: frame.created,
            restored: frame.restored,
            coarse: frame.coarse,
            played: false,
        };
        if let Some(place) = self.known(frame.number) {
            *place = Some(known);
        }
        self.first = Some(self.first.map_or(frame.number, |first| first.min(frame.number)));
        self.highest = self.highest.max(frame.number);
        if passed {
            self.counts.discarded += u64::from(!frame.restored);
        }
        let ticks = self.media_time(frame.number, frame.timestamp);
        self.buffer.on_arrival(Packet {
            unit: frame.number as usize,
            media: Span::from_nanos((u128::from(ticks) * 62_500 / 3) as u64),
            length: self.setup.frame,
            ends_talkspurt: frame.payload <= SILENCE && !frame.restored,
        });
        true
    }

    /// Returns the media time of a frame, in ticks. A sound card counts samples, so frames are exactly a frame apart.
    /// Timestamps come from a clock that may run fast, and are rounded. Without this correction, a frame that seems to
    /// start a sample early would count as played already.
    fn media_time(&mut self, number: u64, timestamp: u32) -> u64 {
        let Some(near) = self.near else {
            let ticks = serial::unwrap(1 << 32, timestamp);
            self.near = Some(Stamp { number, ticks, media: ticks });
            return ticks;
        };
        let ticks = serial::unwrap(near.ticks, timestamp);
        let length = (self.setup.frame.nanos() * u64::from(CLOCK) / 1_000_000_000).max(1) as i64;
        let frames = ((ticks as i64 - near.ticks as i64) as f64 / length as f64).round() as i64;
        let frames = if number > near.number { frames.max(1) } else { frames.min(-1) };
        let media = near.media.saturating_add_signed(frames * length);
        if ticks > near.ticks {
            self.near = Some(Stamp { number, ticks, media });
        }
        media
    }

    /// Plays until `now`. With `through`, ticks at `now` are played, too; otherwise a packet that arrives at `now`
    /// still precedes them.
    pub fn advance(&mut self, now: Instant, through: bool) {
        let Some(mut tick) = self.tick else { return };
        let end = if through { now.nanos() / TICK.nanos() + 1 } else { now.nanos().div_ceil(TICK.nanos()) };
        while tick < end {
            let mut pieces = std::mem::take(&mut self.pieces);
            let idle = self.buffer.is_idle();
            if idle {
                self.buffer.stay_idle(end - tick, &mut pieces);
                tick = end;
            } else {
                self.buffer.tick(&mut pieces);
                tick += 1;
            }
            for piece in pieces.drain(..) {
                self.hear(piece, idle);
            }
            self.pieces = pieces;
        }
        self.tick = Some(tick);
    }

    fn hear(&mut self, piece: Piece, idle: bool) {
        if !matches!(piece, Piece::Concealed(_)) {
            self.concealing = false;
        }
        match piece {
            Piece::Unit(unit) => self.on_played(unit as u64),
            Piece::Shortened(span) => {
                self.heard = self.heard.saturating_sub(span);
                self.counts.removed += span;
            }
            Piece::Lengthened(span) => {
                self.heard += span;
                self.counts.inserted += span;
            }
            Piece::Concealed(span) => {
                self.heard += span;
                self.counts.concealed += span;
                self.counts.events += u64::from(!self.concealing);
                self.concealing = true;
                if idle {
                    self.counts.silent += span;
                }
                self.concealed_since += span;
            }
            Piece::Silence(span) => {
                self.heard += span;
                self.counts.silence += span;
                self.last_silent = true;
            }
        }
    }

    fn on_played(&mut self, number: u64) {
        let (frame, played_at) = (self.setup.frame, self.begins + self.heard);
        self.heard += frame;
        self.counts.speech += frame;
        if let Some(last) = self.last_played.filter(|&last| last < number) {
            self.count_lost(number - last - 1);
        }
        self.concealed_since = Span::ZERO;
        self.last_silent = false;
        self.losses.on_unit(false);
        self.gaps.on_played();
        self.last_played = Some(self.last_played.map_or(number, |last| last.max(number)));
        self.played += 1;
        let target = self.buffer.target_delay().seconds();
        let samples = frame.nanos() * u64::from(CLOCK) / 1_000_000_000;
        if let Some(Some(known)) = self.known(number) {
            known.played = true;
            let known = *known;
            self.coarse += u64::from(known.coarse);
            self.restored += u64::from(known.restored);
            self.delay_sum += played_at.span_since(known.created).seconds();
            self.last = Some((played_at, known.created));
            self.counts.delay += played_at.span_since(known.arrived).seconds() * samples as f64;
            self.counts.target += target * samples as f64;
            self.counts.emitted += samples;
        }
    }

    /// Counts losses since the previous frame: `frames` missing frames, or the concealed time if speech continued and
    /// it is longer.
    fn count_lost(&mut self, frames: u64) {
        let made_up = self.concealed_since.nanos() / self.setup.frame.nanos().max(1);
        // A pause of the talker may have any duration; only missing frames count in it.
        let lost = if self.last_silent { frames } else { frames.max(made_up) };
        for _ in 0..lost.min(100_000) {
            self.losses.on_unit(true);
            self.gaps.on_missing(self.setup.frame);
        }
    }

    /// Returns the current delay of the buffer, ms.
    pub fn current_delay(&self) -> i64 {
        (self.buffer.packets_waiting() as f64 * self.setup.frame.millis()) as i64 + (TICK.millis() / 2.0) as i64
    }

    /// Sets the least delay, ms, for lip synchronisation.
    pub fn set_least(&mut self, millis: i64) {
        self.buffer.set_min_delay(Span::from_millis(millis.clamp(0, 10_000) as u64));
    }

    /// Writes the playout counters at time `at`.
    pub fn count(&self, at: Instant, sample: &mut InboundSample) {
        let samples = |span: Span| (u128::from(span.nanos()) * u128::from(CLOCK) / 1_000_000_000) as u64;
        let counts = &self.counts;
        sample.jitter_buffer_delay = counts.delay;
        sample.jitter_buffer_target_delay = counts.target;
        sample.jitter_buffer_minimum_delay = counts.target;
        sample.jitter_buffer_emitted_count = counts.emitted;
        sample.concealed_samples = samples(counts.concealed);
        sample.silent_concealed_samples = samples(counts.silent);
        sample.concealment_events = counts.events;
        sample.inserted_samples_for_deceleration = samples(counts.inserted);
        sample.removed_samples_for_acceleration = samples(counts.removed);
        sample.total_samples_received = samples(counts.speech + counts.concealed + counts.silence + counts.inserted)
            .saturating_sub(samples(counts.removed));
        sample.packets_discarded = counts.discarded;
        sample.estimated_playout = self.last.map(|(played, created)| created + at.span_since(played));
    }

    /// Returns the mean mouth-to-ear delay, seconds; `None` if nothing was played.
    pub fn mouth_to_ear(&self) -> Option<f64> {
        let coder = (self.setup.frame + self.setup.look_ahead).seconds();
        (self.played > 0).then(|| coder + self.delay_sum / self.played as f64)
    }

    /// Returns the quality of the played audio up to the latest [`Audio::advance`].
    pub fn quality(&self, packets: u64) -> AudioQuality {
        let mut ended = self.clone();
        // Nothing followed the last frame, although no silence was announced.
        ended.count_lost(0);
        let concealed = self.counts.concealed.seconds();
        let whole = concealed + self.counts.speech.seconds() + self.counts.silence.seconds();
        let expected = self.first.map_or(0, |first| self.highest - first + 1);
        AudioQuality {
            rating: ended.rating(packets),
            mouth_to_ear: self.mouth_to_ear(),
            concealed_share: if whole > 0.0 { concealed / whole } else { 0.0 },
            frames_lost: expected.saturating_sub(self.played + self.buffer.packets_waiting() as u64),
            frames_restored: self.restored,
            frames_played: self.played,
            longest_gap: ended.gaps.longest().seconds(),
            gaps: ended.gaps.interruptions(),
        }
    }

    fn rating(&self, packets: u64) -> Rated<AudioRating> {
        if packets == 0 {
            return Rated::Not(Unrated::NothingReceived);
        }
        let Some(delay) = self.mouth_to_ear() else { return Rated::Not(Unrated::NothingPlayed) };
        let Some(Factors { impairment, copy, wideband }) = self.setup.factors else {
            return Rated::Not(Unrated::NoFactors);
        };
        let delay = Span::from_seconds(delay);
        let whole = self.losses.sent().max(1) as f64;
        let copy = self.fec_impairment.unwrap_or(copy);
        let loss = (self.losses.lost() as f64 + copy * self.coarse as f64) / whole;
        let burst = self.losses.burst_ratio().max(1.0);
        if wideband {
            let r = WidebandEModel::call(delay, loss.min(1.0), burst, impairment).rate().r;
            return Rated::As(AudioRating { r, mos: mean_opinion_score(narrowband_equivalent(r)) });
        }
        let r = EModel::call(delay, loss.min(1.0), burst, impairment).rate().r;
        Rated::As(AudioRating { r, mos: mean_opinion_score(r) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_endpoint::media::StreamId;
    use fairwave_media::encoder::StreamKind;
    use fairwave_media::quality::impairment::Origin;

    const FACTORS: Factors = Factors {
        impairment: Impairment { equipment: 0.0, robustness: 20.0, origin: Origin::Assumed, source: "a test" },
        copy: 0.5,
        wideband: false,
    };

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn arrival(k: u64) -> AudioArrival {
        AudioArrival {
            number: 70_000 + k,
            timestamp: (k as u32).wrapping_mul(960).wrapping_sub(4800),
            created: ms(20 * k),
            payload: 80,
            restored: false,
            coarse: false,
        }
    }

    /// Plays frames that arrive 50 ms after capture, except those in `lost`, until 60 ms after the last.
    fn call(frames: u64, lost: impl Fn(u64) -> bool) -> Audio {
        let setup = AudioSetup { factors: Some(FACTORS), ..AudioSetup::default() };
        let mut audio = Audio::new(&ReceiveConfig::default(), setup);
        for k in (0..frames).filter(|&k| !lost(k)) {
            audio.on_frame(ms(20 * k + 50), arrival(k));
        }
        audio.advance(ms(20 * frames + 40), true);
        audio
    }

    fn mos(audio: &Audio) -> f64 {
        audio.quality(1).rating.value().expect("rated").mos
    }

    #[test]
    fn a_clean_call_is_played_whole_and_rated_by_its_delay() {
        let audio = call(500, |_| false);
        let quality = audio.quality(500);
        assert_eq!((quality.frames_lost, quality.frames_restored), (0, 0));
        assert!(quality.frames_played >= 495);
        let delay = quality.mouth_to_ear.expect("played");
        // 50 ms of network, 26.5 ms of coder, and the buffer.
        assert!((0.076..0.2).contains(&delay), "{delay}");
        assert!(mos(&audio) > 4.2);
    }

    #[test]
    fn lost_frames_are_concealed_and_lower_the_rating() {
        let (clean, lossy) = (call(1000, |_| false), call(1000, |k| k % 10 == 5));
        let quality = lossy.quality(900);
        assert_eq!(quality.frames_lost, 100);
        assert!((0.08..0.13).contains(&quality.concealed_share), "{}", quality.concealed_share);
        assert!(mos(&lossy) < mos(&clean) - 0.5);
        let mut sample = InboundSample::new(ms(0), StreamId { kind: StreamKind::Audio, place: 0 });
        lossy.count(ms(20_000), &mut sample);
        assert!((95..=105).contains(&sample.concealment_events), "{}", sample.concealment_events);
        assert!(sample.silent_concealed_samples <= sample.concealed_samples);
        assert!(sample.concealed_samples <= sample.total_samples_received);
    }

    #[test]
    fn frames_that_later_packets_bring_count_whole_or_in_part() {
        let restored = |coarse| {
            let setup = AudioSetup { factors: Some(FACTORS), ..AudioSetup::default() };
            let mut audio = Audio::new(&ReceiveConfig::default(), setup);
            for k in 0..1000 {
                if k % 10 == 6 {
                    audio.on_frame(ms(20 * k + 50), AudioArrival { restored: true, coarse, ..arrival(k - 1) });
                }
                if k % 10 != 5 {
                    audio.on_frame(ms(20 * k + 50), arrival(k));
                }
            }
            audio.advance(ms(20_040), true);
            audio
        };
        let (whole, coarse, lost) = (restored(false), restored(true), call(1000, |k| k % 10 == 5));
        assert!(whole.quality(1).frames_restored >= 95);
        assert!(mos(&whole) > mos(&coarse) && mos(&coarse) > mos(&lost));
    }

    #[test]
    fn a_network_that_falls_silent_is_not_good() {
        let mut audio = call(500, |_| false);
        audio.advance(ms(30_000), true);
        assert!(mos(&audio) < 2.0, "{}", mos(&audio));
        let nothing = Audio::new(&ReceiveConfig::default(), AudioSetup::default());
        assert_eq!(nothing.quality(0).rating, Rated::Not(Unrated::NothingReceived));
        assert_eq!(nothing.quality(3).rating, Rated::Not(Unrated::NothingPlayed));
        let unknown = Audio { setup: AudioSetup::default(), ..audio };
        assert_eq!(unknown.quality(3).rating, Rated::Not(Unrated::NoFactors));
    }

    #[test]
    fn a_clock_that_runs_fast_or_slow_loses_no_frame() {
        for skew in [-100e-6, 0.0, 100e-6] {
            let setup = AudioSetup { factors: Some(FACTORS), ..AudioSetup::default() };
            let mut audio = Audio::new(&ReceiveConfig::default(), setup);
            // Two seconds of speech alternate with a pause of 400 ms, which a frame of two bytes announces.
            let is_sent = |k: u64| k % 120 <= 100;
            for k in (0..6000).filter(|&k| is_sent(k)) {
                let created = Instant::from_seconds(k as f64 * 0.02 * (1.0 + skew));
                let timestamp = (created.seconds() * 48e3) as u32;
                let payload = if k % 120 == 100 { 2 } else { 80 };
                let number = 70_000 + (0..k).filter(|&k| is_sent(k)).count() as u64;
                let frame = AudioArrival { number, timestamp, created, payload, ..arrival(0) };
                audio.on_frame(created + Span::from_millis(50), frame);
            }
            audio.advance(ms(120_100), true);
            let quality = audio.quality(5000);
            assert_eq!(quality.frames_lost, 0, "{skew}");
            assert!(quality.longest_gap < 0.05 && quality.concealed_share < 0.01, "{skew}: {quality:?}");
        }
    }

    #[test]
    fn announced_silence_is_no_loss() {
        let setup = AudioSetup { factors: Some(FACTORS), ..AudioSetup::default() };
        let mut audio = Audio::new(&ReceiveConfig::default(), setup);
        for k in 0..100 {
            audio.on_frame(ms(20 * k + 50), AudioArrival { payload: if k == 99 { 1 } else { 80 }, ..arrival(k) });
        }
        for k in 200..300 {
            audio.on_frame(ms(20 * k + 50), AudioArrival { number: 70_000 + k - 100, ..arrival(k) });
        }
        audio.advance(ms(6040), true);
        let quality = audio.quality(200);
        assert_eq!((quality.frames_lost, audio.losses.lost()), (0, 0));
        assert!(quality.concealed_share < 0.01, "{}", quality.concealed_share);
    }

    #[test]
    fn a_packet_after_its_turn_is_discarded_and_a_copy_is_not() {
        let mut audio = call(500, |k| k == 100);
        assert!(audio.on_frame(ms(10_100), arrival(100)));
        assert!(!audio.on_frame(ms(10_100), arrival(400)), "a duplicate");
        assert!(!audio.on_frame(ms(10_100), AudioArrival { number: 60_000, ..arrival(0) }), "ages old");
        let mut sample = InboundSample::new(ms(0), StreamId { kind: StreamKind::Audio, place: 0 });
        audio.count(ms(10_100), &mut sample);
        assert_eq!(sample.packets_discarded, 2);
    }
}
