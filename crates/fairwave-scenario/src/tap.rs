//! Where packets are looked at: `link:r1>r2`, `drops:r1>r2`, `host:NAME`, `flow:NAME[0]`, and the file that is to hold what is seen.

use crate::plan::Plan;
use crate::suggest::nearest;

/// Where packets are looked at in a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Tap {
    /// What leaves a link's transmitter, as it leaves; by the plan's index.
    Link(usize),
    /// What a link's queue drops, or a failure of the link takes, before it has been transmitted.
    Drops(usize),
    /// What a node's flows send and receive.
    Host(usize),
    /// What becomes of a flow's packets.
    Flow(usize),
}

/// What a place may be.
const KINDS: [&str; 4] = ["link", "drops", "host", "flow"];

/// A tap as it is written, with its file: `link:r1>r2=up.pcapng`; without one, the file is empty.
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
    // A group of one flow may be named without a number.
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
