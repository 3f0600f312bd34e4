//! Why a run fails.

use fairwave_core::config::ConfigError;
use fairwave_core::units::Instant;

/// Why a run could not be made, or must not be trusted.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum RunError {
    /// More links or flows than an event can name.
    #[error(
        "{links} link directions and {flows} flows are too many: at most {allowed} of each; use fewer flows, or several runs"
    )]
    TooLarge {
        /// Link directions of the plan.
        links: usize,
        /// Flows of the plan.
        flows: usize,
        /// The most that is allowed.
        allowed: usize,
    },
    /// A law refuses its configuration.
    #[error("{place}: {error}")]
    Config {
        /// The link or flow.
        place: String,
        /// What is wrong.
        error: ConfigError,
    },
    /// A route without links, or with too many.
    #[error("flow `{flow}` has a route of {hops} links in one of its directions: 1 to 32767 are allowed")]
    Route {
        /// The flow.
        flow: String,
        /// Links of its longer route.
        hops: usize,
    },
    /// A transport that the simulator does not have.
    #[error(
        "flow `{flow}` goes over {transport}, which is not simulated: run it in real time by `fairwave live`, or write {instead}"
    )]
    OnlyLive {
        /// The flow.
        flow: String,
        /// Its transport.
        transport: String,
        /// What to write for it in a scenario that is simulated.
        instead: &'static str,
    },
    /// The code behind an endpoint has panicked, or does not let the time go on.
    #[error(
        "flow `{flow}`: {stack} failed at {at}: {reason}; the run ends there, other runs are not touched. Report it to the stack's authors \
         with the scenario and seed, or take another transport"
    )]
    Stack {
        /// The flow.
        flow: String,
        /// Whose code it is.
        stack: &'static str,
        /// When it happened.
        at: Instant,
        /// What happened.
        reason: String,
    },
    /// The caller has cancelled the run.
    #[error("the run was stopped before its end")]
    Stopped,
    /// An invariant does not hold: a defect of fairwave or of a user's own endpoint.
    #[error(
        "{law} is violated at {place}: {found}; the results of this run are not to be trusted, please report the scenario and seed"
    )]
    Invariant {
        /// The law.
        law: &'static str,
        /// Where.
        place: String,
        /// What was found.
        found: String,
    },
}
