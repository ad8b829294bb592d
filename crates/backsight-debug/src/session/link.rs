//! Starts or finds an adapter and opens the way to it. What the started process prints goes where its adapter's entry says:
//! to the program's output, or to the words that are quoted when something fails.

use std::fs::File;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use backsight_core::{Admission, Code, Error, NextStep, Result};
use tokio::net::unix::pipe;
use tokio::sync::oneshot;

use super::executed::Executed;
use super::output::Output;
use crate::adapters::{Adapter, Reach, Words, besides, fill_arguments, node};
use crate::dap::connection::{Reader, Writer};
use crate::dap::peer::{self, Caller};
use crate::dap::process::{Hears, Pipes, Process, Tail, pump};
use crate::dap::transport::{self, Prompt};

/// What debuggers themselves say on a program's stderr.
const TALK: &[&str] = &["DEBUGGER: "];
/// How long a program that waits for a debugger may take to answer.
const SOON: Duration = Duration::from_secs(3);
/// How long after it was put into a process a debugger may still call: in most it has called by then.
const CALLS_WITHIN: Duration = Duration::from_secs(2);

/// An open way to an adapter.
pub(crate) struct Link {
    pub reader: Reader,
    pub writer: Writer,
    /// What was started for it.
    pub process: Option<Process>,
    /// What that was.
    pub executed: Executed,
    pub stderr: Tail,
}

/// What to start.
pub(crate) struct Start<'a> {
    pub adapter: &'a Adapter,
    /// The adapter's program.
    pub runtime: PathBuf,
    pub program: &'a Path,
    /// A module of Python instead of a program.
    pub module: Option<&'a str>,
    pub interpreter_arguments: &'a [String],
    /// The program starts another one, which waits for us.
    pub child_listens: bool,
    pub arguments: &'a [String],
    pub directory: &'a Path,
    pub environment: &'a [(String, String)],
    /// What was made for it.
    pub scratch: Option<&'a Path>,
    /// What the program shall read from stdin.
    pub stdin: Option<PathBuf>,
    pub patience: Duration,
    /// The command line, once something was started.
    pub started: OnceLock<Vec<String>>,
}

/// Where a program's output is collected.
pub(crate) type Sink = Arc<Mutex<Output>>;

