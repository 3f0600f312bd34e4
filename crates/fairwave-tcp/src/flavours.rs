//! The built-in controllers with their defaults, by short names for the tests of connections.

use std::sync::Arc;

use super::control::{self, Control, ControlLaw, controllers};
use super::{Needs, TcpConfig, TcpParameters, TcpReceiver, TcpSender};
use fairwave_endpoint::FlowContext;
use fairwave_endpoint::preset::Preset;
use fairwave_units::config::ConfigError;
use fairwave_units::random::Stream;

macro_rules! flavours {
    (() $($file:ident { $($Variant:ident($Config:ident)),+ $(,)? })+) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(super) enum Flavour {
            $($($Variant,)+)+
        }

        impl Flavour {
            pub const ALL: &[Flavour] = &[$($(Flavour::$Variant),+),+];

            pub fn needs(self) -> Needs {
                match self {
                    $($(Flavour::$Variant => Needs::from_law::<control::$Config>(),)+)+
                }
            }

            pub fn control(self, config: &TcpConfig) -> Control {
                match self {
                    $($(Flavour::$Variant => {
                        Control::$Variant(control::$Config::default().controller(config.preset))
                    })+)+
                }
            }
        }

        impl TcpConfig {
            pub(super) fn parameters(&self, flavour: Flavour) -> TcpParameters {
                self.parameters_with(flavour.needs())
            }
        }
    };
}

controllers! { flavours! () }

impl TcpConfig {
    /// The preset of the RFCs, for tests of protocol arithmetic: it has small numbers.
    pub(crate) fn rfc() -> TcpConfig {
        TcpConfig { preset: Preset::Rfc, ..TcpConfig::default() }
    }

    pub(super) fn endpoints(
        &self,
        flavour: Flavour,
        context: FlowContext,
        stream: Stream,
    ) -> Result<(TcpSender, TcpReceiver), ConfigError> {
        self.endpoints_with(flavour, flavour.control(self), context, stream)
    }

    pub(super) fn endpoints_with(
        &self,
        flavour: Flavour,
        control: Control,
        context: FlowContext,
        stream: Stream,
    ) -> Result<(TcpSender, TcpReceiver), ConfigError> {
        self.check_with(flavour.needs())?;
        let parameters = Arc::new(self.parameters(flavour));
        let receiver = TcpReceiver::new(context, &parameters);
        Ok((TcpSender::new(context, parameters, control, stream), receiver))
    }
}
