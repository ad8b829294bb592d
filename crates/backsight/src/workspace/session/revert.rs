//! Taking a session back to before a message, and forth again. Both are the three-way revert of rows: the session's
//! steps, or its reverts. What others wrote stays, or the overlap is named and nothing changes.

use std::cell::RefCell;

use backsight_core::{Code, Error, NextStep, Result, Seq, quote};
use backsight_files::{Capture, Change, Plan};

use super::{Story, cause, missing, reason};
use crate::names;
use crate::report::{Applied, Call, Kind, Origin, RevertInfo, SessionReverted, SessionUnreverted};
use crate::request;
use crate::session::{NoWayBack, Place};
use crate::timeline::{OriginColumn, SessionMark, Step};
use crate::workspace::diff::{Contents, file_diffs, joined};
use crate::workspace::go::{Leg, Only, TakeBack, Terms, Under};
use crate::workspace::track::Recording;
use crate::workspace::writing::Writing;
use crate::workspace::{Opened, Workspace, doubt};

impl Workspace {
    /// Takes a session back to before a message, or before a part of it: that and everything later of the session is
    /// undone, everything else stays. A second revert counts from the state before the first.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let root = directory.path();
    /// # let workspace = backsight::Workspace::open(root)?;
    /// use backsight::request::{RevertSession, SessionTrack, Unrevert};
    ///
    /// workspace.start_session(&backsight::request::NewSession { id: Some("s1".to_owned()), title: None })?;
    /// for message in ["m1", "m2"] {
    ///     std::fs::write(root.join(format!("{message}.txt")), "by the agent\n")?;
    ///     workspace.track_session(&SessionTrack {
    ///         session: "s1".to_owned(),
    ///         message: Some(message.to_owned()),
    ///         ..Default::default()
    ///     })?;
    /// }
    /// let request =
    ///     RevertSession { session: "s1".to_owned(), message: "m2".to_owned(), ..Default::default() };
    /// let reverted = workspace.revert_session(&request)?;
    /// assert_eq!(reverted.revert.message_id, "m2");
    /// assert!(root.join("m1.txt").exists() && !root.join("m2.txt").exists());
    ///
    /// workspace.unrevert_session(&Unrevert { session: "s1".to_owned(), ..Default::default() })?;
    /// assert!(root.join("m2.txt").exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn revert_session(&self, request: &request::RevertSession) -> Result<SessionReverted> {
        names::check_origin(&request.origin)?;
        let request = &self.named_in_full(request)?;
        let under = self.under(request.dry_run)?;
        let opened = under.opened();
        let mut story = self.existing_story(opened, &request.session)?;
        let place = story.place(request)?;
        let unfinished = story.unfinished_from(&place);
        if let (Some(_), Some(call)) = (&request.plan, unfinished.first()) {
            return Err(unfinished_since(call));
        }
        if let Under::Write(writing) = &under
            && !unfinished.is_empty()
        {
            // Half a turn is a turn: what it wrote must be recorded to be taken back, and not be taken for somebody
            // else's.
            unfinished.iter().try_for_each(|call| writing.finish_for_revert(call))?;
            story = self.existing_story(opened, &request.session)?;
        }
        let place = story.place(request)?;
        let to = story.session.revert_to(&place);
        let mark = SessionMark::Revert { message: request.message.clone(), part: request.part.clone() };
        let (mut applied, diff) = if to.is_there {
            (nothing(request.dry_run), String::new())
        } else {
            let session = self.session_name(opened, &request.session)?;
            let description = format!("revert session {session} to before {}", self.place_name(opened, &place)?);
            let origin = origin(&request.origin, &request.session);
            let terms = Terms {
                on_conflict: request.on_conflict,
                dry_run: request.dry_run,
                agreed: request.plan.as_ref(),
                origin: &origin,
            };
            self.take_session_back(&under, story.take_back(&to.targets, description, terms, mark))?
        };
        if request.dry_run && !unfinished.is_empty() {
            applied.warnings.extend(unfinished.iter().map(unfinished_warning));
            // What would be done is not this plan, so there is nothing to agree to.
            applied.plan = None;
        }
        let story = if request.dry_run { story } else { self.existing_story(opened, &request.session)? };
        Ok(SessionReverted {
            session: request.session.clone(),
            revert: RevertInfo {
                message_id: request.message.clone(),
                part_id: request.part.clone(),
                snapshot: story.before_reverts(),
                diff: Some(diff),
            },
            finished_calls: if request.dry_run { Vec::new() } else { unfinished },
            applied,
        })
    }

    /// Takes the session's revert back, or all of several: the files are as they were before the first of them, with
    /// what others wrote since.
    pub fn unrevert_session(&self, request: &request::Unrevert) -> Result<SessionUnreverted> {
        names::check_origin(&request.origin)?;
        let session = self.find_session(&request.session)?.1.id;
        let request = &request::Unrevert { session, ..request.clone() };
        let under = self.under(request.dry_run)?;
        let opened = under.opened();
        let story = self.existing_story(opened, &request.session)?;
        let targets = story.session.unrevert().map_err(|why| nothing_to_unrevert(&story, why))?;
        let Some(info) = story.revert_info(None) else {
            return Err(Error::new(Code::Damaged, format!("the revert of session `{}` cannot be read", story.id)));
        };
        let numbers: Vec<String> = targets.iter().map(Seq::to_string).collect();
        let session = self.session_name(opened, &request.session)?;
        let description = format!("unrevert session {session}: take back {}", numbers.join(", "));
        let origin = origin(&request.origin, &request.session);
        let mark = SessionMark::Unrevert;
        let terms = Terms {
            on_conflict: request.on_conflict,
            dry_run: request.dry_run,
            agreed: request.plan.as_ref(),
            origin: &origin,
        };
        let take = story.take_back(&targets, description, terms, mark);
        let (applied, diff) = self.take_session_back(&under, take)?;
        Ok(SessionUnreverted {
            session: request.session.clone(),
            revert: RevertInfo { diff: Some(diff), ..info },
            applied,
        })
    }

    /// The request with every id whole.
    fn named_in_full(&self, request: &request::RevertSession) -> Result<request::RevertSession> {
        let (_, story) = self.find_session(&request.session)?;
        let message = story.message_id(&request.message)?;
        let part = request.part.as_deref().map(|typed| story.part_id(&message, typed)).transpose()?;
        Ok(request::RevertSession { session: story.id, message, part, ..request.clone() })
    }

    /// The session as the description of its row names it.
    fn session_name(&self, opened: &Opened, id: &str) -> Result<String> {
        self.short_id(opened, OriginColumn::Session, id)
    }

    /// `m2, part p1`
    fn place_name(&self, opened: &Opened, place: &Place<'_>) -> Result<String> {
        let message = self.short_id(opened, OriginColumn::Message, place.message)?;
        match place.part {
            Some(part) => Ok(format!("{message}, part {}", self.short_id(opened, OriginColumn::Part, part)?)),
            None => Ok(message),
        }
    }

    fn take_session_back(&self, under: &Under<'_>, take: TakeBack<'_>) -> Result<(Applied, String)> {
        let opened = under.opened();
        let (diff, warnings) = (RefCell::new(String::new()), RefCell::new(Vec::new()));
        let mut applied = self.take_back(under, take, &|now, plan| {
            *diff.borrow_mut() = plan_diff(opened, now, plan)?;
            *warnings.borrow_mut() = self.in_the_way(opened, now, plan)?;
            Ok(())
        })?;
        applied.warnings.extend(warnings.into_inner());
        Ok((applied, diff.into_inner()))
    }

    /// Open tool calls that have written to a file that the plan writes too. Their bytes stay; but the row that holds
    /// both names nobody for what they wrote there so far, so it cannot be taken back as theirs.
    fn in_the_way(&self, opened: &Opened, now: &Capture, plan: &Plan) -> Result<Vec<String>> {
        let is_directory = |change: &Change| change.after.or(change.before).is_some_and(|node| node.is_directory());
        let mut warnings = Vec::new();
        for call in opened.timeline.open_calls()? {
            let pending = self.pending(opened, now, std::slice::from_ref(&call))?;
            let files = plan.changes.iter().filter(|change| !is_directory(change) && pending.contains(&change.path));
            let names: Vec<String> = files.map(|change| format!("`{}`", change.path)).collect();
            if !names.is_empty() {
                let (who, names) = (who(&call.call), names.join(", "));
                warnings.push(format!(
                    "{who} is at work on {names}: what it wrote there so far stays, and counts as nobody's"
                ));
            }
        }
        Ok(warnings)
    }
}

