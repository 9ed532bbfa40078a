# Everything here sets itself up: a virtual environment in .venv, made when it is missing or out of date.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SECONDS := 3600
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help demo test lint types contracts check bench fuzz clean

help: ## Show these targets.
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Haltline needs Python 3.11 or newer; set PYTHON=/path/to/it."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	@touch $@ $(VENV)/.demo

demo: $(VENV)/.demo ## The main job on SQLite: a check halts, a person settles it, the agent goes on.
	$(BIN)/haltline demo

test: $(VENV)/.test ## Install what the tests need and run them all.
	$(BIN)/python -m pytest -n 2 --dist loadgroup --ignore tests/fault
	$(BIN)/python -m pytest tests/fault # by themselves: what they test is a deadline, which others would use up

lint: $(VENV)/.test ## Rules and formatting.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test ## Strict types.
	$(BIN)/mypy

contracts: $(VENV)/.test ## A module imports only from floors below it.
	$(BIN)/lint-imports

check: test lint types contracts ## All of the above, as CI does.

bench: $(VENV)/.test ## The figures of docs/benchmarks.md, on this machine.
	$(BIN)/python bench/service.py

$(VENV)/.fuzz: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[fuzz]'
	@touch $@

fuzz: $(VENV)/.fuzz ## Search for an hour (SECONDS=…) for a command line that breaks the shell analysis.
	nice -n 19 $(BIN)/python -m fuzz.shell $(SECONDS)

clean: ## Remove the virtual environment and caches.
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .fuzz build dist
