//! Wideband E-model, ITU-T G.107.1 (06/2019), for connections with 50 to 7000 Hz: R = Ro,WB − Is,WB − Id,WB − Ie,eff,WB
//! + A (Eq. 7-1). The scale ends at 129; the narrowband scale ends at 93.
//!
//! Do not compare its ratings with narrowband ones: the scales differ. Opinion scores can be compared with care: each
//! reflects the judgement of people who are used to calls of that bandwidth.
//!
//! **Assumptions.** Ro,WB = 129 and Is,WB = 0 (Eq. 7-2, 7-3). For the noise in the talker's echo (Eq. 7-6) the
//! Recommendation defines no wideband sum. It is G.107's (Eq. 7-3 to 7-7) with G.107.1 Table 1's noise floor of −96
//! dBmp. Eq. 7-15 covers losses that are not bursty; bursts count as in G.107 Eq. 7-29. Outside the ranges the rules of
//! [`super::emodel`] apply; Table 1 has the same ranges.

use super::emodel::{DelaySensitivity, EModel, Rating, absolute_delay, listener_echo};
use super::emodel_loss::effective_impairment;
use super::emodel_ranges::{Parameter, Range, RangeViolation};
use super::impairment::Impairment;
use fairwave_units::units::Span;

/// Ro,WB (Eq. 7-2): upper end of the scale.
pub const SCALE: f64 = 129.0;

/// Ratio of the wideband to the narrowband scale: the factor of Idd,WB (Eq. 7-13) and of Annex A (Eq. A-1).
const STRETCH: f64 = 1.29;

/// Wideband connection, in the parameters of G.107.1 Table 1 that its equations use.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct WidebandEModel {
    /// RLR, dB. Default 2.
    pub receive_loudness: f64,
    /// No,WB, sum of all noise at the 0 dBr point, dBm0p. Default −68.8, from the defaults of Table 1.
    pub noise: f64,
    /// TELR, dB. Default 65.
    pub talker_echo_loudness: f64,
    /// WEPL, dB. Default 110.
    pub weighted_echo_path_loss: f64,
    /// T, mean one-way delay of the echo path. Default 0.
    pub echo_delay: Span,
    /// Tr, round-trip delay in the four-wire loop. Default 0.
    pub round_trip_delay: Span,
    /// Ta, absolute delay mouth to ear in echo-free connections. Default 0.
    pub absolute_delay: Span,
    /// Ie,WB, equipment impairment factor. Default 0.
    pub equipment_impairment: f64,
    /// Bpl,WB, packet-loss robustness factor. Default 4.3.
    pub loss_robustness: f64,
    /// Ppl, fraction of packets lost, 0 to 1 (the Recommendation counts in percent). Default 0.
    pub loss: f64,
    /// BurstR, burst ratio, 1 and above. Default 1.
    pub burst_ratio: f64,
    /// A, advantage factor. Default 0.
    pub advantage: f64,
}

impl Default for WidebandEModel {
    fn default() -> Self {
        let noise_floor = -96.0;
        WidebandEModel {
            receive_loudness: 2.0,
            noise: EModel { noise_floor, ..EModel::default() }.noise(),
            talker_echo_loudness: 65.0,
            weighted_echo_path_loss: 110.0,
            echo_delay: Span::ZERO,
            round_trip_delay: Span::ZERO,
            absolute_delay: Span::ZERO,
            equipment_impairment: 0.0,
            loss_robustness: 4.3,
            loss: 0.0,
            burst_ratio: 1.0,
            advantage: 0.0,
        }
    }
}

impl WidebandEModel {
    /// Returns a call over a packet network; arguments as for [`EModel::call`].
    pub fn call(delay: Span, loss: f64, burst_ratio: f64, codec: Impairment) -> Self {
        WidebandEModel {
            echo_delay: delay,
            absolute_delay: delay,
            round_trip_delay: delay * 2,
            loss,
            burst_ratio,
            equipment_impairment: codec.equipment,
            loss_robustness: codec.robustness,
            ..WidebandEModel::default()
        }
    }

