// SPDX-License-Identifier: Apache-2.0
// Whether points are the multiples of the generator that they should be: how signers find faults of the
// hardware before signatures leave.
//
// One equation tests many points: sum z_i P_i = (sum z_i k_i) G with random odd z_i of 64 bits, which are
// drawn after the points were computed, so that no fault can depend on them (the small exponents test of
// Bellare, Garay, Rabin, "Fast batch verification for modular exponentiation and digital signatures", 1998).
// Wrong points on curves with a cofactor of 1 pass with a probability of about 2^-63. On others that holds
// for errors of the order n; errors of the order 2 are found if an odd number of items has them, those of
// orders 4 and 8 in half of the batches or more. The left side is a sum of public points by short scalars,
// and takes a fraction of the time of the multiples; the right side is one multiple.
#pragma once

#include <cstddef>
#include <span>

#include "ecc/order.hpp"
#include "ecc/point_engine.hpp"
#include "ecc/schemes/block.hpp"

namespace manymod::ecc {

/// Items of a batch whose multiples are checked: more items make each cheaper. They still fit the
/// second-level cache.
inline constexpr std::size_t kCheckedItems = 2048;

/// Whether one equation shows that points[i] = k[i] G for the first `count` items. False says nothing: some
/// may be wrong, or the equation does not pay, as for few items and on GPUs; each is to be computed then.
/// Undefined once `stop` was requested.
///
/// On input: k < n of order.limbs() limbs; stride order.limbs(). Timing: constant-time in k; the points are
/// public or will be, and the verdict is public.
[[nodiscard]] bool confirms_multiples(const PointEngine& engine, const Order& order, const NumberRows& k,
                                      const PointRows& points, std::size_t count, const StopToken& stop);

/// The multiples k[i] G of the first `count` items again, item i in row i + 1 of the engine, so that a lane
/// that is always wrong spoils other items than it did before. On input: k as above, of `limbs` limbs.
/// Timing: constant-time in k.
[[nodiscard]] Points multiply_again(const PointEngine& engine, const NumberRows& k, std::size_t limbs,
                                    std::size_t count, const StopToken& stop);

/// r = y or p - y, whichever has the lowest bit of `odd`. On input: 0 < y < p. Constant-time.
void with_parity(std::span<Limb> r, std::span<const Limb> y, Limb odd, std::span<const Limb> p);

}  // namespace manymod::ecc
