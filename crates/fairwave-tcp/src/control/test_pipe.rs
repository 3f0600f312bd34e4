//! A test model of a law and its path, without a connection: a bottleneck with its queue, a delay, and one
//! acknowledgement per segment. It shows the behaviour of laws over time; other tests cover connections.
//!
//! Delivery rates are sampled by a plain implementation of the section *Detailed Delivery Rate Sampling Algorithm*
//! of draft-ietf-ccwg-bbr.
//!
//! **Assumptions.** A segment that finds the queue full is lost; the next segment that arrives reveals the loss.
//! The model never retransmits it and does not count its data as missing. Segments are numbered without end.

use std::collections::VecDeque;

use super::{Controller, Path, RateSample, Window};
use fairwave_units::units::{Instant, Span};

/// More steps (segments and acknowledgements) than any test needs in one run.
const MOST_STEPS: u64 = 20_000_000;

/// The estimate of `law`, as a number.
pub(super) fn estimated(law: &impl Controller) -> f64 {
    law.estimate().expect("the law estimates something").value()
}

/// Record of a segment.
struct Sent {
    number: u32,
    at: Instant,
    /// Sending time of the first segment of the flight that this segment ends.
    first_at: Instant,
    delivered: u64,
    delivered_at: Instant,
    lost: u64,
    in_flight: u32,
    application_limited: bool,
    /// Arrival of its acknowledgement; never if the segment is lost.
    back: Option<Instant>,
    marked: bool,
}

/// A law with its path.
pub(super) struct Pipe<C> {
    pub law: C,
    pub path: Path,
    pub window: Window,
    /// Rate of the bottleneck, segments per second.
    pub rate: f64,
    /// The round trip without a queue.
    pub delay: Span,
    /// Capacity of the queue in segments, including the one in service.
    pub buffer: f64,
    /// A segment is marked if more than this number are before it.
    pub mark_above: f64,
    /// The application has no data until this time.
    pub idle_until: Instant,
    pub now: Instant,
    /// The latest sample.
    pub sample: Option<RateSample>,
    pub timeouts: u32,
    sent: VecDeque<Sent>,
    next_send: Instant,
    free_at: Instant,
    next: u32,
    recover: Option<u32>,
    /// Marks of segments below this one do not count.
    marked_below: u32,
    first_at: Instant,
    delivered_at: Instant,
    /// Samples are application-limited until `delivered` exceeds this.
    limited_below: u64,
}

impl<C: Controller> Pipe<C> {
    /// A pipe of `rate` segments per second and `millis` of round trip, with an infinite queue and without marks.
    /// The law begins with ten segments.
    pub fn new(law: C, rate: f64, millis: u64) -> Self {
        Pipe {
            law,
            path: Path::new(1000),
            window: Window { congestion: 10.0, threshold: 1e9 },
            rate,
            delay: Span::from_millis(millis),
            buffer: f64::INFINITY,
            mark_above: f64::INFINITY,
            idle_until: Instant::ZERO,
            now: Instant::ZERO,
            sample: None,
            timeouts: 0,
            sent: VecDeque::new(),
            next_send: Instant::ZERO,
            free_at: Instant::ZERO,
            next: 1,
            recover: None,
            marked_below: 0,
            first_at: Instant::ZERO,
            delivered_at: Instant::ZERO,
            limited_below: 0,
        }
    }

    /// The bandwidth-delay product, segments.
    pub fn product(&self) -> f64 {
        self.rate * self.delay.seconds()
    }

    /// Segments in flight.
    pub fn in_flight(&self) -> u32 {
        self.sent.len() as u32
    }

    /// Segments that wait at the bottleneck.
    pub fn queue(&self) -> f64 {
        self.free_at.span_since(self.now).seconds() * self.rate
    }

