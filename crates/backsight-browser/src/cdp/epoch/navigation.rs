//! Sends pages of a browser that was started here to addresses, and sees to it that they are watched before they go.

use std::sync::mpsc::SyncSender;

use backsight_core::{Code, Error, Result};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Answered, Epoch, PATIENCE};
use crate::cdp::connection::{Answer, Refused};

/// An address to which a page is to be sent as soon as it is watched.
pub(super) struct Wish {
    pub url: String,
    pub answer: Option<SyncSender<Result<()>>>,
}

impl Epoch<'_> {
    /// Sends the first page of a browser that was started here to its address, once it is watched.
    pub(crate) fn opens(&mut self, url: Option<&str>) {
        if let Some(url) = url {
            self.wishes.insert(String::new(), Wish { url: url.to_owned(), answer: None });
        }
    }

    pub(super) fn navigate(&mut self, page: Option<&str>, url: String, to: Option<SyncSender<Result<()>>>) {
        if !self.base.launched {
            let error = Error::new(Code::Usage, "only a browser that was started here is navigated")
                .with_hint("navigate it yourself, or start another with `backsight browser launch`");
            return answer(to, Err(error));
        }
        match (self.targets.page_at_hand(page), page) {
            (Some((target, Some(session))), _) => {
                self.targets.expect(&target, &url);
                self.send_to(&session, url, to);
            }
            (Some((target, None)), _) => self.wish(target, url, to),
            (None, None) => self.create(url, to),
            (None, Some(page)) => answer(to, Err(Error::new(Code::Usage, format!("there is no page `{page}`")))),
        }
    }

    pub(super) fn wish(&mut self, target: String, url: String, answer: Option<SyncSender<Result<()>>>) {
        let steps = self.targets.expect(&target, &url);
        self.wishes.insert(target, Wish { url, answer });
        self.take_steps(steps);
    }

    pub(super) fn create(&mut self, url: String, to: Option<SyncSender<Result<()>>>) {
        let created = self.connection.send(None, "Target.createTarget", &json!({ "url": "about:blank" }), PATIENCE);
        self.beginnings += 1;
        self.questions.spawn(async move { Answered::Create { url, answer: created.await, to } });
    }

    pub(super) fn created(&mut self, url: String, answer: Answer, to: Option<SyncSender<Result<()>>>) {
        #[derive(Deserialize)]
        struct Created {
            #[serde(rename = "targetId")]
            target: String,
        }
        match answer {
            Ok(created) => match serde_json::from_str::<Created>(created.get()) {
                Ok(Created { target }) => self.wish(target, url, to),
                Err(_) => self.navigated(&url, Err(Refused::Answered("no page was made".to_owned())), to),
            },
            Err(refused) => self.navigated(&url, Err(refused), to),
        }
    }

    pub(super) fn send_to(&mut self, session: &str, url: String, to: Option<SyncSender<Result<()>>>) {
        let patience = self.watch.attach.timeout;
        let sent = self.connection.send(Some(session), "Page.navigate", &json!({ "url": url }), patience);
        self.beginnings += 1;
        self.questions.spawn(async move { Answered::Navigate { url, answer: sent.await, to } });
    }

    pub(super) fn navigated(&mut self, url: &str, reply: Answer, to: Option<SyncSender<Result<()>>>) {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Navigated {
            #[serde(rename = "errorText")]
            error: Option<String>,
        }
        let failure = match reply {
            Ok(reply) => serde_json::from_str::<Navigated>(reply.get()).unwrap_or_default().error,
            Err(refused) => Some(refused.to_string()),
        };
        let Some(failure) = failure else { return answer(to, Ok(())) };
        let message = format!("`{url}` could not be opened: {failure}");
        match to {
            Some(_) => answer(to, Err(Error::new(Code::BrowserUnreachable, message))),
            None => self.note(message),
        }
    }
}

fn answer(to: Option<SyncSender<Result<()>>>, result: Result<()>) {
    if let Some(to) = to {
        // Whoever asked may have gone.
        let _ = to.send(result);
    }
}

pub(super) fn first_blank_page(targets: &RawValue) -> Option<String> {
    let targets: Value = serde_json::from_str(targets.get()).ok()?;
    let all = targets.get("targetInfos")?.as_array()?;
    let blank = all.iter().find(|target| target["type"] == "page" && target["url"] == "about:blank")?;
    Some(blank["targetId"].as_str()?.to_owned())
}
