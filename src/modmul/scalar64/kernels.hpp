// SPDX-License-Identifier: Apache-2.0
// The inner loops of technique scalar64: one table of functions per variant (adx, generic).
#pragma once

#include <cstddef>

#include "repr/canonical.hpp"

namespace manymod::scalar64 {

/// Sizes up to this have an unrolled multiplication; larger ones are built from tiles of at most this many
/// limbs.
inline constexpr std::size_t kUnrolledLimbs = 8;

/// Reading one table entry by `select` costs about kScanCost / L Montgomery products of L limbs.
inline constexpr double kScanCost = 0.3;

/// Notation: L limbs, R = 2^(64 L), n odd, n0 = -n^-1 mod 2^64. No function's time depends on values.
struct Kernels {
  /// r = a b / R mod n, 0 <= r < n.  In: a <= n, b < R (or the reverse).  r may be a or b.
  using MontMul = void (*)(Limb* r, const Limb* a, const Limb* b, const Limb* n, Limb n0);
  /// r = a^2 / R mod n, 0 <= r < n.  In: a <= n.  r may be a.
  using MontSqr = void (*)(Limb* r, const Limb* a, const Limb* n, Limb n0);

  MontMul unrolled_mul[kUnrolledLimbs + 1];  ///< index L; entry 0 is null
  MontSqr unrolled_sqr[kUnrolledLimbs + 1];

  /// t[0 .. a_size + b_size) = a b.  In: both sizes > 0.  t overlaps neither.
  void (*product)(Limb* t, const Limb* a, std::size_t a_size, const Limb* b, std::size_t b_size);
  /// t[0 .. 2 size) = a^2.
  void (*square)(Limb* t, const Limb* a, std::size_t size);
  /// r = t / R mod n up to one multiple of n: 0 <= r < R, and r <= n + t div R.  t[0 .. 2L) is destroyed.
  void (*reduce)(Limb* r, Limb* t, const Limb* n, Limb n0, std::size_t limbs);
  /// r[0..words) = table[index * stride ..], index < entries. Every entry is read: neither branch nor address
  /// depends on the index.
  void (*select)(Limb* r, const Limb* table, std::size_t entries, std::size_t stride, std::size_t words,
                 std::size_t index);
};

const Kernels& generic_kernels();
#if MANYMOD_X86_64
const Kernels& adx_kernels();
#endif

}  // namespace manymod::scalar64
