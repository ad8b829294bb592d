//! One process per workspace that agents and programs talk to: MCP, HTTP, and what agents' hooks say. It carries
//! requests to [`backsight::Workspace`] and answers back; it decides nothing a lane should decide.

pub mod hook;
