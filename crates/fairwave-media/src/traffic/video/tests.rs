use super::*;
use crate::traffic::{Source, TrafficConfig};
use fairwave_units::random::Seed;
use proptest::prelude::*;

fn units(config: &VideoConfig, n: usize, seed: u64) -> Vec<Unit> {
    let config = TrafficConfig::Video(config.clone());
    let mut source = Source::new(&config, Instant::ZERO, Seed(seed).stream("video")).expect("a valid video");
    (0..n).map(|_| source.next_unit().expect("it never ends")).collect()
}

#[test]
fn the_shipped_fit_is_valid() {
    let fit = VideoFit::shipped().expect("fit.json");
    assert!(fit.i.mean() > fit.p.mean() && fit.p.mean() > fit.b.mean(), "I frames are the largest, B the smallest");
    assert!(!fit.about.is_empty());
}

#[test]
fn units_are_numbered_by_frame_and_layer_without_gaps() {
    let units = units(&VideoConfig { phase: Phase::Zero, ..VideoConfig::default() }, 5 * 24, 1);
    for (place, unit) in units.iter().enumerate() {
        assert_eq!((unit.id, unit.layer), (place as u32, (place % 5) as u8));
        assert_eq!(unit.created, Instant::ZERO + Span::from_millis(40 * (place as u64 / 5)));
    }
    let group: Vec<FrameType> = units.iter().step_by(5).map(|unit| unit.frame_type).collect();
    use FrameType::{B, I, P};
    assert_eq!(group[..12], [I, B, B, P, B, B, P, B, B, P, B, B]);
    assert_eq!(group[12], I);
}

#[test]
fn each_layer_has_its_rate_in_the_long_run() {
    let config = VideoConfig::default();
    let mut bytes = [0_u64; 5];
    let frames = 60_000;
    for unit in units(&config, 5 * frames, 2) {
        bytes[usize::from(unit.layer)] += u64::from(unit.payload);
    }
    for (bytes, rate) in bytes.iter().zip(&config.layers) {
        let measured = *bytes as f64 * 8.0 / (frames as f64 / 25.0);
        assert!((measured / rate.bits_per_second() as f64 - 1.0).abs() < 0.05, "{measured} instead of {rate}");
    }
}

#[test]
fn a_real_video_is_sent_as_it_is_and_ends() {
    let frame = |frame_type, sizes: [u32; 2]| TracedFrame { frame_type, sizes: sizes.to_vec() };
    let frames = vec![frame(FrameType::I, [900, 300]), frame(FrameType::B, [100, 0])];
    let config = VideoTraceConfig {
        frames,
        frame_rate: 50.0,
        repeat: false,
        playout_delay: PLAYOUT_DELAY,
        clip: None,
        layers: Vec::new(),
        phase: Phase::Zero,
    };
    let mut source = VideoTrace::new(&config, Instant::ZERO).expect("a valid video");
    let units: Vec<_> = std::iter::from_fn(|| source.next_unit()).map(|u| (u.id, u.layer, u.payload)).collect();
    assert_eq!(units, [(0, 0, 900), (1, 1, 300), (2, 0, 100), (3, 1, 0)]);
    let rates = config.rates().expect("two layers");
    assert_eq!(rates.cumulative().iter().map(|r| r.bits_per_second()).collect::<Vec<_>>(), [200_000, 260_000]);
}

#[test]
fn a_repeated_video_goes_on_without_a_gap() {
    let frames = vec![TracedFrame { frame_type: FrameType::I, sizes: vec![10] }];
    let config = VideoTraceConfig {
        frames,
        frame_rate: 25.0,
        repeat: true,
        playout_delay: PLAYOUT_DELAY,
        clip: None,
        layers: Vec::new(),
        phase: Phase::Zero,
    };
    let mut source = VideoTrace::new(&config, Instant::ZERO).expect("a valid video");
    let times: Vec<u64> = (0..3).filter_map(|_| source.next_unit()).map(|u| u.created.nanos() / 1_000_000).collect();
    assert_eq!(times, [0, 40, 80]);
}

