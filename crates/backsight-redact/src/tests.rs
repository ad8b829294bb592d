//! Each detector both ways, and what must hold for every text.

use proptest::prelude::*;

use super::*;

fn redact(text: &str) -> String {
    Redactor::of_wire(7).text(text).into_owned()
}

/// `text` holds `secret` between `«` and `»`; only that is replaced, by a marker of `kind`.
#[track_caller]
fn hides(marked: &str, kind: &str) {
    let (before, rest) = marked.split_once('«').expect("because every example marks its secret");
    let (secret, after) = rest.split_once('»').expect("because every example marks its secret");
    let redacted = redact(&format!("{before}{secret}{after}"));
    let expected = format!("{before}[REDACTED:{kind}:{:04x}]{after}", Redactor::of_wire(7).tag(secret.as_bytes()));
    assert_eq!(redacted, expected);
    assert_eq!(redact(&redacted), redacted, "twice is once");
}

#[track_caller]
fn keeps(text: &str) {
    assert_eq!(redact(text), text);
}

const JWT: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVPmB92K27uhbUJU1p1r_wW1gFWFOEjXk";

#[test]
fn tokens_are_known_by_their_form() {
    hides(&format!("got «{JWT}» here"), "jwt");
    hides("key «AKIAIOSFODNN7EXAMPLE» leaked", "aws-key");
    hides("key «ASIAIOSFODNN7EXAMPLE»", "aws-key");
    hides("maps «AIzaSyA1234567890abcdefghijklmnopqrstuv»", "gcp-key");
    hides("git «ghp_16C7e42F292c6912E7710c838347Ae178B4a»", "github-token");
    hides("git «github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz»", "github-token");
    hides("lab «glpat-abcDEF1234567890wxyz»", "gitlab-token");
    hides("npm «npm_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8»", "npm-token");
    hides("slack «xoxb-123456789012-abcdefABCDEF»", "slack-token");
    hides("pay «sk_live_4eC39HqLyjWDarjtT1zdp7dc»", "stripe-key");
    hides("ai «sk-proj-abcdEFGH1234ijklMNOP5678»", "openai-key");
    hides("ai «sk-abcdEFGH1234ijklMNOP5678qrst»", "openai-key");
    hides("ai «sk-ant-api03-abcdEFGH1234ijklMNOP5678»", "anthropic-key");
    hides("path/«ghp_16C7e42F292c6912E7710c838347Ae178B4a»/x", "github-token");
}

#[test]
fn what_only_begins_like_a_token_stays() {
    for text in [
        "class sk-circle-fade-dot-number-12 in sk-folding-cube",
        "AKIA is short for something and AKIAIOSFODNN7EXAMPLE1 is too long",
        "npm_config_registry and npm_package_dependencies_left_pad_version_1",
        "eyJ.not.a.token and eyebrows",
        "xoxo-with-love-and-kisses-2024",
        "ghp_short",
        "hello AIzawa",
        "commit a94a8fe5ccb19ba61c4c0873d391e987982fbbd3",
        "id 3f2504e0-4f89-41d3-9a0c-0305e82c3301",
    ] {
        keeps(text);
    }
}

#[test]
fn headers_lose_their_values() {
    hides("Authorization: Bearer «abc.def-123»", "bearer");
    hides("authorization: Basic «dXNlcjpwYXNzd29yZA==»", "basic");
    hides("Authorization: Digest «username=\u{61}, nonce=1f3»", "digest");
    hides("sent with Bearer «9f86d081884c7d65» today", "bearer");
    hides("curl -H 'Cookie: «theme=dark; sid=42»' x", "cookie");
    hides("Set-Cookie: «sid=31d4d96e407aad42; Path=/; HttpOnly»\nNext: line", "cookie");
    hides("X-Api-Key: «d41d8cd98f00b204»", "key");
    hides("proxy Basic «dXNlcjpwYXNzd29yZA==» used", "basic");
    for text in [
        "the bearer of bad news",
        "Basic authentication failed",
        "Bearer token missing",
        "Cookie: rejected",
        "Authorization: required",
        "Authorization: Bearer",
    ] {
        keeps(text);
    }
}

