//! The shape of a JSON text: its keys and types without its values, `{id:n,name?:s,tags:[s]}`. Baselines keep shapes to
//! notice an answer that still says 200 and no longer says what the app reads.
//!
//! `n` is a number, `s` a string, `b` a boolean; `[..]` a list, whose elements are merged; `{..}` an object; `?` a key that
//! only some elements have; `|` stands between types that both occur; `…` for what was cut: more than [`DEPTH`] levels,
//! more than [`KEYS`] keys.

mod compare;
mod read;
mod write;

use std::collections::BTreeMap;

/// Levels of lists and objects that are looked into.
pub const DEPTH: usize = 6;

/// Keys that are kept, those near the root first.
pub const KEYS: usize = 100;

/// The shape of a text, if it is JSON. What is nested however deep takes no stack.
///
/// ```
/// use backsight_browser::shape;
/// assert_eq!(shape::of_json(r#"{"b":[1,2],"a":null}"#).as_deref(), Some("{a:null,b:[n]}"));
/// assert_eq!(shape::of_json("<html>"), None);
/// ```
pub fn of_json(text: &str) -> Option<String> {
    let mut shape = read::of_json(text)?;
    shape.keep_keys(KEYS);
    Some(shape.to_string())
}

/// What a reader of `before` has to expect of `after`, both as [`of_json`] writes them: `owner.id: number -> string`,
/// `missing: tags`, `sometimes missing: name`, `new: avatar`. What the one leaves open the other may have: a key that was
/// optional may be missing, a type of several may be the only one, an empty list may be filled.
pub fn differences(before: &str, after: &str) -> Vec<String> {
    compare::differences(before, after)
}

/// Everything seen at one place.
#[derive(Clone, Debug, Default, PartialEq)]
struct Shape {
    null: bool,
    boolean: bool,
    number: bool,
    string: bool,
    /// What the elements are like; empty when there were none.
    list: Option<Box<Shape>>,
    object: Option<Object>,
    /// Something here was too deep to look at.
    cut: bool,
}

/// Everything seen of objects at one place.
#[derive(Clone, Debug, Default, PartialEq)]
struct Object {
    keys: BTreeMap<String, Key>,
    /// How many objects there were.
    seen: u64,
    /// Further keys were left out.
    cut: bool,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Key {
    shape: Shape,
    /// How many of the objects have it.
    seen: u64,
    /// The number of the last object that has it; an object can say a key twice.
    last: u64,
}

impl Object {
    fn is_optional(&self, key: &Key) -> bool {
        key.seen < self.seen
    }
}

impl Shape {
    /// Leaves out keys beyond `room`, the deepest first, so that the order within the text does not matter.
    fn keep_keys(&mut self, mut room: usize) {
        let mut level = vec![self];
        while !level.is_empty() {
            let mut below = Vec::new();
            for shape in level {
                if let Some(list) = &mut shape.list {
                    below.push(&mut **list);
                }
                let Some(object) = &mut shape.object else { continue };
                if let Some(first_left_out) = object.keys.keys().nth(room).cloned() {
                    object.keys.split_off(&first_left_out);
                    object.cut = true;
                }
                room -= object.keys.len();
                below.extend(object.keys.values_mut().map(|key| &mut key.shape));
            }
            level = below;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn shape(value: &Value) -> String {
        of_json(&value.to_string()).unwrap()
    }

    #[test]
    fn a_shape_has_keys_and_types_and_no_values() {
        let value = json!({"name": "x", "id": 1, "tags": ["a", "b"], "owner": {"id": 7, "admin": true, "boss": null}});
        assert_eq!(shape(&value), "{id:n,name:s,owner:{admin:b,boss:null,id:n},tags:[s]}");
        let scalars = ["1", "-1.5e3", "\"a\"", "true", "null", "[]", "{}", " 1 "].map(|text| of_json(text).unwrap());
        assert_eq!(scalars.join(" "), "n n s b null [] {} n");
    }

    #[test]
    fn elements_of_a_list_are_merged() {
        let value = json!([{"a": 1, "b": 1}, {"a": "x"}, null, {"a": 2, "c": [1]}, {"a": 2, "c": ["s"]}]);
        assert_eq!(shape(&value), "[{a:n|s,b?:n,c?:[n|s]}|null]");
        assert_eq!(of_json(r#"[{"a":1,"a":2},{}]"#).unwrap(), "[{a?:n}]");
    }

    #[test]
    fn what_is_no_json_has_no_shape() {
        for text in ["", "<html>", "{", "[1,]", "{} {}", "undefined", "{'a':1}", "\u{0}", "[1"] {
            assert_eq!(of_json(text), None, "{text}");
        }
    }

    #[test]
    fn unusual_keys_are_quoted() {
        assert_eq!(of_json(r#"{"a b":1,"":2,"n?":3,"…":4}"#).unwrap(), r#"{"":n,"a b":n,"n?":n,"…":n}"#);
    }

    #[test]
    fn depth_and_number_of_keys_are_bounded_and_say_so() {
        assert_eq!(of_json("[[[[[[[1]]]]]]]").unwrap(), "[[[[[[…]]]]]]");
        let bomb = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
        assert_eq!(of_json(&bomb).unwrap(), "[[[[[[…]]]]]]");
        assert_eq!(of_json(&"[".repeat(200_000)), None);
        let open = r#"{"a":"#.repeat(100_000);
        assert_eq!(of_json(&format!("{open}1{}", "}".repeat(100_000))).unwrap(), "{a:{a:{a:{a:{a:{a:…}}}}}}");

        let wide: serde_json::Map<String, Value> = (0..150).map(|key| (format!("k{key:03}"), json!(key))).collect();
        let wide = shape(&Value::Object(wide));
        assert_eq!(wide.matches(":n").count(), KEYS);
        assert!(wide.ends_with("k099:n,…}"), "{wide}");
        let long = of_json(&format!(r#"{{"{}":1}}"#, "k".repeat(5000))).unwrap();
        assert!(long.chars().count() < 80 && long.contains('…'), "{long}");
    }

    #[test]
    fn keys_near_the_root_are_kept_first() {
        let deep: serde_json::Map<String, Value> = (0..150).map(|key| (format!("k{key:03}"), json!(key))).collect();
        let shape = shape(&json!({"a": deep, "z": 1}));
        assert!(shape.starts_with("{a:{k000:n,") && shape.ends_with(",…},z:n}"), "{shape}");
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from)
        ];
        leaf.prop_recursive(8, 80, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map("[a-c]{1,2}|.{0,3}", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn no_text_is_too_strange(text in "[\\[\\]{}\",:a-c1\\\\ntrue|?…]{0,60}|\\PC{0,60}", other in "\\PC{0,40}|[\\[{n|:?a,}\\]]{0,40}") {
            let _ = of_json(&text);
            let _ = differences(&text, &other);
            let _ = differences(&other, &text);
        }

        #[test]
        fn a_shape_does_not_differ_from_itself(value in any_json()) {
            let shape = shape(&value);
            prop_assert_eq!(differences(&shape, &shape), Vec::<String>::new());
        }

        #[test]
        fn a_shape_can_be_read_back(value in any_json()) {
            let written = shape(&value);
            prop_assert_eq!(read::of_shape(&written).map(|shape| shape.to_string()), Some(written));
        }

        #[test]
        fn the_elements_of_a_list_fit_the_list(elements in prop::collection::vec(any_json(), 1..5)) {
            let (list, one) = (shape(&json!(elements)), shape(&json!([elements[0]])));
            prop_assert_eq!(differences(&list, &one), Vec::<String>::new());
        }
    }
}
