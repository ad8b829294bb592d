//! How a value inside a capture is named: `order.items[3].price`, `prices[apple]`, `watch(total)`. A path is written by one
//! function only, so that what a diff says can be asked for again.

use std::collections::HashMap;
use std::fmt::Write;

use crate::capture::{FrameCapture, Inside, Node, Scope, Variable};

/// Keys of maps longer than this are shortened in paths.
const LONGEST_KEY: usize = 48;

/// One step into a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// A field; of several with the same name the second one has 2.
    Field(&'a str, usize),
    /// An element of a list.
    Index(u64),
    /// An entry of a map or a member of a set; of several with the same key the second one has 2.
    Key(&'a str, usize),
}

/// Appends a step to a path.
pub fn push(path: &mut String, step: Step<'_>) {
    // Writing to a String cannot fail.
    let occurrence = match step {
        Step::Index(index) => {
            _ = write!(path, "[{index}]");
            return;
        }
        Step::Key(key, occurrence) => {
            path.push('[');
            push_key(path, key);
            path.push(']');
            occurrence
        }
        Step::Field(name, occurrence) => {
            push_field(path, name);
            occurrence
        }
    };
    if occurrence > 1 {
        _ = write!(path, "#{occurrence}");
    }
}

fn push_field(path: &mut String, name: &str) {
    let plain = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
    // Some debuggers name elements `[0]` themselves.
    if name.starts_with('[') && name.ends_with(']') {
        path.push_str(name);
    } else if !name.is_empty() && name.chars().all(plain) && name.len() <= LONGEST_KEY {
        path.push('.');
        path.push_str(name);
    } else {
        path.push_str("[\"");
        push_key(path, name);
        path.push_str("\"]");
    }
}

/// A key, or its beginning and a hash of it.
fn push_key(path: &mut String, key: &str) {
    if key.len() <= LONGEST_KEY {
        return path.push_str(key);
    }
    let end = key.floor_char_boundary(LONGEST_KEY - 8);
    let hash = crate::hash::bytes(key.as_bytes());
    _ = write!(path, "{}…{:08x}", &key[..end], hash as u32);
}

/// The path of every variable of a frame, in their order. Of those with the same name the innermost has the plain name, and
/// the ones it hides have `#1`, `#2`.
pub fn of_variables(frame: &FrameCapture) -> Vec<String> {
    of_all(&frame.variables)
}

/// Likewise for variables that are no frame's yet.
pub(crate) fn of_all(variables: &[Variable]) -> Vec<String> {
    let mut order: Vec<usize> = (0..variables.len()).collect();
    order.sort_by_key(|index| variables[*index].shadowed);
    let mut seen: HashMap<(Group, &str), usize> = HashMap::new();
    let mut paths = vec![String::new(); variables.len()];
    for index in order {
        let variable = &variables[index];
        let hidden = seen.entry((Group::of(variable), &variable.name)).or_default();
        paths[index] = root(variable, *hidden);
        *hidden += 1;
    }
    paths
}

fn root(variable: &Variable, hidden: usize) -> String {
    let name = &variable.name;
    let plain = match Group::of(variable) {
        Group::Watch => format!("watch({name})"),
        Group::Result => format!("result({name})"),
        Group::Variable => name.clone(),
    };
    if hidden > 0 { format!("{plain}#{hidden}") } else { plain }
}

/// Names of one group do not meet those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Group {
    Variable,
    Watch,
    Result,
}

impl Group {
    pub(crate) fn of(variable: &Variable) -> Group {
        match variable.scope {
            Scope::Watch => Group::Watch,
            Scope::Result => Group::Result,
            Scope::This | Scope::Argument | Scope::Local | Scope::Closure => Group::Variable,
        }
    }
}

/// Whether `path` is `above` or something inside it.
pub fn is_under(path: &str, above: &str) -> bool {
    match path.strip_prefix(above) {
        Some(rest) => above.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']),
        None => false,
    }
}

/// The path without its last step; of a variable nothing is left.
pub fn parent(path: &str) -> &str {
    // A bracket inside a key cannot be told from one of ours: this only has to be good enough to group by.
    let brackets = path.ends_with(']').then(|| path.rfind('[')).flatten();
    let cut = brackets.or_else(|| path.rfind('.').filter(|_| !path.ends_with(']') && !path.ends_with(')')));
    cut.map_or("", |cut| &path[..cut])
}

/// The variable a path is in.
pub(crate) fn variable(path: &str) -> &str {
    // A watch is an expression, which may have all of these in it.
    if path.starts_with("watch(") {
        return path;
    }
    &path[..path.find(['.', '[']).unwrap_or(path.len())]
}

