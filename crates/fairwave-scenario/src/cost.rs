//! What a scenario would cost, and when that is too much to be attempted.
//!
//! The limits are generous: they refuse what cannot have been meant (10⁹ flows), not what takes long. The estimates are
//! upper bounds of the right order, made before anything is allocated.

use fairwave_core::units::Span;

use crate::error::Problem;
use crate::model::Scenario;
use crate::path::Path;

/// Flows in one run.
pub const MOST_FLOWS: u64 = 2_000_000;
/// Link directions in one run.
pub const MOST_LINKS: u64 = 8_000_000;
/// Packet-hops of one run: about a day of computing.
pub const MOST_PACKET_HOPS: f64 = 1e12;
/// Bytes of recorded series.
pub const MOST_RECORDED: f64 = 8e9;
/// Packets in one buffer.
pub const MOST_PACKETS_WAITING: u64 = 100_000_000;

/// Memory of a flow: both endpoints, their route, their measures. A round figure of the right order.
const BYTES_PER_FLOW: f64 = 4000.0;
/// Memory of a link direction with its queue.
const BYTES_PER_LINK: f64 = 1500.0;
/// Packet-hops that a present-day core computes in a second, roughly.
const HOPS_PER_SECOND: f64 = 1e7;

/// Refuses numbers of flows and links that no memory holds; true when there is nothing to refuse.
pub(crate) fn check_counts(scenario: &Scenario, problems: &mut Vec<Problem>) -> bool {
    let before = problems.len();
    count_flows(scenario, problems);
    count_links(scenario, problems);
    problems.len() == before
}

fn count_flows(scenario: &Scenario, problems: &mut Vec<Problem>) {
    let mut all = 0u64;
    for (index, flow) in scenario.flows.iter().enumerate() {
        let count = flow.count.unwrap_or(1);
        all = all.saturating_add(count);
        if count > MOST_FLOWS {
            problems.push(
                Problem::new(
                    Path::default().key("flow").index(index).key("count"),
                    format!(
                        "{count} flows would need about {} of memory",
                        bytes(count as f64 * (BYTES_PER_FLOW + 2.0 * BYTES_PER_LINK))
                    ),
                )
                .allowed(format!("up to {MOST_FLOWS} flows in all"))
                .help("simulate fewer flows, each with its share of the rate"),
            );
            return;
        }
    }
    if all > MOST_FLOWS {
        problems.push(
            Problem::new(
                Path::default().key("flow"),
                format!("{all} flows in all would need about {} of memory", bytes(all as f64 * BYTES_PER_FLOW)),
            )
            .allowed(format!("up to {MOST_FLOWS} flows in all")),
        );
    }
}

fn count_links(scenario: &Scenario, problems: &mut Vec<Problem>) {
    let mut all = 0u64;
    for (index, link) in scenario.links.iter().enumerate() {
        all = all.saturating_add(link.count.saturating_mul(if link.duplex { 2 } else { 1 }));
        if all > MOST_LINKS {
            problems.push(
                Problem::new(
                    Path::default().key("link").index(index).key("count"),
                    format!("{all} link directions would need about {} of memory", bytes(all as f64 * BYTES_PER_LINK)),
                )
                .allowed(format!("up to {MOST_LINKS} link directions in all")),
            );
            return;
        }
    }
}

/// Refuses series that no memory holds: eight bytes per bin and flow, or per sample.
pub(crate) fn check_record(duration: Span, flows: u64, scenario: &Scenario, problems: &mut Vec<Problem>) {
    for (key, width, what) in
        [("bin", scenario.record.bin, "bins"), ("window-interval", scenario.record.window_interval, "samples")]
    {
        let Some(width) = width.filter(|width| *width > Span::ZERO) else { continue };
        let per_flow = duration.seconds() / width.seconds();
        let memory = per_flow * flows as f64 * 8.0;
        if memory > MOST_RECORDED {
            problems.push(
                Problem::new(
                    Path::default().key("record").key(key),
                    format!("{per_flow:.0} {what} for each of {flows} flows would need about {}", bytes(memory)),
                )
                .allowed(format!("series of up to {} in all", bytes(MOST_RECORDED)))
                .help(format!("write for example `{key} = \"{}\"`", duration / 1000)),
            );
        }
    }
}

/// Refuses a run that would not end. `hops` is the estimate of [`packet_hops`].
pub(crate) fn check_packet_hops(hops: f64, problems: &mut Vec<Problem>) {
    if hops > MOST_PACKET_HOPS {
        problems.push(
            Problem::new(
                Path::default().key("duration"),
                format!(
                    "this run would take about {hops:.1e} packet-hops, that is {} of computing",
                    time(hops / HOPS_PER_SECOND)
                ),
            )
            .allowed(format!("up to {MOST_PACKET_HOPS:.0e} packet-hops (duration × rates / packet size × hops)"))
            .help("shorten the duration, or lower the rates"),
        );
    }
}

/// An upper estimate of a run's packet-hops. Each flow sends, in packets of 1000 bytes, its equal share of the
/// narrowest link on its way, for as long as the run lasts, and each packet is answered. `shares` are, per flow, that
/// share in bits per second and the number of hops there and back.
pub(crate) fn packet_hops(duration: Span, shares: impl Iterator<Item = (f64, usize)>) -> f64 {
    shares.map(|(rate, hops)| rate * duration.seconds() / 8000.0 * hops as f64).sum()
}

fn bytes(amount: f64) -> String {
    for (worth, unit) in [(1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB")] {
        if amount >= worth {
            return format!("{:.1} {unit}", amount / worth);
        }
    }
    format!("{amount:.0} bytes")
}

fn time(seconds: f64) -> String {
    for (worth, unit) in [(365.25 * 86_400.0, "years"), (86_400.0, "days"), (3600.0, "hours")] {
        if seconds >= worth {
            return format!("{:.1} {unit}", seconds / worth);
        }
    }
    format!("{seconds:.0} seconds")
}
