//! What a discipline in Python sees when a packet arrives.

use fairwave_core::queue as core_queue;
use pyo3::prelude::*;

use super::buffer::Buffer;
use super::seconds;
use super::seen::Packet;

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
            None => Packet::new(0, 1000, "tcp", false, 0, None, "not-ect", 0)?,
        };
        Ok(Arrival { now, packet: Py::new(py, packet)?, buffer: Py::new(py, Buffer {})?, packets, bytes, idle, full })
    }

    fn __repr__(&self) -> String {
        format!("Arrival(now={}, packets={}, bytes={}, idle={})", self.now, self.packets, self.bytes, self.idle)
    }
}
