//! Who may be spoken with. A port hears and answers for every user of a machine, so whoever is asked to connect for somebody
//! else asks here first. It holds the question only: who answers it looks at the machine.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;

use crate::Result;

type Question = dyn Fn(SocketAddr, SocketAddr) -> Result<()> + Send + Sync;

/// Decides about a connection that is open and over which nothing was sent yet. The usual one admits everybody.
#[derive(Clone, Default)]
pub struct Admission(Option<Arc<Question>>);

impl Admission {
    /// Admits those for whom `question` has no error; it is told the address of our end, then of theirs.
    pub fn new(question: impl Fn(SocketAddr, SocketAddr) -> Result<()> + Send + Sync + 'static) -> Self {
        Admission(Some(Arc::new(question)))
    }

    /// Asks about one connection.
    pub fn check(&self, ours: SocketAddr, theirs: SocketAddr) -> Result<()> {
        self.0.as_ref().map_or(Ok(()), |question| question(ours, theirs))
    }
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Admission(some)" } else { "Admission(all)" })
    }
}
