//! What a packet meets on its way: where it waits ([`queue`]), how fast links send it ([`link`]) and how they lose it ([`loss`]).
//!
//! Everything here is a pure state machine: it takes the time and an event and answers with what to do.

pub mod link;
pub mod loss;
pub mod packet;
pub mod queue;
