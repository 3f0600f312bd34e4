//! The buffer of a queue, for disciplines written in Python. It is accessible only during a call of the discipline's method.

use std::cell::RefCell;

use fairwave_core::packet::{self, FlowId};
use fairwave_core::queue::{self as core_queue, DropReason, Tally};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use scoped_tls::scoped_thread_local;

use super::py_types::{self, Place, parse_class};
use super::time::seconds;

/// A buffer that allows drops, with the packets dropped so far.
pub struct OpenBuffer {
    /// The waiting packets.
    pub buffer: core_queue::Buffer,
    /// The dropped packets and the reasons.
    pub dropped: Vec<(packet::Packet, DropReason)>,
}

// The buffer of the queue whose discipline this thread is calling. It is set for the duration of the call.
scoped_thread_local!(pub static SEEN: core_queue::Buffer);
scoped_thread_local!(pub static OPEN: RefCell<OpenBuffer>);

/// The packets that wait before a link. Accessible only during the method of the discipline that received it.
#[pyclass(frozen, module = "fairwave")]
pub struct Buffer {}

impl Buffer {
    fn ask<T>(answer: impl FnOnce(&core_queue::Buffer) -> T) -> PyResult<T> {
        if OPEN.is_set() {
            return OPEN.with(|open| {
                let open = open.try_borrow().map_err(|_| closed())?;
                Ok(answer(&open.buffer))
            });
        }
        if SEEN.is_set() {
            return Ok(SEEN.with(answer));
        }
        Err(closed())
    }

    fn place(answer: impl FnOnce(&core_queue::Buffer) -> Option<core_queue::Place>) -> PyResult<Option<Place>> {
        Self::ask(|buffer| answer(buffer).map(Place))
    }
}

fn closed() -> PyErr {
    PyValueError::new_err("a buffer can be asked only within the method that was given it")
}

fn counted(tally: Tally) -> (u32, u64) {
    (tally.packets, tally.bytes)
}

#[pymethods]
impl Buffer {
    /// Number of waiting packets.
    #[getter]
    fn packets(&self) -> PyResult<u32> {
        Self::ask(|buffer| buffer.total().packets)
    }

    /// Waiting bytes, on the wire.
    #[getter]
    fn bytes(&self) -> PyResult<u64> {
        Self::ask(|buffer| buffer.total().bytes)
    }

    fn __len__(&self) -> PyResult<usize> {
        Self::ask(|buffer| buffer.total().packets as usize)
    }

    /// Waiting packets and bytes of a class: `voice`, `other-udp` or `tcp`.
    fn class_tally(&self, traffic_class: &str) -> PyResult<(u32, u64)> {
        let class = parse_class(traffic_class)?;
        Self::ask(|buffer| counted(buffer.class_tally(class)))
    }

    /// The packet at a place. None if the packet has left the buffer.
    fn packet(&self, place: PyRef<'_, Place>) -> PyResult<Option<py_types::Packet>> {
        Self::ask(|buffer| buffer.packet(place.0).map(py_types::Packet::from_core))
    }

    /// Time at which the packet at a place arrived, seconds. None if the packet has left the buffer.
    fn arrival_time(&self, place: PyRef<'_, Place>) -> PyResult<Option<f64>> {
        Self::ask(|buffer| buffer.arrival_time(place.0).map(seconds))
    }

    /// The packet that has waited longest.
    fn front(&self) -> PyResult<Option<Place>> {
        Self::place(core_queue::Buffer::front)
    }

    /// The packet that arrived last.
    fn back(&self) -> PyResult<Option<Place>> {
        Self::place(core_queue::Buffer::back)
    }

    /// The packet that arrived just before this one.
    fn previous(&self, place: PyRef<'_, Place>) -> PyResult<Option<Place>> {
        Self::place(|buffer| buffer.previous(place.0))
    }

    /// Packet number `index` in an arbitrary order, from 0. A uniform index gives a uniform choice.
    fn pick(&self, index: u64) -> PyResult<Option<Place>> {
        Self::place(|buffer| buffer.pick(index))
    }

    /// The packet of a class that has waited longest.
    fn front_of_class(&self, traffic_class: &str) -> PyResult<Option<Place>> {
        let class = parse_class(traffic_class)?;
        Self::place(|buffer| buffer.front_of(class))
    }

    /// The last packet to arrive among those of the highest video layer.
    fn back_of_highest_layer(&self) -> PyResult<Option<Place>> {
        Self::place(core_queue::Buffer::back_of_highest_layer)
    }

    /// Waiting packets and bytes of a flow, for disciplines with `by_flow`.
    fn flow_tally(&self, flow: u32) -> PyResult<(u32, u64)> {
        Self::ask(|buffer| counted(buffer.flow_tally(FlowId(flow))))
    }

    /// Number of flows with waiting packets, for disciplines with `by_flow`.
    #[getter]
    fn flows(&self) -> PyResult<u32> {
        Self::ask(core_queue::Buffer::flows)
    }

    /// The packet of a flow that has waited longest, for disciplines with `by_flow`.
    fn front_of_flow(&self, flow: u32) -> PyResult<Option<Place>> {
        Self::place(|buffer| buffer.front_of_flow(FlowId(flow)))
    }

    /// The packet of a flow that arrived last, for disciplines with `by_flow`.
    fn back_of_flow(&self, flow: u32) -> PyResult<Option<Place>> {
        Self::place(|buffer| buffer.back_of_flow(FlowId(flow)))
    }

    /// The next flow with waiting packets in the round-robin order, for disciplines with `by_flow`. None as argument gives the
    /// first flow.
    #[pyo3(signature = (flow = None))]
    fn flow_after(&self, flow: Option<u32>) -> PyResult<Option<u32>> {
        Self::ask(|buffer| buffer.flow_after(flow.map(FlowId)).map(|flow| flow.0))
    }

    /// Marks the packet at a place if its transport supports marks. Allowed in `depart` and `on_timer`. Returns true if the packet
    /// is now marked.
    fn mark(&self, place: PyRef<'_, Place>) -> PyResult<bool> {
        if !OPEN.is_set() {
            return Err(PyValueError::new_err(
                "packets that wait are marked in `depart` and `on_timer` only; `arrive` answers \"mark\"",
            ));
        }
        OPEN.with(|open| Ok(open.try_borrow_mut().map_err(|_| closed())?.buffer.mark(place.0)))
    }

    /// Drops the packet at a place. Allowed in `depart` and `on_timer`. Returns true if a packet was there.
    fn drop(&self, place: PyRef<'_, Place>) -> PyResult<bool> {
        if !OPEN.is_set() {
            return Err(PyValueError::new_err(
                "packets that wait are dropped in `depart` and `on_timer` only; `arrive` answers \"drop\", or a place",
            ));
        }
        OPEN.with(|open| {
            let mut open = open.try_borrow_mut().map_err(|_| closed())?;
            let removed = open.buffer.remove(place.0);
            open.dropped.extend(removed.map(|packet| (packet, DropReason::Early)));
            Ok(removed.is_some())
        })
    }
}
