//! `backsight mcp`: the Model Context Protocol on stdin and stdout.

use backsight_core::Result;
use backsight_server::{Choice, LogTo};

use crate::commands::Verdict;
use crate::context::Context;
use crate::log;

/// Speak MCP on stdin and stdout, for an agent's configuration
///
/// The first one in a workspace is its server; later ones join it, and one of them takes its place when it ends.
#[derive(clap::Args, Debug)]
#[command(
    after_help = "Example, in an agent's configuration:\n  {\"mcpServers\": {\"backsight\": {\"command\": \"backsight\", \"args\": [\"mcp\"]}}}"
)]
pub struct Args {
    /// List these groups of tools at once and in full: files, browser, debug, or all; without it, tools are listed when
    /// they make sense
    #[arg(long, value_name = "GROUP", value_delimiter = ',')]
    tools: Vec<Choice>,
    /// Write a line for each request and each panic to this file, or to stderr; BACKSIGHT_LOG says the same
    #[arg(long, value_name = "FILE")]
    log: Option<LogTo>,
}

/// Where Claude Code says for which conversation it starts a server.
const CONVERSATION: &str = "CLAUDE_CODE_SESSION_ID";

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    log::begin(args.log.as_ref(), context)?;
    let conversation = std::env::var(CONVERSATION).ok().filter(|session| !session.is_empty());
    backsight_server::mcp(context.workspace()?, args.tools.clone().into(), conversation)?;
    Ok(Verdict::Done)
}
