//! Recording around a message: `before` keeps what is there already apart, `after` makes what changed since the
//! message's step. Both may be repeated; one without the other has a clear answer.

use backsight_core::{Code, Error, NextStep, Result, quote};

use super::{Story, is_of, spelling};
use crate::convert::path_changes;
use crate::names;
use crate::report::{Call, Kind, Origin, Phase, SessionTracked, Snapshot, Strategy, Tracked};
use crate::request;
use crate::timeline::SeenMessage;
use crate::workspace::track::Recording;
use crate::workspace::writing::Writing;
use crate::workspace::{Opened, Workspace};

impl Workspace {
    /// Records what a message of a session does: once before its work and once after it, or once when it is done.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let root = directory.path();
    /// # let workspace = backsight::Workspace::open(root)?;
    /// use backsight::{report::Phase, request::SessionTrack};
    ///
    /// workspace.start_session(&backsight::request::NewSession { id: Some("s1".to_owned()), title: None })?;
    /// std::fs::write(root.join("notes.txt"), "by hand\n")?;
    /// let mut message =
    ///     SessionTrack { session: "s1".to_owned(), message: Some("m1".to_owned()), ..Default::default() };
    /// message.phase = Phase::Before;
    /// let before = workspace.track_session(&message)?;
    /// std::fs::write(root.join("a.txt"), "by the agent\n")?;
    /// message.phase = Phase::After;
    /// let after = workspace.track_session(&message)?;
    /// assert_eq!(after.before_hash, before.before_hash);
    /// assert_eq!(after.changes.len(), 1, "notes.txt is not the message's");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn track_session(&self, request: &request::SessionTrack) -> Result<SessionTracked> {
        check(request)?;
        let session = self.find_session(&request.session)?.1.id;
        let request = &request::SessionTrack { session, ..request.clone() };
        let writing = self.writing()?;
        let opened = writing.opened;
        let story = self.existing_story(opened, &request.session)?;
        match request.phase {
            Phase::Before => writing.track_before(&story, request),
            Phase::After => writing.track_after(&story, request),
            Phase::None => writing.track_at_once(&story, request),
        }
    }

    /// `after` without an open call: a repetition, or a `before` is missing.
    fn ended(&self, opened: &Opened, story: &Story, request: &request::SessionTrack) -> Result<SessionTracked> {
        let Some(seen) = seen(story, request).filter(|seen| seen.finished.is_some()) else {
            return Err(no_before(request));
        };
        let step = match seen.step {
            Some(seq) => opened.timeline.by_seq(seq)?,
            None => None,
        };
        let mut answer = SessionTracked {
            repeated: true,
            before_hash: seen.before,
            after_hash: seen.after,
            changed: step.is_some(),
            ..empty(request)
        };
        let at = step.as_ref().map_or_else(String::new, |step| format!(" as {}", step.snapshot.sequence_number));
        answer.warnings.push(format!(
            "it ended already{at}: what changed since is not recorded as its work; begin again with `before`"
        ));
        if let Some(step) = step {
            if step.snapshot.expired_at.is_none()
                && let Some(before) = step.before()
            {
                let changes = opened.files.compare(&before, &step.tree)?;
                answer.changes = path_changes(&changes, &opened.renames(&changes, None));
            }
            answer.step = Some(step.snapshot);
        }
        Ok(answer)
    }

    /// What a step of a session closes, in words; nothing when the session is not reverted.
    pub(in crate::workspace) fn closing(&self, opened: &Opened, snapshot: &Snapshot) -> Result<Option<String>> {
        let Some(session) = snapshot.origin.session.as_deref() else { return Ok(None) };
        if snapshot.kind != Kind::Track || !opened.timeline.has_session_reverts(session)? {
            return Ok(None);
        }
        let outlines = opened.timeline.outlines()?;
        let before: Vec<_> = outlines.into_iter().filter(|outline| outline.seq < snapshot.sequence_number).collect();
        let story = self.story_until(opened, session, &before, snapshot.sequence_number)?;
        Ok(story.session.chain().last().map(|revert| {
            format!(
                "this step closes the way back from the session's revert {}: it can no longer be unreverted",
                revert.seq
            )
        }))
    }
}

