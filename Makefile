# make run     the demo: every system, a DynamoDB endpoint, in one command
# make test    the suite; make test-long what takes longer; PART=engine for one part
# make help    the other targets

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# A part is engine, keyfold, web, workbench or systems; PART=engine takes its tests only.
PARTS := engine keyfold web workbench systems
FOLDERS := $(foreach part,$(PARTS),$(if $(filter systems,$(part)),systems,packages/$(part)))
PART ?=
ifneq ($(filter-out $(PARTS),$(PART)),)
$(error unknown part $(PART); the parts are $(PARTS))
endif
PART_FOLDER := $(if $(PART),$(filter $(PART) packages/$(PART),$(FOLDERS)))
TESTS ?= $(if $(PART),$(PART_FOLDER)/tests)
ALL_TESTS := tests $(addsuffix /tests,$(FOLDERS))
CORES := $(shell getconf _NPROCESSORS_ONLN)
# A part starts quicker in one process: each worker imports everything again. One more than there are cores, since some
# tests wait; slow ones start servers and browsers beside them.
PYTEST_WORKERS ?= $(if $(filter-out packages/%/tests systems/tests,$(TESTS)),0,$(shell expr $(CORES) + 1))
test-long: PYTEST_WORKERS = $(if $(filter-out packages/%/tests systems/tests,$(TESTS)),0,$(CORES))
ROUNDS ?= 200
SECONDS_EACH ?= 60
SOAK_SECONDS ?= 3600
TARGET ?=
FAULT_TESTS := tests/fault tests/reference packages/engine/tests/conformance/test_shaped_requests.py packages/engine/tests/unit/engine/direct packages/keyfold/tests/deterministic packages/web/tests/fuzz packages/keyfold/tests/property systems/tests/property packages/engine/tests/unit/expressions packages/engine/tests/unit/features/partiql/test_partiql.py \
  systems/tests/systems/tamafriends/test_histories.py
PYTEST = $(BIN)/pytest -q -n $(PYTEST_WORKERS) --dist loadfile --no-loadscope-reorder
PYTHONS := $(or $(PYTHON),python3 python3.13 python3.12 python3.11)

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Without compiled modules each process that a test starts compiles everything again.
unexport PYTHONDONTWRITEBYTECODE

PORT ?=
DYNAMODB_PORT ?=

.PHONY: help install ports run test test-long check check-mypy check-pyright audit bench docs scale dist peers browser fault soak fuzz migration-full pythons ci ci-tools clean

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/\1|\2/' \
	  | while IFS='|' read -r name text; do printf '  make %-14s %s\n' "$$name" "$$text"; done

install: $(STAMP) ## all parts and the tools of this repository, into .venv

run: ports ## install and start the demo; PORT=9000 for its pages elsewhere, DYNAMODB_PORT=9001 for the endpoint
	@$(MAKE) $(STAMP)
	@$(BIN)/keyfold demo $(if $(PORT),--port $(PORT)) $(if $(DYNAMODB_PORT),--dynamodb-port $(DYNAMODB_PORT))

