// SPDX-License-Identifier: Apache-2.0
#include "point_lanes.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "ecc/lanes/lane_block.hpp"
#include "poison.hpp"

namespace {

using manymod::Limb;
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
  const Numbers constants = numbers(2 * calls.lanes, bits, 4);
  AlignedWords table(calls.base_bytes);
  LaneBlock fill(curve, calls, (calls.base_windows + calls.lanes - 1) / calls.lanes, calls.fill_bytes);
  fill.set_items(ItemRange{0, calls.base_windows}, 0, calls.base_windows);
  fill.load_points({{x.data(), 0}, {y.data(), 0}, nullptr});
  calls.fill_base(fill.operands(), table.data());

  LaneBlock block(curve, calls, kVectors, kVectors * calls.table_bytes);
  block.set_constants(constants.data(), constants.data(), table.data());
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

int check_set(const char* set, bool usable, const PointLaneCalls& p256, const PointLaneCalls& p521) {
  if (!usable) {
    std::printf("not checked on this processor: curves, %s\n", set);
    return 0;
  }
  const Curve curves[] = {some_curve(256), some_curve(521)};
  const PointLaneCalls* const calls[] = {&p256, &p521};
  for (std::size_t i = 0; i < 2; ++i) {
    check(set, curves[i], *calls[i], calls[i]->multiply_base, "multiply_base");
    check(set, curves[i], *calls[i], calls[i]->multiply, "multiply");
    check(set, curves[i], *calls[i], calls[i]->add, "add");
  }
  std::printf("curves, %s: poisoned scalars and points\n", set);
  return 6;
}

}  // namespace

int check_point_lanes() {
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  const bool ifma = avx512 && __builtin_cpu_supports("avx512ifma");
  return check_set("avx2", avx2, avx2_p256(), avx2_p521()) +
         check_set("avx512f", avx512, avx512f_p256(), avx512f_p521()) +
         check_set("avx512ifma", ifma, avx512ifma_p256(), avx512ifma_p521());
}
