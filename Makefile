# Two commands on a fresh machine: `make demo` and `make test`. Both make .venv first; nothing is installed outside it.
# PYTHON: the interpreter to start from (3.11 or newer). HARDWARE: the GPU that `make demo` derives for.
SHELL := /bin/bash
HARDWARE ?= h200
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo $$p; break; }; done)
GPU := $(shell nvidia-smi -L >/dev/null 2>&1 && echo yes)
RUN := .venv/bin/python -m

.PHONY: demo test fast fuzz lint rocq coq docs clean
demo: .venv/ready
	.venv/bin/napkin-eq derive attention --hardware $(HARDWARE) -o build/attention
	.venv/bin/napkin-eq check build/attention/certificate.json
	.venv/bin/napkin-eq run attention --hardware $(HARDWARE)

test: .venv/ready coq lint
	$(RUN) pytest -q -n 2 --dist worksteal --durations 15

fast: .venv/ready
	$(RUN) pytest -q -n 2 --dist worksteal --fast

# A minute of random diagrams with a fixed seed, kernels run too, and a minute with the day's.
fuzz: .venv/ready
	.venv/bin/napkin-eq fuzz --run --seconds 60 --seed 0
	.venv/bin/napkin-eq fuzz --run --seconds 60 --seed $$(date -u +%Y%m%d)

lint: .venv/ready
	$(RUN) ruff check .
	$(RUN) mypy

# The core theorem, the laws and the checker's rules as theorems, checked by Rocq's two kernels.
rocq: .venv/ready coq
	@command -v coqchk >/dev/null || { \
		echo "make: Rocq is missing and cannot be installed from here; as root: apt-get install coq" >&2; exit 2; }
	$(RUN) napkin_eq.prove.rocq

# Debian's package coq is installed where it is missing and may be: eight laws have grade A with Rocq alone, as tests ask.
coq:
	@command -v coqchk >/dev/null || { test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
		&& apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq coq >/dev/null; } || \
		echo "make: Rocq is missing; as root: apt-get install coq" >&2

# What the documents show is made again, every command in them is run again, and the site is built into build/site.
docs: .venv/ready
	.venv/bin/python docs/refresh.py
	.venv/bin/python docs/executed.py --write
	NO_MKDOCS_2_WARNING=1 $(RUN) mkdocs build --quiet

# Without a GPU the versions are pinned to what was tested; where those builds are not offered, the ranges of pyproject.toml are taken.
.venv/ready: pyproject.toml constraints-cpu.txt
	@test -n "$(PYTHON)" || { echo "make: no Python 3.11 or newer was found; name one with PYTHON=..." >&2; exit 2; }
	$(PYTHON) -m venv .venv
ifeq ($(GPU),yes)
	$(RUN) pip install --quiet -e '.[dev]'
else
	$(RUN) pip install --quiet -c constraints-cpu.txt -e '.[dev]' || { \
		echo "make: the pinned versions are not all offered here, taking the ranges"; $(RUN) pip install --quiet -e '.[dev]'; }
endif
	@touch $@

clean:
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache
