// SPDX-License-Identifier: Apache-2.0
// The sizes of the bases of technique cox_rower, and the inequalities that its arithmetic rests on.
//
// A base is as many of the largest primes below a bound as it has channels; base B has the primes at even
// places of that list, base A those at odd ones. Two or four threads work on a channel: each computes `terms`
// of the products whose sum is a residue after a base extension.
//
// Ranges, in units of a channel's modulus m, with u = m / 2^32. A reduction maps T to at most T / 2^32 + m
// (channel.cuda.hpp). `coordinate` bounds coordinates:
//
// - sum = threads (terms coordinate u + 1) bounds what a channel's threads add up to after an extension.
//
// - The rank, below channels coordinate + 1, times a constant below m is at most small 2^32 m, small = 2^-20,
//   so that a reduction makes at most small of it.
//
// - In B a residue is the reduction of sum and that product, sum u + small + 1; in_b is the reduction of the
//   product of two residues, and in_b u + 1 the coordinate before it is corrected.
//
// - In A residues are at most coordinate u + 1, as products of a coordinate and a constant are; in_a is the
//   reduction of the product of two, and (sum + in_a) u + small + 1 the coordinate before it is corrected.
//
// Both coordinates are corrected once: m is subtracted if they are not below m. Every product not checked in
// ranges_hold has factors no larger than those of a checked one.
#pragma once

#include <array>
#include <cstdint>

namespace manymod::cox_rower {

/// Bases for moduli below U = 2^bits.
struct Bases {
  unsigned bits;
  unsigned threads;     ///< that work on one channel: 2 or 4
  unsigned terms;       ///< of a thread in a base extension
  std::uint32_t bound;  ///< all primes of both bases are below it and, as tests check, above 0.9999 of it

  /// Channels of each base.
  [[nodiscard]] constexpr unsigned channels() const { return threads * terms; }
  [[nodiscard]] constexpr unsigned words() const { return bits / 32; }
};

inline constexpr std::uint32_t kMebi = 1 << 20;
inline constexpr std::array kBases = {
    Bases{512, 2, 10, 58 * kMebi},   Bases{1024, 2, 18, 370 * kMebi}, Bases{1536, 2, 27, 363 * kMebi},
    Bases{2048, 4, 18, 359 * kMebi}, Bases{3072, 2, 55, 250 * kMebi}, Bases{4096, 4, 37, 210 * kMebi},
};

/// The bases for moduli of up to `bits` bits.
constexpr Bases bases_of(unsigned bits) {
  for (const Bases& bases : kBases) {
    if (bases.bits == bits) return bases;
  }
  return {};
}

/// Whether all numbers stay in range; see above.
constexpr bool ranges_hold(const Bases& bases) {
  constexpr double kSmall = 1.0 / (1 << 20), kCoordinate = 1.05;
  const double u = bases.bound / 4294967296.0;
  const double sum = bases.threads * (bases.terms * kCoordinate * u + 1);
  const double residue_in_b = sum * u + kSmall + 1, residue_in_a = kCoordinate * u + 1;
  const double in_b = residue_in_b * residue_in_b * u + 1, in_a = residue_in_a * residue_in_a * u + 1;
  // A number of `range` times m fits a word; the sum of products of `squares` times m^2 and of the rank's
  // product can be reduced.
  const auto fits = [&](double range) { return range * u < 1; };
  const auto reducible = [&](double squares) { return squares * u * u + kSmall * u + u <= 1; };
  return (bases.channels() * kCoordinate + 1) / 4294967296.0 <= kSmall &&
         reducible(bases.terms * kCoordinate) && fits(sum) && reducible(sum + in_a) &&
         reducible(residue_in_b * residue_in_b) && reducible(in_b) && in_b * u <= kCoordinate &&
         (sum + in_a) * u + kSmall <= kCoordinate;
}

constexpr bool all_ranges_hold() {
  for (const Bases& bases : kBases) {
    if (!ranges_hold(bases)) return false;
  }
  return true;
}
static_assert(all_ranges_hold());

/// How the rank of a base extension is estimated: coordinates are shifted right by `shift` and added up to a
/// sum t, and the rank is floor(floor((t + offset) factor / 2^32) / 2^divide).
struct RankEstimate {
  unsigned shift;        ///< so that t < 2^32
  std::uint32_t factor;  ///< floor(2^(32 + divide + shift) / bound) < 2^32
  unsigned divide;
  std::uint32_t sixteenth;  ///< the contribution to t of 1/16, rounded down
};

constexpr RankEstimate rank_estimate(const Bases& bases) {
  RankEstimate estimate{};
  const auto most = static_cast<std::uint64_t>(bases.channels()) * bases.bound;
  while ((most + most / 8) >> (32 + estimate.shift) != 0) ++estimate.shift;
  const auto factor = [&](unsigned divide) {
    return (std::uint64_t{1} << (32 + divide)) / (bases.bound >> estimate.shift);
  };
  while (factor(estimate.divide + 1) >> 32 == 0) ++estimate.divide;
  estimate.factor = static_cast<std::uint32_t>(factor(estimate.divide));
  estimate.sixteenth = bases.bound >> (estimate.shift + 4);
  return estimate;
}

/// The channel whose coordinate is factor t of thread `part` of a channel's threads in a base extension. The
/// threads of a channel take turns reading four consecutive coordinates, so that they read 8 or 16
/// consecutive words together; the last terms % 4 coordinates of each thread follow in the same order.
constexpr unsigned source_channel(const Bases& bases, unsigned part, unsigned t) {
  const unsigned rest = bases.terms % 4, whole = bases.terms - rest;
  if (t < whole) return t / 4 * 4 * bases.threads + 4 * part + t % 4;
  return bases.threads * whole + part * rest + (t - whole);
}

}  // namespace manymod::cox_rower
