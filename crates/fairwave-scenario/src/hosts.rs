//! Hosts that are not in step: a little clock skew and send jitter, as real ones have.
//!
//! Simulated sources of one kind repeat themselves to the nanosecond. Then a drop-tail queue drops the packets of the
//! same flow again and again. This is a phase effect that networks do not show, because the time that hosts take varies
//! (S. Floyd & V. Jacobson, 'On traffic phase effects in packet-switched gateways', Internetworking: Research and
//! Experience 3(3), 1992, who add a random time at the sender, too).
//!
//! **Assumptions.** Crystals of ordinary computers keep their frequency within 50 ppm. A sender's packets leave up to one tick
//! of a common kernel's scheduler (1 ms) after it has made them. Acknowledgements leave at once: they are made where the packet arrives, not
//! by an application that must be woken. The timers of transports and all measures are of true time.

use fairwave_core::units::{Skew, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::details::Details;
use crate::error::Problem;
use crate::path::Path;
use crate::plan::HostsPlan;

/// How far a clock may be off: one per cent, which no clock is.
const MOST_SKEW: Skew = Skew::from_ppm(10_000);

/// How late a host may be: longer than any that still works.
const MOST_JITTER: Span = Span::from_millis(1000);

/// How far sending hosts are from being in step.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Hosts {
    /// Clock skew of applications: each host's clock runs faster or slower than true time by a share that is uniform at
    /// random between minus and plus this value. If left out, 50 ppm under the presets `rfc` and `linux`, and 0 under
    /// those of ns-2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_skew: Option<Skew>,
    /// Send jitter: the time from making a packet to sending it from its host. It is uniform at random between 0 and
    /// this value, drawn for each packet; packets keep their order. If left out, 1 ms under the presets `rfc` and
    /// `linux`, and 0 under those of ns-2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_jitter: Option<Span>,
}

impl Hosts {
    /// With everything that is left out as the details have it.
    pub(crate) fn resolved(self, details: Details) -> HostsPlan {
        let (skew, jitter) = match details {
            Details::Rfc | Details::Linux => (Skew::from_ppm(50), Span::from_millis(1)),
            Details::Ns2 | Details::Ns2Of2004 => (Skew::default(), Span::ZERO),
        };
        HostsPlan { clock_skew: self.clock_skew.unwrap_or(skew), send_jitter: self.send_jitter.unwrap_or(jitter) }
    }

    pub(crate) fn check(self, problems: &mut Vec<Problem>) {
        let at = Path::default().key("hosts");
        if let Some(skew) = self.clock_skew.filter(|skew| *skew > MOST_SKEW) {
            problems.push(
                Problem::new(at.key("clock-skew"), format!("`clock-skew` is {skew}"))
                    .allowed(format!("0 ppm to {MOST_SKEW}"))
                    .help("write for example `clock-skew = \"50 ppm\"`"),
            );
        }
        if let Some(jitter) = self.send_jitter.filter(|jitter| *jitter > MOST_JITTER) {
            problems.push(
                Problem::new(at.key("send-jitter"), format!("`send-jitter` is {jitter}"))
                    .allowed(format!("0 s to {MOST_JITTER}"))
                    .help("write for example `send-jitter = \"1 ms\"`"),
            );
        }
    }
}
