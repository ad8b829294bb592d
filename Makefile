# `make` alone prints this list. Every target works from a fresh clone; what is missing is installed or named.

TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: help run test lint bench speed apps clients fuzz docs pictures tools

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-7s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## build, then serve a sample project with a week behind it and print the dashboard's address, until Ctrl-C
	@sed -n 's|^/// \(What changed since.*\)|Backsight: \1|p' crates/backsight-cli/src/cli.rs
	@echo 'Building it first: 3 to 5 minutes on 2 cores, a second when nothing changed.'
	@cargo build --profile quick -p backsight-cli
	@$(TARGET)/quick/backsight demo --serve

test: tools lint ## everything that must pass: lint, tests, examples in the documentation
	cargo nextest run --workspace
	cargo nextest run -p backsight -p backsight-files --features backsight/portable,backsight-files/portable -E '$(PORTABLE)'
	cargo test --doc --workspace

# The ways that other systems than Linux take, judged by the tests of crashes and restores.
PORTABLE := test(/^(crash_recovery|crash_steps|going|edited_before_recovery)::|^open_files::a_|^platform::|crash_restore::a_small/)

lint: ## formatting and clippy, warnings are errors
	@cargo fmt --version >/dev/null 2>&1 || { echo 'rustfmt is missing: rustup component add rustfmt' >&2; exit 1; }
	@cargo clippy --version >/dev/null 2>&1 || { echo 'clippy is missing: rustup component add clippy' >&2; exit 1; }
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo clippy -p backsight --no-default-features -- -D warnings

bench: tools ## measure against git and against the machine; takes some minutes (BENCH="--help" lists what can be set)
	cargo run --release -p backsight-bench -- $(BENCH)

speed: tools ## measure the dashboard in Chromium: first paint, long tasks while it scrolls, what is sent, an idle server
	@cargo build --release -p backsight-cli
	@$(TARGET)/tools/node_modules/.bin/node tests/dashboard/speed.mjs --program $(TARGET)/release/backsight --tools $(TARGET)/tools

apps: tools ## plant bugs in real apps and print what was told of each (ONLY=react,flask:form, VERBOSE=1 for all answers, BECAUSE=1 for the suspects)
	@cargo build -p backsight-cli
	@$(TARGET)/tools/node_modules/.bin/node tests/apps/drive/main.mjs --program $(TARGET)/debug/backsight \
	  --tools $(TARGET)/tools $(if $(ONLY),--only "$(ONLY)") $(if $(VERBOSE),--verbose) $(if $(BECAUSE),--because)

# Not part of `make test`: the clients are 1.2 GB, and starting them some eighty times takes minutes.
clients: ## run Claude Code, Codex, Gemini CLI and opencode offline, and see whose changes are whose (ONLY=codex:interrupt, RECORD=dir)
	cargo build --release -p backsight-cli
	@tests/clients/install
	@$(TARGET)/tools/clients/venv/bin/python -B tests/clients/run.py --program $(TARGET)/release/backsight \
	  --tools $(TARGET)/tools/clients $(if $(ONLY),--only "$(ONLY)") $(if $(RECORD),--record "$(RECORD)")

# What `cargo fuzz` does, without it and without nightly Rust: the fuzzer sees which branches an input takes. Only the
# address sanitizer is left out, which would need nightly; there is no unsafe code. What is found interesting is kept in
# target/fuzz/corpus; an input that broke something belongs into the seeds.
FUZZ_SECONDS ?= 60
FUZZ_ONLY ?= .
fuzz: FLAGS := --cfg fuzzing -Cdebug-assertions -Ccodegen-units=1 -Cpasses=sancov-module \
  $(addprefix -Cllvm-args=-sanitizer-coverage-,level=4 inline-8bit-counters pc-table trace-compares)
fuzz: ## look for inputs that break diffs, merges and every parser of strangers' files (FUZZ_SECONDS=60 each, FUZZ_ONLY=pack)
	@command -v c++ >/dev/null || { echo 'a C++ compiler is missing: sudo apt-get install g++' >&2; exit 1; }
	@set -e; host=$$(rustc --print host-tuple); work=$(abspath $(TARGET))/fuzz; \
	RUSTFLAGS='$(FLAGS)' cargo build --release --manifest-path fuzz/Cargo.toml --target $$host --target-dir $$work; \
	mkdir -p $$work/found; \
	for parser in $$(ls fuzz/seeds | grep -E "$(FUZZ_ONLY)"); do \
	  mkdir -p $$work/corpus/$$parser; \
	  printf '%s: ' "$$parser"; log=$$work/$$parser.log; \
	  PARSER=$$parser RUST_BACKTRACE=0 $$work/$$host/release/strangers -max_total_time=$(FUZZ_SECONDS) -timeout=10 \
	    -rss_limit_mb=2048 -max_len=4096 -artifact_prefix=$$work/found/$$parser- \
	    $$work/corpus/$$parser fuzz/seeds/$$parser >$$log 2>&1 \
	  && grep '^Done ' $$log || { \
	    grep -A 3 panicked $$log >&2; grep -o 'Test unit written to .*' $$log >&2; \
	    echo "fix it and keep the input in fuzz/seeds/$$parser; all that was said is in $$log" >&2; exit 1; }; \
	done

docs: tools ## write the generated parts of the documents again
	UPDATE_DOCS=1 cargo nextest run -p backsight-core -p backsight-debug -p backsight-server -p backsight-cli -E 'binary(tidy) or test(reference::) or test(install::plugin::) or test(install::pages::)'

pictures: tools ## make the README's pictures of the dashboard again, from a small project that the real program records
	@cargo build --release -p backsight-cli
	@$(TARGET)/tools/node_modules/.bin/node tests/dashboard/pictures.mjs --program $(TARGET)/release/backsight \
	  --tools $(TARGET)/tools --out docs/pictures

# The tests use `git`, `patch`, `strace`, a browser, debuggers with their compilers, and what tests/tools lists as referees. The program
# itself runs only the browser and the debuggers, and only when it is asked to. Each entry is a program, or several of which
# one is enough, and the package it is in. LLDB's package brings the Python it runs our walker with.
PROGRAMS := git:git patch:patch strace:strace chromium:chromium g++:g++ gdb:gdb go:golang-go dlv:delve node:nodejs npm:npm \
  lldb-dap,lldb-dap-22,lldb-dap-21,lldb-dap-20,lldb-dap-19:lldb-22 rdbg,rdbg3.4,rdbg3.3,rdbg3.2,rdbg3.1:ruby
tools:
	@missing=; for entry in $(PROGRAMS); do there=; \
	  for tool in $$(echo "$${entry%:*}" | tr , ' '); do command -v $$tool >/dev/null && there=yes; done; \
	  [ -n "$$there" ] || missing="$$missing $${entry##*:}"; \
	done; \
	if [ -n "$$missing" ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; \
	  then apt-get update -q && apt-get install -y -q --no-install-recommends $$missing; \
	  else echo "missing:$$missing; install with: sudo apt-get install --no-install-recommends$$missing" >&2; exit 1; fi; \
	fi
	@cargo nextest --version >/dev/null 2>&1 || cargo install cargo-nextest --locked
	@tests/tools/install
