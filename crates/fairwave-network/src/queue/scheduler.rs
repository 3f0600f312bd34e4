//! Schedulers: choose the class of a class map that sends next.
//!
//! A stage informs its scheduler when a class becomes backlogged, how much each class has sent, and when a class becomes
//! empty. A scheduler never knows the size of a class's next packet, because the class's discipline may still drop it.

/// A set of classes as a bit mask; a class map has at most 33.
pub type ClassSet = u64;

/// Chooses among the classes of a class map.
pub trait Scheduler: Send {
    /// A packet arrived in an empty class.
    fn arrived(&mut self, _class: usize) {}

    /// Returns the class that sends next, from the set `ready` with at least one class. Other classes may hold packets back
    /// (`shape`).
    fn choose(&mut self, ready: ClassSet) -> usize;

    /// The class that was chosen last has sent this many bytes on the wire.
    fn sent(&mut self, _class: usize, _bytes: u64) {}

    /// A class became empty. `idle` is true if all classes are empty.
    fn emptied(&mut self, _class: usize, _idle: bool) {}
}

/// The first class of a non-empty set.
pub(super) fn first(ready: ClassSet) -> usize {
    ready.trailing_zeros() as usize
}
