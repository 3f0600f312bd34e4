//! Random numbers for laws written in Python: streams of `fairwave-core`, derived from the run's seed.

use std::sync::{Mutex, PoisonError};

use fairwave_core::random::{Seed, Stream};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// A stream of random numbers. The same seed and name give the same numbers on every machine.
///
/// `self.random` of a law is a separate stream per instance, derived from the run's seed. Its draws do not change the draws of
/// other laws. In a test, use `Random(1, "test")`.
#[pyclass(frozen, module = "fairwave")]
pub struct Random {
    stream: Mutex<Option<Stream>>,
}

impl Random {
    /// Wraps a stream of `fairwave-core`. `None` until a stream is available.
    pub fn from_stream(stream: Option<Stream>) -> Self {
        Random { stream: Mutex::new(stream) }
    }

    /// Draws from `stream` during `work`.
    pub fn lend<T>(&self, stream: &mut Stream, work: impl FnOnce() -> T) -> T {
        let own = self.replace(Some(stream.clone()));
        let done = work();
        if let Some(drawn) = self.replace(own) {
            *stream = drawn;
        }
        done
    }

    /// True if a stream is available.
    pub fn is_there(&self) -> bool {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Replaces the stream and returns the previous one.
    pub fn replace(&self, stream: Option<Stream>) -> Option<Stream> {
        std::mem::replace(&mut *self.stream.lock().unwrap_or_else(PoisonError::into_inner), stream)
    }

    fn draw<T>(&self, draw: impl FnOnce(&mut Stream) -> T) -> PyResult<T> {
        let mut stream = self.stream.lock().unwrap_or_else(PoisonError::into_inner);
        stream.as_mut().map(draw).ok_or_else(|| {
            PyValueError::new_err(
                "a discipline has no random numbers before the first packet arrives; draw them in `arrive`",
            )
        })
    }
}

fn check(name: &str, value: f64, right: bool, allowed: &str) -> PyResult<()> {
    if right {
        return Ok(());
    }
    Err(PyValueError::new_err(format!("`{name}` is {value}, but must be {allowed}")))
}

#[pymethods]
impl Random {
    #[new]
    fn new(seed: u64, name: &str) -> Self {
        Random::from_stream(Some(Seed(seed).stream(name)))
    }

    /// Uniform from 0 to 1, 1 excluded.
    fn uniform(&self) -> PyResult<f64> {
        self.draw(Stream::uniform)
    }

    /// A whole number from 0 to `bound` − 1, uniformly distributed. 0 if `bound` is 0.
    fn below(&self, bound: u64) -> PyResult<u64> {
        self.draw(|stream| stream.uniform_below(bound))
    }

    /// True with probability `p`. Draws one number for any `p`.
    fn chance(&self, p: f64) -> PyResult<bool> {
        self.draw(|stream| stream.chance(p))
    }

    /// Exponential distribution with this mean.
    fn exponential(&self, mean: f64) -> PyResult<f64> {
        self.draw(|stream| stream.exponential(mean))
    }

    /// Pareto distribution with a shape above 1 and this mean.
    fn pareto(&self, shape: f64, mean: f64) -> PyResult<f64> {
        check("shape", shape, shape > 1.0, "above 1: there is no mean otherwise")?;
        self.draw(|stream| stream.pareto(shape, mean))
    }

    /// Number of failures before the first success. Each trial succeeds with probability `p`, above 0 and at most 1.
    fn geometric(&self, p: f64) -> PyResult<u64> {
        check("p", p, p > 0.0 && p <= 1.0, "above 0 and at most 1")?;
        self.draw(|stream| stream.geometric(p))
    }

    /// Standard normal distribution: mean 0, variance 1.
    fn normal(&self) -> PyResult<f64> {
        self.draw(Stream::normal)
    }
}
