//! Warnings about a plan: correct, but probably not intended.

use fairwave_core::link::RecordedLength;
use fairwave_core::transport::tcp::control::Marks;
use fairwave_core::transport::{Properties, TransportConfig};
use fairwave_core::units::Span;

use crate::plan::{LinkPlan, Plan};
use crate::service;

impl Plan {
    /// Warnings about unexpected behaviour of links and groups of flows: name and text.
    pub fn cautions(&self) -> Vec<(&str, String)> {
        let mut unyielding = vec![false; self.links.len()];
        for flow in self.flows.iter().filter(|flow| matches!(&*flow.transport, TransportConfig::Udp(_))) {
            for &link in &flow.forward {
                if let Some(link) = unyielding.get_mut(link) {
                    *link = true;
                }
            }
        }
        let crossed = self.links.iter().zip(unyielding).filter(|(_, unyielding)| *unyielding);
        let warnings = crossed.filter_map(|(link, _)| Some((&*link.name, link.direction.queue.discipline.caution()?)));
        warnings
            .chain(self.warn_leftovers())
            .chain(self.warn_useless_marking())
            .chain(self.warn_classic_congestion())
            .chain(service::unmatched(&self.flows, &self.links))
            .collect()
    }

    /// Warns of rates recorded for longer than the run. Links whose recordings have the same length share one warning.
    fn warn_leftovers(&self) -> Vec<(&str, String)> {
        let mut warnings: Vec<(&str, Span, &str, usize)> = Vec::new();
        for link in &self.links {
            let Some(RecordedLength { length, .. }) = link.direction.rate.recorded() else { continue };
            match warnings.iter_mut().find(|(_, known, ..)| *known == length) {
                Some((.., others)) => *others += 1,
                None if length > self.duration => warnings.push((&link.name, length, link.direction.rate.name(), 0)),
                None => {}
            }
        }
        let words = |(name, length, law, others): (_, Span, &str, usize)| {
            let also = if others > 0 { format!(" (and of {others} other link directions)") } else { String::new() };
            (
                name,
                format!("the {law} of its rate{also} lasts {length}, the run {}: the rest is not used", self.duration),
            )
        };
        warnings.into_iter().map(words).collect()
    }

    /// Warns of groups that reduce their rate only a little per mark, but whose packets an L4S queue classifies as classic TCP.
    fn warn_classic_congestion(&self) -> Vec<(&str, String)> {
        let mut warnings: Vec<(usize, &LinkPlan)> = Vec::new();
        for flow in &self.flows {
            let is_taken = flow.transport.tcp().is_some_and(|tcp| tcp.marks == Marks::Accurate && !tcp.one_answer);
            let separates = |link: &&LinkPlan| link.direction.queue.discipline.nature().l4s;
            let there = flow.forward.iter().filter_map(|link| self.links.get(*link)).find(separates);
            if let Some(link) = there.filter(|_| is_taken && warnings.iter().all(|(group, _)| *group != flow.group)) {
                warnings.push((flow.group, link));
            }
        }
        let words = |(group, link): (usize, &LinkPlan)| {
            let name = self.groups.get(group)?;
            Some((
                name.as_str(),
                format!(
                    "its packets bear ECT(0), so the {} of {} takes them for a classic TCP's and marks them rarely; but the flows yield to \
                     a mark by little, so they crowd out classic TCP: write ecn = \"scalable\" (ECT(1), the L queue), or give the link \
                     DCTCP's own queue, {{ discipline = \"red\", min-threshold = 20, max-threshold = 20, weight = 1.0, ecn = true, \
                     harddrop = false }}",
                    link.direction.queue.discipline.name(),
                    link.name
                ),
            ))
        };
        warnings.into_iter().filter_map(words).collect()
    }

    /// Warns of groups that ask for ECN marks although no queue on their route marks.
    fn warn_useless_marking(&self) -> Vec<(&str, String)> {
        let marks = |link: &usize| self.links.get(*link).is_some_and(|link| link.direction.queue.discipline.marks());
        let mut warnings = Vec::new();
        for flow in &self.flows {
            let asks = flow.transport.tcp().is_some_and(|tcp| tcp.marks != Marks::None);
            if asks && !flow.forward.iter().any(marks) && !warnings.contains(&flow.group) {
                warnings.push(flow.group);
            }
        }
        let words = "its packets may be marked instead of dropped, and no queue on their way marks any, so it works as without: write \
                     queue = { discipline = \"codel\", ecn = true } (or fq-codel, dualpi2, …; docs/queues.md), or ecn = \"none\"";
        let name = |group: usize| self.groups.get(group).map(|name| (name.as_str(), words.to_owned()));
        warnings.into_iter().filter_map(name).collect()
    }
}