impl Writing<'_> {
    fn finish_for_revert(&self, call: &Call) -> Result<()> {
        let Some(open) = self.opened.timeline.open_calls()?.into_iter().find(|open| open.call.id == call.id) else {
            return Ok(());
        };
        let recording = Recording {
            description: "unfinished when the session was reverted",
            origin: &call.origin,
            // What is not its own is told apart all the same; refusing would leave the caller no way back.
            unknown: request::Unknown { strategy: None, force: true },
            pinned: false,
            call: Some(&open),
            ran: doubt::unfinished(call),
            goes_on: None,
            since: call.since,
        };
        self.record(&recording).map(drop)
    }
}

impl Story {
    fn place<'a>(&self, request: &'a request::RevertSession) -> Result<Place<'a>> {
        let (message, part) = (request.message.as_str(), request.part.as_deref());
        self.session.place(message, part).map_err(|what| missing(self, message, part, what))
    }

    /// Work of the session at or after a place that began and has not finished.
    fn unfinished_from(&self, place: &Place<'_>) -> Vec<Call> {
        let is_from = |call: &&Call| {
            let origin = &call.origin;
            let next = Seq(call.based_on.0 + 1);
            self.session.is_from(place, origin.message.as_deref(), origin.part.as_deref(), next)
        };
        self.open.iter().filter(is_from).cloned().collect()
    }

    fn take_back<'a>(&self, targets: &[Seq], description: String, terms: Terms<'a>, mark: SessionMark) -> TakeBack<'a> {
        let steps: Vec<Step> = targets.iter().filter_map(|seq| self.step(*seq)).cloned().collect();
        TakeBack {
            kind: Kind::Revert,
            description,
            targets: steps.iter().map(|step| step.snapshot.sequence_number).collect(),
            leaving: Vec::new(),
            legs: steps.into_iter().map(Leg::Back).collect(),
            paths: &[],
            only: Only::default(),
            terms,
            session: Some(mark),
        }
    }
}

