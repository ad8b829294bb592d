//! Which step broke it: runs a check on the files of recorded steps, in directories of its own, and halves the range until
//! the first bad step is left. The workspace's files are never touched.

mod command;
#[cfg(feature = "browser")]
mod page;
#[cfg(feature = "browser")]
mod serve;
mod share;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use backsight_core::{Code, Error, NextStep, RelPath, Result, Seq};
use backsight_files::Checkout;

use self::command::Run;
use self::share::{Linked, Share};
use super::{Opened, Workspace, conversation};
use crate::bisect::{Outcome, Search, Verdict};
use crate::names;
use crate::report::{BisectRun, Bisected, FoundStep, Kind};
use crate::request::Bisect;
use crate::scratch::Scratch;
use crate::settings::Progress;
use crate::timeline::{NewEvent, Step};

/// More runs at a time than any machine has use for.
const MOST_JOBS: usize = 64;
/// How much of the step's diff is in the answer.
const LONGEST_PATCH: usize = 64 << 10;

impl Workspace {
    /// Finds the step that broke something: the first whose files a command calls bad. Both ends are checked first, so that
    /// a command that cannot work on a copy of the files is found out. The result is a row of the timeline.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// use backsight::request::Bisect;
    ///
    /// let mut broken = None;
    /// for price in ["1", "2", "TAX", "TAX + 1"] {
    ///     std::fs::write(directory.path().join("price"), price)?;
    ///     let step = workspace.track()?.snapshot.sequence_number;
    ///     broken = broken.or((price == "TAX").then_some(step));
    /// }
    /// let command = ["grep", "-qv", "TAX", "price"].map(str::to_owned).to_vec();
    /// let answer = workspace.bisect(&Bisect { command, ..Bisect::default() })?;
    /// assert_eq!(answer.found.map(|found| found.snapshot.sequence_number), broken);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bisect(&self, request: &Bisect) -> Result<Bisected> {
        self.bisect_within(request, None)
    }

    /// The same; with `inside`, only a program that lies in the copy of the files is run.
    pub(super) fn bisect_within(&self, request: &Bisect, inside: Option<Inside>) -> Result<Bisected> {
        check(request)?;
        let opened = self.opened()?;
        let range = self.range(opened, request)?;
        let shares = share::of(request, &self.root)?;
        for share in &shares {
            self.check_unrecorded(opened, &range, share)?;
        }
        #[cfg(feature = "browser")]
        let page = request.page.as_ref().map(|page| page::PageCheck::of(self, page)).transpose()?;
        let scratch = Scratch::new(&self.scratch_place()?, self.new_id()?.as_str())?;
        let jobs = request.jobs.clamp(1, MOST_JOBS);
        let benches = (0..jobs.min(range.steps.len())).map(|number| Bench::new(&scratch, number));
        let benches = benches.collect::<Result<Vec<Bench>>>()?;
        let work = Work {
            workspace: self,
            opened,
            request,
            range: &range,
            shares: &shares,
            inside,
            #[cfg(feature = "browser")]
            page,
        };
        let found = work.search(benches)?;
        self.answer(opened, request, &range, found)
    }

    /// The steps in question, the good end first.
    fn range(&self, opened: &Opened, request: &Bisect) -> Result<Range> {
        let bad = self.resolve(opened, request.bad.as_deref().unwrap_or("@"))?.snapshot.sequence_number;
        let good = match &request.good {
            Some(good) => Some(self.resolve(opened, good)?.snapshot.sequence_number),
            None => None,
        };
        if let Some(good) = good.filter(|good| *good >= bad) {
            let message = format!("the good step {good} does not come before the bad step {bad}");
            return Err(Error::new(Code::InvalidRange, message)
                .then("name an earlier step", NextStep::WithGood)
                .or("a later one", NextStep::WithBad));
        }
        let mut steps = opened.timeline.between(good.unwrap_or(Seq(0)), bad)?;
        let all = steps.len();
        steps.retain(|step| step.snapshot.expired_at.is_none());
        let left_out = all - steps.len();
        // Steps that leave the files as they were cannot have broken anything.
        steps.dedup_by(|later, earlier| later.tree == earlier.tree);
        if steps.len() < 2 {
            let message = format!("there is no step between the good end and {bad} whose files are kept");
            return Err(Error::new(Code::InvalidRange, message)
                .then("see what is kept", NextStep::SeeHistory { session: None, file: None }));
        }
        Ok(Range { steps, left_out })
    }

    /// Refuses to share what the steps hold themselves: each has its own.
    fn check_unrecorded(&self, opened: &Opened, range: &Range, share: &Share) -> Result<()> {
        for step in [range.steps.first(), range.steps.last()].into_iter().flatten() {
            if opened.files.find(&step.tree, None, share.path())?.is_some() {
                let (path, step) = (share.path(), step.snapshot.sequence_number);
                let message = format!("`{path}` is recorded in {step}, so every step has its own and it is not shared");
                return Err(Error::new(Code::InvalidPath, message)
                    .with_hint("leave it out of the directories that are shared or copied"));
            }
        }
        Ok(())
    }

    /// Where copies of the files are put: outside the workspace, whose settings must not reach them.
    fn scratch_place(&self) -> Result<PathBuf> {
        let place = self.settings.state_directory().map(|state| state.join("bisect"));
        place.ok_or_else(|| {
            Error::new(Code::Io, "no home directory is known in which the files could be put")
                .with_hint("set HOME to a directory of yours")
        })
    }

    fn answer(&self, opened: &Opened, request: &Bisect, range: &Range, found: Found) -> Result<Bisected> {
        let number = |position: usize| range.steps[position].snapshot.sequence_number;
        let (first_bad, among) = match &found.outcome {
            Outcome::Found(position) => (*position, Vec::new()),
            Outcome::Among(positions) => {
                (positions.last().copied().unwrap_or_default(), positions.iter().map(|at| number(*at)).collect())
            }
        };
        let step = &range.steps[first_bad];
        let described = match among.is_empty() {
            true => Some(Box::new(self.found_step(opened, step)?)),
            false => None,
        };
        let bad = number(first_bad);
        let good = number(first_bad - among.len().max(1));
        let summary = summary(&described, &among, found.runs.len());
        let event = NewEvent {
            id: self.new_id()?,
            kind: Kind::Bisect,
            timestamp: self.settings.now(),
            description: summary.clone(),
            origin: request.origin.clone(),
            details: serde_json::json!({
                "good": good, "bad": bad, "found": described.is_some(), "among": among,
                "runs": found.runs.len(), "steps": range.steps.len() - 1,
            }),
        };
        let row = self.writing()?.append_event(&event)?;
        Ok(Bisected {
            summary,
            found: described,
            among,
            good,
            bad,
            steps: range.steps.len() as u64 - 1,
            left_out: range.left_out as u64,
            output: found.output,
            shared_changed: share::changed(&found.linked, &self.root),
            runs: found.runs,
            sequence_number: row.sequence_number,
        })
    }

    fn found_step(&self, opened: &Opened, step: &Step) -> Result<FoundStep> {
        let reference = format!("#{}", step.snapshot.sequence_number.0);
        let diff = self.step_diff(&reference, false, &[])?;
        let files: Vec<RelPath> = diff.diffs.iter().map(|diff| diff.file.clone()).collect();
        let mut patch = super::diff::joined(diff.diffs);
        let whole = patch.len();
        if whole > LONGEST_PATCH {
            patch.truncate(patch.floor_char_boundary(LONGEST_PATCH));
        }
        let title = conversation::asked_for(opened, &step.snapshot.origin)?;
        let patch_cut = (whole - patch.len()) as u64;
        Ok(FoundStep { snapshot: step.snapshot.clone(), title, files, patch, patch_cut })
    }
}

