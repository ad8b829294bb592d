//! Sessions as rows, without files: what is in effect, what a revert takes back, where the way back ends.

use backsight_core::Timestamp;

use super::*;

/// A row, who made it, and what it takes back.
struct Told {
    rows: Vec<SessionRow>,
    outlines: Vec<Outline>,
    noted: Vec<Appearance>,
}

impl Told {
    fn new() -> Told {
        let mut told = Told { rows: Vec::new(), outlines: Vec::new(), noted: Vec::new() };
        told.row(Kind::Track, &[], true);
        told
    }

    fn row(&mut self, kind: Kind, targets: &[u64], whole: bool) -> Seq {
        let seq = Seq(self.outlines.len() as u64 + 1);
        self.outlines.push(Outline {
            seq,
            kind,
            targets: targets.iter().copied().map(Seq).collect(),
            leaving: Vec::new(),
            whole,
            has_base: seq.0 > 1,
            timestamp: Timestamp(0),
            pinned: false,
            expired: false,
        });
        seq
    }

    fn own(&mut self, kind: Kind, message: Option<&str>, part: Option<&str>, targets: &[u64]) -> Seq {
        let seq = self.row(kind, targets, true);
        self.rows.push(SessionRow {
            seq,
            kind,
            message: message.map(str::to_owned),
            part: part.map(str::to_owned),
            targets: targets.iter().copied().map(Seq).collect(),
            has_base: true,
            mark: None,
        });
        seq
    }

    fn step(&mut self, message: &str) -> Seq {
        self.own(Kind::Track, Some(message), None, &[])
    }

    fn part(&mut self, message: &str, part: &str) -> Seq {
        self.own(Kind::Track, Some(message), Some(part), &[])
    }

    fn marked(&mut self, mark: SessionMark, targets: &[u64]) -> Seq {
        let seq = self.own(Kind::Revert, None, None, targets);
        self.rows.last_mut().unwrap().mark = Some(mark);
        seq
    }

    /// Reverts as the library would.
    fn revert(&mut self, message: &str, part: Option<&str>) -> Vec<u64> {
        let targets = self.targets(message, part);
        self.marked(SessionMark::Revert { message: message.to_owned(), part: part.map(str::to_owned) }, &targets);
        targets
    }

    fn unrevert(&mut self) -> Vec<u64> {
        let targets: Vec<u64> = self.session().unrevert().unwrap().iter().map(|seq| seq.0).collect();
        self.marked(SessionMark::Unrevert, &targets);
        targets
    }

    fn note(&mut self, message: &str, part: Option<&str>) {
        let seen = Seq(self.outlines.len() as u64);
        self.noted.push(Appearance { message: message.to_owned(), part: part.map(str::to_owned), seen });
    }

    fn session(&self) -> Session {
        Session::new(self.noted.clone(), self.rows.clone(), &self.outlines)
    }

    fn targets(&self, message: &str, part: Option<&str>) -> Vec<u64> {
        let session = self.session();
        let place = session.place(message, part).unwrap();
        session.revert_to(&place).targets.iter().map(|seq| seq.0).collect()
    }

    fn effective(&self) -> Vec<u64> {
        self.session().contributing().map(|row| row.seq.0).collect()
    }
}

/// Messages m1, m2, m3 with the steps 2, 3, 4.
fn three() -> Told {
    let mut told = Told::new();
    for message in ["m1", "m2", "m3"] {
        told.step(message);
    }
    told
}

#[test]
fn a_revert_takes_the_message_and_everything_later() {
    let told = three();
    assert_eq!(told.targets("m2", None), [4, 3]);
    assert_eq!(told.targets("m1", None), [4, 3, 2]);
    assert_eq!(told.session().place("m9", None), Err(Missing::Message));
    assert_eq!(told.session().place("m1", Some("p1")), Err(Missing::Part));
}

#[test]
fn repeated_reverts_count_from_the_un_reverted_state() {
    let mut told = three();
    assert_eq!(told.revert("m3", None), [4]);
    assert_eq!(told.revert("m2", None), [3], "#4 is taken back already");
    assert_eq!(told.effective(), [2]);
    assert_eq!(told.revert("m3", None), [6, 5, 4], "less far back: forward to the beginning and back from there");
    assert_eq!(told.effective(), [2, 3]);
    assert!(told.session().revert_to(&told.session().place("m3", None).unwrap()).is_there);
    assert_eq!(told.revert("m2", None), [3]);
    assert_eq!(told.revert("m3", None), [8, 7, 6, 5, 4]);
    assert_eq!(told.effective(), [2, 3]);
    assert_eq!(told.unrevert(), [9, 8, 7, 6, 5]);
    assert_eq!(told.effective(), [2, 3, 4]);
    assert_eq!(told.session().unrevert(), Err(NoWayBack::TakenBack { revert: Seq(9), by: Seq(10) }));
    assert_eq!(told.targets("m2", None), [4, 3], "as if nothing had been reverted");
}

