//! Where an operation is found over HTTP, and in which words it is described. Everything else about it is the lane's: a route
//! adds no argument, limit or default. Clients of this project find the address of an operation here too.

use backsight_core::{Code, Error, Operation, Result};
use http::Method;
use serde_json::{Map, Value};

use crate::percent;

/// An operation with its address.
pub trait Route: Operation {
    /// `GET`, with what it takes in the query, or `POST`, with what it takes in the body.
    const METHOD: Method;
    /// The address. What stands in braces is taken from the field of that name.
    const PATH: &'static str;
    /// What generated clients call it.
    const ID: &'static str;
    /// What it is for, in a line.
    const SUMMARY: &'static str;
    /// How it can fail, beside what every request can.
    const FAILS: &'static [&'static [Code]];
    /// Whether its answer carries what pages or programs say, and says so.
    const QUOTES: bool = false;
}

/// The addresses of a topic as a table, and the list of them. `quotes` says that an answer carries what pages or programs say;
/// what this server itself does for an operation, instead of the workspace, follows an arrow.
macro_rules! routes {
    (@is quotes) => { true };
    (@endpoint $request:ty) => { Endpoint::of::<$request>() };
    (@endpoint $request:ty, $run:path) => { Endpoint::with::<$request>($run) };
    ($($method:ident $path:literal $id:ident: $request:ty, $summary:literal, [$($fails:expr),*]
        $(, $quotes:ident)? $(=> $run:path)?;)*) => {
        $(impl Route for $request {
            const METHOD: Method = Method::$method;
            const PATH: &'static str = $path;
            const ID: &'static str = stringify!($id);
            const SUMMARY: &'static str = $summary;
            const FAILS: &'static [&'static [Code]] = &[$($fails),*];
            const QUOTES: bool = false $(|| routes!(@is $quotes))?;
        })*

        /// Every one of them, in the order of the document.
        pub fn operations() -> Vec<Endpoint> {
            vec![$(routes!(@endpoint $request $(, $run)?)),*]
        }
    };
}
pub(super) use routes;

/// A request as it is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Something is read.
    Get(String),
    /// Something is done, with this body.
    Post(String, Value),
}

impl Target {
    /// The request for an operation, unless a value of it is outside its limits: then it is not sent at all.
    pub fn of<R: Route>(request: &R) -> Result<Target> {
        request.check()?;
        let written = serde_json::to_value(request)
            .map_err(|error| Error::new(Code::Usage, format!("the request cannot be written: {error}")))?;
        let Value::Object(mut fields) = written else {
            return Err(Error::new(Code::Usage, "the request is no object"));
        };
        fields.retain(|_, value| !value.is_null());
        let path = path_of(R::PATH, &mut fields);
        Ok(match R::METHOD == Method::GET {
            true => Target::Get(with_query(path, &fields)),
            false => Target::Post(path, Value::Object(fields)),
        })
    }
}

/// The address with what it is about in it.
fn path_of(template: &str, fields: &mut Map<String, Value>) -> String {
    let part = |part: &str| match part.strip_prefix('{').and_then(|part| part.strip_suffix('}')) {
        Some(name) => percent::encoded(&plain(&fields.shift_remove(name).unwrap_or_default())),
        None => part.to_owned(),
    };
    template.split('/').map(part).collect::<Vec<_>>().join("/")
}

fn with_query(path: String, fields: &Map<String, Value>) -> String {
    let pairs = fields.iter().flat_map(|(name, value)| match value {
        Value::Array(many) => many.iter().map(|one| (name, one)).collect(),
        one => vec![(name, one)],
    });
    let pairs: Vec<String> = pairs.map(|(name, value)| format!("{name}={}", percent::encoded(&plain(value)))).collect();
    if pairs.is_empty() { path } else { format!("{path}?{}", pairs.join("&")) }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use backsight::debug::request::{AnswerPart, EvaluateExpression, ReadSnapshot};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_is_written_as_its_address_reads_it() {
        let part = AnswerPart { path: Some("a b".to_owned()), ..AnswerPart::default() };
        let read = ReadSnapshot { session: None, id: "x/é".to_owned(), part };
        let target = Target::of(&read).unwrap();
        assert_eq!(target, Target::Get("/api/debug/snapshots/x%2F%C3%A9?path=a%20b&offset=0".to_owned()));
        let evaluate = EvaluateExpression { expression: "1".to_owned(), ..EvaluateExpression::default() };
        let body = json!({ "expression": "1", "frame": 0 });
        assert_eq!(Target::of(&evaluate).unwrap(), Target::Post("/api/debug/evaluate".to_owned(), body));
        let slow = EvaluateExpression { timeout_ms: Some(60_001), ..evaluate };
        assert_eq!(Target::of(&slow).unwrap_err().code(), Code::Usage);
    }
}
