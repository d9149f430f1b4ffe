// SPDX-License-Identifier: Apache-2.0
// The ladder on the Montgomery curve that belongs to an Edwards curve, in lanes. For inclusion in
// instruction-set files only.
#pragma once

#include <cstddef>
#include <type_traits>

#include "core/limb.hpp"
#include "ecc/formulas/ladder.hpp"
#include "ecc/lanes/edwards_lane_calls.hpp"
#include "field/interleaved.hpp"
#include "field/redundant_25519.hpp"
#include "field/uncarried.hpp"
#include "modmul/special_primes/digit_columns.hpp"
#include "modmul/special_primes/primes.hpp"

namespace manymod::ecc::lanes {

/// `Kernels`: EdwardsKernels of the curve and the instruction set.
template <class Kernels>
class EdwardsLadder {
  using Arch = typename Kernels::InstructionSet;
  using Batch = typename Kernels::Batch;
  using Element = typename Kernels::Element;
  using Mask = typename Kernels::Mask;
  using Vector = typename Kernels::Vector;

  /// Whether there is a field of digits that suit the ladder better.
  static constexpr bool kRedundant =
      std::is_same_v<typename Kernels::Prime, primes::Curve25519> && Arch::kSplitProducts;
  /// With the 32 registers of AVX-512, products of one vector that do not wait for each other are enough;
  /// with the 16 of AVX2, two vectors take turns, operation by operation.
  static constexpr bool kManyRegisters = Kernels::kLanes == 8;
  static constexpr unsigned kTogether = kManyRegisters ? 1 : 2;
  using Field = std::conditional_t<kRedundant, field::Redundant25519<Arch>, typename Kernels::F>;
  static constexpr Field kField{};

 public:
  /// x = the u coordinate of the multiple of (px, .) on the Montgomery curve.
  static void ladder(const EdwardsBlock& b) {
    const Batch batch(b.scratch, b.vectors);
    std::size_t v = 0;
    for (; v + kTogether <= b.vectors; v += kTogether) ladders<kTogether>(b, batch, v);
    for (; v < b.vectors; ++v) ladders<1>(b, batch, v);
    Kernels::store_quotients(b, batch);
  }

 private:
  /// The ladders of kCount vectors from `first` on.
  template <unsigned kCount>
  static void ladders(const EdwardsBlock& b, const Batch& batch, std::size_t first) {
    using Together = field::Interleaved<Field, kCount>;
    const Together f(kField);
    typename Together::Element u;
    for (unsigned i = 0; i < kCount; ++i)
      kField.from_limbs(u.part[i], b.px + (first + i) * Kernels::kLimbs * Kernels::kLanes);
    typename Together::FixedFactor factor;
    f.fix(factor, u);
    ladder::Pair<Together> pair;
    ladder::start(f, pair, u);
    typename Together::Mask swapped{};
    for (unsigned bit = b.bits; bit-- > 0;) {
      typename Together::Mask swap;
      for (unsigned i = 0; i < kCount; ++i) {
        const Mask one = Vector{} - (Kernels::bits_from(b.scalar, first + i, bit, 1) & 1);
        swap.part[i] = swapped.part[i] ^ one;
        swapped.part[i] = one;
      }
      // Inlined, a step on redundant digits keeps numbers in registers for the next one; on others it is too
      // long for that.
      if constexpr (kRedundant) {
        step(f, pair, swap, factor);
      } else {
        called_step(f, pair, swap, factor);
      }
    }
    ladder::swap_where(f, pair, swapped);
    for (unsigned i = 0; i < kCount; ++i) {
      store(batch.sum[first + i].x, pair.low.x.part[i]);
      store(batch.z[first + i], pair.low.z.part[i]);
    }
  }
  template <class Together>
  static MANYMOD_INLINE void step(const Together& f, ladder::Pair<Together>& pair,
                                  const typename Together::Mask& high,
                                  const typename Together::FixedFactor& u) {
    if constexpr (kManyRegisters) {
      ladder::spread_step(f, pair, high, u, Kernels::Curve::kA24);
    } else {
      ladder::step(f, pair, high, u, Kernels::Curve::kA24);
    }
  }
  template <class Together>
  [[gnu::noinline]] static void called_step(const Together& f, ladder::Pair<Together>& pair,
                                            const typename Together::Mask& high,
                                            const typename Together::FixedFactor& u) {
    step(f, pair, high, u);
  }
  static void store(Element& r, const field::Uncarried<Field>& a) {
    if constexpr (kRedundant) {
      Limb limbs[Kernels::kLimbs * Kernels::kLanes];
      kField.to_limbs(limbs, a);
      Kernels::from_limbs(r, limbs, 0);
    } else {
      kField.convert(r, a);
    }
  }
};

}  // namespace manymod::ecc::lanes
