//! Exports a plan as JSON, for programs that run the same experiment elsewhere. It has exact integers (nanoseconds, bits per
//! second), indices instead of names, and configurations in the form of the scenario language. `rate_bps` is a rate law's nominal
//! rate.

use fairwave_core::link::Direction;
use fairwave_core::units::Instant;
use serde_json::{Value, json};

use crate::plan::{FlowPlan, LinkPlan, Plan};

impl Plan {
    /// Returns the plan as JSON. Names of times end in `_ns`, names of rates in `_bps`. A `stop_ns` of null means the end of the
    /// run.
    ///
    /// # Errors
    /// A configuration that JSON cannot represent. The built-in laws have none.
    pub fn to_json(&self) -> Result<Value, serde_json::Error> {
        Ok(json!({
            "version": self.version,
            "name": self.name,
            "seed": self.seed.0,
            "duration_ns": self.duration.nanos(),
            "warmup_ns": self.warmup.nanos(),
            "hosts": {
                "clock_skew_ppb": self.hosts.clock_skew.ppb(),
                "send_jitter_ns": self.hosts.send_jitter.nanos(),
            },
            "nodes": self.nodes,
            "groups": self.groups,
            "links": self.links.iter().map(link).collect::<Result<Vec<_>, _>>()?,
            "flows": self.flows.iter().map(flow).collect::<Result<Vec<_>, _>>()?,
            "record": {
                "goodput": self.record.goodput,
                "bin_ns": self.record.bin.nanos(),
                "window_interval_ns": self.record.window_interval.nanos(),
                "allotted": self.record.allotted,
                "queues": self.record.queues,
                "windows": self.record.windows,
                "round_trips": self.record.round_trips,
                "series": self.record.series,
                "units": self.record.units,
            },
        }))
    }
}

fn link(link: &LinkPlan) -> Result<Value, serde_json::Error> {
    let Direction { rate, delay, queue, police, shape, loss, changes } = &*link.direction;
    Ok(json!({
        "name": link.name,
        "from": link.from,
        "to": link.to,
        "rate": serde_json::to_value(rate)?,
        "medium": link.medium,
        "rate_bps": rate.nominal().bits_per_second(),
        "delay_ns": delay.nanos(),
        "delays": changes.delays.iter().map(|step| json!({ "at_ns": step.at.nanos(), "is_ns": step.is.nanos() })).collect::<Vec<_>>(),
        "overtaking": changes.overtaking,
        "outages": changes.outages.iter().map(|outage| json!({
            "from_ns": outage.from.nanos(), "to_ns": outage.to.map(|to| to.nanos()),
        })).collect::<Vec<_>>(),
        "jitter": serde_json::to_value(&changes.jitter)?,
        "reorder": changes.reorder.map(|reorder| json!({ "share": reorder.share, "by_ns": reorder.by.nanos() })),
        "duplicate": changes.duplicate.map(|duplicate| json!({ "share": duplicate.share })),
        "queue": serde_json::to_value(queue)?,
        "police": serde_json::to_value(police)?,
        "shape": serde_json::to_value(shape)?,
        "loss": serde_json::to_value(loss)?,
    }))
}

fn flow(flow: &FlowPlan) -> Result<Value, serde_json::Error> {
    Ok(json!({
        "name": flow.name,
        "group": flow.group,
        "from": flow.from,
        "to": flow.to,
        "forward": flow.forward,
        "backward": flow.backward,
        "reroutes": flow.reroutes.iter().map(|reroute| json!({
            "at_ns": reroute.at.nanos(), "forward": reroute.forward, "backward": reroute.backward,
            "network": reroute.network,
        })).collect::<Vec<_>>(),
        "traffic": serde_json::to_value(&*flow.traffic)?,
        "transport": serde_json::to_value(&*flow.transport)?,
        "dscp": flow.dscp.get(),
        "start_ns": flow.start.nanos(),
        "stop_ns": (flow.stop != Instant::NEVER).then(|| flow.stop.nanos()),
        "active_ns": flow.active.as_ref().map(|active| {
            active.iter().map(|(from, until)| [from.nanos(), until.nanos()]).collect::<Vec<_>>()
        }),
        "at_most": flow.at_most,
        "partner": flow.partner.map(|partner| partner.flow),
    }))
}

#[cfg(test)]
mod tests {
    use fairwave_core::random::Seed;

    use crate::Scenario;

    #[test]
    fn a_plan_as_json_has_exact_times_and_ns2s_details() {
        let text = r#"
            name = "two"
            duration = "1.5 s"
            preset = "ns2"
            [topology]
            preset = "dumbbell"
            bottleneck = { rate = "10 Mb/s", delay = "30 ms" }
            [[flow]]
            name = "calls"
            count = 2
            transport = "udp"
            traffic = { kind = "cbr", rate = "64 kb/s" }
            start = { every = "10 ms" }
            [[flow]]
            name = "streams"
            transport = "tfrc"
            traffic = "bulk"
        "#;
        let scenario = Scenario::from_toml(text, "two.toml").expect("a scenario");
        let plan = scenario.plan(Seed(3)).expect("a plan").to_json().expect("JSON");
        assert_eq!(plan["duration_ns"], 1_500_000_000);
        assert_eq!(plan["flows"][1]["start_ns"], 10_000_000);
        assert!(plan["flows"][1]["stop_ns"].is_null());
        assert_eq!(plan["flows"][0]["transport"]["header"], "0 B");
        assert_eq!(plan["flows"][2]["transport"]["preset"], "ns2");
        assert_eq!(plan["links"][0]["name"], "r1>r2");
        assert_eq!(plan["links"][0]["rate_bps"], 10_000_000);
    }
}
