//! Reads variables and what is inside them page by page. A value is named by a path as captures and diffs write it, or by an
//! expression; every value that is told comes with the path that leads to it, so that it can be asked for next.
//!
//! Paths are written and understood by `crate::path` alone: whoever reads the program's memory knows only positions.

use std::collections::HashMap;
use std::time::Duration;

use backsight_core::{Code, Error, NextStep, Result};
use serde_json::{Value, json};

use super::asked::Asked;
use super::told::ToldNode;
use super::{CapturePlan, GRACE, lldb, python, runs_code, walked};
use crate::adapters::Walker;
use crate::capture::{Inside, Node, Safety, Scope, Variable};
use crate::path;
use crate::session::engine::{Engine, Paused};
use crate::session::inspect::{VariableView, VariablesPage, VariablesRequest, choose_scope, is_local, thread_of};

/// How many variables are read at once unless asked for more.
const PAGE: u64 = 100;
/// And at most.
const MOST: u64 = 1000;
/// How many entries are looked through for the one that a path names.
const SEARCHED: u64 = 100_000;
/// How many entries before a page are looked at to number those with the same name.
const NUMBERED: u64 = 10_000;
const LIMIT: Duration = Duration::from_secs(2);

/// Where a way to a value begins.
#[derive(Clone, Debug)]
pub(super) enum Root {
    /// The variable at this position of the frame.
    Variable(usize),
    /// Whatever an expression yields.
    Expression(String),
    /// All that a scope holds, which only the walkers in Python and V8 know as one value.
    Scope(String),
}

/// A value with some of what is inside it.
pub(super) struct Part {
    pub node: Node,
    /// How much is inside, where that is known.
    pub total: Option<u64>,
}

/// A frame to read from.
struct Reader<'a> {
    engine: &'a Engine,
    paused: &'a Paused,
    thread: i64,
    index: u32,
    frame: i64,
    by: By<'a>,
}

/// Who reads.
enum By<'a> {
    Walker(Walker),
    Asking(Box<Asked<'a>>),
}

/// A place in a program, as far as a path led.
struct Lost {
    at: String,
    names: Vec<String>,
    total: u64,
}

/// A page of variables, or of what is inside one.
pub(crate) async fn variables(engine: &Engine, request: &VariablesRequest) -> Result<VariablesPage> {
    let paused = engine.paused()?;
    engine.idle()?;
    let thread = thread_of(&paused, request.thread)?;
    let frame = engine.frame_id(&paused, Some(thread), request.frame).await?;
    let count = if request.count == 0 { PAGE } else { request.count.min(MOST) };
    let mut page = VariablesPage { epoch: paused.epoch, safety: request.safety, ..VariablesPage::default() };
    let mut scope = None;
    if request.expand.is_none() {
        let scopes = engine.scopes(&paused, frame).await?;
        page.scopes = scopes.iter().map(|scope| scope.name.clone()).collect();
        scope = request.scope.as_deref().map(|name| choose_scope(&scopes, name).cloned()).transpose()?;
    }
    let named = scope.as_ref().map(|scope| scope.name.clone());
    let mut reader = Reader::open(engine, &paused, thread, request, frame, named).await?;
    match (&request.expand, &scope) {
        (Some(path), _) => reader.inside(path, request.start, count, &mut page).await?,
        (None, Some(scope)) if reader.walks(Walker::Python) && !is_local(scope) => {
            reader.globals(&scope.name, request.start, count, &mut page).await?;
        }
        (None, Some(scope)) if reader.walks(Walker::Inspector) => {
            reader.scope(scope.name.clone(), request.start, count, &mut page).await?;
        }
        (None, _) => reader.listing(request.start, count, &mut page).await?,
    }
    engine.still(&paused)?;
    Ok(page)
}

