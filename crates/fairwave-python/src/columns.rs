//! Converts rows of any type to columns in Arrow's memory layout.
//!
//! A row is any flat struct that serde can serialise. Its fields become columns, in order. A new field of a row in the simulator
//! therefore reaches Python without a change here. Numbers become 64-bit values. Texts become a dictionary: 32-bit indices into a
//! list of distinct strings, in order of first appearance. Undefined values (NaN, `None`) become null, because one NaN would make
//! every sum and mean that a database computes NaN.

use std::collections::HashMap;
use std::fmt;

use serde::Serialize;
use serde::ser::{Impossible, SerializeStruct, Serializer};

/// One column.
#[derive(Clone, PartialEq, Debug)]
pub enum Column {
    /// 64-bit floating point, little endian, with the validity of each value.
    Float(Vec<u8>, Validity),
    /// 64-bit signed integers, little endian.
    Integer(Vec<u8>),
    /// 32-bit signed indices into the list, little endian.
    Text(Vec<u8>, Vec<String>),
}

/// Validity of a column's values: Arrow's bitmap, one bit per value from the lowest bit of the first byte on, 1 for a valid value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Validity {
    bits: Vec<u8>,
    length: usize,
    nulls: usize,
}

impl Validity {
    /// The bitmap. `None` if all values are valid.
    pub fn bitmap(&self) -> Option<&[u8]> {
        (self.nulls > 0).then_some(&self.bits)
    }

    /// True if the value of a row is valid.
    fn is_there(&self, row: usize) -> bool {
        self.bits.get(row / 8).is_some_and(|byte| (byte >> (row % 8)) & 1 == 1)
    }

    fn push(&mut self, there: bool) {
        if self.length.is_multiple_of(8) {
            self.bits.push(0);
        }
        if let (true, Some(byte)) = (there, self.bits.last_mut()) {
            *byte |= 1 << (self.length % 8);
        }
        self.length += 1;
        self.nulls += usize::from(!there);
    }
}

/// Columns of a table: names and values, in the order of the struct's fields.
pub type Columns = Vec<(&'static str, Column)>;

/// Converts rows to columns. Without rows, there are no columns.
///
/// # Errors
/// A row that is not a flat struct of numbers and texts.
pub fn columns<R: Serialize>(rows: &[R]) -> Result<Columns, NestedFieldError> {
    let mut builder = Builder::default();
    for row in rows {
        row.serialize(&mut builder)?;
        builder.at = 0;
    }
    Ok(builder.columns)
}

/// Number of rows.
pub fn rows(columns: &Columns) -> i64 {
    columns.first().map_or(0, |(_, column)| match column {
        Column::Float(bytes, _) | Column::Integer(bytes) => bytes.len() as i64 / 8,
        Column::Text(bytes, _) => bytes.len() as i64 / 4,
    })
}

/// Appends the rows of other columns of the same row type. The result equals a joint conversion of all rows.
///
/// # Errors
/// The columns belong to another row type.
pub fn append(to: &mut Columns, from: &Columns) -> Result<(), NestedFieldError> {
    if to.is_empty() {
        to.clone_from(from);
        return Ok(());
    }
    if from.is_empty() {
        return Ok(());
    }
    if to.len() != from.len() {
        return Err(NestedFieldError("rows differ in how many fields they have".to_owned()));
    }
    for ((name, to), (_, from)) in to.iter_mut().zip(from) {
        match (to, from) {
            (Column::Float(bytes, validity), Column::Float(more, theirs)) => {
                bytes.extend_from_slice(more);
                (0..theirs.length).for_each(|at| validity.push(theirs.is_there(at)));
            }
            (Column::Integer(bytes), Column::Integer(more)) => bytes.extend_from_slice(more),
            (Column::Text(bytes, words), Column::Text(more, theirs)) => {
                let mut places = Vec::with_capacity(theirs.len());
                for word in theirs {
                    let place = words.iter().position(|one| one == word).unwrap_or_else(|| {
                        words.push(word.clone());
                        words.len() - 1
                    });
                    places.push(place as i32);
                }
                for code in more.chunks_exact(4) {
                    let code = code.try_into().map_or(0, i32::from_le_bytes);
                    let place = usize::try_from(code).ok().and_then(|code| places.get(code)).copied().unwrap_or(0);
                    bytes.extend_from_slice(&place.to_le_bytes());
                }
            }
            _ => return Err(NestedFieldError(format!("`{name}` changes its type from row to row"))),
        }
    }
    Ok(())
}

/// A row has a field that no column can hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NestedFieldError(String);

impl fmt::Display for NestedFieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a result row cannot become columns: {}", self.0)
    }
}

