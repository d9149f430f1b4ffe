// SPDX-License-Identifier: Apache-2.0
// Which bases belong to which multiplier, and compile-time checks of the conditions that they satisfy.
#pragma once

#include <cstdint>
#include <type_traits>

#include "modmul/rns_float/bases.hpp"
#include "modmul/rns_float/channels.hpp"
#include "modmul/rns_float/tables.hpp"
#include "repr/words.hpp"

namespace manymod::rns_float {

/// Bases of factored moduli also list the first factor of each modulus.
template <class Bases>
concept Factored = requires { Bases::kFirstB[0]; };

/// Base B.
template <class Bases>
constexpr BaseView base_b() {
  if constexpr (Factored<Bases>) {
    return {Bases::kB, Bases::kFirstB, Bases::kChannels};
  } else {
    return {Bases::kB, {}, Bases::kChannels};
  }
}
/// Base A.
template <class Bases>
constexpr BaseView base_a() {
  if constexpr (Factored<Bases>) {
    return {Bases::kA, Bases::kFirstA, Bases::kChannels};
  } else {
    return {Bases::kA, {}, Bases::kChannels};
  }
}

/// Extends the range to include `value`.
constexpr void extend_range(Range& range, std::uint64_t value) {
  if (range.smallest == 0 || value < range.smallest) range.smallest = value;
  if (value > range.largest) range.largest = value;
}

/// The range of the moduli of both bases, or of their factors.
template <class Bases>
constexpr Range range_of(bool factors) {
  Range range;
  for (const BaseView& base : {base_b<Bases>(), base_a<Bases>()}) {
    for (unsigned i = 0; i < base.channels; ++i) {
      if (factors) extend_range(range, base.factor(i));
      extend_range(range, factors ? base.moduli[i] / base.factor(i) : base.moduli[i]);
    }
  }
  return range;
}

/// Whether the representation `Kind` can compute in all channels of the bases.
template <class Kind, class Bases>
constexpr bool meets_channel_conditions() {
  if constexpr (Factored<Bases>) {
    return Kind::conditions(range_of<Bases>(true), range_of<Bases>(false));
  } else {
    return Kind::conditions(range_of<Bases>(false));
  }
}

/// Whether the product of the moduli is at least 2^bits.
template <unsigned kChannels>
constexpr bool product_reaches(const std::uint32_t (&moduli)[kChannels], unsigned bits) {
  constexpr unsigned kWords = kChannels * 24 / 32 + 1;
  std::uint32_t product[kWords] = {1};
  for (const std::uint32_t m : moduli) words::multiply_by(product, m);
  if (bits >= 32 * kWords) return false;
  std::uint32_t above = product[bits / 32] >> (bits % 32);
  for (unsigned j = bits / 32 + 1; j < kWords; ++j) above |= product[j];
  return above != 0;
}

/// Whether M_B, M_A >= 2^(bits + 2) and all moduli are at least 5: what centred digits need for numbers below
/// 2^bits (docs/rns/floating_point.md, "Centred channels").
template <class Bases>
constexpr bool meets_base_conditions() {
  return product_reaches(Bases::kB, Bases::kBits + 2) && product_reaches(Bases::kA, Bases::kBits + 2) &&
         range_of<Bases>(false).smallest >= 5;
}

/// The widest of the three bases, for 512, 1024 and 2048 bits, that kChannels channels can hold.
template <unsigned kChannels, class Narrow, class Middle, class Wide>
using Widest = std::conditional_t<(kChannels >= Wide::kChannels), Wide,
                                  std::conditional_t<(kChannels >= Middle::kChannels), Middle, Narrow>>;

template <unsigned kChannels>
using HalfWordBases = Widest<kChannels, rns::Half512, rns::Half1024, rns::Half2048>;
template <unsigned kChannels>
using FullWordBases = Widest<kChannels, rns::Fused512, rns::Fused1024, rns::Fused2048>;
template <unsigned kChannels>
using FactoredBases = Widest<kChannels, rns::Smooth512, rns::Smooth1024, rns::Smooth2048>;

}  // namespace manymod::rns_float
