//! Families of laws. A family (loss models, queue disciplines, TCP controllers …) is a list in its module. Each
//! built-in law is one file and one line of that list. The [`family!`] macro derives the scenario configuration,
//! the names, the JSON Schema and the dispatch by variant, which needs no virtual call.
//!
//! A program that links this crate can register more laws ([`Registry`]). A registered law is written like a
//! built-in one, and a scenario names it in the same way; it costs a virtual call. The program registers laws
//! before it reads the first scenario that names them. Laws are code, not state: a program can add a law, but
//! never change or remove one. So a run is still a function of scenario and seed. A law that is defined at run
//! time, in another language, is a [`RuntimeLaw`]. Its author can define it again: the new law replaces the old
//! one of the same name. Code that keeps results must distinguish the two.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::config::ConfigError;

/// A configuration that can check the ranges of its parameters.
pub trait Checked {
    /// Checks the ranges of all parameters.
    ///
    /// # Errors
    /// The first key whose value is out of range.
    fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }
}

/// The parameters of one law. A scenario writes them in a table, next to the key that names the law.
/// `fairwave list` shows the first sentence of the type's documentation.
pub trait Law:
    Checked + Clone + PartialEq + fmt::Debug + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static
{
    /// The law's name in scenarios: `bernoulli`.
    const NAME: &'static str;

    /// An example of the law's table, as JSON without the name: its required keys and the keys that users set
    /// first. The JSON Schema lists it under `examples`, `fairwave explain` shows it in a scenario, and the tests
    /// of every family read it.
    const EXAMPLE: &'static str = "{}";

    /// Further keys that the example's flow needs, as JSON. For example `{"traffic": "video"}` for a transport
    /// without bulk data, or `{"transport": "tcp/sack"}` for a source that UDP cannot carry. The schema lists them
    /// under `x-beside`.
    const BESIDE: &'static str = "{}";
}

/// Reads the table of a registered law, without the key that names it. Returns the table with all defaults filled
/// in, and the law.
pub type TableReader<D> =
    dyn Fn(Map<String, Value>) -> Result<(Map<String, Value>, Arc<D>), serde_json::Error> + Send + Sync;

/// Generates the JSON Schema of a registered law's parameters.
pub type Describe = dyn Fn(&mut SchemaGenerator) -> Schema + Send + Sync;

/// A registered law.
struct Entry<D: ?Sized> {
    name: Cow<'static, str>,
    read: Box<TableReader<D>>,
    schema: Box<Describe>,
    /// A new law of the same name can replace this one.
    replaceable: bool,
}

/// A law that is created at run time and has no Rust type.
pub struct RuntimeLaw<D: ?Sized + 'static> {
    /// The law's name in scenarios.
    pub name: String,
    /// Reads the law's table, see [`RuntimeLaw::new`].
    pub read: Box<TableReader<D>>,
    /// Generates the schema of the law's table.
    pub schema: Box<Describe>,
}

impl<D: ?Sized> fmt::Debug for RuntimeLaw<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeLaw").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<D: ?Sized> RuntimeLaw<D> {
    /// Creates a law with the given scenario name.
    ///
    /// `read` takes the law's table without the key that names it. It returns the table with all defaults filled
    /// in, and the law. Its errors must be worded like those of serde
    /// (``unknown field `x`, expected one of `y` ``), because fairwave derives its messages from that form.
    /// `schema` describes the table; its `description` documents the law.
    pub fn new(
        name: String,
        read: impl Fn(Map<String, Value>) -> Result<(Map<String, Value>, Arc<D>), serde_json::Error> + Send + Sync + 'static,
        schema: impl Fn(&mut SchemaGenerator) -> Schema + Send + Sync + 'static,
    ) -> Self {
        RuntimeLaw { name, read: Box::new(read), schema: Box::new(schema) }
    }
}

/// The number of laws that were replaced, in all families.
static REPLACED: AtomicU64 = AtomicU64::new(0);

/// Returns a number that changes when a law is replaced. After a change, the same table may give a different law.
pub fn generation() -> u64 {
    REPLACED.load(Ordering::SeqCst)
}

