//! What agents may run and reach. An agent may act on what a stranger wrote, so through its tools it starts only programs
//! of the workspace under debuggers that were found, and attaches only to this machine and this user, unless the user's
//! own settings allow more. People use the same operations without this: the CLI and the typed API are theirs.

use std::ffi::OsStr;
use std::net::{IpAddr, SocketAddr};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use backsight_core::{Admission, Code, Error, Result, quote};
use backsight_debug::dap::peer;
use backsight_debug::debugger::Moved;
use backsight_debug::session::{self, Attach, Launch};

use super::Workspace;
use super::bisect::Inside;
use super::browser::Bounds;
use super::debug::is_gits_or_ours;
use crate::report::{Bisected, BrowserStatus};
use crate::request::{AttachBrowser, Bisect};
use crate::user_settings::{Addresses, Agents, Programs};

/// Variables that say how a program behaves and can make nothing else run. A list of those that can would have to know
/// every loader, interpreter, shell, toolchain and library (`LD_PRELOAD`, `PYTHONSTARTUP`, `NODE_OPTIONS`, `BASH_ENV`,
/// `PERL5OPT`, `GOFLAGS`, `GCONV_PATH`, `OPENSSL_CONF`, `PATH`, `HOME`, ...) and would be wrong with the next one.
const HARMLESS: [&str; 29] = [
    "APP_ENV",
    "CI",
    "CLICOLOR",
    "COLUMNS",
    "DEBUG",
    "ENVIRONMENT",
    "FLASK_DEBUG",
    "FORCE_COLOR",
    "GOMAXPROCS",
    "GOTRACEBACK",
    "HOST",
    "LANG",
    "LANGUAGE",
    "LINES",
    "LOGLEVEL",
    "LOG_LEVEL",
    "NODE_ENV",
    "NO_COLOR",
    "PORT",
    "PYTHONDONTWRITEBYTECODE",
    "PYTHONHASHSEED",
    "PYTHONIOENCODING",
    "PYTHONUNBUFFERED",
    "PYTHONUTF8",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TZ",
    "VERBOSE",
];

impl Workspace {
    /// The same as [`Workspace::debug_launch`], for an agent.
    pub fn agent_launch(&self, session: Option<&str>, launch: Launch) -> Result<Moved> {
        let launch = self.debugger()?.plan(launch)?;
        self.policy()?.launch(&launch)?;
        self.debug_launch(session, launch)
    }

    /// The same as [`Workspace::debug_attach`], for an agent.
    pub fn agent_attach(&self, session: Option<&str>, attach: Attach) -> Result<Moved> {
        let attach = self.policy()?.attach(attach)?;
        self.debug_attach(session, attach)
    }

    /// The same as [`Workspace::attach_browser`], for an agent.
    pub fn agent_attach_browser(&self, request: &AttachBrowser) -> Result<BrowserStatus> {
        let policy = self.policy()?;
        self.attach_browser_within(&policy.browser(request)?, policy.bounds())
    }

    /// The same as [`Workspace::bisect`], for an agent: only recorded programs are run, unless the user allows any.
    pub fn agent_bisect(&self, request: &Bisect) -> Result<Bisected> {
        let policy = self.policy()?;
        if policy.agents.programs == Programs::Any {
            return self.bisect(request);
        }
        let file = policy.file;
        let refuse = move |program: &str| {
            let what = format!("to run `{}`, which is not a program of the workspace", quote(program.as_bytes()));
            refused(&file, &what, ANY_PROGRAM)
        };
        self.bisect_within(request, Some(Inside { refuse: Box::new(refuse) }))
    }

    fn policy(&self) -> Result<Policy<'_>> {
        let agents = self.user_settings()?.agents;
        let file = self.user_settings_path().map_or("your own settings".to_owned(), |file| file.display().to_string());
        Ok(Policy { agents, root: &self.root, file })
    }
}

/// What agents may do here.
struct Policy<'a> {
    agents: Agents,
    root: &'a Path,
    /// Where the user allows more.
    file: String,
}

