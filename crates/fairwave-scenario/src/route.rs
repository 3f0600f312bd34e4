//! Routes: fewest hops, then least total propagation delay, then at each node the link with the lower index.
//!
//! Most nodes of a large network are hosts with one link, and no route passes through them. A route therefore consists of the
//! sender's link, a route between routers, and the receiver's link. Only routers take part in the search (Dijkstra over (hops,
//! delay)), which runs once per router at the start of routes. A hundred thousand flows over a dumbbell need two searches of two
//! nodes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use fairwave_core::units::Span;

/// A link direction for routing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub from: usize,
    pub to: usize,
    pub delay: Span,
}

const NONE: u32 = u32::MAX;

/// Limit of kept search trees × nodes per tree. Above it, all trees are discarded and computed again on demand.
const MOST_REMEMBERED: usize = 20_000_000;

/// Finds routes over links that do not change. At most one link leads from a node to another.
pub(crate) struct Routes<'a> {
    edges: &'a [Edge],
    /// The only link out of each node, if it has exactly one. `only_in` is the same for incoming links.
    only_out: Vec<u32>,
    only_in: Vec<u32>,
    /// Index among the routers. [`NONE`] for hosts.
    router: Vec<u32>,
    routers: usize,
    /// Links between routers, by the router that they leave.
    between: Vec<Vec<u32>>,
    /// Per first router: for each router, the last link of the route to it, and the router before it.
    trees: BTreeMap<usize, Vec<(u32, u32)>>,
}

impl<'a> Routes<'a> {
    pub fn new(nodes: usize, edges: &'a [Edge]) -> Self {
        let mut only_out = vec![NONE; nodes];
        let mut only_in = vec![NONE; nodes];
        let (mut outs, mut ins) = (vec![0u32; nodes], vec![0u32; nodes]);
        for (index, edge) in edges.iter().enumerate() {
            only_out[edge.from] = index as u32;
            only_in[edge.to] = index as u32;
            outs[edge.from] += 1;
            ins[edge.to] += 1;
        }
        let mut router = vec![NONE; nodes];
        let mut routers = 0;
        for node in 0..nodes {
            let neighbour_out = (outs[node] == 1).then(|| edges[only_out[node] as usize].to);
            let neighbour_in = (ins[node] == 1).then(|| edges[only_in[node] as usize].from);
            let host = match (outs[node], ins[node]) {
                (1, 1) => neighbour_out == neighbour_in,
                (out, into) => out <= 1 && into <= 1,
            };
            if !host {
                router[node] = routers;
                routers += 1;
            }
            if outs[node] != 1 {
                only_out[node] = NONE;
            }
            if ins[node] != 1 {
                only_in[node] = NONE;
            }
        }
        let mut between = vec![Vec::new(); routers as usize];
        for (index, edge) in edges.iter().enumerate() {
            let (from, to) = (router[edge.from], router[edge.to]);
            if from != NONE && to != NONE {
                between[from as usize].push(index as u32);
            }
        }
        Routes { edges, only_out, only_in, router, routers: routers as usize, between, trees: BTreeMap::new() }
    }

    /// Indices of the links from one node to another, in order. `None` without a route, or if both nodes are the same.
    pub fn route(&mut self, from: usize, to: usize) -> Option<Vec<usize>> {
        if from == to {
            return None;
        }
        // Most routes have three links. With many flows, exact capacity saves memory.
        let (mut head, mut start) = (Vec::with_capacity(3), from);
        if self.router[from] == NONE {
            let first = self.only_out[from] as usize;
            start = self.edges.get(first)?.to;
            head.push(first);
            if start == to {
                return Some(head);
            }
        }
        let (mut end, mut tail) = (to, None);
        if self.router[to] == NONE {
            let last = self.only_in[to] as usize;
            end = self.edges.get(last)?.from;
            if end == from {
                return Some(vec![last]);
            }
            tail = Some(last);
        }
        if start != end {
            self.append_way(start, end, &mut head)?;
        }
        head.extend(tail);
        Some(head)
    }

    /// Appends the links between two routers.
    fn append_way(&mut self, start: usize, end: usize, links: &mut Vec<usize>) -> Option<()> {
        let (first, last) = (self.router[start], self.router[end]);
        if first == NONE || last == NONE {
            return None;
        }
        let tree = self.tree(first as usize);
        let before = links.len();
        let mut at = last;
        while at != first {
            let (link, previous) = *tree.get(at as usize).filter(|(link, _)| *link != NONE)?;
            links.push(link as usize);
            at = previous;
        }
        links[before..].reverse();
        Some(())
    }

