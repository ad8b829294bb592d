//! The tools, prompts and resources that the conformance suite asks servers to have, as its scenarios describe them.

#![allow(deprecated, reason = "the older revision still has logging, sampling and subscriptions of its own")]

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::time::Duration;

use backsight_server::testing::Mcp;
use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::broadcast;

/// A red pixel.
const IMAGE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A moment of silence.
const AUDIO: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const TEXT: &str = "This is the content of the static text resource.";

const TOOLS: [&str; 24] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_tool_with_logging",
    "test_logging_tool",
    "test_tool_with_progress",
    "test_error_handling",
    "test_sampling",
    "test_elicitation",
    "test_elicitation_sep1034_defaults",
    "test_elicitation_sep1330_enums",
    "test_missing_capability",
    "test_streaming_elicitation",
    "test_trigger_tool_change",
    "test_trigger_prompt_change",
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
];
const CAPABILITIES: &str = "test_input_required_result_capabilities";

/// Tells every open stream that a list changed.
#[derive(Clone)]
pub struct Changes {
    sender: broadcast::Sender<Changed>,
    /// Keys the seals on states that clients carry.
    key: RandomState,
}

#[derive(Clone, Copy)]
enum Changed {
    Tools,
    Prompts,
}

impl Default for Changes {
    fn default() -> Self {
        Changes { sender: broadcast::channel(16).0, key: RandomState::new() }
    }
}

/// Our handler with the suite's things beside its own.
pub struct Suite {
    ours: Mcp,
    changes: Changes,
}

impl Suite {
    pub fn new(ours: Mcp, changes: Changes) -> Self {
        Suite { ours, changes }
    }

    fn seal(&self, state: &str) -> String {
        format!("{state}.{:016x}", self.changes.key.hash_one(state))
    }

