//! A large file of the store, read as a stream: checked against its id as it goes by, never held in memory.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};

use backsight_core::{Error, ObjectId, Result};
use flate2::read::ZlibDecoder;

use crate::object::{Flaw, IdHasher, ObjectKind};
use crate::objects::{ObjectStore, STREAM_LIMIT, damaged};

/// A blob that the store keeps as an object of its own.
pub(crate) struct LargeBlob {
    id: ObjectId,
    pub(crate) size: u64,
    input: ZlibDecoder<BufReader<File>>,
}

impl LargeBlob {
    /// Opens the blob; none when it is not a large one that lies by itself, which `ObjectStore::read` is for.
    pub(crate) fn open(store: &ObjectStore, id: &ObjectId) -> Result<Option<Self>> {
        let file = match store.loose_path(id).open() {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io(format!("read object {id}"), error)),
        };
        let mut input = ZlibDecoder::new(BufReader::with_capacity(1 << 16, file));
        let size = blob_size(&mut input).filter(|size| *size > STREAM_LIMIT);
        Ok(size.map(|size| LargeBlob { id: *id, size, input }))
    }

    /// Copies the content. When it is not what the id says, what was written must be thrown away.
    pub(crate) fn copy(mut self, output: &mut dyn Write, failed: impl Fn(io::Error) -> Error) -> Result<()> {
        let mut hasher = IdHasher::new(ObjectKind::Blob, self.size);
        let mut buffer = vec![0; 1 << 18];
        let mut left = self.size;
        loop {
            match self.input.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    left = left
                        .checked_sub(count as u64)
                        .ok_or_else(|| damaged(&self.id, "holds more bytes than its header says"))?;
                    hasher.update(&buffer[..count]);
                    output.write_all(&buffer[..count]).map_err(&failed)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Flaw::inflating(error).into_error(&self.id)),
            }
        }
        match hasher.finish()? {
            id if id == self.id => Ok(()),
            other => Err(damaged(&self.id, &format!("is damaged: its content hashes to {other}"))),
        }
    }
}

/// The size in the header of a loose blob.
fn blob_size(input: &mut impl Read) -> Option<u64> {
    let mut header = Vec::new();
    let mut byte = [0];
    while header.len() < 32 {
        input.read_exact(&mut byte).ok()?;
        match byte {
            [0] => return std::str::from_utf8(header.strip_prefix(b"blob ")?).ok()?.parse().ok(),
            [other] => header.push(other),
        }
    }
    None
}
