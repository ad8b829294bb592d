//! Connects to ports of this machine, and sends nothing to those who are not admitted.

use std::net::SocketAddr;
use std::sync::{Mutex, PoisonError};

use backsight_core::{Admission, Error};
use tokio::net::TcpStream;

/// Opens connections for whoever looks for a browser.
#[derive(Debug, Default)]
pub(crate) struct Dialer {
    admission: Admission,
    /// Why somebody was not spoken with; those who look go on and say it when they found nobody else.
    refusal: Mutex<Option<Error>>,
}

impl Dialer {
    pub(crate) fn new(admission: Admission) -> Self {
        Dialer { admission, refusal: Mutex::default() }
    }

    /// A connection over which nothing was sent. The failure is a phrase for the list of what was tried.
    pub(crate) async fn connect(&self, address: SocketAddr) -> Result<TcpStream, String> {
        let stream = TcpStream::connect(address).await.map_err(|error| error.to_string())?;
        let ends = stream.local_addr().and_then(|ours| Ok((ours, stream.peer_addr()?)));
        let (ours, theirs) = ends.map_err(|error| error.to_string())?;
        self.admission.check(ours, theirs).map_err(|refusal| {
            let phrase = refusal.message().to_owned();
            *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(refusal);
            phrase
        })?;
        Ok(stream)
    }

    /// The last refusal, once.
    pub(crate) fn refusal(&self) -> Option<Error> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
