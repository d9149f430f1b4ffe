// SPDX-License-Identifier: Apache-2.0
// Sums and residues of words, for tests of the kernels of division32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "modmul/division.hpp"
#include "modmul/division32/job.hpp"
#include "support/device_multiplier.hpp"

namespace manymod::test {

inline Words shorter(const Words& a) { return sized(a, significant_words(a)); }

/// a mod n, as long as n.
inline Words residue(const Words& a, const Words& n) {
  const naive::Limbs u = naive::limbs(a, (a.size() + 1) / 2);
  const Words short_n = shorter(n);
  Divisor divisor;
  divisor.assign(naive::limbs(short_n, (short_n.size() + 1) / 2));
  naive::Limbs r(divisor.limbs());
  std::vector<std::uint64_t> scratch(Divisor::scratch_limbs(u.size()));
  divisor.remainder_var(r, u, scratch.data());
  return sized(naive::digits(r), n.size());
}

/// a + b mod 2^(32 words of a).
inline Words sum(Words a, const Words& b) {
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    carry += std::uint64_t{a[i]} + (i < b.size() ? b[i] : 0);
    a[i] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  return a;
}

/// Numbers of `width` words, one behind another, as rows of terms: `terms` for each item, or for all of them.
inline division32::Rows rows_at(const std::uint32_t* words, std::size_t width, std::size_t terms = 1,
                                bool of_all = false) {
  division32::Rows rows;
  rows.words = words;
  rows.width = static_cast<std::uint32_t>(width);
  rows.term_stride = width;
  rows.stride = of_all ? 0 : terms * width;
  rows.quads = width % 4 == 0;
  return rows;
}

}  // namespace manymod::test
