//! A run driven by the caller's clock, with a border between flow ends and the network.

use std::borrow::Cow;
use std::fmt;

use fairwave_core::packet::Packet;
use fairwave_core::transport::Delivery;
use fairwave_core::units::Instant;
use fairwave_scenario::plan::Plan;

use super::Simulation;
use crate::border::Border;
use crate::error::RunError;
use crate::island_map::Extent;
use crate::measure::Window;
use crate::probe::ProbeSlot;
use crate::result::RunResult;

/// A run executed step by step. Everything happens at its nominal time: a queue receives the times of arrivals and
/// transmissions, not the times when the driver handled them.
pub struct SteppedRun<'p, B> {
    simulation: Simulation<'p, (), B>,
    /// Time of the last handled events: all events up to it, inclusive, are handled.
    reached: Option<Instant>,
}

impl<B> fmt::Debug for SteppedRun<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SteppedRun").field("reached", &self.reached).finish_non_exhaustive()
    }
}

impl<'p, B: Border> SteppedRun<'p, B> {
    /// Creates a run of `plan` at its start.
    ///
    /// # Errors
    /// Same as [`Run::execute`](crate::Run::execute).
    pub fn new(plan: &'p Plan, border: B) -> Result<Self, RunError> {
        Ok(SteppedRun { simulation: Simulation::new(Cow::Borrowed(plan), (), border)?, reached: None })
    }

    /// Creates a run at its start that owns its plan, so its lifetime is not limited by a borrow.
    ///
    /// # Errors
    /// Same as [`Run::execute`](crate::Run::execute).
    pub fn from_owned(plan: Plan, border: B) -> Result<SteppedRun<'static, B>, RunError> {
        Ok(SteppedRun { simulation: Simulation::new(Cow::Owned(plan), (), border)?, reached: None })
    }

    /// Handles the remaining events, collects the results and checks the packet accounting.
    ///
    /// # Errors
    /// Same as [`Run::execute`](crate::Run::execute).
    pub fn complete(mut self) -> Result<(RunResult, B), RunError> {
        self.advance(self.simulation.window.end)?;
        self.simulation.end_window();
        let (result, (), border) = self.simulation.settle()?;
        Ok((result, border))
    }

    /// Returns the border.
    pub fn border(&mut self) -> &mut B {
        &mut self.simulation.border
    }

    /// Returns the time of the next event; [`Instant::NEVER`] if there is none before the end of the run.
    pub fn next(&self) -> Instant {
        let next = self.simulation.events.earliest();
        if next > self.simulation.window.end { Instant::NEVER } else { next }
    }

    /// Returns the time of the last handled events. All events up to it, inclusive, are handled.
    pub fn reached(&self) -> Instant {
        self.reached.unwrap_or_default()
    }

    /// Handles the events until `until`, or until the end if that is earlier. Time never runs backwards: an earlier
    /// `until` has no effect.
    ///
    /// # Errors
    /// Fails if an invariant is broken.
    pub fn advance(&mut self, until: Instant) -> Result<(), RunError> {
        let Window { warmup, end } = self.simulation.window;
        let until = until.min(end);
        let from = self.reached();
        if self.reached.is_some_and(|reached| until < reached) {
            return Ok(());
        }
        let warming = warmup > Instant::ZERO && self.reached.is_none_or(|reached| reached < warmup);
        if warming && until >= warmup {
            self.simulation.run_until(from, Instant::from_nanos(warmup.nanos() - 1))?;
            self.simulation.begin_window();
            self.simulation.run_until(warmup, until)?;
        } else {
            self.simulation.run_until(from, until)?;
        }
        self.reached = Some(until);
        Ok(())
    }

    /// Lets a packet enter the network at the start of its flow's route, at `at` or at [`reached`](Self::reached) if
    /// that is later. Returns whether it entered: nothing enters after the end.
    ///
    /// # Errors
    /// Fails if an invariant is broken.
    pub fn enter(&mut self, packet: &Packet, at: Instant) -> Result<bool, RunError> {
        let at = at.max(self.reached());
        if at > self.simulation.window.end {
            return Ok(false);
        }
        self.advance(at)?;
        self.simulation.enter(packet, at);
        Ok(true)
    }

    /// Delivers a packet to its end at `now`, or at [`reached`](Self::reached) if that is later.
    ///
    /// # Errors
    /// Fails if an invariant is broken.
    pub fn arrive(&mut self, packet: &Packet, now: Instant) -> Result<(), RunError> {
        let now = now.max(self.reached());
        if now > self.simulation.window.end {
            return Ok(());
        }
        self.advance(now)?;
        self.simulation.arrive(packet, now);
        Ok(())
    }

    /// Delivers data to the receiving application of a flow at `now`, for data that does not pass through a fairwave
    /// endpoint.
    ///
    /// # Errors
    /// Fails if an invariant is broken.
    pub fn deliver(&mut self, flow: usize, deliveries: &[Delivery], now: Instant) -> Result<(), RunError> {
        let now = now.max(self.reached());
        if now > self.simulation.window.end || flow >= self.simulation.receiving.items.len() {
            return Ok(());
        }
        self.advance(now)?;
        self.simulation.answer.deliveries.extend_from_slice(deliveries);
        self.simulation.answer(flow, now);
        Ok(())
    }

    /// Switches a flow to the routes of the flow `like`. The flow must not have sent a packet yet. Ignores flows that
    /// do not exist.
    pub fn reroute(&mut self, flow: usize, like: usize) {
        let Simulation { sending, receiving, .. } = &mut self.simulation;
        let routes = (sending.get(like).map(|end| end.route), receiving.get(like).map(|end| end.route));
        if let ((Some(forward), Some(backward)), Some(from), Some(to)) =
            (routes, sending.get_mut(flow), receiving.get_mut(flow))
        {
            (from.route, to.route) = (forward, backward);
        }
    }

    /// Handles the remaining events, collects the results and checks the packet accounting. `plan` is the run's plan
    /// with the groups, ends and routes that flows have received since ([`reroute`](Self::reroute)).
    ///
    /// # Errors
    /// Same as [`Run::execute`](crate::Run::execute).
    pub fn finish<'t>(mut self, plan: &'t Plan) -> Result<(RunResult, B), RunError>
    where
        'p: 't,
    {
        self.advance(self.simulation.window.end)?;
        self.simulation.end_window();
        let mut simulation: Simulation<'t, (), B> = self.simulation;
        simulation.plan = Cow::Borrowed(plan);
        let (result, (), border) = simulation.settle()?;
        Ok((result, border))
    }
}

