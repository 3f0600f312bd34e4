//! Google congestion control, as libwebrtc of August 2026 runs it without field trials.
//!
//! Two estimates hold at once: one by the trend of the delay, one by loss; the lower counts. Probes raise both. The parts,
//! each named after the source file of libwebrtc (`modules/congestion_controller/goog_cc`) that it follows:
//! [`trendline`] (`inter_arrival_delta`, `trendline_estimator`), [`acknowledged`] (`robust_throughput_estimator`), [`aimd`]
//! (`aimd_rate_control`, `link_capacity_estimator`), [`delay_based`] (`delay_based_bwe`), [`loss_based_v2`]
//! (`loss_based_bwe_v2`), [`send_side`] (`send_side_bandwidth_estimation`), [`probing`] (`probe_controller`,
//! `probe_bitrate_estimator`), [`alr`] (`alr_detector`) and [`push_back`] (`congestion_window_pushback_controller`). This file
//! is `goog_cc_network_control`.
//!
//! Where it differs:
//! - The encoders' most does not limit the estimate, as in libwebrtc; it limits the target that they get, and probes.
//! - libwebrtc's congestion window makes the encoder drop frames. The encoders here have no such order, so by default the
//!   window only limits padding; `push-back` takes it off the target, as libwebrtc does without its trial `DropFrame`.
//! - Round trips are those of receiver reports. If none has come five seconds after the first feedback, those of feedback count.
//! - The time between packets in the detector of limited applications is exact, not in whole milliseconds.

mod acknowledged;
mod aimd;
mod alr;
mod delay_based;
mod loss_based_v2;
mod probing;
mod push_back;
mod send_side;
mod trendline;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::acknowledged::Acknowledged;
use self::alr::Alr;
use self::delay_based::DelayBased;
use self::loss_based_v2::LossState;
use self::probing::{Prober, Results};
use self::push_back::PushBack;
use self::send_side::SendSide;
use self::trendline::{Usage, between};
use super::{ControlLaw, ControlView, Decision, Feedback, Limits, LossReport, Probe, RateController, SentPacket};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Rate, Span};

/// How often time alone is looked at.
const INTERVAL: Span = Span::from_millis(25);
/// A probe that measured less than arrives takes the estimate at most to this share of what arrives.
const PROBE_DROP: f64 = 0.85;
/// The pacer, relative to the estimate: before the first feedback, and after.
const FIRST_PACING: f64 = 2.5;
const PACING: f64 = 1.1;
/// Without receiver reports for so long, the round trips of feedback count.
const NO_REPORTS: Span = Span::from_secs(5);

/// Which loss cuts the rate.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LossLaw {
    /// That of packets in feedback, with a model of the channel: loss-based estimator 2, the default of libwebrtc.
    #[default]
    Packets,
    /// That of receiver reports: up below 2 %, down above 10 %, as in draft-ietf-rmcat-gcc-02 §6. The default until 2023.
    Reports,
    /// None: only the delay counts.
    None,
}

/// Google congestion control: libwebrtc's, with delay, loss and probes.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct GccConfig {
    /// Which loss cuts the rate: `packets`, `reports` or `none`. Default `packets`.
    pub loss: LossLaw,
    /// Whether clusters of packets at a higher rate look for capacity: three and six times the start, then on. Default true.
    pub probing: bool,
    /// Whether it probes every 5 s while the application sends less than it may. libwebrtc does it for shared screens.
    /// Default false.
    pub limited_probing: bool,
    /// The rate on overuse, as a share of what arrives, from 0.1 to 0.99. Default 0.85.
    pub back_off: f64,
    /// The trend of the delay above which the path is overused, at the beginning; it adapts. From 6 to 600. Default 12.5.
    pub threshold: f64,
    /// The pacer sends at this multiple of the estimate, from 1 to 100. Default: 2.5 until the first feedback, then 1.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "2.5 until the first feedback, then 1.1"))]
    pub pacing: Option<f64>,
    /// Whether the target falls while more is in flight than the estimate sends in a round trip and 350 ms. Default false.
    pub push_back: bool,
}

impl Default for GccConfig {
    fn default() -> Self {
        GccConfig {
            loss: LossLaw::Packets,
            probing: true,
            limited_probing: false,
            back_off: aimd::BACK_OFF,
            threshold: 12.5,
            pacing: None,
            push_back: false,
        }
    }
}

impl Checked for GccConfig {
    fn check(&self) -> Result<(), ConfigError> {
        if !(0.1..=0.99).contains(&self.back_off) {
            return Err(ConfigError::new("back-off", self.back_off, "from 0.1 to 0.99", "back-off = 0.85"));
        }
        if !(6.0..=600.0).contains(&self.threshold) {
            return Err(ConfigError::new("threshold", self.threshold, "from 6 to 600", "threshold = 12.5"));
        }
        if let Some(pacing) = self.pacing
            && !(1.0..=100.0).contains(&pacing)
        {
            return Err(ConfigError::new("pacing", pacing, "from 1 to 100", "pacing = 2.5"));
        }
        Ok(())
    }
}

