//! Seed 003: changes that nobody recorded, found, validated and handled.

use std::collections::{BTreeMap, BTreeSet};

use backsight_core::{Code, RelPath, Result, Uncovered};
use backsight_files::{Capture, Change, Patterns, Unseen};

use super::{Opened, Workspace};
use crate::report::{HandleResult, SnapshotConfig, Strategy, UnknownChange, UnknownChangeResult, ValidationResult};
use crate::request;
use crate::timeline::{OpenCall, Step};
use crate::unknown::{Claim, Decision, blind, decide, mismatch, own, unknown};

/// What differs from the latest snapshot, sorted by whose it can be.
#[derive(Default)]
pub(super) struct Detected {
    /// Nobody's.
    pub(super) unknown: Vec<UnknownChange>,
    /// The same as changes, with the excluded ones.
    pub(super) changes: Vec<Change>,
    pub(super) excluded: u64,
    /// Changed since an open tool call began.
    pub(super) pending: Vec<Change>,
    pub(super) unseen: Vec<Uncovered>,
}

impl Detected {
    /// The paths of what an open tool call may have written.
    pub(super) fn pending_paths(&self) -> Vec<RelPath> {
        self.pending.iter().map(|change| change.path.clone()).collect()
    }
}

impl Workspace {
    /// Seed 003's `detectUnknownModifications`: what differs on disk from what was last recorded, and was not written
    /// by an open tool call; with real diffs. Only `files` and what lies below them, or everything when there are none.
    /// If the files cannot be looked at this is an error, never an empty answer.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// std::fs::write(directory.path().join("a.txt"), "one\n")?;
    /// workspace.track()?;
    /// std::fs::write(directory.path().join("a.txt"), "two\n")?;
    /// let found = workspace.detect_unknown_modifications(&[])?;
    /// assert!(found.has_unknown_changes);
    /// assert!(found.unknown_changes[0].diff.as_ref().unwrap().contains("-one\n+two\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn detect_unknown_modifications(&self, files: &[RelPath]) -> Result<UnknownChangeResult> {
        self.detect(files, true)
    }

    pub(super) fn detect(&self, files: &[RelPath], with_diffs: bool) -> Result<UnknownChangeResult> {
        let mut result = UnknownChangeResult {
            has_unknown_changes: false,
            unknown_changes: Vec::new(),
            affected_files: Vec::new(),
            generated_diff: None,
            compared_with: None,
            excluded: 0,
            pending: Vec::new(),
            unseen: Vec::new(),
            coverage: Default::default(),
        };
        if self.store_path()?.is_none() {
            return Ok(result);
        }
        let opened = self.opened()?;
        let Some((last, now, mut detected)) = self.detected(opened, files)? else { return Ok(result) };
        result.compared_with = Some(last.snapshot.sequence_number);
        result.coverage = now.coverage.clone();
        if with_diffs {
            self.add_diffs(opened, last, now, &mut detected)?;
            let texts: Vec<&str> = detected.unknown.iter().filter_map(|change| change.diff.as_deref()).collect();
            result.generated_diff = Some(texts.concat()).filter(|text| !text.is_empty());
        }
        result.has_unknown_changes = !detected.unknown.is_empty();
        result.affected_files = detected.unknown.iter().map(|change| change.file_path.clone()).collect();
        result.pending = detected.pending_paths();
        result.unknown_changes = detected.unknown;
        result.excluded = detected.excluded;
        result.unseen = detected.unseen;
        Ok(result)
    }

    /// Looks at the disk: the latest step, what is there now, and what differs by whose it can be. Nothing when there is no
    /// step to compare with.
    pub(super) fn detected(&self, opened: &Opened, files: &[RelPath]) -> Result<Option<(Step, Capture, Detected)>> {
        let Some(last) = opened.timeline.latest()? else { return Ok(None) };
        let now = self.look(opened)?;
        let detected = self.sort_out(opened, &last, &now, files, &self.config()?.snapshots)?;
        Ok(Some((last, now, detected)))
    }

    /// Sorts what differs on disk from the latest snapshot by whose it can be.
    pub(super) fn sort_out(
        &self,
        opened: &Opened,
        last: &Step,
        now: &Capture,
        files: &[RelPath],
        config: &SnapshotConfig,
    ) -> Result<Detected> {
        if now.tree == last.tree {
            return Ok(Detected::default());
        }
        let selected = |path: &RelPath| files.is_empty() || files.iter().any(|file| path.is_within(file));
        let changes = opened.files.compare_with_now(&last.tree, now)?;
        let (changes, unseen) = opened.files.split_unseen(changes, last.coverage_id.as_ref(), &Unseen::Now(now))?;
        let pending = self.pending(opened, now, &opened.timeline.open_calls()?)?;
        let (pending, changes): (Vec<Change>, Vec<Change>) = changes
            .into_iter()
            .filter(|change| selected(&change.path))
            .partition(|change| pending.contains(&change.path));
        let (unknown, excluded) = unknown(&changes, &Patterns::new(&config.exclude_from_checking));
        Ok(Detected {
            unknown,
            excluded,
            changes,
            pending,
            unseen: unseen.into_iter().filter(|unseen| selected(&unseen.path)).collect(),
        })
    }

    /// Paths that are not as they were when one of these tool calls began, within what it declared.
    pub(super) fn pending(&self, opened: &Opened, now: &Capture, calls: &[OpenCall]) -> Result<BTreeSet<RelPath>> {
        let mut pending = BTreeSet::new();
        for call in calls {
            let changes = opened.files.compare_with_now(&call.start, now)?;
            let claim = Claim { declared: &call.call.origin.declared, ..Claim::default() };
            pending.extend(own(&changes, &claim).into_iter().map(|change| change.path));
        }
        Ok(pending)
    }

    fn add_diffs(&self, opened: &Opened, last: Step, now: Capture, detected: &mut Detected) -> Result<()> {
        let texts = self.diff_texts(opened, last, now, &detected.changes)?;
        let mut texts: BTreeMap<RelPath, Vec<u8>> = texts.into_iter().collect();
        for change in &mut detected.unknown {
            let text = texts.remove(&change.file_path).filter(|text| !text.is_empty());
            change.diff = text.map(|text| String::from_utf8_lossy(&text).into_owned());
        }
        Ok(())
    }

    /// Seed 003's `validateFileStateBeforeSnapshot`: may a tool write these files, or has somebody else changed them
    /// since they were last recorded? Ask before the tool writes. With `auto_handle` the strategy is carried out.
    pub fn validate_file_state_before_snapshot(
        &self,
        files: &[RelPath],
        options: &request::Validation,
    ) -> Result<ValidationResult> {
        let config = self.config()?.snapshots;
        let strategy = options.unknown.strategy.unwrap_or(config.unknown_change_strategy);
        let mut result = ValidationResult {
            success: true,
            error: None,
            strategy,
            unknown_changes: Vec::new(),
            pending: Vec::new(),
            unseen: Vec::new(),
            warnings: Vec::new(),
            handled: None,
        };
        if !config.enable_unknown_change_detection {
            result.warnings.push("not looked: `enable_unknown_change_detection` is off".to_owned());
            return Ok(result);
        }
        let detected = self.detect(files, true)?;
        result.unknown_changes = detected.unknown_changes;
        result.unseen = detected.unseen;
        if !detected.pending.is_empty() {
            let paths = if detected.pending.len() == 1 { "path" } else { "paths" };
            result.warnings.push(format!(
                "{} changed {paths} may be the work of an open tool call, so nobody can say whether they are unknown",
                detected.pending.len()
            ));
        }
        result.pending = detected.pending;
        let uncovered: Vec<Uncovered> =
            detected.coverage.uncovered.into_iter().filter(|uncovered| uncovered.reason.is_notable()).collect();
        if !uncovered.is_empty() && result.unseen.is_empty() {
            result.warnings.push(blind(&uncovered, "the snapshot").message().to_owned());
        }
        let decision = decide(strategy, options.unknown.force);
        if !result.unseen.is_empty() {
            let problem = blind(&result.unseen, "the snapshot");
            result.success = decision != Decision::Refuse;
            result.warnings.push(problem.message().to_owned());
            result.error = (decision == Decision::Refuse).then(|| problem.message().to_owned());
        }
        if result.unknown_changes.is_empty() {
            return Ok(result);
        }
        match decision {
            Decision::Refuse => {
                let refusal = mismatch(&result.unknown_changes, "the snapshot");
                result.success = false;
                result.error = Some(refusal.message().to_owned());
            }
            Decision::List => result.warnings.push(count_of(&result.unknown_changes)),
            Decision::Integrate if options.auto_handle => {
                result.handled = Some(self.handle_unknown_changes(files, &options.unknown)?);
            }
            Decision::Integrate => result.warnings.push("unknown changes will be recorded first".to_owned()),
        }
        Ok(result)
    }

    /// Seed 003's `handleUnknownChanges`: looks again, then refuses (`strict`), lists (`warn`), or records a
    /// compensating snapshot by `external` (`auto-integrate`). Only `files`, or everything when there are none.
    pub fn handle_unknown_changes(&self, files: &[RelPath], options: &request::Unknown) -> Result<HandleResult> {
        let writing = self.writing()?;
        let (opened, config) = (writing.opened, &writing.config()?.snapshots);
        let strategy = options.strategy.unwrap_or(config.unknown_change_strategy);
        let nothing = |message: &str| HandleResult {
            success: true,
            strategy,
            message: message.to_owned(),
            compensating_snapshot_id: None,
            compensating_sequence_number: None,
            modified_files: Vec::new(),
        };
        let Some(last) = writing.latest()? else {
            return Ok(nothing("nothing is recorded yet, so nothing is unknown"));
        };
        let mut now = writing.capture(Some(&last), &BTreeSet::new())?;
        let detected = self.sort_out(opened, &last, &now, files, config)?;
        if !detected.unseen.is_empty() && decide(strategy, options.force) == Decision::Refuse {
            return Err(blind(&detected.unseen, "what follows"));
        }
        if detected.unknown.is_empty() {
            let mut message = "no unknown changes".to_owned();
            if !detected.unseen.is_empty() {
                message.push_str(&format!(
                    " in what could be seen; {}",
                    blind(&detected.unseen, "what follows").message()
                ));
            }
            if !detected.pending.is_empty() {
                message.push_str(&format!("; {} changed may be the work of an open tool call", detected.pending.len()));
            }
            return Ok(nothing(&message));
        }
        let count = count_of(&detected.unknown);
        let modified_files = detected.unknown.iter().map(|change| change.file_path.clone()).collect();
        match decide(strategy, options.force) {
            Decision::Refuse => Err(mismatch(&detected.unknown, "what follows")),
            Decision::List => {
                let (left, them) = if detected.unknown.len() == 1 { ("it is", "it") } else { ("they are", "them") };
                let message = format!("{count}, left as {left}: the strategy `auto-integrate` records {them}");
                Ok(HandleResult { modified_files, ..nothing(&message) })
            }
            Decision::Integrate => {
                let is_all = detected.pending.is_empty() && files.is_empty();
                let tree = if is_all { now.tree } else { opened.files.edit(&last.tree, &detected.changes)? };
                let (step, _) = writing.record_external(&now, tree, &detected.changes, false, None)?;
                writing.save_cache(&mut now)?;
                let seq = step.snapshot.sequence_number;
                Ok(HandleResult {
                    compensating_snapshot_id: Some(step.snapshot.id),
                    compensating_sequence_number: Some(seq),
                    modified_files,
                    ..nothing(&format!("{count} recorded as {seq}, by external"))
                })
            }
        }
    }

    /// The strategy in force.
    pub(super) fn strategy(&self) -> Result<Strategy> {
        match self.config() {
            Ok(config) => Ok(config.snapshots.unknown_change_strategy),
            // Settings that cannot be read keep nobody from looking at the history.
            Err(error) if error.code() == Code::InvalidConfig => Ok(Strategy::default()),
            Err(error) => Err(error),
        }
    }
}

fn count_of(unknown: &[UnknownChange]) -> String {
    match unknown.len() {
        1 => "1 unknown change".to_owned(),
        many => format!("{many} unknown changes"),
    }
}
