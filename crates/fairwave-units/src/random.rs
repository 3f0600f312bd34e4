//! Random numbers: one seed per run, and one named stream per component.
//!
//! A component asks the run's [`Seed`] for the stream with its name (`flow.voice[3].talk`). Streams with different
//! names are independent. The same name and seed give the same numbers on every machine and in every run. So when one
//! system replaces another, all other components draw the same random numbers. This makes paired comparisons (common
//! random numbers) possible.
//!
//! Generator: xoshiro256++ (Blackman & Vigna 2019). SplitMix64 seeds it from the seed and the FNV-1a hash of the
//! name. Transcendental functions come from `libm`, so that results do not depend on the platform's mathematical
//! library.

use rand_core::{RngCore, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

use crate::units::Span;

/// The seed of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Seed(pub u64);

impl Seed {
    /// Returns the stream with this name.
    pub fn stream(self, name: &str) -> Stream {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let mut mixer = SplitMix64::seed_from_u64(hash);
        Stream(Xoshiro256PlusPlus::seed_from_u64(mixer.next_u64() ^ self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }
}

/// A stream of random numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// Uniform in [0, 1), with 53 random bits.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in [0, `bound`); 0 if `bound` is 0. Uses multiplication (Lemire 2019). Its bias of at most
    /// bound/2⁶⁴ is far below the resolution of any experiment here.
    pub fn uniform_below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.0.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// True with probability `p`. Draws a number for every `p`, so that streams stay aligned in a sweep of `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Exponential with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.uniform())
    }

    /// Pareto with shape > 1 and the given mean: scale·U^(−1/shape), scale = mean·(shape − 1)/shape.
    pub fn pareto(&mut self, shape: f64, mean: f64) -> f64 {
        mean * (shape - 1.0) / shape * libm::pow(1.0 - self.uniform(), -1.0 / shape)
    }

    /// The number of failures before the first success. Each trial succeeds with probability `p` in (0, 1].
    pub fn geometric(&mut self, p: f64) -> u64 {
        libm::floor(libm::log(1.0 - self.uniform()) / libm::log1p(-p.min(1.0 - 1e-16))) as u64
    }

    /// Standard normal, by the polar method (Marsaglia & Bray 1964).
    pub fn normal(&mut self) -> f64 {
        loop {
            let (x, y) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                return x * libm::sqrt(-2.0 * libm::log(square) / square);
            }
        }
    }

    /// A span uniform in [`low`, `high`).
    pub fn span_between(&mut self, low: Span, high: Span) -> Span {
        low + high.saturating_sub(low).scaled(self.uniform())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_its_name_and_the_seed_alone() {
        let draw = |seed: u64, name: &str| Seed(seed).stream(name).uniform_below(u64::MAX);
        assert_eq!(draw(1, "flow.voice[3].talk"), draw(1, "flow.voice[3].talk"));
        assert_ne!(draw(1, "flow.voice[3].talk"), draw(2, "flow.voice[3].talk"));
        assert_ne!(draw(1, "flow.voice[3].talk"), draw(1, "flow.voice[4].talk"));
    }

    #[test]
    fn whole_numbers_below_a_bound_are_equally_likely_and_stay_below_it() {
        // 3 does not divide 2^64, so a plain remainder would favour some values.
        let mut stream = Seed(3).stream("test");
        let mut counts = [0u32; 3];
        for _ in 0..300_000 {
            counts[stream.uniform_below(3) as usize] += 1;
        }
        assert!(counts.iter().all(|count| count.abs_diff(100_000) < 1_000), "{counts:?}");
        let high = 3 << 62;
        let upper = (0..30_000).filter(|_| stream.uniform_below(high) >= 1 << 63).count();
        assert!(upper.abs_diff(10_000) < 400, "a third lies in the upper third: {upper}");
        assert_eq!((stream.uniform_below(1), stream.uniform_below(0)), (0, 0));
    }

    #[test]
    fn distributions_have_their_means() {
        let mut stream = Seed(7).stream("test");
        let n = 200_000;
        let mut mean =
            |draw: &mut dyn FnMut(&mut Stream) -> f64| (0..n).map(|_| draw(&mut stream)).sum::<f64>() / f64::from(n);
        assert!((mean(&mut |s| s.uniform()) - 0.5).abs() < 0.005);
        assert!((mean(&mut |s| s.exponential(2.0)) - 2.0).abs() < 0.03);
        assert!((mean(&mut |s| s.pareto(3.0, 2.0)) - 2.0).abs() < 0.03);
        assert!((mean(&mut |s| s.geometric(0.25) as f64) - 3.0).abs() < 0.05);
        assert!(mean(&mut |s| s.normal()).abs() < 0.01);
        assert!((mean(&mut |s| f64::from(u8::from(s.chance(0.15)))) - 0.15).abs() < 0.005);
    }
}
