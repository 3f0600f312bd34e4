//! Parameters of laws written in Python. They are read, checked, written and described like parameters of built-in laws, so that
//! errors have the same form.

use fairwave_core::config::ConfigError;
use fairwave_core::ratio::Ratio;
use fairwave_core::units::{Bytes, Rate, Span};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use schemars::SchemaGenerator;
use serde::Deserialize;
use serde::de::Error as _;
use serde_json::{Map, Value, json};

/// Type of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParameterKind {
    /// A number.
    Number,
    /// A whole number.
    Whole,
    /// True or false.
    Flag,
    /// A text.
    Text,
    /// A time. The law gets seconds.
    Time,
    /// A rate. The law gets bits per second.
    Rate,
    /// A size. The law gets bytes.
    Size,
}

/// A parameter as described by Python.
#[derive(Clone, Debug, Deserialize)]
pub struct Parameter {
    /// Key in scenarios.
    pub key: String,
    /// Attribute of the law that holds the value.
    pub attribute: String,
    kind: ParameterKind,
    /// True for a list of such values.
    list: bool,
    /// True if the key is mandatory.
    needed: bool,
    /// Default value in the law's units. Null for none.
    default: Value,
    /// Example value in the law's units.
    example: Value,
    about: String,
    above: Option<f64>,
    least: Option<f64>,
    below: Option<f64>,
    most: Option<f64>,
    choices: Option<Vec<String>>,
}

/// A value that is not a list.
#[derive(Clone, PartialEq, Debug)]
pub enum Scalar {
    /// A number.
    Number(f64),
    /// A whole number.
    Whole(i64),
    /// True or false.
    Flag(bool),
    /// A text.
    Text(String),
    /// A time.
    Time(Span),
    /// A rate.
    Rate(Rate),
    /// A size.
    Size(Bytes),
}

/// A parameter's value. `Nothing` for an omitted parameter without a default.
#[derive(Clone, PartialEq, Debug)]
pub enum ParameterValue {
    /// Omitted.
    Nothing,
    /// One value.
    One(Scalar),
    /// A list.
    Several(Vec<Scalar>),
}

impl Scalar {
    fn read(kind: ParameterKind, value: &Value) -> Result<Self, serde_json::Error> {
        Ok(match kind {
            ParameterKind::Number => Scalar::Number(f64::deserialize(value)?),
            ParameterKind::Whole => Scalar::Whole(i64::deserialize(value)?),
            ParameterKind::Flag => Scalar::Flag(bool::deserialize(value)?),
            ParameterKind::Text => Scalar::Text(String::deserialize(value)?),
            ParameterKind::Time => Scalar::Time(Span::deserialize(value)?),
            ParameterKind::Rate => Scalar::Rate(Rate::deserialize(value)?),
            ParameterKind::Size => Scalar::Size(Bytes::deserialize(value)?),
        })
    }

    /// Converts a number in the law's units: seconds, bits per second, bytes.
    fn from_base(kind: ParameterKind, value: &Value) -> Result<Self, serde_json::Error> {
        Ok(match kind {
            ParameterKind::Time => Scalar::Time(Span::from_seconds(f64::deserialize(value)?)),
            ParameterKind::Rate => Scalar::Rate(Rate::from_bits_per_second(nearest(f64::deserialize(value)?))),
            ParameterKind::Size => Scalar::Size(Bytes::new(nearest(f64::deserialize(value)?))),
            _ => Scalar::read(kind, value)?,
        })
    }

    /// The value in the form of a scenario.
    fn written(&self) -> Value {
        match self {
            Scalar::Number(number) => json!(number),
            Scalar::Whole(number) => json!(number),
            Scalar::Flag(flag) => json!(flag),
            Scalar::Text(text) => json!(text),
            Scalar::Time(span) => json!(span),
            Scalar::Rate(rate) => json!(rate),
            Scalar::Size(size) => json!(size),
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            Scalar::Number(number) => Some(*number),
            Scalar::Whole(number) => Some(*number as f64),
            Scalar::Time(span) => Some(span.seconds()),
            Scalar::Rate(rate) => Some(rate.bits_per_second() as f64),
            Scalar::Size(size) => Some(size.get() as f64),
            Scalar::Flag(_) | Scalar::Text(_) => None,
        }
    }

    fn to_python(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self {
            Scalar::Number(number) => number.into_py_any(py),
            Scalar::Whole(number) => number.into_py_any(py),
            Scalar::Flag(flag) => flag.into_py_any(py),
            Scalar::Text(text) => text.into_py_any(py),
            Scalar::Time(span) => span.seconds().into_py_any(py),
            Scalar::Rate(rate) => (rate.bits_per_second() as f64).into_py_any(py),
            Scalar::Size(size) => size.get().into_py_any(py),
        }
    }
}

