//! The choice of a transport. Two lists define the configuration, the names, the schema and the endpoints of all
//! transports.
//!
//! `controllers!` lists a TCP by its controller. `transports!` lists every other transport, next to its module. A
//! program registers further transports with [`register`], and further controllers with
//! [`tcp::control::register`].

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use super::tcp::keys_of;
use crate::{AnyReceiver, AnySender, tcp, transports, udp};
use fairwave_endpoint::wire::Protocol;
use fairwave_endpoint::{FlowContext, Receiver, Sender};
use fairwave_media::encoder::Media;
use fairwave_tcp::control::Control;
use fairwave_tcp::controllers;
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;
use fairwave_units::registry::{Checked, Law, NameTaken, Registry, family};
use fairwave_units::units::{Bytes, Span};

/// Packet sizes of a transport.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketSize {
    /// The largest payload of a packet.
    pub payload: Bytes,
    /// Header bytes per packet on the wire.
    pub header: Bytes,
}

/// Properties of a transport that scenario and simulator need before it runs.
pub trait Properties {
    /// The packet sizes for `bulk` data, or for units.
    fn packet(&self, bulk: bool) -> PacketSize;

    /// A key and its value for the table, if the scenario asks for ns-2's details and the table lacks the key.
    fn like_ns2(&self) -> Option<(&'static str, Value)> {
        None
    }

    /// True if the transport controls its rate: data beyond the allowed rate waits in the sender, and the receiver
    /// sends feedback.
    fn controls_rate(&self) -> bool {
        true
    }

    /// True if the transport can send bulk data, which has no rate limit.
    fn carries_bulk(&self) -> bool {
        true
    }

    /// True if the transport retransmits lost data until all of it is delivered. Objects such as files then arrive
    /// complete.
    fn delivers_all(&self) -> bool {
        false
    }

    /// True if the transport retransmits lost data or sends copies. A unit may then arrive although one of its
    /// packets was lost.
    fn repairs_losses(&self) -> bool {
        self.delivers_all()
    }

    /// The longest interval between periodic timers, which fire without any event; [`Span::MAX`] for none.
    fn slowest_timer(&self) -> Span {
        Span::MAX
    }

    /// For a foreign transport without endpoints in fairwave, which runs only in real time: the replacement for
    /// simulations.
    fn only_live(&self) -> Option<&'static str> {
        None
    }

    /// For a transport that runs only in simulations: the replacement for real time.
    fn only_simulated(&self) -> Option<&'static str> {
        None
    }

    /// The protocol of its packets on a real network.
    fn protocol(&self) -> Protocol {
        Protocol::Rtp
    }

    /// The connection's parameters, if the transport is a TCP.
    fn tcp(&self) -> Option<tcp::TcpParameters> {
        None
    }

    /// The parameters that distinguish transports of one name, for labels: `0.31, 0.875`.
    fn shown(&self) -> Option<String> {
        None
    }
}

/// The parameters of a transport other than TCP, and the constructor of its endpoints.
pub trait TransportLaw: Law + Properties {
    /// The sending half.
    type Sender: Sender + Send + 'static;
    /// The receiving half.
    type Receiver: Receiver + Send + 'static;

    /// Creates both endpoints of a flow. `stream` is the flow's random stream for its transport.
    ///
    /// # Errors
    /// If [`Checked::check`] fails, or if the configuration does not fit the flow.
    fn endpoints(&self, context: FlowContext, stream: Stream) -> Result<(Self::Sender, Self::Receiver), ConfigError>;

    /// Creates both endpoints of a flow with traffic of the kind `media`: the sender encodes the streams.
    ///
    /// # Errors
    /// As [`TransportLaw::endpoints`]. Always, if the transport does not carry such traffic.
    fn media_endpoints(
        &self,
        context: FlowContext,
        media: &Media,
        stream: Stream,
    ) -> Result<(Self::Sender, Self::Receiver), ConfigError> {
        let _ = (context, media, stream);
        Err(no_media(Self::NAME))
    }
}

/// Returns the error of a transport that does not carry traffic of the kind `media`.
fn no_media(name: &str) -> ConfigError {
    let allowed = "`webrtc` for traffic of the kind `media`: other transports do not encode it";
    ConfigError::new("transport", name, allowed, "transport = \"webrtc\"")
}

/// Interface of a registered transport or controller.
pub trait AnyTransport: Checked + Properties + Send + Sync {
    /// See [`TransportConfig::prepare`]. The caller has checked the parameters.
    fn prepare(&self) -> PreparedTransport<'_>;
}

