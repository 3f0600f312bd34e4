//! Decision of the next operation: libwebrtc `neteq/decision_logic.cc` and `delay_constraints.cc`.
//!
//! libwebrtc's filter of the buffer level (`buffer_level_filter.cc`) is omitted, because no decision uses it any more.

use super::arrivals::Arrivals;
use super::delay_manager::DelayManager;
use super::{NeteqConfig, Operation, SAMPLES_PER_MS, SAMPLES_PER_TICK};

/// Ticks between two operations that change the tempo.
const TIMESCALE_INTERVAL: i64 = 5;

/// Tempo changes are whole pitch periods of up to 15 ms, at times 10 ms apart.
const ADJUSTMENT_MS: i64 = 20;

/// Buffer level at which playout resumes after a pause, percent of the target.
const POSTPONE_PERCENT: i64 = 50;

/// A pause ends early if the buffer is this far above the target, ms.
const ABOVE_TARGET_MS: i64 = 50;

/// Result of the last operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    Normal,
    Merge,
    Expand,
    /// The tempo was changed.
    Stretched,
    /// A change of tempo was due, but too little decoded speech was available.
    StretchFailed,
    ComfortNoise,
}

/// The first waiting packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NextPacket {
    /// Its media time, in samples.
    pub media: i64,
    /// True if it describes silence.
    pub silence: bool,
}

/// State of the receiver, in samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Status {
    pub last_mode: Mode,
    /// Media time of the next packet to decode.
    pub target: i64,
    pub next: Option<NextPacket>,
    /// Media time from the first waiting packet to the last, plus the waiting time of the latter.
    pub span_and_wait: i64,
    /// True if a silence description is waiting.
    pub silence_waits: bool,
    /// Duration of noise or concealment so far.
    pub generated: i64,
    /// Decoded but unplayed samples, including the overlap for cross-fading.
    pub decoded: i64,
    /// True if concealment has faded to less than half.
    pub faded: bool,
}

/// Decision logic from tick to tick; the caller counts the ticks.
#[derive(Clone, Debug)]
pub(super) struct DecisionLogic {
    config: NeteqConfig,
    delays: DelayManager,
    arrivals: Arrivals,
    packet_ms: i64,
    timescale_from: i64,
    stretched: bool,
}

impl DecisionLogic {
    pub(super) const fn set_min_delay(&mut self, delay: fairwave_units::units::Span) {
        self.config.min_delay = delay;
    }

    pub(super) fn new(config: NeteqConfig) -> Self {
        DecisionLogic {
            config,
            delays: DelayManager::new(),
            arrivals: Arrivals::new(),
            packet_ms: 0,
            timescale_from: TIMESCALE_INTERVAL + 1,
            stretched: false,
        }
    }

    /// Discards all delays, as at the start of a call or after the buffer was emptied.
    pub(super) fn reset(&mut self, tick: i64) {
        self.delays = DelayManager::new();
        self.arrivals.clear();
        self.timescale_from = tick + TIMESCALE_INTERVAL + 1;
        self.stretched = false;
    }

    pub(super) fn on_arrival(&mut self, tick: i64, media: i64, length: i64) {
        let now = tick * SAMPLES_PER_TICK;
        if length > 0 {
            self.packet_ms = length / SAMPLES_PER_MS;
        }
        if !self.arrivals.insert(media, length, now) || self.arrivals.len() < 2 {
            return;
        }
        let delay = self.arrivals.delay_ms(media, now);
        self.delays.on_arrival(now / SAMPLES_PER_MS, delay, !self.arrivals.is_newest(media));
    }

    /// Records that the last operation was a change of tempo.
    pub(super) fn on_stretch(&mut self) {
        self.stretched = true;
    }

    /// Returns the target, limited by the configuration and by three quarters of the buffer.
    pub(super) fn target_ms(&self) -> i64 {
        let ms = |span: fairwave_units::units::Span| (span.nanos() / 1_000_000) as i64;
        let room = match self.packet_ms * i64::from(self.config.max_packets) * 3 / 4 {
            0 => i64::MAX,
            room => room,
        };
        let most = self.config.max_delay.map_or(i64::MAX, ms);
        self.delays.target_ms().max(ms(self.config.min_delay).min(room)).min(most).min(room)
    }

    pub(super) fn decide(&mut self, tick: i64, status: &Status) -> Operation {
        if self.stretched && status.last_mode == Mode::Stretched {
            self.timescale_from = tick + TIMESCALE_INTERVAL;
        }
        self.stretched = false;
        let Some(next) = status.next else { return self.decide_without_packet(status) };
        if next.silence {
            return Operation::ComfortNoise;
        }
        if self.postpones(status) {
            return self.decide_without_packet(status);
        }
        if next.media == status.target {
            self.with_expected(tick, status)
        } else {
            self.with_future(status, next.media)
        }
    }

