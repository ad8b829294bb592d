//! A lane's request as a tool shows it to a model: some of its fields, under the tool's own names and in few words. What models
//! write is read here too: numbers as texts, one thing where a list is asked for.

use backsight_core::{Code, Error, Result};
use serde_json::{Map, Value, json};

use super::add_common;

/// A field of a request as a model is shown it.
#[derive(Clone, Copy)]
pub struct Shown {
    name: &'static str,
    field: &'static str,
    words: &'static str,
    kind: Option<&'static str>,
    /// The words it may be, where the tool has more than the operation.
    choices: &'static [&'static str],
    /// What the tool takes when the caller does not say, where that is another value than the operation's own.
    default: Option<bool>,
}

impl Shown {
    /// Under its own name, without words.
    pub const fn new(field: &'static str) -> Shown {
        Shown { name: field, field, words: "", kind: None, choices: &[], default: None }
    }

    /// Under the tool's name for it.
    pub const fn named(self, name: &'static str) -> Shown {
        Shown { name, ..self }
    }

    /// In a few words.
    pub const fn saying(self, words: &'static str) -> Shown {
        Shown { words, ..self }
    }

    /// With this value when the caller does not say.
    pub const fn unless_said(self, value: bool) -> Shown {
        Shown { default: Some(value), ..self }
    }

    /// As one of these words.
    pub const fn one_of(self, choices: &'static [&'static str]) -> Shown {
        Shown { choices, ..self }
    }

    /// Whether a model calls it so.
    pub fn is(&self, name: &str) -> bool {
        self.name == name
    }

    /// As an object, or a list of objects, whatever their fields.
    pub const fn objects(self) -> Shown {
        Shown { kind: Some("object"), ..self }
    }

    /// As a text, or a list of texts, whatever else it may be.
    pub const fn text(self) -> Shown {
        Shown { kind: Some("string"), ..self }
    }
}

/// A field of a request with the tool's name for it.
pub struct Field {
    name: String,
    field: String,
    is_required: bool,
    default: Option<bool>,
    kinds: Kinds,
}

impl Field {
    /// Whether a caller names it so.
    pub fn is(&self, name: &str) -> bool {
        self.name == name
    }
}

/// Which kinds of values a field takes.
#[derive(Clone, Copy, Default)]
struct Kinds {
    number: bool,
    text: bool,
    list: bool,
}

const CURSOR: &str = "cursor";

/// The schema of the arguments that a model is shown.
pub fn input(
    request: &Map<String, Value>,
    shown: &[Shown],
    shows_budget: bool,
    default_tokens: usize,
) -> Map<String, Value> {
    let property = |one: &Shown| match request.get("properties").and_then(|fields| fields.get(one.field)) {
        // Where the last answer ended: every tool whose answers go on takes it.
        _ if one.field == CURSOR => json!({ "type": "string" }),
        Some(schema) => described(one, schema),
        None => json!({}),
    };
    let mut properties: Map<String, Value> = shown.iter().map(|one| (one.name.to_owned(), property(one))).collect();
    add_common(&mut properties, shows_budget, default_tokens);
    let required = required(request);
    let required: Vec<&str> = shown.iter().filter(|one| required.contains(&one.field)).map(|one| one.name).collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema["additionalProperties"] = json!(false);
    schema.as_object().cloned().unwrap_or_default()
}

/// What of a field's schema is for people and for checks.
const UNSAID: [&str; 8] =
    ["minimum", "description", "examples", "pattern", "minLength", "maxLength", "minItems", "maxItems"];

fn described(shown: &Shown, property: &Value) -> Value {
    let mut property = match (shown.kind, property["type"] == "array") {
        _ if !shown.choices.is_empty() => json!({ "type": "string", "enum": shown.choices }),
        (Some(kind), true) => json!({ "type": "array", "items": { "type": kind } }),
        (Some(kind), false) => json!({ "type": kind }),
        (None, _) => property.clone(),
    };
    if let Some(object) = property.as_object_mut() {
        // Bounds are said when they are not kept; a model pays for every word before its first call.
        for word in UNSAID {
            object.remove(word);
        }
        if !shown.words.is_empty() {
            object.insert("description".to_owned(), json!(shown.words));
        }
    }
    property
}

