//! The language in which experiments are described: TOML or JSON to a checked [`plan::Plan`].

pub mod plan;
