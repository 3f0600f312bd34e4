//! Google congestion control, as in libwebrtc of August 2026 without field trials.
//!
//! Two estimates run in parallel, one from the delay trend and one from loss; the lower one counts. Probes raise both.
//! Each part is named after the source file of libwebrtc (`modules/congestion_controller/goog_cc`) that it follows:
//! [`trendline`] (`inter_arrival_delta`, `trendline_estimator`), [`acknowledged`] (`robust_throughput_estimator`),
//! [`aimd`] (`aimd_rate_control`, `link_capacity_estimator`), [`delay_based`] (`delay_based_bwe`), [`loss_based_v2`]
//! (`loss_based_bwe_v2`), [`send_side`] (`send_side_bandwidth_estimation`), [`probing`] (`probe_controller`,
//! `probe_bitrate_estimator`), [`alr`] (`alr_detector`) and [`push_back`] (`congestion_window_pushback_controller`).
//! This file follows `goog_cc_network_control`.
//!
//! Differences:
//! - The largest rate of the encoders does not limit the estimate, as in libwebrtc. It limits their target and the
//!   probes.
//! - Round trips come from receiver reports. If none has come five seconds after the first feedback, feedback supplies
//!   them.
//! - The detector of application-limited phases uses exact times between packets, not whole milliseconds.

mod acknowledged;
mod aimd;
mod alr;
mod arrival;
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
use self::arrival::Arrival;
use self::delay_based::DelayBased;
use self::loss_based_v2::LossState;
use self::probing::{Prober, Results};
use self::push_back::PushBack;
pub use self::send_side::LossLaw;
use self::send_side::SendSide;
use self::trendline::{Usage, signed_nanos};
use super::{ControlLaw, ControlView, Decision, Feedback, Limits, LossReport, Probe, RateController, SentPacket};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::{Instant, Rate, Span};

/// Interval of the periodic update.
const INTERVAL: Span = Span::from_millis(25);
/// A probe below the arrival rate reduces the estimate at most to this share of the arrival rate.
const PROBE_DROP: f64 = 0.85;
/// Pacing rate relative to the estimate: before the first feedback, and after it.
const FIRST_PACING: f64 = 2.5;
const PACING: f64 = 1.1;
/// Without receiver reports for this long, feedback supplies the round trips.
const NO_REPORTS: Span = Span::from_secs(5);

/// Reaction while more data is in flight than the congestion window allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HoldBack {
    /// Video encoders skip frames, up to every second one, and their target falls by the same share: the default of
    /// libwebrtc (`WebRTC-CongestionWindow`, `DropFrame:true`).
    #[default]
    Frames,
    /// The target of all encoders falls.
    Target,
    /// None; the window limits only padding.
    None,
}

/// Google congestion control of libwebrtc, with delay, loss and probes.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct GccConfig {
    /// Loss that reduces the rate: `packets`, `reports` or `none`. Default `packets`.
    pub loss: LossLaw,
    /// Probes for capacity with packet clusters: at three and six times the start rate, then higher. Default true.
    pub probing: bool,
    /// Probes every 5 s while the application is limited, as libwebrtc does for shared screens. Default false.
    pub limited_probing: bool,
    /// Rate after overuse, relative to the arrival rate, from 0.1 to 0.99. Default 0.85.
    pub back_off: f64,
    /// Initial threshold of the delay trend above which the path is overused; it adapts. From 6 to 600. Default 12.5.
    pub threshold: f64,
    /// Pacing rate as a multiple of the estimate, from 1 to 100. Default: 2.5 until the first feedback, then 1.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-default" = "2.5 until the first feedback, then 1.1"))]
    pub pacing: Option<f64>,
    /// Reaction while more is in flight than the estimate sends in a round trip plus 350 ms: `frames`, `target` or
    /// `none`. Default `frames`.
    pub push_back: HoldBack,
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
            push_back: HoldBack::default(),
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

