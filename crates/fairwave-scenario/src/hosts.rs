//! Hosts with imperfect timing: a little clock skew and send jitter, as in real hosts.
//!
//! Simulated sources of the same kind repeat with a period that is exact to the nanosecond. A drop-tail queue then repeatedly drops
//! packets of the same flow. Real networks do not show this phase effect, because processing times of hosts vary. S. Floyd and V.
//! Jacobson add a random time at the sender, too ('On traffic phase effects in packet-switched gateways', Internetworking: Research
//! and Experience 3(3), 1992).
//!
//! **Assumptions.** Crystals of ordinary computers keep their frequency within 50 ppm. A sender's packets leave up to one tick of a
//! common kernel's scheduler (1 ms) after their creation. Acknowledgements leave at once: the host creates them on arrival of a
//! packet, without waking an application. The timers of transports and all measures use true time.

use fairwave_core::units::{Skew, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::details::Details;
use crate::error::Problem;
use crate::path::Path;

/// Maximum clock skew: one per cent, far above the skew of real clocks.
const MOST_SKEW: Skew = Skew::from_ppm(10_000);

/// Maximum send jitter: far above the jitter of working hosts.
const MOST_JITTER: Span = Span::from_millis(1000);

/// Clock skew and send jitter of the sending hosts.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Hosts {
    /// Clock skew of applications: each host's clock runs faster or slower than true time, by a share drawn uniformly between minus
    /// and plus this value. Default: 50 ppm under the presets `rfc` and `linux`, 0 under those of ns-2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_skew: Option<Skew>,
    /// Send jitter: the time from creation of a packet until it leaves its host. It is drawn for each packet, uniformly between 0
    /// and this value. Packets keep their order. Default: 1 ms under the presets `rfc` and `linux`, 0 under those of ns-2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_jitter: Option<Span>,
}

/// Imperfect timing of the sending hosts. Each host draws from a stream of its name (`host.s0.clock`): first its clock skew, then a
/// jitter for each packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HostsPlan {
    /// Maximum error of the clock of a host's applications, in either direction.
    pub clock_skew: Skew,
    /// Maximum time from creation to departure of a packet.
    pub send_jitter: Span,
}

impl Hosts {
    /// Fills in omitted values according to the details.
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
