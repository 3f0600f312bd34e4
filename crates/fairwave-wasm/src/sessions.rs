//! Media sessions: means per group, and the group's first session over time.

use std::collections::BTreeMap;

use fairwave_sim::RunResult;
use fairwave_sim::media_rows::MediaRow;
use serde_json::{Value, json};

/// Maximum number of sessions over time in a reply.
const MOST_SESSIONS: usize = 8;

/// The mean of the values present. `None` without any.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let (count, sum) = values.flatten().fold((0u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    (count > 0).then(|| sum / f64::from(count))
}

/// The largest of the values present. `None` without any.
fn largest(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    values.flatten().reduce(f64::max)
}

/// The mean over sessions of the worst stream's score, as in the measure `session_mos`. A stream without arrivals counts as 1. Of
/// simulcast encodings, the best counts.
fn worst(rows: &[&MediaRow]) -> Option<f64> {
    let mut sessions: BTreeMap<u32, BTreeMap<&str, f64>> = BTreeMap::new();
    for row in rows {
        let best = sessions.entry(row.flow).or_default().entry(row.stream).or_insert(1.0);
        *best = best.max(row.mos.unwrap_or(1.0));
    }
    mean(sessions.values().map(|streams| streams.values().copied().reduce(f64::min)))
}

/// Means of each group of media sessions, in the order of the results.
pub fn groups(media: &[MediaRow]) -> Vec<Value> {
    let mut names: Vec<&str> = Vec::new();
    for row in media {
        if !names.contains(&row.group.as_str()) {
            names.push(&row.group);
        }
    }
    let one = |name: &str| {
        let rows: Vec<&MediaRow> = media.iter().filter(|row| row.group == name).collect();
        let audio =
            |of: fn(&MediaRow) -> Option<f64>| mean(rows.iter().filter(|row| row.stream == "audio").map(|row| of(row)));
        let video =
            |of: fn(&MediaRow) -> Option<f64>| mean(rows.iter().filter(|row| row.stream != "audio").map(|row| of(row)));
        let mut flows: Vec<u32> = rows.iter().map(|row| row.flow).collect();
        flows.dedup();
        json!({
            "group": name,
            "sessions": flows.len(),
            "mos": worst(&rows),
            "audio_mos": audio(|row| row.mos),
            "video_mos": video(|row| row.mos),
            "audio_delay_s": audio(|row| row.delay_s),
            "video_delay_s": video(|row| row.delay_s),
            "concealed_ratio": audio(|row| row.concealed_ratio),
            "longest_gap_s": largest(rows.iter().map(|row| row.longest_gap_s)),
            "longest_freeze_s": largest(rows.iter().map(|row| row.longest_freeze_s)),
            "freezes": video(|row| row.freezes),
            "freeze_ratio": video(|row| row.freeze_ratio),
            "frame_rate": video(|row| row.frame_rate),
            "height": video(|row| row.height),
        })
    };
    names.into_iter().map(one).collect()
}

/// The first session of each group, once per second: its controller's estimate, the rate for the encoders, and per video stream the
/// height of the picture and the freeze duration within the second.
pub fn series(result: &RunResult) -> Vec<Value> {
    let mut names: Vec<&str> = Vec::new();
    for row in result.media_transport.iter().filter(|row| row.flow == 0) {
        if names.len() < MOST_SESSIONS && !names.contains(&row.group.as_str()) {
            names.push(&row.group);
        }
    }
    let one = |name: &str| {
        let transport: Vec<_> =
            result.media_transport.iter().filter(|row| row.flow == 0 && row.group == name).collect();
        let mut streams: Vec<&str> = Vec::new();
        let pictures: Vec<_> = result
            .media_inbound
            .iter()
            .filter(|row| row.flow == 0 && row.group == name && row.stream != "audio")
            .collect();
        for row in &pictures {
            if !streams.contains(&row.stream) {
                streams.push(row.stream);
            }
        }
        let of_stream = |stream: &&str| {
            let mut frozen_before = 0.0;
            let (mut times, mut heights, mut frozen) = (Vec::new(), Vec::new(), Vec::new());
            for row in pictures.iter().filter(|row| row.stream == *stream) {
                // Encodings of one stream have rows with the same time. The largest picture is shown.
                if times.last() == Some(&row.time_s) {
                    if let Some(height) = heights.last_mut() {
                        *height = row.frame_height.max(*height);
                    }
                    continue;
                }
                times.push(row.time_s);
                heights.push(row.frame_height);
                frozen.push((row.total_freezes_duration_s - frozen_before).max(0.0));
                frozen_before = row.total_freezes_duration_s;
            }
            json!({ "stream": stream, "time_s": times, "height": heights, "frozen_s": frozen })
        };
        json!({
            "group": name,
            "time_s": transport.iter().map(|row| row.time_s).collect::<Vec<_>>(),
            "available_bps": transport.iter().map(|row| row.available_bps.round()).collect::<Vec<_>>(),
            "target_bps": transport.iter().map(|row| row.target_bps).collect::<Vec<_>>(),
            "pictures": streams.iter().map(of_stream).collect::<Vec<_>>(),
        })
    };
    names.into_iter().map(one).collect()
}
