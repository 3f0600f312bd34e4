use super::*;
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
fn each_malformed_packet_is_refused_for_its_own_reason() {
    let with = |at: usize, value: u8| {
        let mut bytes = data().encode();
        bytes[at] = value;
        Header::decode(&bytes)
    };
    assert_eq!(Header::decode(&[]), Err(WireError::Short { have: 0, need: 1 }));
    assert_eq!(Header::decode(&data().encode()[..31]), Err(WireError::Short { have: 31, need: 32 }));
    assert_eq!(with(0, 0x20), Err(WireError::Version(2)));
    assert_eq!(with(0, 0x14), Err(WireError::PacketType(4)));
    assert_eq!(with(1, 4), Err(WireError::FrameType(4)));
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
    assert_eq!(Header::decode_datagram(&datagram), Err(WireError::Length { said: 3, have: 4 }));
    datagram.truncate(34);
    assert_eq!(Header::decode_datagram(&datagram), Err(WireError::Length { said: 3, have: 2 }));
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

proptest! {
    #[test]
    fn any_bytes_are_a_header_or_an_error_and_a_header_goes_back_to_the_same_bytes(
        mut bytes in prop::collection::vec(any::<u8>(), 0..64), kind in 0u8..8, tame: bool,
    ) {
        if tame && bytes.len() > 24 {
            // Steer into the accepted region, which chance seldom hits.
            bytes[0] = 0x10 | kind & 3;
            for at in [3, 22, 23] { bytes[at] = 0; }
            bytes[1] &= 3;
            bytes[2] &= 7;
            if kind & 3 != 0 { for at in [1, 4, 5, 6, 7] { bytes[at] = 0; } }
            if kind & 3 == 3 { bytes[8..16].fill(0); }
        }
        if let Ok(header) = Header::decode(&bytes) {
            let size = header.size();
            prop_assert_eq!(&header.encode()[..size], &bytes[..size]);
        }
        if let Ok((header, payload)) = Header::decode_datagram(&bytes) {
            prop_assert_eq!(header.size() + payload.len(), bytes.len());
        }
    }

    #[test]
    fn what_is_encoded_is_decoded(
        layer in 0u8..8, length: u16, parts in 1u16.., place: u16, unit: u32, sequence: u32, timestamp: u32,
        round_trip: u32, timeout: u32, layers in 0u8..=8, rate: u32, lost: u32, late: bool,
    ) {
        let part = place % parts;
        let data = Data { frame_type: FrameType::B, layer, length, part, parts, unit, sequence, timestamp, round_trip, timeout };
        prop_assert_eq!(Header::decode(&data.encode()), Ok(Header::Data(data)));
        let control = Control { timeout: late, layers, sequence, timestamp, rate, lost };
        prop_assert_eq!(Header::decode(&control.encode()), Ok(Header::Control(control)));
    }
}
