// SPDX-License-Identifier: Apache-2.0
// Instructions on 32-bit words and carries across the lanes of a group, on the host.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "arch/cuda/thread_group.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "arch/scalar/word.hpp"
#include "repr/lane_words.cuda.hpp"
#include "support/device_values.hpp"
#include "support/lockstep.hpp"

namespace manymod::test {
namespace {

const std::vector<std::uint32_t> kEdges{0,           1,           2,           0x7fffffffu, 0x80000000u,
                                        0x80000001u, 0xfffffffeu, 0xffffffffu, 0x0000ffffu, 0xffff0000u};

std::uint64_t wide(std::uint32_t lo, std::uint32_t hi) { return std::uint64_t{hi} << 32 | lo; }

TEST(DeviceWords, AdditionsAndSubtractionsCarry) {
  for (const std::uint32_t a : kEdges) {
    for (const std::uint32_t b : kEdges) {
      for (const std::uint32_t c : kEdges) {
        for (const std::uint32_t d : kEdges) {
          std::uint32_t lo = cuda::add_cc(a, b);
          std::uint32_t hi = cuda::addc_cc(c, d);
          std::uint32_t top = cuda::addc(0, 0);
          const std::uint64_t sum = wide(a, c) + wide(b, d);
          ASSERT_EQ(wide(lo, hi), sum);
          ASSERT_EQ(top, sum < wide(a, c) ? 1U : 0U);

          lo = cuda::sub_cc(a, b);
          hi = cuda::subc_cc(c, d);
          top = cuda::subc(0, 0);
          ASSERT_EQ(wide(lo, hi), wide(a, c) - wide(b, d));
          ASSERT_EQ(top, wide(a, c) < wide(b, d) ? 0xffffffffu : 0U);
        }
      }
    }
  }
}

TEST(DeviceWords, WideProductsTakeAndGiveCarries) {
  for (const std::uint32_t a : kEdges) {
    for (const std::uint32_t b : kEdges) {
      std::uint32_t lo = 0;
      std::uint32_t hi = 0;
      ASSERT_EQ(cuda::mul_low(a, b), a * b);
      for (const std::uint32_t c : kEdges) {
        for (const std::uint32_t d : kEdges) {
          const auto sum = static_cast<word::Wide>(a) * b + wide(c, d);
          cuda::mad_wide_cc(lo, hi, a, b, c, d);
          ASSERT_EQ(wide(lo, hi), static_cast<std::uint64_t>(sum));
          ASSERT_EQ(cuda::addc(0, 0), static_cast<std::uint32_t>(sum >> 64));

          (void)cuda::add_cc(0xffffffffu, 1);
          cuda::madc_wide_cc(lo, hi, a, b, c, d);
          ASSERT_EQ(wide(lo, hi), static_cast<std::uint64_t>(sum + 1));
          ASSERT_EQ(cuda::addc(0, 0), static_cast<std::uint32_t>((sum + 1) >> 64));

          // In place, as sums of rows are computed.
          lo = c;
          hi = d;
          (void)cuda::add_cc(0, 0);
          cuda::madc_wide_cc(lo, hi, a, b, lo, hi);
          ASSERT_EQ(wide(lo, hi), static_cast<std::uint64_t>(sum));
        }
      }
    }
  }
}

TEST(DeviceWords, FunnelShifts) {
  for (const std::uint32_t lo : kEdges) {
    for (const std::uint32_t hi : kEdges) {
      for (unsigned bits = 0; bits < 32; ++bits) {
        ASSERT_EQ(cuda::shift_right(lo, hi, bits), static_cast<std::uint32_t>(wide(lo, hi) >> bits));
        ASSERT_EQ(cuda::shift_left(lo, hi, bits), static_cast<std::uint32_t>((wide(lo, hi) << bits) >> 32));
      }
    }
  }
}

TEST(DeviceWords, NegativeInverse) {
  for (std::uint32_t n = 1; n < 1u << 16; n += 2) {
    ASSERT_EQ(cuda::negative_inverse(n) * n, 0xffffffffu);
    const std::uint32_t high = n << 16 | n;
    ASSERT_EQ(cuda::negative_inverse(high) * high, 0xffffffffu);
    ASSERT_EQ(cuda::negative_inverse(~n + 1) * (~n + 1), 0xffffffffu);
  }
}

TEST(DeviceWords, ProductsOfBytesAreAdded) {
  std::vector<std::uint32_t> words = kEdges;
  // A single byte that is not 0 detects products of bytes at different positions.
  for (unsigned p = 0; p < 32; p += 8) words.insert(words.end(), {1u << p, 0x80u << p, 0xffu << p});
  words.insert(words.end(), {0x01020304u, 0xfefdfcfbu, 0x807f80ffu});
  for (const std::uint32_t a : words) {
    for (const std::uint32_t b : words) {
      std::uint64_t products = 0;
      for (unsigned p = 0; p < 4; ++p) products += std::uint64_t{a >> 8 * p & 255} * (b >> 8 * p & 255);
      // The largest sum of products is 4 255^2. Sums wrap around.
      for (const std::uint32_t sum : {0u, 1u, 0x7fffffffu, 0xffffffffu - 4 * 255 * 255, 0xffffffffu}) {
        ASSERT_EQ(cuda::add_byte_products(sum, a, b), static_cast<std::uint32_t>(sum + products))
            << a << ' ' << b;
      }
    }
  }
}

TEST(DeviceWords, PermutedBytes) {
  constexpr std::uint32_t a = 0x83027100, b = 0x07860504;
  EXPECT_EQ(cuda::permute_bytes<0x3210>(a, b), a);
  EXPECT_EQ(cuda::permute_bytes<0x7654>(a, b), b);
  EXPECT_EQ(cuda::permute_bytes<0x1605>(a, b), 0x71860005u);
  EXPECT_EQ(cuda::permute_bytes<0xfedc>(a, b), 0x00ff0000u);
  EXPECT_EQ(cuda::permute_bytes<0x9ab8>(a, b), 0x0000ff00u);
}

/// All ways in which four and five lanes can produce carries and pass them on.
TEST(DeviceLaneWords, LaneCarries) {
  for (unsigned lanes = 1; lanes <= 5; ++lanes) {
    for (std::uint32_t generate = 0; generate < 1u << lanes; ++generate) {
      for (std::uint32_t propagate = 0; propagate < 1u << lanes; ++propagate) {
        if ((generate & propagate) != 0) continue;
        std::uint64_t expected = 0;
        std::uint32_t carry = 0;
        for (unsigned lane = 0; lane < lanes; ++lane) {
          carry = (generate >> lane & 1) | (carry & (propagate >> lane));
          expected |= std::uint64_t{carry} << (lane + 1);
        }
        ASSERT_EQ(cuda::lane_carries(generate, propagate), expected) << generate << " " << propagate;
      }
    }
  }
  EXPECT_EQ(cuda::lane_carries(1, 0xfffffffeu), 0x1fffffffeu);
  EXPECT_EQ(cuda::lane_carries(0x80000000u, 0x7fffffffu), std::uint64_t{1} << 32);
}

/// A number spread over lanes: the counts of lanes and of words per lane.
template <unsigned kLanes, unsigned kLaneWords>
struct Spread {
  static constexpr unsigned kThreads = kLanes;
  static constexpr unsigned kWords = kLaneWords;
  static constexpr unsigned kAll = kLanes * kLaneWords;
};

template <class Shape>
class DeviceLaneWords : public testing::Test {
 protected:
  static constexpr unsigned kThreads = Shape::kThreads;
  static constexpr unsigned kWords = Shape::kWords;
  static constexpr unsigned kAll = Shape::kAll;
  using Group = LockstepGroup<kThreads>;

