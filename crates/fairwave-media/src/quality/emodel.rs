//! E-model of ITU-T G.107 (06/2015): the expected rating of a telephone connection, R = Ro − Is − Id − Ie,eff + A (Eq.
//! 7-1).
//!
//! It has every parameter of the Recommendation's Table 2 with its default, so you only set the parameters that differ.
//! Ranges are those of the same table; [`EModel::outside`] returns parameters out of range. The module also has paper
//! 004's simplification, Eq. (1)–(2), as printed. For wideband connections see [`super::emodel_wideband`].
//!
//! **Assumptions**, for details that the Recommendation leaves open, so that a worse network never has a better rating:
//! - R is limited to 0 to 100, the range of its scale (Annex B gives values beyond it the scores of the ends).
//! - The delay equations are used beyond 500 ms, too: they rise and are bounded.
//! - Ie,eff is at most 95, the most in Eq. 7-29 for losses that are not bursty. Beyond a loss of 20 % it is at least
//!   the value on the straight line to a loss of 100 %, at which R is 0. By the equation alone, a dead line would have
//!   R = 17.
//! - Burst ratios below 1 count as 1, above 8 as 8.
//! - The impairment by talker echo is at least 0; between 1 and 3 ms, Eq. 7-19 reaches −0.1.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::emodel_loss::effective_impairment;
use super::emodel_ranges::{Parameter, Range, RangeViolation};
use super::impairment::Impairment;
use fairwave_units::units::Span;

/// Sensitivity of users to delay (G.107 Table 1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DelaySensitivity {
    /// sT 1, mT 100 ms: everyday calls; earlier editions assume these values for all users.
    #[default]
    Default,
    /// sT 0.55, mT 120 ms: users tolerant of delay.
    Low,
    /// sT 0.4, mT 150 ms: one-sided listening with little interaction.
    VeryLow,
}

impl DelaySensitivity {
    /// Returns sT, and mT in milliseconds.
    const fn parameters(self) -> (f64, f64) {
        match self {
            DelaySensitivity::Default => (1.0, 100.0),
            DelaySensitivity::Low => (0.55, 120.0),
            DelaySensitivity::VeryLow => (0.4, 150.0),
        }
    }
}

/// Connection, in the parameters of G.107 Table 2. Loudness and levels are in dB, dBm or dBmp as in the table.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct EModel {
    /// SLR, dB. Default 8.
    pub send_loudness: f64,
    /// RLR, dB. Default 2.
    pub receive_loudness: f64,
    /// STMR, dB. Default 15.
    pub sidetone_masking: f64,
    /// Ds, D-value of the telephone at the sending side. Default 3.
    pub send_d_value: f64,
    /// Dr, at the receiving side. Default 3. The listener sidetone rating is LSTR = STMR + Dr.
    pub receive_d_value: f64,
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
    /// qdu, number of quantisation distortion units. Default 1.
    pub quantisation_units: f64,
    /// Ie, equipment impairment factor. Default 0.
    pub equipment_impairment: f64,
    /// Bpl, packet-loss robustness factor. Default 4.3.
    pub loss_robustness: f64,
    /// Ppl, fraction of packets lost, 0 to 1 (the Recommendation counts in percent). Default 0.
    pub loss: f64,
    /// BurstR, burst ratio, 1 and above. Default 1.
    pub burst_ratio: f64,
    /// Nc, circuit noise, dBm0p. Default −70.
    pub circuit_noise: f64,
    /// Nfor, noise floor at the receiving side, dBmp. Default −64.
    pub noise_floor: f64,
    /// Ps, room noise at the sending side, dB(A). Default 35.
    pub send_room_noise: f64,
    /// Pr, at the receiving side, dB(A). Default 35.
    pub receive_room_noise: f64,
    /// A, advantage factor. Default 0.
    pub advantage: f64,
    /// Sensitivity to delay.
    pub delay_sensitivity: DelaySensitivity,
}