impl Policy<'_> {
    fn launch(&self, launch: &Launch) -> Result<()> {
        self.debugger(launch.runtime.as_deref(), !launch.options.is_empty())?;
        if self.agents.programs != Programs::Any {
            if !self.is_inside(&launch.program) {
                let program = quote(launch.program.as_os_str().as_encoded_bytes());
                return Err(self.refused(&format!("to run `{program}`, which is not in the workspace"), ANY_PROGRAM));
            }
            let tests = launch.test.as_deref().map(|test| test.split("::").next().unwrap_or_default());
            if let Some(tests) = tests.filter(|tests| !self.is_inside(Path::new(tests))) {
                let tests = quote(tests.as_bytes());
                return Err(self
                    .refused(&format!("to run the tests of `{tests}`, which are not in the workspace"), ANY_PROGRAM));
            }
            if let Some(module) = launch.module.as_deref().filter(|_| launch.test.is_none())
                && !self.has_module(&launch.directory, module)
            {
                let module = quote(module.as_bytes());
                return Err(
                    self.refused(&format!("to run the module `{module}`, which is not in the workspace"), ANY_PROGRAM)
                );
            }
            if !self.is_inside(&launch.directory) {
                let directory = quote(launch.directory.as_os_str().as_encoded_bytes());
                let what = format!("to run a program in `{directory}`, which is not in the workspace");
                return Err(self.refused(&what, ANY_PROGRAM));
            }
        }
        let is_allowed = |name: &str| {
            let own = self.agents.environment.iter().any(|allowed| allowed == name);
            own || HARMLESS.contains(&name) || name.starts_with("LC_")
        };
        match launch.environment.iter().find(|(name, _)| !is_allowed(name)) {
            None => Ok(()),
            Some((name, _)) => {
                let name = quote(name.as_bytes());
                let what = format!("to set the variable `{name}`, which may make other code run");
                Err(self.refused(&what, &format!("environment = [\"{name}\"]")))
            }
        }
    }

    /// Whether a module of Python is one of the directory it is run in.
    fn has_module(&self, directory: &Path, module: &str) -> bool {
        let file = self.root.join(directory).join(module.replace('.', "/"));
        let is_there = |file: PathBuf| file.is_file() && self.is_inside(&file);
        is_there(file.with_extension("py")) || is_there(file.join("__main__.py"))
    }

    /// The same request as it may be carried out.
    fn attach(&self, attach: Attach) -> Result<Attach> {
        self.debugger(attach.runtime.as_deref(), !attach.options.is_empty())?;
        if self.agents.addresses != Addresses::Any && !is_this_machine(&attach.host) {
            let host = quote(attach.host.as_bytes());
            let what = format!("to debug a program at `{host}`, which is not an address of this machine");
            return Err(self.refused(&what, ANY_ADDRESS));
        }
        attach.check()?;
        let pid = attach.pid.map(|pid| self.process(pid)).transpose()?;
        Ok(Attach { pid, admission: self.admission(), ..attach })
    }

    /// Processes of others are theirs, also for an agent that root runs; and the server cannot be paused by itself.
    fn process(&self, pid: u32) -> Result<u32> {
        let pid = session::target(pid, self.root)?;
        // One that is not there is told by the debugger.
        let Ok(found) = std::fs::metadata(format!("/proc/{pid}")) else { return Ok(pid) };
        let user = rustix::process::geteuid().as_raw();
        if found.uid() == user || self.agents.programs == Programs::Any {
            return Ok(pid);
        }
        let what = format!("to debug process {pid}, which belongs to user {} and not to {user}", found.uid());
        Err(self.refused(&what, ANY_PROGRAM))
    }

    /// Whoever listens on this machine may be anybody: a neighbour who plays the debugger or the browser feeds the agent,
    /// and one who runs it is not the agent's to look at. Root is another user too.
    fn admission(&self) -> Admission {
        if self.agents.addresses == Addresses::Any {
            return Admission::default();
        }
        let file = self.file.clone();
        Admission::new(move |ours, theirs| is_ours(peer::owner(ours, theirs), theirs, &file))
    }

    /// The same request as it may be carried out.
    fn browser(&self, request: &AttachBrowser) -> Result<AttachBrowser> {
        if let Some(program) = &request.program
            && self.agents.programs != Programs::Any
        {
            let program = quote(program.as_os_str().as_encoded_bytes());
            return Err(self.refused(&format!("to choose `{program}` as the browser"), ANY_PROGRAM));
        }
        if let Some(profile) = request.profile.as_deref().filter(|_| request.launch)
            && self.agents.programs != Programs::Any
        {
            self.new_profile(profile)?;
        }
        let open = request.open.as_deref().map(|url| self.page(url)).transpose()?;
        Ok(AttachBrowser { open, ..request.clone() })
    }

    /// A profile says which proxy a browser asks and which extensions it runs, so one that is there is somebody's choice.
    fn new_profile(&self, profile: &Path) -> Result<()> {
        let why = match self.below_root(profile) {
            // A browser leaves blanks at the end of a path out, which makes another path of it.
            _ if is_oddly_spelled(profile) => "has blanks around a name, or control characters",
            None => "is not in the workspace",
            Some(below) if is_gits_or_ours(&below) => "is in a directory of Git's or of Backsight's",
            Some(_) if self.root.join(profile).symlink_metadata().is_ok() => "is there already and would be believed",
            Some(_) => return Ok(()),
        };
        let profile = quote(profile.as_os_str().as_encoded_bytes());
        Err(self.refused(&format!("to launch a browser with the profile `{profile}`, which {why}"), ANY_PROGRAM))
    }

    fn page(&self, url: &str) -> Result<String> {
        match self.own_page(url) {
            Some(page) => Ok(page),
            None if self.agents.addresses == Addresses::Any => Ok(url.to_owned()),
            None => {
                let what = format!("to open `{}`, which is not a page of this machine", quote(url.as_bytes()));
                Err(self.refused(&what, ANY_ADDRESS))
            }
        }
    }

    /// Pages of this machine need no proxy; whoever may open others may need the user's.
    fn bounds(&self) -> Bounds {
        let mut arguments = vec!["--disable-extensions".to_owned()];
        if self.agents.addresses != Addresses::Any {
            arguments.push("--no-proxy-server".to_owned());
        }
        Bounds { admission: self.admission(), arguments }
    }

    fn debugger(&self, runtime: Option<&Path>, has_options: bool) -> Result<()> {
        if let Some(runtime) = runtime.filter(|_| !self.agents.runtime) {
            let runtime = quote(runtime.as_os_str().as_encoded_bytes());
            let what = format!("to choose the interpreter or debugger that is run (`runtime`: `{runtime}`)");
            return Err(self.refused(&what, "runtime = true"));
        }
        match has_options && !self.agents.options {
            true => Err(self.refused("to pass `options` on to the debugger, which can run commands", "options = true")),
            false => Ok(()),
        }
    }

    /// Whether a path is in the workspace when every link is followed.
    fn is_inside(&self, path: &Path) -> bool {
        self.below_root(path).is_some()
    }

    /// The same path from the root, without links; of one that does not exist, by what does.
    fn below_root(&self, path: &Path) -> Option<PathBuf> {
        let path = self.root.join(path);
        let (above, real) = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)))?;
        let rest = path.strip_prefix(above).ok()?;
        let is_plain = !rest.components().any(|part| part == Component::ParentDir);
        let below = real.strip_prefix(self.root).ok().filter(|_| is_plain)?;
        Some(below.join(rest))
    }

    /// The address of a page that this machine serves, or of a file of the workspace, as it may be opened.
    fn own_page(&self, url: &str) -> Option<String> {
        // Browsers leave tabs and line breaks out, which makes another address of it.
        if url.chars().any(|character| character.is_control() || character.is_whitespace()) {
            return None;
        }
        if url == "about:blank" {
            return Some(url.to_owned());
        }
        if let Some(path) = url.strip_prefix("file://") {
            return self.own_file(path);
        }
        let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"))?;
        let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => authority,
        };
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let is_own = is_this_machine(bare) || bare.to_ascii_lowercase().ends_with(".localhost");
        (!host.is_empty() && is_own).then(|| url.to_owned())
    }

    /// The address of a file that is there, without links and with nothing in it that a browser could read otherwise.
    fn own_file(&self, path: &str) -> Option<String> {
        let (path, rest) = path.split_at(path.find(['?', '#']).unwrap_or(path.len()));
        let path = Some(path).filter(|path| path.starts_with('/') && !path.contains('\\'))?;
        let real = Path::new(OsStr::from_bytes(&decoded(path)?)).canonicalize().ok()?;
        real.starts_with(self.root).then(|| format!("file://{}{rest}", encoded(real.as_os_str().as_bytes())))
    }

    fn refused(&self, what: &str, setting: &str) -> Error {
        refused(&self.file, what, setting)
    }
}

