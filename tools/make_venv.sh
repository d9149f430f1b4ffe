#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Create a virtual environment: make_venv.sh PYTHON DIRECTORY
set -euo pipefail
python=$1
directory=$2

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))'; then
  echo "manymod needs Python 3.10 or newer; name one, for example: make PYTHON=python3.12 demo" >&2
  exit 1
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq python3-venv >/dev/null
  else
    echo "$python cannot create virtual environments; install them (Debian, Ubuntu: apt-get install python3-venv)" >&2
    exit 1
  fi
fi
"$python" -m venv "$directory"
# Older ones have no option -C.
"$directory/bin/python" -m pip --disable-pip-version-check --quiet install "pip>=23.1"
