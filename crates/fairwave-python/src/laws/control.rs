//! Controllers written in Python.

use fairwave_core::config::ConfigError;
use fairwave_core::random::Stream;
use fairwave_core::registry::Checked;
use fairwave_core::transport::Estimate;
use fairwave_core::transport::preset::Preset;
use fairwave_core::transport::tcp::Recovery;
use fairwave_core::transport::tcp::control::{AnyControlLaw, Controller, Marks, Path, RateSample, Verdict, Window};
use pyo3::IntoPyObject;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::law::{Instance, Law, LawFault, Method};
use super::py_types;
use super::random::Random;

impl Checked for Law {
    fn check(&self) -> Result<(), ConfigError> {
        Law::check(self)
    }
}

impl AnyControlLaw for Law {
    fn recovery(&self) -> Recovery {
        self.description().recovery.unwrap_or(Recovery::Sack)
    }

    fn waves(&self) -> bool {
        self.description().waves
    }

    fn samples(&self) -> bool {
        self.has("on_sample")
    }

    fn marks(&self) -> Marks {
        self.description().marks
    }

    fn paces(&self) -> bool {
        self.has("pacing")
    }

    fn controller(&self, preset: Preset, stream: Stream) -> Box<dyn Controller> {
        let instance = self.instance(Some(Random::from_stream(Some(stream))));
        let name = match preset {
            Preset::Rfc => "rfc",
            Preset::Linux => "linux",
            Preset::Ns2 => "ns2",
            Preset::Ns2Of2004 => "ns2-2004",
        };
        instance.begin(self, None, |py| (name,).into_pyobject(py));
        let window = instance.ask("__init__", None, None, |py| {
            Ok(Some(Py::new(py, py_types::Window { congestion: 1.0, threshold: 1.0 })?))
        });
        let method = |name| instance.method(self, name);
        let [on_ack, on_other_ack, on_loss, on_mark, on_sample, on_recovered] =
            ["on_ack", "on_other_ack", "on_loss", "on_mark", "on_sample", "on_recovered"].map(method);
        let [pacing, on_timeout, on_restart, estimate] = ["pacing", "on_timeout", "on_restart", "estimate"].map(method);
        Box::new(Control {
            window,
            on_ack,
            on_other_ack,
            on_loss,
            on_mark,
            on_sample,
            on_recovered,
            pacing,
            on_timeout,
            on_restart,
            estimate,
            instance,
        })
    }

    fn shown(&self) -> Option<String> {
        None
    }
}

struct Control {
    instance: Instance,
    window: Option<Py<py_types::Window>>,
    on_ack: Method,
    on_other_ack: Method,
    on_loss: Method,
    on_mark: Method,
    on_sample: Method,
    on_recovered: Method,
    pacing: Method,
    on_timeout: Method,
    on_restart: Method,
    estimate: Method,
}

/// A window below one segment would stop the sender for good.
const LEAST_WINDOW: f64 = 1.0;

impl Control {
    /// Calls a method of the law, and copies the law's window back.
    #[inline]
    fn tell(&self, name: &'static str, method: &Method, path: &Path, window: &mut Window) -> Verdict {
        self.tell_with(name, method, path, window, |_, method, own| {
            verdict(&method.call1((py_types::Path::from_core(path), own))?)
        })
    }

