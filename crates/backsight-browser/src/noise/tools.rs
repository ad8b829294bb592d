//! Hot reload and developer tools have connections of their own, which are no part of the app. They are known by what no
//! app has: the sub-protocol they speak, the script that opens them, a path that bears the tool's name. A port, or a path
//! such as `/ws` or `/events`, belongs to everybody and is no sign.

use std::sync::LazyLock;

use regex::Regex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::endpoint;
use crate::event::Frame;

/// Whose connection it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tool {
    /// Vite, and what is built on it: SvelteKit, Nuxt, Astro, Remix.
    Vite,
    /// webpack's dev server and its kin.
    Webpack,
    /// Next.
    Next,
    /// Parcel.
    Parcel,
    /// Metro, of React Native and Expo.
    Metro,
    /// Anything else that reloads pages.
    LiveReload,
    /// What looks into an app, and does not serve it.
    Devtools,
}

/// What is known of the moment when a connection was opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opener<'a> {
    /// The sub-protocols that were asked for, separated by commas.
    pub protocols: &'a str,
    /// Where in the code, innermost first.
    pub stack: &'a [Frame],
}

/// What a tool's connection looks like: all that is not empty must hold.
struct Sign {
    tool: Tool,
    /// One of these sub-protocols.
    protocols: &'static [&'static str],
    /// A pattern for the address behind the host.
    path: &'static str,
    /// A pattern for the script that opens it.
    script: &'static str,
    /// The functions that open it, innermost first.
    functions: &'static [&'static str],
    /// Whether the script comes from the server that is connected to.
    from_there: bool,
}

const ANY: Sign =
    Sign { tool: Tool::LiveReload, protocols: &[], path: "", script: "", functions: &[], from_there: false };

const SIGNS: &[Sign] = &[
    Sign { tool: Tool::Vite, protocols: &["vite-hmr", "vite-ping"], ..ANY },
    Sign { tool: Tool::Vite, script: r"/@vite/client(?:[?#]|$)|/vite/dist/client/client\.mjs(?:[?#]|$)", ..ANY },
    Sign { tool: Tool::Vite, path: r"^/(?:__vite|@vite|vite-hmr|_nuxt/)", ..ANY },
    Sign { tool: Tool::Webpack, script: r"webpack-dev-server/client/|/webpack-hot-middleware/", ..ANY },
    Sign { tool: Tool::Webpack, functions: &["WebSocketClient", "initSocket"], from_there: true, ..ANY },
    Sign { tool: Tool::Webpack, path: r"^/(?:__webpack_hmr|webpack-hmr|rsbuild-hmr|sockjs-node|ng-cli-ws)\b", ..ANY },
    Sign { tool: Tool::Next, path: r"^/_next/(?:(?:webpack-)?hmr|turbopack)\b|^/__turbopack", ..ANY },
    // Parcel's own client is a module like those of the app, but only Parcel listens at the root of its own server.
    Sign { tool: Tool::Parcel, path: r"^/?$", functions: &["", "newRequire"], from_there: true, ..ANY },
    Sign { tool: Tool::Parcel, path: r"^/__parcel", ..ANY },
    Sign {
        tool: Tool::Metro,
        path: r"^/(?:hot|message|events|inspector)\b",
        script: r"\.bundle(?://&|\?)[^#]*platform=",
        from_there: true,
        ..ANY
    },
    Sign { protocols: &["esm-hmr"], ..ANY },
    Sign {
        path: r"^/(?:__hmr|_hmr|_bun/hmr|livereload/?$|browser-sync/|phoenix/live_reload/|storybook-server-channel|_frsh/alive|_trunk/ws|\.well-known/trunk/ws)",
        ..ANY
    },
    // Live Server puts `/ws` behind the path of the page: `//ws`, `/index.html/ws`.
    Sign { path: r"^(?:/.*)?(?:/|\.html?)/ws$", ..ANY },
    Sign {
        script: r"/(?:aspnetcore-browser-refresh|livereload|\.11ty/reload-client|browser-sync-client)\.js(?:[?#]|$)",
        ..ANY
    },
    Sign { tool: Tool::Devtools, path: r"^/(?:__nuxt_devtools__|__vue_devtools|devtools/(?:page|browser)/)", ..ANY },
    Sign { tool: Tool::Devtools, functions: &["connectToDevTools"], ..ANY },
    Sign { tool: Tool::Devtools, script: r"^https?://(?:localhost|127\.0\.0\.1):8097(?:/|$)", ..ANY },
];