#[test]
fn bad_video_is_refused_with_key_and_remedy() {
    let refuse = |config: VideoConfig| config.check().expect_err("it is bad").to_string();
    let zero = vec![Rate::from_bits_per_second(1000), Rate::default()];
    assert!(refuse(VideoConfig { layers: zero, ..VideoConfig::default() }).contains("layers[1]"));
    assert!(refuse(VideoConfig { layers: Vec::new(), ..VideoConfig::default() }).contains("base layer"));
    assert!(refuse(VideoConfig { group: "IXP".to_owned(), ..VideoConfig::default() }).contains("IBBPBBPBBPBB"));
    assert!(refuse(VideoConfig { frame_rate: 0.0, ..VideoConfig::default() }).contains("frame-rate"));
    let mut fit = VideoFit::shipped().expect("fit.json");
    fit.p.alpha = 7.0;
    assert!(refuse(VideoConfig { fit: Some(fit), ..VideoConfig::default() }).contains("fit.p.alpha"));
    let uneven = [vec![1, 2], vec![3]].map(|sizes| TracedFrame { frame_type: FrameType::P, sizes });
    let trace = VideoTraceConfig {
        frames: uneven.to_vec(),
        frame_rate: 25.0,
        repeat: false,
        playout_delay: PLAYOUT_DELAY,
        clip: None,
        layers: Vec::new(),
        phase: Phase::Zero,
    };
    assert!(trace.check().expect_err("uneven").to_string().contains("frames[1].sizes"));
}

