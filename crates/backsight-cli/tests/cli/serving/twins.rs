//! Two workspaces with the same life: one is asked over HTTP, the other on the command line. What both answer must be the
//! same, but for what chance and the clock put into it.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::schema;
use super::server::{Reply, Server};
use crate::fixture::Fixture;

/// The two workspaces, and what was answered last to each operation.
pub struct Twins {
    pub server: Server,
    served: Fixture,
    typed: Fixture,
    document: Value,
    answers: BTreeMap<&'static str, [Value; 2]>,
}

/// One thing to do in both.
pub enum Deed {
    /// A file gets this content.
    Write(&'static str, &'static str),
    /// An operation is called.
    Call(Call),
}

/// An operation and the command that does the same. `{operation.field}` stands for what was answered before.
pub struct Call {
    pub operation: &'static str,
    pub target: &'static str,
    /// Absent for GET.
    pub body: Option<&'static str>,
    /// Empty when no command answers with the same.
    pub line: &'static str,
    /// Only these fields are compared, the server's with the command's.
    pub fields: Option<(&'static str, &'static str)>,
}

impl Twins {
    pub fn new() -> Twins {
        let (served, typed) = (Fixture::new(), Fixture::new());
        for fixture in [&served, &typed] {
            fixture.git("init -q -b main");
            fixture.done("init");
        }
        let server = Server::start(&served);
        let document = server.document();
        Twins { server, served, typed, document, answers: BTreeMap::new() }
    }

    #[track_caller]
    pub fn do_both(&mut self, deed: &Deed) {
        match deed {
            Deed::Write(path, text) => [&self.served, &self.typed].iter().for_each(|fixture| fixture.write(path, text)),
            Deed::Call(call) => self.call(call),
        }
    }

    #[track_caller]
    fn call(&mut self, call: &Call) {
        let target = self.filled(call.target, 0);
        let reply = match call.body {
            None => self.server.get(&target),
            Some(body) => self.server.send("POST", &target, self.filled(body, 0).as_bytes()),
        };
        self.check_described(call, &reply);
        let served = reply.ok();
        let typed = match call.line {
            "" => Value::Null,
            line => self.typed.ask(&self.filled(line, 1)).json,
        };
        if !call.line.is_empty() {
            let (mut left, mut right) = (normal(&self.served, &served), normal(&self.typed, &typed));
            if let Some((ours, theirs)) = call.fields {
                (left, right) = (left[ours].take(), right[theirs].take());
                assert!(!left.is_null(), "{}: {served}", call.operation);
            }
            let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap();
            assert_eq!(pretty(&left), pretty(&right), "{} and `{}` differ", call.operation, call.line);
        }
        self.answers.insert(call.operation, [served, typed]);
    }

    /// The document knows the operation under this address, and every field of the answer.
    #[track_caller]
    fn check_described(&self, call: &Call, reply: &Reply) {
        let method = if call.body.is_some() { "post" } else { "get" };
        let paths = self.document["paths"].as_object().unwrap();
        let (path, described) = paths
            .iter()
            .find(|(_, methods)| methods[method]["operationId"] == call.operation)
            .unwrap_or_else(|| panic!("no operation `{}` takes {method}", call.operation));
        let typed = call.target.split('?').next().unwrap();
        let matches = path.split('/').count() == typed.split('/').count()
            && path.split('/').zip(typed.split('/')).all(|(one, other)| one == other || one.starts_with('{'));
        assert!(matches, "{} is at {path}, not at {typed}", call.operation);
        let schema = &described[method]["responses"][reply.status.to_string()]["content"]["application/json"]["schema"];
        assert!(schema.is_object(), "{}: {} is not described", call.operation, reply.status);
        schema::assert_describes(&self.document, schema, &reply.json(), call.operation);
    }

    /// The operations that were called.
    pub fn called(&self) -> Vec<&'static str> {
        self.answers.keys().copied().collect()
    }

    pub fn document(&self) -> &Value {
        &self.document
    }

    fn filled(&self, text: &str, side: usize) -> String {
        let mut text = text.to_owned();
        for (operation, answers) in &self.answers {
            for (field, value) in answers[side].as_object().unwrap_or(&Map::new()) {
                if let Some(value) = value.as_str() {
                    text = text.replace(&format!("{{{operation}.{field}}}"), value);
                }
            }
        }
        assert!(!text.contains("{begin.") && !text.contains("{known"), "{text}");
        text
    }
}

/// What chance and the clock put in is named instead.
fn normal(fixture: &Fixture, value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let field = |(name, value): (&String, &Value)| {
                let value =
                    if is_measured(name) && !value.is_null() { json!("[MEASURED]") } else { normal(fixture, value) };
                (name.clone(), value)
            };
            // The envelope's own field is at the other end; objects of JSON have no order.
            // A command that asks no server quotes nobody, and so need not say whose words they are.
            let told = object.iter().filter(|(name, _)| *name != "untrusted");
            let sorted: BTreeMap<String, Value> = told.map(field).collect();
            json!(sorted)
        }
        Value::Array(list) => list.iter().map(|value| normal(fixture, value)).collect(),
        Value::String(text) => json!(words(fixture, text)),
        other => other.clone(),
    }
}

/// Times, durations, sizes of the store, and ids of commits, which hold times.
fn is_measured(name: &str) -> bool {
    let names = [
        "timestamp",
        "since",
        "started_at",
        "last_at",
        "expired_at",
        "tip",
        "commits",
        "pid",
        "token_count",
        "est_tokens",
    ];
    name.ends_with("_ms") || name.ends_with("_bytes") || name.starts_with("bytes_") || names.contains(&name)
}

fn words(fixture: &Fixture, text: &str) -> String {
    let text = text.replace(fixture.base().to_str().unwrap(), "[TMP]");
    let is_hex = |word: &str| word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let known = |word: &str| match word.len() {
        24 if word.starts_with("20") && word.ends_with('Z') => "[TIME]".to_owned(),
        16 if is_hex(word) => "[ID]".to_owned(),
        64 if is_hex(word) => "[CHAIN]".to_owned(),
        _ => word.to_owned(),
    };
    let words: Vec<&str> = text.split(' ').collect();
    let is_unit = |word: Option<&&str>| matches!(word, Some(&("bytes" | "KiB" | "MiB" | "GiB" | "TiB")));
    let shown = words.iter().enumerate().map(|(index, word)| match is_unit(words.get(index + 1)) {
        true => "[SIZE]".to_owned(),
        false => known(word),
    });
    shown.collect::<Vec<_>>().join(" ")
}
