//! Original places in the code: which scripts have source maps, loading them, and the errors that wait for them.
//!
//! Maps are loaded when the first error needs them. An error waits [`BUDGET_MS`] at most and goes with the place it has; when
//! its map comes later, what was told is amended. Harmless messages never wait, and libraries' maps are loaded only for
//! stacks without any place of the app's own.

use std::collections::{HashMap, VecDeque};

use backsight_core::Timestamp;
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::{Asked, Context, Counts, wire};
use crate::amend::Amendment;
use crate::event::{Console, Event, Frame, Level};
use crate::fingerprint::frames::is_own;
use backsight_core::source_map::{SourceMap, base64, data_text};

/// How long an error waits for its place.
const BUDGET_MS: i64 = 200;
/// As many errors wait; in a flood the rest goes with the places it has.
const MAX_HELD: usize = 1_000;
/// Messages that are amended when their maps come.
const MAX_LATE: usize = 64;
/// Scripts of which is known that they have maps.
const MAX_SCRIPTS: usize = 4_096;
/// Addresses that hold whole maps take room until they are needed.
const MAX_INLINE_BYTES: usize = 64 * 1024 * 1024;
/// Maps that were read.
const MAX_MAPS: usize = 64;
const MAX_MAP_BYTES: usize = 64 * 1024 * 1024;
/// The text of one map.
const MAX_TEXT: usize = 32 * 1024 * 1024;
/// Maps that are on their way at once.
const MAX_LOADING: usize = 8;
/// One piece of it.
const PIECE: usize = 1024 * 1024;

/// Scripts, maps, and what waits for them.
#[derive(Debug, Default)]
pub struct Maps {
    /// By the script's address.
    scripts: HashMap<String, Script>,
    scripts_order: VecDeque<String>,
    inline_bytes: usize,
    /// By the map's key.
    maps: HashMap<String, Map>,
    maps_order: VecDeque<String>,
    held: VecDeque<Held>,
    /// What was told before its maps came.
    late: VecDeque<Late>,
}

#[derive(Debug)]
struct Script {
    /// The map's address; a map in the address itself comes whole.
    address: String,
    /// Its address and the script's hash: a script that changed has another map at the same address.
    key: String,
}

#[derive(Debug)]
enum Map {
    Loading { session: String, stream: String, bytes: Vec<u8> },
    Ready(SourceMap),
    Missing,
}

/// A message that was told before its maps came.
#[derive(Debug)]
struct Late {
    needs: Vec<String>,
    /// As it was told.
    told: Console,
    /// The same with the places that the browser told.
    raw: Console,
}

