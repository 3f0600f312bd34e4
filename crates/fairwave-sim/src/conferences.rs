//! Conferences through a server: the ends of their flows share the server's state.

use fairwave_core::config::ConfigError;
use fairwave_core::encoder::Media;
use fairwave_core::random::Stream;
use fairwave_core::transport::sfu::{LegRole, Room};
use fairwave_core::transport::{AnyReceiver, AnySender, Endpoints, FlowContext, TransportConfig};
use fairwave_scenario::plan::{Leg, Plan};

/// Conferences of a run, by index of the plan.
#[derive(Default)]
pub(crate) struct Rooms(Vec<Room>);

impl Rooms {
    /// Creates both ends of a flow that is a session of a conference.
    ///
    /// # Errors
    /// Returns the configuration error of the session.
    pub fn leg(
        &mut self,
        plan: &Plan,
        leg: &Leg,
        (transport, context, media): (&TransportConfig, FlowContext, &Media),
        stream: Stream,
    ) -> Result<Endpoints, ConfigError> {
        let TransportConfig::Webrtc(config) = transport else {
            return Err(ConfigError::new("transport", transport.label(), "`webrtc`", "transport = \"webrtc\""));
        };
        for call in plan.calls.iter().skip(self.0.len()) {
            self.0.push(Room::new(&call.room, plan.seed.stream(&format!("call.{}", call.name)))?);
        }
        let Some(room) = self.0.get(leg.call) else {
            return Err(ConfigError::new("call", leg.call, "a call of the plan", "[[call]]"));
        };
        match leg.role {
            LegRole::Up { who } => {
                let (sender, receiver) = room.open_uplink(who, context, config, media, stream)?;
                Ok((AnySender::Own(Box::new(sender)), AnyReceiver::Own(Box::new(receiver))))
            }
            LegRole::Down { from, to } => {
                let (sender, receiver) = room.open_downlink((from, to), context, config, media, stream);
                Ok((AnySender::Own(Box::new(sender)), AnyReceiver::Own(Box::new(receiver))))
            }
        }
    }
}