/// Refuses what cannot be carried out before anything is made.
fn check(request: &Bisect) -> Result<()> {
    names::check_origin(&request.origin)?;
    if request.command.is_empty() && !request.has_page() {
        return Err(Error::new(Code::Usage, "there is no command and no page that tells good from bad")
            .then("give a command", NextStep::WithCommand)
            .or("name a page", NextStep::WithPage));
    }
    if request.jobs > MOST_JOBS {
        let message = format!("`jobs` is {}, not a number from 1 to {MOST_JOBS}", request.jobs);
        return Err(Error::new(Code::Usage, message));
    }
    Ok(())
}

/// The steps in question, the good end first, and how many in between were left out.
struct Range {
    steps: Vec<Step>,
    left_out: usize,
}

/// Only programs inside the copy may run, with what to say of others.
pub(super) struct Inside {
    pub(super) refuse: Box<dyn Fn(&str) -> Error + Send + Sync>,
}

/// One place where a check runs.
struct Bench {
    root: PathBuf,
    checkout: Checkout,
    linked: Linked,
}

impl Bench {
    fn new(scratch: &Scratch, number: usize) -> Result<Bench> {
        let root = scratch.directory(&format!("files-{number}"))?;
        Ok(Bench { checkout: Checkout::new(&root)?, root, linked: Linked::default() })
    }
}

