//! How much of one content is in another, without comparing the two line by line: what finds a file again that was moved
//! and edited. Order does not count, and binary contents are as good as texts.

/// The longest piece without a newline, as in Git: a binary file has pieces too.
const MAX_PIECE: usize = 64;

/// The pieces of a content, each a line or a part of a long one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    size: u64,
    /// Hashes of pieces, sorted, with how many bytes all pieces of that hash have.
    pieces: Vec<(u64, u64)>,
}

impl Fingerprint {
    /// The pieces of `content`.
    #[must_use]
    pub fn of(content: &[u8]) -> Self {
        let mut pieces: Vec<(u64, u64)> = Vec::new();
        let mut rest = content;
        while !rest.is_empty() {
            let longest = &rest[..rest.len().min(MAX_PIECE)];
            let end = longest.iter().position(|&byte| byte == b'\n').map_or(longest.len(), |at| at + 1);
            pieces.push((hash(&rest[..end]), end as u64));
            rest = &rest[end..];
        }
        pieces.sort_unstable();
        pieces.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                kept.1 += next.1;
            }
            is_same
        });
        Fingerprint { size: content.len() as u64, pieces }
    }

    /// The share of the larger content, in percent, that stands in the other too. As Git's similarity index: half is
    /// enough to call one the other's successor.
    ///
    /// ```
    /// use backsight_diff::Fingerprint;
    ///
    /// let (old, new) = (Fingerprint::of(b"a\nb\nc\nd\n"), Fingerprint::of(b"a\nb\nc\nx\n"));
    /// assert_eq!(old.similarity(&new), 75);
    /// ```
    #[must_use]
    pub fn similarity(&self, other: &Fingerprint) -> u8 {
        let larger = self.size.max(other.size);
        if larger == 0 {
            return 100;
        }
        let (mut ours, mut theirs) = (self.pieces.iter().peekable(), other.pieces.iter().peekable());
        let mut shared: u64 = 0;
        while let (Some(our), Some(their)) = (ours.peek(), theirs.peek()) {
            match our.0.cmp(&their.0) {
                std::cmp::Ordering::Less => drop(ours.next()),
                std::cmp::Ordering::Greater => drop(theirs.next()),
                std::cmp::Ordering::Equal => {
                    shared += our.1.min(their.1);
                    ours.next();
                    theirs.next();
                }
            }
        }
        u8::try_from(shared.saturating_mul(100) / larger).unwrap_or(100)
    }

    /// The most that [`similarity`](Self::similarity) can say of contents of these sizes.
    #[must_use]
    pub fn bound(&self, other: &Fingerprint) -> u8 {
        let (smaller, larger) = (self.size.min(other.size), self.size.max(other.size));
        u8::try_from(smaller.saturating_mul(100).checked_div(larger).unwrap_or(100)).unwrap_or(100)
    }
}

/// FNV-1a.
fn hash(piece: &[u8]) -> u64 {
    piece.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn similarity(old: &[u8], new: &[u8]) -> u8 {
        let (old, new) = (Fingerprint::of(old), Fingerprint::of(new));
        let similarity = old.similarity(&new);
        assert_eq!(similarity, new.similarity(&old));
        assert!(similarity <= old.bound(&new));
        similarity
    }

    #[test]
    fn it_is_the_share_of_the_larger_content() {
        assert_eq!(similarity(b"", b""), 100);
        assert_eq!(similarity(b"", b"a"), 0);
        assert_eq!(similarity(b"a\nb\n", b"a\nb\n"), 100);
        assert_eq!(similarity(b"a\nb\n", b"b\na\n"), 100);
        assert_eq!(similarity(b"a\n", b"a\nb\n"), 50);
        assert_eq!(similarity(b"a\nb\n", b"c\nd\n"), 0);
        // A line that stands there twice counts twice only where it does so on both sides.
        assert_eq!(similarity(b"a\na\na\na\n", b"a\nb\nc\nd\n"), 25);
    }

    #[test]
    fn binary_contents_have_pieces_too() {
        let old: Vec<u8> = (0..=255).filter(|byte| *byte != b'\n').cycle().take(6400).collect();
        let mut new = old.clone();
        new[100] ^= 0xff;
        assert!(similarity(&old, &new) >= 98);
    }
}
