# Everything a newcomer or CI runs. Needs Python 3.11 or newer and make, nothing else.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
# Tests wait half of their time, for processes that they start: two for each core at once.
AT_ONCE ?= $(shell expr 2 '*' $$(getconf _NPROCESSORS_ONLN))

.PHONY: help install demo test test-all docs check audit mutants reproduce faults fuzz bench dist clean

help: ## What there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 12

install: $(READY) ## Make .venv with everything in it

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Privet needs Python 3.11 or newer; say which with make PYTHON=..." >&2; exit 2; }
	@echo "Setting up $(VENV) (once; a minute or two)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

demo: install ## A private tree of the nursery data with its guarantee; model, card and pictures in demo-out
	@$(BIN)/privet demo

test: install ## All tests but the slow ones; under ten minutes on two quiet cores
	$(BIN)/python -m pytest -m 'not slow' -n $(AT_ONCE) --dist worksteal

test-all: install ## All tests, also those with Spark, which is installed first (half a gigabyte)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,dev-spark]'
	PRIVET_TEST_SEED=random $(BIN)/python -m pytest -n auto --dist worksteal

docs: install ## The documentation site, without the network; a dead link fails.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --clean
	@echo "The site is in site/; $(BIN)/python -m http.server --bind 127.0.0.1 --directory site shows it at http://127.0.0.1:8000"

check: install ## Style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

audit: install ## Is every claimed epsilon true? One table for both neighbour relations; ten minutes on two quiet cores
	$(BIN)/privet audit --runs 2000 --jobs 2
	$(BIN)/privet audit --clock

mutants: install ## Is every fault noticed that is put in on purpose? One by one, and the page of them
	$(BIN)/python -m experiments.mutants -o docs/results/mutants.md

reproduce: install ## Every table and figure of five papers again, in one report: reproduce-out/report.html
	$(BIN)/python -m experiments.papers all -o reproduce-out

faults: install ## Kill processes, fill disks, turn the clock back: are charges lost or budgets overspent? An hour or two on two busy cores
	$(BIN)/python -m experiments.faults

fuzz: install ## Bad input: 100 000 of each kind; hours on two cores, Ctrl-C shows what there is so far
	$(BIN)/python -m tests.fuzz --inputs 100000 --jobs 2

bench: install ## Speed of noise and counting, as ratios
	$(BIN)/python -m experiments.bench.boundary

dist: install ## A wheel and a source archive in dist/
	rm -rf dist
	$(BIN)/uv build --quiet --out-dir dist

clean: ## Remove what make made
	rm -rf $(VENV) dist demo-out fuzz-crashes reproduce-out anatomy-out site .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
