//! The OpenAPI 3.1 document, made from the operations and the schemas of what they take and give.

use std::collections::BTreeSet;

use axum::Router;
use axum::routing::get;
use backsight_core::Code;
use http::Method;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::operation::Operation;
use super::{Shared, query, routes};

pub(super) fn router() -> Router<Shared> {
    Router::new().route("/openapi.json", get(async || axum::Json(document())))
}

/// How every request can fail, whatever it asks.
const ALWAYS: &[Code] = &[
    Code::Usage,
    Code::Unauthorized,
    Code::Forbidden,
    Code::RequestTimeout,
    Code::BodyTooLarge,
    Code::InvalidPath,
    Code::InvalidConfig,
    Code::WorkspaceRefused,
    Code::RefNotFound,
    Code::RefExpired,
    Code::Damaged,
    Code::DiskFull,
    Code::Busy,
];

/// The document.
pub fn document() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.definitions_path = "/components/schemas".into();
    settings.meta_schema = None;
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for operation in routes::all() {
        let path = paths.entry(operation.path).or_insert_with(|| json!({}));
        path[operation.method.as_str().to_ascii_lowercase()] = described(&operation, &mut generator);
    }
    let mut schemas: Map<String, Value> = generator.take_definitions(true);
    schemas.insert("Failure".to_owned(), failure());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Backsight",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "What changed since I last looked, and take me back.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": schemas,
        },
    })
}

fn described(operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let in_path: Vec<&str> = operation.parameters().collect();
    let mut parameters: Vec<Value> = in_path
        .iter()
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string", "minLength": 1 } }))
        .collect();
    let input = (operation.input)(
        &mut SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true).into_generator(),
    );
    let required: Vec<&str> = input
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let mut described = json!({
        "operationId": operation.id,
        "summary": operation.summary,
        "responses": responses(operation, generator),
    });
    let taken = query::properties(operation).into_iter().filter(|(name, _)| !in_path.contains(&name.as_str()));
    if operation.method == Method::GET {
        parameters.extend(taken.map(|(name, schema)| {
            json!({ "name": name, "in": "query", "required": required.contains(&name.as_str()), "schema": not_null(schema) })
        }));
    } else {
        let properties: Map<String, Value> = taken.collect();
        let required: Vec<&str> = required.into_iter().filter(|name| !in_path.contains(name)).collect();
        let schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        described["requestBody"] =
            json!({ "required": !required.is_empty(), "content": { "application/json": { "schema": schema } } });
    }
    if !parameters.is_empty() {
        described["parameters"] = json!(parameters);
    }
    described
}

/// What is absent from a query is absent; there is no null to write there.
fn not_null(mut schema: Value) -> Value {
    if let Some(kinds) = schema["type"].as_array_mut() {
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
            return choice.clone();
        }
    }
    schema
}

fn responses(operation: &Operation, generator: &mut SchemaGenerator) -> Value {
    let output = (operation.output)(generator).to_value();
    let fine = json!({ "type": "object", "properties": { "ok": { "const": true } }, "required": ["ok"] });
    let mut responses = Map::new();
    responses.insert(
        "200".to_owned(),
        json!({ "description": "Done", "content": { "application/json": { "schema": { "allOf": [fine, output] } } } }),
    );
    let codes: BTreeSet<(u16, &str)> =
        ALWAYS.iter().chain(operation.codes).map(|code| (code.http_status(), code.as_str())).collect();
    for (status, name) in codes {
        let entry = responses.entry(status.to_string()).or_insert_with(|| {
            let schema = json!({ "$ref": "#/components/schemas/Failure" });
            json!({ "description": "", "content": { "application/json": { "schema": schema } } })
        });
        let before = entry["description"].as_str().unwrap_or_default().to_owned();
        entry["description"] = json!(if before.is_empty() { name.to_owned() } else { format!("{before}, {name}") });
    }
    Value::Object(responses)
}

fn failure() -> Value {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    json!({
        "type": "object",
        "required": ["ok", "error"],
        "properties": {
            "ok": { "const": false },
            "error": {
                "type": "object",
                "required": ["code", "message", "retryable"],
                "properties": {
                    "code": { "type": "string", "enum": codes },
                    "message": { "type": "string" },
                    "retryable": { "type": "boolean" },
                    "hint": { "type": "string" },
                    "next": { "type": "object" },
                    "details": {},
                },
            },
        },
    })
}
