//! A hash that is the same in every run.

const START: u64 = 0xcbf2_9ce4_8422_2325;

/// The hash of some bytes.
pub(crate) fn bytes(bytes: &[u8]) -> u64 {
    Hash::default().bytes(bytes).finish()
}

/// A hash in the making: FNV-1a over eight bytes at a time, which is good enough to tell values apart and fast.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hash(u64);

impl Default for Hash {
    fn default() -> Self {
        Hash(START)
    }
}

impl Hash {
    /// With a number in it.
    pub(crate) fn number(self, number: u64) -> Self {
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Hash(mixed ^ (mixed >> 32))
    }

    /// With some bytes and their length in it.
    pub(crate) fn bytes(self, bytes: &[u8]) -> Self {
        let chunks = bytes.chunks_exact(8);
        let rest = chunks.remainder();
        let word = |bytes: &[u8]| bytes.iter().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
        let hash = chunks.fold(self, |hash, chunk| hash.number(word(chunk)));
        hash.number(word(rest)).number(bytes.len() as u64)
    }

    /// The result.
    pub(crate) fn finish(self) -> u64 {
        self.number(START).0
    }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn different_bytes_have_different_hashes() {
        let mut hashes: Vec<u64> = (0..2000_u32).map(|number| bytes(number.to_string().as_bytes())).collect();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 2000);
        assert_ne!(bytes(b""), bytes(b"\0"));
    }
}
