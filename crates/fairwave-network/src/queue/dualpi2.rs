//! DualPI2: one low-latency queue for traffic that responds to marks gradually, and one queue for all other traffic. A
//! coupling makes both respond alike.
//!
//! Follows RFC 9332, Appendix A, with the details of A.2. Packets with ECT(1) or CE enter the L queue, all others the
//! classic queue (Figure 3). Every `tupdate` a proportional-integral controller moves a probability p' by the greater of
//! both queues' delays (Figure 8). The classic queue drops or marks with p'². The L queue marks with the greater of
//! `coupling-factor` · p' and the probability that follows from its delay (Figures 5 and 7). Signals are spaced evenly
//! instead of drawn (`recur`, Figure 4). When `coupling-factor` · p' has reached 1, both queues also drop markable packets,
//! with p'² (overload).
//!
//! **Schedulers.** By default weighted round robin: the L queue goes first unless its share is used up while the classic
//! queue waits. The credit counts bytes and changes only while both queues hold packets. It is reset, in favour of the L
//! queue, when both are empty (Appendix A.1). `classic-protection = 0` is strict priority. The alternative is a FIFO in
//! which classic packets count as younger by `time-shift` (§4.2.2, TS-FIFO).
//!
//! **Choices.** By default the L queue's native marking is a step at `step-thresh`, as in Linux. `range` makes it the RFC's
//! ramp (800 us and 400 us). It is suppressed while no more than `min-qlen-step` packets wait behind the packet (Th_len: 1,
//! in Linux 0). As in Linux, p' has no effect on a packet while both queues together hold less than two packets of 1514
//! bytes. Delays are those of the packets at the head (Note a). Packets are dropped when they leave. A full buffer, which
//! both queues share (Note b), drops by the victim rule. With `drop-on-overload = false`, p' is limited to the value at
//! which the L queue's marks saturate. Only a full buffer then drops markable packets, like Linux's `overflow`. Classifiers
//! other than the codepoint are not implemented.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DropReason;
use super::buffer::Buffer;
use super::config::Capacity;
use super::discipline::{Arrival, Discipline, DisciplineLaw, Nature, RateChange, Verdict};
use super::fq_codel::yes;
use super::ticker::Ticker;
use crate::packet::{Ecn, Packet};
use fairwave_units::config::{ConfigError, check_between, check_span};
use fairwave_units::random::Stream;
use fairwave_units::ratio::OptionalRatio;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Rate, Span};

/// How the link is shared between the two queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// Weighted round robin: the L queue first, except for the classic queue's share.
    #[default]
    Wrr,
    /// First in, first out, with classic packets counted younger by `time-shift`.
    TsFifo,
}

/// Dual queue coupled PI2 (RFC 9332). L4S traffic (ECT(1), CE) has a low-latency queue, all other traffic the classic
/// queue. Classic drops and L4S marks are coupled, so that flows of both queues share the link evenly. In Linux since
/// 6.17, and in cable modems as Low Latency DOCSIS.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Dualpi2Config {
    /// Target of the queueing delay.
    #[serde(default = "target")]
    pub target: Span,
    /// How often p' is updated (Tupdate).
    #[serde(default = "tupdate")]
    pub tupdate: Span,
    /// Gain on the distance of the delay from its target, per second (Hz).
    #[serde(default = "alpha")]
    pub alpha: f64,
    /// Gain on the change of the delay, per second (Hz).
    #[serde(default = "beta")]
    pub beta: f64,
    /// Delay of the L queue above which native marking begins; the lower end of the ramp, if there is a ramp.
    #[serde(default = "step_thresh")]
    pub step_thresh: Span,
    /// Number of packets behind the one that leaves, from which native marking of the L queue begins. It replaces the delay:
    /// `step-thresh` and `range` then have no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_packets: Option<u32>,
    /// Range of delay over which the L queue's native probability climbs to 1; a step if 0.
    #[serde(default)]
    pub range: Span,
    /// The L queue does not mark natively while at most this many packets wait behind the packet that leaves (Th_len).
    #[serde(default = "min_qlen_step")]
    pub min_qlen_step: u32,
    /// Coupling factor: ratio of the mark probability in the L queue to p' (k), 1 or more.
    #[serde(default = "coupling_factor")]
    pub coupling_factor: f64,
    /// How the link is shared.
    #[serde(default)]
    pub scheduler: Scheduler,
    /// Only for `wrr`: minimum share of the link for the classic queue while both queues hold packets, from 0 (none) to
    /// below 1. Default 0.1.
    #[serde(with = "OptionalRatio", default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = CLASSIC_PROTECTION))]
    pub classic_protection: Option<f64>,
    /// Only for `ts-fifo`: classic packets count as younger by this time. Default 50 ms.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = TIME_SHIFT))]
    pub time_shift: Option<Span>,
    /// When marks saturate, drop packets that can be marked too; otherwise only a full buffer drops them.
    #[serde(default = "yes")]
    pub drop_on_overload: bool,
}