    /// The routes from router `first` to all routers.
    fn tree(&mut self, first: usize) -> &[(u32, u32)] {
        if (self.trees.len() + 1).saturating_mul(self.routers) > MOST_REMEMBERED && !self.trees.contains_key(&first) {
            self.trees.clear();
        }
        let Routes { edges, router, routers, between, trees, .. } = self;
        trees.entry(first).or_insert_with(|| {
            let mut best = vec![(u32::MAX, Span::MAX); *routers];
            let mut by = vec![(NONE, NONE); *routers];
            let mut open = BinaryHeap::new();
            best[first] = (0, Span::ZERO);
            open.push(Reverse((0u32, Span::ZERO, first)));
            while let Some(Reverse((hops, delay, at))) = open.pop() {
                if (hops, delay) > best[at] {
                    continue;
                }
                for &link in &between[at] {
                    let edge = edges[link as usize];
                    let next = router[edge.to] as usize;
                    let cost = (hops + 1, delay + edge.delay);
                    if cost < best[next] {
                        best[next] = cost;
                        by[next] = (link, at as u32);
                        open.push(Reverse((cost.0, cost.1, next)));
                    } else if cost == best[next] && link < by[next].0 {
                        by[next] = (link, at as u32);
                    }
                }
            }
            by
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edge(from: usize, to: usize, millis: u64) -> Edge {
        Edge { from, to, delay: Span::from_millis(millis) }
    }

    fn duplex(pairs: &[(usize, usize, u64)]) -> Vec<Edge> {
        pairs.iter().flat_map(|&(a, b, delay)| [edge(a, b, delay), edge(b, a, delay)]).collect()
    }

    #[test]
    fn fewer_hops_win_over_less_delay_and_less_delay_over_a_lower_index() {
        // 0 – 1 – 2 – 3 is fast, 0 – 4 – 3 is slow but short, 0 – 5 – 3 is equally short and a little faster.
        let edges = duplex(&[(0, 1, 1), (1, 2, 1), (2, 3, 1), (0, 4, 50), (4, 3, 50), (0, 5, 50), (5, 3, 40)]);
        assert_eq!(Routes::new(6, &edges).route(0, 3), Some(vec![10, 12]));
        let equal = duplex(&[(0, 4, 50), (4, 3, 50), (0, 5, 50), (5, 3, 50)]);
        assert_eq!(Routes::new(6, &equal).route(0, 3), Some(vec![0, 2]));
    }

    #[test]
    fn two_hosts_with_nothing_between_reach_each_other() {
        let edges = duplex(&[(0, 1, 1)]);
        assert_eq!(Routes::new(2, &edges).route(0, 1), Some(vec![0]));
        assert_eq!(Routes::new(2, &edges).route(1, 0), Some(vec![1]));
    }

    #[test]
    fn unreachable_nodes_have_no_route() {
        let edges = [edge(0, 1, 1), edge(1, 2, 1)];
        assert_eq!(Routes::new(4, &edges).route(0, 2), Some(vec![0, 1]));
        assert_eq!(Routes::new(4, &edges).route(2, 0), None);
        assert_eq!(Routes::new(4, &edges).route(0, 3), None);
    }

    /// Slow reference: shortest (hops, delay) by relaxing all edges once per node (Bellman–Ford).
    fn shortest(nodes: usize, edges: &[Edge], from: usize) -> Vec<Option<(usize, Span)>> {
        let mut best = vec![None; nodes];
        best[from] = Some((0, Span::ZERO));
        for _ in 0..nodes {
            for edge in edges {
                if let Some((hops, delay)) = best[edge.from] {
                    let cost = (hops + 1, delay + edge.delay);
                    if best[edge.to].is_none_or(|known| cost < known) {
                        best[edge.to] = Some(cost);
                    }
                }
            }
        }
        best
    }

    proptest! {
        #[test]
        fn routes_are_as_short_as_those_of_the_slow_twin(
            raw in proptest::collection::btree_map((0usize..9, 0usize..9), 1u64..4, 0..30),
        ) {
            let edges: Vec<Edge> =
                raw.iter().filter(|((a, b), _)| a != b).map(|(&(a, b), &delay)| edge(a, b, delay)).collect();
            let mut routes = Routes::new(9, &edges);
            for from in 0..9 {
                let best = shortest(9, &edges, from);
                for to in (0..9).filter(|to| *to != from) {
                    let route = routes.route(from, to);
                    let length = route.as_ref().map(|links| {
                        let mut at = from;
                        for &link in links {
                            assert_eq!(edges[link].from, at, "the links of a route join");
                            at = edges[link].to;
                        }
                        assert_eq!(at, to);
                        (links.len(), links.iter().fold(Span::ZERO, |sum, &link| sum + edges[link].delay))
                    });
                    prop_assert_eq!(length, best[to]);
                }
            }
        }
    }
}