impl Writing<'_> {
    fn track_before(&self, story: &Story, request: &request::SessionTrack) -> Result<SessionTracked> {
        let mut answer = empty(request);
        if let Some(call) = open_call(story, request) {
            answer.repeated = true;
            answer.before_hash = seen(story, request).and_then(|seen| seen.before);
            answer.warnings.push(format!("it began already, at {}; nothing was recorded now", call.since));
            answer.call = Some(call.clone());
            return Ok(answer);
        }
        // Others' changes are recorded first, so that the tree before the message is one that can be named again.
        let configured = self.config()?.snapshots.unknown_change_strategy;
        let strategy = match request.unknown.strategy.unwrap_or(configured) {
            Strategy::Warn => Strategy::AutoIntegrate,
            other => other,
        };
        let unknown = request::Unknown { strategy: Some(strategy), force: request.unknown.force };
        let begun = self.begin_in(&request::Begin { origin: origin(request), unknown, title: None })?;
        let story = self.workspace.existing_story(self.opened, &request.session)?;
        answer.before_hash = seen(&story, request).and_then(|seen| seen.before);
        answer.unknown_changes = begun.unknown_changes;
        answer.integrated = begun.integrated;
        answer.warnings = begun.warnings;
        answer.warnings.extend(unfinished(&story, &begun.call));
        if let Some(revert) = story.session.chain().last() {
            answer.warnings.push(format!(
                "the session is reverted ({}); what this message changes closes the way back",
                revert.seq
            ));
        }
        answer.call = Some(begun.call);
        Ok(answer)
    }

    fn track_after(&self, story: &Story, request: &request::SessionTrack) -> Result<SessionTracked> {
        let Some(call) = open_call(story, request) else { return self.workspace.ended(self.opened, story, request) };
        let finish = request::Finish {
            call: call.id.to_string(),
            description: request.description.clone(),
            declared: request.declared.clone(),
            unknown: request.unknown,
            ..request::Finish::default()
        };
        let tracked = self.finish_in(&finish, request.tool.as_deref())?;
        let mut answer = told(story, request, tracked);
        let story = self.workspace.existing_story(self.opened, &request.session)?;
        if let Some(seen) = seen(&story, request) {
            (answer.before_hash, answer.after_hash) = (seen.before, seen.after);
        }
        Ok(answer)
    }

    fn track_at_once(&self, story: &Story, request: &request::SessionTrack) -> Result<SessionTracked> {
        let asked = origin(request);
        let origin = Origin { declared: self.workspace.through_links(&asked.declared), ..asked };
        let tracked = self.record(&Recording {
            description: &request.description,
            origin: &origin,
            unknown: request.unknown,
            pinned: false,
            call: None,
            ran: None,
            goes_on: None,
            since: self.workspace.settings.now(),
        })?;
        let (created, snapshot) = (tracked.created, tracked.snapshot.clone());
        let mut answer = told(story, request, tracked);
        answer.after_hash = Some(snapshot.tree);
        let before = if created { snapshot.start_tree.or(snapshot.base_tree) } else { Some(snapshot.tree) };
        answer.before_hash = before;
        Ok(answer)
    }
}

fn check(request: &request::SessionTrack) -> Result<()> {
    names::check_origin(&origin(request))?;
    let needs =
        |what: String| Err(Error::new(Code::Usage, what).then("name the message it is about", NextStep::WithMessage));
    match (request.phase, &request.message, &request.part) {
        (_, Some(_), _) | (Phase::None, None, None) => Ok(()),
        (_, None, Some(_)) => needs("a part belongs to a message, and none is named".to_owned()),
        (phase, None, None) => needs(format!("`{}` belongs to a message, and none is named", spelling(phase))),
    }
}

