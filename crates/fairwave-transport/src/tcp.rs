//! The TCP tables of a scenario: a table holds both the controller's keys and the connection's keys. The crate
//! `fairwave-tcp` implements the protocol.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::{AnyReceiver, AnySender, AnyTransport, PacketSize, PreparedTransport, Properties, TransportConfig};
use fairwave_endpoint::wire::Protocol;
use fairwave_tcp::control::{AnyControlLaw, Control, ControlLaw, Marks};
pub use fairwave_tcp::*;
use fairwave_units::config::ConfigError;
use fairwave_units::random::{Seed, Stream};
use fairwave_units::registry::{Checked, Law, RuntimeLaw};
use fairwave_units::units::{Bytes, Span};

/// TCP's controllers, and the registration of further ones.
pub mod control {
    use std::sync::Arc;

    use fairwave_units::registry::{NameTaken, RuntimeLaw};

    use super::{Tcp, with_connection};
    use crate::choice::{OWN, TransportConfig};
    pub use fairwave_tcp::control::*;

    /// Registers a controller. Scenarios then name it like any other transport. Its name should begin with `tcp/`,
    /// like the names of the built-in controllers.
    ///
    /// # Errors
    /// If a transport of that name exists.
    pub fn register<C: ControlLaw>() -> Result<(), NameTaken> {
        OWN.add::<Tcp<C>>(TransportConfig::WHAT, TransportConfig::BUILT_IN, |tcp| Arc::new(tcp))
    }

    /// Registers a controller that is created at run time: see [`fairwave_units::registry::Registry::add_runtime`]. Its
    /// table is read without the connection's keys.
    ///
    /// # Errors
    /// If the name is in use.
    pub fn register_runtime(law: RuntimeLaw<dyn AnyControlLaw>) -> Result<(), NameTaken> {
        OWN.add_runtime(TransportConfig::WHAT, TransportConfig::BUILT_IN, with_connection(law))
    }
}

/// A controller with its connection.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Tcp<C> {
    /// The controller's parameters.
    #[serde(flatten)]
    pub law: C,
    /// The connection's parameters.
    #[serde(flatten)]
    pub connection: TcpConfig,
}

/// The keys of a connection. All other keys of the table belong to the controller.
static CONNECTION_KEYS: LazyLock<Vec<String>> =
    LazyLock::new(|| keys_of(&SchemaGenerator::default().into_root_schema_for::<TcpConfig>()));

/// The keys of a table with this schema.
pub fn keys_of(schema: &Schema) -> Vec<String> {
    schema
        .get("properties")
        .and_then(Value::as_object)
        .map_or_else(Vec::new, |properties| properties.keys().cloned().collect())
}

impl<'de, C: ControlLaw> Deserialize<'de> for Tcp<C> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (connection, own) = split(Map::deserialize(deserializer)?).map_err(D::Error::custom)?;
        let law = serde_json::from_value(Value::Object(own.clone()))
            .map_err(|error| D::Error::custom(refusal(C::NAME, &own, &error.to_string())))?;
        Ok(Tcp { law, connection })
    }
}

/// Splits a table into the connection's parameters and the controller's keys.
fn split(table: Map<String, Value>) -> Result<(TcpConfig, Map<String, Value>), serde_json::Error> {
    let (connection, own): (Map<_, _>, Map<_, _>) =
        table.into_iter().partition(|(key, _)| CONNECTION_KEYS.contains(key));
    Ok((serde_json::from_value(Value::Object(connection))?, own))
}

/// Explains an error of the controller's table. An unknown key may belong to another controller, or be a
/// misspelled key of this controller or the connection.
fn refusal(name: &str, own: &Map<String, Value>, message: &str) -> String {
    let Some(rest) = message.strip_prefix("unknown field `") else { return message.to_owned() };
    let mut quoted = rest.split('`').step_by(2);
    let key = quoted.next().unwrap_or_default();
    let others = TransportConfig::names_with(key);
    if let (Some(other), Some(value)) = (others.first(), own.get(key)) {
        let allowed = format!("left out with {name} (it belongs to {})", others.join(", "));
        return ConfigError::new(key, value, allowed, format!("name = \"{other}\"")).to_string();
    }
    let known: Vec<String> =
        quoted.chain(CONNECTION_KEYS.iter().map(String::as_str)).map(|key| format!("`{key}`")).collect();
    format!("unknown field `{key}`, expected one of {}", known.join(", "))
}

