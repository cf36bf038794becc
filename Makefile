# The verbs of this project.  Every one installs what it needs: demo the core alone, the others also the tools of work.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/.core
DEV := $(VENV)/.dev
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo quick test prove mutants fuzz bench lint format tools clean

# One derivation.
demo: $(CORE)
	@$(BIN)/symmem derive adamw

# While working: linter, types, and the first case of every test that is not in tests/slow.txt.
quick: lint
	$(BIN)/pytest -m "not slow and not prove"

# Everything that has to hold before a change is merged.
test: lint tools
	$(BIN)/pytest

# Sweeps over the whole zoo, for every order and target, and long examples: what test shows on its first entries.
# Triton comes with it: a gigabyte, for kernels that are run in its interpreter and compiled.
prove: lint tools
	$(PIP) --editable ".[triton]"
	$(BIN)/pytest -m prove

# Breaks the code at many places, one at a time: a break that no test sees is reported.
mutants: $(DEV) tools
	$(BIN)/python tools/mutants.py

# A hundred thousand inputs that nobody would write: each ends in a result or in one line. Goes on where it was.
fuzz: $(DEV)
	$(BIN)/python tools/fuzz.py --count 100000 --jobs 2 --results build/fuzz.jsonl

# The promised ratios, as one table.
bench: $(DEV)
	$(PIP) --editable ".[bench]"
	$(BIN)/python benchmarks/run.py

lint: $(DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(DEV)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Commands that pip does not bring: a TeX system, compilers. Nothing happens where they are there.
tools:
	tools/install.sh

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(CORE): pyproject.toml
	@echo "Installing symmem with SymPy, FLINT and NumPy into $(VENV)/: about 210 MB, once."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --editable .
	@$(BIN)/python -m compileall -q symmem
	@touch $(CORE)
	@echo "Go on with:  . $(BIN)/activate    and then, for example:  symmem list"

$(DEV): $(CORE)
	@echo "Installing the tools of work (PyTorch, JAX, pytest, ruff, mypy) into $(VENV)/: about 1.7 GB more, once."
	@# PyTorch first, at its own version: what depends on it must not choose another, which brings gigabytes of CUDA.
	@$(PIP) --editable ".[torch-of-tests]"
	@$(PIP) --editable ".[dev]"
	@touch $(DEV)