    /// Like `tell`, with the call made by `call`.
    fn tell_with(
        &self,
        name: &'static str,
        method: &Method,
        path: &Path,
        window: &mut Window,
        call: impl Fn(Python<'_>, &Bound<'_, PyAny>, &Bound<'_, py_types::Window>) -> Result<Verdict, LawFault>,
    ) -> Verdict {
        let (Some(method), Some(own)) = (method, &self.window) else { return Verdict::Congestion };
        self.instance.ask(name, Some(path.now), Verdict::Congestion, |py| {
            let own = own.bind(py);
            {
                let mut own = own.try_borrow_mut().map_err(PyErr::from)?;
                (own.congestion, own.threshold) = (window.congestion, window.threshold);
            }
            let verdict = call(py, method.bind(py), own)?;
            let own = own.try_borrow().map_err(PyErr::from)?;
            let (congestion, threshold) = (own.congestion, own.threshold);
            if !(congestion.is_finite() && congestion >= LEAST_WINDOW) {
                return Err(LawFault::Answer(format!(
                    "`window.congestion` is {congestion}, but must be a finite number of segments, {LEAST_WINDOW} or more; \
                     write for example `window.congestion = max(1.0, …)`"
                )));
            }
            if !(threshold.is_finite() && threshold >= 0.0) {
                return Err(LawFault::Answer(format!(
                    "`window.threshold` is {threshold}, but must be a finite number of segments, 0 or more; write for \
                     example `window.threshold = max(2.0, …)`"
                )));
            }
            *window = Window { congestion, threshold };
            Ok(verdict)
        })
    }
}

fn verdict(answer: &Bound<'_, PyAny>) -> Result<Verdict, LawFault> {
    if answer.is_none() {
        return Ok(Verdict::Congestion);
    }
    match answer.cast::<PyString>().ok().and_then(|text| text.to_str().ok()) {
        Some("congestion") => Ok(Verdict::Congestion),
        Some("random") => Ok(Verdict::Random),
        _ => Err(LawFault::Answer(format!(
            "it answered {answer:?}, but must answer \"congestion\", \"random\" or nothing, which stands for congestion"
        ))),
    }
}

impl Controller for Control {
    fn on_ack(&mut self, path: &Path, window: &mut Window) {
        self.tell("on_ack", &self.on_ack, path, window);
    }

    fn on_other_ack(&mut self, path: &Path, window: &mut Window) {
        self.tell("on_other_ack", &self.on_other_ack, path, window);
    }

    fn on_loss(&mut self, path: &Path, window: &mut Window) -> Verdict {
        self.tell("on_loss", &self.on_loss, path, window)
    }

    fn on_mark(&mut self, path: &Path, window: &mut Window) {
        match &self.on_mark {
            Some(_) => self.tell("on_mark", &self.on_mark, path, window),
            // A mark counts as a loss unless the law defines `on_mark`.
            None => self.tell("on_loss", &self.on_loss, path, window),
        };
    }

    fn on_sample(&mut self, path: &Path, sample: &RateSample, window: &mut Window) {
        self.tell_with("on_sample", &self.on_sample, path, window, |_, method, own| {
            verdict(&method.call1((py_types::Path::from_core(path), py_types::RateSample::from_core(sample), own))?)
        });
    }

    fn on_recovered(&mut self, path: &Path, window: &mut Window) {
        self.tell("on_recovered", &self.on_recovered, path, window);
    }

    fn pacing(&self, path: &Path, window: &Window) -> f64 {
        let (Some(method), Some(own)) = (&self.pacing, &self.window) else { return f64::INFINITY };
        self.instance.ask("pacing", Some(path.now), f64::INFINITY, |py| {
            let own = own.bind(py);
            {
                let mut own = own.try_borrow_mut().map_err(PyErr::from)?;
                (own.congestion, own.threshold) = (window.congestion, window.threshold);
            }
            let rate: f64 = method.bind(py).call1((py_types::Path::from_core(path), own))?.extract()?;
            if rate.is_nan() || rate <= 0.0 {
                return Err(LawFault::Answer(format!(
                    "it answered {rate}, but must answer segments per second above 0, or `math.inf` for no pacing; write for \
                     example `return 1.2 * window.congestion / path.rtt if path.rtt else math.inf`"
                )));
            }
            Ok(rate)
        })
    }

    fn on_timeout(&mut self, path: &Path, window: &mut Window) -> Verdict {
        self.tell("on_timeout", &self.on_timeout, path, window)
    }

    fn on_restart(&mut self, path: &Path, window: &mut Window) {
        self.tell("on_restart", &self.on_restart, path, window);
    }

    fn estimate(&self) -> Option<Estimate> {
        let method = self.estimate.as_ref()?;
        let value: f64 = self.instance.ask("estimate", None, f64::NAN, |py| Ok(method.bind(py).call0()?.extract()?));
        (!value.is_nan()).then_some(Estimate::Custom(value))
    }
}
