//! The audio of a call of a scenario, for speech that the page sends.

use fairwave_core::quality::playout::SpokenUnit;
use fairwave_core::speech::call::heard;
use fairwave_core::speech::g711::Law;
use fairwave_core::units::{Instant, Span};
use fairwave_scenario::plan::Plan;

use fairwave_sim::{Run, UnitRow};
use serde_json::{Value, json};

/// Runs the plan and renders a call: the call `flow`, or the first. `sound` and the result hold linear samples, 16 bits,
/// little-endian, 8000 per second.
pub fn render_call(
    mut plan: Plan,
    flow: Option<&str>,
    law: Law,
    conceals: bool,
    sound: &[u8],
) -> Result<(Value, Vec<u8>), String> {
    let is_wanted = |candidate: &fairwave_scenario::plan::FlowPlan| {
        candidate.traffic.call().is_some() && flow.is_none_or(|name| candidate.name == name)
    };
    let Some(index) = plan.flows.iter().position(is_wanted) else {
        return Err(match flow {
            Some(name) => format!("there is no call `{name}`"),
            None => "this scenario has no call: add a flow with `traffic = \"voice\"`".to_owned(),
        });
    };
    let (pairs, rest) = sound.as_chunks::<2>();
    if pairs.is_empty() || !rest.is_empty() {
        return Err("the speech is empty or has half a sample: send at least one sample, 16 bits each".to_owned());
    }
    let speech: Vec<i16> = pairs.iter().map(|pair| i16::from_le_bytes(*pair)).collect();
    plan.record.units = vec![index];
    let result = Run::new(&plan).execute().map_err(|error| error.to_string())?;
    let call = &plan.flows[index];
    let Some((_, packet_time)) = call.traffic.call() else { return Err(format!("`{}` is no call", call.name)) };
    let instant = |seconds: f64| Instant::ZERO + Span::from_nanos((seconds * 1e9).round() as u64);
    let of_call = result.units.iter().filter(|row| row.flow == call.name && row.counted == 1);
    let spoken = |row: &UnitRow| SpokenUnit {
        created: instant(row.created_s),
        arrived: row.arrived_s.map_or(Instant::NEVER, instant),
    };
    let units: Vec<SpokenUnit> = of_call.map(spoken).collect();
    let found = heard(&units, packet_time, &call.playout, &speech, law, conceals);
    if found.samples.is_empty() {
        return Err(format!(
            "`{}` has no audio: no packet arrived, or the speech is shorter than one packet",
            call.name
        ));
    }
    let row = result.flows.get(index);
    let answer = json!({
        "ok": true,
        "flow": call.name,
        "packet_s": packet_time.seconds(),
        "position": found.position,
        "played": found.played.iter().filter(|played| **played).count(),
        "units": units.len(),
        "mos": row.map(|row| row.mos),
        "mouth_to_ear_s": row.map(|row| row.mouth_to_ear_s),
    });
    Ok((answer, found.samples.iter().flat_map(|sample| sample.to_le_bytes()).collect()))
}
