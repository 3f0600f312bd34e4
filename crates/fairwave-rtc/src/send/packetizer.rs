//! Packetisation: splits frames into packets of about equal size, as few as the largest payload allows (libwebrtc,
//! `rtp_format.cc`).

/// Yields the sizes of a frame's parts, the larger ones last; nothing for an empty frame.
pub fn parts(bytes: u32, most: u32) -> impl Iterator<Item = u16> {
    let most = most.max(1);
    let number = bytes.div_ceil(most);
    let (size, larger) = (bytes / number.max(1), bytes % number.max(1));
    (0..number).map(move |part| (size + u32::from(part >= number - larger)) as u16)
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn a_frame_is_cut_into_as_few_parts_as_can_be_that_differ_by_a_byte_at_most() {
        let cut = |bytes| parts(bytes, 1200).collect::<Vec<_>>();
        assert_eq!(cut(0), [0u16; 0]);
        assert_eq!(cut(1200), [1200]);
        assert_eq!(cut(1201), [600, 601]);
        assert_eq!(cut(3602), [900, 900, 901, 901]);
    }
}
