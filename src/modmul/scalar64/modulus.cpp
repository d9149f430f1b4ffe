// SPDX-License-Identifier: Apache-2.0
#include "modmul/scalar64/modulus.hpp"

namespace manymod::scalar64 {

void Modulus::assign(std::span<const Limb> n, unsigned parts) {
  value_ = n;
  parts_ = parts;
  if (has(kDivisor)) divisor_.assign(n);
  if (has(kConstantTimeDivisor)) constant_time_divisor_.assign(n);
  if (!has(kMontgomery)) return;
  if (odd()) {
    montgomery_.assign(n);
    return;
  }
  split_.assign(n);
  if (has_odd_part()) montgomery_.assign(split_.odd_part());
}

void Modulus::reduce_var(std::span<Limb> r, std::span<const Limb> x, bool negative, limbs::Buffer& scratch,
                         const StopToken& stop) const {
  if (limbs::less_var(x, value())) {
    limbs::copy_extend(r, x);
  } else {
    scratch.require(Divisor::scratch_limbs(x.size()));
    if (has(kDivisor)) {
      divisor_.remainder_var(r, x, scratch.data(), stop);
    } else {
      Divisor divisor;
      divisor.assign(value());
      divisor.remainder_var(r, x, scratch.data(), stop);
    }
  }
  if (negative) limbs::negate_mod(r, r, value());
}

}  // namespace manymod::scalar64
