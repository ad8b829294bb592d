//! What Git itself makes of a file's bytes on their way into the repository: line endings, and `$Id$`. As streams, since a
//! file may be larger than memory, and byte for byte as `git add` does it.

use std::io::{self, Write};

/// What is done to the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Conversion {
    /// `CR LF` becomes `LF`.
    pub(crate) line_endings: bool,
    /// `$Id: ... $` becomes `$Id$`.
    pub(crate) ident: bool,
}

/// What Git counts before it takes a file for text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TextCounts {
    pub(crate) crlf: u64,
    lone_cr: u64,
    nul: u64,
    printable: u64,
    nonprintable: u64,
    last: Option<u8>,
}

impl TextCounts {
    pub(crate) fn of(bytes: &[u8]) -> TextCounts {
        let mut counts = TextCounts::default();
        counts.update(bytes);
        counts
    }

    fn update(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.last == Some(b'\r') {
                match byte {
                    b'\n' => self.crlf += 1,
                    _ => self.lone_cr += 1,
                }
            }
            match byte {
                b'\r' | b'\n' => {}
                0 => {
                    self.nul += 1;
                    self.nonprintable += 1;
                }
                // Backspace, tab, escape and form feed are in texts.
                8 | b'\t' | 0x1b | 0x0c => self.printable += 1,
                127 | 0..32 => self.nonprintable += 1,
                _ => self.printable += 1,
            }
            self.last = Some(byte);
        }
    }

    /// Whether Git takes the file for binary where it guesses.
    pub(crate) fn is_binary(&self) -> bool {
        let ends_in_cr = self.last == Some(b'\r');
        // The mark that once ended files is no reason.
        let nonprintable = self.nonprintable - u64::from(self.last == Some(0x1a));
        self.lone_cr > 0 || ends_in_cr || self.nul > 0 || self.printable >> 7 < nonprintable
    }

    /// Whether a file with these counts in the repository keeps Git, where it guesses, from converting the next version.
    pub(crate) fn is_text_with_crlf(&self) -> bool {
        self.crlf > 0 && !self.is_binary()
    }
}

impl Write for TextCounts {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes what it is given, converted. `finish` must be called at the end.
pub(crate) struct Converter<W> {
    conversion: Conversion,
    output: W,
    /// A `CR` of which the next byte decides.
    has_cr: bool,
    /// What may be the beginning of `$Id: ... $`.
    ident: Vec<u8>,
}

const IDENT: &[u8] = b"$Id:";

impl<W: Write> Converter<W> {
    pub(crate) fn new(conversion: Conversion, output: W) -> Self {
        Converter { conversion, output, has_cr: false, ident: Vec::new() }
    }

    pub(crate) fn finish(mut self) -> io::Result<W> {
        if self.has_cr {
            self.past_line_endings(b"\r")?;
        }
        self.output.write_all(&self.ident)?;
        Ok(self.output)
    }

    fn past_line_endings(&mut self, bytes: &[u8]) -> io::Result<()> {
        if !self.conversion.ident {
            return self.output.write_all(bytes);
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.ident.is_empty() {
                let plain = rest.iter().position(|&byte| byte == b'$').unwrap_or(rest.len());
                self.output.write_all(&rest[..plain])?;
                rest = &rest[plain..];
            }
            let Some((&byte, after)) = rest.split_first() else { break };
            rest = after;
            self.ident_byte(byte)?;
        }
        Ok(())
    }

