//! The debuggers Backsight knows, as data: how each is found and reached, and in what it differs from the protocol. Another
//! one is another entry of [`builtin`], or a section of the configuration that reads as an [`Adapter`].

mod find;
pub(crate) mod node;
mod python;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use find::{choose, locate, of_process, outside};
pub(crate) use find::{is_rust, on_path, rust_sysroot};
pub(crate) use python::besides;
pub use python::{has_debugpy, has_module};

/// A debugger.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Adapter {
    /// What it is called: `debugpy`.
    pub name: String,
    /// Endings of the programs it is for, without the dot.
    pub extensions: Vec<String>,
    /// Names to look for on the search path, the best first, or paths.
    pub programs: Vec<String>,
    /// What it is started with. `{port}` is the port it shall open or call; `{program}` and `{arguments}` are those of the
    /// program to debug, `{interpreter_arguments}` what comes before them.
    pub arguments: Vec<String>,
    /// How it is reached.
    pub reach: Reach,
    /// What a person installs it with.
    pub install: String,
    /// Sent before `launch` or `attach`: pairs of a request and its arguments.
    pub before: Vec<(String, Value)>,
    /// What `launch` carries. A text that is `{program}`, `{program_directory}`, `{arguments}`, `{directory}`, `{environment}` or
    /// `{stop_on_entry}` stands for that, `{stdin_file}` for a file with what the program shall read, and `{scratch_file}` for
    /// one that is removed with the session.
    pub launch: Map<String, Value>,
    /// What `attach` carries; `{pid}`, `{host}`, `{port}`. Empty: it cannot attach.
    pub attach: Map<String, Value>,
    /// What puts a debugger that calls us into a process: `{pid}`, `{port}`. Empty: it cannot be put there.
    pub attach_arguments: Vec<String>,
    /// How it differs.
    #[serde(flatten)]
    pub quirks: Quirks,
}

/// How an adapter is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// Over its stdin and stdout.
    #[default]
    Stdio,
    /// It opens a port and prints the address.
    Opens,
    /// It calls the port we open. The program is debugged in the process that is started.
    Calls,
    /// Node's inspector, which is no adapter: we translate.
    Inspector,
}

/// In what an adapter differs from the protocol, or from what one would hope.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(default)]
pub struct Quirks {
    /// Requests on their way at once.
    pub window: usize,
    /// Elements of a list come only when asked for as indexed ones.
    pub asks_indexed: bool,
    /// Elements are never paged: a long list must not be expanded.
    pub ignores_paging: bool,
    /// Children that are not the program's.
    pub synthetic: Vec<String>,
    /// Endings of names that are no children: `len()`.
    pub calls: bool,
    /// The first answer to `threads` is about the moment the program started, whenever it is asked.
    pub first_threads_old: bool,
    /// Of several threads that hit a breakpoint at once it tells one: words in the names of those that may be the others.
    pub running_words: Option<String>,
    /// Where the program's own output is: in `output` events, or in the pipes of the process we started.
    pub output: Output,
    /// Words before the exit code in what the debugger says when it knows no other way to tell it.
    pub exit_words: Option<String>,
    /// The process we started is the program: how it ends is how the program ends.
    pub is_program: bool,
    /// It says of any function that it will pause there.
    pub binds_any_function: bool,
    /// It raises exceptions of its own before the program begins.
    pub raises_before_entry: bool,
    /// Our names of exceptions (`all`, `uncaught`) and the filters they are.
    pub exceptions: Vec<(String, Vec<String>)>,
    /// Something that walks the variables inside the debugger in one request.
    pub walker: Walker,
    /// Reading variables runs the user's code, so that without a walker nothing pure can be read.
    pub runs_code: bool,
    /// The expression for where a pointer points to, with `{}` for the pointer: that is how cycles are seen.
    pub address_of: Option<String>,
    /// The expression for where a variable itself is, likewise: long values are hashed where they lie.
    pub address_at: Option<String>,
    /// First words of expressions that run code or are commands to the debugger itself; others only read.
    pub calls_begin_with: Vec<String>,
    /// What it evaluates never runs code unless it begins with one of those.
    pub evaluates_purely: bool,
    /// It sets variables of the innermost frame, whichever is asked for.
    pub sets_innermost: bool,
    /// It counts hits in another way than is asked for (`10`, `>= 10`, `% 10`), so they are counted here.
    pub miscounts_hits: bool,
}

/// Where a program's output is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// In events of the protocol; what the adapter itself prints is talk.
    #[default]
    Events,
    /// In the pipes of the process.
    Pipes,
}

