//! What a debugged program leaves in the timeline and in the workspace, and debuggers that the settings describe.

use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use backsight::debug::debugger::Moved;
use backsight::debug::session::{Control, Launch, Outcome};
use backsight::debug::walk::CapturePlan;
use backsight::report::{Event, Kind, Row};
use backsight::request::Log;
use backsight::user_settings::{Addresses, Programs};
use backsight::{Code, Disk, Error, Settings, Workspace};

use crate::lab::settings;
use crate::scene::{Scene, path};

pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// The section that makes `adapter.py` a debugger of `.toy` files.
pub(crate) fn section() -> String {
    let adapter = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/workspace/adapter.py");
    format!(
        "[adapters.toy]\nextensions = ['toy']\nprograms = ['python3']\narguments = ['{}']\nruns_code = false\n\
         install = 'nothing to install'\nlaunch = {{ program = '{{program}}', kind = 'plain' }}\n",
        adapter.display()
    )
}

/// A workspace of a user whose own settings say this, beside what every workspace knows.
pub(crate) fn workspace(scene: &Scene, section: &str) -> Workspace {
    scene.write("shop.toy", "nothing\n");
    scene.workspace.track().unwrap();
    let config_home = config_home(scene);
    let file = config_home.join("backsight/config.toml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, section).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    opened(scene)
}

fn config_home(scene: &Scene) -> PathBuf {
    scene.root.with_extension("config")
}

pub(crate) fn opened(scene: &Scene) -> Workspace {
    let search_path = std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).collect();
    let settings = Settings { search_path, config_home: Some(config_home(scene)), ..settings(Disk::new()) };
    Workspace::open_with(&scene.root, settings).unwrap()
}

fn launch(workspace: &Workspace) -> Result<Moved, Error> {
    workspace.debug_launch(None, Launch { program: "shop.toy".into(), wait: LIMIT, ..Launch::default() })
}

/// A workspace in which the program is paused.
fn paused(scene: &Scene) -> Workspace {
    let workspace = workspace(scene, &section());
    let moved = launch(&workspace).unwrap_or_else(|error| panic!("{error}"));
    assert!(matches!(moved.outcome, Outcome::Stopped(_)), "{moved:?}");
    workspace
}

fn snapshot(workspace: &Workspace, label: Option<&str>) -> String {
    let taken = workspace.debugger().unwrap().create_snapshot(None, label, CapturePlan::default()).unwrap();
    taken.snapshot.id
}

/// The rows of a kind, oldest first.
fn rows(workspace: &Workspace, kind: Kind) -> Vec<Event> {
    let all = workspace.log(&Log { kind: Some(kind), limit: 0, ..Log::default() }).unwrap().rows;
    let events = all.into_iter().map(|row| match row {
        Row::Event(event) => *event,
        other => panic!("{other:?}"),
    });
    let mut events: Vec<Event> = events.collect();
    events.sort_by_key(|event| event.sequence_number);
    events
}

#[test]
fn a_debugged_program_leaves_its_rows() {
    let scene = Scene::of(&["a"]);
    let workspace = paused(&scene);
    snapshot(&workspace, Some("before"));
    snapshot(&workspace, None);
    let moved = workspace.debug_control(None, Control::Continue, None, LIMIT).unwrap();
    assert_eq!(moved.outcome, Outcome::Exited { code: Some(0) });
    assert_eq!(workspace.note_lanes().unwrap(), 4);
    assert_eq!(workspace.note_lanes().unwrap(), 0, "each is told once");
    let [stop] = &rows(&workspace, Kind::DebuggerStop)[..] else { panic!("one stop") };
    assert!(stop.description.contains("entry in work (toy.txt:1)"), "{stop:?}");
    let captures = rows(&workspace, Kind::Capture);
    assert_eq!(captures.len(), 2);
    assert!(captures[0].description.contains("captured `before` in work"), "{captures:?}");
    let [end] = &rows(&workspace, Kind::DebugEnd)[..] else { panic!("one end") };
    assert!(end.description.contains("exit code 0; 2 snapshots were cleared"), "{end:?}");
    assert!(stop.sequence_number < captures[0].sequence_number && captures[1].sequence_number < end.sequence_number);
    // They are no news of files.
    assert!(workspace.validate_workspace_sync().unwrap().in_sync);
    let all = format!("{stop:?}{captures:?}{end:?}");
    assert!(!all.contains("hunter2"), "{all}");
}

