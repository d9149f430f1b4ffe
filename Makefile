# SPDX-License-Identifier: Apache-2.0
# Each target sets up what it needs in .venv and build/, from a fresh clone on a machine with Python 3.10 or
# newer, a C++20 compiler and make. Stamp files make a second call quick.
#
#   make demo           the main job on real input
#   make demo-tls       nginx with the OpenSSL provider: handshakes beside those of OpenSSL alone
#   make test           C++ and Python tests, once optimised and once under sanitizers with range checks
#   make test-clusters  Ray at length, and Spark
#   make bench          measurements of this machine
#   make lint           formatters, linters, type checkers
#   make format         apply the formatters
#   make docs           the documentation as a site, in build/docs/html
#   make docs-links     the same, and check links to other sites
#   make compilers      everything with each compiler on PATH, warnings as errors, and the tests of constant-time code
#   make lowest         build and test with the lowest versions of the dependencies that pyproject.toml allows
#   make fuzz           every fuzzing harness by libFuzzer for FUZZ_SECONDS (600)
#   make soak           random calls from threads and forks with failing allocations, for SOAK_SECONDS (3600)
#   make wheels         source distribution and wheels for manylinux in dist/; MANYMOD_CUDA=OFF leaves out the GPU part
#   make try-wheels     install the wheels of dist/ into bare systems and compute with them (root, debootstrap)
#   make clean          remove .venv and build

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# Names of targets and prerequisites of make end at a space.
ifneq ($(words $(CURDIR)),1)
$(error make works in no folder whose path has a space: move the clone out of "$(CURDIR)")
endif

PYTHON ?= python3
JOBS ?= $(shell nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
WERROR ?= OFF
FUZZ_SECONDS ?= 600
SOAK_SECONDS ?= 3600
FAILING_ALLOCATIONS = $(CURDIR)/$(RELEASE)/libmanymod_failing_allocations.so

VENV := $(CURDIR)/.venv
STAMPS := $(VENV)/.stamps
# An interpreter that is asked for and is not that of .venv would be ignored. `make wheels` uses it without .venv.
ifneq ($(origin PYTHON),file)
ifneq ($(and $(wildcard $(VENV)/bin/python),$(filter-out help clean wheels,$(MAKECMDGOALS))),)
interpreter = $(shell $(1) -c 'import sys; print(sys.base_prefix, sys.version)')
ifneq ($(call interpreter,"$(PYTHON)"),$(call interpreter,"$(VENV)/bin/python"))
$(error .venv has another interpreter than PYTHON=$(PYTHON): `make clean` removes it, with what it has built)
endif
endif
endif
# pip and the package manager serve one caller at a time: with `make -j` targets that need different packages are set
# up beside each other. Where there is no flock, use no -j.
ALONE := $(if $(shell command -v flock),flock $(STAMPS)/lock)
PIP := $(ALONE) $(VENV)/bin/python -m pip --disable-pip-version-check --quiet
RELEASE := build/release
export PATH := $(VENV)/bin:$(PATH)
export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)
export CTEST_PARALLEL_LEVEL := $(JOBS)
# The generator of new build folders. Ninja orders single compilations; make orders only whole targets.
export CMAKE_GENERATOR ?= Ninja
# Processes that share the unit tests: few enough to start quickly, enough to keep all processors busy to the end.
SHARDS := -DMANYMOD_TEST_SHARDS=32

PACKAGE_SOURCES := CMakeLists.txt pyproject.toml README.md LICENSE \
  $(shell find cmake data include src python tools/build_backend -type f -not -name '*.py[co]' -not -name '.*')
