//! Counters of a flow's ends at the start of the window, to compute their counts inside it.

use fairwave_core::transport::limited::Limit;
use fairwave_core::transport::{Sender, SenderView};
use fairwave_core::units::{Instant, Span};

use crate::ends::{ReceivingEnd, SendingEnd};
use crate::judgements::Judgements;

/// Cumulative counters of a flow's ends, from the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WarmupCounters {
    pub packets_sent: u64,
    pub wire_sent: u64,
    pub retransmitted: u64,
    pub timeouts: u64,
    pub fast_retransmits: u64,
    /// By receiver, congestion control and application.
    limited: [Span; 3],
    pub judgements: Judgements,
}

/// Limits in the order of [`WarmupCounters`].
const LIMITS: [Limit; 3] = [Limit::Receiver, Limit::Congestion, Limit::Application];

impl WarmupCounters {
    /// Returns the counters of both ends at `now`.
    pub fn read(sending: &SendingEnd, receiving: &ReceivingEnd, now: Instant) -> Self {
        let view = sending.sender.view();
        WarmupCounters {
            packets_sent: sending.packets_sent,
            wire_sent: sending.wire_sent,
            retransmitted: view.retransmitted,
            timeouts: view.timeouts,
            fast_retransmits: view.fast_retransmits,
            limited: LIMITS.map(|by| view.limited.map_or(Span::ZERO, |limited| limited.time(by, now))),
            judgements: receiving.judge.as_ref().map_or_else(Judgements::default, |judge| judge.judgements),
        }
    }

    /// Returns how long each limit held the sender back since the snapshot until `end`, in seconds, in the order
    /// receiver, congestion control, application. `None` for a transport without limits.
    pub fn limited_since(&self, view: &SenderView, end: Instant) -> Option<[f64; 3]> {
        let limited = view.limited?;
        let mut since = [0.0; 3];
        for ((since, by), before) in since.iter_mut().zip(LIMITS).zip(self.limited) {
            *since = limited.time(by, end).saturating_sub(before).seconds();
        }
        Some(since)
    }
}
