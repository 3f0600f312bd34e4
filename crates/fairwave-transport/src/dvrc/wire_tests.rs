use super::*;
use fairwave_units::testing::fuzz_cases;
use proptest::prelude::*;

fn data() -> Data {
    Data {
        frame_type: FrameType::P,
        layer: 2,
        length: 0x03e8,
        part: 1,
        parts: 3,
        unit: 0x0102_0304,
        sequence: 0xfffe_fdfc,
        timestamp: 0x1122_3344,
        round_trip: 70_000,
        timeout: 200_000,
    }
}

#[test]
fn a_data_header_is_laid_out_as_the_document_says() {
    #[rustfmt::skip]
    let expected = [
        0x10, 2, 2, 0, 0x03, 0xe8, 0, 1, // version and type, frame type, layer, reserved, length, part
        0xff, 0xfe, 0xfd, 0xfc, 0x11, 0x22, 0x33, 0x44, // sequence number, timestamp
        1, 2, 3, 4, 0, 3, 0, 0, // unit, parts, reserved
        0, 1, 0x11, 0x70, 0, 3, 0x0d, 0x40, // round-trip time, timeout
    ];
    assert_eq!(data().encode(), expected);
}

#[test]
fn a_control_packet_is_laid_out_as_the_document_says() {
    let control = Control { timeout: false, layers: 3, sequence: 7, timestamp: 9, rate: 384_000, lost: 5 };
    #[rustfmt::skip]
    let expected = [
        0x11, 0, 3, 0, 0, 0, 0, 0,
        0, 0, 0, 7, 0, 0, 0, 9,
        0, 5, 0xdc, 0, 0, 0, 0, 5,
    ];
    assert_eq!(control.encode(), expected);
    assert_eq!(Control { timeout: true, ..control }.encode()[0], 0x12);
}

#[test]
fn malformed_packets_are_refused_with_the_reason() {
    let with = |at: usize, value: u8| {
        let mut bytes = data().encode();
        bytes[at] = value;
        Header::decode(&bytes)
    };
    assert_eq!(Header::decode(&[]), Err(WireError::Short { have: 0, need: 1 }));
    assert_eq!(Header::decode(&data().encode()[..31]), Err(WireError::Short { have: 31, need: 32 }));
    assert_eq!(with(0, 0x20), Err(WireError::Version { found: 2, known: 1 }));
    assert_eq!(with(0, 0x14), Err(WireError::PacketType { found: 4, most: 3 }));
    assert_eq!(with(1, 6), Err(WireError::FrameType(6)));
    assert_eq!(with(2, 8), Err(WireError::Layers));
    assert_eq!(with(3, 1), Err(WireError::Reserved(3)));
    assert_eq!(with(7, 3), Err(WireError::Part { part: 3, parts: 3 }));
    assert_eq!(with(21, 0), Err(WireError::Part { part: 1, parts: 0 }));
}

#[test]
fn a_datagram_carries_exactly_the_payload_that_it_announces() {
    let mut datagram = Data { length: 3, ..data() }.encode().to_vec();
    datagram.extend([1, 2, 3]);
    assert_eq!(Header::decode_datagram(&datagram).map(|(_, payload)| payload), Ok(&[1_u8, 2, 3][..]));
    datagram.push(4);
    assert_eq!(Header::decode_datagram(&datagram), Err(WireError::Length { claimed: 3, have: 4 }));
    datagram.truncate(34);
    assert_eq!(Header::decode_datagram(&datagram), Err(WireError::Length { claimed: 3, have: 2 }));
}

#[test]
fn layers_are_advertised_before_the_video() {
    let layers = LayerRates::new(&[64_000, 128_000, 256_000].map(Rate::from_bits_per_second)).expect("three layers");
    let header = Header::Advertisement(layers);
    assert_eq!(Header::decode(&header.encode()[..header.size()]), Ok(header));
    assert_eq!(header.size(), 28);
    let mut bytes = header.encode();
    bytes[20..24].fill(0);
    assert_eq!(Header::decode(&bytes), Err(WireError::Layers), "a layer that adds nothing");
}

#[test]
fn reserved_bytes_of_every_packet_must_be_zero() {
    let layers = LayerRates::new(&[Rate::from_bits_per_second(64_000)]).expect("a layer");
    let packets: [(Header, &[usize]); 3] = [
        (Header::Data(data()), &[3, 22, 23]),
        (Header::Control(Control::default()), &[1, 3, 4, 5, 6, 7]),
        (Header::Advertisement(layers), &[1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]),
    ];
    for (header, reserved) in packets {
        for at in 0..header.size() {
            let mut bytes = header.encode();
            bytes[at] = bytes[at].wrapping_add(1);
            let error = Header::decode(&bytes).err();
            assert_eq!(error == Some(WireError::Reserved(at)), reserved.contains(&at), "byte {at}: {error:?}");
        }
    }
}