    /// The next byte of what may be `$Id: ... $`.
    fn ident_byte(&mut self, byte: u8) -> io::Result<()> {
        match (self.ident.len() >= IDENT.len(), byte) {
            (true, b'$') => {
                self.ident.clear();
                self.output.write_all(b"$Id$")
            }
            (true, b'\n') => {
                self.ident.push(byte);
                self.output.write_all(&std::mem::take(&mut self.ident))
            }
            (true, _) => {
                self.ident.push(byte);
                Ok(())
            }
            (false, _) if byte == IDENT[self.ident.len()] => {
                self.ident.push(byte);
                Ok(())
            }
            (false, b'$') => self.output.write_all(&std::mem::replace(&mut self.ident, vec![b'$'])),
            (false, _) => {
                self.ident.push(byte);
                self.output.write_all(&std::mem::take(&mut self.ident))
            }
        }
    }
}

impl<W: Write> Write for Converter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.conversion.line_endings {
            self.past_line_endings(bytes)?;
            return Ok(bytes.len());
        }
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.has_cr) && first != b'\n' {
                self.past_line_endings(b"\r")?;
            }
            let plain = rest.iter().position(|&byte| byte == b'\r').unwrap_or(rest.len());
            self.past_line_endings(&rest[..plain])?;
            self.has_cr = plain < rest.len();
            rest = rest.get(plain + 1..).unwrap_or_default();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same however the bytes are cut into pieces.
    fn converted(conversion: Conversion, bytes: &[u8]) -> Vec<u8> {
        let in_pieces = |length: usize| {
            let mut converter = Converter::new(conversion, Vec::new());
            bytes.chunks(length).for_each(|piece| converter.write_all(piece).unwrap());
            converter.finish().unwrap()
        };
        let whole = in_pieces(bytes.len().max(1));
        (1..bytes.len()).for_each(|length| assert_eq!(in_pieces(length), whole, "{length}"));
        whole
    }

    #[test]
    fn a_carriage_return_goes_where_a_line_feed_follows() {
        let both = Conversion { line_endings: true, ident: false };
        for (bytes, expected) in
            [("a\r\nb\r\n", "a\nb\n"), ("a\r\r\n", "a\r\n"), ("\r", "\r"), ("a\rb\r", "a\rb\r"), ("", ""), ("\n", "\n")]
        {
            assert_eq!(converted(both, bytes.as_bytes()), expected.as_bytes(), "{bytes:?}");
            assert_eq!(converted(Conversion::default(), bytes.as_bytes()), bytes.as_bytes());
        }
    }

    #[test]
    fn an_id_is_taken_out_within_its_line() {
        let ident = Conversion { line_endings: false, ident: true };
        for (bytes, expected) in [
            ("a $Id: 0123 $ b", "a $Id$ b"),
            ("$Id$", "$Id$"),
            ("$Id: x\n$", "$Id: x\n$"),
            ("$$Id: x$$", "$$Id$$"),
            ("$I$Id:$", "$I$Id$"),
            ("$Id: a$Id: b$", "$Id$Id: b$"),
            ("$Idx$Id: a b$", "$Idx$Id$"),
            ("$Id:", "$Id:"),
            ("$Id: x", "$Id: x"),
            ("$id: x$", "$id: x$"),
        ] {
            assert_eq!(converted(ident, bytes.as_bytes()), expected.as_bytes(), "{bytes:?}");
        }
        let both = Conversion { line_endings: true, ident: true };
        assert_eq!(converted(both, b"$Id: x$\r\n$Id: y\r\n$"), b"$Id$\n$Id: y\n$");
    }

    #[test]
    fn what_git_takes_for_text_is_text() {
        let is_binary = |bytes: &[u8]| TextCounts::of(bytes).is_binary();
        assert!(!is_binary(b"a\r\nb\n") && !is_binary(b"") && !is_binary(b"\t\x08\x1b\x0c"));
        assert!(is_binary(b"a\rb\n") && is_binary(b"a\r") && is_binary(b"a\0b") && is_binary(b"a\x01b"));
        assert!(!is_binary(&[&[b'a'; 128][..], b"\x01"].concat()) && is_binary(&[&[b'a'; 127][..], b"\x01"].concat()));
        assert!(!is_binary(b"text\x1a") && is_binary(b"te\x1axt"));
        assert!(TextCounts::of(b"a\r\n").is_text_with_crlf() && !TextCounts::of(b"a\n").is_text_with_crlf());
        assert!(!TextCounts::of(b"a\r\n\0").is_text_with_crlf());
    }
}
