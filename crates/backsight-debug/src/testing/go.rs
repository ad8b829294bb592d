//! `go test`, as Delve runs it.

use std::path::Path;

use backsight_core::Result;

use super::{Framework, Planned, Wanted, literal};
use crate::session::Place;

pub(super) fn plan(root: &Path, wanted: &Wanted) -> Result<Planned> {
    let package = if wanted.path.is_dir() { wanted.path.as_path() } else { wanted.path.parent().unwrap_or(root) };
    let mut arguments = vec!["-test.v".to_owned(), "-test.failfast".to_owned()];
    // A subtest may be named as it is written, or as Go reports it: `TestTotal/empty_cart`.
    let name: Vec<&str> = wanted.name.iter().flat_map(|part| part.split('/')).collect();
    if !name.is_empty() {
        let parts: Vec<String> = name.iter().map(|part| format!("^{}$", literal(&part.replace(' ', "_")))).collect();
        arguments.extend(["-test.run".to_owned(), parts.join("/")]);
    }
    // `go test` runs each package in its own directory.
    let planned = Planned {
        program: package.to_owned(),
        arguments,
        mode: Some("test"),
        ..Planned::new(Framework::Go, "delve", package.to_owned())
    };
    // What every way to fail comes to: `t.Error`, `t.Fatalf`, and what libraries make of them.
    Ok(planned.stopping_at(Place::Function("testing.(*common).Fail".to_owned())))
}
