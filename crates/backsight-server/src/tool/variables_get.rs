//! Variables of a frame, or what is inside one.

use backsight::debug::request::ReadVariables;
use backsight_core::Result;
use serde_json::json;

use super::debugging::{objects, short, variable as line, with_session};
use super::{Asking, Call, Group, Shown, cursor};
use crate::reply::{Draft, Next};
use crate::words;

pub struct VariablesGet;

impl Asking for VariablesGet {
    const NAME: &'static str = "variables_get";
    const TITLE: &'static str = "Show variables";
    const DESCRIPTION: &'static str =
        "Inspect local variables, arguments and their values, or the fields inside an object.";
    const GROUP: Group = Group::Debug;
    const DEFAULT_TOKENS: usize = 1000;
    const PAGES: bool = true;
    const SHOWN: &'static [Shown] = &[
        Shown::new("frame"),
        Shown::new("scope"),
        Shown::new("expand").saying("path or expression"),
        Shown::new("start"),
        Shown::new("count"),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[
        ("variables", "array"),
        ("scopes", "array"),
        ("total", "integer"),
        ("value", "object"),
        ("incomplete", "array"),
    ];
    type Request = ReadVariables;

    fn run(call: &Call<'_>, request: ReadVariables) -> Result<Draft> {
        let ReadVariables { session, thread, frame, scope, expand, count, .. } = &request;
        let frame = Some(*frame).filter(|frame| *frame > 0);
        let again = json!({ "thread": thread, "frame": frame, "scope": scope, "expand": expand, "count": count });
        let start = match call.cursor {
            Some(at) => cursor(Some(at))? as u64,
            None => request.start,
        };
        let session = session.clone();
        let page = call.workspace.perform(ReadVariables { start, ..request })?;
        let lines: Vec<String> = page.variables.iter().map(|one| line(call, one)).collect();
        let cursors = (start + 1..).take(lines.len()).map(|next| next.to_string()).collect();
        let whole = page.value.as_ref().map(|value| format!("{}; ", line(call, value)));
        let of = page.total.filter(|total| *total > lines.len() as u64).map(|total| format!(" of {total}"));
        let rest = if page.next_start.is_some() { ", and there are more" } else { "" };
        let (whole, of) = (whole.unwrap_or_default(), of.unwrap_or_default());
        let summary = format!("{whole}{}{of}{rest}", words::count(lines.len(), "variable"));
        let more = Next::new(Self::NAME, with_session(again, session.as_deref()));
        let told = page.variables.iter().map(|one| objects::variable(call, one)).collect();
        let mut draft = Draft::new(summary)
            .brief(words::count(page.variables.len(), "variable"))
            .maybe("total", page.total.filter(|total| *total > page.variables.len() as u64))
            .maybe("value", page.value.as_ref().map(|value| objects::variable(call, value)))
            .onward(&more, page.next_start.map(|next| next.to_string()))
            .list_after("variables", lines, cursors, more)
            .told_as(told);
        let scopes: Vec<String> = page.scopes.iter().map(|scope| short(call, scope)).collect();
        let missed =
            page.incomplete.iter().map(|one| format!("{} {}", short(call, &one.path), short(call, &one.reason)));
        for (name, lines) in [("incomplete", missed.collect()), ("scopes", scopes)] {
            if !lines.is_empty() {
                draft = draft.list(name, lines, None);
            }
        }
        Ok(draft)
    }
}
