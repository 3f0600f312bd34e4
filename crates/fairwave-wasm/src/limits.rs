//! Limits of runs in a page: estimated time and memory, and the texts of rejections and questions.

use fairwave_core::random::Seed;
use fairwave_scenario::Scenario;
use fairwave_scenario::cost::{bytes, computing};
use serde_json::{Value, json};

use crate::requests::Refusal;

/// Maximum number of packet-hops and other simulator events of a run in a page: about a quarter of an hour of computing.
const MOST_HAPPENINGS: f64 = 1e10;
/// Estimated duration from which the page asks before a run, seconds.
const ASKS_FROM_S: f64 = 10.0;
/// Minimum number of packet-hops per second of an engine in a page (docs/lab.md).
const HOPS_PER_SECOND: f64 = 1e7;
/// Planning, results and digest per flow, seconds, measured in a page with 10⁴ and 5 · 10⁴ calls.
const SECONDS_PER_FLOW: f64 = 4e-4;
/// Memory of a flow and of a link direction, bytes: the estimates of `fairwave check` times 1.5, as measured in a page.
const BYTES_PER_FLOW: f64 = 6000.0;
const BYTES_PER_LINK: f64 = 2250.0;
/// Measured memory of a run in a page, relative to the estimate of `fairwave check`.
const MEMORY_FACTOR: f64 = 1.5;
/// Maximum memory of a run in a page, bytes. `lab/build-engine` limits the engine to 1 GiB.
const MOST_MEMORY: f64 = 9e8;

/// The alternative to a run that is too large.
const INSTEAD: &str = "Write a smaller `count` or a shorter `duration`, or run it outside: save the scenario and write \
                       `fairwave run scenario.toml`";

/// The estimated cost of a run in a page.
pub struct PageCost {
    /// Packet-hops and other simulator events.
    pub happenings: f64,
    /// Seconds of computing. Upper estimate.
    pub seconds: f64,
    /// Bytes.
    pub memory: f64,
    flows: u64,
}

impl PageCost {
    /// Estimates a run. Rejects a scenario with more flows and links than the engine can plan.
    pub fn estimate(scenario: &Scenario, seed: Seed) -> Result<Self, Refusal> {
        let (flows, links) = scenario.sizes()?;
        let least = flows as f64 * BYTES_PER_FLOW + links as f64 * BYTES_PER_LINK;
        if least > MOST_MEMORY {
            return Err(too_large(format!(
                "this run would need about {} of memory for {flows} flows and their links: too much for a page, which \
                 has {}. {INSTEAD}",
                bytes(least),
                bytes(MOST_MEMORY)
            )));
        }
        let cost = scenario.cost(seed)?;
        Ok(PageCost {
            happenings: cost.packet_hops,
            seconds: cost.packet_hops / HOPS_PER_SECOND + flows as f64 * SECONDS_PER_FLOW,
            memory: cost.memory * MEMORY_FACTOR,
            flows,
        })
    }

    /// The reason why a page cannot run this. `None` if it can.
    pub fn too_large(&self) -> Option<String> {
        (self.memory > MOST_MEMORY || self.happenings > MOST_HAPPENINGS).then(|| {
            format!(
                "this run would take up to {:.1e} packet-hops, that is about {} of computing, and about {} of memory \
                 for {} flows: too much for a page, which has {}. {INSTEAD}",
                self.happenings,
                computing(self.happenings),
                bytes(self.memory),
                self.flows,
                bytes(MOST_MEMORY)
            )
        })
    }

    /// The question before a long run. `None` for a short run.
    pub fn question(&self) -> Option<String> {
        (self.seconds > ASKS_FROM_S).then(|| {
            format!(
                "This run may take {} and about {} of memory ({:.1e} packet-hops, {} flows). You can stop it at any time.",
                computing(self.seconds * HOPS_PER_SECOND),
                bytes(self.memory.max(1e6)),
                self.happenings,
                self.flows
            )
        })
    }

    /// Rejects a run that is too large, and a long run unless the user has agreed.
    pub fn check(&self, is_allowed: bool) -> Result<(), Refusal> {
        if let Some(why) = self.too_large() {
            return Err(too_large(why));
        }
        match self.question() {
            Some(question) if !is_allowed => {
                Err(Refusal(json!({ "ok": false, "question": question, "message": question })))
            }
            _ => Ok(()),
        }
    }

    /// The fields of a reply.
    pub fn to_json(&self) -> Value {
        json!({ "seconds": self.seconds, "memory_bytes": self.memory, "happenings": self.happenings, "flows": self.flows })
    }
}

fn too_large(why: String) -> Refusal {
    Refusal(json!({ "ok": false, "too_large": true, "message": why }))
}
