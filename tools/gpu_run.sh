#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Build, check and measure the CUDA engine on a machine with an NVIDIA GPU: gpu_run.sh STAGE...
#
#   check        the C++ tests that run on a device, and the Python tests marked gpu where pytest is there
#   kernels      device_kernels: every shape of every kernel                        device_kernels_CARD.json
#                GPU_KERNELS chooses, such as "--technique row32,dpf52 --bits 256,1024"
#   peers        CGBN on the same card, where its sources are                       cgbn_CARD.json
#   end_to_end   calls of plans, beside the processor                               end_to_end_CARD.json
#   rsa          rsa_end_to_end: calls that sign and verify, beside the processor     rsa_end_to_end_CARD.json
#   bench        the three: kernels, peers, end_to_end
#   rns          the technique rns: its kernels width by width, CGBN of the same widths beside them, and a million
#                results against GMP's where Python has gmpy2 and NumPy               rns_CARD.json
#   figure3      rns_figure3: powers in floating-point residues                      rns_figure3_CARD.json
#   overlap      pipe_overlap: tensor cores beside other instructions (9.0)          pipe_overlap_CARD.json
#   papers       the papers' tables with this card's rows, from the report of `kernels`, and instructions per cycle
#                where ncu is there                                                 papers_CARD.md
#   sanitize     the device tests under compute-sanitizer: memcheck, racecheck, initcheck, synccheck
#   profile      counters of device_kernels, where ncu is there                     profile_CARD.csv
#                GPU_PROFILE chooses, such as "--technique rns --bits 2048 --moduli each"
#   pack         on a machine with a network, before the others: put what the GPU machine may lack into
#                build/third_party, to be copied along with the tree
#
# Needs nvcc, CMake, a C++20 compiler; no network. GoogleTest is the system's, or what `pack` copied; so is CGBN unless
# CGBN_ROOT says where it is. Reports are written to $OUT, bench/results unless it is set, each with card, driver, CUDA
# version, commit and date; what a stage printed and how it ended to $OUT/gpu/STAGE.log and .json. A stage that fails
# does not keep the next from running; the exit status tells.
#
#   GPU_PROGRAMS      folder of programs that were built elsewhere for such a machine: nothing is built. Its folder
#                     `package`, if there is one, holds the Python package
#   GPU_TEST_FILTER   GoogleTest filter of the device tests    (default: Gpu*)
#   GPU_STAGE_LIMIT   seconds that a stage may take            (default: 500)
#   GPU_QUICK         1: measure shorter and less
#   GPU_WIDTHS        of `rns`                                 (default: 512 to 8192)
#   GPU_ITEMS         that `rns` has computed by GMP, too      (default: 530000, quick: 20000; 0: none)
#   MANYMOD_COMMIT    what to report where there is no .git
# shellcheck disable=SC2317  # stages are called by their names
set -euo pipefail
self=$(realpath "${BASH_SOURCE[0]}")
cd "$(dirname "$self")/.."

build=build/gpu
third_party=$PWD/build/third_party
cgbn=$(realpath -m "${CGBN_ROOT:-$third_party/cgbn}")
out=${OUT:-bench/results}
filter=${GPU_TEST_FILTER:-Gpu*}
limit=${GPU_STAGE_LIMIT:-500}
quick=()
if [ "${GPU_QUICK:-}" = 1 ]; then quick=(--quick); fi

usage() {
  sed -n '/^#   [a-z]/,/^#$/s/^#   //p' "$self" >&2
  exit 2
}

pack() {
  mkdir -p "$third_party"
  if [ -e /usr/src/googletest/CMakeLists.txt ]; then
    cp -r /usr/src/googletest "$third_party/"
  else
    curl -fsSL https://github.com/google/googletest/releases/download/v1.15.2/googletest-1.15.2.tar.gz |
      tar -xz -C "$third_party"
    rm -rf "$third_party/googletest" && mv "$third_party/googletest-1.15.2" "$third_party/googletest"
  fi
  if [ -d "$cgbn/include" ]; then return; fi
  if git clone --quiet --depth 1 https://github.com/NVlabs/CGBN "$third_party/cgbn"; then
    git -C "$third_party/cgbn" rev-parse HEAD >"$third_party/cgbn/COMMIT"
    rm -rf "$third_party/cgbn/.git"
  else
    echo "CGBN: cannot be fetched; the stage peers will be skipped" >&2
  fi
}

