//! Finds the DevTools endpoint of a browser that runs: by address, by port, by the file it leaves in its profile, or by
//! looking where browsers usually are. Only this machine is ever asked.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use backsight_core::{Code, Error, Result, bounded};
use serde::Deserialize;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::dial::Dialer;

/// How long a browser on this machine may take to say where its socket is.
const HTTP_PATIENCE: Duration = Duration::from_secs(3);
/// More than any answer of `/json/version`.
const HTTP_LARGEST: u64 = 64 << 10;
/// The port that tutorials and editors use.
const USUAL_PORT: u16 = 9222;

/// Where the protocol of a browser that runs can be spoken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// Always of this machine.
    pub address: SocketAddr,
    /// With the id a browser has from start to end: another path is another browser.
    pub path: String,
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ws://{}{}", self.address, self.path)
    }
}

/// What an address means: a socket to connect to as it is, or a port to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// `ws://127.0.0.1:9222/devtools/browser/...`
    Socket(Endpoint),
    /// `http://localhost:9222`, `localhost:9222`, `9222`
    Http(Vec<SocketAddr>),
}

impl Address {
    /// Reads what a person wrote. Addresses of other machines are refused: the protocol has no password, and everything a
    /// browser shows would cross the network.
    pub(crate) fn parse(text: &str) -> Result<Address> {
        let text = text.trim();
        let malformed = || {
            Error::new(Code::Usage, format!("`{text}` is not the address of a browser")).with_hint(
                "give a port (`9222`), `http://localhost:9222`, or `ws://127.0.0.1:9222/devtools/browser/...`",
            )
        };
        if let Ok(port) = text.parse::<u16>() {
            return Ok(Address::Http(loopback(port)));
        }
        let (scheme, rest) = text.split_once("://").unwrap_or(("http", text));
        let (authority, path) = match rest.find('/') {
            Some(slash) => rest.split_at(slash),
            None => (rest, "/"),
        };
        let addresses = resolve(authority).ok_or_else(malformed)??;
        match scheme.to_ascii_lowercase().as_str() {
            "http" => Ok(Address::Http(addresses)),
            "ws" if path == "/" => Ok(Address::Http(addresses)),
            "ws" if path.bytes().all(|byte| byte.is_ascii_graphic()) => {
                let address = *addresses.first().ok_or_else(malformed)?;
                Ok(Address::Socket(Endpoint { address, path: path.to_owned() }))
            }
            _ => Err(malformed()),
        }
    }
}

/// `host:port`, where the host is this machine under one of its own names; `None` when it is nothing of that form.
fn resolve(authority: &str) -> Option<Result<Vec<SocketAddr>>> {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
        _ => (authority, 80),
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    if host.eq_ignore_ascii_case("localhost") {
        return Some(Ok(loopback(port)));
    }
    match bare.parse::<IpAddr>() {
        Ok(address) if address.is_loopback() => Some(Ok(vec![SocketAddr::new(address, port)])),
        _ if bare.is_empty() || bare.contains(['@', ' ']) => None,
        _ => Some(Err(Error::new(Code::Usage, format!("`{bare}` is another machine, and only this one is watched"))
            .with_hint(format!(
                "forward its port with `ssh -L {port}:127.0.0.1:{port} {bare}` and attach to `http://127.0.0.1:{port}`"
            )))),
    }
}

/// This machine in both kinds of addresses; a browser listens at one of them.
pub(crate) fn loopback(port: u16) -> Vec<SocketAddr> {
    vec![SocketAddr::from((Ipv4Addr::LOCALHOST, port)), SocketAddr::from((Ipv6Addr::LOCALHOST, port))]
}

/// Asks a port which browser is behind it. The failure is a phrase for the list of what was tried.
pub(crate) async fn ask(dialer: &Dialer, addresses: &[SocketAddr]) -> std::result::Result<Endpoint, String> {
    let mut failure = String::from("no address");
    for (index, address) in addresses.iter().enumerate() {
        match tokio::time::timeout(HTTP_PATIENCE, version(dialer, *address)).await {
            Ok(Ok(path)) => return Ok(Endpoint { address: *address, path }),
            // The first address is the one people mean; what the second says would only confuse.
            Ok(Err(error)) if index == 0 => failure = format!("http://{address}/json/version: {error}"),
            Err(_) if index == 0 => failure = format!("http://{address}/json/version: no answer"),
            _ => {}
        }
    }
    Err(failure)
}