fn target() -> Span {
    Span::from_millis(15)
}

fn tupdate() -> Span {
    Span::from_millis(16)
}

fn alpha() -> f64 {
    0.16
}

fn beta() -> f64 {
    3.2
}

fn step_thresh() -> Span {
    Span::from_millis(1)
}

fn min_qlen_step() -> u32 {
    1
}

fn coupling_factor() -> f64 {
    2.0
}

const CLASSIC_PROTECTION: f64 = 0.1;
const TIME_SHIFT: Span = Span::from_millis(50);
/// The largest packet of an Ethernet.
const MTU: u64 = 1514;

impl Checked for Dualpi2Config {
    fn check(&self) -> Result<(), ConfigError> {
        check_span("target", self.target, "target = \"15 ms\"")?;
        check_span("tupdate", self.tupdate, "tupdate = \"16 ms\"")?;
        check_between("alpha", self.alpha, 0.0, f64::INFINITY, "alpha = 0.16")?;
        check_between("beta", self.beta, 0.0, f64::INFINITY, "beta = 3.2")?;
        if !(self.coupling_factor >= 1.0 && self.coupling_factor.is_finite()) {
            let value = self.coupling_factor;
            return Err(ConfigError::new("coupling-factor", value, "1 or more", "coupling-factor = 2.0"));
        }
        if let Some(packets) = self.step_packets
            && (self.range > Span::ZERO || self.step_thresh != step_thresh())
        {
            let allowed = "left out with `step-thresh` or `range`: the L queue marks by packets or by delay";
            return Err(ConfigError::new("step-packets", packets, allowed, "step-thresh = \"1 ms\""));
        }
        match (self.scheduler, self.classic_protection, self.time_shift) {
            (Scheduler::TsFifo, Some(share), _) => Err(ConfigError::new(
                "classic-protection",
                share,
                "left out: a time-shifted FIFO has a time shift",
                "scheduler = \"ts-fifo\", time-shift = \"50 ms\"",
            )),
            (Scheduler::Wrr, _, Some(shift)) => Err(ConfigError::new(
                "time-shift",
                shift,
                "left out: weighted round robin has a share",
                "scheduler = \"wrr\", classic-protection = 0.1",
            )),
            (Scheduler::Wrr, Some(share), None) if !(0.0..1.0).contains(&share) => {
                let allowed = "from 0 to below 1";
                Err(ConfigError::new("classic-protection", share, allowed, "classic-protection = 0.1"))
            }
            _ => Ok(()),
        }
    }
}

impl Law for Dualpi2Config {
    const NAME: &'static str = "dualpi2";
    const EXAMPLE: &'static str = r#"{"step-thresh": "1 ms", "classic-protection": 0.1}"#;
}

impl DisciplineLaw for Dualpi2Config {
    type Discipline = Dualpi2;
    const NATURE: Nature = Nature { fifo: false, l4s: true, ..Nature::FIFO };

    fn caution(&self) -> Option<String> {
        let starves = self.scheduler == Scheduler::Wrr && self.classic_protection == Some(0.0);
        starves.then(|| {
            "without protection of the classic queue, L4S traffic that does not yield starves all other; write \
             `classic-protection = 0.1` for a tenth of the link"
                .to_owned()
        })
    }

