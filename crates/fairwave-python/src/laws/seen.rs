//! What laws that are written in Python are shown: values of core with times in seconds, rates in bits per second, sizes in bytes.

use fairwave_core::packet::{Class, Ecn, FlowId};
use fairwave_core::queue as core_queue;
use fairwave_core::traffic::FrameType;
use fairwave_core::transport::tcp::control as core_control;
use fairwave_core::units::{Rate, Span};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::buffer::Buffer;
use super::{instant, seconds};

/// The sender's window, in segments: a controller changes it in place.
#[pyclass(module = "fairwave", get_all, set_all)]
pub struct Window {
    /// Congestion window; the sender uses its whole part.
    pub congestion: f64,
    /// Slow start threshold: below it the window is in slow start.
    pub threshold: f64,
}

#[pymethods]
impl Window {
    #[new]
    #[pyo3(signature = (congestion = 1.0, threshold = 64.0))]
    fn new(congestion: f64, threshold: f64) -> Self {
        Window { congestion, threshold }
    }

    /// Whether the window is still in slow start.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.congestion < self.threshold
    }

    fn __repr__(&self) -> String {
        format!("Window(congestion={}, threshold={})", self.congestion, self.threshold)
    }
}

/// What the sender knows of the path when it asks its controller.
#[pyclass(frozen, module = "fairwave", get_all)]
pub struct Path {
    /// The present time, seconds.
    now: f64,
    /// The round trip that the latest acknowledgement measured, seconds; 0 before the first.
    rtt: f64,
    /// The smallest so far, seconds; infinite before the first.
    min_rtt: f64,
    /// The largest so far, seconds.
    max_rtt: f64,
    /// The segment that the receiver waits for.
    unacknowledged: u32,
    /// The segment that would be sent next.
    next: u32,
    /// Segments that this acknowledgement newly covers; 0 for a duplicate.
    acknowledged: u32,
    /// Segments sent and not acknowledged before this acknowledgement.
    flight: u32,
    /// Payload bytes of a segment.
    payload: u32,
    /// The window that a decrease starts from, segments.
    in_use: f64,
    /// The receiver's rate of the last wave, bits per second; 0 when it has measured none.
    rate: f64,
    /// The wave over which that rate was measured.
    wave: u16,
    /// How often the lost segment has been sent.
    transmissions: u32,
    /// The timer has gone off before for this segment.
    timed_out_before: bool,
}

impl Path {
    pub fn of(path: &core_control::Path) -> Self {
        Path {
            now: path.now.seconds(),
            rtt: path.rtt.seconds(),
            min_rtt: if path.min_rtt == Span::MAX { f64::INFINITY } else { path.min_rtt.seconds() },
            max_rtt: path.max_rtt.seconds(),
            unacknowledged: path.unacknowledged,
            next: path.next,
            acknowledged: path.acknowledged,
            flight: path.flight,
            payload: path.payload,
            in_use: path.in_use,
            rate: path.rate.bits_per_second() as f64,
            wave: path.wave,
            transmissions: path.transmissions,
            timed_out_before: path.timed_out_before,
        }
    }

    fn of_core(&self) -> PyResult<core_control::Path> {
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
            flight: self.flight,
            in_use: self.in_use,
            rate: Rate::from_bits_per_second(self.rate as u64),
            wave: self.wave,
            transmissions: self.transmissions,
            timed_out_before: self.timed_out_before,
            ..core_control::Path::new(self.payload)
        })
    }
}

#[pymethods]
impl Path {
    /// A path for tests: what is not given is that of a connection of which nothing is known.
    #[new]
    #[pyo3(signature = (*, now = 0.0, rtt = 0.0, min_rtt = f64::INFINITY, max_rtt = 0.0, unacknowledged = 0, next = 0,
        acknowledged = 0, flight = 0, payload = 1000, in_use = 1.0, rate = 0.0, wave = 0, transmissions = 1,
        timed_out_before = false))]
    #[allow(clippy::too_many_arguments)] // each has a name where it is called
    fn new(
        now: f64,
        rtt: f64,
        min_rtt: f64,
        max_rtt: f64,
        unacknowledged: u32,
        next: u32,
        acknowledged: u32,
        flight: u32,
        payload: u32,
        in_use: f64,
        rate: f64,
        wave: u16,
        transmissions: u32,
        timed_out_before: bool,
    ) -> PyResult<Self> {
        let path = Path {
            now,
            rtt,
            min_rtt,
            max_rtt,
            unacknowledged,
            next,
            acknowledged,
            flight,
            payload,
            in_use,
            rate,
            wave,
            transmissions,
            timed_out_before,
        };
        path.of_core()?;
        Ok(path)
    }

    /// Whether application or receiver's window, and not the congestion window, held the sender back before this acknowledgement.
    fn limited(&self, window: PyRef<'_, Window>) -> PyResult<bool> {
        let window = core_control::Window { congestion: window.congestion, threshold: window.threshold };
        Ok(self.of_core()?.limited(&window))
    }

    /// The queueing delay's share of the largest seen, 0 to 1; 0 while no two round trips differ.
    fn queueing_share(&self) -> PyResult<f64> {
        Ok(self.of_core()?.queueing_share())
    }

    fn __repr__(&self) -> String {
        format!(
            "Path(now={}, rtt={}, acknowledged={}, flight={}, in_use={})",
            self.now, self.rtt, self.acknowledged, self.flight, self.in_use
        )
    }
}

/// A traffic class by its name in scenarios.
pub fn class_of(name: &str) -> PyResult<Class> {
    Class::ALL.into_iter().find(|class| name_of(*class) == name).ok_or_else(|| {
        let known: Vec<&str> = Class::ALL.into_iter().map(name_of).collect();
        PyValueError::new_err(format!("`{name}` is no traffic class; there are {}", known.join(", ")))
    })
}

