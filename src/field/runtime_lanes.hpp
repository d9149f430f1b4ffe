// SPDX-License-Identifier: Apache-2.0
// A field modulo a prime that is known at run time on instances in the lanes of vectors (inlined_lanes.hpp),
// all of which have the same modulus. For inclusion in instruction-set files only.
#pragma once

#include <cstddef>
#include <vector>

#include "core/limb.hpp"
#include "field/inlined_lanes.hpp"
#include "modmul/montgomery_lanes/arithmetic.hpp"

namespace manymod::field {

/// Powers by fixed windows of the exponent, which is public.
struct WindowPowers {
  template <class F>
  static void inverse(const F& f, typename F::Element& r, const typename F::Element& a) {
    power(f, r, a, f.arithmetic().constants().inverse_exponent);
  }
  template <class F>
  static void square_root(const F& f, typename F::Element& r, const typename F::Element& a) {
    power(f, r, a, f.arithmetic().constants().root_exponent);
  }

 private:
  template <class F>
  static void power(const F& f, typename F::Element& r, const typename F::Element& a,
                    const std::vector<Limb>& exponent) {
    // A divisor of the bits of a limb.
    constexpr unsigned kWidth = 4;
    typename F::Element table[1 << kWidth];
    f.one(table[0]);
    for (std::size_t i = 1; i < 1 << kWidth; ++i) f.mul(table[i], table[i - 1], a);
    f.one(r);
    for (unsigned bit = f.arithmetic().constants().bits / kWidth * kWidth + kWidth; bit > 0;) {
      bit -= kWidth;
      if (bit / kLimbBits >= exponent.size()) continue;
      f.power_of_two_power(r, r, kWidth);
      f.mul(r, r, table[exponent[bit / kLimbBits] >> bit % kLimbBits & ((1U << kWidth) - 1)]);
    }
  }
};

/// `Arch`: see modmul/special_primes/lane_arithmetic.hpp.
template <std::size_t kDigits, class Arch>
using RuntimeLaneField = InlinedLaneField<montgomery_lanes::LaneArithmetic<kDigits, Arch>, WindowPowers>;

}  // namespace manymod::field
