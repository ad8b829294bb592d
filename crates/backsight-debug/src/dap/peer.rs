//! Who is at the other end of a connection of this machine. A port hears every process of every user; the system's own tables
//! say whose a connection is, before a byte of it is believed.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

use tokio::net::{TcpListener, TcpStream};

/// Whose calls are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// A process that was started here, and whatever it started.
    Started(i32),
    /// A process that was there before.
    Process(i32),
}

/// The first call that comes from there; others are hung up on, and the next one is waited for.
pub(crate) async fn accept(listener: &TcpListener, caller: Caller) -> std::io::Result<TcpStream> {
    loop {
        let (stream, from) = listener.accept().await?;
        if is_from(caller, from, stream.local_addr()?) {
            return Ok(stream);
        }
    }
}

/// The user at the other end of a connection: of whoever took it, or while nobody did, of whoever listens there. None where
/// the system does not say, or names several.
pub fn owner(ours: SocketAddr, theirs: SocketAddr) -> Option<u32> {
    owner_in(&rows()?, ours, theirs)
}

fn owner_in(rows: &[Row], ours: SocketAddr, theirs: SocketAddr) -> Option<u32> {
    let plain = |address: SocketAddr| SocketAddr::new(address.ip().to_canonical(), address.port());
    let (ours, theirs) = (plain(ours), plain(theirs));
    // The end that nobody took yet belongs to root, whatever it says.
    let taken = rows.iter().find(|row| row.local == theirs && row.remote == ours && row.inode != 0);
    if let Some(row) = taken {
        return Some(row.user);
    }
    let is_there = |row: &&Row| row.local.ip() == theirs.ip() || row.local.ip().is_unspecified();
    let listeners = rows.iter().filter(|row| row.listens && row.local.port() == theirs.port());
    let mut users = listeners.filter(is_there).map(|row| row.user);
    let first = users.next()?;
    users.all(|user| user == first).then_some(first)
}

/// The system's table of connections; none where it has no such thing.
fn rows() -> Option<Vec<Row>> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(std::fs::read_to_string);
    if tables.iter().all(Result::is_err) {
        return None;
    }
    Some(tables.iter().flatten().flat_map(|table| table.lines()).filter_map(row).collect())
}

/// Whether the process at one end of a connection is the one that was expected. Where the system does not say, it is believed.
fn is_from(caller: Caller, from: SocketAddr, to: SocketAddr) -> bool {
    let Some(rows) = rows() else { return true };
    let Some(end) = rows.iter().find(|row| row.local == from && row.remote == to) else { return false };
    // The end that a process has let go of is nobody's, whatever it says.
    let is_own = end.user == rustix::process::geteuid().as_raw() && end.inode != 0;
    is_own && holders(end.inode).iter().any(|process| matches(caller, *process))
}

fn matches(caller: Caller, process: i32) -> bool {
    match caller {
        Caller::Process(expected) => process == expected,
        Caller::Started(first) => {
            let mut at = process;
            // Ancestors are few; a table that changes while it is read must not make a ring of them.
            for _ in 0..64 {
                match relations(at) {
                    _ if at == first => return true,
                    Some((_, group)) if group == first => return true,
                    Some((parent, _)) if parent > 1 => at = parent,
                    _ => return false,
                }
            }
            false
        }
    }
}

/// The parent of a process and its group.
fn relations(process: i32) -> Option<(i32, i32)> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before may hold anything, also parentheses.
    let mut words = stat.rsplit_once(')')?.1.split_whitespace().skip(1);
    Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// The processes that hold a socket, of those that may be looked at: other users' may not.
fn holders(inode: u64) -> Vec<i32> {
    let wanted = format!("socket:[{inode}]");
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let holds = |process: &i32| {
        let files = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        let links = files.filter_map(|file| std::fs::read_link(file.path()).ok());
        links.into_iter().any(|link| link == Path::new(&wanted))
    };
    numbers.filter(holds).collect()
}

/// A line of the system's table of connections.
struct Row {
    local: SocketAddr,
    remote: SocketAddr,
    listens: bool,
    user: u32,
    inode: u64,
}

fn row(line: &str) -> Option<Row> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (local, remote) = (address(words.get(1)?)?, address(words.get(2)?)?);
    let (user, inode) = (words.get(7)?.parse().ok()?, words.get(9)?.parse().ok()?);
    Some(Row { local, remote, listens: *words.get(3)? == "0A", user, inode })
}

