// SPDX-License-Identifier: Apache-2.0
// Whole calls by the kernels of residue number systems on binary32, on the fake driver. Some of the moduli
// are refused by the kernels; the results must be correct nevertheless.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "gpu/engine/engine_helpers.hpp"
#include "modmul/rns_float/base_pair.hpp"
#include "support/brief.hpp"

namespace manymod::testing {
namespace {

/// A representation, and a prime that divides M_B in it.
struct Form {
  const char* variant;
  std::uint32_t factor;
};
constexpr Form kForms[] = {{"rns_float.half.cuda.t8", rns::Half512::kB[0]},
                           {"rns_float.full.cuda.t4", rns::Fused512::kB[3]},
                           {"rns_float.smooth.cuda.t8", rns::Smooth512::kFirstB[1]},
                           {"rns_float.pairs.cuda.t8", rns::Smooth512::kB[5] / rns::Smooth512::kFirstB[5]}};
constexpr Timing kClasses[] = {Timing::public_, Timing::secret};

class RnsFloatEngine : public FakeGpuTest, public ::testing::WithParamInterface<Form> {
 protected:
  CudaNumbers numbers_{53};
  Placement where_{"cuda:0", GetParam().variant, 0};

  // Odd, and a multiple of the form's prime.
  static void make_refused(Batch& moduli, std::size_t item) {
    const std::size_t width = moduli.width();
    naive::Limbs rest(moduli[item].begin(), moduli[item].end());
    rest.back() >>= 33;
    rest[0] |= 1;
    const naive::Limbs product =
        naive::limbs(naive::multiply(naive::digits(rest), naive::Digits{GetParam().factor}), width);
    std::copy(product.begin(), product.end(), moduli[item].begin());
  }

  Batch short_exponents(std::size_t count) {
    Batch batch(count, 1);
    for (std::size_t i = 0; i < count; ++i) batch[i][0] = numbers_.below(1 << 20);
    return batch;
  }

  // `count` moduli, of which two are refused if there are several.
  Batch moduli(std::size_t count, std::size_t width) {
    Batch batch = numbers_.odd_moduli(count, width);
    make_refused(batch, count / 3);
    make_refused(batch, count - 1);
    return batch;
  }
};

TEST_P(RnsFloatEngine, PowersInBothTimingClasses) {
  for (const Timing timing : kClasses) {
    for (const std::size_t width : {1u, 8u}) {
      const Batch x = numbers_.with_signs(numbers_.some(7, width + 1)), y = numbers_.some(7, 1);
      const Batch n = moduli(7, width), one_n = numbers_.odd_moduli(1, width);
      check_plan(Op::powmod, {x, y, n}, timing, where_);
      check_plan(Op::powmod, {x, single(65537), n}, timing, where_);
      check_plan(Op::powmod, {x, single(65537), one_n}, timing, where_);
    }
  }
}

TEST_P(RnsFloatEngine, Products) {
  for (const std::size_t width : {2u, 8u}) {
    const Batch n = numbers_.with_signs(moduli(9, width)), x = numbers_.with_signs(numbers_.some(9, width));
    Batch one_refused = numbers_.odd_moduli(1, width);
    make_refused(one_refused, 0);
    for (const Batch& modulus : {n, numbers_.odd_moduli(1, width), one_refused}) {
      check_plan(Op::mulmod, {x, numbers_.some(9, 2 * width + 1), modulus}, Timing::public_, where_);
      check_plan(Op::sqrmod, {x, {}, modulus}, Timing::public_, where_);
    }
  }
  const Batch x = numbers_.some(6, 5), y = numbers_.some(6, 1), n = moduli(3, 4);
  check_plan(Op::multi_powmod, {x, y, n, 3, 2}, Timing::public_, where_);
}

class RnsFloatFixedBase : public RnsFloatEngine {};

TEST_P(RnsFloatFixedBase, Combs) {
  const Batch g = numbers_.some(1, 6), y = short_exponents(5);
  for (const bool refused : {false, true}) {
    Batch n = numbers_.odd_moduli(1, 5);
    if (refused) make_refused(n, 0);
    for (const Timing timing : kClasses) {
      if (kBriefTests && refused != (timing == Timing::public_)) continue;
      FixedBase powers(g, n, 20, timing, where_);
      expect_right(powers.powmod(y), Op::powmod, {g, y, n}, "fixed base");
    }
  }
}

std::string form_name(const ::testing::TestParamInfo<Form>& info) {
  const std::string variant = info.param.variant;
  const std::size_t first = variant.find('.') + 1;
  return variant.substr(first, variant.find('.', first) - first);
}
// Sanitizers multiply the time of each.
#if defined(MANYMOD_SANITIZED)
INSTANTIATE_TEST_SUITE_P(Forms, RnsFloatEngine, ::testing::Values(kForms[1]), form_name);
#else
INSTANTIATE_TEST_SUITE_P(Forms, RnsFloatEngine, ::testing::ValuesIn(kForms), form_name);
#endif
// A comb's table takes the fake driver long.
INSTANTIATE_TEST_SUITE_P(OneForm, RnsFloatFixedBase, ::testing::Values(kForms[1]), form_name);

}  // namespace
}  // namespace manymod::testing
