#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Install CMake and Ninja wheels where the system has none or one too old: ensure_build_tools.sh PIP-COMMAND...
set -euo pipefail

probe=$(mktemp)
trap 'rm -f "$probe"' EXIT
echo 'cmake_minimum_required(VERSION 3.21)' >"$probe"
if ! cmake -P "$probe" >/dev/null 2>&1; then
  "$@" install cmake
fi
if ! ninja --version >/dev/null 2>&1; then
  "$@" install ninja
fi
