//! Families of laws. A family (the loss models, the disciplines, the controllers …) is one list in its module; each built-in
//! law is one file and one line in that list. From the list follow the configuration that a scenario writes
//! ([`family!`]), its names, its JSON Schema and the dispatch by variant, which costs no virtual call.
//!
//! A program that links this crate can register its own laws ([`Registry`]). Such a law is written exactly like a
//! built-in one, and a scenario names it in the same way; it only costs a virtual call. The program registers laws
//! before it reads the first scenario that names them. Laws are code, not state: a program can add a law, but never
//! change or remove one, so a run is still a function of scenario and seed. A law that is defined while the program
//! runs, in another language, is a [`RuntimeLaw`]. Its author may define it again: a law of the same name replaces it.
//! Code that keeps results has to distinguish the two.

use std::borrow::Cow;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::config::ConfigError;

/// A configuration that knows its own ranges.
pub trait Checked {
    /// Checks the ranges of all parameters.
    ///
    /// # Errors
    /// The first key whose value is not allowed.
    fn check(&self) -> Result<(), ConfigError> {
        Ok(())
    }
}

/// The parameters of one law, as a scenario's table holds them beside the key that names the law. The first sentence of
/// its documentation is what `fairwave list` says of it.
pub trait Law:
    Checked + Clone + PartialEq + fmt::Debug + Serialize + DeserializeOwned + JsonSchema + Send + Sync + 'static
{
    /// The law's name in scenarios: `bernoulli`.
    const NAME: &'static str;

    /// An example of its table, in JSON and without the name: the keys that it needs and those that are set first. The JSON
    /// Schema has it under `examples`, `fairwave explain` shows it in a scenario, and every family's tests read it.
    const EXAMPLE: &'static str = "{}";

    /// What that scenario's flow has to have besides, in JSON: `{"traffic": "video"}` for a transport that carries no bulk
    /// data, `{"transport": "tcp/sack"}` for a source that UDP cannot carry. The schema has it under `x-beside`.
    const BESIDE: &'static str = "{}";
}

/// Reads the table of a program's own law, the naming key taken out. Answers with the table, all defaults spelled out, and
/// the law.
pub type TableReader<D> =
    dyn Fn(Map<String, Value>) -> Result<(Map<String, Value>, Arc<D>), serde_json::Error> + Send + Sync;

/// How the parameters of a program's own law are described.
pub type Describe = dyn Fn(&mut SchemaGenerator) -> Schema + Send + Sync;

/// A law that a program handed in.
struct Entry<D: ?Sized> {
    name: Cow<'static, str>,
    read: Box<TableReader<D>>,
    schema: Box<Describe>,
    /// Another law of this name may take its place.
    replaceable: bool,
}

/// A law that is no type of the program: what a family has to know of one that was made while the program runs.
pub struct RuntimeLaw<D: ?Sized + 'static> {
    /// Its name in scenarios.
    pub name: String,
    /// Reads its table, see [`RuntimeLaw::new`].
    pub read: Box<TableReader<D>>,
    /// Describes its table.
    pub schema: Box<Describe>,
}

impl<D: ?Sized> RuntimeLaw<D> {
    /// A law by its name in scenarios.
    ///
    /// `read` takes the law's table, the naming key taken out, and answers with the table, all defaults spelled out, and the
    /// law; its errors are worded like those of serde (``unknown field `x`, expected one of `y` ``), because the
    /// messages for users are derived from that form. `schema` describes the table: its `description` is what is said
    /// of the law.
    pub fn new(
        name: String,
        read: impl Fn(Map<String, Value>) -> Result<(Map<String, Value>, Arc<D>), serde_json::Error> + Send + Sync + 'static,
        schema: impl Fn(&mut SchemaGenerator) -> Schema + Send + Sync + 'static,
    ) -> Self {
        RuntimeLaw { name, read: Box::new(read), schema: Box::new(schema) }
    }
}

/// How often a law has taken the place of another, in all families.
static REPLACED: AtomicU64 = AtomicU64::new(0);

