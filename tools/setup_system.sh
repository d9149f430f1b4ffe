#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Install missing system packages by apt, if we are root: setup_system.sh build PYTHON | setup_system.sh PURPOSE
#
# build: the headers of libcrypto, without which RSA is left out, and of Python.
# test: GoogleTest, Google Benchmark, nlohmann-json and CLI11, which CMake otherwise downloads; p11-kit's headers (for keys
# of tokens in manymod-signd) and libseccomp's (for its filter of system calls); nginx, HAProxy, Apache and curl, which the tests of the OpenSSL provider start; Chromium (for the
# page of `manymod lab`); valgrind and Clang 19 (for MemorySanitizer, libFuzzer and `make lint-clang`); PoCL, an OpenCL driver
# that computes on the CPU, and the loader of drivers.
# docs: Doxygen, which reads the headers. clusters: Java, for Spark. What needs a missing one prints what to install.
set -euo pipefail

missing=()
optional=()
case $1 in
build)
  [ -e /usr/include/openssl/evp.h ] || missing+=(libssl-dev)
  "$2" -c 'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null ||
    missing+=(python3-dev)
  ;;
test)
  [ -e /usr/include/gtest/gtest.h ] || missing+=(libgtest-dev)
  [ -e /usr/include/benchmark/benchmark.h ] || missing+=(libbenchmark-dev)
  [ -e /usr/include/nlohmann/json.hpp ] || missing+=(nlohmann-json3-dev)
  [ -e /usr/include/CLI/CLI.hpp ] || missing+=(libcli11-dev)
  [ -e /usr/include/p11-kit-1/p11-kit/pkcs11.h ] || missing+=(libp11-kit-dev)
  [ -e /usr/include/seccomp.h ] || missing+=(libseccomp-dev)
  { command -v valgrind && [ -e /usr/include/valgrind/memcheck.h ]; } >/dev/null || missing+=(valgrind)
  for server in nginx haproxy apache2; do
    [ -e "/usr/sbin/$server" ] || missing+=("$server")
  done
  for command in openssl curl; do
    command -v "$command" >/dev/null || missing+=("$command")
  done
  # The page of `manymod lab` is tested in a browser.
  { command -v chromium || command -v chromium-browser || command -v google-chrome; } >/dev/null || optional+=(chromium)
  ldconfig -p | grep -q 'libOpenCL\.so\.1 ' || missing+=(ocl-icd-libopencl1)
  ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1 || missing+=(pocl-opencl-icd)
  # Releases older than Debian 12 and Ubuntu 24.04 have no Clang 19.
  [ -e /usr/lib/llvm-19/lib/clang/19/lib/linux/libclang_rt.msan-x86_64.a ] || [ "$(uname -m)" != x86_64 ] ||
    optional+=(clang-19 libclang-rt-19-dev)
  ;;
docs)
  command -v doxygen >/dev/null || missing+=(doxygen)
  ;;
clusters)
  [ -n "${JAVA_HOME:-}" ] || command -v java >/dev/null || missing+=(default-jre-headless)
  ;;
esac
if [ $((${#missing[@]} + ${#optional[@]})) -eq 0 ] || [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  exit 0
fi
apt-get update -qq || true
# The servers are for tests: their packages must not start them.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  printf '#!/bin/sh\nexit 101\n' >$policy
  chmod 755 $policy
  trap 'rm -f $policy' EXIT
fi
install() {
  [ $# -eq 0 ] && return
  echo "installing $*"
  if ! DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null; then
    echo "apt-get failed; continuing without $*" >&2
  fi
}
install "${missing[@]}"
install "${optional[@]}"
