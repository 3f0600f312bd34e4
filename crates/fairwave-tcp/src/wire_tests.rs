use super::*;

const SENT: Instant = Instant::from_nanos(0x1112_1314_1516_1718);

fn bytes(header: Header) -> Vec<u8> {
    let mut out = Vec::new();
    header.encode(&mut out);
    out
}

fn segment() -> Header {
    Header::Segment {
        sequence: 0x0102_0304,
        wave: 0x0506,
        wave_size: 0x0708,
        retransmission: false,
        window_reduced: true,
        last: false,
        sent: SENT,
    }
}

fn plain() -> Header {
    Header::Acknowledgement {
        next: 0x0102_0304,
        echo: SENT,
        rate: 0.0,
        wave: 0,
        congestion_echo: false,
        marked: 0,
        sack: [SackBlock::default(); 3],
    }
}

fn full() -> Header {
    let block = |first, end| SackBlock { first, end };
    Header::Acknowledgement {
        next: 2,
        echo: SENT,
        rate: 1.5,
        wave: 0x0a0b,
        congestion_echo: true,
        marked: 7,
        sack: [block(9, 11), block(3, 0x0405), SackBlock::default()],
    }
}

#[test]
fn segments_are_laid_out_as_the_document_says() {
    #[rustfmt::skip]
    let expected = [
        0x10, 2, 5, 6, 7, 8, 0, 0, // version and type, flags, wave, wave size, reserved
        0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, // timestamp
        1, 2, 3, 4, // sequence number
    ];
    assert_eq!(bytes(segment()), expected);
    for (place, value) in [1, 2, 4].into_iter().enumerate() {
        let [retransmission, window_reduced, last] = [place == 0, place == 1, place == 2];
        let header =
            Header::Segment { sequence: 1, wave: 0, wave_size: 0, retransmission, window_reduced, last, sent: SENT };
        assert_eq!(bytes(header)[1], value);
    }
    let forward = [0x11, 0, 0, 0, 1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18];
    assert_eq!(bytes(Header::Forward { next: 0x0102_0304, sent: SENT }), forward);
}

#[test]
fn an_acknowledgement_carries_what_it_has_to_say_and_no_more() {
    let expected = [0x12, 0, 0, 0, 1, 2, 3, 4, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18];
    assert_eq!(bytes(plain()), expected);
    #[rustfmt::skip]
    let expected = [
        0x12, 0x1e, 0, 0, 0, 0, 0, 2, // version and type, flags, reserved, next
        0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, // timestamp echoed
        0, 0, 0, 7, // count of marks
        0x3f, 0xc0, 0, 0, 0x0a, 0x0b, 0, 0, // rate of a wave, and which
        0, 0, 0, 9, 0, 0, 0, 11, 0, 0, 0, 3, 0, 0, 4, 5, // blocks
    ];
    assert_eq!(bytes(full()), expected);
}

#[test]
fn what_was_encoded_is_decoded_to_the_same() {
    for header in [segment(), Header::Forward { next: 5, sent: SENT }, plain(), full()] {
        assert_eq!(Header::decode(&bytes(header)), Ok(header));
    }
}

#[test]
fn reserved_bytes_and_flags_must_be_zero() {
    let forward = Header::Forward { next: 5, sent: SENT };
    let reserved: [(Header, &[usize]); 4] =
        [(segment(), &[6, 7]), (forward, &[1, 2, 3]), (plain(), &[2, 3]), (full(), &[2, 3, 26, 27])];
    for (header, places) in reserved {
        for &place in places {
            let mut bytes = bytes(header);
            bytes[place] = 1;
            assert_eq!(Header::decode(&bytes), Err(WireError::Reserved(place)), "{header:?}");
        }
    }
    for (header, flags) in [(segment(), 8), (plain(), 0x20)] {
        let mut bytes = bytes(header);
        bytes[1] = flags;
        assert_eq!(Header::decode(&bytes), Err(WireError::Reserved(1)));
    }
}

#[test]
fn what_is_cut_short_says_how_much_is_needed() {
    let forward = Header::Forward { next: 5, sent: SENT };
    for (header, sizes) in [(segment(), &[20][..]), (forward, &[16]), (plain(), &[16]), (full(), &[16, 20, 28, 36, 44])]
    {
        let whole = bytes(header);
        assert_eq!(Some(&whole.len()), sizes.last());
        for &need in sizes {
            assert_eq!(Header::decode(&whole[..need - 1]), Err(WireError::Short { have: need - 1, need }));
        }
    }
}

#[test]
fn what_says_nothing_is_not_said() {
    let refused = |places: &[usize]| {
        let mut bytes = bytes(full());
        places.iter().for_each(|&place| bytes[place] = 0);
        Header::decode(&bytes)
    };
    assert_eq!(refused(&[19]), Err(WireError::Superfluous("count of marks")));
    assert_eq!(refused(&[20, 21, 24, 25]), Err(WireError::Superfluous("rate of a wave")));
    assert_eq!(refused(&[42, 43]), Err(WireError::Superfluous("block without segments")));
}
