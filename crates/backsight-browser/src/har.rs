//! The requests of the log as an HTTP Archive (HAR 1.2), for the many programs that read one. Redacted like everything that
//! is kept; frames of sockets are not kept, so there are none in it.

use backsight_core::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::browser::Browser;
use crate::event::{ActionKind, Category, Event, Request};
use crate::exchange::{Exchange, Head, Header, Timing};

/// An HTTP Archive.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Har {
    /// All of it.
    pub log: HarLog,
}

/// What an archive holds.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct HarLog {
    /// `1.2`.
    pub version: String,
    /// Who wrote it.
    pub creator: Creator,
    /// The loads of pages.
    pub pages: Vec<HarPage>,
    /// The requests, oldest first.
    pub entries: Vec<HarEntry>,
    /// What is missing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
}

/// Who wrote an archive.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Creator {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// A load of a page.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HarPage {
    /// When it was loaded.
    pub started_date_time: String,
    /// Its id within the archive.
    pub id: String,
    /// Its address.
    pub title: String,
    /// Not known.
    pub page_timings: Empty,
}

/// An object without fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct Empty {}

/// One request with its answer.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HarEntry {
    /// The load it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pageref: Option<String>,
    /// When it began.
    pub started_date_time: String,
    /// How long it took, in milliseconds; 0 when that is not known.
    pub time: f64,
    /// What was asked.
    pub request: HarRequest,
    /// What was answered.
    pub response: HarResponse,
    /// Not known.
    pub cache: Empty,
    /// How the time was spent.
    pub timings: HarTimings,
    /// Whom it was sent to.
    #[serde(default, rename = "serverIPAddress", skip_serializing_if = "Option::is_none")]
    pub server_ip_address: Option<String>,
    /// What it was for, as Chromium's own archives say it.
    #[serde(default, rename = "_resourceType", skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<String>,
    /// Why there was no whole answer.
    #[serde(default, rename = "_error", skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The entry's id in answers and in the log.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub comment: String,
}

/// What was asked.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HarRequest {
    /// `GET` and so on.
    pub method: String,
    /// Its address.
    pub url: String,
    /// `HTTP/1.1`.
    pub http_version: String,
    /// In the headers only, without their values.
    pub cookies: Vec<Header>,
    /// As sent.
    pub headers: Vec<Header>,
    /// The query taken apart.
    pub query_string: Vec<Header>,
    /// The body, if it was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub post_data: Option<PostData>,
    /// -1: not known.
    pub headers_size: i64,
    /// Of the body.
    pub body_size: i64,
}

/// A body that was sent.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PostData {
    /// What it is.
    pub mime_type: String,
    /// It.
    pub text: String,
}

/// What was answered.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HarResponse {
    /// 0 when there was no answer.
    pub status: u16,
    /// The words after it.
    pub status_text: String,
    /// `HTTP/1.1`.
    pub http_version: String,
    /// In the headers only, without their values.
    pub cookies: Vec<Header>,
    /// As they came.
    pub headers: Vec<Header>,
    /// The body.
    pub content: Content,
    /// Where to, when it was a redirect.
    #[serde(rename = "redirectURL")]
    pub redirect_url: String,
    /// -1: not known.
    pub headers_size: i64,
    /// -1: not known.
    pub body_size: i64,
}

/// A body that came back.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Content {
    /// Of what is kept of it.
    pub size: i64,
    /// What it is.
    pub mime_type: String,
    /// It, when it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// How the time of a request was spent; -1 is not known or did not happen.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
pub struct HarTimings {
    /// Waiting for a connection.
    pub blocked: f64,
    /// Looking up the host.
    pub dns: f64,
    /// Connecting, TLS included.
    pub connect: f64,
    /// Its TLS part.
    pub ssl: f64,
    /// Sending.
    pub send: f64,
    /// Waiting for the answer.
    pub wait: f64,
    /// Receiving it.
    pub receive: f64,
}

impl Browser {
    /// The requests that are kept, as an HTTP Archive.
    pub fn har(&self) -> Har {
        let (mut pages, mut entries, mut gone) = (Vec::new(), Vec::new(), 0);
        self.look(|telemetry| {
            for record in telemetry.log.of(Category::Actions) {
                if let Event::Action(action) = &*record.event
                    && action.kind == ActionKind::Navigate
                {
                    pages.push((action.time, action.target.clone()));
                }
            }
            for record in telemetry.log.of(Category::Network) {
                if let Event::Network(request) = &*record.event {
                    let id = crate::log::id(Category::Network, record.number);
                    (0..record.times.min(REPEATED)).for_each(|_| entries.push(entry(request, &id, &pages)));
                }
            }
            gone = telemetry.log.gone(Category::Network);
        });
        let comment = match gone {
            0 => String::new(),
            gone => format!("{gone} earlier requests are no longer kept"),
        };
        let pages = pages.into_iter().enumerate().map(|(number, (time, title))| HarPage {
            started_date_time: time.to_string(),
            id: page_id(number),
            title,
            page_timings: Empty {},
        });
        let creator = Creator { name: "Backsight".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() };
        Har { log: HarLog { version: "1.2".to_owned(), creator, pages: pages.collect(), entries, comment } }
    }
}