#[test]
fn a_clip_is_checked_before_it_is_coded_and_refused_where_it_was_not() {
    let read = |text: &str| serde_json::from_str::<TrafficConfig>(text).expect("a clip");
    let clip = read(r#"{"kind":"video-trace","clip":"film.mp4","layers":["64 kb/s","64 kb/s"]}"#);
    assert_eq!((clip.check(), clip.layers().count(), clip.frames()), (Ok(()), 2, None));
    let error = Source::new(&clip, Instant::ZERO, Seed(1).stream("video")).err().expect("it is not coded").to_string();
    assert!(error.contains("film.mp4") && error.contains("fairwave run"), "{error}");
    let refuse = |text: &str| read(text).check().expect_err("it is bad").to_string();
    assert!(refuse(r#"{"kind":"video-trace","clip":"film.mp4"}"#).contains("base layer"));
    let flat = refuse(r#"{"kind":"video-trace","clip":"film.mp4","layers":["64 kb/s","0 kb/s"]}"#);
    assert!(flat.contains("layers[1]") && flat.contains("above 0"), "{flat}");
    assert!(refuse(r#"{"kind":"video-trace"}"#).contains("`clip`"));
    assert!(
        refuse(r#"{"kind":"video-trace","layers":["1 kb/s"],"frames":[{"type":"I","sizes":[9]}]}"#).contains("sizes")
    );
}

#[test]
fn a_video_is_written_as_one_reads_it() {
    let json = r#"{"kind":"video","layers":["64 kb/s","64 kb/s"],"group":"IPP"}"#;
    let config: TrafficConfig = serde_json::from_str(json).expect("a video");
    assert_eq!(config.layers().count(), 2);
    let json = r#"{"kind":"video-trace","frames":[{"type":"I","sizes":[900]},{"type":"B","sizes":[20]}]}"#;
    let config: TrafficConfig = serde_json::from_str(json).expect("a trace");
    assert_eq!(config.check(), Ok(()));
}

#[test]
fn a_video_in_fixed_packets_has_no_other_size_and_each_leaves_with_the_first_frame_in_it() {
    let config = VideoConfig { packet: Some(Bytes::new(1000)), ..VideoConfig::default() };
    let (packets, frames) = (units(&config, 30_000, 3), units(&VideoConfig::default(), 5 * 6000, 3));
    assert!(packets.iter().all(|unit| unit.payload == 1000));
    assert!(packets.iter().enumerate().all(|(place, unit)| unit.id == place as u32));
    // After each frame the packets of a layer hold all its bytes so far, and one packet less would not.
    let mut next = packets.iter().peekable();
    let (mut bytes, mut held) = ([0_u64; 5], [0_u64; 5]);
    for frame in frames.chunks(5) {
        let mut layers = Vec::new();
        while let Some(packet) = next.next_if(|packet| packet.created <= frame[0].created) {
            assert_eq!((packet.created, packet.frame_type), (frame[0].created, frame[0].frame_type));
            held[usize::from(packet.layer)] += 1;
            layers.push(packet.layer);
        }
        assert!(layers.is_sorted(), "the base layer goes first");
        for unit in frame {
            let layer = usize::from(unit.layer);
            bytes[layer] += u64::from(unit.payload);
            assert_eq!(held[layer], bytes[layer].div_ceil(1000));
        }
        if next.peek().is_none() {
            break;
        }
    }
    assert!(held.iter().sum::<u64>() > 25_000, "{held:?}");
}

#[test]
fn versions_are_the_whole_frame_each_at_its_own_rate() {
    let rates = [100, 200, 400].map(|k| Rate::from_bits_per_second(k * 1000)).to_vec();
    let config = VideoConfig { layers: rates, coding: Coding::Simulcast, ..VideoConfig::default() };
    for frame in units(&config, 300, 4).chunks(3) {
        let sizes = [0, 1, 2].map(|place: usize| f64::from(frame[place].payload));
        assert!((sizes[0] * 4.0 - sizes[2]).abs() <= 4.0 && (sizes[1] * 2.0 - sizes[2]).abs() <= 2.0, "{sizes:?}");
    }
    let frames = config.frames().expect("frames");
    assert!(frames.versions && frames.layers == 3 && config.layers().are_versions());
}

#[test]
fn where_frames_are_left_out_each_is_a_unit_in_the_layer_of_its_type() {
    let config = VideoConfig { coding: Coding::Temporal, phase: Phase::Zero, ..VideoConfig::default() };
    let units = units(&config, 12 * 2000, 5);
    let layers: Vec<u8> = units[..12].iter().map(|unit| unit.layer).collect();
    assert_eq!(layers, [0, 2, 2, 1, 2, 2, 1, 2, 2, 1, 2, 2]);
    assert!(units.iter().enumerate().all(|(place, unit)| unit.id == place as u32));
    let rates: Vec<f64> = config.layers().own().map(|rate| rate.bits_per_second() as f64).collect();
    assert!((rates.iter().sum::<f64>() - 1_024_000.0).abs() < 4.0, "{rates:?}");
    for (layer, rate) in rates.iter().enumerate() {
        let bytes: u64 =
            units.iter().filter(|unit| usize::from(unit.layer) == layer).map(|u| u64::from(u.payload)).sum();
        let measured = bytes as f64 * 8.0 / (units.len() as f64 / 25.0);
        assert!((measured / rate - 1.0).abs() < 0.06, "layer {layer}: {measured} instead of {rate}");
    }
    assert_eq!(config.frames().expect("frames").layers, 1);
}

#[test]
fn packets_of_no_size_and_packets_of_what_has_no_layers_are_refused() {
    let refuse = |config: VideoConfig| config.check().expect_err("it is bad").key;
    let packet = Some(Bytes::new(1000));
    assert_eq!(refuse(VideoConfig { packet: Some(Bytes::ZERO), ..VideoConfig::default() }), "packet");
    assert_eq!(refuse(VideoConfig { packet, coding: Coding::Temporal, ..VideoConfig::default() }), "packet");
    let alike = [100, 100].map(Rate::from_bits_per_second).to_vec();
    let versions = VideoConfig { layers: alike, coding: Coding::Simulcast, ..VideoConfig::default() };
    assert_eq!(refuse(versions), "layers[1]");
}

proptest! {
    #[test]
    fn a_frame_is_split_without_loss(size in 8.0..1e6f64, rates in prop::collection::vec(1u64..1000, 1..=8)) {
        let rates: Vec<Rate> = rates.iter().map(|&r| Rate::from_bits_per_second(r * 1000)).collect();
        let layers = LayerRates::new(&rates).expect("valid");
        let sizes = split(size, &layers);
        let sum: u32 = sizes.iter().sum();
        let whole = size.round() as u32;
        prop_assert!(sum >= whole && sum <= whole + rates.len() as u32);
        prop_assert!(sizes[..rates.len()].iter().all(|&s| s > 0) && sizes[rates.len()..].iter().all(|&s| s == 0));
    }
}
