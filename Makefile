# One environment, in .venv, made from the locks. `make report` and `make test` need Python 3.11+ and pip only.
PYTHON ?= python3
VENV   ?= .venv
GPU    ?=
SLURM  ?=
KUBERNETES ?=
STUDY  ?= $(shell sed -n 's/^study: *\([A-Za-z0-9._-]*\).*/\1/p' config/config.yaml)
CORES  ?= all
V      ?=
export V  # 1: all that Snakemake says (rules/common.smk)

# TensorFlow is installed only where something is measured. What these lines do not recognise counts as measured.
UNMEASURED := $(shell grep -Eqs '^measure: *false *(\#.*)?$$' config/studies/$(STUDY)/study.yaml && echo study; \
                grep -Eqs '^measure_on: *\[ *\] *(\#.*)?$$' config/config.yaml && echo config)
LOCK   := $(if $(filter study,$(UNMEASURED)),core,$(if $(GPU),gpu,$(if $(UNMEASURED),core,measure)))
READY  := $(patsubst %,$(VENV)/.ready-%,$(LOCK) $(if $(SLURM),slurm) $(if $(KUBERNETES),kubernetes))
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off -q
# uv installs several times faster where it is there; where it reaches no index (pip has settings of its own), pip does it.
UV     := $(shell command -v uv)
WITH   := $(if $(UV),$(UV) pip install -q --python $(BIN)/python)
export PATH := $(abspath $(BIN)):$(PATH)

# Before anything is measured a first page comes from published figures, and needs no TensorFlow.
PAGE   := results/$(STUDY)/report/index.html
EARLY  := $(if $(UNMEASURED)$(wildcard $(PAGE)),,early)

.PHONY: report early pdf share study test gpu-check fast mutants walk weight schemas site environment check container-check driver lock audit clean
.NOTPARALLEL:  # one environment: two installers in it would be in each other's way

report: $(if $(GPU),driver) $(EARLY) environment  ## measure, extrapolate, price, compare; prints the verdict and the path of the page; V=1 shows all
	@snakemake --cores $(CORES) --config study=$(STUDY) $(if $(GPU),measure_on=workstation-gpu)
	@echo "Report: $(abspath $(PAGE))"
	@echo "All studies made here: $(abspath results/index.html)"
	@python -c '$(VERDICT)' $(dir $(PAGE))answer.json

VERDICT = import json, sys; a = json.load(open(sys.argv[1])); print((a["verdict"] or {"sentence": a["sentences"][0]})["sentence"])

early: $(VENV)/.ready-core  ## the page from published figures alone; measures nothing
	@snakemake --cores $(CORES) --config study=$(STUDY) 'measure_on=[]'
	@echo "From published figures, before this machine is measured: $(abspath $(PAGE))"

pdf: environment  ## the page on paper; needs Chromium
	snakemake --cores $(CORES) --config study=$(STUDY) --quiet -- print_report
	@echo "PDF: $(abspath results/$(STUDY)/report/index.pdf)"

share: environment  ## the page with its evidence as one offline file to send: make share STUDY=office-box-2026
	@snakemake --cores $(CORES) --config study=$(STUDY) --quiet -- share_report
	@echo "One file to send: $(abspath results/$(STUDY)/report/$(STUDY).html)"

# A device timed elsewhere: make study NAME=mine GPU_NAME="RTX 4090" MODEL=resnet50 SPEED=1120 CURRENCY=EUR
TIMED = $(if $(WORK),--work "$(WORK)") $(if $(GPU_NAME),--gpu-name "$(GPU_NAME)") $(if $(SPEED),--speed "$(SPEED)") $(if $(MODEL),--model "$(MODEL)") \
        $(if $(PRECISION),--precision "$(PRECISION)") $(if $(BATCH),--batch-size "$(BATCH)") \
        $(if $(FRAMEWORK),--framework "$(FRAMEWORK)") $(if $(CURRENCY),--currency "$(CURRENCY)") \
        $(if $(DEVICES_PER_JOB),--devices-per-job "$(DEVICES_PER_JOB)") \
        $(if $(OFFER_PRICE),--offer-price "$(OFFER_PRICE)") $(if $(OFFER_DEVICE),--offer-device "$(OFFER_DEVICE)") \
        $(if $(OFFER_COUNT),--offer-count "$(OFFER_COUNT)") $(if $(OFFER_KW),--offer-kw "$(OFFER_KW)") \
        $(if $(OFFER_WEEKS),--offer-delivery-weeks "$(OFFER_WEEKS)") \
        $(if $(JOBS),--jobs-per-month "$(JOBS)") $(if $(SAMPLES),--samples-per-job "$(SAMPLES)") \
        $(if $(RATE),--rate "$(RATE)")

study: $(VENV)/.ready-core  ## a study of your own: make study NAME=mine
	sweetspot new-study $(or $(NAME),$(error NAME is missing: make study NAME=mine)) $(TIMED)

# Three processes on two cores: the one with the cluster's tests mostly waits.
test: check  ## every test this machine can run
	python -m pytest --numprocesses 3 --dist loadfile --no-loadscope-reorder

