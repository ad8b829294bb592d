//! Secrets that are known by their own form, wherever they stand: tokens with a prefix, JSON Web Tokens, private keys, card
//! numbers. Each
//! function looks at the start of a text and says how many bytes of it are one.

/// How a token begins, what it is, how many more characters it has at least.
const PREFIXES: [(&str, &str, usize); 35] = [
    ("AIza", "gcp-key", 35),
    ("GOCSPX-", "gcp-key", 20),
    ("SG.", "sendgrid", 30),
    ("dop_v1_", "digitalocean", 32),
    ("github_pat_", "github-token", 22),
    ("ghp_", "github-token", 20),
    ("gho_", "github-token", 20),
    ("ghu_", "github-token", 20),
    ("ghs_", "github-token", 20),
    ("ghr_", "github-token", 20),
    ("glpat-", "gitlab-token", 18),
    ("hf_", "huggingface", 30),
    ("npm_", "npm-token", 30),
    ("pypi-", "pypi-token", 40),
    ("rk_live_", "stripe-key", 10),
    ("rk_test_", "stripe-key", 10),
    ("sk_live_", "stripe-key", 10),
    ("sk_test_", "stripe-key", 10),
    ("whsec_", "stripe-key", 16),
    ("shpat_", "shopify", 20),
    ("sk-ant-", "anthropic-key", 16),
    ("sk-proj-", "openai-key", 16),
    ("sk-svcacct-", "openai-key", 16),
    ("sk-", "openai-key", 20),
    ("xapp-", "slack-token", 16),
    ("xoxa-", "slack-token", 10),
    ("xoxb-", "slack-token", 10),
    ("xoxe-", "slack-token", 10),
    ("xoxe.", "slack-token", 10),
    ("xoxo-", "slack-token", 10),
    ("xoxp-", "slack-token", 10),
    ("xoxr-", "slack-token", 10),
    ("xoxs-", "slack-token", 10),
    ("ya29.", "gcp-key", 20),
    ("glsa_", "grafana", 20),
];

/// The secret at the start of a word: its length and what it is.
pub(super) fn at_word(rest: &str) -> Option<(usize, &'static str)> {
    // Nothing shorter is one, and most words are.
    if rest.len() < 11 {
        return None;
    }
    match rest.as_bytes()[0] {
        b'0'..=b'9' => card(rest.as_bytes()).or_else(|| security_number(rest.as_bytes())),
        b'e' => web_token(rest).map(|length| (length, "jwt")),
        b'A' if is_aws(rest) => Some((20, "aws-key")),
        b'-' => private_key(rest).map(|length| (length, "private-key")),
        b'A' | b'G' | b'S' | b'd' | b'g' | b'h' | b'n' | b'p' | b'r' | b's' | b'w' | b'x' | b'y' => prefixed(rest),
        _ => None,
    }
}

/// A card number: digits of an issuer in its length that add up, unbroken or in the usual groups.
fn card(rest: &[u8]) -> Option<(usize, &'static str)> {
    let separator = *rest.get(4).filter(|byte| matches!(byte, b' ' | b'-')).unwrap_or(&b'0');
    let mut number = Vec::new();
    let mut length = 0;
    for (at, &byte) in rest.iter().enumerate().take(23) {
        match byte {
            b'0'..=b'9' => number.push(byte - b'0'),
            _ if byte == separator && matches!(at, 4 | 9 | 11 | 14 | 19) => continue,
            _ => break,
        }
        length = at + 1;
    }
    let goes_on = match rest.get(length) {
        Some(b'.') => rest.get(length + 1).is_some_and(u8::is_ascii_digit),
        Some(byte) => byte.is_ascii_alphanumeric() || *byte == b'_',
        None => false,
    };
    (!goes_on && is_issued(&number) && adds_up(&number)).then_some((length, "card"))
}

fn is_issued(number: &[u8]) -> bool {
    let start = number.iter().take(4).fold(0_u32, |value, digit| value * 10 + u32::from(*digit));
    matches!(
        (number.len(), start),
        (13 | 16 | 19, 4000..=4999)
            | (16, 5100..=5599 | 2221..=2720)
            | (15, 3400..=3499 | 3700..=3799)
            | (16..=19, 6011 | 6440..=6599 | 3528..=3589 | 6200..=6299)
            | (14, 3000..=3059 | 3600..=3699 | 3800..=3999)
    )
}

/// Luhn's check: every second digit from the right counts double.
fn adds_up(number: &[u8]) -> bool {
    let weighed = number.iter().rev().enumerate().map(|(index, digit)| match (index % 2, u32::from(*digit)) {
        (0, value) => value,
        (_, value) if value > 4 => value * 2 - 9,
        (_, value) => value * 2,
    });
    weighed.sum::<u32>().is_multiple_of(10)
}

/// `123-45-6789`, in this form only.
fn security_number(rest: &[u8]) -> Option<(usize, &'static str)> {
    let shaped = rest.get(..11)?.iter().enumerate().all(|(index, byte)| match index {
        3 | 6 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    let goes_on = rest.get(11).is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    (shaped && !goes_on).then_some((11, "ssn"))
}

fn prefixed(rest: &str) -> Option<(usize, &'static str)> {
    let (start, kind, least) = PREFIXES.iter().find(|(start, ..)| rest.starts_with(start))?;
    let length = token_length(&rest[start.len()..]);
    let token = &rest[start.len()..start.len() + length];
    // Words joined by dashes have no digits.
    (length >= *least && token.bytes().any(|byte| byte.is_ascii_digit())).then_some((start.len() + length, kind))
}

/// How many characters from the start can be of a token.
pub(super) fn token_length(rest: &str) -> usize {
    rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"-_.~+/=".contains(byte)).count()
}

/// `AKIA` and the like with sixteen capitals and digits.
fn is_aws(rest: &str) -> bool {
    let capital = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let starts = ["AKIA", "ASIA", "AROA", "AIDA", "AGPA", "ANPA"];
    let word = rest.bytes().take(21).take_while(u8::is_ascii_alphanumeric).count();
    word == 20 && starts.iter().any(|start| rest.starts_with(start)) && rest.as_bytes()[..20].iter().all(capital)
}

/// Three parts of base64 with points between them, of which the first two are JSON objects.
fn web_token(rest: &str) -> Option<usize> {
    let part =
        |text: &str| text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"-_=".contains(byte)).count();
    let header = part(rest);
    let payload = rest.get(header..)?.strip_prefix('.')?;
    let length = part(payload);
    if !rest.starts_with("eyJ") || header < 10 || length < 4 {
        return None;
    }
    let signature = payload[length..].strip_prefix('.').map_or(0, |signature| 1 + part(signature));
    Some(header + 1 + length + signature)
}

/// From `-----BEGIN ... PRIVATE KEY-----` to its end, or to the end of what there is of it.
fn private_key(rest: &str) -> Option<usize> {
    let label = rest.strip_prefix("-----BEGIN ")?;
    let named = label.find("PRIVATE KEY").filter(|at| *at <= 24)?;
    let from = rest.len() - label.len() + named;
    let Some(end) = rest[from..].find("-----END ") else { return Some(rest.len()) };
    let tail = from + end + "-----END ".len();
    let close = rest[tail..].find("-----").filter(|at| *at <= 40).map_or(0, |at| at + 5);
    Some(tail + close)
}
