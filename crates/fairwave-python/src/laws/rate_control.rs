//! Rate controllers of media sessions, written in Python.

use fairwave_core::packet::Ecn;
use fairwave_core::random::Stream;
use fairwave_core::transport::rate_control::{
    AnyControlLaw, Carries, ControlView, Decision, Feedback, Limits, LossReport, PacketReport, RateController,
    SentPacket,
};
use fairwave_core::units::{Bytes, Instant, Rate};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::law::{Instance, Law, LawFault, Method};
use super::random::Random;
use super::time::{instant, seconds};

/// Feedback on one packet of a media session.
#[pyclass(frozen, from_py_object, module = "fairwave", get_all)]
#[derive(Clone)]
pub struct MediaPacket {
    /// Sequence number among all packets of the session.
    sequence: u64,
    /// Send time by the sender's clock, seconds.
    sent: f64,
    /// Size of the IP packet, bytes.
    size: u64,
    /// `audio`, `video`, `retransmission`, `protection` or `padding`.
    carries: &'static str,
    /// Arrival time by the receiver's clock, seconds. None if the packet is missing.
    arrived: Option<f64>,
    /// True if it arrived with a congestion mark (CE).
    marked: bool,
}

impl MediaPacket {
    fn from_report(report: &PacketReport) -> Self {
        MediaPacket {
            sequence: report.packet.sequence,
            sent: report.packet.sent.seconds(),
            size: report.packet.size.get(),
            carries: match report.packet.carries {
                Carries::Audio => "audio",
                Carries::Video => "video",
                Carries::Retransmission => "retransmission",
                Carries::Protection => "protection",
                Carries::Padding => "padding",
            },
            arrived: report.arrived.map(Instant::seconds),
            marked: report.ecn == Ecn::Ce,
        }
    }
}

#[pymethods]
impl MediaPacket {
    /// A packet for tests.
    #[new]
    #[pyo3(signature = (sequence, *, sent = 0.0, size = 1200, arrived = None, marked = false))]
    fn new(sequence: u64, sent: f64, size: u64, arrived: Option<f64>, marked: bool) -> Self {
        MediaPacket { sequence, sent, size, carries: "video", arrived, marked }
    }

    fn __repr__(&self) -> String {
        format!("MediaPacket({}, sent={}, size={}, arrived={:?})", self.sequence, self.sent, self.size, self.arrived)
    }
}

/// A feedback message of a media session, as its sender reads it.
#[pyclass(frozen, module = "fairwave", get_all)]
pub struct MediaFeedback {
    /// Arrival at the sender, seconds.
    now: f64,
    /// Reports by packet, in the order of sending.
    packets: Vec<MediaPacket>,
    /// Time since the newest arrived packet of the message was sent, seconds.
    round_trip: f64,
    /// Bytes sent and not reported yet.
    in_flight: u64,
    /// Bytes in the pacer.
    waiting: u64,
    /// Waiting time of the oldest packet in the pacer, seconds.
    waits: f64,
}

#[pymethods]
impl MediaFeedback {
    /// A message for tests.
    #[new]
    #[pyo3(signature = (now, packets, *, round_trip = 0.1, in_flight = 0, waiting = 0, waits = 0.0))]
    fn new(now: f64, packets: Vec<MediaPacket>, round_trip: f64, in_flight: u64, waiting: u64, waits: f64) -> Self {
        MediaFeedback { now, packets, round_trip, in_flight, waiting, waits }
    }

    fn __repr__(&self) -> String {
        format!("MediaFeedback({}, {} packets)", self.now, self.packets.len())
    }
}

impl MediaFeedback {
    fn from_core(feedback: &Feedback<'_>) -> Self {
        MediaFeedback {
            now: feedback.now.seconds(),
            packets: feedback.packets.iter().map(MediaPacket::from_report).collect(),
            round_trip: feedback.round_trip.seconds(),
            in_flight: feedback.in_flight.get(),
            waiting: feedback.waiting.get(),
            waits: feedback.waits.seconds(),
        }
    }
}

impl AnyControlLaw for Law {
    fn controller(&self, stream: Stream) -> Box<dyn RateController> {
        let instance = self.instance(Some(Random::from_stream(Some(stream))));
        instance.begin(self, None, |py| Ok(PyTuple::empty(py)));
        let method = |name| instance.method(self, name);
        let [on_limits, on_feedback, on_report, on_timer] =
            ["on_limits", "on_feedback", "on_report", "on_timer"].map(method);
        let [deadline, target, pacing, padding, window] =
            ["deadline", "target", "pacing", "padding", "window"].map(method);
        let decision = Decision::paced(Rate::default(), 1.0);
        Box::new(Control {
            on_limits,
            on_feedback,
            on_report,
            on_timer,
            deadline,
            target,
            pacing,
            padding,
            window,
            decision,
            due: Instant::NEVER,
            instance,
        })
    }

