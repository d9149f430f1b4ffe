// SPDX-License-Identifier: Apache-2.0
// Sums, differences, halves and canonical forms of dpf52's numbers: what a field needs besides products.
//
// Numbers are below B = R/2, which mul accepts as it accepts 2 W (multiplier.cuda.hpp): for a, b < R/2 and
// n < W <= R/4 the result (a b + q n) / R is below R/4 + n < R/2. The top bit of a number modulo R is
// therefore set exactly for a sum of B or more and for a negative difference. With a multiple m = n 2^z of
// the modulus, B/2 < m < B, subtracting or adding m at most twice brings either back below B. All lanes of a
// group call each function together. Constant-time: no branch and no address depends on a number.
#pragma once

#include <cstdint>

#include "arch/cuda/doubles.cuda.hpp"
#include "arch/cuda/thread_group.cuda.hpp"
#include "modmul/dpf52/digits.cuda.hpp"
#include "modmul/dpf52/multiplier.cuda.hpp"

namespace manymod::dpf52 {

template <class Group, unsigned kPerThread>
class Numbers {
 public:
  using Multiplier = dpf52::Multiplier<Group, kPerThread>;
  using Element = typename Multiplier::Element;
  static constexpr unsigned kTotalWords = (Multiplier::kRadixBits + 31) / 32;
  static constexpr unsigned kBoundBits = Multiplier::kRadixBits - 1;  ///< numbers are below B = 2^kBoundBits

  /// The number of words a[j]. On input: a < 2^kBoundBits; words beyond its end are 0.
  template <class Words>
  MM_DEVICE static Element load(const Group& group, const Words& a) {
    Element r;
    load_digits<kPerThread, kTotalWords>(r.digit, a, group.lane());
    return r;
  }