impl<C: ControlLaw> JsonSchema for Tcp<C> {
    fn schema_name() -> Cow<'static, str> {
        format!("Tcp{}", C::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let own = C::json_schema(generator);
        let mut schema = described_with_connection(own, generator, &[Needs::from_law::<C>()]);
        // Controllers with a custom reaction to ECN marks also choose how the receiver reports marks.
        if C::MARKS != Marks::None
            && let Some(about) =
                schema.ensure_object().get_mut("properties").and_then(|keys| keys.pointer_mut("/ecn/description"))
        {
            let marks = serde_json::to_value(C::MARKS).unwrap_or_default();
            let asked = format!("Default: {}.", marks.as_str().unwrap_or_default());
            *about = Value::from(about.as_str().unwrap_or_default().replace(ANY_MARKS, &asked));
        }
        schema
    }
}

/// The schema's text on the default of `ecn`, for any controller.
const ANY_MARKS: &str = "Default: the controller's choice; none for most.";

/// Two sets of needs that differ in everything that a default may depend on. They stand for a controller with
/// unknown needs.
const UNKNOWN: [Needs; 2] = [
    Needs { credit: false, ..Needs::recovery(Recovery::Reno) },
    Needs { samples: true, paces: true, marks: Marks::Classic, ..Needs::recovery(Recovery::Sack) },
];

/// Adds the connection's keys to a controller's schema. Each key has its default, if the default is the same for
/// all `needs`.
fn described_with_connection(mut schema: Schema, generator: &mut SchemaGenerator, needs: &[Needs]) -> Schema {
    let mut connection = TcpConfig::json_schema(generator);
    if let Some(Value::Object(mut keys)) = connection.remove("properties") {
        for (key, described) in &mut keys {
            let Some(described) = described.as_object_mut() else { continue };
            let by_preset: Map<String, Value> = Preset::ALL
                .into_iter()
                .filter_map(|preset| Some((preset.name().to_owned(), default_of(key, preset, needs)?)))
                .collect();
            match by_preset.values().next() {
                _ if key == "preset" => {
                    described.insert("default".to_owned(), Value::from(Preset::default().name()));
                }
                Some(value)
                    if by_preset.len() == Preset::ALL.len() && by_preset.values().all(|other| other == value) =>
                {
                    described.insert("default".to_owned(), value.clone());
                }
                Some(_) => {
                    described.insert("x-defaults".to_owned(), Value::Object(by_preset));
                }
                None => {}
            }
        }
        let own = schema.ensure_object().entry("properties").or_insert_with(|| Value::Object(Map::new()));
        if let Some(own) = own.as_object_mut() {
            own.extend(keys);
        }
    }
    schema
}

/// The default of a connection's key, if it is the same for all of these needs.
fn default_of(key: &str, preset: Preset, needs: &[Needs]) -> Option<Value> {
    let of = |needs: &Needs| {
        let whole = TcpConfig { preset, ..TcpConfig::default() }.spelled_out(*needs);
        serde_json::to_value(whole).ok()?.get_mut(key).map(Value::take)
    };
    let first = of(needs.first()?)?;
    needs.iter().all(|needs| of(needs).as_ref() == Some(&first)).then_some(first)
}

impl<C: ControlLaw> Checked for Tcp<C> {
    fn check(&self) -> Result<(), ConfigError> {
        self.law.check()?;
        self.connection.check_with(Needs::from_law::<C>())
    }
}

impl<C: ControlLaw> Law for Tcp<C> {
    const NAME: &'static str = C::NAME;
    const EXAMPLE: &'static str = C::EXAMPLE;
    const BESIDE: &'static str = C::BESIDE;
}

impl<C: ControlLaw> Tcp<C> {
    /// The connection's parameters with all defaults filled in.
    pub fn parameters(&self) -> TcpParameters {
        self.connection.parameters_with(Needs::from_law::<C>())
    }

    /// Like [`AnyTransport::prepare`], with the variant of the controller.
    pub fn prepare_as(&self, variant: fn(C::Controller) -> Control) -> PreparedTransport<'_> {
        let parameters = Arc::new(self.parameters());
        PreparedTransport::new(move |context, stream| {
            self.law.ready()?;
            let control = variant(self.law.controller_with(self.connection.preset, own_stream(&stream)));
            let receiver = TcpReceiver::new(context, &parameters);
            let sender = TcpSender::new(context, Arc::clone(&parameters), control, stream);
            Ok((AnySender::Tcp(sender), AnyReceiver::Tcp(receiver)))
        })
    }
}