  static std::uint32_t* part(Words& a, const Group& group) {
    return a.data() + std::size_t{group.lane()} * kWords;
  }
  static const std::uint32_t* part(const Words& a, const Group& group) {
    return a.data() + std::size_t{group.lane()} * kWords;
  }

  /// Numbers over all lanes in which carries start at every position, or run through from every position.
  static std::vector<Words> numbers(naive::Generator& generate) {
    std::vector<Words> all{Words(kAll, 0), Words(kAll, 0xffffffffu)};
    for (unsigned lane = 0; lane < kThreads; ++lane) {
      all.push_back(run_of_ones(std::size_t{32} * kWords * lane, std::size_t{32} * kAll, kAll));
      all.push_back(run_of_ones(0, std::size_t{32} * kWords * lane, kAll));
      all.push_back(run_of_ones(std::size_t{32} * kWords * lane + 1, std::size_t{32} * kAll, kAll));
    }
    for (unsigned i = 0; i < 20; ++i) all.push_back(edge_words(generate, kAll));
    return all;
  }

  /// a + b, with the carry out in an additional word.
  static Words sum(const Words& a, const Words& b) {
    Words r(kAll + 1, 0);
    std::uint64_t carry = 0;
    for (std::size_t i = 0; i <= kAll; ++i) {
      carry += (i < a.size() ? a[i] : 0ULL) + (i < b.size() ? b[i] : 0ULL);
      r[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    return r;
  }
  /// a - b, with all ones in an additional word if it is negative.
  static Words difference(const Words& a, const Words& b) {
    Words r(kAll + 1, 0);
    std::int64_t borrow = 0;
    for (std::size_t i = 0; i <= kAll; ++i) {
      borrow += static_cast<std::int64_t>(i < a.size() ? a[i] : 0) - (i < b.size() ? b[i] : 0);
      r[i] = static_cast<std::uint32_t>(borrow);
      borrow >>= 32;
    }
    return r;
  }

  static void expect_resolved(const Words& number, const Words& overflow) {
    Words r = number;
    Words above(kThreads, kAll);
    run_lockstep<kThreads>([&](Group group) {
      above[group.lane()] =
          lane_words::resolve_carries<kWords>(group, part(r, group), overflow[group.lane()]);
    });
    Words added(kAll + 1, 0);
    for (unsigned lane = 0; lane < kThreads; ++lane) added[(lane + 1) * kWords] = overflow[lane];
    const Words expected = sum(number, added);
    ASSERT_EQ(r, Words(expected.begin(), expected.end() - 1));
    ASSERT_EQ(above, Words(kThreads, expected.back()));
  }
};

using Spreads = testing::Types<Spread<1, 2>, Spread<2, 1>, Spread<2, 3>, Spread<4, 1>, Spread<4, 4>,
                               Spread<8, 2>, Spread<16, 1>, Spread<32, 1>, Spread<32, 2>>;
TYPED_TEST_SUITE(DeviceLaneWords, Spreads);

TYPED_TEST(DeviceLaneWords, ResolveCarries) {
  naive::Generator generate(31);
  for (const Words& number : this->numbers(generate)) {
    for (const std::uint32_t value : {0u, 1u, 2u, 0x80000000u, 0xfffffffeu}) {
      this->expect_resolved(number, Words(TypeParam::kThreads, value));
      // A carry of one lane that runs through all lanes above it.
      Words single(TypeParam::kThreads, 0);
      single[generate.below(TypeParam::kThreads)] = value;
      this->expect_resolved(number, single);
      if (this->HasFatalFailure()) return;
    }
    Words random = edge_words(generate, TypeParam::kThreads);
    random.back() = static_cast<std::uint32_t>(generate.below(0x7fffffff));
    this->expect_resolved(number, random);
  }
}

TYPED_TEST(DeviceLaneWords, SubtractMasked) {
  naive::Generator generate(32);
  for (const Words& a : this->numbers(generate)) {
    const std::vector<Words> subtrahends{a, Words(TypeParam::kAll, 0), Words(TypeParam::kAll, 0xffffffffu),
                                         word_number(1, TypeParam::kAll),
                                         edge_words(generate, TypeParam::kAll)};
    for (const Words& b : subtrahends) {
      for (const std::uint32_t mask : {0u, 0xffffffffu}) {
        Words r(TypeParam::kAll);
        Words borrow(TypeParam::kThreads, 2);
        run_lockstep<TypeParam::kThreads>([&](typename TestFixture::Group group) {
          borrow[group.lane()] = lane_words::subtract_masked<TypeParam::kWords>(
              group, this->part(r, group), this->part(a, group), this->part(b, group), mask);
        });
        const Words expected = this->difference(a, mask == 0 ? Words() : b);
        ASSERT_EQ(r, Words(expected.begin(), expected.end() - 1));
        ASSERT_EQ(borrow, Words(TypeParam::kThreads, expected.back() & 1));
      }
    }
  }
}

TYPED_TEST(DeviceLaneWords, ReduceOnce) {
  naive::Generator generate(33);
  for (Words n : this->numbers(generate)) {
    n[0] |= 1;
    n.back() &= 0x7fffffff;  // so that 2 n - 1 fits
    const Words doubled = this->sum(n, n);
    Words most(doubled.begin(), doubled.end() - 1);
    --most[0];
    Words below = n;
    --below[0];
    for (const Words& a : {Words(TypeParam::kAll, 0), below, n, most}) {
      Words r(TypeParam::kAll);
      run_lockstep<TypeParam::kThreads>([&](typename TestFixture::Group group) {
        lane_words::reduce_once<TypeParam::kWords>(group, this->part(r, group), this->part(a, group),
                                                   this->part(n, group));
      });
      const Words less = this->difference(a, n);
      ASSERT_EQ(r, less.back() != 0 ? a : Words(less.begin(), less.end() - 1));
    }
  }
}

}  // namespace
}  // namespace manymod::test
