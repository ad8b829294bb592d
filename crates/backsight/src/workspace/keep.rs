//! Housekeeping: how much room the store takes, removing what retention allows, checking everything, and advice.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use backsight_core::{Advice, Code, NextStep, ObjectId, RelPath, Result, Seq, shell_word};
use backsight_files::free_bytes;

use super::milestone::{beginning, milestones_in};
use super::writing::Writing;
use super::{Opened, Workspace, step_in};
use crate::config::Config;
use crate::history::{Limits, outlived};
use crate::place;
use crate::report::{Check, CheckState, Collected, Damage, RoomThen, Snapshot, Usage, Verified};
use crate::request;
use crate::settings::Progress;
use crate::timeline::{Item, KeptKind, NewStep, Outline, Step};

impl Workspace {
    /// Keeps a snapshot's contents through every retention rule, or stops doing so.
    pub fn pin(&self, reference: &str, pinned: bool) -> Result<Snapshot> {
        let opened = self.opened()?;
        let step = self.resolve(opened, reference)?;
        opened.timeline.set_pinned(step.snapshot.sequence_number, pinned)?;
        Ok(Snapshot { pinned, ..step.snapshot })
    }

    /// How much room the store takes.
    pub fn usage(&self) -> Result<Usage> {
        let opened = self.opened()?;
        let room = opened.files.objects().room()?;
        let outlines = opened.timeline.outlines()?;
        let expired = outlines.iter().filter(|outline| outline.expired).count() as u64;
        let budget = self.config()?.disk_budget;
        Ok(Usage {
            store: opened.store.directory().display(),
            total_bytes: store_bytes(opened)?,
            pack_bytes: room.pack_bytes,
            packs: room.packs,
            loose_bytes: room.loose_bytes,
            loose_objects: room.loose_objects,
            timeline_bytes: opened.timeline.bytes()?,
            cache_bytes: bytes_below(&opened.store.directory().join("cache").path()),
            snapshots: outlines.len() as u64 - expired,
            expired,
            disk_budget: (budget > 0).then_some(budget),
            free_bytes: free_bytes(&opened.store.directory().path()),
            history: room_then(opened)?,
        })
    }

    /// Takes note of how much room the store takes, for those who want to see it grow. A server does it every hour; a note
    /// like the one before is none.
    pub fn note_room(&self) -> Result<()> {
        if self.store_path()?.is_none() {
            return Ok(());
        }
        let Usage { total_bytes, snapshots, history, .. } = self.usage()?;
        keep_room(self.opened()?, history, RoomThen { timestamp: self.settings.now(), total_bytes, snapshots })
    }

    /// Removes what no kept snapshot needs, and first the contents of snapshots beyond the limits.
    pub fn gc(&self, request: &request::Collect) -> Result<Collected> {
        let writing = self.writing_without_room()?;
        let (opened, config) = (writing.opened, writing.config()?);
        let mut outlines = opened.timeline.outlines()?;
        // Milestones, file checkpoints and reverts that can still be taken back keep what they stand on.
        let held = self.held(opened)?;
        for outline in &mut outlines {
            outline.pinned |= held.contains(&outline.seq);
        }
        let limits = Limits {
            keep_days: request.keep_days.unwrap_or(config.keep_days),
            keep_count: request.keep_count.unwrap_or(config.keep_count),
        };
        let mut expire: BTreeSet<Seq> = outlived(&outlines, limits, self.settings.now()).into_iter().collect();
        let bytes_before = store_bytes(opened)?;
        unless_full(opened.timeline.fold())?;
        let budget = request.disk_budget.unwrap_or(config.disk_budget);
        let mut warnings = Vec::new();
        if budget > 0 {
            expire_for_budget(opened, &outlines, budget, &mut expire, &mut warnings)?;
        }
        let expired: Vec<Seq> = expire.iter().copied().collect();
        let roots = roots(opened, &outlines, &expire)?;
        if request.dry_run {
            let sizes = opened.files.objects().stored_sizes()?;
            let (objects_removed, bytes) = opened.files.objects().garbage(&roots, &sizes)?;
            return Ok(Collected {
                dry_run: true,
                expired,
                objects_removed,
                bytes_before,
                bytes_after: bytes_before.saturating_sub(bytes),
                warnings,
            });
        }
        writing.expire(&expired)?;
        let swept = opened.files.objects().sweep(&roots)?;
        let gone =
            outlines.iter().filter(|outline| outline.expired).map(|outline| outline.seq).chain(expired.iter().copied());
        opened.files.remove_references(&gone.collect())?;
        // Objects moved between files: the stat cache need not be forgotten for that, only told.
        if let Some(latest) = opened.timeline.latest()? {
            unless_full(opened.files.refresh_cache(&latest.tree))?;
        }
        unless_full(opened.timeline.fold())?;
        warnings.extend(swept.warnings);
        // Now there may be room for what waited for it.
        if let Err(error) = writing.recover() {
            warnings.push(error.message().to_owned());
        }
        opened.files.keep_reserve();
        let bytes_after = store_bytes(opened)?;
        let (timestamp, kept) =
            (self.settings.now(), outlines.iter().filter(|outline| !outline.expired).count() as u64);
        let [before, after] = [(bytes_before, kept), (bytes_after, kept.saturating_sub(expired.len() as u64))]
            .map(|(total_bytes, snapshots)| RoomThen { timestamp, total_bytes, snapshots });
        unless_full(keep_room(opened, room_then(opened)?, before))?;
        unless_full(keep_room(opened, room_then(opened)?, after))?;
        if budget > 0 && bytes_after > budget && warnings.is_empty() {
            warnings.push(format!("the store takes {bytes_after} bytes, more than the budget of {budget}"));
        }
        Ok(Collected {
            dry_run: false,
            expired,
            objects_removed: swept.objects_removed,
            bytes_before,
            bytes_after,
            warnings,
        })
    }

