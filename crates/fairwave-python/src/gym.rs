//! Runs that Python steers step by step. All numbers of a step cross the border in one call, as bytes.

use std::sync::{Mutex, PoisonError};

use fairwave_core::random::Seed;
use fairwave_core::transport::policy::Reward;
use fairwave_core::units::Span;
use fairwave_sim::episode::{Episode, Steered, Step, WIDTH, steers, step_all};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::RunError;
use crate::batch::{tables_of, to_python};
use crate::scenario::{Scenario, own_laws, refused};

/// Number of values in a row: the observation, reward, delivered rate (b/s), queueing delay (s), share of lost packets, time (s),
/// and 1 if the episode has ended, else 0.
const ROW: usize = WIDTH + 6;

/// Slots for episodes. Each slot holds at most one.
#[pyclass(frozen, module = "fairwave")]
pub struct Episodes {
    places: Mutex<Vec<Option<Episode>>>,
    reward: Reward,
}

impl Episodes {
    fn write(&self, step: &Step, bytes: &mut Vec<u8>) {
        let Step { outcome, at, is_last } = step;
        let others = [
            self.reward.evaluate(outcome),
            outcome.delivered,
            outcome.queueing,
            outcome.lost,
            *at,
            f64::from(u8::from(*is_last)),
        ];
        outcome.observation.iter().chain(&others).for_each(|number| bytes.extend_from_slice(&number.to_ne_bytes()));
    }

    fn with<T>(&self, then: impl FnOnce(&mut Vec<Option<Episode>>) -> T) -> T {
        then(&mut self.places.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn failed(error: impl ToString) -> PyErr {
    RunError::new_err(error.to_string())
}

#[pymethods]
impl Episodes {
    /// Creates `count` slots. `delay` is the cost of one second of queueing delay, `loss` the cost of losing all packets.
    #[new]
    fn new(count: usize, delay: f64, loss: f64) -> Self {
        Episodes { places: Mutex::new((0..count).map(|_| None).collect()), reward: Reward { delay, loss } }
    }

    /// Number of values in a row, and in the observation at its start.
    #[staticmethod]
    fn widths() -> (usize, usize) {
        (ROW, WIDTH)
    }

    /// The flows of a scenario that an agent can control: index, name, `rate` or `window`.
    #[staticmethod]
    fn steerable(scenario: PyRef<'_, Scenario>) -> PyResult<Vec<(usize, String, &'static str)>> {
        let plan = scenario.inner().plan(Seed(1)).map_err(|error| refused(&error))?;
        let of_flow = |(index, flow): (usize, &fairwave_scenario::plan::FlowPlan)| {
            let what = match steers(&plan, index)? {
                Steered::Rate => "rate",
                Steered::Window => "window",
            };
            Some((index, flow.name.clone(), what))
        };
        Ok(plan.flows.iter().enumerate().filter_map(of_flow).collect())
    }

    /// Starts an episode in a slot and discards the previous one. The monitor interval is in nanoseconds. Returns the first row.
    fn begin<'py>(
        &self,
        py: Python<'py>,
        place: usize,
        scenario: PyRef<'_, Scenario>,
        seed: u64,
        flow: usize,
        interval: u64,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let scenario = scenario.inner();
        if !own_laws(&scenario).is_empty() {
            let hint = "an environment steps runs without Python; name built-in laws in its scenario";
            return Err(PyValueError::new_err(hint));
        }
        let begun = py.detach(|| {
            let plan = scenario.plan(Seed(seed)).map_err(|error| refused(&error))?;
            Episode::begin(plan, flow, Span::from_nanos(interval)).map_err(failed)
        });
        let (episode, first) = begun?;
        self.with(|places| {
            let count = places.len();
            let there = places
                .get_mut(place)
                .ok_or_else(|| PyIndexError::new_err(format!("there are {count} places, not one of number {place}")))?;
            *there = Some(episode);
            Ok::<(), PyErr>(())
        })?;
        let mut bytes = Vec::with_capacity(8 * ROW);
        self.write(&first, &mut bytes);
        Ok(PyBytes::new(py, &bytes))
    }

    /// Steps all slots whose byte in `live` is 1, on all cores. `actions` holds one double per slot. Returns a row per slot, with
    /// zeros for other slots.
    fn step<'py>(&self, py: Python<'py>, actions: &[u8], live: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let (actions, _) = actions.as_chunks::<8>();
        let bytes = py.detach(|| {
            self.with(|places| {
                let count = places.len();
                if actions.len() != count || live.len() != count {
                    let found = format!("{} actions and {} marks for {count} places", actions.len(), live.len());
                    return Err(PyValueError::new_err(found));
                }
                let mut bytes = vec![0; 8 * ROW * count];
                let (mut chosen, mut given, mut rows) = (Vec::new(), Vec::new(), Vec::new());
                for (index, episode) in places.iter_mut().enumerate() {
                    if live[index] == 1
                        && let Some(episode) = episode
                    {
                        chosen.push(episode);
                        given.push(f64::from_ne_bytes(actions[index]));
                        rows.push(index);
                    }
                }
                let steps = step_all(&mut chosen, &given).map_err(failed)?;
                let mut row = Vec::with_capacity(8 * ROW);
                for (index, step) in rows.into_iter().zip(&steps) {
                    row.clear();
                    self.write(step, &mut row);
                    bytes[8 * ROW * index..8 * ROW * (index + 1)].copy_from_slice(&row);
                }
                Ok(bytes)
            })
        })?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Steps the first slot only.
    fn step_one<'py>(&self, py: Python<'py>, action: f64) -> PyResult<Bound<'py, PyBytes>> {
        let step = py.detach(|| {
            self.with(|places| match places.first_mut() {
                Some(Some(episode)) => episode.step(action).map_err(failed),
                _ => Err(PyValueError::new_err("no episode has begun")),
            })
        })?;
        let mut bytes = Vec::with_capacity(8 * ROW);
        self.write(&step, &mut bytes);
        Ok(PyBytes::new(py, &bytes))
    }

    /// Completes an episode: runs to the end with the last rate or window, and returns the tables of the run.
    fn complete<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(episode) = self.with(|places| places.get_mut(place).and_then(Option::take)) else { return Ok(None) };
        let tables = py.detach(|| tables_of(&episode.complete().map_err(|error| error.to_string())?));
        Ok(Some(to_python(py, &tables.map_err(failed)?)?))
    }

    /// Discards the episode in a slot.
    fn close(&self, place: usize) {
        self.with(|places| {
            if let Some(there) = places.get_mut(place) {
                *there = None;
            }
        });
    }
}
