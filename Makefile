# Everything a newcomer needs: `make demo` and `make test`. `make help` lists the rest.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c infra/constraints.txt
# Where this is set, as images of Python set it, each of the processes that tests start compiles all it imports anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo install check test long tenth coverage kills audit lock lint format types docs bench screenshots costs clean

help: ## list what make can do
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

$(VENV)/.installed: pyproject.toml infra/constraints.txt
	@echo "Installing Assay into $(VENV) (a few minutes the first time) …"
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11, 5) <= sys.version_info < (3, 13))' || { echo "Assay needs Python 3.11 (from 3.11.5 on) or 3.12; say PYTHON=/path/to/python3.11"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) -e .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/.installed
	@$(PIP) -e '.[dev]'
	@touch $@

install: $(VENV)/.installed ## create .venv and install Assay from infra/constraints.txt

demo: $(VENV)/.installed ## evaluate the bundled ideas against the bundled papers, offline
	@$(BIN)/assay demo

QUICK := schemas $(addprefix tasks/,accounting citations committee contribution evaluation ideas judging metrics novelty soundness sources text web)

check: lint types ## style, types, import rules, and the tests that start no process: before each commit
	@$(BIN)/python -m pytest -n auto --dist loadfile $(addprefix tests/,$(QUICK))

TESTED := $(BIN)/python -m pytest -n auto --dist worksteal --durations 40
# Tests of minutes each, and properties, which then try eight times as many examples.
LONG := ASSAY_TESTS_LONG=1 $(TESTED) -m "(long or hypothesis) and not undisturbed and not kills"
# Collecting all tests takes 20 seconds of processor time; only the named files have such tests.
having = $(shell grep -rlE --include='test_*.py' '$(1)' tests)

test: $(VENV)/.installed-dev ## run the tests (those of the browser want Chromium, and are skipped without it)
	@$(TESTED) -m "not undisturbed and not kills and not long"
	@$(BIN)/python -m pytest -m undisturbed $(call having,mark\.undisturbed)

long: $(VENV)/.installed-dev ## run the tests that `make test` leaves out, minutes each, and 200 examples of properties (TENTH=3: a tenth)
	@$(LONG) $(if $(TENTH),--tenth $(TENTH)) $(call having,mark\.long|import some|import.* given)

# Consecutive commits run all tenths. The bound leaves time for the tests that are then running.
tenth: $(VENV)/.installed-dev ## run the tenth of the long tests that the number of commits names, about five minutes
	@$(LONG) --begin-within 4 --tenth $$(git rev-list --count HEAD 2>/dev/null || echo 0) \
		$(call having,mark\.long|import some|import.* given)

coverage: $(VENV)/.installed-dev ## run the tests and print what they cover (apart from `make test`: tracing takes too long on 3.11)
	@$(PIP) pytest-cov
	@$(TESTED) -m "not undisturbed and not kills" \
		$(addprefix --cov=,flows tasks schemas warehouse dashboards) --cov-report=term:skip-covered

kills: $(VENV)/.installed-dev ## kill runs at fifty random moments (hours; ASSAY_KILL_POINTS=5 for the first five)
	@$(BIN)/python -m pytest -m kills

audit: $(VENV)/.installed-dev ## hold the pinned packages against known vulnerabilities, where an advisory source is reachable
	@$(BIN)/python -c 'import urllib.request as u; u.urlopen("https://api.osv.dev/v1/vulns/PYSEC-2021-1", timeout=10)' 2>/dev/null \
		|| { echo "no source of advisories is reachable from here: audit skipped"; exit 0; } \
		&& $(PIP) pip-audit && $(BIN)/pip-audit --requirement infra/constraints.txt --no-deps --disable-pip --vulnerability-service osv

lock: $(VENV)/.installed-dev ## write infra/requirements.lock anew: every package with the hashes of its files
	@$(PIP) uv && $(BIN)/uv pip compile pyproject.toml -c infra/constraints.txt --generate-hashes --no-annotate --no-header --quiet \
		--python-version 3.11.5 -o infra/requirements.lock

PROSE := README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs
# Names that are contracts, or words of formats of others.
BRITISH := catalogue,catalogues,judgement,judgements,neighbour,neighbours,labelled,artefact,analysed,licence,minimise,maximise,sceptical,colour

lint: $(VENV)/.installed-dev ## style, formatting, import rules, spelling and prose
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports
	@$(BIN)/codespell flows tasks schemas warehouse dashboards infra
	@$(BIN)/codespell --builtin clear,en-GB_to_en-US --ignore-words-list $(BRITISH),evalute $(PROSE)
	@$(BIN)/proselint check --config infra/site/proselint.json README.md CHANGELOG.md docs/*.md docs/[dgqrs]*/*.md

format: $(VENV)/.installed-dev ## format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

types: $(VENV)/.installed-dev ## check types
	@$(BIN)/mypy

docs: $(VENV)/.installed-dev ## build the documentation as a site in build/site, without a network
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --config-file infra/site/mkdocs.yml

bench: $(VENV)/.installed-dev ## print speed and memory figures (minutes)
	@$(BIN)/python -m tests.benchmarks

screenshots: $(VENV)/.installed-dev ## take the README's pictures of the dashboard over the demo, in Chromium
	@$(BIN)/python -m tests.screenshots

costs: $(VENV)/.installed-dev ## write the tables of docs/guides/models.md, docs/guides/deployment.md and docs/design/architecture.md anew
	@$(BIN)/python -m tests.model_costs
	@$(BIN)/python -m tests.deployment_table
	@$(BIN)/python -m tests.works_table

clean: ## remove the environment, caches and the demo's output
	rm -rf $(VENV) demo-warehouse build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
