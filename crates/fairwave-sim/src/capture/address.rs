//! Addresses: nodes are numbered from 10.0.0.1 on, flows by their ports.

use std::collections::{BTreeSet, HashMap};

use fairwave_core::transport::Properties;
use fairwave_core::wire::Protocol;
use fairwave_scenario::plan::Plan;

/// The port that media over RTP goes to; RTCP has the next one (RFC 3550 §11).
pub(super) const RTP: u16 = 5004;
/// The port that TCP goes to.
pub(super) const TCP: u16 = 5001;
/// The port that TFRC goes to.
pub(super) const TFRC: u16 = 5010;
/// The port of the echo protocol (RFC 862).
pub(super) const ECHO: u16 = 7;
/// The port that RAP goes to.
pub(super) const RAP: u16 = 5012;
/// The port that DVRC goes to.
pub(super) const DVRC: u16 = 5014;

/// The most names of hosts that are written into a file.
const MOST_NAMES: usize = 10_000;

/// The address of a node.
pub(super) fn of_node(node: usize) -> [u8; 4] {
    let [_, b, c, d] = (node as u32 + 1).to_be_bytes();
    [10, b, c, d]
}

/// The port of a flow's sender, even: flows between the same hosts differ in it.
pub(super) fn of_flow(flow: u32) -> u16 {
    10_000 + 2 * (flow % 25_000) as u16
}

/// Where calls listen at hosts that several flows over RTP share.
const SHARED: u16 = 16_384;

/// At which ports media over RTP arrive.
pub(super) struct Ports(Vec<u16>);

impl Ports {
    /// Each call has a separate port, which its session description names: 5004, or another port if other media arrive
    /// at the same host.
    pub fn new(plan: &Plan) -> Self {
        let is_rtp = |flow: &fairwave_scenario::plan::FlowPlan| flow.transport.protocol() == Protocol::Rtp;
        let mut at_host: HashMap<usize, usize> = HashMap::new();
        for flow in plan.flows.iter().filter(|flow| is_rtp(flow)) {
            *at_host.entry(flow.to).or_default() += 1;
        }
        let port = |(index, flow): (usize, &fairwave_scenario::plan::FlowPlan)| {
            let shared = at_host.get(&flow.to).is_some_and(|flows| *flows > 1);
            let is_call = is_rtp(flow) && flow.traffic.call().is_some();
            if shared && is_call { SHARED + 2 * (index % 16_384) as u16 } else { RTP }
        };
        Ports(plan.flows.iter().enumerate().map(port).collect())
    }

    /// The port at which a flow's receiver takes its media; RTCP has the next one.
    pub fn of_receiver(&self, flow: usize) -> u16 {
        self.0.get(flow).copied().unwrap_or(RTP)
    }
}

/// Addresses and names of the flows' hosts.
pub(super) fn names(plan: &Plan) -> Vec<([u8; 4], String)> {
    let hosts: BTreeSet<usize> = plan.flows.iter().flat_map(|flow| [flow.from, flow.to]).collect();
    hosts.into_iter().take(MOST_NAMES).map(|node| (of_node(node), plan.nodes[node].clone())).collect()
}