    fn held(&self, opened: &Opened) -> Result<BTreeSet<Seq>> {
        let ends = milestones_in(opened)?.into_iter().map(|milestone| milestone.end_sequence_number);
        let known = opened.timeline.checkpoints()?.into_iter().map(|(checkpoint, _)| checkpoint.sequence_number);
        let named = self.files_of_checkpoints(opened)?;
        Ok(ends.chain(known).chain(named).chain(self.open_reverts(opened)?).collect())
    }

    /// The steps that hold the files of named checkpoints.
    fn files_of_checkpoints(&self, opened: &Opened) -> Result<Vec<Seq>> {
        let rows = opened.timeline.kept(KeptKind::CheckpointRow)?;
        let rows = rows.iter().filter_map(|item| item.body.parse().ok()).map(Seq);
        let steps = rows.map(|row| opened.timeline.latest_snapshot_at(row)).collect::<Result<Vec<_>>>()?;
        Ok(steps.into_iter().flatten().map(|step| step.snapshot.sequence_number).collect())
    }

    /// Reads every object and every row and says what is wrong.
    pub fn verify(&self) -> Result<Verified> {
        self.verify_against(None)
    }

    /// The same, and whether the timeline still holds the row with this hash: the `chain_head` somebody noted earlier.
    /// If it does, nothing up to that row was altered since.
    pub fn verify_against(&self, head: Option<&str>) -> Result<Verified> {
        let opened = self.opened()?;
        let verified = self.verify_once(opened, head)?;
        if verified.clean || opened.store.is_read_only() {
            return Ok(verified);
        }
        // Another process may have been moving things about. With the lock held, what is still wrong is wrong.
        let writing = self.holding(opened)?;
        // What cannot be recovered is in the report.
        match writing.recover() {
            Err(error) if error.code() == Code::Cancelled => return Err(error),
            _ => {}
        }
        let verified = self.verify_once(opened, head)?;
        if !verified.clean {
            // The next capture reads every file, and stores again what it still finds on disk.
            opened.files.forget_cache()?;
        }
        Ok(verified)
    }