impl Law for GccConfig {
    const NAME: &'static str = "gcc";
    const EXAMPLE: &'static str = r#"{"loss": "packets", "limited-probing": true}"#;
}

impl ControlLaw for GccConfig {
    type Controller = Gcc;

    fn controller(&self, _stream: Stream) -> Gcc {
        Gcc::new(*self)
    }
}

/// A packet that arrived.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    sequence: u64,
    sent: Instant,
    arrived: Instant,
    size: u64,
    probe: Option<u32>,
}

/// Google congestion control at work.
#[derive(Clone, Debug)]
pub struct Gcc {
    config: GccConfig,
    limits: Option<Limits>,
    delay: DelayBased,
    send_side: SendSide,
    acknowledged: Acknowledged,
    alr: Alr,
    was_limited: bool,
    prober: Prober,
    results: Results,
    push_back: PushBack,
    pushed: f64,
    /// The estimate that those who follow it were told last.
    published: f64,
    heard: Option<Instant>,
    has_reports: bool,
    round_trip: Option<Span>,
    next: Instant,
    arrivals: Vec<Arrival>,
}

impl Gcc {
    fn new(config: GccConfig) -> Self {
        Gcc {
            config,
            limits: None,
            delay: DelayBased::new(&config, send_side::LEAST, send_side::LEAST),
            send_side: SendSide::new(config.loss, send_side::LEAST, send_side::LEAST),
            acknowledged: Acknowledged::default(),
            alr: Alr::default(),
            was_limited: false,
            prober: Prober::new(config.limited_probing, Instant::ZERO, 1),
            results: Results::default(),
            push_back: PushBack::new(),
            pushed: 0.0,
            published: 0.0,
            heard: None,
            has_reports: false,
            round_trip: None,
            next: Instant::NEVER,
            arrivals: Vec::new(),
        }
    }

    /// The estimate, bits per second.
    fn estimate(&self) -> f64 {
        self.send_side.target()
    }

    /// All that is known of the path is void.
    fn begin(&mut self, now: Instant, limits: Limits) {
        let config = &self.config;
        let least = (limits.least.bits_per_second() as f64).max(send_side::LEAST);
        let start = (limits.start.bits_per_second() as f64).max(least);
        self.delay = DelayBased::new(config, start, least);
        self.send_side = SendSide::new(config.loss, start, least);
        self.acknowledged = Acknowledged::default();
        self.results = Results::default();
        self.prober = Prober::new(config.limited_probing, now, self.prober.next());
        self.prober.start(now, start, limits.most.bits_per_second() as f64);
        self.limits = Some(limits);
        self.next = now + INTERVAL;
        self.publish(now);
    }

    /// The estimate may have changed: those who follow it are told.
    fn publish(&mut self, now: Instant) {
        let estimate = self.estimate();
        self.published = estimate;
        self.push();
        self.alr.set_rate(estimate);
        let allowed = self.may_probe();
        self.prober.set_estimate(now, estimate, allowed);
    }

    /// A step of the congestion window.
    fn push(&mut self) {
        self.pushed = self.push_back.push(self.estimate()).max(self.send_side.least());
    }

    /// Neither does the queue grow or empty, nor does loss limit the estimate, nor is feedback missing.
    fn may_probe(&self) -> bool {
        self.delay.usage() == Usage::Normal
            && self.send_side.state() == LossState::Delay
            && !self.send_side.is_round_trip_above_limit()
    }

    /// The round trips of the packets of a message.
    fn take_round_trips(&mut self, now: Instant) {
        let Some(newest) = self.arrivals.last().map(|packet| packet.arrived) else { return };
        let mut longest = Span::ZERO;
        let mut path = Span::MAX;
        for packet in &self.arrivals {
            let round_trip = now.since(packet.sent);
            let waited = Span::from_nanos(between(packet.arrived, newest).max(0) as u64);
            longest = longest.max(round_trip);
            path = path.min(round_trip.saturating_sub(waited));
        }
        self.push_back.on_round_trip(longest);
        self.send_side.on_propagation(now, path);
    }

    /// What probes measured, and not far below what arrives.
    fn probed(&mut self, arrives: Option<f64>) -> Option<f64> {
        let mut probed = None;
        for packet in &self.arrivals {
            if packet.probe.is_some() {
                probed = self.results.on_packet(packet).or(probed);
            }
        }
        let floor = arrives.map_or(0.0, |arrives| self.delay.last().min(PROBE_DROP * arrives));
        probed.map(|rate| rate.max(floor))
    }
}

impl RateController for Gcc {
    fn on_limits(&mut self, now: Instant, limits: Limits) {
        if self.limits.replace(limits).is_none() {
            self.begin(now, limits);
            return;
        }
        let least = (limits.least.bits_per_second() as f64).max(send_side::LEAST);
        self.delay.aimd.set_least(least);
        self.send_side.set_least(least);
        self.prober.set_use(now, limits.most.bits_per_second() as f64);
        self.publish(now);
    }

