# The verbs of this project. Every one sets up what it needs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test bench format tools clean

demo: $(READY)
	$(BIN)/symmem derive adamw

test: $(READY) tools
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest

bench: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	$(BIN)/python benchmarks/run.py

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Commands that pip does not bring: a TeX system, compilers. Nothing happens where they are there.
tools:
	tools/install.sh

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	$(BIN)/python -m compileall -q symmem
	touch $(READY)
