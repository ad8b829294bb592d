//! Reads Base64, in which the walkers' answers travel through debuggers that would quote or cut other texts.

/// The bytes; none if it is not Base64.
pub(super) fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for character in text.trim_end_matches('=').bytes() {
        let value = match character {
            b'A'..=b'Z' => character - b'A',
            b'a'..=b'z' => character - b'a' + 26,
            b'0'..=b'9' => character - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_was_written_is_read(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            prop_assert_eq!(super::base64(&backsight_core::base64(&bytes)), Some(bytes));
        }

        #[test]
        fn any_text_is_survived(text in "\\PC{0,50}") {
            super::base64(&text);
        }
    }
}
