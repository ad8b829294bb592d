//! Tools over plain HTTP: what a second process of the same workspace uses, and any program that wants the short,
//! budgeted answers. Progress comes as lines of JSON before the answer.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use backsight_core::{Code, Error};
use http::header;
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;

use super::{Shared, failure};
use crate::client::{Line, ToolRequest};
use crate::office::Caller;

pub(super) fn router() -> Router<Shared> {
    Router::new().route("/api/tools/{name}", post(call))
}

async fn call(State(shared): State<Shared>, Path(name): Path<String>, body: Bytes) -> Response {
    let request: ToolRequest = match serde_json::from_slice(&body) {
        Ok(request) => request,
        Err(error) => return failure(&Error::new(Code::Usage, format!("the body is not understood: {error}"))),
    };
    if !shared.door.has_tool(&name) {
        return failure(&Error::new(Code::RouteNotFound, "there is no such tool"));
    }
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
        let caller = Caller { name: request.client, process: request.process };
        let calling = shared.door.call_here(&name, request.arguments, caller, says);
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
