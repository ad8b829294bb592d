//! Which names have secrets as their values. `password` and `accessToken` have; `token_count`, `author` and `session_start`
//! have not: what decides is mostly the last word of a name.

/// How much a bare name says. The difference is real: `token` in a query is a secret, `token` in a parser is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Names on a wire: in queries, bodies, headers, logs.
    OfWire,
    /// Names in a program. It has more innocent tokens, keys and passes than secret ones, so those words alone only cover
    /// what looks made up.
    OfProgram,
}

/// What a name says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name {
    /// The word in the marker.
    pub(super) kind: &'static str,
    /// How sure the name makes us.
    pub(super) strength: Strength,
}

/// How sure a name makes us that its value is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strength {
    /// Any value is, even a number.
    Always,
    /// Any text is; numbers are counts.
    Text,
    /// A text of several words is, up to the end of the line.
    Phrase,
    /// What looks made up is.
    Opaque,
    /// A few digits are; one or two are a pin of a board.
    Digits,
    /// What looks made up is, in an address only.
    InAddress,
    /// The header `Authorization`.
    Authorization,
    /// The headers `Cookie` and `Set-Cookie`.
    Cookie,
}

impl Name {
    /// The word in the marker.
    pub fn kind(self) -> &'static str {
        self.kind
    }

    /// Whether the whole value of a variable of this name is a secret.
    pub fn covers(self, value: &str) -> bool {
        let plain = ["", "true", "false", "none", "null", "nil", "undefined", "nan", "[]", "{}", "()"];
        if plain.iter().any(|word| value.eq_ignore_ascii_case(word)) {
            return false;
        }
        match self.strength {
            Strength::Always | Strength::Phrase => true,
            Strength::Text | Strength::Authorization | Strength::Cookie => value.parse::<f64>().is_err(),
            Strength::Opaque => looks_made_up(value.as_bytes()),
            Strength::Digits => is_pin(value.as_bytes()),
            Strength::InAddress => false,
        }
    }
}

/// Long, or letters and digits, without blanks.
pub(super) fn looks_made_up(value: &[u8]) -> bool {
    let token = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=_-.~:%".contains(byte);
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    value.iter().all(token) && (value.len() >= 24 && has(u8::is_ascii_alphabetic) || value.len() >= 8 && mixed)
}

/// Four to eight digits.
pub(super) fn is_pin(value: &[u8]) -> bool {
    (4..=8).contains(&value.len()) && value.iter().all(u8::is_ascii_digit)
}

/// Longer names are no names.
pub(super) const LONGEST: usize = 80;

/// What the name of a variable says; it may be an expression that ends with a name, such as
/// `request.headers["Authorization"]`.
pub fn judge(name: &str) -> Option<Name> {
    Names::OfProgram.judge(name)
}

/// What an expression says about its value: something made of a secret is one, and whatever is inside one.
pub fn judge_expression(expression: &str) -> Option<Name> {
    let is_part = |character: char| character.is_alphanumeric() || "_.$[]'\"".contains(character);
    let judge_path = |path: &str| path.split(['.', '[', ']']).find_map(judge);
    expression.split(|character| !is_part(character)).find_map(|part| judge(part).or_else(|| judge_path(part)))
}

impl Names {
    /// What `name` says, in any case and with anything between its words.
    pub(super) fn judge(self, name: &str) -> Option<Name> {
        if self == Names::OfWire && !(2..=LONGEST).contains(&name.len()) {
            return None;
        }
        let (first, second) = match self {
            Names::OfWire => (Cut::AfterSmallLetter, Cut::BeforeLastCapital),
            Names::OfProgram => (Cut::BeforeLastCapital, Cut::AfterSmallLetter),
        };
        // `APIKey` is two words and `SESSIONid` one; where one way to cut says nothing, the other may.
        let by = |cut: Cut| self.by_words(&Words::of(name, cut));
        by(first).or_else(|| if has_capitals_before_small(name) { by(second) } else { None })
    }

