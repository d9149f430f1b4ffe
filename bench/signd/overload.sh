#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Overload manymod-signd, and kill it: overload.sh BUILD [FACTOR [SECONDS [OPERATION]]]
#
# BUILD is a build with MANYMOD_BUILD_DAEMON and MANYMOD_BUILD_BENCH; OPERATION sign_pss (RSA-2048) or sign_ecdsa (P-256).
# Written is a line of JSON, see overload.hpp.
set -euo pipefail

build=$1 factor=${2:-10} seconds=${3:-60} operation=${4:-sign_pss}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
case $operation in
sign_ecdsa) openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$folder/key.pem" ;;
*) openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$folder/key.pem" 2>/dev/null ;;
esac
cat >"$folder/signd.conf" <<END
[daemon]
socket = $folder/socket
device = cpu
max_queue = 512
max_outstanding = 256
lock_memory = no
[key.key]
file = key.pem
users = $(id -u)
END
"$build/bench/manymod-signd-overload" "$build/manymod-signd" "$folder/signd.conf" "$folder/socket" key "$operation" \
  "$factor" "$seconds" 4 2>"$folder/log" || { cat "$folder/log" >&2; exit 1; }
