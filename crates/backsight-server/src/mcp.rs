//! The Model Context Protocol: the stateless revision and the older handshake from one handler, which keeps nothing
//! between two requests.

mod apps;
pub mod flow;
mod instructions;
mod progress;
mod prompts;
pub mod resources;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use backsight::debug::render;
use backsight_core::Effect;
use rmcp::ServerHandler;
use rmcp::model::*;
use rmcp::service::{NotificationContext, Peer, RequestContext, RoleServer, SubscriptionContext};
use tokio::sync::{mpsc, watch};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::asker::Asker;
use crate::door::Door;
use crate::offer::{Listing, Offer, Present};
use crate::office::{Caller, Session};
use crate::tool::{self, Group};
use crate::words;
use instructions::Recorder;
use resources::Debugged;

type McpError = ErrorData;

/// How long a client may keep a list that changes only with the version of Backsight.
const LIST_TTL_MS: u64 = 3_600_000;
/// How long it may keep one that changes with what there is.
const LIVE_LIST_TTL_MS: u64 = 5_000;

/// One workspace as an MCP server.
#[derive(Clone)]
pub struct Mcp {
    door: Arc<Door>,
    /// The process that speaks for the client, when it speaks for only one.
    process: Option<u32>,
    /// The session in which it speaks, when this process speaks for many.
    session: Session,
    /// The conversation that the client said it starts this process for.
    conversation: Option<String>,
    /// The tools it offers.
    offer: Offer,
    /// What there was when the client was last told of tools. What it was shown once stays in the list: a list that changes
    /// costs its model everything that it had cached.
    shown: Arc<Mutex<Present>>,
    /// What a client of the older handshake subscribed to; the protocol ties that to its connection, and so does this.
    subscriptions: Arc<Mutex<HashMap<String, DropGuard>>>,
}

impl Mcp {
    /// Answers through `door`, with some of the tools.
    pub fn new(door: Arc<Door>, offer: Offer) -> Self {
        let (process, session, conversation) = (None, Session::default(), None);
        Mcp { door, process, session, conversation, offer, shown: Arc::default(), subscriptions: Arc::default() }
    }

    /// The same for the one client whose stdin and stdout this process has, and which may have said for which conversation it
    /// starts it.
    pub fn for_this_process(door: Arc<Door>, offer: Offer, conversation: Option<String>) -> Self {
        Mcp { process: Some(std::process::id()), conversation, ..Mcp::new(door, offer) }
    }

    /// What a client of this name is told at the beginning.
    async fn instructions(&self, client: Option<String>) -> Result<String, McpError> {
        let recorder = self.door.local(move |workspace| Ok::<_, McpError>(Recorder::of(workspace, client.as_deref())));
        Ok(instructions::text(&self.offer, recorder.await?))
    }

    /// The tools that can be called.
    fn offered(&self) -> impl Iterator<Item = &'static Listed> {
        tools().iter().filter(|listed| self.offer.groups.has(listed.tool.group))
    }

    /// The tools that are listed, given what there is.
    fn listed(&self, present: Present) -> Vec<Tool> {
        match self.offer.listing {
            Listing::Whole => self.offered().map(|listed| listed.whole.clone()).collect(),
            Listing::ByNeed => {
                self.offered().filter(|listed| present.meets(listed.tool.needs)).map(Listed::without_output).collect()
            }
        }
    }

    /// What there is now or was when the client was last told, and whether that is more than it was told.
    async fn look_for_more(&self) -> (Present, bool) {
        let now = self.door.present().await;
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let before = *shown;
        *shown = before.or(now);
        (*shown, *shown != before)
    }

    /// Tells a client of the older handshake when there are more tools than it was shown. One that only read changed
    /// nothing, and so need not wait for this.
    async fn tell_of_more(&self, tool: &tool::Tool, peer: &Peer<RoleServer>) {
        if self.offer.listing == Listing::Whole || tool.effect.reads_only() || peer.peer_info().is_none() {
            return;
        }
        if self.look_for_more().await.1 {
            // A client that is gone is told nothing.
            let _ = peer.notify_tool_list_changed().await;
        }
    }
}

