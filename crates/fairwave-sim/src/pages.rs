//! Lists of entries in shared memory. Each list takes pages of a few entries. Released pages are reused last in,
//! first out, while they are still in a cache. So memory use follows the number of entries, however unevenly the
//! lists grow.

use fairwave_core::packet::Packet;
use fairwave_core::units::Instant;

use crate::cache_lines::{LINE, line_of, lines_from};
use crate::entry::Entry;
use crate::event::{Event, EventKind};

/// Entries per page.
const PAGE: usize = 8;

/// No page.
const NONE: u32 = u32::MAX;

/// A list of entries in order of insertion. Use it only with the [`Pages`] that created it.
#[derive(Clone, Copy, Debug)]
pub struct List {
    first: u32,
    last: u32,
    len: u32,
}

impl List {
    /// Empty list.
    pub const EMPTY: List = List { first: NONE, last: NONE, len: 0 };

    /// Returns the number of entries.
    #[inline]
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether the list is empty.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// Location of an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageSlot(u32);

impl PageSlot {
    /// An entry that is in no list.
    pub const NOWHERE: PageSlot = PageSlot(u32::MAX);
}

/// Entries prefetched per call. Few, because a processor stalls with too many outstanding lines.
const AT_ONCE: usize = 2;

const _: () = assert!(PAGE.is_multiple_of(AT_ONCE));

/// Progress of prefetching a list. If the list is released in the meantime, the rest of the prefetching is useless
/// but harmless.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    page: u32,
    within: usize,
    left: u32,
}

impl Walk {
    /// A walk without remaining entries.
    pub const DONE: Walk = Walk { page: NONE, within: 0, left: 0 };
}

/// Pages of all lists.
pub struct Pages {
    /// Entries, page after page.
    entries: Vec<Entry>,
    /// For each page: the next page of its list, or the next free page.
    next: Vec<u32>,
    /// First free page.
    free: u32,
}

impl Default for Pages {
    fn default() -> Self {
        Pages { entries: Vec::new(), next: Vec::new(), free: NONE }
    }
}

impl Pages {
    /// Creates pages with capacity for `entries` entries. The system commits the memory only on use. Growth step by
    /// step would instead leave old allocations behind that are too small to reuse.
    pub fn with_room(entries: usize) -> Self {
        Pages { entries: Vec::with_capacity(entries), ..Pages::default() }
    }

    /// Appends an entry to `list`.
    #[inline]
    pub fn push(&mut self, list: &mut List, entry: &Entry) -> PageSlot {
        let place = self.next_place(list);
        self.entries[place] = *entry;
        PageSlot(place as u32)
    }

    /// Appends the entry of an arriving packet to `list`. Always inlined and written field by field: a copy of an
    /// entry built elsewhere would have to wait for its fields.
    #[inline(always)]
    pub fn push_arrival(&mut self, list: &mut List, event: Event, packet: &Packet, next: u32, step: u32) -> PageSlot {
        let place = self.next_place(list);
        let entry = &mut self.entries[place];
        entry.event = event;
        entry.transit.packet = *packet;
        entry.transit.next = next;
        entry.transit.place = step;
        PageSlot(place as u32)
    }

    /// Appends a timer's entry to `list`. The old, meaningless packet of the slot stays.
    #[inline(always)]
    pub fn push_timer(&mut self, list: &mut List, event: Event) -> PageSlot {
        let place = self.next_place(list);
        self.entries[place].event = event;
        PageSlot(place as u32)
    }

    /// Makes room for another entry at the end of `list`.
    #[inline(always)]
    fn next_place(&mut self, list: &mut List) -> usize {
        let offset = list.len() % PAGE;
        if offset == 0 {
            self.add_page(list);
        }
        list.len += 1;
        list.last as usize * PAGE + offset
    }

    #[inline(never)]
    fn add_page(&mut self, list: &mut List) {
        if self.free == NONE {
            let filling = Entry::timer(Event::new(Instant::NEVER, EventKind::Sample, 0));
            self.entries.resize(self.entries.len() + PAGE, filling);
            self.free = self.next.len() as u32;
            self.next.push(NONE);
        }
        let page = self.free;
        self.free = self.next[page as usize];
        if list.is_empty() {
            list.first = page;
        } else {
            self.next[list.last as usize] = page;
        }
        list.last = page;
    }

    /// Returns the entry at `place`.
    #[inline]
    pub fn entry(&self, place: PageSlot) -> &Entry {
        &self.entries[place.0 as usize]
    }

    /// Iterates over the entries of `list` in order, with their locations.
    pub fn iter(&self, list: List) -> impl Iterator<Item = (PageSlot, &Entry)> {
        let mut page = list.first;
        (0..list.len()).map(move |number| {
            if number > 0 && number % PAGE == 0 {
                page = self.next[page as usize];
            }
            let place = page as usize * PAGE + number % PAGE;
            (PageSlot(place as u32), &self.entries[place])
        })
    }

