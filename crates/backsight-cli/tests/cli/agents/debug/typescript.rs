//! Programs that were compiled or bundled: breakpoints, stacks and steps are about what was written, whichever of the usual
//! tools made the program. They are listed in `tests/runners`.

use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::agents::client::Agent;
use crate::agents::{installed, node};
use crate::fixture::Fixture;

const CART: &str = "\
interface Item {
  name: string;
  price: number;
}

type Discount = (sum: number) => number;

export function total(items: Item[], discount: Discount): number {
  let sum: number = 0;
  for (const item of items) {
    sum += item.price;
  }
  return discount(sum);
}
";

const MAIN: &str = "\
import { total } from './cart.js';

enum Kind { Small, Large }

const items = [{ name: 'a', price: 2 }, { name: 'b', price: 3 }];
const found: number = total(items, (sum) => sum * 2);
console.log('total', found, Kind.Large);
";

/// Compiles a module as webpack asks for it.
const LOADER: &str = "\
module.exports = function (source) {
  const done = this.async();
  const options = { loader: 'ts', sourcemap: true, sourcefile: this.resourcePath };
  require('esbuild').transform(source, options).then((made) => done(null, made.code, JSON.parse(made.map)), done);
};
";

const WEBPACK: &str = "\
const config = {
  mode: 'development', target: 'node', devtool: process.argv[2], context: __dirname, entry: './src/main.ts',
  output: { filename: process.argv[3], path: __dirname + '/out' },
  resolve: { extensionAlias: { '.js': ['.ts'] } },
  module: { rules: [{ test: /\\.ts$/, use: require.resolve('./loader.cjs') }] },
};
require('webpack')(config, (error, stats) => {
  if (error || stats.hasErrors()) { console.error(error || stats.toString()); process.exit(1); }
});
";

fn made(root: &Path, words: &[&str]) {
    let mut command = Command::new(node("node_modules/.bin/node").get_program());
    let output = command.args(words).current_dir(root).output().unwrap();
    assert!(
        output.status.success(),
        "{words:?}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

fn project() -> Fixture {
    let fixture = Fixture::in_memory();
    fixture.user_settings("[agents]\nruntime = true\nprograms = \"any\"\n");
    let options = r#"{ "compilerOptions": { "target": "es2022", "module": "nodenext", "outDir": "dist", "rootDir": "src",
        "sourceMap": true, "strict": true, "types": [] }, "include": ["src"] }"#;
    for (name, text) in [
        ("package.json", r#"{ "name": "shop", "type": "module" }"#),
        ("tsconfig.json", options),
        ("src/cart.ts", CART),
        ("src/main.ts", MAIN),
        ("loader.cjs", LOADER),
        ("pack.cjs", WEBPACK),
    ] {
        fixture.write(name, text);
    }
    std::os::unix::fs::symlink(installed("runners/node_modules"), fixture.root().join("node_modules")).unwrap();
    fixture
}

/// Pauses in the source, sees where it is, steps over the loop, and reads the variables.
fn judge(agent: &mut Agent, program: &str) {
    let runtime = node("node_modules/.bin/node").get_program().to_str().unwrap().to_owned();
    let launch = json!({ "program": program, "runtime": runtime, "breakpoints": ["src/cart.ts:11"] });
    let said = agent.call("debug_launch", launch);
    assert_eq!(said.structured["breakpoints"], json!(["bp-1"]), "{program}: {}", said.text);
    let frame = json!({ "function": "total", "file": "src/cart.ts", "line": 11, "source": "sum += item.price;" });
    assert_eq!(said.structured["frame"], frame, "{program}: {}", said.text);
    assert!(said.structured.get("unbound").is_none(), "{program}: {}", said.text);
    let stack = agent.ok("stacktrace_get", json!({}));
    let caller = &stack["frames"][1];
    assert_eq!((&caller["file"], &caller["line"]), (&json!("src/main.ts"), &json!(6)), "{program}: {stack}");
    agent.ok("breakpoint_remove", json!({ "id": "bp-1" }));
    let mut lines = Vec::new();
    for _ in 0..4 {
        let step = agent.ok("step_and_diff", json!({}));
        assert_eq!(step["frame"]["file"], "src/cart.ts", "{program}: {step}");
        lines.push(step["frame"]["line"].as_u64().unwrap());
    }
    assert_eq!(lines, [10, 11, 10, 13], "{program}");
    let seen = agent.ok("variables_get", json!({}));
    let sum = seen["variables"].as_array().unwrap().iter().find(|one| one["path"] == "sum").unwrap();
    assert_eq!(sum["value"], "5", "{program}: {seen}");
    agent.ok("breakpoint_set", json!({ "file": "src/main.ts", "line": 7 }));
    let stop = agent.ok("debug_control", json!({ "action": "continue" }));
    assert_eq!(
        (&stop["frame"]["file"], &stop["frame"]["line"]),
        (&json!("src/main.ts"), &json!(7)),
        "{program}: {stop}"
    );
    let end = agent.ok("debug_control", json!({ "action": "continue" }));
    assert_eq!((&end["exit_code"], &end["printed"]), (&json!(0), &json!(["total 10 1"])), "{program}: {end}");
    agent.ok("debug_disconnect", json!({}));
}

#[test]
fn compiled_and_bundled_programs_are_debugged_in_their_sources() {
    let fixture = project();
    let root = fixture.root();
    made(root, &["node_modules/typescript/bin/tsc", "-p", "."]);
    let bundle = |form: &str, file: &str| {
        let (map, out) = (format!("--sourcemap={form}"), format!("--outfile=out/{file}"));
        let mut command = Command::new(installed("runners/node_modules/.bin/esbuild"));
        command.args(["src/main.ts", "--bundle", "--platform=node", "--format=esm", "--log-level=error", &map, &out]);
        assert!(command.current_dir(root).status().unwrap().success());
    };
    bundle("linked", "linked.mjs");
    bundle("inline", "inline.mjs");
    made(root, &["pack.cjs", "source-map", "packed.cjs"]);
    made(root, &["pack.cjs", "inline-source-map", "inlined.cjs"]);
    let mut agent = Agent::new(&fixture);
    // tsx runs the source itself.
    for program in
        ["dist/main.js", "out/linked.mjs", "out/inline.mjs", "out/packed.cjs", "out/inlined.cjs", "src/main.ts"]
    {
        judge(&mut agent, program);
    }
}
