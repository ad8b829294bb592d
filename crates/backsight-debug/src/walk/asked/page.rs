//! Pages of what is inside a value, for debuggers that take no walker: the way to the value is asked for step by step.

use std::time::Instant;

use backsight_core::{Code, Error, NextStep, Result};
use serde_json::json;

use super::tree::{ChildRange, Tree};
use super::{Budget, FrameWalk, Rooted};
use crate::capture::{Incomplete, Safety, Variable};
use crate::dap::types::{self, StackFrame};
use crate::session::engine::{Engine, PATIENCE, Paused};
use crate::walk::page::{Part, Root};
use crate::walk::{CapturePlan, runs_code};

/// A frame whose variables were asked for.
pub(in crate::walk) struct Asked<'a> {
    engine: &'a Engine,
    paused: &'a Paused,
    frame: StackFrame,
    tree: Tree<'a>,
    roots: Vec<Rooted>,
    plan: CapturePlan,
    scope: Option<String>,
    incomplete: Vec<Incomplete>,
}

impl<'a> Asked<'a> {
    pub(in crate::walk) async fn open(
        engine: &'a Engine,
        paused: &'a Paused,
        thread: i64,
        index: u32,
        safety: Safety,
        scope: Option<String>,
    ) -> Result<Asked<'a>> {
        let plan = CapturePlan { safety, ..CapturePlan::default() };
        let stack = engine.stack(paused, thread, index.saturating_add(1)).await?;
        let frame = stack.get(index as usize).cloned().ok_or_else(moved)?;
        let mut tree = Tree::new(&engine.adapter.quirks, safety, frame.id);
        let mut incomplete = Vec::new();
        let mut budget = budget(&plan);
        let mut walk = FrameWalk { engine, paused, plan: &plan, budget: &mut budget, incomplete: &mut incomplete };
        let roots = walk.roots(&frame, &mut tree, scope.as_deref()).await?;
        Ok(Asked { engine, paused, frame, tree, roots, plan, scope, incomplete })
    }

    /// The variables of the frame, and which of them are in the scope that was asked for.
    pub(in crate::walk) fn variables(&self) -> Vec<(Variable, bool)> {
        let wanted = |root: &Rooted| self.scope.as_ref().is_none_or(|scope| *scope == root.of);
        let variables = super::named(&self.tree, &self.roots, &self.frame);
        variables.into_iter().zip(self.roots.iter().map(wanted)).collect()
    }

    /// What was not seen since this was asked last.
    pub(in crate::walk) fn said(&mut self) -> Vec<Incomplete> {
        std::mem::take(&mut self.incomplete)
    }

    pub(in crate::walk) async fn page(&mut self, root: &Root, at: &[u64], start: u64, count: u64) -> Result<Part> {
        let mut slot = match root {
            Root::Variable(position) => self.roots.get(*position).map(|root| root.slot).ok_or_else(moved)?,
            Root::Expression(expression) => self.evaluated(expression).await?,
            Root::Scope(_) => return Err(runs_code(self.engine)),
        };
        for position in at {
            self.fill(slot, *position, 1).await?;
            slot = self.tree.children(slot).first().copied().ok_or_else(moved)?;
        }
        let total = self.fill(slot, start, count).await?;
        Ok(Part { node: self.tree.node(slot), total })
    }

    async fn evaluated(&mut self, expression: &str) -> Result<usize> {
        let quirks = &self.engine.adapter.quirks;
        let calls = quirks.is_command(expression);
        if self.plan.safety == Safety::Pure && (calls || !quirks.evaluates_purely) {
            return Err(Error::new(Code::AdapterFailed, "the expression may run the program's code")
                .then("allow that", NextStep::WithProgramsCode));
        }
        let arguments = json!({ "expression": expression, "frameId": self.frame.id, "context": "watch" });
        let body = self.engine.ask("evaluate", arguments, PATIENCE).await?;
        self.engine.still(self.paused)?;
        let variable = super::as_variable(expression, types::read(body));
        self.tree.add(None, variable, 0).ok_or_else(moved)
    }

    /// Asks for a part of what is inside a value, following what only points to something; how much there is in all.
    async fn fill(&mut self, slot: usize, start: u64, count: u64) -> Result<Option<u64>> {
        // A pointer to a pointer, and so on, ends somewhere.
        for _ in 0..16 {
            let (reference, length, _) = self.tree.request(slot);
            if reference <= 0 {
                return Ok(Some(0));
            }
            let length = length.filter(|_| !self.engine.adapter.quirks.ignores_paging);
            let mut arguments = json!({ "variablesReference": reference });
            if length.is_some() {
                // With a count of nothing some send everything.
                (arguments["filter"], arguments["start"], arguments["count"]) =
                    (json!("indexed"), json!(start), json!(count.max(1)));
            }
            if length.is_some_and(|length| start >= length) {
                self.tree.empty(slot);
                return Ok(length);
            }
            let body = self.engine.ask("variables", arguments, PATIENCE).await?;
            self.engine.still(self.paused)?;
            let (children, unread) = types::list::<types::Variable>(body, "variables");
            if unread > 0 {
                let reason = format!("{unread} variables could not be understood");
                self.incomplete.push(Incomplete::new(self.tree.path(slot), reason));
            }
            if self.tree.is_box(slot, &children) {
                self.tree.fill(slot, children, ChildRange::All);
                continue;
            }
            self.tree.empty(slot);
            let part = match length {
                Some(length) => ChildRange::Asked(start, count.min(length - start)),
                None => ChildRange::Chosen(start, count),
            };
            let came = self.tree.fill(slot, children, part);
            return Ok(Some(length.unwrap_or(came)));
        }
        Ok(None)
    }
}

fn budget(plan: &CapturePlan) -> Budget {
    Budget { deadline: Instant::now() + plan.limit, nodes: plan.max_nodes, late: 0, cut: 0 }
}

fn moved() -> Error {
    Error::new(Code::AdapterFailed, "the debugger tells fewer values than before")
}