  /// a + b mod n, below B. On input: a, b < B. The sum is below 2 B, after one subtraction below 2 B - B/2
  /// and after two below B.
  MM_DEVICE static Element add(const Group& group, const Element& a, const Element& b,
                               const Element& multiple) {
    std::uint64_t d[kPerThread];
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j)
      d[j] = cuda::to_integer(a.digit[j]) + cuda::to_integer(b.digit[j]);
    resolve(group, d);
    MM_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      subtract_multiple(group, d, multiple, top_bit_mask(group, d));
      resolve(group, d);
    }
    return from_digits(d);
  }

  /// a - b mod n, below B. On input: a, b < B. The difference is above -B, and 2 m > B.
  MM_DEVICE static Element sub(const Group& group, const Element& a, const Element& b,
                               const Element& multiple) {
    // 2 (R - 1) - b + 2 = -b mod R, digit by digit not negative.
    std::uint64_t d[kPerThread];
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) {
      d[j] = cuda::to_integer(a.digit[j]) + (2 * kDigitMask - cuda::to_integer(b.digit[j]));
    }
    add_lowest(group, d, 2);
    resolve(group, d);
    MM_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      const std::uint64_t mask = top_bit_mask(group, d);
      MM_UNROLL
      for (unsigned j = 0; j < kPerThread; ++j) d[j] += cuda::to_integer(multiple.digit[j]) & mask;
      resolve(group, d);
    }
    return from_digits(d);
  }

  /// a / 2 mod n, below B: (a + (a mod 2) n) / 2 < (B + n) / 2. On input: a < B, n the odd modulus, exact
  /// digits.
  MM_DEVICE static Element half(const Group& group, const Element& a, const Element& n) {
    std::uint64_t d[kPerThread];
    to_digits(d, a);
    make_exact<kPerThread>(group, d);
    const std::uint64_t odd = 0 - group.shuffle(d[0] & 1, 0);
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) d[j] += cuda::to_integer(n.digit[j]) & odd;
    resolve(group, d);
    const std::uint64_t above = group.from_above(d[0]);
    MM_UNROLL
    for (unsigned j = 0; j + 1 < kPerThread; ++j) d[j] = d[j] >> 1 | (d[j + 1] & 1) << (kDigitBits - 1);
    d[kPerThread - 1] >>= 1;
    if (group.lane() + 1 < Group::kSize) d[kPerThread - 1] |= (above & 1) << (kDigitBits - 1);
    return from_digits(d);
  }

  /// R mod n, as R - 2 m, 0 < R - 2 m < B.
  MM_DEVICE static Element radix(const Group& group, const Element& multiple) {
    std::uint64_t d[kPerThread] = {};
    MM_UNROLL
    for (unsigned i = 0; i < 2; ++i) {
      subtract_multiple(group, d, multiple, ~std::uint64_t{0});
      resolve(group, d);
    }
    return from_digits(d);
  }

  /// a mod n, below n, digits exact. On input: a <= n
  MM_DEVICE static Element canonical(const Group& group, const Element& a, const Element& n) {
    std::uint64_t d[kPerThread];
    to_digits(d, a);
    make_exact<kPerThread>(group, d);
    reduce_once<kPerThread>(group, d, n.digit);
    return from_digits(d);
  }

  /// r.set(j, word j) for all words, each by the lane in whose digits it begins. On input: exact digits
  template <class Sink>
  MM_DEVICE static void store(const Group& group, const Sink& r, const Element& a) {
    std::uint64_t d[kPerThread];
    to_digits(d, a);
    store_words<kPerThread>(group, r, d);
  }

  /// words[0 .. kTotalWords) = all words of a canonical number, in every lane.
  MM_DEVICE static void gather(const Group& group, std::uint32_t* words, const Element& a) {
    constexpr unsigned kDigits = kPerThread * Group::kSize;
    std::uint64_t d[kDigits];
    MM_ROLLED
    for (unsigned source = 0; source < Group::kSize; ++source) {
      MM_UNROLL
      for (unsigned j = 0; j < kPerThread; ++j) {
        d[source * kPerThread + j] = cuda::to_integer(group.shuffle(a.digit[j], source));
      }
    }
    MM_ROLLED
    for (unsigned j = 0; j < kTotalWords; ++j) words[j] = word_of_digits<kDigits>(d, j);
  }

 private:
  MM_DEVICE static void to_digits(std::uint64_t* d, const Element& a) {
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) d[j] = cuda::to_integer(a.digit[j]);
  }
  MM_DEVICE static Element from_digits(const std::uint64_t* d) {
    Element r;
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j) r.digit[j] = cuda::to_double(d[j]);
    return r;
  }

  MM_DEVICE static void add_lowest(const Group& group, std::uint64_t* d, std::uint64_t value) {
    d[0] += group.lane() == 0 ? value : 0;
  }

  /// d -= m & mask, modulo R: (R - 1) - m + 1 = -m. On input: exact digits of d and m.
  MM_DEVICE static void subtract_multiple(const Group& group, std::uint64_t* d, const Element& multiple,
                                          std::uint64_t mask) {
    MM_UNROLL
    for (unsigned j = 0; j < kPerThread; ++j)
      d[j] += (kDigitMask - cuda::to_integer(multiple.digit[j])) & mask;
    add_lowest(group, d, mask & 1);
  }

  /// d mod R, digits exact. On input: d_j < 2^54. A lane's first carry out is at most 4; with such a carry
  /// from below its second is 0 or 1, and if it is 1 then what remains is below 4, not all ones.
  MM_DEVICE static void resolve(const Group& group, std::uint64_t* d) {
    const std::uint64_t out = ripple<kPerThread>(d, 0);
    if constexpr (Group::kSize > 1) {
      const std::uint64_t below = group.from_below(out);
      const std::uint64_t second = ripple<kPerThread>(d, group.lane() == 0 ? 0 : below);
      std::uint64_t ones = d[0];
      MM_UNROLL
      for (unsigned j = 1; j < kPerThread; ++j) ones &= d[j];
      const std::uint64_t carries =
          cuda::lane_carries(group.ballot(second != 0), group.ballot(ones == kDigitMask));
      ripple<kPerThread>(d, carries >> group.lane() & 1);
    }
  }

  /// All ones where the number has its top bit, 2^(kRadixBits - 1). On input: exact digits
  MM_DEVICE static std::uint64_t top_bit_mask(const Group& group, const std::uint64_t* d) {
    return 0 - group.shuffle(d[kPerThread - 1] >> (kDigitBits - 1), Group::kSize - 1);
  }
};

}  // namespace manymod::dpf52
