//! Tests of redaction.

use backsight_core::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::capture::{FrameCapture, Incomplete, Scope, Variable};
use crate::diff::{Options, snapshot_diff};

fn redactor() -> Redactor {
    Redactor::of_program(0x1234_5678_9abc_def0)
}

fn capture(variables: Vec<(&str, Node)>) -> Capture {
    let variables = variables.into_iter().map(|(name, value)| Variable::new(Scope::Local, name, value)).collect();
    Capture {
        id: "snap-1".into(),
        label: "a".into(),
        number: 1,
        timestamp: Timestamp(0),
        thread_id: 1,
        stack_depth: None,
        depth: 2,
        safety: Safety::Pure,
        frames: vec![FrameCapture {
            thread_id: 1,
            index: 0,
            function: "f".into(),
            file: None,
            line: None,
            call: None,
            variables,
        }],
        incomplete: vec![Incomplete::new("", "api_key=abcdef timed out")],
    }
}

fn text(value: &str) -> Node {
    Node::leaf("str", format!("'{value}'"))
}

fn fields(children: Vec<(&str, Node)>) -> Node {
    Node::new("Thing", "Thing", Inside::Fields(children.into_iter().map(|(name, node)| (name.into(), node)).collect()))
}

/// Everything a capture says.
fn said(capture: &Capture) -> String {
    serde_json::to_string(capture).unwrap()
}

#[test]
fn secrets_are_taken_out_at_any_depth_and_by_any_sign() {
    let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc_DEF-123";
    let pem = "-----BEGIN RSA PRIVATE KEY-----\\nMIIEow\\n-----END RSA PRIVATE KEY-----";
    let headers = Node::new(
        "list",
        "list(1)",
        Inside::Elements(vec![(
            0,
            Node::new("tuple", "tuple(2)", Inside::Elements(vec![(0, text("Authorization")), (1, text("hunter-a"))])),
        )]),
    );
    let by_key = Node::new(
        "dict",
        "dict(2)",
        Inside::Entries(vec![("'api_key'".into(), text("hunter-b")), ("'AKIAIOSFODNN7EXAMPLE'".into(), text("x"))]),
    );
    let deep = fields(vec![("inner", fields(vec![("password", fields(vec![("parts", text("hunter-c"))]))]))]);
    let pair = fields(vec![("name", text("client_secret")), ("value", text("hunter-d"))]);
    let mut capture = capture(vec![
        ("password", text("hunter2").with_length(7)),
        ("user.password", text("hunter3")),
        ("pin_code", text("visible-1")),
        ("token_count", Node::leaf("int", "42")),
        ("author", text("visible-2")),
        ("note", text(&format!("see {jwt} there"))),
        ("header", text("Bearer abcDEF123456")),
        ("pem", text(pem)),
        ("url", text("postgres://bob:hunter4@db/x")),
        ("repr", text("Login(user=\\'visible-3\\', password=\\'hunter5\\')")),
        ("github", text("ghp_0123456789abcdefghij0123456789abcdef")),
        ("slack", text("xoxb-1234567890-abcdef")),
        ("stripe", text("sk_live_0123456789abcdef")),
        ("openai", text("sk-proj-0123456789abcdefghijkl")),
        ("headers", headers),
        ("by_key", by_key),
        ("deep", deep),
        ("pair", pair),
    ]);
    let replaced = super::capture(&redactor(), &mut capture);
    let said = said(&capture);
    for secret in [
        "hunter",
        "abcDEF123456",
        "MIIEow",
        "0123456789abcdef",
        "1234567890-abcdef",
        jwt,
        "AKIAIOSFODNN7EXAMPLE",
        "abcdef timed",
    ] {
        assert!(!said.contains(secret), "{secret} in {said}");
    }
    for innocent in
        ["visible-1", "visible-2", "visible-3", "42", "postgres://bob:", "@db/x", "see [REDACTED:jwt:", " there"]
    {
        assert!(said.contains(innocent), "{innocent} in {said}");
    }
    assert_eq!(replaced, 17);
    assert_eq!(capture.frames[0].variables[0].value.length, None);
}

#[test]
fn a_changed_secret_is_seen_to_change_and_an_equal_one_is_not() {
    let redacted = |secret: &str| {
        let mut capture = capture(vec![("password", text(secret))]);
        super::capture(&redactor(), &mut capture);
        capture
    };
    let same = snapshot_diff(&redacted("hunter2"), &redacted("hunter2"), &Options::default());
    assert_eq!(same.summary.changes(), 0);
    let diff = snapshot_diff(&redacted("hunter2"), &redacted("hunter3"), &Options::default());
    let [entry] = diff.modified.as_slice() else { panic!("{diff:?}") };
    assert!(entry.old_value.as_ref().unwrap().starts_with("[REDACTED:password:"), "{entry:?}");
    assert_ne!(entry.old_value, entry.new_value);
}

