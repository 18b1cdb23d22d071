# Two commands need nothing but Python 3.11 or newer: `make demo` and `make test`.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: install demo test lint migrations docs

install: $(VENV)/installed

$(VENV)/installed: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[service,robots,test]'
	touch $@

demo: install
	$(BIN)/geodrome demo

test: install
	$(BIN)/python -m pip --quiet check
	$(BIN)/pytest --numprocesses 2 --dist loadfile

lint: install
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

migrations: install
	$(BIN)/pytest -q tests/service/test_database.py

docs: install
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
