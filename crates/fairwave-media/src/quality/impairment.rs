//! Impairment of codecs: equipment impairment factors Ie and packet-loss robustness factors Bpl.
//!
//! Narrowband: ITU-T G.113 Appendix I (2007), Tables I.1 and I.4. Wideband: ITU-T G.113 Appendix IV, Table IV.1
//! (monaural listening, as with a handset) for Ie,wb and Table IV.4 for Bpl,wb.
//!
//! **Assumptions.** G.113 has Ie for more codecs than Bpl. A missing factor is assumed and marked
//! ([`Impairment::origin`], with the reason in [`Impairment::source`]):
//! - A narrowband codec with concealment gets 10.0, the least in G.113 for such a codec (GSM-EFR). G.723.1 at 5.3 kb/s
//!   gets 16.1 from its other rate, which has the same concealment. Without concealment the value is 4.3, that of G.711
//!   without concealment.
//! - AMR at 12.2 kb/s gets both values of GSM-EFR, which is the same coder (3GPP TS 26.071).
//! - A wideband codec gets 4.3, the least of Table IV.4. That table's values for three modes of AMR-WB were measured
//!   binaurally. So together with Table IV.1's Ie,wb they count as assumed, too.
//!
//! - AMR at 7.4 kb/s gets Ie of IS-641, which is the same coder (3GPP TS 26.071), and Bpl as above.
//!
//! A codec that a scenario describes ([`CodecTable`](crate::traffic::CodecTable)) has the factors and the source from
//! the scenario, or none.
//!
//! G.729 and G.723.1 are the versions with voice activity detection (G.729A + VAD, G.723.1A + VAD), for which both
//! factors are published. For iLBC, the other modes of AMR, and EVS, no factor on either scale is known; none is
//! invented. (The fullband scale of G.107.2 is not modelled.)
//!
//! No table of ITU-T has Opus. Its factors are determined here by the methods of G.113 and P.834.1 ([`opus`],
//! `docs/opus.md`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::traffic::codec::Codec;
use crate::traffic::other_codec::OtherCodec;
use fairwave_units::units::Rate;

/// Concealment of lost packets by the decoder. You can choose it for G.711 and G.726 only: the other codecs conceal by
/// design.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Concealment {
    /// Waveform substitution of ITU-T G.711 Appendix I.
    #[default]
    AppendixI,
    /// Silence.
    None,
}

/// Properties of both ends that affect a rating: protection against gaps, and tolerance of users.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reception {
    /// Concealment of lost packets by the decoder.
    pub concealment: Concealment,
    /// True if packets of Opus contain a low-rate copy of the previous frame (RFC 6716 §2.1.7). Other codecs have no
    /// such copies.
    pub in_band_fec: bool,
    /// A, the advantage factor of ITU-T G.107 §7.6, 0 to 20: the impairment that users accept in exchange for an
    /// advantage of access. Its provisional upper limits are 0 by wire, 5 within a building, 10 within an area or in a
    /// vehicle, 20 in places without other access.
    pub advantage: f64,
}

impl Default for Reception {
    fn default() -> Self {
        Reception { concealment: Concealment::default(), in_band_fec: IN_BAND_FEC, advantage: 0.0 }
    }
}

impl From<Concealment> for Reception {
    fn from(concealment: Concealment) -> Self {
        Reception { concealment, ..Reception::default() }
    }
}

/// True if Opus sends in-band FEC by default, as WebRTC does.
pub const IN_BAND_FEC: bool = true;

/// Origin of a codec's factors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// ITU-T G.113 has both.
    Published,
    /// One or both are assumed, because none is published for this codec (†).
    Assumed,
    /// Determined here by experiment (‡).
    Determined,
    /// The scenario gives both.
    Given,
}

/// Impairment of a codec.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Impairment {
    /// Equipment impairment factor Ie (wideband: Ie,wb), without losses.
    pub equipment: f64,
    /// Packet-loss robustness factor Bpl (wideband: Bpl,wb); larger is more robust.
    pub robustness: f64,
    /// Origin of the factors.
    pub origin: Origin,
    /// Source in words; for an assumed factor, the reason for its value.
    pub source: &'static str,
}

/// Bpl of G.711 without concealment, and G.107's default.
const LEAST_ROBUST: f64 = 4.3;
/// Bpl of GSM-EFR: the least in G.113 Table I.4 for a codec with concealment.
const LEAST_CONCEALED: f64 = 10.0;
/// Bpl,wb of AMR-WB at 12.65 kb/s: the least in G.113 Table IV.4.
const LEAST_WIDEBAND: f64 = 4.3;

const fn published(equipment: f64, robustness: f64) -> Option<Impairment> {
    Some(Impairment { equipment, robustness, origin: Origin::Published, source: "G.113 Appendix I" })
}

const fn assumed(equipment: f64, robustness: f64, source: &'static str) -> Option<Impairment> {
    Some(Impairment { equipment, robustness, origin: Origin::Assumed, source })
}

