//! Errors of a run.

use fairwave_core::config::ConfigError;
use fairwave_core::units::Instant;

/// Reason why a run cannot start or its results cannot be trusted.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The plan has more links or flows than an event can address.
    #[error(
        "{links} link directions and {flows} flows are too many: at most {allowed} of each; use fewer flows, or several runs"
    )]
    TooLarge {
        /// Link directions of the plan.
        links: usize,
        /// Flows of the plan.
        flows: usize,
        /// Largest allowed number.
        allowed: usize,
    },
    /// A law rejects its configuration.
    #[error("{place}: {error}")]
    Config {
        /// Link or flow.
        place: String,
        /// Rejected value, with the allowed values.
        error: ConfigError,
    },
    /// A route has no links, or too many.
    #[error("flow `{flow}` has a route of {hops} links in one of its directions: 1 to 32767 are allowed")]
    Route {
        /// The flow.
        flow: String,
        /// Links of the flow's longer route.
        hops: usize,
    },
    /// The simulator does not support the transport.
    #[error(
        "flow `{flow}` goes over {transport}, which is not simulated: run it in real time by `fairwave live`, or write {instead}"
    )]
    OnlyLive {
        /// The flow.
        flow: String,
        /// Its transport.
        transport: String,
        /// Simulated transport to write instead.
        instead: &'static str,
    },
    /// The code of an endpoint has panicked, or does not let time advance.
    #[error(
        "flow `{flow}`: {stack} failed at {at}: {reason}; the run ends there, other runs are not touched. Report it to the stack's authors \
         with the scenario and seed, or take another transport"
    )]
    Stack {
        /// The flow.
        flow: String,
        /// Name of the stack.
        stack: &'static str,
        /// Time of the failure.
        at: Instant,
        /// Reported cause.
        reason: String,
    },
    /// The caller has cancelled the run.
    #[error("the run was stopped before its end")]
    Stopped,
    /// An invariant does not hold: a defect of fairwave or of a custom endpoint.
    #[error(
        "{law} is violated at {place}: {found}; the results of this run are not to be trusted, please report the scenario and seed"
    )]
    Invariant {
        /// Violated law.
        law: &'static str,
        /// Link, node or flow.
        place: String,
        /// Numbers that contradict the law.
        found: String,
    },
}
