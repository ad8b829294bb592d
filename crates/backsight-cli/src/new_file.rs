//! A file that the user names and that must not be there yet: nothing is written over, nothing is followed or waited for.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use backsight_core::{Code, Error, Result};

/// Makes the file and lets `write` fill it; of a file that cannot be filled nothing stays.
pub fn write(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    let mut file = File::create_new(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Error::new(Code::Conflict, format!("`{}` exists; nothing was written", path.display()))
                .with_hint("choose a name that is free")
        }
        _ => failed(path, error),
    })?;
    write(&mut file).map_err(|error| {
        let _ = std::fs::remove_file(path);
        failed(path, error)
    })
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::io(format!("write `{}`", path.display()), error)
}
