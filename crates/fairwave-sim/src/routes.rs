//! Routes of all flows in one array of steps. A single word gives a packet's next step after a link, for any flow and
//! direction.

use crate::event::MAX_INDEX;

/// Flag of an immediate step: no earlier event can affect it.
const AT_ONCE: u32 = 1 << 31;

/// Marks the end of a route, in place of a link.
pub const END: u32 = AT_ONCE - 1;

// No link index equals the end mark.
const _: () = assert!(MAX_INDEX < END as usize);

/// A step of a route: the next link or the end, either immediate or by an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step(u32);

impl Step {
    /// Creates a step into `link`, which must not exceed [`MAX_INDEX`].
    pub fn enter(link: u32, at_once: bool) -> Self {
        Step(link | if at_once { AT_ONCE } else { 0 })
    }

    /// Creates a step out of the network.
    pub fn end(at_once: bool) -> Self {
        Step::enter(END, at_once)
    }

    /// Whether the step needs no event.
    #[inline]
    pub fn is_at_once(self) -> bool {
        self.0 & AT_ONCE != 0
    }

    /// Returns the next link; [`END`] at the end of the route.
    #[inline]
    pub fn target(self) -> u32 {
        self.0 & !AT_ONCE
    }
}

/// Steps per cache line.
const LINE: usize = 16;

/// A cache line of steps.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Line([Step; LINE]);

/// Routes of all flows.
#[derive(Default)]
pub struct Routes {
    lines: Vec<Line>,
    steps: usize,
}

impl Routes {
    /// Adds both routes of a flow, each with a final step. Returns their start positions; `None` if there are too
    /// many steps to number. Both routes share a cache line if they fit, because a reply takes the other route. So
    /// the end of each route is directly followed by the first step of the other.
    pub fn add(&mut self, forward: &[Step], backward: &[Step]) -> Option<[u32; 2]> {
        let used = self.steps % LINE;
        if used > 0 && used + forward.len() + backward.len() + 1 > LINE {
            self.steps += LINE - used;
        }
        let begin = self.steps;
        for &step in forward.iter().chain(backward).chain(forward.first()) {
            if self.steps / LINE == self.lines.len() {
                self.lines.push(Line([Step::end(false); LINE]));
            }
            self.lines[self.steps / LINE].0[self.steps % LINE] = step;
            self.steps += 1;
        }
        u32::try_from(self.steps).ok()?;
        Some([begin as u32, (begin + forward.len()) as u32])
    }

    /// Returns the number of steps; every position is below it.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Returns the step at the position `place` of a route.
    #[inline]
    pub fn step(&self, place: u32) -> Step {
        self.line(place).0[place as usize % LINE]
    }

    /// Returns the cache line of the step at `place`, for prefetching.
    #[inline]
    pub fn line(&self, place: u32) -> &Line {
        &self.lines[place as usize / LINE]
    }

    /// Returns the position of the step into `link` on the route that starts at `begin`, or of the route's end. It is
    /// unique, because routes have no loops.
    pub fn place_of(&self, begin: u32, link: usize) -> u32 {
        let ends_here = |place: &u32| [link as u32, END].contains(&self.step(*place).target());
        (begin..).find(ends_here).unwrap_or(begin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(links: std::ops::Range<u32>, end: Step) -> Vec<Step> {
        links.map(|link| Step::enter(link, link % 3 == 0)).chain([end]).collect()
    }

    #[test]
    fn routes_list_their_links_in_order_and_end() {
        let mut routes = Routes::default();
        let lengths = [(1, 1), (3, 3), (5, 2), (7, 6), (40, 1), (2, 2)];
        let begins = lengths.map(|(forward, backward)| {
            let (there, back) = (route(0..forward, Step::end(true)), route(9..9 + backward, Step::end(false)));
            (routes.add(&there, &back).expect("room"), there, back)
        });
        for ([begin, begin_back], there, back) in begins {
            for (begin, steps) in [(begin, &there), (begin_back, &back)] {
                assert!((begin..).zip(steps).all(|(place, &step)| routes.step(place) == step));
                let last = steps.len() as u32 - 2;
                assert_eq!(routes.place_of(begin, steps[last as usize].target() as usize), begin + last);
            }
            for (end, first) in [(begin as usize + there.len(), back[0]), (begin_back as usize + back.len(), there[0])]
            {
                assert_eq!(routes.step(end as u32), first, "behind the end of one way the other begins");
            }
            if there.len() + back.len() < LINE {
                let last = begin_back as usize + back.len() - 1;
                assert_eq!(begin as usize / LINE, last / LINE, "one line");
            }
        }
    }

    #[test]
    fn a_step_says_where_and_whether_at_once() {
        for (step, target, at_once) in [
            (Step::enter(MAX_INDEX as u32, true), MAX_INDEX as u32, true),
            (Step::enter(0, false), 0, false),
            (Step::end(true), END, true),
            (Step::end(false), END, false),
        ] {
            assert_eq!((step.target(), step.is_at_once()), (target, at_once));
        }
    }
}
