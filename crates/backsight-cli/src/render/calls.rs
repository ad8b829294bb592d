//! Tool calls that began and have not finished.

use backsight::report::Call;
use backsight_core::Timestamp;

use crate::page::{Sheet, YELLOW};
use crate::render::snapshot;
use crate::width;
use crate::words::{age, enumerate};

/// Every call, indented: `0123456789abcdef  edit, session s1 (began 2 min ago, after #3)`
pub fn list(sheet: &mut Sheet, calls: &[Call], now: Timestamp) {
    for call in calls {
        let id = sheet.paint(YELLOW, &call.id);
        let began = sheet.dim(format_args!("(began {}, after {})", age(call.since, now), call.based_on));
        let taken = width::of(&format!("  {id}   {began}"));
        let who = sheet.width().map_or(who(call), |width| width::cut(&who(call), width.saturating_sub(taken)));
        sheet.fitted(format_args!("  {id}  {who} {began}"));
        let waits = match (&call.run.background, call.run.asked) {
            (Some(_), _) => Some("goes on in the background: what changes may be its work or yours"),
            (None, Some(_)) => Some("waits for an answer, or runs since: what changes may be its work or yours"),
            (None, None) => None,
        };
        waits.into_iter().for_each(|words| sheet.line(format_args!("    {words}")));
        if !call.origin.declared.is_empty() {
            sheet.line(format_args!("    declares {}", enumerate(&call.origin.declared)));
        }
    }
}

/// `edit, session s1`
pub fn who(call: &Call) -> String {
    match snapshot::origin(&call.origin) {
        nobody if nobody.is_empty() => "an unnamed tool".to_owned(),
        names => names.join(", "),
    }
}
