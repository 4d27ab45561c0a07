# The two commands of a new user (compare, test) and the ones of a developer; `make help` lists them.
# Not a build system: CMake builds C++, scikit-build-core the Python package, tools/setup.sh brings in what is missing.
# Stamps in .venv/stamps say what was done, so that a second run does only what changed sources make necessary.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

PYTHON ?= python3
VENV ?= .venv
TORCH_INDEX ?=
ARGS ?=
JOBS ?= $(shell nproc)
# A warning fails the build in CI and under the sanitizers, not `make test` of a user with a newer compiler than ours.
WERROR ?= $(if $(CI),ON,OFF)

BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
SETUP := PYTHON="$(PYTHON)" VENV="$(VENV)" TORCH_INDEX="$(TORCH_INDEX)" tools/setup.sh
# Containers like to set it, and then each of the thousands of processes that tests start compiles the package's 140
# modules again: 0.1 s of its 0.55 s.
export PYTHONDONTWRITEBYTECODE :=

# cmake, ninja and the clang tools of the environment come before the system's
WITH_TOOLS := PATH="$(CURDIR)/$(BIN):$$PATH"

# Folders count too: their time changes when a file comes or goes.
CORE_FILES := $(shell find core cmake include workers -type d -o -name '*.cpp' -o -name '*.c' -o -name '*.h' -o -name '*.cmake' -o -name CMakeLists.txt)
CPP_FILES = $(shell find core include ringtree tests tools workers -name '*.cpp' -o -name '*.h')
# The bindings are not in build/tidy's compile commands: nanobind's templates would be judged, not our lines.
TIDY_FILES = $(shell find core -name '*.cpp' -not -path 'core/bindings/*')
# Several sources as one, as build/tidy has them: a quarter of the time, most of which goes into the headers they share.
TIDY_UNITS = $(shell sed -n 's|^ *"file": "\(.*\)",*$$|\1|p' build/tidy/compile_commands.json | grep -E '^$(CURDIR)/(build/tidy/)?core/')

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help build build-tools torch compare torch-suite torch-suite-check bench-torch check test test-cpp build-dev build-asan build-tsan test-python test-python-beside test-python-alone prepare lint mypy clang-tidy layers asan fuzz fuzz-logs tsan capi model faults peers bench bench-hosts bench-emulated bench-sim bench-sim-engine bench-three-ways bench-compare bench-explain method-check method-data docs audit-published audit-mutants tables format clean distclean

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

$(STAMPS)/venv:
	@$(SETUP) toolchain
	@$(SETUP) venv
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/build-tools: $(STAMPS)/venv constraints.txt
	@$(SETUP) build-tools
	@touch $@

# Written also where PyTorch could not be had, so that every run does not try again; `make torch` does.
$(STAMPS)/torch: $(STAMPS)/venv
	@$(SETUP) torch
	@touch $@

$(STAMPS)/package: $(STAMPS)/build-tools pyproject.toml constraints.txt CMakeLists.txt $(CORE_FILES)
	@$(SETUP) package
	@touch $@

$(STAMPS)/extra-%: $(STAMPS)/venv pyproject.toml constraints.txt | $(STAMPS)/package
	@$(SETUP) extra $*
	@touch $@

# The torch.distributed backend is compiled here, where there is PyTorch: a job's first start would do it, on each machine.
BACKEND := if $(BIN)/python -c 'import torch, ringtree' 2>/dev/null; then $(BIN)/python -m ringtree.torch; fi

build: $(STAMPS)/package ## the package with its C++ core into .venv, with the torch.distributed backend if there is PyTorch
	@$(BACKEND)

torch: $(STAMPS)/venv ## PyTorch into .venv, unless one is importable (TORCH_INDEX=<url or folder> for the CPU build)
	@$(SETUP) torch
	@touch $(STAMPS)/torch
	@$(BACKEND)

compare: $(STAMPS)/torch $(STAMPS)/package ## set up what is missing, then ringtree compare $(ARGS)
	$(BIN)/ringtree compare $(ARGS)

# One after the other even under -j: tests that measure time or kill ranks must not disturb each other.
test: ## set up what is missing, then every test
	@$(MAKE) --no-print-directory test-cpp
	@$(MAKE) --no-print-directory test-python

# What compiles the core and its tests, so that build-dev and the like ask no package manager any more.
build-tools: $(STAMPS)/build-tools
	@$(SETUP) gtest

# The core and its tests, compiled for test-cpp, asan and tsan.
build-dev build-asan build-tsan: build-%: $(STAMPS)/build-tools
	@$(SETUP) gtest
	$(WITH_TOOLS) cmake --preset $* $(if $(filter dev,$*),-DRINGTREE_WERROR=$(WERROR))
	$(WITH_TOOLS) cmake --build --preset $*

