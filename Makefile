# `make help` lists what there is. The first call makes the environment in .venv; all later ones find it ready. A demo
# needs what users install, tests and checks a good deal more.

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
LM_EVAL := .venv-lm-eval-0.4 .venv-lm-eval-0.5
EVALPLUS := .venv-evalplus
OLDEST := .venv-oldest
RAY    := .venv-ray
LIVE   := .venv-live-vllm .venv-live-transformers .venv-live-llamacpp
RUNS   := $(VENV)/.runs
READY  := $(VENV)/.ready
AS_PROCESSES := code_batch damaged_shards export_forms init one_verdict own_questions thinking trusted_tasks turns verify

LOCKING := --universal --python-version 3.10 --quiet --generate-hashes --no-header --no-emit-index-url --upgrade

PYTEST := $(BIN)/python -m pytest -n auto

.PHONY: help demo test test-all test-long slow commands properties environments parity references oldest ray
.PHONY: check format bench bigcodebench live docs golden lock clean

help:  ## this list
	@grep -E '^[a-z-]+:.*  ## ' $(MAKEFILE_LIST) | sed -E 's/:.*  ## /\t/' | expand -t 14

demo: $(RUNS)  ## evaluate the bundled example adapter
	@$(BIN)/model-accuracy-eval demo

test: $(READY)  ## what a change is tested with: everything that runs in minutes on this clone alone
	$(PYTEST) -m "not slow"

test-all: test test-long  ## every test: simulator, engines, references and parity too

test-long: slow references ray properties parity commands oldest  ## what `make test` leaves out, the longest first; many wait: `make -j 3 test-long`

slow: $(READY)  ## simulator, engines, kills
	$(PYTEST) -m "slow and not references" --ignore tests/live --ignore tests/parity --ignore tests/e2e/ray

commands: $(READY)  ## every verb as a process of its own; other tests of tests/e2e call it in theirs
	E2E=processes $(PYTEST) $(AS_PROCESSES:%=tests/e2e/test_%.py)

properties: $(READY)  ## property tests with more examples
	$(PYTEST) --hypothesis-profile thorough -m "hypothesis and not slow"

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
	$(BIN)/python bench/maths.py
	$(BIN)/python bench/answers.py
	$(BIN)/python bench/picture_questions.py
	$(BIN)/python bench/report_page.py

environments: $(LM_EVAL:%=%/.ready) $(EVALPLUS)/.ready $(RAY)/.ready $(OLDEST)/.ready  ## those that the long suites have of their own

parity: $(READY) $(LM_EVAL:%=%/.ready) $(EVALPLUS)/.ready  ## prompts, scores and verdicts against the real lm-evaluation-harness, two versions of it, and EvalPlus
	PARITY=required $(PYTEST) tests/parity

references: $(READY)  ## every code dataset's solutions in the sandbox, right ones and spoiled ones, and runs that are killed
	REFERENCES=all $(PYTEST) --timeout 1200 -m references

oldest: $(OLDEST)/.ready  ## the client, the command and the report with the oldest libraries that are allowed
	E2E=processes $(OLDEST)/bin/python -m pytest -n auto tests/unit/client tests/unit/system tests/unit/run/test_pipeline.py tests/integration/streams tests/e2e/test_endpoint.py

bigcodebench: $(READY)  ## all its tasks' own solutions, with their libraries: half an hour
	REFERENCES=whole $(PYTEST) --timeout 7200 tests/e2e/test_code_bigcodebench.py

# Where it is not there, the environment is made here: as a prerequisite it would put this target behind all others of
# `make -j 3 test-long`.
ray: $(READY)  ## runs on Ray clusters on this machine, and the job of docs/how-to/ray.md
	@$(MAKE) $(RAY)/.ready
	RAY=required $(BIN)/python -m pytest tests/e2e/ray

live: $(READY) $(LIVE:%=%/.ready)  ## vLLM, transformers serve and llama.cpp on CPUs: figures, log-likelihoods, pictures, kills (6 GB, half an hour)
	LIVE=required $(BIN)/python -m pytest --timeout 1800 --durations 10 tests/live

docs: $(READY)  ## write the reference pages anew from the tables they describe
	$(BIN)/python -m docs.generate

golden: $(READY)  ## write the expected report files anew; review the diff
	UPDATE_GOLDEN=1 $(BIN)/python -m pytest tests/unit/report tests/unit/test_golden_verdicts.py tests/unit/tasks/test_every_dataset.py

lock: $(READY)  ## resolve the pinned versions anew
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml --extra dev --extra fast --extra action --output-file requirements.lock $(LOCKING)
	$(BIN)/uv pip compile pyproject.toml --extra fast --extra action --extra text --extra ifeval --extra tokens --excludes docker/not-in-the-image.txt --output-file requirements-image.lock $(LOCKING)

clean:
	rm -rf $(VENV) $(LM_EVAL) $(EVALPLUS) $(OLDEST) $(RAY) $(LIVE) outputs .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv-live-%/.ready: tests/live/requirements-%.txt tests/live/install_server.py
	@echo "Making the environment of $* in $(@D) …"
	@$(PYTHON) tests/live/install_server.py $* $(@D)
	@touch $@

.venv-lm-eval-%/.ready: tests/parity/requirements-%.txt
	@echo "Making lm-eval's environment in $(@D) …"
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

$(EVALPLUS)/.ready: tests/parity/requirements-evalplus.txt
	@echo "Making EvalPlus' environment in $(EVALPLUS) …"
	@$(PYTHON) -m venv $(EVALPLUS)
	@$(EVALPLUS)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r $<
	@touch $@

$(RAY)/.ready: pyproject.toml requirements-image.lock
	@echo "Making Ray's environment in $(RAY) …"
	@$(PYTHON) -m venv $(RAY)
	@$(RAY)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r requirements-image.lock
	@$(RAY)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[ray]' 'ray[default]'
	@touch $@

$(OLDEST)/.ready: pyproject.toml tests/oldest-versions.txt
	@echo "Making an environment of the oldest libraries in $(OLDEST) …"
	@$(PYTHON) -m venv $(OLDEST)
	@$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --requirement tests/oldest-versions.txt --editable .[fast,action,text]
	@touch $@

$(RUNS): pyproject.toml requirements.lock
	@echo "Installing the program in $(VENV) …"
	@$(PYTHON) -m venv $(VENV)
	@sed -E '/^ +--hash/d; s/ *\\$$//' requirements.lock > $(VENV)/constraints.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c $(VENV)/constraints.txt --editable '.[fast]'
	@touch $@

$(READY): pyproject.toml requirements.lock
	@echo "Installing the program and what tests it in $(VENV) …"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $(RUNS) $@
