// SPDX-License-Identifier: Apache-2.0
// The linear-time kernels of a vector technique, in the compiler's own vector types. For inclusion in
// instruction-set files only: `Tag` is a type of the including file's unnamed namespace, which keeps every
// instance private to that file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lanes/kernels.hpp"
#include "repr/canonical.hpp"

namespace manymod::lanes {

/// The functions of lanes::Kernels but for its multiplications, for G lanes of w-bit digits, w < 64. Elements
/// are aligned to a vector.
template <class Tag, std::size_t G, unsigned w>
class DigitLoops {
  static_assert(w < kLimbBits);
  typedef Limb Vector __attribute__((vector_size(G * sizeof(Limb)), may_alias));

  static constexpr Limb kMask = (Limb{1} << w) - 1;
  static constexpr unsigned kSign = kLimbBits - 1;
  /// Digits that stay in registers while a table is read.
  static constexpr std::size_t kBlock = 6;

  static const Vector& at(const Limb* p) { return *reinterpret_cast<const Vector*>(p); }
  static Vector& at(Limb* p) { return *reinterpret_cast<Vector*>(p); }

 public:
  /// The table with these functions, and their lanes and digits, filled in.
  static constexpr Kernels completed(Kernels kernels) {
    kernels.lanes = G;
    kernels.digit_bits = w;
    kernels.add_mod = add_mod;
    kernels.select = select;
    kernels.select_shared = select_shared;
    kernels.to_digits = to_digits;
    kernels.from_digits = from_digits;
    return kernels;
  }

  static void add_mod(Limb* r, const Limb* a, const Limb* b, const Limb* m, std::size_t digits) {
    Vector carry{};
    Vector borrow{};
    for (std::size_t d = 0; d < digits * G; d += G) {
      const Vector sum = (at(a + d) & kMask) + (at(b + d) & kMask) + carry;
      const Vector digit = sum & kMask;
      at(r + d) = digit;
      carry = sum >> w;
      borrow = (digit - at(m + d) - borrow) >> kSign;
    }
    const Vector keep = borrow - 1;  // all ones where the sum is at least m
    borrow = Vector{};
    for (std::size_t d = 0; d < digits * G; d += G) {
      const Vector difference = at(r + d) - (at(m + d) & keep) - borrow;
      borrow = difference >> kSign;
      at(r + d) = difference & kMask;
    }
  }

  static void to_digits(Limb* r, const Limb* limbs, std::size_t limb_count, std::size_t digits) {
    std::size_t bit = 0;
    for (std::size_t d = 0; d < digits; ++d, bit += w) {
      const std::size_t i = bit / kLimbBits;
      const unsigned shift = bit % kLimbBits;
      Vector digit{};
      if (i < limb_count) digit = at(limbs + i * G) >> shift;
      if (shift + w > kLimbBits && i + 1 < limb_count)
        digit |= at(limbs + (i + 1) * G) << (kLimbBits - shift);
      at(r + d * G) = digit & kMask;
    }
  }

  static void from_digits(Limb* limbs, std::size_t limb_count, const Limb* a, std::size_t digits) {
    for (std::size_t i = 0; i < limb_count; ++i) at(limbs + i * G) = Vector{};
    std::size_t bit = 0;
    for (std::size_t d = 0; d < digits; ++d, bit += w) {
      const std::size_t i = bit / kLimbBits;
      const unsigned shift = bit % kLimbBits;
      if (i >= limb_count) return;
      at(limbs + i * G) |= at(a + d * G) << shift;
      if (shift + w > kLimbBits && i + 1 < limb_count) {
        at(limbs + (i + 1) * G) |= at(a + d * G) >> (kLimbBits - shift);
      }
    }
  }

  static void select(Limb* r, const Limb* table, std::size_t entries, std::size_t stride, std::size_t digits,
                     const std::uint32_t* indices) {
    scan<G>(r, table, entries, stride, digits, indices);
  }

  static void select_shared(Limb* r, const Limb* table, std::size_t entries, std::size_t digits,
                            const std::uint32_t* indices) {
    scan<1>(r, table, entries, digits, digits, indices);
  }

 private:
  /// `Words` words of the table for each digit.
  template <std::size_t Words>
  static void scan(Limb* r, const Limb* table, std::size_t entries, std::size_t stride, std::size_t digits,
                   const std::uint32_t* indices) {
    std::size_t d = 0;
    for (; d + kBlock <= digits; d += kBlock) {
      scan_digits<Words, kBlock>(r + d * G, table + d * Words, entries, stride, indices);
    }
    for (; d < digits; ++d) scan_digits<Words, 1>(r + d * G, table + d * Words, entries, stride, indices);
  }

  template <std::size_t Words, std::size_t N>
  static void scan_digits(Limb* r, const Limb* table, std::size_t entries, std::size_t stride,
                          const std::uint32_t* indices) {
    const Vector wanted = widened(indices);
    Vector chosen[N] = {};
    for (Limb entry = 0; entry < entries; ++entry, table += stride) {
      const Vector here = Vector{} - (((wanted ^ entry) - 1) >> kSign);  // all ones in the lanes that want it
      for (std::size_t d = 0; d < N; ++d) chosen[d] |= table_digit<Words>(table + d * Words) & here;
    }
    for (std::size_t d = 0; d < N; ++d) at(r + d * G) = chosen[d];
  }

  static Vector widened(const std::uint32_t* indices) {
    // GCC takes alignas(Vector) in a template for that of a word.
    alignas(G * sizeof(Limb)) Limb wide[G];
    for (std::size_t lane = 0; lane < G; ++lane) wide[lane] = indices[lane];
    return at(wide);
  }

  template <std::size_t Words>
  static Vector table_digit(const Limb* words) {
    if constexpr (Words == G) {
      return at(words);
    } else {
      return Vector{} + *words;
    }
  }
};

}  // namespace manymod::lanes
