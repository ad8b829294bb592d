//! Captures by asking the adapter level by level, for debuggers that take no walker. One frame after the other, since some
//! adapters use the same numbers for the variables of different frames.

mod page;
mod tree;

use std::path::Path;
use std::time::{Duration, Instant};

use backsight_core::{Code, Error, Result, bounded};
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{CapturePlan, Found, HEAD, TAIL, memory, signature, told};
use crate::capture::{FrameCapture, Incomplete, Node, Safety, Scope, Variable};
use crate::dap::types::{self, StackFrame};
use crate::session::control::LARGEST_SOURCE;
use crate::session::engine::{Engine, PATIENCE, Paused};
use crate::session::inspect::is_local;
pub(super) use page::Asked;
use tree::{ChildRange, Label, Tree};

/// Maps up to this many entries are captured whole; of longer ones as many as of lists.
const WHOLE_MAP: u64 = 48;
/// How many frames are asked for to know how deep the stack is.
const DEEPEST: u32 = 200;
/// Threads beyond these are counted.
const MOST_THREADS: usize = 64;

/// How many requests are sent beyond what is told, only to hash values, and how long they may take in all.
const HASH_REQUESTS: usize = 1_000;
const HASH_TIME: Duration = Duration::from_millis(200);
/// So many of them before it is looked whether there is time for more.
const HASH_AT_ONCE: usize = 64;
/// Longer lists are hashed in memory or not at all.
const HASH_ELEMENTS: u64 = 2_048;
/// As many elements as Delve sends in one answer.
const PAGE: u64 = 64;

/// What is left of the budget.
struct Budget {
    deadline: Instant,
    nodes: usize,
    late: usize,
    cut: usize,
}

/// A request for what is inside a value.
struct Job {
    slot: usize,
    arguments: Value,
    part: ChildRange,
}

impl Job {
    fn whole(slot: usize, arguments: Value) -> Job {
        Job { slot, arguments, part: ChildRange::All }
    }

    /// Some of the elements.
    fn part(slot: usize, mut arguments: Value, start: u64, count: u64) -> Job {
        arguments["filter"] = json!("indexed");
        (arguments["start"], arguments["count"]) = (json!(start), json!(count));
        Job { slot, arguments, part: ChildRange::Asked(start, count) }
    }
}

pub(super) async fn capture(engine: &Engine, paused: &Paused, thread: i64, plan: &CapturePlan) -> Result<Found> {
    let mut budget = Budget { deadline: Instant::now() + plan.limit, nodes: plan.max_nodes, late: 0, cut: 0 };
    let mut found = Found { frames: Vec::new(), incomplete: Vec::new(), stack_depth: None };
    let stack = engine.stack(paused, thread, DEEPEST).await?;
    found.stack_depth = (stack.len() < DEEPEST as usize).then_some(stack.len() as u32);
    let mut chosen: Vec<(i64, u32, StackFrame)> = Vec::new();
    let frames = stack.iter().zip(0u32..).skip(plan.frame as usize).take(plan.frames.count() as usize);
    chosen.extend(frames.map(|(frame, index)| (thread, index, frame.clone())));
    if plan.all_threads {
        let threads = engine.threads().await?;
        if threads.len() > MOST_THREADS {
            let reason = format!("{} threads, {MOST_THREADS} captured", threads.len());
            found.incomplete.push(Incomplete::new("", reason));
        }
        for other in threads.iter().filter(|other| other.id != thread).take(MOST_THREADS - 1) {
            let stack = engine.stack(paused, other.id, plan.frames.count()).await?;
            let frames = stack.iter().zip(0u32..).take(plan.frames.count() as usize);
            chosen.extend(frames.map(|(frame, index)| (other.id, index, frame.clone())));
        }
    }
    for (position, (thread, index, frame)) in chosen.iter().enumerate() {
        let mut walk = FrameWalk { engine, paused, plan, budget: &mut budget, incomplete: &mut found.incomplete };
        let mut variables = if plan.only_watches { Vec::new() } else { walk.variables(frame).await? };
        if position == 0 {
            variables.extend(walk.watches(frame).await?);
        }
        let file = frame.source.as_ref().and_then(|source| source.path.clone());
        let line = (frame.line > 0).then_some(frame.line);
        let function = frame.name.clone();
        let mut captured =
            FrameCapture { thread_id: *thread, index: *index, function, file, line, call: None, variables };
        told::resolve(&mut captured);
        found.frames.push(captured);
    }
    found.incomplete.extend(budget.said(plan));
    Ok(found)
}

