//! Loss statistics: loss rate, mean burst, and the burst ratio of ITU-T G.107.

/// Counter of losses, unit by unit in send order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LossRuns {
    sent: u64,
    lost: u64,
    bursts: u64,
    in_burst: bool,
}

impl LossRuns {
    /// Returns an empty counter.
    pub fn new() -> Self {
        Self::default()
    }

    /// Records the next unit; `lost` is true if it was lost.
    pub fn on_unit(&mut self, lost: bool) {
        self.sent += 1;
        self.lost += u64::from(lost);
        self.bursts += u64::from(lost && !self.in_burst);
        self.in_burst = lost;
    }

    /// Returns the number of units so far.
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns the number of lost units.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Returns lost over sent (papers 000–002: packet loss rate); `None` if nothing was sent.
    pub fn rate(&self) -> Option<f64> {
        (self.sent > 0).then(|| self.lost as f64 / self.sent as f64)
    }

    /// Returns the mean length of a run of losses; `None` if nothing was lost.
    pub fn mean_burst(&self) -> Option<f64> {
        (self.bursts > 0).then(|| self.lost as f64 / self.bursts as f64)
    }

    /// ITU-T G.107 §7.5: mean burst divided by 1/(1 − p), the mean burst of independent losses at the same rate p. It
    /// is 1 for independent losses and larger for clustered ones; 1 if nothing or everything was lost.
    pub fn burst_ratio(&self) -> f64 {
        match (self.mean_burst(), self.rate()) {
            (Some(burst), Some(rate)) if self.lost < self.sent => burst * (1.0 - rate),
            _ => 1.0,
        }
    }
}

impl FromIterator<bool> for LossRuns {
    fn from_iter<I: IntoIterator<Item = bool>>(lost: I) -> Self {
        let mut runs = LossRuns::new();
        lost.into_iter().for_each(|lost| runs.on_unit(lost));
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    #[test]
    fn bursts_are_runs_of_losses() {
        let runs: LossRuns = [0, 1, 1, 0, 1, 0, 0, 0, 0, 0].map(|lost| lost == 1).into_iter().collect();
        assert_eq!((runs.rate(), runs.mean_burst()), (Some(0.3), Some(1.5)));
        assert!((runs.burst_ratio() - 1.5 * 0.7).abs() < 1e-12);
    }

    #[test]
    fn independent_losses_have_burst_ratio_one() {
        let mut stream = Seed(1).stream("loss");
        let runs: LossRuns = (0..500_000).map(|_| stream.chance(0.2)).collect();
        assert!((runs.burst_ratio() - 1.0).abs() < 0.01, "{}", runs.burst_ratio());
    }

    #[test]
    fn a_two_state_chain_has_the_burst_ratio_of_its_transitions() {
        // G.107: BurstR = 1 / (p + q), p from received to lost, q from lost to received.
        let (p, q) = (0.05, 0.25);
        let (mut stream, mut lost) = (Seed(2).stream("loss"), false);
        let runs: LossRuns = (0..1_000_000)
            .map(|_| {
                lost = if lost { !stream.chance(q) } else { stream.chance(p) };
                lost
            })
            .collect();
        assert!((runs.burst_ratio() - 1.0 / (p + q)).abs() < 0.05, "{}", runs.burst_ratio());
    }

    #[test]
    fn rate_needs_sent_units_and_burst_needs_lost_ones() {
        assert_eq!((LossRuns::new().rate(), LossRuns::new().mean_burst()), (None, None));
        let received: LossRuns = [false; 3].into_iter().collect();
        assert_eq!((received.rate(), received.mean_burst()), (Some(0.0), None));
    }

    #[test]
    fn clusters_need_losses_and_arrivals() {
        assert_eq!([false; 3].into_iter().collect::<LossRuns>().burst_ratio(), 1.0);
        assert_eq!([true; 3].into_iter().collect::<LossRuns>().burst_ratio(), 1.0);
    }
}
