//! What agents may run and reach. An agent may act on what a stranger wrote, so through its tools it starts only programs
//! of the workspace under debuggers that were found, and attaches only to this machine and this user, unless the user's
//! own settings allow more. People use the same operations without this: the CLI and the typed API are theirs.

use std::net::IpAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use backsight_core::{Code, Error, Result, quote};
use backsight_debug::debugger::Moved;
use backsight_debug::session::{Attach, Launch};

use super::Workspace;
use crate::report::BrowserStatus;
use crate::request::AttachBrowser;
use crate::user_settings::{self, Addresses, Agents, Programs, UserSettings};

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
    /// The user's own settings, as they are now.
    pub fn user_settings(&self) -> Result<UserSettings> {
        user_settings::load(&self.settings)
    }

    /// Where the user's own settings are, or would be.
    pub fn user_settings_path(&self) -> Option<PathBuf> {
        user_settings::path(&self.settings)
    }

    /// The same as [`Workspace::debug_launch`], for an agent.
    pub fn agent_launch(&self, session: Option<&str>, launch: Launch) -> Result<Moved> {
        self.policy()?.launch(&launch)?;
        self.debug_launch(session, launch)
    }

    /// The same as [`Workspace::debug_attach`], for an agent.
    pub fn agent_attach(&self, session: Option<&str>, attach: Attach) -> Result<Moved> {
        self.policy()?.attach(&attach)?;
        self.debug_attach(session, attach)
    }

    /// The same as [`Workspace::attach_browser`], for an agent.
    pub fn agent_attach_browser(&self, request: &AttachBrowser) -> Result<BrowserStatus> {
        self.policy()?.browser(request)?;
        self.attach_browser(request)
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

    fn attach(&self, attach: &Attach) -> Result<()> {
        self.debugger(attach.runtime.as_deref(), !attach.options.is_empty())?;
        if self.agents.addresses != Addresses::Any && !is_this_machine(&attach.host) {
            let host = quote(attach.host.as_bytes());
            let what = format!("to debug a program at `{host}`, which is not an address of this machine");
            return Err(self.refused(&what, ANY_ADDRESS));
        }
        match attach.pid.filter(|_| attach.port.is_none()) {
            Some(pid) => self.process(pid),
            None => Ok(()),
        }
    }

    /// Processes of others are theirs, also for an agent that root runs; and the server cannot be paused by itself.
    fn process(&self, pid: u32) -> Result<()> {
        if pid == std::process::id() {
            return Err(Error::new(Code::Usage, format!("process {pid} is Backsight itself")));
        }
        // One that is not there is told by the debugger.
        let Ok(found) = std::fs::metadata(format!("/proc/{pid}")) else { return Ok(()) };
        let user = rustix::process::geteuid().as_raw();
        if found.uid() == user || self.agents.programs == Programs::Any {
            return Ok(());
        }
        let what = format!("to debug process {pid}, which belongs to user {} and not to {user}", found.uid());
        Err(self.refused(&what, ANY_PROGRAM))
    }

    fn browser(&self, request: &AttachBrowser) -> Result<()> {
        if let Some(program) = &request.program
            && self.agents.programs != Programs::Any
        {
            let program = quote(program.as_os_str().as_encoded_bytes());
            return Err(self.refused(&format!("to choose `{program}` as the browser"), ANY_PROGRAM));
        }
        if let Some(profile) = request.profile.as_deref().filter(|_| request.launch)
            && self.agents.programs != Programs::Any
            && !self.is_inside(profile)
        {
            let profile = quote(profile.as_os_str().as_encoded_bytes());
            let what = format!("to launch a browser with the profile `{profile}`, which is not in the workspace");
            return Err(self.refused(&what, ANY_PROGRAM));
        }
        if let Some(url) = request.open.as_deref().filter(|url| !self.is_own_page(url))
            && self.agents.addresses != Addresses::Any
        {
            let what = format!("to open `{}`, which is not a page of this machine", quote(url.as_bytes()));
            return Err(self.refused(&what, ANY_ADDRESS));
        }
        Ok(())
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

    /// Whether a path is in the workspace when every link is followed; one that does not exist, by what does.
    fn is_inside(&self, path: &Path) -> bool {
        let path = self.root.join(path);
        let is_plain = |path: &Path| !path.components().any(|part| part == Component::ParentDir);
        let existing = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
        existing.is_some_and(|(above, real)| {
            let rest = path.strip_prefix(above).unwrap_or(Path::new(""));
            real.starts_with(self.root) && is_plain(rest)
        })
    }

    /// A page that this machine serves, or a file of the workspace.
    fn is_own_page(&self, url: &str) -> bool {
        if url == "about:blank" {
            return true;
        }
        if let Some(path) = url.strip_prefix("file://") {
            return path.starts_with('/') && !path.contains(['%', '\\']) && self.is_inside(Path::new(path));
        }
        let Some(rest) = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://")) else { return false };
        let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => authority,
        };
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        !host.is_empty() && (is_this_machine(bare) || bare.to_ascii_lowercase().ends_with(".localhost"))
    }

    fn refused(&self, what: &str, setting: &str) -> Error {
        let file = quote(self.file.as_bytes());
        Error::new(Code::NotAllowed, format!("agents are not allowed {what}; nothing was started"))
            .with_hint(format!("the user can allow it with `{setting}` under `[agents]` in `{file}`"))
            .with_details(serde_json::json!({ "setting": setting, "file": self.file }))
    }
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
            assert!(policy.is_own_page(own), "{own}");
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
        ];
        for other in others {
            assert!(!policy.is_own_page(other), "{other}");
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
