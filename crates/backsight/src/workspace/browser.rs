//! The browser lane of a workspace: one for all handles, made at its first use with what earlier processes kept. What is
//! given a name (checkpoints, noise rules, baselines) is kept in the store; what happened in the app is not.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use backsight_browser::baseline::{Baseline, BaselineEntry, Comparison};
use backsight_browser::cdp::{Attach, Launch, Place};
use backsight_browser::entry::{Entry, LogAsk, LogPage};
use backsight_browser::har::Har;
use backsight_browser::noise::{NewRule, Rule, Rules};
use backsight_browser::report::{Changes, CheckpointEntry};
use backsight_browser::{Ask, Browser, Health, Kept, Limits, Options, PageKey};
use backsight_core::{Admission, Code, Error, Operation, Result, Seq};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::again::Expected;
use super::{Opened, Workspace};
use crate::random;
use crate::report::{
    BaselineList, BrowserStatus, CheckpointList, CheckpointMade, Deleted, RuleEntry, RuleList, RulesAdded, Strategy,
};
use crate::request::{AttachBrowser, Unknown};
use crate::timeline::{Item, KeptChange, KeptKind};

/// The name under which the key is kept that lets a page report.
const INGEST_KEY: &str = "ingest_key";

/// Where the lane is, once it is made.
#[derive(Default)]
pub(super) struct Slot {
    lane: OnceLock<Lane>,
    /// Held while it is made: only one may restore.
    making: Mutex<()>,
    /// The key for pages, once it is needed.
    key: OnceLock<PageKey>,
    /// Whether a browser of an earlier server is about to be watched again.
    pub(super) expected: Expected,
}

/// What whoever asks for a browser may have of one.
#[derive(Default)]
pub(super) struct Bounds {
    /// Whom an address may lead to.
    pub admission: Admission,
    /// What a new one is started with beside the usual.
    pub arguments: Vec<String>,
}

struct Lane {
    browser: Arc<Browser>,
    damaged: Mutex<Vec<Damaged>>,
}

/// Something that is kept and cannot be used.
struct Damaged {
    kind: KeptKind,
    name: String,
    problem: String,
}

impl Lane {
    fn damaged(&self) -> MutexGuard<'_, Vec<Damaged>> {
        self.damaged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn warnings(&self, kind: KeptKind) -> Vec<String> {
        self.damaged().iter().filter(|damaged| damaged.kind == kind).map(|damaged| damaged.problem.clone()).collect()
    }
}

