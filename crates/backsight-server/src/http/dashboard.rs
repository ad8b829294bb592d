//! The dashboard: pages for people, served from this binary. Every page is the same small document, which loads the scripts
//! below `../dashboard`; they ask the API like every other client. Nothing here says anything of the workspace.

use std::io::Write;
use std::sync::OnceLock;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use backsight_core::{Code, Error};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};

use super::viewers::{self, Viewer};
use super::{Shared, failure};
use crate::serve::random_token;

/// Where scripts and styles are.
pub const ASSETS: &str = "/assets/";

/// What a page may do: load our own scripts and styles, ask this server, and nothing else. Scripts cannot turn text into
/// markup, whatever they are given.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// The first parts of the addresses of pages. With `.json` behind it, an address of a page is that of its data: what stands
/// behind the first part becomes the parameters named here.
const PAGES: &[Page] = &[
    Page { name: "", data: "/api/since", takes: &[], always: "", only: &[] },
    Page { name: "index", data: "/api/since", takes: &[], always: "", only: &[] },
    Page { name: "timeline", data: "/api/timeline", takes: &[], always: "", only: &["group", "q", "from", "to"] },
    Page { name: "step", data: "/api/hunks", takes: &["ref"], always: "", only: LOOKS },
    Page { name: "range", data: "/api/hunks", takes: &["from", "to"], always: "", only: LOOKS },
    Page { name: "attempts", data: "/api/attempts", takes: &["one", "other"], always: "", only: &[] },
    Page { name: "checkpoints", data: "/api/browser/checkpoints", takes: &[], always: "", only: &[] },
    Page { name: "checkpoint", data: "/api/changes", takes: &["checkpoint"], always: LOOKING, only: &[] },
    Page { name: "errors", data: "/api/changes", takes: &[], always: ALL_ERRORS, only: &[] },
    Page { name: "error", data: "/api/browser/entries", takes: &[], always: "", only: &[] },
    Page { name: "debug", data: "/api/debug/sessions", takes: &[], always: "", only: &["session"] },
    Page { name: "store", data: "/api/usage", takes: &[], always: "", only: &[] },
];
/// How a page of differences shows them.
const LOOKS: &[&str] = &["view", "file", "wrap", "who"];
/// A person looks and moves no place.
const LOOKING: &str = "client=dashboard&peek=true";
const ALL_ERRORS: &str = "client=dashboard&peek=true&checkpoint=start";

struct Page {
    name: &'static str,
    /// Where its data is.
    data: &'static str,
    /// As which parameters the parts of its address are meant; behind the data's address when there are none.
    takes: &'static [&'static str],
    /// Parameters it always has.
    always: &'static str,
    /// Parameters that say how the page shows it and not what.
    only: &'static [&'static str],
}

/// One file of the dashboard.
struct Asset {
    name: &'static str,
    bytes: &'static [u8],
}

macro_rules! assets {
    ($($name:literal: $file:literal,)*) => {
        const FILES: &[Asset] =
            &[$(Asset { name: $name, bytes: include_bytes!(concat!("../dashboard/", $file)) }),*];
    };
}

assets! {
    "app.css": "web/app.css",
    "app.js": "web/app.js",
    "api.js": "web/api.js",
    "chart.js": "web/chart.js",
    "code.js": "web/code.js",
    "comments.js": "web/comments.js",
    "diff.js": "web/diff.js",
    "enter.js": "web/enter.js",
    "going.js": "web/going.js",
    "icon.svg": "web/icon.svg",
    "keys.js": "web/keys.js",
    "lines.js": "web/lines.js",
    "list.js": "web/list.js",
    "pages/attempts.js": "web/pages/attempts.js",
    "pages/checkpoints.js": "web/pages/checkpoints.js",
    "pages/debug.js": "web/pages/debug.js",
    "pages/diff.js": "web/pages/diff.js",
    "pages/errors.js": "web/pages/errors.js",
    "pages/since.js": "web/pages/since.js",
    "pages/store.js": "web/pages/store.js",
    "pages/timeline.js": "web/pages/timeline.js",
    "parts.js": "web/parts.js",
    "rows.js": "web/rows.js",
    "uplot.css": "vendor/uplot.css",
    "uplot.js": "vendor/uplot.js",
    "vendor.js": "vendor/vendor.js",
    "words.js": "web/words.js",
}

/// The dashboard's looks, which a report has too.
pub const STYLE: &str = include_str!("../dashboard/web/app.css");

const SHELL: &str = include_str!("../dashboard/web/index.html");

/// Whether an address is a page's.
pub fn is_page(path: &str) -> bool {
    page_of(path.strip_suffix(".json").unwrap_or(path)).is_some()
}

fn page_of(path: &str) -> Option<(&'static Page, Vec<&str>)> {
    let mut parts = path.strip_prefix('/')?.split('/');
    let first = parts.next()?;
    let rest: Vec<&str> = parts.collect();
    let fits = |page: &&Page| page.name == first && (page.takes.is_empty() || rest.len() <= page.takes.len());
    PAGES.iter().find(fits).map(|page| (page, rest))
}

