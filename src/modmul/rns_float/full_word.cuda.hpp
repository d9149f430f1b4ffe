// SPDX-License-Identifier: Apache-2.0
// Moduli of up to 22.39 bits, products of which are pairs of binary32 values (Moss, Page, Smart 2007, section
// 4.1, multi-precision arithmetic; Dekker 1971).
//
// Below 2^24 / 3.05 the remainder of a product needs no second reduction before the next product. Moduli up
// to 2^24, which docs/rns.md also treats, would need one after each product.
#pragma once

#include <cstdint>

#include "modmul/rns_float/channels.hpp"
#include "modmul/rns_float/reduction.cuda.hpp"
#include "modmul/rns_float/whole_residue.cuda.hpp"

namespace manymod::rns_float {

/// See channels.hpp. Residues: abs(a) <= m. Constants: abs(c) <= (m - 1) / 2.
struct FullWord : WholeResidue {
  static constexpr unsigned kSliceBits = 16;
  static constexpr unsigned kBurst = 2;

  /// What reduced_product requires, for the smallest m: of a difference or a residue times a constant or a
  /// reduced residue, of a digit times a constant, and of a residue times 2^kSliceBits. A sum of kBurst
  /// products, each of magnitude at most m, and a settled sum is a binary32 value, and so is m +
  /// 2^kSliceBits.
  static constexpr bool conditions(const Range& moduli) {
    const std::uint64_t m = moduli.largest, digit = largest_digit(m);
    const std::uint64_t product = moduli.smallest * ((kValues >> 2) - 1);
    return moduli.smallest >= 5 && (m + digit) * digit <= product && (m << kSliceBits) <= product &&
           kBurst * m + digit <= kValues && m + (1U << kSliceBits) <= kValues;
  }

  MM_DEVICE static Residue multiply(const Modulus& m, const Residue& a, const Residue& b) {
    return {{reduced_product(m, a.word[0], reduce(m, b.word[0]))}};
  }
  MM_DEVICE static Residue multiply_by(const Modulus& m, const Residue& a, const Constant& c) {
    return {{reduced_product(m, a.word[0], c.word[0])}};
  }
  MM_DEVICE static Residue divide_step(const Modulus& m, const Residue& a, float d, const Constant& c) {
    return {{reduced_product(m, cuda::subtract(a.word[0], d), c.word[0])}};
  }
  MM_DEVICE static float digit(const Modulus& m, const Residue& a) { return reduce(m, a.word[0]); }
  MM_DEVICE static void add_product(const Modulus& m, Sum& s, float d, const Constant& c) {
    s.word[0] = cuda::add(s.word[0], reduced_product(m, d, c.word[0]));
  }
  MM_DEVICE static Partial append(const Modulus& m, const Partial& a, float slice) {
    return {{reduce(m, cuda::add(reduced_product(m, a.word[0], 1U << kSliceBits), slice))}};
  }
};

}  // namespace manymod::rns_float
