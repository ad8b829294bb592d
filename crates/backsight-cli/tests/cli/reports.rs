//! `backsight report`: what happened as one text or one page, and nothing in it that others wrote is markup.

use crate::fixture::Fixture;

const EVIL: &str = "<img src=x onerror=alert(1)>";

fn told() -> Fixture {
    let fixture = Fixture::new();
    fixture.write("a.txt", "one\ntwo\n");
    fixture.ok("track -m first");
    fixture.write("a.txt", "one\nthree\n");
    fixture.ok("track -m 'count on' --tool edit --session s1");
    fixture.write("b.txt", &format!("```\n{EVIL}\n"));
    fixture.ok(&format!("track -m '{EVIL} | x' --tool edit --session s2"));
    fixture.ok("checkpoint create session_start");
    fixture
}

#[test]
fn a_report_tells_steps_files_and_how_the_app_was() {
    let fixture = told();
    let text = fixture.run("report --since 1");
    for part in
        ["2 steps, 2 sessions, 2 files, +3 -1 lines", "count on | edit, s1", "session_start → unknown", "-two\n+three"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("| first |") && !text.contains(&format!("| {EVIL}")), "{text}");
    // The fence around a text with a fence in it is longer.
    assert!(text.contains("````diff"), "{text}");
}

#[test]
fn a_session_is_told_by_itself() {
    let value = told().ok("report --session s1");
    assert_eq!((value["rows"].as_array().unwrap().len(), value["hunks"]["files"].as_array().unwrap().len()), (1, 1));
    assert_eq!(value["hunks"]["files"][0]["file"], "a.txt");
}

#[test]
fn a_page_needs_nothing_else_and_runs_nothing() {
    let fixture = told();
    fixture.ok("report --html ../out.html");
    let page = std::fs::read_to_string(fixture.base().join("out.html")).unwrap();
    assert!(page.contains("&lt;img src=x onerror=alert(1)&gt;") && !page.contains(EVIL), "{page}");
    assert!(!page.contains("<script") && !page.contains("http://") && !page.contains("<img"), "{page}");
    assert!(page.contains("three"), "{page}");
}

#[test]
fn a_page_shows_lines_as_the_dashboard_does() {
    let fixture = told();
    fixture.write("c.js", "export const tax = 1.19;\n");
    fixture.ok("track -m 'a tax'");
    fixture.write("c.js", "export const tax = 1.2;\n");
    fixture.ok("report --since 4 --html ../lines.html");
    let page = std::fs::read_to_string(fixture.base().join("lines.html")).unwrap();
    for part in [
        "<span class=\"part-keyword\">export</span>",
        "<span class=\"gutter\">1</span><span class=\"gutter\"></span><span class=\"side\">-</span>",
        "<span class=\"gutter\"></span><span class=\"gutter\">1</span><span class=\"side\">+</span>",
        "word\">",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    fixture.ok("report --html ../all.html");
    let page = std::fs::read_to_string(fixture.base().join("all.html")).unwrap();
    assert!(page.contains("<code>c.js</code> <span class=\"tag\">new</span>"), "{page}");
}

#[test]
fn what_cannot_be_told_says_why() {
    let fixture = Fixture::new();
    let (value, status) = fixture.json("report");
    assert_eq!((value["error"]["code"].as_str(), status), (Some("REF_NOT_FOUND"), 4));
    assert_eq!(told().json("report --since 99").0["error"]["code"], "REF_NOT_FOUND");
    assert_eq!(told().json("report --session nobody").0["error"]["code"], "SESSION_NOT_FOUND");
}

#[test]
fn a_page_is_a_new_file_and_nothing_is_followed_or_waited_for() {
    let fixture = Fixture::with_history();
    fixture.write("../home/.bashrc", "mine\n");
    std::os::unix::fs::symlink(fixture.base().join("home/.bashrc"), fixture.root().join("link.html")).unwrap();
    std::os::unix::fs::symlink(fixture.base().join("none"), fixture.root().join("dangling.html")).unwrap();
    fixture.write("notes", "not recorded\n");
    assert!(std::process::Command::new("mkfifo").arg(fixture.root().join("pipe.html")).status().unwrap().success());
    for name in ["link.html", "dangling.html", "notes", "pipe.html"] {
        fixture.ask(&format!("report --html {name}")).fails("CONFLICT", 3);
    }
    assert_eq!(
        (fixture.read("../home/.bashrc").as_str(), fixture.read("notes").as_str()),
        ("mine\n", "not recorded\n")
    );
    assert!(!fixture.base().join("none").exists());
    fixture.ok("report --html new.html");
    fixture.ask("report --html new.html").fails("CONFLICT", 3);
    assert!(fixture.read("new.html").starts_with("<!doctype html>"));
}