    /// Runs until `seconds`, and calls `see` after each acknowledgement.
    pub fn run_until(&mut self, seconds: f64, mut see: impl FnMut(&Self)) {
        let end = Instant::from_seconds(seconds);
        for step in 0.. {
            assert!(step < MOST_STEPS, "{step} steps by {} s: the law sends without end", self.now.seconds());
            let back = self.sent.iter().find_map(|sent| sent.back).unwrap_or(Instant::NEVER);
            let has_room = f64::from(self.in_flight()) < self.window.congestion.floor();
            let send = if has_room { self.next_send.max(self.idle_until).max(self.now) } else { Instant::NEVER };
            if back.min(send) > end {
                break;
            }
            if back <= send {
                self.now = back;
                self.acknowledge();
                see(self);
            } else {
                if self.idle_until > self.now {
                    self.limited_below = self.path.delivered + u64::from(self.in_flight()).max(1);
                }
                self.now = send;
                self.send();
            }
            if self.sent.iter().all(|sent| sent.back.is_none())
                && f64::from(self.in_flight()) >= self.window.congestion.floor()
            {
                self.time_out();
            }
        }
        self.now = end;
    }

    fn send(&mut self) {
        if self.sent.is_empty() {
            (self.first_at, self.delivered_at) = (self.now, self.now);
        }
        let queue = self.queue();
        let back = (queue < self.buffer).then(|| {
            self.free_at = self.free_at.max(self.now) + Span::from_seconds(1.0 / self.rate);
            self.free_at + self.delay
        });
        self.sent.push_back(Sent {
            number: self.next,
            at: self.now,
            first_at: self.first_at,
            delivered: self.path.delivered,
            delivered_at: self.delivered_at,
            lost: self.path.lost,
            in_flight: self.in_flight() + 1,
            application_limited: self.path.delivered < self.limited_below,
            back,
            marked: queue > self.mark_above,
        });
        self.next += 1;
        (self.path.now, self.path.next) = (self.now, self.next);
        let pace = self.law.pacing(&self.path, &self.window);
        let gap = if pace.is_finite() { Span::from_seconds(1.0 / pace) } else { Span::ZERO };
        self.next_send = self.next_send.max(self.now) + gap;
    }

    fn acknowledge(&mut self) {
        let flight = self.in_flight();
        let mut losses = 0;
        let sent = loop {
            let Some(sent) = self.sent.pop_front() else { return };
            if sent.back.is_some() {
                break sent;
            }
            losses += 1;
        };
        let path = &mut self.path;
        path.now = self.now;
        path.rtt = self.now.span_since(sent.at);
        path.min_rtt = path.min_rtt.min(path.rtt);
        path.max_rtt = path.max_rtt.max(path.rtt);
        (path.acknowledged, path.unacknowledged, path.next) = (1, sent.number + 1, self.next);
        (path.flight, path.pipe) = (flight, self.sent.len() as u32);
        path.in_use = f64::from(flight).min(self.window.congestion);
        path.delivered += 1;
        path.lost += losses;
        path.marked = u32::from(sent.marked);
        self.delivered_at = self.now;
        if sent.marked && sent.number >= self.marked_below {
            self.marked_below = self.next;
            self.law.on_mark(&self.path, &mut self.window);
        }
        match self.recover {
            Some(recover) if sent.number >= recover => {
                self.recover = None;
                self.law.on_other_ack(&self.path, &mut self.window);
                self.law.on_recovered(&self.path, &mut self.window);
            }
            Some(_) => self.law.on_other_ack(&self.path, &mut self.window),
            None => self.law.on_ack(&self.path, &mut self.window),
        }
        if losses > 0 && self.recover.is_none() {
            self.recover = Some(self.next);
            self.law.on_loss(&self.path, &mut self.window);
        }
        let sending = sent.at.span_since(sent.first_at);
        self.first_at = sent.at;
        let interval = sending.max(self.now.span_since(sent.delivered_at));
        let delivered = self.path.delivered - sent.delivered;
        let sample = RateSample {
            rate: (interval >= self.path.min_rtt).then(|| delivered as f64 / interval.seconds()),
            interval,
            prior_delivered: sent.delivered,
            in_flight: sent.in_flight,
            lost: (self.path.lost - sent.lost) as u32,
            marked: u32::from(sent.marked),
            application_limited: sent.application_limited,
            rtt: self.path.rtt,
            newly_delivered: 1,
        };
        self.sample = Some(sample);
        self.law.on_sample(&self.path, &sample, &mut self.window);
    }