impl std::error::Error for NestedFieldError {}

impl serde::ser::Error for NestedFieldError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        NestedFieldError(message.to_string())
    }
}

#[derive(Default)]
struct Builder {
    columns: Columns,
    /// Per column: index of each text in the dictionary.
    places: Vec<HashMap<String, i32>>,
    at: usize,
    name: &'static str,
}

impl Builder {
    fn column(&mut self, empty: fn() -> Column) -> &mut Column {
        if self.at == self.columns.len() {
            self.columns.push((self.name, empty()));
            self.places.push(HashMap::new());
        }
        &mut self.columns[self.at].1
    }

    fn float(&mut self, value: f64) -> Result<(), NestedFieldError> {
        let there = !value.is_nan();
        match self.column(|| Column::Float(Vec::new(), Validity::default())) {
            Column::Float(bytes, validity) => {
                bytes.extend_from_slice(&if there { value } else { 0.0 }.to_le_bytes());
                validity.push(there);
            }
            _ => return Err(self.changed()),
        }
        Ok(())
    }

    fn integer(&mut self, value: i64) -> Result<(), NestedFieldError> {
        match self.column(|| Column::Integer(Vec::new())) {
            Column::Integer(bytes) => bytes.extend_from_slice(&value.to_le_bytes()),
            _ => return Err(self.changed()),
        }
        Ok(())
    }

    fn text(&mut self, value: &str) -> Result<(), NestedFieldError> {
        self.column(|| Column::Text(Vec::new(), Vec::new()));
        let (Column::Text(bytes, words), Some(places)) = (&mut self.columns[self.at].1, self.places.get_mut(self.at))
        else {
            return Err(self.changed());
        };
        let place = match places.get(value) {
            Some(place) => *place,
            None => {
                let place =
                    i32::try_from(words.len()).map_err(|_| NestedFieldError("too many different texts".to_owned()))?;
                words.push(value.to_owned());
                places.insert(value.to_owned(), place);
                place
            }
        };
        bytes.extend_from_slice(&place.to_le_bytes());
        Ok(())
    }

    fn changed(&self) -> NestedFieldError {
        NestedFieldError(format!("`{}` changes its type from row to row", self.name))
    }

    fn refuse(&self, what: &str) -> NestedFieldError {
        NestedFieldError(format!("`{}` is {what}", self.name))
    }
}

impl SerializeStruct for &mut Builder {
    type Ok = ();
    type Error = NestedFieldError;

    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), NestedFieldError> {
        self.name = key;
        value.serialize(&mut **self)?;
        self.at += 1;
        Ok(())
    }

    fn end(self) -> Result<(), NestedFieldError> {
        Ok(())
    }
}

