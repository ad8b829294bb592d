//! JSON Schemas for tools, made from the Rust types and then stripped of what a model pays for and does not need.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use crate::reply::ENVELOPE;

/// The schema of a type, short.
pub fn of<T: JsonSchema>() -> Map<String, Value> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(shorten).transform(&mut schema);
    let mut object = schema.to_value().as_object().cloned().unwrap_or_default();
    object.remove("description");
    object
}

/// The schema of a tool's answer: everything it may hold, since clients that make types of schemas drop what is not
/// declared.
pub fn output(facts: &[(&str, &str)]) -> Map<String, Value> {
    let declared = ENVELOPE.iter().chain(facts).map(|(name, kind)| ((*name).to_owned(), json!({ "type": kind })));
    let object = json!({ "type": "object", "properties": Map::from_iter(declared) });
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
    // Choices that differ only in what they mean are a plain list of names.
    let names = object
        .get("oneOf")
        .and_then(Value::as_array)
        .and_then(|choices| choices.iter().map(|choice| choice.get("const").cloned()).collect::<Option<Vec<Value>>>());
    if let Some(names) = names {
        object.remove("oneOf");
        object.insert("type".into(), json!("string"));
        object.insert("enum".into(), json!(names));
    }
    // What an argument means is said without a full stop; a sentence is the documentation of its type, for people.
    let is_sentence = object.get("description").and_then(Value::as_str).is_some_and(|text| text.ends_with('.'));
    if is_sentence && object.contains_key("enum") {
        object.remove("description");
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
