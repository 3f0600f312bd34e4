//! Cache lines that will soon be read or written: the processor is asked for them while there is other work.

use std::slice;

use fairwave_core::units::Instant;
use prefetch_index::prefetch_index;

/// Bytes of a cache line.
pub const LINE: usize = 64;

/// Words of eight bytes in a cache line.
pub const WORDS: usize = LINE / 8;

/// Asks for the line in which `item` begins.
#[inline(always)]
pub fn line_of<T>(item: &T) {
    prefetch_index(slice::from_ref(item), 0);
}

/// Asks for the line in which the word is that lies so many after `start`; it may wrap.
#[inline(always)]
pub fn word_after(start: &Instant, words: usize) {
    prefetch_index(slice::from_ref(start), words);
}

/// Asks for so many lines, of which the first is that of `start`.
#[inline(always)]
pub fn lines_from(start: &Instant, lines: usize) {
    (0..lines).for_each(|line| word_after(start, line * WORDS));
}
