//! Slows down those who try tokens. The right token is never refused on this machine, whatever others try: only wrong
//! answers wait, and only an address of another machine with many of them waiting is told to come back before its token
//! is looked at. So the number of tokens a stranger can try is bounded, and the owner is not locked out.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// Wrong tokens of one address within [`WINDOW`] that are answered at once.
const FREE: u32 = 100;
const WINDOW: Duration = Duration::from_secs(60);
/// How long each further one waits for its answer.
const DELAY: Duration = Duration::from_secs(1);
/// How many of one address wait at once.
const WAITING: u32 = 16;
/// How many addresses are remembered; the rest share a place.
const ADDRESSES: usize = 1024;

/// Where a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoteAddress(pub IpAddr);

/// The addresses that sent wrong tokens lately.
#[derive(Debug)]
pub struct WrongTokens {
    tallies: Mutex<HashMap<IpAddr, Tally>>,
    delay: Duration,
}

impl Default for WrongTokens {
    fn default() -> Self {
        WrongTokens { tallies: Mutex::default(), delay: DELAY }
    }
}

#[derive(Debug)]
struct Tally {
    since: Instant,
    wrong: u32,
    waiting: u32,
}

impl WrongTokens {
    /// Whether a token from there may be looked at now.
    pub fn may_try(&self, from: IpAddr) -> bool {
        let address = whole(from);
        address.is_loopback() || self.lock().get(&address).is_none_or(|tally| tally.waiting < WAITING)
    }

    /// A token from there was wrong: waits as long as its answer has to.
    pub async fn slow_down(&self, from: IpAddr) {
        let Some(place) = self.count(whole(from)) else { return };
        tokio::time::sleep(self.delay).await;
        drop(place);
    }

    /// Counts a wrong token; its place among those who wait, if it has to.
    fn count(&self, address: IpAddr) -> Option<Waiting<'_>> {
        let now = Instant::now();
        let mut tallies = self.lock();
        if tallies.len() >= ADDRESSES {
            tallies.retain(|_, tally| tally.waiting > 0 || tally.since + WINDOW > now);
        }
        let is_known = tallies.contains_key(&address) || tallies.len() < ADDRESSES;
        let address = if is_known { address } else { IpAddr::V6(Ipv6Addr::UNSPECIFIED) };
        let tally = tallies.entry(address).or_insert(Tally { since: now, wrong: 0, waiting: 0 });
        if tally.since + WINDOW <= now {
            (tally.since, tally.wrong) = (now, 0);
        }
        tally.wrong = tally.wrong.saturating_add(1);
        if tally.wrong <= FREE || tally.waiting >= WAITING {
            return None;
        }
        tally.waiting += 1;
        Some(Waiting { all: self, address })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, Tally>> {
        self.tallies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A wrong token that waits for its answer; a client that goes away waits no more.
struct Waiting<'a> {
    all: &'a WrongTokens,
    address: IpAddr,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(tally) = self.all.lock().get_mut(&self.address) {
            tally.waiting -= 1;
        }
    }
}

/// The address that counts: of the newer protocol the network, for one machine has a whole one.
fn whole(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) if !six.is_loopback() => {
            let [a, b, c, d, ..] = six.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FROM: &str = "192.0.2.1";

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// Counts wrong tokens; those that have to wait.
    fn try_wrong<'a>(tokens: &'a WrongTokens, from: &str, times: u32) -> Vec<Waiting<'a>> {
        (0..times).filter_map(|_| tokens.count(whole(address(from)))).collect()
    }

    #[test]
    fn another_machine_that_guesses_has_to_wait_and_others_do_not() {
        let tokens = WrongTokens::default();
        let may = |from: &str| tokens.may_try(address(from));
        assert_eq!(try_wrong(&tokens, FROM, FREE).len(), 0);
        assert!(may(FROM));
        let waiting = try_wrong(&tokens, "::ffff:192.0.2.1", WAITING + 5);
        assert_eq!(waiting.len(), WAITING as usize);
        assert!(!may(FROM) && may("192.0.2.2") && may("127.0.0.1") && may("::1"));
        drop(waiting);
        assert!(may(FROM), "it may try again");
    }

    #[test]
    fn the_machine_itself_is_never_locked_out() {
        let tokens = WrongTokens::default();
        let _waiting = try_wrong(&tokens, "127.0.0.1", 10 * FREE);
        assert!(tokens.may_try(address("127.0.0.1")));
    }

    #[test]
    fn many_addresses_take_bounded_room() {
        let tokens = WrongTokens::default();
        for number in 0..5000_u32 {
            drop(try_wrong(&tokens, &format!("10.0.{}.{}", number >> 8, number & 255), 1));
        }
        assert!(tokens.lock().len() <= ADDRESSES + 1);
        let _waiting = try_wrong(&tokens, "2001:db8::1", FREE + WAITING);
        assert!(tokens.may_try(address("127.0.0.1")));
    }

    #[tokio::test]
    async fn a_wrong_token_after_many_is_answered_later() {
        let delay = Duration::from_millis(50);
        let tokens = WrongTokens { delay, ..WrongTokens::default() };
        drop(try_wrong(&tokens, FROM, FREE));
        let began = Instant::now();
        tokens.slow_down(address(FROM)).await;
        assert!(began.elapsed() >= delay && tokens.may_try(address(FROM)));
    }
}
