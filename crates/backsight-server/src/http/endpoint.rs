//! One address of the API: where it is, what it takes and gives, and what it does. The router, the checks of what comes
//! in and the OpenAPI document are all made from these.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, State};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, on};
use backsight::Workspace;
use backsight::operation::Perform;
use backsight_core::{Code, Effect, Error, Result, Waits};
use http::{Method, Uri};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::query::Shape;
use super::route::Route;
use super::{Shared, failure};
use crate::door::LONGEST_WAIT;
use crate::log;
use crate::reply::UNTRUSTED;

type Parameters = std::result::Result<RawPathParams, RawPathParamsRejection>;
type Run = Arc<dyn Fn(&Workspace, Value) -> Result<Value> + Send + Sync>;

/// One operation.
pub struct Endpoint {
    pub method: Method,
    pub path: &'static str,
    /// Its name in the document, and what generated clients call it.
    pub id: &'static str,
    pub summary: &'static str,
    /// What it belongs to.
    pub topic: &'static str,
    /// How it can fail, beside what every request can.
    pub codes: &'static [&'static [Code]],
    pub input: fn(&mut SchemaGenerator) -> Schema,
    pub output: fn(&mut SchemaGenerator) -> Schema,
    way: Way,
    /// Whether its answer carries what pages or programs say.
    pub is_untrusted: bool,
    run: Run,
}

/// How an operation gets at the workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// At once, beside others.
    Beside,
    /// When it is its turn among those that write.
    InTurn,
    /// At once, on threads of its own: it may have to wait for a browser or a debugger.
    Waiting(Waits),
}

impl Way {
    fn from(waits: Waits, effect: Effect) -> Way {
        match waits {
            Waits::ForDisk if effect.reads_only() => Way::Beside,
            Waits::ForDisk => Way::InTurn,
            waits => Way::Waiting(waits),
        }
    }
}

impl Endpoint {
    /// The address of an operation, which says itself what it takes, gives, does and waits for.
    pub fn of<R: Route + Perform + 'static>() -> Endpoint {
        Endpoint::with::<R>(|workspace, request| request.carry_out(workspace))
    }

    /// The same of one that this server carries out itself.
    pub fn with<R: Route + 'static>(run: fn(&Workspace, R) -> Result<R::Answer>) -> Endpoint {
        let run = move |workspace: &Workspace, input: Value| {
            let request = understand::<R>(input)?;
            request.check()?;
            written(run(workspace, request)?)
        };
        Endpoint {
            method: R::METHOD,
            path: R::PATH,
            id: R::ID,
            summary: R::SUMMARY,
            topic: "",
            codes: R::FAILS,
            input: R::json_schema,
            output: R::Answer::json_schema,
            way: Way::from(R::WAITS, R::EFFECT),
            is_untrusted: R::QUOTES,
            run: Arc::new(run),
        }
    }

    /// Its answer carries what pages or programs say, and says so.
    pub fn quotes(mut self) -> Endpoint {
        self.is_untrusted = true;
        self
    }

    /// What it belongs to.
    pub fn about(mut self, topic: &'static str) -> Endpoint {
        self.topic = topic;
        self
    }

    /// Whether it may wait for a browser or a debugger.
    pub fn waits(&self) -> bool {
        matches!(self.way, Way::Waiting(_))
    }

    /// The names in braces in its path.
    pub fn parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }

    /// Adds it to a router.
    pub(super) fn add_to(self, router: Router<Shared>) -> Router<Shared> {
        let filter = if self.method == Method::GET { MethodFilter::GET } else { MethodFilter::POST };
        let (path, shape, run) = (self.path, Arc::new(Shape::of(&self)), self.run);
        let (way, is_untrusted, id) = (self.way, self.is_untrusted, self.id);
        let handler = async move |State(shared): State<Shared>, parameters: Parameters, uri: Uri, body: Bytes| {
            let request = log::Request::new("http", id, None);
            let read = match &parameters {
                Ok(parameters) => shape.read(parameters, uri.query().unwrap_or_default(), &body),
                Err(_) => Err(Error::new(Code::Usage, "the address is not UTF-8 in percent encoding")),
            };
            let outcome = match read {
                Err(error) => Err(error),
                Ok(input) => {
                    let work = move |workspace: &Workspace| run(workspace, input);
                    match way {
                        Way::Beside => shared.door.local(work).await,
                        Way::InTurn => shared.door.local_writing(LONGEST_WAIT, work).await,
                        Way::Waiting(waits) => tokio::select! {
                            outcome = shared.door.local_waiting(waits, work) => outcome,
                            () = shared.ending.cancelled() => Err(Error::new(Code::Cancelled, "the server ends")),
                        },
                    }
                }
            };
            request.ended(outcome.as_ref().map_or_else(|error| error.code().as_str(), |_| "ok"));
            answer(outcome, is_untrusted)
        };
        router.route(path, on(filter, handler))
    }
}

fn written(output: impl Serialize) -> Result<Value> {
    serde_json::to_value(output).map_err(|error| Error::new(Code::Io, format!("the answer cannot be written: {error}")))
}

fn understand<I: DeserializeOwned>(input: Value) -> Result<I> {
    serde_json::from_value(input).map_err(|error| {
        Error::new(Code::Usage, format!("the request is not understood: {error}"))
            .with_hint("GET /openapi.json says what each address takes")
    })
}

/// The answer in the envelope of every interface.
fn answer(outcome: Result<Value>, is_untrusted: bool) -> Response {
    match outcome {
        Ok(Value::Object(mut object)) => {
            if is_untrusted {
                object.insert("untrusted".to_owned(), Value::String(UNTRUSTED.to_owned()));
            }
            object.insert("ok".to_owned(), Value::Bool(true));
            axum::Json(Value::Object(object)).into_response()
        }
        Ok(other) => failure(&Error::new(Code::Io, format!("an answer must be an object and is {other}"))),
        Err(error) => failure(&error),
    }
}
