//! One connection from its beginning to its end: carries out what [`Targets`] decides, passes what is heard to the
//! translator, and tells the listener. Nothing here waits for an answer of the browser, except for the two questions at the
//! very beginning: a page that crashed or stands still never answers.

mod leaving;
mod liveness;
mod navigation;

use std::collections::{BTreeSet, HashMap};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use backsight_core::{Result, Timestamp};
use futures_util::future::Either;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use self::navigation::{Departure, Wish, first_blank_page};
use super::capture::{PageState, Watching, lock};
use super::connection::{Answer, Connection, Heard, Incoming, Refused};
use super::targets::{Hears, Info, Step, Targets};
use super::translate::{self, Target, Told, TranslateOptions, Translator};
use super::watch::{Order, Orders, Reply, Watch};
use crate::event::Event;

/// How long a page may take to answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// How often the translator hears that time passes.
const TICK: Duration = Duration::from_millis(100);
/// Lets a target run that waits for us, and does nothing to others.
const RUN: &str = "Runtime.runIfWaitingForDebugger";
/// Messages that are taken from the queue at once.
const BATCH: usize = 1024;
/// Messages that are kept for sessions of which nothing is known yet.
const EARLY: usize = 1000;
/// Likewise in bytes.
const EARLY_BYTES: usize = 16 << 20;

/// Why an epoch ended.
#[derive(Debug)]
pub(crate) enum End {
    /// It was told to.
    Stopped,
    /// The connection ended, for this reason.
    Lost(String),
}

/// One connection and what is known about its browser.
pub(crate) struct Epoch<'a> {
    watch: &'a Watch,
    connection: Connection,
    targets: Targets,
    translator: &'a mut Translator,
    options: TranslateOptions,
    /// Questions that are on their way.
    questions: JoinSet<Answered>,
    /// How many of them belong to the beginning of a session.
    beginnings: usize,
    /// What sessions said before anything was known of them.
    early: HashMap<String, Vec<(String, Box<RawValue>)>>,
    early_count: usize,
    early_bytes: usize,
    /// Pages that are to be sent somewhere as soon as they are watched.
    wishes: HashMap<String, Wish>,
    /// Pages that are on their way, of which the browser has not yet said where they are.
    departures: HashMap<String, Departure>,
    /// Those who want to know where a page arrived, once that is in the picture.
    arrivals: Vec<(Reply, String)>,
    /// What happened and was not told yet.
    events: Vec<Event>,
    /// How many messages the translator holds back, as was last told.
    held: usize,
    /// The picture without what the targets say.
    base: Watching,
    notes: BTreeSet<String>,
    losses: Losses,
    next_tick: Instant,
    /// Those who want to know which pages stand still, once that is in the picture.
    checked: Vec<SyncSender<()>>,
}

/// What is lost, and how much of it was already said.
#[derive(Default)]
struct Losses {
    /// Messages about targets that could not be understood.
    misread: u64,
    /// Messages of sessions of which nothing is known.
    unclaimed: u64,
    told: [u64; 9],
}

/// An answer, with what was asked.
enum Answered {
    Attach {
        target: String,
        answer: Answer,
    },
    Greeting {
        session: String,
        kind: String,
        refused: Vec<(&'static str, Refused)>,
    },
    Translator {
        session: String,
        token: u64,
        answer: Answer,
    },
    Navigate {
        target: String,
        /// Where the page was before.
        from: String,
        url: String,
        answer: Answer,
        to: Option<Reply>,
    },
    /// A page that was sent somewhere is there, as far as anybody will ever say.
    Arrived {
        target: String,
    },
    /// A session was let run, or will not be.
    Runs,
    /// It is time to end this session.
    Left {
        session: String,
    },
    /// These pages did not answer in time.
    Checked {
        silent: Vec<String>,
        to: SyncSender<()>,
    },
    Create {
        url: String,
        answer: Answer,
        to: Option<Reply>,
    },
}

impl<'a> Epoch<'a> {
    pub(crate) fn new(
        watch: &'a Watch,
        connection: Connection,
        translator: &'a mut Translator,
        options: TranslateOptions,
        base: Watching,
    ) -> Self {
        Epoch {
            targets: Targets::new(watch.origins.clone()),
            watch,
            connection,
            translator,
            options,
            questions: JoinSet::new(),
            beginnings: 0,
            early: HashMap::new(),
            early_count: 0,
            early_bytes: 0,
            wishes: HashMap::new(),
            departures: HashMap::new(),
            arrivals: Vec::new(),
            events: Vec::new(),
            held: 0,
            notes: base.notes.iter().cloned().collect(),
            base,
            losses: Losses::default(),
            next_tick: Instant::now(),
            checked: Vec::new(),
        }
    }

