// SPDX-License-Identifier: Apache-2.0
// Addition, subtraction, negation, multiplication and squaring modulo n. Variable time.
#include "modmul/scalar64/operations.hpp"
#include "repr/store.hpp"

namespace manymod::scalar64 {

unsigned parts_needed(Operation op, TimingClass timing, bool shared_modulus) {
  if (timing == TimingClass::secret) return Modulus::kMontgomery;
  switch (op) {
    case Operation::addmod:
    case Operation::submod:
    case Operation::negmod:
      return shared_modulus ? Modulus::kDivisor : 0;
    case Operation::mulmod:
    case Operation::sqrmod:
      return shared_modulus ? Modulus::kDivisor | Modulus::kMontgomery : Modulus::kDivisor;
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

void run_add_sub_neg(const BucketRun& run) {
  const Job& job = run.job;
  ModulusCursor moduli(run.kernels, job, run.limbs, parts_needed(job));
  limbs::Buffer operands(2 * run.limbs);
  limbs::Buffer scratch;
  const std::span<Limb> x = operands.part(0, run.limbs);
  const std::span<Limb> y = operands.part(run.limbs, run.limbs);
  for (const std::size_t item : run.items) {
    const Modulus& n = moduli.at(item);
    n.reduce_var(x, job.x.magnitude(item), job.x.is_negative(item), scratch);
    if (job.op == Operation::negmod) {
      limbs::negate_mod(x, x, n.value());
    } else {
      n.reduce_var(y, job.y.magnitude(item), job.y.is_negative(item), scratch);
      if (job.op == Operation::addmod) {
        limbs::add_mod(x, x, y, n.value());
      } else {
        limbs::sub_mod(x, x, y, n.value());
      }
    }
    finish_item(job, item, x, n.value());
  }
}

void run_mul_sqr(const BucketRun& run) {
  const Job& job = run.job;
  const bool square = job.op == Operation::sqrmod;
  ModulusCursor moduli(run.kernels, job, run.limbs, parts_needed(job));
  limbs::Buffer operands(2 * run.limbs);
  limbs::Buffer product(2 * run.limbs);
  limbs::Buffer scratch(
      std::max(Divisor::scratch_limbs(2 * run.limbs), Montgomery::scratch_limbs(run.limbs)));
  const std::span<Limb> x = operands.part(0, run.limbs);
  const std::span<Limb> y = operands.part(run.limbs, run.limbs);
  for (const std::size_t item : run.items) {
    if (job.stop.requested()) return;
    const Modulus& n = moduli.at(item);
    n.reduce_var(x, job.x.magnitude(item), job.x.is_negative(item), scratch);
    if (!square) n.reduce_var(y, job.y.magnitude(item), job.y.is_negative(item), scratch);
    // Where the modulus is prepared once, two Montgomery products beat a long division.
    if (n.has(Modulus::kMontgomery) && n.odd()) {
      n.montgomery().mul_plain(x.data(), x.data(), square ? x.data() : y.data(), scratch.data());
    } else {
      if (square) {
        run.kernels.square(product.data(), x.data(), run.limbs);
      } else {
        run.kernels.product(product.data(), x.data(), run.limbs, y.data(), run.limbs);
      }
      n.divisor().remainder_var(x, product.first(2 * run.limbs), scratch.data());
    }
    finish_item(job, item, x, n.value());
  }
}

}  // namespace manymod::scalar64
