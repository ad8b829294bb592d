//! The marks of texts that were shown before, by the ids of their blobs. A page asks for the same files again whenever something
//! happens beside them, and most of their texts are as they were.

use std::collections::VecDeque;
use std::sync::Arc;

use backsight_core::ObjectId;

use super::language::Language;

/// The marks of a text, line by line.
pub type Marks = Vec<Vec<u32>>;

/// Marks that are kept, the latest used at the end, within a bound.
pub struct KnownMarks {
    entries: VecDeque<MarkedText>,
    /// What they take, in numbers.
    size: usize,
    /// What they may take.
    most: usize,
}

struct MarkedText {
    blob: ObjectId,
    language: &'static str,
    marks: Arc<Marks>,
}

impl KnownMarks {
    pub const fn new(most: usize) -> KnownMarks {
        KnownMarks { entries: VecDeque::new(), size: 0, most }
    }

    /// The marks of a text, if they are kept.
    pub fn find(&mut self, blob: ObjectId, language: &Language) -> Option<Arc<Marks>> {
        let is_it = |entry: &MarkedText| entry.blob == blob && entry.language == language.name;
        let entry = self.entries.remove(self.entries.iter().position(is_it)?)?;
        let marks = entry.marks.clone();
        self.entries.push_back(entry);
        Some(marks)
    }

    /// Keeps the marks of a text; those used longest ago go.
    pub fn keep(&mut self, blob: ObjectId, language: &Language, marks: Arc<Marks>) {
        self.size += size(&marks);
        self.entries.push_back(MarkedText { blob, language: language.name, marks });
        while self.size > self.most
            && let Some(oldest) = self.entries.pop_front()
        {
            self.size -= size(&oldest.marks);
        }
    }
}

/// What marks take, in numbers; a line takes some even when nothing in it is marked.
fn size(marks: &Marks) -> usize {
    marks.iter().map(|line| line.len() + 6).sum()
}

#[cfg(test)]
mod tests {
    use backsight_files::{ObjectKind, object_id};

    use super::*;

    fn blob(text: &str) -> ObjectId {
        object_id(ObjectKind::Blob, text.as_bytes()).unwrap()
    }

    #[test]
    fn marks_belong_to_a_text_and_its_language() {
        let (python, rust) = (Language::of("a.py").unwrap(), Language::of("a.rs").unwrap());
        let mut known = KnownMarks::new(100);
        let marks = Arc::new(vec![vec![0, 3, 4]]);
        known.keep(blob("def"), python, marks.clone());
        assert!(Arc::ptr_eq(&known.find(blob("def"), python).unwrap(), &marks));
        assert!(known.find(blob("def"), rust).is_none() && known.find(blob("ref"), python).is_none());
    }

    #[test]
    fn what_was_used_longest_ago_goes_first() {
        let python = Language::of("a.py").unwrap();
        let mut known = KnownMarks::new(3 * 9);
        for text in ["one", "two", "three"] {
            known.keep(blob(text), python, Arc::new(vec![vec![0, 3, 4]]));
        }
        known.find(blob("one"), python).unwrap();
        known.keep(blob("four"), python, Arc::new(vec![vec![0, 3, 4]]));
        let kept = ["one", "two", "three", "four"].map(|text| known.find(blob(text), python).is_some());
        assert_eq!((kept, known.size), ([true, false, true, true], 27));
        known.keep(blob("large"), python, Arc::new(vec![vec![0; 100]]));
        assert_eq!((known.size, known.entries.len()), (0, 0));
    }
}