#[test]
fn secrets_whose_tags_agree_still_differ_by_their_salted_hash() {
    let redactor = redactor();
    let hashed = |hash: u64| {
        let mut capture = capture(vec![("password", Node::leaf("str", "[REDACTED:secret:0000]").with_hash(hash))]);
        super::capture(&redactor, &mut capture);
        capture
    };
    let (a, b) = (hashed(1), hashed(2));
    assert_ne!(a.frames[0].variables[0].value.hash, Some(1), "a bare hash of a short secret gives it away");
    let diff = snapshot_diff(&a, &b, &Options::default());
    assert_eq!(diff.modified[0].note.as_deref(), Some("changed"));
}

#[test]
fn texts_of_containers_are_trusted_only_when_they_cannot_hold_values() {
    let node = || Node::new("Credentials", "Credentials(hunter2)", Inside::NotExpanded);
    let mut pure = capture(vec![("credentials", node())]);
    super::capture(&redactor(), &mut pure);
    assert_eq!(pure.frames[0].variables[0].value.text, "Credentials(hunter2)");
    let mut adapter = Capture { safety: Safety::Adapter, ..capture(vec![("credentials", node())]) };
    super::capture(&redactor(), &mut adapter);
    assert!(!said(&adapter).contains("hunter2"));
}

#[test]
fn a_parser_can_be_debugged() {
    let tokens = (0..3).map(|index| (index, text(["let", "identifier", "0x10"][index as usize]))).collect();
    let mut capture = capture(vec![
        ("token", text("let")),
        ("tokens", Node::new("list", "list(3)", Inside::Elements(tokens))),
        ("next_token", text("identifier")),
        ("key", text("primary")),
        ("session", text("morning")),
        ("pass", Node::leaf("int", "2")),
        ("has_password", Node::leaf("bool", "True")),
    ]);
    capture.incomplete.clear();
    let before = capture.clone();
    assert_eq!(super::capture(&redactor(), &mut capture), 0);
    assert_eq!(capture, before);
}

proptest! {
    #[test]
    fn twice_is_once_and_nothing_panics(text in "\\PC{0,40}|(password|passwort|пароль|：|→| -> | for | is |\n|token|Bearer |://|:|=|\"|'|\\\\|@|eyJ|-----BEGIN |PRIVATE KEY|é|a1B2c3D4e5F6| |\\[REDACTED:|\\]){0,12}") {
        let redactor = redactor();
        let once = redactor.text(&text).into_owned();
        prop_assert_eq!(redactor.text(&once).into_owned(), once.clone());
    }

    #[test]
    fn salting_keeps_hashes_apart(a in any::<u64>(), b in any::<u64>(), salt in any::<u64>()) {
        let redactor = Redactor::of_program(salt);
        prop_assert_eq!(a == b, redactor.salted(a) == redactor.salted(b));
    }
}

#[test]
fn a_text_is_judged_by_its_name_and_by_itself() {
    let redactor = Redactor::of_program(7);
    let hidden = redactor.named("password", "'hunter22'");
    assert!(hidden.starts_with("[REDACTED:"), "{hidden}");
    assert_eq!(redactor.named("password", &hidden), hidden, "once is enough");
    assert_ne!(redactor.named("password", "'hunter23'"), hidden, "a change is still seen");
    assert_eq!(redactor.named("token_count", "12"), "12");
    assert!(!redactor.named("text", "Bearer abcdefghijklmnopqrstuvwxyz0123456789").contains("abcdefgh"));
}