impl Budget {
    /// Whether so many more requests may be sent; if not, they are counted as what is not seen.
    fn allows(&mut self, wanted: usize) -> bool {
        if Instant::now() >= self.deadline {
            self.late += wanted;
            return false;
        }
        if self.nodes == 0 {
            self.cut += wanted;
            return false;
        }
        true
    }

    fn said(&self, plan: &CapturePlan) -> Vec<Incomplete> {
        let mut said = Vec::new();
        if self.late > 0 {
            said.push(format!("timed out after {} ms: {} values not expanded", plan.limit.as_millis(), self.late));
        }
        if self.cut > 0 {
            said.push(format!("more than {} values: {} not expanded", plan.max_nodes, self.cut));
        }
        said.into_iter().map(|reason| Incomplete::new("", reason)).collect()
    }
}

struct FrameWalk<'a> {
    engine: &'a Engine,
    paused: &'a Paused,
    plan: &'a CapturePlan,
    budget: &'a mut Budget,
    incomplete: &'a mut Vec<Incomplete>,
}

impl FrameWalk<'_> {
    async fn variables(&mut self, frame: &StackFrame) -> Result<Vec<Variable>> {
        let mut tree = Tree::new(&self.engine.adapter.quirks, self.plan.safety, frame.id);
        let roots = self.roots(frame, &mut tree, None).await?;
        self.expand(&mut tree).await?;
        self.deepen(&mut tree).await?;
        Ok(named(&tree, &roots, frame))
    }

    /// Asks for the variables of a frame's own scopes, and of the one that is named.
    async fn roots(&mut self, frame: &StackFrame, tree: &mut Tree<'_>, also: Option<&str>) -> Result<Vec<Rooted>> {
        let mut roots = Vec::new();
        for (of, scope, variables) in self.scopes(frame, also).await? {
            for variable in variables {
                let Some(slot) = tree.add(None, variable, 0) else { continue };
                roots.push(Rooted { slot, scope, of: of.clone() });
            }
        }
        Ok(roots)
    }

    /// The variables of some scopes. An adapter that knows of some and sends none has lost its place.
    async fn scopes(
        &mut self,
        frame: &StackFrame,
        also: Option<&str>,
    ) -> Result<Vec<(String, Scope, Vec<types::Variable>)>> {
        for _ in 0..2 {
            let scopes = self.engine.scopes(self.paused, frame.id).await?;
            let mut found = Vec::new();
            let mut lost = false;
            let wanted = |scope: &&types::Scope| (is_local(scope) && !scope.expensive) || also == Some(&scope.name);
            for scope in scopes.iter().filter(wanted) {
                let arguments = json!({ "variablesReference": scope.variables_reference });
                let body = self.engine.ask("variables", arguments, PATIENCE).await?;
                self.engine.still(self.paused)?;
                let (variables, unread) = types::list::<types::Variable>(body, "variables");
                if unread > 0 {
                    let unread = Incomplete::new("", format!("{unread} variables could not be understood"));
                    self.incomplete.push(Incomplete { lacks_variables: true, ..unread });
                }
                lost |= variables.is_empty() && scope.named_variables.is_some_and(|named| named > 0);
                found.push((scope.name.clone(), kind_of(scope), variables));
            }
            if !lost {
                return Ok(found);
            }
        }
        let message =
            format!("`{}` tells no variables of `{}` although there are some", self.engine.adapter.name, frame.name);
        Err(Error::new(Code::AdapterFailed, message))
    }

    /// Level by level; what merely points to something does not count as a level.
    async fn expand(&mut self, tree: &mut Tree<'_>) -> Result<()> {
        loop {
            let open = tree.open(self.plan.depth);
            if open.is_empty() {
                return Ok(());
            }
            if !self.budget.allows(open.len()) {
                tree.close(&open);
                return Ok(());
            }
            self.identify(tree, &open).await;
            let jobs: Vec<Job> = open.iter().flat_map(|slot| self.jobs(tree, *slot)).collect();
            for (path, refused) in self.ask(tree, &jobs).await? {
                self.incomplete.push(Incomplete::new(path, refused));
            }
            tree.close(&open);
        }
    }

    /// Asks for what is inside values and fills it in; what was refused, and why.
    async fn ask(&mut self, tree: &mut Tree<'_>, jobs: &[Job]) -> Result<Vec<(String, String)>> {
        let asked = jobs.iter().map(|job| {
            let request = self.engine.connection.request("variables", job.arguments.clone(), PATIENCE);
            async move { (job, request.await) }
        });
        let answers = join_all(asked).await;
        self.engine.still(self.paused)?;
        let mut refusals = Vec::new();
        for (job, answer) in answers {
            match answer {
                Ok(body) => {
                    let (children, _) = types::list::<types::Variable>(body, "variables");
                    self.budget.nodes = self.budget.nodes.saturating_sub(children.len());
                    tree.fill(job.slot, children, job.part);
                }
                Err(refused) => refusals.push((tree.path(job.slot), refused.to_string())),
            }
        }
        Ok(refusals)
    }

    /// Goes on where nothing more is told, so that values can be hashed: as far as a small budget reaches. What it does not
    /// reach is known not to be hashed whole. Not where asking runs code of the program.
    async fn deepen(&mut self, tree: &mut Tree<'_>) -> Result<()> {
        self.hash_long(tree).await;
        if self.engine.adapter.quirks.runs_code || self.engine.adapter.quirks.ignores_paging {
            return Ok(());
        }
        let mut requests = HASH_REQUESTS;
        let deadline = (Instant::now() + HASH_TIME).min(self.budget.deadline);
        let rest: Vec<Job> =
            tree.sampled().into_iter().flat_map(|(slot, from, to)| rest_of(tree, slot, from, to)).collect();
        let rest = rest.get(..rest.len().min(requests / 2)).unwrap_or_default();
        requests -= rest.len();
        tree.hide();
        self.ask(tree, rest).await?;
        while requests > 0 && Instant::now() < deadline {
            let open = tree.deepen(requests.min(HASH_AT_ONCE));
            if open.is_empty() {
                break;
            }
            requests -= open.len();
            self.identify(tree, &open).await;
            let jobs: Vec<Job> = open.iter().flat_map(|slot| whole_of(tree, *slot)).collect();
            self.ask(tree, &jobs).await?;
            tree.close_for_good(&open);
        }
        self.hash_long(tree).await;
        Ok(())
    }

    /// Asks which objects pointers point to, where the debugger can tell, so that cycles end.
    async fn identify(&self, tree: &mut Tree<'_>, open: &[usize]) {
        let Some(template) = &self.engine.adapter.quirks.address_of else { return };
        let pointers: Vec<(usize, String)> =
            open.iter().filter_map(|slot| Some((*slot, tree.pointer(*slot)?))).collect();
        let asked = pointers.iter().map(|(slot, expression)| {
            let arguments =
                json!({ "expression": template.replace("{}", expression), "frameId": tree.frame, "context": "watch" });
            let request = self.engine.connection.request("evaluate", arguments, PATIENCE);
            async move { (*slot, request.await) }
        });
        for (slot, answer) in join_all(asked).await {
            // Without it a cycle ends at the depth.
            if let Ok(body) = answer {
                tree.identify(slot, types::read::<types::Evaluated>(body).result);
            }
        }
    }

    /// Hashes values the debugger does not send whole, where the memory of the program can be read.
    async fn hash_long(&self, tree: &mut Tree<'_>) {
        let Some(template) = &self.engine.adapter.quirks.address_at else { return };
        let Some(process) = self.engine.process_id().and_then(memory::child_of) else { return };
        let long = tree.long();
        let asked = long.iter().map(|(slot, expression, form)| {
            let expression = template.replace("{}", expression);
            let arguments = json!({ "expression": expression, "frameId": tree.frame, "context": "watch" });
            let request = self.engine.connection.request("evaluate", arguments, PATIENCE);
            async move { (*slot, *form, request.await) }
        });
        for (slot, form, answer) in join_all(asked).await {
            // Without an address it stays unknown whether it changed.
            let Ok(body) = answer else { continue };
            let text = types::read::<types::Evaluated>(body).result;
            let address = text.split_whitespace().next().and_then(|number| number.parse().ok());
            if let Some(read) = address.and_then(|address| memory::read(process, address, form)) {
                tree.learn(slot, read);
            }
        }
    }

    fn jobs(&mut self, tree: &Tree<'_>, slot: usize) -> Vec<Job> {
        let (reference, length, is_map) = tree.request(slot);
        let quirks = &self.engine.adapter.quirks;
        let arguments = json!({ "variablesReference": reference });
        let Some(length) = length else { return vec![Job::whole(slot, arguments)] };
        let most = if is_map { WHOLE_MAP } else { HEAD + TAIL };
        if length > most && quirks.ignores_paging {
            let reason = format!("{length} elements, 0 captured: `{}` would send them all", self.engine.adapter.name);
            self.incomplete.push(Incomplete::new(tree.path(slot), reason));
            return Vec::new();
        }
        if length <= most {
            return vec![Job::part(slot, arguments, 0, length)];
        }
        let told = HEAD + TAIL;
        let what = if is_map { "entries" } else { "elements" };
        self.incomplete.push(Incomplete::new(tree.path(slot), format!("{length} {what}, {told} captured")));
        let pages = if is_map { vec![(0, told)] } else { vec![(0, HEAD), (length - TAIL, TAIL)] };
        pages.into_iter().map(|(start, count)| Job::part(slot, arguments.clone(), start, count)).collect()
    }

    async fn watches(&mut self, frame: &StackFrame) -> Result<Vec<Variable>> {
        let mut found = Vec::new();
        for expression in &self.plan.watches {
            let quirks = &self.engine.adapter.quirks;
            let calls = quirks.is_command(expression);
            let allowed = self.plan.safety != Safety::Pure || (quirks.evaluates_purely && !calls);
            let value = match allowed {
                true => self.watch(frame, expression).await?,
                false => Node::leaf("error", "<error: it may run code>"),
            };
            found.push(Variable::new(Scope::Watch, expression.clone(), value));
        }
        Ok(found)
    }

    async fn watch(&mut self, frame: &StackFrame, expression: &str) -> Result<Node> {
        let arguments = json!({ "expression": expression, "frameId": frame.id, "context": "watch" });
        let answer = self.engine.connection.request("evaluate", arguments, PATIENCE).await;
        self.engine.still(self.paused)?;
        let told: types::Evaluated = match answer {
            Ok(body) => types::read(body),
            Err(refused) => return Ok(Node::leaf("error", format!("<error: {refused}>"))),
        };
        let mut tree = Tree::new(&self.engine.adapter.quirks, self.plan.safety, frame.id);
        let variable = as_variable(expression, told);
        let Some(root) = tree.add(None, variable, 0) else { return Ok(Node::leaf("", "")) };
        self.expand(&mut tree).await?;
        self.deepen(&mut tree).await?;
        Ok(tree.node(root))
    }
}

