//! The snapshots of one debug session, without their secrets. They live as long as the session; nothing here touches a disk.
//! Randomness and time come from the caller.

use std::sync::Arc;

use backsight_core::{Code, Error, NextStep, Result};
use backsight_redact::Redactor;
use serde_json::json;

use crate::capture::{Capture, Inside, Node};
use crate::redact;
use crate::report::SnapshotEntry;

/// More snapshots than this are kept, and warned of.
pub const SOFT_LIMIT: usize = 100;
/// More bytes than this are not kept.
pub const MOST_BYTES: usize = 256 << 20;
/// Longer labels are refused.
const LONGEST_LABEL: usize = 100;
/// The labels of the two ends of the last step.
const STEP: [&str; 2] = ["step-before", "step-after"];
/// How many ids a hint names.
const MOST_HINTED: usize = 10;

/// What a snapshot is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Naming {
    /// What the caller said.
    Label(String),
    /// `snapshot-4`.
    Numbered,
    /// A hit of an automatic snapshot point: `loop-17`.
    Hit(String),
}

/// What creating a snapshot is answered with.
#[derive(Clone, Debug, PartialEq)]
pub struct Created {
    /// The snapshot.
    pub capture: Arc<Capture>,
    /// How many of its values hold a secret that was replaced.
    pub redacted: u64,
    /// What to know about it, such as that there are many by now.
    pub warnings: Vec<String>,
}

/// The snapshots of a session, in the order in which they were taken.
#[derive(Debug)]
pub struct Store {
    redactor: Redactor,
    kept: Vec<Kept>,
    /// The two ends of the last step, which nobody asked to keep.
    step: Vec<Arc<Capture>>,
    taken: u64,
    bytes: usize,
    most_bytes: usize,
}

#[derive(Debug)]
struct Kept {
    capture: Arc<Capture>,
    bytes: usize,
    /// Whether the caller named it, which says that it is wanted.
    labelled: bool,
    series: Option<String>,
}

impl Store {
    /// An empty one. Secrets are replaced by markers that depend on the salt, so it should be random.
    pub fn new(salt: u64) -> Self {
        Store {
            redactor: Redactor::of_program(salt),
            kept: Vec::new(),
            step: Vec::new(),
            taken: 0,
            bytes: 0,
            most_bytes: MOST_BYTES,
        }
    }

    /// The same with room for about so many bytes.
    pub fn with_room(self, most_bytes: usize) -> Self {
        Store { most_bytes, ..self }
    }

    /// What takes secrets out, for whatever else of the session is shown.
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Keeps a capture without its secrets, giving it its id, number and label. Numbers are never used again, also not those of snapshots that
    /// were deleted. Nothing is kept when it fails.
    pub fn create(&mut self, mut capture: Capture, naming: Naming, random: u128) -> Result<Created> {
        if let Naming::Label(label) | Naming::Hit(label) = &naming {
            check_label(label)?;
        }
        let id = id(random);
        if self.kept.iter().any(|kept| kept.capture.id == id) {
            return Err(Error::new(Code::Conflict, format!("snapshot `{id}` exists: the randomness repeats")));
        }
        let redacted = redact::capture(&self.redactor, &mut capture);
        let bytes = size(&capture);
        if self.bytes.saturating_add(bytes) > self.most_bytes {
            return Err(self.full(bytes));
        }
        self.taken += 1;
        let mut warnings = Vec::new();
        (capture.id, capture.number) = (id, self.taken);
        capture.label = match &naming {
            Naming::Label(label) => label.clone(),
            Naming::Numbered => format!("snapshot-{}", self.taken),
            Naming::Hit(series) => format!("{series}-{}", self.hits(series) + 1),
        };
        if let Some(twin) = self.kept.iter().rev().find(|kept| kept.capture.label == capture.label) {
            warnings
                .push(format!("label `{}` was that of `{}`: it means this one now", capture.label, twin.capture.id));
        }
        let capture = Arc::new(capture);
        let labelled = matches!(naming, Naming::Label(_));
        let series = if let Naming::Hit(series) = naming { Some(series) } else { None };
        self.kept.push(Kept { capture: Arc::clone(&capture), bytes, labelled, series });
        self.bytes += bytes;
        warnings.extend(self.many());
        Ok(Created { capture, redacted, warnings })
    }