impl Start<'_> {
    /// Starts the adapter and reaches it.
    pub(crate) async fn open(&self, sink: &Sink) -> Result<Link> {
        match self.adapter.reach {
            Reach::Stdio => self.over_pipes(),
            Reach::Opens => self.over_its_port(sink).await,
            Reach::Calls => self.over_our_port(sink).await,
            Reach::Inspector => self.over_inspector(sink).await,
        }
    }

    /// What was executed so far, also by an attempt that failed.
    pub(crate) fn executed(&self) -> Executed {
        let Some(command) = self.started.get().cloned() else { return Executed::default() };
        // A debugger of a process that was there before runs where it does not matter.
        let directory = (!self.program.as_os_str().is_empty()).then(|| self.directory.to_string_lossy().into_owned());
        let environment = self.environment.iter().map(|(name, _)| name.clone()).collect();
        Executed { build: Vec::new(), command, debuggee: self.debuggee(), directory, environment }
    }

    /// What the adapter starts in turn; nothing where its own command line holds the program, or the program was there.
    fn debuggee(&self) -> Vec<String> {
        let is_held = self.adapter.arguments.iter().any(|argument| argument == "{program}");
        if is_held || self.program.as_os_str().is_empty() {
            return Vec::new();
        }
        let program = self.program.to_string_lossy().into_owned();
        std::iter::once(program).chain(self.arguments.iter().cloned()).collect()
    }

    fn command(&self, port: u16) -> Command {
        let mut command = Command::new(&self.runtime);
        let program = match self.module {
            Some(module) => vec!["-m".to_owned(), module.to_owned()],
            None => vec![self.program.to_string_lossy().into_owned()],
        };
        let words = Words { program, arguments: self.arguments, interpreter: self.interpreter_arguments };
        let plain = ["{interpreter_arguments}", "{program}", "{arguments}"].map(str::to_owned);
        // One whose child waits for the debugger is not to wait for it too.
        let template = if self.child_listens { &plain[..] } else { &self.adapter.arguments };
        command.args(besides(fill_arguments(template, port, &words), self.directory));
        if self.child_listens {
            // The name it must be called by is told to nobody but us.
            command.env("NODE_OPTIONS", "--inspect-publish-uid=stderr");
        }
        command.current_dir(self.directory);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// What the program hears, where it is the process that is started or has that one's stdin.
    fn hears(&self) -> Result<Hears> {
        let Some(file) = &self.stdin else { return Ok(Hears::Nothing) };
        let opened = File::open(file).map_err(|error| Error::io("open what the program shall read", error))?;
        Ok(Hears::Text(opened))
    }

    fn start(&self, command: Command, hears: Hears) -> Result<(Process, Pipes)> {
        let (process, pipes) = Process::start(command, hears, self.scratch)?;
        // Each of these starts one thing.
        let _ = self.started.set(process.command().to_vec());
        Ok((process, pipes))
    }

    fn over_pipes(&self) -> Result<Link> {
        let (process, pipes) = self.start(self.command(0), Hears::Us)?;
        let stderr = process.stderr.clone();
        listen(pipes.stderr, Listener::tail(&stderr));
        let (Some(stdin), Some(stdout)) = (pipes.stdin, pipes.stdout) else {
            return Err(Error::new(Code::AdapterFailed, format!("`{}` has no pipes", self.runtime.display())));
        };
        Ok(Link {
            reader: Box::new(stdout),
            writer: Box::new(stdin),
            process: Some(process),
            executed: Executed::default(),
            stderr,
        })
    }

    async fn over_its_port(&self, sink: &Sink) -> Result<Link> {
        let (process, pipes) = self.start(self.command(0), self.hears()?)?;
        let stderr = process.stderr.clone();
        // Some say so on one of them, some on the other.
        let (on_stdout, said) = Listener::output(sink, "stdout", &stderr).until(address_in);
        let (on_stderr, also) = Listener::output(sink, "stderr", &stderr).without(TALK).until(address_in);
        listen(pipes.stdout, on_stdout);
        listen(pipes.stderr, on_stderr);
        let (tell, found) = oneshot::channel();
        tokio::spawn(async move {
            let address =
                tokio::select! { Ok(address) = said => address, Ok(address) = also => address, else => return };
            let _ = tell.send(address);
        });
        let address = self.hear(&process, found, "did not open a port").await?;
        let stream = transport::connect(address, self.patience).await?;
        Ok(over_tcp(stream, Some(process), stderr))
    }

    async fn over_our_port(&self, sink: &Sink) -> Result<Link> {
        let (listener, port) = transport::listen().await?;
        let (process, pipes) = self.start(self.command(port), self.hears()?)?;
        let stderr = process.stderr.clone();
        listen(pipes.stdout, Listener::output(sink, "stdout", &stderr));
        listen(pipes.stderr, Listener::output(sink, "stderr", &stderr));
        let (tell, called) = oneshot::channel();
        let caller = process.id().map(Caller::Started);
        let waiting = tokio::spawn(async move {
            if let Some(caller) = caller
                && let Ok(stream) = peer::accept(&listener, caller).await
            {
                let _ = tell.send(stream);
            }
        });
        let heard = self.hear(&process, called, "did not call").await;
        // The port is closed, whoever called or did not.
        waiting.abort();
        let stream = heard?;
        Ok(over_tcp(Prompt::new(stream), Some(process), stderr))
    }

    /// Puts the debugger into a process that runs already; it calls us, and whatever puts it there is done once it is
    /// answered. A debugger that is just leaving the process takes the new one for itself, and no call comes: then it is put
    /// there again.
    pub(crate) async fn inject(&self, into: i32) -> Result<Link> {
        let (listener, port) = transport::listen().await?;
        let deadline = Instant::now() + self.patience;
        loop {
            let mut command = Command::new(&self.runtime);
            command.args(fill_arguments(self.arguments, port, &Words::default())).current_dir(self.directory);
            let (process, pipes) = self.start(command, Hears::Nothing)?;
            let stderr = process.stderr.clone();
            listen(pipes.stdout, Listener::tail(&stderr));
            listen(pipes.stderr, Listener::tail(&stderr));
            let mut exit = process.exit();
            let done = async {
                let status = exit.wait_for(Option::is_some).await.ok().and_then(|status| *status);
                let is_there = status.is_some_and(|status| status.success());
                if is_there {
                    tokio::time::sleep(CALLS_WITHIN).await;
                }
                is_there
            };
            let failure = tokio::select! {
                biased;
                Ok(stream) = peer::accept(&listener, Caller::Process(into)) => return Ok(over_tcp(Prompt::new(stream), Some(process), stderr)),
                () = tokio::time::sleep_until(deadline.into()) => format!("did not call within {} ms", self.patience.as_millis()),
                is_there = done => if is_there { continue } else { "could not be put into the process".to_owned() },
            };
            return Err(self.failed(format!("`{}` {failure}", self.adapter.name), &stderr));
        }
    }

    async fn over_inspector(&self, sink: &Sink) -> Result<Link> {
        // A child is told a port that is free now; what is started here chooses its own.
        let port = if self.child_listens { transport::listen().await?.1 } else { 0 };
        let (process, pipes) = self.start(self.command(port), self.hears()?)?;
        let stderr = process.stderr.clone();
        listen(pipes.stdout, Listener::output(sink, "stdout", &stderr));
        let (listener, found) = Listener::output(sink, "stderr", &stderr).without(node::TALK).until(node::address_in);
        listen(pipes.stderr, listener);
        let (address, path) = self.hear(&process, found, "did not open its inspector").await?;
        let stream = transport::connect(address, self.patience).await?;
        let (reader, writer) = node::translate(stream, address, &path, self.patience).await?;
        Ok(Link { reader, writer, process: Some(process), executed: Executed::default(), stderr })
    }

    /// Waits for a sign of life, no longer than the process lives.
    async fn hear<T>(&self, process: &Process, sign: oneshot::Receiver<T>, otherwise: &str) -> Result<T> {
        let mut exit = process.exit();
        let name = &self.adapter.name;
        let failure = tokio::select! {
            biased;
            Ok(found) = sign => return Ok(found),
            Ok(status) = exit.wait_for(Option::is_some) => match &*status {
                Some(status) => format!("`{name}` ended before it was ready ({status})"),
                None => format!("`{name}` ended before it was ready"),
            },
            () = tokio::time::sleep(self.patience) => format!("`{name}` {otherwise} within {} ms", self.patience.as_millis()),
        };
        // The last words may still be on their way; there is nothing else to wait for.
        for _ in 0..20 {
            if process.stderr.quote().is_some() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Err(self.failed(failure, &process.stderr))
    }

    fn failed(&self, failure: String, stderr: &Tail) -> Error {
        let words = stderr.quote().unwrap_or_default();
        let runtime = self.runtime.display();
        if words.contains("No module named debugpy") || words.contains("No module named 'debugpy'") {
            let message = format!("`{runtime}` has no debugger: the module `debugpy` is missing");
            return Error::new(Code::AdapterNotFound, message)
                .with_hint(format!("install it with `{runtime} -m pip install debugpy`"))
                .or("name another Python", NextStep::WithRuntime);
        }
        Error::new(Code::AdapterFailed, with_words(failure, stderr))
    }
}

/// Reaches an adapter that is there already.
pub(crate) async fn attach(
    adapter: &Adapter,
    host: &str,
    port: u16,
    admission: &Admission,
    patience: Duration,
) -> Result<Link> {
    let host = if host.is_empty() || host == "localhost" { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { parse(host)? };
    let address = SocketAddr::new(host, port);
    // Whoever waits for a debugger waits already.
    let stream = transport::connect(address, patience.min(SOON)).await.map_err(|error| {
        error.with_hint("see that the program waits for a debugger there; some wait for one only once")
    })?;
    let (ours, theirs) = stream.ends().map_err(|error| Error::io(format!("speak with {address}"), error))?;
    admission.check(ours, theirs)?;
    if adapter.reach == Reach::Inspector {
        let path = node::discover(address, patience).await?;
        let (reader, writer) = node::translate(stream, address, &path, patience).await?;
        return Ok(Link { reader, writer, process: None, executed: Executed::default(), stderr: Tail::default() });
    }
    Ok(over_tcp(stream, None, Tail::default()))
}

/// A failure with the last words of whatever failed.
pub(crate) fn with_words(failure: String, stderr: &Tail) -> String {
    match stderr.quote() {
        Some(words) => format!("{failure}; it said: {words}"),
        None => failure,
    }
}

fn parse(host: &str) -> Result<IpAddr> {
    host.parse().map_err(|_| Error::new(Code::Usage, format!("`{host}` is no address: give numbers, as in 127.0.0.1")))
}

fn over_tcp(stream: Prompt, process: Option<Process>, stderr: Tail) -> Link {
    let (reader, writer) = tokio::io::split(stream);
    Link { reader: Box::new(reader), writer: Box::new(writer), process, executed: Executed::default(), stderr }
}

/// Is told every line until it says that it has found what it looks for.
type Watch = Box<dyn FnMut(&str) -> bool + Send>;

/// What is done with the words of a process.
struct Listener {
    sink: Option<(Sink, &'static str)>,
    tail: Tail,
    /// Lines that are the debugger's own and not the program's.
    talk: &'static [&'static str],
    /// Told every piece until it finds what it looks for.
    watch: Option<Watch>,
}

impl Listener {
    fn tail(tail: &Tail) -> Self {
        Listener { sink: None, tail: tail.clone(), talk: &[], watch: None }
    }

    fn output(sink: &Sink, category: &'static str, tail: &Tail) -> Self {
        Listener { sink: Some((Arc::clone(sink), category)), ..Listener::tail(tail) }
    }

    fn without(self, talk: &'static [&'static str]) -> Self {
        Listener { talk, ..self }
    }

    /// Also looks for something in the lines, and tells when it is there. The line it is in is not the program's.
    fn until<T: Send + 'static>(self, find: fn(&str) -> Option<T>) -> (Self, oneshot::Receiver<T>) {
        let (tell, found) = oneshot::channel();
        let mut tell = Some(tell);
        let watch = move |line: &str| match find(line) {
            Some(it) => tell.take().is_some_and(|tell| tell.send(it).is_ok()),
            None => false,
        };
        (Listener { watch: Some(Box::new(watch)), ..self }, found)
    }

    fn hear(&mut self, text: &str) {
        self.tail.push(text);
        if self.talk.is_empty() && self.watch.is_none() {
            return self.pass(text);
        }
        let mut said = String::new();
        for line in text.split_inclusive('\n') {
            let found = self.watch.as_mut().is_some_and(|watch| watch(line));
            if found {
                self.watch = None;
            } else if !self.talk.iter().any(|talk| line.starts_with(talk)) {
                said.push_str(line);
            }
        }
        self.pass(&said);
    }

    fn pass(&self, text: &str) {
        if let Some((sink, category)) = &self.sink {
            sink.lock().unwrap_or_else(PoisonError::into_inner).push(category, text);
        }
    }
}

