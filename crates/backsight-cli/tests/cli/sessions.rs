//! `session start`, `list`, `show`, `track`, `diff`, `revert`, `unrevert`, as a person and as a program see them.

use insta::assert_snapshot;
use serde_json::json;

use crate::fixture::{Fixture, numbered};

/// Session s1 with three messages, the second of which changed nothing; a user's file beside it.
fn conversation() -> Fixture {
    let fixture = Fixture::in_memory();
    fixture.write("a.txt", &numbered(&[]));
    fixture.write("notes.txt", "by hand\n");
    fixture.done("session start s1 --title 'Fix the parser'");
    turn(&fixture, "m1", &[("a.txt", &numbered(&[(2, "agent")])), ("b.txt", "b\n")]);
    turn(&fixture, "m2", &[]);
    turn(&fixture, "m3", &[("a.txt", &numbered(&[(2, "agent"), (9, "agent")]))]);
    fixture
}

fn turn(fixture: &Fixture, message: &str, writes: &[(&str, &str)]) {
    fixture.done(&format!("session track s1 --message {message} --before"));
    for (path, text) in writes {
        fixture.write(path, text);
    }
    fixture.done(&format!("session track s1 --message {message} --after -m 'work of {message}'"));
}

#[test]
fn a_session_is_started_once() {
    let fixture = Fixture::in_memory();
    fixture.write("a.txt", "a\n");
    assert_snapshot!(fixture.run("session start s1 --title 'Fix the parser'"), @r"
    s1
    ---- stderr
    note: it begins with #1
    hint: before a message: `backsight session track s1 --message ID --before`
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("session start s1"), @r"
    s1
    ---- stderr
    note: the session was there already, with 0 messages, 0 steps
    ---- exit 0
    ");
    assert!(fixture.ok("session start")["id"].as_str().unwrap().starts_with("ses_"));
    fixture.write("a.txt", "by hand\n");
    assert_snapshot!(fixture.run("session start s2"), @r"
    s2
    ---- stderr
    note: it begins with #2
    note: 1 path was changed by somebody else, and recorded in it by external:
      M a.txt
    hint: before a message: `backsight session track s2 --message ID --before`
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("session start 'two\nlines'"), @r#"
    ---- stderr
    error: the session id `"two\nlines"` holds control characters
    hint: use a short name such as `s1` or `msg_123`
    ---- exit 2
    "#);
}

#[test]
fn a_message_is_tracked_before_and_after() {
    let fixture = Fixture::in_memory();
    fixture.write("a.txt", "a\n");
    fixture.done("session start s1");
    fixture.write("notes.txt", "by hand\n");
    assert_snapshot!(fixture.run("session track s1 --message m1 --before"), @r"
    m1 begins (files [SHORT])
    ---- stderr
    note: 1 path was changed by somebody else, recorded as #2 by external:
      A notes.txt
    ---- exit 0
    ");
    fixture.write("a.txt", "agent\n");
    assert_snapshot!(fixture.run("session track s1 --message m1 --after -m 'edit a' --tool edit"), @r"
    #3 [SHORT] m1: edit a (1 path changed)
      M a.txt
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("session track s1 --message m1 --after"), @r"
    #3 [SHORT] m1: edit a (1 path changed)
      M a.txt
    ---- stderr
    warning: it ended already as #3: what changed since is not recorded as its work; begin again with `before`
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("session track s1 --message m2"), @r"
    m2 changed nothing
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("session track s1 --message m3 --after"), @r"
    ---- stderr
    error: message `m3` of session `s1` has no `before`, so nobody can tell what is its work; nothing was recorded
    hint: say `before` first, or if everything that changed is its work, record it with `backsight session track s1 --message m3`
    ---- exit 4
    ");
    assert_snapshot!(fixture.run("session track s9 --message m1 --before"), @r"
    ---- stderr
    error: no session answers to `s9`: the sessions are s1
    hint: list them with `backsight session list`, or start one with `backsight session start ID`
    ---- exit 4
    ");
    assert_eq!(fixture.ask("session track s1 --before").status, 2);
    assert_eq!(fixture.ask("session track s1 --message m1 --before --after").status, 2);
    let before = fixture.ok("session track s1 --message m4 --part p1 --before");
    fixture.write("b.txt", "b\n");
    let after = fixture.ok("session track s1 --message m4 --part p1 --after");
    assert_eq!((&after["before_hash"], &after["changed"]), (&before["before_hash"], &json!(true)));
    assert_eq!(after["after_hash"], after["step"]["tree"]);
}

#[test]
fn sessions_are_listed_and_shown() {
    let fixture = conversation();
    assert_snapshot!(Fixture::new().run("session list"), @r"
    ---- stderr
    note: no session yet
    hint: start one with `backsight session start`
    ---- exit 0
    ");
    fixture.write("c.txt", "c\n");
    fixture.done("track --session hook --message h1");
    assert_snapshot!(fixture.run("session list"), @r"
    hook  just now  1 message, 1 step
    s1    just now  3 messages, 2 steps  Fix the parser
    ---- exit 0
    ");
    assert_eq!(fixture.ok("session list -n 1")["has_more"], true);
    assert_snapshot!(fixture.run("session show s1"), @r"
    s1
    title     Fix the parser
    started   [DATE] [TIME] +00:00 (just now)
    baseline  #1 [SHORT]
    did       3 messages, 2 steps
    in effect 2 files, +3 -2

    m1
      #2 work of m1 (just now, +2 -1) a.txt and b.txt
    m2 changed nothing
    m3
      #3 work of m3 (just now, +1 -1) a.txt
    ---- stderr
    hint: go back to before a message: `backsight session revert s1 --message m3`
    ---- exit 0
    ");
    fixture.done("session revert s1 --message m3");
    assert_snapshot!(fixture.run("session show s1"), @r"
    s1
    title     Fix the parser
    started   [DATE] [TIME] +00:00 (just now)
    baseline  #1 [SHORT]
    did       3 messages, 2 steps
    in effect 2 files, +2 -1
    reverted  to before m3 by #5

    m1
      #2 work of m1 (just now, +2 -1) a.txt and b.txt
    m2 changed nothing
    m3 [reverted]
      #3 work of m3 (just now, +1 -1) a.txt [taken back]
    ---- stderr
    hint: take the revert back with `backsight session unrevert s1`
    ---- exit 0
    ");
    fixture.done("session track s1 --message m4 --before");
    fixture.write("d.txt", "d\n");
    assert_snapshot!(fixture.run("session track s1 --message m4 --after"), @r"
    #6 [SHORT] m4: changed d.txt (1 path changed)
      A d.txt
    ---- stderr
    warning: this step closes the way back from the session's revert #5: it can no longer be unreverted
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("session show s1"), @r"
    s1
    title     Fix the parser
    started   [DATE] [TIME] +00:00 (just now)
    baseline  #1 [SHORT]
    did       4 messages, 3 steps
    in effect 3 files, +3 -1
    unrevert  no: a new turn of it at #6 closed the way back from its revert #5

    m1
      #2 work of m1 (just now, +2 -1) a.txt and b.txt
    m2 changed nothing
    m3
      #3 work of m3 (just now, +1 -1) a.txt [taken back]
    m4
      #6 changed d.txt (just now, +1 -0)
    ---- stderr
    hint: go back to before a message: `backsight session revert s1 --message m4`
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("session show s9"), @r"
    ---- stderr
    error: no session answers to `s9`: the sessions are hook, s1
    hint: list them with `backsight session list`, or start one with `backsight session start ID`
    ---- exit 4
    ");
}

#[test]
fn the_diff_is_the_sessions_own() {
    let fixture = conversation();
    fixture.write("a.txt", &numbered(&[(2, "agent"), (5, "by hand"), (9, "agent")]));
    fixture.done("track");
    assert_snapshot!(fixture.run("session diff s1 --stat"), @r"
    M a.txt  +2 -2
    A b.txt  +1 -0
    2 paths: 3 lines added, 2 lines removed
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("session diff s1 --message m3"), @r"
    diff --git a/a.txt b/a.txt
    index [SHORT]..[SHORT] 100644
    --- a/a.txt
    +++ b/a.txt
    @@ -6,5 +6,5 @@ line 5
     line 6
     line 7
     line 8
    -line 9
    +agent
     line 10
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("session diff s1 --message m2"), @r"
    ---- stderr
    note: no differences
    ---- exit 0
    ");
    assert_eq!(fixture.ask("session diff s1 --exit-code").status, 1);
    assert_eq!(fixture.ok("session diff s1 -- b.txt")["diffs"][0]["after"], "b\n");
    assert_eq!(fixture.ok("session diff s1 --stat")["diffs"][0]["additions"], 2);
    fixture.ask("session diff s1 --message m9").fails("MESSAGE_NOT_FOUND", 4);
}

#[test]
fn a_session_goes_back_and_forth() {
    let fixture = conversation();
    fixture.write("a.txt", &numbered(&[(2, "agent"), (5, "by hand"), (9, "agent")]));
    assert_snapshot!(fixture.run("session revert s1 --message m1 --dry-run"), @r"
    Would take session s1 back to before m1: 1 path removed, 1 path merged
      D b.txt
      M a.txt - merged, later edits kept
    ---- stderr
    note: this was a dry run, nothing changed
    hint: do exactly this with `--plan plan-3-[PLAN]` instead of `--dry-run`
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("session revert s1 --message m3"), @r"
    Took session s1 back to before m3: 1 path merged
      M a.txt - merged, later edits kept
    Recorded as #5; what was displaced is in #4
    ---- stderr
    hint: take it back with `backsight session unrevert s1`
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("session revert s1 --message m1"), @r"
    Took session s1 back to before m1: 1 path removed, 1 path merged
      D b.txt
      M a.txt - merged, later edits kept
    Recorded as #6; what was displaced is in #5
    ---- stderr
    hint: take it back with `backsight session unrevert s1`
    ---- exit 0
    ");
    assert_eq!(fixture.read("a.txt"), numbered(&[(5, "by hand")]));
    assert_snapshot!(fixture.run("session revert s1 --message m1"), @r"
    Session s1 is as before m1: there is nothing to take back
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("session unrevert s1"), @r"
    Took back the revert of session s1 (#6 and #5): 2 paths put back
      M a.txt
      A b.txt
    Recorded as #7; what was displaced is in #6
    ---- stderr
    hint: take it back with `backsight undo`
    ---- exit 0
    ");
    assert_eq!(fixture.read("a.txt"), numbered(&[(2, "agent"), (5, "by hand"), (9, "agent")]));
    assert_snapshot!(fixture.run("session unrevert s1"), @r"
    ---- stderr
    error: session `s1` cannot be unreverted: its revert #6 was taken back already, by #7
    hint: see what it did with `backsight log --session s1`
    ---- exit 3
    ");
    let reverted = fixture.ok("session revert s1 --message m3");
    assert_eq!(reverted["revert"]["messageID"], "m3");
    assert!(reverted["revert"]["diff"].as_str().unwrap().contains("-agent"), "{reverted}");
    assert_eq!(reverted["revert"]["snapshot"], fixture.ok(&format!("show {}", reverted["applied"]["safety"]))["tree"]);
    fixture.verify();
}

#[test]
fn a_refusal_names_the_reason() {
    let fixture = conversation();
    fixture.ask("session unrevert s1").fails("NOTHING_TO_UNREVERT", 3);
    assert_snapshot!(fixture.run("session unrevert s1"), @r"
    ---- stderr
    error: session `s1` cannot be unreverted: it was never reverted
    hint: revert it with `backsight session revert s1 --message ID`
    ---- exit 3
    ");
    assert_snapshot!(fixture.run("session revert s1 --message m9"), @r"
    ---- stderr
    error: session `s1` has no message `m9`; its latest are m1, m2, m3
    hint: see its messages with `backsight session show s1`
    ---- exit 4
    ");
    assert_snapshot!(fixture.run("session revert s1 --message m1 --part p1"), @r"
    ---- stderr
    error: message `m1` of session `s1` has no parts, so no `p1`
    hint: see its messages with `backsight session show s1`
    ---- exit 4
    ");
    fixture.write("a.txt", &numbered(&[(2, "by hand"), (9, "agent")]));
    assert_snapshot!(fixture.run("session revert s1 --message m1"), @r"
    ---- stderr
    error: 1 path was changed since in a way that conflicts; nothing was changed
      a.txt: 1 later edit overlaps the step
        now   backsight cat now a.txt
        back  backsight cat --blob [OBJECT]
    hint: leave these out with `--on-conflict skip`, or merge and mark what overlaps with `--on-conflict merge`
    ---- exit 3
    ");
    fixture.write("a.txt", &numbered(&[(2, "agent"), (9, "agent")]));
    fixture.done("session revert s1 --message m3");
    turn(&fixture, "m4", &[("b.txt", "new\n")]);
    assert_snapshot!(fixture.run("session unrevert s1"), @r"
    ---- stderr
    error: session `s1` cannot be unreverted: a new turn of it at #5 closed the way back from its revert #4
    hint: what the revert displaced is kept: bring it back with `backsight revert 4`
    ---- exit 3
    ");
    // What the hint says works.
    let revert = fixture.ask("session unrevert s1").json["error"]["details"]["revert"].clone();
    fixture.done(&format!("revert {revert}"));
    assert_eq!(fixture.read("a.txt"), numbered(&[(2, "agent"), (9, "agent")]));
    fixture.ask("session unrevert nobody").fails("SESSION_NOT_FOUND", 4);
}