/// A number that changes when a law takes the place of another: what was read from a table before may be another law now.
pub fn generation() -> u64 {
    REPLACED.load(Ordering::SeqCst)
}

/// The laws of a family that the program handed in, by name. `D` is what the family asks of a law.
pub struct Registry<D: ?Sized + 'static> {
    entries: RwLock<Vec<Arc<Entry<D>>>>,
}

/// A law with this name exists.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("there is a {what} named `{name}` already; give yours another name")]
pub struct NameTaken {
    /// What the family's laws are.
    pub what: &'static str,
    /// The name.
    pub name: String,
}

impl<D: ?Sized> Registry<D> {
    /// No laws.
    #[allow(clippy::new_without_default)] // a static, not a value to be made anywhere
    pub const fn new() -> Self {
        Registry { entries: RwLock::new(Vec::new()) }
    }

    /// Hands in the law `L`, which `erase` turns into what the family asks of its laws. `built_in` are the family's own names.
    ///
    /// # Errors
    /// When the name is taken.
    pub fn add<L: Law>(&self, what: &'static str, built_in: &[&str], erase: fn(L) -> Arc<D>) -> Result<(), NameTaken> {
        let read = move |table: Map<String, Value>| {
            let law: L = serde_json::from_value(Value::Object(table))?;
            let Value::Object(mut table) = serde_json::to_value(&law)? else {
                return Err(serde::ser::Error::custom(format!("`{}` is not written as a table", L::NAME)));
            };
            table.retain(|_, value| !value.is_null());
            Ok((table, erase(law)))
        };
        let (read, schema) = (Box::new(read), Box::new(described::<L>));
        self.add_entry(what, built_in, Entry { name: L::NAME.into(), read, schema, replaceable: false })
    }

    /// Hands in a law that was made while the program runs. It takes the place of one that was given under its name before.
    ///
    /// # Errors
    /// When the name is that of a built-in law, or of a type that was handed in.
    pub fn give(&self, what: &'static str, built_in: &[&str], given: RuntimeLaw<D>) -> Result<(), NameTaken> {
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
        // What goes with the former one may take a lock of its own.
        drop(entries);
        drop(former);
        Ok(())
    }

    fn entries(&self) -> Vec<Arc<Entry<D>>> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The names of the laws that were handed in, in that order.
    pub fn names(&self) -> Vec<String> {
        self.entries().iter().map(|entry| entry.name.to_string()).collect()
    }

    /// The law of this name with the parameters in `table`; `None` if no program registered such a law.
    pub fn read(&self, name: &str, table: &Map<String, Value>) -> Option<Result<RegisteredLaw<D>, serde_json::Error>> {
        let entry = self.entries().into_iter().find(|entry| entry.name == name)?;
        Some((entry.read)(table.clone()).map(|(table, law)| RegisteredLaw { name: entry.name.clone(), table, law }))
    }

    /// The schemas of the laws that were handed in, with their names.
    pub fn schemas(&self, generator: &mut SchemaGenerator) -> Vec<(String, Schema)> {
        self.entries().iter().map(|entry| (entry.name.to_string(), (entry.schema)(generator))).collect()
    }
}

/// A program's own law with its parameters.
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

/// Laws of one name with the same parameters are the same.
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

/// A law's parameters as a table that begins with its name under `tag`.
pub fn write(tag: &str, name: &str, law: &impl Serialize) -> Result<Map<String, Value>, serde_json::Error> {
    let mut table = Map::from_iter([(tag.to_owned(), Value::from(name))]);
    match serde_json::to_value(law)? {
        Value::Object(own) => table.extend(own),
        other => return Err(serde::ser::Error::custom(format!("`{other}` is not a table"))),
    }
    Ok(table)
}

/// Reads the table of a law. A name alone stands for the table that holds nothing else.
pub fn table_or_name<'de, D: Deserializer<'de>>(
    tag: &'static str,
    deserializer: D,
) -> Result<Map<String, Value>, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(name) => Ok(Map::from_iter([(tag.to_owned(), Value::from(name))])),
        table => Map::deserialize(table).map_err(serde::de::Error::custom),
    }
}

