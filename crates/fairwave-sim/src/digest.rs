//! Fingerprint of all results of a run, to compare runs without storing them.
//!
//! **Assumptions.** FNV-1a (Fowler, Noll, Vo) over the tables' JSON in a fixed order. Every number has its shortest
//! decimal form that reads back to the same bits. Every NaN becomes `null`, because the bits of a NaN depend on the
//! processor. The hash distinguishes results; it is not cryptographic. [`RunResult::events`] measures the cost of a
//! run and is not included.

use std::io::{self, Write};

use serde::Serialize;

use crate::result::{FlowRow, RunResult};

/// FNV-1a, 64 bits.
struct Fnv(u64);

/// Columns added to tables later, each with the value that leaves the digest unchanged; never the first column of a
/// table.
const LATER: [(&str, &str); 7] = [
    ("marked", "0"),
    ("duplicated", "0"),
    ("reordered", "0"),
    ("units_waiting", "0"),
    ("longest_gap_s", "null"),
    ("gaps", "null"),
    ("silence_s", "null"),
];

impl Fnv {
    fn update(&mut self, bytes: &[u8]) {
        self.0 = bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    }
}

impl Write for Fnv {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Removes the gap columns. Gaps follow from the units and the playout, like other, older columns.
fn remove_gaps(flows: &[FlowRow]) -> Vec<FlowRow> {
    let remove = |row: &FlowRow| FlowRow { longest_gap_s: None, gaps: None, silence_s: None, ..row.clone() };
    flows.iter().map(remove).collect()
}

impl RunResult {
    /// Returns sixteen hexadecimal digits over all tables. The digest is the same for the same scenario and seed on
    /// any machine, with any number of threads, in any build.
    ///
    /// # Errors
    /// Fails on a row that JSON cannot represent; no table has such rows.
    pub fn digest(&self) -> Result<String, serde_json::Error> {
        fn table<R: Serialize>(hash: &mut Fnv, name: &str, rows: &[R]) -> Result<(), serde_json::Error> {
            serde_json::to_writer(&mut *hash, name)?;
            serde_json::to_writer(hash, rows)
        }
        // Later columns leave the digest unchanged in rows with this value.
        fn grown<R: Serialize>(hash: &mut Fnv, name: &str, rows: &[R]) -> Result<(), serde_json::Error> {
            serde_json::to_writer(&mut *hash, name)?;
            let mut text = serde_json::to_string(rows)?;
            for (column, value) in LATER {
                for end in [",", "}"] {
                    text = text.replace(&format!(",\"{column}\":{value}{end}"), end);
                }
            }
            hash.update(text.as_bytes());
            Ok(())
        }
        // Explicit fields, so that the compiler reports a table that is missing here.
        let RunResult {
            flows,
            groups,
            // Sums of unit data in the other tables.
            fates: _,
            timeliness,
            playback,
            recovery,
            transfers,
            completions,
            conversations,
            round_trips,
            outcomes,
            sessions,
            media,
            media_transport,
            media_outbound,
            media_inbound,
            links,
            outages,
            classes,
            // Statistics as in `tc`; the other tables cover the queue's effects.
            tins: _,
            radio,
            service_classes,
            series,
            units,
            packet_hops: _,
            events: _,
        } = self;
        let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
        grown(&mut hash, "flows", &remove_gaps(flows))?;
        table(&mut hash, "groups", groups)?;
        table(&mut hash, "timeliness", timeliness)?;
        table(&mut hash, "playback", playback)?;
        table(&mut hash, "recovery", recovery)?;
        // Later tables leave the digest unchanged if they are empty.
        if !(transfers.is_empty() && completions.is_empty()) {
            table(&mut hash, "transfers", transfers)?;
            table(&mut hash, "completions", completions)?;
        }
        if !conversations.is_empty() {
            table(&mut hash, "conversations", conversations)?;
        }
        if !round_trips.is_empty() {
            table(&mut hash, "round_trips", round_trips)?;
        }
        if !outcomes.is_empty() {
            table(&mut hash, "outcomes", outcomes)?;
        }
        if !sessions.is_empty() {
            table(&mut hash, "sessions", sessions)?;
        }
        if !media.is_empty() {
            table(&mut hash, "media", media)?;
            table(&mut hash, "media_transport", media_transport)?;
            table(&mut hash, "media_outbound", media_outbound)?;
            table(&mut hash, "media_inbound", media_inbound)?;
        }
        grown(&mut hash, "links", links)?;
        // Without outages, the digest is the same as before the table existed.
        if !outages.is_empty() {
            table(&mut hash, "outages", outages)?;
        }
        grown(&mut hash, "classes", classes)?;
        if !radio.is_empty() {
            table(&mut hash, "radio", radio)?;
        }
        if !service_classes.is_empty() {
            table(&mut hash, "service_classes", service_classes)?;
        }
        table(&mut hash, "series", series)?;
        // The same for columns with default values: a unit that counts and has no place.
        serde_json::to_writer(&mut hash, "units")?;
        let text = serde_json::to_string(units)?;
        hash.update(text.replace(",\"place\":\"\",\"counted\":1", "").as_bytes());
        Ok(format!("{:016x}", hash.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::UnitRow;

    fn unit(arrived_s: f64) -> RunResult {
        let row = UnitRow {
            flow: "call[0]".to_owned(),
            unit: 0,
            created_s: 0.0,
            arrived_s: Some(arrived_s),
            payload: 160,
            fate: "",
            place: Default::default(),
            counted: 1,
            played_s: Some(0.0),
        };
        RunResult { units: vec![row], ..RunResult::default() }
    }

    #[test]
    fn the_last_bit_of_a_number_counts() {
        let digest = |value: f64| unit(value).digest().expect("a digest");
        assert_ne!(digest(0.1), digest(0.1_f64.next_up()));
        assert_eq!(digest(f64::NAN), digest(-f64::NAN));
        let never = {
            let mut result = unit(0.1);
            result.units[0].arrived_s = None;
            result.digest().expect("a digest")
        };
        assert_eq!(never, digest(f64::NAN), "what is not there and what is not a number are null");
    }

    #[test]
    fn a_column_that_came_later_leaves_a_trace_only_where_it_is_not_zero() {
        let classes = |marked| {
            let mut counted = crate::classes::ClassRow {
                link: "a>b\",\"marked\":0,".to_owned(),
                class: "tcp",
                arrivals: 0,
                wire_arrived: 0,
                served: 0,
                wire_served: 0,
                dropped_overflow: 0,
                dropped_early: 0,
                wire_dropped: 0,
                lost: 0,
                waiting: 0,
                mean_wait_s: Some(0.0),
                marked,
            };
            let with = RunResult { classes: vec![counted.clone()], ..RunResult::default() };
            counted.link = "a>b".to_owned();
            let without = RunResult { classes: vec![counted], ..RunResult::default() };
            (with.digest().expect("a digest"), without.digest().expect("a digest"))
        };
        assert_ne!(classes(0).1, classes(1).1);
        assert_ne!(classes(0).0, classes(0).1, "a name that looks like one is a name");
        // Digest from before the column was added.
        assert_eq!(classes(0).1, "a568aa7dd9e4e4c2");
    }

    #[test]
    fn the_digest_ignores_the_cost_of_a_run() {
        let dear = RunResult { events: 7, ..unit(0.1) };
        assert_eq!(dear.digest().expect("a digest"), unit(0.1).digest().expect("a digest"));
    }
}
