//! A value in a few words: its text, and of what has insides as much of them as fits.

use std::fmt::Write;

use super::scalar::clipped;
use crate::capture::{Inside, Node};

/// The longest text of a value inside another.
const LONGEST_INNER: usize = 32;

/// `node` in at most about `longest` bytes.
pub(crate) fn preview(node: &Node, longest: usize) -> String {
    let mut text = String::new();
    say(&mut text, node, longest, longest);
    text
}

fn say(out: &mut String, node: &Node, longest: usize, own: usize) {
    match &node.inside {
        Inside::SeeAt(path) => {
            // Writing to a String cannot fail.
            _ = write!(out, "-> {}", clipped(path, own));
            return;
        }
        Inside::Unset => return out.push_str("(no value yet)"),
        _ => {}
    }
    out.push_str(&clipped(if node.text.is_empty() { &node.kind } else { &node.text }, own));
    let (open, close) = match &node.inside {
        Inside::Elements(_) => ("[", "]"),
        Inside::Fields(_) | Inside::Entries(_) => ("{", "}"),
        _ => return,
    };
    let captured = node.children().count();
    if captured == 0 {
        return;
    }
    _ = write!(out, " {open}");
    // A full line is not filled further, however deep what follows is.
    let shown = if out.len() < longest { children(out, node, longest) } else { 0 };
    let all = node.length.unwrap_or_default().max(captured as u64);
    let rest = if matches!(node.inside, Inside::Fields(_)) { captured - shown } else { all as usize - shown };
    if rest > 0 {
        _ = write!(out, "{}+{rest}", if shown > 0 { ", " } else { "" });
    }
    out.push_str(close);
}

/// As many children as fit, from the first; how many those are.
fn children(out: &mut String, node: &Node, longest: usize) -> usize {
    let names: Vec<Option<&str>> = match &node.inside {
        Inside::Fields(children) | Inside::Entries(children) => {
            children.iter().map(|(name, _)| Some(name.as_str())).collect()
        }
        _ => node.children().map(|_| None).collect(),
    };
    for (shown, (name, child)) in names.into_iter().zip(node.children()).enumerate() {
        let start = out.len();
        if shown > 0 {
            out.push_str(", ");
        }
        if let Some(name) = name {
            _ = write!(out, "{}: ", clipped(name, LONGEST_INNER));
        }
        let room = longest.saturating_sub(out.len());
        // What is closed after it needs room too.
        say(out, child, longest.saturating_sub(7), LONGEST_INNER.min(room.max(1)));
        if out.len() + 6 > longest {
            out.truncate(start);
            return shown;
        }
    }
    node.children().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_said_with_as_much_of_its_inside_as_fits() {
        let numbers = (0..100).map(|number| (number, Node::leaf("int", number.to_string()))).collect();
        let list = Node::new("list", "list(1000)", Inside::Elements(numbers)).with_length(1000);
        assert_eq!(preview(&list, 32), "list(1000) [0, 1, 2, 3, 4, +995]");
        let order = Node::new(
            "Order",
            "Order",
            Inside::Fields(vec![("id".into(), Node::leaf("int", "5")), ("items".into(), list)]),
        );
        assert_eq!(preview(&order, 50), "Order {id: 5, items: list(1000) [0, 1, +998]}");
        assert_eq!(preview(&order, 20), "Order {id: 5, +1}");
        assert_eq!(preview(&order, 8), "Order {+2}");
        assert_eq!(preview(&Node::new("A", "A", Inside::SeeAt("a.b".into())), 20), "-> a.b");
        assert_eq!(preview(&Node::leaf("str", "я".repeat(50)), 10).chars().last(), Some('…'));
    }
}
