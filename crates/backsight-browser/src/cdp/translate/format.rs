//! Turns console arguments into the text DevTools would show, shortened.

use super::wire::{Entry, Preview, Property, RemoteObject, cut, split_stack};

/// Longer messages are cut; fingerprints look at half of this.
pub const MAX_MESSAGE: usize = 16 * 1024;
/// Inside objects texts are cut sooner.
const MAX_NESTED: usize = 100;
/// As many properties or elements of one object are shown.
const MAX_PROPERTIES: usize = 10;

/// The text of a console call.
pub fn message(arguments: &[RemoteObject<'_>]) -> String {
    let mut rest = arguments.iter();
    let mut text = String::new();
    if let Some(pattern) = arguments.first().and_then(plain_string).filter(|text| text.contains('%')) {
        rest.next();
        text = substitute(&pattern, &mut rest);
    }
    for (index, argument) in rest.enumerate() {
        if index > 0 || !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&value(argument));
    }
    cut(text, MAX_MESSAGE)
}

/// One value as DevTools shows it at the top level: texts without quotes, errors without their stack.
pub fn value(object: &RemoteObject<'_>) -> String {
    if let Some(text) = plain_string(object) {
        return text;
    }
    let description = object.description.as_deref();
    match (&*object.kind, object.subtype.as_deref()) {
        ("undefined", _) => "undefined".to_owned(),
        (_, Some("null")) => "null".to_owned(),
        ("function", _) => function(description.unwrap_or_default()),
        (_, Some("error")) => split_stack(description.unwrap_or("Error")).0.to_owned(),
        (_, Some("regexp" | "date" | "node" | "trustedtype")) => description.unwrap_or_default().to_owned(),
        ("object", _) => match &object.preview {
            Some(preview) => self::preview(preview),
            None => description.or(object.class_name.as_deref()).unwrap_or("Object").to_owned(),
        },
        ("bigint" | "number", _) if object.unserializable_value.is_some() => {
            object.unserializable_value.clone().unwrap_or_default()
        }
        _ => match (description, object.value) {
            (Some(description), _) => description.to_owned(),
            (None, Some(raw)) => raw.get().to_owned(),
            (None, None) => object.kind.clone().into_owned(),
        },
    }
}

/// What makes two arguments the same argument. Replayed calls come without previews, so these have no part in it.
pub fn identity(object: &RemoteObject<'_>) -> String {
    let value = object.value.map(|raw| raw.get()).unwrap_or_default();
    format!("{}\0{}\0{}", object.kind, value, object.description.as_deref().unwrap_or_default())
}

fn plain_string(object: &RemoteObject<'_>) -> Option<String> {
    match object.kind == "string" {
        true => serde_json::from_str(object.value?.get()).ok(),
        false => None,
    }
}

/// Puts arguments in place of `%s` and its relatives, as far as there are arguments.
fn substitute<'a, 'b: 'a>(pattern: &str, arguments: &mut impl Iterator<Item = &'a RemoteObject<'b>>) -> String {
    let mut text = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(at) = rest.find('%') {
        text.push_str(&rest[..at]);
        let specifier = rest[at + 1..].chars().next();
        match specifier {
            Some('%') => text.push('%'),
            Some(letter @ ('s' | 'd' | 'i' | 'f' | 'o' | 'O' | 'c')) => match arguments.next() {
                Some(_) if letter == 'c' => {}
                Some(argument) => text.push_str(&converted(letter, argument)),
                None => text.extend(['%', letter]),
            },
            _ => text.push('%'),
        }
        let known = matches!(specifier, Some('%' | 's' | 'd' | 'i' | 'f' | 'o' | 'O' | 'c'));
        rest = &rest[at + 1 + usize::from(known)..];
    }
    text.push_str(rest);
    text
}