/// What walks variables inside a debugger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Walker {
    /// Nothing: variables are asked for one by one.
    #[default]
    None,
    /// A program in Python, run by CPython itself.
    Python,
    /// A program in Python, run by LLDB.
    Lldb,
    /// A program in JavaScript, run by V8.
    Inspector,
}

impl Quirks {
    /// Whether an expression is more than that: it calls something, or is a command to the debugger itself. Debuggers look at
    /// the first word only, and differ in what they take for blanks and comments before it.
    pub(crate) fn is_command(&self, expression: &str) -> bool {
        let rest = without_comments(expression);
        let is_word = |character: char| character.is_alphanumeric() || character == '_';
        let word = rest.split(|character| !is_word(character)).next().unwrap_or_default();
        let after = rest.get(word.len()..).and_then(|rest| rest.chars().next());
        let is_first = after.is_none_or(|next| !matches!(next, '.' | '[' | '(' | '{'));
        is_first && self.calls_begin_with.iter().any(|known| known.trim() == word)
    }
}

/// What follows the blanks and comments at the beginning.
fn without_comments(expression: &str) -> &str {
    let mut rest = expression;
    loop {
        rest = rest.trim_start_matches(|character: char| {
            character.is_whitespace() || character.is_control() || character == '\u{feff}'
        });
        let after = match rest.get(..2) {
            Some("//") => rest.find('\n').map(|end| end + 1),
            Some("/*") => rest.find("*/").map(|end| end + 2),
            _ => return rest,
        };
        let Some(after) = after.and_then(|after| rest.get(after..)) else { return "" };
        rest = after;
    }
}

impl Default for Quirks {
    fn default() -> Self {
        Quirks {
            window: 8,
            asks_indexed: false,
            ignores_paging: false,
            synthetic: Vec::new(),
            calls: false,
            first_threads_old: false,
            running_words: None,
            output: Output::Events,
            exit_words: None,
            is_program: false,
            binds_any_function: false,
            raises_before_entry: false,
            exceptions: Vec::new(),
            walker: Walker::None,
            runs_code: true,
            address_of: None,
            address_at: None,
            calls_begin_with: Vec::new(),
            evaluates_purely: false,
            sets_innermost: false,
            miscounts_hits: false,
        }
    }
}

impl Default for Adapter {
    fn default() -> Self {
        Adapter {
            name: String::new(),
            extensions: Vec::new(),
            programs: Vec::new(),
            arguments: Vec::new(),
            reach: Reach::Stdio,
            install: String::new(),
            before: Vec::new(),
            launch: object(json!({ "program": "{program}", "args": "{arguments}", "cwd": "{directory}",
                "env": "{environment}", "stopOnEntry": "{stop_on_entry}" })),
            attach: Map::new(),
            attach_arguments: Vec::new(),
            quirks: Quirks::default(),
        }
    }
}

/// The debuggers that are known without being told.
pub fn builtin() -> Vec<Adapter> {
    vec![debugpy(), node(), delve(), lldb(), rdbg()]
}

/// The same with debuggers of the user's, which come first and replace those of the same name.
pub fn with(own: Vec<Adapter>) -> Vec<Adapter> {
    let known = builtin().into_iter().filter(|known| own.iter().all(|own| own.name != known.name)).collect::<Vec<_>>();
    own.into_iter().chain(known).collect()
}

fn debugpy() -> Adapter {
    Adapter {
        name: "debugpy".to_owned(),
        extensions: texts(&["py", "pyw"]),
        programs: texts(&["python3", "python"]),
        // Children would call the same port and wait for somebody to answer.
        arguments: texts(&[
            "-Xfrozen_modules=off",
            "-m",
            "debugpy",
            "--configure-subProcess",
            "False",
            "--connect",
            "127.0.0.1:{port}",
            "--wait-for-client",
            "{program}",
            "{arguments}",
        ]),
        reach: Reach::Calls,
        install: "python3 -m pip install debugpy".to_owned(),
        // Without this a stop is told once for each thread, and conditions that cannot be evaluated are never true.
        before: vec![(
            "setDebuggerProperty".to_owned(),
            json!({ "multiThreadsSingleNotification": true,
            "skipSuspendOnBreakpointException": [], "skipPrintBreakpointException": ["BaseException"] }),
        )],
        launch: object(json!({ "stopOnEntry": "{stop_on_entry}", "justMyCode": false,
            "variablePresentation": { "all": "inline" } })),
        attach: object(json!({ "justMyCode": false })),
        attach_arguments: texts(&[
            "-m",
            "debugpy",
            "--configure-subProcess",
            "False",
            "--connect",
            "127.0.0.1:{port}",
            "--pid",
            "{pid}",
        ]),
        quirks: Quirks {
            // With two evaluations on their way each takes 200 ms: the paused thread misses that there is more.
            window: 1,
            ignores_paging: true,
            synthetic: texts(&["special variables", "function variables", "class variables", "protected variables"]),
            calls: true,
            output: Output::Pipes,
            is_program: true,
            binds_any_function: true,
            raises_before_entry: true,
            exceptions: filters(&[("all", &["raised"]), ("uncaught", &["uncaught"])]),
            walker: Walker::Python,
            ..Quirks::default()
        },
    }
}

