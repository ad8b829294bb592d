//! Secrets that are mostly numbers or are known by what their letters add up to: bank accounts, one-time codes, and tokens
//! whose first part is a number in disguise.

/// How many bytes at the start belong to base64 as addresses use it.
fn base64_url(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| is_base64_url(**byte)).count()
}

/// Whether a byte belongs to base64 as addresses use it.
pub(super) fn is_base64_url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')
}

/// How many ASCII letters and digits there are at the start.
pub(super) fn alphanumerics(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count()
}

/// How many digits there are at the start.
pub(super) fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// How long the accounts of a country are.
const LENGTHS: [(&[u8; 2], usize); 40] = [
    (b"AD", 24),
    (b"AE", 23),
    (b"AT", 20),
    (b"BE", 16),
    (b"BG", 22),
    (b"BR", 29),
    (b"CH", 21),
    (b"CY", 28),
    (b"CZ", 24),
    (b"DE", 22),
    (b"DK", 18),
    (b"EE", 20),
    (b"ES", 24),
    (b"FI", 18),
    (b"FR", 27),
    (b"GB", 22),
    (b"GR", 27),
    (b"HR", 21),
    (b"HU", 28),
    (b"IE", 22),
    (b"IL", 23),
    (b"IS", 26),
    (b"IT", 27),
    (b"LI", 21),
    (b"LT", 20),
    (b"LU", 20),
    (b"LV", 21),
    (b"MC", 27),
    (b"MT", 31),
    (b"NL", 18),
    (b"NO", 15),
    (b"PL", 28),
    (b"PT", 25),
    (b"RO", 24),
    (b"RS", 22),
    (b"SA", 24),
    (b"SE", 24),
    (b"SI", 19),
    (b"SK", 24),
    (b"TR", 26),
];

/// How long the bank account at the start is: of its country's length, unbroken or in groups of four, and adding up.
pub(super) fn iban(rest: &[u8]) -> Option<usize> {
    let country = rest.get(..2)?;
    let (_, wanted) = LENGTHS.iter().find(|(known, _)| known.as_slice() == country)?;
    let (mut letters, mut at) = (Vec::with_capacity(34), 0);
    while letters.len() < *wanted {
        let byte = *rest.get(at)?;
        match byte {
            b' ' if letters.len() % 4 == 0 && !letters.is_empty() => {}
            b'0'..=b'9' | b'A'..=b'Z' => letters.push(byte),
            _ => return None,
        }
        at += 1;
    }
    let goes_on = rest.get(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    letters.rotate_left(4);
    let left = letters.iter().fold(0_u64, |left, byte| match byte {
        b'0'..=b'9' => (left * 10 + u64::from(byte - b'0')) % 97,
        _ => (left * 100 + u64::from(byte - b'A') + 10) % 97,
    });
    (!goes_on && left == 1).then_some(at)
}

/// How long the refresh token of Google at the start is: `1//0` and base64.
pub(super) fn refresh_token(rest: &[u8]) -> Option<usize> {
    let start = [&b"1//0"[..], b"1\\/\\/0"].into_iter().find(|start| rest.starts_with(start))?.len();
    let length = rest[start..].iter().take_while(|byte| is_base64_url(**byte)).count();
    (length >= 20).then_some(start + length)
}

/// How long the bot token of Discord at the start is: three parts of base64, the first of which is a long number.
pub(super) fn discord(rest: &[u8]) -> Option<usize> {
    // Longer runs are none, and are not looked at once for each word in them.
    let run = |from: usize| Some(base64_url(rest.get(from..rest.len().min(from + 50))?));
    let first = run(0)?;
    let second = run(first + 1)?;
    let third = run(first + second + 2)?;
    let points = rest.get(first) == Some(&b'.') && rest.get(first + 1 + second) == Some(&b'.');
    let sized = (23..=28).contains(&first) && (5..=7).contains(&second) && (25..=45).contains(&third);
    (points && sized && is_number(&rest[..first])).then_some(first + second + third + 2)
}

/// Whether base64 stands for digits only.
fn is_number(base64: &[u8]) -> bool {
    let (mut bits, mut held) = (0_u32, 0);
    base64.iter().all(|byte| {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            _ => return false,
        };
        bits = (bits << 6 | u32::from(value)) & 0xffff;
        held += 6;
        if held < 8 {
            return true;
        }
        held -= 8;
        ((bits >> held & 0xff) as u8).is_ascii_digit()
    })
}

/// How long the one-time code at `at` is: six digits a little after words that say so.
pub(super) fn one_time_code(bytes: &[u8], at: usize) -> Option<usize> {
    const CODE: usize = 6;
    const NEAR: usize = 32;
    const WORDS: [&str; 20] = [
        "one-time",
        "one time",
        "verification code",
        "confirmation code",
        "security code",
        "login code",
        "sign-in code",
        "access code",
        "sms code",
        "2fa",
        "mfa",
        "otp",
        "passcode",
        "einmalcode",
        "einmal-code",
        "best\u{e4}tigungscode",
        "sicherheitscode",
        "code de v",
        "verify?code=",
        "confirm?code=",
    ];
    let rest = &bytes[at..];
    let goes_on = rest.get(CODE).is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let is_decimal = rest.get(CODE) == Some(&b'.') && rest.get(CODE + 1).is_some_and(u8::is_ascii_digit);
    if digits(&rest[..rest.len().min(CODE + 1)]) != CODE || goes_on || is_decimal {
        return None;
    }
    let before = String::from_utf8_lossy(&bytes[at.saturating_sub(NEAR)..at]).to_lowercase();
    let is_word = |word: &&str| {
        let place = before.rfind(*word);
        place.is_some_and(|place| !before[..place].ends_with(|last: char| last.is_ascii_alphanumeric()))
    };
    WORDS.iter().any(is_word).then_some(CODE)
}
