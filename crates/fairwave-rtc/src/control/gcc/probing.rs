//! When to probe and at which rate (libwebrtc's `probe_controller.cc`), and what a probe measured
//! (`probe_bitrate_estimator.cc`).
//!
//! Not here: probes that a network state estimate asks for, for public libwebrtc has no such estimator; and probes while loss
//! limits an estimate that grows without padding, which libwebrtc does only under a field trial.

use std::collections::VecDeque;

use fairwave_units::units::{Instant, Rate, Span};

use super::Arrival;
use crate::control::Probe;

/// First probes, relative to the start.
const FIRST: [f64; 2] = [3.0, 6.0];
/// A probe that measured more than this share of its rate is followed by another, at twice what it measured.
const FURTHER_THRESHOLD: f64 = 0.7;
const FURTHER: f64 = 2.0;
/// How long a result is waited for.
const WAIT: Span = Span::from_secs(1);
/// Probes go no higher, and not above twice what the encoders can use.
const MOST: f64 = 5_000_000.0;
const MOST_OF_USE: f64 = 2.0;
/// While the application is limited: how often, and at which multiple of the estimate.
const LIMITED_INTERVAL: Span = Span::from_secs(5);
const LIMITED: f64 = 2.0;
/// An estimate that falls below this share of itself has dropped.
const DROP: f64 = 0.66;
/// A drop is probed for so long after it, at this share of the estimate before it, which must promise more than now.
const DROP_COUNTS: Span = Span::from_secs(5);
const AFTER_DROP: f64 = 0.85;
const UNCERTAINTY: f64 = 0.05;
const DROP_INTERVAL: Span = Span::from_secs(5);
/// For so long after the application was limited.
const LIMITED_COUNTS: Span = Span::from_secs(3);
/// When the encoders can use more: to it and twice it, but at most to twice the estimate.
const MORE_USE: [f64; 2] = [1.0, 2.0];
const MORE_USE_LIMIT: f64 = 2.0;
/// Each probe has so many packets and lasts so long.
const PACKETS: u32 = 5;
const LASTS: Span = Span::from_millis(15);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    New,
    Waiting,
    Complete,
}

/// When to probe.
#[derive(Clone, Debug)]
pub(super) struct Prober {
    state: State,
    allowed: bool,
    estimate: f64,
    /// What the encoders can use.
    use_of: f64,
    /// Above this result another probe follows.
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

    /// The number of the next probe.
    pub fn next(&self) -> u32 {
        self.next
    }

    pub fn take(&mut self) -> Option<Probe> {
        self.wanted.pop_front()
    }

    /// The session begins.
    pub fn start(&mut self, now: Instant, start: f64, use_of: f64) {
        self.estimate = start;
        self.use_of = use_of;
        self.probe(now, &FIRST.map(|factor| factor * start), true);
    }

    /// What the encoders can use has changed.
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

    /// Since when the application has been limited.
    pub fn set_limited(&mut self, since: Option<Instant>) {
        self.limited_since = since;
    }

    /// The application was limited until now.
    pub fn set_limited_until(&mut self, now: Instant) {
        self.limited_until = Some(now);
    }

    /// The estimate, bits per second, and whether the path is in a state to be probed.
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

    /// The queue has emptied after a drop of the estimate.
    pub fn on_recovery(&mut self, now: Instant) {
        let limited_of_late =
            self.limited_since.is_some() || self.limited_until.is_some_and(|until| now.since(until) < LIMITED_COUNTS);
        let Some((dropped, before)) = self.dropped else { return };
        let rate = AFTER_DROP * before;
        if limited_of_late
            && self.state == State::Complete
            && (1.0 - UNCERTAINTY) * rate > self.estimate
            && now.since(dropped) < DROP_COUNTS
            && now.since(self.last_after_drop) > DROP_INTERVAL
        {
            self.last_after_drop = now;
            self.probe(now, &[rate], false);
        }
    }

    /// Called every 25 ms.
    pub fn process(&mut self, now: Instant) {
        let since_last = self.last.map_or(Span::MAX, |last| now.since(last));
        if self.state == State::Waiting && since_last > WAIT {
            self.complete();
        }
        if self.state != State::Complete || !self.periodic || self.estimate <= 0.0 {
            return;
        }
        if self.limited_since.is_some_and(|since| now.since(since) >= LIMITED_INTERVAL)
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

/// A result needs this share of the probe's packets and bytes.
const RECEIVED: f64 = 0.8;
/// A result that arrived faster than this multiple of how it was sent is wrong.
const MOST_RATIO: f64 = 2.0;
/// A result that arrived more slowly than this share of how it was sent met the capacity, of which this much is used.
const UNSATURATED: f64 = 0.9;
const UTILISATION: f64 = 0.95;
/// Probes are forgotten after this, and none may last longer.
const LONGEST: Span = Span::from_secs(1);
/// Probes remembered until their packets are reported.
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

/// What probes measured.
#[derive(Clone, Debug, Default)]
pub(super) struct Results {
    asked: VecDeque<Probe>,
    clusters: Vec<Cluster>,
}

impl Results {
    /// A probe was asked for.
    pub fn expect(&mut self, probe: Probe) {
        self.asked.push_back(probe);
        if self.asked.len() > REMEMBERED {
            self.asked.pop_front();
        }
    }

    /// A packet of a probe has arrived. Answers with bits per second when enough of the probe has.
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

/// Bits per second; none when it took no time, or more than a second.
fn rate(bytes: u64, from: Instant, until: Instant) -> Option<f64> {
    let took = until.since(from);
    (took > Span::ZERO && took <= LONGEST).then(|| bytes as f64 * 8.0 / took.seconds())
}
