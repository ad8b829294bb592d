//! From the parts of a request to one JSON object: names in the path, pairs in the query, or the body. The schema of what
//! an operation takes says which of the texts in a query are numbers, truths or lists.

use std::collections::BTreeMap;

use axum::extract::RawPathParams;
use backsight_core::{Code, Error, Result};
use http::Method;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::endpoint::Endpoint;

/// What a request to an operation looks like.
pub struct Shape {
    in_body: bool,
    parameters: Vec<&'static str>,
    kinds: BTreeMap<String, Kind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Number,
    Truth,
    List,
}

impl Shape {
    pub fn of(operation: &Endpoint) -> Shape {
        let kinds = input(operation).0.iter().map(|(name, schema)| (name.clone(), kind(schema))).collect();
        Shape { in_body: operation.method == Method::POST, parameters: operation.parameters().collect(), kinds }
    }

    pub fn read(&self, parameters: &RawPathParams, query: &str, body: &[u8]) -> Result<Value> {
        let mut object = if self.in_body { self.body(body, query)? } else { self.query(query)? };
        for (name, value) in parameters {
            if object.insert(name.to_owned(), json!(value)).is_some() {
                return Err(usage(format!("`{name}` is in the address already")));
            }
        }
        Ok(Value::Object(object))
    }

    fn body(&self, body: &[u8], query: &str) -> Result<Map<String, Value>> {
        if !query.is_empty() {
            return Err(usage("this address takes a JSON body and no query".to_owned()));
        }
        // A request that says nothing asks for the ordinary thing.
        if body.is_empty() {
            return Ok(Map::new());
        }
        match serde_json::from_slice(body) {
            Ok(Value::Object(mut object)) => {
                for (name, value) in &mut object {
                    if self.kind(name)? == Kind::Number {
                        whole(value);
                    }
                }
                Ok(object)
            }
            Ok(other) => Err(usage(format!("the body is {}, not an object", kind_of(&other)))),
            Err(error) => Err(usage(format!("the body is not JSON: {error}"))),
        }
    }

    fn query(&self, query: &str) -> Result<Map<String, Value>> {
        let mut object = Map::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decoded(name)?, decoded(value)?);
            let kind = self.kind(&name)?;
            match (kind, object.get_mut(&name)) {
                (Kind::List, Some(Value::Array(list))) => list.push(json!(value)),
                (Kind::List, _) => drop(object.insert(name, json!([value]))),
                (_, Some(_)) => return Err(usage(format!("`{name}` is there twice"))),
                (kind, None) => drop(object.insert(name.clone(), single(kind, &name, value)?)),
            }
        }
        Ok(object)
    }

    /// Of what kind a name is; what nobody knows is refused, for silence would look like obedience.
    fn kind(&self, name: &str) -> Result<Kind> {
        let mut known = self.kinds.iter().filter(|(name, _)| !self.parameters.contains(&name.as_str()));
        if let Some((_, kind)) = known.clone().find(|(known, _)| *known == name) {
            return Ok(*kind);
        }
        let known: Vec<&str> = known.by_ref().map(|(name, _)| name.as_str()).collect();
        let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
        let name = backsight_core::quote(name.as_bytes());
        Err(usage(format!("`{name}` is not understood here")).with_hint(format!("this address takes {known}")))
    }
}

/// What an operation takes, by name, and which of it must be there; everything schemas refer to is in place.
pub fn input(operation: &Endpoint) -> (Map<String, Value>, Vec<String>) {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let schema = (operation.input)(&mut settings.into_generator());
    let properties = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    (properties, required.filter_map(Value::as_str).map(str::to_owned).collect())
}

fn kind(schema: &Value) -> Kind {
    let is = |wanted: &str| match &schema["type"] {
        Value::String(name) => name == wanted,
        Value::Array(names) => names.iter().any(|name| name == wanted),
        _ => false,
    };
    match () {
        () if is("array") => Kind::List,
        () if is("integer") || is("number") => Kind::Number,
        () if is("boolean") => Kind::Truth,
        () => Kind::Text,
    }
}

fn single(kind: Kind, name: &str, value: String) -> Result<Value> {
    match kind {
        Kind::Text | Kind::List => Ok(json!(value)),
        // Only the spelling JSON has: what reads as a number elsewhere (` 1`, `+1`, `01`) may be a mistake.
        Kind::Number => match (value.parse::<u64>(), value.parse::<i64>()) {
            (Ok(number), _) if number.to_string() == value => Ok(json!(number)),
            (_, Ok(number)) if number.to_string() == value => Ok(json!(number)),
            _ => Err(usage(format!("`{name}` is `{}`, not a whole number", shown(&value)))),
        },
        Kind::Truth => match value.as_str() {
            "true" => Ok(json!(true)),
            "false" => Ok(json!(false)),
            _ => Err(usage(format!("`{name}` is `{}`, not true or false", shown(&value)))),
        },
    }
}

/// JSON knows one kind of number, so `1.0` is a whole one.
fn whole(value: &mut Value) {
    const LARGEST: f64 = (1u64 << 53) as f64;
    if let Some(number) = value.as_f64().filter(|_| value.is_f64())
        && number.fract() == 0.0
        && (-LARGEST..=LARGEST).contains(&number)
    {
        *value = json!(number as i64);
    }
}

fn shown(value: &str) -> String {
    backsight_core::quote(value.as_bytes())
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn decoded(text: &str) -> Result<String> {
    let spaced = text.replace('+', " ");
    crate::percent::decoded(&spaced).ok_or_else(|| usage("the query is not UTF-8 in percent encoding".to_owned()))
}

fn usage(message: String) -> Error {
    Error::new(Code::Usage, message)
}
