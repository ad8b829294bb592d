//! The OpenAPI 3.1 document, made from the operations and the schemas of what they take and give.

use std::collections::{BTreeMap, BTreeSet};

use axum::Router;
use axum::routing::get;
use backsight_core::{Code, NextStep};
use http::Method;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::endpoint::Endpoint;
use super::{Shared, events, ingest, query, routes, snippet, tools};

pub(super) fn router() -> Router<Shared> {
    Router::new().route("/openapi.json", get(async || axum::Json(document())))
}

/// How every request can fail, whatever it asks.
const GUARDED: &[Code] = &[Code::Unauthorized, Code::Forbidden, Code::RequestTimeout, Code::BodyTooLarge];
/// How every request about the workspace can fail.
const ALWAYS: &[Code] = &[Code::Usage, Code::Damaged, Code::StoreVersion, Code::Io, Code::Busy];

/// The document.
pub fn document() -> Value {
    let mut settings = SchemaSettings::draft2020_12().for_serialize();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for operation in routes::all() {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method.as_str().to_ascii_lowercase()] = described(&operation, &mut generator);
    }
    let live = [events::described(), tools::described(), snippet::described(), itself()];
    for (path, method, described) in live.into_iter().chain(ingest::described()) {
        paths.insert(path.to_owned(), json!({ method: described }));
    }
    let mut schemas: Map<String, Value> = generator.take_definitions(true);
    schemas.values_mut().for_each(absent_or_there);
    schemas.insert("Failure".to_owned(), failure());
    let tags: BTreeSet<&str> = routes::all().iter().map(|operation| operation.topic).chain(["Live"]).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Backsight",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "What changed since I last looked, and take me back.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "security": [{ "token": [] }],
        "tags": tags.iter().map(|name| json!({ "name": name })).collect::<Vec<_>>(),
        "paths": paths,
        "components": {
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "ingestKey": { "type": "apiKey", "in": "query", "name": "key" },
            },
            "schemas": schemas,
        },
    })
}

fn itself() -> (&'static str, &'static str, Value) {
    let mut responses = failures(&[GUARDED]);
    let content = json!({ "application/json": { "schema": { "type": "object" } } });
    responses.insert("200".to_owned(), json!({ "description": "Done", "content": content }));
    let described = json!({
        "operationId": "openapi", "tags": ["Live"], "summary": "This document", "responses": responses,
    });
    ("/openapi.json", "get", described)
}

fn described(operation: &Endpoint, generator: &mut SchemaGenerator) -> Value {
    let in_path: Vec<&str> = operation.parameters().collect();
    let (taken, required) = query::input(operation);
    let is_required = |name: &str| required.iter().any(|required| required == name);
    let (of_path, taken): (Vec<_>, Vec<_>) = taken
        .into_iter()
        .map(|(name, schema)| (name, bounded(schema)))
        .partition(|(name, _)| in_path.contains(&name.as_str()));
    let mut parameters: Vec<Value> =
        of_path.into_iter().map(|(name, schema)| parameter(&name, "path", true, schema)).collect();
    let mut described = json!({
        "operationId": operation.id,
        "tags": [operation.topic],
        "summary": operation.summary,
        "responses": responses(operation, generator),
    });
    if operation.method == Method::GET {
        parameters.extend(taken.into_iter().map(|(name, schema)| {
            let is_required = is_required(&name);
            parameter(&name, "query", is_required, not_null(schema))
        }));
    } else {
        let required: Vec<&str> =
            taken.iter().map(|(name, _)| name.as_str()).filter(|name| is_required(name)).collect();
        let mut schema = json!({
            "type": "object",
            "properties": taken.iter().cloned().collect::<Map<String, Value>>(),
            "additionalProperties": false,
        });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        described["requestBody"] =
            json!({ "required": !required.is_empty(), "content": { "application/json": { "schema": schema } } });
    }
    if !parameters.is_empty() {
        described["parameters"] = json!(parameters);
    }
    described
}

/// One parameter; what its schema says of its meaning is said of the parameter.
fn parameter(name: &str, place: &str, is_required: bool, mut schema: Value) -> Value {
    let meaning = schema.as_object_mut().and_then(|schema| schema.remove("description")).unwrap_or_default();
    if place == "path" {
        schema["minLength"] = json!(1);
    }
    json!({ "name": name, "in": place, "required": is_required, "description": meaning, "schema": schema })
}

/// What is absent from a query is absent; there is no null to write there.
fn not_null(mut schema: Value) -> Value {
    if let Some(kinds) = schema.get_mut("type").and_then(Value::as_array_mut) {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            schema["type"] = kind.clone();
        }
    }
    if let Some(values) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        values.retain(|value| !value.is_null());
    }
    if let Some(choices) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        choices.retain(|choice| choice["type"] != "null");
        if let [choice] = choices.as_slice() {
            let mut choice = choice.clone();
            if let Some(meaning) = schema.get("description") {
                choice["description"] = meaning.clone();
            }
            return choice;
        }
    }
    schema
}

/// What an answer may leave out it leaves out instead of saying null.
fn absent_or_there(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            let required = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            if let Some(Value::Object(properties)) = object.get_mut("properties") {
                for (name, property) in properties {
                    if property.is_object() && !required.iter().any(|required| required == name) {
                        *property = not_null(property.take());
                    }
                }
            }
            object.values_mut().for_each(absent_or_there);
        }
        Value::Array(list) => list.iter_mut().for_each(absent_or_there),
        _ => {}
    }
}

