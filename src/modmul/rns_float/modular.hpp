// SPDX-License-Identifier: Apache-2.0
// Arithmetic modulo words below 2^24, from which the tables are built at compile time or on the host.
// Variable-time: the values are public.
#pragma once

#include <cstdint>

namespace manymod::rns_float {

/// a b mod m.
constexpr std::uint32_t multiply_mod(std::uint32_t a, std::uint32_t b, std::uint32_t m) {
  return static_cast<std::uint32_t>(std::uint64_t{a} * b % m);
}

/// 1 / a mod m, by the extended Euclidean algorithm. On input: a is prime to m.
constexpr std::uint32_t inverse_mod(std::uint32_t a, std::uint32_t m) {
  std::int64_t above = m, below = a % m, coefficient_above = 0, coefficient_below = 1;
  while (below != 0) {
    const std::int64_t q = above / below, rest = above - q * below,
                       coefficient_rest = coefficient_above - q * coefficient_below;
    above = below;
    below = rest;
    coefficient_above = coefficient_below;
    coefficient_below = coefficient_rest;
  }
  return static_cast<std::uint32_t>(coefficient_above < 0 ? coefficient_above + m : coefficient_above);
}

/// The residue of least magnitude that is congruent to c. On input: c < m <= 2^24.
constexpr float centred(std::uint32_t c, std::uint32_t m) {
  return c > m / 2 ? -static_cast<float>(m - c) : static_cast<float>(c);
}

/// 1 / m, rounded to nearest. On input: m <= 2^24.
constexpr float reciprocal(std::uint32_t m) { return 1.0F / static_cast<float>(m); }

}  // namespace manymod::rns_float
