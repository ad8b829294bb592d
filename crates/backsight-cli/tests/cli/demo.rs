//! `backsight demo` does what it promises and leaves nothing behind.

use insta::assert_snapshot;

use crate::fixture::Fixture;

/// What the demo prints, with tokens for what differs from run to run.
fn story(fixture: &Fixture) -> String {
    let temp = fixture.root().join("tmp");
    std::fs::create_dir(&temp).unwrap();
    let mut command = fixture.command("demo");
    command.env("TMPDIR", &temp).env("LC_ALL", "C.UTF-8");
    without_name(&fixture.transcript(command))
}

fn without_name(seen: &str) -> String {
    let name = seen.find("backsight-demo-").map(|start| seen[start..].split(['/', '\n']).next().unwrap().to_owned());
    seen.replace(&name.unwrap(), "[DEMO]")
}

#[test]
fn the_picture_in_the_readme_is_what_the_demo_shows() {
    let fixture = Fixture::new();
    let story = story(&fixture);
    let shown = story.split("\n---- ").next().unwrap().replace("[TMP]/ws/tmp/", "/tmp/");
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md")).unwrap();
    let picture = readme.split("```console\n").nth(1).unwrap().split("\n```").next().unwrap();
    assert_eq!(without_name(&fixture.normalise(picture)), shown, "paste what `make run` shows into README.md");
}

#[test]
fn the_demo_tells_its_story() {
    let fixture = Fixture::new();
    assert_snapshot!(story(&fixture), @r#"
    # A small project. Backsight records it as it is.
    $ backsight init
    Set up workspace [TMP]/ws/tmp/[DEMO]
    The store is [TMP]/ws/tmp/[DEMO]/.backsight/store
    hint: record the first snapshot with `backsight track -m "start"`

    $ backsight track -m 'the project as I found it'
    #1 [SHORT] the project as I found it (first snapshot, 2 files)

    # An agent changes two files, and its tool records the step.
    $ backsight track -m 'round prices' --tool edit --session demo
    #2 [SHORT] round prices (2 paths changed)
      M settings.toml
      M shop.py

    # Meanwhile you edit another place of shop.py, and add a file.
    $ backsight status
    Workspace [TMP]/ws/tmp/[DEMO]
    Latest #2 [SHORT] round prices (edit, session demo, just now)
    2 snapshots, 3 files

    2 paths changed since #2, nobody said by whom:
      A notes.txt
      M shop.py
    note: `backsight track` records them as your step; a tool call that begins now goes on and lists them as not its own (strategy warn)
    hint: see the changes with `backsight diff @`, record them with `backsight track`

    $ backsight diff @
    diff --git a/notes.txt b/notes.txt
    new file mode 100644
    index [SHORT]..[SHORT]
    --- /dev/null
    +++ b/notes.txt
    @@ -0,0 +1 @@
    +ask about the tax rate
    diff --git a/shop.py b/shop.py
    index [SHORT]..[SHORT] 100644
    --- a/shop.py
    +++ b/shop.py
    @@ -7,4 +7,4 @@ def label(amount):


     def main():
    -    print(label(price(100)))
    +    print("Total:", label(price(100)))

    # The agent was wrong: TAX does not exist. Its step goes; your edits stay.
    $ backsight revert 2
    Reverted #2: 1 path put back, 1 path merged
      M settings.toml
      M shop.py - merged, later edits kept
    Recorded as #4; what was displaced is in #3
    hint: take it back with `backsight undo`

    $ cat shop.py
    def price(amount):
        return amount * 1.19


    def label(amount):
        return f"{amount} EUR"


    def main():
        print("Total:", label(price(100)))

    # Changed your mind? Undo and redo go back and forth, and your edits still stay.
    $ backsight undo
    Undid #4: 2 paths put back
      M settings.toml
      M shop.py
    Recorded as #5; what was displaced is in #4
    hint: take it back with `backsight redo`

    $ backsight redo
    Redid #5: 2 paths put back
      M settings.toml
      M shop.py
    Recorded as #6; what was displaced is in #5
    hint: take it back with `backsight undo`

    # Nothing was forgotten, and every stored byte is checked.
    $ backsight log
    ↺    #6  [SHORT]  just now  +1 -2  2 files  redo #5
    ↺    #5  [SHORT]  just now  +2 -1  2 files  undo #4
    ↺    #4  [SHORT]  just now  +1 -2  2 files  revert #2
    ·    #3  [SHORT]  just now  +2 -1  2 files  [safety] before revert #2 (external)
    │ ●  #2  [SHORT]  just now  +2 -1  2 files  round prices (edit, session demo)
    ●    #1  [SHORT]  just now         2 files  the project as I found it

    $ backsight verify
    Whole: 11 objects and 6 rows read and checked, 6 snapshots complete
    Chain head [CHAIN]

    Every step did what it promised.
    ---- stderr
    hint: begin in your own project with `backsight track -m "start"`
    hint: hear your app too: `backsight serve`, `backsight run npm run dev`, then `backsight changes`
    ---- exit 0
    "#);
    assert_eq!(std::fs::read_dir(fixture.root().join("tmp")).unwrap().count(), 0, "the demo leaves nothing behind");
}

#[test]
fn the_demo_as_json_is_one_object() {
    let (json, status) = Fixture::new().json("demo");
    assert_eq!(status, 0);
    let commands: Vec<_> =
        json["steps"].as_array().unwrap().iter().filter_map(|step| step["command"].as_str()).collect();
    assert!(commands.contains(&"backsight revert 2"), "{commands:?}");
}
