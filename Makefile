# Two commands matter: `make demo` shows what fairwave does, `make test` shows that it works.
# Needs: make, a Rust toolchain, Python >= 3.10 with venv. Everything else is installed into .venv from the lock file; `make lab`
# alone also needs Node >= 20 and Rust's wasm32-unknown-unknown.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Python compiles a module when it first imports it: most of the installed modules are never imported.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

TOOLS := target/tools/bin
MUTATOR := $(TOOLS)/cargo-mutants
WHEEL_TOOLS := target/tools/wheels

# Tests start Python some hundred times. Each start imports compiled modules from this folder, even if the environment forbids Python to
# write compiled modules next to the sources.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(abspath target/pycache)

.DEFAULT_GOAL := help
.PHONY: help setup stacks demo test compiled quick test-times build-times test-rust test-python test-lab lab lab-engine lint format bench validate validate-quick live docs results bad-files faults fuzz mutants golden lock workflows site wheel wheels packaged-lab crates semver msrv deny advisories sbom clean distclean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(VENV)/.built $(VENV)/.scoring $(VENV)/.recordings  ## build fairwave and install it into .venv

# The mark file persists, so later builds include the stacks. `rm .venv/.with-stacks` and a change, or `make distclean`, undo this.
stacks: $(VENV)/.locked  ## build fairwave with quinn and str0m, the foreign stacks that it runs in virtual time
	test -f $(VENV)/.with-stacks || { touch $(VENV)/.with-stacks && rm -f $(VENV)/.built; }
	$(MAKE) --no-print-directory $(VENV)/.built

demo: setup  ## does a call survive an upload, and contention? verdicts, a page, audio
	$(BIN)/fairwave demo --out out/demo

# All builds run first and in parallel, because each of them leaves a core idle for much of its time. Tests then compile only the copy of
# the tree in `tests/test_extending.py`: `make wheel` packs the library of `setup` and the lab with the engine of `lab-engine`.
CORES = $(shell $(PYTHON) -c 'import os; print(max(2, os.cpu_count() or 2))')
# GNU make 4 keeps the output of each of two parallel stages together.
TOGETHER = $(if $(filter output-sync,$(.FEATURES)),--output-sync=recurse)

test:  ## every check
	$(MAKE) --no-print-directory -j $(CORES) setup compiled lab-engine
	$(MAKE) --no-print-directory -j 2 $(TOGETHER) test-rust lint
	$(MAKE) --no-print-directory test-python test-lab

compiled: $(VENV)/.locked
	cargo test --locked --workspace --no-run --quiet

# Its last lines list the skipped checks.
quick: $(VENV)/.locked  ## checks of what has changed, in less than a minute
	@$(BIN)/python -m validation quick

test-times:  ## the slowest tests of the last `make test`, as a table in docs/testing.md
	$(BIN)/python -m validation durations

build-times: $(VENV)/.locked  ## the time that each crate takes in the build, as a table in docs/testing.md
	$(BIN)/python -m validation build-times

test-rust: $(VENV)/.locked
	cargo fmt --all --check
	cargo clippy --locked --workspace --all-targets --features fairwave-sim/fwsim -- -D warnings
	PROPTEST_RNG_SEED=2026 cargo test --locked --workspace --quiet

lint: $(VENV)/.built  ## formatters, linters and the type checker, on Python
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Some tests open pages in a browser (on Debian: apt install chromium), and are skipped with a reason without one.
# Tests run on all cores first. Tests that depend on timing follow one by one on the otherwise idle machine.
test-python: setup
	$(BIN)/python -m pytest -n logical --maxprocesses 8 --dist worksteal -m 'not live' --junitxml=out/tests/python.xml
	$(BIN)/python -m pytest -m live --junitxml=out/tests/live.xml

# The lab: Node 20 and a compiler for WebAssembly build it, a browser tests it. Without one of them, its tests are skipped with a
# message; nothing else needs them.
WASM := target/wasm32-unknown-unknown/page/fairwave_wasm.wasm
BROWSER := $(firstword $(foreach name,chromium chromium-browser google-chrome,$(shell command -v $(name) 2>/dev/null)))

lab: out/lab.html  ## the lab: one HTML file with the simulator in it, out/lab.html