    /// Returns the rating, 0 to 129, and its parts.
    pub fn rate(&self) -> Rating {
        let talker_echo = self.talker_echo();
        let listener_echo = listener_echo(SCALE, self.weighted_echo_path_loss, self.round_trip_delay);
        let absolute_delay = STRETCH * absolute_delay(self.absolute_delay, DelaySensitivity::Default);
        let undisturbed = SCALE + self.advantage;
        let equipment = effective_impairment(
            self.equipment_impairment,
            self.loss_robustness,
            self.loss,
            self.burst_ratio,
            undisturbed,
        );
        let r = (undisturbed - talker_echo - listener_echo - absolute_delay - equipment).clamp(0.0, SCALE);
        Rating { signal_to_noise: SCALE, simultaneous: 0.0, talker_echo, listener_echo, absolute_delay, equipment, r }
    }

    /// Idte,WB (Eq. 7-5 to 7-10). K reduces the weight of wideband echo as its delay grows, up to 100 ms.
    fn talker_echo(&self) -> f64 {
        let t = self.echo_delay.millis();
        let k = if t < 100.0 { 0.08 * t + 10.0 } else { 18.0 };
        let terv = self.talker_echo_loudness + k - 40.0 * libm::log10((1.0 + t / 10.0) / (1.0 + t / 150.0))
            + 6.0 * libm::exp(-0.3 * t * t);
        let half = (-1.5 * (self.noise - self.receive_loudness) - (80.0 + 3.0 * (terv - 14.0))) / 2.0;
        ((half + libm::sqrt(half * half + 100.0) - 1.0) * (1.0 - libm::exp(-t))).max(0.0)
    }

    /// Returns the parameters outside Table 1's ranges; burst ratios as in G.107.
    pub fn outside(&self) -> impl Iterator<Item = RangeViolation> {
        [
            (Parameter::ReceiveLoudness, self.receive_loudness, Range(-5.0, 14.0)),
            (Parameter::TalkerEchoLoudness, self.talker_echo_loudness, Range(5.0, 65.0)),
            (Parameter::WeightedEchoPathLoss, self.weighted_echo_path_loss, Range(5.0, 110.0)),
            (Parameter::EchoDelay, self.echo_delay.millis(), Range(0.0, 500.0)),
            (Parameter::RoundTripDelay, self.round_trip_delay.millis(), Range(0.0, 1000.0)),
            (Parameter::Delay, self.absolute_delay.millis(), Range(0.0, 500.0)),
            (Parameter::Loss, 100.0 * self.loss, Range(0.0, 20.0)),
            (Parameter::BurstRatio, self.burst_ratio, Range::for_burst_ratio(self.loss)),
            (Parameter::Advantage, self.advantage, Range(0.0, 20.0)),
        ]
        .into_iter()
        .filter_map(|(parameter, value, range)| range.outside(parameter, value))
    }
}

