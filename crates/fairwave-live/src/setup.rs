//! Setup of a live run: hosts, sockets, routes and programs.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use etherparse::IpNumber;
use fairwave_core::packet::FlowId;
use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::{FlowPlan, HostsPlan, Plan};
use serde::Deserialize;
use socket2::Socket;

use crate::border::{FlowEnds, FlowRoute, OwnEnds};
use crate::child::Order;
use crate::endpoints::{self, End};
use crate::error::LiveError;
use crate::host::{PROGRAM, controller};
use crate::ip::ConversationKey;
use crate::kernel::{self, KernelFlow};
use crate::mapping::Mapping;
use crate::namespace::{self, Host};
use crate::places;
use crate::programs::Program;
use crate::{Request, addresses};

/// Everything that the router needs.
pub struct Setup {
    /// The plan, with reserved flows for programs.
    pub plan: Plan,
    /// Hosts, by index.
    pub hosts: Vec<Host>,
    /// Names of the hosts, by index.
    pub names: Vec<String>,
    /// Endpoints, by flow.
    pub ends: Vec<FlowEnds>,
    /// Routes, by flow.
    pub ways: Vec<FlowRoute>,
    /// Mapping of packets to flows.
    pub mapping: Mapping,
    /// Programs; those of the request come first.
    pub programs: Vec<Program>,
    /// Index of the first reserved flow.
    pub first_place: usize,
}

/// Kind of endpoints of a flow.
#[derive(Clone, PartialEq, Eq, Debug)]
enum FlowKind {
    Ours,
    Kernel(String),
    Program,
}

fn kind(flow: &FlowPlan) -> FlowKind {
    match flow.transport.name() {
        PROGRAM => FlowKind::Program,
        _ => controller(&flow.transport).map_or(FlowKind::Ours, FlowKind::Kernel),
    }
}

/// Configuration keys of a flow of programs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Commands {
    command: Vec<String>,
    serve: Vec<String>,
}

/// Socket of one end of a flow.
enum EndSockets {
    Ours(Box<End>),
    Sending(Socket),
    Listening(Socket),
}

/// Rejects plans that the router does not support.
fn check(plan: &Plan) -> Result<(), LiveError> {
    let not_live = |place: &str, what: &str, help: &str| LiveError::NotLive {
        place: place.to_owned(),
        what: what.to_owned(),
        help: help.to_owned(),
    };
    for flow in &plan.flows {
        let of_host = kind(flow) != FlowKind::Ours;
        if of_host && flow.active.is_some() {
            return Err(not_live(&flow.name, "a flow of the host cannot pause", "write `start` and `stop`"));
        }
        if kind(flow) == FlowKind::Program && !flow.traffic.is_bulk() {
            let help = "leave out `traffic`, or write `traffic = \"bulk\"`";
            return Err(not_live(&flow.name, "programs send what they send, whatever its traffic", help));
        }
        if of_host && flow.at_most.is_some() {
            return Err(not_live(&flow.name, "a flow of the host cannot be refused", "leave out `at-most`"));
        }
    }
    Ok(())
}

/// Creates hosts and sockets.
///
/// # Errors
/// The plan asks for something that the router does not support, or the kernel refuses an operation.
pub fn make(request: &Request) -> Result<Setup, LiveError> {
    let mut plan = request.plan.clone();
    check(&plan)?;
    // Real hosts bring real clock offsets and scheduling delays, so none are simulated.
    plan.hosts = HostsPlan::default();
    let first_place = plan.flows.len();
    let (numbers, names) = number_hosts(&plan, request)?;
    let number = |node: usize| numbers.get(node).copied().flatten();
    let programs_at = programs_at(&plan, request);
    let pairs = pairs(&programs_at, &numbers);
    let (kept, spare) = places::add(&mut plan, &pairs)?;
    // Each flow of the scenario needs a port; reserved flows need none.
    let most = usize::from(u16::MAX - endpoints::FIRST_PORT);
    if first_place > most {
        return Err(LiveError::TooMany { what: "flows", found: first_place, allowed: most, help: "run fewer flows" });
    }

    let mut hosts = Vec::with_capacity(names.len());
    let mut opened: Vec<[Option<EndSockets>; 2]> = plan.flows.iter().map(|_| [None, None]).collect();
    for host in 0..names.len() {
        let ends = (plan.flows.iter().enumerate())
            .flat_map(|(flow, planned)| [(flow, planned, false), (flow, planned, true)])
            .filter(|(_, planned, receives)| number(if *receives { planned.to } else { planned.from }) == Some(host));
        let ends: Vec<(usize, &FlowPlan, bool)> = ends.collect();
        let open = |here: Ipv4Addr| -> io::Result<Vec<(usize, bool, EndSockets)>> {
            let mut sockets = Vec::new();
            for &(flow, planned, receives) in &ends {
                let other = number(if receives { planned.from } else { planned.to }).and_then(addresses::address);
                if let Some(socket) =
                    other.map(|there| open(&plan, flow, receives, [here, there])).transpose()?.flatten()
                {
                    sockets.push((flow, receives, socket));
                }
            }
            Ok(sockets)
        };
        let (made, sockets) = namespace::make(host, open)?;
        hosts.push(made);
        for (flow, receives, socket) in sockets {
            if let Some(end) = opened.get_mut(flow).and_then(|ends| ends.get_mut(usize::from(receives))) {
                *end = Some(socket);
            }
        }
    }

    let mut mapping = Mapping::default();
    let (mut ends, mut ways) = (Vec::new(), Vec::new());
    for ((flow, planned), sockets) in plan.flows.iter().enumerate().zip(opened) {
        let pair = [number(planned.from).unwrap_or(0), number(planned.to).unwrap_or(0)];
        let last = |route: &[usize]| route.last().copied().unwrap_or(usize::MAX);
        ways.push(FlowRoute { hosts: pair, last: [last(&planned.forward), last(&planned.backward)] });
        let [from, to] = pair.map(|host| addresses::address(host).unwrap_or(Ipv4Addr::UNSPECIFIED));
        ends.push(join(&plan, flow, planned, sockets, [from, to], &mut mapping));
    }
    for place in kept {
        if let (Some(from), Some(to)) = (number(place.from), number(place.to)) {
            mapping.reserve(from, to, FlowId(place.flow as u32));
        }
    }
    mapping.reserve_spare(spare.map(|flow| FlowId(flow as u32)));
    let programs = programs(&request.plan, request, &numbers, &names);
    Ok(Setup { plan, hosts, names, ends, ways, mapping, programs, first_place })
}