impl Workspace {
    /// The browser lane: to tell it what happened, and to ask what keeps nothing.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// use backsight::browser::{Ask, report::Severity};
    ///
    /// let changes = workspace.browser_changes("me", &Ask::default())?;
    /// assert_eq!(changes.severity, Severity::Unknown, "nobody watches");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn browser(&self) -> Result<Arc<Browser>> {
        Ok(self.lane()?.browser.clone())
    }

    /// The same, unless nobody used it yet.
    pub fn browser_if_used(&self) -> Option<Arc<Browser>> {
        self.shared.browser.lane.get().map(|lane| lane.browser.clone())
    }

    fn lane(&self) -> Result<&Lane> {
        let slot = &self.shared.browser;
        let _making = match slot.lane.get() {
            Some(lane) => return Ok(lane),
            None => slot.making.lock().unwrap_or_else(PoisonError::into_inner),
        };
        if let Some(lane) = slot.lane.get() {
            return Ok(lane);
        }
        // Looking makes no store: what is to be kept is kept when there is something.
        let lane = match self.store_path()? {
            Some(_) => self.restored(self.opened()?)?,
            None => self.new_lane()?,
        };
        Ok(slot.lane.get_or_init(|| lane))
    }

    fn new_lane(&self) -> Result<Lane> {
        Ok(Lane { browser: self.new_browser()?, damaged: Mutex::default() })
    }

    /// A lane that is not this workspace's yet.
    pub(super) fn new_browser(&self) -> Result<Arc<Browser>> {
        let options = Options { clock: self.settings.clock.clone(), salt: self.salt()?, limits: Limits::default() };
        Ok(Arc::new(Browser::new(options)))
    }

    /// A lane with what earlier processes kept.
    fn restored(&self, opened: &Opened) -> Result<Lane> {
        let lane = self.new_lane()?;
        let mut damaged = Vec::new();
        let kept = Kept {
            checkpoints: readable(opened, KeptKind::Checkpoint, &mut damaged)?,
            rules: readable(opened, KeptKind::NoiseRule, &mut damaged)?,
            baselines: readable(opened, KeptKind::Baseline, &mut damaged)?,
        };
        // What the lane itself refuses are rules: of the others everything that can be read can be used.
        let refused = lane.browser.restore(kept).into_iter();
        damaged.extend(refused.map(|problem| Damaged { kind: KeptKind::NoiseRule, name: String::new(), problem }));
        *lane.damaged() = damaged;
        Ok(lane)
    }

    fn keep(&self, kind: KeptKind, items: &[Item], forget: &[&str]) -> Result<()> {
        let (opened, lane, now) = (self.made()?, self.lane()?, self.settings.now());
        self.keep_salt(opened)?;
        opened.timeline.keep(kind, now, items, forget)?;
        let named = |name: &String| items.iter().any(|item| item.name == *name) || forget.contains(&name.as_str());
        lane.damaged().retain(|damaged| damaged.kind != kind || !named(&damaged.name));
        Ok(())
    }

    /// Forgets what is kept under a name and could not be read; false when there is no such thing.
    fn forget_damaged(&self, kind: KeptKind, name: &str) -> Result<bool> {
        let is_it = |damaged: &Damaged| damaged.kind == kind && damaged.name == name;
        let found = self.lane()?.damaged().iter().any(is_it);
        if found {
            self.keep(kind, &[], &[name])?;
        }
        Ok(found)
    }

    /// What happened in the app, for a client. A wait that is taken back leaves the client's place where it was.
    pub fn browser_changes(&self, client: &str, ask: &Ask) -> Result<Changes> {
        self.shared.browser.expected.wait();
        self.browser()?.changes(client, ask, &*self.settings.cancelled)
    }

    /// Whether the app is well since a checkpoint; without one since `session_start` or the beginning.
    pub fn browser_health(&self, client: &str, checkpoint: Option<&str>) -> Result<Health> {
        self.shared.browser.expected.wait();
        self.browser()?.health(client, checkpoint)
    }

    /// One thing that happened in the app, in full, by the id that answers and the log give it.
    pub fn browser_entry(&self, id: &str) -> Result<Entry> {
        self.browser()?.entry(id)
    }

    /// What happened in the app, one by one, newest first.
    pub fn browser_log(&self, client: &str, ask: &LogAsk) -> Result<LogPage> {
        self.browser()?.log(client, ask)
    }

    /// The requests of the app that are kept, as an HTTP Archive.
    pub fn browser_har(&self) -> Result<Har> {
        Ok(self.browser()?.har())
    }

    /// Who watches the app.
    pub fn browser_status(&self) -> Result<BrowserStatus> {
        self.shared.browser.expected.wait();
        let browser = self.browser()?;
        Ok(BrowserStatus {
            browser: browser.watching(),
            coverage: browser.coverage(),
            checkpoints: browser.checkpoints().len(),
            baselines: browser.baselines().len(),
        })
    }

    /// Begins to watch a browser. One that is watched already is let go first, by `detach_browser`.
    pub fn attach_browser(&self, request: &AttachBrowser) -> Result<BrowserStatus> {
        self.attach_browser_within(request, Bounds::default())
    }

    /// The same within bounds.
    pub(super) fn attach_browser_within(&self, request: &AttachBrowser, bounds: Bounds) -> Result<BrowserStatus> {
        let attach = Attach {
            origins: request.origins.clone(),
            all_pages: request.all_pages,
            admission: bounds.admission,
            ..self.attach_to(self.place_of(request, bounds.arguments)?)
        };
        self.shared.browser.expected.wait();
        let browser = self.browser()?;
        let watching = browser.attach(attach)?;
        if let Err(error) = self.keep_attachment(Some(&watching), &request.origins, request.all_pages) {
            // It is watched all the same.
            browser.lost(format!("the next server cannot watch this browser again: {}", error.message()));
        }
        if let Some(url) = &request.open
            && let Err(error) = browser.navigate(url)
        {
            // Nobody asked for a browser without the page.
            browser.detach();
            return Err(error);
        }
        self.browser_status()
    }

    /// The usual way of watching a browser.
    pub(super) fn attach_to(&self, place: Place) -> Attach {
        Attach::new(place, self.settings.clock.clone())
    }

    fn place_of(&self, request: &AttachBrowser, arguments: Vec<String>) -> Result<Place> {
        request.check()?;
        // Where this process happens to run must not decide which file is meant.
        let absolute = |path: &Option<PathBuf>| path.as_ref().map(|path| self.root.join(path));
        Ok(match (&request.url, request.port, absolute(&request.profile)) {
            (.., profile) if request.launch => Place::Launch(Launch {
                program: absolute(&request.program),
                search: self.search_path(),
                profile,
                headless: request.headless,
                url: None,
                arguments,
            }),
            (Some(url), ..) => Place::Url(url.clone()),
            (_, Some(port), _) => Place::Port(port),
            (.., Some(profile)) => Place::Profile(profile),
            _ => Place::Find { home: self.settings.home.clone() },
        })
    }

    /// Stops watching the browser; one that was started here ends.
    pub fn detach_browser(&self) -> Result<BrowserStatus> {
        self.browser()?.detach();
        self.forget_attachment()?;
        self.browser_status()
    }

    /// Gives this moment of the app a name, which may stand for a baseline.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// use backsight::Workspace;
    ///
    /// Workspace::open(directory.path())?.create_checkpoint("session_start", None)?;
    /// let later = Workspace::open(directory.path())?;
    /// assert_eq!(later.checkpoints()?.checkpoints[0].name, "session_start");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn create_checkpoint(&self, name: &str, baseline: Option<&str>) -> Result<CheckpointMade> {
        let made = self.browser()?.create_checkpoint(name, baseline)?;
        let evicted: Vec<&str> = made.evicted.iter().map(String::as_str).collect();
        self.keep(KeptKind::Checkpoint, &[item(&made.checkpoint.name, &made.checkpoint)?], &evicted)?;
        let files = self.keep_row_of(&made.checkpoint.name, &evicted)?;
        let checkpoint = made.checkpoint;
        let checkpoint = CheckpointEntry {
            name: checkpoint.name,
            created: checkpoint.created,
            severity: checkpoint.severity,
            summary: checkpoint.summary,
            page: checkpoint.page,
            baseline: checkpoint.baseline,
            earlier_run: false,
        };
        Ok(CheckpointMade { checkpoint, files, evicted: made.evicted, advice: made.advice })
    }

    /// Notes up to which row a checkpoint's files are, after what is on disk was recorded; the step that holds them. What
    /// cannot be recorded just now leaves the checkpoint as it is for the app.
    fn keep_row_of(&self, name: &str, evicted: &[&str]) -> Result<Option<Seq>> {
        let opened = self.opened()?;
        if opened.timeline.latest()?.is_none() {
            return Ok(None);
        }
        let all = Unknown { strategy: Some(Strategy::AutoIntegrate), force: false };
        let recorded = self.handle_unknown_changes(&[], &all).is_ok_and(|handled| handled.success);
        let row = Item { name: name.to_owned(), body: self.newest_row()?.0.to_string() };
        self.keep(KeptKind::CheckpointRow, &[row], evicted)?;
        let latest = opened.timeline.latest()?.map(|step| step.snapshot.sequence_number);
        Ok(latest.filter(|_| recorded))
    }

    /// The named checkpoints, oldest first.
    pub fn checkpoints(&self) -> Result<CheckpointList> {
        let lane = self.lane()?;
        Ok(CheckpointList { checkpoints: lane.browser.checkpoints(), warnings: lane.warnings(KeptKind::Checkpoint) })
    }

    /// Forgets a named checkpoint, also one that cannot be read any more.
    pub fn delete_checkpoint(&self, name: &str) -> Result<Deleted> {
        match self.browser()?.delete_checkpoint(name) {
            Ok(_) => self.keep(KeptKind::Checkpoint, &[], &[name])?,
            Err(error) if self.forget_damaged(KeptKind::Checkpoint, name)? => drop(error),
            Err(error) => return Err(error),
        }
        self.keep(KeptKind::CheckpointRow, &[], &[name])?;
        Ok(Deleted { deleted: name.to_owned() })
    }

    /// The noise rules, with how much each kept out.
    pub fn noise_rules(&self) -> Result<RuleList> {
        let lane = self.lane()?;
        let suppressed = lane.browser.suppressed_by_rule();
        let entry = |rule: Rule| {
            let suppressed = suppressed.get(&rule.id).copied().unwrap_or(0);
            RuleEntry { rule, suppressed }
        };
        let rules = lane.browser.rules().into_iter().map(entry).collect();
        let suggestions = lane.browser.suggested_rules();
        Ok(RuleList { rules, suggestions, warnings: lane.warnings(KeptKind::NoiseRule) })
    }

    /// Adds noise rules; all or none.
    pub fn add_noise_rules(&self, rules: Vec<NewRule>) -> Result<RulesAdded> {
        let browser = self.browser()?;
        let added = self.change_rules(|| {
            let added = browser.add_rules(rules)?;
            let keep = added.iter().map(|rule| item(&rule.id, rule)).collect::<Result<Vec<Item>>>()?;
            Ok((added, KeptChange { keep, forget: Vec::new() }))
        })?;
        Ok(RulesAdded { added })
    }

    /// Removes a noise rule that was added, also one that cannot be read any more.
    pub fn remove_noise_rule(&self, id: &str) -> Result<Deleted> {
        let browser = self.browser()?;
        let removed = self.change_rules(|| {
            browser.change_rules(|rules| rules.remove(id))?;
            Ok(((), KeptChange { keep: Vec::new(), forget: vec![id.to_owned()] }))
        });
        match removed {
            Ok(()) => {}
            Err(error) if self.forget_damaged(KeptKind::NoiseRule, id)? => drop(error),
            Err(error) => return Err(error),
        }
        Ok(Deleted { deleted: id.to_owned() })
    }

    /// Switches a noise rule on or off.
    pub fn enable_noise_rule(&self, id: &str, enabled: bool) -> Result<Rule> {
        let switch = |rules: &mut Rules| {
            let rule = rules.set_enabled(id, enabled)?;
            let is_kept = rules.to_store().iter().any(|kept| kept.id == rule.id);
            Ok((rule, is_kept))
        };
        let browser = self.browser()?;
        self.change_rules(|| {
            let (rule, is_kept) = browser.change_rules(switch)?;
            let change = match is_kept {
                true => KeptChange { keep: vec![item(id, &rule)?], forget: Vec::new() },
                // One that comes with Backsight and is as it came.
                false => KeptChange { keep: Vec::new(), forget: vec![id.to_owned()] },
            };
            Ok((rule, change))
        })
    }

    /// Changes the noise rules by those that are kept at that moment: another process may have added some with the numbers
    /// that are next here.
    fn change_rules<T>(&self, change: impl FnOnce() -> Result<(T, KeptChange)>) -> Result<T> {
        let (opened, lane, now) = (self.made()?, self.lane()?, self.settings.now());
        self.keep_salt(opened)?;
        let (answer, names) = opened.timeline.keep_by(KeptKind::NoiseRule, now, |kept| {
            let rules = kept.iter().filter_map(|item| serde_json::from_str(&item.body).ok()).collect();
            lane.browser.change_rules(|known| Ok(known.restore(rules)))?;
            let (answer, change) = change()?;
            let names: Vec<String> = change.keep.iter().map(|item| &item.name).chain(&change.forget).cloned().collect();
            Ok(((answer, names), change))
        })?;
        lane.damaged().retain(|damaged| damaged.kind != KeptKind::NoiseRule || !names.contains(&damaged.name));
        Ok(answer)
    }

    /// Saves how the app behaves now.
    pub fn save_baseline(&self, name: &str) -> Result<BaselineEntry> {
        let baseline: Baseline = self.browser()?.save_baseline(name)?;
        self.keep(KeptKind::Baseline, &[item(name, &baseline)?], &[])?;
        Ok(baseline.entry())
    }

    /// How the app differs from a baseline.
    pub fn compare_baseline(&self, name: &str) -> Result<Comparison> {
        self.browser()?.compare_baseline(name)
    }

    /// The baselines.
    pub fn baselines(&self) -> Result<BaselineList> {
        let lane = self.lane()?;
        Ok(BaselineList { baselines: lane.browser.baselines(), warnings: lane.warnings(KeptKind::Baseline) })
    }

    /// Forgets a baseline, also one that cannot be read any more.
    pub fn delete_baseline(&self, name: &str) -> Result<Deleted> {
        match self.browser()?.delete_baseline(name) {
            Ok(_) => self.keep(KeptKind::Baseline, &[], &[name])?,
            Err(error) if self.forget_damaged(KeptKind::Baseline, name)? => drop(error),
            Err(error) => return Err(error),
        }
        Ok(Deleted { deleted: name.to_owned() })
    }

    /// The key with which a page may report what happens in it: the same for a workspace until it is renewed, since it
    /// stands in the sources of pages. What is kept and is no key is replaced by one.
    pub fn page_key(&self) -> Result<PageKey> {
        let slot = &self.shared.browser;
        if let Some(key) = slot.key.get() {
            return Ok(key.clone());
        }
        let new = Item { name: INGEST_KEY.to_owned(), body: new_key()? };
        let kept = self.made()?.timeline.keep_first(KeptKind::Secret, self.settings.now(), &new)?;
        let key = slot.key.get_or_init(|| PageKey::new(kept)).clone();
        if !PageKey::is_key(&key.text()) {
            self.renew_page_key()?;
        }
        Ok(key)
    }

    /// Makes a new key for pages, which it gives. The old one opens nothing any more, here at once and in every later run.
    pub fn renew_page_key(&self) -> Result<String> {
        let new = new_key()?;
        let item = Item { name: INGEST_KEY.to_owned(), body: new.clone() };
        self.made()?.timeline.keep(KeptKind::Secret, self.settings.now(), &[item], &[])?;
        self.shared.browser.key.get_or_init(PageKey::default).replace(new.clone());
        Ok(new)
    }
}

fn item(name: &str, value: &impl Serialize) -> Result<Item> {
    let body = serde_json::to_string(value)
        .map_err(|error| Error::new(Code::Io, format!("`{name}` cannot be written: {error}")))?;
    Ok(Item { name: name.to_owned(), body })
}

/// What is kept of a kind and can be read; the rest is told and stays where it is.
fn readable<T: DeserializeOwned>(opened: &Opened, kind: KeptKind, damaged: &mut Vec<Damaged>) -> Result<Vec<T>> {
    let mut values = Vec::new();
    for Item { name, body } in opened.timeline.kept(kind)? {
        match serde_json::from_str(&body) {
            Ok(value) => values.push(value),
            Err(error) => {
                let shown = backsight_core::quote(name.as_bytes());
                let problem = format!("`{shown}` is kept and cannot be read: {error}; delete it by name");
                damaged.push(Damaged { kind, name, problem });
            }
        }
    }
    Ok(values)
}

fn new_key() -> Result<String> {
    Ok(format!("{:016x}{:016x}", random::number()?, random::number()?))
}
