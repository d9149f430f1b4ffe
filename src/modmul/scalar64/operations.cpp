// SPDX-License-Identifier: Apache-2.0
// Functions that several operations of scalar64 share.
#include "modmul/scalar64/operations.hpp"

#include "engine/store.hpp"

namespace manymod::scalar64 {

namespace {

unsigned parts_needed_secret(Operation op) {
  switch (op) {
    case Operation::addmod:
    case Operation::submod:
    case Operation::negmod:
    case Operation::summod:
      return Modulus::kConstantTimeDivisor;
    case Operation::fmamod:
      return Modulus::kConstantTimeDivisor | Modulus::kMontgomery;
    default:
      return Modulus::kMontgomery;
  }
}

}  // namespace

unsigned parts_needed(Operation op, TimingClass timing, bool shared_modulus) {
  if (timing == TimingClass::secret) return parts_needed_secret(op);
  switch (op) {
    case Operation::addmod:
    case Operation::submod:
    case Operation::negmod:
      return shared_modulus ? Modulus::kDivisor : 0;
    case Operation::mulmod:
    case Operation::sqrmod:
    case Operation::fmamod:
      return shared_modulus ? Modulus::kDivisor | Modulus::kMontgomery : Modulus::kDivisor;
    case Operation::summod:
    case Operation::dotmod:
      return Modulus::kDivisor;
    case Operation::prodmod:
      return Modulus::kDivisor | Modulus::kMontgomery;
    case Operation::invmod:
      return shared_modulus ? Modulus::kDivisor | Modulus::kMontgomery : Modulus::kMontgomery;
    case Operation::powmod:
    case Operation::multi_powmod:
    case Operation::fixed_base_powmod:
      break;
  }
  return Modulus::kMontgomery;
}

void finish_item(const Job& job, std::size_t item, std::span<const Limb> residue,
                 std::span<const Limb> modulus) {
  store_result(job, item, residue, modulus);
  job.status[item] = ItemStatus::ok;
}

void finish_item_if(const Job& job, std::size_t item, std::span<Limb> residue, std::span<const Limb> modulus,
                    Limb invertible) {
  const Limb mask = word::mask_from_bit(invertible);
  for (Limb& limb : residue) limb &= mask;
  store_result(job, item, residue, modulus);
  job.status[item] =
      static_cast<ItemStatus>((invertible ^ 1) * static_cast<Limb>(ItemStatus::not_invertible));
}

std::size_t lanes_for(std::size_t limbs) {
  if (limbs <= 2) return 4;
  return limbs <= kUnrolledLimbs ? 2 : 1;
}

}  // namespace manymod::scalar64