    fn decide_without_packet(&self, status: &Status) -> Operation {
        match status.last_mode {
            Mode::ComfortNoise => Operation::ComfortNoiseContinued,
            _ => Operation::Expand,
        }
    }

    fn with_expected(&self, tick: i64, status: &Status) -> Operation {
        if !self.config.stretch || status.last_mode == Mode::Expand {
            return Operation::Normal;
        }
        let playing = self.arrivals.delay_ms(status.target - status.decoded, tick * SAMPLES_PER_TICK);
        let low = self.target_ms();
        let high = low.saturating_add(self.arrivals.most_delayed_ms() + ADJUSTMENT_MS);
        if playing >= high.saturating_mul(4) {
            return Operation::FastAccelerate;
        }
        if tick < self.timescale_from {
            return Operation::Normal;
        }
        match playing {
            playing if playing >= high => Operation::Accelerate,
            playing if playing < low => Operation::PreemptiveExpand,
            _ => Operation::Normal,
        }
    }

    fn with_future(&self, status: &Status, media: i64) -> Operation {
        let above_target = status.span_and_wait / SAMPLES_PER_MS > self.target_ms().saturating_add(ABOVE_TARGET_MS);
        if media - status.target > status.generated && !above_target {
            return self.decide_without_packet(status);
        }
        match status.last_mode {
            Mode::Expand => Operation::Merge,
            Mode::ComfortNoise => Operation::Normal,
            _ => Operation::Expand,
        }
    }

