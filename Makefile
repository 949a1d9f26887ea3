# Two commands do everything on a fresh machine: `make demo` and `make test`. Both set up first.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: setup services demo test quick changed everything gate newest versions release hostile proof outside jupyter pictures lint house bench peers contracts curriculum gpu lock clean

setup: .venv/installed

.venv/installed: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Kata needs Python 3.11 or newer; say which: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

services:              ## what tests start themselves, installed where this is root: PostgreSQL, Chromium
	@.ci/services

demo: setup            ## a learner's session on real submissions, played without a person
	$(BIN)/python -m demo

# Where an environment forbids byte code, each of the thousands of processes of a test run would compile all of this anew.
export PYTHONDONTWRITEBYTECODE =

# Tests side by side, for two cores: one that waits for a process that it has started leaves its core to another.
JOBS ?= 3
PYTEST = $(BIN)/python -m pytest -n $(JOBS) --dist loadgroup

# What is fast waits for nobody, and a third process would import everything once more.
quick: JOBS = 2
quick: setup           ## the fast tests: a minute on two cores
	$(PYTEST) -m "not slow and not gate"

test: setup services   ## fast and slow tests: some seven minutes on two cores
	$(PYTEST) -m "not gate and not nightly"

gate: setup            ## a part of our katas' gate, and hostile submissions at the strongest level
	$(PYTEST) -m "gate and not nightly"

changed: setup services    ## the tests of what differs from main
	$(BIN)/python tests/of.py --run

everything: setup services    ## every test with every case, and all of every kata's gate; tests/README.md says how long
	$(PYTEST) --everything

# Beside the wheel lie only the tests and what they read: `import grader` finds no source here.
TORCH ?= $(shell sed -n 's/^torch==//p' requirements.lock)

newest: setup          ## the fast tests on the built wheel, with the newest versions that pyproject.toml allows; TORCH=2.9.*
	rm -rf .newest && mkdir -p .newest/tree
	$(BIN)/python -m build --wheel --no-isolation --outdir .newest/dist . >.newest/build.log
	$(PYTHON) -m venv .newest/venv  # and not the one that .venv was made with
	echo 'torch==$(TORCH)' >.newest/constraint.txt
	.newest/venv/bin/python -m pip install --quiet --disable-pip-version-check --constraint .newest/constraint.txt \
		"$$(echo .newest/dist/*.whl)[cluster,desk,lms,postgres]" build hatchling hypothesis pytest-xdist axe-playwright-python
	cp -r tests katas solutions docs pyproject.toml requirements.lock README.md Makefile .github .newest/tree
	mkdir .newest/tree/benchmarks && cp -r benchmarks/*.py benchmarks/a_term .newest/tree/benchmarks  # some of them are tested
	cd .newest/tree && ../venv/bin/python -m pytest -n $(JOBS) --dist loadgroup -m "not slow and not gate" \
		--ignore tests/project --ignore tests/pages/test_browser.py

versions:              ## newest, and one kata of each kind, with several versions of Python and torch; hours
	@.ci/versions

release:               ## what a release consists of, in build/release, each part tried in an environment of its own; publishes nothing
	@PYTHON=$(PYTHON) .ci/release

hostile: setup         ## every hostile submission at every level that this machine offers; the table of docs/security.md
	$(BIN)/python benchmarks/corpus.py --write

proof: setup           ## right, wrong and hostile answers as replies of a model; the tables of docs/proof.md
	$(BIN)/python benchmarks/proof.py --write

OUTSIDE ?= $(HOME)/outside

outside: setup         ## our mistakes in tests that others publish, cloned into OUTSIDE; the table of docs/outside.md
	$(BIN)/python benchmarks/outside.py $(OUTSIDE) --write

# JupyterLab is a quarter of a gigabyte that nothing else here needs: it has an environment of its own.
.jupyter/installed: tests/jupyter/requirements.txt | setup
	$(BIN)/python -m venv --clear $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

jupyter: setup services .jupyter/installed    ## a kata in JupyterLab in a browser, from its stub to a pass
	$(BIN)/python -m pytest tests/jupyter

pictures: setup        ## the pictures of README, docs/ and the lessons, and in build/pages/ every page of desk, report and feedback; needs Chromium
	$(BIN)/python docs/pictures/draw.py
	mkdir -p build/pages && $(PYTEST) --everything --pictures build/pages -k can_be_read_by_everybody tests/extras/desk tests/pages

lint: setup            ## style, types, that imports run one way, size, words
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python benchmarks/house.py --check
	$(BIN)/python benchmarks/words.py

house: setup           ## how many concepts it has: code lines, modules, types, mechanisms; and the goals
	$(BIN)/python benchmarks/house.py

bench: setup peers     ## the figures of docs/benchmarks.md; takes more than an hour
	$(BIN)/python benchmarks/learner.py
	$(BIN)/python benchmarks/class.py

PEERS := benchmarks/peers/.envs

peers: $(foreach peer,pytest gradescope check50 otter nbgrader,$(PEERS)/$(peer)/installed)    ## other graders, to compare with

# torch is installed once and lent to every environment: each would be a gigabyte otherwise.
$(PEERS)/torch/installed: benchmarks/peers/torch.txt | setup
	rm -rf $(@D)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --target $(@D) -r $<
	@touch $@

$(PEERS)/%/installed: benchmarks/peers/%/requirements.txt $(PEERS)/torch/installed
	$(BIN)/python -m venv --clear $(@D)
	echo $(CURDIR)/$(PEERS)/torch > $$($(@D)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torch.pth
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

contracts: setup       ## docs/contracts.md: which check notices which broken property, on three seeds; half an hour
	$(BIN)/python benchmarks/contracts.py

curriculum: setup benchmarks/.packages/installed    ## how many automatic mutants each kata's checks catch; hours
	$(BIN)/python benchmarks/curriculum.py

benchmarks/.packages/installed: benchmarks/curriculum.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade --target benchmarks/.packages -r $<
	@touch $@

gpu: setup             ## everything that needs a GPU; without one it says so
	$(BIN)/python benchmarks/gpu.py

lock:                  ## renew requirements.lock from what .venv holds
	{ echo "# Exact versions for CI and the README. Renewed by: make lock"; \
	  $(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu$$//'; } > requirements.lock

clean:
	rm -rf .venv .newest dist build
