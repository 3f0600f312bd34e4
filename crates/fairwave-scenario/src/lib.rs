#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! A scenario passes through these steps: text → a tree that records positions in the text ([`Scenario::from_text`]) →
//! the typed model ([`model`]) → checks ([`Scenario::check`]) → presets expanded ([`Scenario::expand_preset`]) → the
//! plan for a seed ([`Scenario::plan`]). `fairwave-core` defines the parameters of the laws (link rates, queues,
//! losses, traffic, transports), and [`law`] embeds them. A new law, built in or registered by a program, therefore
//! needs no change here.
//!
//! Imports run in one direction. Text: `path`, `suggest`, `origin`, `error`, `tree`, `version`, `renames`. Written scenario: `values`,
//! `details`, `law`, `rate`, `delay`, `direction`, `access`, `topology`, `shares`, `arrivals`, `hosts`, `events`,
//! `call`, `model`. Plan: `route`, `plan`, `export`, `tap`. From one to the other: `active`, `template`, `select`,
//! `load`, `workload`, `cost`, `ranges`, `media`, `preset`, `flow_times`, `event_checks`, `call_flows`, `network_graph`,
//! `via`, `check`, `link_events`, `marks`, `service`, `cautions`, `flows`, `expand`. Input and output: `read`, `write`,
//! `exchange`, `overrides`, `upgrade`.

pub mod access;
mod active;
pub mod arrivals;
mod arriving;
mod call;
mod call_flows;
mod cautions;
mod check;
pub mod cost;
mod delay;
mod details;
mod direction;
mod error;
mod event_checks;
mod events;
mod exchange;
mod expand;
mod export;
mod flow_times;
mod flows;
pub mod foreign;
mod hosts;
pub mod law;
mod link_events;
mod load;
mod marks;
mod media;
pub mod model;
mod network_graph;
mod origin;
mod overrides;
mod path;
pub mod plan;
mod preset;
mod ranges;
mod rate;
mod read;
pub mod renames;
mod route;
mod select;
mod service;
mod shares;
mod suggest;
pub mod tap;
mod template;
pub mod topology;
mod tree;
mod upgrade;
pub mod values;
pub mod version;
mod via;
mod workload;
mod write;

pub use error::{Problem, ScenarioError};
pub use model::Scenario;
pub use path::{Path, Step};
pub use shares::{Load, Shares};
pub use upgrade::{Change, Upgrade};
