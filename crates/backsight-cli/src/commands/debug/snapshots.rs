//! `backsight debug snapshot`, `diff`, `try` and the others about what the program held when.

use std::ffi::OsString;

use backsight::debug::capture::Safety;
use backsight::debug::report::{SnapshotDiff, SnapshotEntry, SnapshotView};
use backsight_core::Result;
use clap::ValueEnum;
use serde_json::{Map, Value, json};

use super::looking::Allowed;
use super::place::{self, Place};
use super::{Desk, Patience, understood};
use crate::commands::Verdict;
use crate::lane::encode;
use crate::render::debug;
use crate::render::debug::snapshots as render;

/// How much is captured.
#[derive(clap::Args, Debug)]
pub struct Extent {
    /// How deep values are expanded: 0 is the variables themselves
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=20))]
    depth: Option<u32>,
    /// An expression to evaluate too (repeatable)
    #[arg(long = "watch", value_name = "EXPRESSION", allow_hyphen_values = true)]
    watches: Vec<String>,
    /// What may run to show a value: pure (nothing of the program), adapter (what the debugger runs), full (getters too)
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Allowed::Pure, hide_possible_values = true)]
    safety: Allowed,
}

impl Extent {
    /// As the API takes it.
    pub fn fields(&self) -> Map<String, Value> {
        let safety: Safety = self.safety.safety();
        let fields = json!({ "depth": self.depth, "watch": self.watches, "safety": safety });
        fields.as_object().cloned().unwrap_or_default()
    }
}

/// Which part of a long answer.
#[derive(clap::Args, Debug)]
pub struct Part {
    /// Only what is at or under this path
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Skip so many, in the order of their importance
    #[arg(long, value_name = "N")]
    offset: Option<u32>,
    /// Say no more than so many tokens, and count the rest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(200..))]
    max_tokens: Option<u32>,
}

impl Part {
    fn fields(&self) -> Map<String, Value> {
        let fields = json!({ "path": self.path, "offset": self.offset, "max_tokens": self.max_tokens });
        fields.as_object().cloned().unwrap_or_default()
    }

    /// The same as parts of a query.
    pub fn query(&self) -> [(&'static str, Option<String>); 3] {
        let number = |number: Option<u32>| number.map(|number| number.to_string());
        [("path", self.path.clone()), ("offset", number(self.offset)), ("max_tokens", number(self.max_tokens))]
    }
}

/// Capture the variables of the paused program
///
/// Nothing of the program runs for that. Snapshots live as long as the session; `export` keeps one.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug snapshot before
  backsight debug snapshot --depth 2 --watch 'order.total'
  backsight debug snapshot deadlock --frames all --threads all")]
pub struct Snapshot {
    /// What it is called, instead of snapshot-1 and so on
    #[arg(value_name = "LABEL")]
    label: Option<String>,
    /// How many frames: top (one), all or a number
    #[arg(long, value_name = "HOW MANY", value_parser = frames)]
    frames: Option<Value>,
    /// Which threads: stopped (the one that paused the program) or all
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = Threads::Stopped, hide_possible_values = true)]
    threads: Threads,
    /// The first frame, 0 is the innermost
    #[arg(long, value_name = "N", default_value_t = 0)]
    frame: u32,
    /// The thread, instead of the one that paused the program
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    thread: Option<i64>,
    #[command(flatten)]
    extent: Extent,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Threads {
    Stopped,
    All,
}

fn frames(text: &str) -> Result<Value, String> {
    match (text, text.parse::<u32>()) {
        ("top" | "all", _) => Ok(json!(text)),
        (_, Ok(count @ 1..=200)) => Ok(json!(count)),
        _ => Err("it is `top`, `all` or a number from 1 to 200".to_owned()),
    }
}

impl Snapshot {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let threads = match self.threads {
            Threads::Stopped => "stopped",
            Threads::All => "all",
        };
        let mut body = self.extent.fields();
        body.insert("label".to_owned(), json!(self.label));
        body.insert("frames".to_owned(), json!(self.frames));
        body.insert("threads".to_owned(), json!(threads));
        body.insert("frame".to_owned(), json!(self.frame));
        body.insert("thread".to_owned(), json!(self.thread));
        let made = desk.post("/api/debug/snapshots", Value::Object(body))?;
        let entry: SnapshotEntry = understood(&made["snapshot"])?;
        desk.context.answer(&made, |page| render::created(page, &entry, &made, desk.context.start()))?;
        Ok(Verdict::Done)
    }
}

/// List the snapshots, oldest first
#[derive(clap::Args, Debug)]
pub struct Snapshots {}

impl Snapshots {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let list = desk.get("/api/debug/snapshots", &[])?;
        let entries: Vec<SnapshotEntry> = understood(&list["snapshots"])?;
        desk.context.answer(&list, |page| {
            render::list(page, &entries, desk.context.now, desk.context.start());
            if let Some(warning) = list["warning"].as_str() {
                page.warning(backsight::debug::render::safe(warning));
            }
            if entries.is_empty() {
                page.note("there are no snapshots");
                page.hint(format_args!("while the program is paused: {}", desk.command("snapshot LABEL")));
            }
        })?;
        Ok(Verdict::Done)
    }
}

