//! Where a capture's objects go: into the store, or for a mere look into memory.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::{Mutex, PoisonError};

use backsight_core::{Error, ObjectId, Result};

use crate::object::{IdHasher, ObjectKind, object_id};
use crate::objects::Batch;

/// Where objects go.
pub(crate) enum Sink<'a> {
    Store(Batch<'a>),
    Memory(Mutex<BTreeMap<ObjectId, Vec<u8>>>),
}

impl Sink<'_> {
    /// A tree, or a blob that belongs to one.
    pub(crate) fn put(&self, kind: ObjectKind, bytes: &[u8]) -> Result<ObjectId> {
        match self {
            Sink::Store(batch) => batch.put(kind, bytes),
            Sink::Memory(memory) => {
                let id = object_id(kind, bytes)?;
                memory.lock().unwrap_or_else(PoisonError::into_inner).insert(id, bytes.to_vec());
                Ok(id)
            }
        }
    }

    /// The content of a file or symlink. A look needs only its id.
    pub(crate) fn put_content(&self, bytes: &[u8]) -> Result<ObjectId> {
        match self {
            Sink::Store(batch) => batch.put(ObjectKind::Blob, bytes),
            Sink::Memory(_) => object_id(ObjectKind::Blob, bytes),
        }
    }

    /// The content of a large file; nothing when it does not hold `size` bytes.
    pub(crate) fn put_stream(&self, mut input: impl Read, size: u64) -> Result<Option<ObjectId>> {
        if let Sink::Store(batch) = self {
            return batch.put_stream(input, size);
        }
        let mut hasher = IdHasher::new(ObjectKind::Blob, size);
        let mut buffer = vec![0; 1 << 18];
        let mut total = 0;
        loop {
            let count = input.read(&mut buffer).map_err(|error| Error::io("read a large file", error))?;
            if count == 0 {
                break;
            }
            total += count as u64;
            hasher.update(&buffer[..count]);
        }
        let id = hasher.finish()?;
        Ok((total == size).then_some(id))
    }

    pub(crate) fn finish(&mut self) -> Result<BTreeMap<ObjectId, Vec<u8>>> {
        match std::mem::replace(self, Sink::Memory(Mutex::default())) {
            Sink::Store(batch) => batch.commit().map(|()| BTreeMap::new()),
            Sink::Memory(memory) => Ok(memory.into_inner().unwrap_or_else(PoisonError::into_inner)),
        }
    }
}
