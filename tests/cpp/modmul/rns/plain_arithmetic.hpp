// SPDX-License-Identifier: Apache-2.0
// Steps of a kernel's arithmetic modulo a channel, with expectations of their ranges.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "arch/scalar/word.hpp"
#include "support/rns_tables.hpp"

namespace manymod::rns {

/// T / 2^32 mod m, at most T / 2^32 + m.
inline std::uint32_t reduce(std::uint64_t t, const StoredChannel& c) {
  const std::uint32_t q = static_cast<std::uint32_t>(t) * c.negative_inverse;
  const word::Wide sum = word::Wide{q} * c.modulus + t;
  EXPECT_EQ(static_cast<std::uint64_t>(sum >> 64), 0u);
  return static_cast<std::uint32_t>(sum >> 32);
}

inline std::uint32_t reduce_product(std::uint64_t a, std::uint64_t b, const StoredChannel& c) {
  return reduce(a * b, c);
}

/// v mod m. Expects v < 2 m.
inline std::uint32_t corrected(std::uint32_t v, const StoredChannel& c) {
  EXPECT_LT(v, 2 * c.modulus);
  return v < c.modulus ? v : v - c.modulus;
}

/// x times the factor of the channel by Shoup's product, below (1 + x / 2^32) m.
inline std::uint32_t coordinate(std::uint32_t x, const StoredChannel& c) {
  const std::uint64_t quotient = std::uint64_t{x} * c.companion >> 32;
  const std::uint64_t xi = std::uint64_t{x} * c.factor - quotient * c.modulus;
  EXPECT_LT(xi << 32, ((std::uint64_t{1} << 32) + x) * c.modulus);
  return static_cast<std::uint32_t>(xi);
}

/// The coordinate in B with roots: s or 2 m - s.
inline std::uint32_t signed_coordinate(std::uint32_t s, const StoredChannel& c) {
  EXPECT_LE(s, 2 * c.modulus);
  if (c.factor == 1) return s;
  EXPECT_EQ(c.factor, ~0u);
  return 2 * c.modulus - s;
}

/// Q, from which the quotient of a remainder is taken.
inline std::uint64_t high_of(const std::array<std::uint64_t, 4>& s) {
  return s[2] + (s[3] << 8) + (s[1] >> 8);
}

/// T mod m, not corrected, below 2 m.
inline std::uint32_t remainder(const std::array<std::uint64_t, 4>& s, const StoredChannel& c) {
  for (const std::uint64_t sum : s) EXPECT_LT(sum, std::uint64_t{1} << 31);
  const std::uint64_t total = s[0] + (s[1] << 8) + (s[2] << 16) + (s[3] << 24);
  const std::uint64_t rest = total - (high_of(s) >> 15) * c.modulus;
  EXPECT_LT(rest, std::uint64_t{2} * c.modulus);
  return static_cast<std::uint32_t>(rest);
}

/// Whether B may keep v: v v <= 2^32 m if B is lazy, otherwise v < m.
inline bool may_be_kept(std::uint64_t v, std::uint64_t m, bool lazy) {
  return lazy ? v * v <= m << 32 : v < m;
}

}  // namespace manymod::rns