/// The controller's random stream. It comes from a copy of the connection's stream, so that the connection draws
/// the same numbers with any controller.
fn own_stream(connection: &Stream) -> Stream {
    Seed(connection.clone().uniform_below(u64::MAX)).stream("controller")
}

/// The packet sizes of a TCP.
fn packet_of(parameters: &TcpParameters) -> PacketSize {
    PacketSize { payload: Bytes::new(u64::from(parameters.segment)), header: Bytes::new(u64::from(parameters.header)) }
}

/// See [`Properties::like_ns2`].
fn key_of_ns2() -> Option<(&'static str, Value)> {
    Some(("preset", Value::from("ns2")))
}

impl<C: ControlLaw> Properties for Tcp<C> {
    fn packet(&self, _bulk: bool) -> PacketSize {
        packet_of(&self.parameters())
    }

    fn like_ns2(&self) -> Option<(&'static str, Value)> {
        key_of_ns2()
    }

    fn delivers_all(&self) -> bool {
        self.parameters().deadline.is_none()
    }

    fn repairs_losses(&self) -> bool {
        true
    }

    fn slowest_timer(&self) -> Span {
        self.parameters().rto.max
    }

    fn tcp(&self) -> Option<TcpParameters> {
        Some(self.parameters())
    }

    fn shown(&self) -> Option<String> {
        self.law.shown()
    }

    fn protocol(&self) -> Protocol {
        Protocol::Segments
    }
}

/// A registered controller, behind a virtual call.
impl<C: ControlLaw> AnyTransport for Tcp<C> {
    fn prepare(&self) -> PreparedTransport<'_> {
        self.prepare_as(|controller| Control::Own(Box::new(controller)))
    }
}

/// A TCP with a controller that is created at run time.
struct GivenTcp {
    law: Arc<dyn AnyControlLaw>,
    connection: TcpConfig,
}

/// The connection's keys, which a controller's parameters must not use.
pub fn connection_keys() -> &'static [String] {
    &CONNECTION_KEYS
}

/// Combines a controller with the connection's keys, as in a scenario's table.
pub(super) fn with_connection(given: RuntimeLaw<dyn AnyControlLaw>) -> RuntimeLaw<dyn AnyTransport> {
    let RuntimeLaw { name, read, schema } = given;
    let own_name = name.clone();
    let whole = move |table: Map<String, Value>| {
        let (connection, own) = split(table)?;
        let (mut table, law) = read(own.clone())
            .map_err(|error| serde_json::Error::custom(refusal(&own_name, &own, &error.to_string())))?;
        if let Value::Object(keys) = serde_json::to_value(&connection)? {
            table.extend(keys);
        }
        Ok((table, Arc::new(GivenTcp { law, connection }) as Arc<dyn AnyTransport>))
    };
    RuntimeLaw::new(name, whole, move |generator| {
        let own = schema(generator);
        described_with_connection(own, generator, &UNKNOWN)
    })
}

impl GivenTcp {
    fn needs(&self) -> Needs {
        Needs {
            recovery: self.law.recovery(),
            waves: self.law.waves(),
            samples: self.law.samples(),
            marks: self.law.marks(),
            paces: self.law.paces(),
            credit: true,
        }
    }

    fn parameters(&self) -> TcpParameters {
        self.connection.parameters_with(self.needs())
    }
}

impl Checked for GivenTcp {
    fn check(&self) -> Result<(), ConfigError> {
        self.law.check()?;
        self.connection.check_with(self.needs())
    }
}

impl Properties for GivenTcp {
    fn packet(&self, _bulk: bool) -> PacketSize {
        packet_of(&self.parameters())
    }

    fn like_ns2(&self) -> Option<(&'static str, Value)> {
        key_of_ns2()
    }

    fn delivers_all(&self) -> bool {
        self.parameters().deadline.is_none()
    }

    fn repairs_losses(&self) -> bool {
        true
    }

    fn slowest_timer(&self) -> Span {
        self.parameters().rto.max
    }

    fn tcp(&self) -> Option<TcpParameters> {
        Some(self.parameters())
    }

    fn shown(&self) -> Option<String> {
        self.law.shown()
    }

    fn protocol(&self) -> Protocol {
        Protocol::Segments
    }
}

