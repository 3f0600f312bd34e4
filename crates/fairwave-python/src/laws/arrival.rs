//! The view of an arriving packet for disciplines written in Python.

use fairwave_core::queue as core_queue;
use pyo3::prelude::*;

use super::buffer::Buffer;
use super::py_types::Packet;
use super::time::seconds;

/// Arrival of a packet at a discipline. The packet is not in the buffer yet.
#[pyclass(frozen, module = "fairwave", get_all)]
pub struct Arrival {
    /// The time, seconds.
    now: f64,
    /// The arriving packet.
    packet: Py<Packet>,
    /// The buffer.
    buffer: Py<Buffer>,
    /// Packets in the buffer.
    packets: u32,
    /// Bytes in the buffer.
    bytes: u64,
    /// Idle time of the link since the discipline's previous call, seconds. 0 while the link is sending.
    idle: f64,
    /// True if the buffer has no room for the packet.
    full: bool,
}

impl Arrival {
    pub fn from_core(py: Python<'_>, arrival: &core_queue::Arrival<'_>, buffer: &Py<Buffer>) -> PyResult<Self> {
        let total = arrival.buffer.total();
        Ok(Arrival {
            now: seconds(arrival.now),
            packet: Py::new(py, Packet::from_core(arrival.packet))?,
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
    /// An arrival for tests, at a buffer that supports only these counts.
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