    fn verify_once(&self, opened: &Opened, head: Option<&str>) -> Result<Verified> {
        opened.files.objects().refresh()?;
        let report = opened
            .files
            .objects()
            .check_objects(&|done, total| self.settings.report(Progress::Verifying { done, total }))?;
        let mut damage: Vec<Damage> = Vec::new();
        let mut warnings = Vec::new();
        let in_timeline =
            |what: String, problem: String| Damage { what, problem, snapshots: Vec::new(), paths: Vec::new() };
        for problem in opened.timeline.check()? {
            damage.push(in_timeline("timeline.db".to_owned(), problem));
        }
        let (problems, rows) = self.check_timeline(opened)?;
        let noted = head.map(|head| opened.timeline.with_chain_hash(head)).transpose()?;
        for problem in &problems {
            let seq = problem.sequence_number;
            // Whoever noted the head of the chain before the reset did not know of what the reset took note of.
            let is_news = |reset: Seq| noted.flatten().is_some_and(|noted| seq <= noted && reset > noted);
            match problem.acknowledged_by {
                Some(reset) if !is_news(reset) => {
                    warnings.push(format!("{}; the reset {reset} took note of it", problem.message));
                }
                // The row may be all that is hurt: whether a snapshot's contents are is told below.
                _ => damage.push(in_timeline(format!("timeline.db, row {seq}"), problem.message.clone())),
            }
        }
        if let (Some(head), Some(None)) = (head, noted) {
            let problem = format!("no row has the hash {head}: what was recorded up to it was altered or replaced");
            damage.push(in_timeline("timeline.db".to_owned(), problem));
        }
        if opened.files.needs_recovery()? {
            let problem = "holds an interrupted restore that could be neither finished nor undone yet".to_owned();
            damage.push(Damage { what: "journal".to_owned(), problem, snapshots: Vec::new(), paths: Vec::new() });
        }
        let in_file = |what: &String, problem: &String| Damage {
            what: what.clone(),
            problem: problem.clone(),
            snapshots: Vec::new(),
            paths: Vec::new(),
        };
        damage.extend(report.files.iter().map(|(file, problem)| in_file(file, problem)));
        warnings.extend(spare(&report.spare_files));
        let mut affected: BTreeMap<ObjectId, (BTreeSet<Seq>, BTreeSet<RelPath>)> =
            report.damaged.keys().map(|id| (*id, Default::default())).collect();
        let mut whole = 0;
        let altered: BTreeSet<Seq> = problems.iter().map(|problem| problem.sequence_number).collect();
        for seq in opened.timeline.snapshot_numbers()?.1 {
            let step = match opened.timeline.by_seq(seq) {
                Ok(Some(step)) => step,
                Ok(None) => continue,
                // A row that cannot be read is in the list already.
                Err(error) if error.code() == Code::Damaged && altered.contains(&seq) => continue,
                Err(error) => return Err(error),
            };
            let mut unreadable = opened.files.objects().check_tree(&step.tree, &report)?.unreadable;
            for id in step.coverage_id.iter().filter(|id| opened.files.objects().read_blob(id).is_err()) {
                unreadable.entry(*id).or_default();
            }
            whole += u64::from(unreadable.is_empty());
            for (id, paths) in unreadable {
                let entry = affected.entry(id).or_default();
                entry.0.insert(seq);
                entry.1.extend(paths);
            }
        }
        if affected.is_empty() {
            warnings.extend(spare(&report.unindexed));
        } else {
            damage.extend(report.unindexed.iter().map(|(file, problem)| in_file(file, problem)));
        }
        for (id, (snapshots, paths)) in affected {
            let problem = report.damaged.get(&id).cloned().unwrap_or_else(|| "is missing".to_owned());
            let (snapshots, paths) = (snapshots.into_iter().collect(), paths.into_iter().take(10).collect());
            damage.push(Damage { what: format!("object {id}"), problem, snapshots, paths });
        }
        Ok(Verified {
            clean: damage.is_empty(),
            objects: report.objects,
            rows,
            chain_head: opened.timeline.chain_head()?,
            snapshots: whole,
            damage,
            warnings,
        })
    }

    /// Looks for what could go wrong, without changing anything.
    pub fn doctor(&self) -> Result<Vec<Check>> {
        let mut checks = vec![self.check_root_choice(), self.check_space()];
        let store = match self.store() {
            Ok(store) => store,
            Err(error) => {
                checks.push(check("store", CheckState::Problem, error.message(), error.advice()));
                return Ok(checks);
            }
        };
        let Some(store) = store else {
            checks.push(check(
                "store",
                CheckState::Warning,
                "nothing is recorded here yet",
                &[Advice::step("record the first snapshot", NextStep::RecordFiles)],
            ));
            return Ok(checks);
        };
        checks.push(check_permissions(&store.directory().path()));
        checks.push(match self.config() {
            Ok(_) => check("settings", CheckState::Ok, "config.toml is valid", &[]),
            Err(error) => check("settings", CheckState::Problem, error.message(), error.advice()),
        });
        match self.opened() {
            Ok(opened) => self.check_store(opened, &mut checks)?,
            Err(error) => checks.push(check("store", CheckState::Problem, error.message(), error.advice())),
        }
        Ok(checks)
    }

    fn check_root_choice(&self) -> Check {
        match place::check_root(&self.root, &self.settings) {
            Ok(()) => check("workspace", CheckState::Ok, &format!("`{}`", self.root.display()), &[]),
            Err(error) => check("workspace", CheckState::Warning, error.message(), error.advice()),
        }
    }