/// Host index of each node (`None` for nodes that are no hosts), and the names of the hosts.
type NumberedHosts = (Vec<Option<usize>>, Vec<String>);

/// Numbers the hosts: the nodes at which flows end or programs run. If the request names programs, every node with a
/// single outgoing link is a host, too, because programs may contact it.
fn number_hosts(plan: &Plan, request: &Request) -> Result<NumberedHosts, LiveError> {
    let mut is_host = vec![false; plan.nodes.len()];
    let mut note = |node: usize| {
        if let Some(host) = is_host.get_mut(node) {
            *host = true;
        }
    };
    plan.flows.iter().flat_map(|flow| [flow.from, flow.to]).for_each(&mut note);
    if !request.commands.is_empty() {
        let mut out = vec![0u32; plan.nodes.len()];
        for link in &plan.links {
            if let Some(ways) = out.get_mut(link.from) {
                *ways += 1;
            }
        }
        let leaves = out.iter().enumerate().filter(|(_, ways)| **ways == 1).map(|(node, _)| node);
        leaves.for_each(&mut note);
    }
    for (name, _) in &request.commands {
        match plan.nodes.iter().position(|node| node == name) {
            Some(node) => note(node),
            None => {
                let known = plan.nodes.iter().take(12).map(String::as_str).collect::<Vec<_>>().join(", ");
                return Err(LiveError::NotLive {
                    place: format!("--at {name}"),
                    what: "the scenario has no such node".to_owned(),
                    help: format!("write one of {known}"),
                });
            }
        }
    }
    let (mut numbers, mut names) = (Vec::with_capacity(is_host.len()), Vec::new());
    for (node, host) in plan.nodes.iter().zip(is_host) {
        numbers.push(host.then_some(names.len()));
        if host {
            names.push(node.clone());
        }
    }
    if names.len() > addresses::MOST_HOSTS {
        let help = "take a scenario with fewer ends of flows";
        return Err(LiveError::TooMany { what: "hosts", found: names.len(), allowed: addresses::MOST_HOSTS, help });
    }
    Ok((numbers, names))
}

