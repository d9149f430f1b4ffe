// SPDX-License-Identifier: Apache-2.0
#include "modmul/division52/kernels.hpp"

#include "modmul/division52/division.avx512ifma.hpp"

namespace manymod::division52 {
namespace {

void set_divisors_ifma(Limb* block, const Limb* const* moduli, std::size_t limbs, Limb* scratch) {
  with_limbs(limbs, [&](auto count) { return set_divisors_of<Ifma>(block, moduli, count, scratch); });
}

}  // namespace

const Kernels& avx512_kernels() {
  static constexpr Kernels kKernels{set_divisors_ifma, multiply_one<Ifma>, multiply_two<Ifma>, 0.25};
  return kKernels;
}

}  // namespace manymod::division52
