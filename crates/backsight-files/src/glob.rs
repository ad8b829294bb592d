//! Whether a pattern of Git's matches a path, in a time that no pattern can blow up.
//!
//! Git tries every place for every star, and its time doubles with each of them. Here only the last `*` of a directory
//! name and the last `**` of a pattern are ever tried again, which finds the same: an earlier star that took more could
//! only leave less for the rest, and the later star could have taken that too.

/// Whether `pattern` matches all of `text`, as Git's `wildmatch` with `WM_PATHNAME`: `*`, `?` and `[...]` never match a
/// slash, `**` between slashes does. `steps` grows with the time it took.
pub(crate) fn matches(pattern: &[u8], text: &[u8], steps: &mut u64) -> bool {
    let mut walk = Attempt { pattern, text, at: 0, read: 0, star: None, stars: None };
    loop {
        *steps += 1;
        match walk.advance(steps) {
            Advance::On => {}
            Advance::Done(matched) => return matched,
            Advance::Stuck if walk.retry() => {}
            Advance::Stuck => return false,
        }
    }
}

struct Attempt<'a> {
    pattern: &'a [u8],
    text: &'a [u8],
    /// Where we are in the pattern and in the text.
    at: usize,
    read: usize,
    /// The last `*` of this directory name: what follows it, and where that was tried.
    star: Option<(usize, usize)>,
    stars: Option<Stars>,
}

/// The last `**`.
struct Stars {
    /// What follows it, and where that was tried.
    at: usize,
    read: usize,
    /// `**/`: what follows begins a name.
    names: bool,
}

enum Advance {
    On,
    /// What follows the last star does not match here.
    Stuck,
    Done(bool),
}

impl Attempt<'_> {
    fn advance(&mut self, steps: &mut u64) -> Advance {
        let Some(&wanted) = self.pattern.get(self.at) else {
            return if self.read == self.text.len() { Advance::Done(true) } else { Advance::Stuck };
        };
        if wanted == b'*' {
            return self.begin_star();
        }
        // Nothing is left for what needs at least one byte: to let a star take more would leave even less.
        let Some(&found) = self.text.get(self.read) else { return Advance::Done(false) };
        let (is_match, length) = match wanted {
            b'?' => (found != b'/', 1),
            b'[' => match class(&self.pattern[self.at + 1..], found) {
                Some((is_match, length)) => (is_match && found != b'/', length + 1),
                // As in Git, a class that is not one matches nothing, whatever stands around it.
                None => return Advance::Done(false),
            },
            b'\\' => (self.pattern.get(self.at + 1) == Some(&found), 2),
            _ => (wanted == found, 1),
        };
        *steps += length as u64;
        if !is_match {
            return Advance::Stuck;
        }
        self.at += length;
        self.read += 1;
        if found == b'/' {
            self.star = None;
        }
        Advance::On
    }

    fn begin_star(&mut self) -> Advance {
        let run = self.pattern[self.at..].iter().take_while(|byte| **byte == b'*').count();
        let begins = self.at == 0 || self.pattern[self.at - 1] == b'/';
        let rest = &self.pattern[self.at + run..];
        let spans = run > 1 && begins && (rest.is_empty() || rest[0] == b'/' || rest.starts_with(b"\\/"));
        self.at += run;
        if spans && rest.is_empty() {
            return Advance::Done(true);
        }
        if spans {
            let names = rest[0] == b'/';
            self.at += usize::from(names);
            self.stars = Some(Stars { at: self.at, read: self.read, names });
            self.star = None;
        } else {
            self.star = Some((self.at, self.read));
        }
        Advance::On
    }

    /// Lets the last star take more. False when none can.
    fn retry(&mut self) -> bool {
        if let Some((at, read)) = self.star
            && self.text.get(read).is_some_and(|byte| *byte != b'/')
        {
            self.star = Some((at, read + 1));
            (self.at, self.read) = (at, read + 1);
            return true;
        }
        self.star = None;
        let Some(stars) = &mut self.stars else { return false };
        let rest = self.text.get(stars.read..).unwrap_or_default();
        let taken =
            if stars.names { rest.iter().position(|byte| *byte == b'/') } else { (!rest.is_empty()).then_some(0) };
        let Some(taken) = taken else { return false };
        stars.read += taken + 1;
        (self.at, self.read) = (stars.at, stars.read);
        true
    }
}

