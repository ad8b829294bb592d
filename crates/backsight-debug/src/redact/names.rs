//! Which names have secrets as their values. `password` and `accessToken` have; `token_count`, `author` and `session_start`
//! have not: what decides is mostly the last word of a name. Programs that are debugged have more innocent tokens, keys and
//! passes than secret ones, so those words alone only cover what looks made up.

/// What a name says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
    strength: Strength,
}

/// How sure a name makes us that its value is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Strength {
    /// Any value is, even a number.
    Always,
    /// Any text is; numbers are counts.
    Text,
    /// What looks made up is.
    Opaque,
    /// A few digits are; one or two are a pin of a board.
    Digits,
}

impl Name {
    /// Whether a value under this name is a secret.
    pub(super) fn covers(self, value: &str) -> bool {
        let plain = ["", "true", "false", "none", "null", "nil", "undefined", "nan", "[]", "{}", "()"];
        if plain.iter().any(|word| value.eq_ignore_ascii_case(word)) {
            return false;
        }
        let number = value.parse::<f64>().is_ok();
        match self.strength {
            Strength::Always => true,
            Strength::Text => !number,
            Strength::Opaque => looks_made_up(value),
            Strength::Digits => (4..=8).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_digit()),
        }
    }
}

/// Long, or letters and digits, without blanks.
fn looks_made_up(value: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=_-.~:%".contains(&byte);
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    let mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    value.bytes().all(token) && (value.len() >= 24 && has(u8::is_ascii_alphabetic) || value.len() >= 8 && mixed)
}

/// What `name` says; it may be an expression that ends with a name, such as `request.headers["Authorization"]`.
pub(super) fn judge(name: &str) -> Option<Name> {
    let words = words(name);
    let word = |back: usize| words.iter().rev().nth(back).map_or("", String::as_str);
    let is_neutral =
        |word: &str| NEUTRAL.contains(&word) || (!word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()));
    let neutral = (0..words.len()).take_while(|back| is_neutral(word(*back))).count();
    let found = (0..=neutral).find_map(|back| by_last(word(back), word(back + 1)));
    found.map(|strength| Name { strength })
}

/// What the steps of a path say about what is at its end: whatever is inside a secret is one.
pub(super) fn judge_path(path: &str) -> Option<Name> {
    path.split(['.', '[', ']']).find_map(judge)
}

/// What an expression says about its value: something made of a secret is one.
pub(super) fn judge_expression(expression: &str) -> Option<Name> {
    let is_part = |character: char| character.is_alphanumeric() || "_.$[]'\"".contains(character);
    expression.split(|character| !is_part(character)).find_map(|part| judge(part).or_else(|| judge_path(part)))
}

/// What adds nothing to the word before it.
const NEUTRAL: [&str; 37] = [
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
    "repeat",
    "new",
    "old",
    "current",
    "hash",
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

fn by_last(last: &str, before: &str) -> Option<Strength> {
    use Strength::{Always, Digits, Opaque, Text};
    let qualified = QUALIFIERS.contains(&before);
    let found = match last {
        "password" | "passwd" | "pwd" | "passcode" | "passphrase" | "passwords" => Always,
        // In the languages that most programs speak to their users.
        "passwort" | "passwörter" | "kennwort" | "contraseña" | "contrasena" | "senha" | "wachtwoord" | "hasło"
        | "haslo" | "heslo" | "lösenord" | "adgangskode" | "salasana" | "parola" | "пароль" | "密码" | "密碼"
        | "パスワード" | "비밀번호" => Always,
        "passe" if before == "de" => Always,
        "pass" | "pw" if qualified => Always,
        "mnemonic" => Text,
        "phrase" if matches!(before, "seed" | "recovery" | "secret" | "pass") => Text,
        "secret" | "secrets" => Text,
        "token" | "tokens" if qualified => Text,
        "token" | "tokens" => Opaque,
        "jwt" => Text,
        "credential" | "credentials" | "creds" => Text,
        "otp" | "totp" | "cvv" | "cvc" => Always,
        "pin" if matches!(before, "user" | "card" | "sim" | "atm" | "login") => Always,
        "pin" | "pincode" => Digits,
        "code" if matches!(before, "verification" | "security" | "recovery" | "backup" | "mfa" | "otp") => Always,
        "ssn" => Always,
        "number" if matches!(before, "card" | "ssn") => Always,
        "authorization" => Text,
        "cookie" | "cookies" => Text,
        "key" | "keys" if qualified && !matches!(before, "id" | "user") => Text,
        "auth" | "bearer" => Opaque,
        "session" | "sid" | "sessionid" | "phpsessid" | "jsessionid" => Opaque,
        "id" if before == "session" => Opaque,
        "csrf" | "xsrf" => Opaque,
        "signature" | "sig" | "hmac" => Opaque,
        _ => return by_end(last),
    };
    Some(found)
}

/// Of words that were written together: `dbpassword`, `apikey`, `authtoken`.
fn by_end(last: &str) -> Option<Strength> {
    let ends = ["password", "passwd", "secret"];
    let joined = ["apikey", "accesskey", "secretkey", "privatekey", "authkey", "signingkey", "accountkey"];
    let tokens = ["authtoken", "accesstoken", "apitoken", "csrftoken", "xsrftoken", "sessiontoken", "idtoken"];
    if ends.iter().any(|end| last.ends_with(end)) {
        return Some(Strength::Always);
    }
    (joined.contains(&last) || tokens.contains(&last)).then_some(Strength::Text)
}

/// The last few words of a name in small letters: cut at everything that is no letter or digit, at capitals after small
/// letters, at the last of several capitals, and before digits.
fn words(name: &str) -> Vec<String> {
    // Names are short, expressions need not be; what decides is at the end.
    let end = name.ceil_char_boundary(name.len().saturating_sub(120));
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let characters: Vec<char> = name[end..].chars().collect();
    for (at, &character) in characters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| characters[at]);
        let after = characters.get(at + 1);
        let starts_word = before.is_some_and(|before| {
            (character.is_uppercase() && (before.is_lowercase() || after.is_some_and(|after| after.is_lowercase())))
                || (character.is_ascii_digit() && before.is_alphabetic())
        });
        if (starts_word || !character.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if character.is_alphanumeric() {
            word.extend(character.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
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
    fn names_that_only_sound_like_it_are_not() {
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
