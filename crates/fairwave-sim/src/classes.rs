//! Counters per traffic class at managed queues: arrivals, served packets, and losses by cause.
//!
//! A queue that distinguishes classes (paper 004) is judged by the service of each class. So every managed queue
//! counts per class. Plain FIFOs compute their departures arithmetically, without classes, and have no counters here.

use fairwave_core::packet::{Class, Packet};
use fairwave_core::queue::{DropReason, LinkQueue};
use fairwave_core::units::Instant;
use serde::Serialize;

use crate::error::RunError;

/// Counters of one class at a managed queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClassMeasure {
    /// Packets that arrived.
    pub arrivals: u64,
    /// Bytes on the wire of these arrivals.
    pub wire_arrived: u64,
    /// Packets with a started transmission.
    pub served: u64,
    /// Bytes on the wire of these packets.
    pub wire_served: u64,
    /// Sum of their waiting times in nanoseconds.
    pub waited: u64,
    /// Packets dropped because the queue was full.
    pub dropped_overflow: u64,
    /// Packets dropped by the discipline.
    pub dropped_early: u64,
    /// Bytes on the wire of all dropped packets.
    pub wire_dropped: u64,
    /// Packets lost on the wire, or removed by a link failure.
    pub lost: u64,
    /// Packets with a started transmission and a mark from this queue.
    pub marked: u64,
}

/// Counters of all classes at one managed queue, indexed by class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ClassMeasures([ClassMeasure; 3]);

impl ClassMeasures {
    /// Returns the counters of a class.
    pub fn counters(&self, class: Class) -> &ClassMeasure {
        &self.0[class as usize]
    }

    /// Returns the counts since the snapshot `before`.
    pub fn count_since(&self, before: &ClassMeasures) -> ClassMeasures {
        let mut since = *self;
        for (class, before) in since.0.iter_mut().zip(&before.0) {
            class.arrivals -= before.arrivals;
            class.wire_arrived -= before.wire_arrived;
            class.served -= before.served;
            class.wire_served -= before.wire_served;
            class.waited -= before.waited;
            class.dropped_overflow -= before.dropped_overflow;
            class.dropped_early -= before.dropped_early;
            class.wire_dropped -= before.wire_dropped;
            class.lost -= before.lost;
            class.marked -= before.marked;
        }
        since
    }

    /// Counts an arrival.
    #[inline]
    pub fn arrived(&mut self, packet: &Packet) {
        let class = &mut self.0[packet.class as usize];
        class.arrivals += 1;
        class.wire_arrived += u64::from(packet.wire);
    }

    /// Counts the start of a transmission at `now`. The packet has waited since `since`.
    #[inline]
    pub fn served(&mut self, packet: &Packet, since: Instant, now: Instant) {
        let class = &mut self.0[packet.class as usize];
        class.served += 1;
        class.wire_served += u64::from(packet.wire);
        class.waited += now.span_since(since).nanos();
    }

    /// Counts a drop.
    #[inline]
    pub fn dropped(&mut self, packet: &Packet, reason: DropReason) {
        let class = &mut self.0[packet.class as usize];
        match reason {
            DropReason::Overflow => class.dropped_overflow += 1,
            _ => class.dropped_early += 1,
        }
        class.wire_dropped += u64::from(packet.wire);
    }

    /// Counts the start of a transmission with a mark from this queue.
    pub fn marked(&mut self, packet: &Packet) {
        self.0[packet.class as usize].marked += 1;
    }

    /// Counts a loss on the wire.
    pub fn lost(&mut self, packet: &Packet) {
        self.0[packet.class as usize].lost += 1;
    }

    /// Mean wait in nanoseconds of all packets with a started transmission; 0 without any.
    pub fn mean_wait(&self) -> f64 {
        let (waited, served) =
            self.0.iter().fold((0, 0), |(waited, served), class| (waited + class.waited, served + class.served));
        if served == 0 { 0.0 } else { waited as f64 / served as f64 }
    }
}

