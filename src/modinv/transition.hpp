// SPDX-License-Identifier: Apache-2.0
// Division steps on low words (Bernstein and Yang, "Fast constant-time gcd computation and modular
// inversion", 2019): the part that inversion on the host and inversion in kernels have in common.
// Constant-time.
#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>

#include "arch/cuda/opaque.cuda.hpp"
#include "core/portable.hpp"

namespace manymod::modinv {

/// Divsteps after which g = 0, for f^2 + 4 g^2 <= 5 2^(2 bits): theorem 11.2 of the paper.
constexpr std::size_t divsteps_needed(std::size_t bits) {
  return bits < 46 ? (49 * bits + 80) / 17 : (49 * bits + 57) / 17;
}

/// 2^kSteps times the transition matrix of kSteps divsteps: (f, g) becomes (u f + v g, q f + r g) / 2^kSteps.
template <class Signed>
struct Transition {
  Signed u, v, q, r;
};

/// All ones if bit is 1, 0 if it is 0. Hidden, as compilers turn a mask that they know to be 0 or all ones
/// into a branch, Clang 19 at -O3 for example.
template <class Word>
MM_DEVICE Word divstep_mask(Word bit) {
  return Word{0} - cuda::opaque_on_host(bit);
}

/// All ones if x is negative, else 0. Hidden likewise.
template <class Signed>
MM_DEVICE Signed sign_mask(Signed x) {
  return cuda::opaque_on_host(static_cast<Signed>(x >> std::numeric_limits<Signed>::digits));
}

/// kSteps divsteps on the low words of f and g, f odd; eta = -delta. One step swaps iff delta > 0 and g is
/// odd, and adds f or -f to an odd g.
/// @return the new eta
template <unsigned kSteps, class Word, class Signed = std::make_signed_t<Word>>
MM_DEVICE Signed divsteps(Signed eta, Word f, Word g, Transition<Signed>& t) {
  constexpr int kTopBit = std::numeric_limits<Word>::digits - 1;
  Word u = 1, v = 0, q = 0, r = 1;
  auto steps = static_cast<Word>(eta);
  MM_ROLLED
  for (unsigned i = 0; i < kSteps; ++i) {
    const Word odd = divstep_mask<Word>(g & 1);
    const Word positive = divstep_mask<Word>(steps >> kTopBit);
    g += ((f ^ positive) - positive) & odd;
    q += ((u ^ positive) - positive) & odd;
    r += ((v ^ positive) - positive) & odd;
    const Word swap = positive & odd;
    steps = (steps ^ swap) - 1 - swap;
    f += g & swap;
    u += q & swap;
    v += r & swap;
    g >>= 1;
    u <<= 1;
    v <<= 1;
  }
  t = {static_cast<Signed>(u), static_cast<Signed>(v), static_cast<Signed>(q), static_cast<Signed>(r)};
  return static_cast<Signed>(steps);
}

}  // namespace manymod::modinv
