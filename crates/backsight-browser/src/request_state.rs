//! How a request stands: the closed list of states, and what an answer may call each of them. Whatever is said of a request
//! anywhere is read off here, so that a state without a verdict does not compile.

use crate::event::Request;
use crate::words;

/// How a request stands. Each one that was heard of is in exactly one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RequestState {
    /// Asked, and not answered yet; not longer than is usual. A socket that connects is asked for too.
    UnderWay,
    /// Asked, and not answered for so long that nobody holds it open on purpose.
    Overdue,
    /// Held open on purpose: an event stream, a beacon.
    Held,
    /// An event stream that was lost or could not be opened, and is not open again.
    Lost,
    /// Answered below 400 while the body is not over, because it is long or the page does not read it.
    Open,
    /// Answered below 400, a redirect, or taken from a cache.
    Answered,
    /// The page gave it up, or is gone.
    GivenUp,
    /// Answered with 400 or more, whoever broke off the body.
    Refused,
    /// No whole answer: the network failed, a rule blocked it, or the page's own time limit was over.
    Broken,
    /// A GraphQL answer below 400 that says it failed.
    Complained,
    /// An image, font, style or film that was answered with a page, or JSON that is none.
    Mistaken,
}

/// What an answer may say of a request in some state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Says {
    /// Nothing is wrong with it.
    Clean,
    /// It does not decide how bad it is, and the summary names it.
    Named,
    /// At least a warning.
    Warning,
    /// An error.
    Error,
}

impl RequestState {
    /// All of them, in the order of a request's life.
    pub const ALL: [RequestState; 11] = [
        RequestState::UnderWay,
        RequestState::Overdue,
        RequestState::Held,
        RequestState::Lost,
        RequestState::Open,
        RequestState::Answered,
        RequestState::GivenUp,
        RequestState::Refused,
        RequestState::Broken,
        RequestState::Complained,
        RequestState::Mistaken,
    ];

    /// How a request that is over ended.
    pub fn of(request: &Request) -> RequestState {
        match () {
            () if request.status >= 400 => RequestState::Refused,
            () if request.canceled => RequestState::GivenUp,
            () if request.failure.is_some() || request.status == 0 => RequestState::Broken,
            () if is_mistaken(request) => RequestState::Mistaken,
            () if words::complaint(request).is_some() => RequestState::Complained,
            () => RequestState::Answered,
        }
    }

    /// What an answer may say of it.
    pub fn says(self) -> Says {
        match self {
            RequestState::Held | RequestState::Answered | RequestState::GivenUp => Says::Clean,
            RequestState::UnderWay | RequestState::Open => Says::Named,
            RequestState::Overdue | RequestState::Lost | RequestState::Mistaken => Says::Warning,
            RequestState::Refused | RequestState::Broken | RequestState::Complained => Says::Error,
        }
    }

    /// Whether the request failed.
    pub fn is_failure(self) -> bool {
        self.says() == Says::Error
    }
}

/// Whether something else came than was asked for or announced.
fn is_mistaken(request: &Request) -> bool {
    is_page_for_part(request) || is_broken_json(request)
}

/// Whether an answer that says it is JSON is none: cut off, or written by hand. Several values one after the other are as
/// good as one, and some servers put something before JSON so that it cannot be run as a script.
fn is_broken_json(request: &Request) -> bool {
    let says_so = request.mime.as_deref().is_some_and(|mime| mime == "application/json" || mime.ends_with("+json"));
    let Some(body) = request.response_body.as_deref().filter(|_| says_so && request.status < 300) else { return false };
    let body = body.trim_start_matches('\u{feff}').trim_start();
    let body = body.strip_prefix(")]}'").map_or(body, |rest| rest.trim_start_matches(','));
    serde_json::Deserializer::from_str(body).into_iter::<serde::de::IgnoredAny>().any(|value| value.is_err())
}

/// Whether a page came where a part of one was asked for: dev servers answer every unknown path with their page.
fn is_page_for_part(request: &Request) -> bool {
    let is_part = matches!(request.kind.as_deref(), Some("image" | "font" | "stylesheet" | "media"));
    let is_page = request.mime.as_deref() == Some("text/html");
    is_part && is_page && (200..300).contains(&request.status)
}

#[cfg(test)]
mod tests {
    use backsight_core::Timestamp;

    use super::*;

    fn state(change: impl FnOnce(&mut Request)) -> RequestState {
        let mut request = Request::new(Timestamp(0), "GET", "http://app/x");
        request.status = 200;
        change(&mut request);
        RequestState::of(&request)
    }

    #[test]
    fn an_answer_that_says_it_is_json_and_is_none_is_mistaken() {
        let json = |mime: &'static str, body: &'static str| {
            state(move |request| {
                request.mime = Some(mime.to_owned());
                request.response_body = Some(body.to_owned());
            })
        };
        for broken in ["{\"cup\": 3,", "<html>", "{'cup': 3}", "[1, 2] and more"] {
            assert_eq!(json("application/json", broken), RequestState::Mistaken, "{broken}");
            assert_eq!(json("application/problem+json", broken), RequestState::Mistaken, "{broken}");
            assert_eq!(json("text/plain", broken), RequestState::Answered, "{broken}");
        }
        for whole in ["{\"cup\": 3}", "", "  ", "1 2", "{}\n{}\n", ")]}',\n[1]", "\u{feff}[]"] {
            assert_eq!(json("application/json", whole), RequestState::Answered, "{whole}");
        }
    }

    #[test]
    fn every_end_has_one_state() {
        let broken = |request: &mut Request| request.failure = Some("net::ERR_FAILED".to_owned());
        let page = |kind: &'static str| {
            move |request: &mut Request| {
                request.kind = Some(kind.to_owned());
                request.mime = Some("text/html".to_owned());
            }
        };
        assert_eq!(state(|_| {}), RequestState::Answered);
        assert_eq!(state(|request| request.status = 304), RequestState::Answered);
        assert_eq!(state(|request| request.status = 404), RequestState::Refused);
        assert_eq!(state(|request| (request.status, request.canceled) = (500, true)), RequestState::Refused);
        assert_eq!(state(broken), RequestState::Broken);
        assert_eq!(state(|request| request.status = 0), RequestState::Broken);
        assert_eq!(state(|request| (request.status, request.canceled) = (0, true)), RequestState::GivenUp);
        for kind in ["image", "font", "stylesheet", "media"] {
            assert_eq!(state(page(kind)), RequestState::Mistaken, "{kind}");
        }
        assert_eq!(state(page("document")), RequestState::Answered);
        assert_eq!(state(page("fetch")), RequestState::Answered);
        let complaint = r#"{"data":null,"errors":[{"message":"Not authorised"}]}"#;
        let answered = |url: &'static str| {
            move |request: &mut Request| {
                request.url = url.to_owned();
                request.response_body = Some(complaint.to_owned());
            }
        };
        assert_eq!(state(answered("http://app/graphql")), RequestState::Complained);
        assert_eq!(state(answered("http://app/validate")), RequestState::Answered, "other answers have errors too");
    }
}
