//! Round trips measured by a flow's sender: always for pings, for other flows if `[record]` names them.
//!
//! | transport | sample |
//! |---|---|
//! | `tcp/…` | arrival of an acknowledgement of new data − sending time of the segment that triggered it (RFC 7323 §4: the echoed time stamp) |
//! | `ping` | arrival of the first reply − creation of its request |
//! | `tfrc` | arrival of a report − sending time of the packet that triggered it − holding time at the receiver (RFC 5348 §4.3) |
//!
//! A delayed acknowledgement echoes the first segment that it waits for, so a sample includes that wait. Other
//! transports have no samples. A request is lost if a queue or a wire removed it or its reply. A request without
//! reply and without removal is still in transit. Hosts of a live run can lose packets without a trace. There, a
//! request without reply is lost once it is older than the longest round trip.

use std::collections::HashSet;

use fairwave_core::packet::{Body, Packet};
use fairwave_core::quality::delay::DelaySummary;
use fairwave_core::quality::responsiveness::trimmed_mean;
use fairwave_core::units::{Instant, Span};

/// Round trips measured by a flow's sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct RoundTripLog {
    /// Next unacknowledged segment: all earlier ones are acknowledged.
    acknowledged: u32,
    /// Requests with a reply.
    answered: HashSet<u32>,
    /// Samples in order of time.
    samples: Vec<RoundTrip>,
}

/// A request of a flow of pings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Request {
    /// Number of its unit.
    pub number: u32,
    /// Creation time.
    pub made: Instant,
    /// Whether the network removed it or its reply; `None` if unknown.
    pub is_removed: Option<bool>,
}

/// A sample.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct RoundTrip {
    /// Arrival time of the reply.
    pub at: Instant,
    /// Round-trip time.
    pub took: Span,
}

/// Summary of a flow's round trips.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct RoundTrips {
    /// Samples in the window.
    pub summary: Option<DelaySummary>,
    /// Mean without the longest 5 %.
    pub trimmed: Option<Span>,
    /// Smoothed round trip after the last sample (RFC 6298 §2, α = 1/8).
    pub smoothed: Option<Span>,
    /// Requests in the window with a known outcome, and how many of them had no reply; `None` for flows other than
    /// pings.
    pub requests: Option<(u64, u64)>,
}

impl RoundTripLog {
    /// Records a packet that reached the sender at `now`.
    pub fn note(&mut self, packet: &Packet, now: Instant) {
        let took = match packet.body {
            Body::Ack { next, echo, .. } if next > self.acknowledged => {
                self.acknowledged = next;
                now.span_since(echo)
            }
            Body::TfrcFeedback { echo, delay, .. } => now.span_since(echo).saturating_sub(delay),
            Body::Datagram { unit, created, .. } if self.answered.insert(unit) => now.span_since(created),
            _ => return,
        };
        self.samples.push(RoundTrip { at: now, took });
    }

    /// Returns all samples in order.
    pub fn samples(&self) -> &[RoundTrip] {
        &self.samples
    }