/// The value at a path.
pub fn find<'a>(frame: &'a FrameCapture, path: &str) -> Option<&'a Node> {
    find_all(frame, &[path]).pop().flatten()
}

/// The values at several paths, in their order.
pub fn find_all<'a>(frame: &'a FrameCapture, paths: &[impl AsRef<str>]) -> Vec<Option<&'a Node>> {
    let roots = of_variables(frame);
    let find = |path: &str| {
        let candidates = frame.variables.iter().zip(&roots).filter(|(_, root)| is_under(path, root));
        candidates.filter_map(|(variable, root)| descend(&variable.value, path, &mut root.clone())).next()
    };
    paths.iter().map(|path| find(path.as_ref())).collect()
}

fn descend<'a>(node: &'a Node, wanted: &str, at: &mut String) -> Option<&'a Node> {
    if at.len() == wanted.len() {
        return Some(node);
    }
    let mut found = None;
    each_child(node, |step, child| {
        let length = at.len();
        push(at, step);
        if found.is_none() && is_under(wanted, at) {
            found = descend(child, wanted, at);
        }
        at.truncate(length);
    });
    found
}

/// Every captured value inside `node` with the step that leads to it.
pub fn each_child<'a>(node: &'a Node, mut visit: impl FnMut(Step<'a>, &'a Node)) {
    match &node.inside {
        Inside::Elements(elements) => elements.iter().for_each(|(index, child)| visit(Step::Index(*index), child)),
        Inside::Fields(fields) => {
            numbered(fields, |name, occurrence, child| visit(Step::Field(name, occurrence), child));
        }
        Inside::Entries(entries) => {
            numbered(entries, |key, occurrence, child| visit(Step::Key(key, occurrence), child))
        }
        Inside::Leaf | Inside::NotExpanded | Inside::SeeAt(_) | Inside::Unset => {}
    }
}

fn numbered<'a>(children: &'a [(String, Node)], mut visit: impl FnMut(&'a str, usize, &'a Node)) {
    let mut seen: HashMap<&str, usize> = HashMap::with_capacity(children.len());
    for (name, child) in children {
        let occurrence = seen.entry(name).or_default();
        *occurrence += 1;
        visit(name, *occurrence, child);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame() -> FrameCapture {
        let price = Node::leaf("int", "3");
        let item = Node::new("Item", "Item", Inside::Fields(vec![("price".into(), price)]));
        let items = Node::new("list", "list", Inside::Elements(vec![(7, item)]));
        let map = Node::new("dict", "dict", Inside::Entries(vec![("'a.b[0]'".into(), items.clone())]));
        let order =
            Node::new("Order", "Order", Inside::Fields(vec![("items".into(), items), ("odd name".into(), map)]));
        let hidden = Variable { shadowed: 1, ..Variable::new(Scope::Local, "order", Node::leaf("int", "1")) };
        FrameCapture {
            thread_id: 1,
            index: 0,
            function: "f".into(),
            file: None,
            line: None,
            call: None,
            variables: vec![
                hidden,
                Variable::new(Scope::Local, "order", order),
                Variable::new(Scope::Watch, "order", Node::leaf("int", "2")),
            ],
        }
    }

    #[test]
    fn a_path_leads_to_its_value() {
        let frame = frame();
        let text = |path: &str| find(&frame, path).map(|node| node.text.as_str());
        assert_eq!(of_variables(&frame), ["order#1", "order", "watch(order)"]);
        assert_eq!(text("order#1"), Some("1"));
        assert_eq!(text("watch(order)"), Some("2"));
        assert_eq!(text("order"), Some("Order"));
        assert_eq!(text("order.items[7].price"), Some("3"));
        assert_eq!(text("order[\"odd name\"]['a.b[0]'][7].price"), Some("3"));
        assert_eq!(text("order.items[8]"), None);
        assert_eq!(text("orde"), None);
        assert_eq!(text(""), None);
    }

    #[test]
    fn the_parent_of_a_path_is_where_its_value_is() {
        for (path, above) in [("a", ""), ("a.b", "a"), ("a.b[3]", "a.b"), ("a[k].c", "a[k]"), ("watch(a.b)", "")] {
            assert_eq!(parent(path), above, "{path}");
            assert!(is_under(path, above) && is_under(path, path));
        }
        assert!(!is_under("order2", "order") && !is_under("order#1", "order"));
    }

    #[test]
    fn long_keys_are_cut_and_stay_apart() {
        let mut paths = ["x", "y"].map(|end| {
            let key = format!("{}{end}", "ключ".repeat(40));
            let mut path = String::from("m");
            push(&mut path, Step::Key(&key, 1));
            path
        });
        assert!(paths.iter().all(|path| path.len() < 80));
        paths.sort();
        assert_ne!(paths[0], paths[1]);
    }
}