fn node() -> Adapter {
    Adapter {
        name: "node".to_owned(),
        extensions: texts(&["js", "mjs", "cjs", "ts", "mts", "cts"]),
        programs: texts(&["node"]),
        // Its port hears every user of this machine, so the name it must be called by is told to nobody but us.
        arguments: texts(&[
            "--inspect-brk=127.0.0.1:0",
            "--inspect-publish-uid=stderr",
            "{interpreter_arguments}",
            "{program}",
            "{arguments}",
        ]),
        reach: Reach::Inspector,
        install: "apt-get install nodejs".to_owned(),
        launch: object(json!({ "stopOnEntry": "{stop_on_entry}", "childListens": "{child_listens}" })),
        attach: object(json!({ "port": "{port}" })),
        quirks: Quirks {
            window: 32,
            output: Output::Pipes,
            is_program: true,
            exceptions: filters(&[("all", &["all"]), ("uncaught", &["uncaught"])]),
            walker: Walker::Inspector,
            // V8 describes what it hands out: of an error it reads the trace, of others it asks their prototypes.
            runs_code: true,
            ..Quirks::default()
        },
        ..Adapter::default()
    }
}

fn delve() -> Adapter {
    Adapter {
        name: "delve".to_owned(),
        extensions: texts(&["go"]),
        programs: texts(&["dlv"]),
        arguments: texts(&["dap", "--listen=127.0.0.1:0"]),
        reach: Reach::Opens,
        install: "apt-get install delve golang-go".to_owned(),
        launch: object(json!({ "mode": "{mode}", "program": "{program}", "args": "{arguments}", "cwd": "{directory}",
            "dlvCwd": "{program_directory}", "env": "{environment}", "stopOnEntry": "{stop_on_entry}",
            "output": "{scratch_file}" })),
        attach: object(json!({ "mode": "local", "processId": "{pid}" })),
        quirks: Quirks {
            asks_indexed: true,
            calls: true,
            output: Output::Pipes,
            running_words: Some("(Thread ".to_owned()),
            exit_words: Some("has exited with status ".to_owned()),
            runs_code: false,
            address_of: Some("uintptr({})".to_owned()),
            address_at: Some("uintptr(&{})".to_owned()),
            calls_begin_with: texts(&["call", "dlv"]),
            evaluates_purely: true,
            sets_innermost: true,
            ..Quirks::default()
        },
        ..Adapter::default()
    }
}

fn lldb() -> Adapter {
    Adapter {
        name: "lldb-dap".to_owned(),
        extensions: Vec::new(),
        programs: texts(&["lldb-dap", "lldb-dap-22", "lldb-dap-21", "lldb-dap-20", "lldb-dap-19", "lldb-dap-18"]),
        install: "apt-get install lldb-22".to_owned(),
        launch: object(json!({ "program": "{program}", "args": "{arguments}", "cwd": "{directory}",
            "env": "{environment}", "stopOnEntry": "{stop_on_entry}", "initCommands": "{init_commands}" })),
        attach: object(json!({ "pid": "{pid}", "initCommands": "{init_commands}" })),
        quirks: Quirks {
            synthetic: texts(&["[raw]"]),
            first_threads_old: true,
            miscounts_hits: true,
            exceptions: filters(&[("all", &["cpp_throw"]), ("uncaught", &["cpp_throw"])]),
            walker: Walker::Lldb,
            runs_code: false,
            ..Quirks::default()
        },
        ..Adapter::default()
    }
}