    /// The last word decides, or the one before it if the last adds nothing.
    fn by_words(self, words: &Words) -> Option<Name> {
        let is_neutral = |word: &str| {
            NEUTRAL.contains(&word) || (!word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let neutral = (0..words.count).take_while(|back| is_neutral(words.back(*back))).count();
        let whole = |name: &Name| !matches!(name.strength, Strength::InAddress | Strength::Cookie);
        (0..=neutral).find_map(|back| {
            let found = self.by_last(words.back(back), words.back(back + 1), words.back(back + 2));
            found.filter(|name| back == 0 || self == Names::OfProgram || whole(name))
        })
    }

    /// What the last word says, with the one or two before it.
    fn by_last(self, last: &str, before: &str, earlier: &str) -> Option<Name> {
        use Strength::{Always, Authorization, Cookie, Digits, InAddress, Opaque, Phrase, Text};
        let wire = self == Names::OfWire;
        let qualified = || QUALIFIERS.contains(&before);
        let (kind, strength) = match last {
            "password" | "passwords" | "passwd" | "pwd" | "passcode" => ("password", Always),
            "pass" | "pw" if wire || qualified() => ("password", Always),
            // In Italian any word is a `parola`.
            "parola" if !wire => ("password", Always),
            "passe" if before == "de" && (earlier == "mot" || !wire) => ("password", Always),
            "passphrase" | "mnemonic" => ("password", Phrase),
            "phrase" if matches!(before, "seed" | "recovery" | "secret" | "pass") => ("password", Phrase),
            "secret" | "secrets" => ("secret", Text),
            "token" | "tokens" if wire || qualified() => ("token", Text),
            "token" | "tokens" => ("token", Opaque),
            "jwt" => ("token", Text),
            "credential" | "credentials" | "creds" => ("credential", Text),
            "otp" | "totp" | "cvv" | "cvc" => ("otp", Always),
            "csc" if wire => ("otp", Always),
            "pin" if wire || matches!(before, "user" | "card" | "sim" | "atm" | "login") => ("otp", Always),
            "pin" | "pincode" => ("otp", Digits),
            "ssn" => ("ssn", Always),
            "number" if matches!(before, "card" | "ssn" | "security") => ("card", Always),
            "authorization" => ("authorization", Authorization),
            "cookie" | "cookies" => ("cookie", Cookie),
            "apikey" | "accesskey" | "secretkey" | "privatekey" | "authkey" | "accountkey" | "signingkey" => {
                ("key", Text)
            }
            "key" | "keys" if qualified() && !matches!(before, "id" | "user") => ("key", Text),
            "code" if is_code(before) || (wire && matches!(before, "auth" | "passcode")) => ("otp", Always),
            "key" if wire && before.is_empty() => ("key", InAddress),
            "code" | "state" | "ticket" | "assertion" if wire && before.is_empty() => ("code", InAddress),
            "auth" | "bearer" => ("auth", Opaque),
            "sessiontoken" => ("session", Text),
            "sessionid" | "sessid" | "phpsessid" | "jsessionid" | "aspsessionid" if wire => ("session", Text),
            "session" | "sid" | "sess" | "sessionid" | "phpsessid" | "jsessionid" => ("session", Opaque),
            "id" | "key" | "hash" | "data" if matches!(before, "session" | "sess") => ("session", Opaque),
            "id" if before == "net" && earlier == "asp" => ("session", Opaque),
            "csrf" | "xsrf" => ("token", Opaque),
            "csrftoken" | "xsrftoken" if wire => ("token", Opaque),
            "sig" | "signature" | "hmac" => ("signature", Opaque),
            "nonce" | "challenge" | "verifier" if before == "code" => ("code", Opaque),
            _ => return self.by_end(last),
        };
        Some(Name { kind, strength })
    }

    /// Of words that were written together: `dbpassword`, `authtoken`.
    fn by_end(self, last: &str) -> Option<Name> {
        let wire = self == Names::OfWire;
        let tokens = ["authtoken", "accesstoken", "apitoken", "csrftoken", "xsrftoken", "idtoken"];
        let (kind, strength) = match last {
            _ if ["password", "passwd", "passwort"].iter().any(|end| last.ends_with(end)) => {
                ("password", Strength::Always)
            }
            _ if FOREIGN.contains(&last) => ("password", Strength::Always),
            _ if last.ends_with("secret") && wire => ("secret", Strength::Text),
            _ if last.ends_with("secret") => ("secret", Strength::Always),
            _ if last.ends_with("token") && (wire || tokens.contains(&last)) => ("token", Strength::Text),
            _ => return None,
        };
        Some(Name { kind, strength })
    }
}

/// Whether the two ways to cut a name can differ: two capitals and a small letter follow each other in it.
fn has_capitals_before_small(name: &str) -> bool {
    let mut capitals = 0;
    name.chars().any(|character| {
        let found = capitals > 1 && character.is_lowercase();
        capitals = if character.is_uppercase() { capitals + 1 } else { 0 };
        found
    })
}

/// Whether a code of this name is a secret.
fn is_code(before: &str) -> bool {
    matches!(before, "verification" | "security" | "recovery" | "backup" | "mfa" | "otp")
}

/// Passwords in other languages; those that are ordinary words too are left out.
const FOREIGN: [&str; 24] = [
    "passwort",
    "passw\u{f6}rter",
    "kennwort",
    "wachtwoord",
    "senha",
    "contrase\u{f1}a",
    "contrasena",
    "has\u{142}o",
    "haslo",
    "heslo",
    "l\u{f6}senord",
    "losenord",
    "salasana",
    "adgangskode",
    "passord",
    "sifre",
    "jelszo",
    "lozinka",
    "motdepasse",
    "\u{43f}\u{430}\u{440}\u{43e}\u{43b}\u{44c}",
    "\u{5bc6}\u{7801}",
    "\u{5bc6}\u{78bc}",
    "\u{30d1}\u{30b9}\u{30ef}\u{30fc}\u{30c9}",
    "\u{be44}\u{bc00}\u{bc88}\u{d638}",
];

/// What adds nothing to the word before it.
const NEUTRAL: [&str; 39] = [
    "value",
    "raw",
    "plain",
    "text",
    "string",
    "str",
    "bytes",
    "hex",
    "base64",
    "confirmation",
    "confirm",
    "again",
    "repeat",
    "new",
    "old",
    "current",
    "hash",
    "salt",
    "header",
    "field",
    "list",
    "lists",
    "array",
    "vec",
    "vector",
    "slice",
    "set",
    "map",
    "dict",
    "dictionary",
    "tuple",
    "table",
    "queue",
    "values",
    "items",
    "entries",
    "strings",
    "data",
    "pair",
];

/// What makes a token, key or pass a secret.
const QUALIFIERS: [&str; 36] = [
    "credential",
    "credentials",
    "creds",
    "api",
    "access",
    "auth",
    "oauth",
    "refresh",
    "bearer",
    "session",
    "csrf",
    "xsrf",
    "security",
    "secret",
    "private",
    "signing",
    "encryption",
    "master",
    "account",
    "license",
    "service",
    "subscription",
    "deploy",
    "ssh",
    "client",
    "shared",
    "storage",
    "bot",
    "login",
    "db",
    "database",
    "smtp",
    "user",
    "admin",
    "root",
    "id",
];

/// Where names are cut into words, beside everything that is no letter or digit, and before digits.
#[derive(Clone, Copy)]
enum Cut {
    /// At capitals after small letters.
    AfterSmallLetter,
    /// There, and at the last of several capitals.
    BeforeLastCapital,
}

const MOST_WORDS: usize = 12;
const MOST_BYTES: usize = 240;

/// The last words of a name in small letters.
struct Words {
    lower: [u8; MOST_BYTES],
    bounds: [(u8, u8); MOST_WORDS],
    count: usize,
}

impl Words {
    fn of(name: &str, cut: Cut) -> Words {
        // Names are short, expressions need not be; what decides is at the end.
        let name = &name[name.ceil_char_boundary(name.len().saturating_sub(MOST_BYTES / 3))..];
        let mut words = Words { lower: [0; MOST_BYTES], bounds: [(0, 0); MOST_WORDS], count: 0 };
        match name.is_ascii() {
            true => words.cut_ascii(name.as_bytes(), cut),
            false => words.cut(name, cut),
        }
        words
    }

    /// Nearly every name is ASCII, and names are judged often.
    fn cut_ascii(&mut self, name: &[u8], cut: Cut) {
        let mut start = 0;
        for (at, &byte) in name.iter().enumerate() {
            self.lower[at] = byte.to_ascii_lowercase();
            let before = if at == 0 { b' ' } else { name[at - 1] };
            let before_small = matches!(cut, Cut::BeforeLastCapital)
                && name.get(at + 1).is_some_and(u8::is_ascii_lowercase)
                && before.is_ascii_alphanumeric();
            let begins = match byte {
                b'0'..=b'9' => before.is_ascii_alphabetic(),
                b'A'..=b'Z' => before.is_ascii_lowercase() || before_small,
                b'a'..=b'z' => false,
                _ => true,
            };
            if begins {
                self.close(start, at);
                start = at + usize::from(!byte.is_ascii_alphanumeric());
            }
        }
        self.close(start, name.len());
    }

    fn cut(&mut self, name: &str, cut: Cut) {
        let words = self;
        let (mut start, mut end) = (0, 0);
        let mut before: Option<char> = None;
        let mut characters = name.chars().peekable();
        while let Some(character) = characters.next() {
            let after = characters.peek();
            let begins = before.is_some_and(|before| match cut {
                _ if character.is_ascii_digit() => before.is_alphabetic(),
                Cut::AfterSmallLetter => character.is_uppercase() && before.is_lowercase(),
                Cut::BeforeLastCapital => {
                    character.is_uppercase()
                        && (before.is_lowercase() || after.is_some_and(|after| after.is_lowercase()))
                }
            });
            if begins || !character.is_alphanumeric() {
                words.close(start, end);
                start = end;
            }
            if character.is_alphanumeric() {
                for lower in character.to_lowercase() {
                    let mut bytes = [0; 4];
                    let bytes = lower.encode_utf8(&mut bytes).as_bytes();
                    if let Some(room) = words.lower.get_mut(end..end + bytes.len()) {
                        room.copy_from_slice(bytes);
                        end += bytes.len();
                    }
                }
            }
            before = Some(character);
        }
        words.close(start, end);
    }

    /// Ends a word; of too many the last ones are kept.
    fn close(&mut self, start: usize, end: usize) {
        if end <= start {
            return;
        }
        if self.count == MOST_WORDS {
            self.bounds.rotate_left(1);
            self.count -= 1;
        }
        // Both are at most `MOST_BYTES`.
        self.bounds[self.count] = (start as u8, end as u8);
        self.count += 1;
    }

    /// The word that so many others come after; empty when there are not as many.
    fn back(&self, back: usize) -> &str {
        let Some(index) = self.count.checked_sub(back + 1) else { return "" };
        let (start, end) = self.bounds[index];
        std::str::from_utf8(&self.lower[usize::from(start)..usize::from(end)]).unwrap_or_default()
    }
}

/// Names of passwords with letters that names in code do not have, before what assigns a value.
pub(super) fn ends_with_foreign(before: &[u8]) -> bool {
    const WORDS: [&str; 12] = [
        "contrase\u{f1}a",
        "mot de passe",
        "\u{43f}\u{430}\u{440}\u{43e}\u{43b}\u{44c}",
        "\u{41f}\u{430}\u{440}\u{43e}\u{43b}\u{44c}",
        "\u{5bc6}\u{7801}",
        "\u{5bc6}\u{78bc}",
        "\u{30d1}\u{30b9}\u{30ef}\u{30fc}\u{30c9}",
        "\u{be44}\u{bc00}\u{bc88}\u{d638}",
        "has\u{142}o",
        "l\u{f6}senord",
        "\u{15f}ifre",
        "jelsz\u{f3}",
    ];
    let end = before.iter().rposition(|byte| !matches!(byte, b' ' | b'"' | b'\'')).map_or(0, |last| last + 1);
    let before = &before[..end];
    WORDS.iter().any(|word| {
        let start = before.len().checked_sub(word.len());
        // All but the first letter as it is written: sentences begin with a capital.
        start.is_some_and(|start| before[start..].eq_ignore_ascii_case(word.as_bytes()))
    })
}

/// Words that stand where a secret would and are none: `password: required`, `token=undefined`.
pub(super) fn is_plain_answer(value: &[u8], with_colon: bool) -> bool {
    const NEVER: [&str; 12] =
        ["undefined", "null", "none", "nil", "true", "false", "empty", "missing", "yes", "no", "nan", "redacted"];
    const AFTER_COLON: [&str; 48] = [
        "required",
        "invalid",
        "expired",
        "failed",
        "failure",
        "ok",
        "error",
        "wrong",
        "incorrect",
        "must",
        "is",
        "not",
        "too",
        "the",
        "a",
        "an",
        "unexpected",
        "expected",
        "cannot",
        "could",
        "was",
        "has",
        "should",
        "string",
        "number",
        "boolean",
        "object",
        "rejected",
        "refused",
        "denied",
        "unauthorized",
        "forbidden",
        "unknown",
        "malformed",
        "verified",
        "valid",
        "please",
        "user",
        "falsch",
        "ung\u{fc}ltig",
        "erforderlich",
        "fehlt",
        "vergessen",
        "bitte",
        "requis",
        "obligatoire",
        "incorrecto",
        "requerido",
    ];
    let is = |word: &&str| value.eq_ignore_ascii_case(word.as_bytes());
    NEVER.iter().any(is) || (with_colon && AFTER_COLON.iter().any(is))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_secrets_are_known_however_they_are_written() {
        for name in [
            "password",
            "PASSWORD",
            "userPassword",
            "user_password",
            "password2",
            "newPassword1",
            "password_confirmation",
            "passwd",
            "pwd",
            "client_secret",
            "clientSecret",
            "accessToken",
            "access_token",
            "refresh-token",
            "X-Auth-Token",
            "csrftoken",
            "api_key",
            "apiKey",
            "X-API-Key",
            "apikey",
            "secret_access_key",
            "private_key",
            "PHPSESSID",
            "JSESSIONID",
            "connect.sid",
            "session_id",
            "sessionId",
            "ASP.NET_SessionId",
            "otp",
            "cvv",
            "credentials",
            "Authorization",
            "Set-Cookie",
            "auth",
            "X-Amz-Security-Token",
            "X-Amz-Signature",
            "X-Amz-Credential",
            "card_number",
            "DB_PASSWORD",
            "password_hash",
            "__Secure-next-auth.session-token",
            "verification_code",
            "seed_phrase",
            "userpassword",
            "idToken",
        ] {
            assert!(Names::OfWire.judge(name).is_some(), "{name}");
        }
    }

    #[test]
    fn names_that_only_sound_like_it_are_not() {
        for name in [
            "token_count",
            "tokenizer",
            "author",
            "authority",
            "session_start",
            "session_count",
            "sessionDuration",
            "cookie_consent",
            "password_length",
            "secret_name",
            "tokenType",
            "token_type",
            "authenticated",
            "keyboard",
            "primary_key",
            "foreign_key",
            "status_code",
            "error_code",
            "passed",
            "compass",
            "bypass",
            "secretary",
            "authorName",
            "cookiePolicy",
            "username",
            "pinned",
            "spin",
            "signal",
            "design",
            "key_count",
            "max_retries",
            "password_reset_url",
            "auth_method",
            "obsession",
        ] {
            let found = Names::OfWire.judge(name);
            assert!(found.is_none(), "{name}: {found:?}");
        }
    }

    #[test]
    fn names_in_ascii_are_cut_like_all_others() {
        let words = |name: &str, cut: Cut, ascii: bool| {
            let mut words = Words { lower: [0; MOST_BYTES], bounds: [(0, 0); MOST_WORDS], count: 0 };
            if ascii {
                words.cut_ascii(name.as_bytes(), cut)
            } else {
                words.cut(name, cut)
            }
            (0..words.count).map(|back| words.back(back).to_owned()).collect::<Vec<String>>()
        };
        for name in
            ["APIKey", "SESSIONid", "x_1y2Z", "--a..B--", "ASP.NET_SessionId", "a1B2c3", "", "_", "9A9a", "PHPSESSID"]
        {
            for cut in [Cut::AfterSmallLetter, Cut::BeforeLastCapital] {
                assert_eq!(words(name, cut, true), words(name, cut, false), "{name}");
            }
        }
    }

    #[test]
    fn names_of_a_program_are_known_however_they_are_written() {
        for name in [
            "password",
            "PASSWORD",
            "userPassword",
            "user_password",
            "password2",
            "newPassword1",
            "password_confirmation",
            "passwd",
            "dbpassword",
            "db_pass",
            "client_secret",
            "clientSecret",
            "accessToken",
            "access_token",
            "refresh-token",
            "X-Auth-Token",
            "csrftoken",
            "api_key",
            "apiKey",
            "X-API-Key",
            "apikey",
            "APIKey",
            "secret_access_key",
            "private_key",
            "authorization",
            "Authorization",
            "Set-Cookie",
            "cookies",
            "self.password",
            "cfg[\"api_key\"]",
            "m_password",
            "_password",
            "get_password()",
            "credentials",
            "session_id",
            "token",
            "card_number",
            "password_hash",
            "secret_list",
            "passwordValues",
            "secret_list_map[0]",
            "pin",
        ] {
            assert!(judge(name).is_some(), "{name}");
        }
    }

    #[test]
    fn names_of_a_program_that_only_sound_like_it_are_not() {
        for name in [
            "token_count",
            "tokenizer",
            "author",
            "authority",
            "session_start",
            "cookie_consent",
            "password_length",
            "secret_name",
            "token_type",
            "keyboard",
            "key",
            "primary_key",
            "pass",
            "passed",
            "bypass",
            "compass",
            "pinned",
            "secret_policy",
            "list",
            "data_list",
            "authenticated",
            "signature_count",
            "user_id",
            "monkey",
            "hotkey",
            "user_key",
            "",
            "_",
            "a",
            "id",
        ] {
            assert_eq!(judge(name), None, "{name}");
        }
    }

    #[test]
    fn innocent_values_stay_under_doubtful_names() {
        let covers = |name: &str, value: &str| judge(name).is_some_and(|name| name.covers(value));
        assert!(covers("password", "1234") && covers("password", "x") && !covers("password", "None"));
        assert!(covers("api_token", "abc") && !covers("api_token", "17") && !covers("api_token", ""));
        assert!(!covers("token", "IDENTIFIER") && !covers("token", "x1") && covers("token", "a81bc92f01de"));
        assert!(!covers("signature", "(int, char **) -> int"));
    }
}
