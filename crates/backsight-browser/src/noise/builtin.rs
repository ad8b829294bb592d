//! The rules that come with Backsight.
//!
//! They hide what is not the app's: extensions, hot reload, prompts of tools, services that watch. They are written so that
//! the app's own failures stay visible: rules about hot reload match nothing above `info`, because the same tools report
//! the app's broken code at `warning` and `error`; requests of dev servers are noise only when they succeed, and their
//! sockets are known by what no app has (see [`super::tools`]), not by port and path. Warnings about
//! hydration, missing keys, hooks and rejected cookies are real and not here. What StrictMode says twice is the same
//! message and counted as one.

use std::sync::LazyLock;

use super::rule::{Compiled, Conditions, Rule, Statuses};
use super::vendors::{VENDORS, on_hosts};
use crate::event::Category::{self, Console, Network, Websocket};
use crate::event::Level::{self, Info, Warning};

/// The rule about what extensions say.
pub const EXTENSION_SCRIPTS: &str = "extension_scripts";

/// All of them, ready.
pub fn all() -> &'static [Compiled] {
    static ALL: LazyLock<Vec<Compiled>> = LazyLock::new(|| {
        // A test shows that none is lost here.
        rules().filter_map(|rule| Compiled::new(rule).ok()).collect()
    });
    &ALL
}

/// All of them, as listed.
pub fn rules() -> impl Iterator<Item = Rule> {
    let vendors = VENDORS.iter().map(|vendor| {
        let conditions = Conditions {
            categories: vec![Network, Websocket],
            url: Some(on_hosts(vendor.hosts.iter().copied())),
            ..Conditions::default()
        };
        rule(vendor.id, conditions, format!("{} watches the app and is no part of it", vendor.name))
    });
    TABLE.iter().map(Row::rule).chain(vendors)
}

fn rule(id: &str, conditions: Conditions, reason: String) -> Rule {
    Rule { id: id.to_owned(), builtin: true, enabled: true, conditions, reason, created: None }
}

/// A rule as a row of the table; what is empty does not matter.
struct Row {
    id: &'static str,
    categories: &'static [Category],
    level: Option<Level>,
    text: &'static str,
    source: &'static str,
    url: &'static str,
    method: &'static str,
    status: Option<(u16, u16)>,
    reason: &'static str,
}

impl Row {
    fn rule(&self) -> Rule {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let conditions = Conditions {
            categories: self.categories.to_vec(),
            level: self.level,
            text: given(self.text),
            source: given(self.source),
            url: given(self.url),
            method: given(self.method),
            status: self.status.map(|(from, to)| Statuses { from, to }),
            ..Conditions::default()
        };
        rule(self.id, conditions, self.reason.to_owned())
    }
}

/// Anything said, anything requested, anything of a socket: rows begin with one of these.
const SAID: Row = Row { categories: &[Console], ..ANY };
const CHATTER: Row = Row { categories: &[Console], level: Some(Info), ..ANY };
const REQUEST: Row = Row { categories: &[Network], ..ANY };
const SOCKET: Row = Row { categories: &[Websocket], ..ANY };
const ANY: Row =
    Row { id: "", categories: &[], level: None, text: "", source: "", url: "", method: "", status: None, reason: "" };

const SUCCESS: Option<(u16, u16)> = Some((200, 399));
const MISSING: Option<(u16, u16)> = Some((404, 404));

