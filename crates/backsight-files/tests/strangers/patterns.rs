//! Ignore patterns: none takes long, none that is left out goes unsaid, and all others mean what they mean in Git.

use std::fs;
use std::time::{Duration, Instant};

use backsight_core::{Code, RelPath};
use backsight_files::Patterns;

use crate::lab::{Lab, bounded};

#[test]
fn a_pattern_of_many_stars_costs_nothing_in_a_deep_tree() {
    for pattern in ["**/".repeat(30) + "x", "**/a/".repeat(30) + "x", "*a".repeat(60) + "b", "[a-z]*".repeat(60) + "B"]
    {
        let lab = Lab::new();
        lab.write(".gitignore", &pattern);
        lab.write(&format!("{}/{}", ["a"; 40].join("/"), "a".repeat(200)), "1");
        let began = Instant::now();
        let captured = bounded(move || lab.capture());
        assert_eq!(captured.coverage.files, 2, "{pattern}");
        assert!(began.elapsed() < Duration::from_secs(20), "{pattern} took {:?}", began.elapsed());
    }
}

#[test]
fn patterns_that_take_too_long_all_together_are_refused_by_name() {
    let lab = Lab::new();
    let hostile: String = (0..9000).map(|number| format!("*a*a*a*a*a*a*a*a*a*a*b{number}\n")).collect();
    lab.write("sub/.gitignore", hostile);
    for number in 0..300 {
        lab.write(&format!("sub/{}{number}", "a".repeat(200)), "");
    }
    let error = bounded(move || lab.try_capture(None)).unwrap_err();
    assert_eq!(error.code(), Code::TooLarge);
    assert!(error.message().contains("sub/.gitignore") && error.message().contains("takes too long"), "{error}");
}

#[test]
fn rules_that_are_too_much_are_reported_and_not_believed() {
    let lab = Lab::new();
    lab.git(&["init", "-q"]);
    lab.write(".gitignore", format!("{}\nignored\n", "x".repeat(10 << 20)));
    lab.write("a/.gitignore", format!("{}\nignored\n# {}\n", "x".repeat(5000), "y".repeat(5000)));
    fs::write(lab.root().join(".git/info/exclude"), "excluded\n".repeat(1 << 18)).unwrap();
    for name in ["ignored", "a/ignored", "excluded", "b"] {
        lab.write(name, "1");
    }
    let coverage = bounded(move || lab.capture()).coverage;
    // Of `a` only the line that is too long is left out.
    assert_eq!((coverage.files, coverage.ignored), (5, 1));
    let said = coverage.unread_rules.join("\n");
    assert_eq!(coverage.unread_rules.len(), 3, "{said}");
    assert!(said.contains("info/exclude` was not read: larger than 1048576 bytes"), "{said}");
    assert!(said.contains("a/.gitignore` was not read wholly: 1 lines are longer than 4096 bytes"), "{said}");
}

#[test]
fn more_patterns_than_memory_is_spent_on_are_refused() {
    let lab = Lab::new();
    for number in 0..4 {
        lab.write(&format!("{number}/.gitignore"), "a\n".repeat(300_000));
    }
    let error = bounded(move || lab.try_capture(None)).unwrap_err();
    assert_eq!(error.code(), Code::TooLarge);
    assert!(error.message().contains("more than 1000000 ignore patterns"), "{error}");
}

/// A small generator of nonsense that is the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn pattern(&mut self) -> String {
        const PARTS: [&str; 20] = [
            "a",
            "a",
            "b",
            "b",
            "*",
            "*",
            "**",
            "?",
            "[ab]",
            "[!a]",
            "[a-b]",
            "[[:alpha:]]",
            "/",
            "/",
            "/**/",
            "**/",
            "/**",
            "\\a",
            "ab",
            "[]-a]",
        ];
        let length = 1 + self.roll(7);
        let body: String = (0..length).map(|_| PARTS[self.roll(PARTS.len())]).collect();
        let (before, after) = (["", "", "", "!", "/"][self.roll(5)], ["", "", "", "/"][self.roll(4)]);
        format!("{before}{body}{after}")
    }
}

/// Git up to 2.51 takes `a**/` for `a` and `**/`, against its own manual, when no star stands before it.
fn is_misread_by_git(pattern: &str) -> bool {
    let wild_at = pattern.find(['*', '?', '[', '\\']).unwrap_or(pattern.len());
    let (literal, rest) = pattern.split_at(wild_at);
    let after = rest.trim_start_matches('*');
    let stars = rest.len() - after.len();
    stars > 1 && !literal.is_empty() && !literal.ends_with(['/', '!']) && (after.is_empty() || after.starts_with('/'))
}

#[test]
fn patterns_mean_what_git_says_they_mean() {
    let lab = Lab::new();
    lab.git(&["init", "-q"]);
    let mut dice = Dice(7);
    let mut paths: Vec<String> = Vec::new();
    for _ in 0..120 {
        let depth = 1 + dice.roll(4);
        let names = (0..depth).map(|_| ["a", "b", "ab", "ba", "aab", "a-", "]"][dice.roll(7)]);
        paths.push(names.collect::<Vec<_>>().join("/"));
    }
    // A file cannot stand where a directory does.
    let all = paths.clone();
    paths.retain(|path| !all.iter().any(|other| other.starts_with(&format!("{path}/"))));
    paths.sort();
    paths.dedup();
    paths.iter().for_each(|path| lab.write(path, ""));
    let arguments: Vec<&str> =
        ["check-ignore", "--no-index", "--"].into_iter().chain(paths.iter().map(String::as_str)).collect();
    let mut ignored_at_all = 0;
    for round in 0..250 {
        let lines: Vec<String> =
            (0..1 + dice.roll(3)).map(|_| dice.pattern()).filter(|line| !is_misread_by_git(line)).collect();
        lab.write(".gitignore", lines.join("\n"));
        let git = lab.git(&arguments);
        let ours = Patterns::new(&lines);
        for path in &paths {
            let is_ignored = ours.matches(&RelPath::new(path.as_str()).unwrap(), false);
            let by_git = git.lines().any(|line| line == path || line == format!("\"{path}\""));
            assert_eq!(is_ignored, by_git, "round {round}: {lines:?} and `{path}`");
            ignored_at_all += usize::from(by_git);
        }
    }
    assert!(ignored_at_all > 1000, "the patterns are too tame: {ignored_at_all}");
}
