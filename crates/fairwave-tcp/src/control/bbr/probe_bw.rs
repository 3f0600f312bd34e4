//! ProbeBW: the times to send faster, the duration of probing, and the times to yield.

use super::{Ack, Bbr, Path, State, Window};
use fairwave_units::units::{Instant, Span};

/// Phase of the acknowledgements relative to the last probing (`BBR.ack_phase`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum AckPhase {
    #[default]
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// State of the probing cycle.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Cycle {
    ack_phase: AckPhase,
    /// The current acknowledgements are of segments sent while probing (`BBR.is_bw_probe_sample`).
    pub is_sample: bool,
    /// Start of the cycle, and the wait until the next probing.
    pub began: Instant,
    pub wait: Span,
    pub rounds_since_up: u32,
    /// The last probing had too many losses (`BBR.prev_probe_too_high`).
    too_high: bool,
    /// The last probing stopped at the bound that the one before had found (`BBR.prev_probe_precautionary`).
    precautionary: bool,
    /// Segments delivered since the last step of the long-term bound, and the number per step.
    up_acked: f64,
    acked_per_step: f64,
    up_rounds: u32,
}

impl Default for Cycle {
    fn default() -> Self {
        Cycle {
            ack_phase: AckPhase::Init,
            is_sample: false,
            began: Instant::ZERO,
            wait: Span::ZERO,
            rounds_since_up: 0,
            too_high: false,
            precautionary: false,
            up_acked: 0.0,
            acked_per_step: f64::INFINITY,
            up_rounds: 0,
        }
    }
}

/// The shortest and the longest wait between probings, seconds, and the largest number of round trips.
const SHORTEST_WAIT: f64 = 2.0;
const LONGEST_WAIT: f64 = 3.0;
const MOST_ROUNDS: f64 = 63.0;
/// The bound grows at most 2^30 segments in a round trip.
const MOST_UP_ROUNDS: u32 = 30;

impl Cycle {
    pub fn count_round(&mut self, begins: bool) {
        self.rounds_since_up += u32::from(begins);
    }

    /// Handles excessive losses or marks. A probing gets one response only.
    pub fn was_too_high(&mut self) {
        (self.too_high, self.is_sample) = (true, false);
    }

    /// ProbeRTT begins, which ends any probing.
    pub fn stop(&mut self) {
        self.ack_phase = AckPhase::Stopping;
    }

    /// `RaiseInflightLongtermSlope`.
    fn raise_slope(&mut self, window: f64) {
        let growth = f64::from(1u32 << self.up_rounds);
        self.up_rounds = (self.up_rounds + 1).min(MOST_UP_ROUNDS);
        self.acked_per_step = (window / growth).max(1.0);
    }
}

impl Bbr {
    /// `StartProbeBW_DOWN`.
    pub(super) fn start_down(&mut self, path: &Path) {
        self.bounds.reset_signals();
        self.cycle.acked_per_step = f64::INFINITY;
        // PickProbeWait.
        self.cycle.rounds_since_up = self.stream.uniform_below(2) as u32;
        let wait = SHORTEST_WAIT + (LONGEST_WAIT - SHORTEST_WAIT) * self.stream.uniform();
        self.cycle.wait = Span::from_seconds(wait);
        self.cycle.began = path.now;
        self.cycle.ack_phase = AckPhase::Stopping;
        self.rounds.begin(path);
        self.state = State::Down;
    }

    /// `StartProbeBW_REFILL`.
    pub(super) fn start_refill(&mut self, path: &Path) {
        self.bounds.reset_shortterm();
        self.cycle.up_rounds = 0;
        self.cycle.up_acked = 0.0;
        self.cycle.precautionary = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.rounds.begin(path);
        self.state = State::Refill;
    }

    /// `StartProbeBW_UP`.
    pub(super) fn start_up(&mut self, ack: &Ack, window: &Window) {
        self.cycle.ack_phase = AckPhase::Starting;
        self.rounds.begin(ack.path);
        self.full.reset(ack.rate);
        self.state = State::Up;
        self.cycle.raise_slope(window.congestion);
    }

    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn update_cycle(&mut self, ack: &Ack, window: &Window) {
        if !self.full.reached || self.adapt_longterm(ack, window) {
            return;
        }
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe(ack, window) => self.start_refill(ack.path),
            State::Down if self.is_time_to_cruise(ack) => self.state = State::Cruise,
            State::Refill if self.rounds.begins => {
                self.cycle.is_sample = true;
                self.start_up(ack, window);
            }
            State::Up => self.go_down_if_time(ack, window),
            _ => {}
        }
    }

    /// `IsTimeToProbeBW`: the wait is over, or Reno would have had a loss by now.
    fn is_time_to_probe(&self, ack: &Ack, window: &Window) -> bool {
        let reno_rounds = self.target_inflight(window).min(MOST_ROUNDS);
        ack.path.now > self.cycle.began + self.cycle.wait || f64::from(self.cycle.rounds_since_up) >= reno_rounds
    }

    /// `IsTimeToCruise`: the queue is empty, and others have room.
    fn is_time_to_cruise(&self, ack: &Ack) -> bool {
        let in_flight = f64::from(ack.path.pipe);
        in_flight <= self.bounds.with_headroom(self.config.headroom) && in_flight <= self.inflight(self.max_bw())
    }

    /// `IsTimeToGoDown`, with its consequences.
    fn go_down_if_time(&mut self, ack: &Ack, window: &Window) {
        let longterm = self.bounds.inflight_longterm;
        let precautionary = self.cycle.too_high && f64::from(ack.path.pipe) >= longterm;
        if !precautionary && ack.fills_window && window.congestion >= longterm {
            // The bound, not the path, limits the rate.
            self.full.reset(ack.rate);
        } else if precautionary || self.full.now {
            self.cycle.precautionary |= precautionary;
            self.cycle.too_high = false;
            self.start_down(ack.path);
        }
    }

    /// `AdaptLongTermModel`. Returns true if it has chosen the next state.
    fn adapt_longterm(&mut self, ack: &Ack, window: &Window) -> bool {
        if self.cycle.ack_phase == AckPhase::Starting && self.rounds.begins {
            self.cycle.ack_phase = AckPhase::Feedback;
        }
        if self.cycle.ack_phase == AckPhase::Stopping && self.rounds.begins {
            self.cycle.is_sample = false;
            self.cycle.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() && !ack.is_limited {
                self.advance_max_bw();
            }
            if self.state.is_probe_bw() && self.cycle.precautionary && !self.cycle.too_high {
                self.start_refill(ack.path);
                return true;
            }
        }
        let longterm = self.bounds.inflight_longterm;
        if longterm < f64::INFINITY && !self.bounds.is_too_high(ack, &self.config, self.marked.is_counted) {
            self.bounds.inflight_longterm = longterm.max(f64::from(ack.sample.in_flight));
            if self.state == State::Up {
                self.raise_longterm(ack, window);
            }
        }
        false
    }

    /// `ProbeInflightLongtermUpward`.
    pub(super) fn raise_longterm(&mut self, ack: &Ack, window: &Window) {
        if !ack.fills_window || window.congestion < self.bounds.inflight_longterm {
            return;
        }
        let cycle = &mut self.cycle;
        cycle.up_acked += f64::from(ack.sample.newly_delivered);
        let steps = (cycle.up_acked / cycle.acked_per_step).floor();
        if steps >= 1.0 {
            cycle.up_acked -= steps * cycle.acked_per_step;
            self.bounds.inflight_longterm += steps;
        }
        if self.rounds.begins {
            cycle.raise_slope(window.congestion);
        }
    }
}
