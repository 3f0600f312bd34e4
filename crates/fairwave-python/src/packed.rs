//! The tables of a run as bytes, as a folder keeps them: the layout of `fairwave.runs.runs_file`.
//!
//! A line of JSON describes the columns; their memory follows as one zlib stream. Small tables are stored in that
//! stream as they are, because to compress them costs more than to simulate a short run. Large
//! tables are left to Python, which compresses them.

use serde_json::{Value, json};

use crate::batch::Tables;
use crate::columns::{Column, rows};

/// Bytes of a stored block at most: its length has 16 bits.
const MOST: usize = 0xffff;

/// The tables as bytes; none if they are large, or cannot be written.
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
                    // NumPy packs bits from the highest of a byte on, Arrow from the lowest.
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
    // Deflate with a window of 32 KiB, fastest; the last block, stored.
    to.extend_from_slice(&[0x78, 0x01, 0x01]);
    to.extend_from_slice(&length.to_le_bytes());
    to.extend_from_slice(&(!length).to_le_bytes());
    to.extend_from_slice(body);
    to.extend_from_slice(&adler32(body).to_be_bytes());
}

/// The checksum of a zlib stream: Adler-32.
fn adler32(bytes: &[u8]) -> u32 {
    let (mut low, mut high) = (1_u32, 0_u32);
    // 5552 bytes are the most whose sums fit into 32 bits.
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
