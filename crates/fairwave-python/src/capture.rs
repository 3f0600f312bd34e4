//! Packet captures, loss patterns, qlog and the path of a packet: one run with observers.

use std::path::PathBuf;

use fairwave_core::random::Seed;
use fairwave_core::transport::Properties;
use fairwave_scenario::plan::Plan;
use fairwave_scenario::tap::{self, Tap};
use fairwave_sim::Run;
use fairwave_sim::capture::{Capture, CaptureRequest, CaptureSummary};
use fairwave_sim::packet_path::{self, PathError};
use fairwave_sim::qlog::Qlog;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;

use crate::RunError;
use crate::scenario::{Scenario, refused};

/// A file: path, number of packets, number of lost packets.
type File = (PathBuf, u64, u64);

/// Makes one run and writes captures and loss patterns. Both arguments list capture points with their files. Returns the run's
/// digest and, for each file, its path, its packets, and a pattern's number of lost packets.
#[pyfunction]
#[pyo3(signature = (scenario, seed, captures, patterns, payload = false, speech = Vec::new(), sip = true))]
#[allow(clippy::needless_pass_by_value, clippy::too_many_arguments)] // PyO3 passes owned values
pub fn capture(
    py: Python<'_>,
    scenario: PyRef<'_, Scenario>,
    seed: u64,
    captures: Vec<(String, PathBuf)>,
    patterns: Vec<(String, PathBuf)>,
    payload: bool,
    speech: Vec<u8>,
    sip: bool,
) -> PyResult<(String, Vec<File>)> {
    let plan = scenario.inner().plan(Seed(seed)).map_err(|error| refused(&error))?;
    let wanted = CaptureRequest { payload, speech, without_sip: !sip, ..wanted(&plan, &captures, &patterns)? };
    let unwritten =
        |(path, error): (PathBuf, std::io::Error)| PyOSError::new_err(format!("{}: {error}", path.display()));
    py.detach(|| {
        let mut probe = Capture::new(&plan, &wanted).map_err(unwritten)?;
        let result = Run::new(&plan)
            .probe(&mut probe)
            .execute()
            .map_err(|error| RunError::new_err(format!("{}, seed {seed}: {error}", plan.name)))?;
        let digest = result.digest().map_err(|error| RunError::new_err(error.to_string()))?;
        let written = probe.finish().map_err(unwritten)?;
        Ok((digest, written.into_iter().map(|CaptureSummary { path, packets, lost }| (path, packets, lost)).collect()))
    })
}

/// Makes one run and writes the senders' events as qlog, one file per flow in the folder. Select `flows` as `flow:NAME[0]`,
/// `flow:NAME` for the only flow of a group, or `flow:*`. Returns the run's digest and, for each file, its path and number of
/// events.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // PyO3 passes owned values
pub fn qlog(
    py: Python<'_>,
    scenario: PyRef<'_, Scenario>,
    seed: u64,
    flows: Vec<String>,
    folder: PathBuf,
) -> PyResult<(String, Vec<(PathBuf, u64)>)> {
    let plan = scenario.inner().plan(Seed(seed)).map_err(|error| refused(&error))?;
    let mut chosen = Vec::new();
    for text in &flows {
        let (taps, _) = tap::parse(text, &plan).map_err(PyValueError::new_err)?;
        chosen.extend(taps.into_iter().filter_map(|tap| if let Tap::Flow(flow) = tap { Some(flow) } else { None }));
    }
    let unwritten =
        |(path, error): (PathBuf, std::io::Error)| PyOSError::new_err(format!("{}: {error}", path.display()));
    py.detach(|| {
        let mut probe = Qlog::new(&plan, &chosen, &folder).map_err(unwritten)?;
        let result = Run::new(&plan)
            .probe(&mut probe)
            .execute()
            .map_err(|error| RunError::new_err(format!("{}, seed {seed}: {error}", plan.name)))?;
        let digest = result.digest().map_err(|error| RunError::new_err(error.to_string()))?;
        let written = probe.finish().map_err(unwritten)?;
        Ok((digest, written.into_iter().map(|CaptureSummary { path, packets, .. }| (path, packets)).collect()))
    })
}

