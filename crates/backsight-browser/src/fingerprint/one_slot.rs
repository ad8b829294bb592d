//! Texts that differ in exactly one place, found in nearly linear time: each text is entered once for each of its tokens,
//! under a hash of all the others. For display only; identity is never decided here.

use super::hash;

/// What texts are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tokens {
    /// Words, and each mark between them by itself.
    Words,
    /// What stands between slashes.
    Segments,
}

/// Texts longer than this many tokens are left alone: they are not read in a list anyway.
const LONGEST: usize = 64;

/// Which of the `texts` differ from each other in one token, `enough` or more of them. Larger families come first; each text
/// is in one at most.
pub(crate) fn families(texts: &[&str], tokens: Tokens, enough: usize) -> Vec<Vec<usize>> {
    let mut entries = Vec::with_capacity(texts.len() * 16);
    let mut buffer = Vec::with_capacity(LONGEST);
    for (index, text) in texts.iter().enumerate() {
        enter(&mut entries, &mut buffer, index, text, tokens);
    }
    entries.sort_unstable();
    let mut candidates: Vec<&[Entry]> = entries
        .chunk_by(|left, right| left.others == right.others)
        .filter(|chunk| chunk.len() >= enough && distinct(chunk) >= enough)
        .collect();
    candidates.sort_by_key(|chunk| (std::cmp::Reverse(chunk.len()), chunk[0].text));
    let mut taken = vec![false; texts.len()];
    let mut families = Vec::new();
    for chunk in candidates {
        let free: Vec<Entry> = chunk.iter().filter(|entry| !taken[entry.text]).copied().collect();
        if distinct(&free) < enough {
            continue;
        }
        let mut members: Vec<usize> = free.iter().map(|entry| entry.text).collect();
        members.sort_unstable();
        members.iter().for_each(|member| taken[*member] = true);
        families.push(members);
    }
    families
}

/// One text with one of its tokens left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    /// A hash of all tokens but one, and of where that one is.
    others: u64,
    /// A hash of the one.
    this: u64,
    text: usize,
}

/// How many different tokens fill the open place; the entries are sorted by it.
fn distinct(entries: &[Entry]) -> usize {
    entries.chunk_by(|left, right| left.this == right.this).count()
}

/// Enters a text once for each token that can vary.
fn enter(entries: &mut Vec<Entry>, buffer: &mut Vec<(u64, bool)>, index: usize, text: &str, tokens: Tokens) {
    buffer.clear();
    match tokens {
        Tokens::Words => words(buffer, text),
        Tokens::Segments => segments(buffer, text),
    }
    let named = buffer.iter().filter(|(_, named)| *named).count();
    // What remains must say something: two words of a message, one segment of a path.
    let needed = if tokens == Tokens::Words { 3 } else { 2 };
    if buffer.len() > LONGEST || named < needed {
        return;
    }
    // The suffix hash of the rest is what the tokens from the end on add up to; both directions make each entry cheap.
    let mut suffixes = [0_u64; LONGEST + 1];
    for (position, (token, _)) in buffer.iter().enumerate().rev() {
        suffixes[position] = hash::mix(suffixes[position + 1], *token);
    }
    let mut prefix = buffer.len() as u64;
    for (position, (token, named)) in buffer.iter().enumerate() {
        if *named {
            entries.push(Entry { others: hash::mix(prefix, suffixes[position + 1]), this: *token, text: index });
        }
        prefix = hash::mix(prefix, *token);
    }
}

/// Tokens of a message: runs of letters, digits and what holds names together; every other mark by itself, spaces not at all.
fn words(buffer: &mut Vec<(u64, bool)>, text: &str) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() && buffer.len() <= LONGEST {
        let run = bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
        if run > 0 {
            let named = bytes[at..at + run].iter().any(u8::is_ascii_alphanumeric) || bytes[at] >= 0x80;
            buffer.push((hash::of(&bytes[at..at + run]), named));
            at += run;
            continue;
        }
        if bytes[at] != b' ' {
            buffer.push((u64::from(bytes[at]), false));
        }
        at += 1;
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || matches!(byte, b'_' | b'-' | b'.' | b'{' | b'}' | b'$' | b'@')
}

fn segments(buffer: &mut Vec<(u64, bool)>, text: &str) {
    let all = text.split('/').take(LONGEST + 1).map(|segment| (hash::of(segment.as_bytes()), !segment.is_empty()));
    buffer.extend(all);
}
