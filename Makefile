# Every target sets up what it needs, in this folder: packages in .venv, generated code in generated/, data in .data/.

PYTHON ?= python3

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -qq
CODE := engine services clients loadtests tests protos
# Folders are listed as well, so that a removed contract counts as a change.
CONTRACTS := $(shell find protos -mindepth 1 -name '*.proto' -o -type d -not -name '__pycache__')

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' Makefile

.PHONY: demo
demo: setup ## play GAMES=1 games of GAME=camelot with PLAYERS=5 seats through the services; SEED= repeats a deal, RECORD= leaves a record
	@$(BIN)/roundtable demo --game $(or $(GAME),camelot) --players $(or $(PLAYERS),5) --games $(or $(GAMES),1) $(if $(SEED),--seed $(SEED)) $(if $(RECORD),--record $(RECORD))

.PHONY: simulate
simulate: setup ## play GAMES=200 games of GAME=camelot with PLAYERS=5 seats in one process, from SEED=1
	@$(BIN)/roundtable simulate $(or $(GAME),camelot) --players $(or $(PLAYERS),5) --games $(or $(GAMES),200) --seed $(or $(SEED),1)

.PHONY: test
test: dev ## run all tests
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal

.PHONY: rules
rules: dev ## list the numbered rules and edge cases that no test shows
	@$(BIN)/python -m tests.rules

.PHONY: lint
lint: dev ## check style, types, the arrows between packages, and the contracts
	@$(BIN)/ruff check $(CODE)
	@$(BIN)/ruff format --check $(CODE)
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/buf lint
	@! git grep -nIE '(pypi|pythonhosted|npmjs)\.(org|com)|(deb|security|ftp)\.debian' \
		|| { echo 'lint: these lines name a package registry' >&2; exit 1; }
	@! grep -nE '://|^--' requirements/*.lock || { echo 'lint: the locks must name no address' >&2; exit 1; }

.PHONY: format
format: dev ## rewrite the code in the project's style
	@$(BIN)/ruff check --fix --quiet $(CODE)
	@$(BIN)/ruff format $(CODE)
	@$(BIN)/buf format --write --path protos/roundtable

.PHONY: bench
bench: dev ## measure the rules, saved state, games in the store and the whole path of a move
	@$(BIN)/python -m loadtests.bench

.PHONY: bench-store
bench-store: dev ## measure moves while 100, 1,000 and 10,000 games are open; fails if many make them slower
	@$(BIN)/python -m loadtests.growth

.PHONY: faults
faults: dev ## play for MINUTES=2 while everything is killed in turn, and prove that no move was lost, doubled or leaked
	@$(BIN)/python -m loadtests.faults --minutes $(or $(MINUTES),2) $(if $(SEED),--seed $(SEED))

.PHONY: mutants
mutants: .venv/.mutants ## put SAMPLE=500 small faults into the rules of GAME, chosen by SEED=1, and count those that the tests notice
	@$(BIN)/python -m tests.mutants $(or $(GAME),camelot) --sample $(or $(SAMPLE),500) --seed $(or $(SEED),1)

.PHONY: setup
setup: .venv/.project generated/.stamp ## install what running needs

.PHONY: dev
dev: setup .venv/.dev ## install what developing needs as well

.PHONY: protos
protos: generated/.stamp ## generate code from the contracts

# Versions already locked are kept; remove requirements/*.lock first to take the newest. Needs uv.
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	pyproject.toml --extra embedded --group build

.PHONY: lock
lock: ## bring the locks up to date with pyproject.toml
	@$(LOCK) --output-file requirements/runtime.lock
	@$(LOCK) --group dev --constraints requirements/runtime.lock --output-file requirements/dev.lock
	@$(LOCK) --group mutants --constraints requirements/dev.lock --output-file requirements/mutants.lock

.PHONY: clean
clean: ## remove everything the other targets made
	@rm -rf .venv generated .generated-* .data dist build mutants bench.json bench-store.json .hypothesis .*_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=..." if sys.version_info < (3, 11) else 0)'
	@echo 'making .venv ...'
	@$(PYTHON) -m venv --clear .venv

.venv/.runtime: requirements/runtime.lock | .venv/bin/python
	@echo 'installing what running needs ...'
	@$(PIP) install --require-hashes -r $<
	@touch $@

.venv/.project: pyproject.toml | .venv/.runtime generated/.stamp
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

# The code is generated once more, as the stubs for mypy need a plugin that comes with these packages.
.venv/.dev: requirements/dev.lock | .venv/.project
	@echo 'installing what developing needs ...'
	@$(PIP) install --require-hashes -r $<
	@$(BIN)/python protos/generate.py
	@touch $@

.venv/.mutants: requirements/mutants.lock | .venv/.dev
	@echo 'installing what makes mutants ...'
	@$(PIP) install --require-hashes -r $<
	@touch $@

generated/.stamp: protos/generate.py $(CONTRACTS) | .venv/.runtime
	@echo 'generating code from the contracts ...'
	@$(BIN)/python protos/generate.py
