//! `backsight demo` does what it promises and leaves nothing behind.

use insta::assert_snapshot;

use crate::fixture::Fixture;

#[test]
fn the_demo_tells_its_story() {
    let fixture = Fixture::new();
    let temp = fixture.root().join("tmp");
    std::fs::create_dir(&temp).unwrap();
    let mut command = fixture.command("demo");
    command.env("TMPDIR", &temp);
    let seen = fixture.transcript(command);
    let name = seen.find("backsight-demo-").map(|start| seen[start..].split(['/', '\n']).next().unwrap().to_owned());
    assert_snapshot!(seen.replace(&name.unwrap(), "[DEMO]"), @"");
    assert_eq!(std::fs::read_dir(&temp).unwrap().count(), 0, "the demo leaves nothing behind");
}

#[test]
fn the_demo_as_json_is_one_object() {
    let (json, status) = Fixture::new().json("demo");
    assert_eq!(status, 0);
    let commands: Vec<_> =
        json["steps"].as_array().unwrap().iter().filter_map(|step| step["command"].as_str()).collect();
    assert!(commands.contains(&"backsight revert 2"), "{commands:?}");
}
