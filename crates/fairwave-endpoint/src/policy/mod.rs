//! Learned control: a small neural network observes what a sender can measure, and decides how to change the
//! sending rate or window.
//!
//! At the end of each *monitor interval*, the [`Monitor`] summarises the feedback of the interval in an
//! observation of [`OBSERVED`] numbers. The policy returns an action `a` from −1 to 1, which multiplies the
//! sender's rate or window by 2^a. The rate controller `policy` and the TCP controller `tcp/policy` both work in
//! this way. In a training environment, an external agent takes the place of the network ([`PolicyQueue`]).
//!
//! Intervals end at whole multiples of their length since the start of the run. An interval includes feedback that
//! arrives exactly at its end. So a policy inside a run and the same policy outside, called step by step, produce
//! identical bytes.
//!
//! **Assumptions.** The form of action and observation is fairwave's (†). Multiplicative actions by interval
//! follow Jay et al., *A Deep Reinforcement Learning Perspective on Internet Congestion Control*, ICML 2019, §3.

mod monitor;
mod policy_queue;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use fairwave_units::config::ConfigError;
use fairwave_units::units::Span;

pub use monitor::{Level, Monitor, OBSERVED, Observation, Outcome, Reward};
pub use policy_queue::{PolicyQueue, SharedPolicyQueue};

/// Maximum number of layers of a network.
const MOST_LAYERS: usize = 8;
/// Maximum number of units of a layer.
const MOST_UNITS: usize = 256;

/// The activation function of a layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// The identity.
    #[default]
    Linear,
    /// The hyperbolic tangent.
    Tanh,
    /// Zero for negative sums.
    Relu,
}

impl Activation {
    fn apply(self, sum: f64) -> f64 {
        match self {
            Activation::Linear => sum,
            Activation::Tanh => libm::tanh(sum),
            Activation::Relu => sum.max(0.0),
        }
    }
}

/// One layer of a network.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Layer {
    /// One row of weights per unit of the layer. A row has one weight per unit of the previous layer, or 10 in the
    /// first layer.
    pub weights: Vec<Vec<f64>>,
    /// The bias: one number per unit.
    pub bias: Vec<f64>,
    /// `linear`, `tanh` or `relu`. Default `linear`.
    #[serde(default)]
    pub activation: Activation,
}

/// A policy: a network of dense layers from the observation to one number, clamped to −1 to 1.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Policy {
    /// The monitor interval, from 1 ms to 10 s. Default 50 ms.
    pub interval: Span,
    /// The layers, from the observation on: 1 to 8, each of 1 to 256 units, the last of one. Default: one linear
    /// unit written by hand, a simple rule for comparison.
    pub layers: Vec<Layer>,
}

/// A hand-written rule (†). Each interval raises the rate by 5 % of a doubling. The seconds of queueing delay, the
/// change of the queueing delay, and the share of lost packets reduce the increase. The rule is in equilibrium at
/// a queueing delay of 50 ms.
const PLAIN: [f64; OBSERVED] = [0.0, 0.0, 0.0, -1.0, -1.0, -1.0, -2.0, 0.0, 0.0, -0.2];
const PLAIN_BIAS: f64 = 0.05;

impl Default for Policy {
    fn default() -> Self {
        let plain = Layer { weights: vec![PLAIN.to_vec()], bias: vec![PLAIN_BIAS], activation: Activation::Linear };
        Policy { interval: Span::from_millis(50), layers: vec![plain] }
    }
}

impl Policy {
    /// Checks the policy.
    ///
    /// # Errors
    /// The first invalid key.
    pub fn check(&self) -> Result<(), ConfigError> {
        check_interval("policy.interval", self.interval)?;
        let wrong = |value: String, allowed: String| {
            ConfigError::new("policy.layers", value, allowed, "policies that `fairwave.gym.Policy.save` has written")
        };
        if !(1..=MOST_LAYERS).contains(&self.layers.len()) {
            return Err(wrong(format!("{} layers", self.layers.len()), format!("1 to {MOST_LAYERS} layers")));
        }
        let mut inputs = OBSERVED;
        for (place, layer) in self.layers.iter().enumerate() {
            let units = layer.weights.len();
            if !(1..=MOST_UNITS).contains(&units) {
                return Err(wrong(
                    format!("{units} units in layer {place}"),
                    format!("1 to {MOST_UNITS} rows of weights in each layer"),
                ));
            }
            if let Some(row) = layer.weights.iter().find(|row| row.len() != inputs) {
                return Err(wrong(
                    format!("a row of {} weights in layer {place}", row.len()),
                    format!("{inputs} weights in each row of layer {place}"),
                ));
            }
            if layer.bias.len() != units {
                return Err(wrong(
                    format!("{} biases in layer {place}", layer.bias.len()),
                    format!("{units}, one for each row of weights"),
                ));
            }
            if let Some(odd) = layer.weights.iter().flatten().chain(&layer.bias).find(|number| !number.is_finite()) {
                return Err(wrong(format!("{odd} in layer {place}"), "finite numbers".to_owned()));
            }
            inputs = units;
        }
        if inputs != 1 {
            return Err(wrong(format!("{inputs} units in the last layer"), "1 unit in the last layer".to_owned()));
        }
        Ok(())
    }

    /// Computes the action, from −1 to 1, for an observation.
    pub fn act(&self, observation: &Observation) -> f64 {
        let mut values = observation.to_vec();
        for layer in &self.layers {
            let sum = |(row, bias): (&Vec<f64>, &f64)| {
                layer.activation.apply(row.iter().zip(&values).fold(*bias, |sum, (weight, value)| sum + weight * value))
            };
            values = layer.weights.iter().zip(&layer.bias).map(sum).collect();
        }
        // Large weights can give infinities, and infinities can give NaN.
        values.first().copied().filter(|action| !action.is_nan()).unwrap_or(0.0).clamp(-1.0, 1.0)
    }

