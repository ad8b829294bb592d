//! Whether a command line commits to Git. It is read as a shell reads it, as far as that takes no running: words, quotes,
//! what stands between commands, and here-documents, whose text is no command.

use std::iter::Peekable;
use std::str::Chars;

/// Longer commands are not read.
const LONGEST: usize = 64 << 10;
/// How deep shells are looked for within shells.
const DEEPEST: usize = 4;
/// Words that stand before a command and leave it one.
const BEFORE: &[&str] = &[
    "!", "{", "(", "if", "then", "else", "elif", "do", "while", "until", "time", "sudo", "env", "command", "exec",
    "nohup", "nice", "builtin",
];
/// Options of `git` whose value is the next word.
const WITH_VALUE: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--super-prefix",
    "--config-env",
    "--attr-source",
    "--exec-path",
];

/// Whether running this would make a commit.
pub(super) fn is_commit(command: &str) -> bool {
    is_commit_within(command, 0)
}

fn is_commit_within(command: &str, depth: usize) -> bool {
    command.len() <= LONGEST && depth < DEEPEST && commands(command).iter().any(|words| commits(words, depth))
}

fn commits(words: &[String], depth: usize) -> bool {
    let is_before = |word: &&String| BEFORE.contains(&word.as_str()) || is_assignment(word);
    let words: Vec<&str> = words.iter().skip_while(is_before).map(String::as_str).collect();
    let Some((program, arguments)) = words.split_first() else { return false };
    match program.rsplit('/').next().unwrap_or_default() {
        "git" | "git.exe" => is_git_commit(arguments),
        "sh" | "bash" | "zsh" | "dash" => {
            let is_script = |word: &&str| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c');
            let script = arguments.iter().position(is_script).map(|at| arguments[at + 1..].join(" "));
            script.is_some_and(|script| is_commit_within(&script, depth + 1))
        }
        _ => false,
    }
}

fn is_git_commit(arguments: &[&str]) -> bool {
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        if WITH_VALUE.contains(word) {
            rest.next();
        } else if !word.starts_with('-') {
            let is_harmless = |word: &&str| matches!(*word, "--dry-run" | "--help" | "-h");
            return *word == "commit" && !rest.as_slice().iter().take_while(|word| **word != "--").any(is_harmless);
        }
    }
    false
}

/// `NAME=value`
fn is_assignment(word: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// A command line's commands, each in words without their quotes.
fn commands(line: &str) -> Vec<Vec<String>> {
    let mut reader = Reader { rest: line.chars().peekable(), done: Vec::new(), words: Vec::new(), word: None };
    let mut here: Vec<String> = Vec::new();
    while let Some(character) = reader.rest.next() {
        match character {
            '\n' => {
                reader.end_command();
                here.drain(..).for_each(|end| skip_to(&mut reader.rest, &end));
            }
            ';' | '&' | '|' | '(' | ')' | '`' => reader.end_command(),
            '#' if reader.word.is_none() => while reader.rest.next_if(|next| *next != '\n').is_some() {},
            '<' if reader.rest.peek() == Some(&'<') => here.extend(reader.here_document()),
            blank if blank.is_whitespace() => reader.end_word(),
            other => reader.take(other),
        }
    }
    reader.end_command();
    reader.done
}

/// What is read of a command line.
struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    done: Vec<Vec<String>>,
    words: Vec<String>,
    word: Option<String>,
}

impl Reader<'_> {
    /// A character that belongs to a word, with what it quotes.
    fn take(&mut self, character: char) {
        let word = self.word.get_or_insert_default();
        match character {
            '\\' => word.extend(self.rest.next().filter(|next| *next != '\n')),
            '\'' => word.extend(self.rest.by_ref().take_while(|next| *next != '\'')),
            '"' => {
                while let Some(next) = self.rest.next().filter(|next| *next != '"') {
                    let escaped = if next == '\\' { self.rest.next() } else { None };
                    word.push(escaped.unwrap_or(next));
                }
            }
            plain => word.push(plain),
        }
    }

    fn end_word(&mut self) {
        self.words.extend(self.word.take());
    }

    fn end_command(&mut self) {
        self.end_word();
        if !self.words.is_empty() {
            self.done.push(std::mem::take(&mut self.words));
        }
    }

    /// The word that ends a here-document after `<<`; none for `<<<`, whose text is in the line.
    fn here_document(&mut self) -> Option<String> {
        self.end_word();
        self.rest.next();
        if self.rest.next_if_eq(&'<').is_some() {
            return None;
        }
        self.rest.next_if_eq(&'-');
        while self.rest.next_if(|next| matches!(next, ' ' | '\t')).is_some() {}
        let mut end = String::new();
        while let Some(next) = self.rest.next_if(|next| !next.is_whitespace() && !";&|()<>".contains(*next)) {
            end.extend(Some(next).filter(|next| !"'\"\\".contains(*next)));
        }
        Some(end).filter(|end| !end.is_empty())
    }
}

/// Passes over the lines of a here-document.
fn skip_to(rest: &mut Peekable<Chars<'_>>, end: &str) {
    while rest.peek().is_some() {
        let line: String = rest.by_ref().take_while(|next| *next != '\n').collect();
        if line.trim_start_matches('\t') == end {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_known_however_they_are_written() {
        let commits = [
            "git commit -m 'x'",
            "git -C sub commit -am x",
            "git -c user.name='A B' --no-pager commit",
            "cd a && git commit -m \"it's done; really\"",
            "git add -A; git commit --amend --no-edit",
            "npm test &&\n  git commit -F - <<'EOF'\nfix: git log\nEOF",
            "git commit -m \"$(cat <<'EOF'\nfeat: one\n\nbody\nEOF\n)\"",
            "GIT_AUTHOR_NAME=x sudo /usr/bin/git commit",
            "bash -lc 'cd a && git commit -m x'",
            "bash -lc git commit -m x",
            "if true; then git commit; fi",
            "(cd a; git commit)",
            "git commit -m 'say --dry-run' -- a",
        ];
        for command in commits {
            assert!(is_commit(command), "{command}");
        }
    }

    #[test]
    fn what_only_speaks_of_commits_is_none() {
        let others = [
            "git log --grep commit",
            "git -C commit status",
            "git show commit",
            "git commit-tree abc",
            "git commit --dry-run",
            "git help commit",
            "echo git commit",
            "echo 'x; git commit'",
            "# git commit",
            "cat > hook.sh <<'EOF'\ngit commit -m x\nEOF\nls",
            "grep -r \"git commit\" docs",
            "gitk commit",
            "./commit",
            "bash commit.sh",
            "",
            "'",
            "git",
            "<<",
        ];
        for command in others {
            assert!(!is_commit(command), "{command}");
        }
        assert!(!is_commit(&"x ".repeat(LONGEST)));
    }
}
