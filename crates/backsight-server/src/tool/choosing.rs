//! A tool for several operations on one kind of thing: each call chooses one, by a word such as that in `action`, or by the arguments
//! it gives. What an operation takes, its limits and what it does are the operation's own.

use backsight_core::{Effect, Operation, Result, Waits};
use serde_json::{Map, Value, json};

use super::shown::{self, Field, Shown};
use super::{Call, Group, Tool, parse, usage};
use crate::offer::Needs;
use crate::reply::{DEFAULT_TOKENS, Draft};
use crate::schema;

/// One of the operations.
pub struct ToolChoice {
    word: &'static str,
    effect: Effect,
    waits: Waits,
    schema: Map<String, Value>,
    run: Box<Carry>,
}

type Carry = dyn Fn(&Call<'_>, &'static str, Value) -> Result<Draft> + Send + Sync;

impl ToolChoice {
    /// An operation, and how it is carried out and told.
    pub fn of<R: Operation + 'static>(word: &'static str, run: fn(&Call<'_>, R) -> Result<Draft>) -> ToolChoice {
        let run = move |call: &Call<'_>, tool: &'static str, request: Value| {
            let request: R = parse(tool, request)?;
            request.check()?;
            run(call, request)
        };
        ToolChoice { word, effect: R::EFFECT, waits: R::WAITS, schema: schema::of::<R>(), run: Box::new(run) }
    }
}

/// A tool for several operations.
pub trait Choosing {
    const NAME: &'static str;
    const TITLE: &'static str;
    const DESCRIPTION: &'static str;
    const GROUP: Group;
    /// What must be there before it makes sense.
    const NEEDS: Needs = Needs::of(Self::GROUP);
    const DEFAULT_TOKENS: usize = DEFAULT_TOKENS;
    /// Whether its schema names `max_tokens`, which every tool takes.
    const SHOWS_BUDGET: bool = false;
    /// Whether long answers go on with a `cursor`.
    const PAGES: bool = false;
    /// The argument whose word chooses; the first operation is meant when it is left out. Empty when only arguments choose.
    const WORD: &'static str = "action";
    /// Arguments that no operation has, with their JSON types: `meant` reads them.
    const OWN: &'static [(&'static str, &'static str)] = &[];
    /// What of the requests a model is shown. The rest can be said all the same.
    const SHOWN: &'static [Shown];
    /// The facts of its answers with their JSON types, beside those every answer has.
    const OUTPUT: &'static [(&'static str, &'static str)];

    fn choices() -> Vec<ToolChoice>;

    /// The operation that arguments mean by themselves, whatever the word; what stands for a field in other words is put in
    /// its place.
    fn meant(_: &mut Map<String, Value>) -> Result<Option<&'static str>> {
        Ok(None)
    }
}

impl Tool {
    pub(super) fn chooses<D: Choosing>() -> Tool {
        let choices = D::choices();
        let fields: Vec<Vec<Field>> = choices.iter().map(|choice| shown::fields(&choice.schema, D::SHOWN)).collect();
        let input = shown::input(&together::<D>(&choices), &seen::<D>(), D::SHOWS_BUDGET, D::DEFAULT_TOKENS);
        let waits = choices.first().map_or(Waits::ForDisk, |choice| choice.waits);
        let effect = choices.iter().map(|choice| choice.effect).fold(Effect::Reads, Effect::and);
        let run = move |call: &Call<'_>, mut arguments: Map<String, Value>| {
            let chosen = chosen::<D>(&choices, &mut arguments)?;
            let (choice, own) = (&choices[chosen], &fields[chosen]);
            // What only the others take says nothing here.
            let is_known = |name: &str| fields.iter().flatten().any(|field| field.is(name));
            arguments.retain(|name, _| own.iter().any(|field| field.is(name)) || !is_known(name));
            (choice.run)(call, D::NAME, Value::Object(shown::request(D::NAME, own, arguments)?))
        };
        Tool {
            name: D::NAME,
            title: D::TITLE,
            description: D::DESCRIPTION,
            effect,
            waits,
            group: D::GROUP,
            needs: D::NEEDS,
            pages: D::PAGES,
            default_tokens: D::DEFAULT_TOKENS,
            input,
            facts: D::OUTPUT,
            output: schema::output(D::OUTPUT),
            run: Box::new(run),
        }
    }
}

/// Which operation a call means.
fn chosen<D: Choosing>(choices: &[ToolChoice], arguments: &mut Map<String, Value>) -> Result<usize> {
    let meant = D::meant(arguments)?;
    let word = arguments.shift_remove(D::WORD).filter(|_| meant.is_none());
    let Some(word) = meant.map(Value::from).or(word) else { return Ok(0) };
    let found = word.as_str().and_then(|word| choices.iter().position(|choice| choice.word == word));
    found.ok_or_else(|| {
        let words: Vec<String> = choices.iter().map(|choice| format!("`{}`", choice.word)).collect();
        usage(format!("`{}` is {word}, not one of {}", D::WORD, words.join(", ")))
    })
}

/// What a model is shown: the word first, unless it has its place.
fn seen<D: Choosing>() -> Vec<Shown> {
    let is_missing = !D::WORD.is_empty() && !D::SHOWN.iter().any(|shown| shown.is(D::WORD));
    is_missing.then(|| Shown::new(D::WORD)).into_iter().chain(D::SHOWN.iter().copied()).collect()
}

/// The fields of all of them as one request, which requires what each of them does.
fn together<D: Choosing>(choices: &[ToolChoice]) -> Map<String, Value> {
    let words: Vec<&str> = choices.iter().map(|choice| choice.word).collect();
    let mut properties = Map::from_iter([(D::WORD.to_owned(), json!({ "type": "string", "enum": words }))]);
    properties.extend(D::OWN.iter().map(|(name, kind)| ((*name).to_owned(), json!({ "type": kind }))));
    for (name, schema) in choices.iter().filter_map(|choice| choice.schema.get("properties")?.as_object()).flatten() {
        properties.entry(name).or_insert_with(|| schema.clone());
    }
    let required = |name: &&str| choices.iter().all(|choice| shown::required(&choice.schema).contains(name));
    let required: Vec<&str> = properties.keys().map(String::as_str).filter(required).collect();
    Map::from_iter([("required".to_owned(), json!(required)), ("properties".to_owned(), json!(properties))])
}
