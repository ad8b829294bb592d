//! Hunks by name, and which of their lines are meant. A hunk is a run of changed lines; its name is made of what it says, so
//! that it stays the same however many lines around it are shown, and another version that found other runs would not know it.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use backsight_core::{Code, Error, NextStep, RelPath, Result};
use backsight_diff::{Run, runs, split_lines, undo_lines};
use backsight_files::Part;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::report::FileDiff;

/// Names one hunk of a step or a range: `h` and ten hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HunkId(u64);

/// A hunk, or some lines of it: `h1a2b3c4d5e`, `h1a2b3c4d5e:2-3,7`. Lines are counted from one as a diff shows them: those that
/// went, then those that came.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct HunkChoice {
    /// Which hunk.
    pub id: HunkId,
    /// Its lines, as first and last; all of them when there are none.
    pub lines: Vec<(usize, usize)>,
}

impl HunkChoice {
    fn has(&self, line: usize) -> bool {
        self.lines.is_empty() || self.lines.iter().any(|(first, last)| (*first..=*last).contains(&(line + 1)))
    }
}

/// The hunks of a file with their names, in order; none when its lines were not compared.
pub(crate) fn named(diff: &FileDiff) -> Vec<(HunkId, Run)> {
    if diff.binary || diff.cut.is_some() {
        return Vec::new();
    }
    let (old, new) = (split_lines(diff.before.as_bytes()), split_lines(diff.after.as_bytes()));
    let mut times: BTreeMap<u64, u64> = BTreeMap::new();
    let name = |run: Run| {
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(diff.file.as_bytes());
        add(&old[run.before.clone()].concat());
        add(&new[run.after.clone()].concat());
        // The same lines may change in the same way at several places.
        let alike = times.entry(short(&hash.clone().finalize())).or_default();
        hash.update(alike.to_le_bytes());
        *alike += 1;
        (HunkId(short(&hash.finalize())), run)
    };
    runs(diff.before.as_bytes(), diff.after.as_bytes()).into_iter().map(name).collect()
}

/// Forty bits: a step of ten thousand hunks has two of one name once in twenty thousand, and then they are refused.
fn short(digest: &[u8]) -> u64 {
    digest.iter().take(5).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// What becomes of each file when the chosen hunks are undone. `found` counts where each choice was met.
pub(crate) fn chosen(
    choices: &[HunkChoice],
    diffs: &[FileDiff],
    found: &mut [usize],
) -> Result<BTreeMap<RelPath, Part>> {
    let mut parts = BTreeMap::new();
    for diff in diffs {
        let hunks = named(diff);
        let mut lines: Vec<Vec<bool>> = Vec::with_capacity(hunks.len());
        for (id, run) in &hunks {
            let mut marks = vec![false; run.lines()];
            for (choice, times) in choices.iter().zip(&mut *found).filter(|(choice, _)| choice.id == *id) {
                check_lines(choice, run)?;
                *times += 1;
                marks.iter_mut().enumerate().for_each(|(line, mark)| *mark |= choice.has(line));
            }
            lines.push(marks);
        }
        if !lines.iter().flatten().any(|mark| *mark) {
            continue;
        }
        let is_whole = diff.from_file.is_none() && lines.iter().flatten().all(|mark| *mark);
        let text = || undo_lines(diff.before.as_bytes(), diff.after.as_bytes(), |hunk, line| lines[hunk][line]);
        parts.insert(diff.file.clone(), if is_whole { Part::Whole } else { Part::Text(text()) });
    }
    Ok(parts)
}

impl FileDiff {
    /// The unified diff with the names of its hunks behind each `@@`, in order; tools that apply it read over them.
    pub fn unified_with_hunks(&self) -> Vec<u8> {
        let mut names = named(self).into_iter().map(|(id, _)| id);
        let mut lines = self.unified.split_inclusive(|byte| *byte == b'\n').peekable();
        let mut text = Vec::with_capacity(self.unified.len());
        while let Some(line) = lines.next_if(|line| !line.starts_with(b"@@")) {
            text.extend_from_slice(line);
        }
        while let Some(head) = lines.next() {
            let mut body = Vec::new();
            let mut last = b' ';
            text.extend_from_slice(head.strip_suffix(b"\n").unwrap_or(head));
            while let Some(line) = lines.next_if(|line| !line.starts_with(b"@@")) {
                let sign = line.first().copied().filter(|sign| *sign != b'\\').unwrap_or(last);
                if sign != b' ' && last == b' ' {
                    text.extend(names.next().into_iter().flat_map(|id| format!(" {id}").into_bytes()));
                }
                last = sign;
                body.extend_from_slice(line);
            }
            text.push(b'\n');
            text.extend(body);
        }
        text
    }
}

fn check_lines(choice: &HunkChoice, run: &Run) -> Result<()> {
    let beyond = choice.lines.iter().find(|(first, last)| *first < 1 || first > last || *last > run.lines());
    match beyond {
        None => Ok(()),
        Some(_) => Err(Error::new(Code::Usage, format!("`{choice}` names lines that {} does not have", choice.id))
            .with_hint(format!("its changed lines are 1 to {}", run.lines()))),
    }
}

impl fmt::Display for HunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "h{:010x}", self.0)
    }
}