# Targets of this project, unless they come from elsewhere. Tests and the Python package only where they are wanted.
build_targets() {
  if [ -n "${GPU_PROGRAMS:-}" ]; then return; fi
  local tests=OFF python=OFF options
  if [[ " $* " == *" manymod_tests "* ]]; then tests=ON; fi
  if [[ " $* " == *" _core "* ]]; then python=ON; fi
  options=(-DCMAKE_BUILD_TYPE=Release -DMANYMOD_CUDA=ON -DMANYMOD_BUILD_EXAMPLES=OFF -DMANYMOD_BUILD_BENCH=ON
    -DMANYMOD_BENCH_CPU=OFF "-DMANYMOD_BUILD_TESTS=$tests" "-DMANYMOD_BUILD_PYTHON=$python"
    "-DPython_EXECUTABLE=$(command -v python3)")
  if [ "$python" = ON ]; then options+=("-Dnanobind_DIR=$(python3 -m nanobind --cmake_dir)"); fi
  if command -v ninja >/dev/null; then options+=(-G Ninja); fi
  if [ -d "$third_party/googletest" ]; then
    options+=("-DFETCHCONTENT_SOURCE_DIR_GOOGLETEST=$third_party/googletest")
  fi
  cmake -S . -B "$build" "${options[@]}"
  cmake --build "$build" --parallel "$(nproc)" --target "$@"
}

# Where a program is.
program() {
  if [ -n "${GPU_PROGRAMS:-}" ]; then
    echo "$GPU_PROGRAMS/$1"
  elif [ "$1" = manymod_tests ]; then
    echo "$build/$1"
  else
    echo "$build/bench/$1"
  fi
}

# "NVIDIA H200" as h200, for the reports' names.
card() {
  local name
  name=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
  name=$(printf %s "${name#NVIDIA }" | tr '[:upper:]' '[:lower:]' | tr -c 'a-z0-9' _)
  echo "${name:-gpu}"
}

has_python() {
  python3 -c 'import nanobind, pytest, numpy' 2>/dev/null
}

# The folder of a package that Python can import: what came with the programs, or the sources beside the build's
# extension, not installed.
python_package() {
  if [ -n "${GPU_PROGRAMS:-}" ]; then
    echo "$GPU_PROGRAMS/package"
    return
  fi
  local package=$build/package
  mkdir -p "$package"
  cp -r python/manymod "$package/"
  cp "$build"/_core*.so "$build"/libmanymod.so* "$package/manymod/"
  echo "$package"
}

run_check() {
  local targets=(manymod_tests) status=0
  if has_python; then targets+=(_core manymod); fi
  build_targets "${targets[@]}"
  "$(program manymod_tests)" --gtest_filter="$filter" --gtest_output="json:$out/gpu/check.results.json" || status=1
  if [ -n "${GPU_PROGRAMS:-}" ] || ! has_python; then
    echo "Python tests: skipped, they need pytest, nanobind and NumPy, and a build here"
    return "$status"
  fi
  local package none_found=5 pytest=0
  package=$(python_package)
  PYTHONPATH=$package${PYTHONPATH:+:$PYTHONPATH} python3 -m pytest -q -m gpu tests/python || pytest=$?
  if [ "$pytest" != 0 ] && [ "$pytest" != "$none_found" ]; then status=1; fi
  return "$status"
}

run_kernels() {
  local chosen
  read -ra chosen <<<"${GPU_KERNELS:-}"
  build_targets device_kernels
  "$(program device_kernels)" "${quick[@]}" "${chosen[@]}" --json "$out/device_kernels_$(card).json"
}