/// Returns the nodes on which programs run.
fn programs_at(plan: &Plan, request: &Request) -> Vec<usize> {
    let named = request.commands.iter().filter_map(|(name, _)| plan.nodes.iter().position(|node| node == name));
    let planned =
        plan.flows.iter().filter(|flow| kind(flow) == FlowKind::Program).flat_map(|flow| [flow.from, flow.to]);
    let mut nodes: Vec<usize> = named.chain(planned).collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

/// Returns all pairs of hosts with programs on at least one side, each pair once.
fn pairs(programs_at: &[usize], numbers: &[Option<usize>]) -> Vec<(usize, usize)> {
    let hosts = numbers.iter().enumerate().filter_map(|(node, number)| number.map(|_| node));
    let hosts: Vec<usize> = hosts.collect();
    let mut pairs = Vec::new();
    for &at in programs_at {
        for &other in &hosts {
            if other != at && !pairs.contains(&(other, at)) {
                pairs.push((at, other));
            }
        }
    }
    pairs
}

/// Opens the socket of one end of a flow, in the namespace of its host. Returns `None` for programs.
fn open(plan: &Plan, flow: usize, receives: bool, [here, there]: [Ipv4Addr; 2]) -> io::Result<Option<EndSockets>> {
    let beyond = || io::Error::other("there are more flows than ports");
    let Some(planned) = plan.flows.get(flow) else { return Ok(None) };
    let port = || endpoints::port(flow).ok_or_else(beyond);
    Ok(match kind(planned) {
        FlowKind::Program => None,
        FlowKind::Kernel(_) if receives => Some(EndSockets::Listening(kernel::listening(here, port()?)?)),
        FlowKind::Kernel(controller) => {
            Some(EndSockets::Sending(kernel::sending(here, &controller, planned.traffic.is_bulk())?))
        }
        FlowKind::Ours => {
            let format = endpoints::format(plan, flow).ok_or_else(beyond)?;
            let decoder = endpoints::decoder(flow, planned, format, !receives);
            Some(EndSockets::Ours(Box::new(End::open(here, there, port()?, decoder)?)))
        }
    })
}

/// Combines the sockets of a flow, and registers its conversations in `mapping`.
fn join(
    plan: &Plan,
    flow: usize,
    planned: &FlowPlan,
    sockets: [Option<EndSockets>; 2],
    [from, to]: [Ipv4Addr; 2],
    mapping: &mut Mapping,
) -> FlowEnds {
    let port = endpoints::port(flow).unwrap_or(0);
    let id = FlowId(flow as u32);
    let key = |protocol: IpNumber, source_port: u16| ConversationKey {
        source: from,
        destination: to,
        protocol: protocol.0,
        source_port,
        destination_port: port,
    };
    match sockets {
        [Some(EndSockets::Ours(sender)), Some(EndSockets::Ours(receiver))] => {
            let Some(format) = endpoints::format(plan, flow) else { return FlowEnds::Programs };
            mapping.insert(key(IpNumber::UDP, port), id);
            let decoders = [false, true].map(|feedback| endpoints::decoder(flow, planned, format.clone(), feedback));
            FlowEnds::Ours(Box::new(OwnEnds { ends: [*sender, *receiver], format, decoders }))
        }
        [Some(EndSockets::Sending(sender)), Some(EndSockets::Listening(listener))] => {
            let local = sender.local_addr().ok().and_then(|local| local.as_socket_ipv4());
            mapping.insert(key(IpNumber::TCP, local.map_or(0, |local| local.port())), id);
            let there = SocketAddrV4::new(to, port);
            FlowEnds::Kernel(Box::new(KernelFlow::new(sender, listener, there, planned.traffic.is_bulk())))
        }
        _ => FlowEnds::Programs,
    }
}

/// Returns the programs to start: the commands of the request, then those of flows.
fn programs(plan: &Plan, request: &Request, numbers: &[Option<usize>], names: &[String]) -> Vec<Program> {
    let address = |host: usize| addresses::address(host).map(|address| address.to_string()).unwrap_or_default();
    let table: Vec<(String, String)> =
        names.iter().enumerate().map(|(host, name)| (name.clone(), address(host))).collect();
    let name = |host: usize| names.get(host).cloned().unwrap_or_default();
    let order = |host: usize, command: Vec<String>| Order {
        command,
        host: name(host),
        hosts: table.clone(),
        user: request.user,
    };
    let mut programs = Vec::new();
    let last = request.commands.len().saturating_sub(1);
    for (index, (at, command)) in request.commands.iter().enumerate() {
        let Some(host) = names.iter().position(|name| name == at) else { continue };
        // Commands start 100 ms apart, so that a server that is named first is ready for its clients.
        let begins = Instant::ZERO + Span::from_millis(100) * index as u64;
        programs.push(Program { host, order: order(host, command.clone()), begins, ends: None, reads: index == last });
    }
    for flow in plan.flows.iter().filter(|flow| kind(flow) == FlowKind::Program) {
        let commands = serde_json::to_value(&*flow.transport).and_then(serde_json::from_value::<Commands>);
        let commands = commands.unwrap_or_default();
        let number = |node: usize| numbers.get(node).copied().flatten();
        let (Some(from), Some(to)) = (number(flow.from), number(flow.to)) else { continue };
        let filled = |words: Vec<String>| -> Vec<String> {
            words.iter().map(|word| word.replace("{from}", &address(from)).replace("{to}", &address(to))).collect()
        };
        let ends = (flow.stop < Instant::NEVER).then_some(flow.stop);
        for (host, words, begins) in [(to, commands.serve, Instant::ZERO), (from, commands.command, flow.start)] {
            if !words.is_empty() {
                programs.push(Program { host, order: order(host, filled(words)), begins, ends, reads: false });
            }
        }
    }
    programs
}