impl AnyTransport for GivenTcp {
    fn prepare(&self) -> PreparedTransport<'_> {
        let parameters = Arc::new(self.parameters());
        PreparedTransport::new(move |context, stream| {
            let control = Control::Own(self.law.controller(self.connection.preset, own_stream(&stream)));
            let receiver = TcpReceiver::new(context, &parameters);
            let sender = TcpSender::new(context, Arc::clone(&parameters), control, stream);
            Ok((AnySender::Tcp(sender), AnyReceiver::Tcp(receiver)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_tcp::Preset;
    use fairwave_tcp::control::prague::PragueConfig;
    use fairwave_tcp::control::{Controller, Marks, aimd::AimdConfig};

    /// A built-in law disguised as one created at run time, whose type the transport does not know.
    struct ErasedLaw<C>(C);

    impl<C: ControlLaw> Checked for ErasedLaw<C> {
        fn check(&self) -> Result<(), ConfigError> {
            self.0.check()
        }
    }

    impl<C: ControlLaw> AnyControlLaw for ErasedLaw<C> {
        fn recovery(&self) -> fairwave_tcp::Recovery {
            C::RECOVERY
        }
        fn waves(&self) -> bool {
            C::WAVES
        }
        fn samples(&self) -> bool {
            C::SAMPLES
        }
        fn marks(&self) -> Marks {
            C::MARKS
        }
        fn paces(&self) -> bool {
            C::PACES
        }
        fn controller(&self, preset: Preset, stream: Stream) -> Box<dyn Controller> {
            Box::new(self.0.controller_with(preset, stream))
        }
        fn shown(&self) -> Option<String> {
            self.0.shown()
        }
    }

    /// Checks that a law created at run time reports the same properties as the built-in law.
    fn same<C: ControlLaw + 'static>(law: C, connection: TcpConfig) -> TcpParameters {
        let built_in = Tcp { law: law.clone(), connection: connection.clone() };
        let given = GivenTcp { law: Arc::new(ErasedLaw(law)), connection };
        assert_eq!(given.packet(true), built_in.packet(true));
        assert_eq!(given.like_ns2(), built_in.like_ns2());
        assert_eq!(given.delivers_all(), built_in.delivers_all());
        assert_eq!(given.repairs_losses(), built_in.repairs_losses());
        assert_eq!(given.slowest_timer(), built_in.slowest_timer());
        assert_eq!(given.tcp(), built_in.tcp());
        assert_eq!(given.shown(), built_in.shown());
        assert_eq!(given.check(), built_in.check());
        given.parameters()
    }

    #[test]
    fn a_key_set_to_its_default_changes_nothing() {
        for preset in Preset::ALL {
            for needs in [Needs::from_law::<AimdConfig>(), Needs::from_law::<PragueConfig>(), UNKNOWN[0], UNKNOWN[1]] {
                let left_out = TcpConfig { preset, ..TcpConfig::default() };
                let spelled_out = left_out.spelled_out(needs);
                assert_eq!(spelled_out.parameters_with(needs), left_out.parameters_with(needs), "{preset:?} {needs:?}");
            }
        }
    }

    #[test]
    fn the_schema_has_the_default_of_each_key_by_preset_where_presets_differ() {
        let schema = Tcp::<PragueConfig>::json_schema(&mut SchemaGenerator::default());
        let key = |key: &str, what: &str| schema.pointer(&format!("/properties/{key}/{what}")).cloned();
        assert_eq!(key("duplicates", "default"), Some(Value::from(3)));
        assert_eq!(key("ecn", "default"), Some(Value::from("scalable")));
        assert_eq!(key("preset", "default"), Some(Value::from("linux")));
        let expected = serde_json::json!({ "rfc": "1 s", "linux": "200 ms", "ns2": "200 ms", "ns2-2004": "1 s" });
        assert_eq!((key("min-rto", "x-defaults"), key("min-rto", "default")), (Some(expected), None));
        assert_eq!(key("pacing", "default"), None, "Prague has a rate");
    }

    #[test]
    fn a_law_that_was_given_says_what_it_would_say_if_it_were_built_in() {
        let aimd = AimdConfig { alpha: Some(0.31), beta: Some(0.875) };
        let connection =
            TcpConfig { segment: Some(Bytes::new(500)), max_rto: Some(Span::from_secs(7)), ..TcpConfig::default() };
        let parameters = same(aimd, connection);
        assert_eq!((parameters.segment, parameters.rto.max), (500, Span::from_secs(7)));
        let linux = TcpConfig { preset: Preset::Linux, deadline: Some(Span::from_secs(1)), ..TcpConfig::default() };
        let parameters = same(PragueConfig::default(), linux);
        assert_eq!((parameters.marks, parameters.segment), (PragueConfig::MARKS, 1448));
        same(AimdConfig { alpha: Some(-1.0), beta: None }, TcpConfig::default());
    }
}