/// Returns the rating on the narrowband scale with the same opinion score: Rx = R / 1.29 (Annex A, Eq. A-1).
pub fn narrowband_equivalent(rating: f64) -> f64 {
    rating / STRETCH
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quality::impairment;
    use crate::quality::opinion::mean_opinion_score;
    use crate::traffic::Codec;
    use proptest::prelude::*;

    fn mos(rating: f64) -> f64 {
        mean_opinion_score(narrowband_equivalent(rating))
    }

    /// Second implementation of Id,WB with the Recommendation's symbols, for a call of `d` ms: Idte,WB, Idle,WB,
    /// Idd,WB.
    fn textbook_terms(d: f64, noise: f64) -> [f64; 3] {
        let k = if d < 100.0 { 0.08 * d + 10.0 } else { 18.0 };
        let terv = 65.0 + k - 40.0 * ((1.0 + d / 10.0) / (1.0 + d / 150.0)).log10() + 6.0 * (-0.3 * d * d).exp();
        let (roe, re) = (-1.5 * (noise - 2.0), 80.0 + 3.0 * (terv - 14.0));
        let idte = ((roe - re) / 2.0 + ((roe - re).powi(2) / 4.0 + 100.0).sqrt() - 1.0) * (1.0 - (-d).exp());
        let rle = 10.5 * 117.0 * (2.0 * d + 1.0).powf(-0.25);
        let idle = (129.0 - rle) / 2.0 + ((129.0 - rle).powi(2) / 4.0 + 169.0).sqrt();
        let x = (d / 100.0).log2();
        let idd = 25.0 * ((1.0 + x.powi(6)).powf(1.0 / 6.0) - 3.0 * (1.0 + (x / 3.0).powi(6)).powf(1.0 / 6.0) + 2.0);
        [idte.max(0.0), idle, if d <= 100.0 { 0.0 } else { 1.29 * idd }]
    }

    #[test]
    fn an_undisturbed_connection_has_129_but_for_its_echo_and_the_best_score() {
        let rating = WidebandEModel::default().rate();
        assert_eq!((rating.signal_to_noise, rating.simultaneous, rating.equipment), (129.0, 0.0, 0.0));
        assert!((rating.listener_echo - 0.154).abs() < 0.001, "{rating:?}");
        assert!((rating.r - 128.85).abs() < 0.01, "{rating:?}");
        assert_eq!(mos(129.0), 4.5);
    }

    #[test]
    fn an_echo_that_comes_at_once_is_masked_by_ones_own_voice() {
        // Eq. 7-8's last term, 6 exp(−0.3 T²), is 4.4 dB after a millisecond. By hand for TELR 10 dB: TERV = 10 + 10.08
        // − 1.54 + 4.44 = 22.98, Roe = 106.2, Re = 106.9.
        let model =
            WidebandEModel { talker_echo_loudness: 10.0, echo_delay: Span::from_millis(1), ..Default::default() };
        let t: f64 = 1.0;
        let terv = 10.0 + 10.08 - 40.0 * (1.1_f64 / (1.0 + t / 150.0)).log10() + 6.0 * (-0.3_f64).exp();
        let half = (-1.5 * (model.noise - 2.0) - (80.0 + 3.0 * (terv - 14.0))) / 2.0;
        let expected = ((half + (half * half + 100.0).sqrt() - 1.0) * (1.0 - (-t).exp())).max(0.0);
        assert!(expected > 3.0, "{expected}");
        assert!((model.rate().talker_echo - expected).abs() < 1e-9, "{} {expected}", model.rate().talker_echo);
    }

    #[test]
    fn the_modes_of_amr_wb_score_as_g107_1_has_them() {
        // R = 129 − Ie,WB of G.113 Table IV.1, by Annex A: computed by hand from Eq..
        for (codec, expected) in [
            (Codec::AmrWb2305, 4.4940),
            (Codec::AmrWb2385, 4.4206),
            (Codec::AmrWb1265, 4.3371),
            (Codec::AmrWb660, 3.5123),
        ] {
            let factors = impairment::wideband(codec, true).expect("in G.113");
            assert!((mos(129.0 - factors.equipment) - expected).abs() < 5e-4, "{codec:?}");
        }
    }

    #[test]
    fn loss_costs_by_eq_7_15_with_its_95() {
        // Ie,WB 20 and Bpl,WB 4.3 at 2 %: 20 + 75 · 2 / 6.3 = 43.81, MOS 3.41.
        let model =
            WidebandEModel { equipment_impairment: 20.0, loss_robustness: 4.3, loss: 0.02, ..Default::default() };
        assert!((model.rate().equipment - 43.8095).abs() < 1e-3);
        assert!((mos(129.0 - model.rate().equipment) - 3.4062).abs() < 5e-4);
        let bursty = WidebandEModel { burst_ratio: 2.0, ..model };
        assert!((bursty.rate().equipment - (20.0 + 75.0 * 2.0 / 5.3)).abs() < 1e-9);
    }

    #[test]
    fn delay_costs_what_the_equations_say() {
        let noise = WidebandEModel::default().noise;
        assert!((noise + 68.81).abs() < 0.01, "{noise}");
        let perfect = Impairment { equipment: 0.0, robustness: 4.3, origin: impairment::Origin::Published, source: "" };
        for millis in [0, 1, 5, 40, 99, 100, 101, 150, 300, 500, 900] {
            let rating = WidebandEModel::call(Span::from_millis(millis), 0.0, 1.0, perfect).rate();
            let expected = textbook_terms(millis as f64, noise);
            for (found, expected) in
                [rating.talker_echo, rating.listener_echo, rating.absolute_delay].iter().zip(expected)
            {
                assert!((found - expected).abs() < 1e-9, "{millis} ms: {rating:?}, {expected}");
            }
            assert!((rating.r - (129.0 - expected.iter().sum::<f64>())).abs() < 1e-9, "{millis} ms");
        }
    }

    #[test]
    fn a_call_echoes_after_its_delay_and_twice_it() {
        let codec = impairment::wideband(Codec::AmrWb2385, true).expect("in G.113");
        let expected = WidebandEModel {
            echo_delay: Span::from_millis(80),
            absolute_delay: Span::from_millis(80),
            round_trip_delay: Span::from_millis(160),
            equipment_impairment: 8.0,
            loss_robustness: 4.9,
            loss: 0.03,
            burst_ratio: 1.5,
            ..WidebandEModel::default()
        };
        assert_eq!(WidebandEModel::call(Span::from_millis(80), 0.03, 1.5, codec), expected);
    }

    #[test]
    fn ratings_end_where_the_scale_does() {
        assert_eq!(WidebandEModel { advantage: 20.0, ..Default::default() }.rate().r, 129.0);
        assert_eq!(WidebandEModel { loss: 1.0, advantage: 20.0, ..Default::default() }.rate().r, 0.0);
        let with = |advantage| WidebandEModel { loss: 0.05, advantage, ..Default::default() }.rate().r;
        assert!((with(10.0) - with(0.0) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn ranges_equal_table_1_and_end_there() {
        let d = WidebandEModel::default();
        let ms = Span::from_millis;
        let named = |model: WidebandEModel| model.outside().map(|one| one.to_string()).collect::<Vec<_>>();
        for (inside, beyond, said) in [
            (
                WidebandEModel { receive_loudness: -5.0, ..d },
                WidebandEModel { receive_loudness: 14.1, ..d },
                "receive loudness rating 14.1 dB outside -5–14 dB",
            ),
            (
                WidebandEModel { talker_echo_loudness: 5.0, ..d },
                WidebandEModel { talker_echo_loudness: 65.1, ..d },
                "talker echo loudness rating 65.1 dB outside 5–65 dB",
            ),
            (
                WidebandEModel { weighted_echo_path_loss: 5.0, ..d },
                WidebandEModel { weighted_echo_path_loss: 4.9, ..d },
                "weighted echo path loss 4.9 dB outside 5–110 dB",
            ),
            (
                WidebandEModel { echo_delay: ms(500), ..d },
                WidebandEModel { echo_delay: ms(501), ..d },
                "echo delay 501 ms outside 0–500 ms",
            ),
            (
                WidebandEModel { round_trip_delay: ms(1000), ..d },
                WidebandEModel { round_trip_delay: ms(1001), ..d },
                "round-trip delay 1001 ms outside 0–1000 ms",
            ),
            (
                WidebandEModel { absolute_delay: ms(500), ..d },
                WidebandEModel { absolute_delay: ms(501), ..d },
                "delay 501 ms outside 0–500 ms",
            ),
            (WidebandEModel { loss: 0.2, ..d }, WidebandEModel { loss: 0.201, ..d }, "loss 20.1 % outside 0–20 %"),
            (
                WidebandEModel { burst_ratio: 2.0, loss: 0.03, ..d },
                WidebandEModel { burst_ratio: 2.1, loss: 0.03, ..d },
                "burst ratio 2.1 outside 1–2",
            ),
            (
                WidebandEModel { advantage: 20.0, ..d },
                WidebandEModel { advantage: 21.0, ..d },
                "advantage factor 21 outside 0–20",
            ),
        ] {
            assert_eq!(named(inside), Vec::<String>::new(), "{said}");
            assert_eq!(named(beyond), [said]);
        }
    }

    proptest! {
        #[test]
        fn the_rating_never_rises_with_loss_delay_or_burstiness(
            delay in 0u64..2000, more_delay in 0u64..500, loss in 0.0f64..=1.0, more_loss in 0.0f64..1.0,
            burst in 1.0f64..8.0, more_burst in 0.0f64..4.0,
        ) {
            let codec = impairment::wideband(Codec::G722, true).expect("in G.113");
            let r = |delay, loss, burst| WidebandEModel::call(Span::from_millis(delay), loss, burst, codec).rate().r;
            let here = r(delay, loss, burst);
            prop_assert!((0.0..=129.0).contains(&here));
            prop_assert!(r(delay + more_delay, loss, burst) <= here + 1e-9);
            prop_assert!(r(delay, (loss + more_loss).min(1.0), burst) <= here + 1e-9);
            prop_assert!(r(delay, loss, burst + more_burst) <= here + 1e-9);
        }
    }
}