fn listen(pipe: Option<pipe::Receiver>, mut listener: Listener) {
    if let Some(pipe) = pipe {
        tokio::spawn(async move { pump(pipe, |text| listener.hear(text)).await });
    }
}

/// The address in a line such as `DAP server listening at: 127.0.0.1:38697`.
fn address_in(line: &str) -> Option<SocketAddr> {
    let word = line
        .split_whitespace()
        .rev()
        .find_map(|word| word.trim_matches(['.', ',', '(', ')']).parse::<SocketAddr>().ok());
    let says = |words: &str| line.to_ascii_lowercase().contains(words);
    let mut address = word.filter(|_| says("listening") || says("can attach"))?;
    if address.ip().is_unspecified() {
        address.set_ip(IpAddr::V4(Ipv4Addr::LOCALHOST));
    }
    Some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_read_from_what_a_debugger_prints() {
        let line = "DAP server listening at: 127.0.0.1:38697\n";
        assert_eq!(address_in(line), Some("127.0.0.1:38697".parse().unwrap()));
        assert_eq!(address_in("Listening on 0.0.0.0:5."), Some("127.0.0.1:5".parse().unwrap()));
        assert_eq!(address_in("connected to 127.0.0.1:5"), None);
        assert_eq!(address_in(""), None);
    }

    #[test]
    fn the_debuggers_own_lines_are_not_the_programs() {
        let sink = Sink::default();
        let (mut listener, mut found) =
            Listener::output(&sink, "stderr", &Tail::default()).without(&["For help"]).until(address_in);
        listener.hear("Listening at 127.0.0.1:7\nFor help, see\nhello");
        listener.hear(" world\n");
        assert_eq!(found.try_recv().unwrap().port(), 7);
        let page = sink.lock().unwrap().since(0, 1000);
        assert_eq!(page.pieces.iter().map(|piece| piece.text.as_str()).collect::<String>(), "hello world\n");
    }
}