impl<'a> Reader<'a> {
    async fn open(
        engine: &'a Engine,
        paused: &'a Paused,
        thread: i64,
        request: &VariablesRequest,
        frame: i64,
        scope: Option<String>,
    ) -> Result<Reader<'a>> {
        let quirks = &engine.adapter.quirks;
        let walker = if request.safety == Safety::Pure { quirks.walker } else { Walker::None };
        let mut by = By::Walker(walker);
        let asks = walker == Walker::None || (scope.is_some() && !quirks.runs_code);
        if asks && request.safety == Safety::Pure && quirks.runs_code {
            return Err(runs_code(engine));
        }
        // LLDB may have been built without Python.
        let unwalked = walker == Walker::Lldb && !asks && lldb::prepare(engine, frame).await.is_err();
        if asks || unwalked {
            by = By::Asking(Box::new(Asked::open(engine, paused, thread, request.frame, request.safety, scope).await?));
        }
        Ok(Reader { engine, paused, thread, index: request.frame, frame, by })
    }

    fn walks(&self, walker: Walker) -> bool {
        matches!(&self.by, By::Walker(by) if *by == walker)
    }

    /// The variables of the frame, and which of them belong to what was asked for.
    async fn roots(&self) -> Result<Vec<(Variable, bool)>> {
        let walker = match &self.by {
            By::Asking(asked) => return Ok(asked.variables()),
            By::Walker(walker) => *walker,
        };
        let plan = CapturePlan { frame: self.index, limit: LIMIT, ..CapturePlan::default() };
        let told = walked(self.engine, self.paused, self.thread, &plan, walker, false).await?;
        let frame = super::Found::from(told).frames.into_iter().next();
        let variables = frame.map(|frame| frame.variables).unwrap_or_default();
        Ok(variables.into_iter().map(|variable| (variable, true)).collect())
    }

    async fn listing(&mut self, start: u64, count: u64, page: &mut VariablesPage) -> Result<()> {
        let (variables, wanted): (Vec<Variable>, Vec<bool>) = self.roots().await?.into_iter().unzip();
        let paths = path::of_all(&variables);
        let chosen: Vec<(Variable, String)> =
            variables.into_iter().zip(paths).zip(wanted).filter_map(|(one, wanted)| wanted.then_some(one)).collect();
        let total = chosen.len() as u64;
        let shown = chosen.into_iter().skip(position(start)).take(position(count));
        let view = |(variable, path): (Variable, String)| VariableView {
            scope: Some(variable.scope),
            ..view(variable.name.clone(), path, &variable.value)
        };
        page.variables = shown.map(view).collect();
        page.counted(start, Some(total));
        if let By::Asking(asked) = &mut self.by {
            page.incomplete = asked.said();
        }
        Ok(())
    }

    async fn globals(&mut self, scope: &str, start: u64, count: u64, page: &mut VariablesPage) -> Result<()> {
        if !scope.eq_ignore_ascii_case("globals") {
            return Err(runs_code(self.engine));
        }
        self.scope("globals".to_owned(), start, count, page).await
    }

    async fn scope(&mut self, name: String, start: u64, count: u64, page: &mut VariablesPage) -> Result<()> {
        let part = self.page(&Root::Scope(name), &[], start, count).await?;
        let (Inside::Entries(entries) | Inside::Fields(entries)) = &part.node.inside else { return Ok(()) };
        page.variables = entries.iter().map(|(name, node)| view(name.clone(), name.clone(), node)).collect();
        page.counted(start, part.total);
        Ok(())
    }

    async fn inside(&mut self, wanted: &str, start: u64, count: u64, page: &mut VariablesPage) -> Result<()> {
        let (root, at, base) = self.find(wanted.trim()).await?;
        let part = self.page(&root, &at, start, count).await?;
        let mut seen = self.names_before(&root, &at, &part.node, start).await?;
        let mut found = Vec::new();
        path::each_child(&part.node, |step, child| {
            let step = numbered(step, &mut seen);
            let mut path = base.clone();
            path::push(&mut path, step);
            found.push(view(name_of(step), path, child));
        });
        page.variables = found;
        page.value = Some(view(base.clone(), base, &part.node));
        page.counted(start, part.total);
        if let By::Asking(asked) = &mut self.by {
            page.incomplete = asked.said();
        }
        Ok(())
    }

    /// How often each name occurs before a page: the second one with the same name is told from the first.
    async fn names_before(
        &mut self,
        root: &Root,
        at: &[u64],
        node: &Node,
        start: u64,
    ) -> Result<HashMap<String, usize>> {
        let mut seen = HashMap::new();
        if !matches!(node.inside, Inside::Entries(_) | Inside::Fields(_)) || start > NUMBERED {
            return Ok(seen);
        }
        let mut done = 0;
        while done < start {
            let part = self.page(root, at, done, MOST.min(start - done)).await?;
            path::each_child(&part.node, |step, _| {
                numbered(step, &mut seen);
            });
            done += MOST;
        }
        Ok(seen)
    }

    /// What a path or an expression names: where the way begins, its positions, and the path of the value.
    async fn find(&mut self, wanted: &str) -> Result<(Root, Vec<u64>, String)> {
        if let Some(inner) = wanted.strip_prefix("watch(") {
            return self.find_watch(wanted, inner).await;
        }
        let variables: Vec<Variable> = self.roots().await?.into_iter().map(|(variable, _)| variable).collect();
        let paths = path::of_all(&variables);
        let named = paths.iter().enumerate().filter(|(_, root)| path::is_under(wanted, root));
        let mut lost = None;
        if let Some((position, root)) = named.max_by_key(|(_, root)| root.len()) {
            let start = Root::Variable(position);
            match self.descend(&start, root.clone(), wanted).await? {
                Ok(at) => return Ok((start, at, wanted.to_owned())),
                Err(place) => lost = Some(place),
            }
        }
        let expression = Root::Expression(wanted.to_owned());
        match (self.page(&expression, &[], 0, 0).await, lost) {
            // In JavaScript whatever is not there is `undefined`.
            (Ok(part), Some(lost)) if part.node.kind == "undefined" => Err(lost.told(wanted)),
            (Ok(_), _) => Ok((expression, Vec::new(), format!("watch({wanted})"))),
            (Err(error), _) if error.code() != Code::AdapterFailed => Err(error),
            (Err(error), lost) => Err(nowhere(wanted, lost, &error)),
        }
    }

    /// `watch(a + b).c`: which parenthesis ends the expression is found by trying.
    async fn find_watch(&mut self, wanted: &str, inner: &str) -> Result<(Root, Vec<u64>, String)> {
        let offset = wanted.len() - inner.len();
        let ends = inner.match_indices(')').map(|(end, _)| end);
        let ends = ends.filter(|end| matches!(inner.as_bytes().get(end + 1), None | Some(b'.' | b'[')));
        let mut failure = None;
        for end in ends {
            let expression = Root::Expression(inner.get(..end).unwrap_or_default().to_owned());
            match self.page(&expression, &[], 0, 0).await {
                Ok(_) => {
                    let label = wanted.get(..=offset + end).unwrap_or_default().to_owned();
                    let found = self.descend(&expression, label, wanted).await?;
                    let at = found.map_err(|place| place.told(wanted))?;
                    return Ok((expression, at, wanted.to_owned()));
                }
                Err(error) if error.code() != Code::AdapterFailed => return Err(error),
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.map_or_else(
            || Error::new(Code::Usage, format!("`{wanted}` has no end: `watch(` needs a `)`")),
            |error| nowhere(wanted, None, &error),
        ))
    }

    async fn descend(
        &mut self,
        root: &Root,
        label: String,
        wanted: &str,
    ) -> Result<std::result::Result<Vec<u64>, Lost>> {
        let mut at = Vec::new();
        let mut here = label;
        while here.len() < wanted.len() {
            match self.step(root, &at, &here, wanted).await? {
                Ok((position, label)) => {
                    at.push(position);
                    here = label;
                }
                Err(lost) => return Ok(Err(lost)),
            }
        }
        Ok(Ok(at))
    }

    /// The next value on the way, by its position and its path.
    async fn step(
        &mut self,
        root: &Root,
        at: &[u64],
        here: &str,
        wanted: &str,
    ) -> Result<std::result::Result<(u64, String), Lost>> {
        if let Some(index) = wanted.get(here.len()..).and_then(leading_index) {
            let part = self.page(root, at, index, 1).await?;
            if matches!(&part.node.inside, Inside::Elements(all) if all.first().is_some_and(|(at, _)| *at == index)) {
                return Ok(Ok((index, format!("{here}[{index}]"))));
            }
        }
        let mut seen = HashMap::new();
        let mut lost = Lost { at: here.to_owned(), names: Vec::new(), total: 0 };
        let mut start = 0;
        loop {
            let part = self.page(root, at, start, MOST).await?;
            let mut position = start;
            let mut best: Option<(u64, String)> = None;
            path::each_child(&part.node, |step, _| {
                let step = numbered(step, &mut seen);
                let mut label = here.to_owned();
                path::push(&mut label, step);
                if path::is_under(wanted, &label) && best.as_ref().is_none_or(|(_, known)| known.len() < label.len()) {
                    best = Some((position, label));
                }
                if lost.names.len() < 12 {
                    lost.names.push(name_of(step));
                }
                position += 1;
            });
            if let Some(found) = best {
                return Ok(Ok(found));
            }
            lost.total = part.total.unwrap_or(position);
            let over = position == start || position >= lost.total || position >= SEARCHED;
            if over || matches!(part.node.inside, Inside::Elements(_)) {
                return Ok(Err(lost));
            }
            start = position;
        }
    }

    async fn page(&mut self, root: &Root, at: &[u64], start: u64, count: u64) -> Result<Part> {
        let walker = match &mut self.by {
            By::Asking(asked) => return asked.page(root, at, start, count).await,
            By::Walker(walker) => *walker,
        };
        let mut arguments = json!({ "thread": self.thread, "frame": self.index, "frameId": self.frame, "root": 0,
            "expression": null, "scope": null, "at": at, "start": start, "count": count });
        match root {
            Root::Variable(position) => arguments["root"] = json!(position),
            Root::Expression(expression) => arguments["expression"] = json!(expression),
            Root::Scope(name) => arguments["scope"] = json!(name),
        }
        let patience = LIMIT + GRACE;
        let answer = match walker {
            Walker::Python => python::call(self.engine, self.paused, self.thread, "page", &arguments, patience).await?,
            Walker::Lldb => lldb::call(self.engine, "page", &arguments, self.frame, patience).await?,
            Walker::Inspector => self.engine.ask("backsight/page", arguments, patience).await?,
            Walker::None => return Err(runs_code(self.engine)),
        };
        self.engine.still(self.paused)?;
        read(answer)
    }
}

