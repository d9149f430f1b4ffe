// SPDX-License-Identifier: Apache-2.0
// Division steps on low words (Bernstein and Yang, "Fast constant-time gcd computation and modular
// inversion", 2019): the part that inversion on the host and inversion in kernels have in common. A fixed
// number of them starts from delta = 1/2 instead of 1, which takes a fifth fewer (P. Wuille, G. Maxwell, "The
// safegcd implementation in libsecp256k1 explained").
//
// Constant-time.
#pragma once

#include <cstddef>
#include <limits>
#include <type_traits>

#include "arch/cuda/opaque.cuda.hpp"
#include "core/portable.hpp"

namespace manymod::modinv {

/// Divsteps from delta = 1/2 after which g = 0, for 0 <= f, g <= 2^bits: P. Wuille, "Bounds on divsteps
/// iterations in safegcd", generic formula for hddivsteps.
constexpr std::size_t divsteps_needed(std::size_t bits) { return (45907 * bits + 30179) / 19929; }

/// What divsteps() keeps of delta, -(delta + 1/2), before the first step.
inline constexpr int kFirstDivstep = -1;

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

/// kSteps divsteps on the low words of f and g, f odd; zeta = -(delta + 1/2). One step swaps iff delta > 0
/// and g is odd, and adds f or -f to an odd g: delta becomes 1 - delta and zeta -zeta - 2 if it swaps, else
/// delta + 1 and zeta - 1.
/// @return the new zeta
template <unsigned kSteps, class Word, class Signed = std::make_signed_t<Word>>
MM_DEVICE Signed divsteps(Signed zeta, Word f, Word g, Transition<Signed>& t) {
  constexpr int kTopBit = std::numeric_limits<Word>::digits - 1;
  Word u = 1, v = 0, q = 0, r = 1;
  auto rest = static_cast<Word>(zeta);
  MM_ROLLED
  for (unsigned i = 0; i < kSteps; ++i) {
    const Word odd = divstep_mask<Word>(g & 1);
    const Word positive = divstep_mask<Word>(rest >> kTopBit);
    g += ((f ^ positive) - positive) & odd;
    q += ((u ^ positive) - positive) & odd;
    r += ((v ^ positive) - positive) & odd;
    const Word swap = positive & odd;
    rest = (rest ^ swap) - 1;
    f += g & swap;
    u += q & swap;
    v += r & swap;
    g >>= 1;
    u <<= 1;
    v <<= 1;
  }
  t = {static_cast<Signed>(u), static_cast<Signed>(v), static_cast<Signed>(q), static_cast<Signed>(r)};
  return static_cast<Signed>(rest);
}

}  // namespace manymod::modinv