/// Whether `byte` is in the class whose `[` stands before `text`, and how long it is with its `]`.
fn class(text: &[u8], byte: u8) -> Option<(bool, usize)> {
    let negated = matches!(text.first()?, b'!' | b'^');
    let mut at = usize::from(negated);
    let (mut is_in, mut before) = (false, None);
    loop {
        let member = *text.get(at)?;
        let next = text.get(at + 1).copied();
        match member {
            b'\\' => {
                is_in |= next? == byte;
                before = next;
                at += 2;
            }
            b'-' if before.is_some() && next.is_some_and(|next| next != b']') => {
                let escaped = usize::from(next == Some(b'\\'));
                let last = *text.get(at + 1 + escaped)?;
                is_in |= before.is_some_and(|first| (first..=last).contains(&byte));
                before = None;
                at += 2 + escaped;
            }
            b'[' if next == Some(b':') => {
                let length = text[at + 2..].iter().position(|byte| *byte == b']')?;
                match text[at + 2..at + 2 + length].strip_suffix(b":") {
                    Some(name) => {
                        is_in |= is_of_kind(name, byte)?;
                        before = None;
                        at += length + 3;
                    }
                    // No `:]`: the bracket is a member like any other.
                    None => {
                        is_in |= byte == b'[';
                        before = Some(b'[');
                        at += 1;
                    }
                }
            }
            _ => {
                is_in |= member == byte;
                before = Some(member);
                at += 1;
            }
        }
        if *text.get(at)? == b']' {
            return Some((is_in != negated, at + 1));
        }
    }
}

/// The kinds in `[[:name:]]`; nothing for a name that is none.
fn is_of_kind(name: &[u8], byte: u8) -> Option<bool> {
    Some(match name {
        b"alnum" => byte.is_ascii_alphanumeric(),
        b"alpha" => byte.is_ascii_alphabetic(),
        b"blank" => matches!(byte, b' ' | b'\t'),
        b"cntrl" => byte.is_ascii_control(),
        b"digit" => byte.is_ascii_digit(),
        b"graph" => byte.is_ascii_graphic(),
        b"lower" => byte.is_ascii_lowercase(),
        b"print" => matches!(byte, 0x20..=0x7e),
        b"punct" => byte.is_ascii_punctuation(),
        b"space" => matches!(byte, b' ' | b'\t' | b'\n' | b'\r'),
        b"upper" => byte.is_ascii_uppercase(),
        b"xdigit" => byte.is_ascii_hexdigit(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, text: &str) -> bool {
        matches(pattern.as_bytes(), text.as_bytes(), &mut 0)
    }

    #[test]
    fn patterns_mean_what_they_mean_in_git() {
        for (pattern, text) in [
            ("a/**/b", "a/b"),
            ("a/**/b", "a/x/y/b"),
            ("**/x", "x"),
            ("**/**/x", "a/b/x"),
            ("a/**", "a/b/c"),
            ("*.t*t", "a.txt"),
            ("*b*d", "abcabcd"),
            ("[]a]", "]"),
            ("[!a-c]x", "dx"),
            ("[a-]", "-"),
            ("[[:digit:]-z]", "-"),
            ("[[:x]", ":"),
            ("\\*", "*"),
            ("**\\/x", "a/b/x"),
            ("a**b", "axxb"),
        ] {
            assert!(found(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("*", "a/b"),
            ("a**b", "a/b"),
            ("a/**", "a"),
            ("**/x", "ax"),
            ("[a", "a"),
            ("[[:what:]]", "a"),
            ("a\\", "a\\"),
            ("?", "/"),
            ("[^a]", "/"),
            ("**\\/x", "x"),
            ("*/x", "a/b/x"),
        ] {
            assert!(!found(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn no_pattern_takes_long() {
        let deep = vec!["a"; 500].join("/");
        let patterns = [
            "**/".repeat(300) + "x",
            "**/a/".repeat(200) + "x",
            "*a".repeat(120) + "b",
            "**/*a*a*a*a*b/".repeat(20) + "x",
            "[a-z]*".repeat(40) + "b",
        ];
        for pattern in patterns {
            for text in [deep.as_str(), &"a".repeat(250), &format!("{}/{}", "a".repeat(250), "a".repeat(250))] {
                let mut steps = 0;
                matches(pattern.as_bytes(), text.as_bytes(), &mut steps);
                assert!(steps < 2_000_000, "{pattern} took {steps} steps");
            }
        }
    }
}
