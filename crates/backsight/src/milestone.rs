//! Pure decisions about milestones: whether a range of snapshots may become one, and why not.

use backsight_core::{Code, Error, NextStep, Result, Seq, quote};
use serde_json::json;

use crate::reference;
use crate::report::Milestone;

/// What a new milestone has to continue.
pub(crate) struct Place<'a> {
    /// The newest milestone.
    pub(crate) last: Option<&'a Milestone>,
    /// The snapshot with which the next one starts; absent when none is left.
    pub(crate) start: Option<Seq>,
    /// The latest snapshot.
    pub(crate) latest: Option<Seq>,
}

/// The range from where the last milestone ended to `end`, or to the latest snapshot.
pub(crate) fn range_to(end: Option<Seq>, place: &Place<'_>) -> Result<(Seq, Seq)> {
    let (Some(start), Some(latest)) = (place.start, place.latest) else { return Err(nothing_left(place)) };
    let end = end.unwrap_or(latest);
    if end < start {
        let after = place.last.map_or(String::new(), |last| format!(", right after `{}`", last.title));
        return Err(Error::new(
            Code::InvalidRange,
            format!("the range would end at {end}, before it starts: the next milestone starts at {start}{after}"),
        )
        .with_hint(format!("name an end from {start} to {latest}"))
        .with_details(json!({ "start": start, "end": end, "latest": latest })));
    }
    Ok((start, end))
}

fn nothing_left(place: &Place<'_>) -> Error {
    let message = match place.last {
        Some(last) => {
            format!("nothing was recorded since milestone `{}`, which ends at {}", last.title, last.end_sequence_number)
        }
        None => "nothing is recorded yet".to_owned(),
    };
    Error::new(Code::InvalidRange, message)
        .then("record something first", NextStep::RecordFiles)
        .with_details(json!({ "last_end": place.last.map(|last| last.end_sequence_number) }))
}

/// The range of snapshots that were named one by one. `present` is every snapshot from the first to the last of them.
pub(crate) fn range_of(named: &[Seq], present: &[Seq], place: &Place<'_>) -> Result<(Seq, Seq)> {
    let (Some(start), Some(end)) = (named.iter().min().copied(), named.iter().max().copied()) else {
        return Err(Error::new(Code::InvalidRange, "a milestone holds at least one snapshot")
            .with_hint("name some, or leave them out to take everything since the last milestone"));
    };
    let missing: Vec<Seq> = present.iter().copied().filter(|seq| !named.contains(seq)).collect();
    if let Some(first) = missing.first() {
        let before = named.iter().filter(|seq| *seq < first).max().copied().unwrap_or(start);
        let after = named.iter().filter(|seq| *seq > first).min().copied().unwrap_or(end);
        let rest = match missing.len() {
            1 => String::new(),
            many => format!(" ({many} in all: {})", list(&missing)),
        };
        return Err(Error::new(
            Code::SequenceDiscontinuity,
            format!("the snapshots do not follow each other: missing {first} between {before} and {after}{rest}"),
        )
        .with_hint("name them too")
        .or("take the whole range", NextStep::WithEnd { end: end.0.to_string() })
        .with_details(json!({ "missing": missing, "start": start, "end": end })));
    }
    let Some(expected) = place.start else { return Err(overlap(start, end, place)) };
    if start < expected {
        return Err(overlap(start, end, place));
    }
    if start > expected {
        return Err(gap(start, expected, place));
    }
    Ok((start, end))
}

fn overlap(start: Seq, end: Seq, place: &Place<'_>) -> Error {
    let (title, last_end) = place.last.map_or(("", Seq(0)), |last| (&last.title, last.end_sequence_number));
    let next = match place.start {
        Some(next) => format!("the next milestone starts at {next}"),
        None => "nothing was recorded since".to_owned(),
    };
    Error::new(
        Code::MilestoneOverlap,
        format!("{start} to {end} overlaps milestone `{title}`, which ends at {last_end}: {next}"),
    )
    .with_hint("leave the snapshots out to take everything since the last milestone")
    .with_details(json!({ "start": start, "last_end": last_end, "expected_start": place.start }))
}

fn gap(start: Seq, expected: Seq, place: &Place<'_>) -> Error {
    let after = match place.last {
        Some(last) => format!("milestone `{}` ends at {}", last.title, last.end_sequence_number),
        None => "this is the first milestone".to_owned(),
    };
    Error::new(
        Code::MilestoneGap,
        format!("starting at {start} would leave out what was recorded before: {after}, so the next one starts at {expected}"),
    )
    .with_hint(format!("start at {expected}, or leave the snapshots out to take everything since"))
    .with_details(json!({
        "start": start,
        "expected_start": expected,
        "last_end": place.last.map(|last| last.end_sequence_number),
    }))
}

