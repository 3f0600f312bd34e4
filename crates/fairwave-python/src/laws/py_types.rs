//! Values shown to laws written in Python: values of `fairwave-core` with times in seconds, rates in bits per second and sizes in
//! bytes.

use fairwave_core::dscp::Dscp;
use fairwave_core::packet::{Class, Ecn, FlowId};
use fairwave_core::queue as core_queue;
use fairwave_core::traffic::FrameType;
use fairwave_core::transport::tcp::control as core_control;
use fairwave_core::units::{Rate, Span};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::time::instant;

/// The sender's window, in segments. A controller changes it in place.
#[pyclass(module = "fairwave", get_all, set_all)]
pub struct Window {
    /// Congestion window. The sender uses its integer part.
    pub congestion: f64,
    /// Slow start threshold. Below it, the window is in slow start.
    pub threshold: f64,
}

#[pymethods]
impl Window {
    #[new]
    #[pyo3(signature = (congestion = 1.0, threshold = 64.0))]
    fn new(congestion: f64, threshold: f64) -> Self {
        Window { congestion, threshold }
    }

    /// True if the window is in slow start.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.congestion < self.threshold
    }

    fn __repr__(&self) -> String {
        format!("Window(congestion={}, threshold={})", self.congestion, self.threshold)
    }
}

/// The sender's knowledge of the path at a call of its controller.
#[pyclass(frozen, module = "fairwave", get_all)]
pub struct Path {
    /// The current time, seconds.
    now: f64,
    /// Round-trip time of the latest acknowledgement, seconds. 0 before the first.
    rtt: f64,
    /// Minimum round-trip time so far, seconds. Infinite before the first.
    min_rtt: f64,
    /// Maximum round-trip time so far, seconds.
    max_rtt: f64,
    /// The segment that the receiver expects next.
    unacknowledged: u32,
    /// The segment to be sent next.
    next: u32,
    /// Segments newly acknowledged. 0 for a duplicate.
    acknowledged: u32,
    /// Number of segments for which this acknowledgement counts in congestion avoidance. With delayed acknowledgements it is the
    /// newly acknowledged segments, else 1.
    credit: u32,
    /// Segments sent but not acknowledged before this acknowledgement.
    flight: u32,
    /// Payload of a segment, bytes.
    payload: u32,
    /// The window from which a decrease starts, segments.
    in_use: f64,
    /// The receiver's rate of the last wave, bits per second. 0 without a measurement.
    rate: f64,
    /// The wave of that rate.
    wave: u16,
    /// Number of transmissions of the lost segment.
    transmissions: u32,
    /// True if the timer has expired before for this segment.
    timed_out_before: bool,
    /// Marked segments that this acknowledgement newly reports. 0 unless feedback is accurate.
    marked: u32,
    /// Segments delivered so far. This and the next two fields are 0 for a law without `on_sample`.
    delivered: u64,
    /// Segments counted as lost so far.
    lost: u64,
    /// Segments in flight after this acknowledgement, as counted by loss recovery.
    pipe: u32,
}

impl Path {
    pub fn from_core(path: &core_control::Path) -> Self {
        Path {
            now: path.now.seconds(),
            rtt: path.rtt.seconds(),
            min_rtt: if path.min_rtt == Span::MAX { f64::INFINITY } else { path.min_rtt.seconds() },
            max_rtt: path.max_rtt.seconds(),
            unacknowledged: path.unacknowledged,
            next: path.next,
            acknowledged: path.acknowledged,
            credit: path.credit,
            flight: path.flight,
            payload: path.payload,
            in_use: path.in_use,
            rate: path.rate.bits_per_second() as f64,
            wave: path.wave,
            transmissions: path.transmissions,
            timed_out_before: path.timed_out_before,
            marked: path.marked,
            delivered: path.delivered,
            lost: path.lost,
            pipe: path.pipe,
        }
    }