/// One class at one managed queue in the window from the end of the warm-up to the end of the run. Arrivals plus
/// initially waiting packets = served + dropped + waiting.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ClassRow {
    /// `from>to`.
    pub link: String,
    /// `voice`, `other-udp` or `tcp`.
    pub class: &'static str,
    /// Packets that arrived at the queue.
    pub arrivals: u64,
    /// Bytes on the wire of these arrivals.
    pub wire_arrived: u64,
    /// Packets with a started transmission.
    pub served: u64,
    /// Bytes on the wire of these packets.
    pub wire_served: u64,
    /// Packets dropped because the queue was full.
    pub dropped_overflow: u64,
    /// Packets dropped by the discipline.
    pub dropped_early: u64,
    /// Bytes on the wire of all dropped packets.
    pub wire_dropped: u64,
    /// Packets lost on the wire, or removed by a link failure.
    pub lost: u64,
    /// Packets waiting at the end of the run.
    pub waiting: u64,
    /// Mean wait of the packets with a started transmission; `None` without any.
    pub mean_wait_s: Option<f64>,
    /// Packets with a started transmission and a mark (congestion experienced) from this queue.
    pub marked: u64,
}

/// Returns the rows of a managed queue. `classes` holds the counts of the window.
pub(crate) fn rows(link: &str, queue: &LinkQueue, classes: &ClassMeasures) -> Vec<ClassRow> {
    rows_with(link, classes, |class| u64::from(queue.class_packets(class)))
}

/// Returns the rows of a queue inside a shared medium. `whole` has the counts of the run, `classes` the counts of the
/// window.
/// window.
pub(crate) fn shared_rows(link: &str, whole: &ClassMeasures, classes: &ClassMeasures) -> Vec<ClassRow> {
    rows_with(link, classes, |class| {
        let whole = whole.counters(class);
        whole.arrivals.saturating_sub(whole.served + whole.dropped_overflow + whole.dropped_early)
    })
}

fn rows_with(link: &str, classes: &ClassMeasures, waiting: impl Fn(Class) -> u64) -> Vec<ClassRow> {
    let row = |class: Class| {
        let counted = classes.counters(class);
        ClassRow {
            link: link.to_owned(),
            class: class_name(class),
            arrivals: counted.arrivals,
            wire_arrived: counted.wire_arrived,
            served: counted.served,
            wire_served: counted.wire_served,
            dropped_overflow: counted.dropped_overflow,
            dropped_early: counted.dropped_early,
            wire_dropped: counted.wire_dropped,
            lost: counted.lost,
            waiting: waiting(class),
            mean_wait_s: (counted.served > 0).then(|| counted.waited as f64 / counted.served as f64 / 1e9),
            marked: counted.marked,
        }
    };
    Class::ALL.into_iter().map(row).collect()
}

/// Returns the name of a class in scenarios and tables.
const fn class_name(class: Class) -> &'static str {
    match class {
        Class::Voice => "voice",
        Class::OtherUdp => "other-udp",
        Class::Tcp => "tcp",
    }
}

/// Checks for each class at a managed queue: arrived = served + dropped + waiting, in packets and in bytes.
///
/// # Errors
/// Returns the class for which the queue created or lost packets.
pub(crate) fn check(link: &str, queue: &LinkQueue, classes: &ClassMeasures) -> Result<(), RunError> {
    for class in Class::ALL {
        let counted = classes.counters(class);
        let waiting = (u64::from(queue.class_packets(class)), queue.class_bytes(class));
        let dropped = counted.dropped_overflow + counted.dropped_early;
        if counted.arrivals != counted.served + dropped + waiting.0
            || counted.wire_arrived != counted.wire_served + counted.wire_dropped + waiting.1
        {
            return Err(RunError::Invariant {
                law: "arrived = served + dropped + waiting, per class",
                place: format!("{} at link `{link}`", class_name(class)),
                found: format!("{counted:?}, {} packets and {} bytes waiting", waiting.0, waiting.1),
            });
        }
    }
    Ok(())
}
