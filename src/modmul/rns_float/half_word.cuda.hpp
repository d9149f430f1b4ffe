// SPDX-License-Identifier: Apache-2.0
// Moduli below 2^12, products of which are binary32 values (Moss, Page, Smart 2007, section 4.1, half words).
#pragma once

#include <cstdint>

#include "modmul/rns_float/channels.hpp"
#include "modmul/rns_float/reduction.cuda.hpp"
#include "modmul/rns_float/whole_residue.cuda.hpp"

namespace manymod::rns_float {

inline constexpr float kPackingUnit = 0x1p12F;

/// a + 2^12 b: two integers in one value. On input: abs(a), abs(b) < 2^11.
MM_DEVICE float pack(float a, float b) { return cuda::fused(b, kPackingUnit, a); }
/// The inverse of pack(). b is the integer nearest to (a + 2^12 b) / 2^12.
MM_DEVICE void unpack(float both, float& a, float& b) {
  b = quotient({kPackingUnit, 1 / kPackingUnit}, both);
  a = cuda::fused(-b, kPackingUnit, both);
}

/// See channels.hpp. Residues: abs(a) <= (m + 1) / 2. Constants: abs(c) <= (m - 1) / 2.
struct HalfWord : WholeResidue {
  static constexpr unsigned kSliceBits = 8;
  static constexpr unsigned kBurst = 4;

  /// kBurst products and a settled sum are together a binary32 value; so are a difference times a constant,
  /// and a residue times 2^kSliceBits plus a slice. The smallest modulus bounds quotients.
  static constexpr bool conditions(const Range& moduli) {
    const std::uint64_t m = moduli.largest, digit = largest_digit(m);
    return moduli.smallest >= 5 && kBurst * digit * (m / 2) + digit <= kValues &&
           2 * digit * digit <= kValues && (digit << kSliceBits) + (1U << kSliceBits) <= kValues;
  }

  MM_DEVICE static Residue multiply(const Modulus& m, const Residue& a, const Residue& b) {
    return {{reduce(m, cuda::multiply(a.word[0], b.word[0]))}};
  }
  MM_DEVICE static Residue multiply_by(const Modulus& m, const Residue& a, const Constant& c) {
    return multiply(m, a, c);
  }
  MM_DEVICE static Residue divide_step(const Modulus& m, const Residue& a, float d, const Constant& c) {
    return {{reduce(m, cuda::multiply(cuda::subtract(a.word[0], d), c.word[0]))}};
  }
  MM_DEVICE static float digit(const Modulus& /*m*/, const Residue& a) { return a.word[0]; }
  MM_DEVICE static void add_product(const Modulus& /*m*/, Sum& s, float d, const Constant& c) {
    s.word[0] = cuda::fused(d, c.word[0], s.word[0]);
  }
  MM_DEVICE static Partial append(const Modulus& m, const Partial& a, float slice) {
    return {{reduce(m, cuda::fused(a.word[0], 1U << kSliceBits, slice))}};
  }
};

/// Half words of which two are stored in a word.
struct PackedHalfWord : HalfWord {
  static constexpr bool kPacked = true;
  static constexpr bool conditions(const Range& moduli) {
    return HalfWord::conditions(moduli) && largest_digit(moduli.largest) < 1U << 11;
  }
};

}  // namespace manymod::rns_float
