//! Probing: when to probe and at which rate (libwebrtc's `probe_controller.cc`), and the results of probes
//! (`probe_bitrate_estimator.cc`).
//!
//! Omitted: probes requested by a network state estimate, because public libwebrtc has no such estimator; and probes
//! while loss limits an estimate that grows without padding, which libwebrtc sends only under a field trial.

use std::collections::VecDeque;

use fairwave_units::units::{Instant, Rate, Span};

use super::arrival::Arrival;
use crate::control::Probe;

/// Rates of the first probes, relative to the start rate.
const FIRST: [f64; 2] = [3.0, 6.0];
/// If a probe measured more than this share of its rate, another follows at twice the result.
const FURTHER_THRESHOLD: f64 = 0.7;
const FURTHER: f64 = 2.0;
/// How long to wait for a result.
const WAIT: Span = Span::from_secs(1);
/// Highest rate of a probe. The limit is lower if twice the largest rate of the encoders is lower.
const MOST: f64 = 5_000_000.0;
const MOST_OF_USE: f64 = 2.0;
/// Application-limited phases: interval of probes, and their rate as a multiple of the estimate.
const LIMITED_INTERVAL: Span = Span::from_secs(5);
const LIMITED: f64 = 2.0;
/// An estimate below this share of the previous one counts as a drop.
const DROP: f64 = 0.66;
/// A drop is probed for this long. The probe rate is this share of the earlier estimate, and must exceed the present
/// one.
const DROP_COUNTS: Span = Span::from_secs(5);
const AFTER_DROP: f64 = 0.85;
const UNCERTAINTY: f64 = 0.05;
const DROP_INTERVAL: Span = Span::from_secs(5);
/// How long the end of an application-limited phase counts.
const LIMITED_COUNTS: Span = Span::from_secs(3);
/// Probes when the encoders can use more: multiples of their new rate; at most twice the estimate.
const MORE_USE: [f64; 2] = [1.0, 2.0];
const MORE_USE_LIMIT: f64 = 2.0;
/// Number of packets in a probe, and its duration.
const PACKETS: u32 = 5;
const LASTS: Span = Span::from_millis(15);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    New,
    Waiting,
    Complete,
}

/// Scheduler of probes.
#[derive(Clone, Debug)]
pub(super) struct Prober {
    state: State,
    allowed: bool,
    estimate: f64,
    /// Largest rate of the encoders, bits per second.
    use_of: f64,
    /// A result above this rate starts another probe.
    further_above: f64,
    last: Option<Instant>,
    limited_since: Option<Instant>,
    limited_until: Option<Instant>,
    periodic: bool,
    dropped: Option<(Instant, f64)>,
    last_after_drop: Instant,
    next: u32,
    wanted: VecDeque<Probe>,
}

impl Prober {
    /// `next` is the number of the first probe.
    pub fn new(periodic: bool, now: Instant, next: u32) -> Self {
        Prober {
            state: State::New,
            allowed: true,
            estimate: 0.0,
            use_of: 0.0,
            further_above: f64::INFINITY,
            last: None,
            limited_since: None,
            limited_until: None,
            periodic,
            dropped: None,
            last_after_drop: now,
            next,
            wanted: VecDeque::new(),
        }
    }

    /// Returns the number of the next probe.
    pub fn next(&self) -> u32 {
        self.next
    }

    pub fn take(&mut self) -> Option<Probe> {
        self.wanted.pop_front()
    }

    /// Starts the session.
    pub fn start(&mut self, now: Instant, start: f64, use_of: f64) {
        self.estimate = start;
        self.use_of = use_of;
        self.probe(now, &FIRST.map(|factor| factor * start), true);
    }

    /// Sets the largest rate of the encoders.
    pub fn set_use(&mut self, now: Instant, use_of: f64) {
        let more = use_of > self.use_of && self.estimate < use_of.min(MOST);
        self.use_of = use_of;
        if self.state != State::Complete || !more {
            return;
        }
        let limit = MORE_USE_LIMIT * self.estimate;
        let [first, second] = MORE_USE.map(|factor| factor * use_of);
        if limit < first {
            self.probe(now, &[limit], true);
        } else {
            let cut = second.min(limit);
            let both = [first, cut];
            self.probe(now, if cut > first { &both } else { &both[..1] }, limit < second);
        }
    }