impl Default for EModel {
    fn default() -> Self {
        EModel {
            send_loudness: 8.0,
            receive_loudness: 2.0,
            sidetone_masking: 15.0,
            send_d_value: 3.0,
            receive_d_value: 3.0,
            talker_echo_loudness: 65.0,
            weighted_echo_path_loss: 110.0,
            echo_delay: Span::ZERO,
            round_trip_delay: Span::ZERO,
            absolute_delay: Span::ZERO,
            quantisation_units: 1.0,
            equipment_impairment: 0.0,
            loss_robustness: 4.3,
            loss: 0.0,
            burst_ratio: 1.0,
            circuit_noise: -70.0,
            noise_floor: -64.0,
            send_room_noise: 35.0,
            receive_room_noise: 35.0,
            advantage: 0.0,
            delay_sensitivity: DelaySensitivity::Default,
        }
    }
}

/// Rating and its parts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rating {
    /// Ro, basic signal-to-noise ratio; 129 on the wideband scale.
    pub signal_to_noise: f64,
    /// Is, simultaneous impairment.
    pub simultaneous: f64,
    /// Idte, talker echo.
    pub talker_echo: f64,
    /// Idle, listener echo.
    pub listener_echo: f64,
    /// Idd, delay without echo.
    pub absolute_delay: f64,
    /// Ie,eff: codec and packet loss.
    pub equipment: f64,
    /// R, the rating: 0 to 100, on the wideband scale to 129.
    pub r: f64,
}

/// Returns the sum, in dB, of powers given in dB.
fn sum_of_powers(levels: [f64; 4]) -> f64 {
    10.0 * libm::log10(levels.iter().map(|level| libm::pow(10.0, level / 10.0)).sum())
}

/// Returns (1 + xⁿ)^(1/n), a soft maximum of 1 and x that the Recommendation uses often. x may be negative if n is
/// even.
fn soft_max(x: f64, n: f64) -> f64 {
    libm::pow(1.0 + libm::pow(x, n), 1.0 / n)
}

impl EModel {
    /// Returns a call over a packet network: mouth-to-ear `delay`, fraction `loss` of packets lost, `burst_ratio` of
    /// the losses, and impairment of the codec.
    ///
    /// As G.107 advises for an unknown echo path: T = Ta = delay and Tr = 2·delay, with the default echo losses.
    pub fn call(delay: Span, loss: f64, burst_ratio: f64, codec: Impairment) -> Self {
        EModel {
            echo_delay: delay,
            absolute_delay: delay,
            round_trip_delay: delay * 2,
            loss,
            burst_ratio,
            equipment_impairment: codec.equipment,
            loss_robustness: codec.robustness,
            ..EModel::default()
        }
    }

    /// Returns the rating and its parts.
    pub fn rate(&self) -> Rating {
        let noise = self.noise();
        let signal_to_noise = 15.0 - 1.5 * (self.send_loudness + noise);
        let sidetone = self.sidetone();
        let simultaneous = self.too_loud(noise) + sidetone + self.quantisation(signal_to_noise);
        let talker_echo = self.talker_echo(noise, sidetone);
        let listener_echo = self.listener_echo(signal_to_noise);
        let absolute_delay = self.delay();
        let undisturbed = signal_to_noise - simultaneous + self.advantage;
        let equipment = effective_impairment(
            self.equipment_impairment,
            self.loss_robustness,
            self.loss,
            self.burst_ratio,
            undisturbed,
        );
        let delay = talker_echo + listener_echo + absolute_delay;
        let r = (signal_to_noise - simultaneous - delay - equipment + self.advantage).clamp(0.0, 100.0);
        Rating { signal_to_noise, simultaneous, talker_echo, listener_echo, absolute_delay, equipment, r }
    }

