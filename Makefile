# Benchmint: `make help` lists what can be made.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help install snapshot serve stop test check format bench docs lock clean clean-demo

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

install: $(READY) ## create .venv from the hash-pinned lock file

$(READY): requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

snapshot: $(READY) ## build and verify a release from the generated demo workspace
	$(BIN)/benchmint build --revision
	$(BIN)/benchmint verify workspace/snapshots/latest

serve: $(READY) ## server, worker and schedules on the loopback
	$(BIN)/python -m flows.service start

stop: ## end what `make serve` started
	$(BIN)/python -m flows.service stop

test: $(READY) ## run the tests
	$(BIN)/pytest -n 2 --dist worksteal

check: $(READY) ## lint, format check, strict types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY) ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY) ## speed and memory, beside a peer, into benchmarks/results
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements-bench.lock
	$(BIN)/python -m benchmarks

docs: $(READY) ## make schema and configuration reference anew
	$(BIN)/python -m data.staging.page > docs/schema.md
	$(BIN)/python -m flows.docs_reference

lock: ## write the lock files anew (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-strip-extras --quiet \
	  --extra dev pyproject.toml -o requirements.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-strip-extras --quiet \
	  --extra dev --extra bench pyproject.toml -o requirements-bench.lock

clean: ## remove the environment and caches; workspace/ stays
	-test ! -x $(BIN)/python || $(BIN)/python -m flows.service stop
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis

clean-demo: ## remove workspace/, if only the demo was built there
	-test ! -x $(BIN)/python || $(BIN)/python -m flows.service stop
	@if ls workspace/snapshots 2>/dev/null | grep -qvE '^(benchmint-demo-.*|latest)$$' || \
	  { test -d workspace && ! ls -d workspace/demo-* >/dev/null 2>&1; }; then \
	  echo "workspace/ holds more than the demo, perhaps a release key: remove it by hand"; exit 1; fi
	rm -rf workspace
