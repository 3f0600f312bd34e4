//! Which transports there are: two lists, from which follow configuration, names, schema and endpoints.
//!
//! A TCP is listed by its controller (`controllers!`), every other transport in `transports!`, beside its module. A program's own is handed in by
//! [`register`], a controller of its own by [`tcp::control::register`].

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

/// How a transport cuts what it sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PacketSize {
    /// The most payload that a packet carries.
    pub payload: Bytes,
    /// What is added to it on the wire.
    pub header: Bytes,
}

/// What scenario and simulator have to know of a transport before it runs.
pub trait Properties {
    /// How it cuts what it sends: `bulk` data, or units.
    fn packet(&self, bulk: bool) -> PacketSize;

    /// A key and its value that stand in the table when the scenario's details are those of ns-2 and it says nothing else.
    fn like_ns2(&self) -> Option<(&'static str, Value)> {
        None
    }

    /// What the network does not take waits in the sender, and what arrives is answered: it controls its rate.
    fn controls_rate(&self) -> bool {
        true
    }

    /// It can send bulk data, which has no rate of its own.
    fn carries_bulk(&self) -> bool {
        true
    }

    /// It sends again whatever is lost, until everything has been delivered: what is wanted as a whole comes as a whole.
    fn delivers_all(&self) -> bool {
        false
    }

    /// It sends lost data again, or sends copies, so that a unit may still arrive after one of its packets is lost.
    fn repairs_losses(&self) -> bool {
        self.delivers_all()
    }

    /// The time between timers that go off although nothing happens; [`Span::MAX`] for none.
    fn slowest_timer(&self) -> Span {
        Span::MAX
    }

    /// A foreign transport without endpoints in fairwave: it runs only in real time. What to write for it where time is
    /// virtual.
    fn only_live(&self) -> Option<&'static str> {
        None
    }

    /// A transport that runs only where time is virtual. What to write for it where time is real.
    fn only_simulated(&self) -> Option<&'static str> {
        None
    }

    /// How its packets are carried on a real network.
    fn protocol(&self) -> Protocol {
        Protocol::Rtp
    }

    /// The parameters of the connection, if it is a TCP.
    fn tcp(&self) -> Option<tcp::TcpParameters> {
        None
    }

    /// The parameters that tell it from another of its name, for labels: `0.31, 0.875`.
    fn shown(&self) -> Option<String> {
        None
    }
}

/// The parameters of a transport other than TCP, and how its endpoints are made.
pub trait TransportLaw: Law + Properties {
    /// The sending half.
    type Sender: Sender + Send + 'static;
    /// The receiving half.
    type Receiver: Receiver + Send + 'static;

    /// Both endpoints of a flow. `stream` is the flow's own for its transport.
    ///
    /// # Errors
    /// What [`Checked::check`] refuses, and a configuration that does not fit the flow.
    fn endpoints(&self, context: FlowContext, stream: Stream) -> Result<(Self::Sender, Self::Receiver), ConfigError>;

    /// Both endpoints of a flow whose traffic is of the kind `media`: the sender encodes the streams.
    ///
    /// # Errors
    /// As [`TransportLaw::endpoints`]; always, for a transport that carries no such traffic.
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

/// Why a transport does not carry traffic of the kind `media`.
fn no_media(name: &str) -> ConfigError {
    let allowed = "`webrtc` for traffic of the kind `media`: other transports do not encode it";
    ConfigError::new("transport", name, allowed, "transport = \"webrtc\"")
}

/// What is asked of a transport, or a controller, that a program handed in.
pub trait AnyTransport: Checked + Properties + Send + Sync {
    /// See [`TransportConfig::prepare`]. The parameters have been checked.
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

/// A configuration that has been checked, from which the endpoints of any number of flows are made. They share what is the same
/// for all.
pub struct PreparedTransport<'a>(Box<Make<'a>>);

impl<'a> PreparedTransport<'a> {
    /// Endpoints made by `make`, of a transport that carries no traffic of the kind `media`.
    pub fn new(make: impl Fn(FlowContext, Stream) -> Result<Endpoints, ConfigError> + 'a) -> Self {
        PreparedTransport(Box::new(move |context, media, stream| match media {
            Some(_) => Err(no_media("tcp")),
            None => make(context, stream),
        }))
    }

