//! `backsight cat REF PATH`: the bytes of a file as a snapshot holds them.

use std::ffi::OsString;

use backsight_core::Result;
use serde_json::{Value, json};

use crate::arguments::examples_then_references;
use crate::commands::Verdict;
use crate::context::Context;

/// Print a file as a snapshot holds it
///
/// The bytes go to stdout unchanged. With --json, `content` holds them as text, or as base64 when they are not UTF-8;
/// `encoding` says which.
#[derive(clap::Args, Debug)]
#[command(after_long_help = examples_then_references!("\
Examples:
  backsight cat @ src/main.rs
  backsight cat 12 -- -odd-name"))]
pub struct Args {
    /// Which snapshot
    #[arg(value_name = "REF")]
    reference: String,
    /// Which file
    #[arg(value_name = "PATH")]
    path: OsString,
}

pub fn run(args: &Args, context: &Context) -> Result<Verdict> {
    let workspace = context.workspace()?;
    let path = context.path(&workspace, &args.path)?;
    let bytes = workspace.get_file_at(&args.reference, &path)?;
    let content = if context.screen.is_json() { encoded(&bytes) } else { Value::Null };
    let mut report = json!({ "path": path, "size": bytes.len() });
    if let (Value::Object(report), Value::Object(content)) = (&mut report, content) {
        report.extend(content);
    }
    context.answer(&report, |page| page.data.raw(&bytes))?;
    Ok(Verdict::Done)
}

fn encoded(bytes: &[u8]) -> Value {
    match str::from_utf8(bytes) {
        Ok(text) => json!({ "encoding": "utf-8", "content": text }),
        Err(_) => json!({ "encoding": "base64", "content": base64(bytes) }),
    }
}

/// RFC 4648, with padding.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0, |group, byte| group << 8 | usize::from(*byte)) << (8 * (3 - chunk.len()));
        for position in 0..4 {
            let digit = DIGITS[group >> (18 - 6 * position) & 63];
            text.push(if position <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_follows_the_rfc() {
        for (plain, expected) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(plain.as_bytes()), expected);
        }
        assert_eq!(base64(&[0xff, 0xfe, 0xfd]), "//79");
    }
}
