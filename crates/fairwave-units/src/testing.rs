//! Helpers that the crate's tests share.

use proptest::prelude::ProptestConfig;

/// A fuzz target's configuration: `few` cases, unless `FAIRWAVE_FUZZ_CASES` says how many (`make fuzz`).
pub fn fuzz_cases(few: u32) -> ProptestConfig {
    let asked = std::env::var("FAIRWAVE_FUZZ_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(few), failure_persistence: None, ..ProptestConfig::default() }
}
