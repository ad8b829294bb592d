//! The real router with another MCP handler in it, for tests that add tools of their own. Not part of the API.

use axum::Router;
use backsight::Workspace;
use rmcp::ServerHandler;
use tokio_util::sync::CancellationToken;

use crate::door::Door;
use crate::http::{Guard, Limits, router_with};
pub use crate::mcp::Mcp;
use crate::offer::Offer;
use crate::office::Office;

/// Every route behind the guard, with the handler that `wrap` makes of ours.
pub fn router<H: ServerHandler>(
    workspace: Workspace,
    token: &str,
    authorities: Vec<String>,
    ending: CancellationToken,
    wrap: impl Fn(Mcp) -> H + Send + Sync + 'static,
) -> Router {
    let door = Door::new(Office::new(workspace));
    let guard = Guard::new(token.to_owned(), authorities, Limits::default());
    let handler = door.clone();
    router_with(door, guard, ending, move || wrap(Mcp::new(handler.clone(), Offer::default())))
}