    fn open<'a>(&self, sealed: Option<&'a str>) -> Result<Option<&'a str>, ErrorData> {
        let Some(sealed) = sealed else { return Ok(None) };
        let state = sealed.rsplit_once('.').map(|(state, _)| state);
        match state.filter(|state| self.seal(state) == sealed) {
            Some(state) => Ok(Some(state)),
            None => Err(ErrorData::invalid_params("requestState is not what this server gave out", None)),
        }
    }

    /// The tools that need input answer with what they need, or with what they got.
    fn with_input(
        &self,
        request: &CallToolRequestParams,
        able: &ClientCapabilities,
    ) -> Result<CallToolResponse, ErrorData> {
        let empty = InputResponses::new();
        let answers = request.input_responses.as_ref().unwrap_or(&empty);
        let state = self.open(request.request_state.as_deref())?;
        // An answer that is no object answers nothing.
        let has = |keys: &[&str]| keys.iter().all(|key| answers.get(*key).is_some_and(Value::is_object));
        let ask = |requests: Value, state: Option<&str>| {
            let state = state.map(|state| self.seal(state));
            Ok(CallToolResponse::InputRequired(InputRequiredResult::new(Some(from(requests)), state)))
        };
        let name = elicit("What is your name?", "name", "string");
        let confirm = json!({ "confirm": elicit("Please confirm", "ok", "boolean") });
        let done = |text: String| Ok(text_result(text).into());
        match request.name.as_ref() {
            "test_input_required_result_elicitation" | "test_streaming_elicitation" if has(&["user_name"]) => {
                done(format!("Hello, {}!", answers["user_name"]["content"]["name"].as_str().unwrap_or("you")))
            }
            "test_input_required_result_elicitation" | "test_streaming_elicitation" => {
                ask(json!({ "user_name": name }), None)
            }
            "test_input_required_result_sampling" if has(&["capital_question"]) => {
                done(answers["capital_question"]["content"].to_string())
            }
            "test_input_required_result_sampling" => {
                ask(json!({ "capital_question": sample("What is the capital of France?", 100) }), None)
            }
            "test_input_required_result_list_roots" if has(&["client_roots"]) => {
                done(answers["client_roots"]["roots"].to_string())
            }
            "test_input_required_result_list_roots" => ask(json!({ "client_roots": roots() }), None),
            "test_input_required_result_request_state" | "test_input_required_result_tampered_state"
                if has(&["confirm"]) && state == Some("asked") =>
            {
                done("state-ok".to_owned())
            }
            "test_input_required_result_request_state" | "test_input_required_result_tampered_state" => {
                ask(confirm, Some("asked"))
            }
            "test_input_required_result_multiple_inputs" if has(&["user_name", "greeting", "client_roots"]) => {
                done("all answered".to_owned())
            }
            "test_input_required_result_multiple_inputs" => ask(
                json!({ "user_name": name, "greeting": sample("Generate a greeting", 50), "client_roots": roots() }),
                Some("asked"),
            ),
            "test_input_required_result_multi_round" => match state {
                Some("second") if has(&["step2"]) => done("both answered".to_owned()),
                Some("first") if has(&["step1"]) => {
                    let color = elicit("Step 2: What is your favorite color?", "color", "string");
                    ask(json!({ "step2": color }), Some("second"))
                }
                _ => ask(json!({ "step1": elicit("Step 1: What is your name?", "name", "string") }), Some("first")),
            },
            _ => {
                let mut requests = json!({});
                if able.sampling.is_some() {
                    requests["greeting"] = sample("Generate a greeting", 50);
                }
                if able.elicitation.is_some() {
                    requests["user_name"] = name;
                }
                ask(requests, None)
            }
        }
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let argument = |name: &str| request.arguments.as_ref().and_then(|given| given.get(name)).cloned();
        let pause = || tokio::time::sleep(Duration::from_millis(50));
        let result = match request.name.as_ref() {
            "test_simple_text" => text_result("This is a simple text response for testing."),
            "test_image_content" => CallToolResult::success(vec![ContentBlock::image(IMAGE, "image/png")]),
            "test_audio_content" => CallToolResult::success(vec![ContentBlock::audio(AUDIO, "audio/wav")]),
            "test_embedded_resource" => {
                let text = "This is an embedded resource content.";
                CallToolResult::success(vec![embedded("test://embedded-resource", "text/plain", text)])
            }
            "test_multiple_content_types" => CallToolResult::success(vec![
                ContentBlock::text("Multiple content types test:"),
                ContentBlock::image(IMAGE, "image/png"),
                embedded("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
            ]),
            "test_error_handling" => {
                CallToolResult::error(vec![ContentBlock::text("This tool intentionally returns an error for testing")])
            }
            "test_tool_with_logging" => {
                for said in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
                    log(&context, said).await;
                    pause().await;
                }
                text_result("logged")
            }
            // Whoever does not ask for logs gets none.
            "test_logging_tool" => {
                if context.meta.log_level().is_some() {
                    log(&context, "Tool execution started").await;
                }
                text_result("done")
            }
            "test_tool_with_progress" => {
                for done in [0.0, 50.0, 100.0] {
                    if let Some(token) = context.meta.get_progress_token() {
                        let note = ProgressNotificationParam::new(token, done).with_total(100.0);
                        let _ = context.peer.notify_progress(note).await;
                    }
                    pause().await;
                }
                text_result("done")
            }
            "test_sampling" => {
                let prompt = argument("prompt").unwrap_or_default();
                let asked: CreateMessageRequest = from(sample(prompt.as_str().unwrap_or_default(), 100));
                let answer = ask(&context, ServerRequest::CreateMessageRequest(asked)).await?;
                text_result(format!("LLM response: {answer}"))
            }
            "test_elicitation" => {
                let message = argument("message").unwrap_or_default();
                let text = |description: &str| json!({ "type": "string", "description": description });
                let properties = json!({ "username": text("User's response"), "email": text("User's email address") });
                let schema = json!({ "type": "object", "properties": properties, "required": ["username", "email"] });
                let answer = ask_person(&context, &message, schema).await?;
                text_result(format!("User response: {answer}"))
            }
            "test_elicitation_sep1034_defaults" => {
                let answer = ask_person(&context, &json!("Defaults"), defaults()).await?;
                text_result(format!("Elicitation completed: {answer}"))
            }
            "test_elicitation_sep1330_enums" => {
                let answer = ask_person(&context, &json!("Choices"), choices()).await?;
                text_result(format!("Elicitation completed: {answer}"))
            }
            "test_missing_capability" => {
                if context.client_capabilities().is_none_or(|able| able.sampling.is_none()) {
                    return Err(ErrorData::missing_required_client_capability(from(json!({ "sampling": {} }))));
                }
                text_result("done")
            }
            "test_trigger_tool_change" | "test_trigger_prompt_change" => {
                let is_tool = request.name == "test_trigger_tool_change";
                let _ = self.changes.sender.send(if is_tool { Changed::Tools } else { Changed::Prompts });
                text_result("changed")
            }
            _ => return self.with_input(&request, &context.client_capabilities().unwrap_or_default()),
        };
        Ok(result.into())
    }
}

