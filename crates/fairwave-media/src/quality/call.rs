//! Call rating by the E-model: ITU-T G.107 for narrowband codecs, G.107.1 for wideband codecs. Also the caveats of a
//! rating, and the reasons why some calls have none.

use core::fmt;

use super::emodel::{EModel, Rating};
use super::emodel_ranges::{Parameter, RangeViolation};
use super::emodel_wideband::{self, WidebandEModel};
use super::impairment::{self, Impairment, Origin, Reception};
use super::opinion::mean_opinion_score;
use crate::traffic::Codec;
use fairwave_units::units::Span;

/// Rating of a call.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CallRating {
    /// R and its parts; on the wideband scale for wideband codecs.
    pub rating: Rating,
    /// Mean opinion score (conversational), 1 to 4.5: MOS-CQE, for wideband codecs MOS-CQEW.
    pub mos: f64,
    /// Caveats.
    pub caveats: Caveats,
}

/// Why a call has no rating.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnratedCause {
    /// The application sent nothing.
    NothingSent,
    /// The codec has no known impairment factor, in ITU-T G.113 or in the scenario.
    NoImpairment(Codec),
}

impl fmt::Display for UnratedCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnratedCause::NothingSent => write!(f, "not defined: no speech was sent"),
            UnratedCause::NoImpairment(codec @ Codec::Other(_)) => {
                write!(f, "not defined: `ie`, `bpl` and their `source` are not given for {}", codec.name())
            }
            UnratedCause::NoImpairment(codec) if codec.is_evs() => {
                write!(
                    f,
                    "not defined: no impairment factor for {} is known on the scales of ITU-T G.107 and G.107.1",
                    codec.name()
                )
            }
            UnratedCause::NoImpairment(codec) => {
                write!(f, "not defined: ITU-T G.113 has no impairment factor for {}", codec.name())
            }
        }
    }
}

impl std::error::Error for UnratedCause {}

/// Caveats of a rating. When displayed, they are separated by `; `, and each starts with a keyword and a colon:
/// `extrapolated`, one of `assumed`, `determined here` and `given`, `wideband`, `advantage`. Empty without caveats.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Caveats {
    /// Parameters outside the range in which the E-model was validated: delay, loss, burst ratio, codec.
    pub outside: [Option<RangeViolation>; 4],
    /// The codec's factors, unless ITU-T has published them.
    pub factors: Option<Impairment>,
    /// True if R is on the wideband scale, up to 129.
    pub wideband: bool,
    /// A, which is included in R; 0 without an advantage.
    pub advantage: f64,
}

impl Caveats {
    fn new(outside: impl Iterator<Item = RangeViolation>, codec: Impairment, wideband: bool, advantage: f64) -> Self {
        let mut found = [None; 4];
        for one in outside {
            // Echo and round trip are out of range whenever the delay is, so one caveat is enough.
            let place = match one.parameter {
                Parameter::Delay => 0,
                Parameter::Loss => 1,
                Parameter::BurstRatio => 2,
                Parameter::EquipmentImpairment => 3,
                _ => continue,
            };
            found[place] = Some(one);
        }
        let factors = (codec.origin != Origin::Published).then_some(codec);
        Caveats { outside: found, factors, wideband, advantage }
    }
}

impl fmt::Display for Caveats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        let outside: Vec<String> = self.outside.iter().flatten().map(RangeViolation::to_string).collect();
        if !outside.is_empty() {
            parts.push(format!("extrapolated: {}", outside.join(", ")));
        }
        if let Some(Impairment { equipment, robustness, source, origin }) = self.factors {
            let word = match origin {
                Origin::Published | Origin::Assumed => "assumed",
                Origin::Determined => "determined here",
                Origin::Given => "given",
            };
            parts.push(format!("{word}: Ie {equipment}, Bpl {robustness} ({source})"));
        }
        if self.wideband {
            parts.push(format!("wideband: R to {} (G.107.1)", emodel_wideband::SCALE));
        }
        if self.advantage != 0.0 {
            parts.push(format!("advantage: A {} is part of R (G.107)", self.advantage));
        }
        f.write_str(&parts.join("; "))
    }
}

