//! A page that leads a browser to a one-time address. Programs that open addresses take them as arguments, and every user of
//! the machine can read those; a file that only this user can read is named instead. The server removes it when the
//! address was used, and the next `open` what was never used.

use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use backsight_core::{Error, Result};

/// After this time no address works.
const LIFE: Duration = Duration::from_secs(600);
/// So many pages are looked at for what was never used.
const MOST_LOOKED_AT: usize = 1000;

/// Where pages are, in the user's state directory.
pub fn place(state: Option<&Path>) -> Option<PathBuf> {
    state.map(|state| state.join("open"))
}

/// The page for the address with this nonce, which has only letters and digits.
pub(crate) fn page(place: &Path, nonce: &str) -> PathBuf {
    let name: String = nonce.chars().filter(char::is_ascii_alphanumeric).collect();
    place.join(format!("{name}.html"))
}

/// Writes the page that leads to `url`, and removes those whose addresses do not work any more.
pub fn write(place: &Path, nonce: &str, url: &str) -> Result<PathBuf> {
    let file = page(place, nonce);
    let write = || -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(place)?;
        let found = std::fs::symlink_metadata(place)?;
        if !found.is_dir() || found.uid() != rustix::process::geteuid().as_raw() || found.mode() & 0o077 != 0 {
            return Err(io::Error::other("the directory is not this user's alone"));
        }
        sweep(place);
        File::options().write(true).create_new(true).mode(0o600).open(&file)?.write_all(text(url).as_bytes())
    };
    write().map_err(|error| Error::io(format!("write `{}`", file.display()), error))?;
    Ok(file)
}

#[expect(clippy::disallowed_methods, reason = "the age of files is measured by the clock that dated them")]
fn sweep(place: &Path) {
    let found = std::fs::read_dir(place).into_iter().flatten().flatten();
    for entry in found.take(MOST_LOOKED_AT) {
        let written = entry.metadata().and_then(|found| found.modified());
        let is_over = |at: SystemTime| SystemTime::now().duration_since(at).is_ok_and(|age| age > LIFE);
        if written.is_ok_and(is_over) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn text(url: &str) -> String {
    let url = url.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    format!(
        "<!doctype html><meta charset=\"utf-8\"><title>Backsight</title><meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0;url={url}\"><p><a href=\"{url}\">Backsight's dashboard</a></p>\n"
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_page_is_the_users_alone_and_those_that_were_never_used_go() {
        let directory = tempfile::tempdir().unwrap();
        let place = place(Some(directory.path())).unwrap();
        let first = write(&place, "a", "http://127.0.0.1:1/open?a=1&b=\"").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&place), mode(&first)), (0o700, 0o600));
        assert!(std::fs::read_to_string(&first).unwrap().contains("url=http://127.0.0.1:1/open?a=1&amp;b=&quot;\""));
        let long_ago = SystemTime::now() - 2 * LIFE;
        File::options().append(true).open(&first).unwrap().set_modified(long_ago).unwrap();
        let second = write(&place, "b", "http://127.0.0.1:1/open").unwrap();
        assert!(!first.exists() && second.exists());
        // Through no link, and into no directory of others.
        assert!(write(&place, "b", "http://127.0.0.1:1/open").is_err());
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(write(&place, "c", "http://127.0.0.1:1/open").is_err());
        assert_eq!(page(&place, "../../x"), place.join("x.html"));
    }
}
