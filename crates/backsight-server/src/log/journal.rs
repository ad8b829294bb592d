//! The log itself: spans become a line when they end, events at once.

use std::collections::HashMap;
use std::fmt::{Debug, Write as _};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime};

use backsight_core::{Code, Error, Result, Timestamp, one_line};
use rustix::fs::OFlags;
use rustix::io::Errno;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::{LogTo, OURS};

/// A file of this size is put aside.
const LARGEST: u64 = 4 << 20;
/// Of a value no more is written.
const LONGEST_VALUE: usize = 100;

/// What hears of spans and events, and writes lines.
pub struct Journal {
    next: AtomicU64,
    open: Mutex<HashMap<u64, Open>>,
    sink: Mutex<Sink>,
}

/// A span that has not ended.
struct Open {
    began: Instant,
    handles: usize,
    name: &'static str,
    fields: Fields,
}

enum Sink {
    Stderr,
    File { path: PathBuf, file: File, size: u64, largest: u64 },
}

impl Journal {
    /// One that writes there.
    pub fn open(to: &LogTo) -> Result<Journal> {
        Journal::with(to, LARGEST)
    }

    fn with(to: &LogTo, largest: u64) -> Result<Journal> {
        let sink = match to {
            LogTo::Stderr => Sink::Stderr,
            LogTo::File(path) => {
                let failed = |error| Error::io(format!("write the log `{}`", path.display()), error);
                let file = begun(path).map_err(failed)?;
                if !is_log(&aside(path)).map_err(failed)? {
                    let message =
                        format!("`{}` is no log of Backsight's, and would be written over", aside(path).display());
                    return Err(Error::new(Code::Conflict, message).with_hint("choose another name for the log"));
                }
                let size = file.metadata().map_or(0, |metadata| metadata.len());
                Sink::File { path: path.clone(), file, size, largest }
            }
        };
        Ok(Journal { next: AtomicU64::new(1), open: Mutex::default(), sink: Mutex::new(sink) })
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "a log line says when it was written, also while no workspace is open"
    )]
    fn write(&self, name: &str, fields: &Fields, milliseconds: Option<u128>) {
        let mut line = format!("{} {name}", Timestamp::from_system(SystemTime::now()));
        line.push_str(&fields.0);
        if !fields.0.contains(" outcome=") && milliseconds.is_some() {
            line.push_str(" outcome=taken_back");
        }
        if let Some(milliseconds) = milliseconds {
            let _ = write!(line, " ms={milliseconds}");
        }
        line.push('\n');
        lock(&self.sink).line(&line);
    }
}

impl Sink {
    /// A log that cannot be written must not keep anybody from working.
    fn line(&mut self, line: &str) {
        match self {
            Sink::Stderr => drop(std::io::stderr().write_all(line.as_bytes())),
            Sink::File { path, file, size, largest } => {
                if *size + line.len() as u64 > *largest {
                    let aside = aside(path);
                    if is_log(&aside).is_ok_and(|is_log| is_log)
                        && std::fs::rename(&*path, aside).is_ok()
                        && let Ok(fresh) = begun(path)
                    {
                        (*file, *size) = (fresh, 0);
                    } else if file.set_len(0).is_ok() {
                        // Something else has its name by now, and stays: better old lines are lost than the disk is filled.
                        *size = 0;
                    }
                }
                if file.write_all(line.as_bytes()).is_ok() {
                    *size += line.len() as u64;
                }
            }
        }
    }
}

/// What a large file is called when another is begun.
fn aside(path: &Path) -> PathBuf {
    let mut aside = path.to_owned().into_os_string();
    aside.push(".1");
    aside.into()
}

/// The file to add to, for this user's eyes: a new one, or a log of ours. A link is not followed and a pipe not waited for.
fn begun(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.append(true).mode(0o600);
    match options.clone().create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made,
    }
    if !is_log(path)? {
        return Err(io::Error::other("there is something else with this name; choose another one"));
    }
    options.custom_flags(UNFOLLOWED.bits().cast_signed()).open(path)
}

/// How a file is opened that may be anything.
const UNFOLLOWED: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK);

/// Whether the file is a log of ours, or empty, or not there: a line begins with its time.
fn is_log(path: &Path) -> io::Result<bool> {
    let file = match File::options().read(true).custom_flags(UNFOLLOWED.bits().cast_signed()).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        // A link.
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => return Ok(false),
        Err(error) => return Err(error),
    };
    let found = file.metadata()?;
    if !found.is_file() || found.nlink() > 1 {
        return Ok(false);
    }
    let mut start = Vec::new();
    file.take(64).read_to_end(&mut start)?;
    let word = start.split(|byte| *byte == b' ').next().and_then(|word| std::str::from_utf8(word).ok());
    Ok(start.is_empty() || word.is_some_and(|word| word.parse::<Timestamp>().is_ok()))
}