#[test]
fn private_keys_go_with_all_their_lines() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj";
    hides(
        &format!("x «-----BEGIN RSA PRIVATE KEY-----\n{body}\n{body}\nab==\n-----END RSA PRIVATE KEY-----» y"),
        "private-key",
    );
    hides(&format!(r#"{{"k":"«-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----»\n"}}"#), "private-key");
    hides(&format!("«-----BEGIN EC PRIVATE KEY-----\n{body}\n{body}» cut here"), "private-key");
    hides("«MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj»", "private-key");
    keeps("-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQ\n-----END PUBLIC KEY-----");
    keeps("-----BEGIN CERTIFICATE-----");
}

#[test]
fn card_and_security_numbers_are_checked() {
    hides("card «4111 1111 1111 1111» ok", "card");
    hides("card «4111-1111-1111-1111»", "card");
    hides("card «5500005555555559»", "card");
    hides("amex «3782 822463 10005»", "card");
    hides("two «4111111111111111», fine", "card");
    hides("ssn is «123-45-6789».", "ssn");
    for text in [
        "card 4111 1111 1111 1112",
        "1700000000000 ms",
        "4111111111111111.5",
        "order 1234567890123456",
        "000-12-3456",
        "2023-123-45-6789",
        "666-12-3456",
        "123-45-67890",
    ] {
        keeps(text);
    }
    assert_eq!(redact("4111111111111111 4111111111111111").matches("REDACTED").count(), 2);
}

#[test]
fn values_under_names_of_secrets_go_in_every_notation() {
    hides("password=«hunter2»&user=jane", "password");
    hides("login failed, password: «hunter2»", "password");
    hides("{password: '«hunter two»', user: 'jane'}", "password");
    hides(r#"{"user":"jane","password":"«hun\"ter»","age":3}"#, "password");
    hides(r#"{"body":"{\"password\":\"«hunter2»\",\"a\":1}"}"#, "password");
    hides("Map(1) {'apiKey' => '«abcdef»'}", "key");
    hides("<password>«hunter2</password>»".replace("</password>»", "»</password>").as_str(), "password");
    hides("Content-Disposition: form-data; name=\"password\"\r\n\r\n«hunter2»\r\n--x", "password");
    hides(r#"[{"name":"password","value":"«hunter2»"}]"#, "password");
    hides("run --token «abcdef» --fast", "token");
    hides("DB_PASSWORD=«s3cr3t,x)y»", "password");
    hides("client_secret=«aaaa»", "secret");
    hides("JSESSIONID=«1A530637289A03B0»; theme=dark", "session");
    hides("env.API_KEY = «abc»", "key");
    hides("passphrase: «correct horse battery staple»\nnext", "password");
    hides("params[\"password\"]=«x1»", "password");
}

#[test]
fn addresses_lose_users_and_secret_parameters() {
    // The name goes too; the tag is that of the password wherever else it stands.
    let tag = Redactor::of_wire(7).tag(b"pw");
    assert_eq!(redact("http://jane:pw@host.test/a"), format!("http://[REDACTED:userinfo:{tag:04x}]@host.test/a"));
    hides("https://host.test/cb?code=«4/0AX4XfWh»&x=1", "code");
    hides("https://host.test/cb#access_token=«ya12»&expires_in=3600", "token");
    hides("https://host.test/f?sig=«Zm9vYmFyMTIz%3D»&sv=2020", "signature");
    hides("https://h.test/?next=https%3A%2F%2Fa.test%2F%3Ftoken%3D«abc»%26x%3D1", "token");
    hides("wss://host.test/live?token=«abc»", "token");
    hides("https://maps.test/js?key=«B1zaSyA1234567890»", "key");
    keeps("https://host.test/cb?code=404&state=open&page=2");
    keeps("git+ssh://git@github.com/a/b.git");
    keeps("http://localhost:3000/a@b/c");
}

#[test]
fn names_that_only_sound_secret_keep_their_values() {
    for text in [
        "token_count=4096 max_tokens=512 total_tokens: 1234",
        r#"{"max_tokens":4096,"tokenizer":"cl100k","author":"jane","session_start":"before","token_type":"bearer"}"#,
        "SyntaxError: Unexpected token: punc (,)",
        "Unexpected token '<', \"<!DOCTYPE \"... is not valid JSON",
        "password: required",
        "token=undefined; secret=null",
        "auth: failed for user",
        "session: started",
        "key=value pairs and code=404",
        "the secret of the token is out",
        r#"{"password":null,"token":true,"auth":{"ok":true}}"#,
        "https://host.test/author/7?sessions=3",
        "std::token::Token",
    ] {
        keeps(text);
    }
}

#[test]
fn objects_under_names_of_secrets_lose_their_texts_and_keep_their_shape() {
    let redacted = redact(r#"{"credentials":{"user":"jane","list":["a b",true]},"next":"plain"}"#);
    let value: serde_json::Value = serde_json::from_str(&redacted).expect("because it was JSON");
    assert!(value["credentials"]["user"].as_str().is_some_and(|text| text.starts_with("[REDACTED:credential:")));
    assert!(value["credentials"]["list"][0].as_str().is_some_and(|text| text.starts_with("[REDACTED:credential:")));
    assert_eq!(value["credentials"]["list"][1], true);
    assert_eq!(value["next"], "plain");
}

#[test]
fn numbers_in_json_become_texts() {
    let value: serde_json::Value =
        serde_json::from_str(&redact(r#"{"otp":123456,"pan":4111111111111111,"n":-4111111111111111}"#))
            .expect("because it was JSON");
    assert!(value["otp"].is_string() && value["pan"].is_string() && value["n"].is_number());
}

#[test]
fn a_string_that_ends_after_a_name_does_not_swallow_the_next_one() {
    let text = r#"{"label":"password: ","x":"abc","token = ":"it's","y":'"#;
    let whole = &text[..text.len() - 6];
    let json = format!("{whole}}}");
    let value: serde_json::Value = serde_json::from_str(&redact(&json)).expect("because it was JSON");
    assert_eq!(value["x"], "abc");
}

#[test]
fn what_random_texts_once_broke_stays_whole() {
    for text in [
        "auth=!4111 1111 1111 1111".to_owned(),
        "123-45-6789-----BEGIN PRIVATE KEY-----".to_owned(),
        "://-----BEGIN PRIVATE KEY-----user:pw@".to_owned(),
        format!("Cookie:¡¡{JWT}{JWT}{JWT}password="),
    ] {
        let once = redact(&text);
        assert_eq!(redact(&once), once, "{text}");
    }
    for json in [
        "4111111111111111",
        r#"{"passphrase":null}"#,
        r#"[[{"password\":\"":null}],4111111111111111]"#,
        r#"{"-----BEGIN PRIVATE KEY-----aaAuthorization\"":null}"#,
        r#"{"0password\\":0}"#,
        r#"["Authorization\":\"\\"]"#,
    ] {
        let redacted = redact(json);
        assert!(serde_json::from_str::<serde_json::Value>(&redacted).is_ok(), "{json} became {redacted}");
    }
}

#[test]
fn equal_secrets_have_equal_tags_and_other_salts_have_others() {
    let text = "token=abcdef1 then Bearer abcdef1 token=other22";
    let redacted = redact(text);
    let tags: Vec<&str> =
        redacted.split("REDACTED:").skip(1).filter_map(|rest| rest.split([':', ']']).nth(1)).collect();
    assert_eq!(tags.len(), 3);
    assert_eq!(tags[0], tags[1]);
    assert_ne!(tags[0], tags[2]);
    assert_ne!(Redactor::of_wire(8).text(text), redacted);
}

/// Pieces that the scanner treats in its own way, to be put together in every order.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "password",
            "token",
            "session",
            "Cookie",
            "Authorization",
            "code",
            "auth",
            "passphrase",
            "otp",
            "=",
            ": ",
            ":",
            "\":\"",
            "\\\":\\\"",
            "Bearer ",
            "Basic ",
            "dXNlcjpwYXNz",
            "://",
            "user:pw@",
            "?",
            "&",
            "\"",
            "'",
            "\\",
            "\\n",
            "%3D",
            "%26",
            "%22",
            "{",
            "}",
            "[",
            "]",
            ", ",
            "\n",
            ",\"value\":\"",
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "MIIEvQIBADANBgkqhkiG9w0BAQ",
            "4111 1111 1111 1111",
            "123-45-6789",
            "AKIAIOSFODNN7EXAMPLE",
            "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
            "[REDACTED:jwt:12ab]",
            "[REDACTED:",
            ":12ab]",
            "--",
            "<",
            ">",
            ";",
            "unexpected ",
            "ä",
            "42",
        ])
        .prop_map(str::to_owned),
        Just(JWT.to_owned()),
        "[a-z0-9]{1,9}",
        "\\PC{0,3}",
    ];
    proptest::collection::vec(piece, 0..20).prop_map(|pieces| pieces.concat())
}

fn json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(serde_json::Value::from),
        any::<i64>().prop_map(serde_json::Value::from),
        any::<f64>().prop_map(serde_json::Value::from),
        Just(serde_json::Value::from(4_111_111_111_111_111_u64)),
        pieces().prop_map(serde_json::Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        let key = prop_oneof![
            "[a-z]{1,6}",
            Just("password".to_owned()),
            Just("tokens".to_owned()),
            Just("otp".to_owned()),
            pieces()
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(serde_json::Value::from),
            prop::collection::vec((key, inner), 0..5)
                .prop_map(|pairs| serde_json::Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// The same containers, with texts in the place of what was redacted.
fn same_shape(left: &serde_json::Value, right: &serde_json::Value) -> bool {
    use serde_json::Value;
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same_shape(left, right))
        }
        // Keys may hold secrets themselves and become equal.
        (Value::Object(left), Value::Object(right)) => right.len() <= left.len(),
        (Value::Array(_) | Value::Object(_), _) | (_, Value::Array(_) | Value::Object(_)) => false,
        _ => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn redacting_twice_is_redacting_once(text in pieces()) {
        let once = redact(&text);
        prop_assert_eq!(redact(&once), once);
    }

    #[test]
    fn text_grows_by_its_markers_only(text in pieces()) {
        let redacted = redact(&text);
        let markers = redacted.matches("[REDACTED:").count();
        prop_assert!(redacted.len() <= text.len() + markers * 42);
    }

    #[test]
    fn json_stays_json_of_the_same_shape(value in json()) {
        let text = value.to_string();
        let redacted = redact(&text);
        let parsed: Result<serde_json::Value, _> = serde_json::from_str(&redacted);
        prop_assert!(parsed.is_ok(), "{} became {}", text, redacted);
        prop_assert!(same_shape(&value, &parsed.unwrap_or_default()), "{} became {}", text, redacted);
    }

    #[test]
    fn no_planted_secret_survives(
        before in "[a-zA-Z0-9 .,]{0,20}",
        secret in "[a-zA-Z][a-zA-Z0-9]{7,20}",
        after in "[a-z .,]{0,20}",
        form in 0_usize..12,
    ) {
        prop_assume!(!names::is_plain_answer(secret.as_bytes(), true));
        let secret = format!("{secret}7Q");
        let planted = match form {
            0 => format!("password={secret}"),
            1 => format!("{{\"token\":\"{secret}\"}}"),
            2 => format!("Authorization: Bearer {secret}"),
            3 => format!("https://u:{secret}@h.test/x"),
            4 => format!("https://h.test/?access_token={secret}&a=1"),
            5 => format!("{{apiKey: '{secret}'}}"),
            6 => format!("Cookie: sid={secret}; b=2"),
            7 => format!("\\\"client_secret\\\":\\\"{secret}\\\""),
            8 => format!("sessionid={secret};"),
            9 => format!("ghp_{secret}{secret}{secret}"),
            10 => format!("{{\"credentials\":[\"{secret}\",{{\"x\":\"{secret}\"}}]}}"),
            _ => format!("-----BEGIN PRIVATE KEY-----\n{secret}{secret}{secret}\n-----END PRIVATE KEY-----"),
        };
        let redacted = redact(&format!("{before} {planted} {after}"));
        prop_assert!(!redacted.contains(&secret), "{}", redacted);
    }
}

/// What a text that is redacted or fingerprinted could repeat: the beginnings of tokens, and whatever opens something.
fn beginnings() -> Vec<String> {
    let openings = [
        "eyJ-",
        "eyJhbGciOiJ",
        "eyJ.",
        "password=",
        "password: ",
        "password=\"",
        "\"password\":",
        "cookie: ",
        "cookie=",
        "authorization: ",
        "bearer ",
        "token='",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "--password ",
        "<password>",
        "[REDACTED:a:",
        "\\\"",
        "\"/a",
        "'/a",
        "error=[",
        "a=[://",
        "http://'",
        "http://a@",
        "-sk-",
        "_sk-",
        "4111-",
        "{\"a\":",
    ];
    forms::starts().chain(openings).map(str::to_owned).collect()
}

/// Without this, 900 kB that repeat `sk-` kept the lane's lock for minutes.
#[test]
fn no_text_takes_longer_than_its_length_allows() {
    let redactor = Redactor::of_wire(7);
    let beginnings = beginnings();
    let mixed = beginnings.concat();
    let pairs = beginnings.iter().zip(beginnings.iter().skip(1)).map(|(one, other)| format!("{one}{other}"));
    let all: Vec<String> = beginnings.iter().cloned().chain(pairs).chain([mixed]).collect();
    for repeated in &all {
        work_is_linear(repeated, 32 << 10, |text| drop(redactor.text(text)));
    }
}

/// The judge of the test above must see a run that is measured to its end at every repetition.
#[test]
#[should_panic(expected = "times the work")]
fn work_that_grows_with_the_square_is_seen() {
    work_is_linear("sk-", 2 << 10, |text| {
        let runs = (0..text.len()).map(|at| text.as_bytes()[at..].iter().filter(|byte| **byte != b' ').count());
        assert!(std::hint::black_box(runs.sum::<usize>()) > 0);
    });
}

/// That `act` does about four times the work for a text four times as long: sixteen times would be the square. What is
/// measured is the time that this thread had a processor, and the least of several rounds, so neither a slow machine nor
/// a busy one changes the answer.
fn work_is_linear(repeated: &str, length: usize, act: impl Fn(&str)) {
    const ROUNDS: usize = 12;
    const TOO_MUCH: f64 = 9.0;
    // What closes a quotation must not be cut off, or the two texts would be of different kinds.
    let end = "\" '.";
    let text = |length: usize| repeated.repeat((length - end.len()) / repeated.len()) + end;
    let (short, long) = (text(length / 4), text(length));
    let (mut least_short, mut least_long) = (f64::MAX, f64::MAX);
    for _ in 0..ROUNDS {
        least_short = least_short.min(work_of(4, || act(&short)));
        least_long = least_long.min(work_of(1, || act(&long)));
        if least_long / least_short < TOO_MUCH {
            return;
        }
    }
    panic!("{repeated:?}: {:.1} times the work for 4 times the length", least_long / least_short);
}

/// The processor time of this thread for one of `times` repetitions.
fn work_of(times: u32, act: impl Fn()) -> f64 {
    let now = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    };
    let began = now();
    (0..times).for_each(|_| act());
    ((now() - began) / f64::from(times)).max(1e-7)
}

#[test]
fn a_token_is_whole_and_only_where_it_begins() {
    // What was found out about a run holds for the words in it that come later, and for no other run.
    hides("sk-letters «sk-abcdEFGH1234ijklMNOP5678qrst»", "openai-key");
    hides("A1-«sk-ant-api03-abcdEFGH1234ijklMNOP5678»", "anthropic-key");
    keeps("sk-1A sk-letters-only-and-nothing-else-in-it");
    keeps("0A-1-sk-letters-only-and-nothing-else-in-it");
    keeps("eyJ-eyJ-eyJ-eyJ-eyJ-eyJ");
    hides(&format!("eyJ «{JWT}»"), "jwt");
}

#[test]
fn rarer_secrets_are_known_by_their_form() {
    let redactor = Redactor::of_wire(7);
    for (text, secret) in [
        ("token hf_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh", "hf_AbCdEf"),
        ("upload with pypi-AgEIcHlwaS5vcmcCJGFiY2RlZg", "AgEIcHlwaS5vcmc"),
        ("refresh 1//0gAbCdEfGhIjKlMnOpQrStUv-wx_yz", "0gAbCdEfGh"),
        ("bot MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcDE.abcdefghijklmnopqrstuvwxyz0123456789AB", "MTIzNDU2"),
        ("pay to DE89 3704 0044 0532 0130 00 today", "3704 0044"),
        ("account GB82WEST12345698765432.", "WEST12345698765432"),
        ("Passwort: hunter2!", "hunter2!"),
        ("benutzerpasswort=geheim9", "geheim9"),
        ("mot de passe : s3same", "s3same"),
        ("mot_de_passe=s3same", "s3same"),
        ("contrase\u{f1}a: abrete", "abrete"),
        ("\u{43f}\u{430}\u{440}\u{43e}\u{43b}\u{44c}: sekret1", "sekret1"),
        ("{\"\u{5bc6}\u{7801}\": \"abc123\"}", "abc123"),
        ("Your verification code is 482913", "482913"),
        ("OTP: 482913", "482913"),
        ("2FA code 482913 sent", "482913"),
        ("Ihr Einmalcode lautet 482913.", "482913"),
        ("GET /verify?code=482913", "482913"),
    ] {
        let out = redactor.text(text);
        assert!(!out.contains(secret) && out.contains("[REDACTED:"), "{text} -> {out}");
        assert_eq!(redactor.text(&out), out, "twice is once");
    }
}

#[test]
fn ordinary_texts_that_look_a_little_like_secrets_stay() {
    let redactor = Redactor::of_wire(7);
    for text in [
        "hf_transfer_enabled_by_default_in_this_environment",
        "pypi-mirror is slow, pypi-server answers 503",
        "build 1//0 failed",
        "DE89 3704 0044 0532 0130 01",
        "part number AT12345 and FR27ABC",
        "ISO 8601 and CH1234",
        "Passwort: falsch",
        "password: required",
        "das Passwort ist zu kurz",
        "error code 482913",
        "order 482913 was shipped",
        "status code: 500, 482913 bytes",
        "option 482913 is on",
        "photo 123456.jpg and otp-less login",
        "verification failed for order 482913 of 2026",
        "MODULE.NOT.FOUND in Main.Only.Once",
        "took 123456 ms",
    ] {
        assert_eq!(redactor.text(text), text);
    }
}

/// The lines of the corpus: the text, and the secret in it.
fn corpus() -> Vec<(String, String)> {
    let lines = include_str!("../tests/corpus.txt").lines().filter(|line| !line.starts_with('#'));
    let marked = lines.map(|line| {
        let (before, rest) = line.split_once('«').expect("because every line marks its secret");
        let (secret, after) = rest.split_once('»').expect("because every line marks its secret");
        (format!("{before}{secret}{after}"), secret.to_owned())
    });
    marked.collect()
}

/// The tags of the markers in a text.
fn tags(text: &str) -> Vec<&str> {
    text.split("[REDACTED:").skip(1).filter_map(|rest| rest.split([':', ']']).nth(1)).collect()
}

#[test]
fn every_secret_of_the_corpus_has_one_tag_on_the_wire_and_in_a_program() {
    let corpus = corpus();
    assert!(corpus.len() > 70, "the corpus was not found");
    for (text, secret) in corpus {
        for redactor in [Redactor::of_wire(7), Redactor::of_program(7)] {
            let redacted = redactor.text(&text).into_owned();
            let tag = format!("{:04x}", redactor.tag(secret.as_bytes()));
            assert!(!redacted.contains(&secret), "{:?}: {redacted}", redactor.names);
            assert_eq!(tags(&redacted), [tag], "{:?}: {redacted}", redactor.names);
            assert_eq!(redactor.text(&redacted), redacted, "twice is once");
            // What is said of it later, and what is around it, changes nothing.
            let quoted = redactor.text(&format!("note: {text}\nand more")).into_owned();
            assert!(!quoted.contains(&secret), "{:?}: {quoted}", redactor.names);
        }
    }
}

#[test]
fn a_token_as_the_user_of_an_address_is_replaced_once() {
    for redactor in [Redactor::of_wire(7), Redactor::of_program(7)] {
        let tag = redactor.tag(b"a81bc92f01de9");
        let redacted = redactor.text("http://a81bc92f01de9@h.test/x").into_owned();
        assert_eq!(redacted, format!("http://[REDACTED:userinfo:{tag:04x}]@h.test/x"));
    }
}

#[test]
fn every_name_of_a_secret_passes_the_first_look() {
    let names = "password passwd pwd pass pw passcode passphrase mnemonic phrase secret token jwt credential creds otp \
                 totp cvv cvc pin pincode ssn number authorization cookie apikey key keys code auth bearer basic session \
                 sid sess sessionid csrf xsrf sig signature hmac passwort kennwort wachtwoord senha contrasena haslo heslo \
                 losenord salasana adgangskode passord sifre jelszo lozinka motdepasse parola passe";
    for name in names.split_whitespace() {
        assert!(prose::may_speak(&format!("the {name} is")), "{name}");
        assert!(prose::may_speak(&format!("THE {} IS", name.to_uppercase())), "{name}");
    }
    assert!(!prose::may_speak("GET /api/users 200 in 12 ms"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn redacting_a_program_twice_is_redacting_it_once(text in pieces()) {
        let redactor = Redactor::of_program(7);
        let once = redactor.text(&text).into_owned();
        prop_assert_eq!(redactor.text(&once).into_owned(), once.clone());
    }
}

#[test]
fn no_text_of_a_program_takes_longer_than_its_length_allows() {
    let redactor = Redactor::of_program(7);
    let spoken = [
        "password ",
        "password for a ",
        "token=`",
        "secret \\n",
        "sk-.",
        "ghp_=",
        "eyJaaaaaaaaaa=",
        "пароль ",
        "key -> ",
    ];
    for repeated in beginnings().iter().map(String::as_str).chain(spoken) {
        work_is_linear(repeated, 16 << 10, |text| drop(redactor.text(text)));
    }
    for repeated in spoken {
        work_is_linear(repeated, 16 << 10, |text| drop(Redactor::of_wire(7).text(text)));
    }
}
