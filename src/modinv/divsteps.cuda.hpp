// SPDX-License-Identifier: Apache-2.0
// Greatest common divisors with an odd number, and inverses modulo it, by one thread: division steps
// (Bernstein and Yang, "Fast constant-time gcd computation and modular inversion", 2019), 30 at a time on the
// low words as 2x2 transition matrices. The algorithm is that of modinv/safegcd.hpp, on digits whose products
// fit in 64 bits.
//
// Numbers are arrays of signed 30-bit digits: value = sum of digit_i 2^(30 i), 0 <= digit_i < 2^30 below the
// top one, the top digit signed. Ranges kept: f odd, |f|, |g| < 2^kBits; -2n < d, e < n before each update,
// which adds a multiple of n so that the division by 2^30 is exact and the range holds again.
//
// Timing: constant-time. The number of division steps depends on kBits alone.
#pragma once

#include <cstdint>

#include "arch/cuda/words.cuda.hpp"
#include "modinv/transition.hpp"

#if defined(__CUDA_ARCH__)
#define MM_UNROLL_DIGITS _Pragma("unroll kUnroll")
#else
#define MM_UNROLL_DIGITS
#endif

namespace manymod::modinv {

/// For n < 2^kBits, n odd.
template <unsigned kBits>
class Divsteps {
  static constexpr unsigned kDigitBits = 30;
  static constexpr std::uint32_t kDigitMask = (std::uint32_t{1} << kDigitBits) - 1;
  // Two bits to spare: |d| < 2n and a sign.
  static constexpr unsigned kDigits = (kBits + 2) / kDigitBits + 1;
  static constexpr auto kSteps = static_cast<unsigned>(modinv::divsteps_needed(kBits));
  // Five short numbers stay in registers; longer ones are in local memory, and loops over them short code.
  static constexpr unsigned kUnroll = kDigits <= 14 ? kDigits : 1;

 public:
  /// On input: x < 2^kBits where the gcd is wanted, x <= n where the inverse is
  template <class Modulus, class Number>
  MM_DEVICE Divsteps(const Modulus& n, const Number& x)
      : inverse_((0 - cuda::negative_inverse(n[0])) & kDigitMask) {
    MM_UNROLL_DIGITS
    for (unsigned i = 0; i < kDigits; ++i) {
      n_[i] = f_[i] = digit(n, i);
      g_[i] = digit(x, i);
      d_[i] = 0;
      e_[i] = i == 0 ? 1 : 0;
    }
  }

  /// Compute gcd(n, x), and the inverse if kInverse.
  template <bool kInverse>
  MM_DEVICE void run() {
    std::int32_t zeta = modinv::kFirstDivstep;
    MM_ROLLED
    for (unsigned done = 0; done < kSteps; done += kDigitBits) {
      Matrix t;
      zeta = modinv::divsteps<kDigitBits>(zeta, static_cast<std::uint32_t>(f_[0]),
                                          static_cast<std::uint32_t>(g_[0]), t);
      if constexpr (kInverse) apply_modulo(t);
      apply(t);
    }
    // g = 0 and f = +-gcd; d x = f mod n.
    const std::int32_t negative = sign_mask(f_[kDigits - 1]);
    scale_and_add(f_, negative | 1, 0);
    if constexpr (kInverse) {
      scale_and_add(d_, 1, sign_mask(d_[kDigits - 1]));
      scale_and_add(d_, negative | 1, 0);
      scale_and_add(d_, 1, sign_mask(d_[kDigits - 1]));
    }
  }

  /// gcd(n, x) = 1. After run()
  MM_DEVICE bool invertible() const {
    std::uint32_t difference = static_cast<std::uint32_t>(f_[0]) ^ 1;
    MM_UNROLL_DIGITS
    for (unsigned i = 1; i < kDigits; ++i) difference |= static_cast<std::uint32_t>(f_[i]);
    return difference == 0;
  }

  /// Word j of gcd(n, x). After run()
  MM_DEVICE std::uint32_t gcd_word(unsigned j) const { return word(f_, j); }
  /// Word j of the inverse, below n. After run<true>(), if invertible()
  MM_DEVICE std::uint32_t inverse_word(unsigned j) const { return word(d_, j); }

 private:
  using Digits = std::int32_t[kDigits];
  using Matrix = modinv::Transition<std::int32_t>;

  std::uint32_t inverse_;  // 1/n mod 2^30
  Digits n_, f_, g_, d_, e_;

  template <class Number>
  MM_DEVICE static std::int32_t digit(const Number& a, unsigned i) {
    const unsigned bit = i * kDigitBits;
    return static_cast<std::int32_t>(cuda::shift_right(a[bit / 32], a[bit / 32 + 1], bit % 32) & kDigitMask);
  }

