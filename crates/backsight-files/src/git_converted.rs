//! Files of snapshots as Git holds them. The converted bytes are not kept, only how they are made: a commit may hold more
//! of them than fit in memory.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use backsight_core::{Error, ObjectId, Result};

use crate::git_checkin::{Digesting, LineEndings, MAX_POINTER, is_lfs_pointer_to};
use crate::git_convert::{Conversion, Converter, TextCounts};
use crate::git_objects::MAX_OBJECT;
use crate::git_pack::append_blob;
use crate::git_repository::GitRepository;
use crate::large_blob::LargeBlob;
use crate::object::{IdHasher, ObjectKind, object_id};
use crate::objects::ObjectStore;
use crate::pack::{PackEntry, PackWriter};

/// How a blob is made of one of the store's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recipe {
    source: ObjectId,
    conversion: Conversion,
    size: u64,
}

/// The files that were converted, and what is known of those that were looked at.
pub(crate) struct Converted<'a> {
    store: &'a ObjectStore,
    repository: &'a GitRepository,
    counts: HashMap<ObjectId, TextCounts>,
    results: HashMap<(ObjectId, Conversion), (ObjectId, u64)>,
    /// Every blob that some commit needs and no store holds.
    pub(crate) recipes: BTreeMap<ObjectId, Recipe>,
}

impl<'a> Converted<'a> {
    pub(crate) fn new(store: &'a ObjectStore, repository: &'a GitRepository) -> Self {
        let (counts, results) = (HashMap::new(), HashMap::new());
        Converted { store, repository, counts, results, recipes: BTreeMap::new() }
    }

    /// The blob that Git would hold for the snapshot's blob `source`, where the commit before holds `parent`.
    pub(crate) fn blob(
        &mut self,
        source: &ObjectId,
        parent: Option<&ObjectId>,
        line_endings: LineEndings,
        ident: bool,
    ) -> Result<ObjectId> {
        let converts = match line_endings {
            LineEndings::Stay => false,
            LineEndings::Convert => self.counts(source)?.crlf > 0,
            LineEndings::Guess => self.counts(source)?.is_text_with_crlf(),
        };
        let mut conversion = Conversion { line_endings: converts, ident };
        let mut made = self.convert(source, conversion)?;
        if let (true, LineEndings::Guess, Some(parent)) = (converts, line_endings, parent)
            && made.0 != *parent
            && self.counts_in_commit(parent)?.is_text_with_crlf()
        {
            conversion.line_endings = false;
            made = self.convert(source, conversion)?;
        }
        let (id, size) = made;
        if id != *source && Some(&id) != parent {
            self.recipes.insert(id, Recipe { source: *source, conversion, size });
        }
        Ok(id)
    }

    /// A blob that was converted just now, in memory.
    pub(crate) fn content(&self, id: &ObjectId) -> Result<Option<Vec<u8>>> {
        let Some(recipe) = self.recipes.get(id) else { return Ok(None) };
        let mut content = Vec::new();
        recipe.pour(self.store, &mut content).map(|()| Some(content))
    }

    /// Whether a file of the snapshot is what a pointer of Git LFS in the commit before stands for.
    pub(crate) fn is_pointed_to(&self, source: &ObjectId, parent: &ObjectId) -> Result<bool> {
        let pointer = match self.repository.objects.read(parent, MAX_POINTER as u64) {
            Ok(Some((ObjectKind::Blob, content))) => content,
            _ => return Ok(false),
        };
        let mut digesting = Digesting::default();
        pour(self.store, source, &mut digesting)?;
        let (size, digest) = digesting.finish();
        Ok(is_lfs_pointer_to(&pointer, size, &digest))
    }

    fn counts(&mut self, source: &ObjectId) -> Result<TextCounts> {
        if let Some(known) = self.counts.get(source) {
            return Ok(*known);
        }
        let mut counts = TextCounts::default();
        pour(self.store, source, &mut counts)?;
        self.counts.insert(*source, counts);
        Ok(counts)
    }

    /// The same of a blob that may have been converted just now, or be the repository's.
    fn counts_in_commit(&mut self, id: &ObjectId) -> Result<TextCounts> {
        if let Some(recipe) = self.recipes.get(id) {
            let mut counts = TextCounts::default();
            recipe.pour(self.store, &mut counts)?;
            return Ok(counts);
        }
        match self.store.contains(id)? {
            true => self.counts(id),
            false => self.repository.read(id, MAX_OBJECT).map(|(_, content)| TextCounts::of(&content)),
        }
    }

    fn convert(&mut self, source: &ObjectId, conversion: Conversion) -> Result<(ObjectId, u64)> {
        if conversion == Conversion::default() {
            return Ok((*source, 0));
        }
        if let Some(known) = self.results.get(&(*source, conversion)) {
            return Ok(*known);
        }
        let made = match LargeBlob::open(self.store, source)? {
            None => {
                let content = converted(&self.store.read_blob(source)?, conversion).map_err(made_in_memory)?;
                (object_id(ObjectKind::Blob, &content)?, content.len() as u64)
            }
            Some(_) => {
                let recipe = Recipe { source: *source, conversion, size: 0 };
                let mut length = Length(0);
                recipe.pour(self.store, &mut length)?;
                let mut hashing = Hashing(IdHasher::new(ObjectKind::Blob, length.0));
                recipe.pour(self.store, &mut hashing)?;
                (hashing.0.finish()?, length.0)
            }
        };
        self.results.insert((*source, conversion), made);
        Ok(made)
    }
}

impl Recipe {
    /// Makes the blob again, into a pack.
    pub(crate) fn append(
        &self,
        store: &ObjectStore,
        id: &ObjectId,
        writer: &mut PackWriter,
        failed: &dyn Fn(io::Error) -> Error,
    ) -> Result<()> {
        if LargeBlob::open(store, &self.source)?.is_some() {
            return append_blob(writer, id, self.size, |output| self.pour_into(store, output, failed), failed);
        }
        let content = converted(&store.read_blob(&self.source)?, self.conversion).map_err(made_in_memory)?;
        writer.append(&PackEntry::new(*id, ObjectKind::Blob, &content)).map_err(failed)
    }

    fn pour(&self, store: &ObjectStore, output: &mut dyn Write) -> Result<()> {
        self.pour_into(store, output, &|error| Error::io(format!("convert object {}", self.source), error))
    }

    fn pour_into(
        &self,
        store: &ObjectStore,
        output: &mut dyn Write,
        failed: &dyn Fn(io::Error) -> Error,
    ) -> Result<()> {
        let mut converter = Converter::new(self.conversion, output);
        match LargeBlob::open(store, &self.source)? {
            Some(blob) => blob.copy(&mut converter, failed)?,
            None => converter.write_all(&store.read_blob(&self.source)?).map_err(failed)?,
        }
        converter.finish().map(drop).map_err(failed)
    }
}

/// Writes a blob of the store.
fn pour(store: &ObjectStore, id: &ObjectId, output: &mut dyn Write) -> Result<()> {
    Recipe { source: *id, conversion: Conversion::default(), size: 0 }.pour(store, output)
}

fn converted(content: &[u8], conversion: Conversion) -> io::Result<Vec<u8>> {
    let mut converter = Converter::new(conversion, Vec::with_capacity(content.len()));
    converter.write_all(content)?;
    converter.finish()
}

fn made_in_memory(error: io::Error) -> Error {
    Error::io("convert a file", error)
}

struct Length(u64);

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Hashing(IdHasher);

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