impl Tool {
    /// Whose connection this is; none when it may be the app's.
    pub fn of(url: &str, opener: Opener<'_>) -> Option<Tool> {
        static PATTERNS: LazyLock<Vec<Patterns>> = LazyLock::new(|| SIGNS.iter().map(Patterns::of).collect());
        // The script in a page stands between the page and its sockets.
        let ours = opener.stack.iter().take_while(|frame| frame.file.contains("/backsight.js?")).count();
        let opener = Opener { stack: &opener.stack[ours..], ..opener };
        let found = SIGNS.iter().zip(&*PATTERNS).find(|(sign, patterns)| sign.is_seen(patterns, url, opener));
        found.map(|(sign, _)| sign.tool)
    }

    /// What noise rules see as the source of its connections.
    pub fn source(self) -> &'static str {
        match self {
            Tool::Vite => "hot-reload:vite",
            Tool::Webpack => "hot-reload:webpack",
            Tool::Next => "hot-reload:next",
            Tool::Parcel => "hot-reload:parcel",
            Tool::Metro => "hot-reload:metro",
            Tool::LiveReload => "hot-reload:live_reload",
            Tool::Devtools => "devtools:",
        }
    }

    /// Whether it serves the app, so that its loss is the app's.
    pub fn is_dev_server(self) -> bool {
        self != Tool::Devtools
    }
}

/// A sign's patterns, ready.
struct Patterns {
    path: Option<Regex>,
    script: Option<Regex>,
}

impl Patterns {
    fn of(sign: &Sign) -> Patterns {
        // A test shows that none is lost here.
        let ready =
            |pattern: &str| Some(pattern).filter(|pattern| !pattern.is_empty()).and_then(|it| Regex::new(it).ok());
        Patterns { path: ready(sign.path), script: ready(sign.script) }
    }
}

impl Sign {
    fn is_seen(&self, patterns: &Patterns, url: &str, opener: Opener<'_>) -> bool {
        let script = opener.stack.first().map(|frame| frame.file.as_str()).unwrap_or_default();
        let asked = |wanted: &&str| opener.protocols.split(',').any(|protocol| protocol.trim() == *wanted);
        let called = |(at, wanted): (usize, &&str)| {
            let function = opener.stack.get(at).map(|frame| frame.function.trim_start_matches("new "));
            function.is_some_and(|function| wanted.is_empty() || function == *wanted)
        };
        patterns.path.as_ref().is_none_or(|path| path.is_match(path_of(url)))
            && patterns.script.as_ref().is_none_or(|pattern| pattern.is_match(script))
            && (self.protocols.is_empty() || self.protocols.iter().any(asked))
            && self.functions.iter().enumerate().all(called)
            && (!self.from_there || host(script).is_some_and(|of_script| host(url) == Some(of_script)))
    }
}

/// What stands behind the host, without the query.
fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let path = rest.find('/').map_or("", |start| &rest[start..]);
    path.split(['?', '#']).next().unwrap_or_default()
}