fn list(numbers: &[Seq]) -> String {
    const NAMED: usize = 10;
    let mut names: Vec<String> = numbers.iter().take(NAMED).map(Seq::to_string).collect();
    if numbers.len() > NAMED {
        names.push("...".to_owned());
    }
    names.join(", ")
}

/// The title in its normal form.
pub(crate) fn title(text: &str) -> Result<String> {
    const LONGEST: usize = 200;
    let title = text.trim();
    let problem = match title {
        "" => "is empty".to_owned(),
        _ if title.chars().count() > LONGEST => format!("has more than {LONGEST} characters"),
        _ if title.chars().any(char::is_control) => "has a line break or another control character in it".to_owned(),
        _ => match reference::reserved(title) {
            Some(meaning) => format!("cannot be `{}`, which as a reference is {meaning}", quote(title.as_bytes())),
            None => return Ok(title.to_owned()),
        },
    };
    Err(Error::new(Code::Usage, format!("the title of the milestone {problem}"))
        .then("name it as you would name it to a colleague, such as \"Login works\",", NextStep::CreateMilestone))
}

#[cfg(test)]
mod tests {
    use backsight_core::{SnapshotId, Timestamp};

    use super::*;
    use crate::report::MilestoneSummary;

    fn milestone(start: u64, end: u64) -> Milestone {
        Milestone {
            id: SnapshotId::from_random(end),
            sequence_number: Seq(end + 1),
            timestamp: Timestamp(0),
            title: "One".to_owned(),
            description: String::new(),
            tags: Vec::new(),
            start_sequence_number: Seq(start),
            end_sequence_number: Seq(end),
            previous_milestone_id: None,
            summary: MilestoneSummary {
                total_operations: 1,
                affected_files: 0,
                lines_added: None,
                lines_removed: None,
            },
        }
    }

    fn seqs(numbers: &[u64]) -> Vec<Seq> {
        numbers.iter().copied().map(Seq).collect()
    }

    /// Snapshots 1 to 5 and, after the milestone's own row 6, 7 to 9.
    fn refused(named: &[u64]) -> Error {
        let last = milestone(1, 5);
        let place = Place { last: Some(&last), start: Some(Seq(7)), latest: Some(Seq(9)) };
        let named = seqs(named);
        let within = |seq: &Seq| named.iter().min() <= Some(seq) && Some(seq) <= named.iter().max();
        let present: Vec<Seq> = seqs(&[1, 2, 3, 4, 5, 7, 8, 9]).into_iter().filter(within).collect();
        range_of(&named, &present, &place).unwrap_err()
    }

    #[test]
    fn each_refusal_has_its_own_code_and_its_facts() {
        let hole = refused(&[7, 9]);
        assert_eq!(hole.code(), Code::SequenceDiscontinuity);
        assert!(hole.message().contains("missing #8 between #7 and #9"), "{hole}");
        let gap = refused(&[8, 9]);
        assert_eq!(gap.code(), Code::MilestoneGap);
        assert_eq!(gap.details()["expected_start"], 7);
        let overlap = refused(&[5, 7]);
        assert_eq!(overlap.code(), Code::MilestoneOverlap);
        assert_eq!(overlap.details()["last_end"], 5);
        assert_eq!(refused(&[]).code(), Code::InvalidRange);
    }

    #[test]
    fn a_range_starts_after_the_last_milestone_and_ends_with_the_latest() {
        let last = milestone(1, 5);
        let place = Place { last: Some(&last), start: Some(Seq(7)), latest: Some(Seq(9)) };
        assert_eq!(range_to(None, &place).unwrap(), (Seq(7), Seq(9)));
        assert_eq!(range_to(Some(Seq(8)), &place).unwrap(), (Seq(7), Seq(8)));
        assert_eq!(range_to(Some(Seq(3)), &place).unwrap_err().code(), Code::InvalidRange);
        assert_eq!(range_of(&seqs(&[7, 8]), &seqs(&[7, 8]), &place).unwrap(), (Seq(7), Seq(8)));
        let done = Place { start: None, ..place };
        assert_eq!(range_to(None, &done).unwrap_err().code(), Code::InvalidRange);
    }

    #[test]
    fn titles_are_one_readable_line() {
        assert_eq!(title("  Login works ").unwrap(), "Login works");
        assert!(
            title(" ").is_err()
                && title("now").is_err()
                && title("@~2").is_err()
                && title("a\nb").is_err()
                && title(&"x".repeat(201)).is_err()
        );
    }
}