    /// Keeps both ends of a step until the next one, as `step-before` and `step-after`; they are not listed or counted.
    pub fn set_step(&mut self, ends: [Capture; 2], random: [u128; 2]) -> [Arc<Capture>; 2] {
        let [before, after] = ends;
        let keep = |mut capture: Capture, label: &str, random: u128| {
            redact::capture(&self.redactor, &mut capture);
            (capture.id, capture.label) = (id(random), label.to_owned());
            Arc::new(capture)
        };
        let ends = [keep(before, STEP[0], random[0]), keep(after, STEP[1], random[1])];
        self.step = ends.to_vec();
        ends
    }

    /// Every snapshot, oldest first.
    pub fn list(&self) -> Vec<SnapshotEntry> {
        self.kept.iter().map(|kept| SnapshotEntry { series: kept.series.clone(), ..entry(&kept.capture) }).collect()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// About how many bytes they take.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The snapshot with this id, label, or beginning of an id that no other has.
    pub fn get(&self, reference: &str) -> Result<Arc<Capture>> {
        if let Some(end) = self.end_of_step(reference) {
            return Ok(Arc::clone(end));
        }
        match self.find(reference).as_slice() {
            [index] => Ok(Arc::clone(&self.kept[*index].capture)),
            [] => Err(self.not_found(&[reference])),
            several => Err(self.ambiguous(reference, several)),
        }
    }

    /// Two snapshots; when both are missing the error names both.
    pub fn pair(&self, first: &str, second: &str) -> Result<(Arc<Capture>, Arc<Capture>)> {
        let missing: Vec<&str> = [first, second].into_iter().filter(|reference| !self.is_known(reference)).collect();
        if !missing.is_empty() {
            return Err(self.not_found(&missing));
        }
        Ok((self.get(first)?, self.get(second)?))
    }

    /// The hits of an automatic snapshot point, oldest first.
    pub fn series(&self, name: &str) -> Result<Vec<Arc<Capture>>> {
        let hits = self.kept.iter().filter(|kept| kept.series.as_deref() == Some(name));
        let hits: Vec<Arc<Capture>> = hits.map(|kept| Arc::clone(&kept.capture)).collect();
        if hits.is_empty() { Err(self.not_found(&[name])) } else { Ok(hits) }
    }

    /// Deletes a snapshot, or all hits of the automatic snapshot point of that name; the ids that are gone.
    pub fn delete(&mut self, reference: &str) -> Result<Vec<String>> {
        let hits = |kept: &Kept| kept.series.as_deref() == Some(reference);
        let found: Vec<usize> = match self.find(reference) {
            found if found.is_empty() => (0..self.kept.len()).filter(|index| hits(&self.kept[*index])).collect(),
            found if found.len() > 1 => return Err(self.ambiguous(reference, &found)),
            found => found,
        };
        if found.is_empty() {
            return Err(self.not_found(&[reference]));
        }
        let mut gone = Vec::new();
        for index in found.into_iter().rev() {
            let kept = self.kept.remove(index);
            self.bytes -= kept.bytes;
            gone.push(kept.capture.id.clone());
        }
        gone.reverse();
        Ok(gone)
    }

    /// Deletes all of them; how many there were. Numbers go on.
    pub fn clear(&mut self) -> usize {
        self.bytes = 0;
        self.step.clear();
        std::mem::take(&mut self.kept).len()
    }

    /// Deletes all but the hits of snapshot points; how many are gone, and how many are left.
    pub fn clear_but_series(&mut self) -> (usize, usize) {
        self.step.clear();
        let all = self.kept.len();
        self.kept.retain(|kept| kept.series.is_some());
        self.bytes = self.kept.iter().map(|kept| kept.bytes).sum();
        (all - self.kept.len(), self.kept.len())
    }

    fn is_known(&self, reference: &str) -> bool {
        self.end_of_step(reference).is_some() || !self.find(reference).is_empty()
    }

    fn end_of_step(&self, reference: &str) -> Option<&Arc<Capture>> {
        self.step.iter().find(|end| end.label == reference || end.id == reference)
    }

    fn find(&self, reference: &str) -> Vec<usize> {
        let all = |is: &dyn Fn(&Capture) -> bool| -> Vec<usize> {
            (0..self.kept.len()).filter(|index| is(&self.kept[*index].capture)).collect()
        };
        let exact = all(&|capture| capture.id == reference);
        let mut named = if exact.is_empty() { all(&|capture| capture.label == reference) } else { exact };
        // A label means the latest that has it.
        named.drain(..named.len().saturating_sub(1));
        // Less than that is a typing error.
        let long_enough = reference.len() > "snap-".len();
        if named.is_empty() && long_enough { all(&|capture| capture.id.starts_with(reference)) } else { named }
    }

    fn hits(&self, series: &str) -> u64 {
        // The last hit has the highest number, also when earlier ones were deleted.
        let last = self.kept.iter().rev().find(|kept| kept.series.as_deref() == Some(series));
        let number = last.and_then(|kept| kept.capture.label.rsplit_once('-')?.1.parse().ok());
        number.unwrap_or(0)
    }

    /// That there are many, if there are.
    pub fn many(&self) -> Option<String> {
        let count = self.kept.len();
        (count > SOFT_LIMIT).then(|| {
            let oldest = self.kept.iter().find(|kept| !kept.labelled).or(self.kept.first());
            let oldest = oldest.map(|kept| kept.capture.id.as_str()).unwrap_or_default();
            format!("{count} snapshots, more than {SOFT_LIMIT}: delete some, first `{oldest}`")
        })
    }

    fn not_found(&self, references: &[&str]) -> Error {
        let names: Vec<String> =
            references.iter().map(|reference| format!("`{}`", crate::render::safe(reference))).collect();
        let error = Error::new(Code::SnapshotNotFound, format!("no snapshot {}", names.join(" and no snapshot ")))
            .with_details(json!({ "missing": references }));
        match self.kept.last() {
            None => error.then("there are no snapshots: take one", NextStep::CaptureVariables),
            Some(last) => error
                .with_hint(format!("use the latest, `{}` ({})", last.capture.label, last.capture.id))
                .or(format!("list all {}", self.kept.len()), NextStep::ListCaptures),
        }
    }

    fn ambiguous(&self, reference: &str, found: &[usize]) -> Error {
        let ids: Vec<&str> = found.iter().map(|index| self.kept[*index].capture.id.as_str()).collect();
        let shown = ids.iter().rev().take(MOST_HINTED).map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
        let reference = crate::render::safe(reference);
        Error::new(Code::RefAmbiguous, format!("{} snapshots answer to `{reference}`", ids.len()))
            .with_hint(format!("use an id, latest first: {shown}"))
            .with_details(json!({ "ids": ids }))
    }

    /// There is no room: which ones to delete, those the caller did not name first, oldest first.
    fn full(&self, wanted: usize) -> Error {
        let excess = self.bytes.saturating_add(wanted).saturating_sub(self.most_bytes);
        let mut order: Vec<&Kept> = self.kept.iter().collect();
        order.sort_by_key(|kept| kept.labelled);
        let mut freed = 0;
        let mut ids = Vec::new();
        for kept in order {
            if freed >= excess {
                break;
            }
            freed += kept.bytes;
            ids.push(kept.capture.id.as_str());
        }
        let message = format!(
            "the snapshots take about {} MB, and this one's {} MB would be more than {} MB",
            self.bytes >> 20,
            wanted.div_ceil(1 << 20),
            self.most_bytes >> 20
        );
        let error = Error::new(Code::TooLarge, message).with_details(json!({ "delete": ids }));
        if freed < excess {
            return error.with_hint("capture less: a smaller depth or fewer frames");
        }
        let shown = ids.iter().take(MOST_HINTED).map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ");
        let rest = ids.len().saturating_sub(MOST_HINTED);
        let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        error.then(format!("delete the oldest ({shown}{rest})"), NextStep::DeleteCapture { id: None })
    }
}

/// A snapshot as listed.
pub fn entry(capture: &Capture) -> SnapshotEntry {
    let frame = capture.frames.first();
    SnapshotEntry {
        id: capture.id.clone(),
        label: capture.label.clone(),
        timestamp: capture.timestamp,
        thread_id: capture.thread_id,
        frame_index: frame.map_or(0, |frame| frame.index),
        function: frame.map(|frame| frame.function.clone()).unwrap_or_default(),
        location: frame.and_then(|frame| {
            let file = frame.file.as_ref()?;
            Some(frame.line.map_or(file.clone(), |line| format!("{file}:{line}")))
        }),
        frame_count: capture.frames.len(),
        variable_count: capture.variable_count(),
        value_count: capture.value_count(),
        depth: capture.depth,
        safety: capture.safety,
        series: None,
        incomplete: capture.incomplete.clone(),
    }
}

/// Where a capture was taken, in short: `total (shop.py:12)`.
pub(crate) fn place(capture: &Capture) -> String {
    let Some(frame) = capture.frames.first() else { return "no frame".to_owned() };
    let file = frame.file.as_deref().map(|file| file.rsplit(['/', '\\']).next().unwrap_or(file));
    match (file, frame.line) {
        (Some(file), Some(line)) => format!("{} ({file}:{line})", frame.function),
        (Some(file), None) => format!("{} ({file})", frame.function),
        (None, Some(line)) => format!("{} (line {line})", frame.function),
        (None, None) => frame.function.clone(),
    }
}

/// `snap-` and a UUID of version 4.
fn id(random: u128) -> String {
    let bits = random & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{bits:032x}");
    format!("snap-{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// Whether a text can be a label.
pub(crate) fn check_label(label: &str) -> Result<()> {
    let automatic = label.strip_prefix("snapshot-").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    let problem = if label.trim().is_empty() {
        "is empty"
    } else if label.chars().count() > LONGEST_LABEL {
        "is longer than 100 characters"
    } else if label.chars().any(char::is_control) {
        "holds control characters"
    } else if label.starts_with("snap-") || automatic || STEP.contains(&label) {
        "looks like one that snapshots get by themselves"
    } else {
        return Ok(());
    };
    Err(Error::new(Code::InvalidName, format!("label `{}` {problem}", crate::render::safe(label)))
        .with_hint("choose a label such as `before-retry`, or leave it out"))
}

/// About how many bytes a capture takes.
fn size(capture: &Capture) -> usize {
    let frames = capture.frames.iter().map(|frame| {
        let variables =
            frame.variables.iter().map(|variable| size_of_val(variable) + variable.name.len() + inner(&variable.value));
        size_of_val(frame) + frame.function.len() + variables.sum::<usize>()
    });
    size_of_val(capture) + capture.label.len() + capture.id.len() + frames.sum::<usize>()
}

/// What a value takes beyond itself.
fn inner(node: &Node) -> usize {
    let texts = node.kind.len() + node.text.len() + node.identity.as_ref().map_or(0, String::len);
    let names: usize = match &node.inside {
        Inside::Fields(children) | Inside::Entries(children) => {
            children.iter().map(|child| size_of_val(child) + child.0.len()).sum()
        }
        Inside::Elements(children) => size_of_val(children.as_slice()),
        Inside::SeeAt(path) => path.len(),
        Inside::Leaf | Inside::NotExpanded | Inside::Unset => 0,
    };
    texts + names + node.children().map(inner).sum::<usize>()
}

#[cfg(test)]
mod tests;
