//! A sequence of loss models at known times.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Loss, LossConfig, LossLaw, LossModel};
use crate::packet::Packet;
use fairwave_units::config::ConfigError;
use fairwave_units::random::{Seed, Stream};
use fairwave_units::registry::{Checked, Law};
use fairwave_units::timed::{Step, check_steps};
use fairwave_units::units::{Instant, Span};

/// Several loss models, one after the other at known times. A list of steps, `loss = [{ at = "0 s", is = "none" }, { at
/// = "20 s", is = { model = "bernoulli", rate = 0.02 } }]`, is short for it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LossScheduleConfig {
    /// The models in ascending order of time, the first from 0 s on. A model decides only while its step holds.
    pub steps: Vec<Step<LossConfig>>,
}

const EXAMPLE: &str =
    "steps = [{ at = \"0 s\", is = \"none\" }, { at = \"20 s\", is = { model = \"bernoulli\", rate = 0.02 } }]";

impl Checked for LossScheduleConfig {
    fn check(&self) -> Result<(), ConfigError> {
        check_steps(&self.steps, EXAMPLE)?;
        for (index, step) in self.steps.iter().enumerate() {
            step.is.check().map_err(|error| error.nested_in(&format!("steps.{index}.is")))?;
        }
        Ok(())
    }
}

impl Law for LossScheduleConfig {
    const NAME: &'static str = "schedule";
    const EXAMPLE: &'static str =
        r#"{"steps": [{"at": "0 s", "is": "none"}, {"at": "5 s", "is": {"model": "bernoulli", "rate": 0.02}}]}"#;
}

impl LossLaw for LossScheduleConfig {
    type Model = LossSchedule;

    /// The first model uses the same stream as it would alone; each other model gets a separate one.
    fn model(&self, stream: Stream) -> Result<LossSchedule, ConfigError> {
        let mut forks = stream.clone();
        let mut steps = Vec::with_capacity(self.steps.len());
        for (index, step) in self.steps.iter().enumerate() {
            let own = if index == 0 { stream.clone() } else { Seed(forks.uniform_below(u64::MAX)).stream("step") };
            steps.push((step.begins(), Loss::new(&step.is, own)?));
        }
        Ok(LossSchedule { steps: steps.into(), place: 0 })
    }

    fn cycle(&self) -> Option<Span> {
        self.steps.iter().filter_map(|step| step.is.cycle()).min()
    }
}

/// State of the schedule.
pub struct LossSchedule {
    /// Start time of each model, and the model.
    steps: Box<[(Instant, Loss)]>,
    place: usize,
}

impl LossModel for LossSchedule {
    fn lost(&mut self, now: Instant, packet: &Packet) -> bool {
        while self.steps.get(self.place + 1).is_some_and(|(begins, _)| *begins <= now) {
            self.place += 1;
        }
        self.steps.get_mut(self.place).is_some_and(|(_, loss)| loss.lost(now, packet))
    }
}