test-cpp: build-dev ## the C++ tests
	$(WITH_TOOLS) ctest --preset dev --parallel $(JOBS)

QUIET_TESTS = $(BIN)/python -m pytest tests/python -n $(JOBS) --maxprocesses 8 --dist worksteal --defer
# What starts processes waits half of its time: one more than there are cores, until memory counts.
BUSY_TESTS = $(BIN)/python -m pytest tests/python -n $$(($(JOBS) + 1)) --maxprocesses 5 --dist worksteal -m "not alone" --deferred
LONE_TESTS = $(BIN)/python -m pytest tests/python -m alone --deferred
# In three parts, each with its closing line (tests/deferring.py): tests that start nothing, those that start processes,
# both side by side, then the ones that measure time, with nothing beside them. What makes hosts out of network namespaces,
# a browser, and Hugging Face's accelerate and transformers, are brought in for CI only: elsewhere tests that need them are skipped and say so.
test-python: ## the Python tests
	@failed=0; \
	$(MAKE) --no-print-directory test-python-beside || failed=1; \
	$(MAKE) --no-print-directory test-python-alone || failed=1; \
	exit $$failed

TO_TEST_PYTHON = $(STAMPS)/torch $(STAMPS)/package $(STAMPS)/extra-test $(if $(CI),$(STAMPS)/extra-train $(STAMPS)/extra-ray)
test-python-beside: $(TO_TEST_PYTHON)
	$(if $(CI),@$(SETUP) namespaces)
	$(if $(CI),@$(SETUP) browser)
	$(if $(CI),@$(SETUP) slurm)
	rm -f build/deferred-tests
	failed=0; \
	$(QUIET_TESTS) build/deferred-tests || failed=1; \
	$(BUSY_TESTS) build/deferred-tests || failed=1; \
	exit $$failed

test-python-alone: $(TO_TEST_PYTHON)
	$(LONE_TESTS) build/deferred-tests

# All that stages of CI bring in, so that two of them can run side by side: apt and pip want to be alone.
prepare: $(STAMPS)/torch $(STAMPS)/package $(STAMPS)/extra-dev $(STAMPS)/extra-test $(STAMPS)/extra-docs $(STAMPS)/extra-train $(STAMPS)/extra-ray
	@for need in gtest spin pkg-config mpi namespaces browser slurm; do $(SETUP) $$need || exit 1; done

build/tidy/compile_commands.json: $(STAMPS)/build-tools $(CORE_FILES)
	@$(SETUP) gtest
	$(WITH_TOOLS) cmake --preset tidy -DRINGTREE_WERROR=$(WERROR)
	@touch $@

# mypy has one thread: clang-tidy runs beside it.
lint: $(STAMPS)/package $(STAMPS)/extra-dev build/tidy/compile_commands.json ## ruff, mypy, clang-format, clang-tidy
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	@echo clang-format --dry-run && $(BIN)/clang-format --dry-run -Werror $(CPP_FILES)
	@$(MAKE) --no-print-directory -j 2 --output-sync=target mypy clang-tidy

mypy: $(STAMPS)/package $(STAMPS)/extra-dev
	$(BIN)/python -m mypy --strict

clang-tidy: $(STAMPS)/extra-dev build/tidy/compile_commands.json
	@echo clang-tidy && printf '%s\n' $(or $(ONLY),$(TIDY_UNITS),$(error nothing of core/ is in build/tidy/compile_commands.json)) | $(WITH_TOOLS) xargs -P $(JOBS) -n 1 clang-tidy -p build/tidy --quiet \
	  --extra-arg=-Wno-error --extra-arg=-Wno-unused-command-line-argument 2>&1 | sed '/ warnings* generated\.$$/d'

# What differs from BASE, also uncommitted and new files.
BASE ?= main
CHANGED = $(shell git diff --name-only --diff-filter=d $$(git merge-base HEAD $(BASE)); git ls-files --others --exclude-standard)
check: $(STAMPS)/package $(STAMPS)/extra-dev $(STAMPS)/extra-test build/tidy/compile_commands.json ## before a commit, 3 minutes: layers, lint of what differs from BASE=main, tests that start nothing
	@$(MAKE) --no-print-directory layers
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(if $(filter %.py,$(CHANGED)),$(BIN)/python -m mypy --strict)
	$(if $(filter $(CPP_FILES),$(CHANGED)),$(BIN)/clang-format --dry-run -Werror $(filter $(CPP_FILES),$(CHANGED)))
	$(if $(filter $(TIDY_FILES),$(CHANGED)),@$(MAKE) --no-print-directory clang-tidy ONLY="$(filter $(TIDY_FILES),$(CHANGED))")
	$(QUIET_TESTS) build/deferred-by-check -m "not slow"

