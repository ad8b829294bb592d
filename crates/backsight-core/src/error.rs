//! One error type for every interface: a closed code to branch on, a message to show, and what to do next as a value.

use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};

use crate::advice::{Advice, NextStep, Voice, plain_sentence, sentence};

/// Shorthand used by every crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident, $name:literal, exit $exit:literal, http $http:literal;)*) => {
        /// Every way a request can fail. The table below is the only place that maps a code to an exit or HTTP status.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code { $($(#[$doc])* $variant,)* }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The name on the wire.
            pub fn as_str(self) -> &'static str { match self { $(Code::$variant => $name,)* } }

            /// The exit status of the command line.
            pub fn exit_status(self) -> u8 { match self { $(Code::$variant => $exit,)* } }

            /// The status of an HTTP reply.
            pub fn http_status(self) -> u16 { match self { $(Code::$variant => $http,)* } }
        }
    };
}

codes! {
    /// The command or request itself is malformed.
    Usage, "USAGE", exit 2, http 400;
    /// A path is absolute, leaves the workspace or names a `.git`.
    InvalidPath, "INVALID_PATH", exit 2, http 422;
    /// A setting has an unknown name or an unusable value.
    InvalidConfig, "INVALID_CONFIG", exit 2, http 422;
    /// A name is not one that checkpoints and baselines can have.
    InvalidName, "INVALID_NAME", exit 2, http 422;
    /// A noise rule says nothing, or its pattern cannot be used.
    InvalidRule, "INVALID_RULE", exit 2, http 422;
    /// The request does not carry the server's token.
    Unauthorized, "UNAUTHORIZED", exit 2, http 401;
    /// The request comes from a web page of another origin, or names another host.
    Forbidden, "FORBIDDEN", exit 2, http 403;
    /// The server has no such address.
    RouteNotFound, "ROUTE_NOT_FOUND", exit 2, http 404;
    /// The address exists, not with this method.
    MethodNotAllowed, "METHOD_NOT_ALLOWED", exit 2, http 405;
    /// The request is larger than the server reads.
    BodyTooLarge, "BODY_TOO_LARGE", exit 2, http 413;
    /// The request took longer to arrive than the server waits.
    RequestTimeout, "REQUEST_TIMEOUT", exit 2, http 408;
    /// Changes overlap later edits and the caller asked to refuse.
    Conflict, "CONFLICT", exit 3, http 409;
    /// Files changed while they were being restored; nothing was changed.
    Raced, "RACED", exit 3, http 409;
    /// Files were changed outside Backsight and the policy is to refuse.
    StateMismatch, "STATE_MISMATCH", exit 3, http 409;
    /// Snapshots that should follow each other do not: some between them are missing.
    SequenceDiscontinuity, "SEQUENCE_DISCONTINUITY", exit 3, http 409;
    /// A milestone would leave snapshots out between itself and the one before it.
    MilestoneGap, "MILESTONE_GAP", exit 3, http 409;
    /// A milestone would hold snapshots that another one holds already.
    MilestoneOverlap, "MILESTONE_OVERLAP", exit 3, http 409;
    /// A range ends before it starts, or holds nothing.
    InvalidRange, "INVALID_RANGE", exit 3, http 422;
    /// The Git repository named cannot take the branch.
    GitRefused, "GIT_REFUSED", exit 3, http 409;
    /// The session has no revert to take back: none was made, or a new turn closed the way.
    NothingToUnrevert, "NOTHING_TO_UNREVERT", exit 3, http 409;
    /// No program is being debugged.
    NoSession, "NO_SESSION", exit 3, http 409;
    /// The debugged program is running, and what was asked needs it paused.
    NotPaused, "NOT_PAUSED", exit 3, http 409;
    /// The debugged program went on while it was being looked at; nothing was kept.
    StateChanged, "STATE_CHANGED", exit 3, http 409;
    /// The operation would displace bytes that no snapshot holds.
    NotCovered, "NOT_COVERED", exit 3, http 409;
    /// An agent asked to run or reach something that only the user's own settings can allow.
    NotAllowed, "NOT_ALLOWED", exit 3, http 403;
    /// The directory is one Backsight refuses to track without being told.
    WorkspaceRefused, "WORKSPACE_REFUSED", exit 3, http 409;
    /// The store was not made by this user on this machine, or others can change it; nothing of it was used.
    StoreNotOurs, "STORE_NOT_OURS", exit 3, http 409;
    /// The tree, or what a debug session keeps, exceeds the allowed number of files or bytes.
    TooLarge, "TOO_LARGE", exit 3, http 413;
    /// No snapshot answers to the reference.
    RefNotFound, "REF_NOT_FOUND", exit 4, http 404;
    /// Several snapshots answer to the reference.
    RefAmbiguous, "REF_AMBIGUOUS", exit 4, http 409;
    /// The snapshot existed and was removed by retention.
    RefExpired, "REF_EXPIRED", exit 4, http 410;
    /// The snapshot exists, the path in it does not.
    PathNotFound, "PATH_NOT_FOUND", exit 4, http 404;
    /// There is no step left to take back, or no undo to take back.
    NothingToUndo, "NOTHING_TO_UNDO", exit 4, http 404;
    /// No session answers to the id.
    SessionNotFound, "SESSION_NOT_FOUND", exit 4, http 404;
    /// The session has no such message, or the message no such part.
    MessageNotFound, "MESSAGE_NOT_FOUND", exit 4, http 404;
    /// No tool call that began answers to the id: it never began, or it has finished.
    CallNotFound, "CALL_NOT_FOUND", exit 4, http 404;
    /// No checkpoint has the name.
    CheckpointNotFound, "CHECKPOINT_NOT_FOUND", exit 4, http 404;
    /// No baseline has the name.
    BaselineNotFound, "BASELINE_NOT_FOUND", exit 4, http 404;
    /// No noise rule has the id.
    RuleNotFound, "RULE_NOT_FOUND", exit 4, http 404;
    /// The debug session has no such snapshot: it was deleted, or never taken.
    SnapshotNotFound, "SNAPSHOT_NOT_FOUND", exit 4, http 404;
    /// There is no debugger for that language on this machine.
    AdapterNotFound, "ADAPTER_NOT_FOUND", exit 4, http 404;
    /// There is no program of that kind on this machine.
    ProgramNotFound, "PROGRAM_NOT_FOUND", exit 4, http 404;
    /// The Git repository named does not exist.
    RepositoryNotFound, "REPOSITORY_NOT_FOUND", exit 4, http 404;
    /// The directory named as workspace does not exist.
    WorkspaceNotFound, "WORKSPACE_NOT_FOUND", exit 4, http 404;
    /// A stored object or record is missing or damaged.
    Damaged, "DAMAGED", exit 5, http 500;
    /// A row of the timeline does not continue the one before it.
    BrokenParent, "BROKEN_PARENT", exit 5, http 500;
    /// The store was written by another version of Backsight.
    StoreVersion, "STORE_VERSION", exit 5, http 500;
    /// The operating system refused a read or write.
    Io, "IO", exit 6, http 500;
    /// No space is left on the device.
    DiskFull, "DISK_FULL", exit 6, http 507;
    /// The caller took the request back; nothing was recorded and no file changed.
    Cancelled, "CANCELLED", exit 7, http 503;
    /// The workspace's server cannot be reached, or went away before it answered.
    ServerUnreachable, "SERVER_UNREACHABLE", exit 7, http 503;
    /// No browser answers where one was expected.
    BrowserUnreachable, "BROWSER_UNREACHABLE", exit 7, http 503;
    /// The debugger refused what it was asked, or went away.
    AdapterFailed, "ADAPTER_FAILED", exit 7, http 502;
    /// The debugger did not answer in time.
    DebugTimeout, "DEBUG_TIMEOUT", exit 7, http 504;
    /// Another process holds the workspace for longer than the caller would wait.
    Busy, "BUSY", exit 7, http 503;
}

