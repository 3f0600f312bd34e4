//! Sizes of application data: a fixed size, or a distribution.
//!
//! **Assumptions.** Sizes are whole bytes, at least 1 and at most 4 294 967 295. Values outside the limits of a
//! distribution are drawn again (lognormal, as in 3GPP2 C.R1002) or cannot occur (Pareto, whose distribution function
//! is truncated at both ends). Larger values than the maximum count as the maximum.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::{Deserialize, Deserializer, Serialize};

use fairwave_units::config::{ConfigError, check_between};
use fairwave_units::random::Stream;
use fairwave_units::units::Bytes;

/// Largest size: the limit of a unit.
const LARGEST: u64 = u32::MAX as u64;

/// Least probability of a lognormal distribution within its limits, because values outside are drawn again.
const LEAST_WITHIN: f64 = 0.01;

/// A size, `"1 MB"`, or a distribution of sizes.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Size {
    /// Constant.
    Fixed(Bytes),
    /// Drawn each time.
    Drawn(Sizes),
}

/// Distribution of sizes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "distribution", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Sizes {
    /// Exponential.
    Exponential {
        /// Mean, 1 B and above.
        mean: Bytes,
    },
    /// Bounded Pareto: P(size > x) = ((least/x)^shape − (least/most)^shape) / (1 − (least/most)^shape).
    Pareto {
        /// Shape, above 0; smaller values give heavier tails. Default 1.2.
        #[serde(default = "default_shape")]
        shape: f64,
        /// Smallest size, 1 B and above.
        least: Bytes,
        /// Largest size, above `least`.
        most: Bytes,
    },
    /// Lognormal; values outside the limits are drawn again.
    Lognormal {
        /// Median before truncation, e^μ, 1 B and above.
        median: Bytes,
        /// σ, the standard deviation of the logarithm, from 0 to 10.
        sigma: f64,
        /// Smallest size. Default 1 B.
        #[serde(default = "single_byte", skip_serializing_if = "is_single_byte")]
        least: Bytes,
        /// Largest size. Default 4294967295 B.
        #[serde(default = "largest", skip_serializing_if = "is_largest")]
        most: Bytes,
    },
    /// Uniform from a list, for example of measured sizes.
    List {
        /// The sizes.
        sizes: Vec<Bytes>,
    },
}

fn default_shape() -> f64 {
    1.2
}

fn single_byte() -> Bytes {
    Bytes::new(1)
}

fn is_single_byte(size: &Bytes) -> bool {
    *size == single_byte()
}

fn largest() -> Bytes {
    Bytes::new(LARGEST)
}

fn is_largest(size: &Bytes) -> bool {
    *size == largest()
}

fn check_size(key: &str, size: Bytes) -> Result<(), ConfigError> {
    if (1..=LARGEST).contains(&size.get()) {
        return Ok(());
    }
    Err(ConfigError::new(key, size, format!("from 1 B to {LARGEST} B"), format!("{key} = \"1 MB\"")))
}

/// Φ, the standard normal distribution function.
pub(super) fn normal(x: f64) -> f64 {
    0.5 * libm::erfc(-x / core::f64::consts::SQRT_2)
}

impl Size {
    /// Checks the ranges; `key` is the key of the size.
    ///
    /// # Errors
    /// A size outside the range of a unit; limits in the wrong order, or with almost no probability between them; an
    /// empty list.
    pub fn check(&self, key: &str) -> Result<(), ConfigError> {
        match self {
            Size::Fixed(size) => check_size(key, *size),
            Size::Drawn(sizes) => sizes.check().map_err(|error| error.nested_in(key)),
        }
    }

    /// Returns the mean size, bytes.
    pub fn mean(&self) -> f64 {
        match self {
            Size::Fixed(size) => size.get() as f64,
            Size::Drawn(sizes) => sizes.mean(),
        }
    }

    /// Draws a size. Uses one random number, except for the lognormal distribution, which repeats until a value is
    /// within the limits.
    pub fn draw(&self, stream: &mut Stream) -> u32 {
        let bytes = match self {
            Size::Fixed(size) => size.get() as f64,
            Size::Drawn(sizes) => sizes.draw(stream),
        };
        libm::round(bytes).clamp(1.0, LARGEST as f64) as u32
    }
}