    /// Summarises the samples in the window. `requests` are the requests of a flow of pings.
    pub fn result(&self, from: Instant, end: Instant, requests: Option<impl Iterator<Item = Request>>) -> RoundTrips {
        let mut times: Vec<Span> = self.samples.iter().filter(|one| one.at >= from).map(|one| one.took).collect();
        let summary = DelaySummary::from_delays(times.iter().copied());
        times.sort_unstable();
        let patience = summary.map_or(Span::ZERO, |summary| summary.max);
        let requests = requests.map(|requests| {
            let mut counts = (0, 0);
            for Request { number, made, is_removed } in requests.filter(|request| request.made >= from) {
                let is_answered = self.answered.contains(&number);
                let is_lost = !is_answered && is_removed.unwrap_or(made + patience <= end);
                counts.0 += u64::from(is_answered || is_lost);
                counts.1 += u64::from(is_lost);
            }
            counts
        });
        let smooth = |smoothed: Option<Span>, one: &RoundTrip| {
            let next = |before: Span| Span::from_nanos(before.nanos() - before.nanos() / 8 + one.took.nanos() / 8);
            Some(smoothed.map_or(one.took, next))
        };
        RoundTrips {
            summary,
            trimmed: trimmed_mean(&times),
            smoothed: self.samples.iter().fold(None, smooth),
            requests,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_core::packet::{Class, Ecn, FlowId};

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn packet(body: Body) -> Packet {
        Packet {
            flow: FlowId(0),
            wire: 40,
            class: Class::Tcp,
            dscp: Default::default(),
            feedback: true,
            ecn: Ecn::NotEct,
            layer: 0,
            body,
        }
    }

    fn ack(next: u32, echo: Instant) -> Packet {
        let sack = Default::default();
        packet(Body::Ack { next, echo, rate: 0.0, wave: 0, congestion_echo: false, marked: 0, sack })
    }

    fn reply(unit: u32, created: Instant) -> Packet {
        packet(Body::Datagram { payload: 56, sequence: unit, unit, part: 0, parts: 1, created })
    }

    const NO_REQUESTS: Option<std::iter::Empty<Request>> = None;

    #[test]
    fn an_acknowledgement_of_new_data_is_a_sample_and_a_duplicate_is_none() {
        let mut log = RoundTripLog::default();
        for (next, sent, now) in [(1, 0, 40), (2, 10, 60), (2, 20, 61), (4, 30, 70)] {
            log.note(&ack(next, ms(sent)), ms(now));
        }
        let took: Vec<f64> = log.samples().iter().map(|one| one.took.millis()).collect();
        assert_eq!(took, [40.0, 50.0, 40.0]);
        // 40, then 7/8 · 40 + 50/8 = 41.25, then 7/8 · 41.25 + 40/8 = 41.09375.
        let result = log.result(ms(0), ms(100), NO_REQUESTS);
        assert_eq!(result.smoothed.map(Span::millis), Some(41.09375));
        assert_eq!(result.requests, None);
        let summary = log.result(ms(60), ms(100), NO_REQUESTS).summary.expect("two samples");
        assert_eq!((summary.count, summary.mean.millis(), summary.max.millis()), (2, 45.0, 50.0), "in the window");
    }

    #[test]
    fn a_report_s_time_at_the_receiver_does_not_count() {
        let mut log = RoundTripLog::default();
        let body = Body::TfrcFeedback {
            echo: ms(10),
            delay: Span::from_millis(30),
            receive_rate: Default::default(),
            loss_event_rate: 0.0,
        };
        log.note(&packet(body), ms(100));
        assert_eq!(log.samples()[0].took, Span::from_millis(60));
    }

    #[test]
    fn a_reply_counts_once_and_a_request_is_lost_by_its_record_or_in_live_runs_by_its_age() {
        let mut log = RoundTripLog::default();
        for (unit, made, now) in [(0, 0, 50), (0, 0, 51), (2, 400, 480)] {
            log.note(&reply(unit, ms(made)), ms(now));
        }
        assert_eq!(log.samples().len(), 2);
        let request = |number: u32, is_removed| Request { number, made: ms(200 * u64::from(number)), is_removed };
        let requests = || Some((0..5).map(|number| request(number, None)));
        let recorded = || Some((0..5).map(|number| request(number, Some(number == 1))));
        assert_eq!(log.result(ms(0), ms(9000), recorded()).requests, Some((3, 1)), "3 and 4 are on their way");
        // 1 and 3 are lost; 4, made at 800, is younger than the longest round trip of 80 ms when the run ends at 850.
        assert_eq!(log.result(ms(0), ms(850), requests()).requests, Some((4, 2)));
        assert_eq!(log.result(ms(0), ms(880), requests()).requests, Some((5, 3)));
        assert_eq!(log.result(ms(200), ms(880), requests()).requests, Some((4, 3)), "of the window");
    }
}
