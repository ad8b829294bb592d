//! Where requests of every interface end: the workspace, the tools, and what each client has seen. It blocks its thread;
//! the interfaces call it from threads made for that.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use backsight::names::{LONGEST_NAME, is_name};
use backsight::report::{ChangeType, Others};
use backsight::{ObjectId, RelPath, Seq, Timestamp, Workspace};
use serde_json::{Map, Value};

use crate::advice::Tools;
use crate::asker::Asker;
use crate::hook::{self, Agent, Event};
use crate::reply::{DEFAULT_TOKENS, News, Reply};
use crate::tool::{Call, Common, Group, Groups, Tool};
use crate::words;

/// How many clients are remembered; the one that has not asked for longest is forgotten.
const CLIENTS: usize = 1000;
/// Who asks when nobody says.
const ANYBODY: &str = "default";
/// The tool with which a client sees what happened in the app.
const LOOK: &str = "get_changes_since";
/// The tool with which a client reads what people said about lines.
const COMMENTS: &str = "review_comments";
const APP_NEWS: &str = "the app has new errors: see get_changes_since";

/// A workspace with everything that answers questions about it.
pub struct Office {
    workspace: Workspace,
    clients: Mutex<HashMap<String, Seen>>,
    /// What each process or session that speaks for clients was called here.
    names: Mutex<Vec<Named>>,
    /// The conversations that agents' hooks report and that are not over.
    conversations: Mutex<HashMap<Agent, BTreeSet<String>>>,
    /// The clients that were told of errors in the app and have not looked since.
    told: Mutex<BTreeSet<String>>,
}

/// Who asks, as far as the interface knows.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// Whom it declares itself to be.
    pub name: Option<String>,
    /// The process that speaks for it: two of the same name are two clients.
    pub process: Option<u32>,
    /// The session in which it speaks, where one process speaks for many; the same holds for those.
    pub session: Option<Session>,
    /// The tools it is offered.
    pub groups: Groups,
    /// Which conversation asks, as far as the client says.
    pub asker: Asker,
}

impl From<Option<String>> for Caller {
    fn from(name: Option<String>) -> Self {
        Caller { name, ..Caller::default() }
    }
}

/// A session of one client; it lasts as long as a clone of it.
#[derive(Clone, Debug, Default)]
pub struct Session(Arc<()>);

/// Who speaks for a client.
#[derive(Debug)]
enum Speaker {
    Process(u32),
    Session(Weak<()>),
}

impl Speaker {
    fn of(caller: &Caller) -> Option<Speaker> {
        let session = caller.session.as_ref().map(|session| Speaker::Session(Arc::downgrade(&session.0)));
        session.or_else(|| caller.process.map(Speaker::Process))
    }

    fn is(&self, other: &Speaker) -> bool {
        match (self, other) {
            (Speaker::Process(one), Speaker::Process(other)) => one == other,
            (Speaker::Session(one), Speaker::Session(other)) => one.ptr_eq(other),
            _ => false,
        }
    }

    fn lives(&self) -> bool {
        match self {
            Speaker::Process(process) => lives(*process),
            Speaker::Session(session) => session.strong_count() > 0,
        }
    }
}

/// What a client is called here.
struct Named {
    speaker: Speaker,
    /// As it calls itself.
    declared: String,
    /// As nobody else is called.
    name: String,
}

/// What a client was last told.
struct Seen {
    at: Timestamp,
    seq: Seq,
    /// What differed on disk then and nobody had recorded.
    on_disk: BTreeSet<Fingerprint>,
    /// The sessions it has recorded for: their steps are its own.
    sessions: BTreeSet<String>,
}

type Fingerprint = (RelPath, ChangeType, Option<ObjectId>);

impl Office {
    /// An office for a workspace.
    pub fn new(workspace: Workspace) -> Self {
        let (clients, names, conversations, told) = Default::default();
        Office { workspace, clients, names, conversations, told }
    }

