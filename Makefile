# Benchmint: `make help` lists what can be made.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
TESTS  := $(VENV)/.ready-tests
HARBOR := .venv-harbor
DOCS   := .venv-docs
AGENTS := .agents
PIP    := $(BIN)/pip install --quiet --disable-pip-version-check --no-deps
# Bytecode is written when a module is first imported, so modules that are never imported take no space for it.
# If the environment forbids that, each of the hundreds of processes in a test run recompiles everything.
unexport PYTHONDONTWRITEBYTECODE
LOCKED := $(PIP) --no-compile --require-hashes -r
SYSTEM := bubblewrap chromium curl fonts-noto-cjk libreoffice-calc libreoffice-impress libreoffice-writer python3.12

.DEFAULT_GOAL := help
.PHONY: help install notebooks evaluate agents cluster harbor system snapshot leaderboard serve stop test test-full test-cluster test-exports check format bench fuzz mutants docs site font lock clean clean-demo

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(READY) ## create .venv from the hash-pinned lock file, with everything `make snapshot` needs

$(READY): requirements.lock pyproject.toml
	@command -v bwrap >/dev/null || echo "no sandbox: bubblewrap (bwrap) is not installed. Steps that need one are" \
	  "left out, with the reason; \`make system\` installs it"
	@echo "installing into $(VENV): 1.5 GB; this takes a few minutes and prints nothing"
	$(PYTHON) -m venv $(VENV)
	$(LOCKED) requirements.lock
	$(PIP) --no-build-isolation -e .
	@touch $@

$(TESTS): $(READY) requirements-dev.lock requirements-duckdb-1.4.lock
	$(LOCKED) requirements-dev.lock
	$(LOCKED) requirements-duckdb-1.4.lock --upgrade --target $(VENV)/duckdb-1.4
	@touch $@

notebooks: $(TESTS) ## install the notebook dependencies: .venv/bin/marimo edit notebooks/NAME.py

evaluate: $(READY) ## install the agent runner (`make system` installs the sandbox)
	$(LOCKED) requirements-evaluate.lock

agents: $(AGENTS)/.ready ## install the command-line agents that `evaluate` runs, from npm: 2 GB in .agents