impl Sizes {
    fn check(&self) -> Result<(), ConfigError> {
        let in_order = |least: Bytes, most: Bytes| {
            check_size("least", least)?;
            check_size("most", most)?;
            if least < most {
                return Ok(());
            }
            Err(ConfigError::new("most", most, format!("above `least` ({least})"), "most = \"10 MB\""))
        };
        match *self {
            Sizes::Exponential { mean } => check_size("mean", mean),
            Sizes::Pareto { shape, least, most } => {
                check_between("shape", shape, 0.0, 100.0, "shape = 1.2")?;
                in_order(least, most)
            }
            Sizes::Lognormal { median, sigma, least, most } => {
                check_size("median", median)?;
                if !(0.0..=10.0).contains(&sigma) {
                    return Err(ConfigError::new("sigma", sigma, "from 0 to 10", "sigma = 1.5"));
                }
                in_order(least, most)?;
                if self.mass_in_limits() < LEAST_WITHIN {
                    let allowed = "such that `least` and `most` leave at least a hundredth of the distribution";
                    return Err(ConfigError::new("median", median, allowed, format!("median = \"{least}\"")));
                }
                Ok(())
            }
            Sizes::List { ref sizes } => {
                if sizes.is_empty() {
                    return Err(ConfigError::new("sizes", "empty", "one size at least", "sizes = [\"10 kB\"]"));
                }
                sizes.iter().try_for_each(|size| check_size("sizes", *size))
            }
        }
    }

    /// Returns the probability of a lognormal distribution within its limits.
    fn mass_in_limits(&self) -> f64 {
        let Sizes::Lognormal { median, sigma, least, most } = *self else { return 1.0 };
        let [median, least, most] = [median, least, most].map(|size| libm::log(size.get() as f64));
        if sigma == 0.0 {
            return f64::from(u8::from((least..=most).contains(&median)));
        }
        normal((most - median) / sigma) - normal((least - median) / sigma)
    }

    /// Returns the mean size, bytes.
    fn mean(&self) -> f64 {
        match *self {
            // Larger values than the maximum count as the maximum.
            Sizes::Exponential { mean } => {
                let mean = mean.get() as f64;
                mean * -libm::expm1(-(LARGEST as f64) / mean)
            }
            Sizes::Pareto { shape, least, most } => {
                let (least, most) = (least.get() as f64, most.get() as f64);
                let ratio = libm::log(least / most);
                if (shape - 1.0).abs() < 1e-9 {
                    return least * most / (most - least) * -ratio;
                }
                let tail = libm::exp(ratio * (shape - 1.0));
                shape / (shape - 1.0) * least * (1.0 - tail) / -libm::expm1(ratio * shape)
            }
            Sizes::Lognormal { median, sigma, least, most } => {
                let (mu, low, high) =
                    (libm::log(median.get() as f64), libm::log(least.get() as f64), libm::log(most.get() as f64));
                if sigma == 0.0 {
                    return median.get() as f64;
                }
                let part = normal((high - mu) / sigma - sigma) - normal((low - mu) / sigma - sigma);
                libm::exp(mu + sigma * sigma / 2.0) * part / self.mass_in_limits()
            }
            Sizes::List { ref sizes } => {
                sizes.iter().map(|size| size.get() as f64).sum::<f64>() / sizes.len().max(1) as f64
            }
        }
    }

