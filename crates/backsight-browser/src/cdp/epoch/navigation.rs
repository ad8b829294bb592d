//! Sends pages of a browser that was started here to addresses, and sees to it that they are watched before they go.

use backsight_core::{Code, Error, NextStep, Result};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::{Answered, Epoch, PATIENCE};
use crate::cdp::connection::Answer;
use crate::cdp::watch::Reply;

/// An address to which a page is to be sent as soon as it is watched.
pub(super) struct Wish {
    pub url: String,
    pub answer: Option<Reply>,
}

/// A page that goes somewhere.
pub(super) struct Departure {
    /// Where it was.
    from: String,
    /// Who wants to know where it is.
    to: Reply,
}

impl Epoch<'_> {
    /// Sends the first page of a browser that was started here to its address, once it is watched.
    pub(crate) fn opens(&mut self, url: Option<&str>) {
        if let Some(url) = url {
            self.wishes.insert(String::new(), Wish { url: url.to_owned(), answer: None });
        }
    }

    pub(super) fn navigate(&mut self, page: Option<&str>, url: String, to: Option<Reply>) {
        if !self.base.launched {
            let error = Error::new(Code::Usage, "only a browser that was started here is navigated")
                .with_hint("navigate it yourself")
                .or("start another", NextStep::LaunchBrowser);
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

    pub(super) fn wish(&mut self, target: String, url: String, answer: Option<Reply>) {
        let steps = self.targets.expect(&target, &url);
        self.wishes.insert(target, Wish { url, answer });
        self.take_steps(steps);
    }

    pub(super) fn create(&mut self, url: String, to: Option<Reply>) {
        let created = self.connection.send(None, "Target.createTarget", &json!({ "url": "about:blank" }), PATIENCE);
        self.beginnings += 1;
        self.questions.spawn(async move { Answered::Create { url, answer: created.await, to } });
    }

    pub(super) fn created(&mut self, url: String, answer: Answer, to: Option<Reply>) {
        #[derive(Deserialize)]
        struct Created {
            #[serde(rename = "targetId")]
            target: String,
        }
        match answer {
            Ok(created) => match serde_json::from_str::<Created>(created.get()) {
                Ok(Created { target }) => self.wish(target, url, to),
                Err(_) => self.not_sent(&url, "no page was made", to),
            },
            Err(refused) => self.not_sent(&url, &refused.to_string(), to),
        }
    }

    pub(super) fn send_to(&mut self, session: &str, url: String, to: Option<Reply>) {
        let patience = self.watch.attach.timeout;
        let sent = self.connection.send(Some(session), "Page.navigate", &json!({ "url": url }), patience);
        let target = self.targets.target_of(session).unwrap_or_default().to_owned();
        let from = self.targets.info(&target).unwrap_or_default().url;
        self.beginnings += 1;
        self.questions.spawn(async move { Answered::Navigate { target, from, url, answer: sent.await, to } });
    }

    /// The browser goes there. A moment later it says where that is, and whoever asked is to find the page there.
    pub(super) fn departed(&mut self, target: &str, from: String, url: &str, answer: &RawValue, to: Option<Reply>) {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Navigated {
            #[serde(rename = "errorText")]
            error: Option<String>,
        }
        if let Some(failure) = serde_json::from_str::<Navigated>(answer.get()).unwrap_or_default().error {
            return self.not_sent(url, &failure, to);
        }
        let Some(to) = to else { return };
        let stays = from == url;
        self.departures.insert(target.to_owned(), Departure { from, to });
        if stays {
            return self.arrived(target);
        }
        let target = target.to_owned();
        self.questions.spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            Answered::Arrived { target }
        });
        self.look_for_arrivals();
    }

    /// Answers for pages that are not where they were.
    pub(super) fn look_for_arrivals(&mut self) {
        let address = |target: &String| self.targets.info(target).map(|info| info.url);
        let is_there = |(target, departure): &(&String, &Departure)| address(target).as_ref() != Some(&departure.from);
        let there: Vec<String> = self.departures.iter().filter(is_there).map(|(target, _)| target.clone()).collect();
        there.iter().for_each(|target| self.arrived(target));
    }

    pub(super) fn arrived(&mut self, target: &str) {
        let Some(Departure { to, .. }) = self.departures.remove(target) else { return };
        match self.targets.info(target) {
            Some(info) => self.arrivals.push((to, info.url)),
            None => answer(Some(to), Err(Error::new(Code::BrowserUnreachable, "the page was closed on its way"))),
        }
    }

    pub(super) fn not_sent(&mut self, url: &str, failure: &str, to: Option<Reply>) {
        let message = format!("`{url}` could not be opened: {failure}");
        match to {
            Some(_) => answer(to, Err(Error::new(Code::BrowserUnreachable, message))),
            None => self.note(message),
        }
    }
}

fn answer(to: Option<Reply>, result: Result<String>) {
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