layers: $(STAMPS)/extra-dev ## who may import whom, C++ and Python
	$(BIN)/python tools/check_layers.py
	$(BIN)/lint-imports

asan: build-asan ## the C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer
	$(WITH_TOOLS) UBSAN_OPTIONS=print_stacktrace=1 ctest --preset asan --parallel $(JOBS)

FUZZ_EXECUTIONS ?= 10000000
fuzz: $(STAMPS)/build-tools ## the decoders of what comes over the network, FUZZ_EXECUTIONS inputs each, under ASan and UBSan
	@$(SETUP) gtest
	$(WITH_TOOLS) cmake --preset asan
	$(WITH_TOOLS) cmake --build --preset asan --target fuzz_tcp_stream fuzz_control_frames fuzz_handshake fuzz_records
	for target in tcp_stream control_frames handshake records; do build/asan/tests/fuzz/fuzz_$$target $(FUZZ_EXECUTIONS) || exit 1; done
	@$(MAKE) --no-print-directory fuzz-logs

fuzz-logs: $(STAMPS)/package ## the readers of other people's logs, FUZZ_EXECUTIONS damaged inputs
	PYTHONPATH=tools $(BIN)/python -m fuzz_logs --executions $(FUZZ_EXECUTIONS) $(ARGS)

tsan: build-tsan ## the C++ tests (ranks as threads) under ThreadSanitizer
	$(WITH_TOOLS) tools/tsan_env.sh ctest --preset tsan --parallel $(JOBS)

# MPI is brought in for CI only: elsewhere its example is left out where there is none.
capi: $(STAMPS)/build-tools ## install libringtree into build/capi-install, build and run the C and MPI examples from there
	@$(SETUP) gtest
	@$(SETUP) pkg-config
	$(if $(CI),@$(SETUP) mpi)
	$(WITH_TOOLS) JOBS=$(JOBS) WERROR=$(WERROR) tools/capi.sh

model: ## the Spin models of links, pools, sleep and death; what is broken on purpose must fail
	@$(SETUP) spin
	$(PYTHON) tests/models/spin/run.py $(ARGS)

# PyTorch's tests of torch.distributed on this backend and on Gloo; goes on where it was stopped. ARGS=--again: from the beginning.
torch-suite: $(STAMPS)/torch $(STAMPS)/package $(STAMPS)/extra-test ## PyTorch's own tests on the backend, into docs/torch-suite.md
	PYTHONPATH=tools $(BIN)/python -m torch_suite $(ARGS)

torch-suite-check: $(STAMPS)/torch $(STAMPS)/package $(STAMPS)/extra-test ## PyTorch's own tests on the backend, from the beginning; fails on a failure that is not known
	PYTHONPATH=tools $(BIN)/python -m torch_suite --check --again --backends ringtree --results build/torch-suite-check

# About 15 minutes, as root with network namespaces; else only what one host has. ARGS=--quick: 3 minutes.
faults: $(STAMPS)/torch $(STAMPS)/package $(STAMPS)/extra-test ## what ranks are told when one of them or the network fails, into docs/reliability.md
	PYTHONPATH=tests:tests/python/support:tools $(BIN)/python -m faults $(ARGS)

peers: ## the MPI libraries and oneCCL that arms can be (2 GB with Intel's)
	@PYTHON="$(PYTHON)" tools/peers.sh

# About an hour; ARGS="--budget 10m" for less, ARGS="--parts torch-2 --budget 1m --launches 2" for a trial. Peers that are
# not installed are left out and named.
bench: $(STAMPS)/torch $(STAMPS)/package $(STAMPS)/extra-report ## the engine beside its peers, into docs/benchmarks/<machine>-<date>
	PYTHONPATH=tools $(BIN)/python -m bench run $(ARGS)

# 15 minutes, as root with network namespaces (else it says so and ends with 2); ARGS="--budget 30m" for more,
# ARGS="--parts rate-2x1 --budget 1m --launches 2" for a trial.
bench-hosts: $(STAMPS)/torch $(STAMPS)/package $(STAMPS)/extra-report ## collectives between hosts beside Gloo and Open MPI, into docs/benchmarks/hosts-<machine>-<date>
	@$(SETUP) namespaces
	PYTHONPATH=tools:tests/python/support $(BIN)/python -m bench run --hosts $(ARGS)

# 15 minutes on a quiet machine; ARGS="--launches 2 --parts ddp" for a trial.
bench-torch: $(STAMPS)/torch $(STAMPS)/package $(STAMPS)/extra-train ## DDP and FSDP2 steps and small calls beside Gloo, into docs/benchmarks/training-<machine>-<date>
	PYTHONPATH=tools $(BIN)/python -m bench.training run $(ARGS)

