//! Expansion of presets: the same scenario with explicit links and no `topology`.

use crate::error::Problem;
use crate::model::{Flow, Link, LinkSpec, Scenario};
use crate::path::Path;
use crate::suggest::{list, nearest};
use crate::topology::Topology;

impl Scenario {
    /// Expands the preset. Adds mistakes to `problems`.
    pub(crate) fn expanded(&self, problems: &mut Vec<Problem>) -> Scenario {
        let mut expanded = self.counted(problems);
        let Some(topology) = &self.topology else { return expanded };
        expanded.topology = None;
        expanded.links = Vec::new();
        for (from, to, count, spec) in topology.backbone() {
            expanded.links.push(explicit(&from, &to, count, &spec));
        }
        for (index, flow) in expanded.flows.clone().iter().enumerate() {
            let links = &mut expanded.links;
            if let Some(flow) = expand_flow(topology, flow, &Path::default().key("flow").index(index), links, problems)
            {
                expanded.flows[index] = flow;
            }
        }
        // Links of the scenario come last, so that messages can compute their index in the text.
        expanded.links.extend(self.links.iter().cloned());
        expanded
    }
}

/// Creates the hosts of a group. `None` if the group names its nodes, or if the path does not exist.
fn expand_flow(
    topology: &Topology,
    flow: &Flow,
    at: &Path,
    links: &mut Vec<Link>,
    problems: &mut Vec<Problem>,
) -> Option<Flow> {
    if flow.from.is_some() || flow.to.is_some() {
        return None;
    }
    let paths = topology.preset.paths();
    let name = flow.path.as_deref().or(paths.first().copied())?;
    let Some(ends) = topology.path(name) else {
        let problem = Problem::new(at.key("path"), format!("`{}` has no path `{name}`", topology.preset.name()))
            .allowed(list(paths.iter().copied()));
        problems.push(match nearest(name, paths.iter().copied()) {
            Some(near) => problem.help(format!("write `path = \"{near}\"`")),
            None => problem,
        });
        return None;
    };
    let count = flow.count.unwrap_or(ends.default_count);
    let (source, sink) = if count == 1 && flow.count.is_none() {
        (format!("{}-s0", flow.name), format!("{}-d0", flow.name))
    } else {
        (format!("{}-s{{i}}", flow.name), format!("{}-d{{i}}", flow.name))
    };
    let refine =
        |own: &Option<LinkSpec>, base: &LinkSpec| own.as_ref().map_or_else(|| base.clone(), |own| own.or(base));
    if count > 0 {
        links.push(explicit(&source, &ends.source, count, &refine(&flow.source_access, &ends.source_access)));
        // The sink's link is written towards the sink, in the direction of the data. `reverse` is the direction of the
        // acknowledgements.
        links.push(explicit(&ends.sink, &sink, count, &refine(&flow.sink_access, &ends.sink_access)));
    }
    Some(Flow {
        count: Some(count),
        from: Some(source),
        to: Some(sink),
        path: None,
        source_access: None,
        sink_access: None,
        ..flow.clone()
    })
}

fn explicit(from: &str, to: &str, count: u64, spec: &LinkSpec) -> Link {
    Link { from: from.to_owned(), to: to.to_owned(), count, spec: spec.clone(), duplex: true }
}
