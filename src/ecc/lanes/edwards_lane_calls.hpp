// SPDX-License-Identifier: Apache-2.0
// Points of edwards25519 and edwards448, and the ladders of curve25519 and curve448, on instances in the
// lanes of vectors: the functions of one instruction set, by pointers, for code that is not compiled for it.
// Each call computes many vectors.
#pragma once

#include <cstddef>
#include <span>

#include "core/cpu_features.hpp"
#include "core/limb.hpp"

namespace manymod::ecc::lanes {

/// Operands and results of a call. Numbers of `limbs` limbs are laid out with limb i of lane l of vector v
/// at [(v limbs + i) lanes + l], masks (all ones or 0) with that of lane l at [v lanes + l]. A function
/// reads only the members that its description names.
struct EdwardsBlock {
  std::size_t vectors = 0;
  /// Results; y may be null where only x is wanted.
  Limb* x = nullptr;
  Limb* y = nullptr;
  Limb* mask = nullptr;
  /// Points P and Q with coordinates below p.
  const Limb* px = nullptr;
  const Limb* py = nullptr;
  const Limb* qx = nullptr;
  const Limb* qy = nullptr;
  /// Twice the scalar of P, which is below 2^order_bits; for the ladder and `split`, the scalar.
  const Limb* scalar = nullptr;
  /// Of `compare`: twice the scalar of Q, and a mask, where P is to be -P.
  const Limb* other_scalar = nullptr;
  const Limb* negative = nullptr;
  /// The scalar of the generator, which is odd and below 2^(order_bits + 1), and the generator's table;
  /// `compare`: twice the scalar, which is below 2^order_bits, and the table of fill_wide.
  const Limb* base_scalar = nullptr;
  const void* base_table = nullptr;
  /// Of `split`: the order of the group, one number, and the results.
  const Limb* group_order = nullptr;
  Limb* rho = nullptr;
  Limb* tau = nullptr;
  /// Of `compare`: doublings before the sum is compared.
  unsigned doublings = 0;
  /// Scalar bits: all of the ladder's, and of sums the most of any scalar before it was doubled.
  unsigned bits = 0;
  /// Room for scratch_bytes(vectors) bytes, aligned to 64. What is left in it is as secret as the scalars.
  void* scratch = nullptr;
};

/// All functions but `sum`, `split` and `compare` are constant-time: no branch and no address depends on a
/// number or mask.
struct EdwardsLaneCalls {
  std::size_t lanes;
  std::size_t limbs;         ///< of coordinates and of scalars
  unsigned order_bits;       ///< of the order of the generator
  unsigned cofactor_bits;    ///< the order of the group is 2^cofactor_bits times that
  unsigned base_width;       ///< bits of a window of the generator's scalar
  std::size_t base_entries;  ///< of a window: the odd multiples 1, 3, .., 2 base_entries - 1
  std::size_t base_windows;
  std::size_t base_bytes;     ///< of the generator's table
  unsigned mul_instructions;  ///< multiplier instructions of a product, and of a square
  unsigned sqr_instructions;
  // Products and squares of k G and k P without the inversion.
  unsigned base_products;
  unsigned multiply_products, multiply_squares;
  // Of `compare`: bits of a window of the generator's scalar, windows of half of it, bytes of the table.
  unsigned wide_width, wide_windows;
  std::size_t wide_bytes;
  unsigned compare_products, compare_squares;

  std::size_t (*scratch_bytes)(std::size_t vectors);

  /// k G.
  void (*multiply_base)(const EdwardsBlock& block);
  /// k P for points of the curve.
  void (*multiply)(const EdwardsBlock& block);
  /// u G + v P for points of the curve.
  void (*multiply_two)(const EdwardsBlock& block);
  /// Of scalars k: 2 |rho|, 2 tau and in `mask` whether rho < 0, with rho = tau k modulo the order of the
  /// group (half_scalars.hpp). Variable-time.
  void (*split)(const EdwardsBlock& block);
  /// Writes the table for `compare` as fill_base does: 0 to 2^(wide_width - 1) times G, then the same of
  /// 2^(wide_width wide_windows) G.
  void (*fill_wide)(const EdwardsBlock& block, void* table);
  /// `mask`: all ones where 2^doublings (u G +- v P - w Q) = 0, from 2 u, 2 v and 2 w. It needs compare_bytes
  /// bytes of scratch. Variable-time, for public operands.
  std::size_t (*compare_bytes)(std::size_t vectors);
  void (*compare)(const EdwardsBlock& block);
  /// P + Q.
  void (*add)(const EdwardsBlock& block);
  /// `mask`: all ones where P is on the curve.
  void (*check)(const EdwardsBlock& block);
  /// x of one of the points with y = py; `mask`: all ones where there is one.
  void (*lift)(const EdwardsBlock& block);
  /// Writes entries to the table at `table`: lane l of vector v of P is entry v lanes + l of all windows in a
  /// row. Lanes beyond the last entry are ignored.
  void (*fill_base)(const EdwardsBlock& block, void* table);
  /// x = the u coordinate of the multiple of (px, .) on the Montgomery curve.
  void (*ladder)(const EdwardsBlock& block);
  /// x = the u coordinate of k times the base point there, from k G.
  void (*multiply_montgomery_base)(const EdwardsBlock& block);

  /// In each lane, (x, y) of one vector: the sum of k P over all vectors, which needs sum_bytes(vectors)
  /// bytes of scratch. Variable-time, for public scalars; points of the curve.
  std::size_t (*sum_bytes)(std::size_t vectors);
  void (*sum)(const EdwardsBlock& block);
};

/// What the functions need of the processor.
struct EdwardsLaneBackend {
  const char* variant;
  CpuFeatures needs;
  const EdwardsLaneCalls* curves25519;
  const EdwardsLaneCalls* curves448;
};

/// All backends of this build, fastest first; none on processors other than x86-64.
std::span<const EdwardsLaneBackend> edwards_lane_backends();

#if MANYMOD_X86_64
const EdwardsLaneCalls& avx512ifma_edwards25519();
const EdwardsLaneCalls& avx512f_edwards25519();
const EdwardsLaneCalls& avx2_edwards25519();
const EdwardsLaneCalls& avx512ifma_edwards448();
const EdwardsLaneCalls& avx512f_edwards448();
const EdwardsLaneCalls& avx2_edwards448();
#endif

}  // namespace manymod::ecc::lanes