# Minutes each, and only worth something on a machine that is quiet.
bench-emulated: $(STAMPS)/package ## measure ring and tree on an emulated cluster against the model, into docs/benchmarks
	rm -rf build/bench-emulated
	$(BIN)/ringtree compare --emulate 2x8 --alpha 1ms --beta 20MB/s --arms ring,tree --sizes 1K,4K,64K:16M \
	  --runs build/bench-emulated
	$(BIN)/python tools/benchmark_page.py "Ring and tree on an emulated cluster, against the model" \
	  build/bench-emulated/* > docs/benchmarks/emulated-2x8.md

# Two minutes; latency and rate at which the scheduling of eight processes hardly shows.
bench-three-ways: $(STAMPS)/package $(STAMPS)/extra-report ## the crossover of ring and tree by formula, simulated and emulated, into docs/drawings
	rm -rf build/bench-three-ways
	$(BIN)/ringtree compare --emulate 8x1 --alpha 10ms --beta 2MB/s --arms ring,tree --sizes 1K:256K --launches 6 \
	  --runs build/bench-three-ways
	$(BIN)/python tools/three_ways.py build/bench-three-ways/* docs/drawings/three-ways.svg

bench-explain: $(STAMPS)/torch $(STAMPS)/package $(STAMPS)/extra-report ## measure the ladder of docs/explain.md
	rm -rf build/bench-explain
	$(BIN)/ringtree explain --budget 12m --runs build/bench-explain
	$(BIN)/python tools/ladder_page.py docs/explain.md "$$(ls -d build/bench-explain/* | tail -n 1)"

# 5 minutes on a quiet machine; ARGS="--parts engine-2" for one part.
bench-sim-engine: $(STAMPS)/package ## hold the simulator against the engine here and on emulated clusters, into docs/benchmarks/simulator-against-engine.md
	PYTHONPATH=tools $(BIN)/python -m sim_engine $(ARGS)

bench-compare: $(STAMPS)/torch $(STAMPS)/package ## measure the default comparison into docs/benchmarks
	rm -rf build/bench-compare
	$(BIN)/ringtree compare --runs build/bench-compare
	$(BIN)/python tools/benchmark_page.py "The default comparison" build/bench-compare/* > docs/benchmarks/compare-default.md

# A minute; nothing but the processor counts.
bench-sim: $(STAMPS)/package ## the simulator's events a second, by ranks, slices and channels, into docs/benchmarks/simulator.md
	PYTHONPATH=tools $(BIN)/python -m bench_simulator > build/simulator.md
	mv build/simulator.md docs/benchmarks/simulator.md

method-check: $(STAMPS)/package ## recompute docs/method.md from the launches stored in docs/method-data; fails if a bar is missed
	PYTHONPATH=tools $(BIN)/python -m method check

# An hour and more. What docs/method-data holds already is not measured again: remove a file to measure it anew.
method-data: $(STAMPS)/torch $(STAMPS)/package ## measure what docs/method.md rests on
	PYTHONPATH=tools $(BIN)/python -m method data

docs: $(STAMPS)/package $(STAMPS)/extra-docs ## the documentation; a warning is an error
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

audit-published: $(STAMPS)/package $(STAMPS)/extra-report ## docs/published-results.md and its figures from the numbers in docs/published
	PYTHONPATH=tools $(BIN)/python -m published

tables: $(STAMPS)/build-tools $(STAMPS)/package ## rewrite what docs/ holds of generated tables and JSON schemas
	@$(SETUP) gtest
	$(WITH_TOOLS) cmake --preset dev -DRINGTREE_WERROR=$(WERROR)
	$(WITH_TOOLS) cmake --build --preset dev --target algorithms_table
	build/dev/algorithms_table > docs/algorithms.md
	$(BIN)/python tools/write_schemas.py
	PYTHONPATH=tools $(BIN)/python -m reference_pages
	$(BIN)/python tools/held_out.py

audit-mutants: $(STAMPS)/package ## 2,000 tables with one thing changed, 300 clean ones: what the audit finds, whom it accuses
	PYTHONPATH=tests/python/support $(BIN)/python tests/python/support/mutated_tables.py --mutants 2000 --clean 300

format: $(STAMPS)/extra-dev ## rewrite Python and C++ in the house style
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	@$(BIN)/clang-format -i $(CPP_FILES)

clean: ## build outputs and caches
	rm -rf build dist docs/_build ringtree/_core.pyi .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	rm -f $(STAMPS)/package

distclean: clean ## .venv too
	rm -rf $(VENV)
