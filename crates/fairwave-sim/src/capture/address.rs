//! Addresses in captures: nodes count up from 10.0.0.1, and ports distinguish flows.

use std::collections::{BTreeSet, HashMap};

use fairwave_core::transport::Properties;
use fairwave_core::wire::Protocol;
use fairwave_scenario::plan::Plan;

/// Destination port of media over RTP; RTCP uses the next port (RFC 3550 §11).
pub(super) const RTP: u16 = 5004;
/// Destination port of TCP.
pub(super) const TCP: u16 = 5001;
/// Destination port of TFRC.
pub(super) const TFRC: u16 = 5010;
/// Port of the echo protocol (RFC 862).
pub(super) const ECHO: u16 = 7;
/// Destination port of RAP.
pub(super) const RAP: u16 = 5012;
/// Destination port of DVRC.
pub(super) const DVRC: u16 = 5014;

/// Maximum number of host names written to a file.
const MOST_NAMES: usize = 10_000;

/// Returns the address of a node.
pub(super) fn node_address(node: usize) -> [u8; 4] {
    let [_, b, c, d] = (node as u32 + 1).to_be_bytes();
    [10, b, c, d]
}

/// Returns the port of a flow's sender. It is even and distinguishes flows between the same hosts.
pub(super) fn flow_port(flow: u32) -> u16 {
    10_000 + 2 * (flow % 25_000) as u16
}

/// First port for calls at hosts with several flows over RTP.
const SHARED: u16 = 16_384;

/// Receiving ports of media over RTP.
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

    /// Returns the port of a flow's receiver; RTCP uses the next port.
    pub fn receiver_port(&self, flow: usize) -> u16 {
        self.0.get(flow).copied().unwrap_or(RTP)
    }
}

/// Returns the addresses and names of the flows' hosts.
pub(super) fn names(plan: &Plan) -> Vec<([u8; 4], String)> {
    let hosts: BTreeSet<usize> = plan.flows.iter().flat_map(|flow| [flow.from, flow.to]).collect();
    hosts.into_iter().take(MOST_NAMES).map(|node| (node_address(node), plan.nodes[node].clone())).collect()
}
