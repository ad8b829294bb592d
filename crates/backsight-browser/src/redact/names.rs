//! Which names have secrets as their values. `password` and `accessToken` have; `token_count`, `author` and `session_start`
//! have not: what decides is mostly the last word of a name.

/// What a name says about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name {
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
    /// What looks made up is, in an address only.
    InAddress,
    /// The header `Authorization`.
    Authorization,
    /// The headers `Cookie` and `Set-Cookie`.
    Cookie,
}

/// Longer names are no names.
pub(super) const LONGEST: usize = 80;

/// What `name` says: letters, digits, `_`, `-` and `.` in any case.
pub(super) fn judge(name: &[u8]) -> Option<Name> {
    if name.len() < 2 || name.len() > LONGEST {
        return None;
    }
    let mut lower = [0_u8; LONGEST];
    let mut bounds = [(0_u8, 0_u8); MOST_WORDS];
    let count = words(name, &mut lower, &mut bounds);
    let word = |back: usize| -> &[u8] {
        match count.checked_sub(back) {
            Some(index) => &lower[usize::from(bounds[index].0)..usize::from(bounds[index].1)],
            None => b"",
        }
    };
    by_last(word(1), word(2), word(3)).or_else(|| by_qualified(word(1), word(2)))
}

const MOST_WORDS: usize = 12;

/// Splits a name into lower-case words at `_`, `-`, `.`, at capitals after small letters, and before digits at the end. Of too
/// many words the last ones are kept.
fn words(name: &[u8], lower: &mut [u8; LONGEST], bounds: &mut [(u8, u8); MOST_WORDS]) -> usize {
    let mut count = 0;
    let mut start = 0;
    let mut close = |start: usize, end: usize| {
        if end <= start {
            return;
        }
        if count == MOST_WORDS {
            bounds.rotate_left(1);
            count -= 1;
        }
        // Names are shorter than 256.
        bounds[count] = (start as u8, end as u8);
        count += 1;
    };
    for (at, &byte) in name.iter().enumerate() {
        lower[at] = byte.to_ascii_lowercase();
        let before = at.checked_sub(1).map(|at| name[at]);
        if !byte.is_ascii_alphanumeric() {
            close(start, at);
            start = at + 1;
        } else if (byte.is_ascii_uppercase() && before.is_some_and(|byte| byte.is_ascii_lowercase()))
            || (byte.is_ascii_digit() && before.is_some_and(|byte| byte.is_ascii_alphabetic()) && at > start)
        {
            close(start, at);
            start = at;
        }
    }
    close(start, name.len());
    count
}

/// What the last word says, with the one or two before it.
fn by_last(last: &[u8], before: &[u8], earlier: &[u8]) -> Option<Name> {
    use Strength::{Always, Authorization, Cookie, InAddress, Opaque, Phrase, Text};
    let (kind, strength) = match last {
        b"password" | b"passwd" | b"pwd" | b"passcode" | b"pass" | b"pw" => ("password", Always),
        // In other languages; those that are ordinary words too are left out.
        b"passwort" | b"kennwort" | b"wachtwoord" | b"senha" | b"contrasena" | b"haslo" | b"heslo" | b"losenord"
        | b"salasana" | b"adgangskode" | b"passord" | b"sifre" | b"jelszo" | b"lozinka" | b"motdepasse" => {
            ("password", Always)
        }
        b"passe" if before == b"de" && earlier == b"mot" => ("password", Always),
        b"passphrase" | b"mnemonic" => ("password", Phrase),
        b"phrase" if matches!(before, b"seed" | b"recovery" | b"secret" | b"pass") => ("password", Phrase),
        b"secret" | b"secrets" | b"clientsecret" => ("secret", Text),
        b"token" | b"tokens" | b"jwt" => ("token", Text),
        b"credential" | b"credentials" | b"creds" => ("credential", Text),
        b"otp" | b"totp" | b"cvv" | b"cvc" | b"csc" => ("otp", Always),
        b"pin" => ("otp", Always),
        b"ssn" => ("ssn", Always),
        b"authorization" => ("authorization", Authorization),
        b"cookie" | b"cookies" => ("cookie", Cookie),
        b"apikey" | b"accesskey" | b"secretkey" | b"privatekey" | b"authkey" | b"accountkey" | b"signingkey" => {
            ("key", Text)
        }
        b"key" if is_secret_key(before) => ("key", Text),
        b"key" if before.is_empty() => ("key", InAddress),
        b"code"
            if matches!(
                before,
                b"auth" | b"verification" | b"security" | b"recovery" | b"backup" | b"mfa" | b"otp" | b"passcode"
            ) =>
        {
            ("otp", Always)
        }
        b"code" | b"state" | b"ticket" | b"assertion" if before.is_empty() => ("code", InAddress),
        b"auth" | b"bearer" => ("auth", Opaque),
        b"session" | b"sid" | b"sess" => ("session", Opaque),
        b"sessionid" | b"sessid" | b"phpsessid" | b"jsessionid" | b"aspsessionid" | b"sessiontoken" => {
            ("session", Text)
        }
        b"id" | b"key" | b"hash" | b"data" if matches!(before, b"session" | b"sess") => ("session", Opaque),
        b"id" if before == b"_session" || (before == b"net" && earlier == b"asp") => ("session", Opaque),
        b"csrf" | b"xsrf" | b"csrftoken" | b"xsrftoken" => ("token", Opaque),
        b"sig" | b"signature" | b"hmac" => ("signature", Opaque),
        b"number" if matches!(before, b"card" | b"ssn" | b"security") => ("card", Always),
        b"nonce" | b"challenge" | b"verifier" if before == b"code" => ("code", Opaque),
        _ if last.ends_with(b"password") || last.ends_with(b"passwd") || last.ends_with(b"passwort") => {
            ("password", Always)
        }
        _ if last.len() > 5 && last.ends_with(b"token") => ("token", Text),
        _ if last.len() > 6 && last.ends_with(b"secret") => ("secret", Text),
        _ => return None,
    };
    Some(Name { kind, strength })
}

fn is_secret_key(before: &[u8]) -> bool {
    matches!(
        before,
        b"api"
            | b"access"
            | b"private"
            | b"secret"
            | b"signing"
            | b"encryption"
            | b"auth"
            | b"master"
            | b"account"
            | b"license"
            | b"service"
            | b"subscription"
            | b"deploy"
            | b"ssh"
            | b"client"
            | b"shared"
            | b"storage"
    )
}

/// `password_confirmation`, `newPassword2`, `token_value`: the word before the last one decides if the last adds nothing.
fn by_qualified(last: &[u8], before: &[u8]) -> Option<Name> {
    let neutral = matches!(
        last,
        b"value"
            | b"raw"
            | b"plain"
            | b"text"
            | b"string"
            | b"str"
            | b"confirmation"
            | b"confirm"
            | b"again"
            | b"repeat"
            | b"new"
            | b"old"
            | b"current"
            | b"hash"
            | b"salt"
            | b"header"
            | b"field"
    ) || last.iter().all(u8::is_ascii_digit);
    match neutral && !before.is_empty() {
        true => by_last(before, b"", b"")
            .filter(|name| name.strength != Strength::InAddress && name.strength != Strength::Cookie),
        false => None,
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
            assert!(judge(name.as_bytes()).is_some(), "{name}");
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
            let found = judge(name.as_bytes());
            assert!(found.is_none(), "{name}: {found:?}");
        }
    }
}
