//! The laws of fairwave under one name, in the order of a packet's way: what applications want to send ([`traffic`]), how it
//! is sent ([`transport`]), where it waits ([`queue`]), how fast links send it ([`link`]) and how they lose it ([`loss`]), and
//! what the receiver makes of it ([`quality`]). [`wire`] has its bytes.
//!
//! Everything here is a pure state machine: it takes the time and an event and answers with what to do. Nothing
//! here owns a clock, a socket, a thread or a file, so the same code runs in virtual and in real time.
//!
//! Each crate behind this name can be used alone: `fairwave-units`, `fairwave-network`, `fairwave-media`, `fairwave-endpoint`,
//! `fairwave-tcp`, `fairwave-transport`.

pub use fairwave_media::{quality, speech, traffic};
pub use fairwave_network::{dscp, link, loss, packet, queue};
pub use fairwave_transport::wire;
pub use fairwave_units::{config, random, ratio, registry, timed, units};

/// How it is sent. A transport is a pair of endpoints, [`transport::Sender`] and [`transport::Receiver`].
pub mod transport {
    pub use fairwave_endpoint::{
        Backlog, Delivery, Estimate, FlowContext, LossVerdict, Output, Receiver, ReceiverView, Sender, SenderView,
        limited, preset,
    };
    pub use fairwave_transport::{
        AnyReceiver, AnySender, AnyTransport, Endpoints, PacketSize, PreparedTransport, Properties, TransportConfig,
        TransportLaw, dvrc, ping, rap, register, rtcp, tcp, tfrc, udp,
    };
}
