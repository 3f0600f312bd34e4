//! Stacks in whole runs of the simulator.

mod failing;
mod own_stack;
#[cfg(feature = "quinn")]
mod quinn;
#[cfg(feature = "str0m")]
mod str0m;