# The embedded speech comes with the other recordings; a new one rebuilds the page.
out/lab.html: $(WASM) lab/node_modules/.locked $(VENV)/.recordings $(wildcard data/recordings/* examples/webrtc-home.toml lab/*.ts lab/*.html lab/src/* lab/src/views/*)
	$(PYTHON) lab/speech.py out/lab-speech.ulaw
	$(PYTHON) lab/pack.py $(WASM) out/lab-engine.lzma
	cd lab && FAIRWAVE_ENGINE="$(abspath out/lab-engine.lzma)" FAIRWAVE_SPEECH="$(abspath out/lab-speech.ulaw)" npm run --silent build
	cp lab/dist/index.html out/lab.html
	cp lab/dist/index.html python/fairwave/lab/lab.html
	@test -s out/lab-speech.ulaw || echo 'the lab has no speech: see above how to bring a recording'
	@echo "the lab: out/lab.html ($$(wc -c < out/lab.html) bytes, $$(gzip -9 -c out/lab.html | wc -c) compressed)"

# The part of the lab that takes long to compile, if its tools are installed.
lab-engine:
	@if [ -z "$$(lab/missing)" ]; then $(MAKE) --no-print-directory $(WASM) lab/node_modules/.locked; fi

$(WASM): $(RUST_SOURCES)
	lab/build-engine

# Not `npm ci`: it refuses a lock file without the parts for other platforms, and a registry may lack some of them.
lab/node_modules/.locked: lab/package.json lab/package-lock.json
	cd lab && npm install --no-save --silent --no-fund --no-audit
	touch $@

test-lab:  ## the lab's own checks, in Node and in a real browser
	@missing=$$(lab/missing); if [ -n "$$missing" ]; then \
		echo "the lab was not tested: $$missing"; \
	else $(MAKE) --no-print-directory out/lab.html && cd lab && npm run --silent check && npm run --silent unit && \
		if [ -z "$(BROWSER)" ]; then echo 'the lab was not opened in a browser: there is no chromium (on Debian: apt install chromium)'; \
		else FAIRWAVE_CHROMIUM="$(BROWSER)" npm run --silent page; fi; fi

format:  ## put Rust and Python into house style
	cargo fmt --all
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup  ## speed and memory, their limits, and other simulators where they are installed
	$(BIN)/python -m validation bench

validate: setup  ## the same scenarios in fairwave and in ns-2, ns-3, the kernel
	$(BIN)/python -m validation compare

validate-quick: setup  ## a part of them, in less than a minute; writes nothing
	$(BIN)/python -m validation compare --quick

live: setup  ## how true the simulator is: real packets beside it, half an hour; Linux, root or user namespaces
	$(BIN)/python -m validation live --loads

docs: setup  ## what docs/ shows of the program: pictures of pages
	$(BIN)/python -m validation screenshots

results: setup  ## every table and picture of the kept measurements, and pages about the code: out/results/index.md
	$(BIN)/python -m validation results

site: setup  ## the documentation and the results as a site: out/site/index.html
	$(BIN)/python -m validation site

# Use the same name of Python as `setup`. With another name (`python3`), the bindings would be compiled again.
wheel: setup packaged-lab  ## a wheel for this platform and any Python from 3.10 on: out/wheels
	PATH="$(abspath $(BIN)):$$PATH" $(abspath $(BIN))/python -m validation wheels --native

# Needs rustup and, for Windows, Debian's gcc-mingw-w64-x86-64. For one target, the compiler takes four minutes of CPU time;
# `WHEELS="linux-arm64 macos-arm64"` builds some of them.
WHEELS :=
wheels: setup packaged-lab $(WHEEL_TOOLS)/.locked  ## wheels for Linux, macOS and Windows, built here: out/wheels
	PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m validation wheels $(WHEELS)

packaged-lab:
	@missing=$$(lab/missing); if [ -z "$$missing" ]; then $(MAKE) --no-print-directory out/lab.html; \
		else echo "the wheel has no lab, unless there is one already: $$missing"; fi

# Cargo packs each crate and builds it from its package. The packages of the other crates stand in for the registry. It refuses
# changes that are not committed.
crates:  ## pack, build and check all crates for the registry; upload nothing
	cargo package --workspace --exclude fairwave-python --exclude fairwave-wasm --no-verify --locked --quiet
	$(PYTHON) packaging/crates.py $(or $(CARGO_TARGET_DIR),target)
	cargo publish --workspace --dry-run --locked --all-features

# Two interfaces are compared: that of the working tree, and that of the last release (or of the last commit before the first release).
BASELINE ?= $(shell git describe --tags --abbrev=0 --match 'v*' 2>/dev/null || echo HEAD)

semver: $(TOOLS)/cargo-semver-checks  ## compare the interface of all crates with BASELINE, by default the last release
	$(TOOLS)/cargo-semver-checks semver-checks --workspace --baseline-rev $(BASELINE)

MSRV := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

msrv:  ## compile all crates with the oldest supported Rust; needs rustup
	cargo +$(MSRV) --version >/dev/null 2>&1 || { echo 'Rust $(MSRV) is missing: rustup toolchain install $(MSRV) --profile minimal' >&2; exit 1; }
	cargo +$(MSRV) check --locked --workspace --all-features

deny: $(TOOLS)/cargo-deny  ## licences and origins of all Rust crates that fairwave uses
	$(TOOLS)/cargo-deny --locked --log-level error check licenses bans sources

advisories: $(TOOLS)/cargo-deny  ## known defects of these crates; downloads the RustSec database
	$(TOOLS)/cargo-deny --locked --log-level error check advisories

# One file per artefact: the library, the module in the wheel, the engine in the lab, and the locked Python packages.
sbom: $(TOOLS)/cargo-cyclonedx target/tools/python/.locked  ## bills of materials (CycloneDX) of crates, wheel and lab: out/sbom
	mkdir -p out/sbom
	trap 'rm -f crates/*/fairwave-sbom.json' EXIT; export SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)}; \
		$(TOOLS)/cargo-cyclonedx cyclonedx --quiet --format json --spec-version 1.5 --all-features --target all --no-build-deps \
			--override-filename fairwave-sbom && \
		for crate in fairwave fairwave-python fairwave-wasm; do mv crates/$$crate/fairwave-sbom.json out/sbom/$$crate.json || exit 1; done
	PYTHONWARNINGS=ignore::UserWarning target/tools/python/bin/cyclonedx-py requirements requirements.lock --pyproject pyproject.toml --output-reproducible \
		--output-file out/sbom/python.json

target/tools/python/.locked: requirements-sbom.lock
	$(PYTHON) -m venv target/tools/python
	target/tools/python/bin/pip install --quiet --disable-pip-version-check --require-hashes -r requirements-sbom.lock
	touch $@

bad-files:  ## 2000 bad files for each command that reads files of others: a quarter of an hour of one core
	FAIRWAVE_BAD_FILES=$${FAIRWAVE_BAD_FILES:-2000} $(BIN)/python -m pytest -q tests/test_foreign.py

faults:  ## every write and every open of run, sweep, study and network fails once, and 1000 allocations: an hour of one core
	FAIRWAVE_FAULTS=$${FAIRWAVE_FAULTS:-1000} $(BIN)/python -m pytest -q tests/test_faults.py

# Fuzzing uses the debug build, whose arithmetic checks find overflows that a release build ignores.
# It runs 100 000 cases of each target, or FAIRWAVE_FUZZ_CASES. Each target prints a line when it ends.
fuzz:  ## long fuzzing of parsers, decoders, queues, endpoints and whole runs: about half an hour of one core
	FAIRWAVE_FUZZ_CASES=$${FAIRWAVE_FUZZ_CASES:-100000} cargo test --locked --workspace --profile dev fuzz -- --nocapture --test-threads 1

# Clauses come first: on two busy cores, the build takes ten minutes and its tests four. Then each of about 340 places is compiled from
# scratch: two hours of two idle cores.
mutants: $(VENV)/.locked $(MUTATOR)  ## break the laws clause by clause, then in 300 places; their own tests must notice
	$(BIN)/python -m validation clauses
	PATH="$(abspath target/tools/bin):$$PATH" $(BIN)/python -m validation mutants

# Go builds actionlint; its package for Python would download a binary.
LINTERS := target/tools/workflows
ACTIONLINT := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

workflows: $(LINTERS)/.locked  ## lint workflows, action, shell scripts and the container's file
	$(LINTERS)/bin/zizmor --offline --quiet .github action.yml
	$(LINTERS)/bin/shellcheck .ci/* lab/missing lab/build-engine
	$(LINTERS)/bin/hadolint packaging/Containerfile
	@if command -v go >/dev/null; then \
		test -x $(LINTERS)/bin/actionlint || GOBIN="$(abspath $(LINTERS)/bin)" go install $(ACTIONLINT); \
		echo actionlint && PATH="$(abspath $(LINTERS)/bin):$$PATH" $(LINTERS)/bin/actionlint; \
	else echo 'actionlint was left out: go is not installed (on Debian: apt install golang-go)'; fi

golden:  ## renew the golden digests, after a change that is meant to change results
	FAIRWAVE_RENEW_GOLDEN=1 cargo test --locked --package fairwave-sim --test all golden::every_golden

UV_COMPILE = $(VENV)-lock/bin/uv pip compile pyproject.toml --universal --python-version 3.10 --generate-hashes \
	--no-emit-index-url --no-annotate --custom-compile-command 'make lock' --quiet

# The same for one group alone, without fairwave's dependencies.
UV_COMPILE_GROUP = $(VENV)-lock/bin/uv pip compile --universal --python-version 3.10 --generate-hashes \
	--no-emit-index-url --no-annotate --custom-compile-command 'make lock' --quiet

lock:  ## choose the newest allowed versions of all Python packages anew
	$(PYTHON) -m venv $(VENV)-lock
	$(VENV)-lock/bin/pip install --quiet uv
	$(UV_COMPILE) --upgrade --extra speech --extra video --extra explore --extra cluster --extra gym --extra network --group dev --output-file requirements.lock
	$(UV_COMPILE) --upgrade --extra scoring --constraint requirements.lock --output-file requirements-scoring.lock
	$(UV_COMPILE_GROUP) --group workflows --upgrade --output-file requirements-workflows.lock
	$(UV_COMPILE_GROUP) --group wheels --upgrade --output-file requirements-wheels.lock
	$(UV_COMPILE_GROUP) --group sbom --upgrade --output-file requirements-sbom.lock
	rm -rf $(VENV)-lock

clean:  ## remove what was built and what was run
	rm -rf target out lab/dist lab/node_modules python/fairwave/lab/lab.html python/fairwave/examples python/fairwave/scenario.schema.json .pytest_cache .mypy_cache .ruff_cache python/fairwave/_native*.so

distclean: clean  ## remove the virtual environment and the recordings as well
	rm -rf $(VENV) data

$(VENV)/.locked: requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
		|| { echo 'fairwave needs Python 3.10 or newer; set PYTHON=/path/to/python3' >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --require-hashes -r requirements.lock
	touch $@

$(VENV)/.built: $(VENV)/.locked pyproject.toml $(RUST_SOURCES)
	PATH="$(abspath $(BIN)):$$PATH" $(PIP) --no-build-isolation --no-deps --editable . \
		$(if $(wildcard $(VENV)/.with-stacks),--config-settings build-args="--features stacks")
	$(BIN)/fairwave schema --path > /dev/null
	touch $@

$(WHEEL_TOOLS)/.locked: requirements-wheels.lock
	test -x $(WHEEL_TOOLS)/bin/python || $(PYTHON) -m venv $(WHEEL_TOOLS)
	$(WHEEL_TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements-wheels.lock
	touch $@

$(MUTATOR):
	cargo install --locked --quiet --root target/tools --version 27.1.0 cargo-mutants

$(LINTERS)/.locked: requirements-workflows.lock
	test -x $(LINTERS)/bin/python || $(PYTHON) -m venv $(LINTERS)
	$(LINTERS)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements-workflows.lock
	touch $@
$(TOOLS)/cargo-deny:
	cargo install --locked --quiet --root target/tools --version 0.20.2 cargo-deny

$(TOOLS)/cargo-cyclonedx:
	cargo install --locked --quiet --root target/tools --version 0.5.9 cargo-cyclonedx

$(TOOLS)/cargo-semver-checks:
	cargo install --locked --quiet --root target/tools --version 0.51.0 cargo-semver-checks

# The score of a call against the original is optional: everything else works without it.
$(VENV)/.scoring: $(VENV)/.locked requirements-scoring.lock
	$(PIP) --require-hashes -r requirements-scoring.lock \
		|| echo 'fairwave: ViSQOL could not be installed (it needs a C++ compiler); calls will not be scored against the original' >&2
	touch $@

# Recordings of real speech are optional: a failure is printed, and everything else works without them.
$(VENV)/.recordings: $(VENV)/.built
	-$(BIN)/python -m fairwave_speech.fetch
	touch $@
