//! What nearly every answer says about the timeline, kept until the timeline is another one: a server is asked for it
//! many times between two changes.

use std::sync::{Arc, Mutex, PoisonError};

use backsight_core::{Result, Seq};

use super::Opened;
use super::call::open_calls_in;
use super::milestone::milestones_in;
use crate::history::Replay;
use crate::report::{Call, Milestone};
use crate::timeline::Step;

/// The timeline at a glance.
pub(super) struct Glance {
    pub(super) latest: Option<Step>,
    pub(super) snapshots: u64,
    pub(super) undoable: u64,
    pub(super) redoable: u64,
    pub(super) open_calls: Vec<Call>,
    pub(super) milestone: Option<Milestone>,
    pub(super) snapshots_since_milestone: u64,
}

/// The last glance, and what it takes to bring it up to date.
#[derive(Default)]
pub(super) struct Glances {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    replay: Replay,
    glance: Option<((i64, i64), Arc<Glance>)>,
}

impl Opened {
    /// What the timeline says now.
    pub(super) fn glance(&self) -> Result<Arc<Glance>> {
        let mut kept = self.glances.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // First: what is read after it may be newer, and then the next one reads again.
        let version = self.timeline.version()?;
        if let Some((of, glance)) = &kept.glance
            && *of == version
        {
            return Ok(glance.clone());
        }
        let latest = self.timeline.latest()?;
        let newest = latest.as_ref().map_or(Seq(0), |latest| latest.snapshot.sequence_number);
        if newest < kept.replay.newest() {
            // Rows are gone, which only happens from outside.
            kept.replay = Replay::default();
        }
        for outline in self.timeline.outlines_after(kept.replay.newest())? {
            kept.replay.push(&outline);
        }
        let milestone = milestones_in(self)?.into_iter().next();
        let milestone_end = milestone.as_ref().map_or(Seq(0), |milestone| milestone.end_sequence_number);
        let (undoable, redoable) = kept.replay.depths();
        let glance = Arc::new(Glance {
            latest,
            snapshots: kept.replay.count(),
            undoable,
            redoable,
            open_calls: open_calls_in(self)?,
            snapshots_since_milestone: kept.replay.count_after(milestone_end),
            milestone,
        });
        kept.glance = Some((version, glance.clone()));
        Ok(glance)
    }
}
