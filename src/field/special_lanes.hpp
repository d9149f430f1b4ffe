// SPDX-License-Identifier: Apache-2.0
// A field modulo a special prime on instances in the lanes of vectors (inlined_lanes.hpp): everything about
// the prime is known at compile time. For inclusion in instruction-set files only.
//
// Files that include it first turn off two of GCC's optimisations. Reassociation (tree-reassoc) would add the
// products of a column to each other before adding them to the column sum, which takes more registers. With
// ipa-ra, registers that callers know to be unchanged by a call would look like results of it to
// tests/cmake/check_vector_instructions.py.
#pragma once

#include <cstddef>

#include "field/inlined_lanes.hpp"
#include "modmul/special_primes/inversion_chain.hpp"
#include "modmul/special_primes/lane_arithmetic.hpp"

namespace manymod::field {

/// Powers by chains for the runs of ones of the prime.
template <class Prime>
class ChainPowers {
  struct Inversion {
    static constexpr special_primes::PowerChain kChain = special_primes::inversion_chain<Prime>();
  };
  struct SquareRoot {
    static constexpr special_primes::PowerChain kChain = special_primes::square_root_chain<Prime>();
  };
  struct InverseSquareRoot {
    static constexpr special_primes::PowerChain kChain = special_primes::inverse_square_root_chain<Prime>();
  };

 public:
  template <class F>
  static void inverse(const F& f, typename F::Element& r, const typename F::Element& a) {
    power<Inversion>(f, r, a);
  }
  template <class F>
  static void square_root(const F& f, typename F::Element& r, const typename F::Element& a) {
    power<SquareRoot>(f, r, a);
  }
  template <class F>
  static void inverse_square_root(const F& f, typename F::Element& r, const typename F::Element& a) {
    power<InverseSquareRoot>(f, r, a);
  }

 private:
  /// r = a^e for the exponent of the chain. r must not be a.
  template <class Exponent, class F>
  static void power(const F& f, typename F::Element& r, const typename F::Element& a) {
    constexpr const special_primes::PowerChain& kChain = Exponent::kChain;
    typename F::Element piece[kChain.pieces];
    piece[0] = a;
    for (unsigned i = 1; i < kChain.pieces; ++i) {
      f.power_of_two_power(piece[i], piece[i - 1], 1U << (i - 1));
      f.mul(piece[i], piece[i], piece[i - 1]);
    }
    r = piece[kChain.pieces - 1];
    for (std::size_t i = 0; i < kChain.count; ++i) {
      f.power_of_two_power(r, r, kChain.step[i].squarings);
      f.mul(r, r, piece[kChain.step[i].piece]);
    }
    if constexpr (kChain.last_squarings > 0) f.power_of_two_power(r, r, kChain.last_squarings);
  }
};

/// `Arch`: see lane_arithmetic.hpp. An object has no members.
template <class Prime, class Arch>
using SpecialLaneField = InlinedLaneField<special_primes::LaneArithmetic<Prime, Arch>, ChainPowers<Prime>>;

}  // namespace manymod::field