    /// Sets the start of the current application-limited phase, if there is one.
    pub fn set_limited(&mut self, since: Option<Instant>) {
        self.limited_since = since;
    }

    /// Records the end of an application-limited phase.
    pub fn set_limited_until(&mut self, now: Instant) {
        self.limited_until = Some(now);
    }

    /// Sets the estimate, bits per second, and whether the state of the path allows probes.
    pub fn set_estimate(&mut self, now: Instant, estimate: f64, allowed: bool) {
        self.allowed = allowed;
        if estimate < DROP * self.estimate {
            self.dropped = Some((now, self.estimate));
        }
        self.estimate = estimate;
        if self.state == State::Waiting && estimate > self.further_above {
            self.probe(now, &[FURTHER * estimate], true);
        }
    }

    /// Records that the queue has emptied after a drop of the estimate.
    pub fn on_recovery(&mut self, now: Instant) {
        let limited_of_late = self.limited_since.is_some()
            || self.limited_until.is_some_and(|until| now.span_since(until) < LIMITED_COUNTS);
        let Some((dropped, before)) = self.dropped else { return };
        let rate = AFTER_DROP * before;
        if limited_of_late
            && self.state == State::Complete
            && (1.0 - UNCERTAINTY) * rate > self.estimate
            && now.span_since(dropped) < DROP_COUNTS
            && now.span_since(self.last_after_drop) > DROP_INTERVAL
        {
            self.last_after_drop = now;
            self.probe(now, &[rate], false);
        }
    }

    /// Periodic update, every 25 ms.
    pub fn process(&mut self, now: Instant) {
        let since_last = self.last.map_or(Span::MAX, |last| now.span_since(last));
        if self.state == State::Waiting && since_last > WAIT {
            self.complete();
        }
        if self.state != State::Complete || !self.periodic || self.estimate <= 0.0 {
            return;
        }
        if self.limited_since.is_some_and(|since| now.span_since(since) >= LIMITED_INTERVAL)
            && since_last >= LIMITED_INTERVAL
        {
            self.probe(now, &[LIMITED * self.estimate], true);
        }
    }

    fn complete(&mut self) {
        self.state = State::Complete;
        self.further_above = f64::INFINITY;
    }

    fn probe(&mut self, now: Instant, rates: &[f64], further: bool) {
        let mut most = MOST;
        if self.use_of > 0.0 {
            most = most.min(MOST_OF_USE * self.use_of);
        }
        if !self.allowed {
            return;
        }
        let mut further = further;
        let mut last = 0.0;
        for &rate in rates {
            further &= rate < most;
            last = rate.min(most);
            let rate = Rate::from_bits_per_second(libm::round(last) as u64);
            self.wanted.push_back(Probe { cluster: self.next, rate, lasts: LASTS, packets: PACKETS });
            self.next = self.next.wrapping_add(1);
        }
        self.last = Some(now);
        if further {
            self.state = State::Waiting;
            self.further_above = FURTHER_THRESHOLD * last;
        } else {
            self.complete();
        }
    }
}

/// Share of a probe's packets and bytes that a result requires.
const RECEIVED: f64 = 0.8;
/// A result is invalid if the probe arrived faster than this multiple of its send rate.
const MOST_RATIO: f64 = 2.0;
/// A probe that arrived below this share of its send rate has reached the capacity. Its result is multiplied by
/// `UTILISATION`.
const UNSATURATED: f64 = 0.9;
const UTILISATION: f64 = 0.95;
/// Probes are forgotten after this time, and no valid probe lasts longer.
const LONGEST: Span = Span::from_secs(1);
/// Number of probes remembered until their packets are reported.
const REMEMBERED: usize = 16;

#[derive(Clone, Copy, Debug)]
struct Cluster {
    number: u32,
    first_sent: Instant,
    last_sent: Instant,
    first_arrived: Instant,
    last_arrived: Instant,
    size_last_sent: u64,
    size_first_arrived: u64,
    bytes: u64,
    packets: u32,
}

/// Results of probes.
#[derive(Clone, Debug, Default)]
pub(super) struct Results {
    asked: VecDeque<Probe>,
    clusters: Vec<Cluster>,
}

