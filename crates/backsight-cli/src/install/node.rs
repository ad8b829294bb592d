//! A JSON value to be written: its members keep the order a person would choose.

use serde_json::Value;

/// A JSON value to be written.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A text.
    Text(String),
    /// A number.
    Number(u64),
    /// Yes or no.
    Flag(bool),
    /// A list.
    List(Vec<Node>),
    /// An object.
    Object(Vec<(String, Node)>),
}

impl Node {
    /// An object of these members.
    pub fn object<const N: usize>(members: [(&str, Node); N]) -> Node {
        Node::Object(members.into_iter().map(|(name, node)| (name.to_owned(), node)).collect())
    }

    /// A list of texts.
    pub fn texts(texts: &[&str]) -> Node {
        Node::List(texts.iter().map(|text| Node::from(*text)).collect())
    }

    /// What it means, whatever the order.
    pub fn value(&self) -> Value {
        match self {
            Node::Text(text) => Value::from(text.as_str()),
            Node::Number(number) => Value::from(*number),
            Node::Flag(flag) => Value::from(*flag),
            Node::List(list) => list.iter().map(Node::value).collect(),
            Node::Object(members) => members.iter().map(|(name, node)| (name.clone(), node.value())).collect(),
        }
    }

    /// As text: `indent` is that of the line it starts on.
    pub fn write(&self, indent: &str, layout: &Layout) -> String {
        let newline = layout.newline;
        let inner = format!("{indent}{}", layout.unit);
        let lines = |open: char, items: Vec<String>, close: char| {
            let items = items.join(&format!(",{newline}{inner}"));
            format!("{open}{newline}{inner}{items}{newline}{indent}{close}")
        };
        match self {
            Node::List(list) if list.iter().all(Node::is_plain) => {
                let items: Vec<String> = list.iter().map(|item| item.value().to_string()).collect();
                format!("[{}]", items.join(", "))
            }
            Node::List(list) => lines('[', list.iter().map(|item| item.write(&inner, layout)).collect(), ']'),
            Node::Object(members) if members.is_empty() => "{}".to_owned(),
            Node::Object(members) => {
                let member = |(name, node): &(String, Node)| member(name, node, &inner, layout);
                lines('{', members.iter().map(member).collect(), '}')
            }
            plain => plain.value().to_string(),
        }
    }

    fn is_plain(&self) -> bool {
        !matches!(self, Node::List(_) | Node::Object(_))
    }
}

/// `"name": value`
pub fn member(name: &str, node: &Node, indent: &str, layout: &Layout) -> String {
    format!("{}: {}", Value::from(name), node.write(indent, layout))
}

impl From<&str> for Node {
    fn from(text: &str) -> Node {
        Node::Text(text.to_owned())
    }
}

/// How a file is laid out.
#[derive(Clone, Debug)]
pub struct Layout {
    /// One step of indentation.
    pub unit: String,
    /// The end of a line.
    pub newline: &'static str,
}

impl Default for Layout {
    fn default() -> Layout {
        Layout { unit: "  ".to_owned(), newline: "\n" }
    }
}
