//! Ranges in which the E-model was validated (ITU-T G.107 Table 2, G.107.1 Table 1), and messages about values out of
//! range.

use core::fmt;

/// A parameter of the E-model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parameter {
    /// SLR, dB.
    SendLoudness,
    /// RLR, dB.
    ReceiveLoudness,
    /// STMR, dB.
    SidetoneMasking,
    /// LSTR, dB.
    ListenerSidetone,
    /// Ds.
    SendDValue,
    /// Dr.
    ReceiveDValue,
    /// TELR, dB.
    TalkerEchoLoudness,
    /// WEPL, dB.
    WeightedEchoPathLoss,
    /// T, ms.
    EchoDelay,
    /// Tr, ms.
    RoundTripDelay,
    /// Ta, ms.
    Delay,
    /// qdu.
    QuantisationUnits,
    /// Ie.
    EquipmentImpairment,
    /// Bpl.
    LossRobustness,
    /// Ppl, percent.
    Loss,
    /// BurstR.
    BurstRatio,
    /// Nc, dBm0p.
    CircuitNoise,
    /// Ps, dB(A).
    SendRoomNoise,
    /// Pr, dB(A).
    ReceiveRoomNoise,
    /// A.
    Advantage,
}

impl Parameter {
    /// Returns the name for messages, and the unit.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Parameter::SendLoudness => ("send loudness rating", " dB"),
            Parameter::ReceiveLoudness => ("receive loudness rating", " dB"),
            Parameter::SidetoneMasking => ("sidetone masking rating", " dB"),
            Parameter::ListenerSidetone => ("listener sidetone rating", " dB"),
            Parameter::SendDValue => ("D-value at the sending side", ""),
            Parameter::ReceiveDValue => ("D-value at the receiving side", ""),
            Parameter::TalkerEchoLoudness => ("talker echo loudness rating", " dB"),
            Parameter::WeightedEchoPathLoss => ("weighted echo path loss", " dB"),
            Parameter::EchoDelay => ("echo delay", " ms"),
            Parameter::RoundTripDelay => ("round-trip delay", " ms"),
            Parameter::Delay => ("delay", " ms"),
            Parameter::QuantisationUnits => ("quantisation distortion", " qdu"),
            Parameter::EquipmentImpairment => ("equipment impairment", ""),
            Parameter::LossRobustness => ("loss robustness", ""),
            Parameter::Loss => ("loss", " %"),
            Parameter::BurstRatio => ("burst ratio", ""),
            Parameter::CircuitNoise => ("circuit noise", " dBm0p"),
            Parameter::SendRoomNoise => ("room noise at the sending side", " dB(A)"),
            Parameter::ReceiveRoomNoise => ("room noise at the receiving side", " dB(A)"),
            Parameter::Advantage => ("advantage factor", ""),
        }
    }
}

/// Closed range, in the parameter's unit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Range(pub f64, pub f64);

impl Range {
    /// Returns the validated range of BurstR: up to 8 below a loss of 2 %, otherwise up to 2 (G.107 Table 2, last
    /// note).
    pub(super) fn for_burst_ratio(loss: f64) -> Range {
        Range(1.0, if loss < 0.02 { 8.0 } else { 2.0 })
    }

    /// Returns a violation if `value` is out of range.
    pub(super) fn outside(self, parameter: Parameter, value: f64) -> Option<RangeViolation> {
        let inside = value >= self.0 && value <= self.1;
        (!inside).then_some(RangeViolation { parameter, value, range: self })
    }
}

/// Value of a parameter outside the validated range.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RangeViolation {
    /// The parameter.
    pub parameter: Parameter,
    /// The value, in the unit of the Recommendation's table (delays in ms, loss in percent).
    pub value: f64,
    /// The range.
    pub range: Range,
}

impl fmt::Display for RangeViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, unit) = self.parameter.words();
        // Three digits are enough to show the distance.
        let value = if self.value.abs() >= 100.0 { format!("{:.0}", self.value) } else { format!("{:.3}", self.value) };
        let value = if value.contains('.') { value.trim_end_matches('0').trim_end_matches('.') } else { &value };
        write!(f, "{name} {value}{unit} outside {}–{}{unit}", self.range.0, self.range.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_includes_its_ends() {
        let range = Range(1.0, 8.0);
        assert_eq!(range.outside(Parameter::BurstRatio, 1.0), None);
        assert_eq!(range.outside(Parameter::BurstRatio, 8.0), None);
        assert!(range.outside(Parameter::BurstRatio, 0.999).is_some());
        assert!(range.outside(Parameter::BurstRatio, 8.001).is_some());
        assert!(range.outside(Parameter::BurstRatio, f64::NAN).is_some());
    }

    #[test]
    fn bursts_are_validated_further_where_little_is_lost() {
        assert_eq!(Range::for_burst_ratio(0.019), Range(1.0, 8.0));
        assert_eq!(Range::for_burst_ratio(0.02), Range(1.0, 2.0));
    }

    #[test]
    fn a_finding_names_parameter_value_and_range_in_its_unit() {
        let said = |parameter, value, range: Range| range.outside(parameter, value).expect("outside").to_string();
        assert_eq!(said(Parameter::Delay, 620.4, Range(0.0, 500.0)), "delay 620 ms outside 0–500 ms");
        assert_eq!(said(Parameter::Loss, 35.5, Range(0.0, 20.0)), "loss 35.5 % outside 0–20 %");
        assert_eq!(said(Parameter::BurstRatio, 3.0, Range(1.0, 2.0)), "burst ratio 3 outside 1–2");
        assert_eq!(
            said(Parameter::CircuitNoise, -100.0, Range(-80.0, -40.0)),
            "circuit noise -100 dBm0p outside -80–-40 dBm0p"
        );
    }
}