/// Requests for the elements of a list that were not asked for to be shown.
fn rest_of(tree: &Tree<'_>, slot: usize, from: u64, to: u64) -> Vec<Job> {
    let (reference, ..) = tree.request(slot);
    let arguments = json!({ "variablesReference": reference });
    if to.saturating_sub(from) > HASH_ELEMENTS {
        return Vec::new();
    }
    let starts = (from..to).step_by(PAGE as usize);
    starts.map(|start| Job::part(slot, arguments.clone(), start, PAGE.min(to - start))).collect()
}

/// Requests for everything inside a value; none for what is too long.
fn whole_of(tree: &Tree<'_>, slot: usize) -> Vec<Job> {
    let (reference, length, _) = tree.request(slot);
    match length {
        None => vec![Job::whole(slot, json!({ "variablesReference": reference }))],
        Some(length) => rest_of(tree, slot, 0, length),
    }
}

/// A variable among the values that were asked for.
struct Rooted {
    slot: usize,
    scope: Scope,
    /// The scope's name.
    of: String,
}

/// The variables with their plain names and what they are.
fn named(tree: &Tree<'_>, roots: &[Rooted], frame: &StackFrame) -> Vec<Variable> {
    let signature = signature_of(frame);
    let variable = |root: &Rooted| {
        let (name, shadowed) = plain_name(tree.name(root.slot));
        let told = signature.iter().find(|(known, _)| *known == name && shadowed == 0 && root.scope == Scope::Local);
        let scope = match told {
            Some((_, scope)) => *scope,
            None if matches!(&*name, "this" | "self" | "%self") => Scope::This,
            // What a Go function will return, where it has no name of its own.
            None if name.starts_with("~r") => Scope::Result,
            None => root.scope,
        };
        Variable { name, shadowed, scope, value: tree.node(root.slot) }
    };
    roots.iter().map(variable).collect()
}

