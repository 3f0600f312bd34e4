//! How much longer than its propagation delay a packet takes on a link, at random.
//!
//! A law says by how much; that packets stay in order is the link's doing ([`super::Changes`]). Each direction of a link has its own
//! random stream.
//!
//! A law is one file here and one line in `jitters!`; a program's own is handed in by [`register`].

mod gaussian;
mod uniform;

use std::sync::Arc;

use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{NameTaken, Registry, family, files, law_trait, laws};
use fairwave_units::units::Span;

/// All jitter laws, in the order in which they are listed to people.
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
    /// The parameters of a jitter law, and what it draws.
    pub trait JitterLaw, erased AnyJitterLaw, for JitterConfig {
        /// What the next packet takes beside the delay of the link.
        fn draw(&self, stream: &mut Stream) -> Span;
    }
}

static OWN: Registry<dyn AnyJitterLaw> = Registry::new();

/// Hands in a jitter law of the program's own, which scenarios then name like any other: `jitter = { model = "…", … }`.
///
/// # Errors
/// When there is a law of that name.
pub fn register<L: JitterLaw>() -> Result<(), NameTaken> {
    OWN.add::<L>(JitterConfig::WHAT, JitterConfig::BUILT_IN, |law| Arc::new(law))
}

jitters! { laws! (family! (JitterConfig, "model", "jitter", dyn AnyJitterLaw, OWN)) }

/// A longer addition was meant to be a shorter one.
const LONGEST: Span = Span::from_secs(3600);

/// Accepts what a link may add to a delay.
fn check_addition(key: &str, value: Span, example: &str) -> Result<(), ConfigError> {
    if value > Span::ZERO && value <= LONGEST {
        return Ok(());
    }
    Err(ConfigError::new(key, value, format!("a time above 0, up to {LONGEST}"), example))
}
