// SPDX-License-Identifier: Apache-2.0
#include "special_lanes.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "field/batch_inverse.hpp"
#include "poison.hpp"
#include "support/lane_test_field.hpp"

namespace {

using manymod::Limb;
using manymod::test::LaneFieldCalls;
using manymod::test::LaneFieldMask;
using manymod::test::LaneTestField;
using Element = LaneTestField::Element;

void fail(const LaneFieldCalls& calls, const char* what) {
  std::fprintf(stderr, "failed: %s, %u-bit digits: %s\n", calls.prime, calls.digit_bits, what);
  std::exit(1);
}

/// The mask is set in all lanes. It need not be poisoned: the sanitizer takes bits of vpmuludq's products
/// above those of its factors for known, and a known digit that is not 0 decides a comparison.
void require(LaneFieldMask mask, const LaneFieldCalls& calls, const char* what) {
  unpoison(mask.lane, calls.lanes * sizeof(Limb));
  bool holds = true;
  for (std::size_t lane = 0; lane < calls.lanes; ++lane) holds = holds && mask.lane[lane] == ~Limb{0};
  if (!holds) fail(calls, what);
}

void check_field(const LaneFieldCalls& calls) {
  const LaneTestField f(calls);
  // Distinct numbers from 1 on; secret from here on.
  std::vector<Limb> numbers(calls.p.size() * calls.lanes);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 0x9E3779B97F4A7C15 * (i + 1);
  poison(numbers.data(), numbers.size() * sizeof(Limb));

  Element x, y, z, one;
  f.one(one);
  f.from_limbs(x, numbers.data());
  f.add(y, x, one);
  f.sqr(y, y);
  if (first_poisoned(y.digit, sizeof(Limb)) != 0) fail(calls, "the sanitizer has lost track of the secrets");
  f.mul(z, x, x);
  f.add(z, z, x);
  f.add(z, z, x);
  f.add(z, z, one);
  f.normalize_weak(z, z);
  require(f.equal(y, z), calls, "(x + 1)^2 = x^2 + 2 x + 1");

  f.half(y, x);
  f.add(y, y, y);
  f.sub(y, y, x);
  f.normalize_weak(y, y);
  require(f.is_zero(y), calls, "x / 2 + x / 2 - x = 0");
  f.neg(z, x);
  f.add(z, z, x);
  f.normalize_weak(z, z);
  require(f.is_zero(z), calls, "-x + x = 0");

  require(f.inverse(y, x), calls, "the inverse exists");
  f.mul(y, y, x);
  require(f.equal(y, one), calls, "x / x = 1");
  f.cmov(y, x, f.is_zero(z) & ~f.equal(x, one));
  require(f.equal(x, y), calls, "conditional move");

  Element batch[] = {x, z, one};
  Element inverses[3], scratch[3];
  LaneFieldMask exists[3] = {};
  manymod::field::batch_inverse(f, inverses, exists, batch, 3, scratch);
  f.mul(y, inverses[0], x);
  require(f.equal(y, one) & ~exists[1], calls, "batched inversion with zeros");

  std::vector<Limb> back(numbers.size());
  f.to_limbs(back.data(), x);
  f.from_limbs(y, back.data());
  require(f.equal(x, y), calls, "canonical numbers");
}

}  // namespace

int check_special_lanes() {
  int checks = 0;
  const auto backends = manymod::test::lane_field_backends();
  for (std::size_t i = 0; i < backends.size(); ++i) {
    if (!manymod::test::missing_lane_fields(i).empty()) {
      std::printf("not checked on this processor: special primes, %s\n", backends[i].name);
      continue;
    }
    int fields = 0;
    for (const LaneFieldCalls& calls : backends[i].fields) {
      if (calls.modulus != nullptr) continue;
      check_field(calls);
      ++fields;
    }
    std::printf("special primes, %s: %d fields with poisoned elements\n", backends[i].name, fields);
    checks += fields;
  }
  return checks;
}