/// A machine's integers end somewhere, which their format alone does not say to everybody.
fn bounded(mut schema: Value) -> Value {
    let most = match schema.get("format").and_then(Value::as_str) {
        Some("int64") => {
            (schema["minimum"], schema["maximum"]) = (json!(i64::MIN), json!(i64::MAX));
            return schema;
        }
        Some("uint16") => u64::from(u16::MAX),
        Some("uint32") => u64::from(u32::MAX),
        Some("uint64" | "uint") => u64::MAX,
        _ => return schema,
    };
    let said = schema.get("maximum").and_then(Value::as_u64);
    schema["maximum"] = json!(said.map_or(most, |said| said.min(most)));
    schema
}

fn responses(operation: &Endpoint, generator: &mut SchemaGenerator) -> Value {
    let mut output = (operation.output)(generator).to_value();
    absent_or_there(&mut output);
    let mut fine = json!({ "type": "object", "properties": { "ok": { "const": true } }, "required": ["ok"] });
    if operation.is_untrusted {
        fine["properties"]["untrusted"] = json!({ "type": "string", "description": "Whose words these are" });
    }
    // What waits is taken back when the server ends.
    let taken_back: &[Code] = if operation.waits() { &[Code::Cancelled] } else { &[] };
    let groups: Vec<&[Code]> =
        [GUARDED, ALWAYS, taken_back].into_iter().chain(operation.codes.iter().copied()).collect();
    let mut responses = Map::new();
    responses.insert(
        "200".to_owned(),
        json!({ "description": "Done", "content": { "application/json": { "schema": { "allOf": [fine, output] } } } }),
    );
    responses.extend(failures(&groups));
    Value::Object(responses)
}

/// What can go wrong, by status, each with exactly the codes it can have.
pub(super) fn failures(groups: &[&[Code]]) -> Map<String, Value> {
    let mut by_status: BTreeMap<u16, BTreeSet<&str>> = BTreeMap::new();
    for code in groups.iter().copied().flatten() {
        by_status.entry(code.http_status()).or_default().insert(code.as_str());
    }
    let response = |codes: BTreeSet<&str>| {
        let narrowed = json!({ "properties": { "error": { "properties": { "code": { "enum": codes } } } } });
        let schema = json!({ "allOf": [{ "$ref": "#/components/schemas/Failure" }, narrowed] });
        let names: Vec<&str> = codes.into_iter().collect();
        json!({ "description": names.join(", "), "content": { "application/json": { "schema": schema } } })
    };
    by_status.into_iter().map(|(status, codes)| (status.to_string(), response(codes))).collect()
}

/// How those routes can fail that ask the workspace nothing.
pub(super) fn guarded(codes: &[Code]) -> Map<String, Value> {
    failures(&[GUARDED, codes])
}

fn failure() -> Value {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    json!({
        "type": "object",
        "description": "Why a request was not carried out.",
        "required": ["ok", "error"],
        "properties": {
            "ok": { "const": false },
            "untrusted": {
                "type": "string", "description": "There when the failure may quote a program, a page or a command.",
            },
            "error": {
                "type": "object",
                "required": ["code", "message", "retryable"],
                "properties": {
                    "code": { "type": "string", "enum": codes, "description": "What to branch on." },
                    "message": { "type": "string", "description": "What happened, to which thing, with the value." },
                    "retryable": {
                        "type": "boolean", "description": "Whether the same request may succeed later.",
                    },
                    "hint": { "type": "string", "description": "What to do next." },
                    "next": {
                        "type": "object",
                        "description": "The request to make next, or the call of a tool where tools are asked.",
                        "properties": {
                            "method": { "type": "string" }, "path": { "type": "string" }, "body": { "type": "object" },
                            "tool": { "type": "string" }, "arguments": { "type": "object" },
                        },
                    },
                    "advice": {
                        "type": "array",
                        "description": "The hint as values: what each is good for, and the `step` that does it.",
                        "items": {
                            "type": "object",
                            "required": ["purpose"],
                            "properties": advice_properties(),
                        },
                    },
                    "details": { "description": "Facts a program can read." },
                },
            },
        },
    })
}

/// What a piece of advice can hold: its purpose, its step, and whatever a step can be about.
fn advice_properties() -> Map<String, Value> {
    let steps = NextStep::samples().into_iter().map(|step| serde_json::to_value(step).unwrap_or_default());
    let names =
        steps.flat_map(|step| step.as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect::<Vec<_>>());
    std::iter::once("purpose".to_owned()).chain(names).map(|name| (name, json!({ "type": "string" }))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn references(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(object) => {
                if let Some(name) = object.get("$ref").and_then(Value::as_str) {
                    found.insert(name.trim_start_matches("#/components/schemas/").to_owned());
                }
                object.values().for_each(|value| references(value, found));
            }
            Value::Array(list) => list.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_schema_is_used_and_every_reference_leads_somewhere() {
        let document = document();
        let mut used = BTreeSet::new();
        references(&document, &mut used);
        let there: BTreeSet<String> = document["components"]["schemas"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(used, there);
    }

    #[test]
    fn operations_have_names_of_their_own_and_say_what_each_thing_they_take_means() {
        let mut names = BTreeSet::new();
        for operation in routes::all() {
            assert!(names.insert(operation.id), "{}", operation.id);
            let (taken, _) = query::input(&operation);
            for (name, schema) in taken {
                assert!(schema["description"].is_string(), "{}: {name}: {schema}", operation.id);
            }
        }
    }
}