    /// Runs until told to stop or until the connection ends.
    pub(crate) async fn run(
        &mut self,
        mut incoming: Incoming,
        orders: &mut Orders,
        ready: &mut Option<SyncSender<Result<()>>>,
    ) -> End {
        if let Err(refused) = self.begin().await {
            return End::Lost(format!("the browser does not answer: {refused}"));
        }
        // What the browser said until now is about the targets it has.
        let mut batch = Vec::new();
        incoming.take_now(&mut batch);
        let mut begun = false;
        loop {
            batch.drain(..).for_each(|heard| self.hear(heard));
            // Under a storm of messages the queue is never empty, and the rest has its turn all the same.
            while let Some(answered) = self.questions.try_join_next() {
                self.take_answer(answered.ok());
            }
            self.tick();
            self.tell();
            begun = begun || (self.beginnings == 0 && self.wishes.is_empty());
            if begun {
                self.publish();
                for (to, address) in self.arrivals.drain(..) {
                    // Whoever asked may have gone.
                    let _ = to.send(Ok(address));
                }
                for to in self.checked.drain(..) {
                    // Whoever asked may have gone.
                    let _ = to.send(());
                }
                if let Some(ready) = ready.take() {
                    // Whoever started this has gone if it cannot be told, and the order to stop follows.
                    let _ = ready.send(Ok(()));
                }
            }
            tokio::select! {
                biased;
                order = orders.recv() => match order {
                    None | Some(Order::Stop) => {
                        self.let_go(&mut incoming).await;
                        return End::Stopped;
                    }
                    Some(Order::Check { answer }) => self.check(answer),
                    Some(Order::Navigate { page, url, answer }) => self.navigate(page.as_deref(), url, Some(answer)),
                },
                open = incoming.take(&mut batch, BATCH) => {
                    if !open {
                        return End::Lost(self.connection.reason());
                    }
                }
                Some(answered) = self.questions.join_next() => self.take_answer(answered.ok()),
                () = tokio::time::sleep_until(self.next_tick), if self.translator.pending() => {}
            }
        }
    }

    async fn begin(&mut self) -> std::result::Result<(), Refused> {
        #[derive(Deserialize)]
        struct Version {
            product: String,
        }
        let patience = self.watch.attach.timeout;
        let version = self.connection.send(None, "Browser.getVersion", &json!({}), patience);
        // Only these are of interest; iframes and other workers come through their pages.
        let filter = json!({ "discover": true, "filter": [{ "type": "page" }, { "type": "shared_worker" }] });
        let discover = self.connection.send(None, "Target.setDiscoverTargets", &filter, patience);
        let version = version.await?;
        discover.await?;
        self.base.browser =
            serde_json::from_str::<Version>(version.get()).map(|found| found.product).unwrap_or_default();
        // The page that the browser was started with is known by now or made.
        if let Some(wish) = self.wishes.remove("") {
            let targets = self.connection.send(None, "Target.getTargets", &json!({}), PATIENCE).await;
            match targets.ok().and_then(|targets| first_blank_page(&targets)) {
                Some(target) => self.wish(target, wish.url, None),
                None => self.create(wish.url, None),
            }
        }
        Ok(())
    }

    fn now(&self) -> Timestamp {
        (self.watch.attach.clock)()
    }

    fn hear(&mut self, heard: Heard) {
        let (session, method, params) = match heard {
            Heard::Event { session, method, params } => (session, method, params),
            Heard::Late { session } => return self.targets.speaks(&session),
            Heard::Answered { session } => return self.translator.replayed(&session),
        };
        if method.starts_with("Target.") {
            return self.hear_of_targets(session.as_deref(), &method, &params);
        }
        let Some(session) = session else { return };
        match self.targets.hears(&session) {
            Hears::Yes => self.hear_session(&session, &method, &params),
            Hears::No => {}
            Hears::NotYet if self.early_count < EARLY && self.early_bytes + params.get().len() <= EARLY_BYTES => {
                self.early_count += 1;
                self.early_bytes += params.get().len();
                self.early.entry(session).or_default().push((method, params));
            }
            Hears::NotYet => self.losses.unclaimed += 1,
        }
    }

