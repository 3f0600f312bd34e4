//! Switches a run between islands and the plain loop.
//!
//! On a busy machine the system takes a core away from one thread while the others wait for it in each window. Islands are
//! then slower than the plain loop. So a run compares the events per second of wall time of both loops, and stays on islands
//! while they are a tenth faster. The results do not depend on the choice.

use std::time::{Duration, Instant as Clock};

use crate::partition::Changes;

/// Duration of a measurement of the rate.
const SAMPLE: Duration = Duration::from_millis(30);
/// Time in the plain loop after islands were slower: the first time, and the maximum. It grows fourfold after each failed
/// attempt.
const PAUSE: [Duration; 2] = [Duration::from_millis(500), Duration::from_millis(2_400)];
/// Time on islands before the plain loop is measured again.
const TRUST: Duration = Duration::from_millis(1_500);
/// Shortest time between two switches, as a multiple of the duration of a switch.
const CHANGE: u32 = 20;
/// Least speed of islands as a multiple of the speed of the plain loop.
const LEAST: f64 = 1.1;

/// Chooses between islands and the plain loop for the rest of a run.
pub(super) struct LoopChoice {
    changes: Changes,
    /// The run is on islands.
    pub on_islands: bool,
    /// Windows, or steps of the plain loop, since the last change.
    steps: u64,
    /// Time of the last switch; start of the current sample and the number of events at that time.
    changed: Clock,
    sample: (Clock, u64),
    /// Time to stay in the plain loop.
    pause: Duration,
    /// The same after the next failed attempt.
    next_pause: Duration,
    /// Events per second in the plain loop.
    plain: f64,
    /// The longest change so far.
    longest_change: Duration,
}

impl LoopChoice {
    /// Starts in the plain loop if rates decide, so that a short run is not partitioned.
    pub fn new(changes: Changes) -> Self {
        let now = Clock::now();
        LoopChoice {
            changes,
            on_islands: changes != Changes::ByRate,
            steps: 0,
            changed: now,
            sample: (now, 0),
            pause: SAMPLE,
            next_pause: PAUSE[0],
            plain: 0.0,
            longest_change: Duration::ZERO,
        }
    }

    /// Called at the end of a window or of a step of the plain loop; `events` returns the number of events so far. Returns
    /// whether the run switches now.
    pub fn switches(&mut self, events: impl Fn() -> u64) -> bool {
        self.steps += 1;
        match self.changes {
            Changes::Never => false,
            Changes::Windows(windows) => self.steps >= windows,
            Changes::ByRate => self.switches_at(Clock::now(), events),
        }
    }

    fn switches_at(&mut self, now: Clock, events: impl Fn() -> u64) -> bool {
        let passed = now.saturating_duration_since(self.sample.0);
        let wanted = if self.on_islands { SAMPLE.max(self.longest_change) } else { self.pause };
        if passed < wanted {
            return false;
        }
        let events = events();
        let rate = events.saturating_sub(self.sample.1) as f64 / passed.as_secs_f64();
        self.sample = (now, events);
        if !self.on_islands {
            self.plain = rate;
            return true;
        }
        if rate < LEAST * self.plain {
            self.pause = self.next_pause.max(self.longest_change * CHANGE);
            self.next_pause = (self.next_pause * 4).min(PAUSE[1]);
            return true;
        }
        self.next_pause = PAUSE[0];
        self.pause = SAMPLE.max(self.longest_change);
        now.saturating_duration_since(self.changed) >= TRUST.max(self.longest_change * CHANGE)
    }

    /// Records a switch that took this time, after `events` events in total.
    pub fn record_switch(&mut self, took: Duration, events: u64) {
        let now = Clock::now();
        (self.on_islands, self.steps) = (!self.on_islands, 0);
        (self.changed, self.sample) = (now, (now, events));
        self.longest_change = self.longest_change.max(took);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the seconds that a run of ten seconds spends on islands and in the plain loop. `rate` gives the events per
    /// millisecond at a time in milliseconds, on islands or not.
    fn spent(rate: impl Fn(u64, bool) -> u64) -> [f64; 2] {
        let mut choice = LoopChoice::new(Changes::ByRate);
        let (begin, mut events, mut spent) = (choice.changed, 0, [0.0; 2]);
        for millis in 1..=10_000 {
            let now = begin + Duration::from_millis(millis);
            events += rate(millis, choice.on_islands);
            spent[usize::from(!choice.on_islands)] += 1e-3;
            if choice.switches_at(now, || events) {
                choice.record_switch(Duration::from_millis(1), events);
                (choice.changed, choice.sample.0) = (now, now);
            }
        }
        spent
    }

    #[test]
    fn a_run_stays_on_islands_that_are_faster() {
        let [islands, plain] = spent(|_, on_islands| if on_islands { 150 } else { 100 });
        assert!(plain < 0.03 * islands, "{islands} and {plain} s");
    }

    #[test]
    fn a_run_spends_little_time_on_islands_that_are_slower() {
        for slower in [40, 90, 105] {
            let [islands, plain] = spent(|_, on_islands| if on_islands { slower } else { 100 });
            assert!(islands < 0.04 * plain, "{islands} and {plain} s at {slower} %");
        }
    }

    #[test]
    fn a_machine_that_gets_busy_or_idle_changes_the_way() {
        let busy = |millis: u64| (3_000..6_000).contains(&millis);
        let [islands, plain] = spent(|millis, on_islands| match (busy(millis), on_islands) {
            (true, true) => 40,
            (false, true) => 150,
            (_, false) => 100,
        });
        // The pause that begins last may reach into the idle time.
        assert!((3.5..7.2).contains(&islands) && plain > 2.7, "{islands} and {plain} s");
    }
}