    fn marks(&self) -> bool {
        true
    }

    fn bins(&self) -> usize {
        2
    }

    fn discipline(&self, _capacity: Capacity, _rate: Rate) -> Dualpi2 {
        let share = self.classic_protection.unwrap_or(CLASSIC_PROTECTION);
        let mut dualpi2 = Dualpi2 {
            target: self.target.seconds(),
            alpha: self.alpha,
            beta: self.beta,
            coupling: self.coupling_factor,
            step: match self.step_packets {
                Some(packets) => Step::Packets(packets),
                None => Step::Delay { from: self.step_thresh, range: self.range },
            },
            least_behind: self.min_qlen_step,
            overload: self.drop_on_overload,
            shift: match self.scheduler {
                Scheduler::Wrr => None,
                Scheduler::TsFifo => Some(self.time_shift.unwrap_or(TIME_SHIFT)),
            },
            share,
            credit: 0.0,
            base: 0.0,
            delay: 0.0,
            counts: [0.0; 2],
            ticker: Ticker::new(self.tupdate),
        };
        dualpi2.begin_account();
        dualpi2
    }
}

/// Rule for the native marks of the L queue.
#[derive(Clone, Debug)]
enum Step {
    /// By queueing delay.
    Delay { from: Span, range: Span },
    /// By the number of packets behind.
    Packets(u32),
}

/// State of DualPI2.
#[derive(Clone, Debug)]
pub struct Dualpi2 {
    /// In seconds.
    target: f64,
    alpha: f64,
    beta: f64,
    /// The coupling factor k.
    coupling: f64,
    step: Step,
    least_behind: u32,
    /// Whether markable packets are dropped when marks saturate.
    overload: bool,
    /// The time shift of TS-FIFO; `None` under weighted round robin.
    shift: Option<Span>,
    /// The classic queue's share of the link while both queues hold packets.
    share: f64,
    /// Credit in bytes, used while both queues hold packets. Above 0 it is the classic queue's turn.
    credit: f64,
    /// The base probability p'.
    base: f64,
    /// Delay at the last update, seconds.
    delay: f64,
    /// Accumulated probability since the last signal (`recur`), by queue.
    counts: [f64; 2],
    ticker: Ticker,
}

/// The low-latency queue.
const L: u32 = 0;
/// The classic queue.
const C: u32 = 1;

impl Dualpi2 {
    /// Updates p' for every period that ended before `now`. The queues have not changed since then.
    #[inline]
    fn catch_up(&mut self, now: Instant, buffer: &Buffer) {
        while let Some(end) = self.ticker.end_before(now) {
            let before = (self.base, self.delay);
            let delay = waited(buffer, C, end).max(waited(buffer, L, end));
            self.update(delay.seconds());
            if before == (self.base, self.delay) {
                self.ticker.skip(now);
            }
        }
    }

    /// One update with a delay in seconds (Figure 8). Limits p' to [0, 1], or without `drop-on-overload` to [0, 1/k].
    fn update(&mut self, delay: f64) {
        self.base += self.alpha * (delay - self.target) + self.beta * (delay - self.delay);
        let most = if self.overload { 1.0 } else { 1.0 / self.coupling };
        self.base = self.base.clamp(0.0, most);
        self.delay = delay;
    }

    /// Native mark probability of the L queue for a packet, from its delay and the number of packets behind it (Figure 5).
    fn native(&self, waited: Span, behind: u32) -> f64 {
        if behind <= self.least_behind {
            return 0.0;
        }
        match self.step {
            Step::Packets(packets) => f64::from(u8::from(behind >= packets)),
            Step::Delay { from, range } if waited >= from + range => f64::from(u8::from(waited > from)),
            Step::Delay { from, range } => waited.saturating_sub(from).seconds() / range.seconds(),
        }
    }

    /// Returns true for the given fraction of a queue's packets, evenly spaced (Figure 4).
    fn recur(&mut self, queue: u32, likelihood: f64) -> bool {
        let count = &mut self.counts[queue as usize];
        *count += likelihood;
        let signals = *count > 1.0;
        if signals {
            *count -= 1.0;
        }
        signals
    }

