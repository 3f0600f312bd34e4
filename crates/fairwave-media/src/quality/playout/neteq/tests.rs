//! Specification of the buffer: storyboards of packets and output.

use super::*;

const MS: Span = Span::from_millis(1);

fn frame(unit: usize) -> Packet {
    Packet { unit, media: MS * (20 * unit as u64), length: MS * 20, ends_talkspurt: false }
}

/// Storyboard of a buffer, tick by tick.
struct ReceiverScript {
    buffer: JitterBuffer,
    heard: Vec<Piece>,
}

impl ReceiverScript {
    fn new(config: NeteqConfig) -> Self {
        ReceiverScript { buffer: JitterBuffer::new(config), heard: Vec::new() }
    }

    /// Returns a buffer with a target of 0 to 20 ms: packets are played on arrival, without changes of tempo.
    fn plain() -> Self {
        ReceiverScript::new(NeteqConfig { stretch: false, ..NeteqConfig::default() })
    }

    fn arrives(&mut self, packet: Packet) -> &mut Self {
        self.buffer.on_arrival(packet);
        self
    }

    fn plays(&mut self, operation: Operation) -> &mut Self {
        let (tick, before) = (self.buffer.tick, self.buffer.ahead);
        assert_eq!(self.buffer.tick(&mut self.heard), operation, "tick {tick}, {before} samples ahead");
        self
    }

    /// Returns the played units with their times in milliseconds.
    fn units(&self) -> Vec<(usize, f64)> {
        let (mut at, mut units) = (0.0, Vec::new());
        for piece in &self.heard {
            match *piece {
                Piece::Unit(unit) => {
                    units.push((unit, at));
                    at += 20.0;
                }
                Piece::Shortened(span) => at -= span.millis(),
                Piece::Lengthened(span) | Piece::Concealed(span) | Piece::Silence(span) => at += span.millis(),
            }
        }
        units
    }

    /// Returns the duration of concealment, in milliseconds.
    fn made_up(&self) -> f64 {
        (self.heard.iter()).map(|piece| if let Piece::Concealed(span) = piece { span.millis() } else { 0.0 }).sum()
    }
}

#[test]
fn the_first_packet_is_played_in_the_next_tick() {
    let mut story = ReceiverScript::plain();
    story.arrives(frame(0)).plays(Operation::Normal).plays(Operation::Normal);
    assert_eq!(story.heard, [Piece::Unit(0)]);
    story.plays(Operation::Expand);
    assert_eq!(story.heard[1..], [Piece::Concealed(MS * 10)]);
}

#[test]
fn a_packet_that_comes_late_is_played_late() {
    let mut story = ReceiverScript::plain();
    story.arrives(frame(0)).plays(Operation::Normal).plays(Operation::Normal);
    story.plays(Operation::Expand).plays(Operation::Expand);
    story.arrives(frame(1)).plays(Operation::Normal);
    assert_eq!(story.units(), [(0, 0.0), (1, 40.0)]);
}

#[test]
fn a_packet_that_is_lost_is_made_up_in_its_length() {
    let mut story = ReceiverScript::plain();
    story.arrives(frame(0)).arrives(frame(2)).plays(Operation::Normal).plays(Operation::Normal);
    story.plays(Operation::Expand).plays(Operation::Expand).plays(Operation::Merge).plays(Operation::Normal);
    assert_eq!(story.units(), [(0, 0.0), (2, 40.0)]);
    story.arrives(frame(1)).plays(Operation::Expand);
    assert_eq!(story.buffer.packets_waiting(), 0, "its turn is over");
}

#[test]
fn after_a_long_gap_half_the_target_is_waited_for() {
    let mut story = ReceiverScript::new(NeteqConfig { min_delay: MS * 100, stretch: false, ..NeteqConfig::default() });
    story.arrives(frame(0)).plays(Operation::Normal).plays(Operation::Normal);
    for _ in 0..7 {
        story.plays(Operation::Expand);
    }
    story.arrives(frame(1));
    // 68.75 ms of concealment have faded to less than half; the buffer waits for 50 ms.
    for _ in 0..4 {
        story.plays(Operation::Expand);
    }
    story.plays(Operation::Normal);
    assert_eq!(story.units(), [(0, 0.0), (1, 20.0 + 110.0)]);
}

#[test]
fn after_a_short_gap_nothing_is_waited_for() {
    let mut story = ReceiverScript::new(NeteqConfig { min_delay: MS * 100, stretch: false, ..NeteqConfig::default() });
    story.arrives(frame(0)).plays(Operation::Normal).plays(Operation::Normal);
    for _ in 0..6 {
        story.plays(Operation::Expand);
    }
    story.arrives(frame(1)).plays(Operation::Normal);
}

