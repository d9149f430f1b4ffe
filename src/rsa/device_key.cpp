// SPDX-License-Identifier: Apache-2.0
#include "rsa/device_key.hpp"

#include <algorithm>

namespace manymod::rsa {
namespace {

constexpr Limb kOne[] = {1};

// x 2^(64 count) mod n. On input: count >= limbs of n. Conversion to Montgomery form multiplies by 2^(64
// limbs); x is shifted by the remaining limbs before it.
limbs::Buffer times_power(const scalar64::Montgomery& n, std::span<const Limb> x, std::size_t count) {
  const std::size_t shift = count - n.limbs();
  limbs::Buffer shifted(x.size() + shift);
  std::ranges::copy(x, shifted.part(shift, x.size()).begin());
  limbs::Buffer scratch(scalar64::Montgomery::scratch_limbs(n.limbs()));
  limbs::Buffer result(n.limbs());
  n.to_montgomery(result.data(), shifted.first(shifted.size()), false, scratch.data());
  return result;
}

}  // namespace

limbs::Buffer public_scale(const Key& key, std::size_t radix_n) {
  const std::size_t limbs = key.limbs();
  scalar64::Montgomery n(scalar64::fastest_kernels());
  n.assign(key.n());
  limbs::Buffer scratch(scalar64::Montgomery::scratch_limbs(limbs));
  limbs::Buffer power = times_power(n, kOne, radix_n + limbs);
  raise_to_exponent(power.data(), n, key.e(), scratch.data());
  limbs::Buffer scale(limbs);
  n.from_montgomery(scale.data(), power.data(), scratch.data());
  return scale;
}

DeviceKey::DeviceKey(const PrivateArithmetic& arithmetic, std::span<const Limb> qinv, std::size_t radix_n,
                     std::size_t radix_p)
    : blinding_scale_(
          times_power(arithmetic.modulo_n(), kOne, 3 * radix_n - 2 * arithmetic.modulo_n().limbs())),
      qinv_(times_power(arithmetic.modulo_p(), qinv, radix_p)) {}

}  // namespace manymod::rsa
