//! Gets a connection to the browser that was asked for, the first time and whenever it was lost.

use std::time::Duration;

use backsight_core::{Code, Error};

use super::capture::Place;
use super::connection::{Connection, Incoming, Limits};
use super::discover::{self, Address, Endpoint};
use super::launch::Launched;

/// Knows where the browser should be, and owns it if it was started here.
pub(crate) struct Finder {
    place: Place,
    /// A browser that asks its user for permission first takes its time.
    patience: Duration,
    launched: Option<Launched>,
}

/// A browser that answered.
pub(crate) struct Opened {
    pub endpoint: Endpoint,
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
    pub(crate) fn new(place: Place, patience: Duration) -> Self {
        Finder { place, patience, launched: None }
    }

    /// Finds it and connects.
    pub(crate) async fn open(&mut self) -> std::result::Result<Opened, Missing> {
        let mut tried = Vec::new();
        for endpoint in self.endpoints(&mut tried).await? {
            let opened = Connection::open(endpoint.address, &endpoint.path, Limits::default(), self.patience).await;
            match opened {
                Ok((connection, incoming)) => return Ok(Opened { endpoint, connection, incoming }),
                Err(failure) => tried.push(format!("{endpoint}: {failure}")),
            }
        }
        Err(Missing::Yet(discover::unreachable(&tried)))
    }

    /// The browser that was started, if one was.
    pub(crate) fn launched(&self) -> Option<&Launched> {
        self.launched.as_ref()
    }

    /// Where it may be, likeliest first; what turned out to be nowhere goes to `tried`.
    async fn endpoints(&mut self, tried: &mut Vec<String>) -> std::result::Result<Vec<Endpoint>, Missing> {
        let found = match &self.place {
            Place::Url(url) => match Address::parse(url).map_err(Missing::Forever)? {
                Address::Http(addresses) => discover::ask(&addresses).await.map(|found| vec![found]),
                // A browser that was started again has the same port and another path.
                Address::Socket(endpoint) => match discover::ask(&[endpoint.address]).await {
                    Ok(now) if now.path != endpoint.path && now.path.starts_with("/devtools/browser/") => {
                        Ok(vec![endpoint, now])
                    }
                    _ => Ok(vec![endpoint]),
                },
            },
            Place::Port(port) => discover::ask(&discover::loopback(*port)).await.map(|found| vec![found]),
            Place::Profile(profile) => discover::from_profile(profile).map(|found| vec![found]),
            Place::Find { home } => {
                let (found, failures) = discover::look_around(home.as_deref()).await;
                tried.extend(failures);
                Ok(found)
            }
            Place::Launch(_) => return self.started().await.map(|endpoint| vec![endpoint]),
        };
        Ok(found.unwrap_or_else(|failure| {
            tried.push(failure);
            Vec::new()
        }))
    }

    async fn started(&mut self) -> std::result::Result<Endpoint, Missing> {
        let Place::Launch(launch) = &self.place else { return Err(Missing::Yet(discover::unreachable(&[]))) };
        let Some(launched) = &mut self.launched else {
            let (launched, endpoint) = launch.start(self.patience).await.map_err(Missing::Forever)?;
            self.launched = Some(launched);
            return Ok(endpoint);
        };
        match launched.exited() {
            // Whoever closes a browser does not want another one in its place.
            Some(status) => Err(Missing::Forever(ended(&status, &launched.last_words()))),
            None => launched.endpoint().map_err(|failure| Missing::Yet(discover::unreachable(&[failure]))),
        }
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
