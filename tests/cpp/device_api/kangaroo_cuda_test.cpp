// SPDX-License-Identifier: Apache-2.0
// The device code of examples/device/kangaroo.cu and its search, on the host.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "../../../examples/device/kangaroo_search.cuh"

namespace manymod::test {
namespace {

using kangaroo::Curve;
using kangaroo::Field;
using kangaroo::Herd;
using kangaroo::Quad;
using kangaroo::Scalar;
using kangaroo::Search;
using kangaroo::Sighting;

constexpr unsigned kThreads = 2, kChain = 3;
constexpr std::uint32_t kMask = 15;

class Kangaroos {
 public:
  explicit Kangaroos(Search& search) : search_(search) {
    for (std::uint32_t i = 0; i < herd_.count; ++i) place(i);
  }

  void place(std::uint32_t i) {
    *herd_.at(Herd::distance, i) = search_.random_distance();
    kangaroo::start(herd_, i, search_.base(i));
  }
  /// Those on distinguished points within `steps` jumps.
  std::vector<Sighting> jump(unsigned steps) {
    std::vector<Sighting> seen(std::size_t{herd_.count} * steps);
    std::uint32_t count = 0;
    for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
      kangaroo::walk(herd_, search_.jumps().data(), thread, steps, kMask,
                     {&count, seen.data(), static_cast<std::uint32_t>(seen.size())});
    }
    seen.resize(count);
    return seen;
  }
  [[nodiscard]] Curve::Jacobian point(std::uint32_t i) const { return Curve::from_affine(herd_.point(i)); }
  [[nodiscard]] const Quad& distance(std::uint32_t i) const { return *herd_.at(Herd::distance, i); }
  [[nodiscard]] std::uint32_t count() const { return herd_.count; }

 private:
  Search& search_;
  std::vector<Quad> quads_ = std::vector<Quad>(Herd::kQuads * kThreads * kChain);
  Herd herd_{quads_.data(), kThreads* kChain, kThreads};
};

/// Numbers of more than 128 bits.
constexpr Scalar kFirst{{5, 4, 3, 2, 1, 0x80000000u, 9, 0x7fffffffu}};

kangaroo::Affine target(const Scalar& first, std::uint64_t offset) {
  const Scalar number{{static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(offset >> 32)}};
  return Curve::to_affine(kangaroo::multiple(kangaroo::sum(first, number)));
}

Curve::Jacobian expected_point(const Search& search, std::uint32_t i, const Quad& distance) {
  return Curve::add(kangaroo::multiple(kangaroo::scalar(distance)), search.base(i));
}

/// Passes go both ways: odd and even numbers of them.
TEST(Kangaroo, PointsAreThoseOfTheDistances) {
  Search search(target(kFirst, 77), kFirst, 60, 1);
  Kangaroos kangaroos(search);
  for (const unsigned steps : {0U, 1U, 2U, 33U}) {
    const std::vector<Sighting> seen = kangaroos.jump(steps);
    for (std::uint32_t i = 0; i < kangaroos.count(); ++i) {
      EXPECT_TRUE(Curve::equal(kangaroos.point(i), expected_point(search, i, kangaroos.distance(i))));
    }
    for (const Sighting& one : seen) {
      const kangaroo::Affine p = Curve::to_affine(expected_point(search, one.kangaroo, one.distance));
      EXPECT_TRUE(Field::equal(p.x, kangaroo::load(one.x, 1)));
      EXPECT_EQ(p.x.words[Field::kWords - 1] & kMask, 0U);
    }
  }
}

std::uint64_t find(std::uint64_t offset, unsigned bits, const Scalar& first) {
  Search search(target(first, offset), first, bits, offset);
  Kangaroos kangaroos(search);
  for (unsigned round = 0; round < 200; ++round) {
    for (const Sighting& one : kangaroos.jump(100)) {
      switch (search.take(one)) {
        case Search::Outcome::found: {
          const Scalar difference = kangaroo::sum(search.key(), first, true);
          return std::uint64_t{difference.word[1]} << 32 | difference.word[0];
        }
        case Search::Outcome::repeated:
          kangaroos.place(one.kangaroo);
          break;
        default:
          break;
      }
    }
  }
  return ~std::uint64_t{0};
}

TEST(Kangaroo, FindsLogarithmsAtBothEndsAndWithin) {
  for (const std::uint64_t offset :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{654321}, (std::uint64_t{1} << 20) - 1}) {
    EXPECT_EQ(find(offset, 20, kFirst), offset);
  }
  EXPECT_EQ(find(1234567, 21, Scalar{}), 1234567U);
}

TEST(Kangaroo, WordsOfDistancesCarry) {
  const Quad most{{~0U, ~0U, ~0U, 1}};
  const Quad r = kangaroo::sum(most, Quad{{1, 0, 0, 0}});
  for (unsigned j = 0; j < 4; ++j) EXPECT_EQ(r.word[j], j == 3 ? 2U : 0U);
}

}  // namespace
}  // namespace manymod::test