    fn hear_session(&mut self, session: &str, method: &str, params: &RawValue) {
        match method {
            "Inspector.targetCrashed" => self.targets.becomes(session, PageState::Crashed),
            "Inspector.targetReloadedAfterCrash" => {
                self.targets.becomes(session, PageState::Watching);
                self.greet_again(session);
            }
            "Page.javascriptDialogClosed" => self.targets.becomes(session, PageState::Watching),
            "Page.javascriptDialogOpening" => self.targets.asks(session, super::translate::dialog_words(params)),
            _ => self.targets.speaks(session),
        }
        let told = self.translator.hear(session, method, params, self.now());
        self.carry_out(told);
    }

    fn hear_of_targets(&mut self, parent: Option<&str>, method: &str, params: &RawValue) {
        #[derive(Deserialize)]
        struct About {
            #[serde(rename = "targetInfo")]
            info: Option<Info>,
            #[serde(rename = "targetId")]
            target: Option<String>,
            #[serde(rename = "sessionId")]
            session: Option<String>,
        }
        let Ok(about) = serde_json::from_str::<About>(params.get()) else {
            self.losses.misread += 1;
            return;
        };
        let now = self.now();
        let told = self.translator.hear(parent.unwrap_or_default(), method, params, now);
        self.carry_out(told);
        let steps = match (method, about) {
            ("Target.targetCreated" | "Target.targetInfoChanged", About { info: Some(info), .. }) => {
                self.targets.told(info)
            }
            ("Target.attachedToTarget", About { info: Some(info), session: Some(session), .. }) => {
                self.targets.attached(&session, parent, info, now)
            }
            ("Target.detachedFromTarget", About { session: Some(session), .. }) => self.targets.detached(&session, now),
            ("Target.targetDestroyed", About { target: Some(target), .. }) => self.targets.destroyed(&target, now),
            ("Target.targetCrashed", About { target: Some(target), .. }) => {
                self.targets.target_becomes(&target, PageState::Crashed);
                Vec::new()
            }
            _ => Vec::new(),
        };
        self.take_steps(steps);
        self.look_for_arrivals();
    }

    fn take_steps(&mut self, steps: Vec<Step>) {
        for step in steps {
            match step {
                Step::Attach { target } => {
                    let params = json!({ "targetId": target, "flatten": true });
                    let answer = self.connection.send(None, "Target.attachToTarget", &params, PATIENCE);
                    self.beginnings += 1;
                    self.questions.spawn(async move { Answered::Attach { target, answer: answer.await } });
                }
                Step::Greet { session, target, kind, url } => self.greet(session, Target { id: target, kind, url }),
                Step::Resume { session } => self.resume(&session),
                Step::Detach { session } => self.leave(session),
                Step::Over { session } => {
                    self.connection.forget(&session);
                    let told = self.translator.detached(&session, self.now());
                    self.carry_out(told);
                }
            }
        }
    }

    /// Everything is sent at once and the last of it lets the target run, so that it runs whatever becomes of the rest.
    fn greet(&mut self, session: String, target: Target) {
        let kind = target.kind.clone();
        self.translator.attached(&session, target, self.now());
        // Nothing starts through a worklet, which does not know the command.
        let ours = (kind != translate::WORKLET).then(|| ("Target.setAutoAttach", belongings(true)));
        let theirs = Translator::greeting(&kind, &self.options).into_iter().filter(|(method, _)| !is_ours(method));
        let mut answers = Vec::new();
        for (method, params) in ours.into_iter().chain(theirs) {
            answers.push((method, self.say_hello(&session, method, &params)));
        }
        answers.push((RUN, self.say_hello(&session, RUN, &json!({}))));
        self.beginnings += 1;
        let early = self.early.remove(&session).unwrap_or_default();
        let name = session.clone();
        self.questions.spawn(async move {
            let mut refused = Vec::new();
            for (method, answer) in answers {
                refused.extend(answer.await.err().map(|reason| (method, reason)));
            }
            Answered::Greeting { session, kind, refused }
        });
        self.early_count -= early.len();
        self.early_bytes -= early.iter().map(|(_, params)| params.get().len()).sum::<usize>();
        for (method, params) in early {
            self.hear_session(&name, &method, &params);
        }
    }