/// The registered laws of a family. `D` is the trait object of the family's laws.
pub struct Registry<D: ?Sized + 'static> {
    entries: RwLock<Vec<Arc<Entry<D>>>>,
}

/// Error: a law with this name exists.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is a {what} named `{name}` already; give yours another name")]
pub struct NameTaken {
    /// The family's kind of law, for the message.
    pub what: &'static str,
    /// The name.
    pub name: String,
}

/// Shows the names of the registered laws.
impl<D: ?Sized> fmt::Debug for Registry<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries.read().unwrap_or_else(PoisonError::into_inner);
        f.debug_list().entries(entries.iter().map(|entry| &entry.name)).finish()
    }
}

impl<D: ?Sized> Registry<D> {
    /// Creates an empty registry.
    #[allow(clippy::new_without_default)] // a static, not a value to be made anywhere
    pub const fn new() -> Self {
        Registry { entries: RwLock::new(Vec::new()) }
    }

    /// Registers the law `L`. `erase` converts it into the trait object of the family. `built_in` lists the names
    /// of the family's built-in laws.
    ///
    /// # Errors
    /// If the name is in use.
    pub fn add<L: Law>(&self, what: &'static str, built_in: &[&str], erase: fn(L) -> Arc<D>) -> Result<(), NameTaken> {
        let read = move |table: Map<String, Value>| {
            let law: L = serde_json::from_value(Value::Object(table))?;
            let Value::Object(mut table) = serde_json::to_value(&law)? else {
                return Err(serde::ser::Error::custom(format!("`{}` is not written as a table", L::NAME)));
            };
            table.retain(|_, value| !value.is_null());
            Ok((table, erase(law)))
        };
        let (read, schema) = (Box::new(read), Box::new(schema_with_example::<L>));
        self.add_entry(what, built_in, Entry { name: L::NAME.into(), read, schema, replaceable: false })
    }

    /// Registers a law that is created at run time. It replaces an earlier run-time law of the same name.
    ///
    /// # Errors
    /// If a built-in law or a registered type has this name.
    pub fn add_runtime(&self, what: &'static str, built_in: &[&str], given: RuntimeLaw<D>) -> Result<(), NameTaken> {
        let RuntimeLaw { name, read, schema } = given;
        self.add_entry(what, built_in, Entry { name: name.into(), read, schema, replaceable: true })
    }

    fn add_entry(&self, what: &'static str, built_in: &[&str], entry: Entry<D>) -> Result<(), NameTaken> {
        let mut entries = self.entries.write().unwrap_or_else(PoisonError::into_inner);
        let known = entries.iter_mut().find(|known| known.name == entry.name);
        let taken = known.as_ref().is_some_and(|known| !(known.replaceable && entry.replaceable));
        if taken || built_in.contains(&entry.name.as_ref()) {
            return Err(NameTaken { what, name: entry.name.into_owned() });
        }
        let former = match known {
            Some(known) => {
                let former = std::mem::replace(known, Arc::new(entry));
                REPLACED.fetch_add(1, Ordering::SeqCst);
                Some(former)
            }
            None => {
                entries.push(Arc::new(entry));
                None
            }
        };
        // Dropping the old law can take a lock, so release the registry's lock first.
        drop(entries);
        drop(former);
        Ok(())
    }

    fn entries(&self) -> Vec<Arc<Entry<D>>> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The names of the registered laws, in the order of registration.
    pub fn names(&self) -> Vec<String> {
        self.entries().iter().map(|entry| entry.name.to_string()).collect()
    }

    /// Reads the law of this name with the parameters in `table`. Returns `None` if no such law is registered.
    pub fn read(&self, name: &str, table: &Map<String, Value>) -> Option<Result<RegisteredLaw<D>, serde_json::Error>> {
        let entry = self.entries().into_iter().find(|entry| entry.name == name)?;
        Some((entry.read)(table.clone()).map(|(table, law)| RegisteredLaw { name: entry.name.clone(), table, law }))
    }

