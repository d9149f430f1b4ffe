// SPDX-License-Identifier: Apache-2.0
#include "edwards_lanes.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "core/cpu_features.hpp"
#include "ecc/lanes/edwards_lane_calls.hpp"
#include "poison.hpp"

namespace {

using manymod::Limb;
using manymod::ecc::lanes::EdwardsBlock;
using manymod::ecc::lanes::EdwardsLaneBackend;
using manymod::ecc::lanes::EdwardsLaneCalls;

constexpr std::size_t kVectors = 2;

void fail(const EdwardsLaneBackend& backend, const char* what) {
  std::fprintf(stderr, "failed: %s: %s\n", backend.variant, what);
  std::exit(1);
}

/// Numbers whose highest limb is below 2^52, and which are below the primes of the kernels; `odd`: odd ones.
std::vector<Limb> numbers(std::size_t count, const EdwardsLaneCalls& calls, Limb seed, bool odd) {
  std::vector<Limb> r(count * calls.limbs * calls.lanes);
  for (std::size_t i = 0; i < r.size(); ++i) {
    r[i] = 0x9E3779B97F4A7C15 * (i + seed);
    const std::size_t limb = i / calls.lanes % calls.limbs;
    if (limb + 1 == calls.limbs) r[i] >>= 12;
    if (limb == 0 && odd) r[i] |= 1;
  }
  return r;
}

struct LineFree {
  void operator()(void* p) const { ::operator delete(p, std::align_val_t{64}); }
};
using Memory = std::unique_ptr<void, LineFree>;
Memory aligned(std::size_t bytes) { return Memory(::operator new(bytes, std::align_val_t{64})); }

/// Results of a function, with all operands poisoned or not. Constant time is the same for points that are
/// not on the curve.
std::vector<Limb> run(const EdwardsLaneCalls& calls, void (*function)(const EdwardsBlock&), bool secret) {
  std::vector<Limb> x = numbers(kVectors, calls, 1, false), y = numbers(kVectors, calls, 1000, false);
  std::vector<Limb> scalar = numbers(kVectors, calls, 2000, false);
  std::vector<Limb> base_scalar = numbers(kVectors, calls, 3000, true);
  const std::size_t entries = calls.base_windows * calls.base_entries;
  const std::size_t vectors = (entries + calls.lanes - 1) / calls.lanes;
  const std::vector<Limb> table_x = numbers(vectors, calls, 5, false);
  const std::vector<Limb> table_y = numbers(vectors, calls, 7, false);
  const Memory table = aligned(calls.base_bytes), scratch = aligned(calls.scratch_bytes(kVectors));
  EdwardsBlock fill;
  fill.vectors = vectors;
  fill.px = table_x.data();
  fill.py = table_y.data();
  calls.fill_base(fill, table.get());

  std::vector<Limb> result(2 * x.size() + kVectors * calls.lanes);
  EdwardsBlock block;
  block.vectors = kVectors;
  block.x = result.data();
  block.y = result.data() + x.size();
  block.mask = result.data() + 2 * x.size();
  block.px = x.data(), block.py = y.data();
  block.qx = y.data(), block.qy = x.data();
  block.scalar = scalar.data();
  block.base_scalar = base_scalar.data();
  block.base_table = table.get();
  block.bits = static_cast<unsigned>(64 * calls.limbs - 1);
  block.scratch = scratch.get();
  if (secret) {
    for (auto* operand : {&x, &y, &scalar, &base_scalar})
      poison(operand->data(), operand->size() * sizeof(Limb));
  }
  function(block);
  return result;
}

void check(const EdwardsLaneBackend& backend, const EdwardsLaneCalls& calls,
           void (*function)(const EdwardsBlock&), const char* name) {
  const std::vector<Limb> expected = run(calls, function, false);
  std::vector<Limb> found = run(calls, function, true);
  const std::size_t bytes = found.size() * sizeof(Limb);
  if (first_poisoned(found.data(), bytes) < 0) fail(backend, "the sanitizer has lost track of the secrets");
  unpoison(found.data(), bytes);
  if (found != expected) fail(backend, name);
}

}  // namespace

int check_edwards_lanes() {
  int checks = 0;
  for (const EdwardsLaneBackend& backend : manymod::ecc::lanes::edwards_lane_backends()) {
    if ((manymod::cpu_info().features & backend.needs) != backend.needs) {
      std::printf("not checked on this processor: Edwards and Montgomery curves, %s\n", backend.variant);
      continue;
    }
    for (const EdwardsLaneCalls* calls : {backend.curves25519, backend.curves448}) {
      check(backend, *calls, calls->multiply_base, "multiply_base");
      check(backend, *calls, calls->multiply, "multiply");
      check(backend, *calls, calls->multiply_two, "multiply_two");
      check(backend, *calls, calls->add, "add");
      check(backend, *calls, calls->check, "check");
      check(backend, *calls, calls->lift, "lift");
      check(backend, *calls, calls->ladder, "ladder");
      check(backend, *calls, calls->multiply_montgomery_base, "multiply_montgomery_base");
      checks += 8;
    }
    std::printf("Ed25519, X25519, Ed448, X448, %s: poisoned scalars and points\n", backend.variant);
  }
  return checks;
}
