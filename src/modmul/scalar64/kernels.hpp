// SPDX-License-Identifier: Apache-2.0
// The inner loops of technique scalar64: one table of functions for each variant (adx, generic).
#pragma once

#include <cstddef>

#include "repr/canonical.hpp"

namespace manymod::scalar64 {

/// Multiplications of up to this many limbs are unrolled. Larger ones are built from tiles of at most this
/// many limbs.
inline constexpr std::size_t kUnrolledLimbs = 8;

/// The cost of reading one table entry by `select`, as a fraction of a Montgomery product of L limbs:
/// kScanCost / L.
inline constexpr double kScanCost = 0.3;

/// Notation: L limbs, R = 2^(64 L), n odd, n0 = -n^-1 mod 2^64. Timing: all functions are constant-time.
struct Kernels {
  /// r = a b / R mod n. On input: a <= n and b < R, or a < R and b <= n. On output: 0 <= r < n. Aliasing: r
  /// may be a or b.
  using MontMul = void (*)(Limb* r, const Limb* a, const Limb* b, const Limb* n, Limb n0);
  /// r = a^2 / R mod n. On input: a <= n. On output: 0 <= r < n. Aliasing: r may be a.
  using MontSqr = void (*)(Limb* r, const Limb* a, const Limb* n, Limb n0);

  MontMul unrolled_mul[kUnrolledLimbs + 1];  ///< index L; entry 0 is null
  MontSqr unrolled_sqr[kUnrolledLimbs + 1];

  /// t[0 .. a_size + b_size) = a b. On input: both sizes > 0. Aliasing: t overlaps neither a nor b.
  void (*product)(Limb* t, const Limb* a, std::size_t a_size, const Limb* b, std::size_t b_size);
  /// t[0 .. 2 size) = a^2. On input: size > 0. Aliasing: t does not overlap a.
  void (*square)(Limb* t, const Limb* a, std::size_t size);
  /// r = t / R mod n, almost reduced. On input: t[0 .. 2L). On output: 0 <= r < R and r <= n + floor(t / R);
  /// t is destroyed. Aliasing: r does not overlap t.
  void (*reduce)(Limb* r, Limb* t, const Limb* n, Limb n0, std::size_t limbs);
  /// r[0 .. words) = table[index * stride ..]. On input: index < entries. Every entry is read; neither a
  /// branch nor an address depends on the index.
  void (*select)(Limb* r, const Limb* table, std::size_t entries, std::size_t stride, std::size_t words,
                 std::size_t index);
};

const Kernels& generic_kernels();
#if MANYMOD_X86_64
const Kernels& adx_kernels();
#endif
/// The fastest ones that this machine runs.
const Kernels& fastest_kernels();

}  // namespace manymod::scalar64
