//! Reads a snapshot back: its values one by one, the variables before what is inside them, as many as a budget allows.

use backsight_core::estimate_tokens;

use crate::capture::{Capture, Inside, Node, Scope};
use crate::diff::scalar::clipped;
use crate::diff::{Form, Options, fitting, fold};
use crate::path;
use crate::render;
use crate::report::{SnapshotEntry, SnapshotView, ViewEntry};

/// The longest value shown, in bytes.
const LONGEST: usize = 240;

/// The values of a capture.
pub fn snapshot_view(capture: &Capture, mut snapshot: SnapshotEntry, options: &Options) -> SnapshotView {
    if let Some(wanted) = &options.path {
        // What is missing elsewhere is nobody's question.
        snapshot.incomplete.retain(|missing| missing.path.is_empty() || path::is_under(&missing.path, wanted));
    }
    let mut values: Vec<(usize, u32, ViewEntry)> = Vec::new();
    for (distance, frame) in capture.frames.iter().enumerate() {
        let name = (capture.frames.len() > 1).then_some(frame.function.as_str());
        for (variable, root) in frame.variables.iter().zip(path::of_variables(frame)) {
            let mut place = At { distance, depth: 0, scope: variable.scope, frame: name, path: root };
            place.collect(&variable.value, options.path.as_deref(), &mut values);
        }
    }
    // Stable, so that what is equally deep stays in the order of the capture.
    values.sort_by_key(|(distance, depth, _)| (*distance, *depth));
    let left: Vec<ViewEntry> = values.into_iter().skip(options.offset).map(|(.., entry)| entry).collect();
    let view = SnapshotView {
        snapshot,
        values: Vec::new(),
        path: options.path.clone(),
        omitted: 0,
        folded: Vec::new(),
        next_offset: None,
    };
    fit(view, &left, options)
}

struct At<'a> {
    distance: usize,
    depth: u32,
    scope: Scope,
    frame: Option<&'a str>,
    path: String,
}

impl At<'_> {
    fn collect(&mut self, node: &Node, wanted: Option<&str>, values: &mut Vec<(usize, u32, ViewEntry)>) {
        if wanted.is_none_or(|above| path::is_under(&self.path, above)) {
            let entry = ViewEntry {
                path: self.path.clone(),
                kind: node.kind.clone(),
                scope: self.scope,
                frame: self.frame.map(str::to_owned),
                value: value(node),
            };
            values.push((self.distance, self.depth, entry));
        }
        path::each_child(node, |step, child| {
            let length = self.path.len();
            path::push(&mut self.path, step);
            self.depth += 1;
            self.collect(child, wanted, values);
            self.depth -= 1;
            self.path.truncate(length);
        });
    }
}

fn value(node: &Node) -> String {
    match &node.inside {
        Inside::SeeAt(path) => format!("-> {path}"),
        Inside::Unset => "(no value yet)".to_owned(),
        _ => {
            let cut = clipped(&node.text, LONGEST);
            let length = node.length.filter(|_| cut.len() < node.text.len());
            length.map_or(cut.clone().into_owned(), |length| format!("{cut} (length {length})"))
        }
    }
}

fn fit(view: SnapshotView, left: &[ViewEntry], options: &Options) -> SnapshotView {
    let measure = |view: &SnapshotView| match options.form {
        Form::Compact => estimate_tokens(&render::compact_view(view)),
        Form::Json => estimate_tokens(&serde_json::to_string(view).unwrap_or_default()),
    };
    let with = |count: usize| {
        let mut view = view.clone();
        view.values = left[..count].to_vec();
        view.omitted = (left.len() - count) as u64;
        view.folded = fold(left[count..].iter().map(|entry| entry.path.as_str()));
        view.next_offset = (count < left.len()).then_some(options.offset + count);
        view
    };
    // No value takes less than this.
    let most = left.len().min(options.max_tokens / 3 + 1);
    with(fitting(1, most, |count| measure(&with(count)) <= options.max_tokens))
}
