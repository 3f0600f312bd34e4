//! Records of a run at the time of collection.

use fairwave_core::quality::smoothness;
use fairwave_core::transport::{ReceiverView, SenderView};
use fairwave_core::units::{Bytes, Instant, Rate, Span};
use fairwave_scenario::plan::Plan;

use crate::admission::completed;
use crate::ends::{ReceivingEnd, SendingEnd};
use crate::link::Link;
use crate::measure::{Bins, Window};
use crate::shared_media::MediumRun;
use crate::warmup::WarmupCounters;

/// Sample of both ends of a flow.
pub(crate) struct Sample {
    pub flow: usize,
    pub at: Instant,
    pub view: SenderView,
    pub receiver: ReceiverView,
}

/// Links and flows at the end of the run, by index of the plan.
pub(crate) struct RunRecord<'a> {
    pub plan: &'a Plan,
    pub window: Window,
    pub links: &'a [Link],
    /// Shared media, by index of the plan.
    pub media: &'a [MediumRun],
    pub sending: &'a [SendingEnd],
    pub receiving: &'a [ReceivingEnd],
    pub samples: &'a [Sample],
    /// Counters of the flows at the start of the window; empty if the window starts with the run.
    pub before: &'a [WarmupCounters],
    /// True if packets travelled between real hosts, where losses can go unseen.
    pub is_live: bool,
    /// Number of handled events.
    pub events: u64,
}

impl RunRecord<'_> {
    /// Returns the part of the window with the flow active; empty if its end is not after its start.
    pub fn on(&self, flow: usize) -> (Instant, Instant) {
        let plan = &self.plan.flows[flow];
        (plan.start.max(self.window.warmup), plan.stop.min(self.ended(flow)).min(self.window.end))
    }

    /// Returns the time that a flow ended by itself or was refused; never for flows without an end.
    pub fn ended(&self, flow: usize) -> Instant {
        let plan = &self.plan.flows[flow];
        match &self.sending[flow] {
            sending if sending.refused => plan.start,
            _ if plan.traffic.ends() => completed(flow, self.sending, self.receiving),
            _ => Instant::NEVER,
        }
    }

    /// Returns the active time of a flow in the window, without its pauses.
    pub fn length_on(&self, flow: usize) -> Span {
        let (from, until) = self.on(flow);
        self.plan.flows[flow].active_time(from, until)
    }

    /// Returns a flow's goodput in the complete bins of the window; empty without bins.
    pub fn steady_bins(&self, flow: usize) -> Vec<Rate> {
        self.bins(flow, self.window.warmup, self.window.end)
    }

    /// Returns a flow's payload per bin of the run; empty without bins.
    pub fn payload_in_bin(&self, flow: usize) -> &[u64] {
        self.receiving[flow].measure.observed.as_ref().map_or(&[], |observed| binned(&observed.payload_in_bin))
    }

    /// Returns a flow's goodput in the complete bins between two times; empty without bins.
    pub fn bins(&self, flow: usize, from: Instant, to: Instant) -> Vec<Rate> {
        let bin = self.plan.record.bin;
        let payload: Vec<Bytes> = self.payload_in_bin(flow).iter().map(|&bytes| Bytes::new(bytes)).collect();
        smoothness::rates(&payload, bin, bin, from.span_since(Instant::ZERO), to.span_since(Instant::ZERO))
    }
}

/// Returns the sums of a requested series, or an empty slice.
pub(crate) fn binned(bins: &Option<Box<Bins>>) -> &[u64] {
    bins.as_ref().map_or(&[], |bins| &bins.sums)
}

/// Returns `part / whole`; 0 if `whole` is 0.
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