#[test]
fn a_storm_of_captures_is_bounded_and_the_end_is_told() {
    let scene = Scene::of(&["a"]);
    let workspace = paused(&scene);
    for _ in 0..300 {
        snapshot(&workspace, None);
    }
    workspace.debugger().unwrap().disconnect(None, None).unwrap();
    workspace.note_lanes().unwrap();
    let captures = rows(&workspace, Kind::Capture).len();
    assert!((1..50).contains(&captures), "{captures}");
    let [end] = &rows(&workspace, Kind::DebugEnd)[..] else { panic!("one end") };
    assert!(end.description.contains("it was disconnected; 300 snapshots were cleared"), "{end:?}");
    assert_eq!(end.details["not_recorded_before"], serde_json::json!(300 - captures), "{end:?}");
}

#[test]
fn a_snapshot_is_exported_once_inside_the_workspace_and_without_secrets() {
    let scene = Scene::of(&["a"]);
    let workspace = paused(&scene);
    let id = snapshot(&workspace, Some("before"));
    scene.write("notes/one", "");
    let exported = workspace.export_snapshot(None, "before", &path("notes/before.json")).unwrap();
    assert_eq!((exported.snapshot_id.as_str(), exported.file.as_str()), (id.as_str(), "notes/before.json"));
    let text = std::fs::read_to_string(scene.root.join("notes/before.json")).unwrap();
    assert_eq!((text.len() as u64, text.contains("hunter2")), (exported.bytes, false), "{text}");
    let kept: backsight::debug::capture::Capture = serde_json::from_str(&text).unwrap();
    assert_eq!((kept.id, kept.frames[0].variables[0].value.text.as_str()), (id, "42"));

    let refused = |file: &str| workspace.export_snapshot(None, "before", &path(file)).unwrap_err();
    assert_eq!(refused("notes/before.json").code(), Code::Conflict, "nothing is overwritten");
    assert_eq!(refused("a").code(), Code::Conflict);
    assert_eq!(scene.text("a"), "0");
    assert_eq!(refused("no/such/place.json").code(), Code::InvalidPath);
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), scene.root.join("out")).unwrap();
    symlink(outside.path().join("x.json"), scene.root.join("dangling.json")).unwrap();
    assert_eq!(refused("out/x.json").code(), Code::InvalidPath, "a link leads out");
    assert_eq!(refused("dangling.json").code(), Code::Conflict, "so does this one");
    let own = ".backsight/store/x.json".parse::<backsight::RelPath>().unwrap_err();
    assert_eq!(own.code(), Code::InvalidPath, "the store is not for files of others");
    assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
    let missing = workspace.export_snapshot(None, "after", &path("after.json")).unwrap_err();
    assert_eq!(missing.code(), Code::SnapshotNotFound);
    assert!(!scene.root.join("after.json").exists());

    // It outlives its session.
    workspace.debugger().unwrap().disconnect(None, None).unwrap();
    assert_eq!(workspace.export_snapshot(None, &kept.label, &path("late.json")).unwrap_err().code(), Code::NoSession);
    assert!(scene.root.join("notes/before.json").exists());
}

#[test]
fn a_section_of_the_settings_is_a_debugger() {
    let scene = Scene::of(&["a"]);
    let workspace = paused(&scene);
    let output = workspace.debugger().unwrap().output(None, 0, 10_000).unwrap();
    let said: String = output.pieces.into_iter().map(|piece| piece.text).collect();
    assert!(said.contains("\"kind\": \"plain\"") && said.contains("shop.toy"), "{said}");
    let [session] = &workspace.debugger().unwrap().list().sessions[..] else { panic!("one") };
    assert_eq!(session.adapter, "toy");
}

#[test]
fn a_broken_section_says_what_is_wrong_with_it() {
    let broken = [
        ("[adapters.toy]\nprogramms = ['x']\n", "programms"),
        ("[adapters.toy]\nreach = 'carrier pigeon'\n", "expected one of `stdio`"),
        ("[adapters.toy]\nwindow = 'wide'\n", "expected"),
        ("adapters = 3\n", "expected"),
        ("[adapter.toy]\nprograms = ['x']\n", "adapter"),
        ("[agents]\nprogram = 'any'\n", "`program`"),
        ("[agents]\nprograms = 'all'\n", "expected `workspace` or `any`"),
        ("[agents]\nruntime = 'yes'\n", "expected a boolean"),
        ("aws_secret_access_key = wJalrXUtnFEMI\n", "line 1"),
    ];
    for (section, wrong) in broken {
        let scene = Scene::of(&["a"]);
        let error = launch(&workspace(&scene, section)).unwrap_err();
        assert_eq!(error.code(), Code::InvalidConfig, "{section}: {error}");
        assert!(error.message().contains("config.toml") && error.message().contains(wrong), "{section}: {error}");
        assert!(error.hint().is_some(), "{section}: {error}");
        for held in ["carrier", "wide", "'all'", "yes", "wJalr"] {
            assert!(!error.message().contains(held), "what the file holds is not told: {error}");
        }
    }
}