/// What a search needs.
struct Work<'a> {
    workspace: &'a Workspace,
    opened: &'a Opened,
    request: &'a Bisect,
    range: &'a Range,
    shares: &'a [Share],
    inside: Option<Inside>,
    #[cfg(feature = "browser")]
    page: Option<page::PageCheck>,
}

/// What a search found.
struct Found {
    outcome: Outcome,
    runs: Vec<BisectRun>,
    output: String,
    linked: Linked,
}

/// One run and what it said.
struct Judged {
    position: usize,
    run: BisectRun,
    output: String,
}

impl Work<'_> {
    fn search(&self, mut benches: Vec<Bench>) -> Result<Found> {
        let last = self.range.steps.len() - 1;
        let (mut search, mut judged) = (Search::new(last + 1), Vec::new());
        // Fewer places than ends: one after the other, and the good end first, since it tells most.
        for ends in [0, last].chunks(benches.len()) {
            judged.extend(self.judge(&mut benches, ends, judged.len(), last)?);
            self.check_ends(&judged)?;
        }
        loop {
            let next = search.next(benches.len());
            if next.is_empty() {
                break;
            }
            let found = self.judge(&mut benches, &next, judged.len(), search.remaining())?;
            found.iter().for_each(|found| search.judged(found.position, found.run.verdict));
            judged.extend(found);
        }
        let outcome = search.outcome();
        let output = match &outcome {
            Outcome::Found(at) => judged.iter().find(|judged| judged.position == *at),
            Outcome::Among(_) => None,
        };
        let output = output.map(|judged| judged.output.clone()).unwrap_or_default();
        let runs = judged.into_iter().map(|judged| judged.run).collect();
        let linked = benches.into_iter().fold(Linked::default(), |all, bench| all.with(bench.linked));
        Ok(Found { outcome, runs, output, linked })
    }

    /// Judges positions at the same time, one at each place.
    fn judge(&self, benches: &mut [Bench], positions: &[usize], runs: usize, remaining: usize) -> Result<Vec<Judged>> {
        let numbers: Vec<String> =
            positions.iter().map(|at| self.range.steps[*at].snapshot.sequence_number.to_string()).collect();
        self.workspace.settings.report(Progress::Bisecting {
            steps: numbers.join(", "),
            runs: runs as u64,
            remaining: remaining as u64,
        });
        let stopped = Mutex::new(false);
        let cancelled = || {
            let another = *stopped.lock().unwrap_or_else(PoisonError::into_inner);
            another || (self.workspace.settings.cancelled)()
        };
        std::thread::scope(|scope| {
            let start = |(bench, position): (_, &usize)| {
                let (position, cancelled, stopped) = (*position, &cancelled, &stopped);
                scope.spawn(move || {
                    let judged = self.run(bench, position, cancelled);
                    if judged.is_err() {
                        *stopped.lock().unwrap_or_else(PoisonError::into_inner) = true;
                    }
                    judged
                })
            };
            let started: Vec<_> = benches.iter_mut().zip(positions).map(start).collect();
            let lost = |_| Err(Error::new(Code::Io, "a run failed in a way it should not"));
            let all: Vec<Result<Judged>> = started.into_iter().map(|run| run.join().unwrap_or_else(lost)).collect();
            // The first failure is what stopped the others.
            let (failed, judged): (Vec<_>, Vec<_>) = all.into_iter().partition(Result::is_err);
            let by_itself = |error: &Error| error.code() != Code::Cancelled;
            let mut failed: Vec<Error> = failed.into_iter().filter_map(Result::err).collect();
            match failed.iter().position(by_itself).or((!failed.is_empty()).then_some(0)) {
                Some(at) => Err(failed.swap_remove(at)),
                None => judged.into_iter().collect(),
            }
        })
    }

    /// Puts the files of a step there and runs the check on them.
    fn run(&self, bench: &mut Bench, position: usize, cancelled: &dyn Fn() -> bool) -> Result<Judged> {
        let (step, began) = (&self.range.steps[position], Instant::now());
        bench.checkout.take(&self.opened.files, &step.tree)?;
        for share in self.shares {
            share.put(&self.workspace.root, &bench.root, &mut bench.linked)?;
        }
        let (files_ms, began) = (milliseconds(began), Instant::now());
        let number = step.snapshot.sequence_number;
        let ran = match self.directory(bench) {
            Some(directory) => self.carry_out(bench, &directory, number, cancelled)?,
            None => command::Ran {
                verdict: Verdict::Skip,
                because: "its directory is not there".to_owned(),
                output: String::new(),
            },
        };
        let run =
            BisectRun { step: number, verdict: ran.verdict, because: ran.because, ms: milliseconds(began), files_ms };
        Ok(Judged { position, run, output: ran.output })
    }

    fn carry_out(
        &self,
        bench: &Bench,
        directory: &Path,
        number: Seq,
        cancelled: &dyn Fn() -> bool,
    ) -> Result<command::Ran> {
        if let (Some(inside), Some(program)) = (&self.inside, self.request.command.first()) {
            let real = directory.join(program).canonicalize();
            let is_inside = real.is_ok_and(|real| bench.root.canonicalize().is_ok_and(|root| real.starts_with(root)));
            if !is_inside || !program.contains('/') {
                return Err((inside.refuse)(program));
            }
        }
        let ceiling = bench.root.parent().map(|parent| parent.as_os_str().to_owned()).unwrap_or_default();
        let environment = vec![
            ("PWD", directory.as_os_str().to_owned()),
            // Git must not take a repository further out for the project's.
            ("GIT_CEILING_DIRECTORIES", ceiling),
            ("BACKSIGHT_STEP", OsString::from(number.0.to_string())),
        ];
        let timeout = self.request.timeout;
        let run = Run { command: &self.request.command, directory, environment, timeout, cancelled };
        #[cfg(feature = "browser")]
        if let Some(page) = &self.page {
            return page.carry_out(self.workspace, run);
        }
        run.carry_out()
    }

    /// Where the command runs, if that is a directory in this step's files.
    fn directory(&self, bench: &Bench) -> Option<PathBuf> {
        let directory = match &self.request.directory {
            Some(below) => bench.root.join(below.as_path()),
            None => bench.root.clone(),
        };
        directory.is_dir().then_some(directory)
    }

    /// Refuses when the ends are not what they are called: then nothing that is found in between means anything.
    fn check_ends(&self, judged: &[Judged]) -> Result<()> {
        let last = self.range.steps.len() - 1;
        for Judged { position, run, output } in judged {
            let (expected, called) = if *position == 0 { (Verdict::Good, "good") } else { (Verdict::Bad, "bad") };
            if run.verdict == expected {
                continue;
            }
            let step = run.step;
            let message = match run.verdict {
                Verdict::Skip => format!("{step}, the {called} end, cannot be judged ({})", run.because),
                _ if *position == last => format!("the check passes at {step}, the bad end ({})", run.because),
                _ => format!("the check fails at {step}, the good end, too ({})", run.because),
            };
            let details = serde_json::json!({ "step": step, "because": run.because, "output": output });
            let refused = Error::new(Code::InvalidRange, message).with_details(details);
            return Err(match position {
                0 => refused
                    .then("name a step where it works", NextStep::WithGood)
                    .or("share what no snapshot holds and the check needs", NextStep::WithShare),
                _ => refused
                    .then("name a step where it fails", NextStep::WithBad)
                    .or("record what is not recorded yet", NextStep::RecordFiles),
            });
        }
        Ok(())
    }
}

fn summary(found: &Option<Box<FoundStep>>, among: &[Seq], runs: usize) -> String {
    let runs = format!("{runs} run{}", if runs == 1 { "" } else { "s" });
    match found {
        Some(found) => {
            let (snapshot, origin) = (&found.snapshot, &found.snapshot.origin);
            let by = origin.tool.as_deref().map(|tool| format!(" by {tool}")).unwrap_or_default();
            format!("{} broke it{by} ({runs})", snapshot.sequence_number)
        }
        None => {
            let (first, last) = (among.first().copied().unwrap_or(Seq(0)), among.last().copied().unwrap_or(Seq(0)));
            format!("one of {first} to {last} broke it; those before it could not be judged ({runs})")
        }
    }
}

fn milliseconds(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}
