//! Helpers shared by the crate's tests.

use proptest::prelude::ProptestConfig;

/// Configures a fuzz test: `few` cases, or the number in `FAIRWAVE_FUZZ_CASES` (`make fuzz` sets it).
pub fn fuzz_cases(few: u32) -> ProptestConfig {
    let asked = std::env::var("FAIRWAVE_FUZZ_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig { cases: asked.unwrap_or(few), failure_persistence: None, ..ProptestConfig::default() }
}
