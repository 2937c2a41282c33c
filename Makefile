# One door for each chore. The first call makes the environment in .venv; all later ones find it ready.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
LM_EVAL ?= .venv-lm-eval
READY  := $(VENV)/.ready

LOCKING := --universal --python-version 3.10 --quiet --generate-hashes --no-header --no-emit-index-url --upgrade

.PHONY: demo test check format bench parity references docs golden lock clean

demo: $(READY)  ## evaluate the bundled example adapter
	@$(BIN)/model-accuracy-eval demo

test: $(READY)  ## every test
	$(BIN)/python -m pytest

check: $(READY)  ## types, lint, format
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: $(READY)  ## speed, as ratios against references measured in the same run
	$(BIN)/python bench/client.py
	$(BIN)/python bench/command.py
	$(BIN)/python bench/rescoring.py
	$(BIN)/python bench/sandbox.py

parity: $(READY) $(LM_EVAL)/.ready  ## prompts and scores against the real lm-evaluation-harness
	PARITY=required LM_EVAL_PYTHON=$(LM_EVAL)/bin/python $(BIN)/python -m pytest tests/parity

references: $(READY)  ## the reference solutions of every code dataset in the sandbox, all of them
	REFERENCES=all $(BIN)/python -m pytest tests/e2e/test_code_references.py

docs: $(READY)  ## write the reference pages anew from the tables they describe
	$(BIN)/python docs/generate.py

golden: $(READY)  ## write the expected report files anew; review the diff
	UPDATE_GOLDEN=1 $(BIN)/python -m pytest tests/unit/reporting

lock: $(READY)  ## resolve the pinned versions anew
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra fast --extra action --output-file requirements.lock $(LOCKING)
	$(BIN)/uv pip compile pyproject.toml --extra fast --extra action --extra text --extra maths --output-file requirements-image.lock $(LOCKING)

clean:
	rm -rf $(VENV) $(LM_EVAL) outputs .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(LM_EVAL)/.ready: tests/parity/requirements.txt
	@echo "Making lm-eval's environment in $(LM_EVAL) …"
	@$(PYTHON) -m venv $(LM_EVAL)
	@$(LM_EVAL)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/parity/requirements.txt
	@touch $@

$(READY): pyproject.toml requirements.lock
	@echo "Making the environment in $(VENV) …"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $(READY)