impl Lost {
    fn told(self, wanted: &str) -> Error {
        Error::new(Code::Usage, self.words(wanted)).with_hint("a path is written as the answers write it")
    }

    fn words(self, wanted: &str) -> String {
        let Lost { at, names, total } = self;
        if total == 0 {
            return format!("`{wanted}` leads nowhere: there is nothing inside `{at}`");
        }
        let more = total.saturating_sub(names.len() as u64);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("`{wanted}` leads nowhere: inside `{at}` there are {}{more}", names.join(", "))
    }
}

impl VariablesPage {
    fn counted(&mut self, start: u64, total: Option<u64>) {
        let next = start.saturating_add(self.variables.len() as u64);
        self.total = total;
        self.next_start =
            Some(next).filter(|next| !self.variables.is_empty() && total.is_some_and(|total| *next < total));
    }
}

fn nowhere(wanted: &str, lost: Option<Lost>, error: &Error) -> Error {
    let words = lost.map_or_else(|| format!("there is no variable `{wanted}`"), |lost| lost.words(wanted));
    let told = Error::new(Code::Usage, format!("{words}; as an expression: {}", error.message()));
    match error.advice() {
        [] => told.then("see which names there are", NextStep::WithoutExpand),
        advice => told.with_advice(advice),
    }
}

