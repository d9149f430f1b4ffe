#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds what gpu_curves.py runs: a driver for gECC and one for UltrafastSecp256k1, from their sources in PREFIX/gecc
# and PREFIX/ultrafast; the drivers, and peers.json, which names commits and compiler, in PREFIX. It needs git, Python
# and nvcc 12.8 or newer, but no GPU.
#
#   bench/peers/gpu_curves.sh PREFIX [GECC [ULTRAFAST]]
#
# GECC, ULTRAFAST: repositories to clone in place of the libraries' own; of both, the two commits below are taken. NVCC
# chooses the compiler, ARCHITECTURE another one than 90, PYTHON the interpreter of gECC's generator of constants.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
prefix=$(mkdir -p "$1" && cd "$1" && pwd)
gecc_url=https://github.com/CGCL-codes/gECC
gecc_commit=322c1c143d6a886747308f5b4d88603d6e30a48a
ultrafast_url=https://github.com/shrec/UltrafastSecp256k1
ultrafast_commit=bd39cfbc0802ecd6eb21b7ee3b582a89617d20f0
nvcc=${NVCC:-nvcc}
architecture=${ARCHITECTURE:-90}

# Only the folders that are compiled: some others are large.
take() { # NAME SOURCE COMMIT PATH..
  folder=$prefix/$1
  if [ ! -d "$folder" ]; then
    git clone --quiet --no-checkout "$2" "$folder"
    commit=$3
    shift 3
    git -C "$folder" checkout --quiet "$commit" -- "$@"
  fi
}
take gecc "${2:-$gecc_url}" "$gecc_commit" include scripts LICENSE
take ultrafast "${3:-$ultrafast_url}" "$ultrafast_commit" src/cuda/include include LICENSE

mkdir -p "$prefix/constants"
(cd "$prefix/gecc/scripts" && "${PYTHON:-python3}" constants_generator.py --out "$prefix/constants")

# Both libraries' own options; gECC's are those of the last step of its benchmarks. Warnings are of their code.
compile() { # NAME OPTION..
  name=$1
  shift
  "$nvcc" -w -O3 -std=c++20 --split-compile=0 -gencode "arch=compute_$architecture,code=sm_$architecture" -cudart static \
    -I"$here/gpu_curve_drivers" "$@" -o "$prefix/${name}_driver" "$here/gpu_curve_drivers/$name.cu"
}
compile gecc -DOVERFLOW -DSPPARK_32 -DGECC_QAPW_OPT_COLUMN_MAJORED_INPUTS -DPERSISTENT_L2_CACHE -DBATCH_INV \
  -I"$prefix/gecc/include" -I"$prefix/constants" &
gecc_job=$!
compile ultrafast --use_fast_math --expt-relaxed-constexpr -Xptxas=-O3 \
  -I"$prefix/ultrafast/src/cuda/include" -I"$prefix/ultrafast/include" &
ultrafast_job=$!

cat >"$prefix/peers.json" <<END
{
  "gecc": {"url": "$gecc_url", "commit": "$gecc_commit"},
  "ultrafast": {"url": "$ultrafast_url", "commit": "$ultrafast_commit"},
  "compiler": "nvcc $("$nvcc" --version | sed -n 's/.*release \([0-9.]*\).*/\1/p')"
}
END
status=0
wait "$gecc_job" || status=1
wait "$ultrafast_job" || status=1
exit $status