    /// The names and schemas of the registered laws.
    pub fn schemas(&self, generator: &mut SchemaGenerator) -> Vec<(String, Schema)> {
        self.entries().iter().map(|entry| (entry.name.to_string(), (entry.schema)(generator))).collect()
    }
}

/// A registered law with its parameters.
pub struct RegisteredLaw<D: ?Sized> {
    name: Cow<'static, str>,
    table: Map<String, Value>,
    law: Arc<D>,
}

impl<D: ?Sized> RegisteredLaw<D> {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The law.
    pub fn law(&self) -> &D {
        &self.law
    }
}

impl<D: ?Sized> Clone for RegisteredLaw<D> {
    fn clone(&self) -> Self {
        RegisteredLaw { name: self.name.clone(), table: self.table.clone(), law: Arc::clone(&self.law) }
    }
}

/// Registered laws are equal if their names and parameters are equal.
impl<D: ?Sized> PartialEq for RegisteredLaw<D> {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.table == other.table
    }
}

impl<D: ?Sized> fmt::Debug for RegisteredLaw<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(&self.name).field(&self.table).finish()
    }
}

impl<D: ?Sized> Serialize for RegisteredLaw<D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.table.serialize(serializer)
    }
}

/// Writes a law's parameters as a table whose first key, `tag`, holds the law's name.
pub fn write(tag: &str, name: &str, law: &impl Serialize) -> Result<Map<String, Value>, serde_json::Error> {
    let mut table = Map::from_iter([(tag.to_owned(), Value::from(name))]);
    match serde_json::to_value(law)? {
        Value::Object(own) => table.extend(own),
        other => return Err(serde::ser::Error::custom(format!("`{other}` is not a table"))),
    }
    Ok(table)
}

/// Reads a law's table. A name alone stands for a table without other keys.
pub fn table_or_name<'de, D: Deserializer<'de>>(
    tag: &'static str,
    deserializer: D,
) -> Result<Map<String, Value>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(name) => Ok(Map::from_iter([(tag.to_owned(), Value::from(name))])),
        table => Map::deserialize(table).map_err(serde::de::Error::custom),
    }
}

/// Removes the key `tag` from the table and returns its value, the law's name.
pub fn take_name(tag: &'static str, table: &mut Map<String, Value>) -> Result<String, serde_json::Error> {
    use serde::de::Error as _;
    match table.remove(tag) {
        Some(Value::String(name)) => Ok(name),
        Some(other) => Err(serde_json::Error::custom(format!("invalid type: {other}, expected a string"))),
        None => Err(serde_json::Error::missing_field(tag)),
    }
}

/// Prefix of laws that run on the host instead of in the simulator. Only their full names select them.
const OF_THE_MACHINE: &str = "host/";

/// Returns the full name of the law that `name` selects among the `known` names. A name selects the law with
/// exactly this name, or the only law whose name ends in `/name` (`cubic` selects `tcp/cubic`). A name that
/// selects no law is returned unchanged.
///
/// # Errors
/// If several names end in `/name`.
pub fn full_name(name: &str, known: impl IntoIterator<Item = String>) -> Result<String, serde_json::Error> {
    let mut found: Vec<String> = Vec::new();
    for full in known {
        if full == name {
            return Ok(full);
        }
        let last = full.rsplit_once('/').map(|(_, last)| last);
        if last == Some(name) && !full.starts_with(OF_THE_MACHINE) {
            found.push(full);
        }
    }
    match found.as_slice() {
        [] => Ok(name.to_owned()),
        [only] => Ok(only.clone()),
        [first, ..] => {
            let all: Vec<String> = found.iter().map(|full| format!("`{full}`")).collect();
            let several = all.join(" and ");
            Err(serde::de::Error::custom(format!("`{name}` is short for {several}; write for example `{first}`")))
        }
    }
}

