//! The way to the browser lane: through the workspace's server when one runs, for what happens in an app lives there;
//! else straight to the store, which keeps checkpoints, rules and baselines.

use std::path::Path;

use backsight::operation::Perform;
use backsight::{Settings, Workspace};
use backsight_core::{Code, Error, Result};
use backsight_server::{Address, Client, Route, Target};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::context::Context;

/// The way to the browser lane.
pub enum Lane {
    /// A server runs.
    Server(Box<Server>),
    /// None does.
    Store(Box<Workspace>),
}

/// A server that runs.
pub struct Server {
    address: Address,
    client: Client,
    runtime: Runtime,
}

impl Lane {
    /// The way there.
    pub fn find(context: &Context) -> Result<Lane> {
        match Server::find(&context.root(), context.settings())? {
            Some(server) => Ok(Lane::Server(Box::new(server))),
            None => Ok(Lane::Store(Box::new(context.workspace()?))),
        }
    }

    /// Has an operation carried out by the server, or on the store.
    pub fn perform<R: Route<Answer: DeserializeOwned> + Perform>(&self, request: R) -> Result<R::Answer> {
        match self {
            Lane::Server(server) => server.perform(&request),
            Lane::Store(workspace) => workspace.perform(request),
        }
    }

    /// The server, without which `what` cannot be done.
    pub fn server(&self, what: &str) -> Result<&Server> {
        match self {
            Lane::Server(server) => Ok(server),
            Lane::Store(_) => {
                let message = format!("no server runs in this workspace, and {what} needs one");
                Err(Error::new(Code::ServerUnreachable, message)
                    .with_hint("start one with `backsight serve` in another terminal, then do this again"))
            }
        }
    }

    /// Whether a server runs.
    pub fn is_served(&self) -> bool {
        matches!(self, Lane::Server(_))
    }
}

impl Server {
    /// The one of a workspace, if it runs.
    pub fn find(root: &Path, settings: Settings) -> Result<Option<Server>> {
        let found = backsight_server::find(root, settings)?;
        let server = found.and_then(|address| Client::new(&address).map(|client| (address, client)));
        let Some((address, client)) = server else { return Ok(None) };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::io("start the client", error))?;
        Ok(Some(Server { address, client, runtime }))
    }

    /// Where it is.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Has it carry out an operation. What is outside its limits is refused here and not sent.
    pub fn perform<R: Route<Answer: DeserializeOwned>>(&self, request: &R) -> Result<R::Answer> {
        match Target::of(request)? {
            Target::Get(target) => self.answer(self.runtime.block_on(self.client.get(&target))?),
            Target::Post(path, body) => self.answer(self.runtime.block_on(self.client.post(&path, &body))?),
        }
    }

    fn answer<T: DeserializeOwned>(&self, mut answer: Value) -> Result<T> {
        if answer["ok"] != true {
            let unknown = || Error::new(Code::Io, "the server's answer is not understood");
            return Err(Error::from_json(&answer).unwrap_or_else(unknown));
        }
        if let Some(fields) = answer.as_object_mut() {
            fields.shift_remove("ok");
        }
        serde_json::from_value(answer)
            .map_err(|error| Error::new(Code::Io, format!("the server's answer is not understood: {error}")))
    }
}
