//! JSON files that people write: changed by splicing text, so that comments, order, indentation and trailing commas
//! stay as they are. Every splice is parsed again and must mean exactly what was asked; otherwise nothing is changed.

use backsight_core::{Code, Error, Result};
use jsonc_parser::ast;
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::{CollectOptions, ParseOptions};
use serde_json::Value;

use super::node::{Layout, Node, member};

/// A JSON document and its text.
#[derive(Clone, Debug)]
pub struct Document {
    text: String,
    value: Value,
}

/// A step on the way to a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step<'a> {
    /// Into an object.
    Key(&'a str),
    /// Into a list.
    Index(usize),
}

impl Document {
    /// Reads a document. An empty text is an empty object that is not there yet.
    pub fn parse(text: &str) -> Result<Self> {
        let value = meaning(text)?;
        match value {
            Value::Object(_) => Ok(Document { text: text.to_owned(), value }),
            Value::Null if !text.contains("null") => Ok(Document { text: text.to_owned(), value: Value::Null }),
            _ => Err(Error::new(Code::InvalidConfig, "it holds something else than a JSON object")),
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What is at a place.
    pub fn get(&self, path: &[Step<'_>]) -> Option<&Value> {
        path.iter().try_fold(&self.value, |value, step| match step {
            Step::Key(key) => value.as_object()?.get(*key),
            Step::Index(index) => value.as_array()?.get(*index),
        })
    }

    /// Whether nothing is in it, not even a comment.
    pub fn is_bare(&self) -> bool {
        self.text.bytes().all(|byte| byte.is_ascii_whitespace() || b"{}".contains(&byte))
    }

    /// Puts a value at a place, instead of what is there; objects on the way are made.
    pub fn set(&mut self, path: &[&str], node: &Node) -> Result<()> {
        let Some((last, above)) = path.split_last() else { return Ok(()) };
        let wrapped = Node::Object(vec![((*last).to_owned(), node.clone())]);
        let steps: Vec<Step<'_>> = path.iter().map(|key| Step::Key(key)).collect();
        if self.get(&steps).is_some() {
            return self.replace(&steps, node);
        }
        match self.get(&steps[..above.len()]) {
            Some(Value::Object(_)) => self.insert(&steps[..above.len()], Some(last), node),
            Some(Value::Null) | None if above.is_empty() => {
                let start = self.text.trim_end().len();
                let newline = if start == 0 { "" } else { self.layout().newline };
                self.apply(vec![(start..start, format!("{newline}{{}}"))], Value::Object(Default::default()))?;
                self.set(path, node)
            }
            Some(_) => Err(Error::new(Code::InvalidConfig, format!("`{}` is not an object", above.join(".")))),
            None => self.set(above, &wrapped),
        }
    }

    /// Adds a value to the list at a place, which is made if need be.
    pub fn push(&mut self, path: &[&str], node: &Node) -> Result<()> {
        let steps: Vec<Step<'_>> = path.iter().map(|key| Step::Key(key)).collect();
        match self.get(&steps) {
            None => self.set(path, &Node::List(vec![node.clone()])),
            Some(Value::Array(_)) => self.insert(&steps, None, node),
            Some(_) => Err(Error::new(Code::InvalidConfig, format!("`{}` is not a list", path.join(".")))),
        }
    }

    /// Puts a value in the place of one that is there.
    pub fn replace(&mut self, path: &[Step<'_>], node: &Node) -> Result<()> {
        let mut expected = self.value.clone();
        if let Some(place) = walk(&mut expected, path) {
            *place = node.value();
        }
        let Some(range) = self.place(path)? else { return Ok(()) };
        let text = node.write(indentation(&self.text, range.start), &self.layout());
        self.apply(vec![(range.start..range.end, text)], expected)
    }

    /// Removes what is at a place, with its comma and the line it stood on.
    pub fn remove(&mut self, path: &[Step<'_>]) -> Result<()> {
        let Some((last, above)) = path.split_last() else { return Ok(()) };
        let mut expected = self.value.clone();
        match (walk(&mut expected, above), last) {
            (Some(Value::Object(members)), Step::Key(key)) => drop(members.remove(*key)),
            (Some(Value::Array(list)), Step::Index(index)) if *index < list.len() => drop(list.remove(*index)),
            _ => return Ok(()),
        }
        let Some(container) = self.container(above)? else { return Ok(()) };
        let index = match last {
            Step::Index(index) => Some(*index),
            Step::Key(key) => container.names.iter().rposition(|name| name == key),
        };
        let Some(index) = index.filter(|index| *index < container.items.len()) else { return Ok(()) };
        let splices = self.removal(&container, index);
        self.apply(splices, expected)?;
        self.collapse(above)
    }

    fn insert(&mut self, path: &[Step<'_>], name: Option<&str>, node: &Node) -> Result<()> {
        let mut expected = self.value.clone();
        match (walk(&mut expected, path), name) {
            (Some(Value::Object(members)), Some(name)) => drop(members.insert(name.to_owned(), node.value())),
            (Some(Value::Array(list)), None) => list.push(node.value()),
            _ => return Ok(()),
        }
        let Some(container) = self.container(path)? else { return Ok(()) };
        let layout = self.layout();
        let outer = indentation(&self.text, container.range.start).to_owned();
        let inner = match container.items.first() {
            Some(first) if starts_line(&self.text, first.start) => indentation(&self.text, first.start).to_owned(),
            _ => format!("{outer}{}", layout.unit),
        };
        let item = name.map_or_else(|| node.write(&inner, &layout), |name| member(name, node, &inner, &layout));
        let line = format!("{}{inner}{item}", layout.newline);
        self.apply(self.insertion(&container, &line, &format!("{}{outer}", layout.newline)), expected)
    }

    /// Where a new last item goes: after what belongs to the line of the one before.
    fn insertion(&self, container: &Container, line: &str, closing: &str) -> Vec<Splice> {
        let (start, end) = (container.range.start + 1, container.range.end - 1);
        let Some(last) = container.items.last() else {
            let inside = &self.text[start..end];
            let kept = start + inside.trim_end().len();
            let is_closed = !inside.trim().is_empty() && self.text[kept..end].contains('\n');
            return vec![(kept..if is_closed { kept } else { end }, join(line, if is_closed { "" } else { closing }))];
        };
        match comma_after(&self.text, last.end, end) {
            Some(comma) => {
                let point = end_of_line_comments(&self.text, comma + 1, end);
                vec![(point..point, format!("{line},"))]
            }
            None => {
                let point = end_of_line_comments(&self.text, last.end, end);
                vec![(last.end..last.end, ",".to_owned()), (point..point, line.to_owned())]
            }
        }
    }

    fn removal(&self, container: &Container, index: usize) -> Vec<Splice> {
        let item = container.items[index];
        let before = match index.checked_sub(1) {
            Some(previous) => container.items[previous].end,
            None => container.range.start + 1,
        };
        let start = before + self.text[before..item.start].trim_end().len();
        let comma = comma_after(&self.text, item.end, container.range.end - 1);
        let end =
            comma.filter(|comma| self.text[item.end..*comma].trim().is_empty()).map_or(item.end, |comma| comma + 1);
        // What follows a line comment must not become part of it.
        let ends_comment = in_line_comment(&self.text, before, start);
        let goes_on = !self.text[end..].trim_start_matches([' ', '\t']).starts_with(['\n', '\r']);
        let filler = match ends_comment && goes_on {
            true => format!("{}{}", self.layout().newline, indentation(&self.text, container.range.start)),
            false => String::new(),
        };
        let mut splices = vec![(start..end, filler)];
        match (comma, index.checked_sub(1)) {
            (Some(comma), _) if comma >= end => splices.push((comma..comma + 1, String::new())),
            (None, Some(_)) => {
                let previous = comma_after(&self.text, before, item.start);
                splices.extend(previous.map(|comma| (comma..comma + 1, String::new())));
            }
            _ => {}
        }
        splices
    }

    /// An object or list in which only space is left is written as one that never held anything.
    fn collapse(&mut self, path: &[Step<'_>]) -> Result<()> {
        let Some(container) = self.container(path)? else { return Ok(()) };
        let inside = container.range.start + 1..container.range.end - 1;
        if !container.items.is_empty() || inside.is_empty() || !self.text[inside.clone()].trim().is_empty() {
            return Ok(());
        }
        self.apply(vec![(inside, String::new())], self.value.clone())
    }

    /// Applies splices, unless the outcome means something else than expected.
    fn apply(&mut self, mut splices: Vec<Splice>, expected: Value) -> Result<()> {
        splices.sort_by_key(|(range, _)| range.start);
        let mut text = self.text.clone();
        // From the end, so that the places of those before stay right.
        for (range, new) in splices.into_iter().rev() {
            text.replace_range(range, &new);
        }
        if meaning(&text).ok().as_ref() != Some(&expected) {
            let error = Error::new(Code::InvalidConfig, "it is written in a way that cannot be changed safely");
            return Err(error.with_hint("a member that is there twice? mend it, or add the lines by hand: `--print`"));
        }
        (self.text, self.value) = (text, expected);
        Ok(())
    }

    fn place(&self, path: &[Step<'_>]) -> Result<Option<Range>> {
        let parsed = syntax(&self.text)?;
        Ok(parsed.as_ref().and_then(|root| find(root, path)).map(Ranged::range))
    }

    fn container(&self, path: &[Step<'_>]) -> Result<Option<Container>> {
        let parsed = syntax(&self.text)?;
        Ok(parsed.as_ref().and_then(|root| find(root, path)).and_then(|value| match value {
            ast::Value::Object(object) => Some(Container {
                range: object.range,
                items: object.properties.iter().map(|property| property.range).collect(),
                names: object.properties.iter().map(|property| property.name.as_str().to_owned()).collect(),
            }),
            ast::Value::Array(array) => Some(Container {
                range: array.range,
                items: array.elements.iter().map(Ranged::range).collect(),
                names: Vec::new(),
            }),
            _ => None,
        }))
    }

    fn layout(&self) -> Layout {
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let first = self.container(&[]).ok().flatten().and_then(|root| root.items.first().copied());
        let unit = first.filter(|first| starts_line(&self.text, first.start));
        let unit = unit.map(|first| indentation(&self.text, first.start)).filter(|unit| !unit.is_empty());
        Layout { unit: unit.unwrap_or("  ").to_owned(), newline }
    }
}

type Splice = (std::ops::Range<usize>, String);

/// An object or list in the text.
struct Container {
    range: Range,
    items: Vec<Range>,
    names: Vec<String>,
}

fn join(line: &str, closing: &str) -> String {
    format!("{line}{closing}")
}

fn syntax(text: &str) -> Result<Option<ast::Value<'_>>> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| {
        let (line, column) = (error.line_display(), error.column_display());
        Error::new(Code::InvalidConfig, format!("line {line}, column {column}: {}", error.kind()))
            .with_details(serde_json::json!({ "line": line, "column": column }))
    })?;
    Ok(parsed.value)
}

fn meaning(text: &str) -> Result<Value> {
    syntax(text)?.as_ref().map_or(Ok(Value::Null), value_of)
}

fn value_of(value: &ast::Value<'_>) -> Result<Value> {
    Ok(match value {
        ast::Value::StringLit(text) => Value::from(text.value.as_ref()),
        ast::Value::NumberLit(number) => serde_json::from_str(number.value)
            .map_err(|error| Error::new(Code::InvalidConfig, format!("`{}` is no number: {error}", number.value)))?,
        ast::Value::BooleanLit(flag) => Value::from(flag.value),
        ast::Value::NullKeyword(_) => Value::Null,
        ast::Value::Array(array) => Value::Array(array.elements.iter().map(value_of).collect::<Result<_>>()?),
        ast::Value::Object(object) => {
            let member =
                |property: &ast::ObjectProp<'_>| Ok((property.name.as_str().to_owned(), value_of(&property.value)?));
            Value::Object(object.properties.iter().map(member).collect::<Result<_>>()?)
        }
    })
}

/// Of members with the same name the last one counts, as it does for the programs that read the file.
fn find<'a, 'b>(root: &'b ast::Value<'a>, path: &[Step<'_>]) -> Option<&'b ast::Value<'a>> {
    path.iter().try_fold(root, |value, step| match (value, step) {
        (ast::Value::Object(object), Step::Key(key)) => {
            object.properties.iter().rev().find(|property| property.name.as_str() == *key).map(|found| &found.value)
        }
        (ast::Value::Array(array), Step::Index(index)) => array.elements.get(*index),
        _ => None,
    })
}

fn walk<'a>(value: &'a mut Value, path: &[Step<'_>]) -> Option<&'a mut Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.as_object_mut()?.get_mut(*key),
        Step::Index(index) => value.as_array_mut()?.get_mut(*index),
    })
}

/// The space at the beginning of the line that holds `position`.
fn indentation(text: &str, position: usize) -> &str {
    let start = text[..position].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[start..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

fn starts_line(text: &str, position: usize) -> bool {
    let before = text[..position].trim_end_matches([' ', '\t']);
    before.ends_with('\n')
}

/// The next thing in a stretch of space, comments and commas.
enum Between {
    Space(usize),
    LineComment(usize),
    BlockComment(usize),
    Comma,
}

fn next(text: &str) -> Option<Between> {
    let first = text.chars().next()?;
    if first == ',' {
        return Some(Between::Comma);
    }
    if first.is_whitespace() || first == '\u{feff}' {
        return Some(Between::Space(first.len_utf8()));
    }
    if text.starts_with("//") {
        return Some(Between::LineComment(text.find('\n').unwrap_or(text.len())));
    }
    let length = text.strip_prefix("/*")?.find("*/")?;
    Some(Between::BlockComment(length + 4))
}

fn comma_after(text: &str, from: usize, to: usize) -> Option<usize> {
    let mut at = from;
    while at < to {
        match next(&text[at..to])? {
            Between::Comma => return Some(at),
            Between::Space(length) | Between::LineComment(length) | Between::BlockComment(length) => at += length,
        }
    }
    None
}

/// The end of the comments that stand on the same line, or `from`.
fn end_of_line_comments(text: &str, from: usize, to: usize) -> usize {
    let (mut at, mut end) = (from, from);
    while at < to && !text[at..].starts_with(['\n', '\r']) {
        match next(&text[at..to]) {
            Some(Between::Space(length)) => at += length,
            Some(Between::LineComment(length)) => {
                return at + text[at..at + length].trim_end().len();
            }
            Some(Between::BlockComment(length)) => {
                at += length;
                end = at;
            }
            Some(Between::Comma) | None => break,
        }
    }
    end
}

/// Whether the stretch that starts at `from` is in a line comment at `to`.
fn in_line_comment(text: &str, from: usize, to: usize) -> bool {
    let mut at = from;
    while at < to {
        match next(&text[at..]) {
            Some(Between::LineComment(length)) if at + length >= to => return true,
            Some(Between::Space(length) | Between::LineComment(length) | Between::BlockComment(length)) => at += length,
            Some(Between::Comma) => at += 1,
            None => return false,
        }
    }
    false
}

#[cfg(test)]
#[path = "jsonc_tests.rs"]
mod tests;
