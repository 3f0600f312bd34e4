//! Linked lists of buffer nodes, and tallies of their content. The buffer and its further lists share them.

/// No node: marks the end of a list.
pub(super) const NIL: u32 = u32::MAX;

/// Two ends of a linked list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListEnds {
    pub front: u32,
    pub back: u32,
}

impl ListEnds {
    pub const EMPTY: ListEnds = ListEnds { front: NIL, back: NIL };
}

/// Neighbours in one linked list. In a free node, `next` of the order list is the next free one.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListLinks {
    pub previous: u32,
    pub next: u32,
}

impl ListLinks {
    pub const NONE: ListLinks = ListLinks { previous: NIL, next: NIL };
}

/// Number of waiting packets and bytes, in total, per class or per flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Packets.
    pub packets: u32,
    /// Bytes on the wire.
    pub bytes: u64,
}

impl Tally {
    pub(super) fn add(&mut self, size: u64) {
        self.packets += 1;
        self.bytes += size;
    }

    pub(super) fn take(&mut self, size: u64) {
        self.packets -= 1;
        self.bytes -= size;
    }
}

/// Appends a node to a list. A selector names the list's links, so that all lists share this code.
macro_rules! append {
    ($nodes:expr, $ends:expr, $list:ident, $place:expr) => {{
        let back = $ends.back;
        $nodes[$place as usize].$list = ListLinks { previous: back, next: NIL };
        if back == NIL {
            $ends.front = $place;
        } else {
            $nodes[back as usize].$list.next = $place;
        }
        $ends.back = $place;
    }};
}

/// Takes a node out of a list.
macro_rules! unlink {
    ($nodes:expr, $ends:expr, $list:ident, $place:expr) => {{
        let ListLinks { previous, next } = $nodes[$place as usize].$list;
        if previous == NIL {
            $ends.front = next;
        } else {
            $nodes[previous as usize].$list.next = next;
        }
        if next == NIL {
            $ends.back = previous;
        } else {
            $nodes[next as usize].$list.previous = previous;
        }
    }};
}

pub(super) use {append, unlink};
