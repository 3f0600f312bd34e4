//! The public interface of a run: its plan, its observer, its threads and its parts.

use std::borrow::Cow;
use std::fmt;

use fairwave_scenario::plan::Plan;

use crate::error::RunError;
use crate::partition::{Changes, Cut, PartitionRequest};
use crate::parts::Parts;
use crate::probe::{Observed, Probe};
use crate::result::RunResult;
use crate::simulation::Simulation;

/// A run of a plan. Set the options, then call [`execute`](Run::execute). No option changes the results.
///
/// ```
/// use fairwave_core::random::Seed;
/// use fairwave_scenario::Scenario;
/// use fairwave_sim::Run;
///
/// let text = r#"
///     name = "one call"
///     duration = "2 s"
///     link = [{ from = "a", to = "b", rate = "1 Mb/s", delay = "10 ms" }]
///     flow = [{ name = "call", from = "a", to = "b", transport = "udp", traffic = "voice" }]
/// "#;
/// let plan = Scenario::from_text(text, "call.toml")?.plan(Seed(1))?;
/// let result = Run::new(&plan).threads(2).execute()?;
/// assert_eq!(result.flows.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a run does nothing until it is executed"]
pub struct Run<'a> {
    plan: &'a Plan,
    probe: Option<&'a mut dyn Probe>,
    parts: Parts<'a>,
    request: PartitionRequest,
    prefetches: bool,
}

impl fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("plan", &self.plan.name).finish_non_exhaustive()
    }
}

impl<'a> Run<'a> {
    /// Creates a run on one thread, without an observer.
    pub fn new(plan: &'a Plan) -> Self {
        Run { plan, probe: None, parts: None, request: PartitionRequest::fast(1), prefetches: false }
    }

    /// Lets the run use up to `threads` threads. It uses one thread if the plan cannot be partitioned, or if a partition
    /// is not expected to pay.
    pub fn threads(mut self, threads: usize) -> Self {
        self.request.threads = threads;
        self
    }

    /// Reports every event of the run to `probe`. The run then uses one thread.
    pub fn probe(mut self, probe: &'a mut dyn Probe) -> Self {
        self.probe = Some(probe);
        self
    }

    /// Executes the run in about [`PARTS`](crate::PARTS) parts of equal simulated time. `part` receives the work of each part, does it,
    /// and returns whether the run continues.
    pub fn parts(mut self, part: &'a dyn Fn(&mut dyn FnMut()) -> bool) -> Self {
        self.parts = Some(part);
        self
    }

    /// Partitions the run into `islands` islands, or into a number that suits the threads, even if that does not pay. The
    /// run then stays on islands. For tests and measurements.
    pub fn islands(mut self, islands: Option<usize>) -> Self {
        (self.request.least, self.request.islands, self.request.changes) = (0.0, islands, Changes::Never);
        self
    }

    /// Like [`islands`](Self::islands), but switches between islands and the plain loop after every `windows` windows.
    pub fn alternate(self, windows: u64) -> Self {
        let mut run = self.islands(None);
        run.request.changes = Changes::Windows(windows);
        run
    }

    /// Prefetches for any number of flows, not only for many. For tests.
    pub fn prefetch(mut self) -> Self {
        self.prefetches = true;
        self
    }

    /// Returns the partition that the run would use; `None` if it would use the plain loop.
    ///
    /// # Errors
    /// Fails if the plan is too large to be indexed.
    pub fn cut(&self) -> Result<Option<Cut>, RunError> {
        if self.probe.is_some() {
            return Ok(None);
        }
        let simulation = Simulation::new(Cow::Borrowed(self.plan), (), ())?;
        Ok(simulation.partition(self.plan, self.request).map(|partition| partition.cut()))
    }

    /// Executes the run and returns its results.
    ///
    /// # Errors
    /// Fails if the plan is too large to be indexed, if an invariant is broken, or with [`RunError::Stopped`] if the
    /// callback of [`parts`](Self::parts) ends the run.
    ///
    /// # Panics
    /// Panics with the message of a thread that panicked.
    pub fn execute(self) -> Result<RunResult, RunError> {
        let Run { plan, probe, parts, request, prefetches } = self;
        if let Some(probe) = probe {
            let mut simulation = Simulation::new(Cow::Borrowed(plan), Observed::new(probe), ())?;
            simulation.prefetch_always(prefetches);
            return Ok(simulation.finish(parts)?.0);
        }
        let mut simulation = Simulation::new(Cow::Borrowed(plan), (), ())?;
        simulation.prefetch_always(prefetches);
        simulation.finish_on(plan, request, parts)
    }
}
