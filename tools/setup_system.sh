#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Install GoogleTest, Google Benchmark and valgrind by apt if they are missing and we may. Elsewhere CMake
# downloads the first two, and the valgrind tests say what to install.
set -euo pipefail

missing=()
[ -e /usr/include/gtest/gtest.h ] || missing+=(libgtest-dev)
[ -e /usr/include/benchmark/benchmark.h ] || missing+=(libbenchmark-dev)
{ command -v valgrind && [ -e /usr/include/valgrind/memcheck.h ]; } >/dev/null || missing+=(valgrind)
if [ ${#missing[@]} -eq 0 ] || [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  exit 0
fi
echo "installing ${missing[*]}"
if ! { apt-get update -qq &&
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; }; then
  echo "apt-get failed; going on without ${missing[*]}" >&2
fi