# Install scripts run only for the three packages that use them to put their binaries in place.
$(AGENTS)/.ready: flows/evaluate/npm/package-lock.json
	@command -v npm >/dev/null || $$([ "$$(id -u)" = 0 ] || echo sudo) apt-get install --yes --no-install-recommends npm
	@mkdir -p $(AGENTS)
	cp flows/evaluate/npm/package.json flows/evaluate/npm/package-lock.json $(AGENTS)
	npm install --prefix $(AGENTS) --no-save --ignore-scripts --no-audit --no-fund --loglevel=error
	PATH="$(abspath $(AGENTS))/node_modules/.bin:$$PATH" npm rebuild --prefix $(AGENTS) --no-audit --no-fund \
	  --loglevel=error @anthropic-ai/claude-code openclaw opencode-ai
	cd $(AGENTS)/node_modules/.bin && ln -sf ../@openai/codex-linux-*/vendor/*/codex-path/rg rg
	@touch $@

cluster: $(READY) ## install what sharding over several machines needs: Dask, Ray and S3 access
	$(LOCKED) requirements-cluster.lock

harbor: $(HARBOR)/.ready ## create .venv-harbor, Harbor's own environment (Python 3.12)

$(HARBOR)/.ready: requirements-harbor.lock
	PYENV_VERSION=$$(pyenv latest 3.12 2>/dev/null) python3.12 -m venv $(HARBOR)
	$(HARBOR)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-compile \
	  --require-hashes -r requirements-harbor.lock
	@touch $@

system: ## install Debian packages: sandbox, browser, office suite
	@command -v apt-get >/dev/null || { echo "no apt-get here: install bubblewrap yourself"; exit 1; }
	@apt-cache show bubblewrap >/dev/null 2>&1 || $$([ "$$(id -u)" = 0 ] || echo sudo) apt-get update
	@for package in $(SYSTEM); do \
	  apt-cache show $$package >/dev/null 2>&1 || { echo "no package $$package here: its tests will be skipped"; continue; }; \
	  $$([ "$$(id -u)" = 0 ] || echo sudo) apt-get install --yes --no-install-recommends $$package || exit 1; \
	done

snapshot: $(READY) ## build and verify a release from the generated demo workspace
	$(BIN)/benchmint build --revision
	$(BIN)/benchmint verify workspace/snapshots/latest

leaderboard: $(READY) evaluate ## make a leaderboard of scripted agents on the demo release
	@command -v bwrap >/dev/null || { echo "agents need a sandbox (bubblewrap): run \`make system\`"; exit 1; }
	test -e workspace/snapshots/latest || $(MAKE) snapshot
	printf '%s\n' oracle skill-85 skill-55 skill-25 unrounded missing-step talk null | \
	  xargs -P 2 -I AGENT $(BIN)/benchmint evaluate workspace/snapshots/latest --agent AGENT --out workspace/attempts
	$(BIN)/benchmint leaderboard workspace/snapshots/latest --attempts workspace/attempts --out workspace/leaderboard

serve: $(READY) ## start the server, worker and schedules on the loopback interface
	$(BIN)/python -m flows.service start

stop: ## stop everything that `make serve` started
	$(BIN)/python -m flows.service stop

test: $(TESTS) ## run the quick tests; skipped tests are listed with the reason
	$(BIN)/pytest -n 2 --dist worksteal -rs

test-full: $(TESTS) ## run all tests, including those too slow to run on every change
	$(BIN)/pytest -n 2 --dist worksteal -rs -m "full or not full"

test-cluster: $(TESTS) cluster ## run the tests for two machines with shared storage; missing tools are failures
	BENCHMINT_REQUIRE=dask,ray,unshare $(BIN)/pytest -rs -m "full or not full" \
	  tests/data/test_sharding.py tests/data/test_remote_folder.py tests/data/test_shared_shards.py \
	  tests/flows/test_cluster.py

test-exports: $(TESTS) $(HARBOR)/.ready ## run the tests of runners and exports; missing tools are failures
	BENCHMINT_REQUIRE=bubblewrap,evaluate,harbor $(BIN)/pytest -n 2 --dist worksteal -rs \
	  -m "full or not full" tests/construction/grading/exports tests/construction/test_sandbox.py \
	  tests/flows/evaluate

check: $(TESTS) ## run the linter, the format check and the strict type check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/zuban mypy --python-executable $(BIN)/python

format: $(TESTS) ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(TESTS) ## measure speed and memory, compared with a peer; writes benchmarks/results
	$(LOCKED) requirements-bench.lock
	$(BIN)/python -m benchmarks

fuzz: $(TESTS) ## feed damaged files to every reader; writes benchmarks/results (FUZZ="--inputs 10000")
	$(BIN)/python -m benchmarks.fuzz $(FUZZ)

mutants: $(TESTS) ## check that the tests catch 60 mutants; writes benchmarks/results
	$(BIN)/python -m benchmarks.mutation

docs: $(READY) ## regenerate the generated parts of the docs
	$(BIN)/python -m flows.docs

site: $(DOCS)/.ready ## build the searchable documentation site in site/
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --quiet
	@mkdir -p site/benchmarks/results && cp benchmarks/results/*.md site/benchmarks/results
	@echo "read it: python3 -m http.server -d site --bind 127.0.0.1 8000"

$(DOCS)/.ready: requirements-docs.lock
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-compile \
	  --require-hashes -r requirements-docs.lock
	@touch $@

font: ## regenerate the pictures' font subset from Debian's fonts-noto-cjk
	$(BIN)/python -m construction.statements.enrichment \
	  /usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc

COMPILE := uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
  --no-strip-extras --quiet pyproject.toml
FULL    := --extra masking --extra pictures --extra install
TESTED  := --extra evaluate --extra notebooks --extra dev

lock: ## regenerate the lock files (needs uv)
	$(COMPILE) $(FULL) -o requirements.lock
	$(COMPILE) $(FULL) --extra evaluate -c requirements.lock -o requirements-evaluate.lock
	$(COMPILE) $(FULL) $(TESTED) -c requirements-evaluate.lock -o requirements-dev.lock
	$(COMPILE) $(FULL) --extra dask --extra ray -c requirements-dev.lock -o requirements-cluster.lock
	$(COMPILE) $(FULL) $(TESTED) --extra bench -c requirements-dev.lock -o requirements-bench.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --no-strip-extras --quiet requirements-docs.in -o requirements-docs.lock
	echo "duckdb==1.4.*" | uv pip compile --python-version 3.11 --generate-hashes --no-header \
	  --no-annotate --quiet - -o requirements-duckdb-1.4.lock
	echo "harbor==0.24.0" | uv pip compile --python-version 3.12 --generate-hashes --no-header \
	  --no-annotate --no-strip-extras --quiet - -o requirements-harbor.lock

clean: ## remove the environments and caches; keep workspace/
	-test ! -x $(BIN)/python || $(BIN)/python -m flows.service stop
	rm -rf $(VENV) $(HARBOR) $(DOCS) $(AGENTS) site .ruff_cache .pytest_cache .hypothesis

clean-demo: ## remove workspace/ if only the demo was built there
	-test ! -x $(BIN)/python || $(BIN)/python -m flows.service stop
	@if ls workspace/snapshots 2>/dev/null | grep -qvE '^(benchmint-demo-.*|latest)$$' || \
	  { test -d workspace && ! ls -d workspace/demo-* >/dev/null 2>&1; }; then \
	  echo "workspace/ contains more than the demo, perhaps a release key: remove it by hand"; exit 1; fi
	rm -rf workspace