    /// Creates a policy queue that this policy decides for.
    pub fn queue(&self) -> SharedPolicyQueue {
        SharedPolicyQueue::new(PolicyQueue::new(self.interval, Some(Arc::new(self.clone()))))
    }
}

/// Checks the policy in a law's table.
///
/// # Errors
/// If a `file` was not read, or if [`Policy::check`] fails.
pub fn check_table(file: Option<&str>, policy: Option<&Policy>) -> Result<(), ConfigError> {
    match (file, policy) {
        (Some(file), Some(_)) => {
            let allowed = "the name of a file, without a `policy`";
            Err(ConfigError::new("file", format!("`{file}`"), allowed, "file = \"policy.json\""))
        }
        (Some(""), None) => Err(ConfigError::new("file", "``", "the name of a file", "file = \"policy.json\"")),
        (_, policy) => policy.map_or(Ok(()), Policy::check),
    }
}

/// Rejects a `file` that was not read: the scenario reader reads files, a law does not.
///
/// # Errors
/// If the file is still set.
pub fn check_read(file: Option<&str>) -> Result<(), ConfigError> {
    file.map_or(Ok(()), |file| {
        let allowed = "read when the scenario is; a law reads no file";
        Err(ConfigError::new("file", format!("`{file}`"), allowed, "policy = { layers = [ … ] }"))
    })
}

/// Checks a monitor interval.
///
/// # Errors
/// If it is not from 1 ms to 10 s.
pub fn check_interval(key: &str, interval: Span) -> Result<(), ConfigError> {
    if !(Span::from_millis(1)..=Span::from_secs(10)).contains(&interval) {
        return Err(ConfigError::new(key, interval, "from 1 ms to 10 s", "interval = \"50 ms\""));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn layer(weights: &[&[f64]], bias: &[f64], activation: Activation) -> Layer {
        Layer { weights: weights.iter().map(|row| row.to_vec()).collect(), bias: bias.to_vec(), activation }
    }

    #[test]
    fn a_network_is_sums_and_activations_layer_by_layer() {
        let mut observation = [0.0; OBSERVED];
        (observation[0], observation[5]) = (2.0, 0.1);
        let [mut up, mut down] = [[0.0; OBSERVED]; 2];
        (up[0], down[5]) = (0.25, -3.0);
        let policy = Policy {
            layers: vec![
                layer(&[&up, &down], &[0.1, 0.2], Activation::Relu),
                layer(&[&[0.5, 7.0]], &[-0.05], Activation::Tanh),
            ],
            ..Policy::default()
        };
        policy.check().expect("a policy");
        // relu(0.6) = 0.6 and relu(−0.1) = 0: tanh(0.3 − 0.05).
        assert!((policy.act(&observation) - 0.25_f64.tanh()).abs() < 1e-12);
    }

    #[test]
    fn the_plain_rule_rests_where_packets_wait_for_50_ms() {
        let plain = Policy::default();
        let waiting = |seconds: f64| {
            let mut observation = [0.0; OBSERVED];
            observation[5] = seconds;
            plain.act(&observation)
        };
        assert!((waiting(0.0) - 0.05).abs() < 1e-12 && waiting(0.05).abs() < 1e-12);
        assert_eq!(waiting(9.0), -1.0, "an action is cut");
    }

    #[test]
    fn networks_that_do_not_fit_are_refused_with_the_place() {
        let ten: &[f64] = &[0.0; OBSERVED];
        let refused =
            |layers: Vec<Layer>| Policy { layers, ..Policy::default() }.check().expect_err("refused").to_string();
        assert!(refused(Vec::new()).contains("0 layers"));
        assert!(refused(vec![layer(&[&[1.0]], &[0.0], Activation::Linear)]).contains("1 weights in layer 0"));
        assert!(refused(vec![layer(&[ten], &[], Activation::Linear)]).contains("0 biases in layer 0"));
        assert!(refused(vec![layer(&[ten, ten], &[0.0, 0.0], Activation::Tanh)]).contains("2 units in the last"));
        assert!(refused(vec![layer(&[ten], &[f64::NAN], Activation::Tanh)]).contains("NaN in layer 0"));
        assert!(refused(vec![layer(&[], &[], Activation::Tanh)]).contains("0 units in layer 0"));
        let slow = Policy { interval: Span::from_secs(11), ..Policy::default() };
        assert!(slow.check().expect_err("refused").to_string().contains("10 s"));
        assert!(check_table(Some("a.json"), Some(&Policy::default())).is_err());
        assert!(check_table(Some("a.json"), None).is_ok() && check_read(Some("a.json")).is_err());
    }

    proptest! {
        #[test]
        fn fuzz_no_weights_and_no_observation_lead_outside_of_the_range(
            numbers in prop::collection::vec(prop_oneof![-1e308..1e308, -1.0..1.0], OBSERVED + 3),
            seen in prop::collection::vec(prop_oneof![-1e300..1e300, -1.0..1.0], OBSERVED),
        ) {
            let policy = Policy {
                layers: vec![
                    layer(&[&numbers[..OBSERVED]], &numbers[OBSERVED..=OBSERVED], Activation::Relu),
                    layer(&[&numbers[OBSERVED + 1..OBSERVED + 2]], &numbers[OBSERVED + 2..], Activation::Linear),
                ],
                ..Policy::default()
            };
            policy.check().expect("finite numbers");
            let mut observation = [0.0; OBSERVED];
            observation.copy_from_slice(&seen);
            prop_assert!((-1.0..=1.0).contains(&policy.act(&observation)));
        }
    }
}
