# `make` alone prints this list. Every target works from a fresh clone; what is missing is installed or named.

TARGET := $(or $(CARGO_TARGET_DIR),target)

.PHONY: help run test lint bench docs tools

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-6s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## build, show the main job done in a temporary directory, and say what to try next
	cargo build --release -p backsight-cli
	@$(TARGET)/release/backsight demo
	@printf '%s\n' '' 'Next, in a project of your own:' \
	  '  export PATH="$(abspath $(TARGET))/release:$$PATH"' \
	  '  backsight track -m "before I start"   # record the files as they are' \
	  '  backsight status                      # what changed since' \
	  '  backsight diff @                      # the same as a diff' \
	  '  backsight restore @                   # go back; undo takes it back again' \
	  '  backsight --help'

test: tools lint ## everything that must pass: lint, tests, examples in the documentation
	cargo nextest run --workspace
	cargo test --doc --workspace

lint: ## formatting and clippy, warnings are errors
	@cargo fmt --version >/dev/null 2>&1 || { echo 'rustfmt is missing: rustup component add rustfmt' >&2; exit 1; }
	@cargo clippy --version >/dev/null 2>&1 || { echo 'clippy is missing: rustup component add clippy' >&2; exit 1; }
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings

bench: ## measure against git and against the machine; takes some minutes (BENCH="--help" lists what can be set)
	cargo run --release -p backsight-bench -- $(BENCH)

docs: tools ## write the generated parts of the documents again
	UPDATE_DOCS=1 cargo nextest run --workspace -E 'binary(tidy) or test(reference::)'

# The tests use `git` and `patch` as referees; the program itself runs neither.
tools:
	@missing=; for tool in git patch; do command -v $$tool >/dev/null || missing="$$missing $$tool"; done; \
	if [ -n "$$missing" ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; \
	  then apt-get update -q && apt-get install -y -q --no-install-recommends $$missing; \
	  else echo "missing:$$missing; install with: sudo apt-get install$$missing" >&2; exit 1; fi; \
	fi
	@cargo nextest --version >/dev/null 2>&1 || cargo install cargo-nextest --locked
