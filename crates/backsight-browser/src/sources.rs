//! Who watches, and when nobody did. "Nothing happened" can only be said of times when somebody watched.

use std::collections::VecDeque;

use backsight_core::Timestamp;

use crate::event::Category;
use crate::report::{Coverage, Gap};

/// A page that reports by itself is taken to be there so long after it was last heard of.
pub(crate) const SILENCE: i64 = 60_000;
/// Gaps remembered.
const GAPS: usize = 100;
/// Sources that are missed at most; beyond it the earliest is given up, and stays a gap.
const MISSING: usize = 100;

/// Why an answer may be too early.
const BUSY: &str = "a page did not answer in time, it may be busy";
/// Processes that are over are remembered up to this number.
const OVER: usize = 10;

/// Something that tells what happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// As people see it: `chromium: 2 pages`.
    pub label: String,
    /// What it can see.
    pub watches: Vec<Category>,
    /// What it is.
    pub kind: SourceKind,
}

/// What a source is. Sources of different kinds are never the same, whatever they are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SourceKind {
    /// A browser that is watched over its protocol; it is there until it is gone.
    Browser,
    /// A page that reports by itself with the key for pages; it is there while it is heard.
    Page,
    /// A process, or whoever else has the server's token; it is there while it is heard.
    #[default]
    Process,
}

/// How a source is called here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SourceId(u64);

/// Who watches.
#[derive(Debug, Default)]
pub struct Sources {
    sources: Vec<(SourceId, Source, Timestamp)>,
    next: u64,
    /// Since when somebody watches without interruption.
    since: Option<Timestamp>,
    /// When somebody watched for the first time.
    first: Option<Timestamp>,
    gaps: VecDeque<Gap>,
    gaps_forgotten: bool,
    /// When and why the last source went, while there is none.
    ended: Option<Ended>,
    /// Sources that were lost while others watched, until they are back or given up.
    missing: Vec<Missing>,
    /// Since when and why pages stand still that are watched. What they would say is said when they go on, so that this is
    /// a gap only while it lasts.
    held: Vec<(Timestamp, String)>,
    /// Whether pages that are watched did not say in time that they are alive. What they say may still be on its way.
    unsure: bool,
    /// Processes that are over and not missed, and when.
    over: VecDeque<(Timestamp, String)>,
}

/// That the last source went.
#[derive(Debug)]
struct Ended {
    at: Timestamp,
    reason: String,
    /// The page that said itself that it is closed: until it is opened again, there is nothing of it to miss.
    page: Option<String>,
}

/// A source that should be there.
#[derive(Debug)]
struct Missing {
    from: Timestamp,
    source: Source,
    reason: String,
}

impl Missing {
    /// Whether a source takes its place: a browser any browser's, a page its own, a process one that runs the same, perhaps
    /// with more or fewer arguments.
    fn is_replaced_by(&self, other: &Source) -> bool {
        let (one, other_label) = (self.source.label.as_str(), other.label.as_str());
        self.source.kind == other.kind
            && match other.kind {
                SourceKind::Browser => true,
                SourceKind::Page => one == other_label,
                SourceKind::Process => begins_with(one, other_label) || begins_with(other_label, one),
            }
    }
}