/// Rates a call. `delay` is mouth to ear, and `loss` is the fraction of packets not played. `burst_ratio` is the burst
/// ratio of these losses; values below that of random losses count as random. [`Reception`] gives the concealment and
/// the advantage of access.
///
/// # Errors
/// [`UnratedCause::NoImpairment`] for a codec without factors.
pub fn rate(
    codec: Codec,
    reception: impl Into<Reception>,
    delay: Span,
    loss: f64,
    burst_ratio: f64,
) -> Result<CallRating, UnratedCause> {
    rate_with_echo(codec, reception, delay, delay * 2, loss, burst_ratio)
}

/// Like [`rate`], for a call with the given `round_trip` of both directions. T, the delay of the echo, is half of it,
/// and Tr, the delay of the loop, is all of it.
///
/// # Errors
/// [`UnratedCause::NoImpairment`] for a codec without factors.
pub fn rate_with_echo(
    codec: Codec,
    reception: impl Into<Reception>,
    delay: Span,
    round_trip: Span,
    loss: f64,
    burst_ratio: f64,
) -> Result<CallRating, UnratedCause> {
    let Reception { concealment, in_band_fec, advantage } = reception.into();
    let burst_ratio = burst_ratio.max(1.0);
    let echo_delay = round_trip / 2;
    if let Some(factors) = impairment::for_codec(codec, concealment) {
        let call = EModel::call(delay, loss, burst_ratio, factors);
        let model = EModel { echo_delay, round_trip_delay: round_trip, advantage, ..call };
        let rating = model.rate();
        let caveats = Caveats::new(model.outside(), factors, false, advantage);
        return Ok(CallRating { rating, mos: mean_opinion_score(rating.r), caveats });
    }
    let factors = impairment::wideband(codec, in_band_fec).ok_or(UnratedCause::NoImpairment(codec))?;
    let call = WidebandEModel::call(delay, loss, burst_ratio, factors);
    let model = WidebandEModel { echo_delay, round_trip_delay: round_trip, advantage, ..call };
    let rating = model.rate();
    let mos = mean_opinion_score(emodel_wideband::narrowband_equivalent(rating.r));
    Ok(CallRating { rating, mos, caveats: Caveats::new(model.outside(), factors, true, advantage) })
}

#[cfg(test)]
mod tests {
    use super::super::impairment::Concealment;
    use super::*;
    use proptest::prelude::*;

    fn call(codec: Codec, millis: u64, loss: f64, burst_ratio: f64) -> CallRating {
        rate(codec, Concealment::AppendixI, Span::from_millis(millis), loss, burst_ratio).expect("rated")
    }

    #[test]
    fn a_narrowband_call_is_rated_by_g107_and_needs_no_word() {
        let found = call(Codec::G729, 100, 0.01, 1.0);
        let factors = impairment::for_codec(Codec::G729, Concealment::AppendixI).expect("in G.113");
        assert_eq!(found.rating, EModel::call(Span::from_millis(100), 0.01, 1.0, factors).rate());
        assert_eq!(found.mos, mean_opinion_score(found.rating.r));
        assert_eq!(found.caveats.to_string(), "");
    }

    #[test]
    fn a_wideband_call_is_rated_by_g107_1_and_says_so() {
        let found = call(Codec::G722, 100, 0.01, 1.0);
        let factors = impairment::wideband(Codec::G722, true).expect("in G.113");
        assert_eq!(found.rating, WidebandEModel::call(Span::from_millis(100), 0.01, 1.0, factors).rate());
        assert_eq!(found.mos, mean_opinion_score(found.rating.r / 1.29));
        assert_eq!(
            found.caveats.to_string(),
            "assumed: Ie 13, Bpl 4.3 (Bpl,wb: the least in G.113 Table IV.4); wideband: R to 129 (G.107.1)"
        );
    }