impl<L: TransportLaw> AnyTransport for L {
    fn prepare(&self) -> PreparedTransport<'_> {
        PreparedTransport::with_media(move |context, media, stream| {
            let (sender, receiver) = match media {
                Some(media) => self.media_endpoints(context, media, stream)?,
                None => self.endpoints(context, stream)?,
            };
            Ok((AnySender::Own(Box::new(sender)), AnyReceiver::Own(Box::new(receiver))))
        })
    }
}

/// Both ends of a flow.
pub type Endpoints = (AnySender, AnyReceiver);

type Make<'a> = dyn Fn(FlowContext, Option<&Media>, Stream) -> Result<Endpoints, ConfigError> + 'a;

/// A checked configuration. It makes the endpoints of any number of flows, which share the common parts.
pub struct PreparedTransport<'a>(Box<Make<'a>>);

impl fmt::Debug for PreparedTransport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PreparedTransport").finish_non_exhaustive()
    }
}

impl<'a> PreparedTransport<'a> {
    /// Wraps the constructor `make` of a transport without traffic of the kind `media`.
    pub fn new(make: impl Fn(FlowContext, Stream) -> Result<Endpoints, ConfigError> + 'a) -> Self {
        PreparedTransport(Box::new(move |context, media, stream| match media {
            Some(_) => Err(no_media("tcp")),
            None => make(context, stream),
        }))
    }

    /// Wraps the constructor `make`, which receives the streams of traffic of the kind `media`.
    pub fn with_media(
        make: impl Fn(FlowContext, Option<&Media>, Stream) -> Result<Endpoints, ConfigError> + 'a,
    ) -> Self {
        PreparedTransport(Box::new(make))
    }

    /// Creates both endpoints of a flow. `stream` is the flow's random stream for its transport.
    ///
    /// # Errors
    /// If the configuration does not fit the flow.
    pub fn endpoints(&self, context: FlowContext, stream: Stream) -> Result<Endpoints, ConfigError> {
        self.0(context, None, stream)
    }

    /// Creates both endpoints of a flow with traffic of the kind `media`.
    ///
    /// # Errors
    /// If the configuration does not fit the flow, or if the transport does not carry such traffic.
    pub fn media_endpoints(
        &self,
        context: FlowContext,
        media: &Media,
        stream: Stream,
    ) -> Result<Endpoints, ConfigError> {
        self.0(context, Some(media), stream)
    }
}

pub(crate) static OWN: Registry<dyn AnyTransport> = Registry::new();

/// Registers a transport. Scenarios then name it like a built-in one.
///
/// # Errors
/// If a transport of that name exists.
pub fn register<L: TransportLaw>() -> Result<(), NameTaken> {
    OWN.add::<L>(TransportConfig::WHAT, TransportConfig::BUILT_IN, |law| Arc::new(law))
}

/// Appends the controllers' list to that of the other transports.
macro_rules! and_controllers {
    ($then:ident $($others:tt)*) => {
        controllers! { $then! [$($others)*] }
    };
}

/// The endpoint types for dispatch: by variant, or by virtual call for transports without a variant.
macro_rules! ends {
    (Webrtc, $sender:ident, $receiver:ident) => {
        (AnySender::Own(Box::new($sender)), AnyReceiver::Own(Box::new($receiver)))
    };
    ($Variant:ident, $sender:ident, $receiver:ident) => {
        (AnySender::$Variant(Box::new($sender)), AnyReceiver::$Variant(Box::new($receiver)))
    };
}

macro_rules! configuration {
    (
        [$($module:ident { $Variant:ident($Law:ident) })+]
        $($file:ident { $($Tcp:ident($Control:ident)),+ $(,)? })+
    ) => {
        family! { (TransportConfig, "name", "transport", dyn AnyTransport, OWN)
            $($Variant(crate::$module::$Law),)+
            $($($Tcp(tcp::Tcp<tcp::control::$Control>),)+)+
        }

        impl TransportConfig {
            /// Checks the configuration and prepares it for the endpoints of many flows.
            ///
            /// # Errors
            /// The first key whose value is out of range.
            pub fn prepare(&self) -> Result<PreparedTransport<'_>, ConfigError> {
                self.check()?;
                Ok(match self {
                    $(TransportConfig::$Variant(law) => PreparedTransport::with_media(move |context, media, stream| {
                        let (sender, receiver) = match media {
                            Some(media) => law.media_endpoints(context, media, stream)?,
                            None => law.endpoints(context, stream)?,
                        };
                        Ok(ends!($Variant, sender, receiver))
                    }),)+
                    $($(TransportConfig::$Tcp(tcp) => tcp.prepare_as(Control::$Tcp),)+)+
                    TransportConfig::Registered(law) => law.law().prepare(),
                })
            }

            /// The names of the transports with this key in their tables.
            pub(super) fn names_with(key: &str) -> Vec<String> {
                let generator = &mut SchemaGenerator::default();
                let mut laws = vec![
                    $((<crate::$module::$Law as Law>::NAME.to_owned(), <crate::$module::$Law>::json_schema(generator)),)+
                    $($((
                        <tcp::control::$Control as Law>::NAME.to_owned(),
                        <tcp::Tcp<tcp::control::$Control>>::json_schema(generator),
                    ),)+)+
                ];
                laws.extend(OWN.schemas(generator));
                laws.retain(|(_, schema)| keys_of(schema).iter().any(|own| own == key));
                laws.into_iter().map(|(name, _)| name).collect()
            }
        }
    };
}

