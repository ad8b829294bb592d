//! A whole store as one file: the rows of its timeline and its objects, and a digest over everything. What could act
//! (settings, keys, journal, open calls, rules) is not in it, and would not be taken out of it.
//!
//! The file is `backsight store 1`, then for each part a line `part NAME SIZE` and its bytes, then a line
//! `end PARTS SHA256` with the digest over everything before it.

use std::io::{self, BufReader, BufWriter, Read, Write};

use backsight_core::{Code, Error, Result};
use sha2::{Digest, Sha256};

use crate::adopt::{MAX_TIMELINE, is_object_name};

const MAGIC: &str = "backsight store ";
const VERSION: &str = "1";
/// The longest line that begins or ends something.
const MAX_LINE: usize = 256;
/// The part with the rows.
pub(crate) const TIMELINE: &str = "timeline.db";

/// Writes parts, one after the other.
pub(crate) struct ArchiveWriter<W: Write> {
    output: BufWriter<W>,
    digest: Sha256,
    parts: u64,
    bytes: u64,
}

impl<W: Write> ArchiveWriter<W> {
    pub(crate) fn new(output: W) -> io::Result<Self> {
        let output = BufWriter::with_capacity(1 << 18, output);
        let mut writer = ArchiveWriter { output, digest: Sha256::new(), parts: 0, bytes: 0 };
        writer.put(format!("{MAGIC}{VERSION}\n").as_bytes())?;
        Ok(writer)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.digest.update(bytes);
        self.bytes += bytes.len() as u64;
        self.output.write_all(bytes)
    }

    /// Adds a part of `size` bytes. A source with fewer or more is refused: it changed while it was read.
    pub(crate) fn add(&mut self, name: &str, size: u64, source: impl Read) -> io::Result<()> {
        self.put(format!("part {name} {size}\n").as_bytes())?;
        let mut source = source.take(size.saturating_add(1));
        let (mut left, mut buffer) = (size, vec![0; 1 << 18]);
        loop {
            let count = source.read(&mut buffer)?;
            if count == 0 {
                break;
            }
            left = left.checked_sub(count as u64).ok_or_else(changed)?;
            self.put(&buffer[..count])?;
        }
        self.parts += 1;
        if left == 0 { Ok(()) } else { Err(changed()) }
    }

    /// Ends the file. Answers what was written to, the digest, and how many bytes there are.
    pub(crate) fn finish(mut self) -> io::Result<(W, String, u64)> {
        let digest = digits(&self.digest.finalize_reset());
        let end = format!("end {} {digest}\n", self.parts);
        self.output.write_all(end.as_bytes())?;
        let output = self.output.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok((output, digest, self.bytes + end.len() as u64))
    }
}

fn changed() -> io::Error {
    io::Error::other("a file of the store changed while it was read")
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads a file of parts, of which nothing is believed before its end.
pub(crate) struct ArchiveReader<R: Read> {
    input: BufReader<R>,
    digest: Sha256,
    name: String,
    parts: u64,
    at: u64,
}

/// What comes next in a file of parts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A part; its bytes must be read before the next one.
    Part { name: PartName, size: u64 },
    /// The end, as the digest promised.
    End,
}

/// A part that a store can have.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PartName {
    Timeline,
    /// The name below `objects`, which is safe to be a path.
    Objects(String),
}

impl<R: Read> ArchiveReader<R> {
    /// Begins to read; `name` is the file's, for messages.
    pub(crate) fn new(input: R, name: &str) -> Result<Self> {
        let input = BufReader::with_capacity(1 << 18, input);
        let mut reader = ArchiveReader { input, digest: Sha256::new(), name: name.to_owned(), parts: 0, at: 0 };
        let mut magic = Vec::new();
        reader
            .input
            .by_ref()
            .take(MAGIC.len() as u64)
            .read_to_end(&mut magic)
            .map_err(|error| Error::io(format!("read `{name}`"), error))?;
        if magic != MAGIC.as_bytes() {
            return Err(Error::new(Code::Usage, format!("`{name}` is not an exported store"))
                .with_hint("name a file that an export wrote"));
        }
        reader.take_in(&magic);
        let version = reader.line(true)?;
        if version != VERSION {
            let message = format!("`{name}` has format {}, and only format {VERSION} is known", shown(&version));
            return Err(Error::new(Code::StoreVersion, message).with_hint("import it with a newer Backsight"));
        }
        Ok(reader)
    }

    fn take_in(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
        self.at += bytes.len() as u64;
    }