    fn ecn(&self) -> Ecn {
        if self.has_marks() { Ecn::Ect0 } else { Ecn::NotEct }
    }
}

struct Control {
    instance: Instance,
    on_limits: Method,
    on_feedback: Method,
    on_report: Method,
    on_timer: Method,
    deadline: Method,
    target: Method,
    pacing: Method,
    padding: Method,
    window: Method,
    decision: Decision,
    due: Instant,
}

/// Default pacing rate as a multiple of the target (libwebrtc).
const PACING: f64 = 2.5;
/// Maximum rate that a law may return, bits per second.
const MOST: f64 = 1e12;

impl Control {
    /// Calls a method without arguments. Returns `otherwise` if the law does not override it.
    fn number(&self, name: &'static str, method: &Method, now: Instant, otherwise: f64, least: f64) -> f64 {
        let Some(method) = method else { return otherwise };
        self.instance.ask(name, Some(now), otherwise, |py| {
            let value: f64 = method.bind(py).call0()?.extract()?;
            if !(least..=MOST).contains(&value) {
                return Err(LawFault::Answer(format!(
                    "it answered {value}, but must answer a finite number from {least} to {MOST:e}"
                )));
            }
            Ok(value)
        })
    }

    /// Reads all decisions of the law. Needed after every call that may have changed them.
    fn decide(&mut self, now: Instant) {
        let rate = |bits: f64| Rate::from_bits_per_second(bits as u64);
        let target = self.number("target", &self.target, now, 0.0, 1.0);
        let pacing = self.number("pacing", &self.pacing, now, PACING * target, 1.0);
        let padding = self.number("padding", &self.padding, now, 0.0, 0.0);
        let window = self.window.is_some().then(|| self.number("window", &self.window, now, MOST, 1.0));
        let window = window.map(|bytes| Bytes::new(bytes as u64));
        let (target, pacing, padding) = (rate(target), rate(pacing), rate(padding));
        self.decision = Decision { target, pacing, padding, window, held_back: 0.0, burst: None };
        self.due = match &self.deadline {
            None => Instant::NEVER,
            Some(method) => self.instance.ask("deadline", Some(now), Instant::NEVER, |py| {
                match method.bind(py).call0()?.extract::<Option<f64>>()? {
                    None => Ok(Instant::NEVER),
                    Some(at) => instant(at, "the deadline"),
                }
            }),
        };
    }
}

impl RateController for Control {
    fn on_limits(&mut self, now: Instant, limits: Limits) {
        if let Some(method) = &self.on_limits {
            let rates = [limits.start, limits.least, limits.most].map(|rate| rate.bits_per_second() as f64);
            self.instance.ask("on_limits", Some(now), (), |py| {
                method.bind(py).call1((seconds(now), rates[0], rates[1], rates[2]))?;
                Ok(())
            });
        }
        self.decide(now);
    }

    fn on_sent(&mut self, _packet: &SentPacket) {}

    fn on_feedback(&mut self, feedback: &Feedback<'_>) {
        if let Some(method) = &self.on_feedback {
            self.instance.ask("on_feedback", Some(feedback.now), (), |py| {
                method.bind(py).call1((MediaFeedback::from_core(feedback),))?;
                Ok(())
            });
        }
        self.decide(feedback.now);
    }

    fn on_report(&mut self, report: &LossReport) {
        if let Some(method) = &self.on_report {
            let round_trip = report.round_trip.map(|span| span.seconds());
            self.instance.ask("on_report", Some(report.now), (), |py| {
                method.bind(py).call1((seconds(report.now), report.fraction_lost, round_trip))?;
                Ok(())
            });
            self.decide(report.now);
        }
    }

    fn on_timer(&mut self, now: Instant) {
        self.due = Instant::NEVER;
        if let Some(method) = &self.on_timer {
            self.instance.ask("on_timer", Some(now), (), |py| {
                method.bind(py).call1((seconds(now),))?;
                Ok(())
            });
            self.decide(now);
        }
    }

    fn deadline(&self) -> Instant {
        self.due
    }

    fn decision(&self) -> Decision {
        self.decision
    }

    fn view(&self) -> ControlView {
        let capacity = Some(self.decision.target.bits_per_second() as f64);
        ControlView { capacity, ..ControlView::default() }
    }
}
