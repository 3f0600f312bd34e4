//! Receiver of a session.

pub mod audio;
pub mod config;
pub mod fec;
pub mod feedback;
pub mod frames;
pub mod freeze;
pub mod jitter;
pub mod nack;
pub mod receiver;
pub mod reception;
pub mod synchronisation;
pub mod timing;
pub mod video;

pub use audio::{AudioSetup, Factors};
pub use config::{FeedbackFormat, ReceiveConfig};
pub use receiver::{ReceiverSetup, Shared, WebrtcReceiver};

#[cfg(test)]
mod tests;