fn read(answer: Value) -> Result<Part> {
    if let Some(why) = answer["refused"].as_str() {
        return Err(Error::new(Code::AdapterFailed, format!("it was not read: {why}"))
            .then("allow the program's code to run", NextStep::WithProgramsCode));
    }
    if let Some(error) = answer["error"].as_str() {
        return Err(Error::new(Code::AdapterFailed, error.to_owned()));
    }
    let total = answer["total"].as_u64();
    let node: ToldNode = serde_json::from_value(answer["v"].clone())
        .map_err(|error| Error::new(Code::AdapterFailed, format!("the walker's answer cannot be read: {error}")))?;
    Ok(Part { node: node.node(), total })
}

/// The index in `[12].name`.
fn leading_index(rest: &str) -> Option<u64> {
    rest.strip_prefix('[')?.split_once(']')?.0.parse().ok()
}

/// A step with its number among those of the same name, also those before this page.
fn numbered<'a>(step: path::Step<'a>, seen: &mut HashMap<String, usize>) -> path::Step<'a> {
    let mut count = |name: &str| {
        let occurrence = seen.entry(name.to_owned()).or_default();
        *occurrence += 1;
        *occurrence
    };
    match step {
        path::Step::Field(name, _) => path::Step::Field(name, count(name)),
        path::Step::Key(key, _) => path::Step::Key(key, count(key)),
        path::Step::Index(index) => path::Step::Index(index),
    }
}

