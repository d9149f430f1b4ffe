// SPDX-License-Identifier: Apache-2.0
// A field modulo a special prime in device code (field/field.hpp), by one thread for each instance. It
// compiles for the host as well, for tests. Everything but products is the same for all primes, on the
// functions of modmul/special_primes/reductions.cuda.hpp.
//
// Ranges. An element is below B = 2^(32 kWords), p < B; every function reduces its result below B, also if
// the rules give it a magnitude above 1.
#pragma once

#include <cstdint>

#include "arch/cuda/opaque.cuda.hpp"
#include "arch/cuda/words.cuda.hpp"
#include "core/portable.hpp"
#include "field/magnitude.hpp"
#include "modinv/divsteps.cuda.hpp"
#include "modmul/special_primes/products.cuda.hpp"
#include "modmul/special_primes/reductions.cuda.hpp"
#include "repr/integer_memory.cuda.hpp"

namespace manymod::field {

/// Arithmetic modulo `Prime`. Functions: see field/field.hpp. An object has no state but for what keeps its
/// products in order (modmul/special_primes/products.cuda.hpp).
template <class Prime>
class SpecialField {
 public:
  static constexpr unsigned kWords = Prime::kWords;  ///< 32-bit words of a number in memory
  static constexpr unsigned kRadixBits = Prime::kRadixBits;
  static constexpr unsigned kBoundBits = 32 * kWords;  ///< elements are below B = 2^kBoundBits
  /// Whether the prime reduces sums of some elements, and differences of products, at once.
  static constexpr bool kSettlesTop =
      requires(std::uint32_t* r) { Prime::template settle_top<special_primes::TopSign::any>(r, 0); };

  /// A number below B.
  struct Element : Carried {
    std::uint32_t words[kWords];
  };
  using Mask = std::uint32_t;  ///< all ones or 0
  using Source = integers::Words;
  using Sink = integers::WordsOut;

  MM_DEVICE void zero(Element& r) const { load(r, integers::SmallWord{0}); }
  MM_DEVICE void one(Element& r) const { load(r, Power<kRadixBits>{}); }
  /// On input: x < B^2. Longer than kWords words, it takes a reduction, and products if R is not 1.
  MM_DEVICE void from_limbs(Element& r, const Source& x) const {
    load(r, x);
    if (x.count() > kWords) {
      std::uint32_t t[2 * kWords];
      MM_UNROLL
      for (unsigned j = 0; j < 2 * kWords; ++j) t[j] = x[j];
      Prime::reduce(r.words, t);
      to_montgomery(r);
    }
    to_montgomery(r);
  }
  MM_DEVICE void to_limbs(const Sink& x, const Element& a) const {
    Element number;
    canonical(number, a);
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) x.set(j, number.words[j]);
    if constexpr (kWords % 2 != 0) x.set(kWords, 0);
  }