pub(super) fn router() -> Router<Shared> {
    let pages = PAGES.iter().filter(|page| !page.name.is_empty()).fold(Router::new(), |router, page| {
        let name = page.name;
        router
            .route(&format!("/{name}"), get(shell))
            .route(&format!("/{name}.json"), get(shell))
            .route(&format!("/{name}/{{*rest}}"), get(shell))
    });
    pages.route("/", get(shell)).route(viewers::PATH, get(enter)).route("/assets/{*name}", get(asset))
}

/// The address of a page with `.json` as that of its data, unless a person opens it in a browser: then the page shows it.
pub async fn data_of_page(mut request: Request, next: Next) -> Response {
    let is_opened = request.headers().get("sec-fetch-dest").is_some_and(|dest| dest == "document");
    if !is_opened && let Some(target) = data_address(request.uri()) {
        *request.uri_mut() = target;
    }
    next.run(request).await
}

fn data_address(uri: &Uri) -> Option<Uri> {
    let (page, parts) = page_of(uri.path().strip_suffix(".json")?)?;
    let below =
        if page.takes.is_empty() { parts.iter().map(|part| format!("/{part}")).collect() } else { String::new() };
    let named = page.takes.iter().zip(&parts).map(|(name, part)| format!("{name}={part}"));
    let is_data = |pair: &&str| !page.only.contains(&pair.split('=').next().unwrap_or_default());
    let rest = uri.query().unwrap_or_default().split('&').filter(is_data);
    let rest = [page.always].into_iter().chain(rest).map(str::to_owned);
    let query: Vec<String> = named.chain(rest).filter(|part| !part.is_empty()).collect();
    format!("{}{below}?{}", page.data, query.join("&")).parse().ok()
}

async fn shell() -> Response {
    page(SHELL)
}

fn page(text: impl Into<String>) -> Response {
    let set = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let mut response = (set, text.into()).into_response();
    let headers = response.headers_mut();
    for (name, value) in [
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), geolocation=(), microphone=(), usb=()"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Takes a code; the browser gets its cookie and a page that keeps the key and goes on to the start page. The address with
/// the code does not stay in the history, and would open nothing.
async fn enter(State(shared): State<Shared>, uri: Uri) -> Response {
    let now = shared.door.time();
    let Some(viewers) = &shared.viewers else {
        return failure(&Error::new(Code::RouteNotFound, "this server has no dashboard"));
    };
    match viewers.admit(uri.query().unwrap_or_default(), now, random_token) {
        Ok(viewer) => {
            let mut response = page(entering(&viewer));
            if let Ok(cookie) = HeaderValue::from_str(&viewers.set_cookie(&viewer)) {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
        Err(error) => {
            let why = format!("{error}");
            let mut response = page(refusing(&why));
            *response.status_mut() = StatusCode::UNAUTHORIZED;
            response
        }
    }
}

fn entering(viewer: &Viewer) -> String {
    let (key, person) = (escaped(&viewer.key), escaped(&viewer.person));
    document(
        &format!(
            "<meta name=\"backsight-key\" content=\"{key}\"><meta name=\"backsight-person\" content=\"{person}\">\
         <script type=\"module\" src=\"/assets/enter.js\"></script>"
        ),
        "<p class=\"door\">Opening the dashboard …</p>",
    )
}

fn refusing(why: &str) -> String {
    let why = escaped(why);
    document(
        "",
        &format!(
            "<main class=\"door\"><h1>This address opens nothing</h1><p>{why}.</p>\
          <p>Run <code>backsight open</code> in the workspace; it prints a new one.</p></main>"
        ),
    )
}

fn document(head: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Backsight</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><link rel=\"stylesheet\" href=\"/assets/app.css\">{head}\
         </head><body>{body}</body></html>"
    )
}

/// Text as markup shows it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Response {
    let Some(index) = FILES.iter().position(|asset| asset.name == name) else {
        return failure(&Error::new(Code::RouteNotFound, "the dashboard has no such part"));
    };
    #[cfg(debug_assertions)]
    if let Some(response) = from_disk(&name) {
        return response;
    }
    let packed = &packed()[index];
    let kind = kind_of(&name);
    let tag = format!("\"{:08x}-{:x}\"", packed.sum, FILES[index].bytes.len());
    if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == tag.as_bytes()) {
        return (StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response();
    }
    let takes_gzip = headers
        .get(header::ACCEPT_ENCODING)
        .and_then(|accepted| accepted.to_str().ok())
        .is_some_and(|accepted| accepted.split(',').any(|one| one.trim().starts_with("gzip")));
    let set = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::ETAG, tag),
        // Asked for again with every visit, and mostly answered with "as before".
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::VARY, "accept-encoding".to_owned()),
    ];
    let mut response = match takes_gzip {
        true => (set, [(header::CONTENT_ENCODING, "gzip")], packed.gzip.as_slice()).into_response(),
        false => (set, FILES[index].bytes).into_response(),
    };
    response.headers_mut().insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    response
}

