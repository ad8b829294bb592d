//! FNV-1a with 64 bits. Group keys are persisted, so this must give the same value in every run and every version.

/// Where every hash begins.
pub(crate) const START: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;

/// The hash of some bytes.
pub(crate) fn of(bytes: &[u8]) -> u64 {
    add(START, bytes)
}

/// The hash of what `hash` stands for with `bytes` after it.
pub(crate) fn add(hash: u64, bytes: &[u8]) -> u64 {
    bytes.iter().fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

/// The hash with a mark after it that no text contains, so that two texts in a row differ from one.
pub(crate) fn end_of_part(hash: u64) -> u64 {
    (hash ^ 0x1ff).wrapping_mul(PRIME)
}

/// Two hashes as one; the order matters and every bit counts.
pub(crate) fn mix(left: u64, right: u64) -> u64 {
    let mut mixed = left.rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ right;
    mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    mixed ^ (mixed >> 29)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_published_values_of_the_function_hold() {
        assert_eq!(super::of(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(super::of(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(super::of(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