impl Results {
    /// Registers a probe.
    pub fn expect(&mut self, probe: Probe) {
        self.asked.push_back(probe);
        if self.asked.len() > REMEMBERED {
            self.asked.pop_front();
        }
    }

    /// Adds a packet of a probe. Returns bits per second once enough of the probe has arrived.
    pub fn on_packet(&mut self, packet: &Arrival) -> Option<f64> {
        let number = packet.probe?;
        let asked = *self.asked.iter().find(|asked| asked.cluster == number)?;
        self.clusters.retain(|cluster| cluster.last_arrived + LONGEST >= packet.arrived);
        let place = self.clusters.iter().position(|cluster| cluster.number == number).unwrap_or_else(|| {
            self.clusters.push(Cluster {
                number,
                first_sent: packet.sent,
                last_sent: packet.sent,
                first_arrived: packet.arrived,
                last_arrived: packet.arrived,
                size_last_sent: packet.size,
                size_first_arrived: packet.size,
                bytes: 0,
                packets: 0,
            });
            self.clusters.len() - 1
        });
        let cluster = &mut self.clusters[place];
        cluster.first_sent = cluster.first_sent.min(packet.sent);
        if packet.sent > cluster.last_sent {
            cluster.last_sent = packet.sent;
            cluster.size_last_sent = packet.size;
        }
        if packet.arrived < cluster.first_arrived {
            cluster.first_arrived = packet.arrived;
            cluster.size_first_arrived = packet.size;
        }
        cluster.last_arrived = cluster.last_arrived.max(packet.arrived);
        cluster.bytes += packet.size;
        cluster.packets += 1;
        let packets = (f64::from(asked.packets) * RECEIVED) as u32;
        let bytes = asked.rate.bytes_in(asked.lasts).get() as f64 * RECEIVED;
        if cluster.packets < packets || (cluster.bytes as f64) < bytes {
            return None;
        }
        let sending = rate(cluster.bytes - cluster.size_last_sent, cluster.first_sent, cluster.last_sent)?;
        let arrival = rate(cluster.bytes - cluster.size_first_arrived, cluster.first_arrived, cluster.last_arrived)?;
        if arrival > MOST_RATIO * sending {
            None
        } else if arrival < UNSATURATED * sending {
            Some(UTILISATION * arrival)
        } else {
            Some(sending.min(arrival))
        }
    }
}