fn name_of(step: path::Step<'_>) -> String {
    match step {
        path::Step::Field(name, _) | path::Step::Key(name, _) => name.to_owned(),
        path::Step::Index(index) => format!("[{index}]"),
    }
}

fn view(name: String, path: String, node: &Node) -> VariableView {
    VariableView {
        name,
        path,
        kind: Some(node.kind.clone()).filter(|kind| !kind.is_empty()),
        scope: None::<Scope>,
        value: node.text.clone(),
        length: node.length,
        expandable: !matches!(node.inside, Inside::Leaf | Inside::Unset),
        unset: node.inside == Inside::Unset,
    }
}

fn position(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_over_pages() {
        let mut seen = HashMap::new();
        let steps = [path::Step::Key("a", 1), path::Step::Key("b", 1), path::Step::Key("a", 1)];
        let labels: Vec<String> = steps
            .into_iter()
            .map(|step| {
                let mut label = String::from("m");
                path::push(&mut label, numbered(step, &mut seen));
                label
            })
            .collect();
        assert_eq!(labels, ["m[a]", "m[b]", "m[a]#2"]);
    }

    #[test]
    fn an_index_is_told_from_a_key() {
        assert_eq!(leading_index("[12].name"), Some(12));
        for other in ["", ".a[1]", "[a]", "[-1]", "[1", "[99999999999999999999]"] {
            assert_eq!(leading_index(other), None, "{other}");
        }
    }

    #[test]
    fn a_page_says_where_the_next_one_begins() {
        let one = view("a".to_owned(), "a".to_owned(), &Node::leaf("int", "1"));
        let mut page = VariablesPage { variables: vec![one], ..VariablesPage::default() };
        page.counted(4, Some(6));
        assert_eq!((page.total, page.next_start), (Some(6), Some(5)));
        page.counted(5, Some(6));
        assert_eq!(page.next_start, None);
        page.variables.clear();
        page.counted(9, Some(6));
        assert_eq!(page.next_start, None);
    }

    #[test]
    fn what_cannot_be_read_is_an_error_with_the_way_to_allow_it() {
        let refused = read(json!({ "refused": "a call runs code" })).map(drop).unwrap_err();
        assert!(refused.message().contains("a call runs code") && refused.advises(&NextStep::WithProgramsCode));
        assert_eq!(read(json!({ "error": "NameError" })).map(drop).unwrap_err().message(), "NameError");
        assert!(read(json!({})).is_err());
    }
}