    /// Returns the parameters outside G.107 Table 2's ranges. Above a loss of 2 %, only burst ratios up to 2 are in
    /// range.
    pub fn outside(&self) -> impl Iterator<Item = RangeViolation> {
        let burst = Range::for_burst_ratio(self.loss);
        [
            (Parameter::SendLoudness, self.send_loudness, Range(0.0, 18.0)),
            (Parameter::ReceiveLoudness, self.receive_loudness, Range(-5.0, 14.0)),
            (Parameter::SidetoneMasking, self.sidetone_masking, Range(10.0, 20.0)),
            (Parameter::ListenerSidetone, self.sidetone_masking + self.receive_d_value, Range(13.0, 23.0)),
            (Parameter::SendDValue, self.send_d_value, Range(-3.0, 3.0)),
            (Parameter::ReceiveDValue, self.receive_d_value, Range(-3.0, 3.0)),
            (Parameter::TalkerEchoLoudness, self.talker_echo_loudness, Range(5.0, 65.0)),
            (Parameter::WeightedEchoPathLoss, self.weighted_echo_path_loss, Range(5.0, 110.0)),
            (Parameter::EchoDelay, self.echo_delay.millis(), Range(0.0, 500.0)),
            (Parameter::RoundTripDelay, self.round_trip_delay.millis(), Range(0.0, 1000.0)),
            (Parameter::Delay, self.absolute_delay.millis(), Range(0.0, 500.0)),
            (Parameter::QuantisationUnits, self.quantisation_units, Range(1.0, 14.0)),
            (Parameter::EquipmentImpairment, self.equipment_impairment, Range(0.0, 40.0)),
            (Parameter::LossRobustness, self.loss_robustness, Range(4.3, 40.0)),
            (Parameter::Loss, 100.0 * self.loss, Range(0.0, 20.0)),
            (Parameter::BurstRatio, self.burst_ratio, burst),
            (Parameter::CircuitNoise, self.circuit_noise, Range(-80.0, -40.0)),
            (Parameter::SendRoomNoise, self.send_room_noise, Range(35.0, 85.0)),
            (Parameter::ReceiveRoomNoise, self.receive_room_noise, Range(35.0, 85.0)),
            (Parameter::Advantage, self.advantage, Range(0.0, 20.0)),
        ]
        .into_iter()
        .filter_map(|(parameter, value, range)| range.outside(parameter, value))
    }

    /// OLR = SLR + RLR.
    fn overall_loudness(&self) -> f64 {
        self.send_loudness + self.receive_loudness
    }

    /// No, sum of all noise at the 0 dBr point, dBm0p (Eq. 7-3 to 7-7).
    pub(super) fn noise(&self) -> f64 {
        let (ps, pr) = (self.send_room_noise, self.receive_room_noise);
        let above = ps - self.overall_loudness() - self.send_d_value - 14.0;
        let from_sender = ps - self.send_loudness - self.send_d_value - 100.0 + 0.004 * above * above;
        let listener_sidetone = self.sidetone_masking + self.receive_d_value;
        let effective = pr + 10.0 * libm::log10(1.0 + libm::pow(10.0, (10.0 - listener_sidetone) / 10.0));
        let from_receiver = self.receive_loudness - 121.0 + effective + 0.008 * (effective - 35.0) * (effective - 35.0);
        sum_of_powers([self.circuit_noise, from_sender, from_receiver, self.noise_floor + self.receive_loudness])
    }

    /// Iolr, too low an overall loudness rating (Eq. 7-9, 7-10).
    fn too_loud(&self, noise: f64) -> f64 {
        let x = (self.overall_loudness() + 0.2 * (64.0 + noise - self.receive_loudness)) / 8.0;
        20.0 * (soft_max(x, 8.0) - x)
    }

    /// Ist, sidetone that is not optimal (Eq. 7-11, 7-12).
    fn sidetone(&self) -> f64 {
        let echo = libm::exp(-self.echo_delay.millis() / 4.0) * libm::pow(10.0, -self.talker_echo_loudness / 10.0);
        let stmr = -10.0 * libm::log10(libm::pow(10.0, -self.sidetone_masking / 10.0) + echo);
        12.0 * soft_max((stmr - 13.0) / 6.0, 8.0)
            - 28.0 * soft_max((stmr + 1.0) / 19.4, 35.0)
            - 13.0 * soft_max((stmr - 3.0) / 33.0, 13.0)
            + 29.0
    }