/// Every field of a request, under the tool's name for it where it has one.
pub fn fields(request: &Map<String, Value>, shown: &[Shown]) -> Vec<Field> {
    let required = required(request);
    let properties = request.get("properties").and_then(Value::as_object).into_iter().flatten();
    let field = |(field, schema): (&String, &Value)| Field {
        name: shown.iter().find(|one| one.field == field).map_or(field.as_str(), |one| one.name).to_owned(),
        field: field.clone(),
        is_required: required.contains(&field.as_str()),
        default: shown.iter().find(|one| one.field == field).and_then(|one| one.default),
        kinds: Kinds::of(schema),
    };
    properties.map(field).collect()
}

/// The fields that a request must have.
pub fn required(request: &Map<String, Value>) -> Vec<&str> {
    request.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The request as its lane reads it, from the arguments as a model wrote them.
pub fn request(tool: &str, fields: &[Field], mut arguments: Map<String, Value>) -> Result<Map<String, Value>> {
    let not_understood = |why: String| {
        Error::new(Code::Usage, format!("the arguments of `{tool}` are not understood: {why}"))
            .with_hint("its schema is in the tool list")
    };
    let mut request = Map::new();
    for field in fields {
        match arguments.remove(&field.name) {
            Some(value) => drop(request.insert(field.field.clone(), field.kinds.read(value))),
            None if field.is_required => return Err(not_understood(format!("missing argument `{}`", field.name))),
            None => request.extend(field.default.map(|value| (field.field.clone(), json!(value)))),
        }
    }
    match arguments.keys().next() {
        None => Ok(request),
        Some(unknown) => {
            let unknown = backsight_core::quote(unknown.as_bytes());
            let known: Vec<String> = fields.iter().map(|field| format!("`{}`", field.name)).collect();
            Err(not_understood(format!("unknown argument `{unknown}`, expected one of {}", known.join(", "))))
        }
    }
}

impl Kinds {
    fn of(schema: &Value) -> Kinds {
        let choices = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten().map(Kinds::of);
        let own = |kind: &str| match &schema["type"] {
            Value::String(name) => name == kind,
            Value::Array(names) => names.iter().any(|name| name == kind),
            _ => false,
        };
        let itself = Kinds { number: own("integer"), text: own("string"), list: own("array") };
        choices.fold(itself, |all, one| Kinds {
            number: all.number || one.number,
            text: all.text || one.text,
            list: all.list || one.list,
        })
    }

    /// A value as it is meant: models write numbers as texts, and one thing where a list is asked for.
    fn read(self, value: Value) -> Value {
        match value {
            Value::String(text) if self.number => match text.parse::<i64>() {
                Ok(number) => json!(number),
                Err(_) => Value::String(text),
            },
            Value::Number(number) if self.text && !self.number => Value::String(number.to_string()),
            value if self.list && !value.is_array() => json!([value]),
            value => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use backsight::debug::request::{CreateSnapshot, EvaluateExpression, LaunchProgram};

    use super::*;
    use crate::schema;

    fn read(shown: &[Shown], arguments: Value) -> Result<Map<String, Value>> {
        let fields = fields(&schema::of::<LaunchProgram>(), shown);
        request("debug_launch", &fields, arguments.as_object().unwrap().clone())
    }

    #[test]
    fn a_tools_own_names_stand_for_the_fields() {
        let shown = [Shown::new("arguments").named("args")];
        let asked = read(&shown, json!({ "program": "a.py", "args": "x", "wait_ms": "5" })).unwrap();
        assert_eq!(Value::Object(asked), json!({ "program": "a.py", "arguments": ["x"], "wait_ms": 5 }));
        for (wrong, why) in [
            (json!({ "program": "a.py", "arguments": [] }), "unknown argument `arguments`"),
            (json!({ "program": "a.py", "bogus": 1 }), "unknown argument `bogus`"),
        ] {
            let error = read(&shown, wrong).unwrap_err();
            assert!(error.message().contains(why), "{error}");
        }
        let fields = fields(&schema::of::<EvaluateExpression>(), &[]);
        let error = request("evaluate", &fields, Map::new()).unwrap_err();
        assert!(error.message().contains("missing argument `expression`"), "{error}");
    }

    #[test]
    fn numbers_and_words_are_told_apart_where_either_may_stand() {
        let fields = fields(&schema::of::<CreateSnapshot>(), &[]);
        let asked = |frames: Value| {
            let arguments = Map::from_iter([("frames".to_owned(), frames)]);
            request("snapshot_create", &fields, arguments).unwrap()["frames"].clone()
        };
        assert_eq!([asked(json!("3")), asked(json!(3)), asked(json!("all"))], [json!(3), json!(3), json!("all")]);
    }
}
