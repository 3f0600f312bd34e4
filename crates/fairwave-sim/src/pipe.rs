//! Pipes: packets between the transmitter that they have left and the present becoming their arrival.
//!
//! Each link's pipe is a list in order of arrival. All lists share one pool whose places are reused last freed first: what is
//! put in lands where something has just been read, and the memory is that of the packets on their way, however many links there are.
//! A packet's own arrival is known to whoever has scheduled it, so each place says when the *next* one arrives: to take a packet
//! out and to schedule its successor reads one place, not two.

use fairwave_core::packet::Packet;
use fairwave_core::units::Instant;

use crate::event::Kind;

/// No place: the end of a list.
const NONE: u32 = u32::MAX;

/// A packet between two links, or before its receiver.
#[derive(Clone, Copy, Debug)]
pub struct Transit {
    /// The packet.
    pub packet: Packet,
    /// The place on the flow's route of the link whose pipe holds it.
    pub hop: u16,
}

/// When a packet arrives, and in what manner.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Coming {
    /// When.
    pub at: Instant,
    /// It stood in the queue of the link that it has left.
    pub waited: bool,
}

impl Coming {
    /// Among what arrives.
    #[inline]
    pub fn kind(self) -> Kind {
        if self.waited { Kind::ArrivalBehind } else { Kind::Arrival }
    }
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
struct Place {
    transit: Transit,
    next_at: Instant,
    next: u32,
    next_waited: bool,
}

/// A link's packets on their way: the first and the last.
#[derive(Clone, Copy, Debug)]
pub struct Pipe {
    first: u32,
    last: u32,
}

impl Default for Pipe {
    fn default() -> Self {
        Pipe { first: NONE, last: NONE }
    }
}

impl Pipe {
    /// Nothing is on its way.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.first == NONE
    }
}

/// Where the packets of all pipes are.
#[derive(Debug)]
pub struct Transits {
    places: Vec<Place>,
    free: u32,
}

impl Transits {
    /// Empty.
    pub fn new() -> Self {
        Transits { places: Vec::new(), free: NONE }
    }

    /// Puts a packet behind those of `pipe`, none of which arrives later. Answers whether it is alone there: then it is the
    /// caller who must remember when it comes.
    #[inline]
    pub fn push(&mut self, pipe: &mut Pipe, transit: Transit, coming: Coming) -> bool {
        let new = Place { transit, next_waited: false, next: NONE, next_at: Instant::NEVER };
        let place = if self.free == NONE {
            self.places.push(new);
            (self.places.len() - 1) as u32
        } else {
            let place = self.free;
            self.free = self.places[place as usize].next;
            self.places[place as usize] = new;
            place
        };
        let alone = pipe.is_empty();
        if alone {
            pipe.first = place;
        } else {
            let last = &mut self.places[pipe.last as usize];
            (last.next, last.next_at, last.next_waited) = (place, coming.at, coming.waited);
        }
        pipe.last = place;
        alone
    }

    /// Takes out the packet of `pipe` that arrives first, and says when the next one does, if there is one.
    #[inline]
    pub fn pop(&mut self, pipe: &mut Pipe) -> Option<(Transit, Option<Coming>)> {
        let place = pipe.first;
        let taken = self.places.get_mut(place as usize)?;
        let Place { transit, next_waited, next, next_at } = *taken;
        taken.next = self.free;
        self.free = place;
        pipe.first = next;
        Some((transit, (next != NONE).then_some(Coming { at: next_at, waited: next_waited })))
    }

    /// The packet of `pipe` that arrives first, and a number of no meaning from the far end of its place: one who looks ahead
    /// wants the whole place fetched.
    #[inline]
    pub fn first(&self, pipe: Pipe) -> Option<(&Transit, u64)> {
        self.places
            .get(pipe.first as usize)
            .map(|place| (&place.transit, place.next_at.nanos() ^ u64::from(place.next)))
    }

    /// The packets of `pipe`, in order.
    pub fn of(&self, pipe: Pipe) -> impl Iterator<Item = &Transit> {
        let first = self.places.get(pipe.first as usize);
        std::iter::successors(first, |place| self.places.get(place.next as usize)).map(|place| &place.transit)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use fairwave_core::packet::{Body, Class, FlowId};
    use proptest::prelude::*;

    use super::*;

    fn transit(sequence: u32) -> Transit {
        let body = Body::Datagram { payload: 1, sequence, unit: 0, part: 0, parts: 1, created: Instant::ZERO };
        let packet = Packet { flow: FlowId(0), wire: 1, class: Class::Voice, feedback: false, layer: 0, body };
        Transit { packet, hop: 0 }
    }

    proptest! {
        #[test]
        fn each_pipe_gives_back_in_order_what_was_put_into_it(
            ops in prop::collection::vec((0usize..4, any::<bool>()), 1..300)
        ) {
            let (mut transits, mut pipes) = (Transits::new(), [Pipe::default(); 4]);
            let mut plain: [VecDeque<u32>; 4] = Default::default();
            let (mut most, mut held) = (0, 0usize);
            for (number, (pipe, put)) in (0u32..).zip(ops) {
                if put {
                    let coming = Coming { at: Instant::from_nanos(u64::from(number)), waited: number % 3 == 0 };
                    prop_assert_eq!(transits.push(&mut pipes[pipe], transit(number), coming), plain[pipe].is_empty());
                    plain[pipe].push_back(number);
                    held += 1;
                    most = most.max(held);
                } else {
                    let taken = transits.pop(&mut pipes[pipe]);
                    held -= usize::from(taken.is_some());
                    prop_assert_eq!(taken.and_then(|(taken, _)| taken.packet.sequence()), plain[pipe].pop_front());
                    let next = taken.and_then(|(_, next)| next).map(|next| (next.at.nanos() as u32, next.waited));
                    prop_assert_eq!(next, plain[pipe].front().map(|&next| (next, next % 3 == 0)));
                }
                prop_assert_eq!(pipes[pipe].is_empty(), plain[pipe].is_empty());
                let inside: Vec<u32> = transits.of(pipes[pipe]).filter_map(|transit| transit.packet.sequence()).collect();
                prop_assert_eq!(inside, plain[pipe].iter().copied().collect::<Vec<_>>());
            }
            prop_assert_eq!(transits.places.len(), most, "places are reused");
        }
    }
}
