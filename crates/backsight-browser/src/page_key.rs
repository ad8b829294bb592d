//! The key that lets a page report what happens in it, and opens nothing else. It stands in the page's source, so it can be
//! made anew while the server runs: whoever holds a clone knows only the latest.

use std::sync::{Arc, PoisonError, RwLock};

/// The key for pages; clones are one key.
#[derive(Clone, Debug, Default)]
pub struct PageKey(Arc<RwLock<String>>);

impl PageKey {
    /// A key with this text.
    pub fn new(text: String) -> PageKey {
        PageKey(Arc::new(RwLock::new(text)))
    }

    /// Whether a text can be a key: 32 hexadecimal digits, as keys are made here. What a file says otherwise is none.
    pub fn is_key(text: &str) -> bool {
        text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    }

    /// The key as it is now.
    pub fn text(&self) -> String {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether the bytes of the key are right for a visitor.
    pub fn matches(&self, is_right: impl FnOnce(&[u8]) -> bool) -> bool {
        is_right(self.0.read().unwrap_or_else(PoisonError::into_inner).as_bytes())
    }

    /// The key is this one from now on; the one before opens nothing any more.
    pub fn replace(&self, text: String) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = text;
    }
}
