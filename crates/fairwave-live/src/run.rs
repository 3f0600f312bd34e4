//! Event loop of a live run, with its setup and its results.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use fairwave_core::transport::Delivery;
use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::Plan;
use fairwave_sim::SteppedRun;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use rustix::event::{Timespec, epoll};
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};

use crate::border::{FlowEnds, Recording, Wires};
use crate::clock::Clock;
use crate::error::LiveError;
use crate::namespace;
use crate::places::{self, PlaceConflict};
use crate::programs::{ProgramExit, Programs};
use crate::setup::{self, Setup};
use crate::{Outcome, Report, Request};

pub use crate::child::carry_out;
pub use crate::namespace::become_able;

/// Packets read from one device before other events are handled.
const BATCH: usize = 64;

/// Size of the read buffer, bytes: the largest IP packet.
const LARGEST: usize = 1 << 16;

/// Source of an epoll event: a kind and an index, packed into one word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WakeCause {
    Device(usize),
    Sender(usize),
    Receiver(usize),
    Programs,
}

impl WakeCause {
    fn word(self) -> u64 {
        let (kind, number) = match self {
            WakeCause::Device(number) => (0, number),
            WakeCause::Sender(number) => (1, number),
            WakeCause::Receiver(number) => (2, number),
            WakeCause::Programs => (3, 0),
        };
        (kind << 32) | number as u64
    }

    fn from_word(word: u64) -> Self {
        let number = word as u32 as usize;
        match word >> 32 {
            0 => WakeCause::Device(number),
            1 => WakeCause::Sender(number),
            2 => WakeCause::Receiver(number),
            _ => WakeCause::Programs,
        }
    }
}

/// Runs a plan in real time.
///
/// # Errors
/// The plan asks for something that the router does not support, the kernel refuses an operation, or an invariant is
/// broken. A broken promise is not an error; the report shows it.
pub fn run(request: &Request) -> Result<Outcome, LiveError> {
    let Setup { plan, hosts, names, ends, ways, mapping, programs, first_place } = setup::make(request)?;
    let clock = Clock::begin();
    let mut wires = Wires::new(&plan, clock, hosts, ends, ways, mapping);
    if let Some(path) = &request.recording {
        let unwritable = |error: io::Error| LiveError::Refused {
            what: format!("{} cannot be written", path.display()),
            error,
            help: "name another file",
        };
        let file = fairwave_sim::capture::create_file(path).map_err(unwritable)?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let recording = Recording::new(file, &names).map_err(|error| unwritable(io::Error::other(error)))?;
        wires.recording = Some(recording);
    }
    let namespaces: Vec<&File> = wires.hosts.iter().map(|host| &host.namespace).collect();
    let started = Programs::start(&programs, &namespaces, &request.helper, clock);
    let started = started.map_err(|error| LiveError::refused("programs cannot be started", error))?;
    let poll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(|error| LiveError::refused("epoll", error))?;
    let stepped = SteppedRun::new(&plan, wires)?;
    let mut router = Router {
        plan: &plan,
        stepped,
        clock,
        poll,
        programs: started,
        commands: request.commands.len(),
        exits: Vec::new(),
        room: vec![0; LARGEST],
        deliveries: Vec::new(),
        stops: stops(&plan),
        first_place,
        reassigned: Vec::new(),
    };
    router.watch_all().map_err(|error| LiveError::refused("epoll", error))?;
    let urgent = become_urgent();
    let cpu = cpu();
    let ended = router.go();
    let spent = cpu.zip(self::cpu()).map(|(before, after)| after.saturating_sub(before));
    become_ordinary();
    router.finish(ended, spent, urgent, &names)
}

/// Returns when the kernel's connections start and stop: time, flow, true for a start. Sorted, the earliest last.
fn stops(plan: &Plan) -> Vec<(Instant, usize, bool)> {
    let mut stops: Vec<(Instant, usize, bool)> = (plan.flows.iter().enumerate())
        .filter(|(_, flow)| crate::host::controller(&flow.transport).is_some())
        .flat_map(|(index, flow)| [(flow.start, index, true), (flow.stop, index, false)])
        .collect();
    stops.sort_unstable_by_key(|(at, index, begins)| std::cmp::Reverse((*at, *index, !*begins)));
    stops
}

/// Requests real-time scheduling and precise timers. Returns whether the kernel granted real-time scheduling.
fn become_urgent() -> bool {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
    let Ok(value) = ThreadPriorityValue::try_from(10) else { return false };
    let first = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Crossplatform(value), first).is_ok()
}

