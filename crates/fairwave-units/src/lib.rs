//! What all laws are written in: quantities without bare numbers ([`units`]), one named random stream a component ([`random`]),
//! families of laws ([`registry`]), refusals that say what to write instead ([`config`]), what holds from a time on ([`timed`]).

pub mod config;
pub mod layers;
pub mod random;
pub mod ratio;
pub mod registry;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod timed;
pub mod units;
