# Every target makes .venv by itself when it is missing or older than what it is made from.
.DEFAULT_GOAL := help
.PHONY: help run demo test test-clients soak bench check format docs locks clean
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
CODE := flowpool addons home providers routing credentials tests bench

help: ## what there is
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 24

run: $(STAMP) ## start the proxy in the foreground
	$(BIN)/flowpool serve

demo: $(STAMP) ## three made-up accounts run out one after another, on this machine alone
	$(BIN)/python -m tests.demo

test: $(STAMP) ## all tests but those that drive real client programs or take minutes
	$(BIN)/python -m pytest -n 4 -m 'not clients and not soak'

test-clients: $(STAMP) ## the real Claude Code through the pool, without a network (needs npm)
	npm install --prefix tests/clients --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error
	tools/loopback-only $(BIN)/python -m pytest -m clients tests/clients

soak: $(STAMP) ## twenty minutes: load, kills, a thousand starts, a month of logins; nothing leaks, nothing known is lost
	FLOWPOOL_THOROUGH=1 $(BIN)/python -m pytest -s $(REPEATED)
	$(BIN)/python -m pytest -s -m soak tests/soak

REPEATED := $(addprefix tests/,e2e/test_killed.py e2e/test_lifecycle.py e2e/test_refresh_command.py flowpool/test_credentials.py)

bench: $(STAMP) ## measure it beside bare mitmdump, eight minutes on an idle machine
	$(BIN)/python -m bench

check: $(STAMP) ## lint, types, import rule
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(STAMP) ## put the code in shape
	$(BIN)/ruff check --fix --silent . || true
	$(BIN)/ruff format .

docs: $(STAMP) ## write docs/settings.md from the code
	$(BIN)/python -m tools.settings_docs docs/settings.md

locks: $(STAMP) ## resolve the locks anew
	$(BIN)/uv pip compile $(LOCK) pyproject.toml -o requirements/run.txt
	$(BIN)/uv pip compile $(LOCK) -c requirements/run.txt pyproject.toml --group dev -o requirements/dev.txt

LOCK := --quiet --universal --python-version 3.12 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header --upgrade

$(STAMP): pyproject.toml requirements/dev.txt .python-version
	@sh tools/make-venv $(VENV)
	@touch $@

clean: ## remove what was made
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
