//! What waits before a transmitter, first in, first out, where an arrival that finds no room is dropped.
//!
//! No packet is kept: of those that wait only the sizes and the starts of transmission count, and neighbours are mostly alike. So what
//! waits is held as runs of packets of one size whose transmissions follow each other in equal steps. The last run is a number alone: the
//! rest of it follows from the transmitter.

use std::collections::VecDeque;

use fairwave_core::queue::{Capacity, DropReason};
use fairwave_core::units::{Carry, FineSpan, Instant};

/// The transmitter, as the queue before it sees it.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// When it will be free.
    pub free: Instant,
    /// Bytes on the wire of the packet that it was given last.
    pub wire: u16,
    /// The time which that packet takes.
    pub time: FineSpan,
    /// What its transmission leaves to the next.
    pub carry: Carry,
    /// How long a packet takes depends on its size alone. Else `wire` and `time` mean nothing.
    pub steady: bool,
}

/// A FIFO whose overflow drops the arrival, crossed arithmetically: when a packet arrives, its departure follows from those before it.
pub struct Fifo {
    /// Packets, or bytes, for which there is room; what does not fit here is in [`Older::room`] from the beginning.
    limit: u32,
    /// How many of those that wait, the last ones, have the size of the packet that the transmitter was given last. Some of them may have
    /// begun meanwhile.
    alike: u16,
    by_bytes: bool,
    /// Those before them. Made when it is needed: on most links never.
    older: Option<Box<Older>>,
}

/// What waits, run by run, and for how much more there is room.
struct Older {
    /// Bytes for which there is still room, where bytes count.
    room: u64,
    /// Packets of all runs.
    packets: u32,
    runs: VecDeque<Run>,
}

/// Packets of one size that wait one behind the other.
struct Run {
    /// When the transmission of the first starts.
    first: Instant,
    /// The carry with which it starts.
    carry: Carry,
    packets: u32,
    /// From one start to the next.
    step: FineSpan,
    /// Bytes on the wire of each.
    wire: u16,
}

impl Run {
    /// When the transmission starts of the packet that comes `place`s behind the first.
    fn start(&self, place: u32) -> Instant {
        self.first + self.step.times(place, self.carry)
    }
}

impl Older {
    /// Nothing waits.
    fn nothing(room: u64) -> Box<Self> {
        Box::new(Older { room, packets: 0, runs: VecDeque::new() })
    }

    /// Forgets those whose transmission has begun by `now`.
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

    /// A whole run comes behind.
    fn push_run(&mut self, run: Run) {
        // Where packets count, nothing asks how much room is left.
        self.room = self.room.wrapping_sub(u64::from(run.wire) * u64::from(run.packets));
        self.packets += run.packets;
        self.runs.push_back(run);
    }

    /// One more of `wire` bytes, whose transmission starts when the transmitter is free.
    fn push(&mut self, wire: u16, pace: Pace) {
        let start = pace.free;
        if let Some(run) = self.runs.back_mut()
            && run.wire == wire
        {
            if run.packets == 1 {
                let alike = pace.steady && pace.wire == wire;
                let step = if alike { Some(pace.time) } else { FineSpan::from_span(start.since(run.first)) };
                // A step that is too long begins a new run.
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

    /// Those that still wait at `now`.
    fn waiting_at(&self, now: Instant) -> u64 {
        let later = |run: &Run| (0..run.packets).filter(|&place| run.start(place) > now).count();
        self.runs.iter().map(|run| later(run) as u64).sum()
    }
}

impl Fifo {
    /// An empty queue.
    pub fn new(capacity: Capacity) -> Self {
        let (by_bytes, limit) = match capacity {
            Capacity::Packets(limit) => (false, u64::from(limit)),
            Capacity::Bytes(limit) => (true, limit),
        };
        let (limit, older) = match u32::try_from(limit) {
            Ok(limit) => (limit, None),
            Err(_) => (u32::MAX, Some(Older::nothing(limit))),
        };
        Fifo { limit, alike: 0, by_bytes, older }
    }

    /// Packets that waited when the last one arrived, that one included.
    #[inline]
    pub fn len(&self) -> u32 {
        u32::from(self.alike) + self.older.as_ref().map_or(0, |older| older.packets)
    }

    /// Packets that wait at `now`, which is not before the last arrival.
    pub fn waiting_at(&self, now: Instant, pace: Pace) -> u64 {
        u64::from(self.alike_at(now, pace)) + self.older.as_ref().map_or(0, |older| older.waiting_at(now))
    }

    /// How many of those that are alike still wait at `now`, if all before them have begun.
    #[inline(always)]
    fn alike_at(&self, now: Instant, pace: Pace) -> u16 {
        if pace.free <= now {
            return 0;
        }
        // The `n`th from the end starts `n` times before the transmitter is free.
        let (ahead, mut alike) = (pace.free.since(now), self.alike);
        while alike > 0 && pace.time.times_before(u32::from(alike), pace.carry) >= ahead {
            alike -= 1;
        }
        alike
    }

    /// Forgets those whose transmission has begun by `now`; answers how many still wait.
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

    /// A packet of `wire` bytes arrives at `now`, while the transmitter is taken, and is the next that the transmitter is given if there is
    /// room. Answers when its transmission starts, or that there is none. Arrivals must come in order of time.
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

    /// Whether [`Self::arrive_alike`] may be asked.
    pub fn counts_alike(&self) -> bool {
        !self.by_bytes && self.limit <= u32::from(u16::MAX)
    }

    /// As [`Self::arrive`], of a packet of the size of the one before, at a steady rate, where packets count and all that wait are of
    /// that size. Answers how many wait with it; nothing, and nothing has changed, where others wait or there is no room.
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

    /// Whether so many more bytes fit.
    fn has_room(&mut self, wire: u16) -> bool {
        u64::from(wire) <= self.older.as_ref().map_or(u64::from(self.limit), |older| older.room)
    }

    /// A packet waits that is not like those before it, or where runs are not told by the transmitter.
    #[inline(never)]
    fn start_run(&mut self, wire: u16, pace: Pace) {
        let limit = u64::from(self.limit);
        let older = self.older.get_or_insert_with(|| Older::nothing(limit));
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

    /// The same queue, event by event: a list of packets, and a transmitter that takes the first when it is free. Times are in
    /// nanoseconds; what a packet takes is in nanoseconds times `parts`.
    #[derive(Default)]
    struct SlowTwin {
        parts: u64,
        queue: VecDeque<(usize, u64, u64)>,
        busy_until: u64,
        /// What rounding leaves of the last transmission, and half a nanosecond.
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
            // At a steady rate a byte takes 1/`parts` ns, and arrivals are as much closer. Powers of two: fine spans hold them exactly.
            let parts = if steady { 1 << parts } else { 1 };
            let mut twin = SlowTwin { parts, ..SlowTwin::default() };
            let rate = Rate::from_bits_per_second(8_000_000_000 * parts);
            let mut pace = Pace { free: Instant::ZERO, wire: 0, time: FineSpan::ZERO, carry: Carry::NOTHING, steady };
            for (gap, wire, slower) in arrivals {
                now += gap / parts;
                let at = Instant::from_nanos(now);
                // Where the rate changes, size does not tell the time.
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
