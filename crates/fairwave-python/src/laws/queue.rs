//! Queue disciplines written in Python.
//!
//! A discipline decides when a packet must be discarded and which packet is sent next. This module applies the decisions, so that
//! no discipline can lose a packet or send one twice.

use std::cell::RefCell;

use fairwave_core::packet;
use fairwave_core::queue::{
    self as core_queue, AnyDisciplineLaw, Capacity, Discipline, DropReason, Nature, QueueDrop, Verdict,
};
use fairwave_core::random::{Seed, Stream};
use fairwave_core::units::{Instant, Rate};
use pyo3::IntoPyObject;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::arrival::Arrival;
use super::buffer::{Buffer, OPEN, OpenBuffer, SEEN};
use super::law::{Instance, Law, LawFault, Method};
use super::py_types::{self, Place};
use super::random::Random;
use super::time::{instant, seconds};

impl AnyDisciplineLaw for Law {
    fn nature(&self) -> Nature {
        Nature {
            fifo: !self.description().not_fifo,
            passive: false,
            own_victim: self.spec.own_victim,
            by_flow: self.description().by_flow,
            ..Nature::FIFO
        }
    }

    fn marks(&self) -> bool {
        self.description().gives_marks
    }

    fn reaches_capacity(&self) -> bool {
        self.description().reaches_capacity
    }

    fn discipline(&self, capacity: Capacity, rate: Rate) -> Box<dyn Discipline> {
        let instance = self.instance(None);
        let random = instance.object.as_ref().and_then(|object| {
            instance.ask("__init__", None, None, |py| {
                let random = Py::new(py, Random::from_stream(None))?;
                object.bind(py).setattr("random", random.clone_ref(py))?;
                Ok(Some(random))
            })
        });
        let (packets, size) = match capacity {
            Capacity::Packets(packets) => (Some(packets), None),
            Capacity::Bytes(bytes) => (None, Some(bytes)),
        };
        let rate = rate.bits_per_second() as f64;
        instance.begin(self, None, |py| (rate, packets, size).into_pyobject(py));
        let buffer = instance.ask("__init__", None, None, |py| Ok(Some(Py::new(py, Buffer {})?)));
        let method = |name| instance.method(self, name);
        let names = [
            "arrive",
            "exchanged",
            "overflowed",
            "rate_changed",
            "victim",
            "depart",
            "average",
            "deadline",
            "on_timer",
        ];
        let [arrive, exchanged, overflowed, rate_changed, victim, depart, average, deadline, on_timer] =
            names.map(method);
        let mut queue = Queue {
            arrive,
            exchanged,
            overflowed,
            rate_changed,
            victim,
            depart,
            average,
            deadline,
            on_timer,
            random,
            buffer,
            due: Instant::NEVER,
            instance,
        };
        queue.look_at_deadline(Instant::ZERO);
        Box::new(queue)
    }
}

struct Queue {
    instance: Instance,
    random: Option<Py<Random>>,
    buffer: Option<Py<Buffer>>,
    arrive: Method,
    exchanged: Method,
    overflowed: Method,
    rate_changed: Method,
    victim: Method,
    depart: Method,
    average: Method,
    deadline: Method,
    on_timer: Method,
    /// Time of the law's next timer, as of the last call.
    due: Instant,
}