/// A file as it is while somebody works on the dashboard: no build for a change of colour.
#[cfg(debug_assertions)]
#[expect(clippy::disallowed_methods, reason = "only in debug builds, for an engineer at the dashboard's sources")]
fn from_disk(name: &str) -> Option<Response> {
    let folder = std::env::var_os("BACKSIGHT_DASHBOARD")?;
    let bytes = std::fs::read(std::path::Path::new(&folder).join(name)).ok()?;
    let set = [(header::CONTENT_TYPE, kind_of(name)), (header::CACHE_CONTROL, "no-store")];
    Some((set, bytes).into_response())
}

fn kind_of(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        _ => "text/javascript; charset=utf-8",
    }
}

/// A file as it is sent.
struct Packed {
    gzip: Vec<u8>,
    sum: u32,
}

/// Every file, packed when the first one is asked for.
fn packed() -> &'static [Packed] {
    static PACKED: OnceLock<Vec<Packed>> = OnceLock::new();
    PACKED.get_or_init(|| FILES.iter().map(|asset| pack(asset.bytes)).collect())
}

fn pack(bytes: &[u8]) -> Packed {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    // Writing into memory does not fail.
    let _ = encoder.write_all(bytes);
    Packed { gzip: encoder.finish().unwrap_or_default(), sum: crc32fast::hash(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(address: &str) -> Option<String> {
        data_address(&address.parse().unwrap()).map(|uri| uri.to_string())
    }

    #[test]
    fn a_page_with_json_behind_it_is_its_data() {
        assert_eq!(data("/index.json?person=ada").unwrap(), "/api/since?person=ada");
        assert_eq!(data("/step/12.json").unwrap(), "/api/hunks?ref=12");
        assert_eq!(data("/step/%2312.json?view=split&context=9").unwrap(), "/api/hunks?ref=%2312&context=9");
        assert_eq!(data("/range/3/now.json").unwrap(), "/api/hunks?from=3&to=now");
        assert_eq!(data("/error/c3.json").unwrap(), "/api/browser/entries/c3?");
        assert_eq!(data("/checkpoint/a.json").unwrap(), "/api/changes?checkpoint=a&client=dashboard&peek=true");
        for other in ["/step/12", "/openapi.json", "/api/log.json", "/step/1/2.json"] {
            assert_eq!(data(other), None, "{other}");
        }
    }

    #[test]
    fn pages_are_told_from_the_api() {
        for page in ["/", "/timeline", "/step/3", "/range/1/2", "/step/3.json"] {
            assert!(is_page(page), "{page}");
        }
        for other in ["/api/log", "/session", "/session/a", "/openapi.json", "/events", "/step/1/2/3", "/steps"] {
            assert!(!is_page(other), "{other}");
        }
    }

    #[test]
    fn every_module_is_named_in_the_shell_and_no_script_is_inline() {
        // Of these, one is for another page and one for pages with a chart.
        let later = ["enter.js", "uplot.js"];
        for asset in FILES.iter().filter(|asset| asset.name.ends_with(".js") && !later.contains(&asset.name)) {
            assert!(
                SHELL.contains(&format!("href=\"/assets/{}\"", asset.name)) || SHELL.contains(asset.name),
                "{}",
                asset.name
            );
        }
        assert!(!SHELL.contains("<style") && !SHELL.contains("style=") && !SHELL.contains("onclick"));
        assert_eq!(SHELL.matches("<script").count(), SHELL.matches("src=\"/assets/").count());
    }

    #[test]
    fn everything_is_small() {
        let total: usize = packed().iter().map(|packed| packed.gzip.len()).sum();
        assert!(total < 250_000, "{total} bytes");
    }

    #[test]
    fn what_others_wrote_is_what_was_checked_in() {
        let sums = include_str!("../dashboard/vendor/SHA256SUMS");
        let files: [(&str, &[u8]); 6] = [
            ("vendor.js", include_bytes!("../dashboard/vendor/vendor.js")),
            ("uplot.js", include_bytes!("../dashboard/vendor/uplot.js")),
            ("uplot.css", include_bytes!("../dashboard/vendor/uplot.css")),
            ("LICENSES.txt", include_bytes!("../dashboard/vendor/LICENSES.txt")),
            ("package-lock.json", include_bytes!("../dashboard/vendor/package-lock.json")),
            ("entry.js", include_bytes!("../dashboard/vendor/entry.js")),
        ];
        for (name, bytes) in files {
            use sha2::Digest;
            let sum: String = sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            assert!(sums.contains(&format!("{sum}  {name}")), "{name} is {sum}");
        }
        assert!(include_str!("../dashboard/vendor/LICENSES.txt").matches("MIT License").count() >= 3);
    }

    #[test]
    fn markup_in_a_name_is_text() {
        let viewer_page = refusing("<img src=x onerror='alert(1)'>");
        assert!(!viewer_page.contains("<img") && viewer_page.contains("&lt;img"));
    }
}
