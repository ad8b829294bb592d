//! Small files in the store by which hooks, each a process of its own, leave word for each other and for the server.

use std::io::Write;

use backsight::AnchoredPath;

/// Larger ones are none of ours.
const LARGEST: u64 = 8 << 10;

/// The text of a file, if there is one.
pub(super) fn read(file: &AnchoredPath) -> Option<String> {
    let bytes = file.read(LARGEST).ok()?;
    String::from_utf8(bytes).ok().map(|text| text.trim().to_owned())
}

/// Writes a file as a whole, over what was there. What cannot be written costs comfort, never a step.
pub(super) fn write(directory: &AnchoredPath, name: &str, text: &str) -> Option<()> {
    directory.make_directories().ok()?;
    let temporary = directory.join(format!("{name}.{}", std::process::id()));
    temporary.remove().ok()?;
    temporary.create().and_then(|mut file| writeln!(file, "{text}")).ok()?;
    temporary.rename(&directory.join(name)).ok()
}