    /// Endpoints made by `make`, which is told the streams of traffic of the kind `media`.
    pub fn with_media(
        make: impl Fn(FlowContext, Option<&Media>, Stream) -> Result<Endpoints, ConfigError> + 'a,
    ) -> Self {
        PreparedTransport(Box::new(make))
    }

    /// Both endpoints of a flow. `stream` is the flow's own for its transport.
    ///
    /// # Errors
    /// When the configuration does not fit the flow.
    pub fn endpoints(&self, context: FlowContext, stream: Stream) -> Result<Endpoints, ConfigError> {
        self.0(context, None, stream)
    }

    /// Both endpoints of a flow whose traffic is of the kind `media`.
    ///
    /// # Errors
    /// When the configuration does not fit the flow, or the transport does not carry such traffic.
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

/// Hands in a transport of the program's own, which scenarios then name like any other.
///
/// # Errors
/// When there is a transport of that name.
pub fn register<L: TransportLaw>() -> Result<(), NameTaken> {
    OWN.add::<L>(TransportConfig::WHAT, TransportConfig::BUILT_IN, |law| Arc::new(law))
}

/// Appends the controllers' list to that of the other transports.
macro_rules! and_controllers {
    ($then:ident $($others:tt)*) => {
        controllers! { $then! [$($others)*] }
    };
}

/// Both ends as the dispatch has them: by variant, or by virtual calls where there is none.
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
            fn properties(&self) -> &dyn Properties {
                match self {
                    $(TransportConfig::$Variant(law) => law,)+
                    $($(TransportConfig::$Tcp(tcp) => tcp,)+)+
                    TransportConfig::Own(own) => own.law(),
                }
            }

            /// Makes ready for the endpoints of many flows.
            ///
            /// # Errors
            /// The first key whose value is not allowed.
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
                    TransportConfig::Own(own) => own.law().prepare(),
                })
            }

            /// The names of the transports whose tables have this key.
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
    /// Both endpoints of a flow. `stream` is the flow's own for its transport.
    ///
    /// # Errors
    /// The first key whose value is not allowed.
    pub fn endpoints(&self, context: FlowContext, stream: Stream) -> Result<Endpoints, ConfigError> {
        self.prepare()?.endpoints(context, stream)
    }

    /// Both endpoints of a flow whose traffic is of the kind `media`; see [`PreparedTransport::media_endpoints`].
    ///
    /// # Errors
    /// The first key whose value is not allowed; a transport that does not carry such traffic.
    pub fn media_endpoints(
        &self,
        context: FlowContext,
        media: &Media,
        stream: Stream,
    ) -> Result<Endpoints, ConfigError> {
        self.prepare()?.media_endpoints(context, media, stream)
    }

    /// The name, with the parameters that tell one TCP(α, β) from another: `tcp/aimd(0.31, 0.875)`.
    pub fn label(&self) -> String {
        match self.properties().shown() {
            Some(shown) => format!("{}({shown})", self.name()),
            None => self.name().to_owned(),
        }
    }
}

/// What a transport says of itself, whichever it is.
impl Properties for TransportConfig {
    fn packet(&self, bulk: bool) -> PacketSize {
        self.properties().packet(bulk)
    }

    fn like_ns2(&self) -> Option<(&'static str, Value)> {
        self.properties().like_ns2()
    }

    fn controls_rate(&self) -> bool {
        self.properties().controls_rate()
    }

    fn carries_bulk(&self) -> bool {
        self.properties().carries_bulk()
    }

    fn delivers_all(&self) -> bool {
        self.properties().delivers_all()
    }

    fn repairs_losses(&self) -> bool {
        self.properties().repairs_losses()
    }

    fn slowest_timer(&self) -> Span {
        self.properties().slowest_timer()
    }

    fn only_live(&self) -> Option<&'static str> {
        self.properties().only_live()
    }

    fn only_simulated(&self) -> Option<&'static str> {
        self.properties().only_simulated()
    }

    fn protocol(&self) -> Protocol {
        self.properties().protocol()
    }

    fn tcp(&self) -> Option<tcp::TcpParameters> {
        self.properties().tcp()
    }

    fn shown(&self) -> Option<String> {
        self.properties().shown()
    }
}

impl FromStr for TransportConfig {
    type Err = ConfigError;

    /// The transport of this name, or of the only one that it is short for, with its defaults.
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
