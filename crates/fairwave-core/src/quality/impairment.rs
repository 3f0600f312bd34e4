//! How codecs sound and how well they bear losses: equipment impairment factor Ie and packet-loss robustness factor Bpl of
//! ITU-T G.113 Appendix I (2007), Tables I.1 and I.4.
//!
//! **Assumptions.** G.113 gives Ie for more codecs than Bpl. For a codec without one, Bpl is taken as 4.3, the standard's
//! lowest (G.711 without concealment) and G.107's default: a pessimistic choice, marked by [`Impairment::published`].
//! G.729 and G.723.1 are those with voice activity detection (G.729A + VAD, G.723.1A + VAD), for which both are published.
//! AMR at 12.2 kb/s is GSM-EFR and takes its values. G.722 and iLBC have no narrowband values there: none are made up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::traffic::Codec;

/// What the decoder does about a lost packet. Only G.711 leaves a choice: the other codecs conceal by design.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Concealment {
    /// Waveform substitution as in ITU-T G.711 Appendix I.
    #[default]
    AppendixI,
    /// Silence.
    None,
}

/// A codec's impairment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Impairment {
    /// Equipment impairment factor Ie, without losses.
    pub equipment: f64,
    /// Packet-loss robustness factor Bpl; larger is more robust.
    pub robustness: f64,
    /// False when the robustness is assumed, because G.113 has none for this codec.
    pub published: bool,
}

/// Bpl of G.711 without concealment, and G.107's default.
const LEAST_ROBUST: f64 = 4.3;

/// The impairment of `codec`; none for codecs that have no narrowband values in G.113.
pub const fn of(codec: Codec, concealment: Concealment) -> Option<Impairment> {
    let (equipment, robustness) = match codec {
        Codec::G711 => match concealment {
            Concealment::AppendixI => (0.0, Some(25.1)),
            Concealment::None => (0.0, Some(LEAST_ROBUST)),
        },
        Codec::G726At40 => (2.0, None),
        Codec::G726At32 => (7.0, None),
        Codec::G726At24 => (25.0, None),
        Codec::G726At16 => (50.0, None),
        Codec::G728 => (7.0, None),
        Codec::G729 => (11.0, Some(19.0)),
        Codec::G7231At63 => (15.0, Some(16.1)),
        Codec::G7231At53 => (19.0, None),
        Codec::GsmFullRate => (20.0, None),
        Codec::GsmHalfRate => (23.0, None),
        Codec::GsmEnhancedFullRate | Codec::Amr122 => (5.0, Some(10.0)),
        Codec::G722 | Codec::Ilbc20 | Codec::Ilbc30 => return None,
    };
    let published = robustness.is_some();
    let robustness = match robustness {
        Some(robustness) => robustness,
        None => LEAST_ROBUST,
    };
    Some(Impairment { equipment, robustness, published })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn concealment_helps_g711_and_changes_nothing_for_codecs_that_conceal_by_design() {
        let robustness = |codec, concealment| of(codec, concealment).expect("in G.113").robustness;
        assert!(robustness(Codec::G711, Concealment::AppendixI) > robustness(Codec::G711, Concealment::None));
        assert_eq!(of(Codec::G729, Concealment::AppendixI), of(Codec::G729, Concealment::None));
    }

    #[test]
    fn no_values_are_made_up_for_wideband() {
        assert_eq!(of(Codec::G722, Concealment::AppendixI), None);
    }
}
