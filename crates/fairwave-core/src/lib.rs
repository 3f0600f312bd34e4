#![doc = include_str!("../README.md")]
//!
//! # Inside
//!
//! Modules in the order of a packet's path: sources of traffic ([`traffic`]), transports ([`transport`]), queues
//! ([`queue`]), rates of links ([`link`]), shared media ([`medium`]), losses on links ([`loss`]), and quality at the receiver
//! ([`quality`]). [`wire`] has the byte formats of packets.
//!
//! You can also use each underlying crate alone: `fairwave-units`, `fairwave-network`, `fairwave-media`, `fairwave-endpoint`,
//! `fairwave-tcp`, `fairwave-rtc`, `fairwave-transport`.

pub use fairwave_media::{encoder, quality, speech, traffic};
pub use fairwave_network::{dscp, link, loss, medium, packet, queue};
pub use fairwave_transport::wire;
pub use fairwave_units::{config, random, ratio, registry, source, timed, units};

/// Transports. A transport is a pair of endpoints, [`transport::Sender`] and [`transport::Receiver`].
pub mod transport {
    pub use fairwave_endpoint::{
        Backlog, Delivery, Estimate, Failure, FlowContext, LossVerdict, Notice, Output, Receiver, ReceiverView, Sender,
        SenderView, limited, media, policy, preset,
    };
    pub use fairwave_rtc::control as rate_control;
    pub use fairwave_rtc::session::WebrtcConfig;
    pub use fairwave_rtc::sfu;
    pub use fairwave_transport::{
        AnyReceiver, AnySender, AnyTransport, Endpoints, PacketSize, PreparedTransport, Properties, TransportConfig,
        TransportLaw, dvrc, ping, rap, register, rtcp, tcp, tfrc, udp,
    };
}