#[test]
fn a_new_step_closes_the_way_back_for_good() {
    let mut told = three();
    assert_eq!(told.session().unrevert(), Err(NoWayBack::NeverReverted));
    told.revert("m2", None);
    told.step("m4");
    assert_eq!(told.session().unrevert(), Err(NoWayBack::Closed { revert: Seq(5), by: Seq(6) }));
    assert_eq!(told.effective(), [2, 6]);
    assert_eq!(told.revert("m4", None), [6]);
    assert_eq!(told.session().unrevert(), Ok(vec![Seq(7)]), "the older revert stays closed");
    assert_eq!(told.revert("m1", None), [2], "what was reverted for good is not touched again");
}

#[test]
fn what_others_take_back_is_not_touched_again() {
    let mut told = three();
    told.row(Kind::Undo, &[4], true);
    assert_eq!((told.effective(), told.targets("m2", None)), (vec![2, 3], vec![3]));
    told.row(Kind::Redo, &[5], true);
    assert_eq!(told.targets("m2", None), [4, 3]);
    told.row(Kind::Revert, &[3], false);
    assert_eq!(told.targets("m2", None), [4, 3], "a revert of some paths leaves the rest to be taken back");
    told.row(Kind::Revert, &[3], true);
    assert_eq!(told.targets("m2", None), [4]);
}

#[test]
fn undo_and_redo_of_a_revert_take_the_session_forth_and_back() {
    let mut told = three();
    told.revert("m2", None);
    let undo = told.row(Kind::Undo, &[5], true);
    assert_eq!(told.effective(), [2, 3, 4]);
    assert_eq!(told.session().unrevert(), Err(NoWayBack::TakenBack { revert: Seq(5), by: undo }));
    told.row(Kind::Redo, &[undo.0], true);
    assert_eq!(told.effective(), [2]);
    assert_eq!(told.unrevert(), [5]);
    told.row(Kind::Undo, &[8], true);
    assert_eq!(told.session().unrevert(), Ok(vec![Seq(5)]), "the unrevert was undone, so it can be done again");
}

#[test]
fn a_session_that_undoes_its_own_step_is_taken_back_with_its_undo() {
    let mut told = three();
    told.own(Kind::Undo, Some("m4"), None, &[4]);
    assert_eq!(told.effective(), [2, 3, 4, 5], "the two cancel each other out");
    assert_eq!(told.targets("m4", None), [5], "which brings #4 back");
    assert_eq!(told.targets("m3", None), [5, 4]);
}

#[test]
fn parts_and_messages_are_in_the_order_they_were_first_seen() {
    let mut told = Told::new();
    told.note("m1", None);
    told.note("m1", Some("p1"));
    told.note("m1", Some("p2"));
    told.note("m2", None);
    let [second, first] = [told.part("m1", "p2"), told.part("m1", "p1")];
    let loose = told.own(Kind::Track, None, None, &[]);
    assert_eq!(told.targets("m1", Some("p2")), [loose.0, second.0], "p1 finished later and yet comes first");
    assert_eq!(told.targets("m1", Some("p1")), [loose.0, first.0, second.0]);
    assert_eq!(told.targets("m2", None), [loose.0], "what names no message goes by its time");
    assert_eq!((told.session().messages(), told.session().parts("m1")), (vec!["m1", "m2"], vec!["p1", "p2"]));
}

#[test]
fn a_message_that_changed_nothing_takes_back_only_what_came_later() {
    let mut told = three();
    told.note("m4", None);
    assert_eq!(told.targets("m4", None), [0u64; 0]);
    told.step("m5");
    assert_eq!(told.targets("m4", None), [5]);
    told.revert("m3", None);
    told.note("m6", None);
    assert_eq!(told.targets("m6", None), [0u64; 0], "a talk after a revert does not bring anything back");
    assert_eq!(told.session().unrevert(), Ok(vec![Seq(6)]));
}