const TABLE: &[Row] = &[
    // Browser extensions.
    Row {
        id: EXTENSION_SCRIPTS,
        source: r"^(?:chrome|moz|safari-web|safari|ms-browser|opera|edge)-extension://",
        reason: "a browser extension's own script",
        ..SAID
    },
    Row {
        id: "extension_requests",
        categories: &[Network, Websocket],
        url: r"^(?:chrome|moz|safari-web|safari|ms-browser|opera|edge)-extension://",
        reason: "a browser extension's own files",
        ..ANY
    },
    Row {
        id: "extension_messages",
        text: r"(?:^|: )(?:Unchecked runtime\.lastError|Could not establish connection\. Receiving end does not exist|A listener indicated an asynchronous response by returning true, but the message channel closed|Extension context invalidated|The message port closed before a response was received)",
        reason: "browser extensions talking to themselves",
        ..SAID
    },
    Row {
        id: "extension_injected",
        source: r"^(?:inpage|contentscript|content-script|injected-script|Grammarly|evmAsk|injectedScript\.bundle)\.js(?::|$)",
        reason: "a script that a wallet or writing aid puts into pages",
        ..SAID
    },
    // The browser itself.
    Row {
        id: "favicon",
        url: r"/(?:favicon|apple-touch-icon)[A-Za-z0-9_.-]*\.(?:ico|png|svg)(?:[?#]|$)",
        status: MISSING,
        reason: "browsers ask for icons on their own",
        ..REQUEST
    },
    Row {
        id: "favicon_log",
        text: r"^Failed to load resource: the server responded with a status of 404",
        source: r"/(?:favicon|apple-touch-icon)[A-Za-z0-9_.-]*\.(?:ico|png|svg)(?:[?#:]|$)",
        reason: "browsers ask for icons on their own",
        ..SAID
    },
    Row {
        id: "source_map",
        url: r"\.map(?:[?#]|$)",
        status: Some((400, 499)),
        reason: "only developer tools ask for source maps",
        ..REQUEST
    },
    Row {
        id: "source_map_log",
        text: r"^(?:DevTools failed to (?:load|parse) source ?map|Source map error:|Could not load content for .*source ?map)",
        reason: "only developer tools ask for source maps",
        ..SAID
    },
    Row {
        id: "devtools_probe",
        url: r"/\.well-known/appspecific/com\.chrome\.devtools\.json",
        reason: "developer tools look for a workspace",
        ..REQUEST
    },
    Row {
        id: "devtools_probe_log",
        text: r"/\.well-known/appspecific/com\.chrome\.devtools\.json",
        reason: "developer tools look for a workspace",
        ..SAID
    },
    Row {
        id: "devtools_autofill",
        text: r"Request Autofill\.\w+ failed",
        reason: "developer tools ask for something this browser lacks",
        ..SAID
    },
    Row {
        id: "preflight",
        method: "OPTIONS",
        status: Some((200, 299)),
        reason: "a preflight that was granted says nothing the request itself does not",
        ..REQUEST
    },
    Row {
        id: "blocked_by_client",
        text: r"^(?:net::ERR_BLOCKED_BY_CLIENT|blocked: (?:other|inspector)$)",
        status: Some((0, 0)),
        reason: "a blocker in this browser, not the app; what a policy of the app blocks is shown",
        ..REQUEST
    },
    Row {
        id: "blocked_by_client_log",
        text: r"^(?:Failed to load resource: |GET \S+ )?net::ERR_BLOCKED_BY_CLIENT\b",
        reason: "a blocker in this browser, not the app",
        ..SAID
    },
    Row {
        id: "service_worker_lifecycle",
        text: r"(?i)^\W*(?:\[?service ?worker\]?|\[?sw\]|sw:)\W.*\b(?:regist|install|activat|updat|claim|ready|scope)",
        reason: "the ordinary life of a service worker",
        ..CHATTER
    },
    Row { id: "workbox", text: r"^\W*(?:%c)?workbox\b", reason: "a service worker's cache at work", ..CHATTER },
    Row {
        id: "browser_violation",
        text: r"^\[(?:Violation|DOM|Intervention)\]",
        reason: "the browser's advice on speed, such as passive listeners",
        ..CHATTER
    },
    Row {
        id: "passive_listener",
        level: Some(Warning),
        text: r"^(?:\[Violation\] )?Added non-passive event listener|^Unable to preventDefault inside passive event listener",
        reason: "the browser's advice on scrolling",
        ..SAID
    },
    Row {
        id: "browser_deprecation",
        level: Some(Warning),
        text: r"^\[Deprecation\]",
        reason: "the browser's own plans; what a library calls deprecated is shown",
        ..SAID
    },
    Row {
        id: "permissions_policy",
        level: Some(Warning),
        text: r"^(?:Error with (?:Permissions|Feature)-Policy header: )?(?:Unrecognized feature|Origin trial controlled feature not enabled)",
        reason: "a header that names what this browser does not know",
        ..SAID
    },
    Row {
        id: "cookie_notice",
        level: Some(Warning),
        text: r"(?i)^(?:cookie .*\b(?:will be|soon be)\b|(?:third-party|reading|setting) cookies?\b.*\bwill be\b|chrome is moving towards a new experience)",
        reason: "what browsers will do with cookies one day; a cookie rejected today is shown",
        ..SAID
    },
    Row {
        id: "resize_observer",
        text: r"\bResizeObserver loop (?:limit exceeded|completed with undelivered notifications)",
        reason: "the browser put off a measurement by one frame",
        ..SAID
    },
    // Hot reload.
    Row {
        id: "hmr_vite",
        text: r"^(?:\d{1,2}:\d\d:\d\d(?: [AP]M)? )?\[(?:vite|vite-plugin-[a-z0-9-]+|hmr|vite-hmr)\]",
        reason: "Vite's hot reload",
        ..CHATTER
    },
    Row {
        id: "hmr_vite_prebundle",
        text: r"(?:new dependencies optimized|optimized dependencies changed|Re-optimizing dependencies|Pre-bundling dependencies)",
        reason: "Vite bundles dependencies ahead",
        ..CHATTER
    },
    Row {
        id: "hmr_webpack",
        text: r"^\[(?:HMR|WDS|webpack|webpack-dev-server|webpack-hot-middleware|webpack\.cache\.[A-Za-z./]+)\]",
        reason: "webpack's hot reload",
        ..CHATTER
    },
    Row { id: "hmr_next", text: r"^\[Fast Refresh\]", reason: "Next's hot reload", ..CHATTER },
    Row { id: "hmr_turbopack", text: r"^\[Turbopack(?: HMR)?\]", reason: "Turbopack's hot reload", ..CHATTER },
    Row {
        id: "hmr_svelte",
        text: r"^\[(?:HMR\]\[Svelte|svelte-hmr|hmr:svelte|vite-plugin-svelte)\]",
        reason: "Svelte's hot reload",
        ..CHATTER
    },
    Row {
        id: "hmr_create_react_app",
        text: r"^(?:The development server has disconnected|\[react-refresh\])",
        reason: "Create React App's hot reload",
        ..CHATTER
    },
    Row { id: "hmr_parcel", text: r"^(?:\[parcel\]|✨ Built in )", reason: "Parcel's hot reload", ..CHATTER },
    Row {
        id: "hmr_live_reload",
        text: r"(?i)^(?:\[(?:live-?reload|live-server|browsersync|esbuild|remix|nuxt hmr)\]|live reload enabled)",
        reason: "a page that reloads itself",
        ..CHATTER
    },
    Row {
        id: "hmr_requests",
        url: r"(?:/@vite/(?:client|env)|/@react-refresh|/__vite_ping|/@id/__x00__|/node_modules/\.vite/deps/|/__webpack_hmr|/_next/webpack-hmr|\.hot-update\.(?:js|mjs|json)|/_next/static/(?:development|webpack)/|/__turbopack_hmr|/livereload\.js|/browser-sync/)",
        status: SUCCESS,
        reason: "files of hot reload; when they fail they are shown",
        ..REQUEST
    },
    Row {
        id: "hmr_stale_update",
        url: r"\.hot-update\.(?:js|mjs|json)(?:[?#]|$)",
        status: MISSING,
        reason: "a hot update asked for after the dev server started anew",
        ..REQUEST
    },
    Row {
        id: "next_dev_overlay",
        url: r"/__nextjs_(?:original-stack-frames?|launch-editor|source-map|font|disable_dev_indicator)\b",
        reason: "Next's error overlay looks things up",
        ..REQUEST
    },
    Row {
        id: "hmr_socket",
        source: r"^hot-reload:",
        reason: "hot reload's own connection; when it is lost for longer than a moment, that is told",
        ..SOCKET
    },
    Row { id: "devtools_socket", source: r"^devtools:", reason: "developer tools' own connection", ..SOCKET },
    // Frameworks and libraries that introduce themselves.
    Row {
        id: "devtools_prompt",
        text: r"(?:Download the (?:React|Vue|Apollo|Angular|Preact|Solid) ?(?:DevTools|Devtools)|^Angular is running in (?:the )?development mode|^You are running (?:a development build of )?Vue(?:\.js)? in development mode|^You are running a development build of Vue|^Lit is in dev mode|^DEBUG: (?:-+$|Ember|jQuery )|^Vue Devtools)",
        reason: "a framework recommends its tools",
        ..SAID
    },
    Row {
        id: "library_greeting",
        text: r"^(?:JQMIGRATE: Migrate is installed|i18next: (?:languageChanged|initialized|is made possible)|.{0,40}i18next is made possible by|%c.{0,60}(?:console\.log|We're hiring))",
        reason: "a library introduces itself",
        ..CHATTER
    },
    Row {
        id: "not_for_production",
        level: Some(Warning),
        text: r"^(?:cdn\.tailwindcss\.com should not be used in production|You are using the in-browser Babel transformer|You may test your Stripe\.js integration over HTTP)",
        reason: "advice for production, said in development",
        ..SAID
    },
    Row {
        id: "react_router_future",
        level: Some(Warning),
        text: r"React Router Future Flag Warning",
        reason: "what a later version of React Router will do",
        ..SAID
    },
    // Watchers that have no host of their own.
    Row {
        id: "analytics_meta",
        categories: &[Network],
        url: r"^https?://(?:connect\.facebook\.net/.*/fbevents\.js|(?:www\.)?facebook\.com/tr[/?])",
        reason: "Meta Pixel watches the app and is no part of it",
        ..ANY
    },
    Row {
        id: "analytics_vercel_local",
        url: r"/_vercel/(?:insights|speed-insights)/",
        reason: "Vercel Analytics is not there during development",
        ..REQUEST
    },
    Row {
        id: "analytics_scripts",
        source: r"^https?://(?:[^/?#]*\.)?(?:google-analytics\.com|googletagmanager\.com|cdn\.segment\.com|cdn\.mxpnl\.com|cdn\.amplitude\.com|heapanalytics\.com|plausible\.io|snap\.licdn\.com|analytics\.tiktok\.com|connect\.facebook\.net|static\.cloudflareinsights\.com)/",
        reason: "what an analytics script says about itself",
        ..SAID
    },
];