/// Makes one run and returns the path of a packet as JSON. Select `flow` as `NAME[0]`, or `NAME` for the first flow of a group.
/// `packet` counts the flow's data packets from 1.
#[pyfunction]
#[pyo3(signature = (scenario, seed, flow = None, packet = None))]
pub fn trace_packet(
    py: Python<'_>,
    scenario: PyRef<'_, Scenario>,
    seed: u64,
    flow: Option<&str>,
    packet: Option<u64>,
) -> PyResult<String> {
    let plan = scenario.inner().plan(Seed(seed)).map_err(|error| refused(&error))?;
    let flow = flow
        .map(|name| match tap::parse(&format!("flow:{name}"), &plan)?.0.as_slice() {
            [Tap::Flow(flow)] => Ok(*flow),
            _ => Err(format!("`{name}` names several flows; write one, for example `{}`", plan.flows[0].name)),
        })
        .transpose()
        .map_err(PyValueError::new_err)?;
    let path = py.detach(|| packet_path::trace_packet(&plan, flow, packet)).map_err(|error| match error {
        PathError::Run(error) => RunError::new_err(format!("{}, seed {seed}: {error}", plan.name)),
        error => PyValueError::new_err(error.to_string()),
    })?;
    serde_json::to_string(&path).map_err(|error| RunError::new_err(error.to_string()))
}

/// Rejects invalid capture points before a run.
#[pyfunction]
#[allow(clippy::needless_pass_by_value)] // PyO3 passes owned values
pub fn check_capture(
    scenario: PyRef<'_, Scenario>,
    seed: u64,
    captures: Vec<(String, PathBuf)>,
    patterns: Vec<(String, PathBuf)>,
) -> PyResult<()> {
    let plan = scenario.inner().plan(Seed(seed)).map_err(|error| refused(&error))?;
    wanted(&plan, &captures, &patterns).map(|_| ())
}

/// The capture request, with indices of the plan.
fn wanted(plan: &Plan, captures: &[(String, PathBuf)], patterns: &[(String, PathBuf)]) -> PyResult<CaptureRequest> {
    let taps = |wanted: &[(String, PathBuf)]| -> PyResult<Vec<(Tap, PathBuf)>> {
        let mut found = Vec::new();
        for (text, path) in wanted {
            let (taps, _) = tap::parse(text, plan).map_err(PyValueError::new_err)?;
            found.extend(taps.into_iter().map(|tap| (tap, path.clone())));
        }
        Ok(found)
    };
    let wanted = CaptureRequest { captures: taps(captures)?, patterns: taps(patterns)?, ..CaptureRequest::default() };
    for (tap, _) in &wanted.captures {
        if let Tap::Flow(flow) = *tap {
            let flow = &plan.flows[flow];
            return Err(PyValueError::new_err(format!(
                "packets are captured at links and hosts, not of flows; for `{}` write `host:{}`, which sends it",
                flow.name, plan.nodes[flow.from]
            )));
        }
    }
    for (tap, _) in &wanted.patterns {
        let numbered = match *tap {
            Tap::Link(_) => Ok(()),
            Tap::Flow(flow) if plan.flows[flow].transport.tcp().is_some() => Err(format!(
                "`{}` goes over {}, which numbers segments, not packets; take the pattern of a link: `link:FROM>TO`",
                plan.flows[flow].name,
                plan.flows[flow].transport.name()
            )),
            Tap::Flow(_) => Ok(()),
            _ => Err("patterns are of links and of flows; write `link:FROM>TO` or `flow:NAME[0]`".to_owned()),
        };
        numbered.map_err(PyValueError::new_err)?;
    }
    Ok(wanted)
}
