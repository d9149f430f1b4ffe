#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Build, check and time the CUDA engine on a machine with an NVIDIA GPU: gpu_run.sh STAGE...
#
#   check      the C++ tests that run on a device
#   bench      measurements: every build/gpu/bench/* program
#   sanitize   the device tests under compute-sanitizer: memcheck, racecheck, initcheck, synccheck
#   profile    counters of the programs of `bench`, where ncu is there
#   pack       on a machine with a network, before the others: put what the GPU machine may lack into
#              build/third_party, to be copied along with the tree
#
# Needs nvcc, CMake, a C++20 compiler; no network. GoogleTest is the system's, or what `pack` copied. Each stage writes
# $OUT/STAGE.json, with the card, driver, CUDA version, commit and date, and $OUT/STAGE.log; OUT is bench/results/gpu
# unless it is set. A stage that fails does not keep the next from running; the exit status tells.
#
#   GPU_TEST_FILTER   GoogleTest filter of the device tests    (default: *Gpu*)
#   GPU_STAGE_LIMIT   seconds that a stage may take            (default: 500)
#   MANYMOD_COMMIT    what to report where there is no .git
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

build=build/gpu
third_party=$PWD/build/third_party
out=${OUT:-bench/results/gpu}
filter=${GPU_TEST_FILTER:-*Gpu*}
limit=${GPU_STAGE_LIMIT:-500}

usage() {
  sed -n '/^#   [a-z]/,/^#$/s/^#   //p' "${BASH_SOURCE[0]}" >&2
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
}

configure_and_build() {
  local options=(-DCMAKE_BUILD_TYPE=Release -DMANYMOD_CUDA=ON -DMANYMOD_BUILD_TESTS=ON -DMANYMOD_BUILD_EXAMPLES=OFF
    -DMANYMOD_BUILD_BENCH=ON -DMANYMOD_BENCH_CPU=OFF
    "-DPython_EXECUTABLE=$(command -v python3)")
  if command -v ninja >/dev/null; then options+=(-G Ninja); fi
  if [ -d "$third_party/googletest" ]; then
    options+=("-DFETCHCONTENT_SOURCE_DIR_GOOGLETEST=$third_party/googletest")
  fi
  cmake -S . -B "$build" "${options[@]}"
  cmake --build "$build" --parallel "$(nproc)" --target manymod manymod_tests device_kernels
}

run_check() {
  "$build/manymod_tests" --gtest_filter="$filter" --gtest_output="json:$out/check.results.json"
}

run_bench() {
  local program status=0
  for program in "$build"/bench/*; do
    if [ ! -x "$program" ] || [ ! -f "$program" ]; then continue; fi
    "$program" --json "$out/bench.$(basename "$program").results.json" || status=1
  done
  return "$status"
}

run_sanitize() {
  local tool status=0
  for tool in memcheck racecheck initcheck synccheck; do
    echo "== $tool"
    compute-sanitizer --tool "$tool" --error-exitcode 9 "$build/manymod_tests" --gtest_filter="$filter" || status=1
  done
  return "$status"
}

run_profile() {
  local program status=0
  for program in "$build"/bench/*; do
    if [ ! -x "$program" ] || [ ! -f "$program" ]; then continue; fi
    ncu --set full --launch-skip 2 --launch-count 4 --csv --page raw "$program" || status=1
  done
  return "$status"
}

# Write STAGE.json: what ran where, and the results that the stage left, which it holds from then on.
report() {
  python3 - "$out" "$@" <<'PYTHON'
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
    "timed_out": status == 124,
    "seconds": round(seconds, 1),
    "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    "commit": said("git", "rev-parse", "HEAD") or os.environ.get("MANYMOD_COMMIT", ""),
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
  start=$(date +%s.%N)
  timeout --kill-after=10 "$limit" bash "${BASH_SOURCE[0]}" --inside "$name" 2>&1 | tee "$out/$name.log" || status=$?
  report "$name" "$status" "$(echo "$(date +%s.%N) $start" | awk '{print $1 - $2}')"
  return "$status"
}

mkdir -p "$out"
if [ "${1:-}" = --inside ]; then
  "run_$2"
  exit
fi
[ $# -gt 0 ] || usage
for name in "$@"; do
  case $name in pack | check | bench | sanitize | profile) ;; *) usage ;; esac
done
if [ "$*" = pack ]; then
  pack
  exit
fi
command -v nvcc >/dev/null || export PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
configure_and_build
failed=0
for name in "$@"; do
  stage "$name" || failed=1
done
exit $failed
