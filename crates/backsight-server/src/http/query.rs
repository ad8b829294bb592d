//! From the parts of a request to one JSON object: names in the path, pairs in the query, or the body. The schema of what
//! an operation takes says which of the texts in a query are numbers, truths or lists.

use std::collections::BTreeMap;

use axum::extract::RawPathParams;
use backsight_core::{Code, Error, Result};
use http::Method;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::operation::Operation;

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
    pub fn of(operation: &Operation) -> Shape {
        let kinds = properties(operation).iter().map(|(name, schema)| (name.clone(), kind(schema))).collect();
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
            Ok(Value::Object(object)) => Ok(object),
            Ok(other) => Err(usage(format!("the body is {}, not an object", kind_of(&other)))),
            Err(error) => Err(usage(format!("the body is not JSON: {error}"))),
        }
    }

    fn query(&self, query: &str) -> Result<Map<String, Value>> {
        let mut object = Map::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (name, value) = (decoded(name)?, decoded(value)?);
            let Some(kind) = self.kinds.get(&name).filter(|_| !self.parameters.contains(&name.as_str())) else {
                let known: Vec<&str> = self.kinds.keys().map(String::as_str).collect();
                let known = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
                return Err(
                    usage(format!("`{name}` is not understood here")).with_hint(format!("this address takes {known}"))
                );
            };
            match (kind, object.get_mut(&name)) {
                (Kind::List, Some(Value::Array(list))) => list.push(json!(value)),
                (Kind::List, _) => drop(object.insert(name, json!([value]))),
                (_, Some(_)) => return Err(usage(format!("`{name}` is there twice"))),
                (kind, None) => drop(object.insert(name.clone(), single(*kind, &name, value)?)),
            }
        }
        Ok(object)
    }
}

/// The properties of what an operation takes, with everything they refer to in place.
pub fn properties(operation: &Operation) -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let schema = (operation.input)(&mut settings.into_generator());
    schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
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
        Kind::Number => match serde_json::from_str(&value) {
            Ok(number @ Value::Number(_)) => Ok(number),
            _ => Err(usage(format!("`{name}` is `{value}`, not a number"))),
        },
        Kind::Truth => match value.as_str() {
            "true" | "1" | "" => Ok(json!(true)),
            "false" | "0" => Ok(json!(false)),
            _ => Err(usage(format!("`{name}` is `{value}`, not true or false"))),
        },
    }
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
