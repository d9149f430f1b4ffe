#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Unpack Mesa's OpenCL driver rusticl for the tests, where there is apt and we are root: setup_rusticl.sh FOLDER
#
# The package is not installed: each program that uses OpenCL would load its drivers, beside PoCL. The tests name the
# folder to the loader of drivers instead. What the package depends on is installed.
set -euo pipefail

folder=$(realpath -m "$1")
if [ -e "$folder/rusticl.icd" ] || [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
  exit 0
fi
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
apt-get update -qq || true
unpack() {
  apt-get -qq -o APT::Sandbox::User=root download mesa-opencl-icd &&
    DEBIAN_FRONTEND=noninteractive apt-get satisfy -y -qq --no-install-recommends \
      "$(dpkg-deb -f mesa-opencl-icd_*.deb Depends)" >/dev/null &&
    dpkg-deb -x mesa-opencl-icd_*.deb .
}
if ! unpack; then
  echo "apt-get failed; continuing without rusticl" >&2
  exit 0
fi
rm mesa-opencl-icd_*.deb
library=$(find "$folder" -name 'libRusticlOpenCL.so.1')
[ -z "$library" ] || echo "$library" >rusticl.icd