fn nearest(value: f64) -> u64 {
    value.round() as u64
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (self, self.written()) {
            (Scalar::Number(number), _) => write!(f, "{number}"),
            (_, Value::String(text)) => f.write_str(&text),
            (_, other) => write!(f, "{other}"),
        }
    }
}

impl ParameterValue {
    /// The values as a slice: none, one or several.
    fn as_slice(&self) -> &[Scalar] {
        match self {
            ParameterValue::Nothing => &[],
            ParameterValue::One(scalar) => std::slice::from_ref(scalar),
            ParameterValue::Several(scalars) => scalars,
        }
    }

    /// Converts the value for the law.
    pub fn to_python(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match self {
            ParameterValue::Nothing => Ok(py.None()),
            ParameterValue::One(scalar) => scalar.to_python(py),
            ParameterValue::Several(scalars) => {
                scalars.iter().map(|scalar| scalar.to_python(py)).collect::<PyResult<Vec<_>>>()?.into_py_any(py)
            }
        }
    }

    fn written(&self) -> Value {
        match self {
            ParameterValue::Nothing => Value::Null,
            ParameterValue::One(scalar) => scalar.written(),
            ParameterValue::Several(scalars) => scalars.iter().map(Scalar::written).collect(),
        }
    }
}

impl Parameter {
    /// Checks a description: default and example must have the parameter's type.
    pub fn check_description(&self) -> Result<(), serde_json::Error> {
        self.held_of(&self.example)?;
        self.default_value().map(|_| ())
    }

    fn default_value(&self) -> Result<ParameterValue, serde_json::Error> {
        if self.default.is_null() { Ok(ParameterValue::Nothing) } else { self.held_of(&self.default) }
    }

    /// Converts a value in the law's units.
    fn held_of(&self, value: &Value) -> Result<ParameterValue, serde_json::Error> {
        if !self.list {
            return Scalar::from_base(self.kind, value).map(ParameterValue::One);
        }
        let several = Vec::<Value>::deserialize(value)?;
        several
            .iter()
            .map(|one| Scalar::from_base(self.kind, one))
            .collect::<Result<_, _>>()
            .map(ParameterValue::Several)
    }

    /// True for a range within 0 to 1. Such a number may be written in percent.
    fn is_ratio(&self) -> bool {
        let low = self.least.or(self.above);
        let high = self.most.or(self.below);
        low.is_some_and(|low| low >= 0.0) && high.is_some_and(|high| high <= 1.0)
    }

    fn read(&self, value: &Value) -> Result<ParameterValue, serde_json::Error> {
        let one = |value: &Value| {
            let scalar = match self.kind {
                ParameterKind::Number if self.is_ratio() => Scalar::Number(Ratio::deserialize(value)?),
                kind => Scalar::read(kind, value)?,
            };
            match (&scalar, &self.choices) {
                (Scalar::Text(text), Some(choices)) if !choices.contains(text) => {
                    Err(unknown("variant", text, choices))
                }
                _ => Ok(scalar),
            }
        };
        if self.list {
            let several = Vec::<Value>::deserialize(value)?;
            return several.iter().map(one).collect::<Result<_, _>>().map(ParameterValue::Several);
        }
        one(value).map(ParameterValue::One)
    }

    /// A bound, with the parameter's unit.
    fn bound(&self, bound: f64) -> String {
        Scalar::from_base(self.kind, &json!(bound)).map_or_else(|_| bound.to_string(), |scalar| scalar.to_string())
    }

    fn allowed(&self) -> String {
        let from =
            self.least.map(|least| (format!("{} or more", self.bound(least)), format!("from {}", self.bound(least))));
        let from = from.or(self
            .above
            .map(|above| (format!("above {}", self.bound(above)), format!("above {}", self.bound(above)))));
        let to = self.most.map(|most| format!("at most {}", self.bound(most)));
        let to = to.or(self.below.map(|below| format!("below {}", self.bound(below))));
        match (from, to, self.least, self.most) {
            (Some(_), Some(_), Some(least), Some(most)) => {
                format!("from {} to {}", self.bound(least), self.bound(most))
            }
            (Some((_, from)), Some(to), _, _) => format!("{from} and {to}"),
            (Some((from, _)), None, _, _) => from,
            (None, Some(to), _, _) => to,
            (None, None, _, _) => "a finite number".to_owned(),
        }
    }