impl Code {
    /// Whether the same request may succeed later without being changed.
    pub fn retryable(self) -> bool {
        matches!(
            self,
            Code::Raced
                | Code::StateChanged
                | Code::DebugTimeout
                | Code::Busy
                | Code::Cancelled
                | Code::ServerUnreachable
                | Code::BrowserUnreachable
                | Code::RequestTimeout
        )
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A failure: what happened, to which thing, with which value, and what to do next.
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    code: Code,
    message: String,
    advice: Vec<Advice>,
    next: Option<(&'static str, Value)>,
    details: Value,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// A failure with the code to branch on and the message to show.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Error(Box::new(Inner {
            code,
            message: message.into(),
            advice: Vec::new(),
            next: None,
            details: Value::Null,
            source: None,
        }))
    }

    /// An operating-system failure while doing `what` (a phrase such as ``read `src/a.rs` ``).
    pub fn io(what: impl fmt::Display, source: std::io::Error) -> Self {
        if source.kind() == std::io::ErrorKind::StorageFull {
            return Error::new(Code::DiskFull, format!("cannot {what}: no space left on the device"))
                .with_hint("free some space")
                .or("shrink the store", NextStep::ShrinkStore)
                .with_source(source);
        }
        Error::new(Code::Io, format!("cannot {what}: {source}")).with_source(source)
    }

    /// Advises what holds on every interface, instead of what was advised before. What names a command, a tool or an address
    /// is a step: see [`Error::then`].
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.advice = vec![Advice::plain(hint)];
        self
    }

    /// Advises a step and what it is good for ("see what was recorded"), instead of what was advised before.
    pub fn then(mut self, purpose: impl Into<String>, step: NextStep) -> Self {
        self.0.advice = vec![Advice::step(purpose, step)];
        self
    }

    /// Advises another step that would help too.
    pub fn or(mut self, purpose: impl Into<String>, step: NextStep) -> Self {
        self.0.advice.push(Advice::step(purpose, step));
        self
    }

    /// Advises something else that would help too.
    pub fn or_hint(mut self, hint: impl Into<String>) -> Self {
        self.0.advice.push(Advice::plain(hint));
        self
    }

    /// Advises what another failure does.
    pub fn with_advice(mut self, advice: impl Into<Vec<Advice>>) -> Self {
        self.0.advice = advice.into();
        self
    }

    /// Adds the very call an agent should make next, a tool and its arguments: for what the tools themselves refuse.
    pub fn with_next(mut self, tool: &'static str, arguments: Value) -> Self {
        self.0.next = Some((tool, arguments));
        self
    }

    /// Adds facts a program can read.
    pub fn with_details(mut self, details: Value) -> Self {
        self.0.details = details;
        self
    }

    /// Adds the cause.
    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// The code to branch on.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The sentence to show.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do next, the best first.
    pub fn advice(&self) -> &[Advice] {
        &self.0.advice
    }

    /// The same in words of no interface, if there is any.
    pub fn hint(&self) -> Option<String> {
        plain_sentence(&self.0.advice)
    }

    /// The same in the words of an interface.
    pub fn hint_in(&self, voice: &impl Voice) -> Option<String> {
        sentence(&self.0.advice, voice)
    }

    /// Whether it advises the step.
    pub fn advises(&self, step: &NextStep) -> bool {
        self.0.advice.iter().any(|advice| advice.step.as_ref() == Some(step))
    }

    /// Facts a program can read; `null` when there are none.
    pub fn details(&self) -> &Value {
        &self.0.details
    }

    /// The envelope every interface answers with, in its words: `hint` says what to do, `next` is the call.
    pub fn to_json(&self, voice: &impl Voice) -> Value {
        let mut error = json!({
            "code": self.0.code.as_str(),
            "message": self.0.message,
            "retryable": self.0.code.retryable(),
        });
        if let Some(hint) = self.hint_in(voice) {
            error["hint"] = json!(hint);
        }
        let calls = self.0.advice.iter().filter_map(|advice| voice.name(advice.step.as_ref()?).call);
        let next = self.0.next.as_ref().map(|(tool, arguments)| json!({ "tool": tool, "arguments": arguments }));
        if let Some(next) = next.or_else(|| calls.into_iter().next()) {
            error["next"] = next;
        }
        if !self.0.details.is_null() {
            error["details"] = self.0.details.clone();
        }
        json!({ "ok": false, "error": error })
    }

    /// The envelope for programs, which has the advice as values too: another interface that is asked through this one says
    /// it in its own words.
    pub fn to_data(&self, voice: &impl Voice) -> Value {
        let mut envelope = self.to_json(voice);
        if self.0.advice.iter().any(|advice| advice.step.is_some()) {
            envelope["error"]["advice"] = json!(self.0.advice);
        }
        envelope
    }

    /// The failure of an envelope that [`Error::to_data`] made; none if it is an answer. A code that is not known, as one of a
    /// newer server, is [`Code::Io`].
    pub fn from_json(envelope: &Value) -> Option<Error> {
        let error = envelope.get("error").filter(|error| error.is_object())?;
        let text = |name: &str| error[name].as_str();
        let code = Code::ALL.iter().copied().find(|code| Some(code.as_str()) == text("code")).unwrap_or(Code::Io);
        let message = text("message").unwrap_or("the server's answer is not understood");
        let failure = Error::new(code, message).with_details(error["details"].clone());
        let advice: Option<Vec<Advice>> = serde_json::from_value(error["advice"].clone()).ok();
        Some(match (advice, text("hint")) {
            (Some(advice), _) => failure.with_advice(advice),
            (None, Some(hint)) => failure.with_hint(hint),
            (None, None) => failure,
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn std::error::Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_own_name_and_a_documented_exit_status() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
        assert!(Code::ALL.iter().all(|code| (2..=7).contains(&code.exit_status())));
    }

    struct Bare;

    impl Voice for Bare {
        fn name(&self, _: &NextStep) -> crate::advice::Phrase {
            crate::advice::Phrase { words: "a call".to_owned(), call: Some(json!({ "call": 1 })) }
        }
    }

    #[test]
    fn the_envelope_carries_code_message_hint_and_details() {
        let error = Error::new(Code::Busy, "workspace is busy").with_hint("wait").with_details(json!({"pid": 7}));
        let expected = json!({"ok": false, "error": {"code": "BUSY", "message": "workspace is busy",
            "retryable": true, "hint": "wait", "details": {"pid": 7}}});
        assert_eq!(error.to_json(&Bare), expected);
    }

    #[test]
    fn a_failure_that_went_through_another_interface_has_its_advice() {
        let error = Error::new(Code::StateMismatch, "changed").then("look", NextStep::SeeUnknown).or_hint("go on");
        let envelope = error.to_data(&Bare);
        assert_eq!(envelope["error"]["hint"], "look with a call, or go on");
        assert_eq!(envelope["error"]["next"], json!({ "call": 1 }));
        let back = Error::from_json(&envelope).unwrap();
        assert_eq!((back.code(), back.message(), back.advice()), (error.code(), error.message(), error.advice()));
        assert!(back.advises(&NextStep::SeeUnknown) && Error::from_json(&json!({ "ok": true })).is_none());
        let newer = json!({ "error": { "code": "NEW", "message": "no", "hint": "wait", "advice": [{ "purpose": "wait", "step": "new" }] } });
        assert_eq!(Error::from_json(&newer).unwrap().hint().as_deref(), Some("wait"));
    }

    #[test]
    fn a_full_disk_is_its_own_code() {
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        assert_eq!(Error::io("write `a`", full).code(), Code::DiskFull);
    }
}