  // Two digits hold all of a word: the word's first bit is at an even place of its digit, at most 28.
  MM_DEVICE static std::uint32_t word(const Digits& a, unsigned j) {
    const unsigned index = 32 * j / kDigitBits, shift = 32 * j % kDigitBits;
    const std::uint32_t low = index < kDigits ? static_cast<std::uint32_t>(a[index]) : 0;
    const std::uint32_t high = index + 1 < kDigits ? static_cast<std::uint32_t>(a[index + 1]) : 0;
    return low >> shift | high << (kDigitBits - shift);
  }

  MM_DEVICE static std::int32_t low_digit(std::int64_t x) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(x) & kDigitMask);
  }

  MM_DEVICE static std::int64_t product(std::int32_t a, std::int32_t b) { return std::int64_t{a} * b; }

  // (f, g) = t (f, g) / 2^30, exact. |u| + |v|, |q| + |r| <= 2^30: sums are below 2^61.
  MM_DEVICE void apply(const Matrix& t) {
    std::int64_t cf = (product(t.u, f_[0]) + product(t.v, g_[0])) >> kDigitBits;
    std::int64_t cg = (product(t.q, f_[0]) + product(t.r, g_[0])) >> kDigitBits;
    MM_UNROLL_DIGITS
    for (unsigned i = 1; i < kDigits; ++i) {
      cf += product(t.u, f_[i]) + product(t.v, g_[i]);
      cg += product(t.q, f_[i]) + product(t.r, g_[i]);
      f_[i - 1] = low_digit(cf);
      g_[i - 1] = low_digit(cg);
      cf >>= kDigitBits;
      cg >>= kDigitBits;
    }
    f_[kDigits - 1] = static_cast<std::int32_t>(cf);
    g_[kDigits - 1] = static_cast<std::int32_t>(cg);
  }

  // (d, e) = (t (d, e) + n (md, me)) / 2^30 with md, me, of magnitude at most 2^31, that make the division
  // exact and keep -2n < d, e < n. Sums are below 2^62.
  MM_DEVICE void apply_modulo(const Matrix& t) {
    const std::int32_t d_sign = sign_mask(d_[kDigits - 1]), e_sign = sign_mask(e_[kDigits - 1]);
    std::int64_t cd = product(t.u, d_[0]) + product(t.v, e_[0]);
    std::int64_t ce = product(t.q, d_[0]) + product(t.r, e_[0]);
    const std::int32_t md = multiple((t.u & d_sign) + (t.v & e_sign), cd);
    const std::int32_t me = multiple((t.q & d_sign) + (t.r & e_sign), ce);
    cd = (cd + product(n_[0], md)) >> kDigitBits;
    ce = (ce + product(n_[0], me)) >> kDigitBits;
    MM_UNROLL_DIGITS
    for (unsigned i = 1; i < kDigits; ++i) {
      cd += product(t.u, d_[i]) + product(t.v, e_[i]) + product(n_[i], md);
      ce += product(t.q, d_[i]) + product(t.r, e_[i]) + product(n_[i], me);
      d_[i - 1] = low_digit(cd);
      e_[i - 1] = low_digit(ce);
      cd >>= kDigitBits;
      ce >>= kDigitBits;
    }
    d_[kDigits - 1] = static_cast<std::int32_t>(cd);
    e_[kDigits - 1] = static_cast<std::int32_t>(ce);
  }

  // The multiple of n, from `at_least` down by less than 2^30, that makes a column divisible by 2^30.
  MM_DEVICE std::int32_t multiple(std::int32_t at_least, std::int64_t column) const {
    const std::uint32_t down =
        (inverse_ * static_cast<std::uint32_t>(column) + static_cast<std::uint32_t>(at_least)) & kDigitMask;
    return at_least - static_cast<std::int32_t>(down);
  }

  // a = sign a + (n & mask)
  MM_DEVICE void scale_and_add(Digits& a, std::int32_t sign, std::int32_t mask) const {
    std::int32_t carry = 0;
    MM_UNROLL_DIGITS
    for (unsigned i = 0; i + 1 < kDigits; ++i) {
      const std::int32_t value = a[i] * sign + (n_[i] & mask) + carry;
      a[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(value) & kDigitMask);
      carry = value >> kDigitBits;
    }
    a[kDigits - 1] = a[kDigits - 1] * sign + (n_[kDigits - 1] & mask) + carry;
  }
};

}  // namespace manymod::modinv

#undef MM_UNROLL_DIGITS
