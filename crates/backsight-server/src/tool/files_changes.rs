//! Which paths differ between two states.

use backsight::request::{ComparePaths, PathText};
use backsight_core::Result;
use serde_json::json;

use super::{Asking, Call, Group, Shown, cursor, files_track::lists};
use crate::reply::{Draft, Next};
use crate::words;

pub struct FilesChanges;

impl Asking for FilesChanges {
    const NAME: &'static str = "files_changes";
    const TITLE: &'static str = "List changed files";
    const DESCRIPTION: &'static str = "List which files changed between two states. A state is a snapshot (#12, an \
        id, @ latest, @~2, a milestone's title, session:ID, message:ID) or now (the disk).";
    const GROUP: Group = Group::Files;
    const SHOWS_BUDGET: bool = true;
    const PAGES: bool = true;
    const SHOWN: &'static [Shown] = &[
        Shown::new("from").saying("default @, the latest snapshot").text(),
        Shown::new("to").saying("default now, the disk").text(),
        Shown::new("paths").text(),
        Shown::new("cursor"),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] = &[("changes", "array"), ("unseen", "array")];
    type Request = ComparePaths;

    fn run(call: &Call<'_>, mut request: ComparePaths) -> Result<Draft> {
        request.states.paths = PathText::without_root(request.states.paths);
        let start = cursor(call.cursor)?;
        let (from, to, paths) =
            (request.states.from().to_owned(), request.states.to().map(str::to_owned), request.states.paths.clone());
        let patch = call.workspace.perform(request)?;
        let changes: Vec<String> = patch.changes.iter().map(words::change).collect();
        let unseen: Vec<String> = patch.unseen.iter().map(words::unseen).collect();
        let to_name = to.as_deref().unwrap_or("now");
        let not_seen = words::not_seen(&unseen);
        let summary = match changes.len() {
            0 => format!("nothing differs between {from} and {to_name}{not_seen}"),
            1 => format!("1 path differs between {from} and {to_name}{not_seen}"),
            count => format!("{count} paths differ between {from} and {to_name}{not_seen}"),
        };
        let more = Next::new(Self::NAME, json!({ "from": from, "to": to, "paths": paths }));
        Ok(lists(Draft::new(summary).list_from("changes", changes, start, more), vec![("unseen", unseen)]))
    }
}