#[derive(Debug)]
struct Held {
    session: String,
    until: Timestamp,
    needs: Vec<String>,
    console: Console,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct ScriptParsed {
    url: String,
    hash: String,
    #[serde(rename = "sourceMapURL")]
    source_map_url: String,
}

#[derive(Deserialize)]
struct Loaded {
    resource: Resource,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Resource {
    success: bool,
    stream: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Piece {
    base64_encoded: bool,
    data: String,
    eof: bool,
}

impl Maps {
    /// `Debugger.scriptParsed`.
    pub fn parsed(&mut self, counts: &mut Counts, script: ScriptParsed) {
        if script.url.is_empty() || script.source_map_url.is_empty() {
            return;
        }
        let script =
            ScriptParsed { url: wire::address(&script.url), hash: wire::shortened(&script.hash, 200), ..script };
        let inline = script.source_map_url.starts_with("data:");
        let address = match inline {
            true => script.source_map_url,
            false => match join(&script.url, &script.source_map_url) {
                Some(address) if is_near(&address, &script.url) => wire::address(&address),
                // Nobody elsewhere is asked because somebody here watches.
                _ => return counts.maps_missed += 1,
            },
        };
        let name = if inline { script.url.as_str() } else { address.as_str() };
        let key = format!("{} {name}", script.hash);
        self.forget(&script.url);
        self.inline_bytes += if inline { address.len() } else { 0 };
        self.scripts_order.push_back(script.url.clone());
        self.scripts.insert(script.url, Script { address, key });
        while self.scripts.len() > MAX_SCRIPTS || self.inline_bytes > MAX_INLINE_BYTES {
            let Some(oldest) = self.scripts_order.front().cloned() else { break };
            self.forget(&oldest);
            counts.maps_missed += 1;
        }
    }

    /// Tells a message, with original places if they are known, or holds it until they are.
    pub fn place(&mut self, context: &mut Context<'_>, mut console: Console) {
        if console.level < Level::Warning {
            return context.tell(Event::Console(console));
        }
        let needs = self.needed(context, &console);
        if needs.is_empty() || self.held.len() >= MAX_HELD {
            context.counts.maps_missed += u64::from(!needs.is_empty());
            self.settle_places(needs, &mut console);
            return context.tell(Event::Console(console));
        }
        let until = Timestamp(context.now.0 + BUDGET_MS);
        self.held.push_back(Held { session: context.session.to_owned(), until, needs, console });
    }

    /// What has all it waited for.
    pub fn ready(&mut self) -> Vec<Event> {
        let loading = |maps: &HashMap<String, Map>, key: &String| matches!(maps.get(key), Some(Map::Loading { .. }));
        self.release(|maps, held| !held.needs.iter().any(|key| loading(maps, key)))
    }

    /// What waited long enough, or belongs to a session that ends.
    pub fn tick(&mut self, now: Timestamp, ended: Option<&str>, counts: &mut Counts) -> Vec<Event> {
        let is_due = |held: &Held| held.until <= now || ended == Some(held.session.as_str());
        let events = self.release(|_, held| is_due(held));
        counts.maps_missed += events.len() as u64;
        events
    }

    /// What was told and has its places now.
    pub fn placed(&mut self) -> Vec<Amendment> {
        let mut amendments = Vec::new();
        for late in std::mem::take(&mut self.late) {
            match self.are_loading(&late.needs) {
                true => self.late.push_back(late),
                false => amendments.extend(self.amended(late)),
            }
        }
        amendments
    }

    fn amended(&self, late: Late) -> Option<Amendment> {
        let Late { told, raw: mut is, .. } = late;
        self.translate_all(&mut is);
        (is != told).then(|| Amendment::Placed { was: Box::new(told), is: Box::new(is) })
    }

    /// Puts original places where they are known; what has others still to come is remembered, each message once.
    fn settle_places(&mut self, needs: Vec<String>, console: &mut Console) {
        let raw = console.clone();
        self.translate_all(console);
        let is_same = |late: &Late| late.raw.message == raw.message && late.raw.stack == raw.stack;
        if !self.are_loading(&needs) || self.late.iter().any(is_same) {
            return;
        }
        if self.late.len() == MAX_LATE {
            self.late.pop_front();
        }
        self.late.push_back(Late { needs, told: console.clone(), raw });
    }

    fn are_loading(&self, needs: &[String]) -> bool {
        needs.iter().any(|key| matches!(self.maps.get(key), Some(Map::Loading { .. })))
    }

    /// Takes back a message that was not told yet; whether there is one.
    pub fn withdraw(&mut self, console: &Console) -> bool {
        let place = self.held.iter().position(|held| held.console == *console);
        place.is_some_and(|place| self.held.remove(place).is_some())
    }

    /// How many messages wait.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    /// The answer to `Network.loadNetworkResource`.
    pub fn opened(&mut self, context: &mut Context<'_>, key: &str, answer: Option<&RawValue>) {
        let loaded = answer.and_then(|answer| serde_json::from_str::<Loaded>(answer.get()).ok());
        let handle = loaded.filter(|loaded| loaded.resource.success).and_then(|loaded| loaded.resource.stream);
        let (Some(handle), Some(Map::Loading { stream, .. })) = (handle, self.maps.get_mut(key)) else {
            return self.missing(context, key);
        };
        stream.clone_from(&handle);
        read_on(context, key, &handle);
    }

    /// The answer to `IO.read`.
    pub fn read(&mut self, context: &mut Context<'_>, key: &str, answer: Option<&RawValue>) {
        let piece = answer.and_then(|answer| serde_json::from_str::<Piece>(answer.get()).ok());
        let Some(Map::Loading { stream, bytes, .. }) = self.maps.get_mut(key) else { return };
        let handle = stream.clone();
        let more = piece.as_ref().and_then(|piece| match piece.base64_encoded {
            true => base64(&piece.data),
            false => Some(piece.data.clone().into_bytes()),
        });
        if let Some(more) = &more {
            bytes.extend_from_slice(more);
        }
        let (Some(piece), true, true) = (piece, more.is_some(), bytes.len() <= MAX_TEXT) else {
            close(context, &handle);
            return self.missing(context, key);
        };
        if !piece.eof {
            return read_on(context, key, &handle);
        }
        let text = String::from_utf8(std::mem::take(bytes)).ok();
        close(context, &handle);
        self.settle(context, key, text);
    }

    /// A session that ends answers nothing any more.
    pub fn detached(&mut self, session: &str) {
        let left = |map: &Map| matches!(map, Map::Loading { session: from, .. } if from == session);
        self.maps.retain(|_, map| !left(map));
        self.maps_order.retain(|key| self.maps.contains_key(key));
    }

    /// Whether anything waits.
    pub fn pending(&self) -> bool {
        !self.held.is_empty()
    }

    /// Which maps are still to come for these frames; those that nobody asked for are asked for now.
    fn needed(&mut self, context: &mut Context<'_>, console: &Console) -> Vec<String> {
        let mut needs = Vec::new();
        let stacks = || console.causes.iter().map(|cause| &cause.stack).chain([&console.stack]);
        let has_own = stacks().flatten().any(|frame| is_own(&frame.file));
        for frame in stacks().flatten().filter(|frame| !has_own || is_own(&frame.file)) {
            let Some(script) = self.scripts.get(&frame.file) else { continue };
            let (key, address) = (script.key.clone(), script.address.clone());
            let loading = self.maps.values().filter(|map| matches!(map, Map::Loading { .. })).count();
            match self.maps.contains_key(&key) {
                true => {}
                false if loading < MAX_LOADING => self.load(context, &key, &address),
                false => context.counts.maps_missed += 1,
            }
            if matches!(self.maps.get(&key), Some(Map::Loading { .. })) && !needs.contains(&key) {
                needs.push(key);
            }
        }
        needs
    }

    fn load(&mut self, context: &mut Context<'_>, key: &str, address: &str) {
        self.maps_order.push_back(key.to_owned());
        let loading = Map::Loading { session: context.session.to_owned(), stream: String::new(), bytes: Vec::new() };
        self.maps.insert(key.to_owned(), loading);
        if address.starts_with("data:") {
            let text = (address.len() <= MAX_TEXT).then(|| data_text(address)).flatten();
            return self.settle(context, key, text);
        }
        let options = json!({ "disableCache": false, "includeCredentials": true });
        let mut params = json!({ "url": address, "options": options });
        // Pages must say which frame asks, workers must not.
        let session =
            context.sessions.get(context.session).filter(|session| matches!(&*session.target.kind, "page" | "iframe"));
        if let (Some(session), Some(params)) = (session, params.as_object_mut()) {
            params.insert("frameId".to_owned(), session.target.id.clone().into());
        }
        context.ask(Asked::OpenMap { map: key.to_owned() }, "Network.loadNetworkResource", params);
    }

    fn settle(&mut self, context: &mut Context<'_>, key: &str, text: Option<String>) {
        match text.and_then(|text| SourceMap::parse(&text)) {
            Some(map) => drop(self.maps.insert(key.to_owned(), Map::Ready(map))),
            None => self.missing(context, key),
        }
        let bytes = |map: &Map| if let Map::Ready(map) = map { map.bytes() } else { 0 };
        while self.maps.len() > MAX_MAPS || self.maps.values().map(bytes).sum::<usize>() > MAX_MAP_BYTES {
            match self.maps_order.pop_front() {
                Some(oldest) => drop(self.maps.remove(&oldest)),
                None => break,
            }
        }
    }

    fn missing(&mut self, context: &mut Context<'_>, key: &str) {
        context.counts.maps_missed += 1;
        if let Some(map) = self.maps.get_mut(key) {
            *map = Map::Missing;
        }
    }

    fn release(&mut self, due: impl Fn(&HashMap<String, Map>, &Held) -> bool) -> Vec<Event> {
        let mut events = Vec::new();
        let mut index = 0;
        while let Some(held) = self.held.get(index) {
            if !due(&self.maps, held) {
                index += 1;
                continue;
            }
            if let Some(mut held) = self.held.remove(index) {
                self.settle_places(std::mem::take(&mut held.needs), &mut held.console);
                events.push(Event::Console(held.console));
            }
        }
        events
    }

    /// The same for a message and what is behind it.
    pub fn translate_all(&self, console: &mut Console) {
        self.translate(&mut console.stack);
        console.causes.iter_mut().for_each(|cause| self.translate(&mut cause.stack));
    }

    /// Puts original places where maps know them.
    pub fn translate(&self, stack: &mut [Frame]) {
        for frame in stack.iter_mut().filter(|frame| frame.line > 0) {
            let Some(script) = self.scripts.get(&frame.file) else { continue };
            let Some(Map::Ready(map)) = self.maps.get(&script.key) else { continue };
            let Some(original) = map.original(frame.line - 1, frame.column.saturating_sub(1)) else {
                // What a tool put into a file of the same name is at no line that somebody wrote.
                if map.names(&frame.file) {
                    (frame.line, frame.column) = (0, 0);
                }
                continue;
            };
            let base = if script.address.starts_with("data:") { &frame.file } else { &script.address };
            let file = wire::address(&source_name(base, &original.source));
            *frame = Frame {
                file,
                line: original.line.saturating_add(1),
                column: original.column.saturating_add(1),
                function: std::mem::take(&mut frame.function),
            };
        }
    }

    fn forget(&mut self, url: &str) {
        if let Some(script) = self.scripts.remove(url) {
            self.scripts_order.retain(|other| other != url);
            if script.address.starts_with("data:") {
                self.inline_bytes -= script.address.len().min(self.inline_bytes);
            }
        }
    }
}

fn read_on(context: &mut Context<'_>, key: &str, handle: &str) {
    context.ask(Asked::ReadMap { map: key.to_owned() }, "IO.read", json!({ "handle": handle, "size": PIECE }));
}

fn close(context: &mut Context<'_>, handle: &str) {
    context.ask(Asked::Nothing, "IO.close", json!({ "handle": handle }));
}

/// `https://host:port` of an address.
fn origin(url: &str) -> Option<&str> {
    let after = url.find("://")? + 3;
    let end = url[after..].find(['/', '?', '#']).map_or(url.len(), |end| after + end);
    Some(&url[..end])
}

/// Whether a map comes from where its script comes from, or from this machine.
fn is_near(address: &str, script: &str) -> bool {
    let Some(home) = origin(address).filter(|home| home.starts_with("http://") || home.starts_with("https://")) else {
        return false;
    };
    let host = home.split_once("://").map_or("", |(_, host)| host);
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let name = if host.starts_with('[') { host.split(']').next() } else { host.split(':').next() }.unwrap_or_default();
    let local = name == "localhost" || name.ends_with(".localhost") || name == "[::1" || is_loopback(name);
    local || origin(script) == Some(home)
}

fn is_loopback(name: &str) -> bool {
    name.parse::<std::net::Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

/// An address relative to another one.
fn join(base: &str, reference: &str) -> Option<String> {
    if reference.contains("://") {
        return Some(reference.to_owned());
    }
    let home = origin(base)?;
    if let Some(rest) = reference.strip_prefix("//") {
        return Some(format!("{}://{rest}", base.split_once("://")?.0));
    }
    let folder = base[home.len()..]
        .split(['?', '#'])
        .next()
        .unwrap_or_default()
        .rsplit_once('/')
        .map_or("", |(folder, _)| folder);
    let path = if reference.starts_with('/') { reference.to_owned() } else { format!("{folder}/{reference}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').skip(1) {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some(format!("{home}/{}", parts.join("/")))
}

/// A file as a person names it: bundlers put a scheme and their own name before the path.
fn source_name(base: &str, source: &str) -> String {
    let bundled = source.strip_prefix("webpack://").or_else(|| source.strip_prefix("turbopack://"));
    if let Some(rest) = bundled {
        let path = rest.split_once('/').map_or(rest, |(_, path)| path);
        return path.trim_start_matches("./").to_owned();
    }
    join(base, source).unwrap_or_else(|| source.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_fetched_from_near_only() {
        assert!(is_near("http://localhost:5173/a.js.map", "http://localhost:5173/a.js"));
        assert!(is_near("https://app.test/a.js.map", "https://app.test/a.js"));
        assert!(is_near("http://127.0.0.1:1/a.map", "https://app.test/a.js"));
        assert!(is_near("http://[::1]:1/a.map", "https://app.test/a.js"));
        assert!(!is_near("https://elsewhere.test/a.map", "https://app.test/a.js"));
        assert!(!is_near("http://localhost.elsewhere.test/a.map", "https://app.test/a.js"));
        assert!(!is_near("http://127.evil.test/a.map", "https://app.test/a.js"));
        assert!(!is_near("http://localhost@elsewhere.test/a.map", "https://app.test/a.js"));
        assert!(!is_near("file:///etc/passwd", "file:///a.js"));
    }

    #[test]
    fn addresses_are_joined_as_browsers_do() {
        assert_eq!(join("http://a/js/app.js?v=1", "app.js.map").as_deref(), Some("http://a/js/app.js.map"));
        assert_eq!(join("http://a/js/app.js", "../maps/./x.map").as_deref(), Some("http://a/maps/x.map"));
        assert_eq!(join("http://a/js/app.js", "/x.map").as_deref(), Some("http://a/x.map"));
        assert_eq!(join("https://a/js/app.js", "//b/x.map").as_deref(), Some("https://b/x.map"));
        assert_eq!(join("http://a", "../../x.map").as_deref(), Some("http://a/x.map"));
    }

    #[test]
    fn files_are_named_as_people_do() {
        assert_eq!(source_name("http://a/b.js", "webpack://app/./src/x.ts"), "src/x.ts");
        assert_eq!(source_name("http://a/js/b.js.map", "../src/x.ts"), "http://a/src/x.ts");
    }
}
