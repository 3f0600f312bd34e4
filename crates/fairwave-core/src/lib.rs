//! All laws of fairwave under one name, in the order of a packet's way. They are sources of traffic ([`traffic`]),
//! transports ([`transport`]), queues ([`queue`]), rates of links ([`link`]), shared media ([`medium`]), losses on links ([`loss`]), and quality
//! at the receiver ([`quality`]). [`wire`] has the bytes of packets.
//!
//! Every law is a pure state machine: it takes the time and an event and answers with what to do. No law has a clock, a
//! socket, a thread or a file, so the same code runs in virtual and in real time.
//!
//! You can use each crate behind this name alone: `fairwave-units`, `fairwave-network`, `fairwave-media`,
//! `fairwave-endpoint`, `fairwave-tcp`, `fairwave-transport`.

pub use fairwave_media::{encoder, quality, speech, traffic};
pub use fairwave_network::{dscp, link, loss, medium, packet, queue};
pub use fairwave_transport::wire;
pub use fairwave_units::{config, random, ratio, registry, timed, units};

/// How it is sent. A transport is a pair of endpoints, [`transport::Sender`] and [`transport::Receiver`].
pub mod transport {
    pub use fairwave_endpoint::{
        Backlog, Delivery, Estimate, FlowContext, LossVerdict, Output, Receiver, ReceiverView, Sender, SenderView,
        limited, media, policy, preset,
    };
    pub use fairwave_rtc::control as rate_control;
    pub use fairwave_transport::{
        AnyReceiver, AnySender, AnyTransport, Endpoints, PacketSize, PreparedTransport, Properties, TransportConfig,
        TransportLaw, dvrc, ping, rap, register, rtcp, tcp, tfrc, udp,
    };
}
