//! First-in-first-out queue at a transmitter, with drops of arrivals that find no room.
//!
//! The queue stores no packets, only sizes and starts of transmission, and most neighbours have equal sizes. So it
//! stores runs of equal-sized packets with transmissions at equal intervals. The last run is only a count; its other
//! data follow from the transmitter.

use std::collections::VecDeque;

use fairwave_core::queue::{Capacity, DropReason};
use fairwave_core::units::{Carry, FineSpan, Instant};

/// State of the transmitter that the queue needs.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Time when it becomes free.
    pub free: Instant,
    /// Bytes on the wire of the last packet passed to it.
    pub wire: u16,
    /// Transmission time of that packet.
    pub time: FineSpan,
    /// Carry of that transmission for the next one.
    pub carry: Carry,
    /// True if the transmission time depends only on the size. Otherwise `wire` and `time` are meaningless.
    pub steady: bool,
}

/// A FIFO with drops on overflow, computed arithmetically: the departure of an arriving packet follows from the
/// earlier packets.
pub struct Fifo {
    /// Capacity in packets or bytes. A capacity beyond 32 bits is in [`Older::room`] from the start.
    limit: u32,
    /// Number of waiting packets at the end of the queue with the size of the transmitter's last packet. The
    /// transmission of some can have started since.
    alike: u16,
    by_bytes: bool,
    /// Packets ahead of these. Allocated on demand; most links never need it.
    older: Option<Box<Older>>,
}

/// Waiting packets run by run, and the remaining room.
struct Older {
    /// Remaining room in bytes, for a capacity in bytes.
    room: u64,
    /// Packets of all runs.
    packets: u32,
    runs: VecDeque<Run>,
}

/// Consecutive waiting packets of one size.
struct Run {
    /// Start of the first transmission.
    first: Instant,
    /// Carry at that start.
    carry: Carry,
    packets: u32,
    /// Interval between two starts.
    step: FineSpan,
    /// Bytes on the wire of each packet.
    wire: u16,
}

impl Run {
    /// Returns the start of transmission of the packet `place` positions behind the first.
    fn start(&self, place: u32) -> Instant {
        self.first + self.step.times(place, self.carry)
    }
}

impl Older {
    /// Creates an empty queue with `room` bytes.
    fn empty(room: u64) -> Box<Self> {
        Box::new(Older { room, packets: 0, runs: VecDeque::new() })
    }

    /// Removes the packets with a transmission started by `now`.
    fn begin_until(&mut self, now: Instant) {
        while let Some(run) = self.runs.front_mut() {
            if run.first > now {
                break;
            }
            self.room = self.room.wrapping_add(u64::from(run.wire));
            self.packets -= 1;
            run.packets -= 1;
            let (time, carry) = run.step.carried(run.carry);
            (run.first, run.carry) = (run.first + time, carry);
            if run.packets == 0 {
                self.runs.pop_front();
            }
        }
    }

    /// Appends a complete run.
    fn push_run(&mut self, run: Run) {
        // With a capacity in packets, `room` is never read.
        self.room = self.room.wrapping_sub(u64::from(run.wire) * u64::from(run.packets));
        self.packets += run.packets;
        self.runs.push_back(run);
    }

    /// Appends a packet of `wire` bytes. Its transmission starts when the transmitter becomes free.
    fn push(&mut self, wire: u16, pace: Pace) {
        let start = pace.free;
        if let Some(run) = self.runs.back_mut()
            && run.wire == wire
        {
            if run.packets == 1 {
                let alike = pace.steady && pace.wire == wire;
                let step = if alike { Some(pace.time) } else { FineSpan::from_span(start.span_since(run.first)) };
                // A step that is too long starts a new run.
                run.step = step.unwrap_or(FineSpan::ZERO);
            }
            if start == run.start(run.packets) {
                run.packets += 1;
                self.packets += 1;
                self.room = self.room.wrapping_sub(u64::from(wire));
                return;
            }
        }
        let carry = if pace.steady { pace.carry } else { Carry::NOTHING };
        self.push_run(Run { first: start, carry, packets: 1, step: FineSpan::ZERO, wire });
    }

    /// Returns the number of packets still waiting at `now`.
    fn waiting_at(&self, now: Instant) -> u64 {
        let later = |run: &Run| (0..run.packets).filter(|&place| run.start(place) > now).count();
        self.runs.iter().map(|run| later(run) as u64).sum()
    }
}

impl Fifo {
    /// Creates an empty queue.
    pub fn new(capacity: Capacity) -> Self {
        let (by_bytes, limit) = match capacity {
            Capacity::Packets(limit) => (false, u64::from(limit)),
            Capacity::Bytes(limit) => (true, limit),
        };
        let (limit, older) = match u32::try_from(limit) {
            Ok(limit) => (limit, None),
            Err(_) => (u32::MAX, Some(Older::empty(limit))),
        };
        Fifo { limit, alike: 0, by_bytes, older }
    }