impl Queue {
    /// Calls the law. The law draws random numbers from the queue's stream during the call.
    fn ask_with<T>(
        &self,
        name: &'static str,
        now: Option<Instant>,
        otherwise: T,
        stream: &mut Stream,
        question: impl FnOnce(Python<'_>, &Py<Buffer>) -> Result<T, LawFault>,
    ) -> T {
        let (Some(random), Some(buffer)) = (&self.random, &self.buffer) else { return otherwise };
        self.give_random_numbers(stream);
        random.get().lend(stream, || self.instance.ask(name, now, otherwise, |py| question(py, buffer)))
    }

    /// Gives the law a random stream for calls without the queue's stream. A copy of the queue's stream seeds it, so that the
    /// victim rule's draws stay the same.
    fn give_random_numbers(&self, stream: &Stream) {
        if let Some(random) = self.random.as_ref().map(Py::get).filter(|random| !random.is_there()) {
            random.replace(Some(Seed(stream.clone().uniform_below(u64::MAX)).stream("discipline")));
        }
    }

    /// Calls the law with a buffer that allows drops.
    fn ask_open<T>(
        &self,
        name: &'static str,
        now: Instant,
        buffer: &mut core_queue::Buffer,
        drops: &mut Vec<(packet::Packet, DropReason)>,
        otherwise: T,
        question: impl FnOnce(Python<'_>, &Py<Buffer>) -> Result<T, LawFault>,
    ) -> T {
        let Some(shown) = &self.buffer else { return otherwise };
        let open = RefCell::new(OpenBuffer { buffer: std::mem::take(buffer), dropped: std::mem::take(drops) });
        let answer = OPEN.set(&open, || self.instance.ask(name, Some(now), otherwise, |py| question(py, shown)));
        let OpenBuffer { buffer: left, dropped } = open.into_inner();
        (*buffer, *drops) = (left, dropped);
        answer
    }

    fn look_at_deadline(&mut self, now: Instant) {
        let Some(deadline) = &self.deadline else { return };
        self.due = self.instance.ask("deadline", Some(now), Instant::NEVER, |py| {
            match deadline.bind(py).call0()?.extract::<Option<f64>>()? {
                Some(due) => instant(due, "the deadline"),
                None => Ok(Instant::NEVER),
            }
        });
    }
}

/// Converts the place that a law returned. Checks that the buffer has a packet there.
fn place_of(answer: &Bound<'_, PyAny>, buffer: &core_queue::Buffer) -> Result<Option<core_queue::Place>, LawFault> {
    if answer.is_none() {
        return Ok(None);
    }
    let Ok(place) = answer.cast::<Place>() else {
        return Err(LawFault::Answer(format!(
            "it answered {answer:?}, but must answer a place in the buffer, or None"
        )));
    };
    let place = place.get().0;
    match buffer.packet(place) {
        Some(_) => Ok(Some(place)),
        None => Err(LawFault::Answer("it answered a place at which no packet waits".to_owned())),
    }
}

impl Discipline for Queue {
    fn arrive(&mut self, arrival: &core_queue::Arrival<'_>, stream: &mut Stream) -> Verdict {
        let Some(arrive) = &self.arrive else {
            self.give_random_numbers(stream);
            return Verdict::Admit;
        };
        let verdict = SEEN.set(arrival.buffer, || {
            self.ask_with("arrive", Some(arrival.now), Verdict::Admit, stream, |py, buffer| {
                let answer = arrive.bind(py).call1((Arrival::from_core(py, arrival, buffer)?,))?;
                if answer.is_none() {
                    return Ok(Verdict::Admit);
                }
                match answer.cast::<PyString>().ok().and_then(|text| text.to_str().ok()) {
                    Some("admit") => return Ok(Verdict::Admit),
                    Some("drop") => return Ok(Verdict::Drop),
                    Some("mark") => return Ok(Verdict::Mark),
                    _ => {}
                }
                if answer.cast::<Place>().is_err() {
                    return Err(LawFault::Answer(format!(
                        "it answered {answer:?}, but must answer \"admit\" or nothing, \"drop\", \"mark\", or a place: that \
                         packet and the arrival go"
                    )));
                }
                Ok(place_of(&answer, arrival.buffer)?.map_or(Verdict::Admit, Verdict::DropBoth))
            })
        });
        self.look_at_deadline(arrival.now);
        verdict
    }

    fn on_drop(&mut self, drop: QueueDrop<'_>) {
        match drop {
            QueueDrop::Exchanged { arrival, victim } => {
                let Some(exchanged) = &self.exchanged else { return };
                self.instance.ask("exchanged", None, (), |py| {
                    let packets = (py_types::Packet::from_core(arrival), py_types::Packet::from_core(victim));
                    exchanged.bind(py).call1(packets)?;
                    Ok(())
                });
            }
            QueueDrop::Overflow => {
                let Some(overflowed) = &self.overflowed else { return };
                self.instance.ask("overflowed", None, (), |py| {
                    overflowed.bind(py).call0()?;
                    Ok(())
                });
            }
            QueueDrop::Redundant { .. } => {}
        }
    }

    fn on_rate_change(&mut self, change: &core_queue::RateChange<'_>) {
        let Some(changed) = &self.rate_changed else { return };
        self.instance.ask("rate_changed", Some(change.now), (), |py| {
            changed.bind(py).call1((seconds(change.now), change.rate.bits_per_second() as f64))?;
            Ok(())
        });
        self.look_at_deadline(change.now);
    }

    fn victim(&mut self, buffer: &core_queue::Buffer, stream: &mut Stream) -> Option<core_queue::Place> {
        let Some(victim) = &self.victim else { return buffer.back() };
        let chosen = SEEN.set(buffer, || {
            self.ask_with("victim", None, None, stream, |py, shown| place_of(&victim.bind(py).call1((shown,))?, buffer))
        });
        chosen.or_else(|| buffer.back())
    }

    fn depart(
        &mut self,
        now: Instant,
        buffer: &mut core_queue::Buffer,
        drops: &mut Vec<(packet::Packet, DropReason)>,
    ) -> Option<packet::Packet> {
        let Some(depart) = self.depart.as_ref().filter(|_| !buffer.is_empty()) else {
            return buffer.pop_front().map(|(packet, _)| packet);
        };
        let chosen = self.ask_open("depart", now, buffer, drops, None, |py, shown| {
            let answer = depart.bind(py).call1((seconds(now), shown))?;
            OPEN.with(|open| place_of(&answer, &open.borrow().buffer))
        });
        self.look_at_deadline(now);
        let place = chosen.or_else(|| buffer.front())?;
        buffer.serve(place).map(|(packet, _)| packet)
    }

    fn average(&self) -> Option<f64> {
        let average = self.average.as_ref()?;
        self.instance.ask("average", None, None, |py| Ok(average.bind(py).call0()?.extract()?))
    }

    fn deadline(&self) -> Instant {
        self.due
    }

    fn on_timer(
        &mut self,
        now: Instant,
        buffer: &mut core_queue::Buffer,
        drops: &mut Vec<(packet::Packet, DropReason)>,
    ) {
        if let Some(on_timer) = &self.on_timer {
            self.ask_open("on_timer", now, buffer, drops, (), |py, shown| {
                on_timer.bind(py).call1((seconds(now), shown))?;
                Ok(())
            });
        }
        self.look_at_deadline(now);
    }
}
