//! What a run of letters and digits looks like: a word, a number, or something a machine made up. Shared by messages and
//! addresses, so that an id is an id in both.

/// What a run of ASCII letters and digits looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Something a person wrote: letters, names such as `i18n`, codes such as `E1234` and `TS2322`.
    Word,
    /// Digits only.
    Number,
    /// Hexadecimal digits that are no word.
    Hex,
    /// Letters and digits nobody would type.
    Random,
    /// A word with four or more digits after it; how long the word is.
    Numbered(usize),
}

impl Shape {
    /// Whether a machine made it up.
    pub(crate) fn is_made_up(self) -> bool {
        matches!(self, Shape::Hex | Shape::Random)
    }
}

/// What is counted about a run.
#[derive(Default)]
struct Counts {
    digits: usize,
    upper: usize,
    lower: usize,
    /// Letters that no hexadecimal number has.
    beyond_hex: usize,
    /// How often a letter follows a digit or the other way round.
    switches: usize,
    /// How often a capital follows a small letter or the other way round.
    case_switches: usize,
}

const DIGIT: u8 = 1;
const BEYOND_HEX: u8 = 2;
const UP_TO_HEX: u8 = 4;
/// What each byte can be part of.
const CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut classes = [BEYOND_HEX; 256];
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_digit() {
            classes[byte] = DIGIT;
        } else if (byte as u8).is_ascii_hexdigit() {
            classes[byte] = UP_TO_HEX;
        }
        byte += 1;
    }
    classes
}

fn count(run: &[u8]) -> Counts {
    let mut counts = Counts::default();
    let mut before: Option<bool> = None;
    let mut last: Option<u8> = None;
    for &byte in run {
        let digit = byte.is_ascii_digit();
        if !byte.is_ascii_alphanumeric() {
            continue;
        }
        counts.digits += usize::from(digit);
        counts.upper += usize::from(byte.is_ascii_uppercase());
        counts.lower += usize::from(byte.is_ascii_lowercase());
        counts.beyond_hex += usize::from(!byte.is_ascii_hexdigit());
        counts.switches += usize::from(before.is_some_and(|before| before != digit));
        let turned = |last: u8| last.is_ascii_alphabetic() && last.is_ascii_uppercase() != byte.is_ascii_uppercase();
        counts.case_switches += usize::from(!digit && last.is_some_and(turned));
        before = Some(digit);
        last = Some(byte);
    }
    counts
}

/// What `run` looks like; it holds ASCII letters and digits only.
pub(crate) fn shape(run: &[u8]) -> Shape {
    // Nearly every word is letters with one beyond `f`; nothing has to be counted for that.
    let seen = run.iter().fold(0, |seen, byte| seen | CLASSES[usize::from(*byte)]);
    if seen & (DIGIT | BEYOND_HEX) == BEYOND_HEX {
        return Shape::Word;
    }
    if seen == DIGIT {
        return Shape::Number;
    }
    let counts = count(run);
    let letters = run.len() - counts.digits;
    if counts.digits == 0 {
        // Eight letters up to f are no word of any language people log in.
        return match counts.beyond_hex == 0 && run.len() >= 8 {
            true => Shape::Hex,
            false => Shape::Word,
        };
    }
    if is_code(run, &counts) {
        return Shape::Word;
    }
    if counts.beyond_hex == 0 && run.len() >= 6 {
        return Shape::Hex;
    }
    // Names change their case at the start of each word; what changes it at every other letter is no name.
    if run.len() >= 12 && counts.case_switches * 2 + 1 >= run.len() {
        return Shape::Random;
    }
    let one_case = counts.upper == 0 || counts.lower == 0;
    match counts.switches {
        1 if run.len() >= 24 && !one_case => Shape::Random,
        1 if run[0].is_ascii_alphabetic() && counts.digits >= 4 => Shape::Numbered(letters),
        1 => Shape::Word,
        2 if run.len() >= 10 && counts.digits >= 3 && !one_case => Shape::Random,
        2 if run.len() >= 20 && counts.digits >= 2 => Shape::Random,
        2 => Shape::Word,
        _ if run.len() >= 4 => Shape::Random,
        _ => Shape::Word,
    }
}

/// `E1234`, `TS2322`, `NG0100`: up to five capitals and three to five digits name a kind of error.
fn is_code(run: &[u8], counts: &Counts) -> bool {
    let prefix = run.iter().take_while(|byte| byte.is_ascii_uppercase()).count();
    (1..=5).contains(&prefix) && prefix + counts.digits == run.len() && (3..=5).contains(&counts.digits)
}