/// Restores ordinary scheduling, because the thread may belong to the caller.
fn become_ordinary() {
    use thread_priority::NormalThreadSchedulePolicy::Other;
    let ordinary = ThreadSchedulePolicy::Normal(Other);
    let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, ordinary);
    let _ = rustix::thread::set_current_timer_slack(None);
}

/// Returns the processor time that this thread has used.
fn cpu() -> Option<Span> {
    let used = getrusage(UsageWho::RUSAGE_THREAD).ok()?;
    let micros = used.user_time().num_microseconds() + used.system_time().num_microseconds();
    Some(Span::from_micros(u64::try_from(micros).ok()?))
}

struct Router<'p> {
    plan: &'p Plan,
    stepped: SteppedRun<'p, Wires>,
    clock: Clock,
    poll: std::os::fd::OwnedFd,
    programs: Programs,
    /// Number of programs that the request names.
    commands: usize,
    exits: Vec<ProgramExit>,
    room: Vec<u8>,
    deliveries: Vec<Delivery>,
    stops: Vec<(Instant, usize, bool)>,
    first_place: usize,
    /// Spare flows assigned to conversations of programs.
    reassigned: Vec<PlaceConflict>,
}

/// How the event loop ended.
enum LoopEnd {
    /// At the end of the plan.
    Planned,
    /// At this time, with the last command.
    Early(Instant),
}