/// A value as its specifier asks for it. Engines convert numbers before they tell; old ones did not.
fn converted(letter: char, argument: &RemoteObject<'_>) -> String {
    let text = value(argument);
    match letter {
        'd' | 'i' if argument.kind == "number" => match text.split_once('.') {
            Some((whole, fraction)) if fraction.bytes().all(|byte| byte.is_ascii_digit()) => whole.to_owned(),
            _ => text,
        },
        'd' | 'i' | 'f' if !matches!(&*argument.kind, "number" | "bigint" | "string") => "NaN".to_owned(),
        _ => text,
    }
}

/// `ƒ name(a)` or `class Name`: the source's first words.
fn function(source: &str) -> String {
    let head = source.split('{').next().unwrap_or_default().trim();
    match head.strip_prefix("function") {
        Some(rest) => format!("ƒ {}", cut(rest.trim_start_matches('*').trim().to_owned(), MAX_NESTED)),
        None => cut(head.to_owned(), MAX_NESTED),
    }
}

fn preview(preview: &Preview<'_>) -> String {
    let description = preview.description.as_deref().unwrap_or("Object");
    match preview.subtype.as_deref() {
        Some("null") => "null".to_owned(),
        Some("error") => split_stack(description).0.to_owned(),
        Some("regexp" | "date" | "node") => description.to_owned(),
        Some("array") => format!("[{}]", listed(preview, nested)),
        Some("typedarray") => format!("{description} [{}]", listed(preview, nested)),
        Some("map" | "set" | "weakmap" | "weakset" | "iterator") => format!("{description} {{{}}}", entries(preview)),
        _ if preview.kind != "object" => quoted(&preview.kind, description),
        _ => {
            let class = if description == "Object" { String::new() } else { format!("{description} ") };
            format!("{class}{{{}}}", listed(preview, |property| format!("{}: {}", property.name, nested(property))))
        }
    }
}

fn listed(preview: &Preview<'_>, show: impl Fn(&Property<'_>) -> String) -> String {
    // Typed arrays are listed with their buffers and lengths, which nobody logged them for.
    let typed = preview.subtype.as_deref() == Some("typedarray");
    let is_index = |property: &&Property<'_>| property.name.bytes().all(|byte| byte.is_ascii_digit());
    let wanted = || preview.properties.iter().filter(|property| !typed || is_index(property));
    let mut parts: Vec<String> = wanted().take(MAX_PROPERTIES).map(show).collect();
    if preview.overflow || wanted().count() > MAX_PROPERTIES {
        parts.push("…".to_owned());
    }
    parts.join(", ")
}

fn entries(preview: &Preview<'_>) -> String {
    let show = |entry: &Entry<'_>| match &entry.key {
        Some(key) => format!("{} => {}", self::preview(key), self::preview(&entry.value)),
        None => self::preview(&entry.value),
    };
    let mut parts: Vec<String> = preview.entries.iter().take(MAX_PROPERTIES).map(show).collect();
    if preview.overflow || preview.entries.len() > MAX_PROPERTIES {
        parts.push("…".to_owned());
    }
    parts.join(", ")
}

fn nested(property: &Property<'_>) -> String {
    match (&*property.kind, property.subtype.as_deref()) {
        ("accessor", _) => "(…)".to_owned(),
        ("function", _) => "ƒ".to_owned(),
        (_, Some("error")) => split_stack(&property.value).0.to_owned(),
        ("object", None) if property.value == "Object" => "{…}".to_owned(),
        (kind, _) => quoted(kind, &property.value),
    }
}

