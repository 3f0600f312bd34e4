//! What a flow's two ends had counted when the window began, so that what they count in it can be told.

use fairwave_core::transport::limited::Limit;
use fairwave_core::transport::{Sender, SenderView};
use fairwave_core::units::{Instant, Span};

use crate::ends::{ReceivingEnd, SendingEnd};
use crate::judged::Judgements;

/// Counters of a flow's ends that know no window.
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

/// In the order in which [`WarmupCounters`] keeps them.
const LIMITS: [Limit; 3] = [Limit::Receiver, Limit::Congestion, Limit::Application];

impl WarmupCounters {
    /// Of these ends at `now`.
    pub fn of(sending: &SendingEnd, receiving: &ReceivingEnd, now: Instant) -> Self {
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

    /// How long each limit has held the sender back since, until `end`, in the order receiver, congestion control,
    /// application; seconds. None for a transport that nothing holds back.
    pub fn limited_since(&self, view: &SenderView, end: Instant) -> Option<[f64; 3]> {
        let limited = view.limited?;
        let mut since = [0.0; 3];
        for ((since, by), before) in since.iter_mut().zip(LIMITS).zip(self.limited) {
            *since = limited.time(by, end).saturating_sub(before).seconds();
        }
        Some(since)
    }
}