/// Returns bits per second; `None` if the time is zero or above one second.
fn rate(bytes: u64, from: Instant, until: Instant) -> Option<f64> {
    let took = until.span_since(from);
    (took > Span::ZERO && took <= LONGEST).then(|| bytes as f64 * 8.0 / took.seconds())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn probes(prober: &mut Prober) -> Vec<u64> {
        std::iter::from_fn(|| prober.take()).map(|probe| probe.rate.bits_per_second()).collect()
    }

    /// Returns a prober started at 300 kb/s, with encoders that can use `use_of`. The first probes are taken.
    fn started(use_of: f64) -> Prober {
        let mut prober = Prober::new(true, Instant::ZERO, 1);
        prober.start(Instant::ZERO, 300_000.0, use_of);
        probes(&mut prober);
        prober
    }

    /// Like [`started`], after the wait for results.
    fn complete(use_of: f64) -> Prober {
        let mut prober = started(use_of);
        prober.process(ms(1001));
        assert_eq!(prober.state, State::Complete);
        prober
    }

    #[test]
    fn a_session_begins_with_probes_at_three_and_six_times_the_start() {
        let mut prober = Prober::new(false, Instant::ZERO, 1);
        prober.start(Instant::ZERO, 300_000.0, 2.5e6);
        let first = prober.take().expect("two probes");
        assert_eq!((first.cluster, first.packets, first.lasts), (1, 5, Span::from_millis(15)));
        assert_eq!(first.rate.bits_per_second(), 900_000);
        assert_eq!(probes(&mut prober), [1_800_000]);
        assert_eq!(prober.next(), 3);
    }

    #[test]
    fn no_probe_exceeds_twice_what_the_encoders_can_use_or_5_mb_per_second() {
        let mut prober = Prober::new(false, Instant::ZERO, 1);
        prober.start(Instant::ZERO, 300_000.0, 600_000.0);
        assert_eq!(probes(&mut prober), [900_000, 1_200_000]);
        assert_eq!(prober.state, State::Complete, "no further probe after one that was cut");
        let mut prober = Prober::new(false, Instant::ZERO, 1);
        prober.start(Instant::ZERO, 2e6, 1e8);
        assert_eq!(probes(&mut prober), [5_000_000, 5_000_000]);
    }

    #[test]
    fn a_result_above_70_percent_is_followed_by_twice_the_result() {
        let mut prober = started(1e7);
        prober.set_estimate(ms(100), 1_260_000.0, true);
        assert!(probes(&mut prober).is_empty());
        prober.set_estimate(ms(100), 1_260_001.0, true);
        assert_eq!(probes(&mut prober), [2_520_002]);
        prober.set_estimate(ms(200), 1_700_000.0, true);
        assert!(probes(&mut prober).is_empty(), "below 70 % of 2.52 Mb/s");
    }

    #[test]
    fn a_result_is_waited_for_a_second() {
        let mut prober = started(1e7);
        prober.process(ms(1000));
        assert_eq!(prober.state, State::Waiting);
        prober.process(ms(1001));
        prober.set_estimate(ms(1002), 1_800_000.0, true);
        assert!(probes(&mut prober).is_empty());
    }

    #[test]
    fn no_probe_while_the_path_is_in_trouble() {
        let mut prober = started(1e7);
        prober.set_estimate(ms(100), 1_800_000.0, false);
        assert!(probes(&mut prober).is_empty());
        prober.set_estimate(ms(200), 1_800_000.0, true);
        assert_eq!(probes(&mut prober), [3_600_000]);
    }

    #[test]
    fn a_limited_application_is_probed_every_five_seconds_at_twice_the_estimate() {
        let mut prober = complete(1e6);
        prober.set_limited(Some(ms(2000)));
        prober.process(ms(6999));
        assert!(probes(&mut prober).is_empty());
        prober.process(ms(7000));
        assert_eq!(probes(&mut prober), [600_000]);
        prober.process(ms(8001));
        prober.process(ms(11_999));
        assert!(probes(&mut prober).is_empty());
        prober.process(ms(12_000));
        assert_eq!(probes(&mut prober), [600_000]);
        prober.process(ms(13_001));
        prober.set_limited(None);
        prober.process(ms(30_000));
        assert!(probes(&mut prober).is_empty(), "not limited");
        prober.periodic = false;
        prober.set_limited(Some(ms(2000)));
        prober.process(ms(40_000));
        assert!(probes(&mut prober).is_empty(), "not asked for");
    }

    #[test]
    fn encoders_that_can_use_more_are_probed_for_once() {
        let mut prober = complete(400_000.0);
        prober.set_use(ms(2000), 450_000.0);
        assert_eq!(probes(&mut prober), [450_000, 600_000], "the second is cut to twice the estimate");
        let mut prober = complete(1e6);
        prober.set_use(ms(2000), 2e6);
        assert_eq!(probes(&mut prober), [600_000], "twice the estimate is below what they can use");
        assert_eq!(prober.state, State::Waiting, "and more may follow");
        let mut prober = complete(200_000.0);
        prober.set_use(ms(2000), 250_000.0);
        assert!(probes(&mut prober).is_empty(), "the estimate is above");
        prober.set_use(ms(2000), 100_000.0);
        assert!(probes(&mut prober).is_empty(), "less");
        let mut prober = started(400_000.0 + 1e6);
        prober.set_use(ms(10), 2e6);
        assert!(probes(&mut prober).is_empty(), "results are waited for");
    }

    #[test]
    fn a_drop_while_the_application_was_limited_is_probed_after_recovery() {
        let dropped = |limited: Option<u64>, after: u64, estimate: f64| {
            let mut prober = complete(1e7);
            prober.set_estimate(ms(9000), 1e6, true);
            prober.set_estimate(ms(10_000), estimate, true);
            if let Some(until) = limited {
                prober.set_limited_until(ms(until));
            }
            prober.on_recovery(ms(after));
            probes(&mut prober)
        };
        assert_eq!(dropped(Some(9_500), 11_000, 400_000.0), [850_000]);
        assert!(dropped(None, 11_000, 400_000.0).is_empty(), "it was not limited");
        assert!(dropped(Some(8_000), 11_000, 400_000.0).is_empty(), "3 s ago");
        assert!(dropped(Some(14_000), 15_000, 400_000.0).is_empty(), "the drop was 5 s ago");
        assert!(dropped(Some(9_500), 11_000, 660_000.0).is_empty(), "66 % is no drop");
        let mut prober = complete(1e7);
        prober.set_estimate(ms(9000), 1e6, true);
        prober.set_estimate(ms(10_000), 400_000.0, true);
        prober.set_estimate(ms(10_100), 807_500.0, true);
        prober.set_limited(Some(ms(9_000)));
        prober.on_recovery(ms(11_000));
        assert!(probes(&mut prober).is_empty(), "95 % of 850 kb/s has been reached");
        prober.set_estimate(ms(11_000), 500_000.0, true);
        prober.on_recovery(ms(11_500));
        assert_eq!(probes(&mut prober), [686_375]);
        prober.set_estimate(ms(12_000), 300_000.0, true);
        prober.on_recovery(ms(16_500));
        assert!(probes(&mut prober).is_empty(), "at most every 5 s");
    }

    /// Returns the result of a probe at 1 Mb/s: five packets, 1875 bytes. The packets have 500 bytes; send and arrival
    /// times are in ms.
    fn measured(packets: &[(u64, u64)]) -> Option<f64> {
        let mut results = Results::default();
        let rate = Rate::from_bits_per_second(1_000_000);
        results.expect(Probe { cluster: 7, rate, lasts: LASTS, packets: PACKETS });
        let mut last = None;
        for (n, &(sent, arrived)) in packets.iter().enumerate() {
            let packet =
                Arrival { sequence: n as u64, sent: ms(sent), arrived: ms(arrived), size: 500, probe: Some(7) };
            last = results.on_packet(&packet);
        }
        last
    }

    #[test]
    fn a_probe_measures_the_lower_of_sending_and_arrival() {
        assert_eq!(measured(&[(0, 50), (4, 54), (8, 58)]), None, "80 % of five packets are needed");
        assert_eq!(measured(&[(0, 50), (4, 54), (8, 58), (12, 62)]), Some(1e6));
        assert_eq!(measured(&[(0, 50), (4, 53), (8, 56), (12, 59)]), Some(1e6), "it arrived faster");
        let slow = measured(&[(0, 50), (10, 61), (20, 72), (30, 83)]).expect("four packets");
        assert!((slow - 12_000.0 / 0.033).abs() < 1.0, "it arrived at 91 %: {slow}");
    }

    #[test]
    fn a_probe_that_met_the_capacity_counts_for_95_percent_of_it() {
        let rate = measured(&[(0, 50), (4, 58), (8, 66), (12, 74)]).expect("four packets");
        assert!((rate - 475_000.0).abs() < 1e-6, "{rate}");
    }

    #[test]
    fn results_that_cannot_be_are_dropped() {
        assert_eq!(measured(&[(0, 50), (10, 51), (20, 52), (30, 53)]), None, "ten times as fast as it was sent");
        assert_eq!(measured(&[(0, 50), (0, 54), (0, 58), (0, 62)]), None, "sent at once");
        assert_eq!(measured(&[(0, 50), (4, 50), (8, 50), (12, 50)]), None, "arrived at once");
        assert_eq!(measured(&[(0, 50), (4, 400), (8, 800), (12, 1051)]), None, "longer than a second");
        assert_eq!(measured(&[(0, 50), (4, 1051), (8, 1055), (12, 1059)]), None, "the first packet is forgotten");
    }

    #[test]
    fn packets_of_other_probes_and_of_none_do_not_count() {
        let mut results = Results::default();
        let packet = |probe| Arrival { sequence: 0, sent: ms(0), arrived: ms(50), size: 500, probe };
        assert_eq!(results.on_packet(&packet(None)), None);
        assert_eq!(results.on_packet(&packet(Some(7))), None);
        assert!(results.clusters.is_empty());
        for cluster in 0..20 {
            results.expect(Probe { cluster, rate: Rate::from_bits_per_second(1), lasts: LASTS, packets: PACKETS });
        }
        assert_eq!(results.asked.len(), 16);
        // At 1 b/s no bytes are required, but four packets are.
        for n in 0..4 {
            assert_eq!(results.on_packet(&packet(Some(10 + n))), None);
        }
    }
}