impl Mcp {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, DropGuard>> {
        self.subscriptions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether a request came over HTTP in a session of the older handshake. Without one each request has a handler of its own,
/// and nobody can tell two clients of the same name apart.
fn is_in_session(context: &RequestContext<RoleServer>) -> bool {
    let parts = context.extensions.get::<http::request::Parts>();
    parts.is_some_and(|parts| parts.headers.contains_key("mcp-session-id"))
}

/// A tool as the protocol wants it.
struct Listed {
    tool: &'static tool::Tool,
    whole: Tool,
}

impl Listed {
    fn of(tool: &'static tool::Tool) -> Listed {
        let mut whole = Tool::new(tool.name, tool.description, Arc::new(tool.input.clone()));
        whole.title = Some(tool.title.to_owned());
        whole.output_schema = Some(Arc::new(tool.output.clone()));
        whole.annotations = Some(annotations(tool.title, tool.effect));
        Listed { tool, whole }
    }

    /// It without the schema of its answers, which costs more than the rest. A client that makes types of schemas takes
    /// answers as they are then, and drops nothing.
    fn without_output(&self) -> Tool {
        let mut lean = self.whole.clone();
        lean.output_schema = None;
        lean
    }
}

/// Every tool.
fn tools() -> &'static [Listed] {
    // Their schemas never change, and the SDK asks for a tool with every call.
    static TOOLS: OnceLock<Vec<Listed>> = OnceLock::new();
    TOOLS.get_or_init(|| tool::all().iter().map(Listed::of).collect())
}

/// The hints of a tool. What the protocol takes for granted is not said: whether a tool that only reads destroys or may be
/// repeated means nothing, and a tool that says nothing cannot be repeated.
fn annotations(title: &str, effect: Effect) -> ToolAnnotations {
    let (reads, reaches) = (effect.reads_only(), effect.reaches_out());
    let destroys = (!reads).then(|| effect.destroys());
    let repeats = (!reads && effect.repeats_harmlessly()).then_some(true);
    ToolAnnotations::from_raw(Some(title.to_owned()), Some(reads), destroys, repeats, Some(reaches))
}

impl ServerHandler for Mcp {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe();
        let mut server = Implementation::new("backsight", env!("CARGO_PKG_VERSION"));
        server.title = Some("Backsight".to_owned());
        ServerConfig::new(capabilities.build()).with_server_info(server)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, McpError> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        result.instructions = Some(self.instructions(Some(request.client_info.name)).await?);
        Ok(result)
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, McpError> {
        let client = context.client_info().map(|info| info.name);
        let config = self.get_info().with_instructions(self.instructions(client).await?);
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), config))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, McpError> {
        let (present, ttl) = match self.offer.listing {
            Listing::Whole => (Present::default(), LIST_TTL_MS),
            Listing::ByNeed => (self.look_for_more().await.0, LIVE_LIST_TTL_MS),
        };
        let mut tools = self.listed(present);
        if apps::are_shown_by(context.client_capabilities().as_ref()) {
            apps::name_pages(&mut tools);
        }
        let mut result = ListToolsResult::with_all_items(tools);
        result.ttl_ms = Some(ttl);
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.offered().find(|listed| listed.whole.name == name).map(|listed| listed.whole.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, McpError> {
        let Some(tool) = tool::find(&request.name).filter(|tool| self.offer.groups.has(tool.group)) else {
            return Err(McpError::invalid_params(format!("there is no tool `{}`", words::clip(&request.name)), None));
        };
        let name = context.client_info().map(|info| info.name);
        let session = is_in_session(&context).then(|| self.session.clone());
        let asker = Asker::of_meta(&context.meta).within(self.conversation.clone());
        let caller = Caller { name, process: self.process, session, groups: self.offer.groups.clone(), asker };
        let arguments = request.arguments.unwrap_or_default();
        let (says, heard) = mpsc::channel(64);
        let work = self.door.call(tool, arguments, caller, says);
        let telling = progress::tell(heard, context.meta.get_progress_token(), &context.peer);
        let reply = tokio::select! {
            (reply, ()) = async { tokio::join!(work, telling) } => reply,
            () = context.ct.cancelled() => return Err(McpError::internal_error("the call was cancelled", None)),
        };
        self.tell_of_more(tool, &context.peer).await;
        let mut result = CallToolResult::structured(reply.structured);
        result.content = vec![ContentBlock::text(reply.text)];
        result.is_error = Some(reply.is_error);
        Ok(result.into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, McpError> {
        let mut result = ListPromptsResult::with_all_items(prompts::list());
        result.ttl_ms = Some(LIST_TTL_MS);
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, McpError> {
        let arguments = request.arguments.unwrap_or_default();
        let prompt = self.door.local(move |workspace| prompts::get(workspace, &request.name, &arguments)).await?;
        Ok(prompt.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, McpError> {
        let cursor = request.and_then(|request| request.cursor);
        let of_app = match cursor.is_none() && self.offer.groups.has(Group::Browser) {
            // Where the server cannot say, the rest of the list is still true.
            true => resources::of_app(&self.door.checkpoints().await.unwrap_or_default()),
            false => Vec::new(),
        };
        let mut listed = self.door.local(move |workspace| resources::list(workspace, cursor.as_deref())).await?;
        let at = listed.resources.len().min(1);
        listed.resources.splice(at..at, of_app);
        Ok(listed)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, McpError> {
        let mut result = ListResourceTemplatesResult::with_all_items(resources::templates(
            self.offer.groups.has(Group::Browser),
            self.offer.groups.has(Group::Debug),
        ));
        result.ttl_ms = Some(LIST_TTL_MS);
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, McpError> {
        if let Some(page) = apps::read(&request.uri) {
            return Ok(page.into());
        }
        if let Some(checkpoint) = resources::checkpoint_of(&request.uri) {
            let changes = self.door.app_changes(checkpoint).await;
            return resources::app_changes(changes, &request.uri).map(Into::into);
        }
        if let Some(wanted) = resources::debugged_of(&request.uri) {
            let page = match wanted {
                Debugged::Diff(first, second) => {
                    self.door.debug_diff(&first, &second).await.map(|diff| render::markdown(&diff))
                }
                Debugged::Series(name) => {
                    self.door.debug_series(&name).await.map(|series| render::markdown_series(&series))
                }
            };
            return resources::debugged(page, &request.uri).map(Into::into);
        }
        let read = self.door.local(move |workspace| resources::read(workspace, &request.uri)).await?;
        Ok(read.into())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), McpError> {
        self.door.look().await;
        let mut now = self.door.now();
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                changed = now.changed() => if changed.is_err() { return Ok(()) },
            }
            if context.accepted().tools_list_changed == Some(true)
                && self.offer.listing == Listing::ByNeed
                && self.look_for_more().await.1
                && context.sink().notify_tool_list_changed().await.is_err()
            {
                return Ok(());
            }
            let wanted = context.accepted().resource_subscriptions.clone().unwrap_or_default();
            for uri in wanted.into_iter().filter(|uri| resources::changes(uri)) {
                let sent = context.sink().notify_resource_updated(uri).await;
                if sent.is_err() {
                    return Ok(());
                }
            }
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), McpError> {
        if !resources::exists(&request.uri) {
            return Err(resources::unknown(&request.uri));
        }
        self.door.look().await;
        let stop = CancellationToken::new();
        tokio::spawn(notify(self.door.now(), context.peer, request.uri.clone(), stop.clone()));
        self.lock().insert(request.uri, stop.drop_guard());
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), McpError> {
        self.lock().remove(&request.uri);
        Ok(())
    }

    /// What the SDK repeats of a method it does not know would be the caller's own bytes.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, McpError> {
        let message = format!("there is no method `{}`", words::clip(&request.method));
        Err(McpError::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }

    async fn on_initialized(&self, _: NotificationContext<RoleServer>) {}
}

/// Tells a client of the older handshake that a resource changed, until it unsubscribes or goes.
async fn notify(mut now: watch::Receiver<u64>, peer: Peer<RoleServer>, uri: String, stop: CancellationToken) {
    now.mark_unchanged();
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            changed = now.changed() => if changed.is_err() { return },
        }
        let note = ResourceUpdatedNotificationParam::new(uri.clone());
        if resources::changes(&uri) && peer.notify_resource_updated(note).await.is_err() {
            return;
        }
    }
}
