//! Thin Python bindings. Scenarios cross as text, results as columns in Arrow's layout. Python builds tables from the columns.

mod batch;
mod capture;
mod columns;
mod decodable;
mod gym;
mod laws;
mod live;
mod names;
mod packed;
mod playout;
mod quality;
mod scenario;
mod speech;

use pyo3::create_exception;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// Faster than the platform's allocator for many flows and for many short runs. Uses huge pages for large allocations.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

create_exception!(fairwave, ScenarioError, PyValueError, "A scenario cannot be used; the message says where and why.");
create_exception!(fairwave, RunError, PyRuntimeError, "A run was refused, or broke an invariant of the simulator.");

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::batch::Batch;
    #[pymodule_export]
    use super::capture::{capture, check_capture, qlog, trace_packet};
    #[pymodule_export]
    use super::decodable::decodable_layers;
    #[pymodule_export]
    use super::gym::Episodes;
    #[pymodule_export]
    use super::laws::{
        Arrival, Buffer, MediaFeedback, MediaPacket, Packet, Path, Place, Random, RateSample, Unit, Window, end_runs,
        note_fork, register_law,
    };
    #[pymodule_export]
    use super::live::{live, live_alone, live_order};
    #[pymodule_export]
    use super::names::{access_networks, foreign_words, group_measures, instead, names};
    #[pymodule_export]
    use super::playout::play;
    #[pymodule_export]
    use super::quality::{codecs, opus_factors, simplified_quality};
    #[pymodule_export]
    use super::scenario::Scenario;
    #[pymodule_export]
    use super::speech::{conceal, g711, pitch_period, stretch, stretched_period};
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // Once per process. If the module is initialised again, the laws are already registered.
        let _ = fairwave_live::register_all();
        let _ = fairwave_stacks::register_all();
        module.add("ScenarioError", module.py().get_type::<super::ScenarioError>())?;
        module.add("RunError", module.py().get_type::<super::RunError>())?;
        module.add("language", fairwave_scenario::version::LANGUAGE.to_string())?;
        module.add("version", env!("CARGO_PKG_VERSION"))
    }
}
