// SPDX-License-Identifier: Apache-2.0
#include "rsa/device_key.hpp"

#include <algorithm>

namespace manymod::rsa {
namespace {

// x 2^(64 count)
limbs::Buffer shifted(std::span<const Limb> x, std::size_t count) {
  limbs::Buffer result(x.size() + count);
  std::ranges::copy(x, result.part(count, x.size()).begin());
  return result;
}

}  // namespace

DeviceKey::DeviceKey(const Key& key, const PrivateArithmetic& arithmetic, std::size_t radix_n,
                     std::size_t radix_p)
    : blinding_scale_(key.limbs()), check_scale_(key.limbs()), qinv_(key.p().size()) {
  const std::size_t limbs = key.limbs();
  const scalar64::Montgomery& n = arithmetic.modulo_n();
  limbs::Buffer scratch(arithmetic.scratch_limbs());
  constexpr Limb kOne[] = {1};
  // Montgomery form is a multiplication by 2^(64 limbs).
  n.to_montgomery(blinding_scale_.data(), whole(shifted(kOne, 2 * (radix_n - limbs))), false, scratch.data());
  limbs::Buffer radix(limbs);
  n.to_montgomery(radix.data(), whole(shifted(kOne, radix_n - limbs)), false, scratch.data());
  limbs::Buffer form(limbs);
  n.to_montgomery(form.data(), whole(radix), false, scratch.data());
  arithmetic.raise_to_public(form.data(), form.data(), scratch.data());
  n.from_montgomery(check_scale_.data(), form.data(), scratch.data());
  arithmetic.modulo_p().to_montgomery(qinv_.data(), whole(shifted(key.qinv(), radix_p - key.p().size())),
                                      false, scratch.data());
}

}  // namespace manymod::rsa