#[test]
fn a_packet_must_be_as_long_as_its_header() {
    let layers = LayerRates::new(&[64_000, 128_000].map(Rate::from_bits_per_second)).expect("two layers");
    for header in [Header::Data(data()), Header::Control(Control::default()), Header::Advertisement(layers)] {
        let (bytes, size) = (header.encode(), header.size());
        assert_eq!(Header::decode(&bytes[..size]), Ok(header));
        assert_eq!(Header::decode(&bytes[..size - 1]), Err(WireError::Short { have: size - 1, need: size }));
    }
}

#[test]
fn a_control_packet_asks_for_eight_layers_at_most_and_an_advertisement_has_one_at_least() {
    let ask = |layers| Header::decode(&Control { layers, ..Control::default() }.encode()).map(|_| ());
    assert_eq!([ask(8), ask(9)], [Ok(()), Err(WireError::Layers)]);
    let layers = LayerRates::new(&[Rate::from_bits_per_second(64_000)]).expect("a layer");
    for count in [0, 9] {
        let mut bytes = Header::Advertisement(layers).encode();
        bytes[2] = count;
        assert_eq!(Header::decode(&bytes), Err(WireError::Layers));
    }
}

#[test]
fn numbers_on_the_wire_are_rounded_up_and_as_large_as_fits() {
    assert_eq!([0, 1, 1_000, 1_001].map(|nanos| micros(Span::from_nanos(nanos))), [0, 1, 1, 2]);
    assert_eq!(micros(Span::from_secs(10_000)), u32::MAX);
    assert_eq!([5, 1 << 40].map(|bits| clamp(Rate::from_bits_per_second(bits))), [5, u32::MAX]);
}

#[test]
fn the_sequence_number_that_the_simulator_reads_is_the_headers() {
    let body = body(Data { sequence: 0x0102_0304, ..data() }.encode(), Instant::ZERO);
    assert!(matches!(body, Body::Opaque { sequence: 0x0102_0304, .. }), "{body:?}");
}

/// All encodable headers of every kind.
fn headers() -> impl Strategy<Value = Header> {
    let frame_type = prop::sample::select(vec![FrameType::None, FrameType::I, FrameType::P, FrameType::B]);
    let place = (1u16.., any::<u16>()).prop_map(|(parts, place)| (place % parts, parts));
    let numbers = (any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>());
    let data = (frame_type, 0u8..8, any::<u16>(), place, numbers).prop_map(
        |(frame_type, layer, length, (part, parts), (unit, sequence, timestamp, round_trip, timeout))| {
            Header::Data(Data {
                frame_type,
                layer,
                length,
                part,
                parts,
                unit,
                sequence,
                timestamp,
                round_trip,
                timeout,
            })
        },
    );
    let control = (any::<bool>(), 0u8..=8, any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>()).prop_map(
        |(timeout, layers, sequence, timestamp, rate, lost)| {
            Header::Control(Control { timeout, layers, sequence, timestamp, rate, lost })
        },
    );
    let advertisement = prop::collection::vec(1u32.., 1..=8).prop_map(|rates| {
        let rates: Vec<Rate> = rates.iter().map(|&rate| Rate::from_bits_per_second(u64::from(rate))).collect();
        Header::Advertisement(LayerRates::new(&rates).expect("rates above zero"))
    });
    prop_oneof![data, control, advertisement]
}

/// Checks that decoding gives an error, or a header that encodes to the same bytes.
fn decodes_faithfully_or_says_why(bytes: &[u8]) -> Result<(), TestCaseError> {
    match Header::decode(bytes) {
        Ok(header) => prop_assert_eq!(&header.encode()[..header.size()], &bytes[..header.size()]),
        Err(error) => prop_assert!(!error.to_string().is_empty()),
    }
    if let Ok((header, payload)) = Header::decode_datagram(bytes) {
        prop_assert_eq!(header.size() + payload.len(), bytes.len());
    }
    Ok(())
}

proptest! {
    #![proptest_config(fuzz_cases(512))]

    #[test]
    fn fuzz_any_bytes_are_a_header_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        decodes_faithfully_or_says_why(&bytes)?;
    }

    #[test]
    fn fuzz_a_valid_datagram_that_was_damaged_is_a_header_or_an_error(
        header in headers(), payload in prop::collection::vec(any::<u8>(), 0..40),
        flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut datagram = header.encode().get(..header.size()).unwrap_or(&[]).to_vec();
        datagram.extend(payload);
        for (at, bits) in flips {
            let at = at.index(datagram.len());
            datagram[at] ^= bits;
        }
        if let Some(cut) = cut {
            datagram.truncate(cut.index(datagram.len() + 1));
        }
        decodes_faithfully_or_says_why(&datagram)?;
    }

    #[test]
    fn fuzz_what_is_encoded_is_decoded(header in headers()) {
        prop_assert_eq!(Header::decode(&header.encode()), Ok(header));
    }
}
