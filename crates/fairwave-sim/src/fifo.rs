//! What waits before a transmitter, first in, first out, where an arrival that finds no room is dropped.
//!
//! No packet is kept: of those that wait only the sizes and the starts of transmission count, and neighbours are mostly alike. So what
//! waits is held as runs of packets of one size whose transmissions follow each other in equal steps. The last run is a number alone: the
//! rest of it follows from the transmitter.

use std::collections::VecDeque;

use fairwave_core::queue::{Capacity, DropReason};
use fairwave_core::units::{Instant, Span};

/// The transmitter, as the queue before it sees it.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// When it will be free.
    pub free: Instant,
    /// Bytes on the wire of the packet that it was given last.
    pub wire: u16,
    /// The time which that packet takes.
    pub time: Span,
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
    /// From one start to the next.
    step: Span,
    packets: u32,
    /// Bytes on the wire of each.
    wire: u16,
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
            run.first += run.step;
            if run.packets == 0 {
                self.runs.pop_front();
            }
        }
    }

    /// One more, whose transmission starts at `start`.
    fn push(&mut self, start: Instant, wire: u16) {
        // Where packets count, nothing asks how much room is left.
        self.room = self.room.wrapping_sub(u64::from(wire));
        self.packets += 1;
        if let Some(run) = self.runs.back_mut()
            && run.wire == wire
        {
            if run.packets == 1 {
                run.step = start.since(run.first);
            }
            if start == run.first + run.step * u64::from(run.packets) {
                run.packets += 1;
                return;
            }
        }
        self.runs.push_back(Run { first: start, step: Span::ZERO, packets: 1, wire });
    }

    /// Those that still wait at `now`.
    fn waiting_at(&self, now: Instant) -> u64 {
        let later = |run: &Run| (0..u64::from(run.packets)).filter(|&place| run.first + run.step * place > now).count();
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
        let (ahead, time) = (pace.free.since(now).nanos(), pace.time.nanos());
        let (mut alike, mut before) = (self.alike, u64::from(self.alike) * time);
        while alike > 0 && before >= ahead {
            alike -= 1;
            before -= time;
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
        for back in (1..=u64::from(self.alike)).rev() {
            let start = Instant::from_nanos(pace.free.nanos() - back * pace.time.nanos());
            older.push(start, pace.wire);
        }
        self.alike = 0;
        if pace.steady && !self.by_bytes {
            self.alike = 1;
        } else {
            older.push(pace.free, wire);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same queue, event by event: a list of packets, and a transmitter that takes the first when it is free.
    #[derive(Default)]
    struct SlowTwin {
        queue: VecDeque<(usize, u64, u64)>,
        busy_until: u64,
        starts: Vec<Option<u64>>,
    }

    impl SlowTwin {
        fn serve_until(&mut self, now: u64) {
            while self.busy_until <= now {
                let Some((id, _, time)) = self.queue.pop_front() else { break };
                self.starts[id] = Some(self.busy_until);
                self.busy_until += time;
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
                self.busy_until = now + time;
            } else if fits {
                self.queue.push_back((id, wire, time));
            }
        }
    }

    proptest! {
        #[test]
        fn arithmetic_gives_what_event_by_event_service_gives(
            arrivals in prop::collection::vec((0u64..400, prop::sample::select(vec![0u16, 40, 90, 200]), 0u64..3), 1..200),
            (limit, by_bytes, steady) in (0u32..8, any::<bool>(), any::<bool>()),
        ) {
            let capacity = if by_bytes { Capacity::Bytes(u64::from(limit) * 70) } else { Capacity::Packets(limit) };
            let (mut fifo, mut twin) = (Fifo::new(capacity), SlowTwin::default());
            let (mut now, mut starts) = (0, Vec::new());
            let mut pace = Pace { free: Instant::ZERO, wire: 0, time: Span::ZERO, steady };
            for (gap, wire, slower) in arrivals {
                now += gap;
                let at = Instant::from_nanos(now);
                // Where the rate changes, size does not tell the time.
                let time = u64::from(wire) * if steady { 1 } else { 1 + slower };
                twin.arrive(now, u64::from(wire), time, capacity);
                let alike = (pace.free > at && wire == pace.wire && steady && fifo.counts_alike())
                    .then(|| fifo.arrive_alike(at, pace));
                let start = match alike.flatten() {
                    _ if pace.free <= at => Ok(at),
                    Some(waiting) => {
                        prop_assert_eq!(waiting as usize, twin.queue.len());
                        Ok(pace.free)
                    }
                    None => fifo.arrive(at, wire, pace),
                };
                if let Ok(start) = start {
                    pace.free = start + Span::from_nanos(time);
                    if steady {
                        (pace.wire, pace.time) = (wire, Span::from_nanos(time));
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
        let mut pace = Pace { free: Instant::ZERO + step, wire: 100, time: step, steady: true };
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