fn refused(file: &str, what: &str, setting: &str) -> Error {
    let shown = quote(file.as_bytes());
    Error::new(Code::NotAllowed, format!("agents are not allowed {what}; nothing was started"))
        .with_hint(format!("the user can allow it with `{setting}` under `[agents]` in `{shown}`"))
        .with_details(serde_json::json!({ "setting": setting, "file": file }))
}

/// Admits processes of this user alone, whatever the user allows agents.
pub(super) fn own_user_only() -> Admission {
    Admission::new(move |ours, theirs| is_ours(peer::owner(ours, theirs), theirs, "your own settings"))
}

fn is_ours(owner: Option<u32>, at: SocketAddr, file: &str) -> Result<()> {
    let user = rustix::process::geteuid().as_raw();
    let why = match owner {
        Some(owner) if owner == user => return Ok(()),
        Some(owner) => format!("which belongs to user {owner} and not to {user}"),
        None => "and this system does not say whose that is".to_owned(),
    };
    Err(refused(file, &format!("to speak with what listens at {at}, {why}"), ANY_ADDRESS))
}

/// The bytes of a path in an address; none if it has the end of a text in it, or what is no byte.
pub(super) fn decoded(path: &str) -> Option<Vec<u8>> {
    let mut rest = path.as_bytes();
    let mut bytes = Vec::with_capacity(rest.len());
    while let [first, after @ ..] = rest {
        let (byte, after) = match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                (digit(high)? << 4 | digit(low)?, after)
            }
            (b'%', _) => return None,
            (byte, after) => (*byte, after),
        };
        bytes.push(Some(byte).filter(|byte| *byte != 0)?);
        rest = after;
    }
    Some(bytes)
}

