//! `backsight debug on`, `points` and `series`: snapshots that are taken by themselves.

use backsight::debug::report;
use backsight_core::Result;
use serde_json::{Value, json};

use super::place::{self, Place};
use super::snapshots::Extent;
use super::{Desk, understood};
use crate::commands::Verdict;
use crate::lane::encode;
use crate::render::debug::snapshots as render;

/// Capture the program whenever it comes by a place, and let it go on
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  backsight debug on shop.py:12 --name loop --watch total
  backsight debug on shop.py:12 --condition 'total > 100' --max 20
  backsight debug on exception:uncaught
  backsight debug continue
  backsight debug series loop")]
pub struct On {
    /// Where: FILE:LINE, a function, `exception` (all of them) or `exception:uncaught`
    #[arg(value_name = "PLACE", value_parser = place::parse)]
    place: Place,
    /// What the series is called, instead of a name made of the place
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Only when this is true, in the program's language
    #[arg(long, value_name = "EXPRESSION")]
    condition: Option<String>,
    /// Finish after so many snapshots [default: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    max: Option<u64>,
    /// Capture only every so many hits
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    every: Option<u64>,
    #[command(flatten)]
    extent: Extent,
}

impl On {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let mut body = self.place.fields(desk)?;
        body.extend(self.extent.fields());
        body.insert("name".to_owned(), json!(self.name));
        body.insert("condition".to_owned(), json!(self.condition));
        body.insert("max_hits".to_owned(), json!(self.max));
        body.insert("every".to_owned(), json!(self.every));
        let point = desk.post("/api/debug/points", Value::Object(body))?;
        desk.context.answer(&point, |page| {
            render::point(page, &point, desk.context.start());
            let name = point["name"].as_str().unwrap_or_default();
            let series = desk.command(&format!("series {}", backsight_core::shell_word(name.as_bytes())));
            page.hint(format_args!("{}, then {series}", desk.command("continue")));
        })?;
        Ok(Verdict::Done)
    }
}

/// List the snapshot points, also those that are finished
#[derive(clap::Args, Debug)]
pub struct Points {}

impl Points {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let list = desk.get("/api/debug/points", &[])?;
        let points = list["points"].as_array().map_or(&[][..], Vec::as_slice);
        desk.context.answer(&list, |page| {
            points.iter().for_each(|point| render::point(page, point, desk.context.start()));
            if points.is_empty() {
                page.note("there are no snapshot points");
                page.hint(format_args!("set one with {}", desk.command("on FILE:LINE")));
            }
        })?;
        Ok(Verdict::Done)
    }
}

/// Show what a snapshot point captured, as a table
///
/// A row for each hit, a column for each value that changed from one hit to another.
#[derive(clap::Args, Debug)]
pub struct Series {
    /// The series' name, as `points` lists it
    #[arg(value_name = "NAME")]
    name: String,
    /// Only what is at or under this path
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Say no more than so many tokens, and count the rest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(200..))]
    max_tokens: Option<u32>,
}

impl Series {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let tokens = self.max_tokens.map(|tokens| tokens.to_string());
        let query = [("path", self.path.clone()), ("max_tokens", tokens)];
        let answer = desk.get(&format!("/api/debug/series/{}", encode(&self.name)), &query)?;
        let series: report::Series = understood(&answer)?;
        desk.context.answer(&answer, |page| render::series(page, &series))?;
        Ok(Verdict::Done)
    }
}