/// Letters, digits, `-` and `_` of the longest id that is known as a whole.
pub(crate) const LONGEST_SCATTERED: usize = 24;

/// Whether a run that may also hold `-` and `_` is an id as a whole: 20 to 24 of both cases with digits scattered over it.
pub(crate) fn is_scattered_id(run: &[u8]) -> bool {
    if !(20..=LONGEST_SCATTERED).contains(&run.len()) {
        return false;
    }
    let counts = count(run);
    let turns = counts.switches + counts.case_switches;
    counts.upper >= 2 && counts.lower >= 2 && counts.digits >= 1 && turns >= 9
}

/// How long the UUID at the start of `bytes` is.
pub(crate) fn uuid(bytes: &[u8]) -> Option<usize> {
    const LENGTH: usize = 36;
    let candidate = bytes.get(..LENGTH)?;
    let shaped = candidate.iter().enumerate().all(|(index, byte)| match index {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    });
    (shaped && !bytes.get(LENGTH).is_some_and(u8::is_ascii_alphanumeric)).then_some(LENGTH)
}

/// How long the JSON Web Token at the start of `bytes` is: two or three parts of base64, the first of which opens an object.
pub(crate) fn jwt(bytes: &[u8]) -> Option<usize> {
    // Where no point comes soon, none has to be looked for: headers of tokens are short.
    const LONGEST_HEADER: usize = 512;
    match bytes.starts_with(b"eyJ") {
        true => jwt_after(bytes, base64_url(&bytes[..bytes.len().min(LONGEST_HEADER)])),
        false => None,
    }
}

/// The same where it is known how long its header would be.
fn jwt_after(bytes: &[u8], header: usize) -> Option<usize> {
    let part = |from: usize| base64_url(&bytes[from..]);
    if header < 10 || bytes.get(header) != Some(&b'.') {
        return None;
    }
    let payload = part(header + 1);
    if payload < 8 {
        return None;
    }
    let end = header + 1 + payload;
    match bytes.get(end) {
        Some(b'.') => Some(end + 1 + part(end + 1)),
        _ => Some(end),
    }
}

/// How many bytes at the start belong to base64 as addresses use it.
pub(crate) fn base64_url(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| is_base64_url(**byte)).count()
}

/// Whether a byte belongs to base64 as addresses use it.
fn is_base64_url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// How many ASCII letters and digits there are at the start.
pub(crate) fn alphanumerics(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()
}

/// How many digits there are at the start.
pub(crate) fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_codes_are_words() {
        for word in [
            "user",
            "i18n",
            "a11y",
            "k8s",
            "base64",
            "utf8",
            "sha256",
            "E1234",
            "TS2322",
            "NG0100",
            "Float32Array",
            "x86",
            "2fa",
            "h264",
            "oauth2",
            "facade",
            "decade",
            "e2e",
            "useSyncExternalStoreWithSelector",
            "Http2ServerRequest",
            "user42",
        ] {
            assert_eq!(shape(word.as_bytes()), Shape::Word, "{word}");
        }
    }

    #[test]
    fn what_a_machine_made_up_is_told_apart() {
        for hex in [
            "abc123",
            "def456",
            "deadbeef",
            "3f2a1b9c",
            "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3",
            "507f1f77bcf86cd799439011",
        ] {
            assert_eq!(shape(hex.as_bytes()), Shape::Hex, "{hex}");
        }
        for random in ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "K7dPq2xZ", "cjld2cjxh0000qzrmn831i7rn", "x7k2m9q"] {
            assert_eq!(shape(random.as_bytes()), Shape::Random, "{random}");
        }
        assert_eq!(shape(b"order12345"), Shape::Numbered(5));
        assert_eq!(shape(b"0042"), Shape::Number);
    }

    #[test]
    fn a_uuid_has_its_dashes_and_an_end() {
        let id = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
        assert_eq!(uuid(id.as_bytes()), Some(36));
        assert_eq!(uuid(format!("{id}f").as_bytes()), None);
        assert_eq!(uuid(&id.as_bytes()[..35]), None);
        assert_eq!(uuid(b"3f2504e0+4f89-41d3-9a0c-0305e82c3301"), None);
    }

    #[test]
    fn a_jwt_opens_an_object() {
        assert_eq!(jwt(b"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl and more"), Some(49));
        assert_eq!(jwt(b"eyJ.not.one"), None);
        assert_eq!(jwt(b"abc.def.ghi"), None);
    }
}
