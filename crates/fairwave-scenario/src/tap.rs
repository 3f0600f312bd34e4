//! Capture points for packets: `link:r1>r2`, `drops:r1>r2`, `host:NAME`, `flow:NAME[0]`, with an optional output file.

use crate::plan::Plan;
use crate::suggest::nearest;

/// A capture point in a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Tap {
    /// Packets that leave a link's transmitter. Index of the link in the plan.
    Link(usize),
    /// Packets that a link's queue drops, or that a link failure loses before their transmission.
    Drops(usize),
    /// Packets that a node's flows send and receive.
    Host(usize),
    /// All events of a flow's packets.
    Flow(usize),
}

/// Kinds of capture points.
const KINDS: [&str; 4] = ["link", "drops", "host", "flow"];

/// Reads a capture point with its file: `link:r1>r2=up.pcapng`. Without a file, the file name is empty.
pub fn parse(text: &str, plan: &Plan) -> Result<(Vec<Tap>, String), String> {
    let (tap, file) = text.split_once('=').unwrap_or((text, ""));
    let (kind, name) = tap.trim().split_once(':').unwrap_or(("", tap.trim()));
    let links = || plan.links.iter().map(|link| &*link.name);
    let (known, what): (Vec<&str>, _) = match kind {
        "link" | "drops" => (links().collect(), "link direction"),
        "host" => (plan.nodes.iter().map(String::as_str).collect(), "node"),
        "flow" => (plan.flows.iter().map(|flow| flow.name.as_str()).collect(), "flow"),
        _ => {
            let meant = if kind.is_empty() && name.contains('>') { Some("link") } else { nearest(kind, KINDS) };
            let help = meant.map_or_else(String::new, |kind| format!("; did you mean `{kind}:{name}`?"));
            return Err(format!(
                "`{text}` does not say where; write `link:FROM>TO`, `drops:FROM>TO`, `host:NODE` or `flow:NAME[0]`, and `=FILE`{help}"
            ));
        }
    };
    let tap = |index: usize| match kind {
        "link" => Tap::Link(index),
        "drops" => Tap::Drops(index),
        "host" => Tap::Host(index),
        _ => Tap::Flow(index),
    };
    if name == "*" {
        return Ok(((0..known.len()).map(tap).collect(), file.trim().to_owned()));
    }
    let found = known.iter().position(|known| *known == name);
    // The index may be omitted for a group of one flow.
    let found = found.or_else(|| known.iter().position(|known| kind == "flow" && *known == format!("{name}[0]")));
    match found {
        Some(index) => Ok((vec![tap(index)], file.trim().to_owned())),
        None => {
            let near = nearest(name, known.iter().copied().take(10_000));
            let help = near.map_or_else(
                || format!("there are for example {}", known.iter().take(4).copied().collect::<Vec<_>>().join(", ")),
                |near| format!("did you mean `{near}`?"),
            );
            Err(format!("there is no {what} `{name}`; {help}"))
        }
    }
}
