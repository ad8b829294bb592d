//! Gets a connection to the browser that was asked for, the first time and whenever it was lost.

use std::time::Duration;

use backsight_core::{Admission, Code, Error};

use super::capture::Place;
use super::connection::{Connection, Incoming, Limits};
use super::dial::Dialer;
use super::discover::{self, Address, Endpoint};
use super::launch::{Launch, Launched};

/// Knows where the browser should be, and owns it if it was started here.
pub(crate) struct Finder {
    place: Place,
    dialer: Dialer,
    /// A browser that asks its user for permission first takes its time.
    patience: Duration,
    launched: Option<Launched>,
    /// Whether it was found before.
    was_open: bool,
}

/// A browser that answered.
pub(crate) struct Opened {
    /// Where, for people.
    pub address: String,
    /// What it has from its start to its end: what it told before is known by this.
    pub identity: String,
    pub connection: Connection,
    pub incoming: Incoming,
}

/// Whether it is worth trying again.
pub(crate) enum Missing {
    /// It may come, or come back.
    Yet(Error),
    /// It will not.
    Forever(Error),
}

impl Finder {
    pub(crate) fn new(place: Place, admission: Admission, patience: Duration) -> Self {
        Finder { place, dialer: Dialer::new(admission), patience, launched: None, was_open: false }
    }

    /// Finds it and connects.
    pub(crate) async fn open(&mut self) -> std::result::Result<Opened, Missing> {
        if let Place::Launch(launch) = &self.place {
            return started(launch, &mut self.launched, self.patience).await;
        }
        // What was refused the last time says nothing about this one.
        drop(self.dialer.refusal());
        let mut tried = Vec::new();
        for endpoint in self.endpoints(&mut tried).await? {
            let Endpoint { address, path } = &endpoint;
            match Connection::open(&self.dialer, *address, path, Limits::default(), self.patience).await {
                Ok((connection, incoming)) => {
                    self.was_open = true;
                    let address = endpoint.to_string();
                    return Ok(Opened { address, identity: endpoint.path, connection, incoming });
                }
                Err(failure) => tried.push(format!("{endpoint}: {failure}")),
            }
        }
        // Whoever may not be spoken with today is perhaps gone tomorrow.
        Err(Missing::Yet(self.dialer.refusal().unwrap_or_else(|| discover::unreachable(&tried))))
    }

    /// The browser that was started, if one was.
    pub(crate) fn launched(&self) -> Option<&Launched> {
        self.launched.as_ref()
    }

    /// Where it may be, likeliest first; what turned out to be nowhere goes to `tried`.
    async fn endpoints(&mut self, tried: &mut Vec<String>) -> std::result::Result<Vec<Endpoint>, Missing> {
        let found = match &self.place {
            Place::Url(url) | Place::Known(url) => match Address::parse(url).map_err(Missing::Forever)? {
                Address::Http(addresses) => discover::ask(&self.dialer, &addresses).await.map(|found| vec![found]),
                Address::Socket(endpoint) if matches!(self.place, Place::Known(_)) && !self.was_open => {
                    Ok(vec![endpoint])
                }
                // A browser that was started again has the same port and another path.
                Address::Socket(endpoint) => match discover::ask(&self.dialer, &[endpoint.address]).await {
                    Ok(now) if now.path != endpoint.path && now.path.starts_with("/devtools/browser/") => {
                        Ok(vec![endpoint, now])
                    }
                    _ => Ok(vec![endpoint]),
                },
            },
            Place::Port(port) => discover::ask(&self.dialer, &discover::loopback(*port)).await.map(|found| vec![found]),
            Place::Profile(profile) => discover::from_profile(profile).map(|found| vec![found]),
            Place::Find { home } => {
                let (found, failures) = discover::look_around(&self.dialer, home.as_deref()).await;
                tried.extend(failures);
                Ok(found)
            }
            // It is started, not looked for.
            Place::Launch(_) => Ok(Vec::new()),
        };
        Ok(found.unwrap_or_else(|failure| {
            tried.push(failure);
            Vec::new()
        }))
    }
}

/// Starts the browser, once: whoever closes a browser does not want another one in its place.
async fn started(
    launch: &Launch,
    place: &mut Option<Launched>,
    patience: Duration,
) -> std::result::Result<Opened, Missing> {
    let Some(launched) = place else {
        let (launched, connection, incoming) = launch.start(patience).await.map_err(Missing::Forever)?;
        let address = launched.address();
        *place = Some(launched);
        return Ok(Opened { identity: address.clone(), address, connection, incoming });
    };
    match launched.exited() {
        Some(status) => Err(Missing::Forever(ended(&status, &launched.last_words()))),
        // Its pipe is closed, which is its order to end.
        None => Err(Missing::Yet(Error::new(Code::BrowserUnreachable, "the browser that was started here is ending"))),
    }
}

fn ended(status: &std::process::ExitStatus, words: &[String]) -> Error {
    let mut message = format!("the browser that was started here has ended ({status})");
    if !status.success() && !words.is_empty() {
        message.push_str("; it said: ");
        message.push_str(&words.join(" | "));
    }
    Error::new(Code::BrowserUnreachable, message)
}

impl Missing {
    pub(crate) fn error(self) -> Error {
        match self {
            Missing::Yet(error) | Missing::Forever(error) => error,
        }
    }
}

/// Waits longer after each failure, up to some seconds.
pub(crate) fn backoff(failures: u32) -> Duration {
    Duration::from_millis(100 << failures.min(5)).min(Duration::from_secs(3))
}