    /// A worker that was stopped starts again under the same session, and waits for us. Domains stay enabled; what ran in
    /// the one before has to run in this one too.
    fn greet_again(&mut self, session: &str) {
        let info = self.targets.target_of(session).and_then(|target| self.targets.info(target));
        let kind = info.map(|info| info.kind).unwrap_or_default();
        let again = Translator::greeting(&kind, &self.options).into_iter();
        for (method, params) in again.filter(|(method, _)| kind.ends_with("worker") && method.starts_with("Runtime.")) {
            self.connection.post(Some(session), method, &params);
        }
        self.resume(session);
    }

    /// Sends one command of a greeting; where the replay of what was said before ends is to be known.
    fn say_hello(&self, session: &str, method: &str, params: &Value) -> impl Future<Output = Answer> + Send + use<> {
        match method == translate::REPLAYS {
            true => Either::Left(self.connection.send_in_order(session, method, params, PATIENCE)),
            false => Either::Right(self.connection.send(Some(session), method, params, PATIENCE)),
        }
    }

    fn carry_out(&mut self, told: Vec<Told>) {
        for told in told {
            match told {
                Told::Event(event) => self.events.push(event),
                Told::Amended(amendment) => {
                    // What it amends comes first.
                    self.tell_events();
                    self.watch.listener.amended(amendment);
                }
                Told::Sign(sign) => self.watch.listener.shown(sign),
                Told::Command { token, session, method, params } => {
                    let answer = self.connection.send(Some(&session), method, &params, PATIENCE);
                    let answered = async move { Answered::Translator { session, token, answer: answer.await } };
                    self.questions.spawn(answered);
                }
            }
        }
    }

    fn take_answer(&mut self, answered: Option<Answered>) {
        let is_beginning = match &answered {
            None | Some(Answered::Translator { .. } | Answered::Left { .. }) => false,
            Some(Answered::Checked { .. } | Answered::Arrived { .. }) => false,
            Some(_) => true,
        };
        if is_beginning {
            self.beginnings = self.beginnings.saturating_sub(1);
        }
        match answered {
            Some(Answered::Attach { target, answer }) => self.attached(&target, answer),
            Some(Answered::Greeting { session, kind, refused }) => self.greeted(&session, &kind, refused),
            Some(Answered::Translator { session, token, answer }) => {
                if matches!(answer, Err(Refused::TimedOut)) {
                    self.stands_still(&session);
                }
                let failure = answer.as_ref().err().map(Refused::to_string);
                let answer = answer.as_deref().map_err(|_| failure.as_deref().unwrap_or_default());
                let told = self.translator.answered(token, answer, self.now());
                self.carry_out(told);
            }
            Some(Answered::Navigate { target, from, url, answer, to }) => match answer {
                Ok(answer) => self.departed(&target, from, &url, &answer, to),
                Err(refused) => self.not_sent(&url, &refused.to_string(), to),
            },
            Some(Answered::Arrived { target }) => self.arrived(&target),
            Some(Answered::Create { url, answer, to }) => self.created(url, answer, to),
            Some(Answered::Checked { silent, to }) => self.is_checked(&silent, to),
            Some(Answered::Runs) => {}
            Some(Answered::Left { session }) => {
                self.connection.post(None, "Target.detachFromTarget", &json!({ "sessionId": session }));
            }
            // It was aborted, or it panicked, of which its thread has told.
            None => {}
        }
    }

    /// The session is usually known already, from the event that precedes this answer.
    fn attached(&mut self, target: &str, answer: Answer) {
        #[derive(Deserialize)]
        struct Attached {
            #[serde(rename = "sessionId")]
            session: String,
        }
        match answer.map(|answer| serde_json::from_str::<Attached>(answer.get())) {
            Ok(Ok(Attached { session })) => {
                if let Some(info) = self.targets.info(target) {
                    let steps = self.targets.attached(&session, None, info, self.now());
                    self.take_steps(steps);
                }
            }
            // The target has gone in the meantime.
            Err(Refused::Gone) => self.targets.refused(target),
            Ok(Err(_)) => self.not_attached(target, "an answer without a session"),
            Err(refused) => self.not_attached(target, &refused.to_string()),
        }
    }

