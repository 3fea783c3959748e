# One environment, in .venv, made from the lock. `make report` and `make test` need Python 3.11+ and pip only.
PYTHON ?= python3
VENV   ?= .venv
GPU    ?=
STUDY  ?= $(shell sed -n 's/^study: *\([A-Za-z0-9._-]*\).*/\1/p' config/config.yaml)
CORES  ?= all

LOCKS  := envs/requirements.lock $(if $(GPU),envs/requirements-gpu.lock)
READY  := $(VENV)/.ready$(if $(GPU),-gpu)
BIN    := $(VENV)/bin
export PATH := $(abspath $(BIN)):$(PATH)

.PHONY: report pdf study test environment check lock audit clean

report: environment  ## measure, extrapolate, price, compare; prints the path of the page
	snakemake --cores $(CORES) --config study=$(STUDY) $(if $(GPU),measure_on=workstation-gpu)
	@echo
	@echo "Report: $(abspath results/$(STUDY)/report/index.html)"

pdf: environment  ## the page on paper; needs Chromium
	snakemake --cores $(CORES) --config study=$(STUDY) --quiet -- print_report
	@echo "PDF: $(abspath results/$(STUDY)/report/index.pdf)"

study: environment  ## a study of your own: make study NAME=mine
	python -m sweetspot.commands.new_study $(or $(NAME),$(error NAME is missing: make study NAME=mine))

# Three processes on two cores: the one with the cluster's tests mostly waits.
test: environment check  ## every test this machine can run
	python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder

check: environment  ## style, without running anything
	ruff check . && ruff format --check . && snakefmt --check Snakefile rules

environment: $(READY)

$(READY): $(LOCKS) pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "error: Python %d.%d found; 3.11 or newer is needed" % sys.version_info[:2])'
	@echo "Installing the environment into $(VENV): a minute or two the first time"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --require-hashes --no-compile $(addprefix -r ,$(LOCKS)) --progress-bar off -q
	$(BIN)/python -m pip install --disable-pip-version-check --no-deps --no-build-isolation -q -e .
	touch $@

lock:  ## resolve the .in files anew (needs uv)
	cd envs && for name in requirements requirements-gpu; do \
	  UV_CUSTOM_COMPILE_COMMAND="make lock" uv pip compile --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-annotate --upgrade -q $$name.in -o $$name.lock; done

audit:  ## known vulnerabilities of what is locked (asks the network; no part of `make test`)
	test -x $(VENV)-audit/bin/pip-audit || { $(PYTHON) -m venv $(VENV)-audit && \
	  $(VENV)-audit/bin/python -m pip install --disable-pip-version-check -q pip-audit; }
	$(VENV)-audit/bin/pip-audit --strict --disable-pip --require-hashes --progress-spinner off $(addprefix -r ,$(LOCKS))

clean:  ## remove the environment; results stay
	rm -rf $(VENV) $(VENV)-audit
