//! Random additions to the propagation delay of a link.
//!
//! A law draws the addition. The link keeps packets in order ([`super::Changes`]). Each direction of a link has a
//! separate random stream.
//!
//! A law is one file here and one line in `jitters!`; a program adds custom laws with [`register`].

mod gaussian;
mod uniform;

use std::sync::Arc;

use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{NameTaken, Registry, family, files, law_trait, laws};
use fairwave_units::units::Span;

/// All jitter laws, in the order of listings.
macro_rules! jitters {
    ($then:ident! $arguments:tt) => {
        $then! { $arguments
            gaussian { Gaussian(GaussianConfig) }
            uniform { Uniform(UniformConfig) }
        }
    };
}

jitters! { files! () }

law_trait! {
    /// The parameters of a jitter law.
    pub trait JitterLaw, erased AnyJitterLaw, for JitterConfig {
        /// Draws the next packet's addition to the delay of the link.
        fn draw(&self, stream: &mut Stream) -> Span;
    }
}

static OWN: Registry<dyn AnyJitterLaw> = Registry::new();

/// Registers a custom jitter law. Scenarios then name it like any other: `jitter = { model = "…", … }`.
///
/// # Errors
/// If a law has this name already.
pub fn register<L: JitterLaw>() -> Result<(), NameTaken> {
    OWN.add::<L>(JitterConfig::WHAT, JitterConfig::BUILT_IN, |law| Arc::new(law))
}

jitters! { laws! (family! (JitterConfig, "model", "jitter", dyn AnyJitterLaw, OWN)) }

/// Largest addition. A longer one is taken for a mistake.
const LONGEST: Span = Span::from_secs(3600);

/// Checks an addition to a delay.
fn check_addition(key: &str, value: Span, example: &str) -> Result<(), ConfigError> {
    if value > Span::ZERO && value <= LONGEST {
        return Ok(());
    }
    Err(ConfigError::new(key, value, format!("a time above 0, up to {LONGEST}"), example))
}