/// The row belongs to the session and to none of its messages: `message:ID` still names the message's own steps.
fn origin(asked: &Origin, session: &str) -> Origin {
    Origin {
        tool: asked.tool.clone(),
        session: Some(session.to_owned()),
        message: None,
        part: None,
        declared: Vec::new(),
    }
}

/// `message m1 of session s1`, or the tool call's id.
fn who(call: &Call) -> String {
    let quoted = |text: &str| quote(text.as_bytes());
    match (call.origin.message.as_deref(), call.origin.session.as_deref()) {
        (Some(message), Some(session)) => format!("message `{}` of session `{}`", quoted(message), quoted(session)),
        _ => format!("tool call {}", call.id),
    }
}

fn unfinished_warning(call: &Call) -> String {
    let message = who(call);
    format!(
        "{message} has not finished: what it wrote so far would be recorded first and taken back too, and is not in this plan"
    )
}

/// Its work would have to be recorded first, and then the plan is another one.
fn unfinished_since(call: &Call) -> Error {
    let message = format!("{} has not finished, and what it wrote is not in the plan you agreed to", who(call));
    Error::new(Code::StateMismatch, format!("{message}; nothing was changed"))
        .with_hint("go on without a plan's token, or let it finish and ask for the plan again")
}

fn nothing(dry_run: bool) -> Applied {
    Applied {
        dry_run,
        changed: false,
        snapshot: None,
        safety: None,
        targets: Vec::new(),
        reverted: Vec::new(),
        merged: Vec::new(),
        kept: Vec::new(),
        skipped: Vec::new(),
        conflicts: Vec::new(),
        warnings: Vec::new(),
        plan: None,
    }
}

/// What a plan changes, as one unified diff.
fn plan_diff(opened: &Opened, now: &Capture, plan: &Plan) -> Result<String> {
    let contents = Contents {
        before: &|path, id| opened.files.content_now(now, path, id),
        after: &|_, id| match plan.merged_content(id) {
            Some(bytes) => Ok(bytes.to_vec()),
            None => opened.files.objects().read_blob(id),
        },
    };
    let renames = contents.renames(&plan.changes);
    Ok(joined(file_diffs(&plan.changes, &renames, &contents, &request::Diff::new("", None))?))
}

fn nothing_to_unrevert(story: &Story, why: NoWayBack) -> Error {
    let id = quote(story.id.as_bytes());
    let (purpose, step, details) = match why {
        NoWayBack::NeverReverted => (
            "revert it",
            NextStep::RevertSession { id: story.id.clone() },
            serde_json::json!({ "session": story.id, "reason": cause(why) }),
        ),
        NoWayBack::TakenBack { revert, by } => (
            "see what it did",
            NextStep::SeeHistory { session: Some(story.id.clone()), file: None },
            serde_json::json!({ "session": story.id, "reason": cause(why), "revert": revert, "by": by }),
        ),
        NoWayBack::Closed { revert, by } => (
            "what the revert displaced is kept: bring it back",
            NextStep::RevertStep { reference: revert.0.to_string() },
            serde_json::json!({ "session": story.id, "reason": cause(why), "revert": revert, "by": by }),
        ),
    };
    Error::new(Code::NothingToUnrevert, format!("session `{id}` cannot be unreverted: {}", reason(why)))
        .then(purpose, step)
        .with_details(details)
}