/// Returns the impairment that a scenario gives for a custom codec, if that codec is rated on the requested scale.
const fn given(codec: OtherCodec, wideband: bool) -> Option<Impairment> {
    let table = codec.table();
    match (table.ie, table.bpl, &table.source) {
        (Some(equipment), Some(robustness), Some(source)) if table.wideband == wideband => {
            Some(Impairment { equipment, robustness, origin: Origin::Given, source: source.as_str() })
        }
        _ => None,
    }
}

/// Returns an Ie of G.113 Appendix I for a codec without Bpl there.
const fn with_assumed_bpl(equipment: f64) -> Option<Impairment> {
    assumed(equipment, LEAST_CONCEALED, "Bpl: the least in G.113 of a codec that conceals")
}

/// Returns an Ie of G.113 Appendix I for G.726, which conceals only if the receiver does.
const fn adaptive_pcm(equipment: f64, concealment: Concealment) -> Option<Impairment> {
    match concealment {
        Concealment::AppendixI => with_assumed_bpl(equipment),
        Concealment::None => assumed(equipment, LEAST_ROBUST, "Bpl: G.711's without concealment"),
    }
}

/// Returns the narrowband impairment of `codec`, for [`super::emodel`]; `None` for wideband codecs, and for codecs
/// missing in G.113.
pub const fn for_codec(codec: Codec, concealment: Concealment) -> Option<Impairment> {
    match codec {
        Codec::G711 => match concealment {
            Concealment::AppendixI => published(0.0, 25.1),
            Concealment::None => published(0.0, LEAST_ROBUST),
        },
        Codec::G726At40 => adaptive_pcm(2.0, concealment),
        Codec::G726At32 => adaptive_pcm(7.0, concealment),
        Codec::G726At24 => adaptive_pcm(25.0, concealment),
        Codec::G726At16 => adaptive_pcm(50.0, concealment),
        Codec::G728 => with_assumed_bpl(7.0),
        Codec::G729 => published(11.0, 19.0),
        Codec::G7231At63 => published(15.0, 16.1),
        Codec::G7231At53 => assumed(19.0, 16.1, "Bpl: G.723.1's at 6.3 kb/s, which conceals alike"),
        Codec::GsmFullRate => with_assumed_bpl(20.0),
        Codec::GsmHalfRate => with_assumed_bpl(23.0),
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

/// Opus with frames of 20 ms, determined here (`results/measured/opus`): rate in kb/s, Ie,wb, Bpl,wb without and with in-band
/// FEC.
const OPUS: [(f64, f64, f64, f64); 8] = [
    (6.0, 51.3, 34.5, 34.5),
    (8.0, 37.3, 15.7, 15.7),
    (12.0, 20.4, 11.3, 11.3),
    (16.0, 14.0, 12.5, 12.5),
    (24.0, 7.4, 11.7, 19.7),
    (32.0, 5.2, 12.2, 23.5),
    (64.0, 0.0, 7.9, 19.9),
    (96.0, 0.0, 6.8, 16.6),
];

/// Weight of a frame of Opus restored by in-band FEC, as a fraction of a lost frame, determined here
/// (`results/measured/opus`): rate in kb/s, weight.
const COPIES: [(f64, f64); 4] = [(24.0, 0.34), (32.0, 0.24), (64.0, 0.11), (96.0, 0.12)];

/// Returns two neighbours in a table in ascending order of rates, and the position of `rate` between them, 0 to 1;
/// clamped at the ends of the table.
fn neighbours<T: Copy, const N: usize>(table: &[T; N], rate: Rate, kilobits: impl Fn(&T) -> f64) -> (T, T, f64) {
    let wanted = (rate.bits_per_second() as f64 / 1e3).clamp(kilobits(&table[0]), kilobits(&table[N - 1]));
    let above = table.iter().position(|one| wanted <= kilobits(one)).unwrap_or(N - 1).max(1);
    let (low, high) = (table[above - 1], table[above]);
    (low, high, (wanted - kilobits(&low)) / (kilobits(&high) - kilobits(&low)))
}

/// Returns the wideband impairment of Opus at this payload rate.
///
/// **Assumptions.** Between two rates of the experiment, each factor is interpolated linearly. Below the first and
/// above the last rate the factors are constant. Factors of frames of 20 ms hold for all frames.
pub fn opus(rate: Rate, in_band_fec: bool) -> Impairment {
    let (low, high, share) = neighbours(&OPUS, rate, |one| one.0);
    let between = |low: f64, high: f64| low * (1.0 - share) + high * share;
    Impairment {
        equipment: between(low.1, high.1),
        robustness: if in_band_fec { between(low.3, high.3) } else { between(low.2, high.2) },
        origin: Origin::Determined,
        source: "libopus and ViSQOL, docs/opus.md",
    }
}

/// Returns the weight of a frame of Opus restored by in-band FEC, as a fraction of a lost frame, at this payload rate;
/// interpolated like [`opus`]. It includes the cost of the copies: their bits are missing in all frames.
pub fn opus_copy(rate: Rate) -> f64 {
    let (low, high, share) = neighbours(&COPIES, rate, |one| one.0);
    low.1 * (1.0 - share) + high.1 * share
}

/// Returns the wideband impairment of `codec`, for [`super::emodel_wideband`]; `None` for narrowband codecs and for
/// codecs without known factors. `in_band_fec` affects only Opus.
pub fn wideband(codec: Codec, in_band_fec: bool) -> Option<Impairment> {
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
        _ if codec.is_opus() => Some(opus(codec.rate(), in_band_fec)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ie, Bpl, and whether either is assumed.
    type Factors = Option<(f64, f64, bool)>;

    /// Returns the factors with the default settings of receivers.
    fn factors(codec: Codec) -> Factors {
        let one = for_codec(codec, Concealment::AppendixI).or(wideband(codec, IN_BAND_FEC))?;
        Some((one.equipment, one.robustness, one.origin == Origin::Assumed))
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
        assert!(unknown.iter().all(|codec| codec.is_opus() || (codec.is_evs() && factors(*codec).is_none())));
        for (codec, expected) in table {
            assert_eq!(factors(codec), expected, "{codec:?}");
        }
    }

    #[test]
    fn only_pcm_and_adaptive_pcm_suffer_without_concealment() {
        for codec in Codec::ALL {
            let (with, without) = (for_codec(codec, Concealment::AppendixI), for_codec(codec, Concealment::None));
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
        let expected = Impairment { equipment: 20.0, robustness: 10.0, origin: Origin::Given, source: "mine" };
        let both = |codec| (for_codec(codec, Concealment::AppendixI), wideband(codec, IN_BAND_FEC));
        assert_eq!(both(codec(false)), (Some(expected), None));
        assert_eq!(both(codec(true)), (None, Some(expected)));
        let without = serde_json::from_str::<Codec>(r#"{"rate":"13 kb/s"}"#).expect("a codec");
        assert_eq!(both(without), (None, None));
    }

    #[test]
    fn no_codec_is_rated_on_two_scales() {
        for codec in Codec::ALL {
            assert!(
                for_codec(codec, Concealment::AppendixI).is_none() || wideband(codec, IN_BAND_FEC).is_none(),
                "{codec:?}"
            );
        }
    }

    #[test]
    fn an_assumed_factor_says_from_what_and_a_published_one_where() {
        for codec in Codec::ALL {
            let Some(one) = for_codec(codec, Concealment::AppendixI).or(wideband(codec, IN_BAND_FEC)) else { continue };
            let (published, assumed) = (one.origin == Origin::Published, one.origin == Origin::Assumed);
            assert_eq!(one.source == "G.113 Appendix I", published, "{codec:?}");
            assert!(!assumed || one.source.contains("Bpl"), "{codec:?}: {}", one.source);
            assert_eq!(one.origin == Origin::Determined, codec.is_opus(), "{codec:?}");
        }
    }

    fn kilobits(rate: f64) -> Rate {
        Rate::from_bits_per_second((rate * 1e3) as u64)
    }

    #[test]
    fn opus_has_the_determined_factors_at_the_rates_of_the_experiment() {
        for (rate, ie, without, with) in OPUS {
            let [off, on] = [false, true].map(|fec| opus(kilobits(rate), fec));
            assert_eq!((off.equipment, off.robustness), (ie, without), "{rate}");
            assert_eq!((on.equipment, on.robustness), (ie, with), "{rate}");
        }
    }

    #[test]
    fn opus_lies_between_its_neighbours_at_other_rates_and_keeps_the_last_values_beyond() {
        let at = |rate| opus(kilobits(rate), false);
        let (low, middle, high) = (at(32.0), at(48.0), at(64.0));
        assert!((middle.equipment - (low.equipment + high.equipment) / 2.0).abs() < 1e-9);
        assert!((middle.robustness - (low.robustness + high.robustness) / 2.0).abs() < 1e-9);
        assert_eq!(at(128.0), at(96.0));
        assert_eq!([6.0, 24.0, 96.0].map(|rate| opus_copy(kilobits(rate))), [COPIES[0].1, COPIES[0].1, COPIES[3].1]);
        assert!((opus_copy(kilobits(48.0)) - (COPIES[1].1 + COPIES[2].1) / 2.0).abs() < 1e-9);
        assert_eq!(wideband(Codec::Opus48, false), Some(middle));
        assert_eq!(wideband(Codec::Opus, true), Some(opus(kilobits(32.0), true)));
    }

    #[test]
    fn more_bits_never_make_opus_worse_and_in_band_fec_never_makes_it_less_robust() {
        let steps: Vec<Impairment> = (6..=128).map(|rate| opus(kilobits(f64::from(rate)), false)).collect();
        assert!(steps.windows(2).all(|pair| pair[0].equipment >= pair[1].equipment));
        assert!(OPUS.iter().all(|&(.., without, with)| with >= without));
    }
}