/// Returns the error for a name that no law of the family has.
pub fn unknown_name(name: &str, known: impl IntoIterator<Item = String>) -> serde_json::Error {
    let known: Vec<String> = known.into_iter().map(|name| format!("`{name}`")).collect();
    serde::de::Error::custom(format!("unknown variant `{name}`, expected one of {}", known.join(", ")))
}

/// Returns a law's example, with the law's name under `tag`.
///
/// # Panics
/// If the example is not a JSON table.
pub fn named_example<L: Law>(tag: &str) -> Value {
    let mut table = parse_table(L::NAME, L::EXAMPLE);
    table[tag] = Value::from(L::NAME);
    table
}

/// Returns the schema of a law, with its example and the other keys that the example needs.
pub fn schema_with_example<L: Law>(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = L::json_schema(generator);
    let object = schema.ensure_object();
    if L::EXAMPLE != "{}" {
        object.insert("examples".to_owned(), Value::from(vec![parse_table(L::NAME, L::EXAMPLE)]));
    }
    if L::BESIDE != "{}" {
        object.insert("x-beside".to_owned(), parse_table(L::NAME, L::BESIDE));
    }
    schema
}

/// Parses a law's JSON table.
fn parse_table(name: &str, text: &str) -> Value {
    let table = serde_json::from_str::<Map<String, Value>>(text);
    Value::Object(table.unwrap_or_else(|error| panic!("the example of `{name}` is no table in JSON: {error}")))
}

/// Returns the schema of a family: one alternative per law, each with its name under `tag`.
pub fn family_schema(tag: &str, description: &str, laws: Vec<(String, Schema)>) -> Schema {
    let named = |(name, mut schema): (String, Schema)| {
        let object = schema.ensure_object();
        object.remove("title");
        object.entry("type").or_insert_with(|| Value::from("object"));
        if let Some(properties) =
            object.entry("properties").or_insert_with(|| Value::Object(Map::new())).as_object_mut()
        {
            properties.insert(tag.to_owned(), serde_json::json!({ "type": "string", "const": name }));
        }
        if let Some(required) = object.entry("required").or_insert_with(|| Value::Array(Vec::new())).as_array_mut() {
            required.insert(0, Value::from(tag));
        }
        for example in object.get_mut("examples").and_then(Value::as_array_mut).into_iter().flatten() {
            example[tag] = Value::from(name.clone());
        }
        schema.to_value()
    };
    let laws: Vec<Value> = laws.into_iter().map(named).collect();
    schemars::json_schema!({ "description": description, "oneOf": laws })
}