/// Takes the name that a table has under `tag` out of it.
pub fn take_name(tag: &'static str, table: &mut Map<String, Value>) -> Result<String, serde_json::Error> {
    use serde::de::Error as _;
    match table.remove(tag) {
        Some(Value::String(name)) => Ok(name),
        Some(other) => Err(serde_json::Error::custom(format!("invalid type: {other}, expected a string"))),
        None => Err(serde_json::Error::missing_field(tag)),
    }
}

/// Laws whose names begin so belong to the machine that runs them, not to the simulator: only their full names mean them.
const OF_THE_MACHINE: &str = "host/";

/// The full name of the law that `name` means among those that are `known`: its own, or the only one that ends in `/name`
/// (`cubic` means `tcp/cubic`). A name that means none of them is left as it is.
///
/// # Errors
/// When several laws end in it.
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

/// The message for a name that no law of a family has.
pub fn unknown_name(name: &str, known: impl IntoIterator<Item = String>) -> serde_json::Error {
    let known: Vec<String> = known.into_iter().map(|name| format!("`{name}`")).collect();
    serde::de::Error::custom(format!("unknown variant `{name}`, expected one of {}", known.join(", ")))
}

/// A law's example with its name under `tag`.
///
/// # Panics
/// When it is no table in JSON.
pub fn example_of<L: Law>(tag: &str) -> Value {
    let mut table = table_in(L::NAME, L::EXAMPLE);
    table[tag] = Value::from(L::NAME);
    table
}

/// The schema of a law, with its example and what goes with it.
pub fn described<L: Law>(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = L::json_schema(generator);
    let object = schema.ensure_object();
    if L::EXAMPLE != "{}" {
        object.insert("examples".to_owned(), Value::from(vec![table_in(L::NAME, L::EXAMPLE)]));
    }
    if L::BESIDE != "{}" {
        object.insert("x-beside".to_owned(), table_in(L::NAME, L::BESIDE));
    }
    schema
}

/// The table in a law's JSON.
fn table_in(name: &str, text: &str) -> Value {
    let table = serde_json::from_str::<Map<String, Value>>(text);
    Value::Object(table.unwrap_or_else(|error| panic!("the example of `{name}` is no table in JSON: {error}")))
}

