//! Bounds from losses and marks: the data in flight over the long term, and data in flight and rate since the last
//! probing.

use super::{Ack, Bbr, BbrConfig, Window};
use crate::control::Path;

/// The bounds, and the signals that set them. Infinite without a bound.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Bounds {
    /// Segments per second.
    pub bw_shortterm: f64,
    /// Segments.
    pub inflight_shortterm: f64,
    /// Segments.
    pub inflight_longterm: f64,
    /// The largest values of the current round trip: segments per second, and segments.
    pub bw_latest: f64,
    pub inflight_latest: f64,
    /// Losses occurred in the current round trip.
    pub lost_in_round: bool,
    /// The loss round ends with the delivery of a segment that was sent after this many deliveries.
    pub round_delivered: u64,
    /// A loss round begins with this acknowledgement.
    pub round_begins: bool,
    /// Acknowledgements of the current round trip that reported losses.
    pub loss_events: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            bw_shortterm: f64::INFINITY,
            inflight_shortterm: f64::INFINITY,
            inflight_longterm: f64::INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            lost_in_round: false,
            round_delivered: 0,
            round_begins: false,
            loss_events: 0,
        }
    }
}

impl Bounds {
    /// `NoteLoss`.
    pub fn note_loss(&mut self, path: &Path) {
        if !self.lost_in_round {
            self.round_delivered = path.delivered;
        }
        self.lost_in_round = true;
    }

    /// `UpdateLatestDeliverySignals`.
    pub fn update_latest(&mut self, ack: &Ack) {
        self.bw_latest = self.bw_latest.max(ack.rate);
        self.inflight_latest = self.inflight_latest.max(ack.delivered);
        self.round_begins = ack.sample.prior_delivered >= self.round_delivered;
        if self.round_begins {
            self.round_delivered = ack.path.delivered;
        }
    }

    /// `AdvanceLatestDeliverySignals`.
    pub fn advance_latest(&mut self, ack: &Ack) {
        if self.round_begins {
            (self.bw_latest, self.inflight_latest) = (ack.rate, ack.delivered);
        }
    }

    /// `ResetCongestionSignals`.
    pub fn reset_signals(&mut self) {
        (self.lost_in_round, self.bw_latest, self.inflight_latest) = (false, 0.0, 0.0);
    }

    /// `ResetShortTermModel`.
    pub fn reset_shortterm(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (f64::INFINITY, f64::INFINITY);
    }

    /// `IsInflightTooHigh`: losses or marks exceed their threshold, as a share of the data in flight.
    pub fn is_too_high(&self, ack: &Ack, config: &BbrConfig, marks_counted: bool) -> bool {
        let (in_flight, marked) = (f64::from(ack.sample.in_flight), f64::from(ack.sample.marked));
        let lost = f64::from(ack.sample.lost) + if marks_counted { 0.0 } else { marked };
        lost > in_flight * config.loss_threshold || (marks_counted && marked > ack.delivered * config.ecn_threshold)
    }

    /// `InflightAtLoss`: the data in flight when the losses passed the threshold.
    pub fn inflight_at_loss(&self, ack: &Ack, config: &BbrConfig) -> f64 {
        let lost = ack.lost as f64;
        let in_flight_before = (f64::from(ack.sample.in_flight) - lost).max(0.0);
        let lost_before = (f64::from(ack.sample.lost) - lost).max(0.0);
        let prefix = (config.loss_threshold * in_flight_before - lost_before) / (1.0 - config.loss_threshold);
        in_flight_before + prefix.max(0.0)
    }

    /// True if this acknowledgement ends a round trip of Startup that was entirely in recovery and had `enough`
    /// acknowledgements with losses.
    pub fn startup_losses(&mut self, ack: &Ack, recovers: bool, enough: u32) -> bool {
        self.loss_events += u32::from(ack.lost > 0);
        let many = recovers && self.round_begins && self.loss_events >= enough;
        if self.round_begins {
            self.loss_events = 0;
        }
        many
    }

    /// `InflightWithHeadroom`.
    pub fn with_headroom(&self, part: f64) -> f64 {
        if self.inflight_longterm == f64::INFINITY {
            return f64::INFINITY;
        }
        (self.inflight_longterm - (part * self.inflight_longterm).max(1.0)).max(super::LEAST)
    }
}