macro_rules! configurations {
    (() $($module:ident { $($law:tt)+ })+ ; $($rare:ident { $($rare_law:tt)+ })+) => {
        and_controllers! { configuration $($module { $($law)+ })+ $($rare { $($rare_law)+ })+ }
    };
}

transports! { configurations! () }

impl Default for TransportConfig {
    fn default() -> Self {
        TransportConfig::Udp(udp::UdpConfig::default())
    }
}

impl TransportConfig {
    /// Creates both endpoints of a flow. `stream` is the flow's random stream for its transport.
    ///
    /// # Errors
    /// The first key whose value is out of range.
    pub fn endpoints(&self, context: FlowContext, stream: Stream) -> Result<Endpoints, ConfigError> {
        self.prepare()?.endpoints(context, stream)
    }

    /// Creates both endpoints of a flow with traffic of the kind `media`; see [`PreparedTransport::media_endpoints`].
    ///
    /// # Errors
    /// The first key whose value is out of range, or a transport that does not carry such traffic.
    pub fn media_endpoints(
        &self,
        context: FlowContext,
        media: &Media,
        stream: Stream,
    ) -> Result<Endpoints, ConfigError> {
        self.prepare()?.media_endpoints(context, media, stream)
    }

    /// The name, with the parameters that distinguish one TCP(α, β) from another: `tcp/aimd(0.31, 0.875)`.
    pub fn label(&self) -> String {
        match self.law().shown() {
            Some(shown) => format!("{}({shown})", self.name()),
            None => self.name().to_owned(),
        }
    }
}

/// Delegates to the chosen transport.
impl Properties for TransportConfig {
    fn packet(&self, bulk: bool) -> PacketSize {
        self.law().packet(bulk)
    }

    fn like_ns2(&self) -> Option<(&'static str, Value)> {
        self.law().like_ns2()
    }

    fn controls_rate(&self) -> bool {
        self.law().controls_rate()
    }

    fn carries_bulk(&self) -> bool {
        self.law().carries_bulk()
    }

    fn delivers_all(&self) -> bool {
        self.law().delivers_all()
    }

    fn repairs_losses(&self) -> bool {
        self.law().repairs_losses()
    }

    fn slowest_timer(&self) -> Span {
        self.law().slowest_timer()
    }

    fn only_live(&self) -> Option<&'static str> {
        self.law().only_live()
    }

    fn only_simulated(&self) -> Option<&'static str> {
        self.law().only_simulated()
    }

    fn protocol(&self) -> Protocol {
        self.law().protocol()
    }

    fn tcp(&self) -> Option<tcp::TcpParameters> {
        self.law().tcp()
    }

    fn shown(&self) -> Option<String> {
        self.law().shown()
    }
}

impl FromStr for TransportConfig {
    type Err = ConfigError;

    /// Parses the full or abbreviated name of a transport. Its parameters are the defaults.
    fn from_str(name: &str) -> Result<Self, ConfigError> {
        let names = TransportConfig::names();
        let full = TransportConfig::full_name(name);
        if full.is_ok_and(|full| !names.contains(&full)) {
            let allowed = format!("one of {}", names.join(", "));
            return Err(ConfigError::new("transport", name, allowed, "transport = \"tcp/vegas\""));
        }
        serde_json::from_value(json!({ "name": name })).map_err(|error| {
            let allowed = format!("a table with its parameters ({error})");
            ConfigError::new("transport", name, allowed, format!("transport = {{ name = \"{name}\", … }}"))
        })
    }
}

#[cfg(test)]
mod tests;
