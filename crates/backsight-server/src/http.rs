//! The HTTP side: one router with every route behind the same locked door.

mod dashboard;
mod endpoint;
mod events;
mod guard;
mod hooks;
mod ingest;
mod openapi;
mod query;
mod route;
mod routes;
mod snippet;
mod tools;
pub mod viewers;
mod wrong_tokens;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::response::{IntoResponse, Response};
use backsight_core::{Code, Error};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tower::Layer;

pub use dashboard::STYLE as DASHBOARD_STYLE;
pub use guard::{Guard, Limits, Visitor};
pub use ingest::{About, understand};
pub use openapi::document;
pub use route::{Route, Target};
pub use viewers::{Invitation, Viewers};
pub use wrong_tokens::RemoteAddress;

use crate::advice::Requests;
use crate::door::Door;
use crate::mcp::Mcp;
use crate::offer::Offer;
use crate::reply::{UNTRUSTED, quotes};

/// What every handler needs.
#[derive(Clone)]
struct Shared {
    door: Arc<Door>,
    ending: CancellationToken,
    /// Whose turn it is to have a report taken apart.
    reports: Arc<Semaphore>,
    /// The same among pages.
    page_reports: Arc<Semaphore>,
    /// Who looks at the dashboard; none when there is no dashboard.
    viewers: Option<Arc<Viewers>>,
}

/// Every route, behind the guard. `ending` closes streams that would otherwise stay open.
pub fn router(door: Arc<Door>, guard: Guard, offer: Offer, ending: CancellationToken) -> Router {
    let handler = door.clone();
    router_with(door, guard, ending, move || Mcp::new(handler.clone(), offer.clone()))
}

/// The same with another MCP handler, which tests use to add tools.
pub fn router_with<H: rmcp::ServerHandler>(
    door: Arc<Door>,
    guard: Guard,
    ending: CancellationToken,
    handler: impl Fn() -> H + Send + Sync + 'static,
) -> Router {
    // Host and Origin are the guard's business, for every route alike.
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_max_request_body_bytes(guard.limits().body)
        .with_cancellation_token(ending.clone());
    let sessions = Arc::new(LocalSessionManager::default());
    let mcp = StreamableHttpService::new(move || Ok(handler()), sessions, config);
    let turn = || Arc::new(Semaphore::new(1));
    let viewers = guard.viewers();
    let shared = Shared { door, ending, reports: turn(), page_reports: turn(), viewers };
    let router = routes::all().into_iter().fold(Router::new(), |router, operation| operation.add_to(router));
    let routed = router
        .merge(events::router())
        .merge(hooks::router())
        .merge(ingest::router())
        .merge(snippet::router())
        .merge(tools::router())
        .merge(openapi::router())
        .merge(dashboard::router())
        .with_state(shared)
        .nest_service("/mcp", Router::new().fallback_service(mcp).layer(axum::middleware::from_fn(ended)))
        .fallback(async || {
            failure(&Error::new(Code::RouteNotFound, "the server has no such address").with_hint(ADDRESSES))
        })
        .method_not_allowed_fallback(async || {
            failure(&Error::new(Code::MethodNotAllowed, "the address does not take this method").with_hint(ADDRESSES))
        })
        // The guard has read the body and knows how long it may be.
        .layer(DefaultBodyLimit::disable())
        .layer(axum::middleware::from_fn_with_state(Arc::new(guard), guard::check));
    // An address of a page with `.json` is found again as the address of its data, before anything is routed.
    let renamed = axum::middleware::from_fn(dashboard::data_of_page).layer(routed);
    Router::new().fallback_service(renamed)
}

/// SDKs take "accepted" for a failure to end a session of MCP's.
async fn ended(request: axum::extract::Request, next: axum::middleware::Next) -> Response {
    let is_end = request.method() == http::Method::DELETE;
    let mut response = next.run(request).await;
    if is_end && response.status() == http::StatusCode::ACCEPTED {
        *response.status_mut() = http::StatusCode::NO_CONTENT;
    }
    response
}

const ADDRESSES: &str = "GET /openapi.json lists every address";

/// An error as an answer, marked like any other reply when it may quote a program.
fn failure(error: &Error) -> Response {
    let status =
        http::StatusCode::from_u16(error.code().http_status()).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
    let mut envelope = error.to_data(&Requests);
    if quotes(error) {
        envelope["untrusted"] = UNTRUSTED.into();
    }
    (status, axum::Json(envelope)).into_response()
}