    #[test]
    fn opus_is_rated_by_g107_1_with_factors_that_are_determined_here() {
        let clean = call(Codec::Opus24, 100, 0.0, 1.0);
        let factors = impairment::wideband(Codec::Opus24, true).expect("determined");
        assert_eq!(clean.rating, WidebandEModel::call(Span::from_millis(100), 0.0, 1.0, factors).rate());
        let words = clean.caveats.to_string();
        assert!(
            words.starts_with("determined here: Ie ") && words.contains("(libopus and ViSQOL, docs/opus.md)"),
            "{words}"
        );
        let at = |in_band_fec| {
            let reception = Reception { in_band_fec, ..Reception::default() };
            rate(Codec::Opus24, reception, Span::from_millis(100), 0.05, 1.0).expect("rated").mos
        };
        assert!(at(true) > at(false) && clean.mos > at(true));
    }

    #[test]
    fn an_echo_that_takes_longer_counts_whatever_the_codec() {
        let (delay, round_trip) = (Span::from_millis(100), Span::from_millis(600));
        let rated = |codec, round_trip| {
            rate_with_echo(codec, Concealment::AppendixI, delay, round_trip, 0.0, 1.0).expect("rated").rating
        };
        let factors = impairment::wideband(Codec::G722, true).expect("in G.113");
        let call = WidebandEModel::call(delay, 0.0, 1.0, factors);
        let whole = WidebandEModel { echo_delay: round_trip / 2, round_trip_delay: round_trip, ..call };
        assert_eq!(rated(Codec::G722, round_trip), whole.rate());
        let echo_alone = WidebandEModel { round_trip_delay: delay * 2, ..whole };
        let loop_alone = WidebandEModel { echo_delay: delay, ..whole };
        assert!(rated(Codec::G722, round_trip) != echo_alone.rate(), "Tr counts");
        assert!(rated(Codec::G722, round_trip) != loop_alone.rate(), "T counts");
        for codec in [Codec::G711, Codec::G722] {
            assert!(rated(codec, round_trip).r < rated(codec, delay * 2).r, "{codec:?}");
        }
    }

    #[test]
    fn an_undisturbed_wideband_call_scores_better_than_any_narrowband_one() {
        assert!(call(Codec::AmrWb2305, 50, 0.0, 1.0).mos > call(Codec::G711, 50, 0.0, 1.0).mos);
    }

    #[test]
    fn names_each_value_outside_the_recommendation_once() {
        assert_eq!(
            call(Codec::G711, 620, 0.35, 3.0).caveats.to_string(),
            "extrapolated: delay 620 ms outside 0–500 ms, loss 35 % outside 0–20 %, burst ratio 3 outside 1–2"
        );
        assert_eq!(call(Codec::G711, 500, 0.2, 2.0).caveats.to_string(), "");
        assert_eq!(call(Codec::G711, 100, 0.01, 5.0).caveats.to_string(), "");
        assert_eq!(
            call(Codec::G726At16, 100, 0.0, 1.0).caveats.to_string(),
            "extrapolated: equipment impairment 50 outside 0–40; \
             assumed: Ie 50, Bpl 10 (Bpl: the least in G.113 of a codec that conceals)"
        );
        assert_eq!(
            call(Codec::AmrWb2385, 501, 0.0, 1.0).caveats.outside.iter().flatten().count(),
            1,
            "echo and round trip follow from the delay"
        );
    }

    #[test]
    fn losses_more_even_than_random_count_as_random() {
        assert_eq!(call(Codec::G711, 100, 0.1, 0.4), call(Codec::G711, 100, 0.1, 1.0));
    }

