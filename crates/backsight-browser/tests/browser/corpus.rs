//! How well fingerprints group the labelled corpus.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use backsight_browser::corpus::{self, Accuracy};
use backsight_browser::fingerprint;
use backsight_redact::Redactor;

fn report(accuracy: &Accuracy) -> String {
    let splits: Vec<String> =
        accuracy.split.iter().map(|(text, groups)| format!("  {groups} groups: {text}")).collect();
    let merges: Vec<String> = accuracy.merged.iter().map(|text| format!("  merged: {text}")).collect();
    format!(
        "{} messages, {} templates, {} groups, accuracy {:.3}\n{}\n{}",
        accuracy.messages,
        accuracy.templates,
        accuracy.groups,
        accuracy.grouping_accuracy,
        splits.join("\n"),
        merges.join("\n")
    )
}

#[test]
fn messages_that_look_alike_are_never_merged_and_most_groups_are_exact() {
    let accuracy = corpus::accuracy();
    println!("{}", report(&accuracy));
    assert!(accuracy.templates >= 100 && corpus::look_alikes() >= 25 && accuracy.messages >= 1_000);
    assert!(accuracy.merged.is_empty(), "{}", report(&accuracy));
    assert_eq!(accuracy.merged_look_alikes, 0);
    assert!(accuracy.grouping_accuracy >= 0.85, "{}", report(&accuracy));
}

#[test]
fn the_corpus_is_the_same_in_every_run() {
    let first = corpus::messages();
    let again = corpus::messages();
    assert_eq!(first.len(), again.len());
    assert!(first.iter().zip(&again).all(|(left, right)| left.console == right.console));
    let hash = first
        .iter()
        .flat_map(|message| message.console.message.bytes())
        .fold(0_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    assert_ne!(hash, 0);
}

#[test]
fn a_key_that_merges_everything_is_found_out() {
    let everything = corpus::accuracy_of(|_| 1);
    assert_eq!(everything.groups, 1);
    assert_eq!(everything.merged.len(), everything.templates);
    assert!(everything.grouping_accuracy.abs() < f64::EPSILON);
    let nothing = corpus::accuracy_of(|console| u64::try_from(console.time.0).unwrap_or_default());
    assert_eq!(nothing.groups, nothing.messages);
    assert!(nothing.merged.is_empty());
}

/// Texts that make careless scanners look at everything again and again.
fn adversarial() -> Vec<String> {
    const SIZE: usize = 1 << 20;
    [
        "password=",
        "\"password\":[",
        "token: [",
        "://a@",
        "://",
        "'a ",
        "\"a ",
        "-----BEGIN PRIVATE KEY-----",
        "{a:",
        "{\"message\":\"{",
        "a@",
        "a.",
        "a-",
        "a=b ",
        "\\",
        "\\\"",
        "%3D",
        "eyJaaaaaaaaaa.",
        "4111 ",
        "Bearer ",
        "[REDACTED:",
        "Cookie: ",
        "auth: 'auth: \"",
        "1.",
        "at (",
        "\n at ",
        "name=\"token\",\"value\":",
        "0",
    ]
    .iter()
    .map(|piece| piece.repeat(SIZE / piece.len()))
    .collect()
}

/// How long this thread has had a processor: what others do on a busy machine does not count.
fn worked() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

#[test]
fn a_megabyte_of_anything_takes_linear_time() {
    let redactor = Redactor::of_wire(1);
    for text in adversarial() {
        let start = worked();
        let redacted = redactor.text(&text).len();
        let redacting = worked() - start;
        let start = worked();
        let template = fingerprint::template(&text).len();
        let templating = worked() - start;
        let shown: String = text.chars().take(30).collect();
        println!("{shown:?}: redact {redacting:?} ({redacted} bytes), template {templating:?} ({template} bytes)");
        // Anything quadratic takes minutes; this bound holds without optimisation.
        assert!(redacting + templating < Duration::from_secs(5), "{shown:?}: {redacting:?}, {templating:?}");
    }
}

#[test]
fn ordinary_messages_are_redacted_and_fingerprinted_quickly() {
    let redactor = Redactor::of_wire(1);
    let messages = corpus::messages();
    let rounds = if cfg!(debug_assertions) { 2 } else { 100 };
    let bytes: usize = messages.iter().map(|message| message.console.message.len()).sum();
    // The fastest round is the one that nothing else on the machine disturbed.
    let (mut redacting, mut finding) = (Duration::MAX, Duration::MAX);
    for _ in 0..rounds {
        let start = Instant::now();
        let changed =
            messages.iter().filter(|message| matches!(redactor.text(&message.console.message), Cow::Owned(_)));
        let changed = changed.count();
        redacting = redacting.min(start.elapsed());
        let start = Instant::now();
        let keys = messages.iter().fold(0_u64, |sum, message| sum.wrapping_add(fingerprint::of(&message.console).key));
        finding = finding.min(start.elapsed());
        assert!(changed > 0 && keys != 0);
    }
    let count = u32::try_from(messages.len()).expect("because there are about a thousand");
    println!(
        "{} bytes each: redact {:?}, fingerprint {:?}",
        bytes / messages.len(),
        redacting / count,
        finding / count
    );
    assert!((redacting + finding) / count < Duration::from_micros(200));
}

#[test]
fn families_of_hundreds_of_templates_fit_the_budget() {
    let templates: Vec<String> =
        corpus::messages().iter().take(400).map(|message| fingerprint::template(&message.console.message)).collect();
    let templates: Vec<&str> = templates.iter().map(String::as_str).collect();
    let mut fastest = Duration::MAX;
    for _ in 0..10 {
        let start = Instant::now();
        assert!(fingerprint::families(&templates).len() < templates.len());
        fastest = fastest.min(start.elapsed());
    }
    println!("{} templates in {fastest:?}", templates.len());
    assert!(fastest < Duration::from_millis(500));
}
