//! Settings; `tests/str0m.rs` tests complete sessions.

use fairwave_core::encoder::VideoConfig;
use fairwave_core::random::Seed;

use super::*;

#[test]
fn what_it_does_not_carry_is_refused() {
    let (config, context, stream) = (Str0mConfig::default(), FlowContext::default(), Seed(1).stream("flow"));
    let other = config.endpoints(context, stream.clone()).expect_err("refused").to_string();
    assert!(other.contains("traffic = { kind = \"media\" }"), "{other}");
    let media = Media { screen: Some(VideoConfig::default()), ..Media::default() };
    let screen = config.media_endpoints(context, &media, stream).expect_err("refused").to_string();
    assert!(screen.contains("without a screen"), "{screen}");
    assert!(Str0mConfig { start: Rate::default(), ..Str0mConfig::default() }.check().is_err());
}
