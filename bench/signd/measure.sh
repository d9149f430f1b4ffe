#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Measure manymod-signd under growing load:
#   measure.sh BUILD [DEVICE [OPERATION [SECONDS [CLIENTS [OUTSTANDING ...]]]]]
#
# BUILD is a build with MANYMOD_BUILD_DAEMON and MANYMOD_BUILD_BENCH, DEVICE as in the daemon's configuration (cpu),
# OPERATION sign_pss or sign_pkcs1 (RSA-2048), sign_ecdsa (P-256) or sign_eddsa. With DEVICE "empty" the daemon computes
# nothing, and its own cost remains. CLIENTS keep OUTSTANDING requests each, one number after the other. Written are
# lines of JSON, see load.cpp.
set -euo pipefail

build=$1 device=${2:-cpu} operation=${3:-sign_pss} seconds=${4:-5} clients=${5:-8}
shift $(($# < 5 ? $# : 5))
[ $# -gt 0 ] || set -- 1 4 16 64 128 256 512 1024 2048
folder=$(mktemp -d)
daemon=
finish() {
  [ -z "$daemon" ] || kill "$daemon" 2>/dev/null || true
  wait
  rm -rf "$folder"
}
trap finish EXIT

case $operation in
sign_ecdsa) openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$folder/key.pem" ;;
sign_eddsa) openssl genpkey -algorithm ED25519 -out "$folder/key.pem" ;;
*) openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$folder/key.pem" 2>/dev/null ;;
esac
program=$build/manymod-signd
if [ "$device" = empty ]; then
  program=$build/bench/manymod-signd-empty device=cpu
fi
cat >"$folder/signd.conf" <<END
[daemon]
socket = $folder/socket
device = $device
readers = 4
max_queue = 131072
max_outstanding = 16384
lock_memory = no
[key.key]
file = key.pem
users = $(id -u)
END
"$program" "$folder/signd.conf" 2>"$folder/log" &
daemon=$!
until [ -S "$folder/socket" ]; do
  kill -0 "$daemon" 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
  sleep 0.1
done
load=("$build/bench/manymod-signd-load" "$folder/socket" key "$operation")
"${load[@]}" "$clients" 64 2 >/dev/null # the first requests prepare keys and find the sizes of batches
for outstanding; do
  "${load[@]}" "$clients" "$outstanding" 1 >/dev/null # memory is allocated for the first batches of a size
  "${load[@]}" "$clients" "$outstanding" "$seconds"
done
