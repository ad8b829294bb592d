//! `backsight debug on`, `points` and `series`: snapshots that are taken by themselves.

use backsight::debug::request::{AnswerPart, BreakpointSpec, CaptureAt, ListPoints, ReadSeries, limits};
use backsight_core::Result;

use super::Desk;
use super::place::{self, Place};
use super::snapshots::Extent;
use crate::commands::Verdict;
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
    /// Only from this hit on: 5, or as the debugger understands it
    #[arg(long, value_name = "N")]
    hits: Option<String>,
    /// Finish after so many snapshots [default: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=limits::MOST_HITS))]
    max: Option<u64>,
    /// Capture only every so many hits
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    every: Option<u64>,
    #[command(flatten)]
    extent: Extent,
}

impl On {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let (condition, hit_count) = (self.condition.clone(), self.hits.clone());
        let point = desk.perform(&CaptureAt {
            session: desk.session(),
            at: BreakpointSpec { condition, hit_count, ..self.place.spec(desk)? },
            name: self.name.clone(),
            max_hits: self.max,
            every: self.every,
            extent: self.extent.wanted(),
        })?;
        desk.context.answer(&point, |page| {
            render::point(page, &point, desk.context.start());
            let series = desk.command(&format!("series {}", backsight_core::shell_word(point.name.as_bytes())));
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
        let list = desk.perform(&ListPoints { session: desk.session() })?;
        desk.context.answer(&list, |page| {
            list.points.iter().for_each(|point| render::point(page, point, desk.context.start()));
            if list.points.is_empty() {
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
    #[arg(long, value_name = "N", value_parser = super::tokens)]
    max_tokens: Option<usize>,
}

impl Series {
    pub fn run(&self, desk: &Desk<'_>) -> Result<Verdict> {
        let part = AnswerPart { path: self.path.clone(), offset: 0, max_tokens: self.max_tokens };
        let series = desk.perform(&ReadSeries { session: desk.session(), name: self.name.clone(), part })?;
        desk.context.answer(&series, |page| render::series(page, &series))?;
        Ok(Verdict::Done)
    }
}
