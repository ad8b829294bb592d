//! Which exceptions fail a test. Test runners catch all of them, so V8 cannot say; where they were thrown and who is waiting
//! for them can.

/// Whether the code at a place is inside a `try` of this function that has a `catch`. Lengths are in bytes, from where the
/// function begins.
pub(super) fn is_caught(function: &str, at: usize) -> bool {
    let mut open: Vec<Brace> = Vec::new();
    let mut tries: Vec<(usize, usize)> = Vec::new();
    let mut last = String::new();
    for (start, token) in Tokens::new(function) {
        match token {
            "{" => open.push(Brace { start, is_try: last == "try" }),
            "}" => match open.pop() {
                Some(brace) if brace.is_try => tries.push((brace.start, start)),
                // The function is over.
                _ if open.is_empty() && start > at => break,
                _ => {}
            },
            // Of the `try` that ended just before.
            "catch" if last == "}" && tries.last().is_some_and(|(from, to)| (*from..*to).contains(&at)) => return true,
            _ => {}
        }
        token.clone_into(&mut last);
    }
    false
}

struct Brace {
    start: usize,
    is_try: bool,
}

/// Words and marks of a program with their places; texts, templates and comments are passed over.
struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    fn new(text: &'a str) -> Self {
        Tokens { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Passes over a text in quotes.
    fn quoted(&mut self, quote: char) {
        let mut escaped = false;
        for (at, character) in self.rest().char_indices().skip(1) {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                end if end == quote => return self.at += at + character.len_utf8(),
                _ => {}
            }
        }
        self.at = self.text.len();
    }

    /// Passes over everything up to some words, and them.
    fn past(&mut self, words: &str) {
        self.at = self.rest().find(words).map_or(self.text.len(), |at| self.at + at + words.len());
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = (usize, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let rest = self.rest();
            let first = rest.chars().next()?;
            let is_word = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$');
            match first {
                _ if rest.starts_with("//") => self.past("\n"),
                _ if rest.starts_with("/*") => self.past("*/"),
                '"' | '\'' | '`' => self.quoted(first),
                blank if blank.is_whitespace() => self.at += blank.len_utf8(),
                _ => {
                    let length = match is_word(first) {
                        true => rest.find(|character| !is_word(character)).unwrap_or(rest.len()),
                        false => first.len_utf8(),
                    };
                    let start = self.at;
                    self.at += length;
                    return Some((start, rest.get(..length).unwrap_or_default()));
                }
            }
        }
    }
}

/// A frame of the stack of an exception, innermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Whose {
    /// The project's own code; otherwise a package's, or Node's.
    pub own: bool,
    /// It catches what is thrown here.
    pub catches: bool,
}

/// Whether an exception fails the test it is thrown in: an assertion of the project's code always; anything else unless what
/// it passes, or a library that the code called (`expect(...).toThrow()`), is there to catch it.
pub(super) fn fails(stack: &[Whose], is_assertion: bool) -> bool {
    let Some(first) = stack.iter().position(|whose| whose.own) else { return false };
    let end = first + stack.iter().skip(first).take_while(|whose| whose.own).count();
    // Libraries catch their own assertions to say more, and throw them again.
    let catches = |whose: &Whose| whose.catches && (whose.own || !is_assertion);
    if stack.iter().take(end).any(catches) {
        return false;
    }
    // A library between two stretches of own code was called by the outer one.
    is_assertion || !stack.iter().skip(end).any(|whose| whose.own)
}

/// Whether an error is what an assertion throws: Node's and Chai's have the name, Jest's another, older ones begin so.
pub(super) fn is_assertion(class: &str, description: &str) -> bool {
    let first = description.lines().next().unwrap_or_default();
    class.contains("AssertionError") || first.starts_with("AssertionError") || first.contains("expect(")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_try_with_a_catch_catches_what_is_inside_it() {
        let text = "function f() { const a = '} catch'; try { /* } */ one(`${x} {`); } catch (e) { two(); } try { three(); } finally { four(); } five(); }";
        let caught = |word: &str| is_caught(text, text.find(word).unwrap());
        assert!(caught("one("));
        for word in ["two(", "three(", "four(", "five(", "const"] {
            assert!(!caught(word), "{word}");
        }
        assert!(!is_caught("() => { throw 1", 8));
    }

    #[test]
    fn what_is_expected_does_not_fail() {
        let whose = |letters: &str| -> Vec<Whose> {
            letters.chars().map(|one| Whose { own: "oO".contains(one), catches: one.is_uppercase() }).collect()
        };
        // o own, p of a package; in capitals one that catches.
        assert!(fails(&whose("opp"), false), "thrown by the test itself");
        assert!(fails(&whose("poop"), true), "an assertion of a library");
        assert!(fails(&whose("pPop"), true), "which looks at it first");
        assert!(!fails(&whose("opop"), false), "`expect(() => f()).toThrow()`");
        assert!(fails(&whose("ppo"), false), "an error of a library");
        assert!(!fails(&whose("pPo"), false), "that the library expects");
        assert!(!fails(&whose("oOp"), false) && !fails(&whose("pOp"), true), "caught by the project");
        assert!(!fails(&whose("pp"), true), "none of it is the project's");
        assert!(
            is_assertion("JestAssertionError", "") && is_assertion("Error", "Error: expect(received).toBe(expected)")
        );
        assert!(!is_assertion("TypeError", "TypeError: x is undefined"));
    }
}
