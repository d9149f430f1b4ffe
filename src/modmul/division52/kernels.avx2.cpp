// SPDX-License-Identifier: Apache-2.0
#include "modmul/division52/kernels.hpp"

#include <algorithm>

#include "arch/avx2/rounding.hpp"
#include "modmul/division52/division.avx2.hpp"

namespace manymod::division52 {
namespace {

/// The arguments and results of the functions of Kernels, in memory while the rounding mode is another.
struct Call {
  Limb* divisors;
  const Limb* const* moduli;
  std::size_t limbs;
  const Products* operands;
  const Limb* block;
  const Products (*pair)[2];
  const Limb* const (*blocks)[2];
  Limb* scratch;
  std::uint16_t lanes;
};

void set_divisors_rounded(Call* call) {
  with_limbs(call->limbs, [&](auto count) {
    return set_divisors_of<PairedDoubles>(call->divisors, call->moduli, count, call->scratch);
  });
}
void multiply_rounded(Call* call) {
  call->lanes = multiply_one<PairedDoubles>(*call->operands, call->block, call->scratch);
}
void multiply_pair_rounded(Call* call) {
  call->lanes = multiply_two<PairedDoubles>(*call->pair, *call->blocks, call->scratch);
}

void set_divisors_doubles(Limb* block, const Limb* const* moduli, std::size_t limbs, Limb* scratch) {
  Call call{};
  call.divisors = block;
  call.moduli = moduli;
  call.limbs = limbs;
  call.scratch = scratch;
  avx2::call_rounding_toward_zero(set_divisors_rounded, &call);
}

std::uint8_t multiply_doubles(const Products& operands, const Limb* block, Limb* scratch) {
  Call call{};
  call.operands = &operands;
  call.block = block;
  call.scratch = scratch;
  avx2::call_rounding_toward_zero(multiply_rounded, &call);
  return static_cast<std::uint8_t>(call.lanes);
}

std::uint16_t multiply_pair_doubles(const Products (&operands)[2], const Limb* const (&blocks)[2],
                                    Limb* scratch) {
  Call call{};
  call.pair = &operands;
  call.blocks = &blocks;
  call.scratch = scratch;
  avx2::call_rounding_toward_zero(multiply_pair_rounded, &call);
  return call.lanes;
}

// 5 * 3 * 2^50 = 3.75 * 2^52.
void round_product(Limb* words) {
  const Halves h = halves(to_reals(PW::load(words)), to_reals(PW::load(words + kLanes)));
  PW::store(words, digit_of<PW>(h.high));
}

}  // namespace

bool avx2_rounds_toward_zero() {
  alignas(64) Limb words[2 * kLanes];
  std::fill_n(words, kLanes, Limb{5});
  std::fill_n(words + kLanes, kLanes, Limb{3} << 50);
  avx2::call_rounding_toward_zero(round_product, static_cast<Limb*>(words));
  return words[0] == 3;
}

const Kernels& avx2_kernels() {
  static constexpr Kernels kKernels{set_divisors_doubles, multiply_doubles, multiply_pair_doubles, 0.7};
  return kKernels;
}

}  // namespace manymod::division52
