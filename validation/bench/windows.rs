//! A model of a run on a dumbbell. It measures the possible gain of windows of time (conservative lookahead).
//!
//! `windows FLOWS BLOCK THREADS MILLISECONDS` runs the same traffic twice: event by event in order of time, and window by window.
//! It prints one line of JSON. It fails unless both runs agree in every flow's state and in the queue.
//!
//! The model: each flow has 1 Mb/s of the bottleneck and keeps as many packets in flight as its window allows. A packet takes 5 ms
//! to the router and waits in a drop-tail queue of 2.5 packets per flow. Its acknowledgement arrives 30 ms after its departure. An
//! acknowledgement or a loss touches ten cache lines of its flow's block and computes as long as fairwave does. Hosts and router
//! are 5 ms apart in both directions, so a window lasts 5 ms.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

const WINDOW: u64 = 5_000_000;
const TO_ROUTER: u64 = 5_000_000;
const BACK: u64 = 25_000_000;
const LINES: usize = 10;

/// Time, then a tie-break (a fixed function of time and flow), then the flow.
type Packet = (u64, u64, u32);

fn tie(at: u64, flow: u32) -> u64 {
    (at ^ u64::from(flow).wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// Memory of all flows: a block per flow. An event touches ten cache lines of its flow's block.
struct Flows {
    memory: Vec<u64>,
    words: usize,
}

impl Flows {
    fn new(flows: usize, block: usize) -> Self {
        let words = block / 8;
        let mut memory = vec![0; flows * words];
        memory.chunks_exact_mut(words).for_each(|block| (block[0], block[1]) = (2, 0));
        Flows { memory, words }
    }
}

/// Processes an acknowledgement or a loss. Returns the number of packets that the flow sends.
#[inline]
fn react(block: &mut [u64], at: u64, lost: bool) -> u64 {
    let step = block.len() / LINES;
    let mut mixed = at;
    for line in 0..LINES {
        let word = &mut block[2 + line * step];
        mixed = mixed.rotate_left(13).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ *word;
        *word = mixed;
    }
    // Simplified Reno: one more packet per round trip, half as many after a loss, at least one in flight.
    if lost {
        let window = (block[0] / 2).max(1);
        let leaves = u64::from(window >= block[0]);
        block[0] = window;
        return leaves;
    }
    block[1] += 1;
    if block[1] >= block[0] {
        (block[0], block[1]) = ((block[0] + 1).min(64), 0);
        return 2;
    }
    1
}

struct Queue {
    free: u64,
    time: u64,
    room: u64,
    served: u64,
    dropped: u64,
}

impl Queue {
    fn new(flows: usize) -> Self {
        Queue { free: 0, time: 8_000_000 / flows as u64, room: 5 * flows as u64 / 2, served: 0, dropped: 0 }
    }

    /// Time at which the flow learns of the packet's fate, and whether the packet was lost.
    #[inline]
    fn arrive(&mut self, at: u64) -> (u64, bool) {
        if self.free.saturating_sub(at) > self.room * self.time {
            self.dropped += 1;
            return (at + BACK, true);
        }
        self.free = self.free.max(at) + self.time;
        self.served += 1;
        (self.free + BACK, false)
    }
}

fn start(flow: u32, flows: usize) -> u64 {
    u64::from(flow) * 200_000_000 / flows as u64
}

fn digest(flows: &Flows, queue: &Queue) -> u64 {
    let mut sum = queue.served ^ queue.dropped.rotate_left(32) ^ queue.free;
    for word in &flows.memory {
        sum = sum.rotate_left(5) ^ word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    sum
}

/// Calendar queue: packets in days by time. A day is sorted when it begins.
struct Calendar {
    days: Vec<Vec<(u64, u64, u32, u8)>>,
    today: BinaryHeap<Reverse<(u64, u64, u32, u8)>>,
    day: usize,
    length: u64,
}

impl Calendar {
    fn new(end: u64, length: u64) -> Self {
        let days = (end / length + 40) as usize + (40_000_000 / length) as usize;
        Calendar { days: vec![Vec::new(); days], today: BinaryHeap::new(), day: 0, length }
    }

    #[inline]
    fn push(&mut self, event: (u64, u64, u32, u8)) {
        let day = (event.0 / self.length) as usize;
        if day <= self.day {
            self.today.push(Reverse(event));
        } else if let Some(day) = self.days.get_mut(day) {
            day.push(event);
        }
    }

    #[inline]
    fn pop(&mut self, end: u64) -> Option<(u64, u64, u32, u8)> {
        loop {
            if let Some(Reverse(event)) = self.today.pop() {
                return (event.0 <= end).then_some(event);
            }
            self.day += 1;
            if self.day as u64 * self.length > end {
                return None;
            }
            let day = std::mem::take(self.days.get_mut(self.day)?);
            self.today = day.into_iter().map(Reverse).collect();
        }
    }
}

/// Runs event by event. Kind 0 reaches the router; 1 and 2 reach the sender (acknowledged, lost).
fn plain(count: usize, block: usize, end: u64) -> (f64, u64, u64) {
    let (mut flows, mut queue) = (Flows::new(count, block), Queue::new(count));
    // About sixty events per day, as in fairwave's calendar.
    let mut calendar = Calendar::new(end, (32_000_000 / (4 * count as u64 / 4).max(1)).max(100));
    for flow in 0..count as u32 {
        let at = start(flow, count);
        calendar.push((at, tie(at, flow), flow, 1));
    }
    let (begun, mut events) = (Instant::now(), 0);
    while let Some((at, _, flow, kind)) = calendar.pop(end) {
        events += 1;
        if kind == 0 {
            let (back, lost) = queue.arrive(at);
            calendar.push((back, tie(back, flow), flow, 1 + u8::from(lost)));
            continue;
        }
        let from = flow as usize * flows.words;
        let leave = react(&mut flows.memory[from..from + flows.words], at, kind == 2);
        for nth in 0..leave {
            let there = at + TO_ROUTER + nth * 80_000;
            calendar.push((there, tie(there, flow), flow, 0));
        }
    }
    (begun.elapsed().as_secs_f64(), events, digest(&flows, &queue))
}

/// A part of the hosts: flows with adjacent memory, and the packets that will reach them in later windows.
struct Island {
    first: u32,
    memory: Vec<u64>,
    words: usize,
    /// Ring of windows: packets from the router, in order of creation.
    coming: Vec<Vec<(u64, u32, bool)>>,
    /// Packets for the router, by the window of their arrival there.
    leaving: Vec<Vec<Packet>>,
    events: u64,
}

const RING: usize = 64;

impl Island {
    /// Processes a window, flow by flow in memory order. Events of a flow are in order of time, as created by the router.
    fn handle(&mut self, window: u64, end: u64) {
        let slot = window as usize % RING;
        let mut came = std::mem::take(&mut self.coming[slot]);
        // Sort by flow, then by time: a loss is known before the packets ahead of it have left.
        came.sort_unstable_by_key(|(at, flow, lost)| (*flow, *at, *lost));
        for (at, flow, lost) in &came {
            if *at > end {
                continue;
            }
            self.events += 1;
            let from = (flow - self.first) as usize * self.words;
            let leave = react(&mut self.memory[from..from + self.words], *at, *lost);
            for nth in 0..leave {
                let there = at + TO_ROUTER + nth * 80_000;
                self.leaving[(there / WINDOW) as usize % RING].push((there, tie(there, *flow), *flow));
            }
        }
        self.coming[slot] = came;
        self.coming[slot].clear();
    }
}

struct Router {
    queue: Queue,
    merged: Vec<Packet>,
    events: u64,
}

/// Runs window by window. Hosts and router process the same window in parallel and exchange packets for later windows.
fn windowed(count: usize, block: usize, threads: usize, end: u64) -> (f64, u64, u64, [f64; 3]) {
    let parts = threads.max(1);
    let mut islands: Vec<Island> = Vec::new();
    let size = count.div_ceil(parts);
    for part in 0..parts {
        let (first, last) = (part * size, ((part + 1) * size).min(count));
        islands.push(Island {
            first: first as u32,
            words: block / 8,
            memory: Flows::new(last - first, block).memory,
            coming: vec![Vec::new(); RING],
            leaving: vec![Vec::new(); RING],
            events: 0,
        });
    }
    let mut starts: Vec<(u64, u32)> = (0..count as u32).map(|flow| (start(flow, count), flow)).collect();
    starts.sort_unstable();
    let mut router = Router { queue: Queue::new(count), merged: Vec::new(), events: 0 };
    let (mut spent, windows, mut next) = ([0.0; 3], end / WINDOW + 1, 0);
    let barrier = Barrier::new(parts);
    let cells: Vec<std::sync::Mutex<Island>> = islands.into_iter().map(std::sync::Mutex::new).collect();
    let now = AtomicU64::new(0);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for worker in 1..parts {
            let (cells, barrier, now) = (&cells, &barrier, &now);
            scope.spawn(move || {
                loop {
                    barrier.wait();
                    let window = now.load(Ordering::Acquire);
                    if window >= windows {
                        return;
                    }
                    cells[worker].lock().expect("no panic").handle(window, end);
                    barrier.wait();
                }
            });
        }
        for window in 0..windows {
            // The exchange: starts, then packets that reach the router in this window, merged in the single order of events.
            let at = Instant::now();
            while next < starts.len() && starts[next].0 / WINDOW == window {
                let (when, flow) = starts[next];
                let mut island = cells[flow as usize / size].lock().expect("no panic");
                island.coming[window as usize % RING].push((when, flow, false));
                next += 1;
            }
            router.merged.clear();
            for cell in &cells {
                router.merged.append(&mut cell.lock().expect("no panic").leaving[window as usize % RING]);
            }
            now.store(window, Ordering::Release);
            spent[0] += at.elapsed().as_secs_f64();
            if parts > 1 {
                barrier.wait();
            }
            let at = Instant::now();
            router.merged.sort_unstable();
            let mut answers: Vec<(u64, u32, bool)> = Vec::with_capacity(router.merged.len());
            for (when, _, flow) in router.merged.iter().filter(|packet| packet.0 <= end) {
                router.events += 1;
                let (back, lost) = router.queue.arrive(*when);
                answers.push((back, *flow, lost));
            }
            spent[1] += at.elapsed().as_secs_f64();
            let at = Instant::now();
            cells[0].lock().expect("no panic").handle(window, end);
            spent[2] += at.elapsed().as_secs_f64();
            if parts > 1 {
                barrier.wait();
            }
            let at = Instant::now();
            for (back, flow, lost) in answers {
                let mut island = cells[flow as usize / size].lock().expect("no panic");
                island.coming[(back / WINDOW) as usize % RING].push((back, flow, lost));
            }
            spent[0] += at.elapsed().as_secs_f64();
        }
        now.store(windows, Ordering::Release);
        if parts > 1 {
            barrier.wait();
        }
    });
    let took = begun.elapsed().as_secs_f64();
    let mut flows = Flows { memory: Vec::new(), words: block / 8 };
    let mut events = router.events;
    for cell in cells {
        let island = cell.into_inner().expect("no panic");
        flows.memory.extend(island.memory);
        events += island.events;
    }
    (took, events, digest(&flows, &router.queue), spent)
}

fn main() {
    let words: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    let [count, block, threads, ms] = words[..] else {
        eprintln!("windows FLOWS BLOCK THREADS MILLISECONDS");
        std::process::exit(2);
    };
    let end = ms as u64 * 1_000_000;
    let (plain_s, plain_events, one) = plain(count, block, end);
    let (windowed_s, windowed_events, other, [hand_over, router, hosts]) = windowed(count, block, threads, end);
    println!(
        "{{\"flows\": {count}, \"block\": {block}, \"threads\": {threads}, \"events\": {plain_events}, \
         \"plain_ns\": {:.1}, \"windowed_ns\": {:.1}, \"hand_over_ns\": {:.1}, \"router_ns\": {:.1}, \"hosts_ns\": {:.1}, \
         \"windows\": {}, \"same\": {}}}",
        plain_s * 1e9 / plain_events as f64,
        windowed_s * 1e9 / windowed_events as f64,
        hand_over * 1e9 / windowed_events as f64,
        router * 1e9 / windowed_events as f64,
        hosts * 1e9 / windowed_events as f64,
        end / WINDOW + 1,
        one == other && plain_events == windowed_events,
    );
}
