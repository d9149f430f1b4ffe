// SPDX-License-Identifier: Apache-2.0
// Point arithmetic of one curve on instances in the lanes of vectors: the functions of one instruction set,
// by pointers, for code that is not compiled for it. Each call computes many vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/cpu_features.hpp"
#include "core/limb.hpp"
#include "ecc/curve.hpp"
#include "ecc/formulas/jacobian.hpp"
#include "modmul/montgomery_lanes/constants.hpp"

namespace manymod::ecc::lanes {

/// Operands and results of a call. Numbers of `limbs` limbs are laid out with limb i of lane l of vector v
/// at [(v limbs + i) lanes + l], masks (all ones or 0) with that of lane l at [v lanes + l]. A function
/// reads only the members that its description names.
struct PointBlock {
  /// For functions of no curve in particular: constants of p, a's kind, and the bits of n. The check of the
  /// machine code knows that the first member leads to public numbers alone.
  const montgomery_lanes::Constants* constants = nullptr;
  jacobian::CoefficientA kind_of_a = jacobian::CoefficientA::any;
  unsigned order_bits = 0;
  std::size_t vectors = 0;
  /// Results. y may be null where only x is wanted. `no_point` is all ones for infinity, which has x = y = 0.
  Limb* x = nullptr;
  Limb* y = nullptr;
  Limb* no_point = nullptr;
  /// Points P, with coordinates below p, and points Q; the masks of `add` alone.
  const Limb* px = nullptr;
  const Limb* py = nullptr;
  const Limb* p_infinite = nullptr;
  const Limb* qx = nullptr;
  const Limb* qy = nullptr;
  const Limb* q_infinite = nullptr;
  /// The scalar of P, as one term or, with an endomorphism, as two, one after the other in each vector: odd
  /// numbers, with a limb of 0 above each, and the mask of those that are to be negated; on curves whose
  /// points have other orders than n, of those from which 1 is to be subtracted.
  const Limb* scalar = nullptr;
  const Limb* negate = nullptr;
  /// The scalar of the generator, likewise, and its table.
  const Limb* base_scalar = nullptr;
  const Limb* base_negate = nullptr;
  const void* base_table = nullptr;
  /// Coefficients a and b of the curve, or a cube root of 1, in all lanes of one vector.
  const Limb* a = nullptr;
  const Limb* b = nullptr;
  const Limb* cube_root = nullptr;
  /// Room for the bytes that the function asks for, aligned to 64. What is left in it is as secret as the
  /// scalars.
  void* scratch = nullptr;
};

/// A point in an array of rows: twice the row's index, and 1 if the opposite point is meant.
using RowReference = std::uint32_t;
/// The first word of the row of infinity.
inline constexpr Limb kInfinityWord = ~Limb{0};

/// Sums of points in affine form, for public points: exact for all of them, also equal and opposite ones and
/// infinity. Rows have row_words words and are aligned to 64 bytes.
struct PointSumCalls {
  std::size_t row_words;
  std::size_t scratch_bytes;  ///< of add_rows
  /// Rows of the points P, one after the other, and with an endomorphism those of their images.
  void (*write_rows)(const PointBlock& block, Limb* rows, Limb* images);
  /// Row result + i = the sum of the points left[i] and right[i], for i < count rounded up to whole vectors:
  /// none of these rows.
  void (*add_rows)(const PointBlock& block, Limb* rows, const RowReference* left, const RowReference* right,
                   std::size_t count, std::size_t result);
  /// The first point of the block = the sum of 2^i times the point terms[i], i < count.
  void (*sum_by_bits)(const PointBlock& block, const Limb* rows, const RowReference* terms,
                      std::size_t count);
};

/// All functions but those of `sums` are constant-time: no branch and no address depends on a number or mask.
struct PointLaneCalls {
  /// CurveId::custom: every curve with a field of at most field_bits bits, whose n is odd.
  CurveId curve;
  unsigned field_bits;
  std::size_t lanes, digits;
  unsigned digit_bits;
  unsigned base_width;            ///< bits of a window of the generator's scalar
  std::size_t base_window_bytes;  ///< of the generator's table
  std::size_t terms;              ///< of a scalar of P: 1, or 2 of kHalfLimbs limbs
  unsigned mul_instructions;      ///< multiplier instructions of a product, and of a square
  unsigned sqr_instructions;

  /// Bytes of scratch: vector_bytes for each vector, but table_bytes in multiply, multiply_two and their
  /// complete forms; and fill_bytes for all vectors together in fill_base.
  std::size_t vector_bytes;
  std::size_t table_bytes;
  std::size_t fill_bytes;

  /// k G for 0 <= k <= n, of a generator whose order has at least kMinBaseBits bits.
  void (*multiply_base)(const PointBlock& block);
  /// k P for points of order n, which has at least kMinBaseBits bits. multiply_complete, for points of any
  /// order, is null for curves without others.
  void (*multiply)(const PointBlock& block);
  void (*multiply_complete)(const PointBlock& block);
  /// u G + v P for points of the curve, and a generator as above. Where an exceptional case of a formula was
  /// met on the way, the result is infinity. multiply_two_complete is always right, and slower.
  void (*multiply_two)(const PointBlock& block);
  void (*multiply_two_complete)(const PointBlock& block);
  /// P + Q.
  void (*add)(const PointBlock& block);
  /// `no_point`: all ones where P is not on the curve.
  void (*check)(const PointBlock& block);
  /// y = a square root of px^3 + a px + b modulo p = 3 mod 4, and `no_point` all ones where it has none.
  void (*lift)(const PointBlock& block);
  /// Writes to the table `base_table` the windows for the multiples P of the generator: lane l of vector v
  /// has 2^(base_width (v lanes + l)) G, for all windows. `table` is where base_table points.
  void (*fill_base)(const PointBlock& block, void* table);

  PointSumCalls sums;
};

/// Windows of a scalar of the generator.
constexpr std::size_t base_windows(const PointLaneCalls& calls, std::size_t order_bits) {
  return (order_bits + calls.base_width - 1) / calls.base_width;
}

/// Multiples of shorter orders by windows might meet exceptional cases.
inline constexpr unsigned kMinBaseBits = 32;

/// What the functions need of the processor, one entry for each curve, and those for any curve, from short
/// fields to long ones.
struct PointLaneBackend {
  const char* variant;
  CpuFeatures needs;
  std::span<const PointLaneCalls* const> curves;
  std::span<const PointLaneCalls* const> any_curve;
};

/// All backends of this build, fastest first; none on processors other than x86-64.
std::span<const PointLaneBackend> point_lane_backends();

#if MANYMOD_X86_64
const PointLaneCalls& avx512ifma_p256();
const PointLaneCalls& avx512ifma_sm2();
const PointLaneCalls& avx512ifma_secp256k1();
const PointLaneCalls& avx512ifma_p384();
const PointLaneCalls& avx512ifma_p521();
std::span<const PointLaneCalls* const> avx512ifma_runtime_curves();
const PointLaneCalls& avx512f_p256();
const PointLaneCalls& avx512f_sm2();
const PointLaneCalls& avx512f_secp256k1();
const PointLaneCalls& avx512f_p384();
const PointLaneCalls& avx512f_p521();
std::span<const PointLaneCalls* const> avx512f_runtime_curves();
const PointLaneCalls& avx2_p256();
const PointLaneCalls& avx2_sm2();
const PointLaneCalls& avx2_secp256k1();
const PointLaneCalls& avx2_p384();
const PointLaneCalls& avx2_p521();
std::span<const PointLaneCalls* const> avx2_runtime_curves();
#endif

}  // namespace manymod::ecc::lanes
