# Two commands do everything on a machine with Python 3.11+ and make:
#   make run    train both classifiers on digits and compare
#   make test   run the tests
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: run test lint bench clean

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[test,lint]"
	touch $@

run: $(VENV)/ready
	$(BIN)/python examples/digits.py

test: $(VENV)/ready
	$(BIN)/python -m pytest -n 2 $(TESTFLAGS)

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m numpydoc.hooks.validate_docstrings $$(git ls-files 'src/*.py')

# accuracy and speed on the data folder named by RANDOMBOOST_DATA
bench: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt lightgbm
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/accuracy.py

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache .hypothesis