    /// The workspace.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Runs a tool for a caller. Failures are answers too.
    pub fn call(
        &self,
        workspace: &Workspace,
        tool: &Tool,
        mut arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Reply {
        let asker = asker(workspace, tool, &arguments, caller);
        let common = match Common::take(&mut arguments, tool.default_tokens, tool.pages) {
            Ok(common) => common,
            Err(error) => return Reply::failure(&error, DEFAULT_TOKENS),
        };
        let client = common.client.clone().unwrap_or_else(|| self.name_of(caller));
        // Who is called as it called itself need not be told so.
        let unexpected = common.client.is_none() && caller.name.as_ref() != Some(&client);
        // A session of the debugger is no session of the timeline.
        let tracks = tool.group != Group::Debug;
        let session = arguments.get("session").filter(|_| tracks).and_then(Value::as_str).map(str::to_owned);
        let session = session.or_else(|| asker.session.clone());
        let now = workspace.now();
        let moves = tool.name == LOOK && arguments.get("peek").is_none_or(|peek| *peek != Value::Bool(true));
        let (max_tokens, cursor) = (common.max_tokens, common.cursor.as_deref());
        let call = Call { workspace, client: &client, asker: &asker, now, max_tokens, cursor };
        let drafted = tool.run(&call, arguments);
        let app =
            caller.groups.has(Group::Browser).then(|| self.app_news(workspace, &client, tool.name, moves)).flatten();
        let conversation = session.as_deref().unwrap_or(&client);
        let comments = (tool.name != COMMENTS).then(|| waiting(workspace, conversation)).flatten();
        match drafted {
            Ok(draft) => {
                let news = News { app, comments, ..self.news(workspace, &client, session, now) };
                draft.maybe("client", unexpected.then_some(client)).news(news).fit(common.max_tokens)
            }
            Err(error) => {
                let mut reply = Reply::failure(&error, common.max_tokens);
                // Where the workspace itself is the trouble there is nothing to tell.
                let news = News { app, comments, ..self.news(workspace, &client, session, now) };
                if news.files.is_some() || news.app.is_some() {
                    reply.add_news(&news);
                }
                reply
            }
        }
    }

    /// What a caller is called here: as it calls itself, and with a number when another process or session that is still
    /// there has that name.
    fn name_of(&self, caller: &Caller) -> String {
        // With a number behind it, it must still be a name.
        let can_be_numbered = |name: &&str| is_name(name) && name.len() + 4 <= LONGEST_NAME;
        let declared = caller.name.as_deref().filter(can_be_numbered).unwrap_or(ANYBODY).to_owned();
        let Some(speaker) = Speaker::of(caller) else { return declared };
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = names.iter().find(|known| known.speaker.is(&speaker) && known.declared == declared) {
            return known.name.clone();
        }
        names.retain(|known| known.speaker.lives());
        let taken = |name: &String| names.iter().any(|other| other.name == *name);
        let numbered = (2..).map(|number: usize| format!("{declared}-{number}"));
        let free = std::iter::once(declared.clone()).chain(numbered).find(|name| !taken(name));
        let name = free.unwrap_or_else(|| declared.clone());
        names.push(Named { speaker, declared, name: name.clone() });
        name
    }

    /// Takes note of what an agent's hook said: which conversations there are.
    pub fn heard(&self, agent: Agent, event: &Event) {
        let mut conversations = self.conversations.lock().unwrap_or_else(PoisonError::into_inner);
        let of_agent = conversations.entry(agent).or_default();
        match (event, event.session()) {
            (Event::SessionEnd { session }, _) => drop(of_agent.remove(session)),
            (_, Some(session)) if of_agent.len() < CLIENTS => drop(of_agent.insert(session.to_owned())),
            _ => {}
        }
    }

    /// The conversation whose hooks record what this client does. When its agent has several at once nobody can tell
    /// which is the client's; then their steps stay others': better told of its own doing than kept in the dark.
    fn conversation_of(&self, client: &str) -> Option<String> {
        let conversations = self.conversations.lock().unwrap_or_else(PoisonError::into_inner);
        let mut of_agent = conversations.get(&Agent::of_client(client)?)?.iter();
        of_agent.next().filter(|_| of_agent.next().is_none()).cloned()
    }

    /// What others changed since this client last asked, which is now.
    fn news(&self, workspace: &Workspace, client: &str, session: Option<String>, now: Timestamp) -> News {
        let before = self.lock().get(client).map(|seen| (seen.seq, seen.sessions.clone()));
        let (since, mut sessions) = before.map_or((None, BTreeSet::new()), |(seq, own)| (Some(seq), own));
        sessions.extend([client.to_owned()].into_iter().chain(session));
        let since = since.map_or_else(|| workspace.newest_row(), Ok);
        let conversation = self.conversation_of(client);
        let own: Vec<&str> = sessions.iter().chain(&conversation).map(String::as_str).collect();
        let others = match since.and_then(|since| workspace.others_since(since, &own)) {
            Ok(others) => others,
            Err(error) => {
                let line = Some(format!("outside changes could not be looked for: {error}"));
                return News { line, ..News::default() };
            }
        };
        let on_disk = fingerprints(&others);
        let mut clients = self.lock();
        let seen = Seen { at: now, seq: others.sequence_number, on_disk: on_disk.clone(), sessions };
        let last = clients.insert(client.to_owned(), seen);
        forget_oldest(&mut clients);
        match last {
            None => News::default(),
            Some(last) => told(&others, &on_disk, &last),
        }
    }

    /// A line when the app has errors that this client has not seen; once, until it has looked.
    fn app_news(&self, workspace: &Workspace, client: &str, tool: &str, moves: bool) -> Option<String> {
        let browser = workspace.browser_if_used()?;
        let is_news = tool != LOOK && browser.has_news(client) && browser.coverage().attached && tells(workspace);
        let is_first = {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            if moves || told.len() > CLIENTS {
                told.remove(client);
            }
            is_news && told.insert(client.to_owned())
        };
        is_first.then(|| workspace.app_news(client, &Tools).ok().flatten().unwrap_or_else(|| APP_NEWS.to_owned()))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Seen>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A line when people said something about lines that this conversation has not been told; until it asks for it.
fn waiting(workspace: &Workspace, conversation: &str) -> Option<String> {
    let count = workspace.comments_waiting(conversation).ok().filter(|count| *count > 0)?;
    Some(format!("{} for you: {COMMENTS}", words::count(count, "review comment")))
}

/// Whether agents are told what they did not ask for.
fn tells(workspace: &Workspace) -> bool {
    workspace.config_get("tell_agents").is_ok_and(|setting| setting.value == "true")
}

/// The conversation a step is recorded for. What a hook said just before knows the most.
fn asker(workspace: &Workspace, tool: &Tool, arguments: &Map<String, Value>, caller: &Caller) -> Asker {
    let said = &caller.asker;
    let hook = || hook::who_asks(workspace, tool.name, arguments, said.part.as_deref());
    tool.records().then(hook).flatten().unwrap_or_else(|| said.clone())
}

/// Whether a process exists; where that cannot be seen, it may.
fn lives(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists() || !Path::new("/proc/self").exists()
}

fn fingerprints(others: &Others) -> BTreeSet<Fingerprint> {
    others.on_disk.iter().map(|change| (change.file_path.clone(), change.change_type, change.actual_hash)).collect()
}

fn forget_oldest(clients: &mut HashMap<String, Seen>) {
    if clients.len() > CLIENTS
        && let Some(oldest) = clients.iter().min_by_key(|(_, seen)| seen.at).map(|(client, _)| client.clone())
    {
        clients.remove(&oldest);
    }
}

/// The line for what is new; what the client was told of before is not.
fn told(others: &Others, on_disk: &BTreeSet<Fingerprint>, last: &Seen) -> News {
    let fresh = on_disk.difference(&last.on_disk).map(|(path, ..)| path.clone());
    // What was seen on disk before and has been recorded since is no news either.
    let known: BTreeSet<&RelPath> = last.on_disk.iter().map(|(path, ..)| path).collect();
    let recorded = others.recorded.iter().filter(|path| !known.contains(path)).cloned();
    let files: BTreeSet<RelPath> = fresh.chain(recorded).collect();
    let names: Vec<String> = files.iter().take(3).map(ToString::to_string).collect();
    let rest =
        if files.len() > names.len() { format!(" and {} more", files.len() - names.len()) } else { String::new() };
    let line = (!files.is_empty()).then(|| {
        let count = words::count(files.len(), "file");
        format!("{count} changed by others since your last call: {}{rest}", names.join(", "))
    });
    News { files: Some(files.len()), line, ..News::default() }
}
