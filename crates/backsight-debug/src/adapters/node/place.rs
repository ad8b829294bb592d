//! Where things are in JavaScript: files as addresses, arguments of a function, variables that are declared further below.

use std::path::Path;

/// The address V8 knows a file by.
pub(super) fn address_of(file: &Path) -> String {
    let real = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let mut address = "file://".to_owned();
    for byte in real.to_string_lossy().bytes() {
        match byte {
            b'A'..=b'Z'
            | b'a'..=b'z'
            | b'0'..=b'9'
            | b'/'
            | b'-'
            | b'_'
            | b'.'
            | b'~'
            | b'!'
            | b'$'
            | b'&'
            | b'\''
            | b'('
            | b')'
            | b'*'
            | b'+'
            | b','
            | b';'
            | b'='
            | b':'
            | b'@'
            | b'['
            | b']'
            | b'|' => address.push(byte as char),
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

/// A pattern for the addresses a file may have: those that `vm` is given, as Jest does, are plain paths.
pub(super) fn pattern_of(address: &str) -> String {
    let literal = |text: &str| -> String {
        let special = |character: char| r"\.+*?()|[]{}^$/".contains(character);
        text.chars().flat_map(|character| special(character).then_some('\\').into_iter().chain([character])).collect()
    };
    format!("^({}|{})$", literal(address), literal(&file_of(address)))
}

/// The file behind an address; other addresses as they are.
pub(super) fn file_of(address: &str) -> String {
    let Some(path) = address.strip_prefix("file://") else { return address.to_owned() };
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        let decoded = match (first, after) {
            (b'%', [high, low, ..]) => {
                std::str::from_utf8(&[*high, *low]).ok().and_then(|hex| u8::from_str_radix(hex, 16).ok())
            }
            _ => None,
        };
        match decoded {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A position in a text: lines and columns from 0, columns in UTF-16 as V8 counts.
pub(super) fn offset(source: &str, line: u64, column: u64) -> usize {
    let start: usize = source.split_inclusive('\n').take(line as usize).map(str::len).sum();
    let mut units = 0;
    for (at, character) in source.get(start..).unwrap_or_default().char_indices() {
        if units >= column {
            return start + at;
        }
        units += character.len_utf16() as u64;
    }
    source.len()
}

/// The names of a function's arguments, from where V8 says the function begins.
pub(super) fn arguments(text: &str) -> Vec<String> {
    let open = text.find('(');
    let arrow = text.find("=>");
    let list = match (open, arrow) {
        // `x => x + 1`
        (open, Some(arrow)) if open.is_none_or(|open| arrow < open) => text.get(..arrow).unwrap_or_default(),
        (Some(open), _) => balanced(text.get(open + 1..).unwrap_or_default()),
        _ => "",
    };
    let mut names = Vec::new();
    collect(list, &mut names);
    names
}

/// What is before the parenthesis that closes.
fn balanced(text: &str) -> &str {
    let mut depth = 1;
    let mut quote = None;
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(character),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return text.get(..at).unwrap_or_default();
        }
    }
    ""
}

/// The names a list binds: plain ones, `...rest`, `a = 1`, `{ a, b: c }`, `[a, b]`.
fn collect(list: &str, names: &mut Vec<String>) {
    for part in split(list, ',') {
        let part = split(&part, '=').into_iter().next().unwrap_or_default();
        let part = part.trim().trim_start_matches("...").trim();
        let pattern = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
        let pattern = pattern.or_else(|| part.strip_prefix('[').and_then(|part| part.strip_suffix(']')));
        if let Some(inner) = pattern {
            collect(inner, names);
            continue;
        }
        let bound = split(part, ':').pop().unwrap_or_default();
        let bound = bound.trim();
        // What does not close is not the beginning of anything.
        if bound.len() < part.len() && bound.starts_with(['{', '[']) && bound.ends_with(['}', ']']) {
            collect(bound, names);
        } else if is_name(bound) {
            names.push(bound.to_owned());
        }
    }
}

fn split(text: &str, separator: char) -> Vec<String> {
    let mut depth = 0;
    let mut quote = None;
    let mut parts = vec![String::new()];
    for character in text.chars() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(character),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth -= 1,
            _ if character == separator && depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(part) = parts.last_mut() {
            part.push(character);
        }
    }
    parts
}

pub(super) fn is_name(text: &str) -> bool {
    let plain = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
    !text.is_empty() && !text.starts_with(|first: char| first.is_ascii_digit()) && text.chars().all(plain)
}

/// What a text declares by `let`, `const` or `class`: V8 shows these as `undefined` before it gets there.
pub(super) fn declared(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    for word in ["let ", "const ", "class "] {
        for (at, _) in text.match_indices(word) {
            let before = text.get(..at).unwrap_or_default().chars().next_back();
            if before.is_some_and(|before| before.is_alphanumeric() || matches!(before, '_' | '$' | '.')) {
                continue;
            }
            let after = text.get(at + word.len()..).unwrap_or_default().trim_start();
            match after.chars().next() {
                Some(open @ ('{' | '[')) => collect(
                    &format!("{open}{}{}", balanced(&after[1..]), if open == '{' { '}' } else { ']' }),
                    &mut names,
                ),
                _ => {
                    let plain = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
                    let end = after.find(|character| !plain(character)).unwrap_or(after.len());
                    names.extend(after.get(..end).filter(|name| is_name(name)).map(str::to_owned));
                }
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn files_and_addresses_are_the_same_thing() {
        let address = address_of(Path::new("/no/such dir/h\u{e9}llo#1.js"));
        assert_eq!(address, "file:///no/such%20dir/h%C3%A9llo%231.js");
        assert_eq!(file_of(&address), "/no/such dir/h\u{e9}llo#1.js");
        assert_eq!(file_of("node:internal/main"), "node:internal/main");
        assert_eq!(file_of("file:///a%2"), "/a%2");
    }

    #[test]
    fn arguments_are_read_from_every_kind_of_function() {
        let table: [(&str, &[&str]); 8] = [
            ("(order, count = f(1, 2), ...rest) { let z", &["order", "count", "rest"]),
            ("({ a, b: c, d = ')' }, [e, , g]) => a", &["a", "c", "d", "e", "g"]),
            ("x => x + 1", &["x"]),
            ("async x => (x)", &[]),
            ("() {}", &[]),
            ("function named(a) {}", &["a"]),
            ("", &[]),
            ("(((", &[]),
        ];
        for (text, expected) in table {
            assert_eq!(arguments(text), expected, "{text}");
        }
    }

    #[test]
    fn declarations_further_below_are_found() {
        assert_eq!(declared("; let  late = 5; outlet other; x.let no = 1"), ["late"]);
        assert_eq!(declared("const { a, b: c } = f(); class D {}"), ["a", "c", "D"]);
        assert_eq!(declared("late = 5; let"), [""; 0]);
    }

    #[test]
    fn positions_count_as_v8_counts() {
        let source = "a\n\u{1f600}b\nc";
        assert_eq!(source.get(offset(source, 1, 2)..), Some("b\nc"));
        assert_eq!(offset(source, 9, 9), source.len());
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "[a-z(){}\\[\\],=:.'` >]{0,40}", line in 0u64..5, column in 0u64..50) {
            arguments(&text);
            file_of(&text);
            offset(&text, line, column);
            declared(&format!("let {text}"));
        }
    }
}
