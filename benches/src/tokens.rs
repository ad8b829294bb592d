//! What a model pays for a text, counted by a real tokeniser.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Result;

/// The tokens of each text in the `o200k` encoding.
pub fn count(texts: &[&str]) -> Result<Vec<u64>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let target = std::env::current_exe()?;
    let target = target.parent().and_then(Path::parent).ok_or("this program is not in a target directory")?;
    let mut process = Command::new("node")
        .arg(root.join("tests/tools/tokens.cjs"))
        .env("NODE_PATH", target.join("tools/node_modules"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("node does not run ({error}): install it"))?;
    let mut input = process.stdin.take().ok_or("node has no input")?;
    input.write_all(&serde_json::to_vec(texts)?)?;
    drop(input);
    let output = process.wait_with_output()?;
    match output.status.success() {
        true => Ok(serde_json::from_slice(&output.stdout)?),
        false => Err("the tokeniser failed: run `make tools`".into()),
    }
}
