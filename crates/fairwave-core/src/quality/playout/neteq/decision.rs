//! What to do next: libwebrtc `neteq/decision_logic.cc` and `delay_constraints.cc`.
//!
//! The buffer level that libwebrtc filters beside (`buffer_level_filter.cc`) is left out: no decision reads it any more.

use super::arrivals::Arrivals;
use super::delay_manager::DelayManager;
use super::{NeteqConfig, Operation, SAMPLES_PER_MS, SAMPLES_PER_TICK};

/// Ticks between two operations that change the tempo.
const TIMESCALE_INTERVAL: i64 = 5;

/// Tempo is changed by whole pitch periods of up to 15 ms, at times 10 ms apart.
const ADJUSTMENT_MS: i64 = 20;

/// Playing goes on after a pause when the buffer holds so much of the target.
const POSTPONE_PERCENT: i64 = 50;

/// A pause ends, however long it was to be, when the buffer is so far above the target.
const ABOVE_TARGET_MS: i64 = 50;

/// What the last operation came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    Normal,
    Merge,
    Expand,
    /// The tempo was changed.
    Stretched,
    /// It was to be changed, but there was too little that had not been played.
    StretchFailed,
    ComfortNoise,
}

/// The first packet that waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Next {
    /// Its media time, in samples.
    pub media: i64,
    /// It describes silence.
    pub silence: bool,
}

/// What the receiver has, all in samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Status {
    pub last_mode: Mode,
    /// Media time of what is to be decoded next.
    pub target: i64,
    pub next: Option<Next>,
    /// Media time from the first packet that waits to the last, and how long that has waited.
    pub span_and_wait: i64,
    /// A description of silence waits.
    pub silence_waits: bool,
    /// How long noise or concealment has been played.
    pub generated: i64,
    /// What is decoded and not yet played, with the overlap that is kept for cross-fading.
    pub decoded: i64,
    /// Concealment has faded to less than half.
    pub faded: bool,
}

/// Decides from one tick to the next; the ticks are counted by the caller.
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

    /// Forgets all delays, as when a call begins or its buffer was emptied.
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

    /// An operation of the last tick was to change the tempo.
    pub(super) fn on_stretch(&mut self) {
        self.stretched = true;
    }

    /// The target, within its limits and three quarters of the buffer.
    pub(super) fn target_ms(&self) -> i64 {
        let ms = |span: crate::units::Span| (span.nanos() / 1_000_000) as i64;
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
        let Some(next) = status.next else { return self.without_packet(status) };
        if next.silence {
            return Operation::ComfortNoise;
        }
        if self.postpones(status) {
            return self.without_packet(status);
        }
        if next.media == status.target {
            self.with_expected(tick, status)
        } else {
            self.with_future(status, next.media)
        }
    }

    fn without_packet(&self, status: &Status) -> Operation {
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
            return self.without_packet(status);
        }
        match status.last_mode {
            Mode::Expand => Operation::Merge,
            Mode::ComfortNoise => Operation::Normal,
            _ => Operation::Expand,
        }
    }

    /// After a pause the buffer is let fill, so that it does not run dry again at once.
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
