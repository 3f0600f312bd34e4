//! What applications send ([`traffic`]), how good it is when it arrives ([`quality`]), and how it sounds ([`speech`]).

pub mod quality;
pub mod speech;
pub mod traffic;
