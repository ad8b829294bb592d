//! The lines of a diff above its first hunk, for one file.

use crate::path::{Quoting, write_path};

/// How much stands above the hunks of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum HeaderStyle {
    /// Everything git writes, which also expresses modes, renames and empty files.
    #[default]
    Git,
    /// Only `---` and `+++`, as `diff -u` writes; what these two cannot express is left out.
    Plain,
}

/// What a header says about where the new file came from when both sides exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    InPlace,
    Renamed,
    Copied,
}

/// What follows the header, which decides whether `---` and `+++` are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Body {
    Nothing,
    Hunks,
    Binary,
    /// The contents of a binary file.
    Contents,
}

/// One side of a header; `path` is `None` where the file does not exist.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Side<'a> {
    pub path: Option<&'a [u8]>,
    pub mode: Option<u32>,
    pub id: Option<&'a [u8]>,
}

/// A header ready to be written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Header<'a> {
    pub style: HeaderStyle,
    pub old: Side<'a>,
    pub new: Side<'a>,
    pub origin: Origin,
    pub similarity: Option<u8>,
    pub body: Body,
}

/// Git cannot read a creation or deletion without a mode, so an unknown one is an ordinary file.
pub(crate) const ORDINARY_FILE: u32 = 0o100644;

impl Header<'_> {
    /// Appends the header. For a binary body without contents this is the whole of the file's section.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        if self.style == HeaderStyle::Git {
            self.write_git_lines(out);
        }
        match self.body {
            Body::Nothing | Body::Contents => {}
            Body::Hunks => {
                write_name_line(out, "--- ", "a/", self.old.path);
                write_name_line(out, "+++ ", "b/", self.new.path);
            }
            Body::Binary => {
                let quoting = self.quoting_around(b" and");
                out.extend_from_slice(b"Binary files ");
                write_name(out, "a/", self.old.path, quoting);
                out.extend_from_slice(b" and ");
                write_name(out, "b/", self.new.path, quoting);
                out.extend_from_slice(b" differ\n");
            }
        }
    }

    fn write_git_lines(&self, out: &mut Vec<u8>) {
        // A created or deleted file is named on both sides of this line.
        let Some(either) = self.old.path.or(self.new.path) else { return };
        // A rename or copy says both paths again, each on a line of its own.
        let quoting = if self.origin == Origin::InPlace { self.quoting_around(b" ") } else { Quoting::AsNeeded };
        out.extend_from_slice(b"diff --git ");
        write_path(out, "a/", self.old.path.unwrap_or(either), quoting);
        out.push(b' ');
        write_path(out, "b/", self.new.path.unwrap_or(either), quoting);
        out.push(b'\n');
        self.write_modes(out);
        self.write_origin(out);
        self.write_ids(out);
    }

    /// How to write both paths on one line, with what starts like `between` between them, so that a reader can tell them
    /// apart. When they are equal it can, by their length.
    fn quoting_around(&self, between: &[u8]) -> Quoting {
        let one_file = match (self.old.path, self.new.path) {
            (Some(old), Some(new)) => old == new,
            // A git header names the file on both sides; without one, it stands beside `/dev/null` only.
            _ => self.style == HeaderStyle::Git,
        };
        let holds = |path: &[u8]| path.windows(between.len()).any(|part| part == between);
        match !one_file && [self.old.path, self.new.path].into_iter().flatten().any(holds) {
            true => Quoting::Always,
            false => Quoting::AsNeeded,
        }
    }

    fn write_modes(&self, out: &mut Vec<u8>) {
        let line = |out: &mut Vec<u8>, words: &str, mode: Option<u32>| {
            out.extend_from_slice(format!("{words} {:06o}\n", mode.unwrap_or(ORDINARY_FILE)).as_bytes());
        };
        match (self.old.path, self.new.path) {
            (None, _) => line(out, "new file mode", self.new.mode),
            (_, None) => line(out, "deleted file mode", self.old.mode),
            _ if self.mode_changed() => {
                line(out, "old mode", self.old.mode);
                line(out, "new mode", self.new.mode);
            }
            _ => {}
        }
    }

    fn mode_changed(&self) -> bool {
        matches!((self.old.mode, self.new.mode), (Some(old), Some(new)) if old != new)
    }

    fn write_origin(&self, out: &mut Vec<u8>) {
        let verb = match self.origin {
            Origin::InPlace => return,
            Origin::Renamed => "rename",
            Origin::Copied => "copy",
        };
        let (Some(old), Some(new)) = (self.old.path, self.new.path) else { return };
        if let Some(similarity) = self.similarity {
            out.extend_from_slice(format!("similarity index {similarity}%\n").as_bytes());
        }
        for (word, path) in [("from", old), ("to", new)] {
            out.extend_from_slice(format!("{verb} {word} ").as_bytes());
            write_path(out, "", path, Quoting::AsNeeded);
            out.push(b'\n');
        }
    }

    fn write_ids(&self, out: &mut Vec<u8>) {
        let (old, new) = match (self.old.id, self.new.id) {
            (Some(old), Some(new)) => (old.to_vec(), new.to_vec()),
            (None, Some(new)) if self.old.path.is_none() => (vec![b'0'; new.len()], new.to_vec()),
            (Some(old), None) if self.new.path.is_none() => (old.to_vec(), vec![b'0'; old.len()]),
            _ => return,
        };
        out.extend_from_slice(b"index ");
        out.extend_from_slice(&old);
        out.extend_from_slice(b"..");
        out.extend_from_slice(&new);
        // The mode stands here only when no other line has said it.
        if let (Some(_), Some(_), Some(mode), false) =
            (self.old.path, self.new.path, self.new.mode.or(self.old.mode), self.mode_changed())
        {
            out.extend_from_slice(format!(" {mode:06o}").as_bytes());
        }
        out.push(b'\n');
    }
}

fn write_name_line(out: &mut Vec<u8>, marker: &str, prefix: &str, path: Option<&[u8]>) {
    out.extend_from_slice(marker.as_bytes());
    write_name(out, prefix, path, Quoting::AsNeeded);
    // A tab tells readers that expect a timestamp where a name with spaces ends.
    if path.is_some_and(|path| path.contains(&b' ')) {
        out.push(b'\t');
    }
    out.push(b'\n');
}

fn write_name(out: &mut Vec<u8>, prefix: &str, path: Option<&[u8]>, quoting: Quoting) {
    match path {
        Some(path) => write_path(out, prefix, path, quoting),
        None => out.extend_from_slice(b"/dev/null"),
    }
}