/// The response to marks of version 3 in `google/bbr`: by their share, on short paths.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct MarkShare {
    /// True on a path that is short enough.
    pub is_counted: bool,
    /// Mean share of marked segments. Each round trip has a weight of 1/16.
    pub alpha: f64,
    delivered: f64,
    marked: f64,
    /// Consecutive round trips of Startup above the threshold.
    too_many: u32,
    /// Marks occurred in the current round trip.
    segments_in_round: bool,
}

/// `bbr_ecn_alpha_gain`, and the number of round trips above the threshold that end Startup (`bbr_full_ecn_cnt`).
const ALPHA_GAIN: f64 = 1.0 / 16.0;
const FULL_ROUNDS: u32 = 2;

impl Default for MarkShare {
    fn default() -> Self {
        MarkShare { is_counted: false, alpha: 1.0, delivered: 0.0, marked: 0.0, too_many: 0, segments_in_round: false }
    }
}

impl MarkShare {
    pub fn take(&mut self, ack: &Ack, config: &BbrConfig, min_rtt: f64) {
        self.is_counted |= min_rtt <= config.ecn_max_rtt.seconds();
        self.delivered += f64::from(ack.sample.newly_delivered);
        self.marked += f64::from(ack.path.marked);
        self.segments_in_round |= ack.path.marked > 0;
    }

    pub fn end_round(&mut self, ends: bool, config: &BbrConfig) {
        if !ends || self.delivered == 0.0 {
            return;
        }
        let share = (self.marked / self.delivered).min(1.0);
        if self.is_counted {
            self.alpha += ALPHA_GAIN * (share - self.alpha);
            self.too_many = if share >= config.ecn_threshold { self.too_many + 1 } else { 0 };
        }
        (self.delivered, self.marked) = (0.0, 0.0);
    }

    /// True if marks end Startup.
    pub fn ends_startup(&self) -> bool {
        self.too_many >= FULL_ROUNDS
    }
}

impl Bbr {
    /// `HandleLostPacket`, once per acknowledgement. Marks that are not counted are losses, too.
    pub(super) fn note_losses(&mut self, ack: &Ack, window: &Window) {
        let marked_as_lost = ack.path.marked > 0 && !self.marked.is_counted;
        if ack.lost > 0 || marked_as_lost {
            self.bounds.note_loss(ack.path);
        }
        let tells = ack.lost > 0 || ack.path.marked > 0;
        if !tells || !self.cycle.is_sample || !self.bounds.is_too_high(ack, &self.config, self.marked.is_counted) {
            return;
        }
        // HandleInflightTooHigh.
        self.cycle.was_too_high();
        if !ack.is_limited {
            let at_loss = self.bounds.inflight_at_loss(ack, &self.config);
            self.bounds.inflight_longterm = at_loss.max(self.target_inflight(window) * self.config.beta);
        }
        if self.state == super::State::Up {
            self.start_down(ack.path);
        }
    }

    /// `UpdateCongestionSignals` without the largest rate. `AdaptLowerBoundsFromCongestion` runs once per round trip.
    pub(super) fn adapt_lower_bounds(&mut self, window: &Window) {
        if !self.bounds.round_begins {
            return;
        }
        let (max_bw, beta, marks) = (self.max_bw(), self.config.beta, self.marked);
        let bounds = &mut self.bounds;
        if !self.state.is_probing() {
            let marked = marks.segments_in_round && marks.is_counted;
            if (bounds.lost_in_round || marked) && bounds.inflight_shortterm == f64::INFINITY {
                bounds.inflight_shortterm = window.congestion;
            }
            let by_marks = if marked {
                bounds.inflight_shortterm * (1.0 - marks.alpha * self.config.ecn_factor)
            } else {
                f64::INFINITY
            };
            if bounds.lost_in_round {
                let before = if bounds.bw_shortterm == f64::INFINITY { max_bw } else { bounds.bw_shortterm };
                bounds.bw_shortterm = bounds.bw_latest.max(beta * before);
                bounds.inflight_shortterm = bounds.inflight_latest.max(beta * bounds.inflight_shortterm);
            }
            bounds.inflight_shortterm = bounds.inflight_shortterm.min(by_marks);
        }
        bounds.lost_in_round = false;
        self.marked.segments_in_round = false;
    }
}
