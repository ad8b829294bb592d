//! Gives a variable of the paused program another value.

use backsight::debug::render::both_safe;
use backsight::debug::request::SetVariable;
use backsight_core::Result;

use super::debugging::short;
use super::{Asking, Call, Group, Shown};
use crate::reply::Draft;
use crate::words;

pub struct VariableSet;

impl Asking for VariableSet {
    const NAME: &'static str = "variable_set";
    const TITLE: &'static str = "Set a variable";
    const DESCRIPTION: &'static str =
        "Set, assign a variable, field or element of the paused program: this changes the running program.";
    const GROUP: Group = Group::Debug;
    const SHOWN: &'static [Shown] = &[
        Shown::new("path").saying("such as order.total"),
        Shown::new("value").saying("an expression, which runs"),
        Shown::new("frame"),
    ];
    const OUTPUT: &'static [(&'static str, &'static str)] =
        &[("path", "string"), ("before", "string"), ("after", "string"), ("type", "string")];
    type Request = SetVariable;

    fn run(call: &Call<'_>, request: SetVariable) -> Result<Draft> {
        let set = call.workspace.perform(request)?;
        let path = short(call, &set.path);
        let (before, after) = both_safe(set.before.as_deref().unwrap_or_default(), &set.after);
        let (before, after) = (words::clip(&before), words::clip(&after));
        let from = if set.before.is_some() { format!(" (was {before})") } else { String::new() };
        Ok(Draft::new(format!("{path} is {after}{from}: the program was changed"))
            .brief("set")
            .fact("path", path)
            .maybe("before", set.before.is_some().then_some(before))
            .fact("after", after)
            .maybe("type", set.kind.as_deref().map(|kind| short(call, kind))))
    }
}
