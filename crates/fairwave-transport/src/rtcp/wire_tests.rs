use super::*;
use crate::wire::{Media, Protocol};

fn format() -> Format {
    let media = Media { payload_type: 98, clock: 90_000, ssrc: 7 };
    Format { protocol: Protocol::Rtp, media, names: ["alice".to_owned(), "bob".to_owned()] }
}

fn written(body: Body, feedback: bool, target: usize) -> Vec<u8> {
    let mut out = Vec::new();
    write(&body, feedback, &format(), target, &mut out);
    out
}

const SENT: Instant = Instant::from_nanos(2_500_000_000);

const REPORT: Body = Body::RtcpSenderReport { sent: SENT, packets: 0x0102, octets: 0x0003_0405 };

fn answer(early: bool) -> Body {
    Body::RtcpReceiverReport {
        fraction_lost: 64,
        early,
        lost: 5,
        highest: 0x0001_0002,
        jitter: Span::from_millis(1),
        sender_report: Some(SENT),
        delay: Span::from_millis(500),
    }
}

#[test]
fn rfc_3550_section_6_4_1_a_sender_report_is_laid_out_as_the_figure_shows() {
    #[rustfmt::skip]
    let expected = [
        0x80, 200, 0, 6, 0, 0, 0, 7, // version 2, no blocks; packet type; 7 words; SSRC
        0x83, 0xaa, 0x7e, 0x82, 0x80, 0, 0, 0, // NTP timestamp: 2 208 988 800 s and 2.5 s
        0, 3, 0x6e, 0xe8, // RTP timestamp: 225 000 ticks
        0, 0, 1, 2, 0, 3, 4, 5, // packets, octets
        0x81, 202, 0, 3, 0, 0, 0, 7, // §6.5: one chunk; 4 words; SSRC
        1, 5, b'a', b'l', b'i', b'c', b'e', 0, // CNAME and the end of the list
    ];
    assert_eq!(written(REPORT, false, 0), expected);
}

#[test]
fn rfc_3550_section_6_4_2_a_receiver_report_is_laid_out_as_the_figure_shows() {
    #[rustfmt::skip]
    let expected = [
        0x81, 201, 0, 7, 0x80, 0, 0, 7, // version 2, one block; packet type; 8 words; the receiver's SSRC
        0, 0, 0, 7, 64, 0, 0, 5, // about whom; fraction lost, packets lost
        0, 1, 0, 2, 0, 0, 0, 90, // highest sequence number, jitter: 90 ticks
        0x7e, 0x82, 0x80, 0, 0, 0, 0x80, 0, // the middle of the sender's NTP timestamp; 32 768 65 536ths since
        0x81, 202, 0, 3, 0x80, 0, 0, 7, 1, 3, b'b', b'o', b'b', 0, 0, 0, // who sends it
    ];
    assert_eq!(written(answer(false), true, 0), expected);
    // §6.7: layout of application-defined packets.
    let early = written(answer(true), true, 0);
    assert_eq!(early[..48], expected);
    assert_eq!(early[48..], [0x80, 204, 0, 2, 0x80, 0, 0, 7, b'E', b'R', b'L', b'Y']);
}

#[test]
fn rfc_3550_section_6_4_1_a_report_is_padded_to_its_size_in_words_and_its_last_packet_says_so() {
    let sizes = [0, 48, 52, 55, 60, 4000].map(|target| written(answer(false), true, target).len());
    assert_eq!(sizes, [48, 48, 52, 52, 60, 300]);
    let padded = written(answer(false), true, 52);
    assert_eq!((padded[32], padded[35], &padded[48..]), (0xa1, 4, &[0, 0, 0, 4][..]));
    for (body, feedback) in [(answer(false), true), (answer(true), true), (REPORT, false)] {
        for target in [0, 80, 4000] {
            assert_eq!(read(&written(body, feedback, target), feedback, &format()), Ok(body));
        }
    }
}

#[test]
fn rfc_5761_section_4_reports_are_told_from_rtp_by_their_packet_type() {
    assert!(is_report(&written(REPORT, false, 0)) && is_report(&written(answer(true), true, 0)));
    let found = [0, 96, 127, 128, 191, 192, 223, 224, 255].map(|kind| is_report(&[0x80, kind]));
    assert_eq!(found, [false, false, false, false, false, true, true, false, false]);
    assert!(!is_report(&[0x80]));
}

#[test]
fn a_round_trip_reckoned_from_the_fields_is_at_most_31_microseconds_too_long() {
    // Sent at odd nanoseconds. The answer waits at the other end; both directions together take half a second.
    for nanos in [1, 15_258, 15_259, 999_999_999, 12_345_678_901, 65_535_999_999_999] {
        let (sent, delay) = (Instant::from_nanos(nanos), Span::from_nanos(nanos % 777_777_777));
        let now = sent + delay + Span::from_millis(500);
        let body = Body::RtcpReceiverReport {
            fraction_lost: 0,
            early: false,
            lost: 0,
            highest: 1,
            jitter: Span::ZERO,
            sender_report: Some(sent),
            delay,
        };
        let bytes = written(body, true, 0);
        let Ok(Body::RtcpReceiverReport { sender_report: Some(sent), delay, .. }) = read(&bytes, true, &format())
        else {
            panic!("no report of {nanos}")
        };
        let reckoned = (now - sent).saturating_sub(delay);
        assert!(reckoned >= Span::from_millis(500) && reckoned <= Span::from_micros(500_031), "{nanos}: {reckoned}");
    }
}

#[test]
fn the_senders_clock_is_exact_in_its_report_whatever_the_nanosecond() {
    for nanos in [0, 1, 2, 3, 232, 233, 999_999_999, 1_000_000_000, 86_400_000_000_007] {
        let time = Instant::from_nanos(nanos);
        assert_eq!(instant(ntp(time)), Ok(time));
    }
}

#[test]
fn what_is_said_otherwise_than_by_this_flows_other_end_is_refused() {
    let changed = |at: usize, value: u8| {
        let mut bytes = written(answer(false), true, 52);
        bytes[at] = value;
        read(&bytes, true, &format()).expect_err("another's").to_string()
    };
    assert_eq!(changed(7, 8), "the SSRC is 2147483656, but must be 2147483655");
    assert!(changed(11, 8).starts_with("no RTCP: it differs from"), "about another source");
    assert!(changed(42, b'x').starts_with("no RTCP: it differs from"), "another name");
    assert!(changed(1, 203).starts_with("no RTCP: it does not begin with a"), "a farewell");
    assert!(changed(3, 99).starts_with("no RTCP: "), "longer than it is");
    let mut bytes = written(REPORT, false, 0);
    bytes[8] = 0;
    let error = read(&bytes, false, &format()).expect_err("too early").to_string();
    assert!(error.contains("before 1970"), "{error}");
    assert!(read(&[], false, &format()).is_err());
}
