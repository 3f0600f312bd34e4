//! The endpoints of any transport, by value: a call costs a jump.

use super::choice::{TransportLaw, transports};
use crate::{dvrc, rap, rtcp, tcp, tfrc, udp};
use fairwave_endpoint::{Output, Receiver, ReceiverView, Sender, SenderView};
use fairwave_media::traffic::Unit;
use fairwave_network::packet::Packet;
use fairwave_units::units::Instant;

macro_rules! endpoints {
    (() $($Variant:ident($Law:ty)),+ $(,)?) => {
        /// A sender of any transport. Built-in ones are dispatched by variant, without a virtual call.
        ///
        /// TCP's is not in a box: in large networks most flows are TCP, and a box would be one more place to fetch from memory.
        #[non_exhaustive]
        #[allow(clippy::large_enum_variant)]
        #[allow(missing_docs)] // each transport's parameters say what it is
        pub enum AnySender {
            $($Variant(Box<<$Law as TransportLaw>::Sender>),)+
            /// TCP with any controller.
            Tcp(tcp::TcpSender),
            /// A program's own.
            Own(Box<dyn Sender + Send>),
        }

        /// A receiver of any transport, see [`AnySender`].
        #[non_exhaustive]
        #[allow(clippy::large_enum_variant)]
        #[allow(missing_docs)]
        pub enum AnyReceiver {
            $($Variant(Box<<$Law as TransportLaw>::Receiver>),)+
            /// TCP with any controller.
            Tcp(tcp::TcpReceiver),
            /// A program's own.
            Own(Box<dyn Receiver + Send>),
        }

        impl Sender for AnySender {
            #[inline]
            fn on_start(&mut self, now: Instant, out: &mut Output) {
                match self {
                    $(AnySender::$Variant(s) => s.on_start(now, out),)+
                    AnySender::Tcp(s) => s.on_start(now, out),
                    AnySender::Own(s) => s.on_start(now, out),
                }
            }
            #[inline]
            fn on_unit(&mut self, now: Instant, unit: Unit, out: &mut Output) {
                match self {
                    $(AnySender::$Variant(s) => s.on_unit(now, unit, out),)+
                    AnySender::Tcp(s) => s.on_unit(now, unit, out),
                    AnySender::Own(s) => s.on_unit(now, unit, out),
                }
            }
            #[inline]
            fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
                match self {
                    $(AnySender::$Variant(s) => s.on_packet(now, packet, out),)+
                    AnySender::Tcp(s) => s.on_packet(now, packet, out),
                    AnySender::Own(s) => s.on_packet(now, packet, out),
                }
            }
            #[inline]
            fn on_timer(&mut self, now: Instant, out: &mut Output) {
                match self {
                    $(AnySender::$Variant(s) => s.on_timer(now, out),)+
                    AnySender::Tcp(s) => s.on_timer(now, out),
                    AnySender::Own(s) => s.on_timer(now, out),
                }
            }
            #[inline]
            fn deadline(&self) -> Instant {
                match self {
                    $(AnySender::$Variant(s) => s.deadline(),)+
                    AnySender::Tcp(s) => s.deadline(),
                    AnySender::Own(s) => s.deadline(),
                }
            }
            #[inline]
            fn on_stop(&mut self, now: Instant) {
                match self {
                    $(AnySender::$Variant(s) => s.on_stop(now),)+
                    AnySender::Tcp(s) => s.on_stop(now),
                    AnySender::Own(s) => s.on_stop(now),
                }
            }
            fn view(&self) -> SenderView {
                match self {
                    $(AnySender::$Variant(s) => s.view(),)+
                    AnySender::Tcp(s) => s.view(),
                    AnySender::Own(s) => s.view(),
                }
            }
        }

        impl Receiver for AnyReceiver {
            #[inline]
            fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output) {
                match self {
                    $(AnyReceiver::$Variant(r) => r.on_packet(now, packet, out),)+
                    AnyReceiver::Tcp(r) => r.on_packet(now, packet, out),
                    AnyReceiver::Own(r) => r.on_packet(now, packet, out),
                }
            }
            #[inline]
            fn on_timer(&mut self, now: Instant, out: &mut Output) {
                match self {
                    $(AnyReceiver::$Variant(r) => r.on_timer(now, out),)+
                    AnyReceiver::Tcp(r) => r.on_timer(now, out),
                    AnyReceiver::Own(r) => r.on_timer(now, out),
                }
            }
            #[inline]
            fn deadline(&self) -> Instant {
                match self {
                    $(AnyReceiver::$Variant(r) => r.deadline(),)+
                    AnyReceiver::Tcp(r) => r.deadline(),
                    AnyReceiver::Own(r) => r.deadline(),
                }
            }
            #[inline]
            fn is_reactive(&self) -> bool {
                match self {
                    $(AnyReceiver::$Variant(r) => r.is_reactive(),)+
                    AnyReceiver::Tcp(r) => r.is_reactive(),
                    AnyReceiver::Own(r) => r.is_reactive(),
                }
            }
            fn judges_losses(&self) -> bool {
                match self {
                    $(AnyReceiver::$Variant(r) => r.judges_losses(),)+
                    AnyReceiver::Tcp(r) => r.judges_losses(),
                    AnyReceiver::Own(r) => r.judges_losses(),
                }
            }
            fn view(&self) -> ReceiverView {
                match self {
                    $(AnyReceiver::$Variant(r) => r.view(),)+
                    AnyReceiver::Tcp(r) => r.view(),
                    AnyReceiver::Own(r) => r.view(),
                }
            }
        }
    };
}

transports! { endpoints! () }