/// The schema of a family: one alternative per law, each with its name under `tag`.
pub fn one_of(tag: &str, description: &str, laws: Vec<(String, Schema)>) -> Schema {
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

/// The configuration of a family: an enum with one variant per law of the list, and `RegisteredLaw` for what a program handed in.
///
/// `family! { (Config, "tag", "what it is", dyn Erased, REGISTRY) Variant(Parameters), … }` also gives the enum
/// `names`, `name` and `check`, conversion from each law's parameters, and the form in which scenarios write it: a table whose
/// key `tag` names the law, or the name alone.
#[macro_export]
macro_rules! family {
    (
        ($Config:ident, $tag:literal, $what:literal, $Erased:ty, $registry:path)
        $($Variant:ident($Law:ty)),+ $(,)?
    ) => {
        #[doc = concat!("The parameters of a ", $what, ", as a scenario writes them: a table whose key `", $tag, "` names it.")]
        #[derive(Clone, PartialEq, Debug)]
        #[allow(missing_docs)] // each law's parameters say what it is
        pub enum $Config {
            $($Variant($Law),)+
            /// A program's own.
            Own($crate::registry::RegisteredLaw<$Erased>),
        }

        impl $Config {
            /// What these laws are, for messages.
            pub const WHAT: &'static str = $what;
            /// The key that names the law.
            pub const TAG: &'static str = $tag;
            /// The names of the built-in laws, in the order of the list.
            pub const BUILT_IN: &'static [&'static str] = &[$(<$Law as $crate::registry::Law>::NAME),+];

            /// The example of each built-in law, its name among the keys: every one is read, checked and written in tests.
            ///
            /// # Panics
            /// When a law's example is no table in JSON.
            pub fn examples() -> Vec<serde_json::Value> {
                vec![$($crate::registry::example_of::<$Law>($tag)),+]
            }

            /// Each built-in law with no more than it needs: its name alone, or its example.
            pub fn plainest() -> Vec<serde_json::Value> {
                let plainest = |example: serde_json::Value| {
                    let alone = serde_json::json!({ $tag: example[$tag] });
                    let reads = serde_json::from_value::<Self>(alone.clone()).is_ok();
                    if reads { alone } else { example }
                };
                Self::examples().into_iter().map(plainest).collect()
            }

            /// The names of all laws, those that the program handed in behind the built-in ones.
            pub fn names() -> Vec<String> {
                Self::BUILT_IN.iter().map(|name| (*name).to_owned()).chain($registry.names()).collect()
            }

            /// The full name of the law that `name` means: `tcp/cubic` for `cubic`. A name that means no law is left as it is.
            ///
            /// # Errors
            /// When it is short for several laws.
            pub fn full_name(name: &str) -> Result<String, serde_json::Error> {
                $crate::registry::full_name(name, Self::names())
            }

            /// The law's name in scenarios.
            pub fn name(&self) -> &str {
                match self {
                    $($Config::$Variant(_) => <$Law as $crate::registry::Law>::NAME,)+
                    $Config::Own(own) => own.name(),
                }
            }

            /// Checks the ranges of all parameters.
            ///
            /// # Errors
            /// The first key whose value is not allowed.
            pub fn check(&self) -> Result<(), $crate::config::ConfigError> {
                use $crate::registry::Checked as _;
                match self {
                    $($Config::$Variant(law) => law.check(),)+
                    $Config::Own(own) => own.law().check(),
                }
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
                    $Config::Own(own) => $crate::registry::write($tag, self.name(), own),
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
                        Some(own) => own.map($Config::Own),
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
                    $crate::registry::described::<$Law>(generator),
                )),+];
                laws.extend($registry.schemas(generator));
                $crate::registry::one_of($tag, concat!("A ", $what, "."), laws)
            }
        }
    };
}
pub use crate::family;

/// Shows the parameters of a family's list, `file { Variant(Parameters), … } …`, next to the list.
#[macro_export]
macro_rules! files {
    (() $($file:ident { $($Variant:ident($Law:ident)),+ $(,)? })+) => {
        $(
            pub use $file::{$($Law),+};
        )+
    };
}
pub use crate::files;

/// The laws of a family's list without their files, as [`family!`] and the family's dispatch take them:
/// `laws! { (then! (arguments)) file { Variant(Parameters), … } … }` is `then! { (arguments) Variant(Parameters), … }`.
#[macro_export]
macro_rules! laws {
    (($then:ident! $arguments:tt) $($file:ident { $($Variant:ident($Law:ident)),+ $(,)? })+) => {
        $then! { $arguments $($($Variant($Law),)+)+ }
    };
}
pub use crate::laws;

/// The methods of an enum that holds a law of a family in each variant: each calls the method of that name of the law it holds.
///
/// `delegate! { [Enum Variant Variant …] fn method(&mut self, argument: Type) -> Answer; … }` stands within an `impl`. A variant holds
/// the law itself, or a box of it.
#[macro_export]
macro_rules! delegate {
    (@call $self:tt [$Enum:ident $($Variant:ident)+] $name:ident $arguments:tt) => {
        match $self {
            $($Enum::$Variant(law) => law.$name $arguments,)+
        }
    };
    ($variants:tt) => {};
    (
        $variants:tt
        $(#[$attribute:meta])*
        fn $name:ident(&mut self $(, $argument:ident: $Type:ty)*) $(-> $Answer:ty)?;
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
        fn $name:ident(&self $(, $argument:ident: $Type:ty)*) $(-> $Answer:ty)?;
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
