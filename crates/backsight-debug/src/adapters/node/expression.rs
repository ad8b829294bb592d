//! Reads an expression of JavaScript that only looks: names, literals, members, operators, and calls that the walker may
//! answer itself. V8 is never given such an expression: it would run getters and conversions of the program, and nothing ends
//! a built-in function that takes long. What is read here is a tree that the walker follows inside the program.

use serde_json::{Value, json};

/// The longest expression, in bytes.
const LONGEST: usize = 10_000;
/// The most parts of one.
const MOST: usize = 1000;
/// How deep it may be nested.
const DEEPEST: usize = 100;

/// Why an expression is not followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// It might run code, change something, or never end.
    Refused(String),
    /// It is no expression.
    Wrong(String),
}

impl Problem {
    /// As the walker tells it.
    pub(super) fn told(&self) -> Value {
        match self {
            Problem::Refused(why) => json!({ "refused": why }),
            Problem::Wrong(why) => json!({ "error": why }),
        }
    }

    pub(super) fn words(&self) -> &str {
        match self {
            Problem::Refused(why) | Problem::Wrong(why) => why,
        }
    }
}

type Read<T> = Result<T, Problem>;

/// The tree of an expression, for the walker.
pub(super) fn parse(text: &str) -> Read<Value> {
    if text.len() > LONGEST {
        return Err(Problem::Refused(format!("it is longer than {LONGEST} bytes")));
    }
    let mut parser = Parser { rest: text, parts: 0, depth: 0 };
    let tree = parser.choice()?;
    parser.end()?;
    Ok(tree)
}

/// Operators with two sides, longest first, each with how tightly it binds.
const OPERATORS: [(&str, u8); 25] = [
    (">>>", 9),
    ("===", 7),
    ("!==", 7),
    ("**", 12),
    ("<<", 9),
    (">>", 9),
    ("<=", 8),
    (">=", 8),
    ("==", 7),
    ("!=", 7),
    ("&&", 3),
    ("||", 2),
    ("??", 2),
    ("instanceof", 8),
    ("in", 8),
    ("*", 11),
    ("/", 11),
    ("%", 11),
    ("+", 10),
    ("-", 10),
    ("<", 8),
    (">", 8),
    ("&", 6),
    ("^", 5),
    ("|", 4),
];

/// What changes something; `=>` makes a function.
const ASSIGNMENTS: [&str; 18] =
    [">>>=", "<<=", ">>=", "**=", "&&=", "||=", "??=", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "="];

/// Words that cannot be names, each with what it would do.
const WORDS: [(&str, &str); 15] = [
    ("new", "`new` runs code"),
    ("function", "a function is code"),
    ("class", "a class is code"),
    ("await", "`await` lets the program go on"),
    ("yield", "`yield` lets the program go on"),
    ("import", "`import` runs code"),
    ("delete", "`delete` would change the program"),
    ("super", "`super` is not looked up"),
    ("throw", "`throw` is no expression"),
    ("return", "`return` is no expression"),
    ("debugger", "`debugger` is no expression"),
    ("if", "`if` is no expression"),
    ("while", "`while` is no expression"),
    ("for", "`for` is no expression"),
    ("var", "`var` is no expression"),
];