    /// Returns the number of packets waiting at the last arrival, including that packet.
    #[inline]
    pub fn len(&self) -> u32 {
        u32::from(self.alike) + self.older.as_ref().map_or(0, |older| older.packets)
    }

    /// Returns the number of packets waiting at `now`, which is not before the last arrival.
    pub fn waiting_at(&self, now: Instant, pace: Pace) -> u64 {
        u64::from(self.alike_at(now, pace)) + self.older.as_ref().map_or(0, |older| older.waiting_at(now))
    }

    /// Returns how many of the packets in `alike` still wait at `now`, if the transmission of all earlier packets has
    /// started.
    #[inline(always)]
    fn alike_at(&self, now: Instant, pace: Pace) -> u16 {
        if pace.free <= now {
            return 0;
        }
        // The `n`th packet from the end starts `n` transmission times before the transmitter is free.
        let (ahead, mut alike) = (pace.free.span_since(now), self.alike);
        while alike > 0 && pace.time.times_before(u32::from(alike), pace.carry) >= ahead {
            alike -= 1;
        }
        alike
    }

    /// Removes the packets with a transmission started by `now`. Returns the number of packets still waiting.
    #[inline(always)]
    fn begin_until(&mut self, now: Instant, pace: Pace) -> u32 {
        let mut older = 0;
        if let Some(before) = &mut self.older {
            before.begin_until(now);
            older = before.packets;
        }
        if older == 0 {
            self.alike = self.alike_at(now, pace);
        }
        older + u32::from(self.alike)
    }

    /// Handles an arrival of `wire` bytes at `now` with a busy transmitter. If there is room, the caller must pass
    /// the packet to the transmitter next. Returns the start of its transmission, or the reason of its drop. Arrivals
    /// must come in time order.
    #[inline(always)]
    pub fn arrive(&mut self, now: Instant, wire: u16, pace: Pace) -> Result<Instant, DropReason> {
        let wait = self.begin_until(now, pace);
        let fits = if self.by_bytes { self.has_room(wire) } else { wait < self.limit };
        if !fits {
            return Err(DropReason::Overflow);
        }
        if (wire == pace.wire || self.alike == 0) && pace.steady && !self.by_bytes && self.alike < u16::MAX {
            self.alike += 1;
        } else {
            self.start_run(wire, pace);
        }
        Ok(pace.free)
    }

    /// Whether [`Self::arrive_alike`] can be called.
    pub fn counts_alike(&self) -> bool {
        !self.by_bytes && self.limit <= u32::from(u16::MAX)
    }

    /// Like [`Self::arrive`], for a packet of the same size as the previous one. Requires a steady rate, a capacity
    /// in packets, and only waiting packets of that size. Returns the number of waiting packets, including this one.
    /// Returns `None` without a change if other sizes wait or there is no room.
    #[inline(always)]
    pub fn arrive_alike(&mut self, now: Instant, pace: Pace) -> Option<u32> {
        debug_assert!(self.counts_alike() && pace.steady);
        let alike = self.alike_at(now, pace);
        let others = self.older.as_ref().is_some_and(|older| older.packets > 0);
        if others || u32::from(alike) >= self.limit {
            return None;
        }
        self.alike = alike + 1;
        Some(u32::from(self.alike))
    }

    /// Whether `wire` more bytes fit.
    fn has_room(&mut self, wire: u16) -> bool {
        u64::from(wire) <= self.older.as_ref().map_or(u64::from(self.limit), |older| older.room)
    }

    /// Starts a run for a packet of another size, or for any packet if the transmitter does not determine the runs.
    #[inline(never)]
    fn start_run(&mut self, wire: u16, pace: Pace) {
        let limit = u64::from(self.limit);
        let older = self.older.get_or_insert_with(|| Older::empty(limit));
        if self.alike > 0 {
            let packets = u32::from(self.alike);
            let since = pace.time.times_before(packets, pace.carry).nanos();
            older.push_run(Run {
                first: Instant::from_nanos(pace.free.nanos() - since),
                carry: pace.time.carry_before(packets, pace.carry),
                packets,
                step: pace.time,
                wire: pace.wire,
            });
        }
        self.alike = 0;
        if pace.steady && !self.by_bytes {
            self.alike = 1;
        } else {
            older.push(wire, pace);
        }
    }
}

#[cfg(test)]
mod tests {
    use fairwave_core::units::{Bytes, Rate, Span};
    use proptest::prelude::*;

    use super::*;

    /// Reference queue, event by event: a list of packets, and a transmitter that takes the first when it is free.
    /// Times are in nanoseconds; transmission times are in nanoseconds times `parts`.
    #[derive(Default)]
    struct SlowTwin {
        parts: u64,
        queue: VecDeque<(usize, u64, u64)>,
        busy_until: u64,
        /// Rounding remainder of the last transmission, plus half a nanosecond.
        left: u64,
        starts: Vec<Option<u64>>,
    }