    /// The next line, without its end; part of the digest or not.
    fn line(&mut self, counts: bool) -> Result<String> {
        let mut line = Vec::new();
        loop {
            let mut byte = [0];
            match self.input.read(&mut byte) {
                Ok(0) => return Err(self.cut_short()),
                Ok(_) if byte[0] == b'\n' => break,
                Ok(_) if line.len() < MAX_LINE => line.push(byte[0]),
                Ok(_) => return Err(self.damaged("a line of it is too long")),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io(format!("read `{}`", self.name), error)),
            }
        }
        if counts {
            self.take_in(&line);
            self.take_in(b"\n");
        }
        String::from_utf8(line).map_err(|_| self.damaged("a line of it is no text"))
    }

    pub(crate) fn next(&mut self) -> Result<Next> {
        let line = self.line(false)?;
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["part", name, size] => {
                let size: Option<u64> = size.parse().ok();
                let name = match name {
                    TIMELINE if self.parts == 0 => Some(PartName::Timeline),
                    _ if self.parts > 0 && is_object_name(name) => Some(PartName::Objects(name.to_owned())),
                    _ => None,
                };
                let (Some(name), Some(size)) = (name, size) else {
                    return Err(self.damaged("a part of it is none that a store has"));
                };
                if name == PartName::Timeline && size > MAX_TIMELINE {
                    return Err(self.damaged("its timeline is larger than any"));
                }
                self.take_in(line.as_bytes());
                self.take_in(b"\n");
                self.parts += 1;
                Ok(Next::Part { name, size })
            }
            ["end", parts, digest] => {
                let found = digits(&self.digest.finalize_reset());
                if parts.parse() != Ok(self.parts) || digest != found {
                    return Err(self.damaged(&format!("it says {} and holds {found}", shown(digest))));
                }
                match self.input.read(&mut [0]) {
                    Ok(0) => Ok(Next::End),
                    Ok(_) => Err(self.damaged("something stands after its end")),
                    Err(error) => Err(Error::io(format!("read `{}`", self.name), error)),
                }
            }
            _ => Err(self.damaged("it has no part where one should begin")),
        }
    }

    /// Copies the bytes of the part that was begun.
    pub(crate) fn copy(&mut self, size: u64, output: &mut impl Write) -> Result<()> {
        let (mut left, mut buffer) = (size, vec![0; 1 << 18]);
        while left > 0 {
            let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            let count = match self.input.read(&mut buffer[..most]) {
                Ok(0) => return Err(self.cut_short()),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Error::io(format!("read `{}`", self.name), error)),
            };
            self.take_in(&buffer[..count]);
            output.write_all(&buffer[..count]).map_err(|error| Error::io("write the imported store", error))?;
            left -= count as u64;
        }
        Ok(())
    }

    fn cut_short(&self) -> Error {
        Error::new(Code::Damaged, format!("`{}` is cut short: it ends after {} bytes", self.name, self.at))
            .with_hint("copy it again, or export the store again; nothing was imported")
    }

    fn damaged(&self, problem: &str) -> Error {
        Error::new(Code::Damaged, format!("`{}` is damaged: {problem}", self.name))
            .with_hint("copy it again, or export the store again; nothing was imported")
    }
}

fn shown(text: &str) -> String {
    backsight_core::quote(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OBJECT: &str = "ab/0123456789012345678901234567890123456789012345678901"; // too long for a name

    fn written(parts: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ArchiveWriter::new(Vec::new()).unwrap();
        for (name, bytes) in parts {
            writer.add(name, bytes.len() as u64, *bytes).unwrap();
        }
        writer.finish().unwrap().0
    }

    fn read(bytes: &[u8]) -> Result<Vec<(PartName, Vec<u8>)>> {
        let mut reader = ArchiveReader::new(bytes, "f")?;
        let mut parts = Vec::new();
        while let Next::Part { name, size } = reader.next()? {
            let mut content = Vec::new();
            reader.copy(size, &mut content)?;
            parts.push((name, content));
        }
        Ok(parts)
    }

    #[test]
    fn what_is_written_is_read() {
        let object = format!("ab/{}", "0".repeat(38));
        let bytes = written(&[(TIMELINE, b"rows"), (&object, b""), (&object, b"part x 3\n")]);
        let parts = read(&bytes).unwrap();
        assert_eq!(parts[0], (PartName::Timeline, b"rows".to_vec()));
        assert_eq!(parts[2], (PartName::Objects(object), b"part x 3\n".to_vec()));
    }

    #[test]
    fn whatever_byte_is_missing_or_another_is_found() {
        let object = format!("pack/pack-{}.idx", "a".repeat(40));
        let bytes = written(&[(TIMELINE, b"rows"), (&object, b"0123456789")]);
        for end in 0..bytes.len() {
            assert!(read(&bytes[..end]).is_err(), "{end}");
            let mut other = bytes.clone();
            other[end] ^= 1;
            assert!(read(&other).is_err(), "{end}");
        }
        assert!(read(&[&bytes[..], b"x"].concat()).is_err());
    }

    #[test]
    fn no_part_is_a_path_to_elsewhere() {
        for name in ["../x", "config.toml", "/etc/passwd", "pack/../../x", "ab/..", OBJECT, "hooks/post-commit", ""] {
            let bytes = written(&[(TIMELINE, b""), (name, b"")]);
            assert_eq!(read(&bytes).unwrap_err().code(), Code::Damaged, "{name}");
        }
        assert_eq!(read(&written(&[(TIMELINE, b""), (TIMELINE, b"")])).unwrap_err().code(), Code::Damaged);
        assert_eq!(read(b"something else altogether").unwrap_err().code(), Code::Usage);
        assert_eq!(read(b"backsight store 2\n").unwrap_err().code(), Code::StoreVersion);
    }
}
