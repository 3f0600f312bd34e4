//! Static dispatch to the endpoints of any transport, held by value.

use crate::{TransportLaw, tcp, transports};
use fairwave_endpoint::media::{MediaReceived, MediaSent};
use fairwave_endpoint::{Failure, Output, Receiver, ReceiverView, Sender, SenderView};
use fairwave_media::traffic::Unit;
use fairwave_network::packet::{CarriedUnit, Packet};
use fairwave_units::registry::delegate;
use fairwave_units::units::Instant;

macro_rules! endpoints {
    (() $($module:ident { $Variant:ident($Law:ident) })+ ; $($rare:tt)+) => {
        /// A sender of any transport. Built-in transports are dispatched by variant, without a virtual call.
        ///
        /// TCP's sender is not boxed: in large networks most flows are TCP, and a box would cost one more memory
        /// access.
        #[non_exhaustive]
        #[allow(clippy::large_enum_variant)]
        #[allow(missing_docs)] // each transport's parameters say what it is
        pub enum AnySender {
            $($Variant(Box<<crate::$module::$Law as TransportLaw>::Sender>),)+
            /// TCP with any controller.
            Tcp(tcp::TcpSender),
            /// A registered transport.
            Own(Box<dyn Sender + Send>),
        }

        /// A receiver of any transport, see [`AnySender`].
        #[non_exhaustive]
        #[allow(clippy::large_enum_variant)]
        #[allow(missing_docs)]
        pub enum AnyReceiver {
            $($Variant(Box<<crate::$module::$Law as TransportLaw>::Receiver>),)+
            /// TCP with any controller.
            Tcp(tcp::TcpReceiver),
            /// A registered transport.
            Own(Box<dyn Receiver + Send>),
        }

        impl Sender for AnySender {
            delegate! {
                [AnySender $($Variant)+ Tcp Own]
                #[inline]
                fn on_start(&mut self, now: Instant, out: &mut Output);
                #[inline]
                fn on_unit(&mut self, now: Instant, unit: Unit, out: &mut Output);
                // Always inlined: without it, a program with several kinds of runs makes one more call per packet.
                #[inline(always)]
                fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output);
                #[inline]
                fn on_timer(&mut self, now: Instant, out: &mut Output);
                #[inline]
                fn deadline(&self) -> Instant;
                #[inline]
                fn on_stop(&mut self, now: Instant);
                fn on_new_network(&mut self, now: Instant);
                fn view(&self) -> SenderView;
                fn settle_media(&mut self, now: Instant);
                fn media(&self) -> Option<&MediaSent>;
                fn failure(&self) -> Option<&Failure>;
            }
        }

        impl Receiver for AnyReceiver {
            delegate! {
                [AnyReceiver $($Variant)+ Tcp Own]
                // Always inlined: without it, a program with several kinds of runs makes one more call per packet.
                #[inline(always)]
                fn on_packet(&mut self, now: Instant, packet: &Packet, out: &mut Output);
                #[inline]
                fn on_timer(&mut self, now: Instant, out: &mut Output);
                #[inline]
                fn deadline(&self) -> Instant;
                #[inline]
                fn is_reactive(&self) -> bool;
                fn judges_losses(&self) -> bool;
                fn unit_in(&self, packet: &Packet) -> Option<CarriedUnit>;
                fn view(&self) -> ReceiverView;
                fn settle_media(&mut self, now: Instant);
                fn media(&self) -> Option<&MediaReceived>;
                fn failure(&self) -> Option<&Failure>;
            }
        }
    };
}

transports! { endpoints! () }
