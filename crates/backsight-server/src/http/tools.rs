//! Tools over plain HTTP: what a second process of the same workspace uses, and any program that wants the short,
//! budgeted answers. Progress comes as lines of JSON before the answer.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use backsight_core::{Code, Error};
use http::header;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

use super::{Shared, failure, openapi};
use crate::client::{Line, ToolRequest};
use crate::office::Caller;
use crate::tool;

pub(super) fn router() -> Router<Shared> {
    Router::new().route("/api/tools/{name}", post(call))
}

/// Its place in the OpenAPI document.
pub(super) fn described() -> (&'static str, &'static str, Value) {
    let names: Vec<&str> = tool::all().iter().map(|tool| tool.name).collect();
    let mut responses = openapi::guarded(&[Code::Usage, Code::RouteNotFound]);
    let meaning = "Lines of JSON: any number of `{\"progress\": {...}}`, then one `{\"reply\": {...}}`. A tool that \
                   fails says so in its reply.";
    let content = json!({ "application/x-ndjson": { "schema": { "type": "string" } } });
    responses.insert("200".to_owned(), json!({ "description": meaning, "content": content }));
    let body = json!({
        "type": "object",
        "properties": {
            "arguments": { "type": "object", "description": "What the tool takes." },
            "client": { "type": ["string", "null"], "description": "Who asks, when the arguments do not say." },
        },
        "required": ["arguments"],
        "additionalProperties": false,
    });
    let described = json!({
        "operationId": "callTool",
        "tags": ["Live"],
        "summary": "Call a tool as an agent does, for the short answer",
        "parameters": [{
            "name": "name", "in": "path", "required": true, "description": "Which tool.",
            "schema": { "type": "string", "enum": names },
        }],
        "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
        "responses": responses,
    });
    ("/api/tools/{name}", "post", described)
}

async fn call(State(shared): State<Shared>, name: Result<Path<String>, PathRejection>, body: Bytes) -> Response {
    let Ok(Path(name)) = name else {
        return failure(&Error::new(Code::Usage, "the address is not UTF-8 in percent encoding"));
    };
    let request: ToolRequest = match serde_json::from_slice(&body) {
        Ok(request) => request,
        Err(error) => return failure(&Error::new(Code::Usage, format!("the body is not understood: {error}"))),
    };
    let Some(tool) = tool::find(&name) else {
        return failure(&Error::new(Code::RouteNotFound, "there is no such tool"));
    };
    let (says, heard) = mpsc::channel(64);
    let (lines, stream) = mpsc::channel::<Line>(64);
    let work = async move {
        let progress = lines.clone();
        let telling = async move {
            let mut heard = ReceiverStream::new(heard);
            while let Some(said) = heard.next().await {
                let _ = progress.send(Line::Progress(said)).await;
            }
        };
        let ToolRequest { arguments, client, process, groups, asker } = request;
        let caller = Caller { name: client, process, groups, asker, session: None };
        let calling = shared.door.call_here(tool, arguments, caller, says);
        // Whoever does not read any more has taken the request back.
        let gone = lines.clone();
        tokio::select! {
            (reply, ()) = async { tokio::join!(calling, telling) } => drop(lines.send(Line::Reply(reply.into())).await),
            () = gone.closed() => {}
        }
    };
    tokio::spawn(work);
    let bytes = ReceiverStream::new(stream).map(|line| {
        serde_json::to_vec(&line).map(|mut line| {
            line.push(b'\n');
            Bytes::from(line)
        })
    });
    ([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(bytes)).into_response()
}