ports: # before an installation of minutes
	@for port in PORT=$(or $(PORT),8080) DYNAMODB_PORT=$(or $(DYNAMODB_PORT),8000); do \
	  if (exec 3<>/dev/tcp/127.0.0.1/$${port#*=}) 2>/dev/null; then \
	    echo "Port $${port#*=} is in use. Stop what uses it, or choose another: make run $${port%=*}=9000"; exit 1; fi; done

test: $(STAMP) ## the suite, in minutes; TESTS=packages/keyfold/tests/unit/cli for a part of it
	@$(PYTEST) -m "not long" $(or $(TESTS),$(ALL_TESTS))

test-long: $(STAMP) ## the rest of it: browsers, peers, faults, memory, whole histories
	@$(PYTEST) -m long $(or $(TESTS),$(ALL_TESTS))

check: $(STAMP) ## formatting, lint, types, import layers; PART=engine for one part
	@$(BIN)/ruff format --check --quiet $(or $(PART_FOLDER),.)
	@$(BIN)/ruff check --quiet $(or $(PART_FOLDER),.)
	@$(BIN)/lint-imports --no-logo
	@$(MAKE) --jobs=2 --output-sync check-mypy $(if $(PART),,check-pyright)

check-mypy: $(STAMP)
	@$(BIN)/mypy $(if $(PART),$(PART_FOLDER)/src $(PART_FOLDER)/tests)

check-pyright: $(STAMP)
	@$(BIN)/pyright

bench: $(STAMP) ## side by side with peers; rewrites the table in the README
	@$(BIN)/python -m bench

audit: $(STAMP) ## dependencies fit together, and none has a known hole (without a network only the first)
	@$(BIN)/python .ci/audit.py

docs: $(STAMP) ## the documentation, warnings as errors, into docs/_build
	@$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	@echo "docs/_build/html/index.html"

scale: $(STAMP) ## the five systems at 10^8 users, simulated into docs/scale
	@$(BIN)/python docs/_ext/scale.py

dist: $(STAMP) ## four wheels and source archives, built twice, compared and installed into empty environments
	@$(BIN)/python .ci/dist.py dist

peers: $(STAMP) ## real clients against our server; our clients and all systems on other servers
	@KEYFOLD_FULL=1 $(BIN)/pytest -q tests/peers

browser: $(STAMP) ## the pages, in Chromium
	@$(BIN)/pytest -q tests/browser

fault: $(STAMP) ## kills, lost power, faults, fuzzing: hundreds of rounds; ROUNDS=20 for fewer
	@KILLS=$(ROUNDS) POWER_LOSSES=$(ROUNDS) FAULT_HISTORIES=$$(($(ROUNDS) / 20 + 1)) \
	  MODEL_EXAMPLES=$(ROUNDS) FLIPS=$$((50 * $(ROUNDS))) DOCTOR_ROUNDS=$(ROUNDS) HISTORIES=$$(($(ROUNDS) / 10 + 1)) \
	  MIGRATIONS=$$((5 * $(ROUNDS) / 2)) EXAMPLES=$$((5 * $(ROUNDS))) SEEDS=$$((5 * $(ROUNDS))) REFERENCE_REQUESTS=$$((5000 * $(ROUNDS))) SHAPED_REQUESTS=$$((1000 * $(ROUNDS))) DIRECT_REQUESTS=$$((50000 * $(ROUNDS))) \
	  $(BIN)/pytest -q -n $(PYTEST_WORKERS) $(FAULT_TESTS)

soak: $(STAMP) ## storms on a server for an hour, with curves; SOAK_SECONDS=60 for less
	@$(BIN)/python -m bench.soak --seconds $(SOAK_SECONDS)

fuzz: $(STAMP) ## inputs that break something, looked for by coverage; SECONDS_EACH=600 for longer
	@$(BIN)/python -c 'import atheris' 2>/dev/null \
	  || $(BIN)/python -m pip install -qq --constraint constraints.txt --group fuzz
	@$(BIN)/python -m tests.fuzz --seconds $(SECONDS_EACH) $(TARGET)

migration-full: $(STAMP) ## the restructuring of Sellers on 100,000 records
	@SELLERS_RECORDS=100000 $(BIN)/pytest -q -s systems/tests/systems/sellers/test_migration.py

pythons: ## the suite on every installed Python from 3.11 to 3.13
	@found=; for version in 3.11 3.12 3.13; do \
	  python$$version -c '' 2>/dev/null || { echo "python$$version: not installed, left out"; continue; }; \
	  found=yes; echo "python$$version"; \
	  $(MAKE) test test-long VENV=.venv-$$version PYTHON=python$$version; \
	done; test -n "$$found" || { echo "make pythons: no Python from 3.11 to 3.13 found" >&2; exit 1; }

ci: ci-tools ## what continuous integration runs: nothing may be skipped
	@$(MAKE) check
	@$(MAKE) audit
	@KEYFOLD_NO_SKIPS=1 $(MAKE) test
	@KEYFOLD_NO_SKIPS=1 $(MAKE) test-long
	@$(MAKE) docs

clean: ## remove what make made
	@rm -rf .venv .venv-3.* docs/_build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

ci-tools:
	@.ci/tools

$(STAMP): pyproject.toml constraints.txt $(addsuffix /pyproject.toml,$(FOLDERS))
	@python=; for candidate in $(PYTHONS); do \
	  if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; \
	  then python=$$candidate; break; fi; \
	done; \
	test -n "$$python" || { echo "make: keyfold needs Python 3.11 or newer; none of these is:" \
	  "$(PYTHONS). Install one, or say where it is: make PYTHON=/path/to/python3" >&2; exit 1; }; \
	test -x $(BIN)/python || "$$python" -m venv $(VENV) || { echo "make: $$python cannot make a virtual" \
	  "environment; on Debian and Ubuntu install python3-venv" >&2; rm -rf $(VENV); exit 1; }; \
	echo "Installing keyfold and its tools into $(VENV) ..."; \
	$(BIN)/python -m pip install -qq --constraint constraints.txt pip; \
	$(BIN)/python -m pip install -qq --constraint constraints.txt --group dev $(foreach folder,$(FOLDERS),--editable $(folder))
	@touch $@
