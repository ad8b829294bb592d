//! The script that a page includes to report what happens in it, for browsers and webviews nobody can attach to.

use axum::Router;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::{HeaderMap, Uri, header};
use serde_json::{Value, json};

use super::{Shared, openapi};

/// Where it is.
pub const PATH: &str = "/backsight.js";
const SCRIPT: &str = include_str!("backsight.js");
/// Stands in the script for where to report.
const TARGET: &str = "{{target}}";

pub(super) fn router() -> Router<Shared> {
    Router::new().route(PATH, get(script))
}

/// Its place in the OpenAPI document.
pub(super) fn described() -> (&'static str, &'static str, Value) {
    let mut responses = openapi::guarded(&[]);
    let content = json!({ "text/javascript": { "schema": { "type": "string" } } });
    responses.insert("200".to_owned(), json!({ "description": "The script.", "content": content }));
    let described = json!({
        "operationId": "script",
        "tags": ["Live"],
        "summary": "The script with which a page reports what happens in it",
        "security": [{ "token": [] }, { "ingestKey": [] }],
        "responses": responses,
    });
    (PATH, "get", described)
}

async fn script(uri: Uri, headers: HeaderMap) -> Response {
    // The guard has checked the host, and the key where there is one. Whoever came with the token gets a script that has
    // no key and so cannot report; that is for looking only.
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let key = uri.query().and_then(|query| query.split('&').find_map(|pair| pair.strip_prefix("key=")));
    let target = format!("http://{host}/ingest?key={}", key.unwrap_or_default());
    let target = json!(target).to_string().replace('<', "\\u003c");
    let script = SCRIPT.replace(&format!("\"{TARGET}\""), &target);
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], script).into_response()
}