fn quoted(kind: &str, text: &str) -> String {
    match kind {
        "string" => format!("'{}'", cut(text.to_owned(), MAX_NESTED)),
        _ => cut(text.to_owned(), MAX_NESTED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(arguments: &str) -> String {
        let arguments: Vec<RemoteObject<'_>> =
            serde_json::from_str(arguments).expect("the test writes valid arguments");
        message(&arguments)
    }

    #[test]
    fn plain_values_are_joined_by_spaces() {
        let text = said(
            r#"[{"type":"string","value":"plain"},{"type":"number","value":1,"description":"1"},
                {"type":"number","unserializableValue":"-0","description":"-0"},{"type":"boolean","value":true},
                {"type":"object","subtype":"null","value":null},{"type":"undefined"},
                {"type":"symbol","description":"Symbol(s)"},{"type":"bigint","unserializableValue":"10n","description":"10n"},
                {"type":"function","description":"function named(a){return a}"},{"type":"function","description":"class K{}"},
                {"type":"function","description":"(a) => a"}]"#,
        );
        assert_eq!(text, "plain 1 -0 true null undefined Symbol(s) 10n ƒ named(a) class K (a) => a");
    }

    #[test]
    fn specifiers_take_their_arguments_and_the_rest_follows() {
        let text = said(
            r#"[{"type":"string","value":"%s is %d and %i, %f%% %c styled %x"},{"type":"string","value":"Ann"},
                {"type":"number","value":42.5,"description":"42.5"},{"type":"object","description":"Object"},
                {"type":"number","value":1.5,"description":"1.5"},{"type":"string","value":"color:red"},
                {"type":"string","value":"rest"}]"#,
        );
        assert_eq!(text, "Ann is 42 and NaN, 1.5%  styled %x rest");
    }

    #[test]
    fn specifiers_without_arguments_stay() {
        assert_eq!(said(r#"[{"type":"string","value":"100% %s %d"}]"#), "100% %s %d");
        assert_eq!(said(r#"[{"type":"string","value":"ends with %"}]"#), "ends with %");
        assert_eq!(said("[]"), "");
    }

    #[test]
    fn objects_show_their_previews() {
        let text = said(
            r#"[{"type":"object","className":"Object","description":"Object","preview":{"type":"object","description":"Object","overflow":true,
                 "properties":[{"name":"a","type":"number","value":"1"},{"name":"b","type":"string","value":"two"},{"name":"c","type":"object","value":"Object"},
                 {"name":"d","type":"object","subtype":"array","value":"Array(2)"},{"name":"e","type":"function","value":""}]}},
                {"type":"object","subtype":"array","description":"Array(2)","preview":{"type":"object","subtype":"array","description":"Array(2)","overflow":false,
                 "properties":[{"name":"0","type":"number","value":"1"},{"name":"1","type":"string","value":"x"}]}},
                {"type":"object","subtype":"map","description":"Map(1)","preview":{"type":"object","subtype":"map","description":"Map(1)","overflow":false,"properties":[],
                 "entries":[{"key":{"type":"string","description":"k","properties":[]},"value":{"type":"object","description":"Object","properties":[{"name":"v","type":"number","value":"1"}]}}]}},
                {"type":"object","className":"Point","description":"Point","preview":{"type":"object","description":"Point","overflow":false,"properties":[]}}]"#,
        );
        assert_eq!(text, "{a: 1, b: 'two', c: {…}, d: Array(2), e: ƒ, …} [1, 'x'] Map(1) {'k' => {v: 1}} Point {}");
    }

    #[test]
    fn replayed_objects_without_previews_show_their_descriptions() {
        assert_eq!(
            said(
                r#"[{"type":"object","subtype":"array","description":"Array(3)"},{"type":"object","description":"Object"}]"#
            ),
            "Array(3) Object"
        );
    }

    #[test]
    fn errors_show_what_they_say_and_not_their_stack() {
        let text = said(
            r#"[{"type":"string","value":"caught"},{"type":"object","subtype":"error","className":"TypeError","description":"TypeError: no x\n    at f (http://a/b.js:1:2)"}]"#,
        );
        assert_eq!(text, "caught TypeError: no x");
    }

    #[test]
    fn very_long_messages_are_cut_and_say_so() {
        let long = "x".repeat(MAX_MESSAGE + 7);
        let text = said(&format!(r#"[{{"type":"string","value":"{long}"}}]"#));
        assert!(text.ends_with("… (7 more bytes)"), "{}", &text[text.len() - 40..]);
    }
}
