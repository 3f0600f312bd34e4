//! Rayleigh fading: the sum of sinusoids by Zheng and Xiao 2003 ("Simulation models with correct statistical properties for
//! Rayleigh fading channels", IEEE Transactions on Communications 51(6), eq. 6 to 8). It is a function of time: it does
//! not depend on the traffic.

use fairwave_units::random::Stream;

/// Sinusoids per quadrature component.
pub(super) const PATHS: usize = 12;

/// A fading channel.
pub(super) struct Fading {
    /// Angular frequencies and phases of both components.
    pub paths: [[(f64, f64); PATHS]; 2],
}

impl Fading {
    /// Returns a channel with this Doppler frequency, Hz.
    pub fn new(doppler: f64, stream: &mut Stream) -> Self {
        let turn = 2.0 * std::f64::consts::PI;
        let (angular, theta) = (turn * doppler, turn * stream.uniform() - std::f64::consts::PI);
        let [mut in_phase, mut quadrature] = [[(0.0, 0.0); PATHS]; 2];
        for (place, (cosine, sine)) in in_phase.iter_mut().zip(&mut quadrature).enumerate() {
            let arrival = (turn * (place + 1) as f64 - std::f64::consts::PI + theta) / (4.0 * PATHS as f64);
            *cosine = (angular * libm::cos(arrival), turn * stream.uniform());
            *sine = (angular * libm::sin(arrival), turn * stream.uniform());
        }
        Fading { paths: [in_phase, quadrature] }
    }

    /// Power at time `at` (s), relative to its mean.
    pub fn power(&self, at: f64) -> f64 {
        let component = |paths: &[(f64, f64); PATHS]| {
            let sum: f64 = paths.iter().map(|(angular, phase)| libm::cos(angular * at + phase)).sum();
            sum * sum
        };
        self.paths.iter().map(component).sum::<f64>() / PATHS as f64
    }
}
