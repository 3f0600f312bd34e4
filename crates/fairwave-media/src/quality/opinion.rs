//! Conversion of E-model ratings to opinions of users (ITU-T G.107 Annex B and Appendix I).

/// Returns the mean opinion score (conversational) of a rating R, G.107 Eq. (B-4): 1 + 0.035 R + R (R − 60) (100 −
/// R)·7·10⁻⁶, 1 for R ≤ 0 and 4.5 for R ≥ 100.
///
/// For R below 6.5 the cubic dips up to 0.012 below 1, the lowest score; there it is clipped, so that a better rating
/// never has a worse score.
pub fn mean_opinion_score(rating: f64) -> f64 {
    if rating.is_nan() {
        return f64::NAN;
    }
    let r = rating.clamp(0.0, 100.0);
    (1.0 + 0.035 * r + r * (r - 60.0) * (100.0 - r) * 7e-6).max(1.0)
}

/// Returns the rating with this mean opinion score, G.107 Appendix I; scores are clipped to the range of ratings from
/// 6.5 to 100.
pub fn rating_of(mean_opinion_score: f64) -> f64 {
    let mos = mean_opinion_score.clamp(1.0, 4.5);
    let root = libm::sqrt((-903_522.0 + 1_113_960.0 * mos - 202_500.0 * mos * mos).max(0.0));
    let h = libm::atan2(15.0 * root, 18_566.0 - 6_750.0 * mos) / 3.0;
    let rating = 20.0 / 3.0 * (8.0 - libm::sqrt(226.0) * libm::cos(h + core::f64::consts::FRAC_PI_3));
    rating.clamp(6.5, 100.0)
}

/// Returns the percentage of people who find a connection of this rating good or better, G.107 Eq. (B-2): 100 Φ((R −
/// 60)/16).
pub fn good_or_better(rating: f64) -> f64 {
    100.0 * standard_normal((rating - 60.0) / 16.0)
}

/// Returns the percentage of people who find it poor or worse, G.107 Eq. (B-3): 100 Φ((45 − R)/16).
pub fn poor_or_worse(rating: f64) -> f64 {
    100.0 * standard_normal((45.0 - rating) / 16.0)
}

/// Returns the user satisfaction for a rating, in the words of ITU-T G.109 (paper 000's Table IV has the same bounds).
pub const fn satisfaction(rating: f64) -> &'static str {
    match rating {
        r if r >= 90.0 => "very satisfied",
        r if r >= 80.0 => "satisfied",
        r if r >= 70.0 => "some users dissatisfied",
        r if r >= 60.0 => "many users dissatisfied",
        r if r >= 50.0 => "nearly all users dissatisfied",
        _ => "not recommended",
    }
}

/// Φ, the cumulative distribution function of the standard normal distribution.
fn standard_normal(x: f64) -> f64 {
    0.5 * libm::erfc(-x * core::f64::consts::FRAC_1_SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn scores_and_percentages_are_those_of_g107_table_b1() {
        // R, MOS, good or better %, poor or worse %. The table is rounded, at R = 80 upwards from 4.024.
        for (r, mos, good, poor) in [
            (90.0, 4.34, 97.0, 0.0),
            (80.0, 4.03, 89.0, 1.0),
            (70.0, 3.60, 73.0, 6.0),
            (60.0, 3.10, 50.0, 17.0),
            (50.0, 2.58, 27.0, 38.0),
        ] {
            assert!((mean_opinion_score(r) - mos).abs() < 0.007, "MOS of {r}: {}", mean_opinion_score(r));
            assert!((good_or_better(r) - good).abs() < 0.8, "GoB of {r}: {}", good_or_better(r));
            assert!((poor_or_worse(r) - poor).abs() < 0.8, "PoW of {r}: {}", poor_or_worse(r));
        }
    }

    #[test]
    fn users_are_as_satisfied_as_g109_says() {
        // Categories: best from 90, high from 80, medium from 70, low from 60, poor from 50.
        for (rating, words) in [
            (93.2, "very satisfied"),
            (90.0, "very satisfied"),
            (89.9, "satisfied"),
            (80.0, "satisfied"),
            (79.9, "some users dissatisfied"),
            (70.0, "some users dissatisfied"),
            (69.9, "many users dissatisfied"),
            (60.0, "many users dissatisfied"),
            (59.9, "nearly all users dissatisfied"),
            (50.0, "nearly all users dissatisfied"),
            (49.9, "not recommended"),
        ] {
            assert_eq!(satisfaction(rating), words, "at {rating}");
        }
    }

    #[test]
    fn the_ends_of_the_scale_are_1_and_4_and_a_half() {
        assert_eq!([-20.0, 0.0, 3.0, 100.0, 120.0].map(mean_opinion_score), [1.0, 1.0, 1.0, 4.5, 4.5]);
        assert!(mean_opinion_score(f64::NAN).is_nan(), "what is not rated has no score");
    }

    #[test]
    fn scores_beyond_the_scale_have_the_ratings_of_its_ends() {
        assert_eq!(rating_of(0.0), rating_of(1.0));
        assert!((6.5..6.6).contains(&rating_of(1.0)), "where the cubic leaves 1 for good: {}", rating_of(1.0));
        assert!((rating_of(4.5) - 100.0).abs() < 0.01 && rating_of(9.0) == rating_of(4.5));
    }

    proptest! {
        #[test]
        fn a_better_rating_never_has_a_worse_score(rating in -50.0f64..150.0, more in 0.0f64..50.0) {
            prop_assert!(mean_opinion_score(rating + more) >= mean_opinion_score(rating));
        }

        #[test]
        fn the_rating_of_a_score_has_that_score(rating in 6.6f64..100.0) {
            prop_assert!((rating_of(mean_opinion_score(rating)) - rating).abs() < 0.01);
        }
    }
}