/// Ruby's, which is part of Ruby from 3.1 on. It shows values by running `inspect`, and has no walker: so what it tells is told only
/// where running code is allowed.
fn rdbg() -> Adapter {
    Adapter {
        name: "rdbg".to_owned(),
        extensions: texts(&["rb"]),
        programs: texts(&["rdbg", "rdbg3.4", "rdbg3.3", "rdbg3.2", "rdbg3.1"]),
        arguments: texts(&["--open", "--host", "127.0.0.1", "--port", "0", "--", "{program}", "{arguments}"]),
        reach: Reach::Opens,
        install: "apt-get install ruby".to_owned(),
        launch: object(json!({ "program": "{program}" })),
        attach: object(json!({ "host": "{host}", "port": "{port}" })),
        quirks: Quirks {
            window: 1,
            synthetic: texts(&["#class", "#length", "#encoding"]),
            output: Output::Pipes,
            is_program: true,
            exceptions: filters(&[("all", &["any"])]),
            ..Quirks::default()
        },
        ..Adapter::default()
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn filters(filters: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
    filters.iter().map(|(name, filters)| ((*name).to_owned(), texts(filters))).collect()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        _ => Map::new(),
    }
}

/// A template with its placeholders filled in; what has no value is left out.
pub(crate) fn fill(template: &Map<String, Value>, values: &Map<String, Value>) -> Value {
    let filled = template.iter().filter_map(|(name, value)| Some((name.clone(), fill_value(value, values)?)));
    Value::Object(filled.collect())
}

fn fill_value(template: &Value, values: &Map<String, Value>) -> Option<Value> {
    match template {
        Value::String(text) => match text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) {
            Some(name) => values.get(name).filter(|value| !value.is_null()).cloned(),
            None => Some(template.clone()),
        },
        Value::Object(inner) => Some(fill(inner, values)),
        _ => Some(template.clone()),
    }
}

/// Arguments with their placeholders filled in.
pub(crate) fn fill_arguments(template: &[String], port: u16, words: &Words<'_>) -> Vec<String> {
    let mut filled = Vec::new();
    for text in template {
        match text.as_str() {
            "{arguments}" => {
                filled.extend(words.arguments.iter().map(|text| text.replace("{port}", &port.to_string())))
            }
            "{program}" => filled.extend(words.program.iter().cloned()),
            "{interpreter_arguments}" => filled.extend(words.interpreter.iter().cloned()),
            _ => filled.push(text.replace("{port}", &port.to_string())),
        }
    }
    filled
}

/// What a command line is made of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words<'a> {
    /// The program: a path, or `-m` and a module.
    pub program: Vec<String>,
    pub arguments: &'a [String],
    /// What the interpreter is told before the program.
    pub interpreter: &'a [String],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled_and_what_is_unknown_is_left_out() {
        let values = object(json!({ "program": "/a", "arguments": ["x"], "pid": null }));
        let template =
            object(json!({ "program": "{program}", "args": "{arguments}", "pid": "{pid}", "other": "{what}",
            "plain": true, "in": { "side": "{program}" } }));
        let expected = json!({ "program": "/a", "args": ["x"], "plain": true, "in": { "side": "/a" } });
        assert_eq!(fill(&template, &values), expected);
        let template = texts(&["{interpreter_arguments}", "{program}", "{arguments}", "h:{port}"]);
        let words =
            Words { program: texts(&["-m", "p"]), arguments: &texts(&["a", "b"]), interpreter: &texts(&["-X"]) };
        assert_eq!(fill_arguments(&template, 7, &words), ["-X", "-m", "p", "a", "b", "h:7"]);
    }

    #[test]
    fn an_adapter_can_be_described_in_a_few_lines() {
        let adapter: Adapter = serde_json::from_value(json!({ "name": "rdbg", "extensions": ["rb"],
            "programs": ["rdbg"], "arguments": ["--open"], "reach": "opens", "window": 1 }))
        .unwrap();
        assert_eq!((adapter.quirks.window, adapter.reach), (1, Reach::Opens));
        assert_eq!(adapter.launch, Adapter::default().launch);
    }

    #[test]
    fn what_a_debugger_takes_for_a_command_is_known_by_its_first_word() {
        let delve = delve().quirks;
        for command in [
            "call f()",
            "call\tf()",
            " \n call f()",
            "dlv config -list",
            "dlv\u{a0}config",
            "\u{feff}dlv help",
            "/* */dlv x",
            "// a\ndlv x",
            "dlv",
            "dlv\0x",
            "call/**/f()",
            "dlv-x",
        ] {
            assert!(delve.is_command(command), "{command:?}");
        }
        for expression in ["caller", "dlvs + 1", "x.call", "call.x", "dlv[0]", "recall f", "", "/* dlv", "// call f()"]
        {
            assert!(!delve.is_command(expression), "{expression:?}");
        }
    }

    #[test]
    fn every_known_debugger_survives_being_written_down() {
        for adapter in builtin() {
            let text = serde_json::to_string(&adapter).unwrap();
            assert_eq!(serde_json::from_str::<Adapter>(&text).unwrap(), adapter);
        }
    }
}