    fn not_attached(&mut self, target: &str, why: &str) {
        self.targets.refused(target);
        if let Some(info) = self.targets.info(target) {
            self.note(format!("`{}` cannot be watched: {why}", info.url));
        }
        if let Some(Wish { url, answer }) = self.wishes.remove(target) {
            self.not_sent(&url, why, answer);
        }
    }

    fn greeted(&mut self, session: &str, kind: &str, refused: Vec<(&'static str, Refused)>) {
        if refused.is_empty() {
            self.targets.now_heard(session);
        }
        for (method, refused) in refused {
            match refused {
                Refused::TimedOut => self.stands_still(session),
                // Not every kind of target can wait.
                Refused::Answered(why) if method != RUN && self.targets.hears(session) == Hears::Yes => {
                    self.note(format!("`{method}` does not work in a {kind}: {why}"));
                }
                _ => {}
            }
        }
        let target = self.targets.target_of(session).map(str::to_owned);
        let wish = target.and_then(|target| self.wishes.remove(&target));
        if let Some(Wish { url, answer }) = wish {
            self.send_to(session, url, answer);
        }
    }

    fn stands_still(&mut self, session: &str) {
        // A page that crashed or shows a dialog does not answer either, and that is the better word for it.
        if self.targets.state(session) == Some(PageState::Watching) {
            self.targets.becomes(session, PageState::Unresponsive);
        }
    }

    fn note(&mut self, note: String) {
        // Notes are for people: a handful says as much as a thousand.
        if self.notes.len() < 20 && self.notes.insert(note) {
            self.targets.touch();
        }
    }

    fn tick(&mut self) {
        let now = Instant::now();
        if self.translator.pending() && now >= self.next_tick {
            self.next_tick = now + TICK;
            let told = self.translator.tick(self.now());
            self.carry_out(told);
        }
    }

    fn tell_events(&mut self) {
        if !self.events.is_empty() {
            self.watch.listener.heard(std::mem::take(&mut self.events));
        }
    }

    fn tell(&mut self) {
        self.tell_events();
        let held = self.translator.held();
        if std::mem::replace(&mut self.held, held) != held {
            self.watch.listener.held(held);
        }
        if let Some(requests) = self.translator.take_under_way() {
            self.watch.listener.under_way(&requests);
        }
        let counts = self.translator.counts();
        let malformed = self.connection.malformed() + counts.malformed + self.losses.misread;
        let lost = [
            ("messages that came faster than they could be read", self.connection.dropped()),
            ("messages that could not be understood", malformed),
            ("messages that belong to nothing known", self.losses.unclaimed),
            ("requests that were open for too long to be remembered", counts.requests_forgotten),
            ("sockets that were open for too long to be remembered", counts.sockets_forgotten),
            ("pages that came and went before they were watched", self.targets.unheard()),
            ("or more console messages of before the attach, of which a page keeps 1,000,", counts.histories_cut),
            ("or more requests of before the attach, of which a page keeps 250,", counts.earlier_missing),
            ("or more messages of the browser of before the attach, of which it keeps 1,000,", counts.log_cut),
        ];
        for ((what, count), told) in lost.into_iter().zip(&mut self.losses.told) {
            if count > *told {
                self.watch.listener.lost(what, count - *told);
                *told = count;
            }
        }
    }

    fn publish(&mut self) {
        if !self.targets.take_changed() {
            return;
        }
        let picture = Watching {
            pages: self.targets.pages(),
            workers: self.targets.workers(),
            not_watched: self.targets.not_watched(),
            notes: self.notes.iter().cloned().collect(),
            ..self.base.clone()
        };
        let mut state = lock(&self.watch.state);
        if *state != picture {
            state.clone_from(&picture);
            drop(state);
            self.watch.listener.watching(&picture);
        }
    }
}

/// Commands that decide what is attached and when it runs are sent by nobody else.
fn is_ours(method: &str) -> bool {
    method.starts_with("Target.") || method == RUN
}

/// Everything that can belong to a page comes through the page's session, and waits for us or not. Browsers make worklets
/// and whatever else starts through a page wait also when the filter leaves them out, and then nobody lets them run: so
/// only what has a session of its own is left out.
fn belongings(wait: bool) -> Value {
    let kinds = json!([
        { "type": "browser", "exclude": true },
        { "type": "tab", "exclude": true },
        { "type": "page", "exclude": true },
        {},
    ]);
    json!({ "autoAttach": true, "waitForDebuggerOnStart": wait, "flatten": true, "filter": kinds })
}
