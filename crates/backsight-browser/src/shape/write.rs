//! Shapes as text.

use std::fmt::{self, Write};

use super::{Object, Shape};

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut written = false;
        let mut alternative = |f: &mut fmt::Formatter<'_>| match std::mem::replace(&mut written, true) {
            true => f.write_char('|'),
            false => Ok(()),
        };
        for (is_seen, name) in [(self.boolean, "b"), (self.number, "n"), (self.string, "s")] {
            if is_seen {
                alternative(f)?;
                f.write_str(name)?;
            }
        }
        if let Some(list) = &self.list {
            alternative(f)?;
            write!(f, "[{list}]")?;
        }
        if let Some(object) = &self.object {
            alternative(f)?;
            object.fmt(f)?;
        }
        for (is_seen, name) in [(self.null, "null"), (self.cut, "…")] {
            if is_seen {
                alternative(f)?;
                f.write_str(name)?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('{')?;
        for (position, (name, key)) in self.keys.iter().enumerate() {
            let comma = if position > 0 { "," } else { "" };
            let optional = if self.is_optional(key) { "?" } else { "" };
            write!(f, "{comma}{}{optional}:{}", key_text(name), key.shape)?;
        }
        match (self.cut, self.keys.is_empty()) {
            (false, _) => f.write_char('}'),
            (true, true) => f.write_str("…}"),
            (true, false) => f.write_str(",…}"),
        }
    }
}

/// A key as it is, or quoted when it could be taken for something else.
pub fn key_text(key: &str) -> String {
    let is_plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-$".contains(&byte));
    if is_plain { key.to_owned() } else { serde_json::Value::from(key).to_string() }
}
