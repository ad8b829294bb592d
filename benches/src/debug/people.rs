//! Programs as people have them, of which each step once took seconds: threads that wait in C, a session of SQLAlchemy in
//! scope, a map with very many entries.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use backsight_debug::debugger::{Debugger, Options};
use backsight_debug::diff::{self, snapshot_diff};
use backsight_debug::session::Control;
use backsight_debug::walk::CapturePlan;

use super::programs::{Program, built, python};
use super::{PATIENCE, captured_at, setup, time};
use crate::Result;
use crate::measure::Samples;
use crate::table::{Ratio, Row, Table};

/// A step beside a thread that waits.
const STEP: Duration = Duration::from_millis(20);
/// A look at a session of SQLAlchemy, and a step with what it changed.
const SESSION: Duration = Duration::from_millis(150);
/// A look at a map of a hundred thousand entries.
const MAP: Duration = Duration::from_millis(500);

const BLOCKED: &str = "\
import socket
import threading
import time

done = threading.Event()
threading.Thread(target=done.wait, daemon=True).start()
server = socket.create_server(('127.0.0.1', 0))
threading.Thread(target=server.accept, daemon=True).start()
time.sleep(0.2)


def work(items):
    total = 0  # HERE
    for item in items:
        total += item
    return total


work(list(range(1000)))
";

const SQLALCHEMY: &str = "\
from sqlalchemy import ForeignKey, create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship


class Base(DeclarativeBase):
    pass


class Customer(Base):
    __tablename__ = 'customer'
    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    orders: Mapped[list['Order']] = relationship(back_populates='customer')


class Order(Base):
    __tablename__ = 'purchase'
    id: Mapped[int] = mapped_column(primary_key=True)
    price: Mapped[int]
    customer_id: Mapped[int] = mapped_column(ForeignKey('customer.id'))
    customer: Mapped[Customer] = relationship(back_populates='orders')


def work(engine):
    session = Session(engine)
    session.add_all(Customer(name=f'c{n}', orders=[Order(price=n), Order(price=2 * n)]) for n in range(20))
    session.commit()
    customer = session.scalars(select(Customer).where(Customer.id == 3)).one()
    total = sum(order.price for order in customer.orders)
    total = 0  # HERE
    for step in range(1000):
        total += step
    return total


engine = create_engine('sqlite://')
Base.metadata.create_all(engine)
work(engine)
";

const MAPPED: &str = "\
#include <map>
#include <string>
#include <unordered_map>
struct Value { int number; std::string text; };
int main() {
  DECLARED
  for (int i = 0; i < 100000; i++) m[KEY(i)] = {i};
  int stays = 1; // HERE
  CHANGED
  stays += 1; // CHANGED
  return stays;
}
";

/// Each row with its bar.
pub fn measure(folder: &Path, rounds: usize, table: &mut Table) -> Result<()> {
    let blocked = script(folder, "blocked.py", BLOCKED, python("tools/venv/bin/python")?)?;
    let (plain, with_diff) = steps(&blocked, rounds)?;
    bar(table, "debugpy: a step, two threads wait in C", plain, STEP);
    bar(table, "the same with what it changed", with_diff, STEP);
    let session = script(folder, "session.py", SQLALCHEMY, python("tools/runners/venv/bin/python")?)?;
    let paused = session.pause_at("HERE")?;
    bar(table, "debugpy: a SQLAlchemy session, depth 2", time(rounds, || captured_at(&paused, 2))?, SESSION);
    drop(paused);
    bar(table, "a step with what it changed there", steps(&session, rounds)?.1, SESSION);
    for (name, declared, key, changed) in [
        ("std::map<int, int>", "std::map<int, int> m;", "", "m[77777] = -1;"),
        (
            "std::map<std::string, Value>",
            "std::map<std::string, Value> m;",
            "std::to_string",
            "m[\"77777\"].number = -1;",
        ),
        ("std::unordered_map<int, int>", "std::unordered_map<int, int> m;", "", "m[77777] = -1;"),
    ] {
        // Of a plain value the braces are its own.
        let text =
            MAPPED.replace("DECLARED", declared).replace("KEY", key).replace("  CHANGED", &format!("  {changed}"));
        let source = folder.join("mapped.cpp");
        std::fs::write(&source, text)?;
        let program = built(&["g++", "-g", "-O0", "-std=c++17", "-o"], &source, &folder.join("mapped"))?;
        let program = Program { folder: folder.to_owned(), source, program, runtime: None };
        bar(table, &format!("lldb-dap: a {name} of 100,000"), map(&program, rounds)?, MAP);
    }
    Ok(())
}

fn bar(table: &mut Table, work: &str, ours: Samples, bar: Duration) {
    table.push(Row::times(work, &ours, "the bar", &Samples::new(vec![bar]), Ratio::AtMost(1.0)));
}

fn script(folder: &Path, name: &str, text: &str, runtime: PathBuf) -> Result<Program> {
    let source = folder.join(name);
    std::fs::write(&source, text)?;
    Ok(Program { folder: folder.to_owned(), program: source.clone(), source, runtime: Some(runtime) })
}

/// Steps alone, and steps with what they changed.
fn steps(program: &Program, rounds: usize) -> Result<(Samples, Samples)> {
    let next = AtomicU64::new(1);
    let debugger = Debugger::new(Options {
        setup: setup(),
        root: program.folder.clone(),
        salt: 1,
        random: Arc::new(move || Ok(u128::from(next.fetch_add(1, Ordering::Relaxed)) << 64)),
    });
    debugger.launch(None, program.launch(vec![program.at("HERE")?]), &|| false)?;
    let plain = time(rounds, || Ok(debugger.control(None, Control::StepOver, None, PATIENCE, &|| false).map(drop)?))?;
    let plan = CapturePlan { depth: 2, ..CapturePlan::default() };
    let with_diff = time(rounds, || {
        let options = diff::Options::default();
        let step = debugger.step_and_diff(None, Control::StepOver, plan.clone(), PATIENCE, &options, &|| false)?;
        step.diff.map(drop).ok_or_else(|| "nothing was compared".into())
    })?;
    Ok((plain, with_diff))
}

/// Looks at a large map, the first look too; then one entry changes, which must be told, or that it was not compared.
fn map(program: &Program, rounds: usize) -> Result<Samples> {
    let session = program.pause_at("HERE")?;
    let plan = CapturePlan { depth: 1, ..CapturePlan::default() };
    let mut times = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        session.capture(plan.clone())?;
        times.push(start.elapsed());
    }
    let before = session.capture(plan.clone())?;
    session.set_breakpoint(program.at("CHANGED")?)?;
    session.control(Control::Continue, None, PATIENCE)?;
    let diff = snapshot_diff(&before, &session.capture(plan)?, &diff::Options::default());
    let told = diff.modified.iter().any(|entry| entry.path.starts_with('m'));
    match told || diff.not_compared.iter().any(|path| path.starts_with('m')) {
        true => Ok(Samples::new(times)),
        false => Err("a changed entry is neither told nor counted".into()),
    }
}