    fn to_core(&self) -> PyResult<core_control::Path> {
        let usable = [self.now, self.rtt, self.max_rtt, self.rate].iter().all(|one| one.is_finite() && *one >= 0.0);
        if !usable || self.min_rtt.is_nan() || self.min_rtt < 0.0 {
            return Err(PyValueError::new_err("the times and the rate of a path must be finite and not negative"));
        }
        Ok(core_control::Path {
            now: instant(self.now, "now").unwrap_or_default(),
            rtt: Span::from_seconds(self.rtt),
            min_rtt: if self.min_rtt.is_finite() { Span::from_seconds(self.min_rtt) } else { Span::MAX },
            max_rtt: Span::from_seconds(self.max_rtt),
            unacknowledged: self.unacknowledged,
            next: self.next,
            acknowledged: self.acknowledged,
            credit: self.credit,
            flight: self.flight,
            in_use: self.in_use,
            rate: Rate::from_bits_per_second(self.rate as u64),
            wave: self.wave,
            transmissions: self.transmissions,
            timed_out_before: self.timed_out_before,
            marked: self.marked,
            delivered: self.delivered,
            lost: self.lost,
            pipe: self.pipe,
            ..core_control::Path::new(self.payload)
        })
    }
}

#[pymethods]
impl Path {
    /// A path for tests. Omitted arguments have the values of a new connection.
    #[new]
    #[pyo3(signature = (*, now = 0.0, rtt = 0.0, min_rtt = f64::INFINITY, max_rtt = 0.0, unacknowledged = 0, next = 0,
        acknowledged = 0, credit = 1, flight = 0, payload = 1000, in_use = 1.0, rate = 0.0, wave = 0, transmissions = 1,
        timed_out_before = false, marked = 0, delivered = 0, lost = 0, pipe = 0))]
    #[allow(clippy::too_many_arguments)] // Python passes them by keyword
    fn new(
        now: f64,
        rtt: f64,
        min_rtt: f64,
        max_rtt: f64,
        unacknowledged: u32,
        next: u32,
        acknowledged: u32,
        credit: u32,
        flight: u32,
        payload: u32,
        in_use: f64,
        rate: f64,
        wave: u16,
        transmissions: u32,
        timed_out_before: bool,
        marked: u32,
        delivered: u64,
        lost: u64,
        pipe: u32,
    ) -> PyResult<Self> {
        let path = Path {
            now,
            rtt,
            min_rtt,
            max_rtt,
            unacknowledged,
            next,
            acknowledged,
            credit,
            flight,
            payload,
            in_use,
            rate,
            wave,
            transmissions,
            timed_out_before,
            marked,
            delivered,
            lost,
            pipe,
        };
        path.to_core()?;
        Ok(path)
    }

    /// True if the application or the receiver's window, rather than the congestion window, limited the sender before this
    /// acknowledgement.
    fn limited(&self, window: PyRef<'_, Window>) -> PyResult<bool> {
        let window = core_control::Window { congestion: window.congestion, threshold: window.threshold };
        Ok(self.to_core()?.limited(&window))
    }

    /// Queueing delay as a share of its maximum so far, 0 to 1. 0 until two round-trip times differ.
    fn queueing_share(&self) -> PyResult<f64> {
        Ok(self.to_core()?.queueing_share())
    }

    fn __repr__(&self) -> String {
        format!(
            "Path(now={}, rtt={}, acknowledged={}, flight={}, in_use={})",
            self.now, self.rtt, self.acknowledged, self.flight, self.in_use
        )
    }
}

