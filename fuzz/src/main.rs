//! One fuzz target for all parsers of what a stranger may have written; `PARSER` in the environment says which one is
//! fed. Each takes any bytes and must return, soon and without a panic.

#![no_main]

use std::sync::LazyLock;

use backsight_browser::fuzzing as browser;
use backsight_debug::fuzzing as debug;
use backsight_files::fuzzing as files;
use backsight_server::fuzzing as server;

type Parser = fn(&[u8]);

/// Every parser by the name of its seeds.
const PARSERS: &[(&str, Parser)] = &[
    ("journal", |bytes| drop(files::journal(bytes))),
    ("stat_cache", |bytes| drop(files::stat_cache(bytes))),
    ("loose_object", |bytes| drop(files::loose_object(bytes))),
    ("pack", |bytes| with_two(bytes, |pack, index| drop(files::pack(pack, index)))),
    ("pack_index", |bytes| drop(files::pack_index(bytes))),
    ("delta", |bytes| with_two(bytes, |base, delta| drop(files::delta(base, delta)))),
    ("tree", |bytes| drop((files::tree(bytes), files::attributes(bytes), files::coverage(bytes)))),
    ("packed_refs", |bytes| drop(files::packed_refs(bytes))),
    ("git_config", |bytes| drop(files::git_config(bytes))),
    ("git_index", |bytes| drop(files::git_index(bytes))),
    ("ignore_patterns", |bytes| {
        with_two(bytes, |lines, path| drop(files::patterns(&String::from_utf8_lossy(lines), path)));
    }),
    ("server_json", server::server_address),
    ("hook_payload", server::hook_payload),
    ("tool_request", server::tool_request),
    ("mcp_lines", |bytes| drop(server::mcp_lines(bytes))),
    ("resource", server::resource),
    ("ingest", |bytes| drop(server::ingest(bytes))),
    ("cdp", |bytes| drop(browser::cdp_frames(bytes))),
    ("source_map", |bytes| drop(browser::source_map(bytes))),
    ("dap", |bytes| drop(debug::adapter(bytes))),
    ("inspector", |bytes| drop(debug::inspector(bytes))),
    ("walker", |bytes| drop(debug::walker(bytes))),
];

/// Splits an input in two: the first two bytes say where.
fn with_two(bytes: &[u8], run: impl FnOnce(&[u8], &[u8])) {
    let Some((length, rest)) = bytes.split_first_chunk() else { return };
    let (first, second) = rest.split_at(usize::from(u16::from_be_bytes(*length)).min(rest.len()));
    run(first, second);
}

static PARSER: LazyLock<Parser> = LazyLock::new(|| {
    let name = std::env::var("PARSER").unwrap_or_default();
    let found = PARSERS.iter().find(|(known, _)| *known == name);
    let names: Vec<&str> = PARSERS.iter().map(|(name, _)| *name).collect();
    found.unwrap_or_else(|| panic!("PARSER is one of {}", names.join(", "))).1
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| PARSER(bytes));