struct Parser<'a> {
    rest: &'a str,
    parts: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    /// `a ? b : c`, or what is simpler.
    fn choice(&mut self) -> Read<Value> {
        self.deeper(|parser| {
            let condition = parser.binary(0)?;
            parser.skip()?;
            if !parser.rest.starts_with('?') {
                return parser.unassigned(condition);
            }
            parser.take("?");
            let first = parser.choice()?;
            parser.expect(":")?;
            let second = parser.choice()?;
            parser.part(json!(["choose", condition, first, second]))
        })
    }

    /// What is read so far, unless something is assigned to it or it is the head of a function.
    fn unassigned(&mut self, tree: Value) -> Read<Value> {
        if self.rest.starts_with("=>") {
            return Err(refused("a function is code"));
        }
        match ASSIGNMENTS.iter().any(|one| self.rest.starts_with(one)) {
            true => Err(refused("it would change the program")),
            false => Ok(tree),
        }
    }

    fn binary(&mut self, least: u8) -> Read<Value> {
        let mut left = self.unary()?;
        loop {
            self.skip()?;
            if ASSIGNMENTS.iter().any(|one| self.rest.starts_with(one) && !self.compares()) {
                return self.unassigned(left);
            }
            let found = OPERATORS.iter().find(|(operator, _)| self.sees(operator));
            let Some((operator, binds)) = found.filter(|(_, binds)| *binds > least) else { return Ok(left) };
            self.take(operator);
            // Only powers are read from the right.
            let right = self.deeper(|parser| parser.binary(if *operator == "**" { binds - 1 } else { *binds }))?;
            let kind = if matches!(*operator, "&&" | "||" | "??") { "logic" } else { "binary" };
            left = self.part(json!([kind, operator, left, right]))?;
        }
    }

    /// Whether what looks like an assignment is a comparison.
    fn compares(&self) -> bool {
        ["===", "=="].iter().any(|one| self.rest.starts_with(one))
    }

    /// Whether an operator comes next; one that is a word ends where a word ends.
    fn sees(&self, operator: &str) -> bool {
        let Some(after) = self.rest.strip_prefix(operator) else { return false };
        let is_word = operator.starts_with(|first: char| first.is_ascii_alphabetic());
        !(is_word && after.starts_with(is_part_of_name))
    }

    fn unary(&mut self) -> Read<Value> {
        self.skip()?;
        if self.rest.starts_with("++") || self.rest.starts_with("--") {
            return Err(refused("it would change the program"));
        }
        let operator = ["!", "-", "+", "~", "typeof", "void"].into_iter().find(|operator| self.sees(operator));
        let Some(operator) = operator else { return self.chain() };
        self.take(operator);
        let operand = self.deeper(Parser::unary)?;
        self.part(json!(["unary", operator, operand]))
    }

    /// A value, then members of members of it.
    fn chain(&mut self) -> Read<Value> {
        let mut tree = self.primary()?;
        let mut skips = false;
        loop {
            self.skip()?;
            // `a ?.5 : b` chooses a number.
            let number_follows =
                self.rest.strip_prefix("?.").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            let optional = !number_follows && self.take("?.");
            skips |= optional;
            if optional {
                self.skip()?;
            }
            tree = match self.rest.chars().next() {
                Some('[') => {
                    self.take("[");
                    let index = self.choice()?;
                    self.expect("]")?;
                    self.part(json!(["index", tree, index, optional]))?
                }
                Some('(') => {
                    self.take("(");
                    let arguments = self.list(")")?;
                    self.part(json!(["call", tree, arguments, optional]))?
                }
                Some('`') => return Err(refused("a tagged template is a call")),
                Some('.') if !optional => {
                    self.take(".");
                    self.skip()?;
                    self.member(tree, false)?
                }
                _ if optional => self.member(tree, true)?,
                _ => break,
            };
        }
        if skips { self.part(json!(["chain", tree])) } else { Ok(tree) }
    }

    fn member(&mut self, of: Value, optional: bool) -> Read<Value> {
        let private = self.take("#");
        let name = self.word().ok_or_else(|| self.unexpected())?;
        match private {
            true => self.part(json!(["private", of, format!("#{name}"), optional])),
            false => self.part(json!(["index", of, ["string", name], optional])),
        }
    }

    fn primary(&mut self) -> Read<Value> {
        self.skip()?;
        let Some(first) = self.rest.chars().next() else {
            return Err(Problem::Wrong("the expression ends too early".to_owned()));
        };
        match first {
            '(' => {
                self.take("(");
                self.skip()?;
                if self.rest.starts_with(')') {
                    return Err(refused("a function is code"));
                }
                let inner = self.choice()?;
                self.expect(")")?;
                Ok(inner)
            }
            '[' => {
                self.take("[");
                let list = self.list("]")?;
                self.part(json!(["list", list]))
            }
            '{' => self.record(),
            '\'' | '"' => {
                let units = self.quoted(first)?;
                self.part(string(&units))
            }
            '`' => self.template(),
            '/' => Err(refused("a regular expression may never end")),
            '0'..='9' => self.number(),
            '.' if self.rest.get(1..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) => {
                self.number()
            }
            _ => self.name(),
        }
    }

    fn name(&mut self) -> Read<Value> {
        let Some(name) = self.word() else { return Err(self.unexpected()) };
        if let Some((_, why)) = WORDS.iter().find(|(word, _)| *word == name) {
            return Err(refused(why));
        }
        match name {
            "this" => self.part(json!(["this"])),
            "true" | "false" => self.part(json!(["literal", name == "true"])),
            "null" => self.part(json!(["literal", null])),
            "undefined" => self.part(json!(["undefined"])),
            "NaN" | "Infinity" => self.part(json!(["number", name])),
            name => self.part(json!(["name", name])),
        }
    }

    /// Values up to a bracket that closes.
    fn list(&mut self, close: &str) -> Read<Vec<Value>> {
        let mut all = Vec::new();
        loop {
            self.skip()?;
            if self.take(close) {
                return Ok(all);
            }
            if self.rest.starts_with("...") {
                return Err(refused("what `...` takes apart is the program's to say"));
            }
            all.push(self.choice()?);
            self.skip()?;
            if !self.rest.starts_with(close) {
                self.expect(",")?;
            }
        }
    }

    fn record(&mut self) -> Read<Value> {
        self.take("{");
        let mut fields = Vec::new();
        loop {
            self.skip()?;
            if self.take("}") {
                return self.part(json!(["record", fields]));
            }
            let (key, short) = match self.rest.chars().next() {
                Some(quote @ ('\'' | '"')) => (string(&self.quoted(quote)?), None),
                _ => {
                    let name = self.word().ok_or_else(|| self.unexpected())?;
                    (json!(["string", name]), Some(name))
                }
            };
            self.skip()?;
            let value = match (self.take(":"), short) {
                (true, _) => self.choice()?,
                (false, Some(name)) if self.rest.starts_with([',', '}']) => self.part(json!(["name", name]))?,
                (false, _) => return Err(self.unexpected()),
            };
            fields.push(json!([key, value]));
            self.skip()?;
            if !self.rest.starts_with('}') {
                self.expect(",")?;
            }
        }
    }

    fn template(&mut self) -> Read<Value> {
        self.take("`");
        let (mut texts, mut values) = (Vec::new(), Vec::new());
        loop {
            let units = self.units(|rest| rest.starts_with('`') || rest.starts_with("${"))?;
            texts.push(string(&units));
            if self.take("`") {
                return self.part(json!(["template", texts, values]));
            }
            self.take("${");
            values.push(self.choice()?);
            self.expect("}")?;
        }
    }

    /// A text in quotes, in the units JavaScript has.
    fn quoted(&mut self, quote: char) -> Read<Vec<u16>> {
        let mut one = [0; 4];
        let quote: &str = quote.encode_utf8(&mut one);
        self.take(quote);
        let units = self.units(|rest| rest.starts_with(quote) || rest.starts_with('\n'))?;
        self.expect(quote)?;
        Ok(units)
    }

    fn units(&mut self, ends: impl Fn(&str) -> bool) -> Read<Vec<u16>> {
        let mut units = Vec::new();
        let mut buffer = [0; 2];
        while !ends(self.rest) {
            let next = self.next().ok_or_else(|| Problem::Wrong("a text has no end".to_owned()))?;
            match next {
                '\\' => self.escape(&mut units)?,
                next => units.extend_from_slice(next.encode_utf16(&mut buffer)),
            }
        }
        Ok(units)
    }

    fn escape(&mut self, units: &mut Vec<u16>) -> Read<()> {
        let wrong = || Problem::Wrong("a text has a wrong escape".to_owned());
        let mut buffer = [0; 2];
        match self.next().ok_or_else(wrong)? {
            'n' => units.push(10),
            't' => units.push(9),
            'r' => units.push(13),
            'b' => units.push(8),
            'f' => units.push(12),
            'v' => units.push(11),
            '\n' => {}
            '0' if !self.rest.starts_with(|c: char| c.is_ascii_digit()) => units.push(0),
            'x' => units.push(self.hexadecimal(2).ok_or_else(wrong)?),
            'u' if self.take("{") => {
                let (digits, rest) = self.rest.split_once('}').ok_or_else(wrong)?;
                self.rest = rest;
                let code = u32::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with('+'));
                match code.and_then(char::from_u32) {
                    Some(character) => units.extend_from_slice(character.encode_utf16(&mut buffer)),
                    None => units.push(code.and_then(|code| u16::try_from(code).ok()).ok_or_else(wrong)?),
                }
            }
            'u' => units.push(self.hexadecimal(4).ok_or_else(wrong)?),
            '1'..='9' | '0' => return Err(wrong()),
            other => units.extend_from_slice(other.encode_utf16(&mut buffer)),
        }
        Ok(())
    }

    fn hexadecimal(&mut self, count: usize) -> Option<u16> {
        let digits = self.rest.get(..count).filter(|digits| digits.chars().all(|c| c.is_ascii_hexdigit()))?;
        let number = u16::from_str_radix(digits, 16).ok()?;
        self.rest = self.rest.get(count..)?;
        Some(number)
    }

    /// A number as it is written; the walker knows how much it is.
    fn number(&mut self) -> Read<Value> {
        let wrong = || Problem::Wrong("a number is written in a wrong way".to_owned());
        let mut end = 0;
        let bytes = self.rest.as_bytes();
        let is_prefixed = matches!(bytes, [b'0', b'x' | b'X' | b'o' | b'O' | b'b' | b'B', ..]);
        while let Some(byte) = bytes.get(end) {
            let signs = !is_prefixed
                && matches!(byte, b'+' | b'-')
                && matches!(bytes.get(end.wrapping_sub(1)), Some(b'e' | b'E'));
            if !(byte.is_ascii_alphanumeric() || *byte == b'_' || (*byte == b'.' && !is_prefixed) || signs) {
                break;
            }
            end += 1;
        }
        let (text, rest) = self.rest.split_at(end);
        if rest.starts_with(is_part_of_name) || text.ends_with('_') || text.contains("__") {
            return Err(wrong());
        }
        self.rest = rest;
        let text = text.replace('_', "");
        let big = text.strip_suffix('n');
        let plain = big.unwrap_or(&text);
        let digits = |radix: u32, digits: &str| !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
        let is_good = match plain.get(..2) {
            Some("0x" | "0X") => digits(16, plain.get(2..).unwrap_or_default()),
            Some("0o" | "0O") => digits(8, plain.get(2..).unwrap_or_default()),
            Some("0b" | "0B") => digits(2, plain.get(2..).unwrap_or_default()),
            // `010` is 8 in some programs and an error in others.
            Some(two) if two.starts_with('0') && digits(10, two) => false,
            _ if big.is_some() => digits(10, plain),
            _ => plain.parse::<f64>().is_ok(),
        };
        match (is_good, big) {
            (false, _) => Err(wrong()),
            (true, Some(big)) => self.part(json!(["bigint", big])),
            (true, None) => self.part(json!(["number", plain])),
        }
    }

    fn word(&mut self) -> Option<&'a str> {
        let starts = self.rest.starts_with(|first: char| is_part_of_name(first) && !first.is_ascii_digit());
        let end = self.rest.find(|c| !is_part_of_name(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        starts.then(|| {
            self.rest = rest;
            word
        })
    }

    /// Blanks and comments.
    fn skip(&mut self) -> Read<()> {
        loop {
            self.rest = self.rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
            if let Some(comment) = self.rest.strip_prefix("//") {
                self.rest = comment.find('\n').and_then(|end| comment.get(end..)).unwrap_or_default();
            } else if let Some(comment) = self.rest.strip_prefix("/*") {
                let closed = comment.split_once("*/").map(|(_, rest)| rest);
                self.rest = closed.ok_or_else(|| Problem::Wrong("a comment has no end".to_owned()))?;
            } else {
                return Ok(());
            }
        }
    }

    fn next(&mut self) -> Option<char> {
        let next = self.rest.chars().next()?;
        self.rest = self.rest.get(next.len_utf8()..).unwrap_or_default();
        Some(next)
    }

    fn take(&mut self, word: &str) -> bool {
        let rest = self.rest.strip_prefix(word);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, word: &str) -> Read<()> {
        self.skip()?;
        if word != "," && self.rest.starts_with(',') {
            return Err(refused("it is more than one expression"));
        }
        if self.take(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    fn end(&mut self) -> Read<()> {
        self.skip()?;
        match self.rest.chars().next() {
            None => Ok(()),
            Some(',' | ';') => Err(refused("it is more than one expression")),
            Some(_) => Err(self.unexpected()),
        }
    }

    fn unexpected(&self) -> Problem {
        let next: String = self.rest.chars().take(12).collect();
        match next.is_empty() {
            true => Problem::Wrong("the expression ends too early".to_owned()),
            false => Problem::Wrong(format!("`{next}` is not expected there")),
        }
    }

    /// A part that was read, one of so many.
    fn part(&mut self, part: Value) -> Read<Value> {
        self.parts += 1;
        match self.parts > MOST {
            true => Err(Problem::Refused(format!("it has more than {MOST} parts"))),
            false => Ok(part),
        }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Problem::Refused(format!("it is nested deeper than {DEEPEST} levels")));
        }
        let found = read(self)?;
        self.depth -= 1;
        Ok(found)
    }
}

