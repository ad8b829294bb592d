//! Original places in the code: which scripts have source maps, loading them, and the errors that wait for them.

use backsight_core::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Context, Counts};
use crate::event::{Console, Event};

/// What waits.
#[derive(Debug, Default)]
pub struct Maps {}

#[derive(Deserialize)]
pub struct ScriptParsed {}

impl Maps {
    pub fn parsed(&mut self, _session: &str, _script: ScriptParsed) {}
    pub fn place(&mut self, context: &mut Context<'_>, console: Console) {
        context.tell(Event::Console(console));
    }
    pub fn ready(&mut self) -> Vec<Event> {
        Vec::new()
    }
    pub fn opened(&mut self, _context: &mut Context<'_>, _map: &str, _answer: Option<&RawValue>) {}
    pub fn read(&mut self, _context: &mut Context<'_>, _map: &str, _answer: Option<&RawValue>) {}
    pub fn tick(&mut self, _now: Timestamp, _ended: Option<&str>, _counts: &mut Counts) -> Vec<Event> {
        Vec::new()
    }
    pub fn detached(&mut self, _session: &str) {}
    pub fn pending(&self) -> bool {
        false
    }
}