async fn version(dialer: &Dialer, address: SocketAddr) -> std::result::Result<String, String> {
    #[derive(Deserialize)]
    struct Version {
        #[serde(rename = "webSocketDebuggerUrl")]
        socket: String,
    }
    let mut stream = dialer.connect(address).await?;
    let request = format!("GET /json/version HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.map_err(|error| error.to_string())?;
    let body = answer(&mut stream).await?;
    let version: Version = serde_json::from_slice(&body).map_err(|_| "not a browser's answer".to_owned())?;
    // Only the path is believed: the host is the one that was asked.
    let rest = version.socket.split_once("://").map(|(_, rest)| rest).unwrap_or_default();
    match rest.find('/') {
        Some(slash) => Ok(rest[slash..].to_owned()),
        None => Err("not a browser's answer".to_owned()),
    }
}

/// The body of an HTTP answer of known length, or up to the end of the connection.
async fn answer(stream: &mut TcpStream) -> std::result::Result<Vec<u8>, String> {
    let mut all = Vec::new();
    let mut stream = stream.take(HTTP_LARGEST);
    loop {
        if let Some((head, body)) = split_head(&all) {
            let status = head.split(' ').nth(1).unwrap_or_default();
            if status != "200" {
                return Err(format!("HTTP status {status}"));
            }
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
            });
            if length.is_some_and(|length| body.len() >= length) {
                return Ok(body.to_vec());
            }
        }
        let read = stream.read_buf(&mut all).await.map_err(|error| error.to_string())?;
        if read == 0 {
            return split_head(&all).map(|(_, body)| body.to_vec()).ok_or_else(|| "not an HTTP answer".to_owned());
        }
    }
}

fn split_head(all: &[u8]) -> Option<(&str, &[u8])> {
    let end = all.windows(4).position(|window| window == b"\r\n\r\n")?;
    let (head, body) = all.split_at(end);
    Some((std::str::from_utf8(head).ok()?, body.get(4..)?))
}

/// A port and a path; anything longer is no such file.
const LONGEST_PORT_FILE: u64 = 4096;

/// Reads the file in which a browser says where it listens. It outlives a browser that crashed, so what it names need not
/// exist. The failure is a phrase for the list of what was tried.
pub(crate) fn from_profile(profile: &Path) -> std::result::Result<Endpoint, String> {
    let file = profile.join("DevToolsActivePort");
    let text = bounded::read(&file, LONGEST_PORT_FILE).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("`{}`: no such file", file.display()),
        _ => format!("`{}`: {error}", file.display()),
    })?;
    parse_active_port(&String::from_utf8_lossy(&text))
        .ok_or_else(|| format!("`{}`: no port and path in it", file.display()))
}

fn parse_active_port(text: &str) -> Option<Endpoint> {
    let mut lines = text.lines().map(str::trim);
    let port: u16 = lines.next()?.parse().ok().filter(|port| *port != 0)?;
    let path = lines.next().filter(|path| path.starts_with('/') && path.bytes().all(|byte| byte.is_ascii_graphic()))?;
    Some(Endpoint { address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)), path: path.to_owned() })
}

/// Where the browsers of one person keep their profiles, on Linux and macOS.
pub(crate) fn usual_profiles(home: &Path) -> Vec<PathBuf> {
    const LINUX: [&str; 7] = [
        ".config/google-chrome",
        ".config/google-chrome-beta",
        ".config/google-chrome-unstable",
        ".config/chromium",
        ".config/microsoft-edge",
        ".config/BraveSoftware/Brave-Browser",
        "snap/chromium/common/chromium",
    ];
    const MACOS: [&str; 6] = [
        "Library/Application Support/Google/Chrome",
        "Library/Application Support/Google/Chrome Beta",
        "Library/Application Support/Google/Chrome Canary",
        "Library/Application Support/Chromium",
        "Library/Application Support/Microsoft Edge",
        "Library/Application Support/BraveSoftware/Brave-Browser",
    ];
    LINUX.iter().chain(&MACOS).map(|profile| home.join(profile)).filter(|profile| profile.is_dir()).collect()
}