fn refused(why: &str) -> Problem {
    Problem::Refused(why.to_owned())
}

fn is_part_of_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$' | '\u{200c}' | '\u{200d}')
}

/// A text; half a character is told by its number.
fn string(units: &[u16]) -> Value {
    match String::from_utf16(units) {
        Ok(text) => json!(["string", text]),
        Err(_) => json!(["units", units]),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str) -> String {
        match parse(text) {
            Ok(tree) => tree.to_string().replace('"', ""),
            Err(problem) => format!("{problem:?}").replace('"', ""),
        }
    }

    #[test]
    fn operators_bind_as_they_do_in_javascript() {
        let table = [
            ("a + b * c", "[binary,+,[name,a],[binary,*,[name,b],[name,c]]]"),
            ("a - b - c", "[binary,-,[binary,-,[name,a],[name,b]],[name,c]]"),
            ("a ** b ** c", "[binary,**,[name,a],[binary,**,[name,b],[name,c]]]"),
            ("!a && b || c", "[logic,||,[logic,&&,[unary,!,[name,a]],[name,b]],[name,c]]"),
            ("a < b === c", "[binary,===,[binary,<,[name,a],[name,b]],[name,c]]"),
            ("a ? b : c ? d : e", "[choose,[name,a],[name,b],[choose,[name,c],[name,d],[name,e]]]"),
            ("typeof a in b", "[binary,in,[unary,typeof,[name,a]],[name,b]]"),
            ("a>=b", "[binary,>=,[name,a],[name,b]]"),
            ("a!=b", "[binary,!=,[name,a],[name,b]]"),
            ("a/b/c", "[binary,/,[binary,/,[name,a],[name,b]],[name,c]]"),
            ("inner instanceof instance", "[binary,instanceof,[name,inner],[name,instance]]"),
            ("a | b ^ c & d", "[binary,|,[name,a],[binary,^,[name,b],[binary,&,[name,c],[name,d]]]]"),
            ("a >>> 1 >> 2 << 3", "[binary,<<,[binary,>>,[binary,>>>,[name,a],[number,1]],[number,2]],[number,3]]"),
        ];
        for (text, tree) in table {
            assert_eq!(shown(text), tree, "{text}");
        }
    }

    #[test]
    fn values_and_members_are_read() {
        let table = [
            ("this.a[0].b", "[index,[index,[index,[this],[string,a],false],[number,0],false],[string,b],false]"),
            ("a?.b", "[chain,[index,[name,a],[string,b],true]]"),
            ("a?.[b]", "[chain,[index,[name,a],[name,b],true]]"),
            ("a?.5:b", "[choose,[name,a],[number,.5],[name,b]]"),
            ("this.#count", "[private,[this],#count,false]"),
            ("m.get('k')", "[call,[index,[name,m],[string,get],false],[[string,k]],false]"),
            ("'a\\n\\x41\\u0042\\u{43}'", "[string,a\\nABC]"),
            ("'\\ud800x'", "[units,[55296,120]]"),
            ("`a${b + 1}c`", "[template,[[string,a],[string,c]],[[binary,+,[name,b],[number,1]]]]"),
            (
                "[1, 2n, 0x1F, 1e-3, .5, 1_000]",
                "[list,[[number,1],[bigint,2],[number,0x1F],[number,1e-3],[number,.5],[number,1000]]]",
            ),
            ("{a, 'b': 1}", "[record,[[[string,a],[name,a]],[[string,b],[number,1]]]]"),
            ("/* x */ a // y", "[name,a]"),
            ("\u{e9}t\u{e9}.$_", "[index,[name,\u{e9}t\u{e9}],[string,$_],false]"),
            ("[true, null, undefined, NaN]", "[list,[[literal,true],[literal,null],[undefined],[number,NaN]]]"),
        ];
        for (text, tree) in table {
            assert_eq!(shown(text), tree, "{text}");
        }
    }

    #[test]
    fn what_could_run_change_or_never_end_is_refused() {
        let refused = [
            "a = 1",
            "a += 1",
            "a ??= 1",
            "a++",
            "--a",
            "delete a.b",
            "new A",
            "x => x",
            "() => 1",
            "(a, b) => 1",
            "function f() {}",
            "class A {}",
            "/(a+)+$/.test(b)",
            "a`b`",
            "[...a]",
            "f(...a)",
            "a, b",
            "a; b",
            "await a",
            "import('x')",
            "a[b = 1]",
            "a.b >>>= 1",
            "(a = 1)",
            "`${a = 1}`",
            "a ? b = 1 : c",
        ];
        for text in refused {
            assert!(matches!(parse(text), Err(Problem::Refused(_))), "{text}: {}", shown(text));
        }
        let long = [
            format!("a{}", ".b".repeat(2000)),
            "(".repeat(500),
            "-".repeat(500),
            "a".repeat(20_000),
            "a+".repeat(2000),
        ];
        for text in long {
            assert!(matches!(parse(&text), Err(Problem::Refused(_))), "{}", &text[..10]);
        }
        for text in [
            "",
            "a +",
            "a b",
            ")",
            "'a",
            "`a",
            "`${a",
            "1a",
            "010",
            "0x",
            "1__0",
            "a..b",
            "a.1",
            "@",
            "\\u0061",
            "{a b}",
            "'\\u{110000}'",
            "#a",
            "a ? b",
            "/*",
        ] {
            assert!(matches!(parse(text), Err(Problem::Wrong(_))), "{text}: {}", shown(text));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_survived(text in "[a-c0-9 .?:(){}\\[\\]'\"`$+*/<>=!&|,#n\\\\ux_-]{0,60}", any in any::<String>()) {
            let _ = (parse(&text), parse(&any));
        }
    }
}
