//! A run that the caller's clock drives, with a border between the ends of flows and the network.

use std::borrow::Cow;

use fairwave_core::packet::Packet;
use fairwave_core::transport::Delivery;
use fairwave_core::units::Instant;
use fairwave_scenario::plan::Plan;

use super::Simulation;
use crate::border::Border;
use crate::error::RunError;
use crate::measure::Window;
use crate::places::Extent;
use crate::probe::Probe;
use crate::result::RunResult;

/// A run made step by step. Everything in it happens at its nominal time: a queue learns when a packet arrived and when
/// a transmission ended, not when the driver handled them.
pub struct SteppedRun<'p, P, B> {
    simulation: Simulation<'p, P, B>,
    /// What happened until then, that moment included, has been handled.
    reached: Option<Instant>,
}

impl<'p, P: Probe, B: Border> SteppedRun<'p, P, B> {
    /// A run of `plan` at its beginning.
    ///
    /// # Errors
    /// As [`run`](crate::run).
    pub fn new(plan: &'p Plan, probe: P, border: B) -> Result<Self, RunError> {
        Ok(SteppedRun { simulation: Simulation::new(Cow::Borrowed(plan), probe, border)?, reached: None })
    }

    /// A run at its beginning that owns its plan, so that it can be kept for as long as its caller likes.
    ///
    /// # Errors
    /// As [`run`](crate::run).
    pub fn owning(plan: Plan, probe: P, border: B) -> Result<SteppedRun<'static, P, B>, RunError> {
        Ok(SteppedRun { simulation: Simulation::new(Cow::Owned(plan), probe, border)?, reached: None })
    }

    /// Handles what is left, collects what there is to tell and checks the books.
    ///
    /// # Errors
    /// As [`run`](crate::run).
    pub fn complete(mut self) -> Result<(RunResult, P, B), RunError> {
        self.advance(self.simulation.window.end)?;
        self.simulation.end_window();
        self.simulation.settle()
    }

    /// What lies between ends and network.
    pub fn border(&mut self) -> &mut B {
        &mut self.simulation.border
    }

    /// When something is due next; [`Instant::NEVER`] if nothing is before the run ends.
    pub fn next(&self) -> Instant {
        let next = self.simulation.events.earliest();
        if next > self.simulation.window.end { Instant::NEVER } else { next }
    }

    /// Until when everything has been handled, that moment included.
    pub fn reached(&self) -> Instant {
        self.reached.unwrap_or_default()
    }

    /// Handles what is due until `until`, or until the end if that is earlier. Time never runs back: what has been handled stays so.
    ///
    /// # Errors
    /// A broken invariant.
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

    /// A packet enters the network at the beginning of its flow's route at `at`, or at the latest moment that has been handled if
    /// that is later. Nothing enters after the end: answers whether it has entered.
    ///
    /// # Errors
    /// A broken invariant.
    pub fn enter(&mut self, packet: &Packet, at: Instant) -> Result<bool, RunError> {
        let at = at.max(self.reached());
        if at > self.simulation.window.end {
            return Ok(false);
        }
        self.advance(at)?;
        self.simulation.enter(packet, at);
        Ok(true)
    }

    /// A packet reaches the end that it is for at `now`, or at the latest moment that has been handled if that is later.
    ///
    /// # Errors
    /// A broken invariant.
    pub fn arrive(&mut self, packet: &Packet, now: Instant) -> Result<(), RunError> {
        let now = now.max(self.reached());
        if now > self.simulation.window.end {
            return Ok(());
        }
        self.advance(now)?;
        self.simulation.arrive(packet, now);
        Ok(())
    }

    /// Data that the receiving application of a flow gets at `now` by another way than an end of fairwave.
    ///
    /// # Errors
    /// A broken invariant.
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

    /// From here on a flow takes the routes of another one. It must not have sent a packet yet. Flows that do not exist are left as
    /// they are.
    pub fn reroute(&mut self, flow: usize, like: usize) {
        let Simulation { sending, receiving, .. } = &mut self.simulation;
        let routes = (sending.get(like).map(|end| end.route), receiving.get(like).map(|end| end.route));
        if let ((Some(forward), Some(backward)), Some(from), Some(to)) =
            (routes, sending.get_mut(flow), receiving.get_mut(flow))
        {
            (from.route, to.route) = (forward, backward);
        }
    }

    /// Handles what is left, collects what there is to tell and checks the books. `plan` is the run's own, with the groups, ends and
    /// routes that flows have taken on since ([`reroute`](Self::reroute)).
    ///
    /// # Errors
    /// As [`run`](crate::run).
    pub fn finish<'t>(mut self, plan: &'t Plan) -> Result<(RunResult, P, B), RunError>
    where
        'p: 't,
    {
        self.advance(self.simulation.window.end)?;
        self.simulation.end_window();
        let mut simulation: Simulation<'t, P, B> = self.simulation;
        simulation.plan = Cow::Borrowed(plan);
        simulation.settle()
    }
}

impl<P: Probe, B: Border> Simulation<'_, P, B> {
    /// A packet comes from outside.
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
            self.probe.sent(packet, at);
        }
        let first = self.network.routes.at(place).target() as usize;
        self.forward(first, packet, place, at);
    }

    /// An end has a packet.
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

impl<P: Probe, B: Border, E: Extent> Simulation<'_, P, B, E> {
    /// A packet leaves for outside.
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