impl FromStr for HunkId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let digits = text.strip_prefix('h').filter(|digits| digits.len() == 10 && digits.bytes().all(is_digit));
        let number = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        number.map(HunkId).ok_or_else(|| wrong(text))
    }
}

impl fmt::Display for HunkChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.id.fmt(f)?;
        for (index, (first, last)) in self.lines.iter().enumerate() {
            f.write_str(if index == 0 { ":" } else { "," })?;
            if first == last { write!(f, "{first}")? } else { write!(f, "{first}-{last}")? }
        }
        Ok(())
    }
}

impl FromStr for HunkChoice {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (id, lines) = match text.split_once(':') {
            Some((id, lines)) => (id, Some(lines)),
            None => (text, None),
        };
        let number = |digits: &str| digits.parse::<usize>().map_err(|_| wrong(text));
        let range = |part: &str| -> Result<(usize, usize)> {
            match part.split_once('-') {
                Some((first, last)) => Ok((number(first)?, number(last)?)),
                None => number(part).map(|line| (line, line)),
            }
        };
        let lines = lines.map_or(Ok(Vec::new()), |lines| lines.split(',').map(range).collect())?;
        Ok(HunkChoice { id: id.parse().map_err(|_| wrong(text))?, lines })
    }
}

fn wrong(text: &str) -> Error {
    Error::new(Code::Usage, format!("`{}` does not name a hunk", backsight_core::quote(text.as_bytes())))
        .with_hint("name it as `h1a2b3c4d5e`, some of its lines as `h1a2b3c4d5e:2-3,7`")
        .or("list them", NextStep::ListHunks { reference: None })
}

macro_rules! as_text {
    ($($name:ident: $pattern:literal,)*) => {$(
        impl TryFrom<String> for $name {
            type Error = Error;

            fn try_from(text: String) -> Result<Self> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.to_string()
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "pattern": $pattern })
            }
        }
    )*};
}

as_text! {
    HunkId: "^h[0-9a-f]{10}$",
    HunkChoice: "^h[0-9a-f]{10}(:[0-9]{1,9}(-[0-9]{1,9})?(,[0-9]{1,9}(-[0-9]{1,9})?)*)?$",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_is_read_back_as_it_was_written() {
        for text in ["h0123456789", "hffffffffff:1", "h0123456789:2-3,7"] {
            assert_eq!(text.parse::<HunkChoice>().unwrap().to_string(), text);
        }
        for wrong in
            ["", "h", "h012345678", "h0123456789:", "h0123456789:a", "h012345678G", "0123456789a", "h0123456789:1-"]
        {
            assert!(wrong.parse::<HunkChoice>().is_err(), "{wrong}");
        }
    }
}
