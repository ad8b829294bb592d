//! Headers of requests and answers. Their names say more than names in prose do, and nobody reads a token in one, so what
//! may be a secret goes: only the scheme of an authorization and the names of cookies stay.

use crate::names::{self, Names};
use crate::{Redactor, marker, value};

/// The value of a header without its secrets; nothing when it has none.
pub(super) fn redacted(redactor: &Redactor, name: &str, value: &str) -> Option<String> {
    if value.is_empty()
        || marker::is(value.as_bytes())
        || !is_secret(name)
        || names::is_plain_answer(value.as_bytes(), false)
    {
        return None;
    }
    if matches!(name, "cookie" | "set-cookie" | "set-cookie2") {
        return Some(cookies(redactor, name != "cookie", value));
    }
    let scheme = value.split_once(' ').filter(|(scheme, _)| value::scheme(scheme.as_bytes()).is_some());
    let mut out = String::new();
    let secret = match scheme {
        Some((scheme, secret)) => {
            out.push_str(scheme);
            out.push(' ');
            secret
        }
        None => value,
    };
    if marker::is(secret.as_bytes()) {
        return None;
    }
    marker::push(&mut out, "header", redactor.tag(secret.as_bytes()));
    Some(out)
}

/// Whether a header of this name, in small letters, carries a secret.
fn is_secret(name: &str) -> bool {
    const PARTS: [&str; 13] = [
        "auth",
        "token",
        "secret",
        "session",
        "cookie",
        "csrf",
        "xsrf",
        "api-key",
        "apikey",
        "password",
        "credential",
        "signature",
        "jwt",
    ];
    const PUBLIC: [&str; 6] = [
        ":authority",
        "www-authenticate",
        "proxy-authenticate",
        "access-control-allow-credentials",
        "access-control-allow-headers",
        "access-control-request-headers",
    ];
    let names_one = Names::OfWire.judge(name).is_some() || PARTS.iter().any(|part| name.contains(part));
    names_one && !PUBLIC.contains(&name)
}

/// Cookies with their names: of one that is set, its attributes too.
fn cookies(redactor: &Redactor, is_set: bool, value: &str) -> String {
    let parts = value.split(';').enumerate().map(|(at, part)| match part.split_once('=') {
        Some((name, secret)) if (at == 0 || !is_set) && !marker::is(secret.as_bytes()) => {
            let mut out = format!("{name}=");
            marker::push(&mut out, "cookie", redactor.tag(secret.as_bytes()));
            out
        }
        _ => part.to_owned(),
    });
    parts.collect::<Vec<String>>().join(";")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_headers_go_and_what_tells_about_them_stays() {
        let redactor = Redactor::of_wire(7);
        for (name, value, kept) in [
            ("authorization", "Bearer abc.def", "Bearer ["),
            ("proxy-authorization", "opaque", "[REDACTED:header:"),
            ("x-api-key", "12345", "[REDACTED:header:"),
            ("x-amz-security-token", "q", "[REDACTED:header:"),
            ("x-csrf", "abc", "[REDACTED:header:"),
            ("cookie", "sid=s3cr3t; theme=dark", "sid=["),
            ("set-cookie", "sid=s3cr3t; Path=/; HttpOnly", "; Path=/; HttpOnly"),
        ] {
            let out = redacted(&redactor, name, value).unwrap();
            assert!(out.contains(kept) && !out.contains("s3cr3t") && !out.contains("abc"), "{name}: {out}");
            assert!(redacted(&redactor, name, &out).is_none_or(|again| again == out), "{name}: twice is once");
        }
        for (name, value) in [
            ("content-type", "application/json"),
            ("access-control-allow-credentials", "true"),
            ("www-authenticate", "Bearer realm=\"api\""),
            ("x-request-id", "1234"),
            ("sec-fetch-mode", "cors"),
        ] {
            assert_eq!(redacted(&redactor, name, value), None, "{name}");
        }
    }
}
