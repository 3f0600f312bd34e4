//! Checks class maps, policers and shapers against the flows that cross their links: classes that no flow matches, and buckets
//! smaller than a packet.

use std::collections::{BTreeMap, BTreeSet};

use fairwave_core::dscp::Dscp;
use fairwave_core::link::Direction;
use fairwave_core::packet::Class;
use fairwave_core::queue::{ClassConfig, ClassMap, PoliceConfig, QueueConfig, largest_packet};

use crate::error::Problem;
use crate::law;
use crate::path::Path;
use crate::plan::{FlowPlan, LinkPlan};
use crate::ranges::join_dotted;

/// Code points and traffic classes of the packets that arrive at a link, each with the size of the largest packet, bytes on the
/// wire.
type ArrivingPackets = BTreeMap<(Dscp, u8), u64>;

/// True if a link reads or changes code points.
fn uses_code_points(direction: &Direction) -> bool {
    direction.police.is_some() || direction.shape.is_some() || direction.queue.discipline.class_map().is_some()
}

/// The code points that a packet can have after a link.
fn add_leaving_dscps(
    police: Option<&PoliceConfig>,
    queue: &QueueConfig,
    dscp: Dscp,
    class: Class,
    to: &mut BTreeSet<Dscp>,
) {
    let own = police.into_iter().flat_map(PoliceConfig::remarks);
    for dscp in own.chain([dscp]) {
        to.insert(dscp);
        let Some(map) = queue.discipline.class_map() else { continue };
        if let Some(within) = map.classes.get(ClassMap::class_of(&map.classes, dscp, class)) {
            let queue = within.queue.queue_config(queue.capacity);
            if within.police.is_some() || queue.discipline.class_map().is_some() {
                add_leaving_dscps(within.police.as_ref(), &queue, dscp, class, to);
            }
        }
    }
}

/// The packets that arrive at each link that reads or changes code points.
fn arriving_packets(flows: &[FlowPlan], links: &[LinkPlan]) -> BTreeMap<usize, ArrivingPackets> {
    let mut arriving: BTreeMap<usize, ArrivingPackets> = BTreeMap::new();
    if !links.iter().any(|link| uses_code_points(&link.direction)) {
        return arriving;
    }
    // Flows of a group are almost identical. Flows with the same route are evaluated once.
    let mut seen = BTreeSet::new();
    for flow in flows {
        let data = law::largest_packet(&flow.traffic, &flow.transport);
        for (route, size) in [(&flow.forward, data), (&flow.backward, 0)] {
            let looking: Vec<usize> = route
                .iter()
                .copied()
                .filter(|link| links.get(*link).is_some_and(|link| uses_code_points(&link.direction)))
                .collect();
            if looking.is_empty() || !seen.insert((flow.group, size, looking.clone())) {
                continue;
            }
            let mut dscps = BTreeSet::from([flow.dscp]);
            for index in looking {
                let Some(LinkPlan { direction, .. }) = links.get(index) else { continue };
                let mut leaving = BTreeSet::new();
                for dscp in &dscps {
                    let largest = arriving.entry(index).or_default().entry((*dscp, flow.class as u8)).or_default();
                    *largest = (*largest).max(size);
                    add_leaving_dscps(direction.police.as_ref(), &direction.queue, *dscp, flow.class, &mut leaving);
                }
                dscps = leaving;
            }
        }
    }
    arriving
}

fn class_of(number: u8) -> Class {
    Class::ALL.into_iter().find(|class| *class as u8 == number).unwrap_or_default()
}

/// Rejects policers and shapers with a bucket smaller than an arriving packet, because such a packet could never pass.
pub(crate) fn check(
    flows: &[FlowPlan],
    links: &[LinkPlan],
    place: &dyn Fn(usize) -> Path,
    problems: &mut Vec<Problem>,
) {
    for (index, packets) in arriving_packets(flows, links) {
        let Some(link) = links.get(index) else { continue };
        let Direction { rate, queue, police, shape, .. } = &*link.direction;
        let (police, shape, rate) = (police.as_ref(), shape.as_ref(), rate.nominal());
        for ((dscp, class), size) in packets {
            let least = largest_packet(queue, police, shape, rate, dscp, class_of(class));
            let Some((bucket, key)) = least.filter(|(bucket, _)| *bucket < size) else { continue };
            let what = format!(
                "a bucket of {bucket} bytes cannot hold a packet of {size} bytes, as on `{}`: no packet would pass",
                link.name
            );
            let problem = Problem::new(join_dotted(&place(index), &key), what)
                .allowed(format!("{size} bytes or more"))
                .help(format!("write for example `burst = \"{} B\"`", size * 10));
            if !problems.contains(&problem) {
                problems.push(problem);
            }
        }
    }
}

/// Warns of links with classes that no flow matches, or with only one class in use.
pub(crate) fn unmatched<'p>(flows: &[FlowPlan], links: &'p [LinkPlan]) -> Vec<(&'p str, String)> {
    let mut warnings = Vec::new();
    let known = arriving_packets(flows, links);
    for (index, link) in links.iter().enumerate() {
        let Direction { queue, police, .. } = &*link.direction;
        if queue.discipline.class_map().is_none() {
            continue;
        }
        let mut coming: BTreeSet<(Dscp, u8)> = BTreeSet::new();
        for (dscp, class) in known.get(&index).into_iter().flat_map(BTreeMap::keys) {
            coming.insert((*dscp, *class));
            coming.extend(police.iter().flat_map(PoliceConfig::remarks).map(|dscp| (dscp, *class)));
        }
        let mut empty = Vec::new();
        note_unmatched(queue, &coming, "", &mut empty);
        if !empty.is_empty() && !coming.is_empty() {
            let dscps: BTreeSet<String> = coming.iter().map(|(dscp, _)| dscp.to_string()).collect();
            let (names, they) = match &empty[..] {
                [one] => (one.clone(), "is"),
                more => (more.join(", "), "are"),
            };
            warnings.push((
                &*link.name,
                format!(
                    "no flow matches {names} of its class map, which {they} always empty. The packets that come bear the DSCP {}: give a \
                     [[flow]] another `dscp`, or change the `match`",
                    dscps.into_iter().collect::<Vec<_>>().join(", ")
                ),
            ));
        }
    }
    warnings
}

fn note_unmatched(queue: &QueueConfig, coming: &BTreeSet<(Dscp, u8)>, before: &str, empty: &mut Vec<String>) {
    let Some(ClassMap { classes, .. }) = queue.discipline.class_map() else { return };
    for (place, class) in classes.iter().enumerate() {
        let of_class = |(dscp, number): &&(Dscp, u8)| ClassMap::class_of(&classes, *dscp, class_of(*number)) == place;
        let mut own: BTreeSet<(Dscp, u8)> = coming.iter().filter(of_class).copied().collect();
        let ClassConfig { name, police, .. } = class;
        if own.is_empty() {
            // The default class always exists.
            if class.matches != Default::default() {
                empty.push(format!("`{before}{name}`"));
            }
            continue;
        }
        let remarked = police.iter().flat_map(PoliceConfig::remarks);
        let more: Vec<_> = remarked.flat_map(|dscp| own.iter().map(move |(_, class)| (dscp, *class))).collect();
        own.extend(more);
        note_unmatched(&class.queue.queue_config(queue.capacity), &own, &format!("{before}{name}/"), empty);
    }
}
