//! Steps as a person types them.

use backsight_core::{NextStep, Phrase, Voice, shell_word};
use serde_json::json;

use super::{part, whole};

/// The command line's words.
pub struct CommandLine;

impl Voice for CommandLine {
    fn name(&self, step: &NextStep) -> Phrase {
        match called(step) {
            Line::Whole(line) => {
                let line = format!("backsight {line}");
                whole(format!("`{line}`"), json!({ "command": line }))
            }
            Line::ToFill(line) => part(format!("`backsight {line}`")),
            Line::Option(option) => part(format!("`{option}`")),
        }
    }
}

/// What is typed.
enum Line {
    /// A command that can be pasted.
    Whole(String),
    /// A command with something to fill in.
    ToFill(String),
    /// An option of the same command.
    Option(String),
}

fn word(text: &str) -> String {
    shell_word(text.as_bytes())
}

fn option(name: &str, value: Option<&String>) -> String {
    value.map(|value| format!(" {name} {}", word(value))).unwrap_or_default()
}

fn called(step: &NextStep) -> Line {
    let whole = |line: &str| Line::Whole(line.to_owned());
    let fill = |line: &str| Line::ToFill(line.to_owned());
    let with = |line: &str| Line::Option(line.to_owned());
    match step {
        NextStep::SeeHistory { session, file } => {
            Line::Whole(format!("log{}{}", option("--session", session.as_ref()), option("--file", file.as_ref())))
        }
        NextStep::ListFiles { reference } => Line::Whole(format!("ls {}", word(reference))),
        NextStep::ShowChanges => fill("show REF --diff"),
        NextStep::ListHunks { reference: Some(reference) } => Line::Whole(format!("show {} --hunks", word(reference))),
        NextStep::ListHunks { reference: None } => fill("show REF --hunks"),
        NextStep::SeeStatus => whole("status"),
        NextStep::RecordFiles => whole("track"),
        NextStep::VerifyStore => whole("verify"),
        NextStep::ShrinkStore => whole("gc"),
        NextStep::Configure { setting, value } => Line::Whole(format!("config set {} {}", word(setting), word(value))),
        NextStep::SeeUnknown => whole("unknown detect --diff"),
        NextStep::RecordUnknown => whole("unknown handle integrate"),
        NextStep::PinSnapshot => fill("pin REF"),
        NextStep::RestoreState => fill("restore REF"),
        NextStep::RevertStep { reference } => Line::Whole(format!("revert {}", word(reference))),
        NextStep::MakeStore => whole("init"),
        NextStep::MakeStoreIn { directory } => Line::Whole(format!("-C {} init", word(directory))),
        NextStep::MakeStoreAnywhere => whole("init --any-root"),
        NextStep::MakeUserStore => whole("init --store user"),
        NextStep::AdoptStore { directory: Some(directory) } => {
            Line::Whole(format!("-C {} init --adopt", word(directory)))
        }
        NextStep::AdoptStore { directory: None } => whole("init --adopt"),
        NextStep::ImportElsewhere => fill("-C DIR import FILE"),
        NextStep::ListComments => whole("comment list"),
        NextStep::AnswerComment { id } => Line::ToFill(format!("comment answer {} \"...\"", word(id))),
        NextStep::AcceptState => fill("continuity reset --reason TEXT"),
        NextStep::ValidateTimeline => whole("continuity validate"),
        NextStep::ListSessions => whole("session list"),
        NextStep::StartSession => fill("session start ID"),
        NextStep::ShowSession { id } => Line::Whole(format!("session show {}", word(id))),
        NextStep::RevertSession { id } => Line::ToFill(format!("session revert {} --message ID", word(id))),
        NextStep::RecordMessage { session, message } => {
            Line::Whole(format!("session track {} --message {}", word(session), word(message)))
        }
        NextStep::BeginCall => whole("begin"),
        NextStep::AbandonCall { call: Some(call) } => Line::Whole(format!("abandon {}", word(call))),
        NextStep::AbandonCall { call: None } => fill("abandon CALL"),
        NextStep::ListKnown => whole("known list"),
        NextStep::CreateMilestone => fill("milestone create TITLE"),
        NextStep::ListMilestones => whole("milestone list"),
        NextStep::SeeAppChanges => whole("changes"),
        NextStep::ShowEntry => fill("browser entry ID"),
        NextStep::AttachBrowser => whole("browser attach"),
        NextStep::LaunchBrowser => whole("browser launch"),
        NextStep::DetachBrowser => whole("browser detach"),
        NextStep::DeleteCheckpoint => fill("checkpoint delete NAME"),
        NextStep::DeleteBaseline => fill("baseline delete NAME"),
        NextStep::DisableRule { id: Some(id) } => Line::Whole(format!("noise disable {}", word(id))),
        NextStep::DisableRule { id: None } => fill("noise disable ID"),
        NextStep::RemoveRule => fill("noise remove ID"),
        NextStep::LaunchProgram => fill("debug launch PROGRAM"),
        NextStep::AttachProgram => fill("debug attach --pid PID"),
        NextStep::EndProgram => whole("debug end"),
        NextStep::PauseProgram => whole("debug pause"),
        NextStep::AwaitProgram => whole("debug status"),
        NextStep::CaptureVariables => whole("debug snapshot"),
        NextStep::ListCaptures => whole("debug snapshots"),
        NextStep::ReadCapture { id } => Line::Whole(format!("debug show {}", word(id))),
        NextStep::DeleteCapture { id: Some(id) } => Line::Whole(format!("debug delete {}", word(id))),
        NextStep::DeleteCapture { id: None } => fill("debug delete ID"),
        NextStep::ListBreakpoints => whole("debug breaks"),
        NextStep::RemoveBreakpoint { id } => Line::Whole(format!("debug unbreak {}", word(id))),
        NextStep::SeeVariables => whole("debug vars"),
        NextStep::WithSkip => with("--on-conflict skip"),
        NextStep::WithMerge => with("--on-conflict merge"),
        NextStep::WithForce => with("--force"),
        NextStep::WithWait => with("--wait SECONDS"),
        NextStep::WithOthers => with("--with-others"),
        NextStep::WithCount => with("backsight undo 1"),
        NextStep::WithSquash => with("--squash"),
        NextStep::WithEnd { end } => Line::Option(format!("--end {}", word(end))),
        NextStep::WithGood => with("--good REF"),
        NextStep::WithBad => with("--bad REF"),
        NextStep::WithShare => with("--share DIR"),
        NextStep::WithCommand => with("backsight bisect -- npm test"),
        NextStep::WithPage => with("--page PATH"),
        NextStep::WithMessage => with("--message m1"),
        NextStep::WithDirectory => with("-C DIR"),
        NextStep::WithProgramSession => with("--session"),
        NextStep::WithAdapter => with("--adapter"),
        NextStep::WithRuntime => with("--runtime"),
        NextStep::WithProgram => with("backsight debug launch PROGRAM"),
        NextStep::WithProgramsCode => with("--safety adapter"),
        NextStep::WithUnsafeExpression => with("--unsafe"),
        NextStep::WithTimeout => with("--timeout SECONDS"),
        NextStep::WithoutExpand => with("backsight debug vars"),
        NextStep::WithProcess => with("--pid"),
        NextStep::WithPort => with("--port"),
    }
}
