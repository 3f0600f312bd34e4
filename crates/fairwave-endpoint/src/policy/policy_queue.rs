//! The interface between a sender's controller and a policy or training environment: observations go out, actions
//! come in.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use fairwave_units::units::{Instant, Span};

use super::{Level, Monitor, Outcome, Policy};

/// After a longer silence, in intervals, the policy skips the intervals in between.
const MOST_AT_ONCE: u64 = 256;

/// The current interval and the latest action. With a policy, the policy queue decides by itself. Without one, it waits
/// for [`PolicyQueue::close`] and [`PolicyQueue::act`].
#[derive(Debug)]
pub struct PolicyQueue {
    /// Observations of the current interval.
    pub monitor: Monitor,
    /// The current rate or window.
    pub level: Level,
    policy: Option<Arc<Policy>>,
    interval: Span,
    /// End of the current interval; [`Instant::NEVER`] before the sender has begun.
    ends: Instant,
    action: Option<f64>,
}

impl PolicyQueue {
    /// Creates a policy queue for intervals of this length. Without a policy, external code decides.
    pub fn new(interval: Span, policy: Option<Arc<Policy>>) -> Self {
        let interval = interval.max(Span::from_millis(1));
        let (monitor, level) = (Monitor::default(), Level::default());
        PolicyQueue { monitor, level, policy, interval, ends: Instant::NEVER, action: None }
    }

    /// The first interval end after a given time.
    fn end_after(&self, now: Instant) -> Instant {
        let length = self.interval.nanos();
        Instant::from_nanos((now.nanos() / length).saturating_add(1).saturating_mul(length))
    }

    /// Starts the first interval when the sender begins.
    pub fn begin(&mut self, now: Instant, level: Level) {
        (self.monitor, self.level, self.action) = (Monitor::new(now), level, None);
        self.ends = self.end_after(now);
    }

    /// True if the sender has begun.
    pub fn has_begun(&self) -> bool {
        self.ends < Instant::NEVER
    }

    /// End of the current interval, inclusive.
    pub fn ends(&self) -> Instant {
        self.ends
    }

    /// The time at which the interval's action takes effect: 1 ns after its end.
    pub fn due(&self) -> Instant {
        if self.has_begun() { self.ends + Span::from_nanos(1) } else { Instant::NEVER }
    }

    /// Ends the current interval. For external decisions.
    pub fn close(&mut self) -> Outcome {
        let outcome = self.monitor.close(self.ends, self.level);
        if self.has_begun() {
            self.ends += self.interval;
        }
        outcome
    }

    /// Sets the next action, from −1 to 1. It replaces an earlier action that was not yet taken.
    pub fn act(&mut self, action: f64) {
        self.action = Some(if action.is_nan() { 0.0 } else { action.clamp(-1.0, 1.0) });
    }

    /// Takes the action that applies from `now` on; each action is returned once. A policy first decides for every
    /// interval that has ended.
    pub fn take(&mut self, now: Instant) -> Option<f64> {
        let policy = self.policy.clone();
        if let Some(policy) = policy.filter(|_| self.ends < now) {
            let behind = now.span_since(self.ends).nanos() / self.interval.nanos();
            if behind > MOST_AT_ONCE {
                let left_out = (behind - MOST_AT_ONCE).saturating_mul(self.interval.nanos());
                self.ends += Span::from_nanos(left_out);
            }
            while self.ends < now {
                let outcome = self.close();
                self.act(policy.act(&outcome.observation));
            }
        }
        self.action.take()
    }

    /// Discards an action that was not yet taken.
    pub fn forget(&mut self) {
        self.action = None;
    }
}

/// A policy queue shared by the sender and the external code.
#[derive(Clone)]
pub struct SharedPolicyQueue(Arc<Mutex<PolicyQueue>>);

impl SharedPolicyQueue {
    /// Shares a policy queue.
    pub fn new(queue: PolicyQueue) -> Self {
        SharedPolicyQueue(Arc::new(Mutex::new(queue)))
    }

    /// Calls `then` with exclusive access to the policy queue.
    pub fn with<T>(&self, then: impl FnOnce(&mut PolicyQueue) -> T) -> T {
        then(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Two handles are equal if they share one policy queue.
impl PartialEq for SharedPolicyQueue {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for SharedPolicyQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedPolicyQueue")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn intervals_end_at_multiples_of_their_length() {
        let mut queue = PolicyQueue::new(Span::from_millis(50), None);
        assert_eq!((queue.has_begun(), queue.due()), (false, Instant::NEVER));
        queue.begin(ms(120), Level::Rate(1e6));
        assert_eq!((queue.ends(), queue.due()), (ms(150), ms(150) + Span::from_nanos(1)));
        queue.close();
        assert_eq!(queue.ends(), ms(200));
        queue.begin(ms(250), Level::Rate(1e6));
        assert_eq!(queue.ends(), ms(300), "a beginning at an end belongs to the next");
    }

    #[test]
    fn an_action_is_taken_once_cut_to_its_range_and_no_number_is_none() {
        let mut queue = PolicyQueue::new(Span::from_millis(50), None);
        queue.begin(ms(0), Level::Rate(1e6));
        assert_eq!(queue.take(ms(51)), None, "nobody has acted");
        for (action, taken) in [(0.5, 0.5), (7.0, 1.0), (f64::NEG_INFINITY, -1.0), (f64::NAN, 0.0)] {
            queue.act(action);
            assert_eq!((queue.take(ms(51)), queue.take(ms(51))), (Some(taken), None));
        }
    }

    #[test]
    fn a_policy_decides_after_the_end_of_the_interval_and_not_at_it() {
        let mut queue = PolicyQueue::new(Span::from_millis(50), Some(Arc::new(Policy::default())));
        queue.begin(ms(0), Level::Rate(1e6));
        assert_eq!(queue.take(ms(50)), None);
        assert!(queue.take(ms(50) + Span::from_nanos(1)).is_some());
        assert_eq!(queue.ends(), ms(100));
        // After a silence of an hour, the policy does not compute every interval.
        assert!(queue.take(ms(3_600_000)).is_some());
        assert_eq!(queue.ends(), ms(3_600_000));
    }
}