impl ServerHandler for Suite {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_completions()
            .enable_logging();
        let mut info = self.ours.get_info();
        info.capabilities = capabilities.build();
        info
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut result = self.ours.list_tools(request, context).await?;
        result.tools.extend(TOOLS.into_iter().chain([CAPABILITIES]).filter_map(|name| self.get_tool(name)));
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let schema: JsonObject = match name {
            "test_sampling" => from(json!({ "type": "object", "properties": { "prompt": { "type": "string" } } })),
            "test_elicitation" => from(json!({ "type": "object", "properties": { "message": { "type": "string" } } })),
            _ => from(json!({ "type": "object", "properties": {} })),
        };
        let theirs = TOOLS.contains(&name) || name == CAPABILITIES;
        let tool = theirs.then(|| Tool::new(name.to_owned(), "For the conformance suite", Arc::new(schema)));
        tool.or_else(|| self.ours.get_tool(name))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match TOOLS.contains(&request.name.as_ref()) || request.name == CAPABILITIES {
            true => self.call(request, context).await,
            false => self.ours.call_tool(request, context).await,
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let mut result = self.ours.list_prompts(request, context).await?;
        let argument = |name: &str| PromptArgument::new(name).with_description("for the suite").with_required(true);
        let prompt = |name: &str, arguments: &[&str]| {
            let arguments: Vec<PromptArgument> = arguments.iter().map(|name| argument(name)).collect();
            Prompt::new(name, Some("For the conformance suite"), Some(arguments).filter(|all| !all.is_empty()))
        };
        result.prompts.extend([
            prompt("test_simple_prompt", &[]),
            prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
            prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
            prompt("test_prompt_with_image", &[]),
            prompt("test_input_required_result_prompt", &[]),
        ]);
        Ok(result)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let argument = |name: &str| {
            let given = request.arguments.as_ref().and_then(|given| given.get(name)).and_then(Value::as_str);
            given.unwrap_or_default().to_owned()
        };
        let user = |content: ContentBlock| PromptMessage::new(Role::User, content);
        let messages = match request.name.as_str() {
            "test_simple_prompt" => vec![user(ContentBlock::text("This is a simple prompt for testing."))],
            "test_prompt_with_arguments" => {
                let text = format!("Prompt with arguments: arg1='{}', arg2='{}'", argument("arg1"), argument("arg2"));
                vec![user(ContentBlock::text(text))]
            }
            "test_prompt_with_embedded_resource" => vec![
                user(embedded(&argument("resourceUri"), "text/plain", "Embedded resource content for testing.")),
                user(ContentBlock::text("Please process the embedded resource above.")),
            ],
            "test_prompt_with_image" => vec![
                user(ContentBlock::image(IMAGE, "image/png")),
                user(ContentBlock::text("Please analyze the image above.")),
            ],
            "test_input_required_result_prompt" => {
                let answer = request.input_responses.as_ref().and_then(|answers| answers.get("user_context"));
                let Some(answer) = answer.filter(|answer| answer.is_object()) else {
                    let asked = elicit("What context should the prompt use?", "context", "string");
                    let requests = InputRequiredResult::new(Some(from(json!({ "user_context": asked }))), None);
                    return Ok(GetPromptResponse::InputRequired(requests));
                };
                vec![user(ContentBlock::text(format!("With this context: {}", answer["content"])))]
            }
            _ => return self.ours.get_prompt(request, context).await,
        };
        Ok(GetPromptResult::new(messages).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut result = self.ours.list_resources(request, context).await?;
        let names = [("static-text", "text/plain"), ("static-binary", "image/png"), ("watched-resource", "text/plain")];
        let theirs = names.map(|(name, kind)| Resource::new(format!("test://{name}"), name).with_mime_type(kind));
        result.resources.extend(theirs);
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let mut result = self.ours.list_resource_templates(request, context).await?;
        let template = ResourceTemplate::new("test://template/{id}/data", "template");
        result.resource_templates.push(template.with_mime_type("application/json"));
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.clone();
        let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri.as_str(), id) {
            (_, Some(id)) => {
                let data = json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
                ResourceContents::text(data.to_string(), &uri).with_mime_type("application/json")
            }
            ("test://static-text" | "test://watched-resource", _) => {
                ResourceContents::text(TEXT, &uri).with_mime_type("text/plain")
            }
            ("test://static-binary", _) => ResourceContents::blob(IMAGE, &uri).with_mime_type("image/png"),
            _ => return self.ours.read_resource(request, context).await,
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.ours.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.sender.subscribe();
        let sink = context.sink().clone();
        let telling = async {
            while let Ok(changed) = changes.recv().await {
                let _ = match changed {
                    Changed::Tools => sink.notify_tool_list_changed().await,
                    Changed::Prompts => sink.notify_prompt_list_changed().await,
                };
            }
        };
        tokio::select! {
            ended = self.ours.listen(context) => ended,
            () = telling => Ok(()),
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if request.uri.starts_with("test://") { Ok(()) } else { self.ours.subscribe(request, context).await }
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.ours.unsubscribe(request, context).await
    }

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let values = ["paris", "park", "party"].map(str::to_owned).to_vec();
        CompletionInfo::new(values).map(CompleteResult::new).map_err(|error| ErrorData::internal_error(error, None))
    }

    async fn set_level(&self, _: SetLevelRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.ours.on_initialized(context).await;
    }
}

fn from<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn text_result(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

fn embedded(uri: &str, kind: &str, text: &str) -> ContentBlock {
    ContentBlock::resource(ResourceContents::text(text, uri).with_mime_type(kind))
}

fn elicit(message: &str, name: &str, kind: &str) -> Value {
    let properties = json!({ name: { "type": kind } });
    let schema = json!({ "type": "object", "properties": properties, "required": [name] });
    json!({ "method": "elicitation/create", "params": { "mode": "form", "message": message, "requestedSchema": schema } })
}

fn sample(text: &str, tokens: u32) -> Value {
    let message = json!({ "role": "user", "content": { "type": "text", "text": text } });
    json!({ "method": "sampling/createMessage", "params": { "messages": [message], "maxTokens": tokens } })
}

fn roots() -> Value {
    json!({ "method": "roots/list", "params": {} })
}

fn defaults() -> Value {
    json!({ "type": "object", "properties": {
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true },
    } })
}

fn choices() -> Value {
    let titled = |word: &str| {
        let choice = |number: usize, title: &str| json!({ "const": format!("value{number}"), "title": format!("{title} {word}") });
        json!([choice(1, "First"), choice(2, "Second"), choice(3, "Third")])
    };
    let plain = json!(["option1", "option2", "option3"]);
    json!({ "type": "object", "properties": {
        "untitledSingle": { "type": "string", "enum": plain },
        "titledSingle": { "type": "string", "oneOf": titled("Option") },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": plain } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } },
    } })
}

async fn log(context: &RequestContext<RoleServer>, text: &str) {
    let _ = context
        .peer
        .notify_logging_message(LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(text)))
        .await;
}

/// Asks the client something and waits for its answer, as the older revision allows.
async fn ask(context: &RequestContext<RoleServer>, request: ServerRequest) -> Result<Value, ErrorData> {
    let answer = context.peer.send_request(request).await;
    let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    serde_json::to_value(answer).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

async fn ask_person(context: &RequestContext<RoleServer>, message: &Value, schema: Value) -> Result<String, ErrorData> {
    let params = json!({ "mode": "form", "message": message.as_str().unwrap_or_default(), "requestedSchema": schema });
    let request: ElicitRequest = from(json!({ "method": "elicitation/create", "params": params }));
    let answer = ask(context, ServerRequest::ElicitRequest(request)).await?;
    Ok(format!("action={}, content={}", answer["action"].as_str().unwrap_or_default(), answer["content"]))
}