/// A sample of the delivery rate. It compares a segment that this acknowledgement covers with the deliveries at the time when the
/// segment was sent.
#[pyclass(frozen, module = "fairwave", get_all)]
pub struct RateSample {
    /// Segments delivered in the interval ÷ interval, segments per second. NaN if the interval is too short.
    rate: f64,
    /// The longer one of the send and ACK intervals, seconds.
    interval: f64,
    /// `path.delivered` when the segment was sent.
    prior_delivered: u64,
    /// Segments in flight when the segment was sent, including itself.
    in_flight: u32,
    /// Segments counted as lost since the segment was sent.
    lost: u32,
    /// Number of marked packets among those delivered in the interval.
    marked: u32,
    /// True if the application left the sender without data at some time in the interval.
    application_limited: bool,
    /// Round-trip time of the latest-sent segment among those covered, seconds. Infinite if that segment was retransmitted.
    rtt: f64,
    /// Segments newly delivered by this acknowledgement.
    newly_delivered: u32,
}

impl RateSample {
    pub fn from_core(sample: &core_control::RateSample) -> Self {
        RateSample {
            rate: sample.rate.unwrap_or(f64::NAN),
            interval: sample.interval.seconds(),
            prior_delivered: sample.prior_delivered,
            in_flight: sample.in_flight,
            lost: sample.lost,
            marked: sample.marked,
            application_limited: sample.application_limited,
            rtt: if sample.rtt == Span::MAX { f64::INFINITY } else { sample.rtt.seconds() },
            newly_delivered: sample.newly_delivered,
        }
    }
}

#[pymethods]
impl RateSample {
    /// A sample for tests.
    #[new]
    #[pyo3(signature = (*, rate = f64::NAN, interval = 0.0, prior_delivered = 0, in_flight = 0, lost = 0, marked = 0,
        application_limited = false, rtt = f64::INFINITY, newly_delivered = 1))]
    #[allow(clippy::too_many_arguments)] // Python passes them by keyword
    fn new(
        rate: f64,
        interval: f64,
        prior_delivered: u64,
        in_flight: u32,
        lost: u32,
        marked: u32,
        application_limited: bool,
        rtt: f64,
        newly_delivered: u32,
    ) -> Self {
        RateSample {
            rate,
            interval,
            prior_delivered,
            in_flight,
            lost,
            marked,
            application_limited,
            rtt,
            newly_delivered,
        }
    }

    fn __repr__(&self) -> String {
        format!("RateSample(rate={}, interval={}, newly_delivered={})", self.rate, self.interval, self.newly_delivered)
    }
}

/// A traffic class by its name in scenarios.
pub fn parse_class(name: &str) -> PyResult<Class> {
    Class::ALL.into_iter().find(|class| class_name(*class) == name).ok_or_else(|| {
        let known: Vec<&str> = Class::ALL.into_iter().map(class_name).collect();
        PyValueError::new_err(format!("`{name}` is no traffic class; there are {}", known.join(", ")))
    })
}

fn class_name(class: Class) -> &'static str {
    match class {
        Class::Voice => "voice",
        Class::OtherUdp => "other-udp",
        Class::Tcp => "tcp",
    }
}

const CODEPOINTS: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];

fn codepoint(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "not-ect",
        Ecn::Ect1 => "ect1",
        Ecn::Ect0 => "ect0",
        Ecn::Ce => "ce",
    }
}

fn parse_ecn(name: &str) -> PyResult<Ecn> {
    CODEPOINTS.into_iter().find(|ecn| codepoint(*ecn) == name).ok_or_else(|| {
        let known = CODEPOINTS.map(codepoint).join(", ");
        PyValueError::new_err(format!("`{name}` is no codepoint; there are {known}"))
    })
}

/// A packet in the network.
#[pyclass(frozen, from_py_object, module = "fairwave", get_all)]
#[derive(Clone)]
pub struct Packet {
    /// Index of its flow in the run.
    flow: u32,
    /// Bytes on the wire.
    size: u16,
    /// `voice`, `other-udp` or `tcp`.
    traffic_class: &'static str,
    /// True for packets from the flow's receiver to its sender.
    feedback: bool,
    /// ECN code point: `not-ect`, `ect1`, `ect0` or `ce`.
    ecn: &'static str,
    /// Differentiated services code point, 0 to 63.
    dscp: u8,
    /// Video layer. 0 for the base layer and for other traffic.
    layer: u8,
    /// Number of data packets sent before this one, for transports with such sequence numbers. None for TCP and for feedback.
    sequence: Option<u32>,
}

