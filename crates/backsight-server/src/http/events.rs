//! Server-sent events: "now at N", so that nobody has to ask again and again.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::routing::get;
use serde_json::{Value, json};
use tokio_stream::{Stream, StreamExt};

use super::{Shared, openapi};

pub(super) fn router() -> Router<Shared> {
    Router::new().route("/events", get(events))
}

/// Its place in the OpenAPI document.
pub(super) fn described() -> (&'static str, &'static str, Value) {
    let mut responses = openapi::guarded(&[]);
    let content = json!({ "text/event-stream": { "schema": { "type": "string" } } });
    let meaning = "A stream of events `now` whose data is `{\"sequence_number\": N}` and whose id is N; it stays open.";
    responses.insert("200".to_owned(), json!({ "description": meaning, "content": content }));
    let described = json!({
        "operationId": "events",
        "tags": ["Live"],
        "summary": "The newest row's number at once, and again whenever it grows, whoever recorded it",
        "responses": responses,
    });
    ("/events", "get", described)
}

/// The newest row's number at once, and again whenever it grows. A client that was away sees the newest one, and asks
/// the timeline for what lies between.
async fn events(State(shared): State<Shared>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let ending = shared.ending.clone();
    shared.door.look().await;
    let numbers = tokio_stream::wrappers::WatchStream::new(shared.door.now());
    let events = numbers.map(|number| {
        let data = json!({ "sequence_number": number });
        Ok(Event::default().event("now").id(number.to_string()).data(data.to_string()))
    });
    let ended = Box::pin(async move { ending.cancelled().await });
    Sse::new(Until { stream: Box::pin(events), ended }).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}

/// A stream until something happens.
struct Until<S, E> {
    stream: std::pin::Pin<Box<S>>,
    ended: std::pin::Pin<Box<E>>,
}

impl<S: Stream, E: Future<Output = ()>> Stream for Until<S, E> {
    type Item = S::Item;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<S::Item>> {
        if self.ended.as_mut().poll(context).is_ready() {
            return std::task::Poll::Ready(None);
        }
        self.stream.as_mut().poll_next(context)
    }
}