    fn on_sent(&mut self, packet: &SentPacket) {
        let size = packet.size.get();
        self.alr.on_sent(packet.sent, size);
        self.send_side.on_sent(packet.sent);
        self.push_back.on_packet_sent(size);
        if self.estimate() == self.published {
            self.push();
        } else {
            self.publish(packet.sent);
        }
    }

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if feedback.packets.is_empty() {
            return;
        }
        let now = feedback.now;
        let first = *self.heard.get_or_insert(now);
        if !self.has_reports && now.since(first) >= NO_REPORTS {
            self.round_trip = Some(feedback.round_trip);
            self.delay.aimd.set_round_trip(feedback.round_trip);
        }
        self.push_back.set_in_flight(feedback.in_flight.get());
        self.arrivals.clear();
        self.arrivals.extend(feedback.packets.iter().filter_map(|report| {
            let packet = &report.packet;
            let (sequence, sent, size, probe) = (packet.sequence, packet.sent, packet.size.get(), packet.probe);
            report.arrived.map(|arrived| Arrival { sequence, sent, arrived, size, probe })
        }));
        self.arrivals.sort_by_key(|packet| (packet.arrived, packet.sent, packet.sequence));
        self.take_round_trips(now);

        let limited = self.alr.since();
        if self.was_limited && limited.is_none() {
            self.prober.set_limited_until(now);
        }
        self.was_limited = limited.is_some();
        for packet in &self.arrivals {
            self.acknowledged.on_packet(packet.sent, packet.arrived, packet.size);
        }
        self.acknowledged.forget();
        let arrives = self.acknowledged.rate();
        if let Some(arrives) = arrives {
            self.send_side.set_arrives(arrives);
        }
        let probed = self.probed(arrives);

        let outcome = self.delay.on_feedback(now, &self.arrivals, arrives, probed);
        if let Some(rate) = outcome.rate {
            if outcome.by_probe {
                self.send_side.set_target(rate);
            }
            self.send_side.set_by_delay(rate);
        }
        self.send_side.on_packets(now, feedback.packets, limited.is_some());
        if outcome.rate.is_some() {
            self.publish(now);
        }
        if outcome.recovered {
            self.prober.set_limited(limited);
            self.prober.on_recovery(now);
        }
        self.push_back.update_window(self.estimate());
    }

    fn on_report(&mut self, report: &LossReport) {
        if let Some(round_trip) = report.round_trip {
            self.has_reports = true;
            self.round_trip = Some(round_trip);
            self.delay.aimd.set_round_trip(round_trip);
        }
        let expected = f64::from(report.expected);
        let lost = libm::round(report.fraction_lost.clamp(0.0, 1.0) * expected);
        self.send_side.on_report(report.now, lost, expected, report.round_trip);
    }

    fn on_timer(&mut self, now: Instant) {
        if now < self.next {
            return;
        }
        self.next = now + INTERVAL;
        self.send_side.update(now);
        self.prober.set_limited(if self.heard.is_some() { self.alr.since() } else { None });
        self.prober.process(now);
        self.push_back.update_window(self.estimate());
        self.publish(now);
    }

    fn deadline(&self) -> Instant {
        self.next
    }

    fn decision(&self) -> Decision {
        let bits = |rate: f64| Rate::from_bits_per_second(libm::round(rate) as u64);
        let estimate = self.published;
        let factor = self.config.pacing.unwrap_or(if self.heard.is_some() { PACING } else { FIRST_PACING });
        let target = if self.config.push_back { self.pushed } else { estimate };
        let most = self.limits.map_or(Rate::default(), |limits| limits.most.max(limits.least));
        let padding = if self.send_side.state() == LossState::Increase { self.pushed.min(estimate) } else { 0.0 };
        Decision {
            target: bits(target).min(most),
            pacing: bits(estimate * factor),
            padding: bits(padding),
            window: None,
        }
    }

    fn next_probe(&mut self) -> Option<Probe> {
        while let Some(probe) = self.prober.take() {
            if self.config.probing {
                self.results.expect(probe);
                return Some(probe);
            }
        }
        None
    }

    fn on_new_path(&mut self, now: Instant, limits: Limits) {
        self.begin(now, limits);
    }

    fn view(&self) -> ControlView {
        let state = match (self.send_side.state(), self.delay.usage()) {
            _ if self.send_side.is_round_trip_above_limit() => "no feedback",
            (_, Usage::Over) => "overuse",
            (_, Usage::Under) => "underuse",
            (LossState::Decrease, _) => "loss decrease",
            (LossState::Increase, _) => "loss increase",
            (LossState::Delay, Usage::Normal) => self.delay.aimd.state(),
        };
        ControlView {
            capacity: Some(self.published),
            queueing_delay: Some(self.delay.queueing() / 1e3),
            round_trip: self.round_trip.map(Span::seconds),
            lost: Some(self.send_side.lost()),
            marked: None,
            state,
        }
    }
}