CPP_SOURCES = $(shell find src include daemon provider tests bench examples \
  -name '*.c' -o -name '*.h' -o -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' -o -name '*.cuh')
TIDY_SOURCES = $(filter %.cpp,$(filter src/% daemon/% provider/% tests/%,$(CPP_SOURCES)))
PYTHON_CODE = $(wildcard python apps cmake docs reference tools tests examples/*.py bench/*.py bench/*/*.py) \
  $(shell find src -name '*.py')

.PHONY: help demo demo-tls package-cuda test test-cpp test-asan test-python test-clusters bench \
  lint lint-python lint-format lint-clang lint-cpp format docs docs-links compilers lowest fuzz soak wheels try-wheels clean

help:
	@sed -n '/^#   make/s/^#   //p' Makefile

# ---- set-up -------------------------------------------------------------------------------------------
$(STAMPS)/venv:
	@tools/make_venv.sh "$(PYTHON)" "$(VENV)"
	@mkdir -p $(STAMPS) && touch $@

# deps-build: what builds the package; deps-cuda: a compiler for its CUDA kernels, if there is none; deps-EXTRA, such as
# deps-demo: the package's own dependencies and those of that extra.
$(STAMPS)/deps-%: pyproject.toml tools/requirements.py tools/build_backend/cuda_compiler.py | $(STAMPS)/venv
	@$(VENV)/bin/python tools/requirements.py $* > $(STAMPS)/$*.txt
	$(PIP) install -r $(STAMPS)/$*.txt
	@touch $@

$(STAMPS)/build-tools: tools/ensure_build_tools.sh $(STAMPS)/deps-build
	@tools/ensure_build_tools.sh $(PIP)
	@touch $@

# System packages that the build or the tests need; the script installs them if it may use the package manager.
$(STAMPS)/system-%: tools/setup_system.sh | $(STAMPS)/venv
	@$(ALONE) tools/setup_system.sh $* $(VENV)/bin/python
	@touch $@

# An OpenCL driver that the tests use beside the system's.
$(STAMPS)/rusticl: tools/setup_rusticl.sh $(STAMPS)/system-test
	@$(ALONE) tools/setup_rusticl.sh $(VENV)/rusticl
	@touch $@

# The Python package, in the build folder of the C++ tests and benchmarks, so that the library is compiled once.
install_package = $(PIP) install --no-deps --no-build-isolation -C build-dir=$(RELEASE) \
  -C cmake.define.MANYMOD_WERROR=$(WERROR)

CUDA_KERNELS = MANYMOD_CUDA=ON $(shell nvidia-smi >/dev/null 2>&1 || echo MANYMOD_CUDA_ARCHITECTURES=90a)

$(STAMPS)/package: $(PACKAGE_SOURCES) $(STAMPS)/build-tools $(STAMPS)/system-build
	$(install_package) -C cmake.define.MANYMOD_CUDA=AUTO .
	@touch $@

# The package with the CUDA kernels whether or not there is a GPU: the tests check their machine code for sm_90a.
# Installing takes the lock as long as it compiles, so that what all users of this package need is set up before.
$(STAMPS)/package-cuda: $(PACKAGE_SOURCES) $(STAMPS)/build-tools $(STAMPS)/deps-cuda $(STAMPS)/system-build \
  | $(STAMPS)/deps-test $(STAMPS)/system-test
	$(install_package) $(addprefix -C cmake.define.,$(CUDA_KERNELS)) .
	@touch $(STAMPS)/package $@

# ---- targets ------------------------------------------------------------------------------------------
demo: $(STAMPS)/package $(STAMPS)/deps-demo
	$(VENV)/bin/python examples/demo.py

# Full handshakes a second, and processor time for each.
demo-tls: $(STAMPS)/package $(STAMPS)/deps-demo $(STAMPS)/system-test
	cmake -S . -B $(RELEASE) -DMANYMOD_BUILD_DAEMON=ON -DMANYMOD_BUILD_PROVIDER=ON
	cmake --build $(RELEASE) --target manymod_provider manymod-signd
	$(VENV)/bin/python bench/tls/handshakes.py --build $(RELEASE) --workers 1 --seconds 3 --repetitions 1

package-cuda: $(STAMPS)/package-cuda

test: test-cpp test-asan test-python

package-cuda test-cpp test-asan test-python: WERROR := ON

# Adds the tests to the build folder of the package, which was configured without them.
configure_tests = cmake -S . -B $(RELEASE) -DMANYMOD_BUILD_TESTS=ON -DMANYMOD_BUILD_EXAMPLES=ON \
  -DMANYMOD_BUILD_DAEMON=AUTO -DMANYMOD_BUILD_PROVIDER=AUTO -DMANYMOD_WERROR=ON -DMANYMOD_TEST_OPTIONS=-O1 \
  -DMANYMOD_TEST_DEVICE_CODE=OFF $(SHARDS)

test-cpp: $(STAMPS)/package-cuda $(STAMPS)/deps-test $(STAMPS)/system-test
	$(configure_tests)
	cmake --build $(RELEASE)
	ctest --test-dir $(RELEASE) --output-on-failure

# Sanitizers and range checks in one build, as both check the same runs. Only this build includes the unit tests of the
# device code: it is all in headers, so that a second build would compile and test the same code again.
test-asan: $(STAMPS)/build-tools $(STAMPS)/system-build $(STAMPS)/system-test
	cmake --preset asan $$($(VENV)/bin/python tools/sanitizing_compiler.py) -DMANYMOD_VERIFY=ON $(SHARDS) \
	  -DPython_EXECUTABLE=$(VENV)/bin/python
	cmake --build --preset asan
	ctest --preset asan

# Some of these tests run on the C++ tests' substitute for the CUDA driver, which needs no GPU. One process more than
# processors, as tests wait for servers and children a quarter of the time.
test-python: $(STAMPS)/package-cuda $(STAMPS)/deps-test $(STAMPS)/system-test $(STAMPS)/rusticl
	$(configure_tests)
	cmake --build $(RELEASE) --target manymod_fake_cuda manymod_failing_allocations manymod_provider manymod-signd
	MANYMOD_FAKE_CUDA_FOLDER=$(CURDIR)/$(RELEASE)/fake_cuda MANYMOD_FAILING_ALLOCATIONS=$(FAILING_ALLOCATIONS) \
	  MANYMOD_PROVIDER_FOLDER=$(CURDIR)/$(RELEASE) \
	  $(VENV)/bin/python -m pytest -n $$(($(JOBS) + 1)) --dist loadgroup --pyargs manymod tests/python apps

# Ray with memory measured and actors killed again and again, and Spark, which needs Java.
test-clusters: $(STAMPS)/package $(STAMPS)/deps-clusters $(STAMPS)/system-clusters
	$(VENV)/bin/python -m pytest tests/clusters

# C++ harnesses with the newest Clang that has libFuzzer, those in Python with atheris; tests of ctest and pytest run
# them for some seconds without either.
fuzz: $(STAMPS)/package $(STAMPS)/deps-test $(STAMPS)/deps-fuzz $(STAMPS)/system-test
	$(VENV)/bin/python tools/fuzz.py --seconds $(FUZZ_SECONDS) --jobs $(JOBS)

# First the C interface, then the Python package, half of the time each.
soak: $(STAMPS)/package $(STAMPS)/deps-test $(STAMPS)/system-test
	$(configure_tests)
	cmake --build $(RELEASE) --target manymod_soak manymod_failing_allocations
	MALLOC_ARENA_MAX=2 LD_PRELOAD=$(FAILING_ALLOCATIONS) \
	  $(RELEASE)/manymod_soak --seconds $$(($(SOAK_SECONDS) / 2)) --seed $$RANDOM
	$(VENV)/bin/python tests/soak/soak.py --seconds $$(($(SOAK_SECONDS) / 2)) --allocations $(FAILING_ALLOCATIONS)

bench: $(STAMPS)/package $(STAMPS)/deps-demo $(STAMPS)/system-test
	cmake -S . -B $(RELEASE) -DMANYMOD_BUILD_BENCH=ON
	cmake --build $(RELEASE) --target manymod_bench
	$(RELEASE)/manymod_bench --benchmark_min_time=0.1
	$(VENV)/bin/manymod bench
	$(VENV)/bin/manymod bench cpu --quick

lint: lint-python lint-format lint-clang lint-cpp

lint-python: $(STAMPS)/deps-lint $(STAMPS)/deps-test
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy $(PYTHON_CODE)

lint-format: $(STAMPS)/deps-lint
	$(VENV)/bin/clang-format --dry-run -Werror $(CPP_SOURCES)

# The library's syntax with one Clang, whichever compiler builds it.
lint-clang: $(STAMPS)/build-tools $(STAMPS)/system-build $(STAMPS)/system-test
	$(VENV)/bin/python tools/try_compilers.py --syntax-only --parts library --newest-clang --jobs $(JOBS)

# What the pages say is tested by `make test`; here a warning (a broken reference, a page that no list has) is an error.
sphinx = $(VENV)/bin/python -m sphinx --quiet --fail-on-warning --keep-going --jobs auto -c docs .

docs: $(STAMPS)/package $(STAMPS)/deps-docs $(STAMPS)/system-docs
	$(sphinx) -b html build/docs/html
	@echo "build/docs/html/index.html"

docs-links: docs
	$(sphinx) -b linkcheck build/docs/links

compilers: $(STAMPS)/build-tools $(STAMPS)/system-build $(STAMPS)/system-test
	$(VENV)/bin/python tools/try_compilers.py --jobs $(JOBS)

lowest: $(STAMPS)/build-tools $(STAMPS)/system-build $(STAMPS)/system-test
	$(VENV)/bin/python tools/lowest_versions.py --jobs $(JOBS)

# All that builds them is in build/wheels: interpreters with headers are found, compilers come from PyPI.
wheels:
	$(PYTHON) tools/build_wheels.py --cuda $(or $(MANYMOD_CUDA),ON) --jobs $(JOBS)

try-wheels: | $(STAMPS)/venv
	$(VENV)/bin/python tools/try_wheels.py

lint-cpp: $(STAMPS)/deps-lint $(STAMPS)/build-tools $(STAMPS)/system-build $(STAMPS)/system-test
	cmake -S . -B build/lint --log-level=WARNING -DMANYMOD_BUILD_TESTS=ON -DMANYMOD_BUILD_PYTHON=ON \
	  -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DMANYMOD_UNITY_BATCH=0 \
	  -DPython_EXECUTABLE=$(VENV)/bin/python \
	  -Dnanobind_DIR="$$($(VENV)/bin/python -m nanobind --cmake_dir)"
	printf '%s\n' $(TIDY_SOURCES) | xargs -P $(JOBS) -n 1 $(VENV)/bin/clang-tidy -p build/lint --quiet

format: $(STAMPS)/deps-lint
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .
	$(VENV)/bin/clang-format -i $(CPP_SOURCES)

clean:
	rm -rf .venv build
