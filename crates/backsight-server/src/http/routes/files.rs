//! The files of a snapshot, and the contents of one.

use backsight::Workspace;
use backsight::report::FileEntry;
use backsight_core::{Code, ObjectId, RelPath, Result};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LOOK, PATH, PathText, REFERENCE};
use crate::http::endpoint::Endpoint;

pub fn operations() -> Vec<Endpoint> {
    vec![
        Endpoint::get("/api/ls", "ls", "The files of a snapshot", ls).fails(&[REFERENCE, LOOK]),
        Endpoint::get("/api/cat", "cat", "A file as a snapshot holds it", cat).fails(&[
            REFERENCE,
            PATH,
            LOOK,
            &[Code::PathNotFound],
        ]),
        Endpoint::get("/api/blob/{id}", "blob", "A content by its id, such as one side of a conflict", blob)
            .fails(&[&[Code::PathNotFound]]),
    ]
}

#[derive(Deserialize, JsonSchema)]
struct LsInput {
    /// Which snapshot, as a reference.
    #[serde(rename = "ref")]
    #[schemars(example = &"@")]
    reference: String,
}

/// The files of a snapshot.
#[derive(JsonSchema, Serialize)]
struct Listed {
    /// Sorted by path.
    files: Vec<FileEntry>,
}

fn ls(workspace: &Workspace, input: LsInput) -> Result<Listed> {
    Ok(Listed { files: workspace.list_files(&input.reference)? })
}

/// How a content is written in JSON.
#[derive(JsonSchema, Serialize)]
enum Encoding {
    /// As it is.
    #[serde(rename = "utf-8")]
    Utf8,
    /// RFC 4648 with padding, because it is not UTF-8.
    #[serde(rename = "base64")]
    Base64,
}

/// Bytes in JSON.
#[derive(JsonSchema, Serialize)]
struct Content {
    /// How many bytes it has.
    size: usize,
    /// How `content` is written.
    encoding: Encoding,
    /// The bytes.
    content: String,
}

impl From<Vec<u8>> for Content {
    fn from(bytes: Vec<u8>) -> Content {
        let size = bytes.len();
        match String::from_utf8(bytes) {
            Ok(content) => Content { size, encoding: Encoding::Utf8, content },
            Err(error) => {
                Content { size, encoding: Encoding::Base64, content: backsight_core::base64(error.as_bytes()) }
            }
        }
    }
}

#[derive(Deserialize, JsonSchema)]
struct CatInput {
    /// Which snapshot, as a reference; `now` means the disk.
    #[serde(rename = "ref")]
    #[schemars(example = &"@")]
    reference: String,
    /// Which file.
    path: PathText,
}

/// A file of a snapshot.
#[derive(JsonSchema, Serialize)]
struct FileContent {
    /// Where.
    path: RelPath,
    #[serde(flatten)]
    content: Content,
}

fn cat(workspace: &Workspace, input: CatInput) -> Result<FileContent> {
    let path = input.path.inside()?;
    Ok(FileContent { content: workspace.get_file_at(&input.reference, &path)?.into(), path })
}

#[derive(Deserialize, JsonSchema)]
struct BlobInput {
    /// 40 hex digits.
    #[schemars(regex(pattern = "^[0-9a-fA-F]{40}$"))]
    id: ObjectId,
}

/// A content.
#[derive(JsonSchema, Serialize)]
struct Blob {
    /// Its id.
    blob: ObjectId,
    #[serde(flatten)]
    content: Content,
}

fn blob(workspace: &Workspace, input: BlobInput) -> Result<Blob> {
    Ok(Blob { blob: input.id, content: workspace.get_blob(&input.id)?.into() })
}