    fn check(&self, held: &ParameterValue) -> Result<(), ConfigError> {
        for scalar in held.as_slice() {
            let Some(value) = scalar.number() else { continue };
            let within = value.is_finite()
                && self.above.is_none_or(|above| value > above)
                && self.least.is_none_or(|least| value >= least)
                && self.below.is_none_or(|below| value < below)
                && self.most.is_none_or(|most| value <= most);
            if !within {
                return Err(ConfigError::new(&self.key, scalar, self.allowed(), self.line()));
            }
        }
        Ok(())
    }

    fn example_written(&self) -> Value {
        self.held_of(&self.example).map_or(Value::Null, |held| held.written())
    }

    /// An example line that the scenario accepts.
    fn line(&self) -> String {
        format!("{} = {}", self.key, self.example_written())
    }

    fn schema(&self, generator: &mut SchemaGenerator) -> Value {
        let mut schema = match self.kind {
            ParameterKind::Number if self.is_ratio() => generator.subschema_for::<Ratio>().to_value(),
            ParameterKind::Number => json!({ "type": "number" }),
            ParameterKind::Whole => json!({ "type": "integer" }),
            ParameterKind::Flag => json!({ "type": "boolean" }),
            ParameterKind::Text => match &self.choices {
                Some(choices) => json!({ "type": "string", "enum": choices }),
                None => json!({ "type": "string" }),
            },
            ParameterKind::Time => generator.subschema_for::<Span>().to_value(),
            ParameterKind::Rate => generator.subschema_for::<Rate>().to_value(),
            ParameterKind::Size => generator.subschema_for::<Bytes>().to_value(),
        };
        if let (ParameterKind::Number | ParameterKind::Whole, Some(table)) = (self.kind, schema.as_object_mut()) {
            let bounds = [
                ("exclusiveMinimum", self.above),
                ("minimum", self.least),
                ("exclusiveMaximum", self.below),
                ("maximum", self.most),
            ];
            table.extend(bounds.into_iter().filter_map(|(word, bound)| Some((word.to_owned(), json!(bound?)))));
        }
        if self.list {
            schema = json!({ "type": "array", "items": schema });
        }
        if let Some(table) = schema.as_object_mut() {
            if !self.about.is_empty() {
                table.insert("description".to_owned(), json!(self.about));
            }
            if self.needed {
                table.insert("examples".to_owned(), json!([self.example_written()]));
            } else if let Ok(default) = self.default_value()
                && default != ParameterValue::Nothing
            {
                table.insert("default".to_owned(), default.written());
            }
        }
        schema
    }
}

fn unknown(what: &str, name: &str, known: &[String]) -> serde_json::Error {
    let quoted: Vec<String> = known.iter().map(|one| format!("`{one}`")).collect();
    let allowed = if quoted.is_empty() {
        "there are no fields".to_owned()
    } else {
        format!("expected one of {}", quoted.join(", "))
    };
    serde_json::Error::custom(format!("unknown {what} `{name}`, {allowed}"))
}

/// Reads the values of a law's parameters from a table, in the order of the parameters.
pub fn read(parameters: &[Parameter], table: &Map<String, Value>) -> Result<Vec<ParameterValue>, serde_json::Error> {
    if let Some(key) = table.keys().find(|key| parameters.iter().all(|one| one.key != **key)) {
        let known: Vec<String> = parameters.iter().map(|one| one.key.clone()).collect();
        return Err(unknown("field", key, &known));
    }
    parameters
        .iter()
        .map(|one| match table.get(&one.key) {
            Some(value) => one.read(value),
            None if one.needed => Err(serde_json::Error::custom(format!("missing field `{}`", one.key))),
            None => one.default_value(),
        })
        .collect()
}

/// Writes the values as a table, including defaults.
pub fn written(parameters: &[Parameter], values: &[ParameterValue]) -> Map<String, Value> {
    let each = parameters.iter().zip(values).map(|(one, held)| (one.key.clone(), held.written()));
    each.filter(|(_, value)| !value.is_null()).collect()
}

/// Checks the ranges of all parameters.
pub fn check(parameters: &[Parameter], values: &[ParameterValue]) -> Result<(), ConfigError> {
    parameters.iter().zip(values).try_for_each(|(one, held)| one.check(held))
}

/// The schema of the table.
pub fn schema(parameters: &[Parameter], about: &str, generator: &mut SchemaGenerator) -> schemars::Schema {
    let properties: Map<String, Value> =
        parameters.iter().map(|one| (one.key.clone(), one.schema(generator))).collect();
    let needed: Vec<&str> = parameters.iter().filter(|one| one.needed).map(|one| one.key.as_str()).collect();
    schemars::json_schema!({
        "description": about,
        "type": "object",
        "properties": properties,
        "required": needed,
        "additionalProperties": false,
    })
}
