//! WebRTC: one transport for all streams of a peer ([`fairwave_rtc`]). It encodes them, so it carries only traffic
//! of the kind `media`.

use fairwave_endpoint::FlowContext;
use fairwave_media::encoder::{Media, StreamKind};
use fairwave_rtc::receive::{AudioSetup, Factors, ReceiverSetup, Shared, WebrtcReceiver};
use fairwave_rtc::send::WebrtcSender;
pub use fairwave_rtc::session::WebrtcConfig;
use fairwave_rtc::sizes;
use fairwave_units::config::ConfigError;
use fairwave_units::random::{Seed, Stream};
use fairwave_units::registry::Law;
use fairwave_units::units::{Bytes, Span};

use crate::{PacketSize, Properties, TransportLaw};

impl Properties for WebrtcConfig {
    fn packet(&self, _bulk: bool) -> PacketSize {
        let header = sizes::VIDEO_HEADER + sizes::VIDEO_DESCRIPTOR;
        PacketSize { payload: self.max_payload, header: Bytes::new(u64::from(header)) }
    }

    fn carries_bulk(&self) -> bool {
        false
    }

    fn repairs_losses(&self) -> bool {
        true
    }

    /// Sender reports continue while no media is sent.
    fn slowest_timer(&self) -> Span {
        self.report_audio.max(self.report_video) * 2
    }

    fn only_simulated(&self) -> Option<&'static str> {
        Some("transport = \"udp\"")
    }
}

impl TransportLaw for WebrtcConfig {
    type Sender = WebrtcSender;
    type Receiver = WebrtcReceiver;

    fn endpoints(&self, _context: FlowContext, _stream: Stream) -> Result<(WebrtcSender, WebrtcReceiver), ConfigError> {
        let allowed = "another transport where the traffic is not of the kind `media`: webrtc encodes what it sends";
        Err(ConfigError::new("transport", Self::NAME, allowed, "traffic = { kind = \"media\" }"))
    }

    fn media_endpoints(
        &self,
        context: FlowContext,
        media: &Media,
        mut stream: Stream,
    ) -> Result<(WebrtcSender, WebrtcReceiver), ConfigError> {
        let seed = Seed(stream.uniform_below(u64::MAX));
        let shared = Shared::default();
        let mailboxes = (shared.control.clone(), shared.feedback.clone());
        let random = seed.stream("sender");
        let sender = WebrtcSender::new(context, self, media, random, mailboxes, shared.side_channel.clone())?;
        let audio = media.audio.as_ref().map_or_else(AudioSetup::default, |audio| AudioSetup {
            frame: audio.frame,
            factors: Some(Factors { impairment: audio.impairment(), copy: audio.copy_impairment(), wideband: true }),
            ..AudioSetup::default()
        });
        let off = [media.paused_times(StreamKind::Video), media.paused_times(StreamKind::Screen)];
        let setup = ReceiverSetup { audio, expected: sender.expected(), off };
        Ok((sender, WebrtcReceiver::new(&self.receive, setup, context, shared, seed.stream("receiver"))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairwave_endpoint::test_path::{PathFate, Wire};
    use fairwave_endpoint::{Receiver, Sender};
    use fairwave_media::encoder::{AudioConfig, StreamKind, VideoConfig};
    use fairwave_media::traffic::{FrameType, Unit};
    use fairwave_units::units::{Instant, Rate};

    fn ms(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    fn media() -> Media {
        let video = VideoConfig { most: Rate::from_bits_per_second(2_000_000), ..VideoConfig::default() };
        Media { audio: Some(AudioConfig::default()), video: Some(video), screen: None, ..Media::default() }
    }

    /// A call of this length over 1 Mb/s, 50 ms each way, with 300 ms of drop-tail buffer.
    fn call(seconds: u64, table: &str) -> Wire<WebrtcSender, WebrtcReceiver> {
        let config: WebrtcConfig = serde_json::from_str(table).expect("a table");
        let stream = Seed(3).stream("flow");
        let (sender, receiver) = config.media_endpoints(FlowContext::default(), &media(), stream).expect("endpoints");
        let mut wire = Wire::new(sender, receiver, Span::from_millis(50));
        wire.bottleneck = Some(Rate::from_bits_per_second(1_000_000));
        wire.buffer = 30;
        let audio = (0..seconds * 50).map(|frame| (frame * 20_000, StreamKind::Audio));
        let mut times: Vec<_> =
            audio.chain((0..seconds * 30).map(|f| (f * 1_000_000 / 30, StreamKind::Video))).collect();
        times.sort();
        wire.units = (0..)
            .zip(times)
            .map(|(id, (micros, kind))| Unit {
                id,
                payload: 0,
                created: Instant::ZERO + Span::from_micros(micros),
                layer: kind as u8,
                frame_type: FrameType::None,
            })
            .collect();
        wire
    }

    #[test]
    fn call_survives_2_percent_of_loss() {
        let mut wire = call(20, r#"{"control": {"name": "fixed", "rate": "700 kb/s"}}"#);
        wire.fate =
            Box::new(|number, _, _| if number > 50 && number % 50 == 0 { PathFate::Lose } else { PathFate::Pass });
        wire.run_until(ms(22_000));
        wire.sender.settle_media(ms(22_000));
        wire.receiver.settle_media(ms(22_000));
        let (sent, received) = (wire.sender.media().expect("sent"), wire.receiver.media().expect("received"));
        let (out, inbound) = (sent.totals[1], received.streams[1].total);
        assert!(out.retransmitted_packets_sent > 20, "{out:?}");
        assert!(inbound.frames_decoded * 100 >= out.frames_encoded * 95, "{inbound:?}");
        assert_eq!(wire.sender.refused(), 0, "each message of the receiver is read");
    }

    #[test]
    fn traffic_that_is_not_media_is_refused() {
        let made = WebrtcConfig::default().endpoints(FlowContext::default(), Seed(1).stream("flow"));
        let error = made.err().expect("refused").to_string();
        assert!(error.contains("traffic = { kind = \"media\" }"), "{error}");
    }
}