impl Router<'_> {
    fn watch_all(&mut self) -> io::Result<()> {
        let wires = &*self.stepped.border();
        let poll = &self.poll;
        let watch = |descriptor: BorrowedFd<'_>, woken: WakeCause, flags: epoll::EventFlags| {
            epoll::add(poll, descriptor, epoll::EventData::new_u64(woken.word()), flags)
        };
        for (number, host) in wires.hosts.iter().enumerate() {
            watch(host.device.as_fd(), WakeCause::Device(number), epoll::EventFlags::IN)?;
        }
        for (flow, ends) in wires.ends.iter().enumerate() {
            match ends {
                FlowEnds::Ours(ours) => {
                    let [sender, receiver] = &ours.ends;
                    watch(sender.descriptor(), WakeCause::Sender(flow), epoll::EventFlags::IN)?;
                    watch(receiver.descriptor(), WakeCause::Receiver(flow), epoll::EventFlags::IN)?;
                }
                FlowEnds::Kernel(kernel) => {
                    let (sender, listener) = kernel.descriptors();
                    if let Some(sender) = sender {
                        watch(sender, WakeCause::Sender(flow), epoll::EventFlags::OUT | epoll::EventFlags::ET)?;
                    }
                    watch(listener, WakeCause::Receiver(flow), epoll::EventFlags::IN)?;
                }
                FlowEnds::Programs => {}
            }
        }
        watch(self.programs.wake.as_fd(), WakeCause::Programs, epoll::EventFlags::IN).map_err(io::Error::from)
    }

    /// Runs the event loop until the end of the plan or of the last command.
    fn go(&mut self) -> Result<LoopEnd, LiveError> {
        let end = Instant::ZERO + self.plan.duration;
        let mut events = Vec::with_capacity(256);
        loop {
            let now = self.clock.now();
            self.stepped.advance(now)?;
            self.begin_and_stop(now);
            self.pass_on(now)?;
            if now >= end {
                return Ok(LoopEnd::Planned);
            }
            let next = self.next().min(end);
            let wait = next - self.clock.now();
            events.clear();
            let room = rustix::buffer::spare_capacity(&mut events);
            let timeout = Timespec {
                tv_sec: (wait.nanos() / 1_000_000_000) as i64,
                tv_nsec: (wait.nanos() % 1_000_000_000) as i64,
            };
            match epoll::wait(&self.poll, room, Some(&timeout)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(LiveError::refused("epoll", error)),
            }
            for event in &events {
                match WakeCause::from_word(event.data.u64()) {
                    WakeCause::Device(host) => self.read_device(host)?,
                    WakeCause::Sender(flow) => self.sender_is_ready(flow)?,
                    WakeCause::Receiver(flow) => self.receiver_is_ready(flow)?,
                    WakeCause::Programs => {
                        self.exits.extend(self.programs.take_exits());
                        let last = self.commands.checked_sub(1);
                        if last.is_some() && self.exits.iter().any(|exit| Some(exit.program) == last) {
                            return Ok(LoopEnd::Early(self.clock.now()));
                        }
                    }
                }
            }
        }
    }

    /// Returns the time of the next timed event.
    fn next(&self) -> Instant {
        let stop = self.stops.last().map_or(Instant::NEVER, |(at, ..)| *at);
        self.stepped.next().min(stop).min(self.programs.next_end())
    }

    /// Starts and stops connections, and kills programs, that are due.
    fn begin_and_stop(&mut self, now: Instant) {
        while let Some((_, flow, begins)) = self.stops.pop_if(|(at, ..)| *at <= now) {
            if let Some(FlowEnds::Kernel(kernel)) = self.stepped.border().ends.get_mut(flow) {
                if begins {
                    kernel.begin();
                } else {
                    kernel.stop();
                }
            }
        }
        self.programs.end_until(now);
    }

    /// Counts the payload of programs' packets as delivered.
    fn pass_on(&mut self, now: Instant) -> Result<(), LiveError> {
        let mut passed = std::mem::take(&mut self.stepped.border().passed);
        for one in passed.drain(..) {
            let delivery = Delivery { unit: 0, payload: one.payload, created: one.at, layer: 0, complete: false };
            self.stepped.deliver(one.flow, &[delivery], now)?;
        }
        self.stepped.border().passed = passed;
        Ok(())
    }

    fn read_device(&mut self, host: usize) -> Result<(), LiveError> {
        for _ in 0..BATCH {
            let wires = self.stepped.border();
            let Some(Ok(bytes)) = wires.hosts.get(host).map(|host| host.device.recv(&mut self.room)) else { break };
            let at = self.clock.now();
            let Some(packet) = wires.read(host, self.room.get(..bytes).unwrap_or(&[]), at, self.plan) else { continue };
            for reassigned in std::mem::take(&mut wires.mapping.assigned_spares) {
                self.take_place(reassigned);
            }
            if !self.stepped.enter(&packet, at)? {
                let wires = self.stepped.border();
                wires.accounts.books.after_end += 1;
                wires.store.release(&packet);
            }
        }
        Ok(())
    }

    /// Routes a spare flow between the hosts of its conversation.
    fn take_place(&mut self, reassigned: PlaceConflict) {
        let ways = &mut self.stepped.border().ways;
        if let (Some(way), Some(place)) = (ways.get(reassigned.like).copied(), ways.get_mut(reassigned.flow)) {
            *place = way;
        }
        self.stepped.reroute(reassigned.flow, reassigned.like);
        self.reassigned.push(reassigned);
    }

    /// Handles feedback at a sender of fairwave, or room in the kernel's send buffer.
    fn sender_is_ready(&mut self, flow: usize) -> Result<(), LiveError> {
        match self.stepped.border().ends.get_mut(flow) {
            Some(FlowEnds::Ours(_)) => self.take_datagrams(flow, 0),
            Some(FlowEnds::Kernel(kernel)) => {
                kernel.write();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn receiver_is_ready(&mut self, flow: usize) -> Result<(), LiveError> {
        let poll = &self.poll;
        match self.stepped.border().ends.get_mut(flow) {
            Some(FlowEnds::Ours(_)) => self.take_datagrams(flow, 1),
            Some(FlowEnds::Kernel(kernel)) => {
                if kernel.accept()
                    && let Some(receiver) = kernel.receiver()
                {
                    let data = epoll::EventData::new_u64(WakeCause::Receiver(flow).word());
                    epoll::add(poll, receiver, data, epoll::EventFlags::IN)
                        .map_err(|error| LiveError::refused("epoll", error))?;
                }
                self.deliveries.clear();
                let open = kernel.read(&mut self.room, &mut self.deliveries);
                if let Some(receiver) = kernel.receiver().filter(|_| !open) {
                    let _ = epoll::delete(poll, receiver);
                }
                let now = self.clock.now();
                Ok(self.stepped.deliver(flow, &self.deliveries, now)?)
            }
            _ => Ok(()),
        }
    }

    /// Handles datagrams that have arrived at the sender (`end` 0) or the receiver (1) of a fairwave flow.
    fn take_datagrams(&mut self, flow: usize, end: usize) -> Result<(), LiveError> {
        for _ in 0..BATCH {
            let Wires { ends, datagrams, .. } = self.stepped.border();
            let Some(FlowEnds::Ours(ours)) = ends.get_mut(flow) else { break };
            let Some(end) = ours.ends.get_mut(end) else { break };
            let Some(packet) = end.receive(&mut self.room, datagrams) else { break };
            self.stepped.arrive(&packet, self.clock.now())?;
        }
        Ok(())
    }

    /// Stops programs, closes the books and releases everything.
    fn finish(
        mut self,
        ended: Result<LoopEnd, LiveError>,
        cpu: Option<Span>,
        urgent: bool,
        names: &[String],
    ) -> Result<Outcome, LiveError> {
        self.stepped.border().over = true;
        // A program that is still running has no exit status: it is killed.
        self.exits.extend(self.programs.take_exits());
        let cut = self.programs.end();
        let ended = ended?;
        let lasted = match ended {
            LoopEnd::Planned => self.plan.duration,
            LoopEnd::Early(at) => at - Instant::ZERO,
        };
        // Packets in flight at an early end continue in the simulation to the end of the plan. They are not delivered.
        let plan = places::with_reassigned_places(self.plan, &self.reassigned);
        let (mut result, mut wires) = self.stepped.finish(&plan)?;
        for (row, ends) in result.flows.iter_mut().zip(&wires.ends) {
            if let FlowEnds::Kernel(kernel) = ends {
                row.packets_retransmitted = kernel.retransmitted;
            }
        }
        let dropped: io::Result<u64> = wires.hosts.iter().map(namespace::device_dropped).sum();
        let books = &mut wires.accounts.books;
        books.queued = wires.store.held;
        let mut troubles = troubles(&wires, names);
        match dropped {
            Ok(dropped) => wires.accounts.books.device_dropped = dropped,
            Err(error) => troubles.push(format!("what hosts' devices dropped could not be read: {error}")),
        }
        let mut statuses = vec![None; self.commands];
        for ProgramExit { program, status } in
            self.exits.into_iter().chain(cut.into_iter().filter(|exit| exit.status.is_err()))
        {
            match (statuses.get_mut(program), status) {
                (Some(known), Ok(status)) => *known = Some(status),
                (Some(known), Err(error)) => {
                    *known = Some(126);
                    troubles.push(format!("a command could not be started: {error}"));
                }
                (None, Ok(0)) => {}
                (None, Ok(status)) => troubles.push(format!("a flow's program ended with status {status}")),
                (None, Err(error)) => troubles.push(format!("a flow's program could not be started: {error}")),
            }
        }
        let report: Report = wires.accounts.report(lasted, cpu, urgent);
        forget_unused_places(&mut result, self.plan, self.first_place);
        let result = matches!(ended, LoopEnd::Planned).then_some(result);
        let unrecorded = wires.recording.take().and_then(Recording::end);
        Ok(Outcome { result, report, statuses, troubles, unrecorded })
    }
}

/// Returns messages about failures in the hosts.
fn troubles(wires: &Wires, names: &[String]) -> Vec<String> {
    let mut troubles = Vec::new();
    for (flow, ends) in wires.ends.iter().enumerate() {
        if let FlowEnds::Kernel(kernel) = ends
            && let Some(error) = &kernel.trouble
        {
            let from = wires.ways.get(flow).and_then(|way| names.get(way.hosts[0])).map_or("?", String::as_str);
            troubles.push(format!("the connection of flow {flow} from {from}: {error}"));
        }
    }
    let crate::endpoints::Datagrams { refused, damaged, .. } = wires.datagrams;
    if refused > 0 {
        troubles.push(format!("{refused} datagrams were refused by a host's kernel: its device had no room"));
    }
    if damaged > 0 {
        troubles.push(format!("{damaged} datagrams were not what a transport of ours sends"));
    }
    if wires.mapping.sharing > 0 {
        let places = places::SPARE;
        troubles.push(format!(
            "{} conversations of programs shared a flow with earlier ones: queues distinguish {places} of a run",
            wires.mapping.sharing
        ));
    }
    troubles
}

/// Removes unused reserved flows from the tables.
fn forget_unused_places(result: &mut fairwave_sim::RunResult, plan: &Plan, first: usize) {
    let mut index = 0;
    result.flows.retain(|row| {
        index += 1;
        index <= first || row.packets_sent > 0
    });
    let kept = |group: &str| result.flows.iter().any(|row| *row.group == *group);
    let places: Vec<&str> = (plan.flows.get(first..).unwrap_or(&[]).iter())
        .filter_map(|flow| plan.groups.get(flow.group).map(String::as_str))
        .collect();
    result.groups.retain(|row| !places.contains(&row.group.as_str()) || kept(&row.group));
}
