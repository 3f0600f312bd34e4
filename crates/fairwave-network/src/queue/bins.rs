//! Numbered lists of waiting packets. The discipline assigns each packet to a list ([`super::Discipline::bin`]).
//!
//! For disciplines that hash flows into queues, or have a fixed number of them. Every list offers its ends, its length and
//! its packets. A tournament tree finds the list with the most bytes. The first query builds the tree. After that, the tree
//! records each list that gains or loses a packet. The next query replays only the matches that these lists can change. The
//! cost per list is at most logarithmic in the number of lists. Disciplines that never query pay nothing.

use super::lists::{ListEnds, ListLinks, NIL, Tally, append, unlink};

/// Links of one waiting packet.
#[derive(Clone, Copy, Debug)]
struct Member {
    list: ListLinks,
    bin: u32,
}

/// A list of packets.
#[derive(Clone, Copy, Debug)]
struct Bin {
    ends: ListEnds,
    tally: Tally,
    /// True if the list is in `changed`: its matches must be replayed.
    changed: bool,
}

/// Encodes a list as one number for a match. More bytes give a larger number; on equal bytes the first list wins. Lists of 4
/// GiB or more count as equal.
fn contender(bin: u32, bytes: u64) -> u64 {
    bytes.min(u64::from(u32::MAX)) << 32 | u64::from(!bin)
}

/// Numbered lists of waiting packets.
#[derive(Clone, Debug)]
pub(super) struct Bins {
    /// By place of the packet.
    members: Vec<Member>,
    /// The lists, padded with empty ones up to a power of two.
    bins: Vec<Bin>,
    /// Number of the last real list.
    last: u32,
    /// Winners of all matches, as a heap: match `i` is between the winners of `2i` and `2i + 1`, stored as pair `i`. The
    /// lists follow the matches, and match 1 is the final. Empty until the first query.
    winners: Vec<[u64; 2]>,
    /// Lists that changed since their matches were last played, each once.
    changed: Vec<u32>,
}

impl Bins {
    /// Returns `number` empty lists.
    pub fn new(number: usize) -> Self {
        let bin = Bin { ends: ListEnds::EMPTY, tally: Tally { packets: 0, bytes: 0 }, changed: false };
        Bins {
            members: Vec::new(),
            bins: vec![bin; number.next_power_of_two().max(2)],
            last: number.saturating_sub(1) as u32,
            winners: Vec::new(),
            changed: Vec::new(),
        }
    }

    /// Adds the packet of `size` bytes at `place` to list `bin`. A number beyond the last list means the last list.
    #[inline]
    pub fn push(&mut self, place: u32, size: u64, bin: u32) {
        let bin = bin.min(self.last);
        let member = Member { list: ListLinks::NONE, bin };
        match self.members.get_mut(place as usize) {
            Some(before) => *before = member,
            // Places are assigned in ascending order.
            None => self.members.resize(place as usize + 1, member),
        }
        let of = &mut self.bins[bin as usize];
        of.tally.add(size);
        append!(self.members, of.ends, list, place);
        self.note(bin);
    }

    /// Removes the packet of `size` bytes at `place`.
    #[inline(always)] // one caller that counts
    pub fn remove(&mut self, place: u32, size: u64) {
        let bin = self.members[place as usize].bin;
        let of = &mut self.bins[bin as usize];
        of.tally.take(size);
        unlink!(self.members, of.ends, list, place);
        self.note(bin);
    }

    /// Packets and bytes in a list.
    #[inline]
    pub fn tally(&self, bin: u32) -> Tally {
        self.bins.get(bin as usize).map_or(Tally::default(), |bin| bin.tally)
    }

    /// First and last packet of a list.
    #[inline]
    pub fn ends(&self, bin: u32) -> ListEnds {
        self.bins.get(bin as usize).map_or(ListEnds::EMPTY, |bin| bin.ends)
    }

    /// The packet before `place` in the same list; [`NIL`] if no packet waits at `place`.
    #[inline]
    pub fn previous(&self, place: u32) -> u32 {
        self.members.get(place as usize).map_or(NIL, |member| member.list.previous)
    }

    /// The list with the most bytes, the first of several equals; `None` if all lists are empty.
    pub fn fattest(&mut self) -> Option<u32> {
        if self.winners.is_empty() {
            self.play_all();
        }
        while let Some(bin) = self.changed.pop() {
            self.bins[bin as usize].changed = false;
            self.replay(bin);
        }
        let winner = self.winners.first()?[1];
        (winner >> 32 > 0).then_some(!(winner as u32))
    }

