//! Looking for words in what steps changed. No index is kept: steps are compared again, newest first, so a question is bounded
//! by how much text it may read, and says where it stopped.

use backsight_core::{Code, Error, Result, Seq};
use backsight_diff::BinaryFiles;

use super::Workspace;
use crate::report::{Row, Searched, SearchedLine};
use crate::request::{self, Log};

/// Steps and bytes of text that one question compares at most.
const STEPS: u64 = 1_000;
const BYTES: usize = 32 << 20;
/// Lines it answers with at most, and letters of each.
const LINES: usize = 200;
const LETTERS: usize = 240;
/// Rows that are asked for at once.
const PAGE: usize = 100;

impl Workspace {
    /// The lines with a text that steps added or removed, the newest step first, in letters of any case.
    ///
    /// ```
    /// # let directory = tempfile::tempdir()?;
    /// # let workspace = backsight::Workspace::open(directory.path())?;
    /// workspace.track()?;
    /// std::fs::write(directory.path().join("a.txt"), "one\nneedle\n")?;
    /// workspace.track()?;
    /// let found = workspace.search(&backsight::request::Search { text: "NEEDLE".into(), before: None })?;
    /// assert_eq!((found.lines[0].text.as_str(), found.lines[0].side), ("needle", '+'));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn search(&self, request: &request::Search) -> Result<Searched> {
        let wanted = request.text.to_lowercase();
        if wanted.trim().is_empty() {
            return Err(Error::new(Code::Usage, "there is nothing to look for: `text` is empty"));
        }
        let (letters, most) = (request.text.chars().count(), request::LONGEST_SEARCH);
        if letters > most {
            return Err(Error::new(Code::Usage, format!("`text` has {letters} letters, and at most {most} are taken")));
        }
        let mut found = Searched::default();
        let mut room = BYTES;
        let mut cursor = request.before.map(|before| format!("before-{}", before.0.min(i64::MAX.unsigned_abs())));
        loop {
            let page = self.log(&Log { limit: PAGE, cursor, ..Log::default() })?;
            for step in page.rows.iter().filter_map(Row::snapshot) {
                if found.steps >= STEPS || room == 0 || found.lines.len() >= LINES {
                    found.next = Some(Seq(step.sequence_number.0 + 1));
                    return Ok(found);
                }
                match step.expired_at {
                    Some(_) => found.expired += 1,
                    None => {
                        room = room.saturating_sub(self.search_step(
                            step.id.as_str(),
                            step.sequence_number,
                            &wanted,
                            &mut found,
                        )?);
                        found.steps += 1;
                    }
                }
            }
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => return Ok(found),
            }
        }
    }

    /// Looks in one step; how many bytes it took.
    fn search_step(&self, id: &str, seq: Seq, wanted: &str, found: &mut Searched) -> Result<usize> {
        let opened = self.opened()?;
        let mut read = 0;
        for diff in self.step_diff_in(opened, id, false, &[], BinaryFiles::Named)?.diffs {
            read += diff.before.len() + diff.after.len();
            found.files_not_read += u64::from(diff.binary || diff.cut.is_some());
            // Behind the first `@@` every line has a sign of its own.
            let text = String::from_utf8_lossy(&diff.unified);
            let mut numbers = (0, 0);
            for line in text.lines().skip_while(|line| !line.starts_with("@@")) {
                if let Some(head) = line.strip_prefix("@@ ") {
                    numbers = starts(head);
                    continue;
                }
                let (side, rest) = match line.split_at_checked(1) {
                    Some(("+", rest)) => ('+', rest),
                    Some(("-", rest)) => ('-', rest),
                    Some((" ", _)) => {
                        numbers = (numbers.0 + 1, numbers.1 + 1);
                        continue;
                    }
                    _ => continue,
                };
                let number = if side == '+' { numbers.1 } else { numbers.0 };
                numbers = if side == '+' { (numbers.0, numbers.1 + 1) } else { (numbers.0 + 1, numbers.1) };
                if !rest.to_lowercase().contains(wanted) {
                    continue;
                }
                if found.lines.len() >= LINES {
                    found.more_lines += 1;
                    continue;
                }
                let (file, text) = (diff.file.clone(), rest.chars().take(LETTERS).collect());
                found.lines.push(SearchedLine { sequence_number: seq, file, line: number, side, text });
            }
        }
        Ok(read)
    }
}

/// `-12,3 +14,4 @@` as 12 and 14.
fn starts(head: &str) -> (u64, u64) {
    let number = |sign: char| {
        let part = head.split(' ').find_map(|part| part.strip_prefix(sign));
        part.and_then(|part| part.split(',').next()?.parse().ok()).unwrap_or(0)
    };
    (number('-'), number('+'))
}
