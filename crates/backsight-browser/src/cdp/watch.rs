//! Keeps watching one browser from start to stop: connects, hands the connection to an [`Epoch`], and when that ends looks
//! for the browser again.

use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use backsight_core::{Code, Error, Result};
use tokio::sync::mpsc;

use super::capture::{Attach, Listener, Place, Watching, lock};
use super::epoch::{End, Epoch};
use super::find::{Finder, Missing, Opened, backoff};
use super::origins::Origins;
use super::translate::{TranslateOptions, Translator};

/// Where to say which address a page was taken to.
pub(crate) type Reply = SyncSender<Result<String>>;

/// What the owner of the watching can ask for.
#[derive(Debug)]
pub(crate) enum Order {
    /// No more.
    Stop,
    /// Take a page to an address.
    Navigate { page: Option<String>, url: String, answer: Reply },
    /// Find out which pages stand still.
    Check { answer: SyncSender<()> },
}

/// A page that does not answer within this time stands still as far as anybody can tell. Long for a page, and not too long
/// for whoever asks.
pub(crate) const LIVENESS: Duration = Duration::from_secs(1);

/// Where orders come from. Nobody left to give any is an order to stop.
pub(crate) type Orders = mpsc::UnboundedReceiver<Order>;

/// All that the watching needs to know.
pub(crate) struct Watch {
    pub attach: Attach,
    pub origins: Origins,
    pub listener: Arc<dyn Listener>,
    pub state: Arc<Mutex<Watching>>,
}

impl Watch {
    /// Watches until told to stop. `ready` hears when the first pages are watched, or why they are not.
    pub(crate) async fn run(self, mut orders: Orders, ready: SyncSender<Result<()>>) {
        let mut finder = Finder::new(self.attach.place.clone(), self.attach.admission.clone(), self.attach.timeout);
        let mut ready = Some(ready);
        let mut failures = 0;
        loop {
            let opened = tokio::select! {
                opened = finder.open() => opened,
                () = stopped(&mut orders) => return,
            };
            let missing = match opened {
                Err(missing) => missing,
                Ok(opened) => match self.epoch(opened, &finder, &mut orders, &mut ready).await {
                    End::Stopped => return,
                    End::Lost(reason) => {
                        if ready.is_none() {
                            self.interrupted(&reason);
                        }
                        failures = 0;
                        Missing::Yet(Error::new(Code::BrowserUnreachable, reason))
                    }
                },
            };
            let forever = matches!(missing, Missing::Forever(_));
            let error = missing.error();
            lock(&self.state).notes = vec![format!("nothing is watched: {}", error.message())];
            if let Some(ready) = ready.take() {
                // Whoever started this has gone if it cannot be told.
                let _ = ready.send(Err(error));
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(backoff(failures)), if !forever => {}
                () = stopped(&mut orders) => return,
            }
            failures += 1;
        }
    }

    async fn epoch(
        &self,
        opened: Opened,
        finder: &Finder,
        orders: &mut Orders,
        ready: &mut Option<SyncSender<Result<()>>>,
    ) -> End {
        let Opened { address, identity, connection, incoming } = opened;
        let mut translator = Translator::resume(self.options(), self.attach.memory.recall(&identity));
        let launched = finder.launched();
        let (notes, command) = launched.map(|one| (one.notes.clone(), one.command.clone())).unwrap_or_default();
        let begun = Watching { address, launched: launched.is_some(), command, notes, ..Watching::default() };
        let mut epoch = Epoch::new(self, connection, &mut translator, self.options(), begun);
        if let (Place::Launch(launch), true) = (&self.attach.place, ready.is_some()) {
            epoch.opens(launch.url.as_deref());
        }
        let end = epoch.run(incoming, orders, ready).await;
        epoch.finish(&end).await;
        self.attach.memory.keep(&identity, translator.into_replays());
        end
    }

    fn options(&self) -> TranslateOptions {
        let (page_hooks, mark) = (self.attach.page_hooks, self.attach.mark.clone());
        TranslateOptions { page_hooks, mark, ..TranslateOptions::default() }
    }

    fn interrupted(&self, reason: &str) {
        let mut state = lock(&self.state);
        *state = Watching { address: state.address.clone(), launched: state.launched, ..Watching::default() };
        drop(state);
        self.listener.interrupted(reason, (self.attach.clock)());
    }
}

/// Returns when the order to stop comes; other orders cannot be carried out without a browser.
async fn stopped(orders: &mut Orders) {
    while let Some(order) = orders.recv().await {
        match order {
            Order::Stop => return,
            Order::Check { answer } => drop(answer),
            Order::Navigate { answer, .. } => {
                let _ = answer.send(Err(Error::new(Code::BrowserUnreachable, "there is no browser to navigate")));
            }
        }
    }
}
