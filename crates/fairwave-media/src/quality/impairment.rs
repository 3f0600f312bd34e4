//! How codecs sound and how well they bear losses: equipment impairment factors Ie and packet-loss robustness factors Bpl.
//!
//! Narrowband: ITU-T G.113 Appendix I (2007), Tables I.1 and I.4. Wideband: ITU-T G.113 Appendix IV, Table IV.1 (listening
//! with one ear, as with a handset) for Ie,wb and Table IV.4 for Bpl,wb.
//!
//! **Assumptions.** G.113 has Ie for more codecs than Bpl. Where it has none, one is assumed and marked
//! ([`Impairment::assumed`], with the reason in [`Impairment::source`]):
//! - A narrowband codec that conceals losses takes 10.0, the least that G.113 has for one that does (GSM-EFR); G.723.1 at
//!   5.3 kb/s takes 16.1 from its other rate, whose concealment it shares. Without concealment, 4.3: G.711 without.
//! - AMR at 12.2 kb/s takes both values of GSM-EFR, whose coder it is (3GPP TS 26.071).
//! - A wideband codec takes 4.3, the least of Table IV.4. What that table has for three modes of AMR-WB was measured with
//!   both ears, so beside Table IV.1's Ie,wb it counts as assumed too.
//!
//! - AMR at 7.4 kb/s takes Ie of IS-641, whose coder it is (3GPP TS 26.071), and Bpl as above.
//!
//! A codec that a scenario describes ([`CodecTable`](crate::traffic::CodecTable)) has the factors, and the source, that the scenario
//! gives, or none.
//!
//! G.729 and G.723.1 are those with voice activity detection (G.729A + VAD, G.723.1A + VAD), for which both are published.
//! For iLBC, the other modes of AMR, EVS and Opus no factor on either scale is known here: nothing is made up. (The fullband scale
//! of G.107.2 is not modelled.)

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::traffic::{Codec, OtherCodec};

/// How the decoder conceals a lost packet. You can choose for G.711 and G.726 only: the other codecs conceal by design.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Concealment {
    /// Waveform substitution as in ITU-T G.711 Appendix I.
    #[default]
    AppendixI,
    /// Silence.
    None,
}

/// What the receiver's side adds to a rating besides the codec: what it does about gaps, and what its users put up with.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Reception {
    /// What the decoder does about lost packets.
    pub concealment: Concealment,
    /// A, the advantage factor of ITU-T G.107 §7.6, 0 to 20: what users forgive for an advantage of access. Its provisional values are at most 0 by
    /// wire, 5 within a building, 10 within an area or in a vehicle, 20 where nothing else reaches.
    pub advantage: f64,
}

impl From<Concealment> for Reception {
    fn from(concealment: Concealment) -> Self {
        Reception { concealment, advantage: 0.0 }
    }
}

/// A codec's impairment.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Impairment {
    /// Equipment impairment factor Ie (wideband: Ie,wb), without losses.
    pub equipment: f64,
    /// Packet-loss robustness factor Bpl (wideband: Bpl,wb); larger is more robust.
    pub robustness: f64,
    /// Whether a factor is assumed, because no published one is known for this codec.
    pub assumed: bool,
    /// Whether the scenario gives both.
    pub given: bool,
    /// Where the factors come from; when one is assumed, from what.
    pub source: &'static str,
}

/// Bpl of G.711 without concealment, and G.107's default.
const LEAST_ROBUST: f64 = 4.3;
/// Bpl of GSM-EFR: the least in G.113 Table I.4 of a codec that conceals.
const LEAST_CONCEALED: f64 = 10.0;
/// Bpl,wb of AMR-WB at 12.65 kb/s: the least in G.113 Table IV.4.
const LEAST_WIDEBAND: f64 = 4.3;

const fn published(equipment: f64, robustness: f64) -> Option<Impairment> {
    Some(Impairment { equipment, robustness, assumed: false, given: false, source: "G.113 Appendix I" })
}

const fn assumed(equipment: f64, robustness: f64, source: &'static str) -> Option<Impairment> {
    Some(Impairment { equipment, robustness, assumed: true, given: false, source })
}

/// The impairment that a scenario gives for a custom codec, if that codec is rated on the requested scale.
const fn given(codec: OtherCodec, wideband: bool) -> Option<Impairment> {
    let table = codec.table();
    match (table.ie, table.bpl, &table.source) {
        (Some(equipment), Some(robustness), Some(source)) if table.wideband == wideband => {
            Some(Impairment { equipment, robustness, assumed: false, given: true, source: source.as_str() })
        }
        _ => None,
    }
}

