// SPDX-License-Identifier: Apache-2.0
// Operands for the test of kernels before their first use.
#include "ecc/device/known_answers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <span>
#include <utility>

#include "ecc/device/bucket_queue.hpp"
#include "ecc/device/power_sums.hpp"
#include "ecc/scalar64/engine.hpp"
#include "repr/limbs.hpp"

namespace manymod::test {
namespace {

using ecc::CurveId;

/// Digit i of k as sum_jobs.hpp has it: its bits, and one more for the bit below, less 2^width for the upper
/// one.
int digit(std::span<const Limb> k, unsigned width, unsigned i) {
  const std::size_t lowest = std::size_t{i} * width;
  const auto own = static_cast<int>(limbs::extract_bits(k, lowest, width));
  const auto below = static_cast<int>(i == 0 ? 0 : limbs::extract_bits(k, lowest - 1, 1));
  return own + below - (own >> (width - 1) << width);
}

/// Else no known answer would tell whether kernels cut buckets rightly.
TEST(KnownSums, HaveBucketsOfSeveralPieces) {
  for (const CurveId id : {CurveId::p256, CurveId::secp256k1, CurveId::p384, CurveId::p521, CurveId::ed25519,
                           CurveId::ed448, CurveId::bls12_381}) {
    const ecc::Curve& curve = ecc::named_curve(id);
    const auto host = ecc::scalar64::variant().make(curve, {});
    const ecc::device::KnownOperands known(*host);
    const std::size_t terms = known.terms().size();
    const auto shape = ecc::device::BucketShape::of(curve.order_bits, terms);
    std::map<std::pair<unsigned, int>, unsigned> sizes;
    for (std::size_t term = 0; term < terms; ++term) {
      const std::span k(known.factors()[term], curve.scalar_limbs());
      for (unsigned i = 0; i < shape.windows; ++i) ++sizes[{i, std::abs(digit(k, shape.width, i))}];
    }
    const auto overfull = std::ranges::count_if(sizes, [](const auto& bucket) {
      return bucket.first.second != 0 && bucket.second > ecc::device::kMostTerms;
    });
    EXPECT_GT(overfull, shape.windows / 4) << curve.name;
  }
}

}  // namespace
}  // namespace manymod::test
