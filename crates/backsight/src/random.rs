//! Where randomness comes from: ids, salts, keys and names of files that nothing else has.

use backsight_core::{Code, Error, Result};

/// So many random bytes.
#[expect(clippy::disallowed_methods, reason = "the one place")]
pub(crate) fn bytes<const COUNT: usize>() -> Result<[u8; COUNT]> {
    let mut random = [0; COUNT];
    getrandom::fill(&mut random)
        .map_err(|error| Error::new(Code::Io, format!("the system gives no random bytes: {error}")))?;
    Ok(random)
}

/// A random number.
pub(crate) fn number() -> Result<u64> {
    bytes().map(u64::from_ne_bytes)
}