    /// Iq, quantising distortion (Eq. 7-13 to 7-17).
    fn quantisation(&self, signal_to_noise: f64) -> f64 {
        let q = 37.0 - 15.0 * libm::log10(self.quantisation_units);
        let g = 1.07 + 0.258 * q + 0.0602 * q * q;
        let y = (signal_to_noise - 100.0) / 15.0 + 46.0 / 8.4 - g / 9.0;
        let z = 46.0 / 30.0 - g / 40.0;
        15.0 * libm::log10(1.0 + libm::pow(10.0, y) + libm::pow(10.0, z))
    }

    /// Idte, talker echo (Eq. 7-19 to 7-24), with its corrections for low and high sidetone.
    fn talker_echo(&self, noise: f64, sidetone: f64) -> f64 {
        let t = self.echo_delay.millis();
        let mut terv = self.talker_echo_loudness - 40.0 * libm::log10((1.0 + t / 10.0) / (1.0 + t / 150.0))
            + 6.0 * libm::exp(-0.3 * t * t);
        if self.sidetone_masking < 9.0 {
            terv += sidetone / 2.0;
        }
        let half = (-1.5 * (noise - self.receive_loudness) - (80.0 + 2.5 * (terv - 14.0))) / 2.0;
        let idte = ((half + libm::sqrt(half * half + 100.0) - 1.0) * (1.0 - libm::exp(-t))).max(0.0);
        if self.sidetone_masking > 20.0 { libm::sqrt(idte * idte + sidetone * sidetone) } else { idte }
    }

    /// Idle, listener echo (Eq. 7-25, 7-26).
    fn listener_echo(&self, signal_to_noise: f64) -> f64 {
        listener_echo(signal_to_noise, self.weighted_echo_path_loss, self.round_trip_delay)
    }

    /// Idd, delay even without echo (Eq. 7-27, 7-28).
    fn delay(&self) -> f64 {
        absolute_delay(self.absolute_delay, self.delay_sensitivity)
    }
}

/// Idle (Eq. 7-25, 7-26), for WEPL in dB and Tr; also G.107.1 Eq. 7-11, 7-12.
pub(super) fn listener_echo(signal_to_noise: f64, echo_path_loss: f64, round_trip: Span) -> f64 {
    let half = (signal_to_noise - 10.5 * (echo_path_loss + 7.0) * libm::pow(round_trip.millis() + 1.0, -0.25)) / 2.0;
    half + libm::sqrt(half * half + 169.0)
}

/// Idd (Eq. 7-27, 7-28) for Ta.
pub(super) fn absolute_delay(delay: Span, sensitivity: DelaySensitivity) -> f64 {
    let (sensitivity, least) = sensitivity.parameters();
    let ta = delay.millis();
    if ta <= least {
        return 0.0;
    }
    let x = libm::log2(ta / least);
    let n = 6.0 * sensitivity;
    25.0 * (soft_max(x, n) - 3.0 * soft_max(x / 3.0, n) + 2.0)
}

/// Paper 004's Eq. (1)–(2), as printed, with the natural logarithm: R = 94.2 − 0.11 (d − 177.3) H(d − 177.3) − 0.024 d
/// − 30 ln(1 + 15 p), for the mean end-to-end `delay` d in milliseconds and the fraction p of voice packets lost.
///
/// This is the fit of Cole & Rosenbluth (2001) for G.711; as printed it has no bounds.
pub fn simplified_rating(delay: Span, loss: f64) -> f64 {
    let d = delay.millis();
    94.2 - 0.11 * (d - 177.3).max(0.0) - 0.024 * d - 30.0 * libm::log(1.0 + 15.0 * loss)
}

#[cfg(test)]
mod tests;
