//! What a run has recorded when its results are collected.

use fairwave_core::quality::smoothness;
use fairwave_core::transport::{ReceiverView, SenderView};
use fairwave_core::units::{Bytes, Instant, Rate, Span};
use fairwave_scenario::plan::Plan;

use crate::admission::completed;
use crate::before::WarmupCounters;
use crate::ends::{ReceivingEnd, SendingEnd};
use crate::link::Link;
use crate::measure::{Bins, Window};
use crate::shared_media::MediumRun;

/// A sample of a flow's two ends.
pub(crate) struct Sample {
    pub flow: usize,
    pub at: Instant,
    pub view: SenderView,
    pub receiver: ReceiverView,
}

/// Links and flows by index of the plan, as they are when the run has ended.
pub(crate) struct RunRecord<'a> {
    pub plan: &'a Plan,
    pub window: Window,
    pub links: &'a [Link],
    /// Shared media, by index of the plan.
    pub media: &'a [MediumRun],
    pub sending: &'a [SendingEnd],
    pub receiving: &'a [ReceivingEnd],
    pub samples: &'a [Sample],
    /// What flows had counted when the window began; empty if that was when the run began.
    pub before: &'a [WarmupCounters],
    /// Packets travelled between real hosts, which may lose them unseen.
    pub is_live: bool,
    /// Events that were handled.
    pub events: u64,
}

impl RunRecord<'_> {
    /// The part of the window in which a flow is on; empty where its end is not after its beginning.
    pub fn on(&self, flow: usize) -> (Instant, Instant) {
        let plan = &self.plan.flows[flow];
        (plan.start.max(self.window.warmup), plan.stop.min(self.ended(flow)).min(self.window.end))
    }

    /// When a flow ended by itself, or was refused; never for flows that go on.
    pub fn ended(&self, flow: usize) -> Instant {
        let plan = &self.plan.flows[flow];
        match &self.sending[flow] {
            sending if sending.refused => plan.start,
            _ if plan.traffic.ends() => completed(flow, self.sending, self.receiving),
            _ => Instant::NEVER,
        }
    }

    /// How long a flow was on in the window, its pauses left out.
    pub fn length_on(&self, flow: usize) -> Span {
        let (from, until) = self.on(flow);
        self.plan.flows[flow].on_between(from, until)
    }

    /// A flow's goodput in the whole bins of the window; empty without bins.
    pub fn steady_bins(&self, flow: usize) -> Vec<Rate> {
        self.bins(flow, self.window.warmup, self.window.end)
    }

    /// A flow's payload per bin of the run; empty without bins.
    pub fn payload_in_bin(&self, flow: usize) -> &[u64] {
        self.receiving[flow].measure.observed.as_ref().map_or(&[], |observed| binned(&observed.payload_in_bin))
    }

    /// A flow's goodput in the whole bins between two times; empty without bins.
    pub fn bins(&self, flow: usize, from: Instant, to: Instant) -> Vec<Rate> {
        let bin = self.plan.record.bin;
        let payload: Vec<Bytes> = self.payload_in_bin(flow).iter().map(|&bytes| Bytes::new(bytes)).collect();
        smoothness::rates(&payload, bin, bin, from.since(Instant::ZERO), to.since(Instant::ZERO))
    }
}

/// The sums of a series that was asked for, or nothing.
pub(crate) fn binned(bins: &Option<Box<Bins>>) -> &[u64] {
    bins.as_ref().map_or(&[], |bins| &bins.sums)
}

/// A part of a whole; 0 of nothing.
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