    /// Checks whether to let the buffer fill after a pause, so that it does not run empty again at once.
    fn postpones(&self, status: &Status) -> bool {
        let least = self.target_ms().saturating_mul(SAMPLES_PER_MS * POSTPONE_PERCENT) / 100;
        if status.span_and_wait >= least || status.silence_waits {
            return false;
        }
        match status.last_mode {
            Mode::ComfortNoise => true,
            Mode::Expand => status.faded,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::units::Span;

    const MS: i64 = SAMPLES_PER_MS;
    /// Media time of the next packet to decode.
    const TARGET: i64 = 1000 * MS;
    /// A tick that allows a change of tempo.
    const LATER: i64 = 200;

    /// Returns a configuration with a target of `target_ms`, above the initial 80 ms.
    fn aiming_at(target_ms: u64) -> NeteqConfig {
        NeteqConfig { min_delay: Span::from_millis(target_ms), ..NeteqConfig::default() }
    }

    /// Returns a logic at tick [`LATER`]; the next packet is `playing_ms` later than the least delayed one.
    fn playing(config: NeteqConfig, playing_ms: i64) -> DecisionLogic {
        let mut logic = DecisionLogic::new(config);
        logic.arrivals.insert(TARGET - LATER * SAMPLES_PER_TICK, 20 * MS, -playing_ms * MS);
        logic
    }

    /// Returns the status with the expected packet present and `buffered_ms` up to the last packet.
    fn status(last_mode: Mode, buffered_ms: i64) -> Status {
        Status {
            last_mode,
            target: TARGET,
            next: Some(NextPacket { media: TARGET, silence: false }),
            span_and_wait: buffered_ms * MS,
            silence_waits: false,
            generated: 0,
            decoded: 0,
            faded: true,
        }
    }

    fn with_next(status: Status, media: i64) -> Status {
        Status { next: Some(NextPacket { media, silence: false }), ..status }
    }

    fn operation_at_delay(playing_ms: i64) -> Operation {
        playing(aiming_at(100), playing_ms).decide(LATER, &status(Mode::Normal, 100))
    }

    #[test]
    fn plays_speech_unchanged_within_the_limits() {
        // decision_logic_unittest.cc, NormalOperation: target 100 ms, playing 100 ms.
        assert_eq!(operation_at_delay(100), Operation::Normal);
        assert_eq!(operation_at_delay(119), Operation::Normal);
    }

    #[test]
    fn plays_speech_faster_above_the_limits() {
        // decision_logic_unittest.cc, Accelerate and FastAccelerate: at 150 and 500 ms. The limits are 120 and 480 ms.
        assert_eq!(operation_at_delay(150), Operation::Accelerate);
        assert_eq!(operation_at_delay(120), Operation::Accelerate);
        assert_eq!(operation_at_delay(479), Operation::Accelerate);
        assert_eq!(operation_at_delay(480), Operation::FastAccelerate);
        assert_eq!(operation_at_delay(500), Operation::FastAccelerate);
    }

    #[test]
    fn plays_speech_slower_below_the_limits() {
        // decision_logic_unittest.cc, PreemptiveExpand: at 50 ms.
        assert_eq!(operation_at_delay(50), Operation::PreemptiveExpand);
        assert_eq!(operation_at_delay(99), Operation::PreemptiveExpand);
    }

    #[test]
    fn the_upper_limit_leaves_room_for_the_most_delayed_packet() {
        let mut logic = playing(aiming_at(100), 150);
        logic.arrivals.insert(TARGET - LATER * SAMPLES_PER_TICK + 20 * MS, 20 * MS, (-150 + 20 + 31) * MS);
        assert_eq!(logic.arrivals.most_delayed_ms(), 31);
        assert_eq!(logic.decide(LATER, &status(Mode::Normal, 100)), Operation::Normal);
    }

    #[test]
    fn plays_decoded_speech_first() {
        let decoded = Status { decoded: 60 * MS, ..status(Mode::Normal, 100) };
        assert_eq!(playing(aiming_at(100), 100).decide(LATER, &decoded), Operation::Accelerate);
    }

    #[test]
    fn does_not_stretch_after_concealment_or_if_disabled() {
        assert_eq!(playing(aiming_at(100), 500).decide(LATER, &status(Mode::Expand, 100)), Operation::Normal);
        let never = NeteqConfig { stretch: false, ..aiming_at(100) };
        assert_eq!(playing(never, 500).decide(LATER, &status(Mode::Normal, 100)), Operation::Normal);
    }

    #[test]
    fn tempo_changes_are_five_ticks_apart_but_for_fast_ones() {
        let mut logic = playing(aiming_at(100), 150);
        logic.on_stretch();
        let stretched = status(Mode::Stretched, 100);
        assert_eq!(logic.decide(LATER, &stretched), Operation::Normal);
        // The delay grows by 10 ms per tick while nothing is decoded.
        assert_eq!(logic.decide(LATER + 4, &stretched), Operation::Normal);
        assert_eq!(logic.decide(LATER + 5, &stretched), Operation::Accelerate);
        let mut logic = playing(aiming_at(100), 480);
        logic.on_stretch();
        assert_eq!(logic.decide(LATER, &stretched), Operation::FastAccelerate);
    }

    #[test]
    fn a_change_that_failed_is_tried_again_at_once() {
        let mut logic = playing(aiming_at(100), 150);
        logic.on_stretch();
        assert_eq!(logic.decide(LATER, &status(Mode::StretchFailed, 100)), Operation::Accelerate);
        assert_eq!(logic.decide(LATER, &status(Mode::Stretched, 100)), Operation::Accelerate, "and is not remembered");
    }

    #[test]
    fn keeps_the_tempo_for_the_first_six_ticks() {
        let early = |tick: i64| {
            let mut logic = DecisionLogic::new(aiming_at(100));
            logic.arrivals.insert(TARGET - tick * SAMPLES_PER_TICK, 20 * MS, 0);
            logic.decide(tick, &status(Mode::Normal, 100))
        };
        assert_eq!((early(5), early(6)), (Operation::Normal, Operation::PreemptiveExpand));
        let mut logic = playing(aiming_at(100), 50);
        logic.reset(LATER);
        logic.arrivals.insert(TARGET - LATER * SAMPLES_PER_TICK, 20 * MS, 0);
        assert_eq!(logic.decide(LATER + 5, &status(Mode::Normal, 100)), Operation::Normal);
        assert_eq!(logic.decide(LATER + 6, &status(Mode::Normal, 100)), Operation::PreemptiveExpand);
    }

    #[test]
    fn buffer_fills_to_half_the_target_after_concealment() {
        // decision_logic_unittest.cc, PostponeDecodeAfterExpand: target 500 ms, 200 and 250 ms in the buffer.
        let decide = |status| playing(aiming_at(500), 500).decide(LATER, &status);
        assert_eq!(decide(status(Mode::Expand, 200)), Operation::Expand);
        assert_eq!(decide(status(Mode::Expand, 250)), Operation::Normal);
        assert_eq!(decide(Status { faded: false, ..status(Mode::Expand, 200) }), Operation::Normal);
        assert_eq!(decide(Status { silence_waits: true, ..status(Mode::Expand, 200) }), Operation::Normal);
        assert_eq!(decide(status(Mode::ComfortNoise, 249)), Operation::ComfortNoiseContinued);
        assert_eq!(decide(status(Mode::Merge, 200)), Operation::Normal);
    }

    #[test]
    fn noise_lasts_as_long_as_the_silence_unless_too_much_waits() {
        // decision_logic_unittest.cc, TimeStrechComfortNoise: target 500 ms, silence of 400 ms.
        let mut logic = playing(aiming_at(500), 500);
        let ahead = with_next(status(Mode::ComfortNoise, 300), TARGET + 400 * MS);
        let mut decide = |generated_ms, buffered_ms| {
            let status = Status { generated: generated_ms * MS, span_and_wait: buffered_ms * MS, ..ahead };
            logic.decide(LATER, &status)
        };
        assert_eq!(decide(400, 200), Operation::ComfortNoiseContinued, "below half the target");
        assert_eq!(decide(399, 300), Operation::ComfortNoiseContinued, "too early");
        assert_eq!(decide(400, 300), Operation::Normal);
        assert_eq!(decide(200, 550), Operation::ComfortNoiseContinued);
        assert_eq!(decide(200, 551), Operation::Normal, "more than 50 ms above the target");
        assert_eq!(decide(200, 600), Operation::Normal);
    }

    #[test]
    fn conceals_the_length_of_a_loss_and_then_joins() {
        let mut logic = playing(aiming_at(100), 100);
        let lost = with_next(status(Mode::Expand, 60), TARGET + 20 * MS);
        assert_eq!(logic.decide(LATER, &Status { last_mode: Mode::Normal, ..lost }), Operation::Expand);
        assert_eq!(logic.decide(LATER, &Status { generated: 19 * MS, ..lost }), Operation::Expand);
        assert_eq!(logic.decide(LATER, &Status { generated: 20 * MS, ..lost }), Operation::Merge);
        assert_eq!(logic.decide(LATER, &Status { span_and_wait: 151 * MS, ..lost }), Operation::Merge);
    }

    #[test]
    fn continues_the_operation_without_a_packet() {
        let mut logic = playing(aiming_at(100), 100);
        let none = |mode| Status { next: None, ..status(mode, 0) };
        assert_eq!(logic.decide(LATER, &none(Mode::Normal)), Operation::Expand);
        assert_eq!(logic.decide(LATER, &none(Mode::ComfortNoise)), Operation::ComfortNoiseContinued);
        let silence = Status { next: Some(NextPacket { media: TARGET, silence: true }), ..status(Mode::Expand, 0) };
        assert_eq!(logic.decide(LATER, &silence), Operation::ComfortNoise);
    }

    #[test]
    fn the_target_has_limits() {
        // delay_constraints_unittest.cc: 200 packets of 20 ms hold 4 s, three quarters of it may be filled.
        let target = |config: NeteqConfig, packet_ms: i64| {
            let mut logic = DecisionLogic::new(config);
            logic.on_arrival(0, 0, packet_ms * MS);
            logic.target_ms()
        };
        let default = NeteqConfig::default();
        let at_most = |ms| NeteqConfig { max_delay: Some(Span::from_millis(ms)), ..default };
        assert_eq!(target(default, 20), 80);
        assert_eq!(target(aiming_at(140), 20), 140);
        assert_eq!(target(at_most(60), 20), 60);
        assert_eq!(target(at_most(90), 20), 80);
        assert_eq!(target(aiming_at(4001), 20), 3000);
        assert_eq!(target(NeteqConfig { max_packets: 20, ..aiming_at(4001) }, 20), 300);
        assert_eq!(target(NeteqConfig { max_packets: 20, ..default }, 4), 60);
        assert_eq!(target(NeteqConfig { max_delay: Some(Span::from_millis(400)), ..aiming_at(400) }, 20), 400);
        assert_eq!(DecisionLogic::new(aiming_at(4001)).target_ms(), 4001, "no packet, no room known");
    }

    #[test]
    fn delays_count_from_the_second_packet_on() {
        let mut logic = DecisionLogic::new(NeteqConfig::default());
        logic.on_arrival(0, 0, 20 * MS);
        logic.on_arrival(60, 20 * MS, 20 * MS);
        assert_eq!(logic.target_ms(), 80, "the first delay, of 580 ms, began the first half second");
        logic.on_arrival(111, 40 * MS, 20 * MS);
        assert_eq!(logic.target_ms(), 600);
        logic.on_arrival(170, 40 * MS, 20 * MS);
        assert_eq!(logic.target_ms(), 600, "the same packet again counts for nothing");
        logic.on_arrival(170, 60 * MS, 20 * MS);
        assert_eq!(logic.target_ms(), 1080);
        logic.reset(111);
        assert_eq!((logic.target_ms(), logic.arrivals.len()), (80, 0));
    }
}
