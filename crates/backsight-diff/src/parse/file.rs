//! Reads the section of one file: its header lines, then its hunks.

use crate::header::HeaderStyle;
use crate::parse::FormatCode;
use crate::parse::extended::{Extended, Unreadable};
use crate::parse::names::{Name, read_binary_line, read_git_names, read_name, shared_path, without_prefixes};
use crate::parse::scanner::Scanner;
use crate::patch::{FilePatch, Hunk, PatchKind};

/// What a section says below its extended header.
#[derive(Default)]
struct Content {
    names: Option<(Name, Name)>,
    hunks: Vec<Hunk>,
    binary: bool,
}

/// A `---` or `+++` line.
struct NameLine {
    name: Name,
    timestamp: Vec<u8>,
}

/// Old and new path; `None` where the file does not exist.
type Paths = (Option<Vec<u8>>, Option<Vec<u8>>);

impl Scanner<'_> {
    /// A section that starts with `diff --git`.
    pub(super) fn git_section(&mut self) -> Option<FilePatch> {
        let at = self.at;
        let names = self.header_line().and_then(|line| line.strip_prefix(b"diff --git ")).and_then(read_git_names);
        self.at += 1;
        let extended = self.extended_header();
        let content = self.content()?;
        let (old_path, new_path) = self.paths(at, &extended, names, content.names)?;
        self.git_patch(at, extended, (old_path, new_path), content.hunks, content.binary)
    }

    fn extended_header(&mut self) -> Extended {
        let mut extended = Extended::default();
        while let Some(line) = self.header_line() {
            match extended.read(line) {
                None => break,
                Some(Ok(true)) => {}
                Some(Ok(false)) => self.error(self.at, FormatCode::DuplicateHeader, "this header line appears twice"),
                Some(Err(Unreadable)) => self.error(self.at, FormatCode::BadHeader, "cannot read this header line"),
            }
            self.at += 1;
        }
        extended
    }

    /// Everything below the extended header. `None` when it is broken, which is then reported.
    fn content(&mut self) -> Option<Content> {
        let Some(line) = self.header_line() else { return Some(Content::default()) };
        if line == b"GIT binary patch" {
            self.binary_patch();
            return Some(Content { binary: true, ..Content::default() });
        }
        if line.starts_with(b"Binary files ") && line.ends_with(b" differ") {
            self.at += 1;
            return Some(Content { names: read_binary_line(line), binary: true, ..Content::default() });
        }
        if self.at_plain_header() {
            let (old, new) = self.name_lines()?;
            let hunks = self.hunks_after_names()?;
            return Some(Content { names: Some((old.name, new.name)), hunks, binary: false });
        }
        let problem = if line.starts_with(b"@@ ") {
            "`@@` without `---` and `+++` above it"
        } else if line.starts_with(b"--- ") {
            "`---` without `+++` below it"
        } else if line.starts_with(b"+++ ") {
            "`+++` without `---` above it"
        } else {
            return Some(Content::default());
        };
        self.error(self.at, FormatCode::HeaderOrder, problem);
        self.at += 1;
        self.hunks();
        None
    }

    /// The `---` and `+++` lines, each with its timestamp.
    fn name_lines(&mut self) -> Option<(NameLine, NameLine)> {
        let old = self.name_line();
        let new = self.name_line();
        if old.is_none() || new.is_none() {
            self.hunks();
        }
        Some((old?, new?))
    }

    fn name_line(&mut self) -> Option<NameLine> {
        // The caller has seen `--- ` and `+++ `, both four bytes long.
        let name = self.header_line().and_then(|line| line.get(4..)).and_then(read_name);
        if name.is_none() {
            self.error(self.at, FormatCode::BadPath, "cannot read the path on this line");
        }
        self.at += 1;
        name.map(|(name, timestamp)| NameLine { name, timestamp: timestamp.to_vec() })
    }

    fn hunks_after_names(&mut self) -> Option<Vec<Hunk>> {
        if !self.line().is_some_and(|line| line.starts_with(b"@@ ")) {
            self.error(self.at.saturating_sub(1), FormatCode::EmptySection, "no `@@` line follows `+++`");
            return None;
        }
        Some(self.hunks())
    }

    /// Skips the encoded blocks. They are recognised so that nothing in them is mistaken for a line of a diff.
    fn binary_patch(&mut self) {
        let header = self.at;
        self.at += 1;
        let mut blocks = 0;
        while blocks < 2 && self.line().is_some_and(|line| line.starts_with(b"literal ") || line.starts_with(b"delta "))
        {
            blocks += 1;
            while self.header_line().is_some_and(|line| !line.is_empty()) {
                self.at += 1;
            }
            // The empty line that ends the block may be missing at the end of the input.
            self.at += usize::from(self.line().is_some());
        }
        if blocks == 0 {
            self.error(header, FormatCode::BadBinaryPatch, "`GIT binary patch` is followed by no data");
        }
    }

    fn paths(
        &mut self,
        at: usize,
        extended: &Extended,
        header: Option<(Vec<u8>, Vec<u8>)>,
        names: Option<(Name, Name)>,
    ) -> Option<Paths> {
        if let Some((from, to)) = self.moved(at, extended)? {
            self.check_name(at, names.as_ref().map(|(old, _)| old), &from);
            self.check_name(at, names.as_ref().map(|(_, new)| new), &to);
            return Some((Some(from), Some(to)));
        }
        let one_file = header.as_ref().and_then(|(old, new)| match old == new {
            true => Some(old.clone()),
            false => shared_path(old, new).map(<[u8]>::to_vec),
        });
        let (old, new) = match (one_file, names, header) {
            (Some(path), None, _) => (Some(path.clone()), Some(path)),
            (Some(path), Some((old, new)), _) => {
                self.check_name(at, Some(&old), &path);
                self.check_name(at, Some(&new), &path);
                let side = |name| (name != Name::Nothing).then(|| path.clone());
                (side(old), side(new))
            }
            (None, Some((old, new)), _) => without_prefixes(old, new),
            (None, None, Some((old, new))) => without_prefixes(Name::File(old), Name::File(new)),
            (None, None, None) => {
                self.error(at, FormatCode::BadPath, "cannot tell the two paths on this line apart");
                return None;
            }
        };
        Some((old.filter(|_| extended.created.is_none()), new.filter(|_| extended.deleted.is_none())))
    }

    /// The paths of a rename or copy; the outer `None` is a broken one, which is then reported.
    fn moved(&mut self, at: usize, extended: &Extended) -> Option<Option<(Vec<u8>, Vec<u8>)>> {
        let rename = (&extended.rename_from, &extended.rename_to);
        let copy = (&extended.copy_from, &extended.copy_to);
        match (rename, copy) {
            ((None, None), (None, None)) => Some(None),
            ((Some(from), Some(to)), (None, None)) | ((None, None), (Some(from), Some(to))) => {
                Some(Some((from.clone(), to.clone())))
            }
            _ => {
                self.error(at, FormatCode::HeaderOrder, "`from` and `to` of a rename or copy must come in one pair");
                None
            }
        }
    }

    /// A name below the header must be the path of the header, behind whatever prefix.
    fn check_name(&mut self, at: usize, name: Option<&Name>, path: &[u8]) {
        let Some(Name::File(name)) = name else { return };
        let agrees = name.strip_suffix(path).is_some_and(|prefix| prefix.is_empty() || prefix.ends_with(b"/"));
        if !agrees {
            let (name, path) = (String::from_utf8_lossy(name), String::from_utf8_lossy(path));
            self.error(at, FormatCode::PathMismatch, format!("the header is about `{path}`, the lines below `{name}`"));
        }
    }

    fn git_patch(
        &mut self,
        at: usize,
        extended: Extended,
        (old_path, new_path): Paths,
        hunks: Vec<Hunk>,
        binary: bool,
    ) -> Option<FilePatch> {
        if extended.old_mode.is_some() != extended.new_mode.is_some() {
            self.error(at, FormatCode::HeaderOrder, "`old mode` and `new mode` must come in one pair");
            return None;
        }
        let kind = match (&old_path, &new_path) {
            (None, None) => {
                self.error(at, FormatCode::HeaderOrder, "a file cannot be both created and deleted");
                return None;
            }
            (None, _) => PatchKind::Added,
            (_, None) => PatchKind::Deleted,
            _ if extended.rename_from.is_some() => PatchKind::Renamed,
            _ if extended.copy_from.is_some() => PatchKind::Copied,
            _ if hunks.is_empty() && !binary && extended.mode_change().is_some() => PatchKind::ModeOnly,
            _ => PatchKind::Modified,
        };
        if kind == PatchKind::Modified && hunks.is_empty() && !binary {
            self.error(at, FormatCode::EmptySection, "`diff --git` is followed by no change");
            return None;
        }
        let (old_mode, new_mode) = extended.modes(kind);
        let similarity = extended.similarity.filter(|_| matches!(kind, PatchKind::Renamed | PatchKind::Copied));
        let (old_id, new_id) = extended.index.map(|index| (index.old, index.new)).unzip();
        let style = HeaderStyle::Git;
        Some(FilePatch {
            old_path,
            new_path,
            old_mode,
            new_mode,
            old_id,
            new_id,
            kind,
            similarity,
            binary,
            style,
            hunks,
        })
    }

    /// A section that starts with `---`.
    pub(super) fn plain_section(&mut self) -> Option<FilePatch> {
        let (old, new) = self.name_lines()?;
        let at = self.at;
        let hunks = self.hunks_after_names()?;
        let (old_time, new_time) = (old.timestamp, new.timestamp);
        let (mut old_path, mut new_path) = without_prefixes(old.name, new.name);
        // `diff -N` names a missing file but gives it the oldest possible time.
        if let [hunk] = hunks.as_slice() {
            if hunk.old_start == 0 && is_epoch(&old_time) && new_path.is_some() {
                old_path = None;
            } else if hunk.new_start == 0 && is_epoch(&new_time) && old_path.is_some() {
                new_path = None;
            }
        }
        self.plain_patch(at, old_path, new_path, hunks, false)
    }

    /// `Binary files x and y differ` outside any section, as `diff -u` writes it.
    pub(super) fn plain_binary(&mut self, (old, new): (Name, Name)) -> Option<FilePatch> {
        let at = self.at;
        self.at += 1;
        let (old_path, new_path) = without_prefixes(old, new);
        self.plain_patch(at, old_path, new_path, Vec::new(), true)
    }

    fn plain_patch(
        &mut self,
        at: usize,
        old_path: Option<Vec<u8>>,
        new_path: Option<Vec<u8>>,
        hunks: Vec<Hunk>,
        binary: bool,
    ) -> Option<FilePatch> {
        let kind = match (&old_path, &new_path) {
            (None, None) => {
                self.error(at, FormatCode::BadPath, "both sides are `/dev/null`");
                return None;
            }
            (None, _) => PatchKind::Added,
            (_, None) => PatchKind::Deleted,
            _ => PatchKind::Modified,
        };
        Some(FilePatch {
            old_path,
            new_path,
            old_mode: None,
            new_mode: None,
            old_id: None,
            new_id: None,
            kind,
            similarity: None,
            binary,
            style: HeaderStyle::Plain,
            hunks,
        })
    }
}

/// The start of 1970 in any time zone.
fn is_epoch(timestamp: &[u8]) -> bool {
    timestamp.starts_with(b"1970-01-01 ") || timestamp.starts_with(b"1969-12-31 ")
}