/// An Ie of G.113 Appendix I for a codec that has no Bpl there.
const fn without_bpl(equipment: f64) -> Option<Impairment> {
    assumed(equipment, LEAST_CONCEALED, "Bpl: the least in G.113 of a codec that conceals")
}

/// An Ie of G.113 Appendix I for G.726, which conceals only if the receiver does.
const fn adaptive_pcm(equipment: f64, concealment: Concealment) -> Option<Impairment> {
    match concealment {
        Concealment::AppendixI => without_bpl(equipment),
        Concealment::None => assumed(equipment, LEAST_ROBUST, "Bpl: G.711's without concealment"),
    }
}

/// The narrowband impairment of `codec`, for [`super::emodel`]; none for wideband codecs and those that G.113 does not have.
pub const fn of(codec: Codec, concealment: Concealment) -> Option<Impairment> {
    match codec {
        Codec::G711 => match concealment {
            Concealment::AppendixI => published(0.0, 25.1),
            Concealment::None => published(0.0, LEAST_ROBUST),
        },
        Codec::G726At40 => adaptive_pcm(2.0, concealment),
        Codec::G726At32 => adaptive_pcm(7.0, concealment),
        Codec::G726At24 => adaptive_pcm(25.0, concealment),
        Codec::G726At16 => adaptive_pcm(50.0, concealment),
        Codec::G728 => without_bpl(7.0),
        Codec::G729 => published(11.0, 19.0),
        Codec::G7231At63 => published(15.0, 16.1),
        Codec::G7231At53 => assumed(19.0, 16.1, "Bpl: G.723.1's at 6.3 kb/s, which conceals alike"),
        Codec::GsmFullRate => without_bpl(20.0),
        Codec::GsmHalfRate => without_bpl(23.0),
        Codec::GsmEnhancedFullRate => published(5.0, LEAST_CONCEALED),
        Codec::Amr740 => assumed(
            10.0,
            LEAST_CONCEALED,
            "Ie: IS-641's, whose coder this mode is; Bpl: the least in G.113 of a codec that conceals",
        ),
        Codec::Other(other) => given(other, false),
        Codec::Amr122 => assumed(5.0, LEAST_CONCEALED, "Ie and Bpl: GSM-EFR's, whose coder this mode is"),
        _ => None,
    }
}

