// SPDX-License-Identifier: Apache-2.0
#include "point_lanes.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include "ecc/lanes/lane_block.hpp"
#include "poison.hpp"

namespace {

using manymod::Limb;
namespace montgomery_lanes = manymod::montgomery_lanes;
using namespace manymod::ecc;
using namespace manymod::ecc::lanes;
using Numbers = std::vector<Limb>;

constexpr std::size_t kVectors = 2;

void fail(const char* set, const char* what) {
  std::fprintf(stderr, "failed: curves on %s: %s\n", set, what);
  std::exit(1);
}

/// Numbers below 2^bits.
Numbers numbers(std::size_t count, std::size_t bits, Limb seed) {
  const std::size_t limbs = manymod::limbs_for_bits(bits);
  Numbers r(count * limbs);
  for (std::size_t i = 0; i < r.size(); ++i) {
    r[i] = 0x9E3779B97F4A7C15 * (i + seed);
    if (i % limbs + 1 == limbs) r[i] >>= (64 - bits % 64) % 64;
  }
  return r;
}

/// Sizes of a curve, and some odd number above all scalars as its order: constant time is the same for
/// operands that are not points of the curve.
Curve some_curve(unsigned bits) {
  Curve curve;
  curve.p = numbers(1, bits, 1);
  curve.p[0] |= 1;
  curve.n.assign(curve.p.size(), ~Limb{0});
  curve.n.back() >>= (64 - bits % 64) % 64;
  curve.field_bits = curve.order_bits = bits;
  return curve;
}

/// The odd scalars, their signs, and the points. (The sanitizer does not follow the recoding before it, which
/// is scalar code: tests/cpp/ctgrind/curve_scalars.cpp.)
void poison_operands(const PointBlock& block, std::size_t limbs, std::size_t slots) {
  for (const Limb* words : {block.px, block.py, block.qx, block.qy}) {
    poison(words, limbs * slots * sizeof(Limb));
  }
  for (const Limb* words : {block.scalar, block.base_scalar}) {
    poison(words, (limbs + 1) * slots * sizeof(Limb));
  }
  for (const Limb* words : {block.negate, block.base_negate}) poison(words, slots * sizeof(Limb));
}

using Function = void (*)(const PointBlock&);

/// Results of a function, with scalars and coordinates poisoned or not.
Numbers run(const Curve& curve, const PointLaneCalls& calls, Function function, bool secret) {
  const std::size_t count = kVectors * calls.lanes - 3, limbs = curve.limbs();
  const std::size_t bits = curve.field_bits - 1;
  Numbers x = numbers(count, bits, 3), y = numbers(count, bits, 1000);
  Numbers k = numbers(count, bits, 2000), u = numbers(count, bits, 3000);
  const Numbers coefficients = numbers(2 * calls.lanes, bits, 4);
  montgomery_lanes::Constants modulus{};
  if (calls.curve == CurveId::custom)
    modulus = montgomery_lanes::make_constants(curve.p, calls.digits, calls.digit_bits);
  const std::size_t windows = base_windows(calls, curve.order_bits);
  AlignedWords table(windows * calls.base_window_bytes);
  PointBlock constants;
  constants.a = constants.b = constants.cube_root = coefficients.data();
  constants.base_table = table.data();
  constants.order_bits = static_cast<unsigned>(curve.order_bits);
  constants.constants = &modulus;
  LaneBlock fill(curve, calls, constants, (windows + calls.lanes - 1) / calls.lanes, calls.fill_bytes);
  fill.set_items(ItemRange{0, windows}, 0, windows);
  fill.load_points({{x.data(), 0}, {y.data(), 0}, nullptr});
  calls.fill_base(fill.operands(), table.data());

  LaneBlock block(curve, calls, constants, kVectors, kVectors * calls.table_bytes);
  block.set_items(ItemRange{0, count}, 0, count);
  block.load_points({{x.data(), limbs}, {y.data(), limbs}, nullptr});
  block.load_second_points({{y.data(), limbs}, {x.data(), limbs}, nullptr});
  block.load_scalars({k.data(), limbs});
  block.load_base_scalars({u.data(), limbs});
  if (secret) poison_operands(block.operands(), curve.limbs(), calls.lanes * kVectors);
  function(block.operands());
  Numbers r(2 * count * limbs);
  std::vector<std::uint8_t> infinity(count);
  block.store({r.data(), r.data() + count * limbs, infinity.data()});
  return r;
}

void check(const char* set, const Curve& curve, const PointLaneCalls& calls, Function function,
           const char* name) {
  const Numbers expected = run(curve, calls, function, false);
  Numbers found = run(curve, calls, function, true);
  const std::size_t bytes = found.size() * sizeof(Limb);
  if (first_poisoned(found.data(), bytes) < 0) fail(set, "the sanitizer has lost track of the secrets");
  unpoison(found.data(), bytes);
  if (found != expected) fail(set, name);
}

using Calls = const PointLaneCalls* const;

int check_set(const char* set, bool usable, const PointLaneCalls& p256, const PointLaneCalls& p521,
              std::span<Calls> any_curve) {
  if (!usable) {
    std::printf("not checked on this processor: curves, %s\n", set);
    return 0;
  }
  int checked = 0;
  const auto check_all = [&](unsigned bits, const PointLaneCalls& calls) {
    const Curve curve = some_curve(bits);
    check(set, curve, calls, calls.multiply_base, "multiply_base");
    check(set, curve, calls, calls.multiply, "multiply");
    check(set, curve, calls, calls.add, "add");
    checked += 3;
    if (calls.multiply_complete == nullptr) return;
    check(set, curve, calls, calls.multiply_complete, "multiply_complete");
    ++checked;
  };
  check_all(256, p256);
  check_all(521, p521);
  for (const PointLaneCalls* const calls : any_curve) check_all(calls->field_bits - 1, *calls);
  std::printf("curves, %s: poisoned scalars and points\n", set);
  return checked;
}

}  // namespace

int check_point_lanes() {
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  const bool ifma = avx512 && __builtin_cpu_supports("avx512ifma");
  return check_set("avx2", avx2, avx2_p256(), avx2_p521(), avx2_runtime_curves()) +
         check_set("avx512f", avx512, avx512f_p256(), avx512f_p521(), avx512f_runtime_curves()) +
         check_set("avx512ifma", ifma, avx512ifma_p256(), avx512ifma_p521(), avx512ifma_runtime_curves());
}