#[test]
fn silence_is_known_from_loss() {
    let mut story = ReceiverScript::plain();
    story.arrives(Packet { ends_talkspurt: true, ..frame(0) }).plays(Operation::Normal).plays(Operation::Normal);
    story.plays(Operation::ComfortNoise);
    assert!(story.buffer.is_idle());
    for _ in 0..7 {
        story.plays(Operation::ComfortNoiseContinued);
    }
    // The silence lasts 100 ms. A talkspurt that arrives before its end starts at its end. The buffer need not fill,
    // because its single packet announces that it is the last.
    story.arrives(Packet { ends_talkspurt: true, ..frame(6) });
    story.plays(Operation::ComfortNoiseContinued).plays(Operation::ComfortNoiseContinued).plays(Operation::Normal);
    assert_eq!(story.units(), [(0, 0.0), (6, 120.0)]);
    assert_eq!(story.made_up(), 0.0);
}

#[test]
fn idle_time_passes_at_once_as_it_would_tick_by_tick() {
    let begun = || {
        let mut story = ReceiverScript::plain();
        story.arrives(Packet { ends_talkspurt: true, ..frame(0) });
        story.plays(Operation::Normal).plays(Operation::Normal).plays(Operation::ComfortNoise);
        story
    };
    let (mut slow, mut fast) = (begun(), begun());
    for _ in 0..50 {
        slow.plays(Operation::ComfortNoiseContinued);
    }
    fast.buffer.stay_idle(50, &mut fast.heard);
    for story in [&mut slow, &mut fast] {
        for unit in 27..29 {
            story.arrives(frame(unit));
        }
        for _ in 0..12 {
            story.buffer.tick(&mut story.heard);
        }
    }
    assert_eq!(slow.units(), fast.units());
    assert_eq!(slow.units().len(), 3);
    assert_eq!((slow.buffer.tick, slow.buffer.ahead), (fast.buffer.tick, fast.buffer.ahead));
}

#[test]
fn a_buffer_is_idle_when_nothing_waits_and_nothing_of_the_voice_is_left() {
    let mut story = ReceiverScript::plain();
    assert!(!story.buffer.is_idle());
    story.arrives(frame(0)).plays(Operation::Normal).plays(Operation::Normal);
    let mut ticks = 0;
    while !story.buffer.is_idle() {
        story.plays(Operation::Expand);
        ticks += 1;
        assert!(ticks < 100);
    }
    assert!(ticks > 20, "{ticks}");
    story.buffer.stay_idle(3, &mut story.heard);
    assert_eq!(story.heard.last(), Some(&Piece::Concealed(MS * 30)));
    story.arrives(frame(1));
    assert!(!story.buffer.is_idle());
}

#[test]
fn one_packet_more_than_it_holds_empties_it() {
    let mut story = ReceiverScript::new(NeteqConfig { max_packets: 20, stretch: false, ..NeteqConfig::default() });
    story.arrives(frame(0)).plays(Operation::Normal);
    for unit in 1..=20 {
        story.arrives(frame(unit));
    }
    assert_eq!(story.buffer.packets_waiting(), 20);
    story.arrives(frame(21));
    assert_eq!(story.buffer.packets_waiting(), 1);
    story.plays(Operation::Normal).plays(Operation::Normal);
    assert_eq!(story.units(), [(0, 0.0), (21, 20.0)], "what comes next is played at once");
}

#[test]
fn the_same_packet_twice_is_one() {
    let mut story = ReceiverScript::plain();
    story.arrives(frame(0)).arrives(frame(0)).arrives(frame(1)).arrives(frame(1));
    assert_eq!(story.buffer.packets_waiting(), 2);
}

#[test]
fn packets_are_played_in_order_however_they_come() {
    let mut story = ReceiverScript::plain();
    story.arrives(frame(0)).arrives(frame(3)).arrives(frame(1)).arrives(frame(2));
    for _ in 0..8 {
        story.plays(Operation::Normal);
    }
    assert_eq!(story.units(), [(0, 0.0), (1, 20.0), (2, 40.0), (3, 60.0)]);
}

/// Plays the first `seconds` of packets that arrive every 20 ms, always in time.
fn steady(config: NeteqConfig, seconds: usize) -> ReceiverScript {
    let mut story = ReceiverScript::new(config);
    for unit in 0..50 * seconds {
        story.arrives(frame(unit));
        story.buffer.tick(&mut story.heard);
        story.buffer.tick(&mut story.heard);
    }
    story
}

#[test]
fn playing_slower_builds_the_target_up_without_a_gap() {
    let story = steady(NeteqConfig { min_delay: MS * 100, ..NeteqConfig::default() }, 3);
    assert_eq!(story.made_up(), 0.0);
    let (unit, at) = *story.units().last().expect("units");
    let delay = at - 20.0 * unit as f64;
    assert!((100.0 - 10.0..120.0).contains(&delay), "{delay} ms");
    let lengthened = story.heard.iter().filter(|piece| matches!(piece, Piece::Lengthened(_))).count();
    assert!((14..=18).contains(&lengthened), "{lengthened} pitch periods of 6.25 ms make 100 ms");
}

