//! Reads the paths in header lines, which git leaves unquoted and unseparated more often than one would like.

use crate::path::read_quoted;

/// A name as it stands in a header line, prefix included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    /// `/dev/null`: the file does not exist on this side.
    Nothing,
    File(Vec<u8>),
}

/// The name behind `--- ` or `+++ `, and the timestamp behind it if there is one.
pub(super) fn read_name(text: &[u8]) -> Option<(Name, &[u8])> {
    if text.starts_with(b"\"") {
        let (name, rest) = read_quoted(text)?;
        let timestamp = rest.strip_prefix(b"\t").or(rest.is_empty().then_some(rest))?;
        return non_empty(name).map(|name| (Name::File(name), timestamp));
    }
    let end = text.iter().position(|&byte| byte == b'\t').unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let timestamp = rest.strip_prefix(b"\t").unwrap_or(rest);
    if name == b"/dev/null" {
        return Some((Name::Nothing, timestamp));
    }
    non_empty(name.to_vec()).map(|name| (Name::File(name), timestamp))
}

/// The path behind `rename from ` and the like, which is the whole line and has no prefix.
pub(super) fn read_bare_path(text: &[u8]) -> Option<Vec<u8>> {
    match text.starts_with(b"\"") {
        true => read_quoted(text).filter(|(_, rest)| rest.is_empty()).and_then(|(path, _)| non_empty(path)),
        false => non_empty(text.to_vec()),
    }
}

fn non_empty(path: Vec<u8>) -> Option<Vec<u8>> {
    (!path.is_empty()).then_some(path)
}

/// The two names behind `diff --git `, with prefixes, when the line leaves no doubt about them.
pub(super) fn read_git_names(text: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    if text.starts_with(b"\"") {
        let (old, rest) = read_quoted(text)?;
        let new = read_bare_path(rest.strip_prefix(b" ")?)?;
        return Some((non_empty(old)?, new));
    }
    if text.ends_with(b"\"") {
        let quote = text.windows(2).position(|pair| pair == b" \"")?;
        return Some((non_empty(text[..quote].to_vec())?, read_bare_path(&text[quote + 1..])?));
    }
    // Nearly always both sides name one file, so they are equally long and the space between is in the middle.
    let middle = text.len() / 2;
    let (old, new) = (&text[..middle], text.get(middle + 1..)?);
    if text[middle] == b' ' && !old.is_empty() && (old == new || shared_path(old, new).is_some()) {
        return Some((old.to_vec(), new.to_vec()));
    }
    unique_split(text, b" b/", 1)
}

/// Splits at the only place where `mark` occurs, dropping the first `width` bytes of it.
fn unique_split(text: &[u8], mark: &[u8], width: usize) -> Option<(Vec<u8>, Vec<u8>)> {
    let mut places = (0..text.len()).filter(|&at| text[at..].starts_with(mark));
    let at = places.next()?;
    let split = (non_empty(text[..at].to_vec())?, text[at + width..].to_vec());
    places.next().is_none().then_some(split)
}

/// The path two names share behind git's prefixes: `a/` and `b/`, or those of `diff.mnemonicPrefix`.
pub(super) fn shared_path<'a>(old: &'a [u8], new: &'a [u8]) -> Option<&'a [u8]> {
    let (old_prefix, old_path) = split_prefix(old)?;
    let (new_prefix, new_path) = split_prefix(new)?;
    (old_path == new_path && old_prefix != new_prefix && !old_path.is_empty()).then_some(old_path)
}

fn split_prefix(name: &[u8]) -> Option<(u8, &[u8])> {
    match name {
        [prefix @ (b'a' | b'b' | b'c' | b'i' | b'o' | b'w' | b'1' | b'2'), b'/', path @ ..] => Some((*prefix, path)),
        _ => None,
    }
}

/// The paths of two names that need not be the same file. Prefixes are dropped only when both sides have theirs:
/// a lone `a/` is as likely a directory.
pub(super) fn without_prefixes(old: Name, new: Name) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
    let prefixed = |name: &Name, prefix: &[u8]| match name {
        Name::Nothing => true,
        Name::File(name) => name.len() > prefix.len() && name.starts_with(prefix),
    };
    let width = if prefixed(&old, b"a/") && prefixed(&new, b"b/") { 2 } else { 0 };
    let path = |name: Name| match name {
        Name::Nothing => None,
        Name::File(name) => Some(name[width..].to_vec()),
    };
    (path(old), path(new))
}

/// The names in `Binary files a/x and b/x differ`, when the line leaves no doubt about them.
pub(super) fn read_binary_line(line: &[u8]) -> Option<(Name, Name)> {
    let text = line.strip_prefix(b"Binary files ")?.strip_suffix(b" differ")?;
    let splits: Vec<(Name, Name)> = (0..text.len())
        .filter(|&at| text[at..].starts_with(b" and "))
        .filter_map(|at| Some((read_whole_name(&text[..at])?, read_whole_name(&text[at + 5..])?)))
        .collect();
    let same_file = |(old, new): &&(Name, Name)| match (old, new) {
        (Name::File(old), Name::File(new)) => old == new || shared_path(old, new).is_some(),
        _ => true,
    };
    match splits.as_slice() {
        [only] => Some(only.clone()),
        several => several.iter().find(same_file).cloned(),
    }
}

fn read_whole_name(text: &[u8]) -> Option<Name> {
    match text {
        b"/dev/null" => Some(Name::Nothing),
        _ => read_bare_path(text).map(Name::File),
    }
}
