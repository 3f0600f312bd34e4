//! Lists of entries that share their memory. Each list takes a page of a few entries at a time. Pages that are given
//! back are taken again last in, first out, while they are still in a cache. So the memory is that of the entries there
//! are, however unevenly they come to the lists.

use fairwave_core::packet::Packet;
use fairwave_core::units::Instant;

use crate::entry::Entry;
use crate::event::{Event, EventKind};
use crate::prefetch::{LINE, line_of, lines_from};

/// Entries of a page.
const PAGE: usize = 8;

/// No page.
const NONE: u32 = u32::MAX;

/// A list of entries in the order in which they were added. Belongs to the [`Pages`] that it was made in.
#[derive(Clone, Copy, Debug)]
pub struct List {
    first: u32,
    last: u32,
    len: u32,
}

impl List {
    /// Nothing.
    pub const EMPTY: List = List { first: NONE, last: NONE, len: 0 };

    /// How many entries it has.
    #[inline]
    pub fn len(self) -> usize {
        self.len as usize
    }

    /// Whether it has none.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// Where an entry is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PageSlot(u32);

impl PageSlot {
    /// An entry that is in no list.
    pub const NOWHERE: PageSlot = PageSlot(u32::MAX);
}

/// Entries that one call prefetches. Few, since a processor waits when too many lines are on their way.
const AT_ONCE: usize = 2;

const _: () = assert!(PAGE.is_multiple_of(AT_ONCE));

/// Progress of prefetching a list. If the list is released meanwhile, prefetching the rest is useless but harmless.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    page: u32,
    within: usize,
    left: u32,
}

impl Walk {
    /// A walk with no entries left.
    pub const DONE: Walk = Walk { page: NONE, within: 0, left: 0 };
}

/// The pages of all lists.
pub struct Pages {
    /// Page after page.
    entries: Vec<Entry>,
    /// For each page the one that follows it in its list, or among those of no list.
    next: Vec<u32>,
    /// The first page of no list.
    free: u32,
}

impl Default for Pages {
    fn default() -> Self {
        Pages { entries: Vec::new(), next: Vec::new(), free: NONE }
    }
}

impl Pages {
    /// Pages with room for so many entries, which takes memory only as it is used. What grows step by step instead leaves
    /// its earlier places behind, too small for anything else.
    pub fn with_room(entries: usize) -> Self {
        Pages { entries: Vec::with_capacity(entries), ..Pages::default() }
    }

    /// Adds an entry at the end of `list`.
    #[inline]
    pub fn push(&mut self, list: &mut List, entry: &Entry) -> PageSlot {
        let place = self.next_place(list);
        self.entries[place] = *entry;
        PageSlot(place as u32)
    }

    /// Adds the entry of a packet that arrives. Always inlined and written part by part: an entry that is made elsewhere and copied
    /// costs more, the copy having to wait for the parts.
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

    /// Adds a timer's entry at the end of `list`: what stands in the place of its packet, which means nothing, stays.
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

    /// The entry at `place`.
    #[inline]
    pub fn at(&self, place: PageSlot) -> &Entry {
        &self.entries[place.0 as usize]
    }

    /// The entries of `list`, in order, with their places.
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

    /// Adds what `make` makes of each entry of `list` to `to`, in order. Page by page, which costs less than [`Self::iter`].
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

    /// Prefetches the next entries of a list, and moves on.
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
            // This number was prefetched when the walk came to the page.
            walk.page = self.next.get(walk.page as usize).copied().unwrap_or(NONE);
            walk.within = 0;
            if let Some(next) = self.next.get(walk.page as usize) {
                line_of(next);
            }
        }
    }

    /// Begins to prefetch the entries that `list` has now.
    pub fn walk(&self, list: List) -> Walk {
        if let Some(next) = self.next.get(list.first as usize) {
            line_of(next);
        }
        Walk { page: list.first, within: 0, left: list.len }
    }

    /// Takes the first page out of `list` and gives its entries in `to`, in place of what that held. False if there is none. What `list`
    /// still has is taken in the same way, or thrown away: no entry may be added to it.
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

    /// Empties `list` and takes its pages back: all at once, since they already follow each other.
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
        fn each_list_keeps_what_was_put_into_it_in_order(
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
                    prop_assert_eq!(pages.at(place), &entry);
                    plain[list].push(entry);
                }
                for (list, plain) in lists.iter().zip(&plain) {
                    prop_assert_eq!(list.len(), plain.len());
                    prop_assert!(pages.iter(*list).map(|(_, entry)| entry).eq(plain));
                    prop_assert!(pages.iter(*list).all(|(place, entry)| pages.at(place) == entry));
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
