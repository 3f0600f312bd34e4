//! `gcc` at work: on libwebrtc's own scenarios, and step by step beside a port of libwebrtc.

mod beside;
mod rig;
mod scenarios;
