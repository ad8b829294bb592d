//! `backsight serve`: the workspace's server, until it is told to end.

use std::net::{IpAddr, Ipv4Addr};

use backsight_core::Result;
use backsight_server::{Address, Choice, LogTo, Options, Served};
use serde::Serialize;

use crate::commands::Verdict;
use crate::context::Context;
use crate::log;

/// Serve MCP and HTTP for this workspace
///
/// One server runs in a workspace; a second one says where the first is. It listens on loopback only and asks for the
/// token in `.backsight/store/server.json`, which only you can read. There is no TLS: between machines, put it behind a
/// tunnel. Ctrl-C ends it.
#[derive(clap::Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The port; 0 takes any free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// The address to listen on; anything but loopback needs a token of 32 characters or more in BACKSIGHT_TOKEN
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    listen: IpAddr,
    /// Another HOST:PORT under which clients may address it (repeatable)
    #[arg(long, value_name = "HOST:PORT")]
    allow_host: Vec<String>,
    /// List these groups of tools over MCP at once and in full: files, browser, debug, or all; without it, tools are listed
    /// when they make sense
    #[arg(long, value_name = "GROUP", value_delimiter = ',')]
    tools: Vec<Choice>,
    /// Write a line for each request and each panic to this file, or to stderr; BACKSIGHT_LOG says the same
    #[arg(long, value_name = "FILE")]
    log: Option<LogTo>,
    /// Say where the server is and how to reach it, and start none
    #[arg(long)]
    show: bool,
}

const EXAMPLES: &str = "\
Examples:
  backsight serve                   start, on any free port
  backsight serve --show            where it is, with the token
  backsight serve --port 7420       always on the same port (set BACKSIGHT_TOKEN for the same token)";

/// Where the server is.
#[derive(Serialize)]
struct Where<'a> {
    running: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    address: Option<&'a Address>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp: Option<String>,
}

impl<'a> Where<'a> {
    fn at(address: Option<&'a Address>) -> Self {
        Where { running: address.is_some(), address, mcp: address.map(|address| format!("{}/mcp", address.url)) }
    }
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    if args.show {
        let found = backsight_server::find(&context.root(), context.settings())?;
        show(context, found.as_ref(), true)?;
        return Ok(Verdict::no_if(found.is_none()));
    }
    log::begin(args.log.as_ref(), context)?;
    let token = std::env::var("BACKSIGHT_TOKEN").ok().filter(|token| !token.is_empty());
    let (hosts, offer) = (args.allow_host.clone(), args.tools.clone().into());
    let options = Options { address: args.listen, port: args.port, token, hosts, offer };
    let workspace = context.workspace()?;
    let ready = |address: &Address| drop(show(context, Some(address), false));
    let served = backsight_server::serve(workspace, &options, ready)?;
    if let Served::Elsewhere(address) = served {
        show(context, Some(&address), false)?;
    }
    Ok(Verdict::Done)
}

fn show(context: &Context, address: Option<&Address>, with_token: bool) -> Result<()> {
    context.answer(&Where::at(address), |page| match address {
        None => {
            page.data.line("no server runs in this workspace");
            page.data.line("start one with `backsight serve`");
        }
        Some(address) => {
            page.data.line(format!(
                "backsight serves {} at {} (pid {})",
                context.root().display(),
                address.url,
                address.pid
            ));
            page.data.line(format!("  MCP      {}/mcp", address.url));
            page.data.line(format!("  API      {}/openapi.json", address.url));
            if with_token {
                page.data.line(format!("  token    {}", address.token));
            } else {
                page.data.line("  token    `backsight serve --show` prints it; without it every address answers 401");
            }
        }
    })
}
