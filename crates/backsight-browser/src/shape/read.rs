//! Shapes from JSON, and from their own text. Lists merge as they are read, so memory grows with the shape and not with
//! the text.

use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{DEPTH, Key, Object, Shape};

/// The longest key that is kept whole, in characters.
const LONGEST_KEY: usize = 64;

/// The shape of a JSON text.
pub fn of_json(text: &str) -> Option<Shape> {
    let mut shape = Shape::default();
    let mut json = serde_json::Deserializer::from_str(text);
    Place { shape: &mut shape, depth: 0 }.deserialize(&mut json).ok()?;
    json.end().ok()?;
    Some(shape)
}

/// Adds a value to what was seen at its place.
struct Place<'a> {
    shape: &'a mut Shape,
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.depth < DEPTH {
            return deserializer.deserialize_any(self);
        }
        // Skipping is a loop, not a recursion, however deep it goes on.
        self.shape.cut = true;
        deserializer.deserialize_ignored_any(IgnoredAny).map(|_| ())
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.shape.null = true;
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        self.shape.boolean = true;
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        self.shape.number = true;
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        self.shape.number = true;
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        self.shape.number = true;
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        self.shape.string = true;
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let list = self.shape.list.get_or_insert_default();
        while elements.next_element_seed(Place { shape: list, depth: self.depth + 1 })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let object = self.shape.object.get_or_insert_default();
        object.seen += 1;
        while let Some(name) = entries.next_key::<String>()? {
            let key = object.keys.entry(clip(name)).or_default();
            if key.last != object.seen {
                key.last = object.seen;
                key.seen += 1;
            }
            entries.next_value_seed(Place { shape: &mut key.shape, depth: self.depth + 1 })?;
        }
        Ok(())
    }
}

fn clip(mut key: String) -> String {
    if let Some((end, _)) = key.char_indices().nth(LONGEST_KEY) {
        key.truncate(end);
        key.push('…');
    }
    key
}

/// The shape that a text made of a shape stands for.
pub fn of_shape(text: &str) -> Option<Shape> {
    let mut reader = Reader { rest: text };
    let shape = reader.shape(0)?;
    reader.rest.is_empty().then_some(shape)
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn take(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Alternatives; none at all is what an empty list's elements are like.
    fn shape(&mut self, depth: usize) -> Option<Shape> {
        let mut shape = Shape::default();
        if depth > DEPTH || self.rest.starts_with(']') {
            return (depth <= DEPTH).then_some(shape);
        }
        loop {
            self.alternative(&mut shape, depth)?;
            if !self.take("|") {
                return Some(shape);
            }
        }
    }

    fn alternative(&mut self, shape: &mut Shape, depth: usize) -> Option<()> {
        if self.take("null") {
            shape.null = true;
        } else if self.take("n") {
            shape.number = true;
        } else if self.take("s") {
            shape.string = true;
        } else if self.take("b") {
            shape.boolean = true;
        } else if self.take("…") {
            shape.cut = true;
        } else if self.take("[") {
            shape.list = Some(Box::new(self.shape(depth + 1)?));
            self.take("]").then_some(())?;
        } else if self.take("{") {
            shape.object = Some(self.object(depth)?);
        } else {
            return None;
        }
        Some(())
    }

    fn object(&mut self, depth: usize) -> Option<Object> {
        let mut object = Object { seen: 2, ..Object::default() };
        while !self.take("}") {
            if !object.keys.is_empty() {
                self.take(",").then_some(())?;
            }
            if self.take("…") {
                object.cut = true;
                return self.take("}").then_some(object);
            }
            let name = self.key()?;
            let seen = if self.take("?") { 1 } else { 2 };
            self.take(":").then_some(())?;
            let shape = self.shape(depth + 1)?;
            object.keys.insert(name, Key { shape, seen, last: 0 });
        }
        Some(object)
    }

    fn key(&mut self) -> Option<String> {
        if self.rest.starts_with('"') {
            let mut quoted = serde_json::Deserializer::from_str(self.rest).into_iter::<String>();
            let key = quoted.next()?.ok()?;
            self.rest = self.rest.get(quoted.byte_offset()..)?;
            return Some(key);
        }
        let (key, rest) = self.rest.split_at_checked(self.rest.find(['?', ':'])?)?;
        self.rest = rest;
        Some(key.to_owned())
    }
}
