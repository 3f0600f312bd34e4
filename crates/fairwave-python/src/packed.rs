//! Packs the tables of a run in the file format of result folders (see `fairwave.runs.runs_file`).
//!
//! A line of JSON describes the columns. Their memory follows as one zlib stream. Small tables are stored in it uncompressed,
//! because compression takes longer than simulating a short run. Python compresses large tables.

use serde_json::{Value, json};

use crate::batch::Tables;
use crate::columns::{Column, rows};

/// Maximum size of a stored block, bytes: its length field has 16 bits.
const MOST: usize = 0xffff;

/// Packs the tables. `None` if they are large or cannot be written.
pub fn packed(tables: &Tables) -> Option<Vec<u8>> {
    let size = |column: &Column| match column {
        Column::Float(bytes, _) | Column::Integer(bytes) | Column::Text(bytes, _) => bytes.len(),
    };
    if tables.iter().flat_map(|(_, columns)| columns).map(|(_, column)| size(column)).sum::<usize>() > MOST {
        return None;
    }
    let mut body = Vec::new();
    let mut head = vec![json!("columns")];
    for (name, columns) in tables.iter().filter(|(_, columns)| !columns.is_empty()) {
        let count = rows(columns);
        let mut described: Vec<Value> = Vec::with_capacity(columns.len());
        for (title, column) in columns {
            match column {
                Column::Float(bytes, validity) => {
                    let bitmap = validity.bitmap();
                    described.push(json!([title, "<f8", count, bitmap.is_some(), null]));
                    body.extend_from_slice(bytes);
                    // NumPy fills bytes from the highest bit, Arrow from the lowest.
                    body.extend(bitmap.into_iter().flatten().map(|byte| byte.reverse_bits()));
                }
                Column::Integer(bytes) => {
                    described.push(json!([title, "<i8", count, false, null]));
                    body.extend_from_slice(bytes);
                }
                Column::Text(bytes, words) => {
                    described.push(json!([title, "<i4", count, false, words]));
                    body.extend_from_slice(bytes);
                }
            }
        }
        head.push(json!([name, described]));
    }
    if body.len() > MOST {
        return None;
    }
    let mut made = serde_json::to_vec(&head).ok()?;
    made.push(b'\n');
    stored(&body, &mut made);
    Some(made)
}

/// Appends a zlib stream of one stored block.
fn stored(body: &[u8], to: &mut Vec<u8>) {
    let length = body.len() as u16;
    // zlib header: deflate, 32 KiB window, fastest level. Then the header of the last block, type stored.
    to.extend_from_slice(&[0x78, 0x01, 0x01]);
    to.extend_from_slice(&length.to_le_bytes());
    to.extend_from_slice(&(!length).to_le_bytes());
    to.extend_from_slice(body);
    to.extend_from_slice(&adler32(body).to_be_bytes());
}

/// The checksum of a zlib stream: Adler-32.
fn adler32(bytes: &[u8]) -> u32 {
    let (mut low, mut high) = (1_u32, 0_u32);
    // With 5552 bytes per part, the sums still fit into 32 bits.
    for part in bytes.chunks(5552) {
        for byte in part {
            low += u32::from(*byte);
            high += low;
        }
        low %= 65_521;
        high %= 65_521;
    }
    (high << 16) | low
}