  /// r = a b. kWords^2 wide products.
  MM_DEVICE void mul(Element& r, const Element& a, const Element& b) const {
    Rules::mul(r, a, b);
    std::uint32_t t[2 * kWords];
    multiply(t, a, b);
    Prime::reduce(r.words, t);
  }
  /// r = a^2. kWords (kWords + 1) / 2 wide products.
  MM_DEVICE void sqr(Element& r, const Element& a) const {
    Rules::sqr(r, a);
    std::uint32_t t[2 * kWords];
    square(t, a);
    Prime::reduce(r.words, t);
  }
  /// r = a b - c d, and r = a b - c^2, with one reduction. On input: m(c) = m(d) = 1.
  MM_DEVICE void mul_sub(Element& r, const Element& a, const Element& b, const Element& c,
                         const Element& d) const
    requires kSettlesTop
  {
    Rules::mul_sub(r, a, b, c, d);
    std::uint32_t t[2 * kWords], less[2 * kWords];
    multiply(t, a, b);
    multiply(less, c, d);
    reduce_difference(r, t, less);
  }
  MM_DEVICE void mul_sub_sqr(Element& r, const Element& a, const Element& b, const Element& c) const
    requires kSettlesTop
  {
    Rules::mul_sub(r, a, b, c, c);
    std::uint32_t t[2 * kWords], less[2 * kWords];
    multiply(t, a, b);
    square(less, c);
    reduce_difference(r, t, less);
  }
  MM_DEVICE void add(Element& r, const Element& a, const Element& b) const {
    Rules::add(r, a, b);
    r.words[0] = cuda::add_cc(a.words[0], b.words[0]);
    MM_UNROLL
    for (unsigned j = 1; j < kWords; ++j) r.words[j] = cuda::addc_cc(a.words[j], b.words[j]);
    Prime::correct(r.words, cuda::addc(0, 0));
  }
  template <unsigned kOfB = 1>
  MM_DEVICE void sub(Element& r, const Element& a, const Element& b) const {
    Rules::sub<kOfB>(r, a, b);
    subtract(r, a, b);
  }
  /// r = a - 2 b, and r = a - b - 2 c. On input: m(a) = m(b) = m(c) = 1. On output: m(r) = 1.
  MM_DEVICE void sub_twice(Element& r, const Element& a, const Element& b) const
    requires kSettlesTop
  {
    Rules::read_reduced(a), Rules::read_reduced(b);
    const Element twice = b;
    std::uint32_t top = subtract_words(r, a, b);
    top += subtract_words(r, r, twice);
    Prime::template settle_top<special_primes::TopSign::not_positive>(r.words, top);
    Rules::set(r, 1);
  }
  MM_DEVICE void sub_and_twice(Element& r, const Element& a, const Element& b, const Element& c) const
    requires kSettlesTop
  {
    Rules::read_reduced(a), Rules::read_reduced(b), Rules::read_reduced(c);
    const Element twice = c;
    std::uint32_t top = subtract_words(r, a, b);
    top += subtract_words(r, r, twice);
    top += subtract_words(r, r, twice);
    Prime::template settle_top<special_primes::TopSign::not_positive>(r.words, top);
    Rules::set(r, 1);
  }
  template <unsigned kOfA = 1>
  MM_DEVICE void neg(Element& r, const Element& a) const {
    Rules::neg<kOfA>(r, a);
    Element nothing;
    zero(nothing);
    subtract(r, nothing, a);
  }
  /// (a + p) / 2 for odd a, which is below B.
  MM_DEVICE void half(Element& r, const Element& a) const {
    Rules::half(r, a);
    copy(r, a);
    const std::uint32_t carry = special_primes::add_if<Prime>(r.words, r.words[0] & 1);
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) {
      r.words[j] = cuda::shift_right(r.words[j], j + 1 < kWords ? r.words[j + 1] : carry, 1);
    }
  }
  /// Elements are below B: a copy.
  template <unsigned kOfA = kMaxMagnitude>
  MM_DEVICE void normalize_weak(Element& r, const Element& a) const {
    Rules::normalize_weak<kOfA>(r, a);
    copy(r, a);
  }
  MM_DEVICE void cmov(Element& r, const Element& a, Mask mask) const {
    Rules::cmov(r, a);
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) r.words[j] = (a.words[j] & mask) | (r.words[j] & ~mask);
  }
  /// Numbers below 2 p are 0 modulo p if they are 0 or p.
  [[nodiscard]] MM_DEVICE Mask is_zero(const Element& a) const {
    Rules::read_reduced(a);
    Element settled = a;
    Prime::settle(settled.words);
    std::uint32_t not_zero = 0, not_p = 0;
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) {
      not_zero |= settled.words[j];
      not_p |= settled.words[j] ^ Prime::word(j);
    }
    return ~(integers::mask_if_not_zero(not_zero) & integers::mask_if_not_zero(not_p));
  }
  [[nodiscard]] MM_DEVICE Mask equal(const Element& a, const Element& b) const {
    Rules::read_reduced(a), Rules::read_reduced(b);
    Element difference;
    subtract(difference, a, b);
    Rules::set(difference, 1);
    return is_zero(difference);
  }
  /// (45907 bits + 30179) / 19929 division steps for bits = kBoundBits, and two products if R is not 1. For
  /// many elements, Montgomery's trick comes first.
  MM_DEVICE Mask inverse(Element& r, const Element& a) const {
    Element number;
    canonical(number, a);
    modinv::Divsteps<kBoundBits> steps(PrimeWords{}, Number{number.words});
    steps.template run<true>();
    const Mask exists = cuda::opaque(0 - static_cast<std::uint32_t>(steps.invertible()));
    Rules::set(r, 1);
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) r.words[j] = steps.inverse_word(j) & exists;
    to_montgomery(r);
    return exists;
  }

  /// r = the words a[j] of an element in memory, as word(j) gave them. On input: below B.
  template <class Words>
  MM_DEVICE void load(Element& r, const Words& a) const {
    Rules::set(r, 1);
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) r.words[j] = a[j];
  }

 private:
  struct PrimeWords {
    MM_DEVICE std::uint32_t operator[](unsigned j) const { return j < kWords ? Prime::word(j) : 0; }
  };
  struct Number {
    const std::uint32_t* words;
    MM_DEVICE std::uint32_t operator[](unsigned j) const { return j < kWords ? words[j] : 0; }
  };

  struct Constant {
    std::uint32_t words[kWords];
  };
  // 2^exponent mod p, by doubling.
  MM_DEVICE static constexpr Constant power_of_two(unsigned exponent) {
    Constant r{};
    r.words[0] = 1;
    for (unsigned i = 0; i < exponent; ++i) {
      Constant doubled{}, less{};
      std::uint64_t carry = 0;
      std::int64_t borrow = 0;
      for (unsigned j = 0; j < kWords; ++j) {
        carry += std::uint64_t{2} * r.words[j];
        doubled.words[j] = static_cast<std::uint32_t>(carry);
        carry >>= 32;
        borrow += static_cast<std::int64_t>(doubled.words[j]) - Prime::word(j);
        less.words[j] = static_cast<std::uint32_t>(borrow & 0xffffffff);
        borrow >>= 32;
      }
      r = static_cast<std::int64_t>(carry) + borrow < 0 ? doubled : less;
    }
    return r;
  }
  template <unsigned kExponent>
  struct Power {
    MM_DEVICE std::uint32_t operator[](unsigned j) const {
      constexpr Constant kPower = power_of_two(kExponent);
      return kPower.words[j];
    }
  };

  MM_DEVICE static void copy(Element& r, const Element& a) {
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) r.words[j] = a.words[j];
  }

  // r = r R mod p, or r itself if R is 1.
  MM_DEVICE void to_montgomery(Element& r) const {
    if constexpr (kRadixBits != 0) {
      Element square;
      load(square, Power<2 * kRadixBits>{});
      mul(r, r, square);
    }
  }

  // r = a / R mod p, below p: t / R <= (B - 1 + (B - 1) p) / B < p + 1.
  MM_DEVICE void canonical(Element& r, const Element& a) const {
    Rules::read(a);
    Rules::set(r, 1);
    copy(r, a);
    if constexpr (kRadixBits != 0) {
      std::uint32_t t[2 * kWords];
      MM_UNROLL
      for (unsigned j = 0; j < kWords; ++j) t[j] = a.words[j], t[kWords + j] = 0;
      Prime::reduce(r.words, t);
    }
    Prime::settle(r.words);
    Element less = r;
    const std::uint32_t keep = cuda::opaque_on_host(0 - special_primes::subtract_if<Prime>(less.words, 1));
    MM_UNROLL
    for (unsigned j = 0; j < kWords; ++j) {
      r.words[j] = (r.words[j] & keep) | (less.words[j] & ~keep);
    }
  }

  /// r = the words of a - b. @return the word above them: 0, or all ones for a borrow.
  MM_DEVICE static std::uint32_t subtract_words(Element& r, const Element& a, const Element& b) {
    r.words[0] = cuda::sub_cc(a.words[0], b.words[0]);
    MM_UNROLL
    for (unsigned j = 1; j < kWords; ++j) r.words[j] = cuda::subc_cc(a.words[j], b.words[j]);
    return cuda::subc(0, 0);
  }
  MM_DEVICE void subtract(Element& r, const Element& a, const Element& b) const {
    Prime::repay(r.words, subtract_words(r, a, b) & 1);
  }

  // t = a b and t = a^2, after the product before.
  MM_DEVICE void multiply(std::uint32_t (&t)[2 * kWords], const Element& a, const Element& b) const {
    const std::uint32_t zero = special_primes::multiply<kWords>(t, a.words, b.words, zero_);
    if constexpr (Prime::kOrdersProducts) zero_ = zero;
  }
  MM_DEVICE void square(std::uint32_t (&t)[2 * kWords], const Element& a) const {
    const std::uint32_t zero = special_primes::square<kWords>(t, a.words, zero_);
    if constexpr (Prime::kOrdersProducts) zero_ = zero;
  }

  // r = (t - less) / R mod p.
  MM_DEVICE void reduce_difference(Element& r, std::uint32_t (&t)[2 * kWords],
                                   const std::uint32_t (&less)[2 * kWords]) const {
    t[0] = cuda::sub_cc(t[0], less[0]);
    MM_UNROLL
    for (unsigned j = 1; j < 2 * kWords; ++j) t[j] = cuda::subc_cc(t[j], less[j]);
    Prime::reduce_signed(r.words, t, cuda::subc(0, 0));
  }

  mutable std::uint32_t zero_ = 0;  ///< of the product before
};

}  // namespace manymod::field
