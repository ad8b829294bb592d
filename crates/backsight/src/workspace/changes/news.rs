//! What a client is told without asking: one line about what is new since it was last told, or nothing.

use backsight_browser::Ask;
use backsight_browser::Filter;
use backsight_browser::report::Changes;
use backsight_core::{NextStep, RelPath, Result, Seq, Voice, one_line};

use super::{DiskLook, DiskNews, OnDisk, Opened, Place, Window, Workspace, forget_oldest};
use crate::report::{Because, Certainty, EvidenceKind};
use crate::timeline::Step;

/// Steps of others that are looked at.
const STEPS: usize = 200;
/// Paths that are named.
const PATHS: usize = 3;
/// Characters of an error that are shown: with all else it stays below 120 tokens.
const MESSAGE: usize = 120;
/// How large the answer is that the line is made of.
const ROOM: usize = 400;

impl Workspace {
    /// What is new since `client`, which works in a session, was last told: files that it touched and others changed, and
    /// errors with the step that explains them. The first time there is nothing to tell: it begins to be told from then on.
    pub fn news(&self, client: &str, session: &str, voice: &impl Voice) -> Result<Option<String>> {
        if self.store_path()?.is_none() {
            return Ok(None);
        }
        let opened = self.opened()?;
        let newest = opened.timeline.latest_seq()?;
        let key = format!("news of {client}");
        let since = self.move_on(&key, newest);
        let browser = self.browser_if_used().filter(|browser| browser.coverage().attached);
        let Some(since) = since else {
            // Errors from before are no news either.
            if browser.is_some() {
                self.browser_changes(&key, &Ask::default())?;
            }
            return Ok(None);
        };
        let files = self.changed_by_others(opened, since, newest, session)?;
        let error = match browser.is_some_and(|browser| browser.has_news(&key)) {
            true => self.new_error(opened, &key, false)?,
            false => None,
        };
        let error = error.map(|error| with_way(&error, voice));
        let told: Vec<String> = files.into_iter().chain(error).collect();
        Ok((!told.is_empty()).then(|| told.join("; ")))
    }

    /// What broke in the app since a client last looked, in one line; its place stays where it is.
    pub fn app_news(&self, client: &str, voice: &impl Voice) -> Result<Option<String>> {
        if self.store_path()?.is_none() {
            return Ok(None);
        }
        Ok(self.new_error(self.opened()?, client, true)?.map(|error| with_way(&error, voice)))
    }

    /// Where a client was last told, which is now.
    fn move_on(&self, key: &str, newest: Seq) -> Option<Seq> {
        let mut clients = self.places();
        let place = Place { seq: newest, previous: None, on_disk: OnDisk::new(), at: self.settings.now() };
        let last = clients.insert(key.to_owned(), place);
        forget_oldest(&mut clients);
        last.map(|last| last.seq)
    }

    /// `session bob changed src/a.js (#12), which you changed`.
    fn changed_by_others(&self, opened: &Opened, since: Seq, until: Seq, session: &str) -> Result<Option<String>> {
        if since == until {
            return Ok(None);
        }
        let (_, steps) = opened.timeline.newest_steps(since, until, STEPS)?;
        let of_others = steps.iter().filter(|step| step.snapshot.origin.session.as_deref() != Some(session));
        let mut found: Vec<(RelPath, &Step)> = Vec::new();
        for step in of_others {
            let seq = step.snapshot.sequence_number;
            for path in opened.timeline.touched_by(seq)?.into_iter().map(|file| file.path) {
                if opened.timeline.was_touched_by(&path, session, seq)? {
                    found.retain(|(known, _)| *known != path);
                    found.push((path, step));
                }
            }
        }
        let Some((_, last)) = found.last() else { return Ok(None) };
        let by = match (&last.snapshot.origin.session, &last.snapshot.origin.tool) {
            (Some(session), _) => {
                format!("session {}", self.short_id(opened, crate::timeline::OriginColumn::Session, session)?)
            }
            (None, Some(tool)) if tool != "external" => tool.clone(),
            _ => "the user or another program".to_owned(),
        };
        let named: Vec<String> = found
            .iter()
            .rev()
            .take(PATHS)
            .map(|(path, step)| format!("{path} ({})", step.snapshot.sequence_number))
            .collect();
        let more = if found.len() > PATHS { format!(" and {} more", found.len() - PATHS) } else { String::new() };
        let who = if found.iter().any(|(_, step)| step.snapshot.origin.session != last.snapshot.origin.session) {
            "others".to_owned()
        } else {
            by
        };
        Ok(Some(format!("{who} changed {}{more}, which you changed before", named.join(", "))))
    }

    /// `new error in the app: TypeError ... @ src/Cart.jsx:19, likely because of #12 (Edit)`.
    fn new_error(&self, opened: &Opened, key: &str, peek: bool) -> Result<Option<String>> {
        let ask = Ask { severity: Filter::ErrorsOnly, max_tokens: Some(ROOM), peek, ..Ask::default() };
        let app = self.browser_changes(key, &ask)?;
        let (since, until) = (opened.timeline.latest_before(app.from)?, opened.timeline.latest_seq()?);
        let Some((what, count)) = worst(&app) else { return Ok(None) };
        let (disk, news) = (DiskLook::default(), DiskNews::default());
        let window = Window { since, until, disk, news, is_compared: false };
        let troubles = self.troubles(&app)?;
        let because = troubles.first().map(|trouble| self.because(opened, trouble, &window)).transpose()?;
        let more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
        let suspect = because.as_ref().map(suspected).unwrap_or_default();
        let what = one_line(&what).chars().take(MESSAGE).collect::<String>();
        Ok(Some(format!("new error in the app: {what}{suspect}{more}")))
    }
}

/// An error with the way to see it in full.
fn with_way(error: &str, voice: &impl Voice) -> String {
    format!("{error}; see {}", voice.name(&NextStep::SeeAppChanges).words)
}

/// The first of what broke, and how much did.
fn worst(app: &Changes) -> Option<(String, usize)> {
    let errors = app.console.iter().flat_map(|console| &console.errors);
    let said = errors.map(|entry| match entry.source.is_empty() {
        true => entry.message.clone(),
        false => format!("{} @ {}", entry.message, entry.source),
    });
    let failures = app.network.iter().flat_map(|network| &network.failures);
    let failed = failures.map(|entry| format!("{} {} {}", entry.status, entry.method, entry.path));
    let sockets = app.websocket.iter().flat_map(|sockets| &sockets.errors);
    let broken = sockets.map(|entry| format!("{}: {}", entry.url, entry.message));
    let all: Vec<String> = said.chain(failed).chain(broken).collect();
    all.first().cloned().map(|first| (first, all.len()))
}

/// `, likely because of #12 (Edit)`; nothing when only the time speaks for it.
fn suspected(because: &Because) -> String {
    let word = match because.certainty {
        Certainty::Likely => "likely",
        Certainty::Possible => "possibly",
        Certainty::Guess | Certainty::Unexplained => return String::new(),
    };
    let Some(step) = &because.step else { return String::new() };
    let by = because.by.as_deref().map(|tool| format!(" ({tool})")).unwrap_or_default();
    let at = because.evidence.iter().find(|evidence| evidence.kind != EvidenceKind::Time);
    let at = at.map(|evidence| format!(": {}", evidence.at)).unwrap_or_default();
    format!(", {word} because of {step}{by}{at}")
}
