//! Which variables of two frames are the same one. Those that hide each other are counted from the outermost, because it is
//! inner ones that come and go.

use std::collections::HashMap;

use super::change::Place;
use super::frames::Call;
use super::values::Walk;
use crate::capture::{FrameCapture, Variable};
use crate::path::{self, Group};

/// Compares the variables of one call.
pub(super) fn compare<'a>(walk: &mut Walk<'a>, call: Call<'a>, several: bool, distance: usize) {
    let frame = if several { call.new.or(call.old).map(|frame| frame.function.as_str()) } else { None };
    let place = |variable: &Variable| Place { scope: variable.scope, frame, distance };
    let (olds, news) = (Side::of(call.old), Side::of(call.new));
    // What a capture does not hold may be there all the same.
    let cut_short = walk.lacks_variables && call.old.is_some() && call.new.is_some();
    let mut paired = vec![false; olds.variables.len()];
    for (index, new) in news.variables.iter().enumerate() {
        let old = olds.places.get(&news.keys[index]).copied();
        if let Some(old) = old {
            paired[old] = true;
        }
        if old.is_none() && cut_short {
            walk.found.not_compared.push(news.paths[index].clone());
            continue;
        }
        let old = old.map(|old| &olds.variables[old].value);
        walk.variable(place(new), &news.paths[index], &new.name, old, Some(&new.value));
    }
    for (index, old) in olds.variables.iter().enumerate().filter(|(index, _)| !paired[*index]) {
        match cut_short {
            true => walk.found.not_compared.push(olds.paths[index].clone()),
            false => walk.variable(place(old), &olds.paths[index], &old.name, Some(&old.value), None),
        }
    }
}

/// The group, the name and how many of the same name are further out.
type Key<'a> = (Group, &'a str, usize);

struct Side<'a> {
    variables: &'a [Variable],
    paths: Vec<String>,
    keys: Vec<Key<'a>>,
    places: HashMap<Key<'a>, usize>,
}

impl<'a> Side<'a> {
    fn of(frame: Option<&'a FrameCapture>) -> Self {
        let variables = frame.map_or(&[][..], |frame| frame.variables.as_slice());
        let mut order: Vec<usize> = (0..variables.len()).collect();
        // Of equal ones the later is further out, as in their paths.
        order.sort_by_key(|index| std::cmp::Reverse((variables[*index].shadowed, *index)));
        let mut further_out: HashMap<(Group, &str), usize> = HashMap::with_capacity(variables.len());
        let mut keys = vec![(Group::Variable, "", 0); variables.len()];
        for index in order {
            let variable = &variables[index];
            let group = Group::of(variable);
            let count = further_out.entry((group, &variable.name)).or_default();
            keys[index] = (group, variable.name.as_str(), *count);
            *count += 1;
        }
        let places = keys.iter().enumerate().map(|(index, key)| (*key, index)).collect();
        let paths = frame.map(path::of_variables).unwrap_or_default();
        Side { variables, paths, keys, places }
    }
}
