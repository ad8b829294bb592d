//! Comments of people on lines: kept beside the rows until they are over, told to the agent with its next hook, answered by
//! it. A comment whose line is gone is over: what it was about has changed.

use std::collections::BTreeMap;

use backsight_core::{Code, Error, RelPath, Result};

use super::Workspace;
use crate::names;
use crate::report::{Comment, CommentAnswer, CommentTold};
use crate::request::NewComment;
use crate::timeline::{Item, KeptKind};

/// Comments that are kept; of those that are over the oldest goes first.
const MOST: usize = 500;
/// Characters of a comment or an answer, and of the line it is on.
const LONGEST: usize = 4_000;
const LONGEST_LINE: usize = 500;
/// How many an agent is told at once.
const TOLD: usize = 10;

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
    /// assert!(told[0].for_agent().contains("why 1?") && workspace.comments_for("s1")?.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn comment(&self, wanted: &NewComment) -> Result<Comment> {
        names::check_id("person", &wanted.person)?;
        wanted.session.as_deref().map_or(Ok(()), |session| names::check_id("session", session))?;
        check_text(&wanted.text)?;
        let lines = self
            .lines_now(&wanted.file)?
            .ok_or_else(|| Error::new(Code::PathNotFound, format!("`{}` is no text file on disk now", wanted.file)))?;
        let at = usize::try_from(wanted.line).unwrap_or(usize::MAX);
        let code = at.checked_sub(1).and_then(|at| lines.get(at)).ok_or_else(|| {
            let message = format!("`{}` has {} lines, and no line {}", wanted.file, lines.len(), wanted.line);
            Error::new(Code::InvalidRange, message).with_hint("lines are counted from 1")
        })?;
        let comment = Comment {
            id: self.new_id()?.to_string(),
            person: wanted.person.clone(),
            file: wanted.file.clone(),
            line: wanted.line,
            code: code.chars().take(LONGEST_LINE).collect(),
            text: wanted.text.clone(),
            at: self.settings.now(),
            session: wanted.session.clone(),
            told: None,
            answers: Vec::new(),
            resolved: None,
            outdated: false,
        };
        let all = self.comments()?;
        let over = all.iter().filter(|comment| comment.is_over()).map(|comment| comment.id.as_str());
        let forget: Vec<&str> = over.take((all.len() + 1).saturating_sub(MOST)).collect();
        if all.len() - forget.len() >= MOST {
            return Err(Error::new(Code::TooLarge, format!("{MOST} comments are open already"))
                .with_hint("resolve some of them first"));
        }
        self.keep_comments(&[&comment], &forget)?;
        Ok(comment)
    }

    /// Every comment, oldest first.
    pub fn comments(&self) -> Result<Vec<Comment>> {
        let mut comments = self.kept_comments()?;
        let mut files: BTreeMap<RelPath, Option<Vec<String>>> = BTreeMap::new();
        for comment in &mut comments {
            let lines =
                files.entry(comment.file.clone()).or_insert_with(|| self.lines_now(&comment.file).ok().flatten());
            let is_line = |line: &String| line.chars().take(LONGEST_LINE).eq(comment.code.chars());
            comment.outdated = !lines.as_ref().is_some_and(|lines| lines.iter().any(is_line));
        }
        Ok(comments)
    }

    /// The same without a look at the disk, so without knowing whose lines have changed.
    fn kept_comments(&self) -> Result<Vec<Comment>> {
        if self.store_path()?.is_none() {
            return Ok(Vec::new());
        }
        let kept = self.opened()?.timeline.kept(KeptKind::Comment)?;
        let mut comments: Vec<Comment> = kept.iter().filter_map(|item| serde_json::from_str(&item.body).ok()).collect();
        comments.sort_by_key(|comment| comment.at);
        Ok(comments)
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

    /// The comments that a session has to be told now; they count as told from here on.
    pub fn comments_for(&self, session: &str) -> Result<Vec<Comment>> {
        let comments = self.comments()?.into_iter().filter(|comment| waits(comment, session));
        let mut waiting: Vec<Comment> = comments.take(TOLD).collect();
        for comment in &mut waiting {
            comment.told = Some(CommentTold { session: session.to_owned(), at: self.settings.now() });
        }
        if !waiting.is_empty() {
            self.keep_comments(&waiting.iter().collect::<Vec<_>>(), &[])?;
        }
        Ok(waiting)
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

    fn change_comment(&self, id: &str, change: impl Fn(&mut Comment, backsight_core::Timestamp)) -> Result<Comment> {
        let found = self.comments()?.into_iter().find(|comment| comment.id == id);
        let mut comment = found.ok_or_else(|| {
            let id = backsight_core::quote(id.as_bytes());
            Error::new(Code::RefNotFound, format!("no comment has the id `{id}`"))
                .with_hint("list them with `backsight comment list`")
        })?;
        change(&mut comment, self.settings.now());
        self.keep_comments(&[&comment], &[])?;
        Ok(comment)
    }

    fn keep_comments(&self, comments: &[&Comment], forget: &[&str]) -> Result<()> {
        let body = |comment: &Comment| serde_json::to_string(comment).unwrap_or_default();
        let items: Vec<Item> =
            comments.iter().map(|comment| Item { name: comment.id.clone(), body: body(comment) }).collect();
        self.made()?.timeline.keep(KeptKind::Comment, self.settings.now(), &items, forget)
    }

    /// The lines of a file on disk; none when it is no text.
    fn lines_now(&self, file: &RelPath) -> Result<Option<Vec<String>>> {
        let bytes = match self.get_file_at("now", file) {
            Ok(bytes) => bytes,
            Err(error) if error.code() == Code::PathNotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(String::from_utf8(bytes).ok().map(|text| text.lines().map(str::to_owned).collect()))
    }
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