/// What an expression yields, as if it were a variable.
fn as_variable(expression: &str, told: types::Evaluated) -> types::Variable {
    types::Variable {
        name: expression.to_owned(),
        value: told.result,
        kind: told.kind,
        evaluate_name: Some(format!("({expression})")),
        variables_reference: told.variables_reference,
        named_variables: told.named_variables,
        indexed_variables: told.indexed_variables,
        memory_reference: told.memory_reference,
        presentation_hint: None,
    }
}

fn kind_of(scope: &types::Scope) -> Scope {
    let name = scope.name.to_ascii_lowercase();
    match scope.presentation_hint.as_deref() {
        Some("arguments") => Scope::Argument,
        _ if name.starts_with("arg") => Scope::Argument,
        _ if name.starts_with("closure") => Scope::Closure,
        _ => Scope::Local,
    }
}

/// A name without what debuggers add to those that are hidden by others: `(x)`, `x @ file:line`.
fn plain_name(name: &str) -> (String, u32) {
    if let Some(inner) = name.strip_prefix('(').and_then(|name| name.strip_suffix(')')) {
        let (inner, deeper) = plain_name(inner);
        return (inner, deeper + 1);
    }
    (name.split(" @ ").next().unwrap_or(name).to_owned(), 0)
}

fn signature_of(frame: &StackFrame) -> Vec<(String, Scope)> {
    let path = frame.source.as_ref().and_then(|source| source.path.as_deref());
    let Some(path) = path.filter(|path| path.ends_with(".go")) else { return Vec::new() };
    let source = bounded::read(Path::new(path), LARGEST_SOURCE).ok().and_then(|text| String::from_utf8(text).ok());
    source.map(|source| signature::of_go(&source, frame.line)).unwrap_or_default()
}

/// Where a value is in its parent, for paths.
fn step(path: &mut String, label: &Label) {
    use crate::path::{Step, push};
    match label {
        Label::Root(name) => path.push_str(name),
        Label::Field(name) => push(path, Step::Field(name, 1)),
        Label::Index(index) => push(path, Step::Index(*index)),
        Label::Key(key) => push(path, Step::Key(key, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_variables_have_their_plain_name() {
        assert_eq!(plain_name("x"), ("x".to_owned(), 0));
        assert_eq!(plain_name("(x)"), ("x".to_owned(), 1));
        assert_eq!(plain_name("((x))"), ("x".to_owned(), 2));
        assert_eq!(plain_name("x @ r.rs:33"), ("x".to_owned(), 0));
    }
}