impl Serializer for &mut Builder {
    type Ok = ();
    type Error = NestedFieldError;
    type SerializeSeq = Impossible<(), NestedFieldError>;
    type SerializeTuple = Impossible<(), NestedFieldError>;
    type SerializeTupleStruct = Impossible<(), NestedFieldError>;
    type SerializeTupleVariant = Impossible<(), NestedFieldError>;
    type SerializeMap = Impossible<(), NestedFieldError>;
    type SerializeStruct = Self;
    type SerializeStructVariant = Impossible<(), NestedFieldError>;

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, NestedFieldError> {
        Ok(self)
    }
    fn serialize_f64(self, value: f64) -> Result<(), NestedFieldError> {
        self.float(value)
    }
    fn serialize_f32(self, value: f32) -> Result<(), NestedFieldError> {
        self.float(f64::from(value))
    }
    fn serialize_i64(self, value: i64) -> Result<(), NestedFieldError> {
        self.integer(value)
    }
    fn serialize_u64(self, value: u64) -> Result<(), NestedFieldError> {
        // Counters of packets and bytes stay far below 2⁶³. A larger value is shown as the maximum.
        self.integer(i64::try_from(value).unwrap_or(i64::MAX))
    }
    fn serialize_bool(self, value: bool) -> Result<(), NestedFieldError> {
        self.integer(i64::from(value))
    }
    fn serialize_i8(self, value: i8) -> Result<(), NestedFieldError> {
        self.integer(i64::from(value))
    }
    fn serialize_i16(self, value: i16) -> Result<(), NestedFieldError> {
        self.integer(i64::from(value))
    }
    fn serialize_i32(self, value: i32) -> Result<(), NestedFieldError> {
        self.integer(i64::from(value))
    }
    fn serialize_u8(self, value: u8) -> Result<(), NestedFieldError> {
        self.integer(i64::from(value))
    }
    fn serialize_u16(self, value: u16) -> Result<(), NestedFieldError> {
        self.integer(i64::from(value))
    }
    fn serialize_u32(self, value: u32) -> Result<(), NestedFieldError> {
        self.integer(i64::from(value))
    }
    fn serialize_char(self, value: char) -> Result<(), NestedFieldError> {
        self.text(value.encode_utf8(&mut [0; 4]))
    }
    fn serialize_str(self, value: &str) -> Result<(), NestedFieldError> {
        self.text(value)
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), NestedFieldError> {
        self.text(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), NestedFieldError> {
        value.serialize(self)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NestedFieldError> {
        value.serialize(self)
    }
    fn serialize_bytes(self, _: &[u8]) -> Result<(), NestedFieldError> {
        Err(self.refuse("a string of bytes"))
    }
    fn serialize_none(self) -> Result<(), NestedFieldError> {
        // Only numeric fields can be absent.
        self.float(f64::NAN)
    }
    fn serialize_unit(self) -> Result<(), NestedFieldError> {
        Err(self.refuse("nothing"))
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), NestedFieldError> {
        Err(self.refuse("nothing"))
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), NestedFieldError> {
        Err(self.refuse("an alternative"))
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, NestedFieldError> {
        Err(self.refuse("a list"))
    }
    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, NestedFieldError> {
        Err(self.refuse("a tuple"))
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, NestedFieldError> {
        Err(self.refuse("a tuple"))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, NestedFieldError> {
        Err(self.refuse("an alternative"))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, NestedFieldError> {
        Err(self.refuse("a map"))
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, NestedFieldError> {
        Err(self.refuse("an alternative"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize)]
    struct Row {
        value: f64,
        perhaps: Option<f64>,
        text: &'static str,
    }

    fn floats(values: &[f64]) -> (Vec<f64>, Option<Vec<u8>>) {
        let rows: Vec<Row> = values.iter().map(|&value| Row { value, perhaps: None, text: "" }).collect();
        match columns(&rows).expect("flat").swap_remove(0) {
            (_, Column::Float(bytes, validity)) => {
                let values = bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().expect("8 bytes")));
                (values.collect(), validity.bitmap().map(<[u8]>::to_vec))
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn values_that_are_not_numbers_become_null() {
        let (values, bitmap) = floats(&[1.5, f64::NAN, f64::INFINITY, -0.0]);
        assert_eq!((values, bitmap), (vec![1.5, 0.0, f64::INFINITY, -0.0], Some(vec![0b1101])));
    }

    #[test]
    fn a_bitmap_goes_on_in_the_next_byte_and_is_left_out_when_nothing_is_missing() {
        let mut many = [1.0; 10];
        assert_eq!(floats(&many).1, None);
        many[8] = f64::NAN;
        assert_eq!(floats(&many).1, Some(vec![0xff, 0b10]));
    }

    #[test]
    fn missing_values_become_null() {
        let rows = [Row { value: 1.0, perhaps: None, text: "a" }, Row { value: 2.0, perhaps: Some(3.0), text: "a" }];
        let columns = columns(&rows).expect("flat");
        let (name, Column::Float(_, validity)) = &columns[1] else { panic!("{columns:?}") };
        assert_eq!((*name, validity.bitmap()), ("perhaps", Some(&[0b10][..])));
        assert_eq!(columns[2].1, Column::Text(vec![0; 8], vec!["a".to_owned()]));
    }
}
