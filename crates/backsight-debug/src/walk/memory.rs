//! Reads the memory of a paused program, for values too long for their debugger to send: what they hold is not shown, only
//! hashed, so that a change anywhere inside is noticed.

use std::os::unix::fs::FileExt;

use crate::dap::process::children_of;
use crate::diff::run_of;
use crate::hash;

/// More than this is not read.
const MOST_BYTES: u64 = 64 << 20;

/// How a long value lies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// An address and a count of elements of this size.
    Counted(u64),
    /// So many bytes, of elements of this size.
    Plain(u64, u64),
}

/// What was read of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Read {
    /// Of all of it.
    pub(super) hash: u64,
    /// How many elements it has, if it says so itself.
    pub(super) count: Option<u64>,
    /// Hashes of runs of elements.
    pub(super) runs: Vec<u32>,
}

impl Form {
    /// Of a type of Go whose elements hold no pointers.
    pub(super) fn of_go(kind: &str, length: u64) -> Option<Form> {
        if kind == "string" {
            return Some(Form::Counted(1));
        }
        let (bounds, element) = kind.strip_prefix('[')?.split_once(']')?;
        let size = match element {
            "int" | "uint" | "int64" | "uint64" | "float64" | "uintptr" | "complex64" => 8,
            "int32" | "uint32" | "float32" | "rune" => 4,
            "int16" | "uint16" => 2,
            "int8" | "uint8" | "byte" | "bool" => 1,
            "complex128" => 16,
            _ => return None,
        };
        Some(if bounds.is_empty() { Form::Counted(size) } else { Form::Plain(size.checked_mul(length)?, size) })
    }
}

/// The hash of a value at an address; nothing on systems that do not let a program be read like this.
pub(super) fn read(process: i32, address: u64, form: Form) -> Option<Read> {
    let memory = std::fs::File::open(format!("/proc/{process}/mem")).ok()?;
    let (start, bytes, count, size) = match form {
        Form::Plain(bytes, size) => (address, bytes, None, size),
        Form::Counted(size) => {
            let mut head = [[0; 8]; 2];
            memory.read_exact_at(head.as_flattened_mut(), address).ok()?;
            let [start, count] = head.map(u64::from_le_bytes);
            (start, count.checked_mul(size)?, Some(count), size)
        }
    };
    let mut content = vec![0; usize::try_from(bytes).ok().filter(|_| bytes <= MOST_BYTES)?];
    memory.read_exact_at(&mut content, start).ok()?;
    let run = run_of(bytes / size.max(1)).checked_mul(size).and_then(|run| usize::try_from(run).ok())?;
    let runs = content.chunks(run.max(1)).map(|run| hash::bytes(run) as u32).collect();
    Some(Read { hash: hash::bytes(&content), count, runs })
}

/// The program that a debugger started: its only child.
pub(super) fn child_of(process: i32) -> Option<i32> {
    let mut found = children_of(process);
    found.sort_unstable();
    found.dedup();
    match found.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_elements_are_hashed_as_bytes() {
        assert_eq!(Form::of_go("[]int", 5), Some(Form::Counted(8)));
        assert_eq!(Form::of_go("[4]int32", 4), Some(Form::Plain(16, 4)));
        assert_eq!(Form::of_go("string", 9), Some(Form::Counted(1)));
        for kind in ["[]string", "[]*int", "map[string]int", "main.T", "[", "[]", ""] {
            assert_eq!(Form::of_go(kind, 1), None, "{kind}");
        }
        assert_eq!(Form::of_go("[9]int", u64::MAX), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn memory_is_read_and_what_cannot_be_read_is_unknown() {
        let text = "a text of this very process".to_owned();
        let header = [text.as_ptr() as u64, text.len() as u64];
        let own = std::process::id() as i32;
        let expected = hash::bytes(text.as_bytes());
        let told =
            |address: u64, form: Form| read(own, address, form).map(|read| (read.hash, read.count, read.runs.len()));
        assert_eq!(told(header.as_ptr() as u64, Form::Counted(1)), Some((expected, Some(27), 27)));
        assert_eq!(told(text.as_ptr() as u64, Form::Plain(27, 1)), Some((expected, None, 27)));
        assert_eq!(told(8, Form::Plain(8, 1)), None);
        assert_eq!(told(text.as_ptr() as u64, Form::Plain(u64::MAX, 1)), None);
        assert_eq!(read(-1, 0, Form::Plain(1, 1)), None);
    }
}