    /// Resets the credit after an idle link, with one packet in favour of the L queue.
    fn begin_account(&mut self) {
        self.credit = (2.0 * self.share - 1.0) * MTU as f64;
    }

    /// The queue that sends next; `None` if both are empty.
    fn next(&self, buffer: &Buffer) -> Option<u32> {
        let heads = [L, C].map(|queue| buffer.front_of_bin(queue).and_then(|place| buffer.arrival_time(place)));
        match (heads, self.shift) {
            ([None, None], _) => None,
            ([Some(_), None], _) => Some(L),
            ([None, Some(_)], _) => Some(C),
            ([Some(l), Some(c)], Some(shift)) => Some(if c + shift < l { C } else { L }),
            ([Some(_), Some(_)], None) => Some(if self.credit > 0.0 { C } else { L }),
        }
    }

    /// Applies drops and marks to a packet that leaves a queue (Figure 7, lines 4 to 18). Returns true if the packet is
    /// dropped.
    fn signal(&mut self, queue: u32, packet: &mut Packet, waited: Span, buffer: &Buffer) -> bool {
        // The packet itself counts as waiting, as in Linux.
        let calm = buffer.total().bytes + u64::from(packet.wire) < 2 * MTU;
        let base = if calm { 0.0 } else { self.base };
        let (coupled, classic) = (self.coupling * base, base * base);
        let overloaded = self.overload && coupled >= 1.0;
        if queue == C {
            return self.recur(C, classic) && (overloaded || !packet.mark());
        }
        if overloaded && self.recur(L, classic) {
            return true;
        }
        let likelihood = match overloaded {
            true => coupled,
            false => self.native(waited, buffer.bin_tally(L).packets).max(coupled),
        };
        if self.recur(L, likelihood.min(1.0)) {
            packet.mark();
        }
        false
    }
}

/// Queueing delay of the packet at the head of a queue; 0 if the queue is empty.
fn waited(buffer: &Buffer, queue: u32, now: Instant) -> Span {
    buffer
        .front_of_bin(queue)
        .and_then(|place| buffer.arrival_time(place))
        .map_or(Span::ZERO, |since| now.span_since(since))
}

impl Discipline for Dualpi2 {
    #[inline]
    fn arrive(&mut self, arrival: &Arrival<'_>, _stream: &mut Stream) -> Verdict {
        self.catch_up(arrival.now, arrival.buffer);
        if arrival.idle > Span::ZERO {
            self.begin_account();
        }
        Verdict::Admit
    }

    #[inline]
    fn bin(&mut self, _now: Instant, packet: &Packet, _buffer: &Buffer) -> u32 {
        if matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce) { L } else { C }
    }

    fn depart(&mut self, now: Instant, buffer: &mut Buffer, drops: &mut Vec<(Packet, DropReason)>) -> Option<Packet> {
        self.catch_up(now, buffer);
        while let Some(queue) = self.next(buffer) {
            let (mut packet, since) = buffer.front_of_bin(queue).and_then(|place| buffer.serve(place))?;
            if self.signal(queue, &mut packet, now.span_since(since), buffer) {
                drops.push((packet, DropReason::Early));
                continue;
            }
            // While both queues hold packets, bytes that one sends give credit to the other.
            if queue == L && buffer.bin_tally(C).packets > 0 {
                self.credit += self.share * f64::from(packet.wire);
            } else if queue == C && buffer.bin_tally(L).packets > 0 {
                self.credit -= (1.0 - self.share) * f64::from(packet.wire);
            }
            return Some(packet);
        }
        None
    }

    /// Only does the updates that are due: the delay is measured, so it does not depend on the rate.
    fn on_rate_change(&mut self, change: &RateChange<'_>) {
        self.catch_up(change.now, change.buffer);
    }

    /// The probability p'.
    fn average(&self) -> Option<f64> {
        Some(self.base)
    }
}

#[cfg(test)]
#[path = "dualpi2_tests.rs"]
mod tests;