    fn check_space(&self) -> Check {
        let free = free_bytes(self.store_path().ok().flatten().as_deref().unwrap_or(&self.root));
        let message = format!("{} free", size(free));
        if free < 1 << 30 {
            return check(
                "space",
                CheckState::Warning,
                &message,
                &[
                    Advice::plain("free some space"),
                    Advice::step("set a limit", NextStep::configure("disk_budget", "2GB")),
                ],
            );
        }
        check("space", CheckState::Ok, &message, &[])
    }

    fn check_store(&self, opened: &Opened, checks: &mut Vec<Check>) -> Result<()> {
        let problems = opened.timeline.check()?;
        checks.push(match problems.first() {
            None => check("timeline", CheckState::Ok, &counted(opened.timeline.count()?, "snapshot"), &[]),
            Some(problem) => {
                let see = Advice::step("see what is affected", NextStep::VerifyStore);
                check("timeline", CheckState::Problem, problem, &[see])
            }
        });
        let room = opened.files.objects().room()?;
        let Config { disk_budget, .. } = self.config()?;
        let total = store_bytes(opened)?;
        let over = disk_budget > 0 && total > disk_budget;
        let (packs, single) = (counted(room.packs, "pack"), counted(room.loose_objects, "single object"));
        let message = format!("{} in {packs} and {single}", size(total));
        let shrink = over.then(|| Advice::step("the store is over its budget: shrink it", NextStep::ShrinkStore));
        let state = if over { CheckState::Warning } else { CheckState::Ok };
        checks.push(check("room", state, &message, shrink.as_slice()));
        Ok(())
    }
}

impl Writing<'_> {
    /// Says which contents go. On a full disk the reserve and the stat cache make way for that: they can be made again.
    fn expire(&self, expired: &[Seq]) -> Result<()> {
        if expired.is_empty() {
            return Ok(());
        }
        match self.opened.timeline.expire(expired, self.workspace.settings.now()) {
            Err(error) if error.code() == Code::DiskFull => {
                self.opened.files.release_reserve()?;
                self.opened.timeline.expire(expired, self.workspace.settings.now())
            }
            other => other,
        }
    }
}

/// A size for people.
fn size(bytes: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB"];
    let step = (bytes.max(1).ilog2() / 10).min(4);
    if step == 0 {
        format!("{bytes} B")
    } else {
        format!("{:.1} {}", bytes as f64 / f64::from(1u32 << 10).powi(step as i32), units[step as usize])
    }
}

fn check(name: &str, state: CheckState, message: &str, advice: &[Advice]) -> Check {
    Check { name: name.to_owned(), state, message: message.to_owned(), hint: None, advice: advice.to_vec() }
}

fn check_permissions(store: &Path) -> Check {
    use std::os::unix::fs::PermissionsExt;
    let mode = std::fs::metadata(store).map_or(0, |metadata| metadata.permissions().mode() & 0o777);
    if mode & 0o077 == 0 {
        return check("permissions", CheckState::Ok, "only you can read the store", &[]);
    }
    let close = format!("close it with `chmod 700 {}`", shell_word(store.as_os_str().as_encoded_bytes()));
    let message = format!("others can read the store (mode {mode:04o})");
    check("permissions", CheckState::Warning, &message, &[Advice::plain(close)])
}

/// Words for damaged files whose every object is whole elsewhere.
fn spare(files: &BTreeMap<String, String>) -> Vec<String> {
    files
        .iter()
        .map(|(file, problem)| {
            format!("`{file}` {problem}, but nothing in it is needed: it goes when the store is shrunk")
        })
        .collect()
}

/// Work that only saves room or time later is left for later on a full disk.
fn unless_full(result: Result<()>) -> Result<()> {
    match result {
        Err(error) if error.code() == Code::DiskFull => Ok(()),
        other => other,
    }
}