#[test]
fn tempo_changes_by_about_a_tenth() {
    let story = steady(NeteqConfig { min_delay: Span::from_secs(2), ..NeteqConfig::default() }, 10);
    let lengthened: f64 =
        (story.heard.iter()).map(|piece| if let Piece::Lengthened(span) = piece { span.millis() } else { 0.0 }).sum();
    assert!((80.0..=125.0).contains(&(lengthened / 10.0)), "{} ms per second", lengthened / 10.0);
}

/// Plays a backlog of 60 packets that arrive together, then one packet every 20 ms for 8 seconds.
fn backlog(config: NeteqConfig) -> ReceiverScript {
    let mut story = ReceiverScript::new(NeteqConfig { max_delay: Some(MS * 80), ..config });
    for unit in 0..20 {
        story.arrives(frame(unit));
        story.buffer.tick(&mut story.heard);
        story.buffer.tick(&mut story.heard);
    }
    for _ in 0..120 {
        story.buffer.tick(&mut story.heard);
    }
    for unit in 20..80 {
        story.arrives(frame(unit));
    }
    for unit in 80..480 {
        story.arrives(frame(unit));
        story.buffer.tick(&mut story.heard);
        story.buffer.tick(&mut story.heard);
    }
    story
}

#[test]
fn a_backlog_is_caught_up_by_playing_faster() {
    let last = |config| {
        let (unit, at) = *backlog(config).units().last().expect("units");
        at - 20.0 * unit as f64
    };
    let never = last(NeteqConfig { stretch: false, ..NeteqConfig::default() });
    let usual = last(NeteqConfig::default());
    assert!(never >= 1200.0, "{never} ms");
    assert!(usual < never - 1000.0, "{usual} ms");
}

#[test]
fn fast_acceleration_leaves_out_as_many_periods_as_fit_into_15_ms() {
    let longest = |fast_accelerate| {
        (backlog(NeteqConfig { fast_accelerate, ..NeteqConfig::default() }).heard.iter())
            .map(|piece| if let Piece::Shortened(span) = piece { *span } else { Span::ZERO })
            .max()
    };
    assert_eq!(longest(false), Some(Span::from_micros(6_250)));
    assert_eq!(longest(true), Some(Span::from_micros(12_500)));
}

#[test]
fn frames_of_30_and_60_ms_are_stretched_too() {
    for length in [30_u64, 60] {
        let mut story = ReceiverScript::new(NeteqConfig { min_delay: MS * 150, ..NeteqConfig::default() });
        for unit in 0..200 {
            story.arrives(Packet {
                unit,
                media: MS * (length * unit as u64),
                length: MS * length,
                ends_talkspurt: false,
            });
            for _ in 0..length / 10 {
                story.buffer.tick(&mut story.heard);
            }
        }
        let lengthened = story.heard.iter().filter(|piece| matches!(piece, Piece::Lengthened(_))).count();
        assert_eq!(story.made_up(), 0.0, "{length} ms");
        assert!((10..=24).contains(&lengthened), "{length} ms: {lengthened}");
    }
}

#[test]
fn too_little_that_was_not_played_cannot_be_lengthened() {
    // Frames of 10 ms that arrive one by one: 15 of the required 30 ms have always been played.
    let mut story = ReceiverScript::new(NeteqConfig::default());
    for unit in 0..200 {
        story.arrives(Packet { unit, media: MS * (10 * unit as u64), length: MS * 10, ends_talkspurt: false });
        story.buffer.tick(&mut story.heard);
    }
    assert!(story.heard.iter().all(|piece| matches!(piece, Piece::Unit(_))));
}

#[test]
fn what_is_heard_is_as_long_as_the_ticks_and_what_is_ahead() {
    let mut story = ReceiverScript::new(NeteqConfig::default());
    for unit in 0..500_usize {
        if unit % 7 != 3 {
            story.arrives(frame(unit + usize::from(unit % 11 == 5)));
        }
        for _ in 0..1 + (unit * 31 % 5) {
            story.buffer.tick(&mut story.heard);
        }
    }
    let heard: f64 = (story.heard.iter())
        .map(|piece| match *piece {
            Piece::Unit(_) => 20.0,
            Piece::Shortened(span) => -span.millis(),
            Piece::Lengthened(span) | Piece::Concealed(span) | Piece::Silence(span) => span.millis(),
        })
        .sum();
    let ticks = 10.0 * story.buffer.tick as f64;
    assert!((heard - ticks - story.buffer.ahead as f64 / 8.0).abs() < 1e-6, "{heard} of {ticks}");
}

#[test]
fn the_target_is_shown() {
    let config = NeteqConfig { min_delay: MS * 120, ..NeteqConfig::default() };
    assert_eq!(JitterBuffer::new(config).target_delay(), MS * 120);
    assert_eq!(JitterBuffer::new(NeteqConfig::default()).target_delay(), MS * 80);
}
