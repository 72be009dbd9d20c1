# Two commands do everything on a machine with Python 3.11+ and make:
#   make run    compare our classifiers and scikit-learn's on digits, with a page of the results
#   make test   run the tests
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: run test test-oldest coverage lint docs update-outputs bench bench-quick bench-peers paper paper-archive clean

$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[test,lint]"
	touch $@

# RUNFLAGS=--all adds the methods that the paper compares with
run: $(VENV)/ready
	@echo "about a minute on 2 cores; Ctrl-C keeps the folds that are done"
	$(BIN)/randomboost compare sklearn:digits --report output/digits.html $(RUNFLAGS)

test: $(VENV)/ready
	$(BIN)/python -m pytest -n 2 --dist loadfile $(TESTFLAGS)

# which lines of Python the tests run, kernels aside: build/coverage/index.html
coverage: $(VENV)/ready
	$(BIN)/python -m pytest -n 2 --dist loadfile --cov --cov-report=term --cov-report=html $(TESTFLAGS)

# part of the tests with the oldest versions that pyproject.toml allows
OLDEST ?= .venv-oldest
$(OLDEST)/ready: pyproject.toml constraints-oldest.txt
	$(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-oldest.txt \
		-e ".[tables,progress]" pytest pytest-xdist hypothesis polars
	touch $@

test-oldest: $(OLDEST)/ready
	NUMBA_CACHE_DIR=$(abspath $(OLDEST))/kernels $(OLDEST)/bin/python -m pytest -n 2 $(TESTFLAGS) \
		tests/estimators/test_estimators.py tests/estimators/test_properties.py tests/files/test_files.py \
		tests/preprocessing/test_tables.py

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m numpydoc.hooks.validate_docstrings $$(git ls-files 'src/*.py')

# the pages, with pictures drawn and examples run: build/docs/index.html; some minutes, no internet
$(VENV)/docs: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[docs]"
	touch $@

docs: $(VENV)/docs
	$(BIN)/python -m sphinx -q -W --keep-going -d build/doctrees docs build/docs
	$(BIN)/python -m pytest -q tests/project/test_site_browser.py

# after a change that is meant to give other models: writes the outputs in the pages, the digests of
# models and golden files that no longer load again, and prints what changed; UPDATE=pages for a part
update-outputs: $(VENV)/docs
	$(BIN)/python tests/project/update_outputs.py $(UPDATE)

# the data folder is named by RANDOMBOOST_DATA; every one says first what it costs
PEERS := lightgbm xgboost catboost

$(VENV)/peers: $(VENV)/ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $(PEERS)
	touch $@

# speed, size and memory beside other libraries: writes docs/performance.md; many classes and many
# rows: writes the tables of docs/many-classes.md
bench: $(VENV)/peers
	$(BIN)/python benchmarks/performance.py $(BENCHFLAGS)
	$(BIN)/python benchmarks/classical_speed.py
	$(BIN)/python benchmarks/many_classes.py $(MANYFLAGS)

bench-quick: $(VENV)/peers
	$(BIN)/python benchmarks/performance.py --quick --fresh

# defaults beside those of other libraries, in an environment of its own: many hours, goes on where it
# was; writes the tables of docs/beyond.md; `make bench-peers PEERFLAGS=--times` on a quiet machine
PEERS_VENV ?= .venv-peers
$(PEERS_VENV)/ready: pyproject.toml constraints.txt benchmarks/peers-requirements.txt
	$(PYTHON) -m venv $(PEERS_VENV)
	$(PEERS_VENV)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt \
		-r benchmarks/peers-requirements.txt -e .
	touch $@

bench-peers: $(PEERS_VENV)/ready
	$(PEERS_VENV)/bin/python benchmarks/beyond.py $(PEERFLAGS)

# the paper's tables and figures beside ours; `make paper PAPER="table-multiclass --quick"`
PAPER ?= all
paper: $(VENV)/ready
	$(BIN)/python -m randomboost.paper run $(PAPER)

# the committed results with environment, commit, seeds and checksums, for a repository with DOIs
paper-archive: $(VENV)/ready
	$(BIN)/python -m randomboost.paper archive docs/results --out build/paper-archive.zip \
		--add CITATION.cff --add LICENSE

clean:
	rm -rf $(VENV) $(OLDEST) $(PEERS_VENV) build docs/gallery docs/pictures docs/reference .pytest_cache .ruff_cache .mypy_cache .hypothesis
