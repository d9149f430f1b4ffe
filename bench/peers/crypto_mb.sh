#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds Intel's crypto_mb, which `manymod bench ecc --crypto-mb` and manymod_peers measure: sources and build in
# PREFIX/source and PREFIX/build, the library in PREFIX. It needs git, CMake, a C compiler, and OpenSSL's headers.
#
#   bench/peers/crypto_mb.sh PREFIX [SOURCE]
#
# SOURCE: a repository to clone in place of Intel's own. CC chooses the compiler, REVISION another commit or tag.
set -eu

prefix=$(mkdir -p "$1" && cd "$1" && pwd)
source=${2:-https://github.com/intel/cryptography-primitives}

[ -d "$prefix/source" ] || git clone --quiet "$source" "$prefix/source"
[ -z "${REVISION:-}" ] || git -C "$prefix/source" checkout --quiet "$REVISION"
cmake -S "$prefix/source/sources/ippcp/crypto_mb" -B "$prefix/build" -DARCH=intel64 \
  -DCMAKE_C_COMPILER="${CC:-gcc}" -DCMAKE_INSTALL_PREFIX="$prefix"
cmake --build "$prefix/build" --target crypto_mb --parallel "${JOBS:-2}"
cmake --install "$prefix/build"
find "$prefix/lib" -name 'libcrypto_mb.so' -print
