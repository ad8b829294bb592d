//! `usage`, `gc`, `verify`, `doctor`, `config`, `completions`.

use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use crate::fixture::Fixture;

/// Sizes depend on the file system, and so does whether a store this small shrinks.
fn without_sizes(text: &str) -> String {
    let is_unit = |word: &str| matches!(word.trim_matches([',', ')']), "B" | "KiB" | "MB" | "MiB" | "GiB" | "TiB");
    let line = |line: &str| {
        if line.starts_with("The store ") {
            return "The store ...".to_owned();
        }
        let words: Vec<&str> = line.split(' ').collect();
        let shown = words.iter().enumerate().map(|(index, word)| match words.get(index + 1) {
            Some(next) if is_unit(next) => "[N]",
            _ if is_unit(word) => "[UNIT]",
            _ => word,
        });
        shown.collect::<Vec<_>>().join(" ").replace("[N] [UNIT]", "[SIZE]")
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn usage_says_what_takes_the_room() {
    assert_snapshot!(without_sizes(&Fixture::with_history().run("usage")), @r"
    store     [TMP]/ws/.backsight/store
    total     [SIZE] [SIZE] free on the device
    packs     [SIZE] in 3 packs
    loose     [SIZE] in 0 objects
    timeline  [SIZE]
    cache     [SIZE]
    snapshots 3 kept, 0 expired
    budget    none
    ---- exit 0
    ");
}

#[test]
fn gc_removes_old_contents_and_keeps_the_row() {
    let fixture = Fixture::with_history();
    assert_snapshot!(without_sizes(&fixture.run("gc")), @r"
    Nothing to remove
    The store ...
    ---- exit 0
    ");
    assert_snapshot!(without_sizes(&fixture.run("gc --keep-count 1 --keep-days 0 --dry-run")), @r"
    Would remove the contents of #1 and #2: 2 objects
    The store ...
    ---- stderr
    note: this was a dry run, nothing changed
    ---- exit 0
    ");
    assert_snapshot!(without_sizes(&fixture.run("gc --keep-count 1 --keep-days 0")), @r"
    Removed the contents of #1 and #2: 2 objects
    The store ...
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("log"), @r"
    *    #3  [SHORT]  just now  +1 -0   1 file  add c
    | *  #2  [SHORT]  just now  +1 -1   1 file  agent edits a (edit, session s1, message m1) [expired]
    *    #1  [SHORT]  just now         2 files  start [expired]
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("restore '#1'"), @r"
    ---- stderr
    error: the contents of #1 expired at [INSTANT]: retention removed them
    hint: see what is kept with `backsight log`, or pin what must stay with `backsight pin REF`
    ---- exit 4
    ");
}

#[test]
fn verify_of_a_whole_store() {
    assert_snapshot!(Fixture::with_history().run("verify"), @r"
    Whole: 7 objects and 3 rows read and checked, 3 snapshots complete
    Chain head [CHAIN]
    ---- exit 0
    ");
}

#[test]
fn verify_names_the_damage_and_says_no() {
    let fixture = Fixture::with_history();
    let objects = fixture.root().join(".backsight/store/snapshots/objects");
    for file in files_below(&objects) {
        damage(&file);
    }
    let output = fixture.command("verify").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(stdout.contains("damaged ") && stderr.contains("error: the store is damaged"), "{stdout}{stderr}");
    let (json, status) = fixture.json("verify");
    assert_eq!((status, &json["ok"], &json["clean"]), (1, &false.into(), &false.into()));
    assert_eq!(json["error"]["code"], "DAMAGED");
    assert!(!json["damage"].as_array().unwrap().is_empty());
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// Turns a byte in the middle of a pack or loose object around.
fn damage(file: &Path) {
    let mut bytes = std::fs::read(file).unwrap();
    let middle = bytes.len() / 2;
    if !bytes.is_empty() && file.extension().is_none_or(|extension| extension == "pack") {
        bytes[middle] ^= 0xff;
        let _ = std::fs::set_permissions(file, std::os::unix::fs::PermissionsExt::from_mode(0o600));
        std::fs::write(file, bytes).unwrap();
    }
}

#[test]
fn doctor_checks_and_advises() {
    let fixture = Fixture::with_history();
    assert_snapshot!(without_sizes(&fixture.run("doctor")), @r"
    ok      workspace: `[TMP]/ws`
    ok      space: [SIZE] free
    ok      permissions: only you can read the store
    ok      settings: config.toml is valid
    ok      timeline: 3 snapshots
    ok      room: [SIZE] in 3 packs and 0 single objects
    ok      your settings: none (`[TMP]/config/backsight/config.toml`): agents debug programs of the workspace only
    absent  browser: no Chromium or Chrome was found; only `backsight browser launch` needs one
            install one with `apt-get install --no-install-recommends chromium`, or name the program
    ok      app: no server runs, so nobody watches it
    ok      log: no server runs, and none would write one
            start it with `backsight serve --log FILE`, or set BACKSIGHT_LOG
    absent  agents: none is set up here, so what they do is not recorded
            set one up with `backsight install NAME`: claude-code, cursor, vscode, codex, gemini, opencode and zed
    absent  debugger debugpy: not found; only programs in .py and .pyw need it
            install it with `python3 -m pip install debugpy`
    absent  debugger node: not found; only programs in .js, .mjs, .cjs, .ts, .mts and .cts need it
            install it with `apt-get install nodejs`
    absent  debugger delve: not found; only programs in .go need it
            install it with `apt-get install delve golang-go`
    absent  debugger lldb-dap: not found; only binaries need it
            install it with `apt-get install lldb-22`
    absent  debugger rdbg: not found; only programs in .rb need it
            install it with `apt-get install ruby`
    ---- exit 0
    ");
}

#[test]
fn doctor_says_which_settings_of_the_user_are_in_force() {
    let fixture = Fixture::with_history();
    let file = fixture.base().join("config/backsight/config.toml");
    fixture.user_settings("[adapters.toy]\nextensions = [\"toy\"]\nprograms = [\"toy\"]\n");
    let said = fixture.run("doctor");
    assert!(
        said.contains("your settings: `[TMP]/config/backsight/config.toml`, which allows agents nothing more"),
        "{said}"
    );
    assert!(said.contains("debugger toy: not found"), "{said}");
    fixture.user_settings("[agents]\nprograms = \"any\"\n");
    assert!(fixture.run("doctor").contains("which allows agents more than the workspace"));
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o666)).unwrap();
    let said = fixture.run("doctor");
    assert!(said.contains("problem your settings: ") && said.contains("others may write it (mode 666)"), "{said}");
    assert!(said.contains("chmod go-w") && said.ends_with("exit 1"), "{said}");
    // Sections of the user's in a workspace's settings are not used, and said to be in the wrong place.
    fixture.write(".backsight/store/config.toml", "[adapters.toy]\nprograms = [\"toy\"]\n");
    let said = fixture.run("doctor");
    assert!(
        said.contains("`adapters` in `[TMP]/ws/.backsight/store/config.toml` is not taken from a workspace"),
        "{said}"
    );
}

#[test]
fn config_lists_reads_and_changes() {
    let fixture = Fixture::new();
    assert_snapshot!(fixture.run("config"), @r#"
    # track this directory even if it is a home directory or `/`
    any_root = false

    # agents' hooks mark the app's state: `session_start` when a session begins, `pre_commit` before a commit
    app_checkpoints = true

    # `gc` removes the oldest contents until the store is at most this large; 0 means no limit
    disk_budget = 0

    # look for changes that no tool declared or made; without it they are recorded and neither listed nor refused
    enable_unknown_change_detection = true

    # more ignore rules, in .gitignore syntax; they go before all others
    exclude = []

    # changes to these paths are never unknown, in .gitignore syntax; they are captured all the same
    exclude_from_checking = ["*.log", "*.tmp", "*_generated.*", "node_modules/**"]

    # keep every file checkpoint up to its age, not only the latest
    keep_all_checkpoints = false

    # `gc` keeps the contents of at most this many snapshots, the newest, and what undoing them needs; 0 means all
    keep_count = 0

    # `gc` removes the contents of snapshots older than this many days; 0 means never
    keep_days = 0

    # days after which a file checkpoint is removed; 0 means never
    max_checkpoint_age = 7

    # larger files are reported in the coverage and not captured
    max_file_size = 100MB

    # a workspace with more files is refused
    max_files = 1000000

    # a capture that would have to store more bytes than this is refused
    max_new_bytes = 20GB

    # agents are told with their next call or hook what others changed in files of theirs, and what broke in the app
    tell_agents = true

    # what is done about unknown changes: strict refuses, warn lists them, auto-integrate records them first
    unknown_change_strategy = warn
    ---- exit 0
    "#);
    assert_snapshot!(fixture.run("config set max_file_size 5MiB"), @r"
    max_file_size = 5MiB
    ---- exit 0
    ");
    assert_snapshot!(fixture.run("config get max_file_size"), @r"
    5MiB
    ---- exit 0
    ");
}

#[test]
fn a_bad_setting_is_refused() {
    let fixture = Fixture::new();
    assert_snapshot!(fixture.run("config get colour"), @r"
    ---- stderr
    error: no setting is called `colour`
    hint: the settings are any_root, app_checkpoints, disk_budget, enable_unknown_change_detection, exclude, exclude_from_checking, keep_all_checkpoints, keep_count, keep_days, max_checkpoint_age, max_file_size, max_files, max_new_bytes, tell_agents, unknown_change_strategy
    ---- exit 2
    ");
    assert_snapshot!(fixture.run("config set max_file_size huge"), @r"
    ---- stderr
    error: `max_file_size` cannot be `huge`: it is a size such as 512, 100MB or 2GB
    hint: larger files are reported in the coverage and not captured; default 100MB
    ---- exit 2
    ");
}

#[test]
fn every_command_has_a_manual_page() {
    let fixture = Fixture::new();
    let page = fixture.run("man session revert");
    assert!(page.contains(".TH backsight-session-revert 1") && page.contains("\\-\\-message"), "{page}");
    assert!(fixture.run("man").contains("backsight\\-undo(1)"));
    assert_eq!(fixture.ok("man log")["name"], "backsight-log");
    assert!(fixture.run("man nothing").contains("there is no command `nothing`"));
}

#[test]
fn completions_are_scripts() {
    let fixture = Fixture::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(fixture.run(&format!("completions {shell}")).contains("backsight"), "{shell}");
    }
}