run_figure3() {
  build_targets rns_figure3
  "$(program rns_figure3)" "${quick[@]}" --json "$out/rns_figure3_$(card).json"
}

run_overlap() {
  build_targets pipe_overlap
  "$(program pipe_overlap)" "${quick[@]}" --json "$out/pipe_overlap_$(card).json"
}

run_end_to_end() {
  build_targets end_to_end
  "$(program end_to_end)" "${quick[@]}" --json "$out/end_to_end_$(card).json"
}

run_rsa() {
  build_targets rsa_end_to_end
  "$(program rsa_end_to_end)" "${quick[@]}" --json "$out/rsa_end_to_end_$(card).json"
}

# Builds CGBN's driver where its sources are, and says where it is.
peer_driver() {
  if [ -x "${GPU_PROGRAMS:-}/cgbn_driver" ]; then
    echo "$GPU_PROGRAMS/cgbn_driver"
  elif [ -d "$cgbn/include" ]; then
    cmake -S bench/cuda/peers -B build/cuda-peers "-DCGBN_ROOT=$cgbn" -DCMAKE_BUILD_TYPE=Release >&2
    cmake --build build/cuda-peers --parallel "$(nproc)" >&2
    echo build/cuda-peers/cgbn_driver
  else
    echo "CGBN: skipped, no sources at $cgbn (CGBN_ROOT; \`gpu_run.sh pack\` gets them)" >&2
  fi
}

# Run CGBN, if it is there, with more options.
measure_peers() {
  local driver
  driver=$(peer_driver)
  if [ -z "$driver" ]; then return; fi
  python3 bench/cuda/peers/run.py "$driver" "${quick[@]}" --note "CGBN $(cat "$cgbn/COMMIT" 2>/dev/null || true)" "$@"
}

run_peers() {
  measure_peers --json "$out/cgbn_$(card).json"
}

# Compare powers, powers of fixed bases and products of these widths with GMP's and leave what was found in a file.
check_powers() {
  local widths=$1 file=$2 package items=530000
  if [ "${GPU_QUICK:-}" = 1 ]; then items=20000; fi
  items=${GPU_ITEMS:-$items}
  if [ "$items" = 0 ]; then return; fi
  package=$(python_package)
  if ! PYTHONPATH=$package${PYTHONPATH:+:$PYTHONPATH} python3 -c 'import gmpy2, manymod, numpy'; then
    echo "results against GMP's: skipped, they need gmpy2, NumPy and the package"
    return
  fi
  PYTHONPATH=$package${PYTHONPATH:+:$PYTHONPATH} python3 tools/check_powers.py --variant rns.cuda.t2 --device cuda \
    --bits "$widths" --items "$items" --seconds 150 --json "$file"
}

# Those of a list of widths that CGBN is compiled for.
common_widths() {
  tr , '\n' <<<"$1" | awk '$1 <= 4096' | paste -sd ,
}