    /// All segments in flight are lost, and no acknowledgement will reveal it.
    fn time_out(&mut self) {
        self.now += Span::from_secs(1);
        self.path.lost += self.sent.len() as u64;
        self.path.in_use = self.window.congestion;
        self.sent.clear();
        (self.path.now, self.path.pipe) = (self.now, 0);
        self.timeouts += 1;
        self.recover = None;
        self.law.on_timeout(&self.path, &mut self.window);
    }
}

/// A law with a constant window and pace.
struct ConstantWindow(f64);

impl Controller for ConstantWindow {
    fn on_ack(&mut self, _path: &Path, _window: &mut Window) {}
    fn on_loss(&mut self, _path: &Path, _window: &mut Window) -> super::Verdict {
        super::Verdict::Congestion
    }
    fn on_timeout(&mut self, _path: &Path, _window: &mut Window) -> super::Verdict {
        super::Verdict::Congestion
    }
    fn pacing(&self, _path: &Path, _window: &Window) -> f64 {
        self.0
    }
}

#[test]
fn a_window_moves_itself_per_round_trip_until_the_pipe_is_full_and_then_stands_in_the_queue() {
    for (window, delivered) in [(50.0, 500.0), (100.0, 1000.0), (300.0, 1000.0)] {
        let mut pipe = Pipe::new(ConstantWindow(f64::INFINITY), 1000.0, 100);
        pipe.window.congestion = window;
        pipe.run_until(5.0, |_| {});
        let before = pipe.path.delivered;
        pipe.run_until(15.0, |_| {});
        let per_second = (pipe.path.delivered - before) as f64 / 10.0;
        assert!((per_second / delivered - 1.0).abs() < 0.02, "{per_second} for {delivered}");
        let queue = (window - 100.0f64).max(0.0);
        assert!((pipe.queue() - queue).abs() <= 2.0 || window < 100.0, "{}", pipe.queue());
        let rate = pipe.sample.and_then(|sample| sample.rate).expect("there were many");
        assert!((rate / delivered - 1.0).abs() < 0.03, "the sampled rate is {rate}");
    }
}

#[test]
fn a_pace_below_the_rate_of_the_pipe_is_what_is_delivered_and_queues_nothing() {
    let mut pipe = Pipe::new(ConstantWindow(400.0), 1000.0, 100);
    pipe.window.congestion = 1000.0;
    pipe.run_until(10.0, |pipe| assert!(pipe.queue() <= 1.0));
    assert!((pipe.path.delivered as f64 / 9.9 / 400.0 - 1.0).abs() < 0.01);
    assert!((pipe.sample.and_then(|sample| sample.rate).expect("there were many") / 400.0 - 1.0).abs() < 0.01);
}

#[test]
fn full_queue_loses_and_long_queue_marks() {
    let mut pipe = Pipe::new(ConstantWindow(1100.0), 1000.0, 100);
    pipe.window.congestion = 1000.0;
    (pipe.buffer, pipe.mark_above) = (50.0, 30.0);
    let mut marked = 0;
    pipe.run_until(10.0, |pipe| marked += pipe.path.marked);
    let lost = pipe.path.lost as f64 / (pipe.path.lost + pipe.path.delivered) as f64;
    assert!((lost - 100.0 / 1100.0).abs() < 0.01, "{lost}");
    assert!(f64::from(marked) / pipe.path.delivered as f64 > 0.9, "the queue is nearly always longer than 30");
}
