//! What a session starts: the answer to its beginning says which command line was executed.

use backsight_debug::session::Executed;

use super::facade::{Language, Stage};

fn ends_with(command: &[String], expected: &[&str]) -> bool {
    command.len() >= expected.len() && command[command.len() - expected.len()..] == *expected
}

#[test]
fn the_command_line_that_ran_is_in_the_answer_to_a_launch_and_in_no_other() {
    for (language, program, held) in
        [(Language::Python, "python", true), (Language::JavaScript, "node", true), (Language::Cpp, "lldb-dap", false)]
    {
        let stage = Stage::new(language);
        let mut request = stage.request(&["BEFORE"]);
        (request.arguments, request.environment) =
            (vec!["--once".to_owned()], vec![("KEY".to_owned(), "hush-7".to_owned())]);
        let subject = request.program.display().to_string();
        let moved = stage.debugger.launch(None, request, &crate::facade::patiently).unwrap();
        let executed = &moved.executed;
        let first = executed.command.first().unwrap();
        assert!(first.starts_with('/') && first.contains(program), "{moved:?}");
        let with_program = if held { &executed.command } else { &executed.debuggee };
        assert!(ends_with(with_program, &[&subject, "--once"]), "{moved:?}");
        assert_eq!(executed.debuggee.is_empty(), held, "{moved:?}");
        assert_eq!(executed.environment, ["KEY"], "{moved:?}");
        assert!(executed.directory.is_some(), "{moved:?}");
        assert!(!format!("{moved:?}").contains("hush-7"), "{moved:?}");
        let next = stage.go_on();
        assert_eq!(next.executed, Executed::default(), "{next:?}");
        // Whoever looks later is told too.
        let view = stage.debugger.state(None, std::time::Duration::ZERO, &crate::facade::patiently).unwrap();
        assert_eq!(view.executed, moved.executed, "{view:?}");
    }
}
