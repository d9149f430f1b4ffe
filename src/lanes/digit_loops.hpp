// SPDX-License-Identifier: Apache-2.0
// The linear-time kernels of a vector technique, in the compiler's generic vector types. Included by
// instruction-set specific files only: `Tag` is a type of the including file's unnamed namespace, so that no
// instantiation is shared between files with different target flags.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lanes/kernels.hpp"
#include "repr/canonical.hpp"

namespace manymod::lanes {

/// The functions of lanes::Kernels other than multiplications, for G lanes of w-bit digits, w < 64. Each is
/// specified at its member of Kernels. Elements are aligned to a vector. Timing: constant-time.
template <class Tag, std::size_t G, unsigned w>
class DigitLoops {
  static_assert(w < kLimbBits);
  typedef Limb Vector __attribute__((vector_size(G * sizeof(Limb)), may_alias));

  static constexpr Limb kMask = (Limb{1} << w) - 1;
  static constexpr unsigned kSign = kLimbBits - 1;
  /// Digits whose selected values stay in registers during one pass over a table.
  static constexpr std::size_t kBlock = 6;

  /// One digit of all lanes.
  static const Vector& at(const Limb* p) { return *reinterpret_cast<const Vector*>(p); }
  static Vector& at(Limb* p) { return *reinterpret_cast<Vector*>(p); }

 public:
  /// `kernels` with lanes, digit_bits and the functions of this class filled in.
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

  /// In two passes: the sum and the comparison with m, then the subtraction of m from the lanes where it is
  /// due.
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
    const Vector keep = borrow - 1;  // all ones in the lanes where the sum is at least m
    borrow = Vector{};
    for (std::size_t d = 0; d < digits * G; d += G) {
      const Vector difference = at(r + d) - (at(m + d) & keep) - borrow;
      borrow = difference >> kSign;
      at(r + d) = difference & kMask;
    }
  }

  /// Digit d of a lane is bits [d w, d w + w) of its number; bits beyond its end are 0.
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
  /// Selects L digits. A digit of a table entry has `Words` words: G (one per lane), or 1 (shared by all
  /// lanes).
  template <std::size_t Words>
  static void scan(Limb* r, const Limb* table, std::size_t entries, std::size_t stride, std::size_t digits,
                   const std::uint32_t* indices) {
    std::size_t d = 0;
    for (; d + kBlock <= digits; d += kBlock) {
      scan_digits<Words, kBlock>(r + d * G, table + d * Words, entries, stride, indices);
    }
    for (; d < digits; ++d) scan_digits<Words, 1>(r + d * G, table + d * Words, entries, stride, indices);
  }

  /// Selects N digits in one pass over the table.
  template <std::size_t Words, std::size_t N>
  static void scan_digits(Limb* r, const Limb* table, std::size_t entries, std::size_t stride,
                          const std::uint32_t* indices) {
    const Vector index = widened_indices(indices);
    Vector chosen[N] = {};
    for (Limb entry = 0; entry < entries; ++entry, table += stride) {
      const Vector match =
          Vector{} - (((index ^ entry) - 1) >> kSign);  // all ones in the lanes whose index is `entry`
      for (std::size_t d = 0; d < N; ++d) chosen[d] |= table_digit<Words>(table + d * Words) & match;
    }
    for (std::size_t d = 0; d < N; ++d) at(r + d * G) = chosen[d];
  }

  /// The indices of all lanes as 64-bit words.
  static Vector widened_indices(const std::uint32_t* indices) {
    // GCC reads alignas(Vector) in a template as the alignment of a word.
    alignas(G * sizeof(Limb)) Limb wide[G];
    for (std::size_t lane = 0; lane < G; ++lane) wide[lane] = indices[lane];
    return at(wide);
  }

  /// One digit of an entry, in all lanes.
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
