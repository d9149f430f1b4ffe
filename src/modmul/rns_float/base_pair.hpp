// SPDX-License-Identifier: Apache-2.0
// Which bases serve which multiplier, and the conditions that they satisfy.
#pragma once

#include <cstdint>
#include <type_traits>

#include "modmul/rns_float/bases.hpp"
#include "modmul/rns_float/channels.hpp"
#include "modmul/rns_float/tables.hpp"
#include "repr/words.hpp"

namespace manymod::rns_float {

/// The bases of the smooth kind have their moduli's first factors.
template <class Bases>
concept Factored = requires { Bases::kFirstB[0]; };

template <class Bases>
constexpr BaseView base_b() {
  if constexpr (Factored<Bases>) {
    return {Bases::kB, Bases::kFirstB, Bases::kChannels};
  } else {
    return {Bases::kB, {}, Bases::kChannels};
  }
}
template <class Bases>
constexpr BaseView base_a() {
  if constexpr (Factored<Bases>) {
    return {Bases::kA, Bases::kFirstA, Bases::kChannels};
  } else {
    return {Bases::kA, {}, Bases::kChannels};
  }
}

constexpr void extend_range(Range& range, std::uint64_t value) {
  if (range.smallest == 0 || value < range.smallest) range.smallest = value;
  if (value > range.largest) range.largest = value;
}

/// Of the moduli, or of their factors.
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

template <class Kind, class Bases>
constexpr bool channels_hold() {
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

/// M_B, M_A > 4 2^bits, and moduli of at least 5: what numbers below 2^bits ask of centred digits.
template <class Bases>
constexpr bool bases_hold() {
  return product_reaches(Bases::kB, Bases::kBits + 2) && product_reaches(Bases::kA, Bases::kBits + 2) &&
         range_of<Bases>(false).smallest >= 5;
}

/// The widest bases of a kind, of 512, 1024 and 2048 bits, that so many channels hold.
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
