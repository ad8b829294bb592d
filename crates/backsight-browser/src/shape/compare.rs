//! What changed between two shapes, in words.

use super::write::key_text;
use super::{Object, Shape, read};

/// See [`super::differences`].
pub fn differences(before: &str, after: &str) -> Vec<String> {
    if before == after {
        return Vec::new();
    }
    let mut found = Vec::new();
    match (read::of_shape(before), read::of_shape(after)) {
        (Some(before), Some(after)) => compare(&before, &after, "", &mut found),
        // A shape that another version wrote: all that can be said is that they are not the same.
        _ => found.push("the shape: other than before".to_owned()),
    }
    found
}

fn compare(before: &Shape, after: &Shape, path: &str, found: &mut Vec<String>) {
    // What was cut can have been anything, and so can the elements of an empty list.
    if before.cut || after.cut || *before == Shape::default() || *after == Shape::default() {
        return;
    }
    let (types_before, types_after) = (types(before), types(after));
    if types_after.iter().any(|name| !types_before.contains(name)) {
        let place = if path.is_empty() { "the whole" } else { path };
        found.push(format!("{place}: {} -> {}", types_before.join(" or "), types_after.join(" or ")));
    }
    if let (Some(before), Some(after)) = (&before.list, &after.list) {
        compare(before, after, &format!("{path}[]"), found);
    }
    if let (Some(before), Some(after)) = (&before.object, &after.object) {
        compare_objects(before, after, path, found);
    }
}

fn compare_objects(before: &Object, after: &Object, path: &str, found: &mut Vec<String>) {
    let place = |name: &str| match path {
        "" => key_text(name),
        _ => format!("{path}.{}", key_text(name)),
    };
    for (name, was) in &before.keys {
        match after.keys.get(name) {
            Some(is) => {
                if after.is_optional(is) && !before.is_optional(was) {
                    found.push(format!("sometimes missing: {}", place(name)));
                }
                compare(&was.shape, &is.shape, &place(name), found);
            }
            None if after.cut || before.is_optional(was) => {}
            None => found.push(format!("missing: {}", place(name))),
        }
    }
    let new = after.keys.keys().filter(|name| !before.cut && !before.keys.contains_key(*name));
    found.extend(new.map(|name| format!("new: {}", place(name))));
}

fn types(shape: &Shape) -> Vec<&'static str> {
    let seen = [
        (shape.boolean, "boolean"),
        (shape.number, "number"),
        (shape.string, "string"),
        (shape.list.is_some(), "list"),
        (shape.object.is_some(), "object"),
        (shape.null, "null"),
    ];
    seen.into_iter().filter_map(|(is_seen, name)| is_seen.then_some(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_are_said_by_place() {
        let before = "{id:n,name:s,owner:{id:n,mail:s},tags:[s]}";
        let after = "{avatar:s,id:n,name?:s,owner:{id:s,mail:null}}";
        let expected = [
            "sometimes missing: name",
            "owner.id: number -> string",
            "owner.mail: string -> null",
            "missing: tags",
            "new: avatar",
        ];
        assert_eq!(differences(before, after), expected);
        assert_eq!(differences("{a:n}", "[n]"), ["the whole: object -> list"]);
        assert_eq!(differences("[{a:[n]}]", "[{a:[n|s]}]"), ["[].a[]: number -> number or string"]);
        assert_eq!(differences(r#"{"a b":{c:n}}"#, r#"{"a b":{}}"#), [r#"missing: "a b".c"#]);
    }

    #[test]
    fn what_was_left_open_may_be_so() {
        let fitting = [
            ("{a?:n}", "{}"),
            ("{a?:n}", "{a:n}"),
            ("{a:n|null}", "{a:n}"),
            ("[]", "[s]"),
            ("[s]", "[]"),
            ("{a:…}", "{a:{b:n}}"),
            ("{a:n,…}", "{a:n,b:n}"),
            ("{a:n,b:n}", "{a:n,…}"),
        ];
        for (before, after) in fitting {
            assert_eq!(differences(before, after), [""; 0], "{before} {after}");
        }
    }

    #[test]
    fn unreadable_shapes_still_differ() {
        assert_eq!(differences("{a", "n"), ["the shape: other than before"]);
        assert_eq!(differences(&"[".repeat(100_000), "n"), ["the shape: other than before"]);
        assert_eq!(differences(&"{a:".repeat(100_000), "n"), ["the shape: other than before"]);
    }
}
