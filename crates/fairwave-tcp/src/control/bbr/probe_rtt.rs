//! ProbeRTT: empties the queue to measure the smallest round trip.

use super::filter::round_trip;
use super::{Ack, Bbr, State, Window};

impl Bbr {
    /// `UpdateMinRTT`.
    pub(super) fn update_min_rtt(&mut self, ack: &Ack) {
        let (now, min) = (ack.path.now, &mut self.min_rtt);
        min.expired = now > min.probe_at + self.config.probe_rtt_interval;
        if let Some(rtt) = round_trip(ack.sample).filter(|rtt| *rtt < min.probe_least || min.expired) {
            (min.probe_least, min.probe_at) = (rtt, now);
        }
        if min.probe_least < min.least || now > min.at + self.config.min_rtt_window {
            (min.least, min.at) = (min.probe_least, min.probe_at);
        }
    }

    /// `ProbeRTTCwnd`.
    pub(super) fn probe_rtt_window(&self) -> f64 {
        self.product(self.bw(), self.config.probe_rtt_gain).max(super::LEAST)
    }

    /// `CheckProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, ack: &Ack, window: &mut Window) {
        // The segment was alone in flight when it was sent, since the application had no data before.
        let was_idle = ack.sample.application_limited && ack.sample.in_flight <= 1;
        if self.state != State::ProbeRtt && self.min_rtt.expired && !was_idle {
            self.save(window);
            self.state = State::ProbeRtt;
            self.min_rtt.until = None;
            self.cycle.stop();
            self.rounds.begin(ack.path);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(ack, window);
        }
    }

    /// `HandleProbeRTT` and `CheckProbeRTTDone`.
    fn handle_probe_rtt(&mut self, ack: &Ack, window: &mut Window) {
        let now = ack.path.now;
        self.held.mark(ack.path);
        match self.min_rtt.until {
            None if f64::from(ack.path.pipe) <= self.probe_rtt_window() => {
                self.min_rtt.until = Some(now + self.config.probe_rtt_duration);
                self.min_rtt.round_done = false;
                self.rounds.begin(ack.path);
            }
            None => {}
            Some(until) => {
                self.min_rtt.round_done |= self.rounds.begins;
                if self.min_rtt.round_done && now > until {
                    self.min_rtt.probe_at = now;
                    self.restore(window);
                    self.exit_probe_rtt(ack);
                }
            }
        }
    }

    /// `ExitProbeRTT`.
    pub(super) fn exit_probe_rtt(&mut self, ack: &Ack) {
        self.bounds.reset_shortterm();
        if self.full.reached {
            self.start_down(ack.path);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
