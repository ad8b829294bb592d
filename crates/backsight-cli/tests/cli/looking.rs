//! Commands that only look run nothing of what they look at: a workspace full of programs that have the names of debuggers.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use crate::fixture::Fixture;

/// Programs and modules that leave a mark when they are run.
fn plant(root: &Path, mark: &Path) {
    let program = format!("#!/bin/sh\necho \"$0 $*\" >>{}\n", mark.display());
    let module = format!("open({:?}, 'a').write(__file__ + '\\n')\n", mark.display().to_string());
    let names = ["python3", "python", "node", "dlv", "lldb-dap", "lldb-dap-22", "rustc", "chromium", "git", "gdb"];
    for folder in ["", ".venv/bin", "venv/bin", "bin", "node_modules/.bin"] {
        for name in names {
            put(root, &format!("{folder}/{name}"), &program, 0o755);
        }
    }
    put(root, ".venv/pyvenv.cfg", "home = .\ninclude-system-site-packages = true\n", 0o644);
    for name in
        ["importlib/__init__.py", "sitecustomize.py", "usercustomize.py", "debugpy/__init__.py", "sys.py", "site.py"]
    {
        put(root, name, &module, 0o644);
        put(root, &format!(".venv/lib/python3.11/site-packages/{name}"), &module, 0o644);
    }
    let toolchain = "[toolchain]\npath = \"evil\"\n";
    put(root, "rust-toolchain.toml", toolchain, 0o644);
    put(root, "evil/bin/rustc", &program, 0o755);
}

fn put(root: &Path, name: &str, text: &str, mode: u32) {
    let file = root.join(name.trim_start_matches('/'));
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, text).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn looking_for_debuggers_runs_nothing_of_the_workspace() {
    let fixture = Fixture::new();
    let outside = tempfile::tempdir().unwrap();
    let mark = outside.path().join("ran");
    plant(fixture.root(), &mark);
    let root = fixture.root().display();
    let usual = std::env::var("PATH").unwrap();
    for search in [
        format!(".:node_modules/.bin:{root}:{root}/node_modules/.bin:{root}/bin:{usual}"),
        format!("{root}/bin:.:"),
        usual,
    ] {
        for arguments in [&["doctor"][..], &["doctor", "--json"], &["status"], &["debug", "list"]] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_backsight"));
            command.args(arguments).current_dir(fixture.root()).env("PATH", &search).env("HOME", outside.path());
            let output = command.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(output.status.code().is_some(), "{arguments:?}");
            let ran = std::fs::read_to_string(&mark).unwrap_or_default();
            assert_eq!(ran, "", "`{arguments:?}` with {search}: {said}");
        }
    }
}