/// State of Google congestion control.
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
    /// Estimate that was published last.
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
            delay: DelayBased::new(config.threshold, config.back_off, send_side::LEAST, send_side::LEAST),
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

    /// Returns the estimate, bits per second.
    fn estimate(&self) -> f64 {
        self.send_side.target()
    }

    /// Resets all knowledge of the path.
    fn begin(&mut self, now: Instant, limits: Limits) {
        let config = &self.config;
        let least = (limits.least.bits_per_second() as f64).max(send_side::LEAST);
        let start = (limits.start.bits_per_second() as f64).max(least);
        self.delay = DelayBased::new(config.threshold, config.back_off, start, least);
        self.send_side = SendSide::new(config.loss, start, least);
        self.acknowledged = Acknowledged::default();
        self.results = Results::default();
        self.prober = Prober::new(config.limited_probing, now, self.prober.next());
        self.prober.start(now, start, limits.most.bits_per_second() as f64);
        self.limits = Some(limits);
        self.next = now + INTERVAL;
        self.publish(now);
    }

    /// Passes a changed estimate to the parts that follow it.
    fn publish(&mut self, now: Instant) {
        let estimate = self.estimate();
        self.published = estimate;
        self.push();
        self.alr.set_rate(estimate);
        let allowed = self.may_probe();
        self.prober.set_estimate(now, estimate, allowed);
    }

    /// Performs a step of the congestion window.
    fn push(&mut self) {
        self.pushed = self.push_back.push(self.estimate()).max(self.send_side.least());
    }

    /// Checks that the queue neither grows nor empties, that loss does not limit the estimate, and that feedback is not
    /// overdue.
    fn may_probe(&self) -> bool {
        self.delay.usage() == Usage::Normal
            && self.send_side.state() == LossState::Delay
            && !self.send_side.is_round_trip_above_limit()
    }

    /// Records the round trips of the packets in a message.
    fn take_round_trips(&mut self, now: Instant) {
        let Some(newest) = self.arrivals.last().map(|packet| packet.arrived) else { return };
        let mut longest = Span::ZERO;
        let mut path = Span::MAX;
        for packet in &self.arrivals {
            let round_trip = now.span_since(packet.sent);
            let waited = Span::from_nanos(signed_nanos(packet.arrived, newest).max(0) as u64);
            longest = longest.max(round_trip);
            path = path.min(round_trip.saturating_sub(waited));
        }
        self.push_back.on_round_trip(longest);
        self.send_side.on_propagation(now, path);
    }

    /// Returns the result of a probe, limited so that it is not far below the arrival rate.
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
        if !self.has_reports && now.span_since(first) >= NO_REPORTS {
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

        let limited = self.alr.limited_since();
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
        self.prober.set_limited(if self.heard.is_some() { self.alr.limited_since() } else { None });
        self.prober.process(now);
        self.push_back.update_window(self.estimate());
        self.publish(now);
    }

    fn deadline(&self) -> Instant {
        self.next
    }

    fn decision(&self) -> Decision {
        // Rounds to the nearest integer, halves up. The call of a library function would cost too much per packet.
        let bits = |rate: f64| {
            let whole = rate as u64;
            Rate::from_bits_per_second(whole.saturating_add(u64::from(rate - whole as f64 >= 0.5)))
        };
        let estimate = self.published;
        let factor = self.config.pacing.unwrap_or(if self.heard.is_some() { PACING } else { FIRST_PACING });
        let (target, held_back) = match self.config.push_back {
            // Share that `goog_cc_network_control` names `cwnd_reduce_ratio`.
            HoldBack::Frames => (estimate, (1.0 - self.pushed / estimate.max(1.0)).clamp(0.0, 1.0)),
            HoldBack::Target => (self.pushed, 0.0),
            HoldBack::None => (estimate, 0.0),
        };
        let most = self.limits.map_or(Rate::default(), |limits| limits.most.max(limits.least));
        let padding = if self.send_side.state() == LossState::Increase { self.pushed.min(estimate) } else { 0.0 };
        Decision {
            target: bits(target).min(most),
            pacing: bits(estimate * factor),
            padding: bits(padding),
            window: None,
            held_back,
            burst: None,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::{Carries, PacketReport};
    use fairwave_network::packet::Ecn;
    use fairwave_units::units::Bytes;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn limits(start: u64, least: u64, most: u64) -> Limits {
        let bits = Rate::from_bits_per_second;
        Limits { start: bits(start), least: bits(least), most: bits(most) }
    }

    fn started(config: GccConfig) -> Gcc {
        let mut gcc = Gcc::new(config);
        gcc.on_limits(Instant::ZERO, limits(300_000, 30_000, 2_500_000));
        gcc
    }

    fn packet(sequence: u64, sent: u64, probe: Option<u32>) -> SentPacket {
        SentPacket { sequence, sent: ms(sent), size: Bytes::new(1000), carries: Carries::Video, probe }
    }

    fn tell(gcc: &mut Gcc, now: u64, packets: &[PacketReport]) {
        let (now, round_trip) = (ms(now), Span::from_millis(80));
        let in_flight = Bytes::new(10_000);
        gcc.on_feedback(&Feedback { now, packets, round_trip, in_flight, waiting: Bytes::ZERO, waits: Span::ZERO });
    }

    /// Feeds messages of ten packets. Packets are sent every 10 ms from `from` (ms) on and take 50 ms.
    fn feed(gcc: &mut Gcc, from: u64, messages: u64) {
        for message in 0..messages {
            let one = |n: u64| {
                let number = from / 10 + message * 10 + n;
                let arrived = Some(ms(number * 10 + 50));
                PacketReport { packet: packet(number, number * 10, None), arrived, ecn: Ecn::NotEct }
            };
            let packets: Vec<PacketReport> = (0..10).map(one).collect();
            packets.iter().for_each(|report| gcc.on_sent(&report.packet));
            tell(gcc, from + message * 100 + 190, &packets);
        }
    }

    fn probes(gcc: &mut Gcc) -> Vec<(u32, u64)> {
        std::iter::from_fn(|| gcc.next_probe()).map(|probe| (probe.cluster, probe.rate.bits_per_second())).collect()
    }

    #[test]
    fn parameters_outside_their_ranges_are_refused() {
        let refused = |config: GccConfig| config.check().expect_err("refused").key;
        let config = GccConfig::default();
        assert!(config.check().is_ok());
        for back_off in [0.09, 1.0, f64::NAN] {
            assert_eq!(refused(GccConfig { back_off, ..config }), "back-off");
        }
        for threshold in [5.9, 601.0] {
            assert_eq!(refused(GccConfig { threshold, ..config }), "threshold");
        }
        for pacing in [0.9, 101.0] {
            assert_eq!(refused(GccConfig { pacing: Some(pacing), ..config }), "pacing");
        }
    }

    #[test]
    fn begins_at_the_start_rate_with_probes_and_has_a_timer_of_25_ms() {
        let mut gcc = Gcc::new(GccConfig::default());
        assert_eq!(gcc.deadline(), Instant::NEVER);
        gcc.on_limits(ms(1000), limits(300_000, 30_000, 2_500_000));
        assert_eq!(gcc.decision().target.bits_per_second(), 300_000);
        assert_eq!(probes(&mut gcc), [(1, 900_000), (2, 1_800_000)]);
        assert_eq!(gcc.deadline(), ms(1025));
        gcc.on_timer(ms(1030));
        assert_eq!(gcc.deadline(), ms(1055));
        let mut quiet = started(GccConfig { probing: false, ..GccConfig::default() });
        assert!(probes(&mut quiet).is_empty());
        let mut low = Gcc::new(GccConfig::default());
        low.on_limits(ms(0), limits(10_000, 30_000, 20_000));
        assert_eq!(low.decision().target.bits_per_second(), 30_000, "the least holds above all");
    }

    #[test]
    fn the_pacer_is_at_two_and_a_half_times_until_feedback_and_at_1_1_times_then() {
        let mut gcc = started(GccConfig::default());
        assert_eq!(gcc.decision().pacing.bits_per_second(), 750_000);
        feed(&mut gcc, 0, 1);
        let decision = gcc.decision();
        assert_eq!(decision.pacing.bits_per_second(), libm::round(gcc.estimate() * 1.1) as u64);
        assert_eq!((decision.padding, decision.window), (Rate::default(), None));
        let fixed = started(GccConfig { pacing: Some(2.0), ..GccConfig::default() });
        assert_eq!(fixed.decision().pacing.bits_per_second(), 600_000);
    }

    #[test]
    fn the_encoders_most_limits_their_target_and_not_the_estimate() {
        let mut gcc = Gcc::new(GccConfig::default());
        gcc.on_limits(Instant::ZERO, limits(300_000, 30_000, 400_000));
        feed(&mut gcc, 0, 100);
        assert_eq!(gcc.decision().target.bits_per_second(), 400_000);
        let capacity = gcc.view().capacity.expect("always");
        assert!(capacity > 450_000.0 && capacity <= 1.5 * 800_000.0 + 10_000.0, "{capacity}");
    }

    #[test]
    fn new_limits_keep_the_estimate_and_probe_for_what_encoders_can_use_more() {
        let mut gcc = Gcc::new(GccConfig::default());
        gcc.on_limits(Instant::ZERO, limits(300_000, 30_000, 100_000));
        probes(&mut gcc);
        gcc.on_limits(ms(2000), limits(900_000, 30_000, 2_500_000));
        assert_eq!(gcc.decision().target.bits_per_second(), 300_000);
        assert_eq!(probes(&mut gcc), [(3, 600_000)]);
        gcc.on_limits(ms(2100), limits(900_000, 350_000, 2_500_000));
        assert_eq!(gcc.decision().target.bits_per_second(), 350_000);
    }

    #[test]
    fn a_new_path_begins_anew_with_new_numbers_of_probes() {
        let mut gcc = started(GccConfig::default());
        feed(&mut gcc, 0, 50);
        assert!(gcc.estimate() > 400_000.0);
        probes(&mut gcc);
        gcc.on_new_path(ms(5000), limits(200_000, 30_000, 2_500_000));
        assert_eq!(gcc.decision().target.bits_per_second(), 200_000);
        assert_eq!(probes(&mut gcc), [(3, 600_000), (4, 1_200_000)]);
        assert_eq!(gcc.acknowledged.rate(), None);
    }

    #[test]
    fn round_trips_are_those_of_reports_or_after_five_seconds_those_of_feedback() {
        let mut gcc = started(GccConfig::default());
        feed(&mut gcc, 0, 50);
        assert_eq!(gcc.view().round_trip, None, "4.9 s after the first feedback");
        feed(&mut gcc, 5000, 1);
        assert_eq!(gcc.view().round_trip, Some(0.08));
        let round_trip = Some(Span::from_millis(120));
        gcc.on_report(&LossReport { now: ms(5300), fraction_lost: 0.0, expected: 0, round_trip });
        feed(&mut gcc, 5100, 5);
        assert_eq!(gcc.view().round_trip, Some(0.12));
    }

    #[test]
    fn a_probe_below_what_arrives_takes_it_no_further_than_85_percent_of_that() {
        let mut gcc = started(GccConfig::default());
        assert_eq!(probes(&mut gcc).len(), 2);
        feed(&mut gcc, 0, 200);
        assert!(gcc.delay.last() > 680_000.0);
        // The first probe arrives at 200 kb/s, of which 95 % is the result.
        gcc.arrivals = (0..5)
            .map(|n| Arrival {
                sequence: n,
                sent: ms(10_000 + n * 9),
                arrived: ms(10_100 + n * 40),
                size: 1000,
                probe: Some(1),
            })
            .collect();
        let mut alone = gcc.clone();
        assert_eq!(gcc.probed(Some(800_000.0)), Some(680_000.0));
        assert_eq!(alone.probed(None).map(libm::round), Some(190_000.0), "nothing is known to arrive");
    }

    #[test]
    fn a_full_window_holds_back_frames_or_the_target_as_configured() {
        let run = |push_back: HoldBack| {
            let mut gcc = started(GccConfig { push_back, ..GccConfig::default() });
            feed(&mut gcc, 0, 20);
            assert_eq!(gcc.decision().held_back, 0.0, "{push_back:?}: the window is not full");
            (0..200).for_each(|n| gcc.on_sent(&packet(1000 + n, 2200, None)));
            let decision = gcc.decision();
            (decision.target.bits_per_second() as f64, decision.held_back, gcc.estimate())
        };
        let (target, held_back, estimate) = run(HoldBack::None);
        assert!((target - estimate).abs() <= 1.0 && held_back == 0.0);
        let (target, held_back, estimate) = run(HoldBack::Target);
        assert!(target == 30_000.0 && held_back == 0.0, "of {estimate}");
        let (target, held_back, estimate) = run(HoldBack::Frames);
        assert!((target - estimate).abs() <= 1.0, "the estimate stays: {target} of {estimate}");
        assert!((held_back - (1.0 - 30_000.0 / estimate)).abs() < 1e-9, "{held_back}");
    }

    #[test]
    fn missing_feedback_is_shown_and_cuts_the_rate() {
        let mut gcc = started(GccConfig::default());
        for n in 0..400 {
            gcc.on_sent(&packet(n, n * 10, None));
            gcc.on_timer(ms(n * 10));
        }
        assert_eq!(gcc.view().state, "no feedback");
        assert_eq!(gcc.decision().target.bits_per_second(), 240_000);
    }

    #[test]
    fn an_empty_message_changes_nothing_and_one_without_arrivals_says_only_loss() {
        let mut gcc = started(GccConfig::default());
        tell(&mut gcc, 100, &[]);
        assert_eq!(gcc.heard, None);
        let lost = |n: u64| PacketReport { packet: packet(n, n * 100, None), arrived: None, ecn: Ecn::NotEct };
        tell(&mut gcc, 1100, &(0..10).map(lost).collect::<Vec<_>>());
        assert_eq!(gcc.view().lost, Some(1.0));
        assert_eq!(gcc.decision().target.bits_per_second(), 300_000);
    }

    #[test]
    fn hostile_feedback_does_not_panic_or_leave_the_limits() {
        let mut gcc = started(GccConfig::default());
        let ends = [0, 1, i64::MAX as u64, i64::MAX as u64 + 1, u64::MAX - 1, u64::MAX].map(Instant::from_nanos);
        for (n, &sent) in ends.iter().enumerate() {
            for &arrived in &ends {
                for &now in &ends {
                    let size = Bytes::new(1 << (n * 6));
                    let packet = SentPacket { sent, size, ..packet(u64::MAX - n as u64, 0, Some(1)) };
                    gcc.on_sent(&packet);
                    let report = PacketReport { packet, arrived: Some(arrived), ecn: Ecn::Ce };
                    let packets = [report; 12];
                    let round_trip = Span::MAX;
                    let in_flight = Bytes::new(u64::MAX);
                    let waits = Span::MAX;
                    gcc.on_feedback(&Feedback {
                        now,
                        packets: &packets,
                        round_trip,
                        in_flight,
                        waiting: in_flight,
                        waits,
                    });
                    gcc.on_timer(now);
                    let target = gcc.decision().target.bits_per_second();
                    assert!((30_000..=2_500_000).contains(&target), "{target}");
                }
            }
        }
    }
}
