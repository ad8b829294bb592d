//! Proves that a file of the store was written by this user on this machine: a message authentication code under a key
//! that is kept outside the workspace, where neither a clone nor an archive can put anything.

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The digits of a code, and the line end behind them.
const HEAD: usize = 65;

/// The key of one store.
#[derive(Clone)]
pub struct Seal([u8; 64]);

impl Seal {
    /// With the key that is kept for the store.
    pub fn new(key: [u8; 64]) -> Seal {
        Seal(key)
    }

    /// `bytes` with their code before them. `purpose` keeps files of one kind from being taken for another.
    pub fn close(&self, purpose: &str, bytes: &[u8]) -> Vec<u8> {
        [self.code(purpose, bytes).as_bytes(), b"\n", bytes].concat()
    }

    /// What was sealed; none when it was not sealed with this key for this purpose.
    pub fn open<'a>(&self, purpose: &str, sealed: &'a [u8]) -> Option<&'a [u8]> {
        let (head, bytes) = sealed.split_at_checked(HEAD)?;
        let digits = std::str::from_utf8(head).ok()?.strip_suffix('\n')?;
        self.is_code(purpose, bytes, digits).then_some(bytes)
    }

    /// The code of `bytes`, in hexadecimal digits.
    pub fn code(&self, purpose: &str, bytes: &[u8]) -> String {
        let code = self.computed(purpose, bytes).finalize().into_bytes();
        code.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether `digits` are the code of `bytes`; found out in constant time.
    pub fn is_code(&self, purpose: &str, bytes: &[u8], digits: &str) -> bool {
        let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
        let code: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
        code.is_some_and(|code| self.computed(purpose, bytes).verify_slice(&code).is_ok())
    }

    fn computed(&self, purpose: &str, bytes: &[u8]) -> Hmac<Sha256> {
        let mut code = Hmac::<Sha256>::new(&self.0.into());
        code.update(purpose.as_bytes());
        code.update(&[0]);
        code.update(bytes);
        code
    }
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_key_the_purpose_and_the_bytes_together_open_it() {
        let seal = Seal::new([7; 64]);
        let sealed = seal.close("journal", b"text");
        assert_eq!(seal.open("journal", &sealed), Some(&b"text"[..]));
        assert_eq!(seal.open("server", &sealed), None);
        assert_eq!(Seal::new([8; 64]).open("journal", &sealed), None);
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert_eq!(seal.open("journal", &changed), None, "byte {at}");
            assert_eq!(seal.open("journal", &sealed[..at]), None, "cut at {at}");
        }
        assert_eq!(seal.open("journal", b"text without a code"), None);
    }
}
