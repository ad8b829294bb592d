//! Words of an error or of code that can be found again in the other: identifiers, names in quotes, parts of an address.

use std::collections::BTreeSet;

/// Shorter words stand everywhere.
const SHORTEST: usize = 3;
/// More words than any message needs; a changed file may have a million.
const MOST: usize = 20_000;
/// Words that errors are made of, and that code has everywhere: they point to nothing.
const EVERYWHERE: &[&str] = &[
    "abort",
    "and",
    "any",
    "api",
    "app",
    "are",
    "args",
    "array",
    "async",
    "attribute",
    "await",
    "bool",
    "boolean",
    "but",
    "call",
    "callable",
    "called",
    "cannot",
    "catch",
    "class",
    "com",
    "component",
    "console",
    "const",
    "content",
    "data",
    "def",
    "default",
    "does",
    "dom",
    "else",
    "err",
    "error",
    "errors",
    "exception",
    "expected",
    "export",
    "false",
    "fetch",
    "file",
    "following",
    "for",
    "found",
    "from",
    "func",
    "function",
    "get",
    "has",
    "have",
    "html",
    "http",
    "https",
    "import",
    "index",
    "int",
    "internal",
    "invalid",
    "its",
    "json",
    "keyerror",
    "let",
    "line",
    "localhost",
    "log",
    "main",
    "map",
    "message",
    "method",
    "missing",
    "module",
    "name",
    "nameerror",
    "net",
    "new",
    "node",
    "none",
    "nonetype",
    "not",
    "null",
    "number",
    "object",
    "parse",
    "pass",
    "post",
    "promise",
    "properties",
    "property",
    "props",
    "put",
    "react",
    "read",
    "reading",
    "received",
    "referenceerror",
    "rejection",
    "request",
    "res",
    "return",
    "root",
    "self",
    "server",
    "setting",
    "src",
    "status",
    "str",
    "string",
    "syntaxerror",
    "test",
    "text",
    "that",
    "the",
    "then",
    "this",
    "throw",
    "token",
    "true",
    "try",
    "type",
    "typeerror",
    "uncaught",
    "undefined",
    "unexpected",
    "use",
    "usr",
    "value",
    "valueerror",
    "var",
    "vite",
    "was",
    "when",
    "while",
    "with",
    "www",
    "you",
];

/// The words of a text, as they are written; parts of `camelCase` are no words of their own.
pub(crate) fn words(text: &str) -> BTreeSet<String> {
    let is_part = |character: char| character.is_alphanumeric() || character == '_' || character == '$';
    let all = text.split(|character| !is_part(character)).filter(|word| {
        word.chars().count() >= SHORTEST
            && !word.starts_with(|first: char| first.is_ascii_digit())
            && EVERYWHERE.binary_search(&word.to_lowercase().as_str()).is_err()
    });
    all.take(MOST).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_that_mean_nothing_can_be_searched() {
        assert!(EVERYWHERE.is_sorted(), "they are looked up by halving");
    }

    #[test]
    fn identifiers_quotes_and_parts_of_an_address_are_words() {
        let found =
            words("Uncaught TypeError: Cannot read properties of undefined (reading 'totalPrice') at /api/stock/42");
        assert_eq!(found.into_iter().collect::<Vec<_>>(), ["stock", "totalPrice"]);
    }
}
