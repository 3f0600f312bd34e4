//! Transfer: a number of bytes that must all arrive. The flow ends when the receiver has the last one.
//!
//! It is one unit, which the application hands over when the flow starts; the transport splits it.
//! [`crate::quality::completion`] defines the completion time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::size::Size;
use super::{FrameType, TrafficLaw, TrafficSource, TransferRequest, Unit, Volume};
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law};
use fairwave_units::units::Instant;

/// A file of a given size. The flow ends when the last byte has been delivered. Fairwave measures the completion time
/// from the start of the flow, including the handshake. Needs a transport that retransmits lost data. With `arrivals`
/// transfers start at random times.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TransferConfig {
    /// Size: fixed, or a distribution from which each flow draws a size.
    pub size: Size,
}

impl Checked for TransferConfig {
    fn check(&self) -> Result<(), ConfigError> {
        self.size.check("size")
    }
}

impl Law for TransferConfig {
    const NAME: &'static str = "transfer";
    const EXAMPLE: &'static str = r#"{"size": "1 MB"}"#;
    const BESIDE: &'static str = r#"{"transport": "tcp/sack"}"#;
}

impl TrafficLaw for TransferConfig {
    type Source = Transfer;
    const TRANSFERS: bool = true;
    const ENDS: bool = true;

    fn source(&self, start: Instant, mut stream: Stream) -> Result<Transfer, ConfigError> {
        let payload = self.size.draw(&mut stream);
        let unit = Unit { id: 0, payload, created: start, layer: 0, frame_type: FrameType::None };
        let wanted = TransferRequest { began: start, first: 0, units: 1, size: u64::from(payload) };
        Ok(Transfer { unit: Some(unit), wanted: [wanted] })
    }

    fn volume(&self, _lasts: f64) -> Option<Volume> {
        Some(Volume { units: 1.0, payload: self.size.mean() })
    }
}

/// Source of a file.
#[derive(Clone, PartialEq, Debug)]
pub struct Transfer {
    /// The file, until it has been handed over.
    unit: Option<Unit>,
    wanted: [TransferRequest; 1],
}

impl TrafficSource for Transfer {
    fn next_unit(&mut self) -> Option<Unit> {
        self.unit.take()
    }

    fn requests(&self) -> &[TransferRequest] {
        &self.wanted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_units::random::Seed;

    #[test]
    fn a_transfer_is_one_unit_of_its_size_at_its_beginning_and_nothing_else() {
        let config: TransferConfig = serde_json::from_str(r#"{"size":"1 MB"}"#).expect("a transfer");
        let start = Instant::from_seconds(3.0);
        let mut source = config.source(start, Seed(1).stream("flow")).expect("a source");
        let unit = source.next_unit().expect("a unit");
        assert_eq!((unit.id, unit.payload, unit.created), (0, 1_000_000, start));
        assert_eq!(source.next_unit(), None);
        assert_eq!(source.requests(), [TransferRequest { began: start, first: 0, units: 1, size: 1_000_000 }]);
    }

    #[test]
    fn transfers_of_other_flows_have_other_sizes_and_the_same_flow_always_its_own() {
        let config: TransferConfig =
            serde_json::from_str(r#"{"size":{"distribution":"exponential","mean":"1 MB"}}"#).expect("a transfer");
        let size =
            |name: &str| config.source(Instant::ZERO, Seed(1).stream(name)).expect("a source").requests()[0].size;
        assert_eq!(size("a"), size("a"));
        assert_ne!(size("a"), size("b"));
    }
}
