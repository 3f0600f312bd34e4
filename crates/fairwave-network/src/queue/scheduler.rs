//! Which class of a class map sends next.
//!
//! A scheduler is told when a class comes to have packets, what each class has sent, and when it has no more. It never knows the size of
//! the packet that a class would send next: the class's own discipline may yet drop it.

/// A set of classes, by their places; a class map has no more than 33.
pub type ClassSet = u64;

/// Chooses among the classes of a class map.
pub trait Scheduler: Send {
    /// Packets wait in a class in which none did.
    fn arrived(&mut self, _class: usize) {}

    /// The class that sends next, among those that are `ready`; at least one is. Others may hold packets back (`shape`).
    fn choose(&mut self, ready: ClassSet) -> usize;

    /// The class that was chosen last has sent this many bytes on the wire.
    fn sent(&mut self, _class: usize, _bytes: u64) {}

    /// No packets wait in a class any more. `idle` says that none wait in any.
    fn emptied(&mut self, _class: usize, _idle: bool) {}
}

/// The first class of a set, which is not empty.
pub(super) fn first(ready: ClassSet) -> usize {
    ready.trailing_zeros() as usize
}