impl<P: ProbeSlot, B: Border> Simulation<'_, P, B> {
    /// Handles a packet from outside.
    fn enter(&mut self, packet: &Packet, at: Instant) {
        let flow = packet.flow.0 as usize;
        let place = if packet.feedback {
            self.receiving[flow].measure.feedback_sent += 1;
            self.receiving[flow].route
        } else {
            self.sending[flow].packets_sent += 1;
            self.sending[flow].wire_sent += u64::from(packet.wire);
            self.sending[flow].route
        };
        if P::ON {
            self.probe.sent(packet, at, None);
        }
        let first = self.network.routes.step(place).target() as usize;
        self.forward(first, packet, place, at);
    }

    /// Passes a packet to its end.
    fn arrive(&mut self, packet: &Packet, now: Instant) {
        let flow = packet.flow.0 as usize;
        if packet.feedback {
            self.take_feedback(flow, packet, now);
        } else {
            self.take_data(flow, packet, now);
            self.arm_receiver(flow, now);
        }
    }
}

impl<P: ProbeSlot, B: Border, E: Extent> Simulation<'_, P, B, E> {
    /// Hands a packet over to the border.
    pub(super) fn hand_over(&mut self, flow: usize, packet: &Packet, at: Instant) {
        if P::ON {
            self.probe.received(packet, at);
        }
        if packet.feedback {
            self.sending[flow].feedback_arrived += 1;
        } else {
            self.receiving[flow].measure.packets_arrived += 1;
        }
        self.border.deliver(packet, at);
    }
}