/// The wideband impairment of `codec`, for [`super::emodel_wideband`]; none for narrowband codecs.
pub const fn wideband(codec: Codec) -> Option<Impairment> {
    const ONE_EAR: &str = "Bpl,wb: G.113 Table IV.4, which is for listening with both ears";
    const LEAST: &str = "Bpl,wb: the least in G.113 Table IV.4";
    match codec {
        Codec::G722 => assumed(13.0, LEAST_WIDEBAND, LEAST),
        Codec::AmrWb660 => assumed(41.0, LEAST_WIDEBAND, LEAST),
        Codec::AmrWb885 => assumed(26.0, LEAST_WIDEBAND, LEAST),
        Codec::AmrWb1265 => assumed(13.0, LEAST_WIDEBAND, ONE_EAR),
        Codec::AmrWb1425 => assumed(10.0, LEAST_WIDEBAND, LEAST),
        Codec::AmrWb1585 => assumed(7.0, LEAST_WIDEBAND, LEAST),
        Codec::AmrWb1825 => assumed(5.0, LEAST_WIDEBAND, LEAST),
        Codec::AmrWb1985 => assumed(3.0, LEAST_WIDEBAND, LEAST),
        Codec::AmrWb2305 => assumed(1.0, 4.6, ONE_EAR),
        Codec::AmrWb2385 => assumed(8.0, 4.9, ONE_EAR),
        Codec::Other(other) => given(other, true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ie, Bpl and whether either is assumed.
    type Factors = Option<(f64, f64, bool)>;

    /// With what receivers do by default.
    fn factors(codec: Codec) -> Factors {
        let one = of(codec, Concealment::AppendixI).or(wideband(codec))?;
        Some((one.equipment, one.robustness, one.assumed))
    }

    #[test]
    fn factors_are_those_of_g113_and_what_it_lacks_is_marked() {
        let table: [(Codec, Factors); 32] = [
            (Codec::G711, Some((0.0, 25.1, false))),
            (Codec::G722, Some((13.0, 4.3, true))),
            (Codec::G726At40, Some((2.0, 10.0, true))),
            (Codec::G726At32, Some((7.0, 10.0, true))),
            (Codec::G726At24, Some((25.0, 10.0, true))),
            (Codec::G726At16, Some((50.0, 10.0, true))),
            (Codec::G728, Some((7.0, 10.0, true))),
            (Codec::G729, Some((11.0, 19.0, false))),
            (Codec::G7231At63, Some((15.0, 16.1, false))),
            (Codec::G7231At53, Some((19.0, 16.1, true))),
            (Codec::GsmFullRate, Some((20.0, 10.0, true))),
            (Codec::GsmHalfRate, Some((23.0, 10.0, true))),
            (Codec::GsmEnhancedFullRate, Some((5.0, 10.0, false))),
            (Codec::Amr475, None),
            (Codec::Amr515, None),
            (Codec::Amr590, None),
            (Codec::Amr670, None),
            (Codec::Amr740, Some((10.0, 10.0, true))),
            (Codec::Amr795, None),
            (Codec::Amr102, None),
            (Codec::Amr122, Some((5.0, 10.0, true))),
            (Codec::Ilbc20, None),
            (Codec::Ilbc30, None),
            (Codec::AmrWb660, Some((41.0, 4.3, true))),
            (Codec::AmrWb885, Some((26.0, 4.3, true))),
            (Codec::AmrWb1265, Some((13.0, 4.3, true))),
            (Codec::AmrWb1425, Some((10.0, 4.3, true))),
            (Codec::AmrWb1585, Some((7.0, 4.3, true))),
            (Codec::AmrWb1825, Some((5.0, 4.3, true))),
            (Codec::AmrWb1985, Some((3.0, 4.3, true))),
            (Codec::AmrWb2305, Some((1.0, 4.6, true))),
            (Codec::AmrWb2385, Some((8.0, 4.9, true))),
        ];
        let (known, unknown) = Codec::ALL.split_at(table.len());
        assert_eq!(table.map(|(codec, _)| codec), known);
        assert!(unknown.iter().all(|codec| (codec.is_evs() || codec.is_opus()) && factors(*codec).is_none()));
        for (codec, expected) in table {
            assert_eq!(factors(codec), expected, "{codec:?}");
        }
    }

    #[test]
    fn without_concealment_only_pcm_and_adaptive_pcm_bear_losses_worse() {
        for codec in Codec::ALL {
            let (with, without) = (of(codec, Concealment::AppendixI), of(codec, Concealment::None));
            if codec.name() == "g711" || codec.name().starts_with("g726") {
                assert_eq!(without.expect("in G.113").robustness, 4.3, "{codec:?}");
                assert_eq!(without.expect("in G.113").equipment, with.expect("in G.113").equipment, "{codec:?}");
            } else {
                assert_eq!(with, without, "{codec:?}");
            }
        }
    }

    #[test]
    fn a_codec_of_a_scenarios_own_has_the_factors_that_the_scenario_gives() {
        let codec = |wideband| {
            let json = format!(r#"{{"rate":"13 kb/s","ie":20,"bpl":10,"source":"mine","wideband":{wideband}}}"#);
            serde_json::from_str::<Codec>(&json).expect("a codec")
        };
        let expected = Impairment { equipment: 20.0, robustness: 10.0, assumed: false, given: true, source: "mine" };
        let both = |codec| (of(codec, Concealment::AppendixI), wideband(codec));
        assert_eq!(both(codec(false)), (Some(expected), None));
        assert_eq!(both(codec(true)), (None, Some(expected)));
        let without = serde_json::from_str::<Codec>(r#"{"rate":"13 kb/s"}"#).expect("a codec");
        assert_eq!(both(without), (None, None));
    }

    #[test]
    fn no_codec_is_rated_on_two_scales() {
        for codec in Codec::ALL {
            assert!(of(codec, Concealment::AppendixI).is_none() || wideband(codec).is_none(), "{codec:?}");
        }
    }

    #[test]
    fn an_assumed_factor_says_from_what_and_a_published_one_where() {
        for codec in Codec::ALL {
            let Some(one) = of(codec, Concealment::AppendixI).or(wideband(codec)) else { continue };
            assert_eq!(one.source == "G.113 Appendix I", !one.assumed, "{codec:?}");
            assert!(!one.assumed || one.source.contains("Bpl"), "{codec:?}: {}", one.source);
        }
    }
}