#[test]
fn what_follows_a_scheme_is_the_secret() {
    let redactor = Redactor::of_program(7);
    for header in [
        "Authorization: Bearer SECRETOUT3abcdefgh",
        "authorization=Basic dXNlcjpwYXNz",
        "'Authorization': 'Bearer abc1'",
    ] {
        let shown = redactor.text(header).into_owned();
        let secret = header.rsplit([' ', '\'']).find(|word| !word.is_empty()).unwrap();
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn one_secret_has_one_marker_wherever_it_stands() {
    let redactor = Redactor::of_program(7);
    let marker = redactor.named("password", "'hunter22'").into_owned();
    assert_eq!(redactor.named("config.passwords[0]", "\"hunter22\""), marker);
    let mut capture = capture(vec![("passwd", Node::leaf("str", "'hunter22'").with_hash(9).with_length(8))]);
    super::capture(&redactor, &mut capture);
    assert_eq!(capture.frames[0].variables[0].value.text, marker);
    assert!(redactor.named("credentials['pass']", "'x1'").starts_with("[REDACTED"), "a pass among credentials");
    assert!(redactor.named("config.api_key + 'x'", "'abcx'").starts_with("[REDACTED"), "made of a secret");
    assert!(redactor.named("token", "'SECRET-6'").starts_with("[REDACTED"));
    assert_eq!(redactor.named("token", "'IDENT'"), "'IDENT'");
}

#[test]
fn what_is_inside_a_secret_is_one_however_deep_it_is() {
    let deep = Node::new("list", "list[1]", Inside::Elements(vec![(0, text("s3cr3t-deep"))]));
    let inside = Node::new("dict", "dict[1]", Inside::Entries(vec![("eu".to_owned(), deep)]));
    let list = Node::new("list", "list[2]", Inside::Elements(vec![(0, text("s3cr3t-one")), (1, inside)]));
    let mut capture =
        capture(vec![("secret_list", list), ("pin", Node::leaf("int", "4711")), ("led_pin", Node::leaf("int", "13"))]);
    super::capture(&redactor(), &mut capture);
    let said = said(&capture);
    assert!(!said.contains("s3cr3t") && !said.contains("4711") && said.contains("13"), "{said}");
    for path in ["secret_list[1]", "secret_list[1]['eu'][0]", "config.secrets['eu'].inner.text"] {
        assert!(redactor().named(path, "'s3cr3t-deep'").starts_with("[REDACTED"), "{path}");
    }
}

#[test]
fn numbers_of_cards_and_of_social_security_are_known_by_their_digits() {
    let redactor = redactor();
    for secret in ["4111111111111111", "4111 1111 1111 1111", "5500-0055-5555-5559", "3782 822463 10005", "123-45-6789"]
    {
        assert!(!redactor.text(&format!("paid with {secret}, thanks")).contains(secret), "{secret}");
        assert!(!redactor.named("note", secret).contains(secret), "{secret}");
    }
    for innocent in ["4111111111111112", "1700000000000000000", "4111 1111", "123-45-67890", "2024-01-02 10:11:12"] {
        assert_eq!(redactor.text(&format!("it was {innocent} then")), format!("it was {innocent} then"));
    }
}

#[test]
fn what_errors_say_of_secrets_is_taken_out() {
    let redactor = redactor();
    for (said, secret) in [
        ("ValueError: bad password s3cr3t", "s3cr3t"),
        ("invalid password 'correct horse'", "correct horse"),
        ("the api key was \"zebra77\"!", "zebra77"),
        ("password is hunter2.", "hunter2"),
    ] {
        assert!(!redactor.text(said).contains(secret), "{}", redactor.text(said));
    }
    for innocent in ["password too short", "password must have 8 characters", "bad token count 12", "no password given"]
    {
        assert_eq!(redactor.text(innocent), innocent);
    }
    for (said, secret) in [
        ("password for bob is HUNTERX25", "HUNTERX25"),
        ("the password of the service account was 'open sesame'", "open sesame"),
        ("password for bob: hunter22", "hunter22"),
        ("password\nHUNTERX14", "HUNTERX14"),
        ("password\\nHUNTERX14", "HUNTERX14"),
        ("password:\n  swordfish", "swordfish"),
        ("password is\nhunter22", "hunter22"),
        ("secret -> HUNTERX13", "HUNTERX13"),
        ("secret → swordfish", "swordfish"),
        ("Passwort: HUNTERX27", "HUNTERX27"),
        ("Kennwort für bob ist falsch: Kennwort=Sesam", "Sesam"),
        ("contraseña: sesamo", "sesamo"),
        ("mot de passe : sesame", "sesame"),
        ("пароль: сезам", "сезам"),
        ("密码：芝麻", "芝麻"),
        ("api key: zebra77", "zebra77"),
        ("refresh token = zebra", "zebra"),
    ] {
        assert!(!redactor.text(said).contains(secret), "{}", redactor.text(said));
    }
    for innocent in [
        "password for bob is wrong",
        "password for bob42 was rejected",
        "the password you gave is not the one we know",
        "password check failed for bob: timeout",
        "wrong password.\nTry again in 10 minutes",
        "password\nuser: bob42",
        "password:\nuser: bob",
        "Passwort falsch",
        "the token at line 3 is an identifier",
        "key: primary, token: identifier",
        "passes: 3 -> 4",
    ] {
        assert_eq!(redactor.text(innocent), innocent);
    }
    // A secret that was seen in a variable is one wherever it is said afterwards, but no value is changed by that.
    assert_eq!(redactor.spoken("cannot open xyzzy-vault"), "cannot open xyzzy-vault");
    super::capture(&redactor, &mut capture(vec![("vault_password", text("xyzzy-vault"))]));
    assert!(!redactor.spoken("cannot open xyzzy-vault").contains("xyzzy"));
    assert_eq!(redactor.text("cannot open xyzzy-vault"), "cannot open xyzzy-vault");
}