# A width at a time, and what there is joined after each step: what hangs or fails costs no more than itself.
run_rns() {
  local widths=${GPU_WIDTHS:-512,1024,1536,2048,3072,4096,6144,8192} targets=(device_kernels)
  local parts report bits common status=0
  if has_python; then targets+=(_core manymod); fi
  build_targets "${targets[@]}"
  parts=$(mktemp -d)
  report=$out/rns_$(card).json
  join_parts() { python3 bench/cuda/rns_report.py "$parts" --bits "$widths" --json "$report"; }
  for bits in ${widths//,/ }; do
    timeout --kill-after=5 100 "$(program device_kernels)" --technique rns --bits "$bits" --sweep "${quick[@]}" \
      --json "$parts/kernels_$bits.json" || status=1
    join_parts || status=1
  done
  common=$(common_widths "$widths")
  if [ -n "$common" ]; then measure_peers --bits "$common" --json "$parts/peer.json" || status=1; fi
  join_parts || status=1
  check_powers "$widths" "$parts/check.json" || status=1
  join_parts || status=1
  rm -r "$parts"
  python3 bench/cuda/tables.py "$report" --part rns || status=1
  return "$status"
}

run_papers() {
  local report options=()
  report=$out/device_kernels_$(card).json
  if [ ! -e "$report" ]; then report=bench/results/device_kernels_$(card).json; fi
  if command -v ncu >/dev/null; then
    build_targets device_kernels
    if ncu --csv --metrics sm__inst_executed.avg.per_cycle_active "$(program device_kernels)" --profile \
      --technique two_pass16 >"$out/gpu/papers.csv"; then
      options=(--ncu "$out/gpu/papers.csv")
    else
      echo "ncu: no counters; table IV of the two-pass paper stays empty"
    fi
  fi
  python3 bench/cuda/tables.py "$report" "${options[@]}" --part papers | tee "$out/papers_$(card).md"
}

run_sanitize() {
  local tool status=0
  build_targets manymod_tests
  for tool in memcheck racecheck initcheck synccheck; do
    echo "== $tool"
    compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 9 "$(program manymod_tests)" --gtest_filter="$filter" || status=1
  done
  return "$status"
}

run_profile() {
  if ! command -v ncu >/dev/null; then
    echo "profile: skipped, no ncu"
    return
  fi
  local chosen
  read -ra chosen <<<"${GPU_PROFILE:-}"
  build_targets device_kernels
  ncu --set full --csv --page raw "$(program device_kernels)" --profile "${quick[@]}" "${chosen[@]}" \
    >"$out/profile_$(card).csv"
  python3 bench/cuda/profile_table.py "$out/profile_$(card).csv"
}

# Write STAGE.json: what ran where, and the results that the stage left, which it holds from then on.
report() {
  python3 - "$out/gpu" "$@" <<'PYTHON'
import datetime, json, os, pathlib, re, subprocess, sys

out, stage, status, seconds = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])

def said(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""

fields = ("name", "driver_version", "compute_cap", "memory.total", "clocks.max.sm")
cards = said("nvidia-smi", "--query-gpu=" + ",".join(fields), "--format=csv,noheader").splitlines()
release = re.search(r"release ([\d.]+)", said(os.environ.get("NVCC", "nvcc"), "--version"))
results = {}
for path in sorted(out.glob(f"{stage}.*results.json")):
    name = path.name.removeprefix(f"{stage}.").removesuffix("results.json").strip(".") or "tests"
    results[name] = json.loads(path.read_text())
    path.unlink()
document = {
    "stage": stage,
    "passed": status == 0,
    "timed_out": status in (124, 137),
    "seconds": round(seconds, 1),
    "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    "commit": os.environ.get("MANYMOD_COMMIT", ""),
    "cards": [dict(zip(fields, card.split(", "))) for card in cards],
    "cuda": release[1] if release else "",
    "results": results,
}
(out / f"{stage}.json").write_text(json.dumps(document, indent=1) + "\n")
PYTHON
}

# Run a stage in a process of its own, so that it can be stopped at its limit.
stage() {
  local name=$1 start status=0
  echo "== $name"
  start=$(date +%s.%N)
  timeout --kill-after=10 "$limit" bash "$self" --inside "$name" 2>&1 | tee "$out/gpu/$name.log" || status=$?
  report "$name" "$status" "$(echo "$(date +%s.%N) $start" | awk '{print $1 - $2}')"
  return "$status"
}

if [ "${1:-}" = --inside ]; then
  "run_$2"
  exit
fi
[ $# -gt 0 ] || usage
stages=()
for name in "$@"; do
  case $name in
  bench) stages+=(kernels peers end_to_end) ;;
  check | kernels | peers | end_to_end | rns | rsa | figure3 | overlap | papers | sanitize | profile) stages+=("$name") ;;
  pack)
    [ $# = 1 ] || usage
    pack
    exit
    ;;
  *) usage ;;
  esac
done
command -v nvcc >/dev/null || export PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
export MANYMOD_COMMIT=${MANYMOD_COMMIT:-$(git rev-parse HEAD 2>/dev/null || true)}
mkdir -p "$out/gpu"
failed=0
for name in "${stages[@]}"; do
  stage "$name" || failed=1
done
exit $failed
