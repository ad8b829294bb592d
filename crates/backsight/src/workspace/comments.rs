//! Comments of people on lines: kept beside the rows until they are over, told to the agent with its next hook, answered by
//! it. A comment whose line is gone is over: what it was about has changed.

use std::collections::BTreeSet;
use std::time::Duration;

use backsight_core::{Code, Error, NextStep, RelPath, Result, Timestamp};

use super::diff::{Side, content};
use super::{Opened, Workspace};
use crate::names;
use crate::report::{Comment, CommentAnswer, CommentTold};
use crate::request::NewComment;
use crate::timeline::{Item, KeptChange, KeptKind};

/// Comments that are kept; of those that are over the oldest goes first.
const MOST: usize = 500;
/// Characters of a comment or an answer, and of the line it is on.
const LONGEST: usize = 4_000;
const LONGEST_LINE: usize = 500;
/// How many an agent is told at once.
const TOLD: usize = 10;
/// No larger file is read for its comments.
const LARGEST: u64 = 16 << 20;
/// How long a hook may take with comments on their way to its client; then they wait for another one.
const UNDER_WAY: Duration = Duration::from_secs(10);

impl Workspace {
    /// Writes a comment on a line.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// use backsight::request::NewComment;
    /// std::fs::write(directory.path().join("a.py"), "price = 1\n")?;
    /// workspace.track()?;
    /// let wanted = NewComment { person: "ada".into(), file: "a.py".parse()?, line: 1, text: "why 1?".into(), session: None };
    /// let comment = workspace.comment(&wanted)?;
    /// assert_eq!(comment.code, "price = 1");
    /// let told = workspace.comments_for("s1")?;
    /// assert!(told[0].text == "why 1?" && workspace.comments_for("s1")?.is_empty());
    /// assert_eq!(workspace.comments_told(&[told[0].id.clone()])?.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn comment(&self, wanted: &NewComment) -> Result<Comment> {
        names::check_id("person", &wanted.person)?;
        wanted.session.as_deref().map_or(Ok(()), |session| names::check_id("session", session))?;
        check_text(&wanted.text)?;
        let code = self.line_now(&wanted.file, wanted.line)?;
        let comment = Comment {
            id: self.new_id()?.to_string(),
            person: wanted.person.clone(),
            file: wanted.file.clone(),
            line: wanted.line,
            code,
            text: wanted.text.clone(),
            at: self.settings.now(),
            session: wanted.session.clone(),
            offered: None,
            told: None,
            answers: Vec::new(),
            resolved: None,
            outdated: false,
            unchecked: false,
        };
        let over: BTreeSet<String> =
            self.comments()?.into_iter().filter(Comment::is_over).map(|comment| comment.id).collect();
        self.change_comments(|all| {
            let over = all.iter().map(|known| &known.id).filter(|id| over.contains(*id)).cloned();
            let forget: Vec<String> = over.take((all.len() + 1).saturating_sub(MOST)).collect();
            if all.len() - forget.len() >= MOST {
                return Err(Error::new(Code::TooLarge, format!("{MOST} comments are open already"))
                    .with_hint("resolve some of them first"));
            }
            Ok((vec![comment.clone()], forget))
        })?;
        Ok(comment)
    }

    /// Every comment, oldest first.
    pub fn comments(&self) -> Result<Vec<Comment>> {
        let mut comments = self.kept_comments()?;
        self.compare_with_now(&mut comments)?;
        Ok(comments)
    }

    /// The same without a look at the disk, so without knowing whose lines have changed.
    fn kept_comments(&self) -> Result<Vec<Comment>> {
        if self.store_path()?.is_none() {
            return Ok(Vec::new());
        }
        Ok(readable(&self.opened()?.timeline.kept(KeptKind::Comment)?))
    }

    /// How many comments a session has not been told yet, as far as that is known without a look at the disk: one whose line
    /// has changed since counts too.
    pub fn comments_waiting(&self, session: &str) -> Result<usize> {
        Ok(self.kept_comments()?.iter().filter(|comment| waits(comment, session)).count())
    }

    /// Whether there is a comment that nobody said is done with.
    pub fn has_comments(&self) -> Result<bool> {
        Ok(self.kept_comments()?.iter().any(|comment| comment.resolved.is_none()))
    }

    /// The comments that a session has to be told now. They count as told when the client was handed them, which
    /// [`Workspace::comments_told`] says; when it was not, they wait for the next that asks.
    pub fn comments_for(&self, session: &str) -> Result<Vec<Comment>> {
        let now = self.settings.now();
        let is_offered = |comment: &Comment| comment.offered.as_ref().is_some_and(|to| to.at.after(UNDER_WAY) > now);
        let is_wanted = |comment: &Comment| waits(comment, session) && !is_offered(comment);
        let mut waiting = self.kept_comments()?;
        waiting.retain(is_wanted);
        // Mostly there is none, and then no file is read.
        self.compare_with_now(&mut waiting)?;
        let wanted: BTreeSet<String> =
            waiting.into_iter().filter(|comment| !comment.is_over()).map(|comment| comment.id).take(TOLD).collect();
        if wanted.is_empty() {
            return Ok(Vec::new());
        }
        self.change_comments(|all| {
            let offered = all.into_iter().filter(|comment| wanted.contains(&comment.id) && is_wanted(comment));
            let to = CommentTold { session: session.to_owned(), at: now };
            Ok((offered.map(|comment| Comment { offered: Some(to.clone()), ..comment }).collect(), Vec::new()))
        })
    }

    /// Says that the comments with these ids were handed to the session they were meant for.
    pub fn comments_told(&self, ids: &[String]) -> Result<Vec<Comment>> {
        let now = self.settings.now();
        self.change_comments(|all| {
            let told = all.into_iter().filter(|comment| ids.contains(&comment.id) && comment.told.is_none());
            let tell = |comment: Comment| {
                let to = comment.offered.clone()?;
                Some(Comment { told: Some(CommentTold { at: now, ..to }), offered: None, ..comment })
            };
            Ok((told.filter_map(tell).collect(), Vec::new()))
        })
    }

    /// Says that the comments with these ids did not reach the session: they wait for the next that asks.
    pub fn comments_not_told(&self, ids: &[String]) -> Result<Vec<Comment>> {
        self.change_comments(|all| {
            let lost = all.into_iter().filter(|comment| ids.contains(&comment.id) && comment.offered.is_some());
            Ok((lost.map(|comment| Comment { offered: None, ..comment }).collect(), Vec::new()))
        })
    }

    /// Answers a comment.
    pub fn answer_comment(&self, id: &str, by: &str, text: &str) -> Result<Comment> {
        names::check_id("author", by)?;
        check_text(text)?;
        self.change_comment(id, |comment, at| {
            comment.answers.push(CommentAnswer { by: by.to_owned(), text: text.to_owned(), at });
        })
    }

    /// Says that a comment is done with.
    pub fn resolve_comment(&self, id: &str) -> Result<Comment> {
        self.change_comment(id, |comment, at| comment.resolved = Some(at))
    }

    fn change_comment(&self, id: &str, change: impl Fn(&mut Comment, Timestamp)) -> Result<Comment> {
        let mut changed = self.change_comments(|all| {
            let found = all.into_iter().find(|comment| comment.id == id);
            let mut comment = found.ok_or_else(|| {
                let id = backsight_core::quote(id.as_bytes());
                Error::new(Code::RefNotFound, format!("no comment has the id `{id}`"))
                    .then("list them", NextStep::ListComments)
            })?;
            change(&mut comment, self.settings.now());
            Ok((vec![comment], Vec::new()))
        })?;
        self.compare_with_now(&mut changed)?;
        changed.pop().ok_or_else(|| Error::new(Code::RefNotFound, "the comment is gone"))
    }

    /// Changes comments by what they are at that moment: which of them are kept anew, and the ids of those to forget. Gives
    /// those that are kept anew.
    fn change_comments(
        &self,
        change: impl FnOnce(Vec<Comment>) -> Result<(Vec<Comment>, Vec<String>)>,
    ) -> Result<Vec<Comment>> {
        self.made()?.timeline.keep_by(KeptKind::Comment, self.settings.now(), |kept| {
            let (comments, forget) = change(readable(&kept))?;
            let body = |comment: &Comment| serde_json::to_string(comment).unwrap_or_default();
            let keep = comments.iter().map(|comment| Item { name: comment.id.clone(), body: body(comment) }).collect();
            Ok((comments, KeptChange { keep, forget }))
        })
    }

    /// Says of each whether its file still holds its line. The files are read one after the other and none that is large.
    fn compare_with_now(&self, comments: &mut [Comment]) -> Result<()> {
        if comments.iter().all(|comment| comment.resolved.is_some()) {
            return Ok(());
        }
        let files: BTreeSet<&RelPath> = comments.iter().map(|comment| &comment.file).collect();
        // By the comment: whether its line is there; none when that is not known.
        let found = self.reading(|opened| {
            let now = self.side(opened, "now")?;
            let mut found = vec![None; comments.len()];
            for file in &files {
                let text = self.text_now(opened, &now, file).unwrap_or(Now::TooLarge);
                for (comment, found) in comments.iter().zip(&mut found).filter(|(comment, _)| comment.file == **file) {
                    let is_line = |line: &str| line.chars().take(LONGEST_LINE).eq(comment.code.chars());
                    *found = match &text {
                        Now::Text(text) => Some(text.lines().any(is_line)),
                        Now::NoText => Some(false),
                        Now::TooLarge => None,
                    };
                }
            }
            Ok(found)
        })?;
        for (comment, found) in comments.iter_mut().zip(found) {
            (comment.outdated, comment.unchecked) = (found == Some(false), found.is_none());
        }
        Ok(())
    }

    /// A line of a file on disk, as far as it is kept.
    fn line_now(&self, file: &RelPath, line: u64) -> Result<String> {
        let text = match self.reading(|opened| self.text_now(opened, &self.side(opened, "now")?, file))? {
            Now::Text(text) => text,
            Now::NoText => return Err(Error::new(Code::PathNotFound, format!("`{file}` is no text file on disk now"))),
            Now::TooLarge => {
                let message = format!("`{file}` is larger than {} MiB, too large for comments", LARGEST >> 20);
                return Err(Error::new(Code::TooLarge, message));
            }
        };
        let at = usize::try_from(line).unwrap_or(usize::MAX).checked_sub(1);
        let code = at.and_then(|at| text.lines().nth(at)).ok_or_else(|| {
            let message = format!("`{file}` has {} lines, and no line {line}", text.lines().count());
            Error::new(Code::InvalidRange, message).with_hint("lines are counted from 1")
        })?;
        Ok(code.chars().take(LONGEST_LINE).collect())
    }

    fn text_now(&self, opened: &Opened, now: &Side, file: &RelPath) -> Result<Now> {
        let Some(id) = opened.files.find(now.tree(), now.capture(), file)?.and_then(|node| node.blob()) else {
            return Ok(Now::NoText);
        };
        if std::fs::symlink_metadata(self.root.join(file.as_path())).is_ok_and(|found| found.len() > LARGEST) {
            return Ok(Now::TooLarge);
        }
        Ok(String::from_utf8(content(opened, now, file, &id)?).map_or(Now::NoText, Now::Text))
    }
}

/// What a file with comments is on disk now.
enum Now {
    Text(String),
    /// It is gone, or is no text.
    NoText,
    TooLarge,
}

/// The comments that can be read, oldest first.
fn readable(kept: &[Item]) -> Vec<Comment> {
    let mut comments: Vec<Comment> = kept.iter().filter_map(|item| serde_json::from_str(&item.body).ok()).collect();
    comments.sort_by_key(|comment| comment.at);
    comments
}

fn check_text(text: &str) -> Result<()> {
    let length = text.chars().count();
    if text.trim().is_empty() || length > LONGEST {
        let message = format!("a comment has 1 to {LONGEST} characters, and this one {length}");
        return Err(Error::new(Code::Usage, message));
    }
    Ok(())
}

/// Whether a comment is for a session that was not told of it.
fn waits(comment: &Comment, session: &str) -> bool {
    let is_for = comment.session.as_deref().is_none_or(|wanted| wanted == session);
    comment.told.is_none() && !comment.is_over() && is_for
}