fn origin(request: &request::SessionTrack) -> Origin {
    Origin {
        tool: request.tool.clone(),
        session: Some(request.session.clone()),
        message: request.message.clone(),
        part: request.part.clone(),
        declared: request.declared.clone(),
    }
}

fn open_call<'a>(story: &'a Story, request: &request::SessionTrack) -> Option<&'a Call> {
    let is_it = |call: &&Call| is_of(call, &request.session, request.message.as_deref(), request.part.as_deref());
    story.open.iter().find(is_it)
}

fn seen<'a>(story: &'a Story, request: &request::SessionTrack) -> Option<&'a SeenMessage> {
    let is_it = |seen: &&SeenMessage| Some(&seen.message) == request.message.as_ref() && seen.part == request.part;
    story.seen.iter().find(is_it)
}

/// Other messages of the session that began and never ended: perhaps somebody forgot to say `after`.
fn unfinished(story: &Story, own: &Call) -> Vec<String> {
    let is_other = |call: &&Call| call.id != own.id && call.origin.message != own.origin.message;
    let others = story.open.iter().filter(is_other).filter_map(|call| Some((call, call.origin.message.as_deref()?)));
    let line = |(call, message): (&Call, &str)| {
        format!(
            "message `{}` began at {} and has not ended: what it wrote is recorded when it does, unless its call, `{}`, \
             is given up",
            quote(message.as_bytes()),
            call.since,
            call.id
        )
    };
    others.map(line).collect()
}

fn no_before(request: &request::SessionTrack) -> Error {
    let shown = |id: &Option<String>| quote(id.as_deref().unwrap_or_default().as_bytes());
    let (session, message) = (quote(request.session.as_bytes()), shown(&request.message));
    let part = request.part.as_ref().map_or_else(String::new, |_| format!(", part `{}`,", shown(&request.part)));
    Error::new(
        Code::CallNotFound,
        format!("message `{message}`{part} of session `{session}` has no `before`, so nobody can tell what is its work; nothing was recorded"),
    )
    .with_hint("say `before` first")
    .or(
        "if everything that changed is its work, record it",
        NextStep::RecordMessage { session: session.clone(), message: message.clone() },
    )
    .with_details(serde_json::json!({
        "session": request.session, "messageID": request.message, "partID": request.part,
    }))
}

fn empty(request: &request::SessionTrack) -> SessionTracked {
    SessionTracked {
        session: request.session.clone(),
        message: request.message.clone(),
        part: request.part.clone(),
        phase: request.phase,
        repeated: false,
        before_hash: None,
        after_hash: None,
        call: None,
        changed: false,
        step: None,
        changes: Vec::new(),
        unknown_changes: Vec::new(),
        integrated: None,
        left_to_open_calls: Vec::new(),
        unseen: Vec::new(),
        closed_revert: None,
        warnings: Vec::new(),
    }
}

/// What was recorded, in the session's words. `story` is what was known before.
fn told(story: &Story, request: &request::SessionTrack, tracked: Tracked) -> SessionTracked {
    let seq = tracked.snapshot.sequence_number;
    let is_own = tracked.created && tracked.snapshot.origin.session.as_deref() == Some(request.session.as_str());
    let is_external = tracked.created && !is_own;
    SessionTracked {
        changed: is_own,
        step: is_own.then_some(tracked.snapshot),
        changes: tracked.changes,
        unknown_changes: tracked.unknown_changes,
        integrated: tracked.integrated.or(is_external.then_some(seq)),
        left_to_open_calls: tracked.left_to_open_calls,
        unseen: tracked.unseen,
        closed_revert: story.session.chain().last().map(|revert| revert.seq).filter(|_| is_own),
        warnings: tracked.warnings,
        ..empty(request)
    }
}