/// Show the values of a snapshot
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug show before
  backsight debug show before --path order.items")]
pub struct Show {
    /// Its id or label
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    part: Part,
}

impl Show {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let path = format!("/api/debug/snapshots/{}", encode(&self.id));
        let answer = desk.get(&path, &self.part.query())?;
        let view: SnapshotView = understood(&answer)?;
        desk.context.answer(&answer, |page| render::values(page, &view, desk.context.start()))?;
        Ok(Verdict::Done)
    }
}

/// Show what changed between two snapshots
///
/// Only what changed itself is told, not everything it is part of; maps and sets are compared by key, and one insertion
/// into a list is one insertion.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug diff before after
  backsight debug diff before after --path order.items
  backsight debug diff before after --exit-code     exit 1 when something changed")]
pub struct Diff {
    /// The snapshot to compare from, by id or label
    #[arg(value_name = "FROM")]
    from: String,
    /// The snapshot to compare to, by id or label
    #[arg(value_name = "TO")]
    to: String,
    /// Exit 1 when something changed
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    part: Part,
}

impl Diff {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let mut body = self.part.fields();
        body.insert("from".to_owned(), json!(self.from));
        body.insert("to".to_owned(), json!(self.to));
        let answer = desk.post("/api/debug/diff", Value::Object(body))?;
        let diff: SnapshotDiff = understood(&answer)?;
        desk.context.answer(&answer, |page| render::diff(page, &diff))?;
        Ok(Verdict::no_if(self.exit_code && diff.summary.changes() > 0))
    }
}

/// Delete a snapshot, or all hits of a snapshot point
#[derive(clap::Args, Debug)]
pub struct Delete {
    /// The snapshot's id or label, or the name of a snapshot point
    #[arg(value_name = "ID")]
    id: String,
}

impl Delete {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let deleted = desk.post("/api/debug/delete", json!({ "id": self.id }))?;
        desk.context.answer(&deleted, |page| render::deleted(page, &deleted["deleted"]))?;
        Ok(Verdict::Done)
    }
}

/// Delete all snapshots
#[derive(clap::Args, Debug)]
pub struct Clear {}

impl Clear {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let cleared = desk.post("/api/debug/clear", json!({}))?;
        desk.context.answer(&cleared, |page| render::cleared(page, &cleared))?;
        Ok(Verdict::Done)
    }
}

/// Write a snapshot, without its secrets, into a new file of the workspace
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug export before before.json")]
pub struct Export {
    /// The snapshot's id or label
    #[arg(value_name = "ID")]
    id: String,
    /// A file that does not exist yet
    #[arg(value_name = "FILE")]
    file: OsString,
}

impl Export {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let file = desk.context.path(&desk.context.workspace()?, &self.file)?;
        let exported = desk.post("/api/debug/export", json!({ "id": self.id, "file": file }))?;
        desk.context.answer(&exported, |page| render::exported(page, &exported))?;
        Ok(Verdict::Done)
    }
}

/// Let the program go on, and show what that changed
///
/// It is captured, goes on, is captured where it pauses again, and both are compared. They stay as `step-before` and
/// `step-after` until the next time.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug try                    one line
  backsight debug try finish             until the function returns
  backsight debug try until shop.py:20 --depth 4")]
pub struct Try {
    /// How: step (into calls), next (over calls), finish, continue or until
    #[arg(value_name = "HOW", value_enum, default_value_t = How::Next, hide_possible_values = true)]
    how: How,
    /// Where `until` goes: FILE:LINE
    #[arg(value_name = "FILE:LINE", value_parser = place::line, required_if_eq("how", "until"))]
    place: Option<Place>,
    /// The thread to step, instead of the one that paused the program
    #[arg(long, value_name = "ID", allow_negative_numbers = true)]
    thread: Option<i64>,
    #[command(flatten)]
    extent: Extent,
    #[command(flatten)]
    part: Part,
    #[command(flatten)]
    patience: Patience,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum How {
    Step,
    Next,
    Finish,
    Continue,
    Until,
}

impl Try {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let action = match self.how {
            How::Step => "step_in",
            How::Next => "step_over",
            How::Finish => "step_out",
            How::Continue => "continue",
            How::Until => "run_to",
        };
        let mut body = self.extent.fields();
        body.extend(self.part.fields());
        if let Some(place) = &self.place {
            body.extend(place.fields(desk)?);
        }
        body.insert("action".to_owned(), json!(action));
        body.insert("thread".to_owned(), json!(self.thread));
        body.insert("wait_ms".to_owned(), json!(self.patience.timeout));
        let answer = desk.post("/api/debug/step", Value::Object(body))?;
        let diff: Option<SnapshotDiff> = understood(&answer["diff"])?;
        desk.context.answer(&answer, |page| {
            debug::moved(page, &answer, desk.context.start());
            if let Some(diff) = &diff {
                page.data.line("");
                render::diff(page, diff);
            }
            debug::advise(page, &answer, |rest| desk.command(rest));
        })?;
        Ok(Verdict::Done)
    }
}