/// Looks where browsers usually are: every endpoint that may be one, best first, and what was tried in vain.
pub(crate) async fn look_around(dialer: &Dialer, home: Option<&Path>) -> (Vec<Endpoint>, Vec<String>) {
    let (mut found, mut tried) = (Vec::new(), Vec::new());
    for profile in home.map(usual_profiles).unwrap_or_default() {
        match from_profile(&profile) {
            Ok(endpoint) => found.push(endpoint),
            Err(failure) => tried.push(failure),
        }
    }
    match ask(dialer, &loopback(USUAL_PORT)).await {
        Ok(endpoint) if found.contains(&endpoint) => {}
        Ok(endpoint) => found.push(endpoint),
        Err(failure) => tried.push(failure),
    }
    (found, tried)
}

/// No browser answered: what was tried, and how to start one that will.
pub(crate) fn unreachable(tried: &[String]) -> Error {
    let message = match tried {
        [] => "no browser with a debugging port was found".to_owned(),
        tried => format!("no browser answers: {}", tried.join("; ")),
    };
    Error::new(Code::BrowserUnreachable, message).with_hint(
        "start one with `chromium --remote-debugging-port=9222 --user-data-dir=/tmp/backsight-chromium` (since version 136 \
         Chrome ignores the port on its default profile, so a `--user-data-dir` is needed), or in Chrome 144 and later allow \
         it for the running one at `chrome://inspect/#remote-debugging`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here(port: u16) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, port))
    }

    #[test]
    fn a_port_a_host_and_a_socket_are_addresses() {
        for text in ["9222", "localhost:9222", "http://localhost:9222", "http://LOCALHOST:9222/", "ws://localhost:9222"]
        {
            assert_eq!(Address::parse(text).unwrap(), Address::Http(loopback(9222)), "{text}");
        }
        assert_eq!(Address::parse("http://127.0.0.1:1/json").unwrap(), Address::Http(vec![here(1)]));
        assert_eq!(Address::parse("[::1]:7").unwrap(), Address::Http(vec![SocketAddr::from((Ipv6Addr::LOCALHOST, 7))]));
        let socket = Endpoint { address: here(5), path: "/devtools/browser/a-b".to_owned() };
        assert_eq!(Address::parse("ws://127.0.0.1:5/devtools/browser/a-b").unwrap(), Address::Socket(socket));
    }

    #[test]
    fn other_machines_are_refused_with_a_way_to_reach_them() {
        for text in ["ws://example.com:9222/devtools/browser/x", "http://10.0.0.1:9222", "dev.local:1", "0.0.0.0:9222"]
        {
            let error = Address::parse(text).unwrap_err();
            assert_eq!(error.code(), Code::Usage, "{text}");
            assert!(error.hint().unwrap().contains("ssh -L"), "{text}: {error}");
        }
    }

    #[test]
    fn nonsense_is_no_address() {
        for text in
            ["", "ftp://localhost:1/", "localhost:99999", "http://user@localhost:1", "ws://127.0.0.1:5/a b", "://"]
        {
            assert_eq!(Address::parse(text).unwrap_err().code(), Code::Usage, "{text}");
        }
    }

    #[test]
    fn a_profile_with_a_device_or_a_pipe_for_a_file_is_not_read() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("DevToolsActivePort");
        std::os::unix::fs::symlink("/dev/zero", &file).unwrap();
        assert!(from_profile(directory.path()).unwrap_err().contains("not a regular file"));
        std::fs::remove_file(&file).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU, 0).unwrap();
        assert!(from_profile(directory.path()).unwrap_err().contains("not a regular file"));
    }

    #[test]
    fn the_file_in_a_profile_names_port_and_path() {
        let endpoint = parse_active_port("38101\n/devtools/browser/468\n").unwrap();
        assert_eq!(endpoint.to_string(), "ws://127.0.0.1:38101/devtools/browser/468");
        for damaged in ["", "x\n/a", "0\n/a", "99999\n/a", "1", "1\nhttp://a", "1\n/a b"] {
            assert_eq!(parse_active_port(damaged), None, "{damaged:?}");
        }
    }

    #[test]
    fn what_was_tried_and_how_to_start_a_browser_are_said() {
        let error = unreachable(&["`/p/DevToolsActivePort`: no such file".to_owned()]);
        assert_eq!(error.code(), Code::BrowserUnreachable);
        assert!(error.message().contains("/p/DevToolsActivePort"));
        assert!(error.hint().unwrap().contains("--remote-debugging-port=9222 --user-data-dir="));
    }
}
