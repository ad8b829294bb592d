//! The salt of the tags that stand for secrets: one for a workspace, so that a secret has the same tag in the app, in a
//! variable, on a terminal and in the title of a session, and in every later run.

use backsight_core::Result;

use super::{Opened, Workspace};
use crate::random;
use crate::timeline::{Item, KeptKind};

/// The name under which it is kept.
const SALT: &str = "salt";

impl Workspace {
    /// The salt that is kept, else one that this process keeps to until something is written.
    pub(super) fn salt(&self) -> Result<u64> {
        let text = match self.shared.salt.get() {
            Some(text) => text,
            None => {
                let kept = match self.store_path()? {
                    Some(_) => self.opened()?.timeline.kept_as(KeptKind::Secret, SALT)?,
                    // Looking makes no store.
                    None => None,
                };
                let text = kept.map_or_else(|| random::number().map(|salt| salt.to_string()), Ok)?;
                self.shared.salt.get_or_init(|| text)
            }
        };
        // A salt that was damaged is still a text that nobody can guess.
        let folded = || text.bytes().fold(0, |sum: u64, byte| sum.wrapping_mul(31) ^ u64::from(byte));
        Ok(text.parse().unwrap_or_else(|_| folded()))
    }

    /// Writes the salt down, before anything is kept that may hold a tag.
    pub(super) fn keep_salt(&self, opened: &Opened) -> Result<()> {
        self.salt()?;
        let Some(text) = self.shared.salt.get() else { return Ok(()) };
        let salt = Item { name: SALT.to_owned(), body: text.clone() };
        opened.timeline.keep_first(KeptKind::Secret, self.settings.now(), &salt).map(drop)
    }
}