    impl SlowTwin {
        fn transmit(&mut self, start: u64, time: u64) {
            let all = time + self.left;
            (self.busy_until, self.left) = (start + all / self.parts, all % self.parts);
        }

        fn serve_until(&mut self, now: u64) {
            while self.busy_until <= now {
                let Some((id, _, time)) = self.queue.pop_front() else { break };
                self.starts[id] = Some(self.busy_until);
                self.transmit(self.busy_until, time);
            }
        }

        fn arrive(&mut self, now: u64, wire: u64, time: u64, capacity: Capacity) {
            self.serve_until(now);
            let id = self.starts.len();
            self.starts.push(None);
            let fits = match capacity {
                Capacity::Packets(limit) => self.queue.len() < limit as usize,
                Capacity::Bytes(limit) => self.queue.iter().map(|(_, wire, _)| wire).sum::<u64>() + wire <= limit,
            };
            if self.queue.is_empty() && self.busy_until <= now {
                self.starts[id] = Some(now);
                self.left = self.parts / 2;
                self.transmit(now, time);
            } else if fits {
                self.queue.push_back((id, wire, time));
            }
        }
    }

    proptest! {
        #[test]
        fn arithmetic_gives_what_event_by_event_service_gives(
            arrivals in prop::collection::vec((0u64..400, prop::sample::select(vec![0u16, 40, 90, 200]), 0u64..3), 1..200),
            (limit, by_bytes, steady, parts) in (0u32..8, any::<bool>(), any::<bool>(), 0u32..6),
        ) {
            let capacity = if by_bytes { Capacity::Bytes(u64::from(limit) * 70) } else { Capacity::Packets(limit) };
            let (mut fifo, mut now, mut starts) = (Fifo::new(capacity), 0, Vec::new());
            // At a steady rate a byte takes 1/`parts` ns, and arrivals are closer by the same factor. Fine spans
            // represent powers of two exactly.
            let parts = if steady { 1 << parts } else { 1 };
            let mut twin = SlowTwin { parts, ..SlowTwin::default() };
            let rate = Rate::from_bits_per_second(8_000_000_000 * parts);
            let mut pace = Pace { free: Instant::ZERO, wire: 0, time: FineSpan::ZERO, carry: Carry::NOTHING, steady };
            for (gap, wire, slower) in arrivals {
                now += gap / parts;
                let at = Instant::from_nanos(now);
                // At a variable rate, the size does not determine the time.
                let time = u64::from(wire) * if steady { 1 } else { 1 + slower };
                twin.arrive(now, u64::from(wire), time, capacity);
                let alike = (pace.free > at && wire == pace.wire && steady && fifo.counts_alike())
                    .then(|| fifo.arrive_alike(at, pace));
                let follows = pace.free > at;
                let start = match alike.flatten() {
                    _ if pace.free <= at => Ok(at),
                    Some(waiting) => {
                        prop_assert_eq!(waiting as usize, twin.queue.len());
                        Ok(pace.free)
                    }
                    None => fifo.arrive(at, wire, pace),
                };
                if let Ok(start) = start {
                    if steady {
                        (pace.wire, pace.time) = (wire, rate.fine_time_for(Bytes::new(u64::from(wire))).expect("short"));
                        let (time, carry) = if follows { pace.time.carried(pace.carry) } else { pace.time.fresh() };
                        (pace.free, pace.carry) = (start + time, carry);
                    } else {
                        pace.free = start + Span::from_nanos(time);
                    }
                }
                starts.push(start.ok().map(|at| at.nanos()));
                prop_assert_eq!(fifo.waiting_at(at, pace), twin.queue.len() as u64);
            }
            twin.serve_until(u64::MAX / 2);
            prop_assert_eq!(starts, twin.starts);
        }
    }

    #[test]
    fn more_alike_than_one_number_holds() {
        let mut fifo = Fifo::new(Capacity::Packets(u32::MAX));
        let step = Span::from_nanos(10);
        let time = FineSpan::from_span(step).expect("short");
        let mut pace = Pace { free: Instant::ZERO + step, wire: 100, time, carry: Carry::NOTHING, steady: true };
        for waiting in 1..200_000u32 {
            let start = fifo.arrive(Instant::ZERO, 100, pace).expect("there is room");
            assert_eq!(start, pace.free);
            pace.free = start + step;
            assert_eq!(fifo.len(), waiting);
        }
        let half = Instant::from_nanos(1_000_000);
        pace.free = fifo.arrive(half, 100, pace).expect("there is room") + step;
        assert_eq!((fifo.len(), fifo.waiting_at(half, pace)), (100_000, 100_000));
    }
}