/// Defines the configuration of a family: an enum with one variant per law of the list, and `Registered` for
/// registered laws.
///
/// `family! { (Config, "tag", "description", dyn Erased, REGISTRY) Variant(Parameters), … }` also defines `names`,
/// `name`, `law` and `check`, and the conversion from each law's parameters. It defines the form in scenarios: a table
/// whose key `tag` names the law, or the name alone.
#[macro_export]
macro_rules! family {
    (
        ($Config:ident, $tag:literal, $what:literal, $Erased:ty, $registry:path)
        $($Variant:ident($Law:ty)),+ $(,)?
    ) => {
        #[doc = concat!("The parameters of a ", $what, ", as a scenario writes them: a table whose key `", $tag, "` names it.")]
        #[derive(Clone, PartialEq, Debug)]
        #[allow(missing_docs)] // each law's parameters say what it is
        #[non_exhaustive]
        pub enum $Config {
            $($Variant($Law),)+
            /// A registered law.
            Registered($crate::registry::RegisteredLaw<$Erased>),
        }

        impl $Config {
            /// The kind of law, for messages.
            pub const WHAT: &'static str = $what;
            /// The key that names the law.
            pub const TAG: &'static str = $tag;
            /// The names of the built-in laws, in the order of the list.
            pub const BUILT_IN: &'static [&'static str] = &[$(<$Law as $crate::registry::Law>::NAME),+];

            /// The example of each built-in law, with its name. Tests read, check and write every example.
            ///
            /// # Panics
            /// If a law's example is not a JSON table.
            pub fn examples() -> Vec<serde_json::Value> {
                vec![$($crate::registry::named_example::<$Law>($tag)),+]
            }

            /// The shortest table of each built-in law: its name alone, or its example.
            pub fn shortest_tables() -> Vec<serde_json::Value> {
                let shortest = |example: serde_json::Value| {
                    let alone = serde_json::json!({ $tag: example[$tag] });
                    let reads = serde_json::from_value::<Self>(alone.clone()).is_ok_and(|law| law.check().is_ok());
                    if reads { alone } else { example }
                };
                Self::examples().into_iter().map(shortest).collect()
            }

            /// The names of all laws: built-in ones first, then registered ones.
            pub fn names() -> Vec<String> {
                Self::BUILT_IN.iter().map(|name| (*name).to_owned()).chain($registry.names()).collect()
            }

            /// Returns the full name of the law that `name` selects: `tcp/cubic` for `cubic`. A name that selects
            /// no law is returned unchanged.
            ///
            /// # Errors
            /// If several laws match.
            pub fn full_name(name: &str) -> Result<String, serde_json::Error> {
                $crate::registry::full_name(name, Self::names())
            }

            /// The law's name in scenarios.
            pub fn name(&self) -> &str {
                match self {
                    $($Config::$Variant(_) => <$Law as $crate::registry::Law>::NAME,)+
                    $Config::Registered(law) => law.name(),
                }
            }

            /// The law, to ask it for its properties.
            pub fn law(&self) -> &$Erased {
                match self {
                    $($Config::$Variant(law) => law,)+
                    $Config::Registered(law) => law.law(),
                }
            }

            /// Checks the ranges of all parameters.
            ///
            /// # Errors
            /// The first key whose value is out of range.
            pub fn check(&self) -> Result<(), $crate::config::ConfigError> {
                use $crate::registry::Checked as _;
                self.law().check()
            }
        }

        $(impl From<$Law> for $Config {
            fn from(law: $Law) -> Self {
                $Config::$Variant(law)
            }
        })+

        impl serde::Serialize for $Config {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let table = match self {
                    $($Config::$Variant(law) => $crate::registry::write($tag, self.name(), law),)+
                    $Config::Registered(law) => $crate::registry::write($tag, self.name(), law),
                };
                table.map_err(serde::ser::Error::custom)?.serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $Config {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let mut table = $crate::registry::table_or_name($tag, deserializer)?;
                let read = || {
                    let name = Self::full_name(&$crate::registry::take_name($tag, &mut table)?)?;
                    $(if name == <$Law as $crate::registry::Law>::NAME {
                        return serde_json::from_value(serde_json::Value::Object(table)).map($Config::$Variant);
                    })+
                    match $registry.read(&name, &table) {
                        Some(law) => law.map($Config::Registered),
                        None => Err($crate::registry::unknown_name(&name, Self::names())),
                    }
                };
                read().map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $Config {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($Config).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let mut laws = vec![$((
                    <$Law as $crate::registry::Law>::NAME.to_owned(),
                    $crate::registry::schema_with_example::<$Law>(generator),
                )),+];
                laws.extend($registry.schemas(generator));
                $crate::registry::family_schema($tag, concat!("A ", $what, "."), laws)
            }
        }
    };
}
pub use crate::family;

/// Declares the modules of a family's list, `file { Variant(Parameters), … } …`, next to the list.
#[macro_export]
macro_rules! files {
    (() $($file:ident { $($Variant:ident($Law:ident)),+ $(,)? })+) => {
        $(
            pub use $file::{$($Law),+};
        )+
    };
}
pub use crate::files;

/// Passes the laws of a family's list, without their files, to [`family!`] or to the family's dispatch:
/// `laws! { (then! (arguments)) file { Variant(Parameters), … } … }` is
/// `then! { (arguments) Variant(Parameters), … }`.
#[macro_export]
macro_rules! laws {
    (($then:ident! $arguments:tt) $($file:ident { $($Variant:ident($Law:ident)),+ $(,)? })+) => {
        $then! { $arguments $($($Variant($Law),)+)+ }
    };
}
pub use crate::laws;

