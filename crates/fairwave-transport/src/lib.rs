#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! The transports that scenarios name: configuration, names, schema and endpoints of all transports
//! ([`TransportConfig`]), the transports other than TCP, TCP's tables ([`tcp`]), and packets as bytes ([`wire`]).

mod choice;
#[cfg(test)]
mod datagram_tests;
mod dispatch;
pub mod dvrc;
#[cfg(test)]
mod fuzz;
pub mod ping;
pub mod rap;
mod redundancy;
pub mod rtcp;
pub mod tcp;
pub mod tfrc;
pub mod udp;
pub mod webrtc;
#[cfg(test)]
mod webrtc_tests;
pub mod wire;

// Files written for external programs use the name `fairwave_core`. This alias lets the same files compile here.
extern crate self as fairwave_core;
#[allow(unused_imports)]
pub(crate) use fairwave_media::{quality, traffic};
#[allow(unused_imports)]
pub(crate) use fairwave_network::{link, loss, packet, queue};
#[allow(unused_imports)]
pub(crate) use fairwave_units::{config, random, ratio, registry, timed, units};
#[allow(unused_imports)]
pub(crate) mod transport {
    pub(crate) use crate::{PacketSize, Properties, TransportLaw, dvrc, ping, rap, rtcp, tcp, tfrc, udp};
    pub(crate) use fairwave_endpoint::{
        Backlog, Delivery, FlowContext, Output, Receiver, ReceiverView, Sender, SenderView, limited, preset,
    };
}

/// All transports except TCP, in the order of listings: a module, and in braces the transport's name with its
/// parameters. Transports after the semicolon are dispatched by a virtual call. Each further variant would cost
/// every packet of all others about two instructions, and a media session is expensive anyway.
macro_rules! transports {
    ($then:ident! $arguments:tt) => {
        $then! { $arguments
            udp { Udp(UdpConfig) }
            tfrc { Tfrc(TfrcConfig) }
            dvrc { Dvrc(DvrcConfig) }
            rtcp { Rtcp(RtcpConfig) }
            rap { Rap(RapConfig) }
            ping { Ping(PingConfig) }
            ;
            webrtc { Webrtc(WebrtcConfig) }
        }
    };
}
pub(crate) use transports;

pub use choice::{
    AnyTransport, Endpoints, PacketSize, PreparedTransport, Properties, TransportConfig, TransportLaw, register,
};
pub use dispatch::{AnyReceiver, AnySender};
