//! Paths as they stand in diff headers: C-quoted when they hold bytes that would confuse a reader, as git does.

/// When a path is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// When it holds bytes that cannot stand there as they are: what git does.
    AsNeeded,
    /// Even so, where two paths on one line could not be told apart. Git reads that, though it never writes it.
    Always,
}

/// Appends `prefix` and `path`, quoted as one string when either needs it.
pub(crate) fn write_path(out: &mut Vec<u8>, prefix: &str, path: &[u8], quoting: Quoting) {
    if quoting == Quoting::AsNeeded && !path.iter().copied().any(needs_quoting) {
        out.extend_from_slice(prefix.as_bytes());
        out.extend_from_slice(path);
        return;
    }
    out.push(b'"');
    out.extend_from_slice(prefix.as_bytes());
    for &byte in path {
        write_escaped(out, byte);
    }
    out.push(b'"');
}

fn needs_quoting(byte: u8) -> bool {
    !(0x20..0x7f).contains(&byte) || byte == b'"' || byte == b'\\'
}

fn write_escaped(out: &mut Vec<u8>, byte: u8) {
    let letter = match byte {
        0x07 => b'a',
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0b => b'v',
        0x0c => b'f',
        b'\r' => b'r',
        b'"' | b'\\' => byte,
        _ if needs_quoting(byte) => {
            out.extend_from_slice(&[b'\\', b'0' + (byte >> 6), b'0' + (byte >> 3 & 7), b'0' + (byte & 7)]);
            return;
        }
        _ => {
            out.push(byte);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', letter]);
}

/// Reads a C-quoted string at the start of `text`: the unquoted bytes and what follows the closing quote.
pub(crate) fn read_quoted(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut path = Vec::new();
    loop {
        let (&byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b'"' => return Some((path, rest)),
            b'\\' => {
                let (byte, after) = read_escape(rest)?;
                path.push(byte);
                rest = after;
            }
            _ => path.push(byte),
        }
    }
}

fn read_escape(text: &[u8]) -> Option<(u8, &[u8])> {
    let (&letter, rest) = text.split_first()?;
    let byte = match letter {
        b'a' => 0x07,
        b'b' => 0x08,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 0x0b,
        b'f' => 0x0c,
        b'r' => b'\r',
        b'"' | b'\\' => letter,
        b'0'..=b'3' => {
            let [first, second, rest @ ..] = rest else { return None };
            let digit = |byte: u8| (b'0'..=b'7').contains(&byte).then(|| byte - b'0');
            let byte = (letter - b'0') << 6 | digit(*first)? << 3 | digit(*second)?;
            return Some((byte, rest));
        }
        _ => return None,
    };
    Some((byte, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(path: &[u8]) -> String {
        let mut out = Vec::new();
        write_path(&mut out, "a/", path, Quoting::AsNeeded);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn ordinary_names_and_spaces_stay_plain() {
        assert_eq!(quoted(b"src/a b.rs"), "a/src/a b.rs");
    }

    #[test]
    fn odd_bytes_are_quoted_as_git_does() {
        assert_eq!(quoted("é".as_bytes()), r#""a/\303\251""#);
        assert_eq!(quoted(b"t\tq\"b\\n\n\x7f\x01"), r#""a/t\tq\"b\\n\n\177\001""#);
    }

    #[test]
    fn every_byte_survives_quoting() {
        let path: Vec<u8> = (0..=255).collect();
        let mut out = Vec::new();
        write_path(&mut out, "", &path, Quoting::AsNeeded);
        assert_eq!(read_quoted(&out), Some((path, &b""[..])));
    }

    #[test]
    fn broken_quoting_is_refused() {
        for text in [&b"plain"[..], b"\"open", b"\"\\", b"\"\\x\"", b"\"\\39\"", b"\"\\400\"", b"\"\\0  \""] {
            assert_eq!(read_quoted(text), None, "{text:?}");
        }
    }
}
