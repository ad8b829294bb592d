//! Writes parsed diffs back as text.

use crate::header::{Body, Header, HeaderStyle, Origin, Side};
use crate::patch::{FilePatch, Hunk, LineKind, PatchKind};
use crate::unified::write_range;

/// The text of a diff. Parsing it again gives equal patches.
#[must_use]
pub fn write_patches(patches: &[FilePatch]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut open = false;
    for patch in patches {
        let header = header(patch);
        // A git header without a body would take the plain header after it for its own.
        if open && patch.style == HeaderStyle::Plain {
            out.push(b'\n');
        }
        open = header.body == Body::Nothing;
        header.write(&mut out);
        for hunk in &patch.hunks {
            write_hunk(hunk, &mut out);
        }
    }
    out
}

fn header(patch: &FilePatch) -> Header<'_> {
    let body = match (patch.binary, patch.hunks.is_empty()) {
        (true, _) => Body::Binary,
        (false, true) => Body::Nothing,
        (false, false) => Body::Hunks,
    };
    let origin = match patch.kind {
        PatchKind::Renamed => Origin::Renamed,
        PatchKind::Copied => Origin::Copied,
        _ => Origin::InPlace,
    };
    Header {
        style: patch.style,
        old: Side { path: patch.old_path.as_deref(), mode: patch.old_mode, id: patch.old_id.as_deref() },
        new: Side { path: patch.new_path.as_deref(), mode: patch.new_mode, id: patch.new_id.as_deref() },
        origin,
        similarity: patch.similarity,
        body,
    }
}

fn write_hunk(hunk: &Hunk, out: &mut Vec<u8>) {
    out.extend_from_slice(b"@@ -");
    write_range(out, &(hunk.old_begin()..hunk.old_begin().saturating_add(hunk.old_len)));
    out.extend_from_slice(b" +");
    write_range(out, &(hunk.new_begin()..hunk.new_begin().saturating_add(hunk.new_len)));
    out.extend_from_slice(b" @@");
    if !hunk.section.is_empty() {
        out.push(b' ');
        out.extend_from_slice(&hunk.section);
    }
    out.push(b'\n');
    for line in &hunk.lines {
        out.push(match line.kind {
            LineKind::Context => b' ',
            LineKind::Removed => b'-',
            LineKind::Added => b'+',
        });
        out.extend_from_slice(&line.bytes);
        out.push(b'\n');
        if line.no_newline {
            out.extend_from_slice(b"\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{parse_multi_file_diff, write_patches};

    #[test]
    fn a_plain_section_does_not_become_the_body_of_a_git_header() {
        let mode = "diff --git a/y b/y\nold mode 100644\nnew mode 100755\n";
        for plain in ["--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "Binary files a/x and b/x differ\n"] {
            let patches = parse_multi_file_diff(format!("{mode}\n{plain}").as_bytes()).unwrap();
            assert_eq!(patches.len(), 2);
            assert_eq!(parse_multi_file_diff(&write_patches(&patches)).unwrap(), patches);
        }
    }
    #[test]
    fn two_paths_that_could_not_be_told_apart_are_quoted() {
        let written = |diff: &str| {
            let patches = parse_multi_file_diff(diff.as_bytes()).unwrap();
            let written = write_patches(&patches);
            assert_eq!(parse_multi_file_diff(&written).unwrap(), patches);
            String::from_utf8(written).unwrap()
        };
        let binary = written("Binary files \"a/x and y\" and b/z differ\n");
        assert_eq!(binary, "Binary files \"a/x and y\" and \"b/z\" differ\n");
        let modes = "old mode 100644\nnew mode 100755\n";
        let quoted = format!("diff --git \"a/old b/x\" \"b/new b/x\"\n{modes}");
        assert_eq!(written(&quoted), quoted);
        for plain in ["diff --git a/x b/x b/x b/x\n", "diff --git a/x y b/x y\n"] {
            assert_eq!(written(&format!("{plain}{modes}")), format!("{plain}{modes}"));
        }
        let renamed = "diff --git a/old x b/new x\nsimilarity index 100%\nrename from old x\nrename to new x\n";
        assert_eq!(written(renamed), renamed);
    }
}