fn name_of(class: Class) -> &'static str {
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

fn ecn_of(name: &str) -> PyResult<Ecn> {
    CODEPOINTS.into_iter().find(|ecn| codepoint(*ecn) == name).ok_or_else(|| {
        let known = CODEPOINTS.map(codepoint).join(", ");
        PyValueError::new_err(format!("`{name}` is no codepoint; there are {known}"))
    })
}

/// A packet on its way.
#[pyclass(frozen, from_py_object, module = "fairwave", get_all)]
#[derive(Clone)]
pub struct Packet {
    /// Which flow it belongs to: its index in the run.
    flow: u32,
    /// Bytes on the wire.
    size: u16,
    /// `voice`, `other-udp` or `tcp`.
    traffic_class: &'static str,
    /// From the flow's receiver back to its sender.
    feedback: bool,
    /// What it says of congestion: `not-ect`, `ect1`, `ect0` or `ce`.
    ecn: &'static str,
    /// Video layer, 0 for the base and for everything else.
    layer: u8,
    /// How many data packets the sender sent before this one, for transports that number them so; None for TCP and for feedback.
    sequence: Option<u32>,
}

impl Packet {
    pub fn of(packet: &fairwave_core::packet::Packet) -> Self {
        let FlowId(flow) = packet.flow;
        Packet {
            flow,
            size: packet.wire,
            traffic_class: name_of(packet.class),
            feedback: packet.feedback,
            ecn: codepoint(packet.ecn),
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
        ecn = "not-ect"))]
    fn new(
        flow: u32,
        size: u16,
        traffic_class: &str,
        feedback: bool,
        layer: u8,
        sequence: Option<u32>,
        ecn: &str,
    ) -> PyResult<Self> {
        let (traffic_class, ecn) = (name_of(class_of(traffic_class)?), codepoint(ecn_of(ecn)?));
        Ok(Packet { flow, size, traffic_class, feedback, ecn, layer, sequence })
    }

    fn __repr__(&self) -> String {
        format!("Packet(flow={}, size={}, traffic_class={:?})", self.flow, self.size, self.traffic_class)
    }
}

/// Where a packet waits in a buffer; worth nothing once it is gone.
#[pyclass(frozen, eq, skip_from_py_object, module = "fairwave")]
#[derive(Clone, Copy, PartialEq)]
pub struct Place(pub core_queue::Place);

#[pymethods]
impl Place {
    fn __repr__(&self) -> &'static str {
        "Place(…)"
    }
}

/// What a discipline sees when a packet arrives, which is not in the buffer yet.
#[pyclass(frozen, module = "fairwave", get_all)]
pub struct Arrival {
    /// The time, seconds.
    now: f64,
    /// What arrives.
    packet: Py<Packet>,
    /// What waits.
    buffer: Py<Buffer>,
    /// Packets that wait.
    packets: u32,
    /// Bytes that wait.
    bytes: u64,
    /// How long the link has had nothing to send, since it was last asked, seconds; 0 while it sends.
    idle: f64,
    /// The buffer has no room for the arrival.
    full: bool,
}

impl Arrival {
    pub fn of(py: Python<'_>, arrival: &core_queue::Arrival<'_>, buffer: &Py<Buffer>) -> PyResult<Self> {
        let total = arrival.buffer.total();
        Ok(Arrival {
            now: seconds(arrival.now),
            packet: Py::new(py, Packet::of(arrival.packet))?,
            buffer: buffer.clone_ref(py),
            packets: total.packets,
            bytes: total.bytes,
            idle: arrival.idle.seconds(),
            full: arrival.full,
        })
    }
}

#[pymethods]
impl Arrival {
    /// An arrival for tests, at a buffer of which only the numbers are known.
    #[new]
    #[pyo3(signature = (now = 0.0, packet = None, *, packets = 0, bytes = 0, idle = 0.0, full = false))]
    fn new(
        py: Python<'_>,
        now: f64,
        packet: Option<Packet>,
        packets: u32,
        bytes: u64,
        idle: f64,
        full: bool,
    ) -> PyResult<Self> {
        let packet = match packet {
            Some(packet) => packet,
            None => Packet::new(0, 1000, "tcp", false, 0, None, "not-ect")?,
        };
        Ok(Arrival { now, packet: Py::new(py, packet)?, buffer: Py::new(py, Buffer {})?, packets, bytes, idle, full })
    }

    fn __repr__(&self) -> String {
        format!("Arrival(now={}, packets={}, bytes={}, idle={})", self.now, self.packets, self.bytes, self.idle)
    }
}

/// A piece that an application made at once and wants delivered.
#[pyclass(frozen, module = "fairwave", get_all)]
pub struct Unit {
    /// When it was made, seconds.
    pub created: f64,
    /// Payload bytes.
    pub payload: u32,
    /// Video layer, 0 for the base and for everything else.
    pub layer: u8,
    /// `none`, or `I`, `P` or `B` for a part of a video frame.
    pub frame_type: &'static str,
}

const FRAME_TYPES: [(&str, FrameType); 4] =
    [("none", FrameType::None), ("I", FrameType::I), ("P", FrameType::P), ("B", FrameType::B)];

impl Unit {
    /// How its frame was coded.
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
            PyValueError::new_err(format!("`{frame_type}` is no type of frame; there are none, I, P, B"))
        })?;
        Ok(Unit { created, payload, layer, frame_type: known.0 })
    }

    fn __repr__(&self) -> String {
        format!("Unit(created={}, payload={})", self.created, self.payload)
    }
}
