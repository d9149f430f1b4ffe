// SPDX-License-Identifier: Apache-2.0
// field::LaneDigits in the compiler's own vector types. For inclusion in instruction-set files only: `Tag` is
// a type of the including file's unnamed namespace, which keeps every instance private to that file.
#pragma once

#include <cstddef>

#include "field/lane_digits.hpp"
#include "repr/canonical.hpp"

namespace manymod::field {

/// For G lanes of w-bit digits, w <= 60: a sum of three digits and a carry fits in a word.
template <class Tag, std::size_t G, unsigned w>
class LaneDigitLoops {
  static_assert(w <= 60);
  typedef Limb Vector __attribute__((vector_size(G * sizeof(Limb)), may_alias));

  static constexpr Limb kMask = (Limb{1} << w) - 1;
  static constexpr unsigned kSign = kLimbBits - 1;

  static const Vector& at(const Limb* p) { return *reinterpret_cast<const Vector*>(p); }
  static Vector& at(Limb* p) { return *reinterpret_cast<Vector*>(p); }

 public:
  static constexpr LaneDigits table() { return {add, sub, half, cmov, is_zero}; }

 private:
  static void add(Limb* r, const Limb* a, const Limb* b, std::size_t digits) {
    Vector carry{};
    for (std::size_t d = 0; d < digits * G; d += G) {
      const Vector sum = (at(a + d) & kMask) + (at(b + d) & kMask) + carry;
      at(r + d) = sum & kMask;
      carry = sum >> w;
    }
  }

  /// a + m + (R - 1 - b) + 1 = a + m - b + R: the last carry, R, is dropped.
  static void sub(Limb* r, const Limb* a, const Limb* b, const Limb* m, std::size_t digits) {
    Vector carry = Vector{} + 1;
    for (std::size_t d = 0; d < digits * G; d += G) {
      const Vector sum = (at(a + d) & kMask) + at(m + d) + (~at(b + d) & kMask) + carry;
      at(r + d) = sum & kMask;
      carry = sum >> w;
    }
  }

  static void half(Limb* r, const Limb* a, const Limb* n, std::size_t digits) {
    const Vector odd = Vector{} - (at(a) & 1);
    Vector below = (at(a) & kMask) + (at(n) & odd);
    Vector carry = below >> w;
    for (std::size_t d = G; d < digits * G; d += G) {
      const Vector sum = (at(a + d) & kMask) + (at(n + d) & odd) + carry;
      at(r + d - G) = ((below & kMask) >> 1) | ((sum & 1) << (w - 1));
      below = sum;
      carry = sum >> w;
    }
    at(r + (digits - 1) * G) = (below & kMask) >> 1;
  }

  static void cmov(Limb* r, const Limb* a, const Limb* mask, std::size_t digits) {
    const Vector taken = at(mask);
    for (std::size_t d = 0; d < digits * G; d += G) {
      at(r + d) = ((at(a + d) & taken) | (at(r + d) & ~taken)) & kMask;
    }
  }

  static void is_zero(Limb* mask, const Limb* a, const Limb* n, std::size_t digits) {
    Vector of_zero{};
    Vector of_n{};
    for (std::size_t d = 0; d < digits * G; d += G) {
      const Vector digit = at(a + d) & kMask;
      of_zero |= digit;
      of_n |= digit ^ at(n + d);
    }
    // Digits are below 2^w: x - 1 has its top bit only for x = 0.
    at(mask) = Vector{} - (((of_zero - 1) | (of_n - 1)) >> kSign);
  }
};

}  // namespace manymod::field