/// Declares what a family asks of the parameters of a law, once. From the declaration follow the trait that a law
/// implements, its object-safe form for registered laws, and the methods of the family's configuration.
///
/// ```text
/// law_trait! {
///     /// The parameters of a loss model, and its constructor.
///     pub trait LossLaw, erased AnyLossLaw, for LossConfig {
///         /// Type of the running model.
///         type Model: LossModel;
///         /// True if the model never loses a packet.
///         const NEVER: bool = false, asked by is_none;
///         /// Returns the model.
///         fn model(&self, stream: Stream) -> Result<Self::Model, ConfigError>,
///             boxed: Result<Box<dyn LossModel>, ConfigError> = |made| Ok(Box::new(made?));
///         /// Mean length of a cycle.
///         fn cycle(&self) -> Option<Span> { None }
///     }
/// }
/// ```
///
/// A constant becomes the method `is_none` of the object-safe trait and of the configuration. A constructor (`boxed`)
/// returns a box there; the family's dispatch calls it. Every other method is the same in all three places. The
/// configuration asks the law through [`family!`]'s `law`, by a virtual call, so none of the questions may be asked
/// for each packet.
#[macro_export]
macro_rules! law_trait {
    (
        $(#[$attribute:meta])*
        pub trait $Law:ident, erased $Any:ident, for $Config:ident { $($items:tt)* }
    ) => {
        $crate::registry::law_trait! { @items [$Law $Any $Config $(#[$attribute])*] [] [] [] [] $($items)* }
    };
    (
        @items [$Law:ident $Any:ident $Config:ident $($head:tt)*]
        [$($law:tt)*] [$($any:tt)*] [$($forward:tt)*] [$($config:tt)*]
    ) => {
        $($head)*
        pub trait $Law: $crate::registry::Law {
            $($law)*
        }

        #[doc = concat!("Object-safe form of [`", stringify!($Law), "`], for laws that programs register.")]
        pub trait $Any: $crate::registry::Checked + Send + Sync {
            $($any)*
        }

        impl<L: $Law> $Any for L {
            $($forward)*
        }

        impl $Config {
            $($config)*
        }
    };
    (
        @items $head:tt [$($law:tt)*] $any:tt $forward:tt $config:tt
        $(#[$attribute:meta])* type $Running:ident: $Trait:ident; $($rest:tt)*
    ) => {
        $crate::registry::law_trait! {
            @items $head [$($law)* $(#[$attribute])* type $Running: $Trait + 'static;] $any $forward $config $($rest)*
        }
    };
    (
        @items [$Law:ident $($head:tt)*] [$($law:tt)*] [$($any:tt)*] [$($forward:tt)*] [$($config:tt)*]
        $(#[$attribute:meta])* const $NAME:ident: $Type:ty = $default:expr, asked by $question:ident; $($rest:tt)*
    ) => {
        $crate::registry::law_trait! {
            @items [$Law $($head)*]
            [$($law)* $(#[$attribute])* const $NAME: $Type = $default;]
            [$($any)* $(#[$attribute])* fn $question(&self) -> $Type { $default }]
            [$($forward)* fn $question(&self) -> $Type { <L as $Law>::$NAME }]
            [$($config)* $(#[$attribute])* pub fn $question(&self) -> $Type { self.law().$question() }]
            $($rest)*
        }
    };
    (
        @items [$Law:ident $($head:tt)*] [$($law:tt)*] [$($any:tt)*] [$($forward:tt)*] $config:tt
        $(#[$attribute:meta])*
        fn $name:ident(&$this:ident $(, $argument:ident: $Type:ty)* $(,)?) -> $Made:ty,
            boxed: $Boxed:ty = |$made:ident| $boxing:expr;
        $($rest:tt)*
    ) => {
        $crate::registry::law_trait! {
            @items [$Law $($head)*]
            [$($law)* $(#[$attribute])* fn $name(&$this $(, $argument: $Type)*) -> $Made;]
            [$($any)* $(#[$attribute])* fn $name(&$this $(, $argument: $Type)*) -> $Boxed;]
            [$($forward)* fn $name(&self $(, $argument: $Type)*) -> $Boxed {
                let $made = <L as $Law>::$name(self $(, $argument)*);
                $boxing
            }]
            $config $($rest)*
        }
    };
    (
        @items $head:tt [$($law:tt)*] [$($any:tt)*] $forward:tt $config:tt
        $(#[$attribute:meta])*
        fn $name:ident(&$this:ident $(, $argument:ident: $Type:ty)* $(,)?) -> $Answer:ty;
        $($rest:tt)*
    ) => {
        $crate::registry::law_trait! {
            @forward $head
            [$($law)* $(#[$attribute])* fn $name(&$this $(, $argument: $Type)*) -> $Answer;]
            [$($any)* $(#[$attribute])* fn $name(&$this $(, $argument: $Type)*) -> $Answer;]
            $forward $config
            [$(#[$attribute])* fn $name(&self $(, $argument: $Type)*) -> $Answer] $($rest)*
        }
    };
    (
        @items $head:tt [$($law:tt)*] [$($any:tt)*] $forward:tt $config:tt
        $(#[$attribute:meta])*
        fn $name:ident(&$this:ident $(, $argument:ident: $Type:ty)* $(,)?) -> $Answer:ty { $($body:tt)* }
        $($rest:tt)*
    ) => {
        $crate::registry::law_trait! {
            @forward $head
            [$($law)* $(#[$attribute])* fn $name(&$this $(, $argument: $Type)*) -> $Answer { $($body)* }]
            [$($any)* $(#[$attribute])* fn $name(&$this $(, $argument: $Type)*) -> $Answer { $($body)* }]
            $forward $config
            [$(#[$attribute])* fn $name(&self $(, $argument: $Type)*) -> $Answer] $($rest)*
        }
    };
    (
        @forward [$Law:ident $($head:tt)*] $law:tt $any:tt [$($forward:tt)*] [$($config:tt)*]
        [$(#[$attribute:meta])* fn $name:ident(&self $(, $argument:ident: $Type:ty)*) -> $Answer:ty]
        $($rest:tt)*
    ) => {
        $crate::registry::law_trait! {
            @items [$Law $($head)*] $law $any
            [$($forward)* fn $name(&self $(, $argument: $Type)*) -> $Answer {
                <L as $Law>::$name(self $(, $argument)*)
            }]
            [$($config)* $(#[$attribute])* pub fn $name(&self $(, $argument: $Type)*) -> $Answer {
                self.law().$name($($argument),*)
            }]
            $($rest)*
        }
    };
}
pub use crate::law_trait;

/// Declares the trait of a family's running laws, once. The dispatch of an enum that holds one law per variant follows
/// from the declaration, and so does the trait of a box.
///
/// `running_trait! { ($) pub trait LossModel, delegated by delegate_loss_model { fn …; … } }` declares the trait, and a
/// macro: `delegate_loss_model! { Enum Variant Variant … }` implements the trait for the enum. A method costs a jump
/// there. A variant holds the law, or a box of the law. The types of the signatures must be in scope.
#[macro_export]
macro_rules! running_trait {
    (
        ($d:tt) $(#[$attribute:meta])*
        pub trait $Trait:ident, delegated by $delegate:ident { $($items:tt)* }
    ) => {
        $crate::registry::running_trait! { @items $d [$Trait $delegate $(#[$attribute])*] [] [] $($items)* }
    };
    (@items $d:tt [$Trait:ident $delegate:ident $($head:tt)*] [$($item:tt)*] [$($signature:tt)*]) => {
        $($head)*
        pub trait $Trait: Send {
            $($item)*
        }

        impl<T: $Trait + ?Sized> $Trait for Box<T> {
            $crate::registry::delegate! { [*] $($signature)* }
        }

        macro_rules! $delegate {
            ($d Enum:ident $d($d Variant:ident)+) => {
                impl $Trait for $d Enum {
                    $crate::registry::delegate! { [$d Enum $d($d Variant)+] $($signature)* }
                }
            };
        }
    };
    (
        @items $d:tt $head:tt [$($item:tt)*] [$($signature:tt)*]
        $(#[$attribute:meta])* fn $name:ident $arguments:tt $(-> $Answer:ty)?; $($rest:tt)*
    ) => {
        $crate::registry::running_trait! {
            @items $d $head
            [$($item)* $(#[$attribute])* fn $name $arguments $(-> $Answer)?;]
            [$($signature)* #[inline] fn $name $arguments $(-> $Answer)?;]
            $($rest)*
        }
    };
    (
        @items $d:tt $head:tt [$($item:tt)*] [$($signature:tt)*]
        $(#[$attribute:meta])* fn $name:ident $arguments:tt $(-> $Answer:ty)? { $($body:tt)* } $($rest:tt)*
    ) => {
        $crate::registry::running_trait! {
            @items $d $head
            [$($item)* $(#[$attribute])* fn $name $arguments $(-> $Answer)? { $($body)* }]
            [$($signature)* #[inline] fn $name $arguments $(-> $Answer)?;]
            $($rest)*
        }
    };
}
pub use crate::running_trait;

/// Defines methods that call the method of the same name of a law: of each variant of an enum
/// (`delegate! { [Enum Variant Variant …] fn method(&mut self, argument: Type) -> Answer; … }`), or of what a box holds
/// (`delegate! { [*] … }`). Written inside an `impl`.
#[macro_export]
macro_rules! delegate {
    (@call $self:tt [*] $name:ident $arguments:tt) => {
        (**$self).$name $arguments
    };
    (@call $self:tt [$Enum:ident $($Variant:ident)+] $name:ident $arguments:tt) => {
        match $self {
            $($Enum::$Variant(law) => law.$name $arguments,)+
        }
    };
    ($variants:tt) => {};
    (
        $variants:tt
        $(#[$attribute:meta])*
        fn $name:ident(&mut self $(, $argument:ident: $Type:ty)* $(,)?) $(-> $Answer:ty)?;
        $($rest:tt)*
    ) => {
        $(#[$attribute])*
        fn $name(&mut self $(, $argument: $Type)*) $(-> $Answer)? {
            $crate::registry::delegate!(@call self $variants $name ($($argument),*))
        }
        $crate::registry::delegate! { $variants $($rest)* }
    };
    (
        $variants:tt
        $(#[$attribute:meta])*
        fn $name:ident(&self $(, $argument:ident: $Type:ty)* $(,)?) $(-> $Answer:ty)?;
        $($rest:tt)*
    ) => {
        $(#[$attribute])*
        fn $name(&self $(, $argument: $Type)*) $(-> $Answer)? {
            $crate::registry::delegate!(@call self $variants $name ($($argument),*))
        }
        $crate::registry::delegate! { $variants $($rest)* }
    };
}
pub use crate::delegate;

#[cfg(test)]
mod tests {
    use super::full_name;

    fn meant_by(name: &str) -> Result<String, String> {
        let known = ["udp", "tcp/reno", "tcp/cubic", "quic/cubic", "host/reno", "host/program"];
        full_name(name, known.map(str::to_owned)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_short_name_means_the_only_law_that_ends_in_it() {
        assert_eq!(meant_by("udp").as_deref(), Ok("udp"));
        assert_eq!(meant_by("tcp/reno").as_deref(), Ok("tcp/reno"));
        assert_eq!(meant_by("reno").as_deref(), Ok("tcp/reno"), "the machine's own is only meant by its full name");
        assert_eq!(meant_by("program").as_deref(), Ok("program"));
        assert_eq!(meant_by("vegas").as_deref(), Ok("vegas"), "what means no law is refused where it is read");
    }

    #[test]
    fn a_short_name_of_several_laws_is_refused_with_all_of_them() {
        let said = meant_by("cubic").expect_err("two laws");
        assert_eq!(said, "`cubic` is short for `tcp/cubic` and `quic/cubic`; write for example `tcp/cubic`");
    }
}
