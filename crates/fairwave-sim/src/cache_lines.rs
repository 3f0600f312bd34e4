//! Prefetching of cache lines, so that the processor loads them during other work.

use std::slice;

use fairwave_core::units::Instant;
use prefetch_index::prefetch_index;

/// Bytes of a cache line.
pub const LINE: usize = 64;

/// Words of eight bytes in a cache line.
pub const WORDS: usize = LINE / 8;

/// Prefetches the first cache line of `item`.
#[inline(always)]
pub fn line_of<T>(item: &T) {
    prefetch_index(slice::from_ref(item), 0);
}

/// Prefetches the cache line of the word at `start + words` (wrapping).
#[inline(always)]
pub fn word_after(start: &Instant, words: usize) {
    prefetch_index(slice::from_ref(start), words);
}

/// Prefetches `lines` consecutive cache lines from the line of `start`.
#[inline(always)]
pub fn lines_from(start: &Instant, lines: usize) {
    (0..lines).for_each(|line| word_after(start, line * WORDS));
}
