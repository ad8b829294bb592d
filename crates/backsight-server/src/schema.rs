//! JSON Schemas for tools, made from the Rust types and then stripped of what a model pays for and does not need.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::tool::add_common;

/// The schema of a tool's arguments, with what every tool takes.
pub fn input<T: JsonSchema>() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(shorten).transform(&mut schema);
    let mut object = schema.to_value().as_object().cloned().unwrap_or_default();
    object.remove("description");
    object.insert("additionalProperties".into(), json!(false));
    let properties = object.entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        add_common(properties);
    }
    object
}

/// The schema of a tool's answer: the facts by name, with what every answer has.
pub fn output(facts: &[(&str, &str)]) -> Map<String, Value> {
    let always =
        [("ok", "boolean"), ("summary", "string"), ("left_out", "object"), ("next", "object"), ("news", "string")];
    let mut properties = Map::new();
    for (name, kind) in always.iter().chain(facts) {
        properties.insert((*name).into(), json!({ "type": kind }));
    }
    // Absent for a client that asks for the first time, which some schema dialects can only say as null.
    properties.insert("external_changes".into(), json!({ "type": ["integer", "null"] }));
    let object = json!({ "type": "object", "properties": properties, "required": ["ok", "summary"] });
    object.as_object().cloned().unwrap_or_default()
}

/// Removes titles, formats, bounds of machine integers, and the null that an optional argument may also be.
fn shorten(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    for key in ["title", "format", "default", "$schema"] {
        object.remove(key);
    }
    if object.get("minimum") == Some(&json!(0)) {
        object.remove("minimum");
    }
    object.remove("maximum");
    if let Some(Value::Array(kinds)) = object.get("type")
        && let [kind, Value::String(null)] = kinds.as_slice()
        && null == "null"
    {
        let kind = kind.clone();
        object.insert("type".into(), kind);
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let single = object.get("anyOf").and_then(Value::as_array).and_then(|choices| match choices.as_slice() {
        [choice, null] if null == &json!({ "type": "null" }) => choice.as_object().cloned(),
        _ => None,
    });
    if let Some(choice) = single {
        object.remove("anyOf");
        for (key, value) in choice {
            object.entry(key).or_insert(value);
        }
        shorten(schema);
    }
}
