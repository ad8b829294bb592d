//! Which exceptions surely fail a test. Test runners catch all of them, so V8 cannot say. Where an exception leaves the
//! project's code and the runner is what called that code, it fails the test; of one that becomes a promise's or meets a
//! library on its way only the runner's verdict tells.

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

/// Whose code a frame runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The project's.
    Project,
    /// Of what runs the tests.
    Runner,
    /// Node's own.
    Node,
    /// Another package's.
    Package,
}

impl Owner {
    /// By the file it is in, as a stack names it.
    pub(super) fn of(file: &str) -> Owner {
        const RUNNERS: [&str; 3] = ["/@vitest/runner/", "/jest-circus/", "/jest-jasmine2/"];
        match () {
            () if file.starts_with("node:internal/test_runner/") => Owner::Runner,
            () if RUNNERS.iter().any(|runner| file.contains(runner)) => Owner::Runner,
            () if file.contains("/node_modules/") => Owner::Package,
            () if file.starts_with('/') => Owner::Project,
            () => Owner::Node,
        }
    }
}

/// A frame of the stack of an exception, innermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Whose {
    pub owner: Owner,
    /// It has a `catch` around what is thrown here.
    pub catches: bool,
    /// What leaves it rejects a promise instead: it is an async function, or what a promise was made with.
    pub rejects: bool,
}

/// What an exception comes to first, as V8 foresees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ComesTo {
    /// A `catch`, or nothing.
    Catch,
    /// A promise, which it rejects.
    Promise,
    /// Nothing was thrown: a promise was rejected by a call.
    Rejection,
}

/// Whether an exception surely fails the test it is thrown in: nothing up to the function that the runner called catches it
/// or makes a promise of it that other code has. `resumed_by` is what called that function, where it was waiting since.
pub(super) fn surely_fails(stack: &[Whose], way: ComesTo, resumed_by: Option<Owner>) -> bool {
    let is_own = |whose: &Whose| whose.owner == Owner::Project;
    let Some(first) = stack.iter().position(is_own) else { return false };
    let own = stack.iter().skip(first).take_while(|whose| is_own(whose)).count();
    let (inside, outside) = stack.split_at(first + own);
    let (_outermost, inner) = inside.split_last().map_or((None, inside), |(last, inner)| (Some(last), inner));
    if way == ComesTo::Rejection || inside.iter().any(|whose| whose.catches) {
        return false;
    }
    if way == ComesTo::Promise && inner.iter().any(|whose| whose.rejects) {
        return false;
    }
    let caller = outside.iter().map(|whose| whose.owner).find(|owner| *owner != Owner::Node);
    caller.or(resumed_by) == Some(Owner::Runner)
}

/// Whether a function is async, by the text around where V8 says that it begins: at the parameters, or at the `async` of an
/// arrow function.
pub(super) fn is_async(source: &str, begin: usize) -> bool {
    let (before, after) = source.split_at_checked(begin).unwrap_or((source, ""));
    if after.strip_prefix("async").is_some_and(|rest| rest.starts_with([' ', '(', '\n', '\t'])) {
        return true;
    }
    let is_name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$' | '#');
    let before = before.trim_end().trim_end_matches(is_name).trim_end().trim_end_matches('*').trim_end();
    let before = before.strip_suffix("function").unwrap_or(before).trim_end();
    before.strip_suffix("async").is_some_and(|rest| !rest.ends_with(is_name))
}

/// Whether a call is one of `new`, and of another function than the one that runs: so that one is what an object, above all a
/// promise, was made with.
pub(super) fn makes_with(call: &str, function: &str) -> bool {
    let is_name = |character: &char| character.is_alphanumeric() || matches!(character, '_' | '$' | '.');
    let Some(made) = call.strip_prefix("new ") else { return call.starts_with("try(") };
    let name: String = made.trim_start().chars().take_while(is_name).collect();
    name.rsplit('.').next() != Some(function)
}

/// Whether something is thrown at a place, by the text there; otherwise a function is called there that rejects a promise.
pub(super) fn throws(text: &str, description: &str) -> bool {
    let is_name = |character: char| character.is_alphanumeric() || matches!(character, '_' | '$' | '.' | '?');
    let is_call = text.trim_start_matches(is_name).starts_with('(');
    let first = description.lines().next().unwrap_or_default();
    let by_engine =
        ["is not a function", "is not a constructor", "is not iterable"].iter().any(|end| first.contains(end));
    text.starts_with("throw") || !is_call || by_engine
}

/// Whether a test file has tests whose failure is expected, or that are run again when they fail.
pub(super) fn expects_failures(source: &str) -> bool {
    [".fails", ".failing", "todo", "retry"].iter().any(|word| source.contains(word))
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
    fn only_what_reaches_the_runner_surely_fails() {
        // o the project's, p of a package, r of the runner, n of Node; a an async function of the project, c one that catches.
        let whose = |letters: &str| -> Vec<Whose> {
            let owner = |letter| match letter {
                'o' | 'a' | 'c' => Owner::Project,
                'r' => Owner::Runner,
                'n' => Owner::Node,
                _ => Owner::Package,
            };
            let frame = |letter| Whose { owner: owner(letter), catches: letter == 'c', rejects: letter == 'a' };
            letters.chars().map(frame).collect()
        };
        let fails = |letters: &str, way| surely_fails(&whose(letters), way, None);
        assert!(fails("or", ComesTo::Catch) && fails("ppoor", ComesTo::Catch) && fails("ponr", ComesTo::Promise));
        assert!(fails("ooar", ComesTo::Promise), "the promise is the runner's");
        assert!(!fails("oaor", ComesTo::Promise), "the promise is the project's");
        assert!(!fails("or", ComesTo::Rejection), "`Promise.reject`");
        assert!(!fails("opor", ComesTo::Catch), "`expect(() => f()).toThrow()`");
        assert!(!fails("ocr", ComesTo::Catch) && !fails("pp", ComesTo::Catch) && !fails("opn", ComesTo::Catch));
        let resumed = |letters: &str, by| surely_fails(&whose(letters), ComesTo::Promise, by);
        assert!(resumed("poa", Some(Owner::Runner)) && resumed("ann", Some(Owner::Runner)));
        assert!(!resumed("a", Some(Owner::Project)) && !resumed("a", None) && !resumed("op", Some(Owner::Runner)));
    }

    #[test]
    fn functions_and_calls_are_known_by_their_text() {
        let at = |text: &str| is_async(&text.replace('^', ""), text.find('^').unwrap());
        for text in ["async function f^() {", "^async () => {", "{ static async  m^()", "async *g^()", "async #p^()"] {
            assert!(at(text), "{text}");
        }
        for text in ["function f^() {", "^() => {", "notasync m^()", "^asyncly => 1", "async; function f^()"] {
            assert!(!at(text), "{text}");
        }
        assert!(makes_with("new Promise((ok) => 1)", "(anonymous)") && makes_with("try(f)", "f"));
        assert!(!makes_with("new shop.Cart(1)", "Cart") && !makes_with("f(1)", "f"));
        assert!(throws("throw new Error('x')", "Error: x") && throws("x;", "TypeError: x of null"));
        assert!(throws("x()", "TypeError: n.x is not a function"));
        assert!(!throws("reject(new Error('x'))", "Error: x") && !throws("no(new TypeError('x'))", "TypeError: x"));
        assert_eq!(Owner::of("/w/node_modules/jest-circus/build/jestAdapterInit.js"), Owner::Runner);
        assert_eq!(Owner::of("node:async_hooks"), Owner::Node);
    }
}
