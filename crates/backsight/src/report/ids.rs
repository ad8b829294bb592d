//! Where reports name sessions, messages and parts, so that a reader can be shown short ids in their place.

use super::{
    Begun, Bisected, Blame, Call, Event, FileVersion, FoundStep, LineOrigin, LogPage, Origin, RevertInfo, Row, Session,
    SessionDetail, SessionMessage, SessionReverted, SessionStarted, SessionStep, SessionTracked, SessionUnreverted,
    Snapshot, SnapshotDetail, WorkspaceStatus,
};
use crate::timeline::OriginColumn;

/// A report that names sessions, messages and parts.
pub trait HasIds {
    /// Shows every id of it, to be looked at or replaced.
    fn each_id(&mut self, visit: &mut dyn FnMut(OriginColumn, &mut String));
}

impl<T: HasIds> HasIds for Vec<T> {
    fn each_id(&mut self, visit: &mut dyn FnMut(OriginColumn, &mut String)) {
        self.iter_mut().for_each(|item| item.each_id(visit));
    }
}

impl<T: HasIds> HasIds for Option<T> {
    fn each_id(&mut self, visit: &mut dyn FnMut(OriginColumn, &mut String)) {
        self.iter_mut().for_each(|item| item.each_id(visit));
    }
}

impl<T: HasIds> HasIds for Box<T> {
    fn each_id(&mut self, visit: &mut dyn FnMut(OriginColumn, &mut String)) {
        self.as_mut().each_id(visit);
    }
}

impl HasIds for Origin {
    fn each_id(&mut self, visit: &mut dyn FnMut(OriginColumn, &mut String)) {
        let ids = [
            (OriginColumn::Session, &mut self.session),
            (OriginColumn::Message, &mut self.message),
            (OriginColumn::Part, &mut self.part),
        ];
        for (column, id) in ids {
            id.iter_mut().for_each(|id| visit(column, id));
        }
    }
}

/// Reports whose ids are those of some of their fields.
macro_rules! ids_of_fields {
    ($($report:ident: $($field:ident),+;)*) => {
        $(impl HasIds for $report {
            fn each_id(&mut self, visit: &mut dyn FnMut(OriginColumn, &mut String)) {
                $(self.$field.each_id(visit);)+
            }
        })*
    };
}

ids_of_fields! {
    Bisected: found;
    FoundStep: snapshot;
    Snapshot: origin;
    Event: origin;
    SnapshotDetail: snapshot;
    LogPage: rows;
    FileVersion: origin;
    Blame: hunks;
    Call: origin;
    Begun: call, open_calls;
    WorkspaceStatus: latest, open_calls;
    SessionStarted: session;
    SessionDetail: session, messages, other_steps;
}

impl HasIds for Row {
    fn each_id(&mut self, visit: &mut dyn FnMut(OriginColumn, &mut String)) {
        match self {
            Row::Snapshot(snapshot) => snapshot.each_id(visit),
            Row::Event(event) => event.each_id(visit),
        }
    }
}

impl HasIds for super::BlameHunk {
    fn each_id(&mut self, visit: &mut dyn FnMut(OriginColumn, &mut String)) {
        match &mut self.origin {
            LineOrigin::Recorded(version)
            | LineOrigin::External(version)
            | LineOrigin::Baseline(version)
            | LineOrigin::Expired(version) => version.each_id(visit),
            LineOrigin::Unrecorded => {}
        }
    }
}

impl HasIds for RevertInfo {
    fn each_id(&mut self, visit: &mut dyn FnMut(OriginColumn, &mut String)) {
        visit(OriginColumn::Message, &mut self.message_id);
        self.part_id.iter_mut().for_each(|part| visit(OriginColumn::Part, part));
    }
}

impl HasIds for Session {
    fn each_id(&mut self, visit: &mut dyn FnMut(OriginColumn, &mut String)) {
        visit(OriginColumn::Session, &mut self.id);
        self.open_calls.each_id(visit);
        self.revert.each_id(visit);
    }
}

impl HasIds for SessionMessage {
    fn each_id(&mut self, visit: &mut dyn FnMut(OriginColumn, &mut String)) {
        visit(OriginColumn::Message, &mut self.id);
        self.parts.iter_mut().for_each(|part| visit(OriginColumn::Part, &mut part.id));
        self.steps.each_id(visit);
    }
}

impl HasIds for SessionStep {
    fn each_id(&mut self, visit: &mut dyn FnMut(OriginColumn, &mut String)) {
        self.part.iter_mut().for_each(|part| visit(OriginColumn::Part, part));
    }
}

impl HasIds for SessionTracked {
    fn each_id(&mut self, visit: &mut dyn FnMut(OriginColumn, &mut String)) {
        visit(OriginColumn::Session, &mut self.session);
        self.message.iter_mut().for_each(|message| visit(OriginColumn::Message, message));
        self.part.iter_mut().for_each(|part| visit(OriginColumn::Part, part));
        self.call.each_id(visit);
        self.step.each_id(visit);
    }
}

impl HasIds for SessionReverted {
    fn each_id(&mut self, visit: &mut dyn FnMut(OriginColumn, &mut String)) {
        visit(OriginColumn::Session, &mut self.session);
        self.revert.each_id(visit);
        self.finished_calls.each_id(visit);
    }
}

impl HasIds for SessionUnreverted {
    fn each_id(&mut self, visit: &mut dyn FnMut(OriginColumn, &mut String)) {
        visit(OriginColumn::Session, &mut self.session);
        self.revert.each_id(visit);
    }
}
