//! Percent-encoded text, as addresses carry it.

/// The text behind the encoding; none when it is not valid.
pub fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        if first == b'%' {
            let digit = |byte: u8| (byte as char).to_digit(16);
            let (&[high, low], after) = tail.split_first_chunk()?;
            bytes.push((digit(high)? * 16 + digit(low)?) as u8);
            rest = after;
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

/// A text as it stands in an address.
pub fn encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes()
        .map(|byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{decoded, encoded};

    #[test]
    fn what_was_encoded_reads_back_and_nonsense_is_refused() {
        assert_eq!(decoded("a%20b%C3%A9").as_deref(), Some("a bé"));
        assert_eq!(decoded(&encoded("a b/é%?")).as_deref(), Some("a b/é%?"));
        for wrong in ["%", "%2", "%zz", "%+1", "%ff"] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
    }
}