impl Packet {
    pub fn from_core(packet: &fairwave_core::packet::Packet) -> Self {
        let FlowId(flow) = packet.flow;
        Packet {
            flow,
            size: packet.wire,
            traffic_class: class_name(packet.class),
            feedback: packet.feedback,
            ecn: codepoint(packet.ecn),
            dscp: packet.dscp.get(),
            layer: packet.layer,
            sequence: packet.sequence(),
        }
    }
}

#[pymethods]
impl Packet {
    /// A packet for tests.
    #[new]
    #[pyo3(signature = (flow = 0, size = 1000, traffic_class = "tcp", feedback = false, layer = 0, sequence = None,
        ecn = "not-ect", dscp = 0))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    pub(super) fn new(
        flow: u32,
        size: u16,
        traffic_class: &str,
        feedback: bool,
        layer: u8,
        sequence: Option<u32>,
        ecn: &str,
        dscp: u8,
    ) -> PyResult<Self> {
        if Dscp::new(dscp).is_none() {
            return Err(PyValueError::new_err(format!("dscp is {dscp}, but must be 0 to 63")));
        }
        let (traffic_class, ecn) = (class_name(parse_class(traffic_class)?), codepoint(parse_ecn(ecn)?));
        Ok(Packet { flow, size, traffic_class, feedback, ecn, dscp, layer, sequence })
    }

    fn __repr__(&self) -> String {
        format!("Packet(flow={}, size={}, traffic_class={:?})", self.flow, self.size, self.traffic_class)
    }
}

/// Position of a packet in a buffer. Invalid once the packet has left.
#[pyclass(frozen, eq, skip_from_py_object, module = "fairwave")]
#[derive(Clone, Copy, PartialEq)]
pub struct Place(pub core_queue::Place);

#[pymethods]
impl Place {
    fn __repr__(&self) -> &'static str {
        "Place(…)"
    }
}

/// A unit of data that an application creates at one time.
#[pyclass(frozen, module = "fairwave", get_all)]
pub struct Unit {
    /// Creation time, seconds.
    pub created: f64,
    /// Payload bytes.
    pub payload: u32,
    /// Video layer. 0 for the base layer and for other traffic.
    pub layer: u8,
    /// `none`; `I`, `P` or `B` for a part of a video frame; `noise` for comfort noise of a call; `background` for a packet of a
    /// call whose party listens.
    pub frame_type: &'static str,
}

const FRAME_TYPES: [(&str, FrameType); 6] = [
    ("none", FrameType::None),
    ("I", FrameType::I),
    ("P", FrameType::P),
    ("B", FrameType::B),
    ("noise", FrameType::Noise),
    ("background", FrameType::Background),
];

impl Unit {
    /// The frame type as the type of `fairwave-core`.
    pub fn coded(&self) -> FrameType {
        FRAME_TYPES.into_iter().find(|(name, _)| *name == self.frame_type).map_or(FrameType::None, |(_, found)| found)
    }
}

#[pymethods]
impl Unit {
    #[new]
    #[pyo3(signature = (created, payload, layer = 0, frame_type = "none"))]
    fn new(created: f64, payload: u32, layer: u8, frame_type: &str) -> PyResult<Self> {
        let known = FRAME_TYPES.into_iter().find(|(name, _)| *name == frame_type).ok_or_else(|| {
            PyValueError::new_err(format!("`{frame_type}` is no type of frame; there are none, I, P, B, noise"))
        })?;
        Ok(Unit { created, payload, layer, frame_type: known.0 })
    }

    fn __repr__(&self) -> String {
        format!("Unit(created={}, payload={})", self.created, self.payload)
    }
}
