//! Whether a schema of the document names everything an answer holds. Referees from outside check that what is described
//! is there and of the right type; that nothing undescribed is there, a schema that stays open cannot say.

use std::collections::BTreeSet;

use serde_json::Value;

/// Fails when the answer holds a field that the schema does not name.
#[track_caller]
pub fn assert_describes(document: &Value, schema: &Value, answer: &Value, operation: &str) {
    let mut unknown = BTreeSet::new();
    compare(document, &[schema], answer, operation, &mut unknown);
    assert!(unknown.is_empty(), "the document does not describe {unknown:?}");
}

/// All of `schemas` together describe `value`.
fn compare(document: &Value, schemas: &[&Value], value: &Value, place: &str, unknown: &mut BTreeSet<String>) {
    let mut flat = Vec::new();
    schemas.iter().for_each(|schema| flatten(document, schema, &mut flat));
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let place = format!("{place}.{name}");
                let named: Vec<&Value> = flat.iter().filter_map(|schema| schema["properties"].get(name)).collect();
                let others: Vec<&Value> = flat.iter().filter_map(|schema| schema.get("additionalProperties")).collect();
                // A schema that says nothing of its fields allows any.
                let is_free = flat.iter().any(|schema| **schema == Value::Bool(true) || is_bare(schema));
                match (named.as_slice(), others.as_slice()) {
                    ([], []) if is_free => {}
                    ([], []) => drop(unknown.insert(place)),
                    ([], others) => compare(document, others, value, &place, unknown),
                    (named, _) => compare(document, named, value, &place, unknown),
                }
            }
        }
        Value::Array(list) => {
            let items: Vec<&Value> = flat.iter().filter_map(|schema| schema.get("items")).collect();
            list.iter().for_each(|value| compare(document, &items, value, place, unknown));
        }
        _ => {}
    }
}

fn is_bare(schema: &Value) -> bool {
    schema.as_object().is_some_and(|schema| schema.keys().all(|key| key == "description"))
}

/// A schema with everything it refers to and combines.
fn flatten<'d>(document: &'d Value, schema: &'d Value, flat: &mut Vec<&'d Value>) {
    flat.push(schema);
    if let Some(name) = schema["$ref"].as_str() {
        flatten(document, document.pointer(name.trim_start_matches('#')).unwrap(), flat);
    }
    for word in ["allOf", "anyOf", "oneOf"] {
        schema[word].as_array().into_iter().flatten().for_each(|schema| flatten(document, schema, flat));
    }
}