    fn draw(&self, stream: &mut Stream) -> f64 {
        match *self {
            Sizes::Exponential { mean } => stream.exponential(mean.get() as f64),
            Sizes::Pareto { shape, least, most } => {
                let (least, most) = (least.get() as f64, most.get() as f64);
                let cut = -libm::expm1(shape * libm::log(least / most));
                (least * libm::pow(1.0 - stream.uniform() * cut, -1.0 / shape)).min(most)
            }
            Sizes::Lognormal { median, sigma, least, most } => {
                let (median, limits) = (median.get() as f64, least.get() as f64..=most.get() as f64);
                // At least a hundredth is within the limits, so all draws fail only once in 10⁴³ times.
                for _ in 0..10_000 {
                    let size = median * libm::exp(sigma * stream.normal());
                    if limits.contains(&size) {
                        return size;
                    }
                }
                median.clamp(*limits.start(), *limits.end())
            }
            Sizes::List { ref sizes } => {
                let place = stream.uniform_below(sizes.len() as u64) as usize;
                sizes.get(place).map_or(1.0, |size| size.get() as f64)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl<'de> serde::de::Visitor<'de> for Forms {
            type Value = Size;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a size such as \"1 MB\", or a table with `distribution`")
            }
            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Size, E> {
                Bytes::deserialize(StrDeserializer::new(text)).map(Size::Fixed)
            }
            fn visit_map<M: serde::de::MapAccess<'de>>(self, map: M) -> Result<Size, M::Error> {
                Sizes::deserialize(MapAccessDeserializer::new(map)).map(Size::Drawn)
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

impl JsonSchema for Size {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A size, or the distribution that sizes are drawn from.",
            "anyOf": [generator.subschema_for::<Bytes>(), generator.subschema_for::<Sizes>()],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    fn size(json: &str) -> Size {
        serde_json::from_str(json).expect("a size")
    }

    const DRAWN: [&str; 6] = [
        r#""10 kB""#,
        r#"{"distribution":"exponential","mean":"50 kB"}"#,
        r#"{"distribution":"pareto","shape":1.0,"least":"1 kB","most":"1 MB"}"#,
        r#"{"distribution":"pareto","shape":1.5,"least":"2 kB","most":"5 MB"}"#,
        r#"{"distribution":"lognormal","median":"4316 B","sigma":1.37,"least":"100 B","most":"2 MB"}"#,
        r#"{"distribution":"list","sizes":["1 kB","1 kB","4 kB"]}"#,
    ];

    #[test]
    fn sizes_have_the_mean_that_is_told_of_them() {
        for text in DRAWN {
            let size = size(text);
            let mut stream = Seed(1).stream("size");
            let mean = (0..200_000).map(|_| f64::from(size.draw(&mut stream))).sum::<f64>() / 200_000.0;
            assert!((mean / size.mean() - 1.0).abs() < 0.02, "{text}: {mean} for {}", size.mean());
        }
    }

    #[test]
    fn the_mean_of_a_bounded_pareto_distribution_is_the_closed_form() {
        // Shape a from L to H: L^a / (1 − (L/H)^a) · a/(a − 1) · (1/L^(a−1) − 1/H^(a−1)); a = 2, L = 1 kB, H = 2 kB: 4/3 kB.
        let size = size(r#"{"distribution":"pareto","shape":2.0,"least":"1 kB","most":"2 kB"}"#);
        assert!((size.mean() - 4000.0 / 3.0).abs() < 1e-6, "{}", size.mean());
    }

    #[test]
    fn quantiles_are_those_of_the_closed_forms() {
        let below = |text: &str, limit: f64| {
            let (size, mut stream) = (size(text), Seed(2).stream("size"));
            (0..100_000).filter(|_| f64::from(size.draw(&mut stream)) <= limit).count() as f64 / 100_000.0
        };
        // Exponential: 1 − 1/e of the values are below the mean.
        assert!((below(DRAWN[1], 50_000.0) - 0.632).abs() < 0.005);
        // Bounded Pareto, shape 1, from L = 1 kB to H = 1 MB: F(x) = (1 − L/x) / (1 − L/H).
        assert!((below(DRAWN[2], 10_000.0) - 0.9 / 0.999).abs() < 0.005);
        // Lognormal with almost no truncation: half is below the median.
        assert!((below(DRAWN[4], 4316.0) - 0.5).abs() < 0.006);
        assert!((below(DRAWN[5], 1000.0) - 2.0 / 3.0).abs() < 0.006);
    }

    #[test]
    fn no_size_lies_beyond_the_limits() {
        for text in [DRAWN[2], DRAWN[4]] {
            let (size, mut stream) = (size(text), Seed(3).stream("size"));
            let sizes: Vec<u32> = (0..50_000).map(|_| size.draw(&mut stream)).collect();
            assert!(sizes.iter().all(|size| (100..=2_000_000).contains(size)), "{text}");
        }
    }

    #[test]
    fn writes_the_table_that_it_reads() {
        for text in DRAWN {
            let size = size(text);
            assert_eq!(serde_json::from_str::<Size>(&serde_json::to_string(&size).expect("text")).expect("read"), size);
        }
    }

    #[test]
    fn sizes_that_make_no_sense_are_refused_by_their_key() {
        for (text, key) in [
            (r#""0 B""#, "size"),
            (r#""5 GB""#, "size"),
            (r#"{"distribution":"exponential","mean":"0 B"}"#, "size.mean"),
            (r#"{"distribution":"pareto","shape":0.0,"least":"1 kB","most":"1 MB"}"#, "size.shape"),
            (r#"{"distribution":"pareto","least":"1 MB","most":"1 kB"}"#, "size.most"),
            (r#"{"distribution":"lognormal","median":"1 kB","sigma":11.0}"#, "size.sigma"),
            (r#"{"distribution":"lognormal","median":"1 kB","sigma":0.1,"least":"1 MB"}"#, "size.median"),
            (r#"{"distribution":"lognormal","median":"1 kB","sigma":0.0,"least":"2 kB"}"#, "size.median"),
            (r#"{"distribution":"list","sizes":[]}"#, "size.sizes"),
        ] {
            assert_eq!(size(text).check("size").expect_err(text).key, key, "{text}");
        }
        assert!(DRAWN.iter().all(|text| size(text).check("size").is_ok()));
    }
}