gpu-check: $(if $(GPU_PYTHON),,$(VENV)/.ready-gpu $(VENV)/.ready-test)  ## the first half hour on a real NVIDIA card; writes results/gpu-check.json
	@rm -f results/gpu-check.json
	$(or $(GPU_PYTHON),python) -m pytest tests/gpu -v -rs -s

fast: $(VENV)/.ready-test  ## the tests that neither train nor run the workflow: a minute and a half on two cores
	python -m pytest -m "not slow" --numprocesses 2 --dist loadfile

check: $(VENV)/.ready-test  ## style and types, without running anything
	ruff check . && ruff format --check . && snakefmt --check Snakefile workflow/Snakefile rules examples/throughput/Snakefile && mypy

mutants: $(VENV)/.ready-test  ## which one-token mutants a room's fast tests miss: ROOM=bills COUNT=60 SEED=1
	python research/mutation $(or $(ROOM),$(error ROOM is missing: make mutants ROOM=bills)) --count $(or $(COUNT),60) --seed $(or $(SEED),1)

walk: $(VENV)/.ready-test  ## the README and config/README.md as a newcomer types them, in an empty root; minutes
	python -m pytest research/newcomer

weight: $(VENV)/.ready-test  ## lines, tokens and names of each room beside their ceilings (tests/ground/ceilings.yaml)
	@python tests/support/weight.py

schemas: $(VENV)/.ready-test  ## write config/schemas and docs/tables.md anew
	@python tests/support/schemas.py

site: $(VENV)/.ready-test  ## the documents and the pages made here, as a site in site/
	mkdocs build --strict --quiet
	for page in $(wildcard results/index.html results/*/report/*.html); do \
	  mkdir -p site/$$(dirname $$page) && cp $$page site/$$page || exit; done
	@echo "Site: $(abspath site/index.html)"

container-check:  ## the steps of Containerfile in a root of their own, without a container engine; needs root and debootstrap
	$(PYTHON) research/container Containerfile

environment: $(READY)  ## what `make report` needs; SLURM=1, KUBERNETES=1 add what those profiles need

driver:
	@$(PYTHON) -c 'import ctypes, sys; sys.exit(ctypes.CDLL("libnvidia-ml.so.1").nvmlInit_v2() != 0)' 2>/dev/null || \
	  { echo "error: no NVIDIA driver here: leave GPU=1 out" >&2; exit 2; }

$(VENV)/.ready-%: envs/%.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "error: Python %d.%d found; 3.11 or newer is needed" % sys.version_info[:2])'
	@echo "Installing envs/$*.lock into $(VENV): a minute or two the first time"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(if $(UV),$(WITH) --require-hashes -r $< ||) $(PIP) --require-hashes --no-compile -r $<
	$(if $(UV),$(WITH) --no-deps --no-build-isolation -e . ||) $(PIP) --no-deps --no-build-isolation -e .
	@find $(addprefix $(VENV)/lib/python3*/site-packages/,pandas pyarrow scipy) -depth -type d \( -name tests -o -path '*/pyarrow/include' \) \
	  -exec rm -rf {} + 2>/dev/null || true  # 45 MB of their own tests and headers
	@touch $@

# Each lock is whole; the first holds the others to its versions.
COMPILE := UV_CUSTOM_COMPILE_COMMAND="make lock" uv pip compile --universal --python-version 3.11 --generate-hashes \
  --no-emit-index-url --no-annotate -q pyproject.toml --extra build

TESTED := --extra measure --extra slurm

UPGRADE := --upgrade

lock:  ## resolve pyproject.toml anew (needs uv); `make lock UPGRADE=` keeps the versions that still fit
	$(COMPILE) $(UPGRADE) $(TESTED) --group test -o envs/test.lock
	$(COMPILE) $(UPGRADE) -c envs/test.lock -o envs/core.lock
	for extra in measure slurm kubernetes gpu; do $(COMPILE) $(UPGRADE) --extra $$extra -c envs/test.lock -o envs/$$extra.lock || exit; done
	$(MAKE) envs/core.yaml envs/measure.yaml envs/gpu.yaml

# For people on conda: the versions of a lock, without its hashes, which conda does not take.
envs/%.yaml: envs/%.lock
	@{ echo "# Made by \`make lock\` from $<. By hand: conda env create -f $@, then pip install --no-deps -e . in it."; \
	  printf '%s\n' "name: sweetspot-$*" 'channels: [conda-forge, nodefaults]' 'dependencies:' \
	    '  - python=3.11' '  - pip' '  - pip:'; \
	  sed -nE 's/^([a-z0-9-]+==[^\]*[^\ ])[ \]*$$/      - "\1"/p' $<; } > $@

audit:  ## known vulnerabilities of what is locked (asks the network; no part of `make test`)
	@test -x $(VENV)-audit/bin/pip-audit || { $(PYTHON) -m venv $(VENV)-audit && \
	  $(VENV)-audit/bin/python -m pip install --disable-pip-version-check -q pip-audit; }
	for lock in envs/*.lock; do $(VENV)-audit/bin/pip-audit --strict --disable-pip --require-hashes --progress-spinner off -r $$lock || exit; done

clean:  ## remove the environment; results stay
	rm -rf $(VENV) $(VENV)-audit site
