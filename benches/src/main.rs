//! Ratios against the peers, measured in one run on one machine, through the `backsight` binary; only the diff of two
//! files and the engines of the browser and the debug lane are measured in this process.
//!
//! It prints one table and writes the same with every single time to `bench/result.json` in the target directory.

mod because;
mod browser;
mod debug;
mod diff;
mod disk;
mod history;
mod limits;
mod live;
mod measure;
mod memory;
mod peer;
mod random;
mod server;
mod serving;
mod source;
mod subject;
mod table;
mod tokens;
mod tree;
mod work;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::{Parser, ValueEnum};
use serde_json::{Value, json};

use crate::measure::{Rounds, Samples, interleave};
use crate::peer::Git;
use crate::subject::Backsight;
use crate::table::Table;
use crate::tree::{Edits, Shape, Tree};
use crate::work::Bench;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const SEED: u64 = 0x0bac_5167;

/// Measures Backsight against git and against the machine.
#[derive(Parser)]
struct Options {
    /// The binary to measure; built in release when not given.
    #[arg(long, value_name = "PATH")]
    backsight: Option<PathBuf>,
    /// Files of the tree.
    #[arg(long, default_value_t = 30_000)]
    files: usize,
    /// Bytes of the tree.
    #[arg(long, default_value_t = 300_000_000)]
    bytes: u64,
    /// Repetitions of quick work.
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Repetitions of the first snapshot.
    #[arg(long, default_value_t = 3)]
    first_rounds: usize,
    /// Snapshots of the long run.
    #[arg(long, default_value_t = 1_000)]
    snapshots: usize,
    /// Calls of the long day of a server.
    #[arg(long, default_value_t = 100_000)]
    calls: usize,
    /// Rows of the long timeline.
    #[arg(long, default_value_t = 100_000)]
    rows: u64,
    /// Files of the tree on which memory is measured.
    #[arg(long, default_value_t = 300_000)]
    large_files: usize,
    /// Leave out the memory of a very large tree.
    #[arg(long)]
    skip_large: bool,
    /// Only this work.
    #[arg(long, value_delimiter = ',')]
    only: Vec<Work>,
    /// Leave the generated trees and stores where they are.
    #[arg(long)]
    keep: bool,
    /// Exit with status 1 when a bar is missed.
    #[arg(long)]
    check: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Work {
    First,
    Unchanged,
    Edit,
    Patch,
    Restore,
    Revert,
    Many,
    Unknown,
    Diff,
    Server,
    History,
    Memory,
    Browser,
    Debug,
    Because,
    Bisect,
}

impl Work {
    /// Whether it is done on the ordinary tree.
    fn needs_tree(self) -> bool {
        !matches!(self, Work::Diff | Work::History | Work::Memory | Work::Browser | Work::Debug | Work::Because)
    }
}

impl Options {
    fn wants(&self, work: Work) -> bool {
        let named = self.only.is_empty() || self.only.contains(&work);
        named && !(work == Work::Memory && self.skip_large)
    }
}

fn main() -> ExitCode {
    match measure_all(&Options::parse()) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn measure_all(options: &Options) -> Result<ExitCode> {
    let place = Place::find()?;
    let binary = match &options.backsight {
        Some(binary) => fs::canonicalize(binary)?,
        None => place.build()?,
    };
    place.clear()?;
    let mut table = Table::default();
    let mut facts = machine(options)?;
    if (Work::value_variants().iter()).any(|&work| work.needs_tree() && options.wants(work)) {
        facts.extend(measure_tree(options, &place, &binary, &mut table)?);
    }
    if options.wants(Work::Diff) {
        let rounds = Rounds { warm_up: 2, timed: options.rounds };
        diff::measure(&place.work.join("diff"), &place.home()?, SEED, rounds, &mut table)?;
    }
    if options.wants(Work::Browser) {
        browser::measure(options.rounds, &mut table)?;
        let workspace = place.work.join("browser");
        live::measure(&Backsight { binary: binary.clone(), home: place.home()?, workspace }, &mut table)?;
    }
    if options.wants(Work::Debug) {
        debug::measure(&place.work.join("debug"), options.rounds, &mut table)?;
    }
    if options.wants(Work::Because) {
        let workspace = place.work.join("because");
        let backsight = Backsight { binary: binary.clone(), home: place.home()?, workspace };
        because::measure(&backsight, options.rounds, &mut table)?;
    }
    if options.wants(Work::History) {
        let workspace = place.work.join("history");
        let backsight = Backsight { binary: binary.clone(), home: place.home()?, workspace };
        let rounds = Rounds { warm_up: 2, timed: options.rounds };
        history::measure(&backsight, options.rows, rounds, &mut table)?;
    }
    if options.wants(Work::Memory) {
        measure_memory(options, &place, &binary, &mut table)?;
    }
    report(&place, &table, &facts)?;
    if !options.keep {
        place.clear()?;
    }
    Ok(ExitCode::from(u8::from(options.check && table.missed() > 0)))
}

/// Everything that is measured on the ordinary tree. Answers facts about the machine.
fn measure_tree(options: &Options, place: &Place, binary: &Path, table: &mut Table) -> Result<Vec<Fact>> {
    let shape = Shape { files: options.files, bytes: options.bytes, seed: SEED };
    eprintln!("making two trees of {} files, {} MB each", shape.files, shape.bytes / 1_000_000);
    let ours = Tree::generate(&place.work.join("ours"), shape)?;
    let theirs = Tree::generate(&place.work.join("theirs"), shape)?;
    rustix::fs::sync();
    let home = place.home()?;
    let mut bench = Bench {
        backsight: Backsight { binary: binary.to_owned(), home: home.clone(), workspace: ours.root.clone() },
        git: Git { git_dir: place.work.join("shadow.git"), work_tree: theirs.root.clone(), home },
        edits: Edits::new(SEED),
        rounds: Rounds { warm_up: 1, timed: options.rounds },
        first_rounds: options.first_rounds,
        snapshots: options.snapshots,
        table: std::mem::take(table),
        ours,
        theirs,
    };
    let facts = limits(&bench)?;
    bench.git.init()?;
    for &work in Work::value_variants().iter().filter(|&&work| options.wants(work)) {
        match work {
            Work::First => bench.first()?,
            Work::Unchanged => bench.unchanged()?,
            Work::Edit => bench.one_edit()?,
            Work::Unknown => bench.unknown()?,
            Work::Patch => bench.patch()?,
            Work::Restore => bench.restore()?,
            Work::Revert => bench.revert()?,
            Work::Many => bench.many()?,
            Work::Server => bench.server(options.calls)?,
            Work::Bisect => bench.bisect()?,
            // Measured elsewhere.
            Work::Diff | Work::History | Work::Memory | Work::Browser | Work::Debug | Work::Because => {}
        }
    }
    *table = bench.table;
    Ok(facts)
}

fn measure_memory(options: &Options, place: &Place, binary: &Path, table: &mut Table) -> Result<()> {
    let files = options.large_files;
    eprintln!("making a tree of {files} files, 600 bytes each");
    let tree = Tree::generate(&place.work.join("large"), Shape { files, bytes: files as u64 * 600, seed: SEED })?;
    let backsight = Backsight { binary: binary.to_owned(), home: place.home()?, workspace: tree.root.clone() };
    work::memory(&backsight, &tree, table)
}

/// A line above the table: something to know when reading it.
type Fact = (&'static str, Value);

fn machine(options: &Options) -> Result<Vec<Fact>> {
    let cores = std::thread::available_parallelism()?.get();
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("unknown");
    let system = format!("{} {}", std::env::consts::OS, kernel.trim());
    Ok(vec![
        ("machine", json!(format!("{cores} cores, {system}, load {load} before the run (more than 0.5 disturbs)"))),
        ("peer", json!(Git::version()?)),
        ("tree", json!(format!("{} files, {} MB", options.files, options.bytes / 1_000_000))),
        (
            "times",
            json!(format!("medians of {} runs, {} for the first snapshot", options.rounds, options.first_rounds)),
        ),
    ])
}

/// What the machine can do at best, and what starting a process costs.
fn limits(bench: &Bench) -> Result<Vec<Fact>> {
    let mut entries = 0;
    let mut compressed = 0;
    let mut start_up = || bench.backsight.start_up();
    let mut walk = || {
        let walk = limits::stat_walk(&bench.ours.root)?;
        entries = walk.entries;
        Ok(walk.elapsed)
    };
    let mut pass = || {
        let pass = limits::content_pass(&bench.ours)?;
        compressed = pass.compressed;
        Ok(pass.elapsed)
    };
    let rounds = Rounds { warm_up: 1, timed: 5 };
    let [start_up, walk, pass] = interleave(rounds, || Ok(()), [&mut start_up, &mut walk, &mut pass])?;
    let text = |samples: &Samples| format!("{:.1} ms", samples.median().as_secs_f64() * 1e3);
    let ratio = bench.ours.bytes as f64 / compressed.max(1) as f64;
    Ok(vec![
        ("start-up", json!(format!("{}: `backsight --version`, part of every time of ours", text(&start_up)))),
        ("stat walk", json!(format!("{}: {entries} entries, in this process", text(&walk)))),
        ("content pass", json!(format!("{}: read, SHA-1 and deflate; compresses {ratio:.1}x", text(&pass)))),
    ])
}

fn report(place: &Place, table: &Table, facts: &[Fact]) -> Result<()> {
    let object: serde_json::Map<String, Value> =
        facts.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let result = json!({ "facts": object, "rows": table.json(), "missed": table.missed() });
    let file = place.bench.join("result.json");
    fs::write(&file, serde_json::to_vec_pretty(&result)?)?;
    println!();
    for (name, value) in facts {
        println!("{name:<13} {}", value.as_str().unwrap_or_default());
    }
    println!("\n{}", table.text());
    println!("bars missed: {}; every single time is in {}", table.missed(), file.display());
    Ok(())
}

/// Where things are: all below the target directory, which is on a real disk where a temporary one may not be.
struct Place {
    binaries: PathBuf,
    bench: PathBuf,
    work: PathBuf,
}

impl Place {
    /// From where this program runs: `target/release/backsight-bench`.
    fn find() -> Result<Place> {
        let program = std::env::current_exe()?;
        let binaries = program.parent().ok_or("this program is in no directory")?;
        let bench = binaries.parent().ok_or("this program is not in a target directory")?.join("bench");
        Ok(Place { binaries: binaries.to_owned(), work: bench.join("work"), bench })
    }

    fn build(&self) -> Result<PathBuf> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo).args(["build", "--release", "-p", "backsight-cli"]).status()?;
        match status.success() {
            true => Ok(self.binaries.with_file_name("release").join("backsight")),
            false => Err("`cargo build --release -p backsight-cli` failed".into()),
        }
    }

    fn clear(&self) -> Result<()> {
        if self.work.exists() {
            fs::remove_dir_all(&self.work)?;
        }
        Ok(fs::create_dir_all(&self.work)?)
    }

    fn home(&self) -> Result<PathBuf> {
        let home = self.work.join("home");
        fs::create_dir_all(&home)?;
        Ok(home)
    }
}