    /// Applies `make` to each entry of `list` and appends the results to `to`, in order. It works page by page, which
    /// is cheaper than [`Self::iter`].
    #[inline]
    pub fn map_to<T>(&self, list: List, to: &mut Vec<T>, make: impl Fn(PageSlot, &Entry) -> T) {
        let (mut page, mut left) = (list.first as usize, list.len());
        while left > 0 {
            let (first, here) = (page * PAGE, left.min(PAGE));
            let entries = self.entries[first..first + here].iter().enumerate();
            to.extend(entries.map(|(place, entry)| make(PageSlot((first + place) as u32), entry)));
            left -= here;
            page = self.next[page] as usize;
        }
    }

    /// Prefetches the next entries of a list and advances the walk.
    #[inline(always)]
    pub fn fetch(&self, walk: &mut Walk) {
        if walk.left == 0 {
            return;
        }
        let Some(first) = self.entries.get((walk.page as usize).wrapping_mul(PAGE) + walk.within) else { return };
        lines_from(&first.event.at, (AT_ONCE * size_of::<Entry>()).div_ceil(LINE));
        walk.left = walk.left.saturating_sub(AT_ONCE as u32);
        walk.within += AT_ONCE;
        if walk.within == PAGE {
            // This number was prefetched when the walk reached the page.
            walk.page = self.next.get(walk.page as usize).copied().unwrap_or(NONE);
            walk.within = 0;
            if let Some(next) = self.next.get(walk.page as usize) {
                line_of(next);
            }
        }
    }

    /// Starts to prefetch the current entries of `list`.
    pub fn walk(&self, list: List) -> Walk {
        if let Some(next) = self.next.get(list.first as usize) {
            line_of(next);
        }
        Walk { page: list.first, within: 0, left: list.len }
    }

    /// Removes the first page of `list` and stores its entries in `to`, replacing the old content. Returns false if
    /// there is none. Take or release the rest of `list` as well; do not add entries to it.
    pub fn take_first(&mut self, list: &mut List, to: &mut Vec<Entry>) -> bool {
        to.clear();
        if list.is_empty() {
            return false;
        }
        let (page, here) = (list.first as usize, list.len().min(PAGE));
        to.extend_from_slice(&self.entries[page * PAGE..page * PAGE + here]);
        list.first = self.next[page];
        list.len -= here as u32;
        self.next[page] = self.free;
        self.free = page as u32;
        true
    }

    /// Empties `list` and frees all its pages in one step, since they are already linked.
    pub fn release(&mut self, list: &mut List) {
        if !list.is_empty() {
            self.next[list.last as usize] = self.free;
            self.free = list.first;
        }
        *list = List::EMPTY;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn lists_keep_their_entries_in_order(
            ops in prop::collection::vec((0usize..4, 0u32..12), 1..300)
        ) {
            let (mut pages, mut lists) = (Pages::default(), [List::EMPTY; 4]);
            let mut plain: [Vec<Entry>; 4] = Default::default();
            let mut most = 0;
            for (number, (list, what)) in (0u64..).zip(ops) {
                if what == 0 {
                    pages.release(&mut lists[list]);
                    plain[list].clear();
                } else {
                    let entry = Entry::timer(Event::new(Instant::from_nanos(number), EventKind::Sender, list));
                    let place = pages.push(&mut lists[list], &entry);
                    prop_assert_eq!(pages.entry(place), &entry);
                    plain[list].push(entry);
                }
                for (list, plain) in lists.iter().zip(&plain) {
                    prop_assert_eq!(list.len(), plain.len());
                    prop_assert!(pages.iter(*list).map(|(_, entry)| entry).eq(plain));
                    prop_assert!(pages.iter(*list).all(|(place, entry)| pages.entry(place) == entry));
                    let (mut each, listed) = (Vec::new(), pages.iter(*list).map(|(place, entry)| (place, *entry)));
                    pages.map_to(*list, &mut each, |place, entry| (place, *entry));
                    prop_assert_eq!(each, listed.collect::<Vec<_>>());
                }
                most = most.max(plain.iter().map(|list| list.len().div_ceil(PAGE)).sum());
            }
            prop_assert_eq!(pages.next.len(), most, "pages are used again");
        }
    }

    #[test]
    fn a_walk_visits_all_entries_of_a_list_and_stays_at_the_end() {
        let (mut pages, mut lists) = (Pages::default(), [List::EMPTY; 2]);
        let entry = Entry::timer(Event::new(Instant::ZERO, EventKind::Sender, 0));
        for number in 0..5 * PAGE + 3 {
            pages.push(&mut lists[usize::from(number % 3 == 0)], &entry);
        }
        for list in lists {
            let mut walk = pages.walk(list);
            for (place, _) in pages.iter(list).step_by(AT_ONCE) {
                assert_eq!(walk.page as usize * PAGE + walk.within, place.0 as usize);
                pages.fetch(&mut walk);
            }
            let end = (walk.page, walk.within, walk.left);
            pages.fetch(&mut walk);
            assert_eq!((walk.page, walk.within, walk.left), (end.0, end.1, 0));
        }
        // A released list, and empty ones.
        for mut walk in [Walk { page: NONE, within: 0, left: 9 }, Walk::DONE, pages.walk(List::EMPTY)] {
            pages.fetch(&mut walk);
            assert_eq!((walk.page, walk.within), (NONE, 0));
        }
    }
}