/// `0100007F:1F90`: every four bytes are written as one number.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let part = |at: usize| u32::from_str_radix(ip.get(at * 8..at * 8 + 8)?, 16).ok().map(u32::to_ne_bytes);
    let ip = match ip.len() {
        8 => IpAddr::V4(Ipv4Addr::from(part(0)?)),
        32 => {
            let bytes: Vec<u8> = (0..4).filter_map(part).flatten().collect();
            IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes).ok()?))
        }
        _ => return None,
    };
    // A connection of the older kind is in the newer table under a longer name.
    Some(SocketAddr::new(ip.to_canonical(), u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_table_is_read() {
        let line =
            "  12: 0100007F:9C40 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0000";
        let found = row(line).unwrap();
        assert_eq!(
            (found.local, found.remote),
            ("127.0.0.1:40000".parse().unwrap(), "127.0.0.1:8080".parse().unwrap())
        );
        assert_eq!((found.user, found.inode), (1000, 4711));
        let mapped = "0000000000000000FFFF00000100007F:1F90";
        assert_eq!(address(mapped), Some("127.0.0.1:8080".parse().unwrap()));
        for odd in ["", "  sl  local_address rem_address", "0: x y 01", "0100007F", "01:01", "é000007F:1F90"] {
            assert!(row(odd).is_none() && address(odd).is_none(), "{odd}");
        }
    }

    #[test]
    fn the_owner_is_whoever_took_the_connection_or_listens() {
        let at = |text: &str| text.parse::<SocketAddr>().unwrap();
        let line = |local: &str, remote: &str, state: &str, user: u32, inode: u32| {
            row(&format!("0: {local} {remote} {state} 0:0 0:0 0 {user} 0 {inode} 1")).unwrap()
        };
        let (ours, theirs) = (at("127.0.0.1:40000"), at("127.0.0.1:9229"));
        let (far, near, any) = ("0100007F:240D", "0100007F:9C40", "00000000:240D");
        let listens = |local: &str, user| line(local, "00000000:0000", "0A", user, 7);
        let owner = |rows: &[Row]| owner_in(rows, ours, theirs);
        assert_eq!(owner(&[listens(far, 5)]), Some(5));
        assert_eq!(owner(&[listens(any, 5), listens("0200007F:240D", 6)]), Some(5));
        assert_eq!(owner(&[listens(any, 5), listens(far, 6)]), None, "it is not known which of them answers");
        assert_eq!(owner(&[listens(far, 5), line(far, near, "01", 6, 8)]), Some(6));
        assert_eq!(owner(&[listens(far, 5), line(far, near, "01", 0, 0)]), Some(5), "nobody took it yet");
        assert_eq!(owner(&[line(near, far, "01", 4, 9), listens("0100007F:240E", 5)]), None);
        assert_eq!(owner(&[]), None);
    }

    #[test]
    fn ones_own_listener_is_known_before_and_after_it_takes_a_call() {
        let own = Some(rustix::process::geteuid().as_raw());
        for address in ["127.0.0.1:0", "0.0.0.0:0"] {
            let listener = std::net::TcpListener::bind(address).unwrap();
            let port = listener.local_addr().unwrap().port();
            let call = std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
            let ends = (call.local_addr().unwrap(), call.peer_addr().unwrap());
            assert_eq!(super::owner(ends.0, ends.1), own, "{address}");
            let taken = listener.accept().unwrap();
            drop(listener);
            assert_eq!(super::owner(ends.0, ends.1), own, "{address}");
            drop(taken);
        }
    }

    #[tokio::test]
    async fn only_the_expected_process_is_heard() {
        let (listener, port) = super::super::transport::listen().await.unwrap();
        let own = i32::try_from(std::process::id()).unwrap();
        let call = || std::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        let ours = call();
        assert!(accept(&listener, Caller::Process(own)).await.is_ok());
        // A call of this very process is none of another one's.
        let other = call();
        let waited = std::time::Duration::from_millis(300);
        assert!(tokio::time::timeout(waited, accept(&listener, Caller::Process(1))).await.is_err());
        // One that hung up before it was looked at is nobody's.
        drop(call());
        assert!(tokio::time::timeout(waited, accept(&listener, Caller::Process(own))).await.is_err());
        drop((ours, other));
    }
}
