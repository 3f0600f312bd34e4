//! ITU-T G.711 codec: eight bits per sample, 64 kb/s, µ law or A law.
//!
//! A code has a sign, a segment of three bits, and a position in the segment of four bits. The steps of each segment
//! are twice as wide as in the previous one. Decoded values are from tables 1 (A law) and 2 (µ law), column 8, on the
//! 16-bit scale.
//!
//! **Deviation.** A sample gets the code with the nearest value, on a scale of 14 bits: decision values are halfway
//! between two decoded values. For A law, whose tables have 13 bits, samples halfway between two values of that scale
//! may fall on the other side. libavcodec's encoders do the same.

use serde::{Deserialize, Serialize};

/// Companding law.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Law {
    /// µ law: North America, Japan.
    #[default]
    U,
    /// A law: elsewhere.
    A,
}

/// Returns the XOR mask between the magnitudes 0 to 127 and transmitted positive codes: µ law inverts all bits, A law
/// the even ones.
const fn mask(law: Law) -> u8 {
    match law {
        Law::U => 0xff,
        Law::A => 0xd5,
    }
}

/// Returns the value of a magnitude on the 16-bit scale.
const fn value(law: Law, magnitude: u8) -> i32 {
    let (segment, place) = ((magnitude >> 4) as i32, (magnitude & 0xf) as i32);
    match (law, segment) {
        (Law::U, _) => (((2 * place + 33) << segment) - 33) * 4,
        (Law::A, 0) => (2 * place + 1) * 8,
        (Law::A, _) => (2 * place + 33) << (segment + 2),
    }
}

/// Returns the lower bound of the next code, on the 14-bit scale, for each magnitude except the last.
const fn decisions(law: Law) -> [i32; 127] {
    let mut found = [0; 127];
    let mut magnitude = 0;
    while magnitude < 127 {
        found[magnitude] = (value(law, magnitude as u8) + value(law, magnitude as u8 + 1) + 4) >> 3;
        magnitude += 1;
    }
    found
}

const DECISIONS: [[i32; 127]; 2] = [decisions(Law::U), decisions(Law::A)];

impl Law {
    /// Returns the code of a sample.
    pub fn encode(self, sample: i16) -> u8 {
        let scaled = i32::from(sample >> 2);
        // The most negative value has no positive counterpart.
        let size = scaled.abs().min(8191);
        let magnitude = match size {
            0 => 0,
            _ => DECISIONS[self as usize].partition_point(|decision| *decision <= size) as u8,
        };
        let sign = if scaled < 0 { 0x80 } else { 0 };
        magnitude ^ mask(self) ^ sign
    }

    /// Returns the sample for a code.
    pub fn decode(self, code: u8) -> i16 {
        let plain = code ^ mask(self);
        let value = value(self, plain & 0x7f) as i16;
        if plain & 0x80 == 0 { value } else { -value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decoded_values_are_those_of_the_tables() {
        // G.711 table 2a/2b, y of decoder outputs 0, 1, 16, 112 and 127, times 4.
        let mu = [(0xff, 0), (0xfe, 8), (0xef, 132), (0x8f, 16764), (0x80, 32124), (0x00, -32124), (0x7e, -8)];
        assert_eq!(mu.map(|(code, _)| (code, Law::U.decode(code))), mu);
        // Table 1a/1b, decoder outputs 1, 2, 17, 33, 128, times 8; even bits inverted.
        let a = [(0xd5, 8), (0xd4, 24), (0xc5, 264), (0xf5, 528), (0xaa, 32256), (0x2a, -32256), (0x55, -8)];
        assert_eq!(a.map(|(code, _)| (code, Law::A.decode(code))), a);
    }

    #[test]
    fn a_decoded_value_is_coded_as_itself() {
        for law in [Law::U, Law::A] {
            for code in 0..=255 {
                // µ law has two codes for zero; the positive one is sent.
                let expected = if law == Law::U && code == 0x7f { 0xff } else { code };
                assert_eq!(law.encode(law.decode(code)), expected, "{law:?} {code:#x}");
            }
        }
    }

    #[test]
    fn a_sample_gets_the_code_whose_value_is_nearest() {
        for law in [Law::U, Law::A] {
            let mut values: Vec<i32> = (0..=255).map(|code| i32::from(law.decode(code))).collect();
            values.sort_unstable();
            for sample in i16::MIN..=i16::MAX {
                let exact = i32::from(sample);
                let error = (i32::from(law.decode(law.encode(sample))) - exact).abs();
                let above = values.partition_point(|value| *value < exact);
                let near =
                    [above.checked_sub(1), Some(above)].into_iter().flatten().filter_map(|place| values.get(place));
                let nearest = near.map(|value| (value - exact).abs()).min().expect("there are values");
                // A scale of 14 bits has an error of up to 4, and so does the compared value.
                assert!(error <= nearest + 8, "{law:?} {sample}: {error}, nearest {nearest}");
            }
        }
    }
}