    #[test]
    fn a_codec_that_g113_does_not_have_is_not_rated_and_says_why() {
        let refused = rate(Codec::Ilbc20, Concealment::AppendixI, Span::ZERO, 0.0, 1.0).expect_err("no factors");
        assert_eq!(refused.to_string(), "not defined: ITU-T G.113 has no impairment factor for ilbc-20");
        assert_eq!(UnratedCause::NothingSent.to_string(), "not defined: no speech was sent");
    }

    #[test]
    fn an_advantage_is_added_to_r_and_named_with_the_rating() {
        let at = |codec, advantage| {
            let reception = Reception { advantage, ..Reception::default() };
            rate(codec, reception, Span::from_millis(100), 0.02, 1.0).expect("rated")
        };
        for codec in [Codec::GsmFullRate, Codec::G722] {
            let (without, with) = (at(codec, 0.0), at(codec, 10.0));
            assert!((with.rating.r - without.rating.r - 10.0).abs() < 1e-9, "{codec:?}");
            assert!(with.mos > without.mos, "{codec:?}");
            let words = with.caveats.to_string();
            assert_eq!(words, format!("{}; advantage: A 10 is part of R (G.107)", without.caveats), "{codec:?}");
        }
    }

    #[test]
    fn a_codec_of_the_scenarios_own_is_rated_by_what_the_scenario_says_of_it() {
        let codec: Codec =
            serde_json::from_str(r#"{"rate":"8 kb/s","ie":11,"bpl":19,"source":"as G.729"}"#).expect("a codec");
        let (own, named) = (call(codec, 100, 0.02, 1.0), call(Codec::G729, 100, 0.02, 1.0));
        assert_eq!(own.rating, named.rating);
        assert_eq!(own.caveats.to_string(), "given: Ie 11, Bpl 19 (as G.729)");
        let nothing: Codec = serde_json::from_str(r#"{"rate":"8 kb/s","name":"mine"}"#).expect("a codec");
        let refused = |codec| rate(codec, Concealment::None, Span::ZERO, 0.0, 1.0).expect_err("unrated").to_string();
        assert_eq!(refused(nothing), "not defined: `ie`, `bpl` and their `source` are not given for mine");
        assert!(refused(Codec::Evs244).starts_with("not defined: no impairment factor for evs-24.4 is known"));
    }

    #[test]
    fn a_dead_line_is_as_bad_as_can_be_whatever_the_codec() {
        for codec in Codec::ALL {
            let Ok(found) = rate(codec, Concealment::AppendixI, Span::from_millis(20), 1.0, 1.0) else { continue };
            assert_eq!((found.rating.r, found.mos), (0.0, 1.0), "{codec:?}");
        }
    }

    proptest! {
        #[test]
        fn a_worse_network_never_sounds_better_and_scales_are_kept(
            codec in 0usize..32, silence in any::<bool>(), delay in 0u64..3000, more_delay in 0u64..2000,
            loss in 0.0f64..=1.0, more_loss in 0.0f64..1.0, burst in 0.0f64..12.0, more_burst in 0.0f64..100.0,
        ) {
            let concealment = if silence { Concealment::None } else { Concealment::AppendixI };
            let at = |delay, loss, burst| rate(Codec::ALL[codec], concealment, Span::from_millis(delay), loss, burst);
            let Ok(here) = at(delay, loss, burst) else { return Ok(()) };
            let top = if here.caveats.wideband { 129.0 } else { 100.0 };
            prop_assert!((0.0..=top).contains(&here.rating.r) && (1.0..=4.5).contains(&here.mos));
            for worse in [
                at(delay + more_delay, loss, burst),
                at(delay, (loss + more_loss).min(1.0), burst),
                at(delay, loss, burst + more_burst),
            ] {
                let worse = worse.expect("rated");
                prop_assert!(worse.rating.r <= here.rating.r + 1e-9, "{here:?} {worse:?}");
                prop_assert!(worse.mos <= here.mos + 1e-9, "{here:?} {worse:?}");
            }
        }
    }
}