    fn bytes(&self, bin: u32) -> u64 {
        self.bins[bin as usize].tally.bytes
    }

    fn play_all(&mut self) {
        let lists = self.bins.len();
        self.winners = vec![[0; 2]; lists];
        for place in (1..2 * lists).rev() {
            let winner = match place.checked_sub(lists) {
                Some(bin) => contender(bin as u32, self.bytes(bin as u32)),
                None => self.winners[place][0].max(self.winners[place][1]),
            };
            self.winners[place / 2][place % 2] = winner;
        }
    }

    /// Records that the content of a list changed.
    #[inline]
    fn note(&mut self, bin: u32) {
        let of = &mut self.bins[bin as usize];
        if !of.changed && !self.winners.is_empty() {
            of.changed = true;
            self.changed.push(bin);
        }
    }

    /// Replays the matches of a list upwards, until a winner stays the same.
    fn replay(&mut self, bin: u32) {
        let mut place = self.bins.len() + bin as usize;
        let mut winner = contender(bin, self.bytes(bin));
        while place > 0 {
            let Some(pair) = self.winners.get_mut(place / 2) else { return };
            if pair[place % 2] == winner {
                return;
            }
            pair[place % 2] = winner;
            winner = pair[0].max(pair[1]);
            place /= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::buffer::Buffer;
    use super::super::testing::packet;
    use crate::packet::{Class, Packet};
    use fairwave_units::units::Instant;

    /// Operation on a buffer: adds a packet of a size to a list, or removes a waiting packet.
    #[derive(Clone, Debug)]
    enum Operation {
        Push(u32, u16),
        RemoveAny(u64),
        ServeFrontOf(u32),
    }

    fn operation() -> impl Strategy<Value = Operation> {
        prop_oneof![
            4 => (0..7u32, 1..1600u16).prop_map(|(bin, size)| Operation::Push(bin, size)),
            2 => any::<u64>().prop_map(Operation::RemoveAny),
            2 => (0..7u32).prop_map(Operation::ServeFrontOf),
        ]
    }

    proptest! {
        /// Reference model: a vector of (list, packet) in order of arrival, searched and counted linearly.
        #[test]
        fn lists_and_the_fattest_are_those_of_a_plain_vector(
            operations in prop::collection::vec(operation(), 0..200), asks_from in 0..200usize,
        ) {
            let (mut buffer, mut plain) = (Buffer::with_bins(2, 7), Vec::<(u32, Packet)>::new());
            for (serial, operation) in operations.into_iter().enumerate() {
                match operation {
                    Operation::Push(bin, size) => {
                        // The flow number identifies the packet.
                        let packet = packet(serial as u32, size, Class::Tcp);
                        buffer.push_into(Instant::ZERO, &packet, bin);
                        plain.push((bin, packet));
                    }
                    Operation::RemoveAny(draw) => {
                        let place = buffer.pick(draw % u64::from(buffer.total().packets.max(1)));
                        let gone = place.and_then(|place| buffer.remove(place));
                        plain.retain(|(_, packet)| Some(*packet) != gone);
                    }
                    Operation::ServeFrontOf(bin) => {
                        let served = buffer.front_of_bin(bin).and_then(|place| buffer.serve(place)).map(|(packet, _)| packet);
                        let first = plain.iter().position(|(of, _)| *of == bin);
                        prop_assert_eq!(served, first.map(|first| plain.remove(first).1));
                    }
                }
                let bytes = |bin| plain.iter().filter(|(of, _)| *of == bin).map(|(_, packet)| u64::from(packet.wire)).sum::<u64>();
                for bin in 0..7 {
                    let tally = buffer.bin_tally(bin);
                    prop_assert_eq!(tally.bytes, bytes(bin));
                    prop_assert_eq!(tally.packets as usize, plain.iter().filter(|(of, _)| *of == bin).count());
                }
                if serial >= asks_from {
                    let most = (0..7).rev().max_by_key(|bin| bytes(*bin)).filter(|bin| bytes(*bin) > 0);
                    prop_assert_eq!(buffer.fattest_bin(), most);
                }
            }
        }
    }

    #[test]
    fn a_single_list_is_its_own_fattest_and_a_number_beyond_the_last_means_the_last() {
        let mut buffer = Buffer::with_bins(0, 1);
        assert_eq!(buffer.fattest_bin(), None);
        buffer.push_into(Instant::ZERO, &packet(0, 100, Class::Tcp), 7);
        assert_eq!((buffer.fattest_bin(), buffer.bin_tally(0).packets, buffer.bin_tally(7).packets), (Some(0), 1, 0));
    }
}