/// A path as it stands in an address.
fn encoded(path: &[u8]) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte);
    path.iter()
        .map(|&byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// What allows every program, directory and process.
const ANY_PROGRAM: &str = "programs = \"any\"";
/// What allows every address and page.
const ANY_ADDRESS: &str = "addresses = \"any\"";

/// Loopback addresses as numbers, and the one name that always means them. Other names may mean anything tomorrow.
fn is_this_machine(host: &str) -> bool {
    host.is_empty()
        || host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether programs may understand a path differently: with blanks at an end of a part, or with what is no letter at all.
fn is_oddly_spelled(path: &Path) -> bool {
    let is_odd = |part: Component<'_>| {
        let name = part.as_os_str().to_str();
        name.is_none_or(|name| name.trim() != name || name.chars().any(char::is_control))
    };
    path.as_os_str().is_empty() || path.components().any(is_odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(root: &Path) -> Policy<'_> {
        Policy { agents: Agents::default(), root, file: "/home/me/.config/backsight/config.toml".to_owned() }
    }

    #[test]
    fn inside_is_what_the_links_say() {
        let place = tempfile::tempdir().unwrap();
        let base = place.path().canonicalize().unwrap();
        let root = base.join("ws");
        std::fs::create_dir_all(root.join("src")).unwrap();
        std::fs::create_dir_all(base.join("ws2")).unwrap();
        std::fs::write(root.join("src/a.py"), "").unwrap();
        std::os::unix::fs::symlink("src/a.py", root.join("link.py")).unwrap();
        std::os::unix::fs::symlink("/bin/sh", root.join("tool")).unwrap();
        std::os::unix::fs::symlink(&base, root.join("up")).unwrap();
        let policy = policy(&root);
        for inside in ["src/a.py", "link.py", "", ".", "src/../src/a.py", "new.py", "up/ws/src/a.py"] {
            assert!(policy.is_inside(Path::new(inside)), "{inside}");
        }
        assert!(policy.is_inside(&root.join("src/a.py")));
        for outside in
            ["/bin/sh", "tool", "..", "../ws2", "../ws2/x", "up", "up/ws2", "new/../../x", "/", "/proc/self/exe"]
        {
            assert!(!policy.is_inside(Path::new(outside)), "{outside}");
        }
    }

    #[test]
    fn pages_of_this_machine_are_told_from_others() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        std::fs::write(root.join("index.html"), "").unwrap();
        let policy = policy(&root);
        let file = format!("file://{}/index.html", root.display());
        for own in [
            "http://localhost:3000/a?b",
            "https://127.0.0.1",
            "http://[::1]:80/",
            "about:blank",
            "http://app.localhost/",
            &file,
        ] {
            assert_eq!(policy.own_page(own).as_deref(), Some(own), "{own}");
        }
        let others = [
            "http://example.com/",
            "http://localhost@example.com/",
            "http://localhost:80@example.com/",
            "http://localhost.example.com/",
            "http://example.com\\@localhost/",
            "http://127.0.0.1.example.com/",
            "http:///",
            "javascript:alert(1)",
            "data:text/html,x",
            "chrome://settings",
            "file:///etc/passwd",
            "file://host/x",
            " http://localhost/",
            "HTTP://example.com",
            // Browsers leave these characters out.
            "http://local\thost/",
            "http://localhost/a b",
            "\u{1}http://localhost/",
            "about:blank\n",
        ];
        for other in others {
            assert_eq!(policy.own_page(other), None, "{other:?}");
        }
    }

    #[test]
    fn a_file_is_opened_by_the_name_it_really_has() {
        let place = tempfile::tempdir().unwrap();
        let base = place.path().canonicalize().unwrap();
        let root = base.join("ws");
        std::fs::create_dir_all(root.join("sub")).unwrap();
        for name in ["ws/a b%.html", "ws/sub/x.html", "secret"] {
            std::fs::write(base.join(name), "").unwrap();
        }
        std::os::unix::fs::symlink("sub", root.join("link")).unwrap();
        std::os::unix::fs::symlink(base.join("secret"), root.join("out")).unwrap();
        let policy = policy(&root);
        let opened = |rest: &str| policy.own_page(&format!("file://{}/{rest}", root.display()));
        let real = |rest: &str| Some(format!("file://{}/{rest}", root.display()));
        assert_eq!(opened("link/x.html?a=1#b"), real("sub/x.html?a=1#b"));
        assert_eq!(opened("a%20b%25.html"), real("a%20b%25.html"));
        assert_eq!(opened("sub/%2e%2e/sub/x.html"), real("sub/x.html"));
        assert_eq!(opened("sub"), real("sub"));
        for other in [
            "new.html",
            "out",
            "../secret",
            ".\n./secret",
            ".\t./secret",
            ".\r./secret",
            "%2e%2e/secret",
            "sub/..%2f../secret",
            "sub\\..\\..\\secret",
            "sub/x.html%00",
            "sub/x.html%",
            "sub/x.html%+1",
            "a b%.html",
        ] {
            assert_eq!(opened(other), None, "{other:?}");
        }
    }

    #[test]
    fn only_ones_own_listeners_are_admitted_and_root_is_another_user() {
        let at = "127.0.0.1:9229".parse().unwrap();
        let own = rustix::process::geteuid().as_raw();
        assert!(is_ours(Some(own), at, "config.toml").is_ok());
        for (owner, why) in [(Some(own + 1), "belongs to user"), (None, "does not say whose")] {
            let error = is_ours(owner, at, "config.toml").unwrap_err();
            assert_eq!(error.code(), Code::NotAllowed);
            assert!(error.message().contains(why), "{error}");
            assert!(error.hint().unwrap().contains(ANY_ADDRESS), "{error:?}");
        }
    }

    #[test]
    fn a_browsers_profile_is_new_and_in_the_workspace() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("shipped")).unwrap();
        std::os::unix::fs::symlink("nowhere", root.join("dangling")).unwrap();
        let policy = policy(&root);
        assert!(policy.new_profile(Path::new("fresh")).is_ok());
        for (profile, why) in [
            ("shipped", "is there already"),
            ("dangling", "is there already"),
            ("../x", "is not in the workspace"),
            ("shipped ", "has blanks around a name"),
            ("shipped\n", "has blanks around a name"),
            ("a /b", "has blanks around a name"),
            ("", "has blanks around a name"),
            (" ", "has blanks around a name"),
            (".backsight/store/p", "is in a directory of Git's or of Backsight's"),
            ("sub/.GIT/p", "is in a directory of Git's or of Backsight's"),
        ] {
            let error = policy.new_profile(Path::new(profile)).unwrap_err();
            assert!(error.message().contains(why), "{error}");
        }
    }

    #[test]
    fn only_loopback_numbers_and_localhost_are_this_machine() {
        for own in ["", "localhost", "LOCALHOST", "127.0.0.1", "127.8.9.1", "::1"] {
            assert!(is_this_machine(own), "{own}");
        }
        for other in [
            "0.0.0.0",
            "::",
            "10.0.0.1",
            "192.168.1.2",
            "example.com",
            "localhost.",
            "ip6-localhost",
            "2130706433",
            "127.1",
        ] {
            assert!(!is_this_machine(other), "{other}");
        }
    }
}
