//! The parsers of what a stranger may have written. The ordinary tests run them over the seeds and damaged copies of them,
//! so this file is also a module of `backsight-server/tests/hooks`.

use backsight_browser::fuzzing as browser;
use backsight_debug::fuzzing as debug;
use backsight_files::fuzzing as files;
use backsight_server::fuzzing as server;

/// Returns for any bytes.
pub type Parser = fn(&[u8]);

/// Every parser by the name of its seeds.
pub const ALL: &[(&str, Parser)] = &[
    ("journal", |bytes| done(files::journal(bytes))),
    ("stat_cache", |bytes| done(files::stat_cache(bytes))),
    ("loose_object", |bytes| done(files::loose_object(bytes))),
    ("pack", |bytes| with_two(bytes, |pack, index| done(files::pack(pack, index)))),
    ("pack_index", |bytes| done(files::pack_index(bytes))),
    ("delta", |bytes| with_two(bytes, |base, delta| done(files::delta(base, delta)))),
    ("tree", |bytes| done((files::tree(bytes), files::attributes(bytes), files::coverage(bytes)))),
    ("packed_refs", |bytes| done(files::packed_refs(bytes))),
    ("git_config", |bytes| done(files::git_config(bytes))),
    ("git_index", |bytes| done(files::git_index(bytes))),
    ("git_attributes", |bytes| with_two(bytes, |lines, path| done(files::git_attributes(lines, path)))),
    ("git_commit", |bytes| done(files::git_commit(bytes))),
    ("ignore_patterns", |bytes| {
        with_two(bytes, |lines, path| done(files::patterns(&String::from_utf8_lossy(lines), path)));
    }),
    ("server_json", server::server_address),
    ("hook_payload", server::hook_payload),
    ("tool_request", server::tool_request),
    ("mcp_lines", |bytes| done(server::mcp_lines(bytes))),
    ("resource", server::resource),
    ("ingest", |bytes| done(server::ingest(bytes))),
    ("cdp", |bytes| done(browser::cdp_frames(bytes))),
    ("source_map", |bytes| done(browser::source_map(bytes))),
    ("dap", |bytes| done(debug::adapter(bytes))),
    ("inspector", |bytes| done(debug::inspector(bytes))),
    ("walker", |bytes| done(debug::walker(bytes))),
];

/// Splits an input in two: the first two bytes say where.
fn with_two(bytes: &[u8], run: impl FnOnce(&[u8], &[u8])) {
    let Some((length, rest)) = bytes.split_first_chunk() else { return };
    let (first, second) = rest.split_at(usize::from(u16::from_be_bytes(*length)).min(rest.len()));
    run(first, second);
}

/// What a parser makes of its input does not matter here, only that it returns.
fn done<T>(_: T) {}
