//! Which variables of a Go function are its receiver and its arguments: debuggers list them among the locals, so they are
//! read from the source.

use crate::capture::Scope;

/// What the variables of a function are, by name; those that are not listed are locals.
pub(super) fn of_go(source: &str, line: u32) -> Vec<(String, Scope)> {
    let Some(start) = beginning(source, line) else { return Vec::new() };
    let text = source.get(start..).unwrap_or_default();
    let Some(rest) = text.strip_prefix("func") else { return Vec::new() };
    let rest = rest.trim_start();
    let mut found = Vec::new();
    let rest = match rest.strip_prefix('(') {
        // A method: its receiver comes first. A function without a name has its arguments here.
        Some(inner) => match closing(inner) {
            Some((receiver, after))
                if after.trim_start().starts_with(|first: char| first.is_alphabetic() || first == '_') =>
            {
                found.extend(names(receiver).into_iter().map(|name| (name, Scope::This)));
                after.trim_start().find('(').and_then(|at| after.trim_start().get(at + 1..)).unwrap_or_default()
            }
            _ => inner,
        },
        None => match rest.find(['(', '[']) {
            Some(at) if rest[at..].starts_with('[') => {
                let after = rest.get(at..).and_then(|text| text.find("](")).map(|end| at + end + 2);
                after.and_then(|at| rest.get(at..)).unwrap_or_default()
            }
            Some(at) => rest.get(at + 1..).unwrap_or_default(),
            None => "",
        },
    };
    if let Some((arguments, _)) = closing(rest) {
        found.extend(names(arguments).into_iter().map(|name| (name, Scope::Argument)));
    }
    found
}

/// Where the declaration of the function begins that the line is in: the last `func` at the beginning of a line.
fn beginning(source: &str, line: u32) -> Option<usize> {
    let mut start = 0;
    let mut last = None;
    for (number, text) in (1..=line).zip(source.split_inclusive('\n')) {
        if text.starts_with("func ") || text.starts_with("func(") {
            last = Some(start);
        } else if text.starts_with('}') && number < line {
            last = None;
        }
        start += text.len();
    }
    last
}

/// The text up to the parenthesis that closes, and what follows it.
fn closing(text: &str) -> Option<(&str, &str)> {
    let mut depth = 1;
    for (at, character) in text.char_indices() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some((text.get(..at)?, text.get(at + 1..)?));
        }
    }
    None
}

/// The names in a list such as `a, b int, c ...string`.
fn names(list: &str) -> Vec<String> {
    let mut depth = 0;
    let mut parts = vec![String::new()];
    for character in list.chars() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(character);
        }
    }
    let word = |part: &String| part.split_whitespace().next().unwrap_or_default().to_owned();
    let plain = |name: &String| !name.is_empty() && name.chars().all(|one| one.is_alphanumeric() || one == '_');
    parts.iter().map(word).filter(plain).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn signature(source: &str, line: u32) -> String {
        let parts = of_go(source, line).into_iter();
        parts.map(|(name, scope)| format!("{name}:{scope:?}")).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn receivers_and_arguments_are_told_apart() {
        let source = "package main\n\nfunc plain(a, b int, rest ...string) (sum int) {\n\treturn 1\n}\n\n\
            func (o *Order) add(n int, f func(x, y int) bool, m map[string]int) error {\n\tx := 1\n\treturn nil\n}\n\n\
            func none() {\n\tgo func(z int) {\n\t\tz++\n\t}(1)\n}\n\nfunc generic[T any](value T) {\n\tx\n}\n";
        assert_eq!(signature(source, 4), "a:Argument b:Argument rest:Argument");
        assert_eq!(signature(source, 8), "o:This n:Argument f:Argument m:Argument");
        assert_eq!(signature(source, 13), "");
        assert_eq!(signature(source, 19), "value:Argument");
        assert_eq!(signature(source, 1), "");
        assert_eq!(signature(source, 999), "");
    }

    proptest! {
        #[test]
        fn any_source_is_survived(source in "(func|\\(|\\)|a|,|\\[|\\]|\n| ){0,40}", line in 0u32..20) {
            of_go(&source, line);
        }
    }
}
