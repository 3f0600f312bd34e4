//! The time that each cause limited a sender. The causes are the receiver's window, the congestion window (or
//! rate), and the application without data to send.
//!
//! Source: RFC 4898 (SndLimTimeRwin, SndLimTimeCwnd, SndLimTimeSnd). At each time of a flow's life, exactly one of
//! the three causes delays the next packet. So the times add up to the flow's life.
//!
//! **Assumptions.** If both windows end at the same segment, the receiver's window is the cause: a larger
//! congestion window would not help. The handshake counts as congestion, since the congestion window then allows
//! only one segment. A stopped flow has no limit, even if it resumes later.

use fairwave_units::units::{Instant, Span};

/// The cause that limits a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Limit {
    /// No limit: the sender has not begun, or has stopped.
    #[default]
    Nothing,
    /// The window that the receiver advertises.
    Receiver,
    /// The congestion window, or the rate that congestion control allows.
    Congestion,
    /// The application, which has no data to send.
    Application,
}

/// The time that each cause has limited a sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LimitedTimes {
    by: Limit,
    since: Instant,
    /// Spans for receiver, congestion and application.
    spans: [Span; 3],
}

const fn place(by: Limit) -> Option<usize> {
    match by {
        Limit::Nothing => None,
        Limit::Receiver => Some(0),
        Limit::Congestion => Some(1),
        Limit::Application => Some(2),
    }
}

impl LimitedTimes {
    /// Sets the limit from `now` on. The cost does not depend on the time since the last change.
    #[inline]
    pub fn change(&mut self, now: Instant, by: Limit) {
        if by == self.by {
            return;
        }
        if let Some(place) = place(self.by) {
            self.spans[place] += now.span_since(self.since);
        }
        (self.by, self.since) = (by, now);
    }

    /// The time limited by `by` until `now`, which must not be before the last change. Zero for [`Limit::Nothing`].
    pub fn time(&self, by: Limit, now: Instant) -> Span {
        let Some(place) = place(by) else { return Span::ZERO };
        let open = if self.by == by { now.span_since(self.since) } else { Span::ZERO };
        self.spans[place] + open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn the_times_of_the_three_add_up_to_the_flows_life() {
        let mut limited = LimitedTimes::default();
        let times = |limited: &LimitedTimes, now| {
            [Limit::Receiver, Limit::Congestion, Limit::Application, Limit::Nothing]
                .map(|by| limited.time(by, ms(now)).nanos() / 1_000_000)
        };
        assert_eq!(times(&limited, 50), [0, 0, 0, 0], "it has not begun");
        limited.change(ms(100), Limit::Congestion);
        limited.change(ms(130), Limit::Congestion);
        limited.change(ms(150), Limit::Receiver);
        limited.change(ms(170), Limit::Application);
        assert_eq!(times(&limited, 175), [20, 50, 5, 0], "the last is still going on");
        limited.change(ms(180), Limit::Receiver);
        limited.change(ms(200), Limit::Nothing);
        assert_eq!(times(&limited, 900), [40, 50, 10, 0], "nothing counts after the end");
    }
}