/// What a report tells so often at once is that often in the archive at most.
const REPEATED: u64 = 100;

fn page_id(number: usize) -> String {
    format!("page_{}", number + 1)
}

fn entry(request: &Request, id: &str, pages: &[(Timestamp, String)]) -> HarEntry {
    let none = Exchange::default();
    let exchange = request.exchange.as_deref().unwrap_or(&none);
    let time = request.duration_ms.unwrap_or(0.0).max(0.0);
    let started = Timestamp(request.time.0 - time as i64);
    let is_own = |(_, (at, url)): &(usize, &(Timestamp, String))| {
        *at <= request.time && request.page.as_deref().is_none_or(|page| bare(page) == bare(url))
    };
    let page = pages.iter().enumerate().rfind(is_own).map(|(number, _)| page_id(number));
    HarEntry {
        pageref: page,
        started_date_time: started.to_string(),
        time,
        request: asked(request, exchange),
        response: answered(request, exchange),
        cache: Empty {},
        timings: spent(time, exchange.timing),
        server_ip_address: exchange.remote.parse().map(|address: std::net::SocketAddr| address.ip().to_string()).ok(),
        resource_type: request.kind.clone(),
        error: request.failure.clone().or_else(|| request.canceled.then(|| "net::ERR_ABORTED".to_owned())),
        comment: id.to_owned(),
    }
}

fn bare(url: &str) -> &str {
    url.split('#').next().unwrap_or_default()
}

fn asked(request: &Request, exchange: &Exchange) -> HarRequest {
    let body = request.request_body.as_ref();
    let query = request.url.split_once('?').map(|(_, query)| bare(query)).unwrap_or_default();
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Header { name: name.to_owned(), value: value.to_owned() }
    });
    HarRequest {
        method: request.method.clone(),
        url: uri(&request.url),
        http_version: version(&exchange.protocol),
        cookies: Vec::new(),
        headers: headers(&exchange.request),
        query_string: pairs.collect(),
        post_data: body.map(|text| PostData {
            mime_type: exchange.request.get("content-type").unwrap_or_default().to_owned(),
            text: text.clone(),
        }),
        headers_size: -1,
        body_size: body.map_or(0, |body| body.len() as i64),
    }
}

fn answered(request: &Request, exchange: &Exchange) -> HarResponse {
    let body = request.response_body.as_ref();
    HarResponse {
        status: request.status,
        status_text: exchange.status_text.clone(),
        http_version: version(&exchange.protocol),
        cookies: Vec::new(),
        headers: headers(&exchange.response),
        content: Content {
            size: body.map_or(0, |body| body.len() as i64),
            mime_type: match exchange.mime_type.is_empty() {
                true => "x-unknown".to_owned(),
                false => exchange.mime_type.clone(),
            },
            text: body.cloned(),
        },
        redirect_url: exchange
            .response
            .get("location")
            .filter(|_| request.status / 100 == 3)
            .unwrap_or_default()
            .to_owned(),
        headers_size: -1,
        body_size: exchange.transferred.and_then(|bytes| i64::try_from(bytes).ok()).unwrap_or(-1),
    }
}

fn headers(head: &Head) -> Vec<Header> {
    head.headers.clone()
}

/// What takes the place of secrets has brackets, which addresses have around hosts only.
fn uri(url: &str) -> String {
    let path = url.find("://").map_or(0, |at| at + 3);
    let path = url[path..].find(['/', '?', '#']).map_or(url.len(), |at| path + at);
    let (origin, rest) = url.split_at(path);
    format!("{origin}{}", rest.replace('[', "%5B").replace(']', "%5D"))
}

/// `h2` is `HTTP/2` in an archive.
fn version(protocol: &str) -> String {
    match protocol {
        "" => "unknown".to_owned(),
        "h2" => "HTTP/2".to_owned(),
        "h3" => "HTTP/3".to_owned(),
        other => other.to_ascii_uppercase(),
    }
}

/// Phases that together take as long as the whole.
fn spent(time: f64, timing: Option<Timing>) -> HarTimings {
    let known = |phase: Option<f64>| phase.unwrap_or(-1.0);
    match timing {
        None => HarTimings { blocked: -1.0, dns: -1.0, connect: -1.0, ssl: -1.0, send: 0.0, wait: time, receive: 0.0 },
        Some(Timing { blocked, dns, connect, tls, send, wait }) => {
            let before = blocked.unwrap_or(0.0) + dns.unwrap_or(0.0) + connect.unwrap_or(0.0) + send + wait;
            let receive = (time - before).max(0.0);
            HarTimings {
                blocked: known(blocked),
                dns: known(dns),
                connect: known(connect),
                ssl: known(tls),
                send,
                wait,
                receive,
            }
        }
    }
}