#[test]
fn debuggers_and_what_agents_may_are_never_taken_from_the_workspace() {
    for held in [section(), "[agents]\nprograms = 'any'\n".to_owned(), "adapters = 3\n".to_owned()] {
        let scene = Scene::of(&["a"]);
        std::fs::write(scene.root.join(".backsight/store/config.toml"), &held).unwrap();
        scene.write("shop.toy", "nothing\n");
        let workspace = opened(&scene);
        assert_eq!(launch(&workspace).unwrap_err().code(), Code::AdapterNotFound, "nothing of it is used");
        let error = workspace.config_list().unwrap_err();
        assert_eq!(error.code(), Code::InvalidConfig, "{held}");
        assert!(error.hint().is_some_and(|hint| hint.contains("~/.config/backsight/config.toml")), "{error}");
    }
}

#[test]
fn settings_that_others_could_have_written_are_not_used() {
    let scene = Scene::of(&["a"]);
    let workspace = workspace(&scene, &section());
    assert_eq!(workspace.user_settings().unwrap().adapters.len(), 1);
    let file = workspace.user_settings_path().unwrap();
    let refused = |why: &str| {
        let error = workspace.user_settings().unwrap_err();
        assert_eq!(error.code(), Code::InvalidConfig, "{why}: {error}");
        assert!(error.message().contains(why) && error.hint().is_some(), "{why}: {error}");
        assert_eq!(launch(&workspace).unwrap_err().code(), Code::InvalidConfig, "{why}");
    };
    let mode = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    for open in [0o620, 0o602, 0o666] {
        mode(&file, open);
        refused("others may write it");
    }
    mode(&file, 0o600);
    mode(file.parent().unwrap(), 0o777);
    refused("others may put another file");
    mode(file.parent().unwrap(), 0o755);
    std::fs::write(&file, "x = 1\n".repeat(20_000)).unwrap();
    refused("larger than");
    // A link is followed to a file of the user's, and to no other.
    let (own, kept) = (scene.root.with_extension("own"), scene.root.with_extension("kept"));
    std::fs::rename(&file, &kept).unwrap();
    std::fs::write(&own, section()).unwrap();
    mode(&own, 0o600);
    symlink(&own, &file).unwrap();
    assert_eq!(workspace.user_settings().unwrap().adapters.len(), 1);
    // Only root can give a file away.
    if chown(&own, Some(65534), None).is_ok() {
        refused("belongs to user 65534");
    }
    for special in ["/dev/zero", "/dev/tty", "/"] {
        std::fs::remove_file(&file).unwrap();
        symlink(special, &file).unwrap();
        let error = workspace.user_settings().unwrap_err();
        assert!(error.hint().is_some() || error.code() == Code::Io, "{special}: {error}");
    }
    std::fs::remove_file(&file).unwrap();
    make_pipe(&file);
    refused("not a regular file");
}

/// A pipe with a name, which a reader could wait at for ever.
fn make_pipe(path: &Path) {
    assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn the_settings_in_the_documents_can_be_used() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/DEBUGGERS.md")).unwrap();
    let examples: Vec<&str> = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let scene = Scene::of(&["a"]);
    let settings = workspace(&scene, &examples.join("\n")).user_settings().unwrap();
    let names: Vec<&str> = settings.adapters.iter().map(|adapter| adapter.name.as_str()).collect();
    assert_eq!(names, ["codelldb", "rdbg"]);
    let agents = settings.agents;
    assert_eq!((agents.programs, agents.addresses), (Programs::Any, Addresses::Any));
    assert!(agents.runtime && agents.options && agents.environment == ["DATABASE_URL"]);
}

#[test]
fn relative_directories_hold_no_settings() {
    let scene = Scene::of(&["a"]);
    for relative in [".", "config", ""] {
        let settings = Settings { config_home: Some(relative.into()), ..settings(Disk::new()) };
        let workspace = Workspace::open_with(&scene.root, settings).unwrap();
        assert_eq!(workspace.user_settings_path(), None, "{relative:?}");
        assert_eq!(workspace.user_settings().unwrap(), Default::default());
    }
    let home = scene.root.with_extension("home");
    let settings = Settings { config_home: Some("config".into()), home: Some(home.clone()), ..settings(Disk::new()) };
    let file = Workspace::open_with(&scene.root, settings).unwrap().user_settings_path().unwrap();
    assert_eq!(file, home.join(".config/backsight/config.toml"));
}

#[test]
fn a_debugger_that_is_not_there_is_named_with_how_to_get_it() {
    let scene = Scene::of(&["a"]);
    let section = section().replace("python3", "no-such-debugger");
    let error = launch(&workspace(&scene, &section)).unwrap_err();
    assert!(error.message().contains("no-such-debugger"), "{error}");
    assert!(error.hint().is_some_and(|hint| hint.contains("nothing to install")), "{error}");
}