/// Everything that kept snapshots need: their own trees, and their bases, without which they could not be undone. A
/// milestone needs the files it began with, however many of its snapshots went.
fn roots(opened: &Opened, outlines: &[Outline], expire: &BTreeSet<Seq>) -> Result<Vec<ObjectId>> {
    let mut roots = BTreeSet::new();
    for outline in outlines.iter().filter(|outline| !outline.expired && !expire.contains(&outline.seq)) {
        let Some(Step { tree, coverage_id, base, base_coverage_id, start, .. }) =
            opened.timeline.by_seq(outline.seq)?
        else {
            continue;
        };
        for tree in [Some(tree), base, start].into_iter().flatten() {
            roots.insert(tree.id);
            roots.extend(tree.attributes);
        }
        roots.extend(coverage_id);
        roots.extend(base_coverage_id);
    }
    // A restore that waits to be recorded needs what its row will name.
    for note in opened.files.pending_notes()? {
        let Ok(NewStep { tree, coverage_id, .. }) = step_in(&note) else { continue };
        roots.insert(tree.id);
        roots.extend(tree.attributes);
        roots.extend(coverage_id);
    }
    for milestone in milestones_in(opened)? {
        let first = opened.timeline.by_seq(milestone.start_sequence_number)?;
        // One that was made when its beginning was gone already has none to keep.
        if let Some((base, coverage)) = first.as_ref().map(beginning)
            && opened.files.objects().contains(&base.id)?
        {
            roots.insert(base.id);
            roots.extend(base.attributes);
            roots.extend(coverage);
        }
    }
    for call in opened.timeline.open_calls()? {
        roots.insert(call.start.id);
        roots.extend(call.start.attributes);
        roots.extend(call.coverage_id);
    }
    Ok(roots.into_iter().collect())
}

/// Expires the oldest unpinned snapshots, as few as it takes for the rest to fit.
fn expire_for_budget(
    opened: &Opened,
    outlines: &[Outline],
    budget: u64,
    expire: &mut BTreeSet<Seq>,
    warnings: &mut Vec<String>,
) -> Result<()> {
    let removable: Vec<Seq> = outlines
        .iter()
        .rev()
        .skip(1)
        .rev()
        .filter(|outline| !outline.pinned && !outline.expired && !expire.contains(&outline.seq))
        .map(|outline| outline.seq)
        .collect();
    let sizes = opened.files.objects().stored_sizes()?;
    // The timeline, the cache and the files around them count as well.
    let objects: u64 = sizes.values().sum();
    let beside = store_bytes(opened)?.saturating_sub(objects);
    let needed = |count: usize| -> Result<u64> {
        let without: BTreeSet<Seq> = expire.iter().chain(&removable[..count]).copied().collect();
        Ok(beside + opened.files.objects().bytes_of(&roots(opened, outlines, &without)?, &sizes)?)
    };
    // The more is removed the less is needed, so the smallest sufficient number is found by halving.
    let (mut low, mut high) = (0, removable.len());
    while low < high {
        let middle = (low + high) / 2;
        if needed(middle)? <= budget { high = middle } else { low = middle + 1 }
    }
    let left = needed(low)?;
    if left > budget {
        warnings.push(format!("what must be kept takes {left} bytes, more than the budget of {budget}: the latest and pinned snapshots stay"));
    }
    expire.extend(&removable[..low]);
    Ok(())
}

/// Notes of how much room the store took; beyond that older ones are thinned out.
const ROOM_NOTES: usize = 400;
const ROOM: &str = "room";

fn room_then(opened: &Opened) -> Result<Vec<RoomThen>> {
    let body = opened.timeline.kept_as(KeptKind::Room, ROOM)?;
    Ok(body.and_then(|body| serde_json::from_str(&body).ok()).unwrap_or_default())
}

fn keep_room(opened: &Opened, mut history: Vec<RoomThen>, now: RoomThen) -> Result<()> {
    if history.last().is_some_and(|last| (last.total_bytes, last.snapshots) == (now.total_bytes, now.snapshots)) {
        return Ok(());
    }
    let at = now.timestamp;
    history.push(now);
    if history.len() > ROOM_NOTES {
        let old = history.len() / 2;
        let mut place = 0;
        history.retain(|_| {
            place += 1;
            place > old || place % 2 == 1
        });
    }
    let body = serde_json::to_string(&history).unwrap_or_default();
    opened.timeline.keep(KeptKind::Room, at, &[Item { name: ROOM.to_owned(), body }], &[])
}

/// What the store takes. SQLite's files beside the timeline come and go with the processes that have it open, so the
/// timeline counts with what it holds, wherever that is written; the lock names its holder and does not count.
fn store_bytes(opened: &Opened) -> Result<u64> {
    let directory = opened.store.directory();
    let files = ["timeline.db", "timeline.db-wal", "timeline.db-shm", "lock"];
    let written: u64 = files.iter().map(|name| bytes_below(&directory.join(name).path())).sum();
    Ok(bytes_below(&directory.path()).saturating_sub(written) + opened.timeline.bytes()?)
}

fn bytes_below(path: &Path) -> u64 {
    let Ok(metadata) = std::fs::symlink_metadata(path) else { return 0 };
    if !metadata.is_dir() {
        return metadata.len();
    }
    let Ok(entries) = std::fs::read_dir(path) else { return 0 };
    entries.flatten().map(|entry| bytes_below(&entry.path())).sum()
}

fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