fn host(url: &str) -> Option<&str> {
    endpoint::origin(url).split_once("://").map(|(_, host)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(frames: &[(&str, &str)]) -> Vec<Frame> {
        let frame = |(file, function): &(&str, &str)| Frame {
            file: (*file).to_owned(),
            function: (*function).to_owned(),
            ..Frame::default()
        };
        frames.iter().map(frame).collect()
    }

    fn tool(url: &str, protocols: &str, stack: &[(&str, &str)]) -> Option<Tool> {
        Tool::of(url, Opener { protocols, stack: &frames(stack) })
    }

    #[test]
    fn every_pattern_is_one() {
        for sign in SIGNS {
            let Patterns { path, script } = Patterns::of(sign);
            assert_eq!((path.is_some(), script.is_some()), (!sign.path.is_empty(), !sign.script.is_empty()));
            let says_something = path.is_some() || script.is_some() || !sign.protocols.is_empty();
            assert!(says_something || !sign.functions.is_empty(), "a sign of everything");
        }
    }

    #[test]
    fn tools_are_known_by_what_no_app_has() {
        let vite = [("http://localhost:5173/@vite/client", "connect")];
        let webpack =
            [("http://localhost:8080/main.js", "new WebSocketClient"), ("http://localhost:8080/main.js", "initSocket")];
        let eval = [("webpack-internal:///./node_modules/webpack-dev-server/client/clients/WebSocketClient.js", "x")];
        let parcel = [("http://localhost:1234/index.js", "abc"), ("http://localhost:1234/index.js", "newRequire")];
        let metro = [("http://localhost:8081/index.bundle?platform=web&dev=true", "setup")];
        let behind = [("http://127.0.0.1:9/backsight.js?key=k", "construct"), vite[0]];
        type Stack<'a> = &'a [(&'a str, &'a str)];
        let cases: &[(&str, &str, Stack<'_>, Tool)] = &[
            ("ws://localhost:5173/?token=abc", "vite-hmr", &[], Tool::Vite),
            ("ws://localhost:3000/", "x, vite-ping", &[], Tool::Vite),
            ("ws://localhost:5173/?token=abc", "", &vite, Tool::Vite),
            ("ws://localhost:5173/?token=abc", "", &behind, Tool::Vite),
            ("ws://localhost:3000/_nuxt/", "", &[], Tool::Vite),
            ("ws://localhost:8080/ws", "", &webpack, Tool::Webpack),
            ("ws://localhost:8080/ws", "", &eval, Tool::Webpack),
            ("ws://localhost:3000/_next/webpack-hmr?id=x", "", &[], Tool::Next),
            ("ws://localhost:3000/_next/hmr", "", &[], Tool::Next),
            ("ws://localhost:1234/", "", &parcel, Tool::Parcel),
            ("ws://localhost:8081/hot", "", &metro, Tool::Metro),
            ("ws://localhost:3000/browser-sync/socket.io/?EIO=4", "", &[], Tool::LiveReload),
            ("ws://localhost:35729/livereload", "", &[], Tool::LiveReload),
            ("ws://127.0.0.1:5500//ws", "", &[], Tool::LiveReload),
            ("ws://127.0.0.1:5500/index.html/ws", "", &[], Tool::LiveReload),
            ("ws://localhost:3000/__nuxt_devtools__/ws", "", &[], Tool::Devtools),
            ("ws://localhost:8097/", "", &[("http://localhost:8097/", "x")], Tool::Devtools),
        ];
        for (url, protocols, stack, expected) in cases {
            assert_eq!(tool(url, protocols, stack), Some(*expected), "{url}");
        }
    }

    #[test]
    fn an_apps_own_sockets_are_the_apps_whatever_their_port_and_path() {
        let app =
            [("http://localhost:1234/src/chat.ts", "connect"), ("http://localhost:5173/@vite/client", "fetchUpdate")];
        // Under Parcel and under Metro, to a server of the app's own.
        let parcel = [("http://localhost:1234/index.js", ""), ("http://localhost:1234/index.js", "newRequire")];
        let metro = [("http://localhost:8081/index.bundle?platform=web&dev=true", "setup")];
        for url in [
            "ws://localhost:5173/",
            "ws://localhost:1234/",
            "ws://localhost:8081/events",
            "ws://localhost:8081/message",
            "ws://localhost:8080/ws",
            "ws://localhost:8097/",
            "ws://localhost:3000/api/ws",
            "ws://localhost:3000/hot",
        ] {
            assert_eq!((tool(url, "graphql-ws", &app), tool(url, "", &[])), (None, None), "{url}");
        }
        assert_eq!(tool("ws://localhost:3001/", "", &parcel), None);
        assert_eq!(tool("ws://localhost:1234/live", "", &parcel), None);
        assert_eq!(tool("ws://localhost:3001/events", "", &metro), None);
    }
}
