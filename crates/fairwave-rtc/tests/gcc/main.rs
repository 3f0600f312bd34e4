//! `gcc` in libwebrtc's scenarios, and step by step compared with a port of libwebrtc.

mod beside;
mod rig;
mod scenarios;
