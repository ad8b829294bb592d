//! Who last wrote each line of a file, given its versions: lines are followed from version to version as long as they stay.

use std::collections::BTreeMap;

use backsight_core::{Code, ObjectId, Result};
use backsight_diff::{line_origins, split_lines};

use super::{Opened, Version};
use crate::report::{Kind, LineOrigin};

/// The origin of every line of `target`, whose versions these are, newest first.
pub(super) fn trace(opened: &Opened, target: &[u8], id: ObjectId, versions: &[Version]) -> Result<Vec<LineOrigin>> {
    let count = split_lines(target).len();
    let mut tracing = Tracing { opened, versions, origins: vec![None; count], strands: BTreeMap::new() };
    let all: Vec<OpenLine> = (0..count).map(|line| OpenLine { here: line, target: line }).collect();
    let recorded = versions.first().and_then(|version| version.described.after);
    if recorded == Some(id) {
        tracing.go_on(0, Strand { id: Some(id), text: target.to_vec(), open: all });
    } else {
        // Not recorded yet, or changed while it could not be seen.
        let text = recorded.map_or_else(|| Ok(Vec::new()), |id| opened.files.objects().read_blob(&id))?;
        let (open, new) = follow(&text, target, all);
        tracing.settle(new, &LineOrigin::Unrecorded);
        tracing.go_on(0, Strand { id: recorded, text, open });
    }
    while let Some((index, strands)) = tracing.strands.pop_first() {
        for strand in strands {
            tracing.step(index, strand)?;
        }
    }
    Ok(tracing.origins.into_iter().map(|origin| origin.unwrap_or(LineOrigin::Unrecorded)).collect())
}

/// A line not yet attributed: where it is in the text at hand, and in the target.
#[derive(Clone, Copy)]
struct OpenLine {
    here: usize,
    target: usize,
}

/// Lines that are followed together: they stand in one version of the file.
struct Strand {
    id: Option<ObjectId>,
    text: Vec<u8>,
    open: Vec<OpenLine>,
}

struct Tracing<'a> {
    opened: &'a Opened,
    versions: &'a [Version],
    origins: Vec<Option<LineOrigin>>,
    /// By the version that is to be asked next. A step back makes a second strand, which soon meets the first.
    strands: BTreeMap<usize, Vec<Strand>>,
}

impl Tracing<'_> {
    /// Asks a version which of a strand's lines it wrote.
    fn step(&mut self, index: usize, strand: Strand) -> Result<()> {
        let versions = self.versions;
        let Some(version) = versions.get(index) else {
            let oldest = versions.last().map(|version| LineOrigin::Expired(Box::new(version.described.clone())));
            self.settle(strand.open, &oldest.unwrap_or(LineOrigin::Unrecorded));
            return Ok(());
        };
        let by = Box::new(version.described.clone());
        if version.is_baseline {
            self.settle(strand.open, &LineOrigin::Baseline(by));
            return Ok(());
        }
        if let Some(older) = brought_back(versions, index) {
            self.go_on(older, strand);
            return Ok(());
        }
        // Retention removed what was before: older lines cannot be followed any further.
        let Some((id, before)) = self.before(version)? else {
            self.settle(strand.open, &LineOrigin::Expired(by));
            return Ok(());
        };
        let (open, mut new) = follow(&before, &strand.text, strand.open);
        self.go_on(index + 1, Strand { id, text: before, open });
        let mut writer = match version.described.external || version.described.kind == Kind::External {
            true => LineOrigin::External(by.clone()),
            false => LineOrigin::Recorded(by.clone()),
        };
        if is_going_back(version.described.kind) {
            new = self.back_to_targets(index, &strand.text, new)?;
            if versions[index..].iter().any(Version::is_silent) {
                writer = LineOrigin::Expired(by);
            }
        }
        self.settle(new, &writer);
        Ok(())
    }

    /// What a step back brought back is as it was before the steps it took back. Answers the lines that were not there
    /// either: a merge marked them.
    fn back_to_targets(&mut self, index: usize, text: &[u8], mut lines: Vec<OpenLine>) -> Result<Vec<OpenLine>> {
        let versions = self.versions;
        for target in &versions[index].targets {
            let is_target = |version: &&Version| version.described.sequence_number == *target;
            let Some(at) = versions.iter().skip(index + 1).position(|version| is_target(&version)) else { continue };
            let at = index + 1 + at;
            if lines.is_empty() {
                break;
            }
            let Some((id, before)) = self.before(&versions[at])? else { continue };
            let (open, new) = follow(&before, text, lines);
            self.go_on(at + 1, Strand { id, text: before, open });
            lines = new;
        }
        Ok(lines)
    }

    /// What was in the file before a version; nothing when retention removed it.
    fn before(&self, version: &Version) -> Result<Option<(Option<ObjectId>, Vec<u8>)>> {
        if version.is_silent() {
            return Ok(None);
        }
        let Some(id) = version.described.before else { return Ok(Some((None, Vec::new()))) };
        match self.opened.files.objects().read_blob(&id) {
            Ok(before) => Ok(Some((Some(id), before))),
            Err(error) if error.code() == Code::Damaged && version.is_expired => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn go_on(&mut self, index: usize, strand: Strand) {
        if strand.open.is_empty() {
            return;
        }
        let strands = self.strands.entry(index).or_default();
        match strands.iter_mut().find(|known| known.id == strand.id && known.text == strand.text) {
            Some(known) => known.open.extend(strand.open),
            None => strands.push(strand),
        }
    }

    fn settle(&mut self, lines: Vec<OpenLine>, origin: &LineOrigin) {
        for line in lines {
            self.origins[line.target] = Some(origin.clone());
        }
    }
}

fn is_going_back(kind: Kind) -> bool {
    matches!(kind, Kind::Restore | Kind::Revert | Kind::Undo | Kind::Redo)
}

/// For a version that only brought back an older one: where that is.
fn brought_back(versions: &[Version], index: usize) -> Option<usize> {
    let version = &versions[index].described;
    let content = version.after.filter(|_| is_going_back(version.kind))?;
    let older = versions.iter().enumerate().skip(index + 1);
    older.filter(|(_, older)| older.described.after == Some(content)).map(|(at, _)| at).next()
}

/// Where lines of `after` are in `before`, and which are new.
fn follow(before: &[u8], after: &[u8], open: Vec<OpenLine>) -> (Vec<OpenLine>, Vec<OpenLine>) {
    if open.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let from = line_origins(before, after);
    let (mut kept, mut new) = (Vec::with_capacity(open.len()), Vec::new());
    for line in open {
        match from.get(line.here).copied().flatten() {
            Some(here) => kept.push(OpenLine { here, ..line }),
            None => new.push(line),
        }
    }
    (kept, new)
}