/// Whether the words of a command are the first of another's.
fn begins_with(command: &str, words: &str) -> bool {
    command.strip_prefix(words).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

impl Sources {
    /// Somebody begins to watch.
    pub fn begin(&mut self, source: Source, now: Timestamp) -> SourceId {
        self.fade(now);
        if self.sources.is_empty() {
            let is_back = |ended: &Ended| ended.page.as_ref() == Some(&source.label) && source.kind == SourceKind::Page;
            if let Some(Ended { at, reason, .. }) = self.ended.take().filter(|ended| !is_back(ended)) {
                self.remember(Gap { from: at, to: Some(now), reason });
            }
            self.since = Some(now);
            self.first.get_or_insert(now);
        }
        self.find(|missing| missing.is_replaced_by(&source), now);
        self.next += 1;
        let id = SourceId(self.next);
        self.sources.push((id, source, now));
        id
    }

    /// A source is heard, and looks different now when `label` says so.
    pub fn heard(&mut self, id: SourceId, label: Option<String>, now: Timestamp) {
        if let Some((_, source, heard)) = self.sources.iter_mut().find(|(other, ..)| *other == id) {
            *heard = now.max(*heard);
            source.label = label.unwrap_or(std::mem::take(&mut source.label));
        }
    }

    /// A source goes. It is missed only if it was `lost`: a process that is over has nothing more to tell. One that was the
    /// last leaves nobody behind; a process is missed all the same when others begin to watch.
    pub fn end(&mut self, id: SourceId, lost: bool, reason: &str, now: Timestamp) {
        let Some(place) = self.sources.iter().position(|(other, ..)| *other == id) else { return };
        let (_, source, _) = self.sources.remove(place);
        let is_process = source.kind == SourceKind::Process;
        if is_process && !lost {
            self.over.push_back((now, format!("{}: {reason}", source.label)));
            if self.over.len() > OVER {
                self.over.pop_front();
            }
        }
        if self.sources.is_empty() {
            self.since = None;
            let page = (!lost && source.kind == SourceKind::Page).then(|| source.label.clone());
            self.ended = Some(Ended { at: now, reason: reason.to_owned(), page });
        }
        if lost && (is_process || !self.sources.is_empty()) {
            let reason = format!("{} is not watched any more: {reason}", source.label);
            if self.missing.len() == MISSING {
                let Missing { from, reason, .. } = self.missing.remove(0);
                self.remember(Gap { from, to: Some(now), reason });
            }
            self.missing.push(Missing { from: now, source, reason });
        }
    }

    /// Pages that are watched stand still from now on or still do, for these reasons; all others go on.
    pub fn hold(&mut self, reasons: Vec<String>, now: Timestamp) {
        let mut before = std::mem::take(&mut self.held);
        for reason in reasons {
            let known = before.iter().position(|(_, other)| *other == reason).map(|at| before.remove(at));
            self.held.push(known.unwrap_or((now, reason)));
        }
    }

    /// Whether pages did not say in time that they are alive, for the answer that is given now.
    pub fn unsure(&mut self, is_unsure: bool) {
        self.unsure = is_unsure;
    }

    /// Browsers that were lost are not waited for any more.
    pub fn give_up_browsers(&mut self, now: Timestamp) {
        self.find(|missing| missing.source.kind == SourceKind::Browser, now);
    }

    /// What was missing is back, or is not missed any more.
    fn find(&mut self, is_found: impl Fn(&Missing) -> bool, now: Timestamp) {
        let (found, missing): (Vec<Missing>, Vec<Missing>) = self.missing.drain(..).partition(is_found);
        self.missing = missing;
        for Missing { from, reason, .. } in found {
            self.remember(Gap { from, to: Some(now), reason });
        }
    }

    /// Something is known to have been lost.
    pub fn lost(&mut self, reason: String, now: Timestamp) {
        self.remember(Gap { from: now, to: Some(now), reason });
    }

    /// How many of a kind are there.
    pub fn count(&self, kind: SourceKind) -> usize {
        self.sources.iter().filter(|(_, source, _)| source.kind == kind).count()
    }

    /// Whether a source is still there.
    pub fn has(&self, id: SourceId) -> bool {
        self.sources.iter().any(|(other, ..)| *other == id)
    }

    fn remember(&mut self, gap: Gap) {
        if self.gaps.len() == GAPS {
            self.gaps.pop_front();
            self.gaps_forgotten = true;
        }
        self.gaps.push_back(gap);
    }

    /// Sources that have not been heard for long are gone since they were last heard.
    pub fn fade(&mut self, now: Timestamp) {
        let faded = |source: &Source, heard: Timestamp| {
            source.kind != SourceKind::Browser && now.0.saturating_sub(heard.0) > SILENCE
        };
        let gone: Vec<(SourceId, Timestamp)> = self
            .sources
            .iter()
            .filter(|(_, source, heard)| faded(source, *heard))
            .map(|(id, _, heard)| (*id, *heard))
            .collect();
        for (id, heard) in gone {
            self.end(id, true, "it was not heard any more", heard);
        }
    }

    /// When somebody watched for the first time.
    pub fn first(&self) -> Option<Timestamp> {
        self.first
    }

    /// When nobody watched, or something was lost, between two times.
    pub fn gaps(&self, from: Timestamp, to: Timestamp) -> Vec<Gap> {
        // The last one that went says by itself that it is missed.
        let is_missed = |at: Timestamp| self.missing.iter().any(|missing| missing.from == at);
        let last = self.ended.as_ref().filter(|ended| !is_missed(ended.at));
        let last = last.map(|ended| Gap { from: ended.at, to: None, reason: ended.reason.clone() });
        let never = self.first.is_none().then(|| Gap { from, to: None, reason: "nothing is attached".to_owned() });
        let early = self.first.filter(|first| *first > from).map(|first| Gap {
            from,
            to: Some(first),
            reason: "nothing was attached yet".to_owned(),
        });
        let forgotten = self.gaps_forgotten.then(|| self.gaps.front()).flatten().filter(|gap| gap.from > from);
        let forgotten = forgotten.map(|gap| Gap {
            from,
            to: Some(gap.from),
            reason: "earlier interruptions are not remembered".to_owned(),
        });
        let known = self.gaps.iter().filter(|gap| gap.from <= to && gap.to.is_none_or(|end| end >= from)).cloned();
        let missing = self.missing.iter();
        let missing = missing.map(|missing| Gap { from: missing.from, to: None, reason: missing.reason.clone() });
        let held = self.held.iter().map(|(from, reason)| Gap { from: *from, to: None, reason: reason.clone() });
        // Those that are known to stand still do not answer either.
        let unsure = (self.unsure && self.held.is_empty()).then(|| Gap { from: to, to: None, reason: BUSY.to_owned() });
        never
            .into_iter()
            .chain(early)
            .chain(forgotten)
            .chain(known)
            .chain(missing)
            .chain(held)
            .chain(unsure)
            .chain(last)
            .collect()
    }

    /// Processes that ended since a time and are not missed, and how.
    pub fn ended_since(&self, from: Timestamp) -> Vec<String> {
        self.over.iter().filter(|(at, _)| *at >= from).map(|(_, how)| how.clone()).collect()
    }

    /// Who watches now.
    pub fn coverage(&self, backfilled: u64) -> Coverage {
        let watched = |category: &Category| self.sources.iter().any(|(_, source, _)| source.watches.contains(category));
        let attached = !self.sources.is_empty();
        Coverage {
            attached,
            watching: self.sources.iter().map(|(_, source, _)| source.label.clone()).collect(),
            not_watched: Category::ALL.into_iter().filter(|category| attached && !watched(category)).collect(),
            since: self.since,
            backfilled,
            seen_twice: 0,
            ended: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Source {
        Source { label: "page".to_owned(), watches: Category::ALL.to_vec(), kind: SourceKind::Browser }
    }

    #[test]
    fn times_when_nobody_watched_are_gaps() {
        let mut sources = Sources::default();
        assert_eq!(sources.gaps(Timestamp(0), Timestamp(5))[0].reason, "nothing is attached");
        let first = sources.begin(page(), Timestamp(10));
        assert!(sources.gaps(Timestamp(10), Timestamp(20)).is_empty());
        sources.end(first, true, "the browser was closed", Timestamp(30));
        assert_eq!(sources.gaps(Timestamp(10), Timestamp(40))[0].to, None);
        sources.begin(page(), Timestamp(50));
        let closed = Gap { from: Timestamp(30), to: Some(Timestamp(50)), reason: "the browser was closed".to_owned() };
        assert_eq!(sources.gaps(Timestamp(10), Timestamp(60)), [closed]);
        assert!(sources.gaps(Timestamp(51), Timestamp(60)).is_empty());
    }

    #[test]
    fn a_source_that_is_lost_while_others_watch_is_missed() {
        let mut sources = Sources::default();
        let (browser, process) = (sources.begin(page(), Timestamp(0)), sources.begin(page(), Timestamp(0)));
        sources.end(browser, true, "the browser was closed", Timestamp(10));
        assert_eq!(sources.gaps(Timestamp(5), Timestamp(20)).len(), 1);
        // It is missed until another one is there, and by whoever asks about that time.
        assert_eq!(sources.gaps(Timestamp(11), Timestamp(20))[0].to, None);
        let other = sources.begin(page(), Timestamp(12));
        assert_eq!(sources.gaps(Timestamp(11), Timestamp(20))[0].to, Some(Timestamp(12)));
        sources.end(process, false, "it exited with 0", Timestamp(13));
        assert!(sources.gaps(Timestamp(13), Timestamp(20)).is_empty() && sources.has(other));
        // One that is let go on purpose is not.
        let process = sources.begin(Source { kind: SourceKind::Process, ..page() }, Timestamp(14));
        sources.end(other, true, "the browser was closed", Timestamp(15));
        sources.give_up_browsers(Timestamp(16));
        assert!(sources.gaps(Timestamp(17), Timestamp(20)).is_empty() && sources.has(process));
    }

    #[test]
    fn a_page_that_stands_still_is_a_gap_while_it_does() {
        let mut sources = Sources::default();
        sources.begin(page(), Timestamp(0));
        sources.hold(vec!["dialog".to_owned()], Timestamp(10));
        sources.hold(vec!["loop".to_owned(), "dialog".to_owned()], Timestamp(20));
        let gaps = |sources: &Sources| -> Vec<(i64, String)> {
            let gaps = sources.gaps(Timestamp(30), Timestamp(40)).into_iter();
            gaps.map(|gap| (gap.from.0, gap.reason)).collect()
        };
        assert_eq!(gaps(&sources), [(20, "loop".to_owned()), (10, "dialog".to_owned())]);
        sources.hold(Vec::new(), Timestamp(35));
        assert_eq!(gaps(&sources), []);
    }

    fn process(label: &str) -> Source {
        Source { label: label.to_owned(), watches: vec![Category::Console], kind: SourceKind::Process }
    }

    #[test]
    fn a_process_that_is_lost_is_missed_until_it_runs_again() {
        for watched_by_others in [true, false] {
            let mut sources = Sources::default();
            let dev = sources.begin(process("terminal: npm run dev"), Timestamp(0));
            if watched_by_others {
                sources.begin(page(), Timestamp(0));
            }
            sources.end(dev, true, "the command ended with status 1", Timestamp(10));
            let gaps = sources.gaps(Timestamp(20), Timestamp(30));
            let reason = "terminal: npm run dev is not watched any more: the command ended with status 1";
            assert_eq!(gaps.iter().map(|gap| gap.reason.as_str()).collect::<Vec<_>>(), [reason]);
            // Neither a browser nor another command takes its place.
            sources.begin(page(), Timestamp(31));
            sources.begin(process("terminal: npm run devtools"), Timestamp(32));
            assert_eq!(sources.gaps(Timestamp(33), Timestamp(40)).len(), 1);
            sources.begin(process("terminal: npm run dev -- --port 3001"), Timestamp(41));
            assert_eq!(sources.gaps(Timestamp(42), Timestamp(50)), []);
        }
    }

    #[test]
    fn a_process_that_is_over_is_told_without_a_gap() {
        let mut sources = Sources::default();
        sources.begin(page(), Timestamp(0));
        let build = sources.begin(process("terminal: npm run build"), Timestamp(0));
        sources.end(build, false, "the command ended with status 0", Timestamp(10));
        assert!(sources.gaps(Timestamp(5), Timestamp(20)).is_empty());
        assert_eq!(sources.ended_since(Timestamp(5)), ["terminal: npm run build: the command ended with status 0"]);
        assert!(sources.ended_since(Timestamp(11)).is_empty());
    }

    #[test]
    fn a_page_that_says_that_it_is_closed_is_gone_and_not_missed_when_it_is_back() {
        let mut sources = Sources::default();
        let own = || Source { kind: SourceKind::Page, ..page() };
        let id = sources.begin(own(), Timestamp(0));
        sources.end(id, false, "the page was closed", Timestamp(10));
        assert!(!sources.coverage(0).attached);
        assert_eq!(sources.gaps(Timestamp(0), Timestamp(20))[0].reason, "the page was closed");
        let id = sources.begin(own(), Timestamp(30));
        assert!(sources.coverage(0).attached && sources.gaps(Timestamp(0), Timestamp(40)).is_empty());
        // Another one sees something else.
        sources.end(id, false, "the page was closed", Timestamp(50));
        sources.begin(Source { label: "another".to_owned(), ..own() }, Timestamp(60));
        assert_eq!(sources.gaps(Timestamp(0), Timestamp(70)).len(), 1);
    }

    #[test]
    fn a_page_that_falls_silent_is_gone_since_it_was_last_heard() {
        let mut sources = Sources::default();
        let id = sources.begin(Source { kind: SourceKind::Process, ..page() }, Timestamp(0));
        sources.heard(id, None, Timestamp(1000));
        sources.fade(Timestamp(61_000));
        assert!(sources.coverage(0).attached);
        sources.fade(Timestamp(61_001));
        assert!(!sources.coverage(0).attached);
        assert_eq!(sources.gaps(Timestamp(0), Timestamp(70_000))[0].from, Timestamp(1000));
    }
}