impl Subscriber for Journal {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == OURS
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut fields = Fields::default();
        span.record(&mut fields);
        let name = span.metadata().name();
        lock(&self.open).insert(id, Open { began: Instant::now(), handles: 1, name, fields });
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        if let Some(open) = lock(&self.open).get_mut(&span.into_u64()) {
            values.record(&mut open.fields);
        }
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.write(&event.metadata().level().to_string().to_lowercase(), &fields, None);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}

    fn clone_span(&self, id: &Id) -> Id {
        if let Some(open) = lock(&self.open).get_mut(&id.into_u64()) {
            open.handles += 1;
        }
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let mut all = lock(&self.open);
        let Some(open) = all.get_mut(&id.into_u64()) else { return false };
        open.handles -= 1;
        if open.handles > 0 {
            return false;
        }
        let ended = all.remove(&id.into_u64());
        drop(all);
        if let Some(open) = ended {
            self.write(open.name, &open.fields, Some(open.began.elapsed().as_millis()));
        }
        true
    }
}

/// The fields of a line, each ` name=value`.
#[derive(Default)]
struct Fields(String);

impl Fields {
    fn add(&mut self, name: &str, value: &str) {
        let value: String = one_line(value).chars().take(LONGEST_VALUE).collect();
        let value = value.replace(char::is_whitespace, "_");
        let _ = match name {
            "message" => write!(self.0, " {value}"),
            _ => write!(self.0, " {name}={value}"),
        };
    }
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.add(field.name(), value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.add(field.name(), &format!("{value:?}"));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::super::{Request, tell_of_panics};
    use super::*;

    fn journal(largest: u64) -> (tempfile::TempDir, PathBuf, Journal) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let journal = Journal::with(&LogTo::File(path.clone()), largest).unwrap();
        (directory, path, journal)
    }

    #[test]
    fn a_request_is_a_line_with_how_it_ended() {
        let (_directory, path, journal) = journal(LARGEST);
        tracing::subscriber::with_default(journal, || {
            Request::new("mcp", "evaluate", Some("my client\nok")).ended("NO_SESSION");
            drop(Request::new("http", "debugState", None));
            tracing::info!(target: "hyper", "a secret of a library");
        });
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        let asked = "request interface=mcp operation=evaluate client=my_client";
        assert!(lines[0].contains(asked) && lines[0].contains(" outcome=NO_SESSION ms="), "{text}");
        assert!(lines[1].contains("client=- outcome=taken_back ms="), "{text}");
    }

    #[test]
    fn a_panic_is_a_line_with_where_and_without_what_was_said() {
        let (_directory, path, journal) = journal(LARGEST);
        tracing::subscriber::set_global_default(journal).unwrap();
        tell_of_panics();
        let outcome = std::thread::Builder::new().name("worker".to_owned()).spawn(|| panic!("hunter2")).unwrap().join();
        assert!(outcome.is_err());
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(" error panic at=") && text.contains("journal.rs:"), "{text}");
        assert!(text.contains("thread=worker") && !text.contains("hunter2"), "{text}");
    }

    #[test]
    fn a_log_goes_on_and_nothing_else_is_written_to() {
        let (directory, path, journal) = journal(LARGEST);
        tracing::subscriber::with_default(journal, || Request::new("mcp", "files_diff", None).ended("ok"));
        let again = |path: &Path| Journal::open(&LogTo::File(path.to_owned()));
        let journal = again(&path).unwrap();
        tracing::subscriber::with_default(journal, || Request::new("mcp", "files_diff", None).ended("ok"));
        assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2);
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("mine"), "mine\n").unwrap();
        std::os::unix::fs::symlink(at("mine"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("none"), at("dangling")).unwrap();
        std::fs::hard_link(&path, at("hard")).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        for name in ["mine", "link", "dangling", "hard", "pipe"] {
            assert!(again(&at(name)).is_err(), "{name}");
        }
        std::fs::write(at("other.1"), "mine\n").unwrap();
        assert!(again(&at("other")).is_err(), "it would be written over");
        assert_eq!(std::fs::read_to_string(at("mine")).unwrap(), "mine\n");
        assert!(!at("none").exists());
    }

    #[test]
    fn what_has_the_name_of_an_old_log_stays() {
        let (directory, path, journal) = journal(500);
        let aside = directory.path().join("log.1");
        std::fs::write(&aside, "mine\n").unwrap();
        tracing::subscriber::with_default(journal, || {
            (0..20).for_each(|_| Request::new("mcp", "files_diff", None).ended("ok"));
        });
        assert_eq!(std::fs::read_to_string(aside).unwrap(), "mine\n");
        assert!((1..=500).contains(&std::fs::metadata(path).unwrap().len()));
    }

    #[test]
    fn a_large_file_is_put_aside_and_only_the_user_can_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let (directory, path, journal) = journal(500);
        tracing::subscriber::with_default(journal, || {
            (0..20).for_each(|_| Request::new("mcp", "files_diff", None).ended("ok"));
        });
        let aside = directory.path().join("log.1");
        let sizes = [&path, &aside].map(|file| std::fs::metadata(file).unwrap().len());
        assert!(sizes.iter().all(|size| (1..=500).contains(size)), "{sizes:?}");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2, "no third file");
    }
}
